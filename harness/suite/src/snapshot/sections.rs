//! The text of a family's snapshots: one section a case, in the order of the case file.
//!
//! ```text
//! === single-turn: rendered
//! <|im_start|>user␊
//! Hi<|im_end|>␊
//! ␃
//!
//! === with-system: raised
//! No system role␃
//! ```
//!
//! A section is a heading with the case's name, and the [transcript](rolecall_base::transcript) of
//! what came of it, up to its `␃`; an empty line parts it from the next. A heading is never
//! taken for a line of a prompt, nor the other way round: lines of a prompt end with `␊` or
//! `␃`.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter};

use rolecall_base::transcript::{END, LINE_BREAK};

/// The beginning of a heading.
const HEADING: &str = "=== ";

/// The separator of the name of a case and its transcript.
const AFTER_NAME: &str = ": ";

/// The separator of two sections.
const GAP: &str = "\n\n";

/// A section, where it stands in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// The name of the case.
    pub(super) name: String,
    /// The line of its heading, counted from 1.
    pub(super) line: usize,
    /// The bytes of its transcript; none where it has no end.
    pub(super) transcript: Option<Range<usize>>,
}

/// A damaged place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Damage {
    /// The line, counted from 1.
    pub(super) line: usize,
    /// What is wrong there.
    pub(super) message: String,
}

/// The text of sections, each a case's name and a transcript.
pub(super) fn write<'s>(sections: impl IntoIterator<Item = (&'s str, &'s str)>) -> String {
    let mut text = String::new();
    for (name, transcript) in sections {
        if !text.is_empty() {
            text.push_str(GAP);
        }
        text.push_str(HEADING);
        text.push_str(name);
        text.push_str(AFTER_NAME);
        text.push_str(transcript);
    }
    text
}

