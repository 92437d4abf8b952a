//! What is wrong with an input file, and where.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that is wrong with one input file or request.
///
/// It is shown as `path:line:column: message`, with what to do next below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// Where in the file, when the problem has a place.
    pub position: Option<Position>,
    /// What was found and what was expected.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A place in a text file. Lines and columns count from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
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
    pub fn at(mut self, position: Position) -> Problem {
        self.position = Some(position);
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

impl Position {
    /// The place of a byte offset in a text.
    pub fn of(text: &str, offset: usize) -> Position {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(position) = self.position {
            write!(f, ":{position}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, "\n  {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Reads a file as UTF-8, or says what is wrong with it.
pub fn read_text(path: &Path) -> Result<String, Problem> {
    let bytes = std::fs::read(path)
        .map_err(|error| Problem::new(path, format!("cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let before = String::from_utf8_lossy(&bytes[..valid]);
        Problem::new(
            path,
            format!("not UTF-8: byte 0x{:02X} at offset {valid}", bytes[valid]),
        )
        .at(Position::of(&before, valid))
        .help("save the file as UTF-8")
    })
}

/// Writes a file whole, or leaves the old one as it is: another name first, then the
/// real one. Folders that are missing are made.
pub fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Problem> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".draft");
    let write = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&draft, &text)?;
        std::fs::rename(&draft, path)
    };
    write().map_err(|error| {
        // What could not be finished is of no use to anyone.
        let _ = std::fs::remove_file(&draft);
        Problem::new(path, format!("cannot be written: {error}"))
    })
}

/// The candidate that a misspelt word was probably meant to be.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        .min()
        .map(|(_, candidate)| candidate)
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
    fn only_near_words_are_suggested() {
        let keys = ["about", "messages", "tools"];
        assert_eq!(closest("mesages", keys), Some("messages"));
        assert_eq!(closest("tool", keys), Some("tools"));
        assert_eq!(closest("temperature", keys), None);
    }
}
