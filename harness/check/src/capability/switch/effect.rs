//! What a value of a switch changes in a prompt, in a line.

use rolecall_core::{Cut, Outcome};

use crate::probe::ProbeOutcome;

/// How much of a text an effect shows, in characters.
const MOST_SHOWN: usize = 60;

/// How two outcomes of a probe differ. None if the engine fails with the second, because then the
/// value is none for the variable.
pub(super) fn effect(usual: &ProbeOutcome, set: &ProbeOutcome) -> Option<String> {
    match (usual.text(), set.text(), &*set.outcome) {
        (Some(one), Some(other), _) => Some(difference(one, other)),
        (_, _, Outcome::Raised { .. }) => Some(set.refusal()),
        _ => None,
    }
}

/// How two prompts differ: what came, what went, and where. Words and control tokens are shown
/// whole.
fn difference(one: &str, other: &str) -> String {
    let same = one.bytes().zip(other.bytes());
    let same = same.take_while(|(a, b)| a == b).count();
    let start = one.floor_char_boundary(same);
    let start = word_start(one.cut(..start));
    let (gone, came) = (one.cut(start..), other.cut(start..));
    let ends = gone.bytes().rev().zip(came.bytes().rev());
    let same = ends.take_while(|(a, b)| a == b).count();
    let end = gone.ceil_char_boundary(gone.len() - same);
    let end = end + word_end(gone.cut(end..));
    let rest = gone.cut(end..);
    let (gone, came) = (gone.cut(..end), came.cut(..came.len() - rest.len()));
    let place = match (start, rest) {
        (_, "") => "at the end",
        (0, _) => "at the beginning",
        _ => "inside",
    };
    match (gone, came) {
        ("", came) => format!("{} is added {place}", shown(came)),
        (gone, "") => format!("{} is gone {place}", shown(gone)),
        (gone, came) => format!("{} instead of {} {place}", shown(came), shown(gone)),
    }
}

/// Where the word or the control token begins that a text ends within.
fn word_start(text: &str) -> usize {
    let is_in = |c: char| c.is_alphanumeric() || matches!(c, '_' | '|' | '/' | '\u{ff5c}');
    let word = text.trim_end_matches(is_in);
    let start = word.strip_suffix(['<', '[']).unwrap_or(word);
    start.len()
}

/// Where the word or the control token ends that a text begins within.
fn word_end(text: &str) -> usize {
    let is_in = |c: char| c.is_alphanumeric() || matches!(c, '_' | '|' | '/' | '\u{ff5c}');
    let rest = text.trim_start_matches(is_in);
    let rest = rest.strip_prefix(['>', ']']).unwrap_or(rest);
    text.len() - rest.len()
}

/// A text in backquotes, with its line breaks written out, cut if it is long.
fn shown(text: &str) -> String {
    let count = text.chars().count();
    let cut: String = text.chars().take(MOST_SHOWN).collect();
    let cut = cut.replace('\n', "\\n");
    match count {
        0..=MOST_SHOWN => format!("`{cut}`"),
        count => format!("`{cut}…` ({count} characters)"),
    }
}
