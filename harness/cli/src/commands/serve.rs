//! The command `serve`: an engine of this program, for other programs.

use std::io::{self, Write};

use rolecall_io::protocol::serve;

use crate::args::LimitsArguments;
use crate::engines::unknown;
use crate::failure::{Failure, Status};

/// How much address space a served engine may take, on systems that support the limit (Unix): 256
/// MiB for its stack, which it hardly uses, as much for a render, and some for its code. An engine
/// that asks for more ends.
#[cfg(unix)]
const MOST_MEMORY: u64 = 576 << 20;

pub(super) fn execute(
    engine: &str,
    limits: &LimitsArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let engines = limits.chosen().engines();
    let engine = engines
        .by_name(engine)
        .ok_or_else(|| unknown(&engines, engine))?;
    confine();
    match serve(engine, io::stdin().lock(), out) {
        // The program that asked is gone, as at the end of its requests.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Status::Fine),
        served => Ok(served.map(|()| Status::Fine)?),
    }
}

/// Limits the memory of this process, because not every engine counts all that it takes.
fn confine() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::As).maximum;
        let most = maximum.map_or(MOST_MEMORY, |maximum| maximum.min(MOST_MEMORY));
        let limit = Rlimit {
            current: Some(most),
            maximum,
        };
        // If the limit cannot be set, the process runs without it.
        let _ = setrlimit(Resource::As, limit);
    }
}
