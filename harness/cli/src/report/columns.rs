//! Text in columns that fit the screen.
//!
//! If the columns do not fit side by side, cells break between their words. If even the longest
//! words do not fit, the last columns go below the first. Line breaks of a text stay within its
//! column.

use rolecall_core::Cut;
use std::io::{self, Write};

use anstyle::Style;
use textwrap::WordSeparator;
use textwrap::core::{Word, display_width};
use textwrap::wrap_algorithms::wrap_first_fit;

use super::screen;
use super::style::{self, Styled};

/// The gap between two columns of a table.
const GAP: usize = 2;

/// The indent of columns that go below the others.
const INDENT: usize = 4;

/// A word that is longer, such as a path or a hash, does not widen its column.
const LONG: usize = 24;

/// A cell: pieces of text, each in a style.
#[derive(Debug, Default, Clone)]
pub struct Cell(Vec<(Style, String)>);

/// Rows of cells in aligned columns.
#[derive(Debug, Default)]
pub struct Columns {
    rows: Vec<Vec<Cell>>,
    right: Vec<usize>,
}

impl Cell {
    pub fn new(style: Style, text: impl Into<String>) -> Cell {
        Cell(vec![(style, text.into())])
    }

    /// A cell of a text in which [`Styled`] wrote the styles that have names.
    pub(crate) fn parse(text: &str) -> Cell {
        let mut cell = Cell::default();
        let mut rest = text;
        while let Some((before, style, styled, after)) = style::next(rest) {
            cell.push(style::PLAIN, before);
            cell.push(style, styled);
            rest = after;
        }
        cell.push(style::PLAIN, rest);
        cell
    }

