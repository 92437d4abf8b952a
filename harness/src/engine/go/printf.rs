//! `printf`: the layout with its verbs, flags, widths and indexes.
//!
//! Source: fmt/print.go of Go 1.26, `doPrintf`. An index is read before the verb only,
//! not before a `*`.

use super::format::{Depth, Spec, write};
use super::values::Value;

/// Go refuses widths and precisions above this.
const LARGEST_WIDTH: usize = 1_000_000;

/// `fmt.Sprintf`, within a limit as [`sprint`].
pub(super) fn sprintf(format: &[u8], values: &[Value], limit: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut used = 0;
    let mut reordered = false;
    let mut at = 0;
    while at < format.len() && out.len() <= limit {
        let literal = format[at..]
            .iter()
            .position(|b| *b == b'%')
            .unwrap_or(format.len() - at);
        out.extend_from_slice(&format[at..at + literal]);
        at += literal;
        if at >= format.len() {
            break;
        }
        at += 1;
        let mut spec = flags(format, &mut at);
        let mut star = |at: &mut usize, out: &mut Vec<u8>, complaint: &[u8]| -> Option<i64> {
            *at += 1;
            let value = values.get(used);
            used += 1;
            match value {
                Some(Value::Int(n)) if n.unsigned_abs() <= LARGEST_WIDTH as u64 => Some(*n),
                _ => {
                    out.extend_from_slice(complaint);
                    None
                }
            }
        };
        if format.get(at) == Some(&b'*') {
            if let Some(width) = star(&mut at, &mut out, b"%!(BADWIDTH)") {
                if width < 0 {
                    spec.minus = true;
                    spec.zero = false;
                }
                spec.width = usize::try_from(width.unsigned_abs()).ok();
            }
        } else {
            spec.width = number(format, &mut at);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            if format.get(at) == Some(&b'*') {
                match star(&mut at, &mut out, b"%!(BADPREC)") {
                    Some(precision) => spec.precision = usize::try_from(precision).ok(),
                    None => spec.precision = None,
                }
            } else {
                spec.precision = Some(number(format, &mut at).unwrap_or(0));
            }
        }
        let mut bad_index = false;
        if format.get(at) == Some(&b'[') {
            // `%[2]d` takes the second operand, and those that follow go on from there.
            reordered = true;
            if let Some((index, length)) = explicit(&format[at..]) {
                at += length;
                bad_index = index >= values.len();
                if !bad_index {
                    used = index;
                }
            } else {
                bad_index = true;
                at += 1;
            }
        }
        let Some(verb) = first_char(&format[at..]) else {
            out.extend_from_slice(b"%!(NOVERB)");
            break;
        };
        at += verb.len_utf8();
        spec.verb = verb;
        if verb == '%' {
            out.push(b'%');
        } else if bad_index {
            out.extend_from_slice(format!("%!{verb}(BADINDEX)").as_bytes());
        } else if let Some(value) = values.get(used) {
            used += 1;
            write(&mut out, value, &spec, Depth::Top);
        } else {
            out.extend_from_slice(format!("%!{verb}(MISSING)").as_bytes());
        }
    }
    if !reordered && used < values.len() {
        extra(&mut out, &values[used..]);
    }
    out
}

fn number(format: &[u8], at: &mut usize) -> Option<usize> {
    let digits = format[*at..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let text = std::str::from_utf8(&format[*at..*at + digits]).ok()?;
    *at += digits;
    text.parse().ok().filter(|width| *width <= LARGEST_WIDTH)
}

/// The index in `[2]`, counted from 0, and the length of the whole.
fn explicit(format: &[u8]) -> Option<(usize, usize)> {
    let end = format.iter().position(|b| *b == b']')?;
    let mut at = 1;
    let index = number(format, &mut at)?.checked_sub(1)?;
    (at == end).then_some((index, end + 1))
}

fn first_char(bytes: &[u8]) -> Option<char> {
    let chunk = bytes.utf8_chunks().next()?;
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

/// The complaint about operands that no verb took.
fn extra(out: &mut Vec<u8>, values: &[Value]) {
    out.extend_from_slice(b"%!(EXTRA ");
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        if matches!(value, Value::Nil | Value::Absent) {
            out.extend_from_slice(b"<nil>");
        } else {
            out.extend_from_slice(value.type_name().as_bytes());
            out.push(b'=');
            write(out, value, &Spec::plain('v'), Depth::Top);
        }
    }
    out.push(b')');
}
