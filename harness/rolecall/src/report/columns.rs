//! Text in columns.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::style::Styled;

/// A cell: pieces of text, each in a style.
#[derive(Debug, Default, Clone)]
pub(super) struct Cell(Vec<(Style, String)>);

/// Rows of cells, written so that columns line up.
#[derive(Debug, Default)]
pub(super) struct Columns {
    rows: Vec<Vec<Cell>>,
    right: Vec<usize>,
}

impl Cell {
    /// A cell of one piece.
    pub(super) fn new(style: Style, text: impl Into<String>) -> Cell {
        Cell(vec![(style, text.into())])
    }

    /// Adds a piece.
    pub(super) fn push(&mut self, style: Style, text: impl Into<String>) {
        self.0.push((style, text.into()));
    }

    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }
}

impl Columns {
    /// Rows whose columns of these numbers are aligned to the right.
    pub(super) fn right_aligned(right: impl IntoIterator<Item = usize>) -> Columns {
        Columns {
            rows: Vec::new(),
            right: right.into_iter().collect(),
        }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes the rows. No line ends in spaces.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            for (index, cell) in row.iter().enumerate() {
                if index == widths.len() {
                    widths.push(0);
                }
                widths[index] = widths[index].max(cell.width());
            }
        }
        for row in &self.rows {
            let mut gap = 0;
            for (index, cell) in row.iter().enumerate() {
                let missing = widths[index] - cell.width();
                let before = if self.right.contains(&index) {
                    missing
                } else {
                    0
                };
                if !cell.is_empty() {
                    write!(out, "{:gap$}", "", gap = gap + before)?;
                    for (style, text) in &cell.0 {
                        write!(out, "{}", Styled(*style, text))?;
                    }
                    gap = 0;
                }
                gap += if cell.is_empty() {
                    widths[index]
                } else {
                    missing - before
                } + 2;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut columns = Columns::right_aligned([1]);
        let cell = |text: &str| Cell::new(Style::new(), text);
        columns.row([cell("name"), cell("count"), cell("about")]);
        columns.row([cell("漢字"), cell("7"), cell("")]);
        columns.row([Cell::default(), cell("12"), cell("x")]);
        let mut out = Vec::new();
        columns.write(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "name  count  about\n漢字      7  \n         12  x\n"
        );
    }
}
