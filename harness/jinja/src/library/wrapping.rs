//! Words, and lines of a certain width.

use minijinja::Error;
use minijinja::value::{Kwargs, Rest, Value};

use crate::meter::{CHARACTER, LETTER, OBJECT, produce, work};
use crate::python::arguments::Arguments;
use crate::python::characters::{decimal, is_space, is_word as is_of_word, lines};
use crate::python::markup::{escaped, like};
use crate::python::numbers::{Number, number, whole};
use crate::refusal::invalid;

/// How many words a text has, as the regular expression `\w+` finds them.
pub(super) fn words(text: &str) -> usize {
    text.split(|c: char| !is_of_word(c))
        .filter(|word| !word.is_empty())
        .count()
}

/// `wordwrap(s, width=79, break_long_words=True, wrapstring='\n', break_on_hyphens=True)`.
///
/// The width is looked at where there is a line to be wrapped (`textwrap.py`, `_wrap_chunks`),
/// and may be a float where no word has to be broken.
pub(super) fn wordwrap(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let names = [
        "width",
        "break_long_words",
        "wrapstring",
        "break_on_hyphens",
    ];
    let args = Arguments::of(names, &args, &kwargs)?;
    let Some(text) = value.as_str() else {
        return Err(invalid(format!("{} cannot be wrapped", value.kind())));
    };
    let new_line = Value::from("\n");
    let between = args.some(2).unwrap_or(&new_line);
    let wrap_string = between.as_str().ok_or_else(|| args.wrong_type(2))?;
    if text.is_empty() {
        return Ok(like(between, ""));
    }
    let long_words = match args.get(0).map(number) {
        _ if !args.truth(1, true) => LongWords::Kept,
        // Less than one is as good as one.
        Some(Some(Number::Float(width))) if width >= 1.0 => LongWords::Refused,
        _ => LongWords::Broken,
    };
    let width = match args.get(0).map(number) {
        None => Some(79),
        // Wider than any text is as wide as can be.
        Some(Some(Number::Int(width))) if width > 0 => Some(width.try_into().unwrap_or(usize::MAX)),
        Some(Some(Number::Float(width))) if width >= 1e18 => Some(usize::MAX),
        Some(Some(Number::Float(width))) if width > 0.0 => {
            whole(width.max(1.0)).and_then(|width| usize::try_from(width).ok())
        }
        Some(_) => None,
    };
    let width = width.filter(|width| *width > 0);
    let width = width.ok_or_else(|| args.wrong_type(0))?;
    let most = text.len() / width + text.split(is_space).count();
    work(text.len().saturating_mul(CHARACTER + LETTER))?;
    produce(most.saturating_mul(wrap_string.len() + OBJECT / 8))?;
    let mut wrapped = Vec::new();
    for line in lines(text, false) {
        let lines = wrap(line, width, long_words, args.truth(3, true));
        let mut lines = lines.ok_or_else(|| args.wrong_type(0))?;
        if between.is_safe() {
            // `Markup.join` escapes what it joins.
            for line in &mut lines {
                *line = escaped(line)?;
            }
        }
        wrapped.push(lines.join(wrap_string));
    }
    Ok(like(between, wrapped.join(wrap_string)))
}

/// How to treat a word that is too long for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LongWords {
    Broken,
    Kept,
    /// It must be broken, but cannot, because the width is not an integer.
    Refused,
}

/// CPython's `textwrap.wrap()`, for a line without tabs and line breaks. None if a word cannot be
/// broken.
fn wrap(
    line: &str,
    width: usize,
    long_words: LongWords,
    break_on_hyphens: bool,
) -> Option<Vec<String>> {
    let chars: Vec<char> = line.chars().collect();
    let mut chunks = chunks(&chars, break_on_hyphens);
    chunks.reverse();
    let is_blank = |chunk: &[char]| chunk.iter().all(|c| is_space(*c));
    let mut lines = Vec::new();
    while !chunks.is_empty() {
        let mut current: Vec<char> = Vec::new();
        if !lines.is_empty() && chunks.last().is_some_and(|chunk| is_blank(chunk)) {
            chunks.pop();
        }
        let mut last = 0;
        while let Some(chunk) = chunks.pop_if(|chunk| current.len() + chunk.len() <= width) {
            last = chunk.len();
            current.extend(chunk);
        }
        if let Some(chunk) = chunks.last_mut()
            && chunk.len() > width
        {
            let room = width - current.len();
            if long_words == LongWords::Refused {
                return None;
            }
            if long_words == LongWords::Broken {
                last = long_word_break(chunk, room, break_on_hyphens);
                current.extend(&chunk[..last]);
                *chunk = &chunk[last..];
            } else if current.is_empty() {
                last = chunk.len();
                current.extend(*chunk);
                chunks.pop();
            }
        }
        if is_blank(&current[current.len() - last..]) {
            current.truncate(current.len() - last);
        }
        if !current.is_empty() {
            lines.push(current.into_iter().collect());
        }
    }
    Some(lines)
}

