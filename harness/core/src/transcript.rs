//! Transcripts: outcomes as text that a person can review and a program can reverse.
//!
//! The first line names the outcome. What follows is the prompt, or the words of the
//! refusal (a limit has none), with every byte visible:
//!
//! | in the text | in the transcript |
//! |---|---|
//! | a newline | `␊` and a line break |
//! | another C0 control, DEL | its picture: `␍`, `␉`, …, `␡` |
//! | what cannot be seen or looks like a plain space | its code point: `⟦U+200B⟧` |
//! | one of these marks itself | its code point: `⟦U+240A⟧` |
//! | the end | `␃` |
//!
//! A plain space is itself. No space is ever the last character of a line: `␊` or `␃`
//! follows it. A line break without a mark never occurs.

use crate::cut::Cut;
use std::borrow::Cow;
use std::fmt::Write as _;

use crate::outcome::{Limit, Outcome, Stage};

use crate::invisible::{control_picture, is_invisible, pictured_control};

/// The mark after the last character, so that white space at the end is visible.
pub const END: char = '␃';
/// A line feed, which the end of the line follows.
pub const LINE_BREAK: char = '␊';
const OPEN: char = '⟦';
const CLOSE: char = '⟧';

/// A transcript that does not decode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTranscript {
    /// The first line names no outcome.
    #[error("the first line, `{0}`, names no outcome")]
    Header(String),
    /// The text does not end with the mark, or goes on after it.
    #[error("a transcript ends with {END}, once")]
    End,
    /// A line break without a mark, or a mark without a line break.
    #[error("{LINE_BREAK} and a line break belong together")]
    LineBreak(usize),
    /// A bracket that holds no code point, or has no partner.
    #[error("{OPEN}U+…{CLOSE} holds one code point in hexadecimal digits")]
    CodePoint(usize),
    /// A character that should have been written as its mark.
    #[error("U+{:04X} must be written as its mark", u32::from(*.found))]
    Unmarked {
        /// The line of the transcript, counted from 1.
        line: usize,
        /// The character.
        found: char,
    },
}

impl InvalidTranscript {
    /// The wrong line of the transcript, counted from 1, if there is one.
    pub fn line(&self) -> Option<usize> {
        match self {
            InvalidTranscript::Header(_) => Some(1),
            InvalidTranscript::End => None,
            InvalidTranscript::LineBreak(line)
            | InvalidTranscript::CodePoint(line)
            | InvalidTranscript::Unmarked { line, .. } => Some(*line),
        }
    }
}

/// The transcript of an outcome. It ends with [`END`], without a line break.
pub fn encode(outcome: &Outcome) -> String {
    let text = body_of(outcome);
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 32);
    encode_head(outcome, &mut out);
    out.push('\n');
    encode_text(text, &mut out);
    out
}

/// The text in the body of a transcript. A limit has none.
fn body_of(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Exceeded { .. } => "",
        _ => outcome.text(),
    }
}

/// Appends the first line of a transcript, which names the outcome.
fn encode_head(outcome: &Outcome, out: &mut String) {
    out.push_str(outcome.kind().name());
    match outcome {
        Outcome::Failed { stage, line, .. } => {
            let _ = write!(out, " at {stage}");
            if let Some(line) = line {
                let _ = write!(out, ", line {line}");
            }
        }
        Outcome::Exceeded { limit } => {
            let _ = write!(out, " {limit}");
        }
        Outcome::Rendered { .. }
        | Outcome::Raised { .. }
        | Outcome::Crashed { .. }
        | Outcome::NotAsked { .. } => {}
    }
}

/// Whether a transcript belongs to an outcome. The result is that of comparing it with
/// [`encode`]'s, without building the string.
pub fn is_of(transcript: &str, outcome: &Outcome) -> bool {
    let head = match outcome {
        Outcome::Failed { .. } | Outcome::Exceeded { .. } => {
            let mut head = String::new();
            encode_head(outcome, &mut head);
            Cow::Owned(head)
        }
        _ => Cow::Borrowed(outcome.kind().name()),
    };
    let body = transcript
        .strip_prefix(&*head)
        .and_then(|rest| rest.strip_prefix('\n'));
    body.is_some_and(|body| is_text(body, body_of(outcome)))
}

