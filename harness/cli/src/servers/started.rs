//! A server that is started for a model: `llama-server`, or another program with its options.

use std::collections::BTreeSet;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rolecall_core::file::write_whole;
use rolecall_io::protocol::{BackgroundProcess, ProtocolLimits};
use tempfile::TempDir;

use super::api::Api;

/// The pause before a server that starts is asked again.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a server may take to end after its connections have ended.
const MOMENT: Duration = Duration::from_millis(500);

/// A running server. It is ended when this is dropped.
pub(super) struct StartedServer {
    process: BackgroundProcess,
    pub(super) api: Api,
    /// Where it is. It is given back when the process has ended, so it comes after it.
    _port: Port,
    _provision: Provision,
}

/// Why a server does not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotStarted {
    Ended(String),
    /// Something else is wrong, and what.
    Broken(String),
}

/// What a server is started with.
pub(super) struct Provision {
    /// The folder of the files. It is removed when this is dropped.
    folder: TempDir,
    /// How many tokens a prompt and an answer may have together.
    context: usize,
}

impl Provision {
    /// Writes a model and a chat template.
    pub(super) fn write(
        model: &[u8],
        template: &str,
        context: usize,
    ) -> Result<Provision, NotStarted> {
        let folder = tempfile::Builder::new().prefix("rolecall-").tempdir();
        let folder = folder
            .map_err(|error| NotStarted::Broken(format!("no folder for a mock model: {error}")))?;
        let provision = Provision { folder, context };
        for (path, bytes) in [
            (provision.model(), model),
            (provision.template(), template.as_bytes()),
        ] {
            let written = write_whole(&path, bytes);
            written.map_err(|problem| NotStarted::Broken(problem.to_string()))?;
        }
        Ok(provision)
    }

    fn model(&self) -> PathBuf {
        self.folder.path().join("mock.gguf")
    }

    fn template(&self) -> PathBuf {
        self.folder.path().join("template.jinja")
    }
}

impl StartedServer {
    /// Starts a server, and waits until it answers.
    pub(super) fn start(
        command: &[String],
        provision: Provision,
        limits: &ProtocolLimits,
    ) -> Result<StartedServer, NotStarted> {
        let refused = |error| NotStarted::Broken(format!("no free port: {error}"));
        let port = Port::free().map_err(refused)?;
        let mut words = command.to_vec();
        words.extend(arguments(&provision, port.0));
        let process = BackgroundProcess::spawn(&words).map_err(NotStarted::Broken)?;
        let api = Api::of_started(port.0, limits);
        let mut server = StartedServer {
            process,
            api,
            _port: port,
            _provision: provision,
        };
        let begin = Instant::now();
        loop {
            if let Some(ending) = server.process.ending() {
                return Err(NotStarted::Ended(ending));
            }
            let left = limits.start.saturating_sub(begin.elapsed());
            if left.is_zero() {
                let seconds = limits.start.as_secs_f64();
                let message = format!("it does not answer {seconds} s after its start");
                return Err(NotStarted::Broken(message));
            }
            if server.api.is_well("/health", left.min(limits.time)) {
                return Ok(server);
            }
            thread::sleep(PAUSE);
        }
    }

    /// How it ended. None if it still runs after a moment.
    pub(super) fn ending(&mut self) -> Option<String> {
        let begin = Instant::now();
        loop {
            let ending = self.process.ending();
            if ending.is_some() || begin.elapsed() > MOMENT {
                return ending;
            }
            thread::sleep(PAUSE);
        }
    }
}

/// The options of llama-server.
fn arguments(provision: &Provision, port: u16) -> Vec<String> {
    let path = |path: PathBuf| path.to_string_lossy().into_owned();
    let (context, port) = (provision.context.to_string(), port.to_string());
    let pairs = [
        ("-m", path(provision.model())),
        ("--chat-template-file", path(provision.template())),
        ("--host", "127.0.0.1".to_owned()),
        ("--port", port),
        ("-c", context),
        // One conversation at a time, and one thread: several servers run side by side.
        ("-np", "1".to_owned()),
        ("-t", "1".to_owned()),
    ];
    let pairs = pairs.into_iter();
    let mut words: Vec<String> = pairs
        .flat_map(|(option, value)| [option.to_owned(), value])
        .collect();
    words.push("--jinja".to_owned());
    words
}

/// A port that nobody uses at this moment. It is kept from the other servers of this process until
/// this is dropped.
struct Port(u16);

/// The ports of all servers that this process has started.
static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

impl Port {
    fn free() -> io::Result<Port> {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        // A port that is given up may be the next that the system gives.
        let mut others = Vec::new();
        loop {
            let listener = TcpListener::bind(("127.0.0.1", 0))?;
            let port = listener.local_addr()?.port();
            if taken.insert(port) {
                return Ok(Port(port));
            }
            others.push(listener);
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken.remove(&self.0);
    }
}
