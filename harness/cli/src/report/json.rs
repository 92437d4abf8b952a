//! Results as JSON documents. Each one says which version of this format it has.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

/// The version of all JSON results. A version may get new keys; existing keys keep their meaning.
pub const VERSION: u32 = 1;

/// Writes a document, indented so that people can read it too.
pub fn write(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    // The serialiser writes each sign alone.
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, document)?;
    writeln!(out)?;
    out.flush()
}
