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
//! A section is a heading with the case's name, and the [transcript](crate::transcript) of
//! what came of it, up to its `␃`; an empty line parts it from the next. A heading is never
//! taken for a line of a prompt, nor the other way round: lines of a prompt end with `␊` or
//! `␃`.

use std::ops::Range;

use crate::transcript::END;

/// How a heading begins.
const HEADING: &str = "=== ";

/// What stands between the name of a case and its transcript.
const AFTER_NAME: &str = ": ";

/// What stands between two sections.
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

/// A place in a text that no section has.
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

/// Reads the sections of a text, and says what is wrong with it. What is wrong in one place
/// leaves the sections before and after it.
pub(super) fn read(text: &str) -> (Vec<Section>, Vec<Damage>) {
    let mut sections: Vec<Section> = Vec::new();
    let mut damage = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while at < text.len() {
        let rest = &text[at..];
        let heading = first_line(rest);
        let Some(name) = name(heading) else {
            let message = "no heading of a section, such as `=== case: rendered`".to_owned();
            damage.push(Damage { line, message });
            let next = next_heading(rest).unwrap_or(rest.len());
            line += rest[..next].matches('\n').count();
            at += next;
            continue;
        };
        let begin = at + HEADING.len() + name.len() + AFTER_NAME.len();
        let end = end(rest);
        sections.push(Section {
            name: name.to_owned(),
            line,
            transcript: end.map(|end| begin..at + end),
        });
        let after = match end {
            Some(end) if end == rest.len() => end,
            Some(end) if rest[end..].starts_with(GAP) => end + GAP.len(),
            Some(end) => {
                damage.push(Damage {
                    line: line + rest[..end].matches('\n').count(),
                    message: format!("something else than an empty line after {END}"),
                });
                end + next_heading(&rest[end..]).unwrap_or(rest.len() - end)
            }
            None => {
                let message = format!("the section of `{name}` has no {END} at its end");
                damage.push(Damage { line, message });
                next_heading(rest).unwrap_or(rest.len())
            }
        };
        line += rest[..after].matches('\n').count();
        at += after;
    }
    (sections, damage)
}

fn first_line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(line, _)| line)
}

/// The name in a heading, if the line is one.
fn name(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix(HEADING)?.split_once(AFTER_NAME)?;
    is_heading(line).then_some(name)
}

/// Whether a line is a heading: a line of a prompt has its mark at its end.
fn is_heading(line: &str) -> bool {
    line.starts_with(HEADING) && !line.ends_with(['␊', END])
}

/// Where the next heading after the first line begins.
fn next_heading(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('\n')? + 1;
        if is_heading(first_line(&text[at..])) {
            return Some(at);
        }
        from = at;
    }
}

/// Where the section ends that a text begins with, unless it has no end before the next
/// heading.
fn end(text: &str) -> Option<usize> {
    let end = text.find(END)? + END.len_utf8();
    let mut before = &text[..end];
    while let Some((_, rest)) = before.split_once("\n=== ") {
        if !first_line(rest).ends_with(['␊', END]) {
            return None;
        }
        before = rest;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rolecall_model::Outcome;

    use super::*;
    use crate::transcript;

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
        assert_eq!(damage(text), ["4: the section of `b` has no ␃ at its end"]);

        let text = "oh\n=== a: rendered\nx␃ \n\n=== b: rendered\ny␃\n=== c: rendered\nz␃\n";
        assert_eq!(names(text).len(), 3);
        assert_eq!(
            damage(text),
            [
                "1: no heading of a section, such as `=== case: rendered`",
                "3: something else than an empty line after ␃",
                "6: something else than an empty line after ␃",
                "8: something else than an empty line after ␃",
            ]
        );
        assert_eq!(
            damage("=== a rendered\nx␃"),
            ["1: no heading of a section, such as `=== case: rendered`"]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

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