/// Whether the body of a transcript encodes a text.
fn is_text(mut body: &str, text: &str) -> bool {
    let mut rest = text;
    let mut written = String::new();
    while !rest.is_empty() {
        let run = printable_run(rest);
        let Some(after) = body.strip_prefix(rest.cut(..run)) else {
            return false;
        };
        body = after;
        rest = rest.cut(run..);
        if let (Some(after), Some(next)) = (body.strip_prefix("␊\n"), rest.strip_prefix('\n')) {
            (body, rest) = (after, next);
            continue;
        }
        let mut chars = rest.chars();
        if let Some(c) = chars.next() {
            written.clear();
            encode_char(c, &mut written);
            let Some(after) = body.strip_prefix(written.as_str()) else {
                return false;
            };
            body = after;
            rest = chars.as_str();
        }
    }
    body.strip_prefix(END) == Some("")
}

/// The number of printable ASCII bytes at the beginning of a text. Most of a prompt is
/// printable ASCII.
fn printable_run(text: &str) -> usize {
    let bytes = text.as_bytes();
    let many = 32 * printable_chunks::<32>(bytes);
    let some = many + 8 * printable_chunks::<8>(&bytes[many..]);
    let is_printable = |byte: &&u8| (b' '..=b'~').contains(*byte);
    some + bytes[some..].iter().take_while(is_printable).count()
}

/// The number of chunks at the beginning that are printable ASCII.
fn printable_chunks<const LENGTH: usize>(bytes: &[u8]) -> usize {
    // Without an early exit inside a chunk, the compiler checks its bytes together.
    let is_printable = |all: bool, byte: &u8| all & (b' '..=b'~').contains(byte);
    let is_all = |chunk: &&[u8; LENGTH]| chunk.iter().fold(true, is_printable);
    let (chunks, _) = bytes.as_chunks();
    chunks.iter().take_while(is_all).count()
}

/// Appends a text in the transcript's encoding, the mark for its end included.
pub fn encode_text(text: &str, out: &mut String) {
    let mut rest = text;
    while !rest.is_empty() {
        let run = printable_run(rest);
        out.push_str(rest.cut(..run));
        rest = rest.cut(run..);
        let mut chars = rest.chars();
        if let Some(c) = chars.next() {
            encode_char(c, out);
            rest = chars.as_str();
        }
    }
    out.push(END);
}

/// Appends one character in the transcript's encoding.
pub fn encode_char(c: char, out: &mut String) {
    if (' '..='~').contains(&c) {
        out.push(c);
    } else if let Some(picture) = picture(c) {
        out.push(picture);
        if c == '\n' {
            out.push('\n');
        }
    } else if is_mark(c) || is_invisible(c) {
        let _ = write!(out, "{OPEN}U+{:04X}{CLOSE}", u32::from(c));
    } else {
        out.push(c);
    }
}

/// The outcome that a transcript was made from.
pub fn decode(transcript: &str) -> Result<Outcome, InvalidTranscript> {
    let (header, body) = match transcript.split_once('\n') {
        Some((header, body)) => (header, Some(body)),
        None => (transcript, None),
    };
    let invalid = || InvalidTranscript::Header(header.to_owned());
    if let Some(limit) = header.strip_prefix("exceeded ") {
        let limit = Limit::named(limit).ok_or_else(invalid)?;
        return match body.map(|body| decode_text(body, 2)).transpose()? {
            Some(text) if text.is_empty() => Ok(Outcome::Exceeded { limit }),
            _ => Err(InvalidTranscript::End),
        };
    }
    let text = |body: Option<&str>| decode_text(body.ok_or(InvalidTranscript::End)?, 2);
    match header {
        "rendered" => Ok(Outcome::Rendered { text: text(body)? }),
        "raised" => Ok(Outcome::Raised {
            message: text(body)?,
        }),
        "crashed" => Ok(Outcome::Crashed {
            message: text(body)?,
        }),
        "not asked" => Ok(Outcome::NotAsked {
            message: text(body)?,
        }),
        _ => {
            let place = header.strip_prefix("failed at ").ok_or_else(invalid)?;
            let (stage, line) = match place.split_once(", line ") {
                Some((stage, line)) => (stage, Some(parse_line(line).ok_or_else(invalid)?)),
                None => (place, None),
            };
            let stage = Stage::named(stage).ok_or_else(invalid)?;
            Ok(Outcome::Failed {
                stage,
                message: text(body)?,
                line,
            })
        }
    }
}

