//! The report of `init`: what it made, and what comes next.

use std::io::{self, Write};

use super::columns::{Cell, Columns};
use super::numbers::counted;
use super::screen;
use super::style::PLAIN;
use super::wrapping::wrapped;
use rolecall_core::invocation;
use rolecall_core::problem::shown_path;
use rolecall_suite::initial::Initial;

/// The next steps with a new suite, in order.
const NEXT: [(&str, &str); 5] = [
    (
        "check",
        "reports what a template can do, and what it gets wrong",
    ),
    ("reference setup", "installs the references, once"),
    ("reference update", "records their results"),
    ("accept --verified", "accepts the results that they confirm"),
    ("run", "checks all results, here and in CI"),
];

/// Writes which files exist now, and what to do with them.
pub fn write(out: &mut dyn Write, initial: &Initial) -> io::Result<()> {
    for file in &initial.files {
        writeln!(out, "wrote {}", file.path.display())?;
    }
    if let Some(above) = &initial.above {
        let text = format!(
            "\nThis folder is below the suite of {}. From now on commands in it work on the new \
             suite, and the one above does not have its templates.",
            shown_path(above)
        );
        writeln!(out, "{}", wrapped(&text, screen::width(), 0))?;
    }
    let found = match initial.count {
        0 => "No template was found here: name yours in rolecall.toml. Then:".to_owned(),
        count => format!("It has {}. Now:", counted(count, "template", "templates")),
    };
    writeln!(out, "\n{}", wrapped(&found, screen::width(), 0))?;
    let mut table = Columns::default();
    for (command, what) in NEXT {
        table.row([
            Cell::new(PLAIN, format!("  {}", invocation::command(command))),
            Cell::new(PLAIN, what),
        ]);
    }
    table.write(out)?;
    let text = "\nThe workflow installs the wheel that the repository's variable ROLECALL_WHEEL names: \
                no package index has Rolecall.";
    writeln!(out, "{}", wrapped(text, screen::width(), 0))
}
