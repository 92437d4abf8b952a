//! Output for programs, which may be written into a log: nothing in it is obeyed by a server of CI.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use crate::report::format::Format;
use crate::report::log_line::LogLine;
use rolecall_core::Cut;
use rolecall_core::environment;
use rolecall_core::invisible::is_obeyed;

/// What output for programs is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    /// JSON, which can write every character in another way.
    Json,
    Xml,
    /// Lines that show names and texts of others, and are no exact copies of them.
    Lines,
    /// Annotations that GitHub's runner shall obey, with names and texts of others in them.
    Annotations,
    /// What this program itself says, such as its manual.
    Own,
    /// The exact bytes of a prompt or a file.
    Bytes,
}

impl Data {
    /// What a format is made of. `None` is text for people.
    pub(crate) fn of(format: Format) -> Option<Data> {
        match format {
            Format::Human => None,
            Format::Json | Format::Jsonl | Format::Sarif => Some(Data::Json),
            Format::Junit => Some(Data::Xml),
            Format::Github => Some(Data::Annotations),
            Format::Markdown | Format::Lcov => Some(Data::Lines),
        }
    }
}

/// Writes what a terminal or a server of CI would obey in another way, as far as the data has one.
/// JSON says the same with escapes, so whoever prints it later is safe, too.
#[derive(Debug)]
pub(crate) struct Guard {
    data: Data,
    /// Whether exact bytes may go into a log: then they have to be harmless.
    is_log: bool,
    line: LogLine,
    /// The beginning of a character whose other bytes come later.
    waiting: Vec<u8>,
}

impl Guard {
    /// For data that goes to standard output, if `is_stdout`.
    pub(crate) fn new(data: Data, is_stdout: bool) -> Guard {
        Guard {
            data,
            is_log: is_stdout && environment::is_yes("GITHUB_ACTIONS") && !is_file(),
            line: LogLine::default(),
            waiting: Vec::new(),
        }
    }

    /// The bytes as they are written. It is an error if exact bytes would be obeyed.
    pub(crate) fn pass<'b>(&mut self, bytes: &'b [u8]) -> io::Result<Cow<'b, [u8]>> {
        if matches!(self.data, Data::Own | Data::Bytes) {
            let is_refused = self.data == Data::Bytes
                && self.is_log
                && bytes.iter().any(|byte| self.line.add_byte(*byte));
            return if is_refused {
                Err(io::Error::other(REFUSED))
            } else {
                Ok(Cow::Borrowed(bytes))
            };
        }
        let mut all = Cow::Borrowed(bytes);
        if !self.waiting.is_empty() {
            all = Cow::Owned([&std::mem::take(&mut self.waiting), bytes].concat());
        }
        // Everything but exact bytes is made of texts.
        let text = match std::str::from_utf8(&all) {
            Ok(text) => text,
            Err(error) => {
                let (text, rest) = all.split_at(error.valid_up_to());
                self.waiting = rest.to_vec();
                std::str::from_utf8(text).unwrap_or_default()
            }
        };
        let mut out = String::new();
        let mut taken = 0;
        for (at, c) in text.char_indices() {
            let is_command = self.data != Data::Annotations && self.line.add(c);
            if !is_command && !is_obeyed(c) {
                continue;
            }
            out.push_str(text.cut(taken..at));
            // Writing to a string cannot fail.
            let _ = match self.data {
                Data::Json => {
                    let mut units = [0; 2];
                    // JSON escapes a character beyond U+FFFF as two units of UTF-16 (RFC 8259, section
                    // 7).
                    let mut units = c.encode_utf16(&mut units).iter();
                    units.try_for_each(|unit| write!(out, "\\u{unit:04x}"))
                }
                Data::Xml => write!(out, "&#{};", u32::from(c)),
                _ => write!(out, "⟦U+{:04X}⟧", u32::from(c)),
            };
            taken = at + c.len_utf8();
        }
        if taken == 0 && text.len() == bytes.len() {
            return Ok(Cow::Borrowed(bytes));
        }
        out.push_str(text.cut(taken..));
        Ok(Cow::Owned(out.into_bytes()))
    }
}

/// Why exact bytes are not written.
const REFUSED: &str = "GitHub's runner would obey a line of it if it were in the log\n  \
    `--output FILE` writes the exact bytes into a file";

/// Whether standard output is a file, which no runner reads.
fn is_file() -> bool {
    #[cfg(unix)]
    {
        use std::fs::File;
        use std::os::fd::AsFd as _;

        #[allow(clippy::disallowed_methods)] // Nothing is written here.
        let stdout = io::stdout();
        let file = stdout.as_fd().try_clone_to_owned().map(File::from);
        let metadata = file.and_then(|file| file.metadata());
        metadata.is_ok_and(|metadata| metadata.is_file())
    }
    #[cfg(not(unix))]
    {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(data: Data, is_log: bool, text: &str) -> io::Result<String> {
        let mut guard = Guard {
            data,
            is_log,
            line: LogLine::default(),
            waiting: Vec::new(),
        };
        let mut out = Vec::new();
        // However it is cut.
        for byte in text.as_bytes().chunks(1) {
            out.extend_from_slice(&guard.pass(byte)?);
        }
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn data_says_the_same_in_another_way() {
        let json = passed(Data::Json, false, "{\"a\": \"##[error]b\"}").unwrap();
        assert_eq!(json, "{\"a\": \"##\\u005berror]b\"}");
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["a"], "##[error]b");
        let xml = passed(Data::Xml, false, "<a>\n::error::b ##[c]</a>").unwrap();
        assert_eq!(xml, "<a>\n:&#58;error::b ##&#91;c]</a>");
        let lines = passed(Data::Lines, false, "SF:##[error]").unwrap();
        assert_eq!(lines, "SF:##⟦U+005B⟧error]");
        let own = passed(Data::Own, true, "::error::a").unwrap();
        assert_eq!(own, "::error::a");
        let text = "::error file=\u{1b}[2J\u{202e}é.jinja::a\u{9b}";
        let shown = "::error file=⟦U+001B⟧[2J⟦U+202E⟧é.jinja::a⟦U+009B⟧";
        assert_eq!(passed(Data::Annotations, true, text).unwrap(), shown);
    }

    #[test]
    fn json_has_no_character_that_a_terminal_obeys() {
        let text = "é漢🙂\u{7f}\u{9b}2J\u{202e}\u{2028}\u{e0041}\u{200d}";
        let json = serde_json::to_string(text).unwrap();
        let shown = passed(Data::Json, false, &json).unwrap();
        assert_eq!(
            shown,
            "\"é漢🙂\\u007f\\u009b2J\\u202e\\u2028\\udb40\\udc41\u{200d}\""
        );
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }

    #[test]
    fn exact_bytes_are_exact_or_refused() {
        let text = "a\n ::error::b";
        assert_eq!(passed(Data::Bytes, false, text).unwrap(), text);
        let refused = passed(Data::Bytes, true, text).unwrap_err();
        assert!(refused.to_string().contains("--output"), "{refused}");
        assert_eq!(passed(Data::Bytes, true, "a ::b").unwrap(), "a ::b");
    }
}
