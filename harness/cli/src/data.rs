//! Output for programs, which may be written into a log: nothing in it is obeyed by a server of CI.

use std::borrow::Cow;
use std::io;

use crate::report::format::Format;
use crate::report::log_line::LogLine;
use rolecall_core::environment;

/// What output for programs is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    /// JSON, which can write every character in another way.
    Json,
    Xml,
    /// Lines that show names and texts of others, and are no exact copies of them.
    Lines,
    /// What this program itself says, such as the annotations that GitHub's runner shall obey.
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
            Format::Github => Some(Data::Own),
            Format::Markdown | Format::Lcov => Some(Data::Lines),
        }
    }
}

/// Writes what a server of CI would obey in another way, as far as the data has one.
#[derive(Debug)]
pub(crate) struct Guard {
    data: Data,
    /// Whether exact bytes may go into a log: then they have to be harmless.
    is_log: bool,
    line: LogLine,
}

impl Guard {
    /// For data that goes to standard output, if `is_stdout`.
    pub(crate) fn new(data: Data, is_stdout: bool) -> Guard {
        Guard {
            data,
            is_log: is_stdout && environment::is_yes("GITHUB_ACTIONS") && !is_file(),
            line: LogLine::default(),
        }
    }

    /// The bytes as they are written. It is an error if exact bytes would be obeyed.
    pub(crate) fn pass<'b>(&mut self, bytes: &'b [u8]) -> io::Result<Cow<'b, [u8]>> {
        if self.data == Data::Own || self.data == Data::Bytes && !self.is_log {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut out = Vec::new();
        let mut taken = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if !self.line.add_byte(*byte) {
                continue;
            }
            let code = match self.data {
                Data::Json => format!("\\u{byte:04x}"),
                Data::Xml => format!("&#{byte};"),
                Data::Lines | Data::Own => format!("⟦U+{byte:04X}⟧"),
                Data::Bytes => return Err(io::Error::other(REFUSED)),
            };
            out.extend_from_slice(&bytes[taken..at]);
            out.extend_from_slice(code.as_bytes());
            taken = at + 1;
        }
        if taken == 0 {
            return Ok(Cow::Borrowed(bytes));
        }
        out.extend_from_slice(&bytes[taken..]);
        Ok(Cow::Owned(out))
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
