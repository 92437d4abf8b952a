//! The text of a family's snapshots: one section a pair, in the order of the case file, and for each
//! case by the names of the templates.
//!
//! ```text
//! === single-turn, chatml: rendered
//! <|im_start|>user␊
//! Hi<|im_end|>␊
//! ␃
//! #1: read back
//! reference 3f2a91c0b7d1 9f8e7d6c5b4a
//! reference #1 77ab01de3c55 0f1e2d3c4b5a
//!
//! === with-system, chatml: raised
//! No system role␃
//! reference 77ab01de3c55 raised 0f1e2d3c4b5a
//! ```
//!
//! A section begins with a heading that names the case and the template. The
//! [transcript](rolecall_core::transcript) of the pair's outcome follows; it ends with `␃`. More lines may
//! follow, which say what a parser makes of the pair's answers and what the reference did. An empty line
//! separates a section from the next. A heading is never taken for a line of a prompt, nor the other way round: lines of a
//! prompt end with `␊` or `␃`.
//!
//! A second section of a pair, with `, reference` after the template, has the reference's own
//! transcript, where an engine is listed to differ from it.

use rolecall_core::Cut;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use memchr::{memchr, memchr_iter};

use rolecall_core::transcript::{END, LINE_BREAK};

const HEADING: &str = "=== ";

/// The separator of the names in a heading.
const BETWEEN_NAMES: &str = ", ";

/// The text after the names of a section with the reference's own transcript.
const REFERENCE: &str = "reference";

/// The separator of the names and the transcript.
const AFTER_NAME: &str = ": ";

/// The separator of two sections.
const GAP: &str = "\n\n";

/// The key of a pair's section: the names of its case and of its template.
pub(super) fn key(case: &str, template: &str) -> String {
    [case, template].join(BETWEEN_NAMES)
}

/// The key of the section with the reference's own transcript of a pair.
pub(super) fn reference_key(case: &str, template: &str) -> String {
    [case, template, REFERENCE].join(BETWEEN_NAMES)
}

/// Whether a key is that of a section with the reference's own transcript.
pub(super) fn is_of_reference(key: &str) -> bool {
    key.split(BETWEEN_NAMES).nth(2) == Some(REFERENCE)
}

/// The names of the case and the template in a key. A key of a damaged heading may lack the template.
pub(super) fn names(key: &str) -> (&str, &str) {
    let (case, rest) = key.split_once(BETWEEN_NAMES).unwrap_or((key, ""));
    let own = rest.strip_suffix(REFERENCE);
    let own = own.and_then(|rest| rest.strip_suffix(BETWEEN_NAMES));
    (case, own.unwrap_or(rest))
}

/// A section, where it is in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) key: String,
    /// The line of its heading, counted from 1.
    pub(super) line: usize,
    /// The bytes of its transcript; none where it has no end.
    pub(super) transcript: Option<Range<usize>>,
    /// The bytes of the lines after the transcript.
    pub(super) notes: Range<usize>,
    /// The line of the first of them, if there is one.
    pub(super) first_note: usize,
}

/// A damaged place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) line: usize,
    pub(super) message: String,
}

/// Adds a section to a text: its key, its transcript, and the lines after it.
pub(super) fn add(text: &mut String, key: &str, transcript: &str, notes: &str) {
    if !text.is_empty() {
        text.push_str(GAP);
    }
    text.extend([HEADING, key, AFTER_NAME, transcript]);
    for line in notes.lines() {
        text.extend(["\n", line]);
    }
}

const NO_HEADING: &str = "not a heading such as `=== case, template: rendered`";
const NO_GAP: &str = "expected an empty line after the section";
const CONFLICT: &str = "git has left a conflict here: choose one of its sides";
const NOTE_OF_REFERENCE: &str = "only a pair's own section has lines after its transcript";

/// The state of the reader between two lines.
enum ReadState {
    /// Where a heading is expected.
    Between,
    /// In the transcript of the last section, which began here.
    Inside { begin: usize },
    /// After the end of a transcript, where a line about it, an empty line or nothing is expected.
    After,
    /// In damaged text that was reported already.
    Lost,
}

/// Reads the sections of a text and reports damage. Damage in one place does not affect the
/// sections before and after it.
pub(super) fn read(text: &str) -> (Vec<Section>, Vec<Damage>) {
    /// Made once: a run reads hundreds of files.
    static WHOLE: LazyLock<TranscriptFinder> = LazyLock::new(TranscriptFinder::new);
    read_with(text, Some(&WHOLE))
}

