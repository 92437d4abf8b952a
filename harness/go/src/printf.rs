//! `printf`: the layout with its verbs, flags, widths and indexes.
//!
//! Source: fmt/print.go of Go 1.26, `doPrintf`. An index is read before the verb only,
//! not before a `*`.

use crate::format::{Depth, Spec, write};
use crate::meter::{Sink, Written};
use crate::values::Value;

/// Go refuses widths and precisions above this.
const LARGEST_WIDTH: usize = 1_000_000;

/// Work that it takes to read one byte of a layout.
const BYTE: usize = 8;

/// Work that it takes to follow one verb, beside writing a value.
const VERB: usize = 100;

/// `fmt.Sprintf`.
pub(crate) fn sprintf(out: &mut Sink<'_>, format: &[u8], values: &[Value]) -> Written {
    out.meter.work(format.len().saturating_mul(BYTE))?;
    let mut used = 0;
    let mut reordered = false;
    let mut at = 0;
    // Behind it no index ends: nobody has to look for its end again and again.
    let last_bracket = format.iter().rposition(|b| *b == b']').unwrap_or(0);
    while at < format.len() {
        let literal = format[at..]
            .iter()
            .position(|b| *b == b'%')
            .unwrap_or(format.len() - at);
        out.push(&format[at..at + literal])?;
        at += literal;
        if at >= format.len() {
            break;
        }
        at += 1;
        let mut spec = flags(format, &mut at);
        let mut star = |at: &mut usize| -> Option<i64> {
            *at += 1;
            let value = values.get(used);
            used += 1;
            match value {
                Some(Value::Int(n)) if n.unsigned_abs() <= LARGEST_WIDTH as u64 => Some(*n),
                _ => None,
            }
        };
        if format.get(at) == Some(&b'*') {
            if let Some(width) = star(&mut at) {
                if width < 0 {
                    spec.minus = true;
                    spec.zero = false;
                }
                spec.width = usize::try_from(width.unsigned_abs()).ok();
            } else {
                out.push(b"%!(BADWIDTH)")?;
            }
        } else {
            spec.width = number(format, &mut at);
        }
        // A point at the very end is taken for the verb.
        if format.get(at) == Some(&b'.') && at + 1 < format.len() {
            at += 1;
            if format.get(at) == Some(&b'*') {
                if let Some(precision) = star(&mut at) {
                    spec.precision = usize::try_from(precision).ok();
                } else {
                    out.push(b"%!(BADPREC)")?;
                }
            } else {
                spec.precision = Some(number(format, &mut at).unwrap_or(0));
            }
        }
        let mut bad_index = false;
        if format.get(at) == Some(&b'[') {
            // `%[2]d` takes the second operand, and those that follow go on from there.
            reordered = true;
            let (index, length) = explicit(&format[at..], at < last_bracket);
            at += length;
            match index {
                Some(index) if index < values.len() => used = index,
                _ => bad_index = true,
            }
        }
        let Some(verb) = first_char(&format[at..]) else {
            out.push(b"%!(NOVERB)")?;
            break;
        };
        at += verb.len_utf8();
        spec.verb = verb;
        if verb == 'v' {
            // These two flags ask for other forms then.
            spec.is_source = std::mem::take(&mut spec.sharp);
            spec.has_names = std::mem::take(&mut spec.plus);
        }
        out.meter.work(VERB)?;
        if verb == '%' {
            out.push(b"%")?;
        } else if bad_index {
            complain(out, verb, "(BADINDEX)")?;
        } else if let Some(value) = values.get(used) {
            used += 1;
            write(out, value, &spec, Depth::Top)?;
        } else {
            complain(out, verb, "(MISSING)")?;
        }
    }
    if !reordered && used < values.len() {
        extra(out, &values[used..])?;
    }
    Ok(())
}

/// The number at a place. After one that is too large Go reads nothing any more: that is
/// told by a digit that follows what is too large already (`parsenum`).
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

/// The index in `[2]`, counted from 0, if there is one, and the length of the whole
/// (`parseArgNumber`). `has_end` says whether there is a bracket that ends one.
fn explicit(format: &[u8], has_end: bool) -> (Option<usize>, usize) {
    let end = has_end.then(|| format.iter().position(|b| *b == b']'));
    let Some(end) = end.flatten() else {
        return (None, 1);
    };
    let mut at = 1;
    let index = number(&format[..end], &mut at).filter(|_| at == end);
    (index.and_then(|index| index.checked_sub(1)), end + 1)
}

fn first_char(bytes: &[u8]) -> Option<char> {
    // No character is longer.
    let chunk = bytes[..bytes.len().min(4)].utf8_chunks().next()?;
    chunk.valid().chars().next().or(Some('\u{fffd}'))
}

/// The flags at a place.
fn flags(format: &[u8], at: &mut usize) -> Spec {
    let mut spec = Spec::default();
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

/// The complaint about a verb.
fn complain(out: &mut Sink<'_>, verb: char, what: &str) -> Written {
    out.push(b"%!")?;
    out.push_str(verb.encode_utf8(&mut [0; 4]))?;
    out.push_str(what)
}

/// The complaint about operands that no verb took.
fn extra(out: &mut Sink<'_>, values: &[Value]) -> Written {
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
            write(out, value, &Spec::plain('v'), Depth::Top)?;
        }
    }
    out.push(b")")
}
