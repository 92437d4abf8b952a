//! What is wrong with an input file, and where.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::invisible::is_invisible;
pub use crate::lines::Position;

/// The most characters of a message that are shown. Names in a message may have any
/// length.
const MOST_SHOWN: usize = 2000;

/// One thing that is wrong with one input file or request.
///
/// It is shown as `path:line:column: message`, or `path, byte offset: message` if the
/// file is not text. The help follows on the next line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// Where in the file, when the problem has a place.
    pub position: Option<Location>,
    /// What the reader found and expected.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// Something that a user should know about an input file, though nothing is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file or folder.
    pub path: PathBuf,
    /// Where in the file, when the note has a place.
    pub position: Option<Location>,
    /// The text of the note, without the place.
    pub message: String,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Location {
    /// In a text, by line and column.
    Text(Position),
    /// In a file that is not text: the offset of a byte, from 0.
    Byte(u64),
}

impl Problem {
    /// A problem with a file as a whole.
    pub fn new(path: impl Into<PathBuf>, message: impl Into<String>) -> Problem {
        Problem {
            path: path.into(),
            position: None,
            message: message.into(),
            help: None,
        }
    }

    /// Says where in the file it is.
    #[must_use]
    pub fn at(mut self, place: impl Into<Location>) -> Problem {
        self.position = Some(place.into());
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

impl Note {
    /// A note about a file or folder.
    pub fn new(path: impl Into<PathBuf>, message: impl Into<String>) -> Note {
        Note {
            path: path.into(),
            position: None,
            message: message.into(),
        }
    }

    /// Says where in the file it is.
    #[must_use]
    pub fn at(mut self, place: impl Into<Location>) -> Note {
        self.position = Some(place.into());
        self
    }
}

impl From<Position> for Location {
    fn from(position: Position) -> Location {
        Location::Text(position)
    }
}

/// Writes the part between a path and a message: `:3:7`, or `, byte 96`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Text(position) => write!(f, ":{position}"),
            Location::Byte(offset) => write!(f, ", byte {offset}"),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_path(&self.path))?;
        if let Some(place) = self.position {
            write!(f, "{place}")?;
        }
        write!(f, ": {}", shown(&self.message))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_path(&self.path))?;
        if let Some(place) = self.position {
            write!(f, "{place}")?;
        }
        write!(f, ": {}", shown(&self.message))?;
        if let Some(help) = &self.help {
            write!(f, "\n  {}", shown(help))?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// A text as a terminal should show it: on one line, with invisible characters as code
/// points, and cut if it is very long.
pub fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(MOST_SHOWN));
    for (count, c) in text.chars().enumerate() {
        if count == MOST_SHOWN {
            shown.push('…');
            break;
        }
        if is_invisible(c) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "⟦U+{:04X}⟧", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A path as a terminal should show it.
pub fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// The candidate that is closest to a misspelt word, if one is close.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(word, candidates, |letters| letters.div_ceil(3))
}

/// The candidate that was probably meant by a word that may also be a name of its own: they differ in
/// capitals, or in one of four letters at most. None if the word is a candidate itself.
pub fn misspelt<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let meant = nearest(&word.to_lowercase(), candidates, |letters| letters / 4);
    meant.filter(|meant| *meant != word)
}

/// The candidate with the fewest changes to a word. `most` says how many there may be for a candidate
/// with so many letters.
fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    most: impl Fn(usize) -> usize,
) -> Option<&'a str> {
    /// No name is longer, and comparing takes time and memory by the length.
    const LONGEST: usize = 200;
    if word.len() > LONGEST {
        return None;
    }
    let letters = word.chars().count();
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        // Each letter more or less is a change, and to count them is quicker than to compare them.
        .filter(|candidate| {
            let count = candidate.chars().count();
            count.abs_diff(letters) <= most(count)
        })
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= most(candidate.chars().count()))
        // Of candidates that are equally close it takes the first in the alphabet: the message is
        // always the same.
        .min()
        .map(|(_, candidate)| candidate)
}

/// The question whether a word was meant: "did you mean `messages`?"
pub fn meant(word: impl fmt::Display) -> String {
    format!("did you mean `{word}`?")
}

/// The question whether the closest candidate was meant, if one is close.
pub fn did_you_mean<C: AsRef<str>>(
    word: &str,
    candidates: impl IntoIterator<Item = C>,
) -> Option<String> {
    let candidates: Vec<C> = candidates.into_iter().collect();
    closest(word, candidates.iter().map(AsRef::as_ref)).map(meant)
}

/// Appends "did you mean …?" to a sentence, if a candidate is close to the word.
pub fn with_did_you_mean<C: AsRef<str>>(
    sentence: String,
    word: &str,
    candidates: impl IntoIterator<Item = C>,
) -> String {
    match did_you_mean(word, candidates) {
        Some(question) => sentence + "; " + &question,
        None => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let text = "a\né\u{1F600}x\n";
        assert_eq!(Position::of(text, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of(text, 2), Position { line: 2, column: 1 });
        assert_eq!(Position::of(text, 8), Position { line: 2, column: 3 });
        assert_eq!(Position::of(text, 999), Position { line: 3, column: 1 });
    }

    #[test]
    fn a_problem_says_where_and_what_to_do() {
        let problem = Problem::new("cases/x.json", "unknown key `mesages`")
            .at(Position { line: 3, column: 7 })
            .help("did you mean `messages`?");
        assert_eq!(
            problem.to_string(),
            "cases/x.json:3:7: unknown key `mesages`\n  did you mean `messages`?"
        );
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        let name = "a\u{1b}[31m\n\u{202e}b";
        let problem = Problem::new(name, format!("unknown key `{name}`")).at(Location::Byte(96));
        assert_eq!(
            problem.to_string(),
            "a⟦U+001B⟧[31m⟦U+000A⟧⟦U+202E⟧b, byte 96: unknown key `a⟦U+001B⟧[31m⟦U+000A⟧⟦U+202E⟧b`"
        );
        let problem = Problem::new("x", "y".repeat(1 << 20));
        assert_eq!(
            problem.to_string().chars().count(),
            "x: …".len() - 2 + MOST_SHOWN
        );
    }

    #[test]
    fn a_word_of_its_own_has_to_be_nearer() {
        let known = ["role", "content", "name", "assistant"];
        for (word, meant) in [
            ("contnt", Some("content")),
            ("asistant", Some("assistant")),
            ("assitsant", Some("assistant")),
            ("Role", Some("role")),
            ("rôle", Some("role")),
            ("role", None),
            ("note", None),
            ("date", None),
            ("", None),
            ("助手", None),
        ] {
            assert_eq!(misspelt(word, known), meant, "{word}");
        }
    }

    #[test]
    fn only_near_words_are_suggested() {
        let keys = ["about", "messages", "tools"];
        assert_eq!(closest("mesages", keys), Some("messages"));
        assert_eq!(closest("tool", keys), Some("tools"));
        assert_eq!(closest("temperature", keys), None);
        assert_eq!(
            with_did_you_mean("no".to_owned(), "tool", keys),
            "no; did you mean `tools`?"
        );
        assert_eq!(with_did_you_mean("no".to_owned(), "x", keys), "no");
    }
}
