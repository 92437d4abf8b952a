//! Causes: why two outcomes of a case differ.
//!
//! All commands group differences by these causes: `run` compares the reference with the engine,
//! `diff` compares A with B, and `matrix` groups by the name of the cause, which measurement
//! files keep.
//!
//! The cause of a difference between two prompts is the words that were added and removed: whole
//! lines would differ with every conversation. For a side without a prompt it is the side's
//! message, without positions, numbers and quotations. If an engine fails and the other side
//! does something else, only the engine's message is the cause.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use rolecall_core::{Case, Cut, Outcome, OutcomeKind};

use crate::verdict::Difference;
use rolecall_core::diff::{self, Diff, Edit};
use rolecall_core::transcript::{decode, encode, encode_char};
use rolecall_core::wording;

/// An edit with this many visible characters is clear by itself. A shorter one is named
/// with the word before it.
const TELLING: usize = 4;

/// The most characters of an error in a name, and of an added or removed text.
const WORDS: usize = 160;
const PIECE: usize = 16;

/// Why two outcomes of a case differ.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cause {
    name: String,
    /// Distinguishes causes of one name: every edit of the prompt, or the message of each side
    /// without a prompt.
    details: Vec<String>,
}

/// Groups members by a key, such as their cause, and keeps the smallest of each group as its
/// example.
#[derive(Debug)]
pub struct Groups<K, M, E, S = usize> {
    groups: Vec<Group<M, E, S>>,
    known: HashMap<K, usize>,
}

#[derive(Debug)]
struct Group<M, E, S> {
    members: Vec<M>,
    example: E,
    /// The index of the example among the members, and its size.
    at: usize,
    size: S,
}

impl Cause {
    /// The cause of a difference between two outcomes: of the reference or A, and of the
    /// engine or B. `edits` are those that [`edits`] finds between them.
    pub fn of([expected, found]: [&Outcome; 2], edits: &[Edit]) -> Cause {
        let details = match (expected.kind(), found.kind()) {
            (OutcomeKind::Rendered, OutcomeKind::Rendered) if edits.is_empty() => {
                let diff = Diff::of_sides(&encode(expected), &encode(found));
                diff.first.into_iter().collect()
            }
            (OutcomeKind::Rendered, OutcomeKind::Rendered) => {
                let details: BTreeSet<String> = edits.iter().map(detail).collect();
                details.into_iter().collect()
            }
            (of_expected, of_found @ (OutcomeKind::Failed | OutcomeKind::Crashed))
                if of_expected != of_found =>
            {
                Vec::new()
            }
            _ => [expected, found]
                .into_iter()
                .filter(|side| side.kind() != OutcomeKind::Rendered)
                .map(|side| error(side.text()))
                .collect(),
        };
        Cause {
            name: name(expected.kind(), expected.text(), found, edits),
            details,
        }
    }

    /// The cause of a difference from the reference. If only the fingerprint of the reference's
    /// text is known, the cause is the kinds of both outcomes.
    pub fn of_difference(difference: &Difference, found: &Outcome) -> Cause {
        let transcript = difference.transcript.as_deref();
        let decoded = transcript.and_then(|transcript| decode(transcript).ok());
        match decoded.or_else(|| difference.expected.outcome().cloned()) {
            Some(expected) => {
                let sides = [&expected, found];
                Cause::of(sides, &edits(sides))
            }
            None => Cause {
                name: name(difference.expected.kind(), "", found, &[]),
                details: Vec::new(),
            },
        }
    }

    /// The cause in words. It names the first of several edits.
    pub fn into_name(self) -> String {
        self.name
    }
}

/// The edits between two prompts, each once. None if a side has no prompt, or the prompts have
/// too many words to compare.
pub fn edits(sides: [&Outcome; 2]) -> Vec<Edit> {
    let mut seen = BTreeSet::new();
    let mut edits: Vec<Edit> = placed_edits(sides)
        .into_iter()
        .map(|(edit, _)| edit)
        .collect();
    edits.retain(|edit| seen.insert(edit.clone()));
    edits
}