    pub fn push(&mut self, style: Style, text: impl Into<String>) {
        self.0.push((style, text.into()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The width of its widest line.
    pub(crate) fn width(&self) -> usize {
        let text = self.text();
        text.split('\n').map(display_width).max().unwrap_or(0)
    }

    /// The width of the longest word, including the leading spaces of its line.
    fn longest_word(&self) -> usize {
        let text = self.text();
        let lines = text.split('\n').map(|line| {
            let words = line.split_ascii_whitespace().map(display_width);
            indent_of(line) + words.max().unwrap_or(0)
        });
        lines.max().unwrap_or(0)
    }

    /// The cell in lines of at most a width, except for wider words. What is wrapped begins with the
    /// spaces that its line begins with.
    fn lines(self, width: usize) -> Vec<Cell> {
        let text = self.text();
        let mut begin = 0;
        let lines = text.split('\n').flat_map(|line| {
            let cell = Cell(self.slice(begin, begin + line.len()).collect());
            begin += line.len() + 1;
            cell.wrapped(width)
        });
        lines.collect()
    }

    /// A cell without line breaks in lines.
    fn wrapped(self, width: usize) -> Vec<Cell> {
        if self.width() <= width {
            return vec![self];
        }
        let text = self.text();
        let indent = indent_of(&text);
        let (spaces, rest) = text.split_at(indent);
        let words: Vec<Word<'_>> = WordSeparator::AsciiSpace.find_words(rest).collect();
        #[allow(clippy::cast_precision_loss)] // no screen is that wide
        let room = width.saturating_sub(indent).max(1) as f64;
        let mut at = indent;
        let mut lines = Vec::new();
        for line in wrap_first_fit(&words, &[room]) {
            let length: usize = line.iter().map(|w| w.len() + w.whitespace.len()).sum();
            let space = line.last().map_or(0, |word| word.whitespace.len());
            let mut cell = Cell::default();
            if indent > 0 {
                cell.push(Style::new(), spaces);
            }
            cell.0.extend(self.slice(at, at + length - space));
            lines.push(cell);
            at += length;
        }
        lines
    }

    /// The pieces of the cell's text between two byte offsets.
    fn slice(&self, from: usize, to: usize) -> impl Iterator<Item = (Style, String)> {
        let mut begin = 0;
        self.0.iter().filter_map(move |(style, text)| {
            let place = begin;
            begin += text.len();
            let (from, to) = (from.max(place), to.min(begin));
            (from < to).then(|| (*style, text.cut(from - place..to - place).to_owned()))
        })
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.0
            .iter()
            .try_for_each(|(style, text)| write!(out, "{}", Styled(*style, text)))
    }
}

fn indent_of(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

impl Columns {
    /// An empty table, with some columns aligned to the right.
    pub fn right_aligned(right: impl IntoIterator<Item = usize>) -> Columns {
        Columns {
            rows: Vec::new(),
            right: right.into_iter().collect(),
        }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes the rows in at most the screen's width. No line ends in spaces.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_within(out, screen::width())
    }

    /// Writes the rows in lines of a width, except for wider words.
    pub(crate) fn write_within(&self, out: &mut dyn Write, screen: usize) -> io::Result<()> {
        let widths = self.widths(screen);
        self.rows
            .iter()
            .try_for_each(|row| self.write_row(out, row, &widths, screen))
    }

    /// The widths of the columns that are side by side.
    fn widths(&self, screen: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        let mut least: Vec<usize> = Vec::new();
        for row in &self.rows {
            for (index, cell) in row.iter().enumerate() {
                if index == widths.len() {
                    widths.push(0);
                    least.push(0);
                }
                widths[index] = widths[index].max(cell.width());
                // A name that is too long gets a line of its own.
                let most = if index == 0 { screen / 5 * 2 } else { LONG };
                least[index] = least[index].max(cell.longest_word().min(most));
            }
        }
        let fits = |widths: &[usize]| {
            let gaps = GAP * widths.len().saturating_sub(1);
            widths.iter().sum::<usize>() + gaps <= screen
        };
        if !fits(&widths) {
            while least.len() > 1 && !fits(&least) {
                least.pop();
            }
            widths.truncate(least.len());
            // The widest column becomes narrower first.
            while !fits(&widths) {
                let narrowed = (0..widths.len())
                    .filter(|index| widths[*index] > least[*index])
                    .max_by_key(|index| widths[*index]);
                match narrowed {
                    Some(index) => widths[index] -= 1,
                    None => break,
                }
            }
        }
        widths
    }

    fn write_row(
        &self,
        out: &mut dyn Write,
        row: &[Cell],
        widths: &[usize],
        screen: usize,
    ) -> io::Result<()> {
        // If a word is wider than its column, the rest of the row goes below.
        let too_long = (1..row.len().min(widths.len()))
            .find(|index| row[*index].longest_word() > widths[*index]);
        let (inline, below) = row.split_at(too_long.unwrap_or(row.len().min(widths.len())));
        let mut columns: Vec<Vec<Cell>> = inline
            .iter()
            .zip(widths)
            .map(|(cell, width)| cell.clone().lines(*width))
            .collect();
        // A name that is wider than its column goes above the rest of its row.
        let is_wide = |cell: &Cell| cell.width() > widths[0];
        if columns.len() > 1
            && let Some(first) = columns.first_mut()
            && first.iter().any(is_wide)
        {
            for line in std::mem::take(first) {
                line.write(out)?;
                writeln!(out)?;
            }
        }
        let height = columns.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let cells = columns.iter().map(|lines| lines.get(line));
            self.write_line(out, &cells.collect::<Vec<_>>(), widths)?;
        }
        let mut rest = Cell::default();
        for cell in below.iter().filter(|cell| cell.width() > 0) {
            let gap = if rest.is_empty() { INDENT } else { GAP };
            rest.push(Style::new(), " ".repeat(gap));
            rest.0.extend(cell.0.iter().cloned());
        }
        if !rest.is_empty() {
            for line in rest.lines(screen) {
                line.write(out)?;
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn write_line(
        &self,
        out: &mut dyn Write,
        cells: &[Option<&Cell>],
        widths: &[usize],
    ) -> io::Result<()> {
        let mut gap = 0;
        for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
            match cell.filter(|cell| cell.width() > 0) {
                Some(cell) => {
                    let missing = width.saturating_sub(cell.width());
                    let is_right = self.right.contains(&index);
                    let before = if is_right { missing } else { 0 };
                    write!(out, "{:gap$}", "", gap = gap + before)?;
                    cell.write(out)?;
                    gap = missing - before;
                }
                None => gap += width,
            }
            gap += GAP;
        }
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> Cell {
        Cell::new(Style::new(), text)
    }

    fn written(columns: &Columns, width: usize) -> String {
        let mut out = Vec::new();
        columns.write_within(&mut out, width).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_line_up() {
        let mut columns = Columns::right_aligned([1]);
        columns.row([cell("name"), cell("count"), cell("about")]);
        columns.row([cell("漢字"), cell("7"), cell("")]);
        columns.row([Cell::default(), cell("12"), cell("x")]);
        assert_eq!(
            written(&columns, 80),
            "name  count  about\n漢字      7\n         12  x\n"
        );
        assert_eq!(written(&columns, usize::MAX), written(&columns, 80));
    }

    #[test]
    fn cells_break_between_words_where_columns_do_not_fit() {
        let mut columns = Columns::default();
        columns.row([cell("  name"), cell("one two three"), cell("four five")]);
        assert_eq!(
            written(&columns, 30),
            "  name  one two      four five\n        three\n"
        );
        assert_eq!(
            written(&columns, 20),
            "  name  one    four\n        two    five\n        three\n"
        );
    }

    #[test]
    fn line_breaks_of_a_text_stay_in_its_column() {
        let mut columns = Columns::default();
        columns.row([cell("wrong"), cell("a b c\n  d e f\n\ng"), cell("x")]);
        assert_eq!(
            written(&columns, 80),
            "wrong  a b c    x\n         d e f\n\n       g\n"
        );
        assert_eq!(
            written(&columns, 14),
            "wrong  a b   x\n       c\n         d\n         e\n         f\n\n       g\n"
        );
    }

    #[test]
    fn what_does_not_fit_in_a_line_is_below() {
        let mut columns = Columns::right_aligned([1]);
        columns.row([cell("template"), cell("count"), cell("about them")]);
        columns.row([cell("a"), cell("1"), cell("the first of all")]);
        columns.row([cell("a-name-of-some-length"), cell("22"), cell("second")]);
        assert_eq!(
            written(&columns, 20),
            "template       count\n    about them\na                  1\n    the first of all\n\
             a-name-of-some-length\n                  22\n    second\n"
        );
    }

    /// No line is wider than the screen, except for one long word.
    #[test]
    fn no_line_is_too_wide_and_no_word_is_broken() {
        let texts = [
            "",
            "a",
            "  name",
            "some words here",
            "a-very-long-word-that-stands-alone",
        ];
        for width in [20, 40, 60] {
            for first in texts {
                for second in texts {
                    for third in texts {
                        let mut columns = Columns::right_aligned([1]);
                        columns.row([first, second, third].map(cell));
                        columns.row([third, first, second].map(cell));
                        let out = written(&columns, width);
                        for line in out.lines() {
                            let is_one = line.split_ascii_whitespace().count() == 1;
                            assert!(is_one || line.len() <= width, "{width}: {line:?} in\n{out}");
                            assert_eq!(line.trim_end(), line);
                        }
                        let mut words: Vec<&str> = out.split_ascii_whitespace().collect();
                        let rows = [first, second, third].map(|text| text.split_ascii_whitespace());
                        let mut expected: Vec<&str> = rows.into_iter().flatten().collect();
                        expected.extend(expected.clone());
                        words.sort_unstable();
                        expected.sort_unstable();
                        assert_eq!(words, expected);
                    }
                }
            }
        }
    }
}
