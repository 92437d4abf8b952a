//! `printf`: the format with its verbs, flags, widths and indexes.
//!
//! Source: fmt/print.go of Go 1.26, `doPrintf`.

use crate::error::Error;
use crate::format::{Depth, VerbSpec, write};
use crate::meter::{Sink, WriteResult};
use crate::values::Value;

/// Go refuses widths and precisions above this.
const LARGEST_WIDTH: usize = 1_000_000;

/// The work to read one byte of a format.
const BYTE: usize = 8;

/// The work for one verb, besides writing the value.
const VERB: usize = 100;

/// `fmt.Sprintf`.
pub(crate) fn sprintf(out: &mut Sink<'_>, format: &[u8], values: &[Value]) -> WriteResult {
    out.meter.work(format.len().saturating_mul(BYTE))?;
    let mut layout = FormatReader {
        format,
        at: 0,
        values,
        next: 0,
        is_reordered: false,
        is_good: true,
        // No index ends after this byte, so there is no need to search for its end again and again.
        last_bracket: format.iter().rposition(|b| *b == b']').unwrap_or(0),
    };
    while let Some(length) = layout.rest().iter().position(|b| *b == b'%') {
        out.push(&layout.rest()[..length])?;
        layout.at += length + 1;
        if !layout.conversion(out)? {
            break;
        }
    }
    out.push(layout.rest())?;
    if !layout.is_reordered && layout.next < values.len() {
        extra(out, &values[layout.next..])?;
    }
    Ok(())
}

struct FormatReader<'l> {
    format: &'l [u8],
    at: usize,
    values: &'l [Value],
    next: usize,
    /// Whether there was an index, `%[2]d`.
    is_reordered: bool,
    /// Whether the indexes of this conversion are valid.
    is_good: bool,
    last_bracket: usize,
}

impl<'l> FormatReader<'l> {
    fn rest(&self) -> &'l [u8] {
        &self.format[self.at..]
    }

    fn byte(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    /// Reads a conversion after its percent sign, and returns whether it has a verb.
    fn conversion(&mut self, out: &mut Sink<'_>) -> Result<bool, Error> {
        self.is_good = true;
        let mut spec = flags(self.format, &mut self.at);
        let mut is_after_index = self.index();
        if self.byte() == Some(b'*') {
            match self.star() {
                Some(width) => {
                    if width < 0 {
                        spec.minus = true;
                        spec.zero = false;
                    }
                    spec.width = usize::try_from(width.unsigned_abs()).ok();
                }
                None => out.push(b"%!(BADWIDTH)")?,
            }
            is_after_index = false;
        } else {
            spec.width = number(self.format, &mut self.at);
            // `%[3]2d`
            self.is_good &= !(is_after_index && spec.width.is_some());
        }
        // A point at the very end counts as the verb.
        if self.byte() == Some(b'.') && self.at + 1 < self.format.len() {
            self.at += 1;
            // `%[3].2d`
            self.is_good &= !is_after_index;
            is_after_index = self.index();
            if self.byte() == Some(b'*') {
                spec.precision = self.star().and_then(|size| usize::try_from(size).ok());
                if spec.precision.is_none() {
                    out.push(b"%!(BADPREC)")?;
                }
                is_after_index = false;
            } else {
                spec.precision = Some(number(self.format, &mut self.at).unwrap_or(0));
            }
        }
        if !is_after_index {
            self.index();
        }
        let Some(verb) = first_char(self.rest()) else {
            out.push(b"%!(NOVERB)")?;
            return Ok(false);
        };
        // A byte that is not UTF-8 is one verb.
        let is_whole = self
            .rest()
            .starts_with(verb.encode_utf8(&mut [0; 4]).as_bytes());
        self.at += if is_whole { verb.len_utf8() } else { 1 };
        spec.verb = verb;
        if verb == 'v' {
            // Before `v` these two flags ask for other forms.
            spec.is_source = std::mem::take(&mut spec.sharp);
            spec.has_names = std::mem::take(&mut spec.plus);
        }
        out.meter.work(VERB)?;
        if verb == '%' {
            out.push(b"%")?;
        } else if !self.is_good {
            complain(out, verb, "(BADINDEX)")?;
        } else if let Some(value) = self.values.get(self.next) {
            self.next += 1;
            write(out, value, &spec, Depth::Top)?;
        } else {
            complain(out, verb, "(MISSING)")?;
        }
        Ok(true)
    }

    /// Reads an index, if there is one here: `%[2]d` takes the second operand, and the next
    /// conversions continue from there (`argNumber`).
    fn index(&mut self) -> bool {
        if self.byte() != Some(b'[') {
            return false;
        }
        self.is_reordered = true;
        let (written, length) = explicit(self.rest(), self.at < self.last_bracket);
        self.at += length;
        match written.and_then(|written| written.checked_sub(1)) {
            Some(index) if index < self.values.len() => self.next = index,
            _ => self.is_good = false,
        }
        written.is_some()
    }

    /// The size that `*` takes from the operands (`intFromArg`).
    fn star(&mut self) -> Option<i64> {
        self.at += 1;
        let value = self.values.get(self.next)?;
        self.next += 1;
        let size = match value {
            Value::Int(size) => *size,
            Value::Byte(size) => i64::from(*size),
            _ => return None,
        };
        (size.unsigned_abs() <= LARGEST_WIDTH as u64).then_some(size)
    }
}

