//! The one way to a terminal or a log: what a terminal or a server of CI would obey is shown instead.
//!
//! Texts of others are in every report: names, messages, prompts, the words of servers. Some contain
//! escape codes, which move the cursor, change the title of the window, or write over what was said
//! before; some have lines that are commands for the program that keeps the log. [`Clean`] lets
//! through only the styles of this program's reports. It knows them by a number that is drawn when the
//! program starts, and that no text of others can contain.

use rolecall_core::Cut;
use std::collections::hash_map::RandomState;
use std::fmt::{self, Write as _};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write};
use std::sync::LazyLock;

use rolecall_core::invisible::is_obeyed;

use super::log_line::LogLine;

/// How a style of this program begins inside of a report: an escape code that no terminal knows, with
/// a number that nobody can guess.
static OWN: LazyLock<String> = LazyLock::new(|| {
    let number = RandomState::new().build_hasher().finish();
    format!("\u{1b}[?{number};")
});

/// How an escape code begins.
const CODE: &str = "\u{1b}[";

/// The most bytes of a style after its beginning, as in `38;2;255;255;255m`.
const LONGEST: usize = 20;

/// Writes the escape codes of a style in the form that [`Clean`] knows.
pub(crate) fn write_style(f: &mut fmt::Formatter<'_>, codes: &impl fmt::Display) -> fmt::Result {
    let mut text = String::new();
    write!(text, "{codes}")?;
    f.write_str(&text.replace(CODE, &OWN))
}

/// A mark for what templates of reports make of a text. No text of others contains it.
pub(crate) fn own_mark(mark: char) -> String {
    format!("{}{mark}", *OWN)
}

/// A stream on which nothing is written that a terminal or a server of CI obeys, except for this
/// program's styles.
///
/// Bytes that are not UTF-8 become replacement characters.
#[derive(Debug)]
pub struct Clean<W: Write> {
    /// None after the end.
    to: Option<W>,
    /// The last bytes: the beginning of a character or of a style.
    waiting: Vec<u8>,
    /// Where the line is that is written, for a server of CI. It sees no styles. Without it, the
    /// server's commands pass.
    line: Option<LogLine>,
    has_replaced: bool,
}

impl<W: Write> Clean<W> {
    /// Cleans what is written to a stream.
    pub fn new(to: W) -> Clean<W> {
        Clean {
            to: Some(to),
            waiting: Vec::new(),
            line: Some(LogLine::default()),
            has_replaced: false,
        }
    }

    /// Lets commands for a server of CI pass: they are this program's own.
    #[must_use]
    pub fn with_commands(mut self) -> Clean<W> {
        self.line = None;
        self
    }

    /// Whether something was replaced so far.
    pub fn has_replaced(&self) -> bool {
        self.has_replaced
    }

    /// Writes what still waits, and gives the stream back.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_waiting(true)?;
        self.flush()?;
        self.to
            .take()
            .ok_or_else(|| io::Error::other("already finished"))
    }

    /// Writes what is complete, or everything at the end.
    fn write_waiting(&mut self, is_end: bool) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.waiting);
        let mut out = String::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (text, taken, is_open) = match std::str::from_utf8(rest) {
                Ok(text) => (text, rest.len(), false),
                Err(error) => {
                    let valid = error.valid_up_to();
                    let text = std::str::from_utf8(&rest[..valid]).unwrap_or_default();
                    match error.error_len() {
                        Some(wrong) => (text, valid + wrong, false),
                        None => (text, rest.len(), true),
                    }
                }
            };
            // After these bytes there is something else than a style.
            let is_last = is_end || text.len() < rest.len();
            let kept = self.add(&mut out, text, is_last);
            if kept < text.len() {
                self.waiting.extend_from_slice(&rest[kept..]);
                break;
            }
            if is_open && !is_end {
                self.waiting.extend_from_slice(&rest[text.len()..]);
                break;
            }
            if taken > text.len() {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            rest = &rest[taken..];
        }
        match &mut self.to {
            Some(to) => to.write_all(out.as_bytes()),
            None => Ok(()),
        }
    }

    /// Adds a text to the output. Returns how many bytes were taken: at the end of the text there may
    /// be the beginning of a style.
    fn add(&mut self, out: &mut String, text: &str, is_end: bool) -> usize {
        let mut taken = 0;
        while let Some(c) = text.cut(taken..).chars().next() {
            let rest = text.cut(taken..);
            if let Some(codes) = own_style(rest) {
                out.push_str(CODE);
                out.push_str(codes);
                taken += OWN.len() + codes.len();
                continue;
            }
            let is_obeyed = is_obeyed(c);
            if is_obeyed && !is_end && may_become_style(rest) {
                return taken;
            }
            let is_command = self.line.as_mut().is_some_and(|line| line.add(c));
            if is_command || is_obeyed {
                // Writing to a string cannot fail.
                let _ = write!(out, "⟦U+{:04X}⟧", u32::from(c));
                self.has_replaced = true;
            } else {
                out.push(c);
            }
            taken += c.len_utf8();
        }
        taken
    }
}