/// The state of the reader between two lines.
enum ReadState {
    /// Where a heading is expected.
    Between,
    /// In the transcript of the last section, which began here.
    Inside { begin: usize },
    /// After the end of a section, where an empty line or nothing is expected.
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
        let end = memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
        let line = &text[at..end];
        // Where in the line a transcript begins or goes on.
        let mut from = 0;
        if let Some(name) = name(line) {
            match place {
                ReadState::Inside { .. } => damage.push(no_end(sections.last())),
                ReadState::After => damage.push(no_gap(number - 1)),
                ReadState::Between | ReadState::Lost => {}
            }
            from = HEADING.len() + name.len() + AFTER_NAME.len();
            sections.push(Section {
                name: name.to_owned(),
                line: number,
                transcript: None,
            });
            let begin = at + from;
            if let Some((lines, length)) =
                whole.and_then(|whole| whole.transcript(&text.as_bytes()[begin..]))
                && let Some(section) = sections.last_mut()
            {
                section.transcript = Some(begin..begin + length);
                place = ReadState::After;
                number += lines;
                at = begin + length + 1;
                continue;
            }
            place = ReadState::Inside { begin };
        }
        place = match place {
            ReadState::Inside { begin } => match end_in(&line[from..]) {
                None => ReadState::Inside { begin },
                Some(length) => {
                    if let Some(section) = sections.last_mut() {
                        section.transcript = Some(begin..at + from + length);
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
            ReadState::After => {
                damage.push(no_gap(number - 1));
                ReadState::Lost
            }
            ReadState::Between => {
                let message = "not a heading such as `=== case: rendered`".to_owned();
                damage.push(Damage {
                    line: number,
                    message,
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
    (sections, damage)
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
        let transcript = &text[..length];
        let ends_with_its_line = text.get(length).is_none_or(|next| *next == b'\n');
        let is_whole = ends_with_its_line && self.heading.find(transcript).is_none();
        is_whole.then(|| (memchr_iter(b'\n', transcript).count(), length))
    }
}

fn no_end(section: Option<&Section>) -> Damage {
    let (name, line) = section.map_or(("", 0), |section| (section.name.as_str(), section.line));
    Damage {
        line,
        message: format!("the section of `{name}` does not end with {END}"),
    }
}

fn no_gap(line: usize) -> Damage {
    Damage {
        line,
        message: format!("expected an empty line after {END}"),
    }
}

/// The name in a heading, if the line is one: a line of a prompt has its mark at its end.
fn name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(HEADING)?;
    if line.ends_with([LINE_BREAK, END]) {
        return None;
    }
    // A colon is rare, and faster to find than two characters.
    let mut colons = memchr_iter(b':', rest.as_bytes());
    let end = colons.find(|at| rest[*at..].starts_with(AFTER_NAME))?;
    Some(&rest[..end])
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
    use rolecall_model::Outcome;

    use super::*;
    use rolecall_base::transcript;

    fn names(text: &str) -> Vec<(&str, Option<&str>)> {
        let (sections, _) = read(text);
        let names: Vec<_> = sections
            .into_iter()
            .map(|section| {
                let at = text.find(&section.name).unwrap();
                let name = &text[at..at + section.name.len()];
                (name, section.transcript.map(|range| &text[range]))
            })
            .collect();
        names
    }

    fn damage(text: &str) -> Vec<String> {
        let (_, damage) = read(text);
        damage
            .into_iter()
            .map(|damage| format!("{}: {}", damage.line, damage.message))
            .collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let tricky = "rendered\n=== b: rendered␊\n=== c: rendered␃";
        let written = write([("a", tricky), ("b", "exceeded fuel\n␃"), ("c", "raised\n␃")]);
        assert_eq!(
            names(&written),
            [
                ("a", Some(tricky)),
                ("b", Some("exceeded fuel\n␃")),
                ("c", Some("raised\n␃")),
            ]
        );
        assert_eq!(damage(&written), [""; 0]);
        let (sections, _) = read(&written);
        let lines: Vec<_> = sections.iter().map(|section| section.line).collect();
        assert_eq!(lines, [1, 5, 8]);
        assert_eq!(read(""), (Vec::new(), Vec::new()));
    }

    #[test]
    fn damage_has_its_place_and_leaves_the_other_sections() {
        let text = "=== a: rendered\nx␃\n\n=== b: rendered\ny\n\n=== c: rendered\nz␃";
        assert_eq!(
            names(text),
            [
                ("a", Some("rendered\nx␃")),
                ("b", None),
                ("c", Some("rendered\nz␃"))
            ]
        );
        assert_eq!(damage(text), ["4: the section of `b` does not end with ␃"]);

        let text = "oh\n=== a: rendered\nx␃ \n\n=== b: rendered\ny␃\n=== c: rendered\nz␃\n";
        assert_eq!(names(text).len(), 3);
        assert_eq!(
            damage(text),
            [
                "1: not a heading such as `=== case: rendered`",
                "3: expected an empty line after ␃",
                "6: expected an empty line after ␃",
                "8: expected an empty line after ␃",
            ]
        );
        assert_eq!(
            damage("=== a rendered\nx␃"),
            ["1: not a heading such as `=== case: rendered`"]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Sections that are looked for at once are those that are found line by line.
        #[test]
        fn both_ways_find_the_same(
            text in "(=== [ab]: rendered\n|=== |␃|␃\n\n|␊\n|\n|x){0,20}"
        ) {
            prop_assert_eq!(read(&text), read_with(&text, None));
        }

        /// Whatever prompts say, they stay in their sections.
        #[test]
        fn any_texts_are_read_again(
            texts in proptest::collection::vec("(=== |[a-c]: |rendered|\n|␃|␊|⟦|\r| |x){0,12}", 0..5)
        ) {
            let transcripts: Vec<_> = texts
                .into_iter()
                .map(|text| transcript::encode(&Outcome::Rendered { text }))
                .collect();
            let names = ["a", "b", "c", "d", "e"];
            let written = write(names.into_iter().zip(transcripts.iter().map(String::as_str)));
            let (sections, damage) = read(&written);
            prop_assert_eq!(damage, vec![]);
            let found: Vec<_> = sections
                .iter()
                .map(|section| &written[section.transcript.clone().unwrap()])
                .collect();
            prop_assert_eq!(found, transcripts);
        }
    }
}