/// Where a word that is too long for a line is broken: after a hyphen, if there is one.
fn long_word_break(chunk: &[char], room: usize, break_on_hyphens: bool) -> usize {
    if break_on_hyphens && chunk.len() > room {
        let hyphen = chunk[..room].iter().rposition(|c| *c == '-');
        if let Some(hyphen) = hyphen
            && hyphen > 0
            && chunk[..hyphen].iter().any(|c| *c != '-')
        {
            return hyphen + 1;
        }
    }
    // There may be no room at all; then the word begins in the next line.
    room
}

/// White space between words for `textwrap`: only ASCII white space.
fn is_gap(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\u{B}' | '\u{C}' | '\r' | ' ')
}

/// A line in pieces, as `TextWrapper.wordsep_re` finds them: words, the space between them,
/// parts of words that end with a hyphen, and dashes of several hyphens between words.
fn chunks(chars: &[char], break_on_hyphens: bool) -> Vec<&[char]> {
    let line = WrappedLine(chars);
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < chars.len() {
        let end = if line.is(start, is_gap) {
            (start..chars.len()).find(|at| !line.is(*at, is_gap))
        } else if !break_on_hyphens {
            (start..chars.len()).find(|at| line.is(*at, is_gap))
        } else if let Some(end) = line.dash(start) {
            Some(end)
        } else {
            (start + 1..chars.len()).find_map(|at| line.word_end(at))
        };
        let end = end.unwrap_or(chars.len());
        chunks.push(&chars[start..end]);
        start = end;
    }
    chunks
}

/// A line as the regular expression looks at it.
struct WrappedLine<'c>(&'c [char]);

impl WrappedLine<'_> {
    fn is(&self, at: usize, is: impl Fn(char) -> bool) -> bool {
        self.0.get(at).is_some_and(|c| is(*c))
    }

    /// What is so many characters before a place.
    fn is_before(&self, at: usize, by: usize, is: impl Fn(char) -> bool) -> bool {
        at.checked_sub(by).is_some_and(|at| self.is(at, is))
    }

    /// The end of a dash at a place: several hyphens between words.
    fn dash(&self, at: usize) -> Option<usize> {
        let hyphens = self.0[at..].iter().take_while(|c| **c == '-').count();
        let is_dash = hyphens > 1
            && self.is_before(at, 1, |c| is_of_word(c) || "!\"'&.,?".contains(c))
            && self.is(at + hyphens, is_of_word);
        is_dash.then_some(at + hyphens)
    }

    /// The end of a word, if it is at a place or after a hyphen there.
    fn word_end(&self, at: usize) -> Option<usize> {
        let is_hyphen = |c| c == '-';
        let is_punctuation = |c: char| is_of_word(c) || "!\"'&.,?".contains(c);
        let is_after = self.is_before(at, 1, is_letter) && self.is_before(at, 2, is_letter)
            || self.is_before(at, 1, is_punctuation)
                && self.is_before(at, 2, is_hyphen)
                && self.is_before(at, 3, is_letter);
        let is_between = self.is(at + 1, is_letter)
            && (self.is(at + 2, is_letter)
                || self.is(at + 2, is_hyphen) && self.is(at + 3, is_letter));
        if self.is(at, is_hyphen) && is_after && is_between {
            return Some(at + 1);
        }
        (self.is(at, is_gap) || self.dash(at).is_some()).then_some(at)
    }
}

/// `[^\d\W]`
fn is_letter(c: char) -> bool {
    is_of_word(c) && decimal(c).is_none()
}