/// All edits between two prompts, each with its first byte in the second one.
pub(crate) fn placed_edits(sides: [&Outcome; 2]) -> Vec<(Edit, usize)> {
    let [Outcome::Rendered { text: a }, Outcome::Rendered { text: b }] = sides else {
        return Vec::new();
    };
    let visible = |text: &str| text.trim().chars().count();
    let mut edits = diff::edits(a, b).unwrap_or_default();
    for (edit, _) in &mut edits {
        if visible(&edit.gone) + visible(&edit.came) >= TELLING {
            edit.after.clear();
        }
    }
    edits
}

/// The bytes of a conversation as JSON, tools and documents included.
pub fn size(case: &Case) -> usize {
    let written = serde_json::to_string(&(&case.messages, &case.tools, &case.documents));
    written.unwrap_or_default().len()
}

/// The part of an error message that all errors of the same cause share.
pub fn error(message: &str) -> String {
    let words = wording::common(message);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return "an error without words".to_owned();
    }
    cut(&words, WORDS)
}

/// Cuts a text to its first `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.cut(..at)),
        None => text.to_owned(),
    }
}

/// The name of a cause. Measurement files keep these names: a renamed cause counts as another
/// one when two measurements are compared.
fn name(expected: OutcomeKind, words: &str, found: &Outcome, edits: &[Edit]) -> String {
    match (found, expected) {
        (Outcome::Failed { message, .. } | Outcome::Crashed { message }, _) => error(message),
        (Outcome::Exceeded { limit }, _) => format!("a limit ran out: {limit}"),
        (Outcome::Rendered { .. }, OutcomeKind::Rendered) => change(edits),
        (Outcome::Rendered { .. }, OutcomeKind::Failed) => {
            format!("a prompt where the reference fails: {}", error(words))
        }
        (Outcome::Rendered { .. }, OutcomeKind::Raised) => {
            "a prompt where the template refuses".to_owned()
        }
        (Outcome::Rendered { .. }, _) => "a prompt where the template gives none".to_owned(),
        (Outcome::Raised { .. }, OutcomeKind::Raised) => {
            "another message of raise_exception".to_owned()
        }
        (Outcome::Raised { .. }, _) => "the template refuses, and should not".to_owned(),
        (Outcome::NotAsked { .. }, _) => "not asked".to_owned(),
    }
}

/// Names the first edit between two prompts.
fn change(edits: &[Edit]) -> String {
    let Some(first) = edits.first() else {
        return "another prompt".to_owned();
    };
    let [gone, came] = [&first.gone, &first.came].map(|piece| {
        let mut shown = String::new();
        piece.chars().for_each(|c| encode_char(c, &mut shown));
        // The mark of a line break comes before it.
        shown.retain(|c| c != '\n');
        cut(&with_one_number(&shown), PIECE)
    });
    match (gone.as_str(), came.as_str()) {
        (gone, "") => format!("`{gone}` is missing"),
        ("", came) => format!("`{came}` is too much"),
        ("#", "#") => "another number".to_owned(),
        (gone, came) => format!("`{came}` instead of `{gone}`"),
    }
}

/// An edit in the form that all edits of the same cause share.
fn detail(edit: &Edit) -> String {
    let pieces = [&edit.after, &edit.gone, &edit.came];
    format!("{:?}", pieces.map(|piece| with_one_number(piece)))
}

/// A text with `#` for every number.
pub(crate) fn with_one_number(text: &str) -> String {
    let mut shape = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            c => shape.push(c),
        }
    }
    shape
}

impl<K, M, E, S> Default for Groups<K, M, E, S> {
    fn default() -> Groups<K, M, E, S> {
        Groups {
            groups: Vec::new(),
            known: HashMap::new(),
        }
    }
}

impl<K: Eq + Hash, M, E, S: Ord> Groups<K, M, E, S> {
    /// Adds a member to the group of its key. `example` is called only if the member is smaller
    /// than all before it.
    pub fn add(&mut self, key: K, size: S, member: M, example: impl FnOnce() -> E) {
        let Some(group) = self.known.get(&key).and_then(|at| self.groups.get_mut(*at)) else {
            self.known.insert(key, self.groups.len());
            self.groups.push(Group {
                members: vec![member],
                example: example(),
                at: 0,
                size,
            });
            return;
        };
        if size < group.size {
            group.example = example();
            group.at = group.members.len();
            group.size = size;
        }
        group.members.push(member);
    }

