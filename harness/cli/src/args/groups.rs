//! The commands in groups, as the help lists them.

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{Command as Parser, Subcommand as _};

use super::Command;

/// The groups, and their commands.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "A template or a model",
        &["check", "show", "render", "diff", "parity", "explain"],
    ),
    (
        "A suite",
        &["init", "add", "run", "review", "accept", "lint", "list"],
    ),
    (
        "An engine",
        &["probe-engine", "matrix", "export", "serve", "reference"],
    ),
    ("This program", &["trust", "completions", "man", "help"]),
];

/// What the parser itself adds.
const HELP: (&str, &str) = ("help", "Print the help of a command");

/// The help of the whole program, with the commands in groups.
pub(super) fn template() -> String {
    let commands = Command::augment_subcommands(Parser::new(""));
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
            let _ = writeln!(text, "  {literal}{name}{literal:#}{padding}{}", about(name));
        }
    }
    let _ = write!(
        text,
        "\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group_and_has_one_line() {
        let commands = Command::augment_subcommands(Parser::new(""));
        let shown = commands.get_subcommands().filter(|one| !one.is_hide_set());
        let mut known: Vec<&str> = shown.map(Parser::get_name).collect();
        known.push(HELP.0);
        let listed = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
        let mut listed: Vec<&str> = listed.collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, known);
        for line in anstream::adapter::strip_str(&template())
            .to_string()
            .lines()
        {
            assert!(line.len() <= 94, "{line}");
        }
    }
}
