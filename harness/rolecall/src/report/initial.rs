//! What `init` made, and what comes next.

use std::io::{self, Write};

use super::columns::{Cell, Columns};
use super::numbers::counted;
use super::screen;
use super::style::PLAIN;
use super::wrapping::wrapped;
use crate::initial::Initial;

/// What is to be done with a new suite, in this order.
const NEXT: [(&str, &str); 5] = [
    (
        "rolecall check",
        "says what they can do, and what they get wrong",
    ),
    ("rolecall reference setup", "installs the references, once"),
    ("rolecall reference update", "writes down what they do"),
    ("rolecall accept --verified", "accepts what they confirm"),
    ("rolecall run", "holds all of it, here and in CI"),
];

/// Writes which files there are now, and what to do with them.
pub fn write(out: &mut dyn Write, initial: &Initial) -> io::Result<()> {
    for file in &initial.files {
        writeln!(out, "wrote {}", file.path.display())?;
    }
    let found = match initial.templates.len() {
        0 => "No template was found here: name yours in rolecall.toml. Then:".to_owned(),
        count => format!("It has {}. Now:", counted(count, "template", "templates")),
    };
    writeln!(out, "\n{}", wrapped(&found, screen::width(), 0))?;
    let mut table = Columns::default();
    for (command, what) in NEXT {
        table.row([
            Cell::new(PLAIN, format!("  {command}")),
            Cell::new(PLAIN, what),
        ]);
    }
    table.write(out)
}
