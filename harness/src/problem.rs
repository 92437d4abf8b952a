//! What is wrong with an input file, and where.

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The largest text file that is read: templates, cases, configurations. What is larger
/// is something else.
pub const MOST_TEXT: u64 = 16 << 20;

/// One thing that is wrong with one input file or request.
///
/// It is shown as `path:line:column: message`, or `path, byte offset: message` where the
/// file is not text, with what to do next below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// Where in the file, when the problem has a place.
    pub position: Option<Place>,
    /// What was found and what was expected.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// Something that a user should know about an input file, though nothing is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file or folder.
    pub path: PathBuf,
    /// What there is to know.
    pub message: String,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a text.
    Text(Position),
    /// In a file that is not text: the offset of a byte, from 0.
    Byte(u64),
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
    pub fn at(mut self, place: impl Into<Place>) -> Problem {
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
            message: message.into(),
        }
    }
}

impl From<Position> for Place {
    fn from(position: Position) -> Place {
        Place::Text(position)
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

/// What stands between a path and a message: `:3:7`, or `, byte 96`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Text(position) => write!(f, ":{position}"),
            Place::Byte(offset) => write!(f, ", byte {offset}"),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(place) = self.position {
            write!(f, "{place}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, "\n  {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Reads a file as UTF-8, or says what is wrong with it. Files above [`MOST_TEXT`], and
/// what is no file, are refused before anything of them is read.
pub fn read_text(path: &Path) -> Result<String, Problem> {
    let bytes = read_bytes(path, MOST_TEXT)?;
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

/// Reads a file of at most so many bytes.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, Problem> {
    let unreadable = |error: std::io::Error| Problem::new(path, format!("cannot be read: {error}"));
    // Opening a pipe would wait for someone to write to it.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        let message = if metadata.is_dir() {
            "a folder, where a file is expected"
        } else {
            "not a regular file"
        };
        return Err(Problem::new(path, message));
    }
    let too_large = |bytes: u64| {
        let message = format!("too large: {bytes} bytes, where at most {most} are expected");
        Problem::new(path, message)
    };
    if metadata.len() > most {
        return Err(too_large(metadata.len()));
    }
    // The file may grow while it is read, and some that are no files say that they are empty.
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
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
    fn what_is_too_large_or_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.jinja");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(10 << 30).unwrap();
        let problem = read_text(&path).unwrap_err();
        assert_eq!(
            problem.message,
            "too large: 10737418240 bytes, where at most 16777216 are expected"
        );
        let problem = read_text(folder.path()).unwrap_err();
        assert_eq!(problem.message, "a folder, where a file is expected");
        let problem = Problem::new("model.gguf", "cut off").at(Place::Byte(96));
        assert_eq!(problem.to_string(), "model.gguf, byte 96: cut off");
    }

    #[test]
    fn only_near_words_are_suggested() {
        let keys = ["about", "messages", "tools"];
        assert_eq!(closest("mesages", keys), Some("messages"));
        assert_eq!(closest("tool", keys), Some("tools"));
        assert_eq!(closest("temperature", keys), None);
    }
}
