//! Where something stands in a text.

/// Where a place begins or ends: the line and the column, from 1. Columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Position {
    /// The position of a byte.
    pub(super) fn of(source: &str, at: usize) -> Position {
        let before = source.get(..at).unwrap_or(source);
        // As the engines count: a line ends with `\n`, `\r\n` or `\r`.
        let breaks = before.matches('\n').count();
        let alone = before.matches('\r').count() - before.matches("\r\n").count();
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        Position {
            line: 1 + breaks + alone,
            column: 1 + line.chars().count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_as_engines_do_and_characters() {
        let source = "é\n{{ x }}\r\né{{ y }}\rz";
        for (text, line, column) in [("{{ x", 2, 1), ("{{ y", 3, 2), ("z", 4, 1)] {
            let at = source.find(text).unwrap();
            assert_eq!(Position::of(source, at), Position { line, column });
        }
    }
}