/// The number at a place. After a number that is too large Go reads nothing more of the format. It
/// notices the size only at the next digit (`parsenum`).
fn number(format: &[u8], at: &mut usize) -> Option<usize> {
    let mut number = None;
    while let Some(digit @ b'0'..=b'9') = format.get(*at) {
        let before = number.unwrap_or(0);
        if before > LARGEST_WIDTH {
            *at = format.len();
            return None;
        }
        number = Some(before * 10 + usize::from(digit - b'0'));
        *at += 1;
    }
    number
}

/// The number in `[2]`, if there is one, and the length of the whole (`parseArgNumber`).
/// `has_end` says whether there is a bracket that ends one.
fn explicit(format: &[u8], has_end: bool) -> (Option<usize>, usize) {
    // An index has at least three bytes: `[n]`.
    let end = (has_end && format.len() > 2).then(|| format.iter().position(|b| *b == b']'));
    let Some(end) = end.flatten() else {
        return (None, 1);
    };
    let mut at = 1;
    let written = number(&format[..end], &mut at).filter(|_| at == end);
    (written, end + 1)
}

fn first_char(bytes: &[u8]) -> Option<char> {
    // No character is longer.
    let chunk = bytes[..bytes.len().min(4)].utf8_chunks().next()?;
    chunk.valid().chars().next().or(Some('\u{fffd}'))
}

fn flags(format: &[u8], at: &mut usize) -> VerbSpec {
    let mut spec = VerbSpec::default();
    loop {
        match format.get(*at) {
            Some(b'+') => spec.plus = true,
            Some(b'-') => spec.minus = true,
            Some(b'#') => spec.sharp = true,
            Some(b' ') => spec.space = true,
            Some(b'0') => spec.zero = true,
            _ => return spec,
        }
        *at += 1;
    }
}

/// Writes Go's error text for a verb.
fn complain(out: &mut Sink<'_>, verb: char, what: &str) -> WriteResult {
    out.push(b"%!")?;
    out.push_str(verb.encode_utf8(&mut [0; 4]))?;
    out.push_str(what)
}

/// Writes Go's error text for unused operands.
fn extra(out: &mut Sink<'_>, values: &[Value]) -> WriteResult {
    out.push(b"%!(EXTRA ")?;
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.push(b", ")?;
        }
        if matches!(value, Value::Nil | Value::Absent) {
            out.push(b"<nil>")?;
        } else {
            out.push_str(value.type_name())?;
            out.push(b"=")?;
            write(out, value, &VerbSpec::plain('v'), Depth::Top)?;
        }
    }
    out.push(b")")
}
