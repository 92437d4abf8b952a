//! What the servers of CI obey in a log: lines of text that are commands for them.

/// How far the line of a log has come towards a command.
///
/// GitHub's runner obeys `::error::` after any white space at the beginning of a line, and
/// `##[error]` anywhere in it (actions/runner, `ActionCommand.cs`: `TryParseV2` and `TryParse`).
/// Azure's agent obeys `##vso[…]`, and `TeamCity` `##teamcity[…]`. The text that follows may come
/// later, so every such beginning counts, whatever the name of the command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogLine {
    /// Nothing but white space so far.
    #[default]
    Start,
    Colon,
    Hash,
    /// `##`, or more of them.
    Hashes,
    /// `##` and letters.
    Named,
    /// Anything else.
    Other,
}

impl LogLine {
    /// Adds a character. Returns whether it completes the beginning of a command: without it, the
    /// line is none.
    pub fn add(&mut self, c: char) -> bool {
        use LogLine::{Colon, Hash, Hashes, Named, Other, Start};
        let (next, is_command) = match (*self, c) {
            (_, '\n' | '\r') => (Start, false),
            (Start, ':') => (Colon, false),
            (Colon, ':') | (Hashes | Named, '[') => (Other, true),
            (Hash | Hashes, '#') => (Hashes, false),
            (_, '#') => (Hash, false),
            (Hashes | Named, c) if c.is_ascii_alphabetic() => (Named, false),
            (Start, c) if c.is_whitespace() => (Start, false),
            _ => (Other, false),
        };
        *self = next;
        is_command
    }

    /// Adds a byte. Bytes outside of ASCII count as white space, because they may be a part of some.
    pub fn add_byte(&mut self, byte: u8) -> bool {
        self.add(if byte.is_ascii() {
            byte.into()
        } else {
            '\u{a0}'
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_command(text: &str) -> bool {
        let mut line = LogLine::default();
        text.chars().any(|c| line.add(c))
    }

    #[test]
    fn the_beginnings_of_commands_are_found() {
        for text in [
            "::error::x",
            " \t::error::x",
            "\u{2003}\u{3000}\u{85}::add-mask::a",
            "said\n::stop-commands::x",
            "said\r  ::debug::x",
            "##[error]x",
            "said ##[add-mask]a",
            "###[group]x",
            "# ##[group]x",
            "##vso[task.setvariable variable=x]y",
            "a ##teamcity[x]",
        ] {
            assert!(has_command(text), "{text:?}");
            let mut line = LogLine::default();
            assert!(text.bytes().any(|byte| line.add_byte(byte)), "{text:?}");
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "a ::error::x",
            ": :error::x",
            ":\n:error::x",
            "#[error]x",
            "# #[error]",
            "## [title](address)",
            "##error]",
            "a::b",
        ] {
            assert!(!has_command(text), "{text:?}");
        }
    }
}