/// Accepts only the spelling that [`encode`] writes: no sign, no leading zeros.
fn parse_line(digits: &str) -> Option<usize> {
    let line: usize = digits.parse().ok()?;
    (line.to_string() == digits).then_some(line)
}

/// The text of a transcript's body, whose first line has the number `line`.
pub(crate) fn decode_text(body: &str, mut line: usize) -> Result<String, InvalidTranscript> {
    let mut text = String::with_capacity(body.len());
    let mut chars = body.chars();
    loop {
        match chars.next() {
            None => return Err(InvalidTranscript::End),
            Some(END) if chars.as_str().is_empty() => return Ok(text),
            Some(LINE_BREAK) => {
                if chars.next() != Some('\n') {
                    return Err(InvalidTranscript::LineBreak(line));
                }
                text.push('\n');
                line += 1;
            }
            Some('\n') => return Err(InvalidTranscript::LineBreak(line)),
            Some(OPEN) => {
                let (digits, rest) = chars
                    .as_str()
                    .split_once(CLOSE)
                    .ok_or(InvalidTranscript::CodePoint(line))?;
                text.push(decode_code_point(digits).ok_or(InvalidTranscript::CodePoint(line))?);
                chars = rest.chars();
            }
            Some(c) => match pictured_control(c) {
                // Its picture is the mark for the end, so that the control itself is written as a code
                // point.
                Some('\u{3}') => return Err(InvalidTranscript::End),
                Some(control) => text.push(control),
                None if is_mark(c) || is_invisible(c) => {
                    return Err(InvalidTranscript::Unmarked { line, found: c });
                }
                None => text.push(c),
            },
        }
    }
}

fn decode_code_point(digits: &str) -> Option<char> {
    let digits = digits.strip_prefix("U+")?;
    let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    // Each character has one spelling only, or two transcripts could mean one text.
    let needs_it = picture(c).is_none() && (is_mark(c) || is_invisible(c));
    (needs_it && format!("{:04X}", u32::from(c)) == digits).then_some(c)
}

/// The picture of a control, unless it is the one that marks the end of a text.
fn picture(c: char) -> Option<char> {
    control_picture(c).filter(|picture| *picture != END)
}

