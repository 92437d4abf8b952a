//! The few styles that reports use.

use std::fmt;

use anstyle::{AnsiColor, Style};

use super::clean::write_style;
use rolecall_core::OutcomeKind;

pub const PLAIN: Style = Style::new();
pub const HEADING: Style = Style::new().bold();
/// Details that readers can skip.
pub const QUIET: Style = Style::new().dimmed();
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Worth a look.
pub const NOTE: Style = AnsiColor::Yellow.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
const REFUSAL: Style = AnsiColor::Cyan.on_default();
/// The changed part of a removed line.
pub(crate) const GONE: Style = AnsiColor::Red.on_default().bold().underline();
/// The changed part of an added line.
pub(crate) const CAME: Style = AnsiColor::Green.on_default().bold().underline();

/// The styles that templates of reports use, by their names.
pub(crate) const NAMED: [(&str, Style); 6] = [
    ("heading", HEADING),
    ("quiet", QUIET),
    ("good", GOOD),
    ("note", NOTE),
    ("bad", BAD),
    ("refusal", REFUSAL),
];

/// The style of a name; the plain one if there is none of that name.
pub(crate) fn named(name: &str) -> Style {
    let known = NAMED.into_iter().find(|(known, _)| *known == name);
    known.map_or(PLAIN, |(_, style)| style)
}

/// The first styled piece of a text: what is before it, its style, the piece, and the rest.
pub(crate) fn next(text: &str) -> Option<(&str, Style, &str, &str)> {
    let found = NAMED.into_iter().filter_map(|(_, style)| {
        let styled = Styled(style, '\0').to_string();
        let (begin, end) = styled.split_once('\0')?;
        let (before, after) = text.split_once(begin)?;
        let (piece, rest) = after.split_once(end)?;
        Some((before, style, piece, rest))
    });
    found.min_by_key(|(before, ..)| before.len())
}

pub struct Styled<T>(pub Style, pub T);

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The padding goes to the text, so that escape codes do not count.
        write_style(f, &self.0.render())?;
        self.1.fmt(f)?;
        write_style(f, &self.0.render_reset())
    }
}

/// The name of an outcome's style: a refusal is as good as a prompt, a crash is not.
pub(crate) fn of_outcome(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Rendered => "good",
        OutcomeKind::Raised => "refusal",
        OutcomeKind::Failed => "note",
        OutcomeKind::Exceeded | OutcomeKind::Crashed | OutcomeKind::NotAsked => "bad",
    }
}
