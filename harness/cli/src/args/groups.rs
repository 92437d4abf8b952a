//! The commands in groups, as the help lists them.

use std::fmt::Write as _;

use crate::report::wrapped;
use clap::builder::Styles;
use clap::{Command as Parser, Subcommand};

use crate::terminal;

pub(super) const GROUPS: [(&str, &[&str]); 4] = [
    (
        "A template or a model",
        &[
            "check",
            "show",
            "render",
            "diff",
            "roundtrip",
            "infer",
            "cover",
            "mutate",
            "generate",
            "mask",
            "explain",
        ],
    ),
    (
        "A suite",
        &["init", "add", "run", "review", "accept", "lint", "list"],
    ),
    (
        "An engine",
        &[
            "probe-engine",
            "matrix",
            "fingerprint",
            "export",
            "serve",
            "mock-model",
            "reference",
        ],
    ),
    ("This program", &["completions", "help"]),
];

/// What the parser itself adds.
pub(super) const HELP: (&str, &str) = ("help", "Print the help of a command");

/// The widest help: longer lines are hard to read.
pub(super) const WIDEST: usize = 100;

/// The width of the help.
pub(super) fn columns() -> usize {
    let terminal = terminal::of_results();
    terminal.map_or(WIDEST, |columns| columns.min(WIDEST))
}

/// The help of the whole program in lines of at most so many columns, with the commands in groups.
pub(super) fn template<C: Subcommand>(columns: usize) -> String {
    let commands = C::augment_subcommands(Parser::new(""));
    let about = |name: &str| {
        let mut all = commands.get_subcommands();
        let found = all.find(|command| command.get_name() == name);
        let about = found.and_then(Parser::get_about);
        about.map_or_else(|| HELP.1.to_owned(), ToString::to_string)
    };
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let width = names.map(|name| name.len()).max().unwrap_or(0);
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        let _ = write!(text, "\n{header}{title}:{header:#}\n");
        for name in names {
            let padding = " ".repeat(width - name.len() + 2);
            let line = format!("  {literal}{name}{literal:#}{padding}{}", about(name));
            let _ = writeln!(text, "{}", wrapped(&line, columns, width + 4));
        }
    }
    let _ = write!(
        text,
        "\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    text
}