/// Reads sections as [`read`] does. A finder only makes it faster.
fn read_with(text: &str, whole: Option<&TranscriptFinder>) -> (Vec<Section>, Vec<Damage>) {
    let mut sections: Vec<Section> = Vec::new();
    let mut damage = Vec::new();
    let mut place = ReadState::Between;
    let mut number = 0;
    let mut at = 0;
    while at <= text.len() && !text.is_empty() {
        number += 1;
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let end = memchr(b'\n', rest).map_or(text.len(), |length| at + length);
        let line = text.cut(at..end);
        // Where in the line a transcript begins or goes on.
        let mut from = 0;
        if let Some(name) = key_in(line) {
            match place {
                ReadState::Inside { .. } => damage.push(no_end(sections.last())),
                ReadState::After => damage.push(no_gap(number - 1)),
                ReadState::Between | ReadState::Lost => {}
            }
            from = HEADING.len() + name.len() + AFTER_NAME.len();
            sections.push(Section {
                key: name.to_owned(),
                line: number,
                transcript: None,
                notes: 0..0,
                first_note: 0,
            });
            let begin = at + from;
            if let Some((lines, length)) =
                whole.and_then(|whole| whole.transcript(text.as_bytes().get(begin..)?))
                && let Some(section) = sections.last_mut()
            {
                section.transcript = Some(begin..begin + length);
                section.notes = begin + length..begin + length;
                place = ReadState::After;
                number += lines;
                at = begin + length + 1;
                continue;
            }
            place = ReadState::Inside { begin };
        }
        place = match place {
            ReadState::Inside { begin } => match end_in(line.cut(from..)) {
                None => ReadState::Inside { begin },
                Some(length) => {
                    if let Some(section) = sections.last_mut() {
                        section.transcript = Some(begin..at + from + length);
                        section.notes = end..end;
                    }
                    if at + from + length == end {
                        ReadState::After
                    } else {
                        damage.push(no_gap(number));
                        ReadState::Lost
                    }
                }
            },
            ReadState::After if line.is_empty() && end < text.len() => ReadState::Between,
            ReadState::After if is_note(line) => {
                if sections
                    .last()
                    .is_some_and(|section| is_of_reference(&section.key))
                {
                    damage.push(Damage {
                        line: number,
                        message: NOTE_OF_REFERENCE.to_owned(),
                    });
                }
                if let Some(section) = sections.last_mut() {
                    // After the line break, so that no note is an empty text.
                    if section.notes.is_empty() {
                        section.notes.start = at;
                        section.first_note = number;
                    }
                    section.notes.end = end;
                }
                ReadState::After
            }
            ReadState::After => {
                damage.push(no_gap(number - 1));
                ReadState::Lost
            }
            ReadState::Between => {
                damage.push(Damage {
                    line: number,
                    message: NO_HEADING.to_owned(),
                });
                ReadState::Lost
            }
            ReadState::Lost => ReadState::Lost,
        };
        at = end + 1;
    }
    if let ReadState::Inside { .. } = place {
        damage.push(no_end(sections.last()));
    }
    add_conflicts(text, &mut damage);
    (sections, damage)
}

/// Adds the conflicts that git has left, in the place of what follows from them.
fn add_conflicts(text: &str, damage: &mut Vec<Damage>) {
    let conflicts = conflicts(text);
    if !conflicts.is_empty() {
        let follows = |one: &Damage| {
            let is_there = |lines: &Range<usize>| lines.contains(&one.line);
            [NO_GAP, NO_HEADING].contains(&one.message.as_str()) && conflicts.iter().any(is_there)
        };
        damage.retain(|one| !follows(one));
        damage.extend(conflicts.iter().map(|lines| Damage {
            line: lines.start + 1,
            message: CONFLICT.to_owned(),
        }));
        damage.sort_by_key(|one| one.line);
    }
}

/// The lines of each conflict that git has left, from the line before it. A line of a prompt ends with
/// its mark.
fn conflicts(text: &str) -> Vec<Range<usize>> {
    const BEGIN: &str = "<<<<<<< ";
    const END: &str = ">>>>>>> ";
    if memmem::find(text.as_bytes(), BEGIN.as_bytes()).is_none() {
        return Vec::new();
    }
    let mut conflicts: Vec<Range<usize>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if is_of_prompt(line) {
            continue;
        }
        if line.starts_with(BEGIN) {
            conflicts.push(index..index + 2);
        } else if line.starts_with(END)
            && let Some(last) = conflicts.last_mut()
        {
            last.end = index + 2;
        }
    }
    conflicts
}