fn is_mark(c: char) -> bool {
    c == OPEN || c == CLOSE || pictured_control(c).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(text: &str) -> String {
        let mut out = String::new();
        encode_text(text, &mut out);
        out
    }

    #[test]
    fn every_byte_is_visible() {
        assert_eq!(body(""), "␃");
        assert_eq!(body("a \n"), "a ␊\n␃");
        assert_eq!(body("a\r\n\tb"), "a␍␊\n␉b␃");
        assert_eq!(body("\u{A0}\u{200B}\u{FEFF}"), "⟦U+00A0⟧⟦U+200B⟧⟦U+FEFF⟧␃");
        assert_eq!(body("␊⟦x⟧␃"), "⟦U+240A⟧⟦U+27E6⟧x⟦U+27E7⟧⟦U+2403⟧␃");
        assert_eq!(body("\u{3}"), "⟦U+0003⟧␃");
        assert_eq!(body("漢字 🙂 é"), "漢字 🙂 é␃");
        assert_eq!(body("\u{E0041}"), "⟦U+E0041⟧␃");
    }

    #[test]
    fn headers_name_the_outcome() {
        let failed = Outcome::Failed {
            stage: Stage::Render,
            message: "undefined".into(),
            line: Some(5),
        };
        assert_eq!(encode(&failed), "failed at render, line 5\nundefined␃");
        let exceeded = Outcome::Exceeded { limit: Limit::Fuel };
        assert_eq!(encode(&exceeded), "exceeded fuel\n␃");
    }

    #[test]
    fn only_what_was_encoded_decodes() {
        for bad in [
            "",
            "rendered",
            "rendered\n",
            "rendered\nabc",
            "rendered\na␃b␃",
            "rendered\na␃\n",
            "rendered\na\nb␃",
            "rendered\na␊b␃",
            "rendered\na\u{A0}␃",
            "rendered\na\t␃",
            "rendered\n⟦␃",
            "rendered\n⟦U+61⟧␃",
            "rendered\n⟦U+a0⟧␃",
            "rendered\n⟦U+00A0␃",
            "rendered\n⟧␃",
            "Rendered\n␃",
            "failed\nx␃",
            "failed at lunch\nx␃",
            "failed at render, line 05\nx␃",
            "exceeded patience",
            "exceeded fuel",
            "exceeded fuel\nx␃",
        ] {
            assert!(decode(bad).is_err(), "{bad:?} decoded");
        }
    }

    fn any_outcome() -> impl Strategy<Value = Outcome> {
        // Arbitrary characters, and the troublesome ones far more often than by chance.
        let c = prop_oneof![
            any::<char>(),
            proptest::sample::select(
                "\n\r\t \u{3}\u{7F}\u{85}\u{A0}\u{200B}\u{FEFF}␊␃␍⟦⟧U+e\u{301}"
                    .chars()
                    .collect::<Vec<_>>()
            ),
        ];
        let text = proptest::collection::vec(c, 0..40).prop_map(String::from_iter);
        let stage = proptest::sample::select(Stage::ALL.to_vec());
        prop_oneof![
            text.clone().prop_map(|text| Outcome::Rendered { text }),
            text.clone().prop_map(|message| Outcome::Raised { message }),
            text.clone()
                .prop_map(|message| Outcome::Crashed { message }),
            text.clone()
                .prop_map(|message| Outcome::NotAsked { message }),
            (stage, text, proptest::option::of(1usize..9999)).prop_map(|(stage, message, line)| {
                Outcome::Failed {
                    stage,
                    message,
                    line,
                }
            }),
            proptest::sample::select(Limit::ALL.to_vec())
                .prop_map(|limit| Outcome::Exceeded { limit }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn decoding_gives_back_the_exact_outcome(outcome in any_outcome()) {
            let transcript = encode(&outcome);
            prop_assert_eq!(decode(&transcript), Ok(outcome));
        }

        #[test]
        fn a_transcript_is_of_its_outcome_alone(outcome in any_outcome(), other in any_outcome()) {
            let transcript = encode(&outcome);
            prop_assert!(is_of(&transcript, &outcome));
            prop_assert_eq!(is_of(&transcript, &other), outcome == other);
            prop_assert!(!is_of(&(transcript.clone() + "\n"), &outcome));
            let mut shorter = transcript;
            shorter.pop();
            prop_assert!(!is_of(&shorter, &outcome));
        }

        #[test]
        fn nothing_in_a_transcript_is_invisible(outcome in any_outcome()) {
            let transcript = encode(&outcome);
            prop_assert!(transcript.chars().all(|c| c == '\n' || !is_invisible(c)));
            prop_assert!(!transcript.ends_with(char::is_whitespace));
        }

        #[test]
        fn different_transcripts_decode_differently(outcome in any_outcome(), at in 0usize..60, c in any::<char>()) {
            let transcript = encode(&outcome);
            let mut changed: Vec<char> = transcript.chars().collect();
            let at = at % changed.len();
            changed[at] = c;
            let changed = String::from_iter(changed);
            if changed != transcript {
                prop_assert_ne!(decode(&changed), Ok(outcome));
            }
        }
    }
}
