//! The lines of a text, and where a byte is in them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cut::Cut;

/// Where the lines of a text begin. Looking up a place takes no longer at the end of a long text.
#[derive(Debug, Clone)]
pub struct Lines {
    /// The first byte of each line.
    starts: Vec<usize>,
    /// How many characters come before each block of [`BLOCK`] bytes.
    characters: Vec<usize>,
}

/// A place in a text file. Lines and columns count from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1: no byte, and no unit of UTF-16.
    pub column: usize,
}

/// So many bytes are counted at most to find a column.
const BLOCK: usize = 256;

impl Lines {
    /// The lines of a text. As for the engines, a line ends with `\n`, `\r\n` or `\r`.
    pub fn of(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = |at: &usize| match bytes[*at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let starts = (0..bytes.len()).filter(ends).map(|at| at + 1);
        let mut before = 0;
        let characters = bytes.chunks(BLOCK).map(|block| {
            let first = before;
            before += count(block);
            first
        });
        Lines {
            characters: characters.collect(),
            starts: [0].into_iter().chain(starts).collect(),
        }
    }

    /// The line of a byte, from 1.
    pub fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// The line and the column of a byte of the text.
    pub fn position(&self, text: &str, at: usize) -> Position {
        let line = self.line(at.min(text.len()));
        let before = |at: usize| {
            let block = at / BLOCK;
            let counted = self.characters.get(block).copied().unwrap_or_default();
            counted + count(text.as_bytes().get(block * BLOCK..at).unwrap_or_default())
        };
        let at = at.min(text.len());
        let start = self.starts[line - 1];
        Position {
            line,
            column: 1 + before(at) - before(start),
        }
    }
}

impl Position {
    /// The place of a byte offset in a text.
    pub fn of(text: &str, offset: usize) -> Position {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let before = text.cut(..offset);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before.cut(line_start..).chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// How many characters begin in some bytes.
fn count(bytes: &[u8]) -> usize {
    /// The first two bits of a byte that goes on with a character.
    const GOES_ON: u8 = 0b10;
    bytes.iter().filter(|byte| **byte >> 6 != GOES_ON).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_as_engines_do_and_characters() {
        let long = "é".repeat(BLOCK);
        let source = format!("é\n{{{{ x }}}}\r\né{{{{ y }}}}\r{long}z\n");
        let lines = Lines::of(&source);
        for (text, line, column) in [
            ("é", 1, 1),
            ("{{ x", 2, 1),
            ("{{ y", 3, 2),
            ("z", 4, 1 + BLOCK),
        ] {
            let at = source.find(text).unwrap();
            let expected = Position { line, column };
            assert_eq!(lines.position(&source, at), expected, "{text}");
            assert_eq!(lines.line(at), line);
        }
        let end = Position { line: 5, column: 1 };
        assert_eq!(lines.position(&source, source.len()), end);
    }
}