/// Finds the end of undamaged transcripts, without reading line by line.
struct TranscriptFinder {
    end: Finder<'static>,
    heading: Finder<'static>,
}

impl TranscriptFinder {
    fn new() -> TranscriptFinder {
        TranscriptFinder {
            end: Finder::new("␃"),
            heading: Finder::new("\n=== "),
        }
    }

    /// The line breaks and the bytes of the transcript that a text begins with, if it ends
    /// with its line and none of its lines looks like a heading.
    fn transcript(&self, text: &[u8]) -> Option<(usize, usize)> {
        let length = self.end.find(text)? + END.len_utf8();
        let transcript = text.get(..length)?;
        let ends_with_its_line = text.get(length).is_none_or(|next| *next == b'\n');
        let is_whole = ends_with_its_line && self.heading.find(transcript).is_none();
        is_whole.then(|| (memchr_iter(b'\n', transcript).count(), length))
    }
}

fn no_end(section: Option<&Section>) -> Damage {
    let (name, line) = section.map_or(("", 0), |section| (section.key.as_str(), section.line));
    Damage {
        line,
        message: format!("the section of `{name}` does not end with {END}"),
    }
}

fn no_gap(line: usize) -> Damage {
    Damage {
        line,
        message: NO_GAP.to_owned(),
    }
}

/// Whether a line is about the transcript above it.
fn is_note(line: &str) -> bool {
    ["reference ", "#", "  "]
        .iter()
        .any(|begin| line.starts_with(begin))
}

/// Whether a line has the mark of a prompt's line at its end.
fn is_of_prompt(line: &str) -> bool {
    line.ends_with([LINE_BREAK, END])
}

/// The names in a heading, if the line is one.
fn key_in(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(HEADING)?;
    if is_of_prompt(line) {
        return None;
    }
    // A colon is rare, and faster to find than two characters.
    let mut colons = memchr_iter(b':', rest.as_bytes());
    let end = colons.find(|at| rest.cut(*at..).starts_with(AFTER_NAME))?;
    Some(rest.cut(..end))
}