    /// The examples, each with all members of its group: first the example's own member, then the
    /// others in order. The largest groups come first.
    pub fn sorted(mut self) -> impl Iterator<Item = (E, Vec<M>)> {
        self.groups
            .sort_by_key(|group| std::cmp::Reverse(group.members.len()));
        self.groups.into_iter().map(|mut group| {
            if let Some(before) = group.members.get_mut(..=group.at) {
                before.rotate_right(1);
            }
            (group.example, group.members)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::Stage;

    fn rendered(text: &str) -> Outcome {
        Outcome::Rendered { text: text.into() }
    }

    fn failed(message: &str) -> Outcome {
        Outcome::Failed {
            stage: Stage::Render,
            message: message.into(),
            line: Some(1),
        }
    }

    fn of(a: &Outcome, b: &Outcome) -> Cause {
        Cause::of([a, b], &edits([a, b]))
    }

    fn cause(a: &str, b: &str) -> Cause {
        of(&rendered(a), &rendered(b))
    }

    #[test]
    fn the_same_change_is_one_cause_however_often_it_is_made() {
        let turn = |word: &str, name: &str| format!("<|{name}|>user {word}</s>\n");
        let once = cause(&turn("Hello there", "start"), &turn("Hello there", "open"));
        let twice = |name| turn("One more thing", name) + &turn("And another one", name);
        assert_eq!(once, cause(&twice("start"), &twice("open")));
        assert_ne!(
            once,
            cause(&turn("Hello there", "open"), &turn("Hello there", "start"))
        );
        // Another change after it is another cause of the same name.
        let other = cause(&turn("Hello there", "start"), &turn("Goodbye", "open"));
        assert_ne!(once, other);
        assert_eq!(once.into_name(), other.into_name());
    }

    #[test]
    fn a_change_of_one_character_has_another_cause_after_another_word() {
        let after = |a: &str, gap: &str| format!("<|start|>{a}{gap}and all of the rest");
        let user = cause(&after("user", " "), &after("user", "  "));
        assert_ne!(user, cause(&after("system", " "), &after("system", "  ")));
    }

    #[test]
    fn what_came_and_went_names_the_cause() {
        for (expected, found, name) in [
            ("a\nb", "ab", "`ab` instead of `a␊b`"),
            ("user\n<b>", "user<b>", "`␊` is missing"),
            ("x: 1.0", "x: 1", "`.#` is missing"),
            ("x: 31", "x: 4", "another number"),
            ("a b", "a  b", "` ` is too much"),
            ("say None", "say null", "`null` instead of `None`"),
        ] {
            let cause = cause(expected, found).into_name();
            assert_eq!(cause, name, "{expected:?} {found:?}");
        }
        // The same change of other numbers has the same cause.
        assert_eq!(cause("x: 1.0", "x: 1"), cause("x: 27.0", "x: 27"));
    }

    #[test]
    fn an_engine_that_fails_alone_names_the_cause() {
        let raised = Outcome::Raised {
            message: "No.".to_owned(),
        };
        let unknown = failed("unknown filter 'x' in line 3");
        let cause = of(&rendered("a"), &unknown);
        assert_eq!(cause, of(&raised, &failed("unknown filter 'y' in line 12")));
        assert_ne!(cause, of(&rendered("a"), &failed("unknown test 'x'")));
        // If both fail, nobody knows who is right: both messages count.
        let both = of(&unknown, &failed("no"));
        assert_ne!(both, of(&failed("another"), &failed("no")));
    }

    #[test]
    fn an_error_is_without_places() {
        assert_eq!(
            error("Unknown filter 'x' at line 3:\n  3 | {{ x }}\n     ^^^\n(0x7f0a)"),
            "Unknown filter … at line #: (#)"
        );
        assert_eq!(error(""), "an error without words");
        assert_eq!(error(&"é".repeat(200)).chars().count(), WORDS + 1);
    }

    #[test]
    fn the_smallest_of_a_group_is_its_example_and_comes_first() {
        let mut groups = Groups::default();
        for (key, size) in [("a", 5), ("b", 7), ("b", 8), ("b", 2), ("b", 2)] {
            groups.add(key, size, size, || size);
        }
        let groups: Vec<_> = groups.sorted().collect();
        assert_eq!(groups, [(2, vec![2, 7, 8, 2]), (5, vec![5])]);
    }
}