/// The codes of this program's style at the beginning of a text.
fn own_style(text: &str) -> Option<&str> {
    let codes = text.strip_prefix(OWN.as_str())?;
    let length = codes.bytes().take(LONGEST).position(|byte| byte == b'm')?;
    Some(codes.cut(..=length))
}

/// Whether more text could make a text a style of this program.
fn may_become_style(text: &str) -> bool {
    OWN.starts_with(text) || text.starts_with(OWN.as_str()) && text.len() < OWN.len() + LONGEST
}

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        self.write_waiting(false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl<W: Write> Drop for Clean<W> {
    fn drop(&mut self) {
        // Whoever wants to know about errors calls `finish`.
        let _ = self.write_waiting(true);
        let _ = self.flush();
    }
}

/// A stream whose reader may stop. What nobody reads is no error: a command still ends as it would
/// with a reader.
struct Optional<W: Write>(W);

impl<W: Write> Write for Optional<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Standard error, with colours where the user wants them.
#[allow(clippy::disallowed_methods)] // This is the one way there.
pub fn messages() -> Clean<Box<dyn Write>> {
    Clean::new(Box::new(Optional(anstream::stderr())))
}

/// Standard output for people, with colours where the user wants them.
#[allow(clippy::disallowed_methods)] // This is the one way there.
pub fn results() -> Clean<Box<dyn Write>> {
    Clean::new(Box::new(io::BufWriter::new(anstream::stdout())))
}

/// A text without the styles of this program, and with everything else that a terminal would obey
/// made visible.
pub fn plain(text: &[u8]) -> String {
    let mut clean = Clean::new(Vec::new());
    // Writing to memory cannot fail.
    let _ = clean.write_all(text);
    let text = clean.finish().unwrap_or_default();
    let text = anstream::adapter::strip_bytes(&text).into_vec();
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::style::{BAD, Styled};

    fn cleaned(pieces: &[&[u8]]) -> String {
        let mut clean = Clean::new(Vec::new());
        for piece in pieces {
            clean.write_all(piece).unwrap();
        }
        String::from_utf8(clean.finish().unwrap()).unwrap()
    }

    #[test]
    fn only_our_styles_are_left() {
        let styled = Styled(BAD, "a\u{1b}[31mb").to_string();
        let expected = "\u{1b}[31ma⟦U+001B⟧[31mb\u{1b}[0m";
        assert_eq!(cleaned(&[styled.as_bytes()]), expected);
        // Wherever it is cut.
        for at in 0..styled.len() {
            let (first, second) = styled.as_bytes().split_at(at);
            assert_eq!(cleaned(&[first, second]), expected, "{at}");
        }
        let bytes: Vec<&[u8]> = styled.as_bytes().chunks(1).collect();
        assert_eq!(cleaned(&bytes), expected);
    }

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        let hostile = "\u{7}\u{9b}2J\u{9d}0;x\u{9c}\u{202e}\r\u{7f}\u{8}\u{1b}]0;x\u{7}";
        let shown = cleaned(&[hostile.as_bytes()]);
        assert!(!shown.contains(is_obeyed), "{shown}");
        assert!(shown.starts_with("⟦U+0007⟧⟦U+009B⟧2J"), "{shown}");
        assert_eq!(cleaned(&[b"a\xff\xc3\x28\n\tb"]), "a\u{fffd}\u{fffd}(\n\tb");
        assert_eq!(cleaned(&["é".as_bytes(), "ß".as_bytes()]), "éß");
        assert_eq!(cleaned(&[&[0xc3], &[0xa9], &[0xc3]]), "é\u{fffd}");
        // A number that somebody guesses is not ours.
        assert_eq!(cleaned(&[b"\x1b[?12;31m"]), "⟦U+001B⟧[?12;31m");
        let cut = &OWN.as_bytes()[..OWN.len() - 1];
        assert!(cleaned(&[cut]).starts_with("⟦U+001B⟧[?"));
    }

    #[test]
    fn what_a_server_of_ci_obeys_is_shown() {
        let shown = ":⟦U+003A⟧error::a\n \t:⟦U+003A⟧debug::b ##⟦U+005B⟧group]c ::d\n";
        let hostile = "::error::a\n \t::debug::b ##[group]c ::d\n";
        assert_eq!(cleaned(&[hostile.as_bytes()]), shown);
        let bytes: Vec<&[u8]> = hostile.as_bytes().chunks(1).collect();
        assert_eq!(cleaned(&bytes), shown);
        // A log has no styles, so a style does not come between.
        let styled = format!("{}::error::", Styled(BAD, " "));
        assert_eq!(plain(styled.as_bytes()), " :⟦U+003A⟧error::");
        let styled = format!("#{}[error]", Styled(BAD, "#"));
        assert_eq!(plain(styled.as_bytes()), "##⟦U+005B⟧error]");
    }

    #[test]
    fn plain_text_has_no_styles() {
        assert_eq!(
            plain(Styled(BAD, "a\u{1b}b").to_string().as_bytes()),
            "a⟦U+001B⟧b"
        );
    }
}