/// How many bytes of a line belong to the transcript that ends in it.
fn end_in(line: &str) -> Option<usize> {
    if line.ends_with(LINE_BREAK) {
        return None;
    }
    line.find(END).map(|at| at + END.len_utf8())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rolecall_core::Outcome;

    use super::*;
    use rolecall_core::transcript;

    fn found(text: &str) -> Vec<(&str, Option<&str>)> {
        let (sections, _) = read(text);
        let found: Vec<_> = sections
            .into_iter()
            .map(|section| {
                let at = text.find(&section.key).unwrap();
                let name = &text[at..at + section.key.len()];
                (name, section.transcript.map(|range| &text[range]))
            })
            .collect();
        found
    }

    fn damage(text: &str) -> Vec<String> {
        let (_, damage) = read(text);
        damage
            .into_iter()
            .map(|damage| format!("{}: {}", damage.line, damage.message))
            .collect()
    }

    fn write<'t>(sections: impl IntoIterator<Item = (&'t str, &'t str, &'t str)>) -> String {
        let mut text = String::new();
        for (key, transcript, notes) in sections {
            add(&mut text, key, transcript, notes);
        }
        text
    }

    #[test]
    fn what_is_written_is_read_again() {
        let tricky = "rendered\n=== b, t: rendered␊\n=== c, t: rendered␃";
        let written = write([
            ("a, t", tricky, ""),
            (
                "b, t",
                "exceeded fuel\n␃",
                "#1: read back\n  as text\nreference 00 11\n",
            ),
            ("b, t, reference", "raised\n␃", ""),
        ]);
        assert_eq!(
            found(&written),
            [
                ("a, t", Some(tricky)),
                ("b, t", Some("exceeded fuel\n␃")),
                ("b, t, reference", Some("raised\n␃")),
            ]
        );
        assert_eq!(damage(&written), [""; 0]);
        let (sections, _) = read(&written);
        let lines: Vec<_> = sections.iter().map(|section| section.line).collect();
        assert_eq!(lines, [1, 5, 11]);
        let notes: Vec<_> = sections
            .iter()
            .map(|section| &written[section.notes.clone()])
            .collect();
        assert_eq!(notes, ["", "#1: read back\n  as text\nreference 00 11", ""]);
        assert_eq!(read(""), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_key_has_the_names_of_its_pair() {
        assert_eq!(names(&key("a", "t")), ("a", "t"));
        assert_eq!(names(&reference_key("a", "t")), ("a", "t"));
        assert_eq!(names("a"), ("a", ""));
        // A template may have this name.
        assert_eq!(names(&key("a", "reference")), ("a", "reference"));
        let keys = [
            key("a", "t"),
            key("a", "reference"),
            reference_key("a", "reference"),
        ];
        assert_eq!(keys.map(|key| is_of_reference(&key)), [false, false, true]);
    }

    #[test]
    fn damage_has_its_place_and_leaves_the_other_sections() {
        let text = "=== a: rendered\nx␃\n\n=== b: rendered\ny\n\n=== c: rendered\nz␃";
        assert_eq!(
            found(text),
            [
                ("a", Some("rendered\nx␃")),
                ("b", None),
                ("c", Some("rendered\nz␃"))
            ]
        );
        assert_eq!(damage(text), ["4: the section of `b` does not end with ␃"]);

        let text = "oh\n=== a: rendered\nx␃ \n\n=== b: rendered\ny␃\n=== c: rendered\nz␃\n";
        assert_eq!(found(text).len(), 3);
        assert_eq!(
            damage(text),
            [
                "1: not a heading such as `=== case, template: rendered`",
                "3: expected an empty line after the section",
                "6: expected an empty line after the section",
                "8: expected an empty line after the section",
            ]
        );
        assert_eq!(
            damage("=== a rendered\nx␃"),
            ["1: not a heading such as `=== case, template: rendered`"]
        );
        assert_eq!(
            damage("=== a, t, reference: rendered\nx␃\nreference 00 11"),
            ["3: only a pair's own section has lines after its transcript"]
        );
    }

    #[test]
    fn a_conflict_is_one_damage_and_no_line_of_a_prompt() {
        let conflict = "git has left a conflict here: choose one of its sides";
        let notes = "=== a: rendered\nx␃\n<<<<<<< HEAD\nreference 0\n=======\nreference 1\n>>>>>>> b\n\n=== b: rendered\n␃";
        assert_eq!(damage(notes), [format!("3: {conflict}")]);
        let sections = "<<<<<<< HEAD\n=== a: rendered\nx␃\n=======\n=== a: rendered\ny␃\n>>>>>>> b";
        assert_eq!(damage(sections), [format!("1: {conflict}")]);
        assert_eq!(found(sections).len(), 2);
        let transcript = "=== a: rendered\n<<<<<<< HEAD\nx␃\n=======\ny␃\n>>>>>>> b";
        assert_eq!(damage(transcript), [format!("2: {conflict}")]);
        let prompt = "=== a: rendered\n<<<<<<< HEAD␊\nx␊\n>>>>>>> b␃";
        assert_eq!(damage(prompt), [""; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Sections that are looked for at once are those that are found line by line.
        #[test]
        fn both_ways_find_the_same(
            text in "(=== [ab], t: rendered\n|=== |␃|␃\n\n|␃\nreference |␊|\n|\n#1|\n  |x|<<<<<<< ){0,20}"
        ) {
            prop_assert_eq!(read(&text), read_with(&text, None));
        }

        /// Whatever prompts say, they stay in their sections.
        #[test]
        fn any_texts_are_read_again(
            texts in proptest::collection::vec("(=== |[a-c], t: |rendered|\n|␃|␊|⟦|\r| |x|<<<<<<< |reference ){0,12}", 0..5)
        ) {
            let transcripts: Vec<_> = texts
                .into_iter()
                .map(|text| transcript::encode(&Outcome::Rendered { text }))
                .collect();
            let keys = ["a, t", "a, u", "a, u, reference", "b, t", "c, t"];
            let notes = ["", "reference 0 1\n", "", "#0: read\n  x\nreference 0 1\nreference #0 1\n", ""];
            let sections = keys.into_iter().zip(&transcripts).zip(notes);
            let written = write(sections.map(|((key, text), notes)| (key, text.as_str(), notes)));
            let (sections, damage) = read(&written);
            prop_assert_eq!(damage, vec![]);
            for (index, section) in sections.iter().enumerate() {
                prop_assert_eq!(&section.key, keys[index]);
                prop_assert_eq!(&written[section.transcript.clone().unwrap()], &transcripts[index]);
                prop_assert_eq!(&written[section.notes.clone()], notes[index].trim_end());
            }
            prop_assert_eq!(sections.len(), transcripts.len());
        }
    }
}
