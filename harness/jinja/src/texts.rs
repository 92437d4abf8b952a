//! Filters that give texts (Jinja2 3.1.6, `filters.py`).

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use minijinja::value::{Kwargs, Rest, Tuple, Value};
use minijinja::{Environment, Error, ErrorKind};

use super::arguments::Arguments;
use super::comparisons::equal;
use super::formats::printf;
use super::markup::{self, escaped};
use super::meter::{CHARACTER, LETTER, OBJECT, produce, work};
use super::numbers::{Number, number, size};
use super::pytext;
use super::strings::{self, replaced, trim, trimmed};
use super::vocabulary;
use super::wrapping;

/// Adds the filters.
pub(super) fn add_filters(environment: &mut Environment<'_>) {
    vocabulary::add_filter(environment, "string", |value: &Value| {
        pytext::like(value, pytext::str(value))
    });
    vocabulary::add_filter(environment, "upper", |value: &Value| {
        let text = pytext::str(value);
        strings::may_grow(&text)?;
        Ok::<_, Error>(pytext::like(value, text.to_uppercase()))
    });
    vocabulary::add_filter(environment, "lower", |value: &Value| {
        let text = pytext::str(value);
        strings::may_grow(&text)?;
        Ok::<_, Error>(pytext::like(value, text.to_lowercase()))
    });
    vocabulary::add_filter(environment, "capitalize", |value: &Value| {
        let text = pytext::str(value);
        strings::may_grow(&text)?;
        Ok::<_, Error>(pytext::like(value, strings::capitalize(&text)))
    });
    vocabulary::add_filter(environment, "title", |value: &Value| {
        let text = pytext::str(value);
        strings::may_grow(&text)?;
        Ok::<_, Error>(title(&text))
    });
    vocabulary::add_filter(environment, "center", center);
    vocabulary::add_filter(environment, "trim", trim_filter);
    vocabulary::add_filter(environment, "replace", replace);
    vocabulary::add_filter(environment, "indent", indent);
    vocabulary::add_filter(environment, "format", format);
    vocabulary::add_filter(environment, "truncate", truncate);
    vocabulary::add_filter(environment, "wordcount", |value: &Value| {
        wrapping::words(&pytext::str(value))
    });
    vocabulary::add_filter(environment, "wordwrap", wordwrap);
    vocabulary::add_filter(environment, "filesizeformat", file_size);
    vocabulary::add_filter(environment, "pprint", pytext::repr);
    vocabulary::add_filter(environment, "safe", |value: &Value| {
        Value::from_safe_string(pytext::str(value).into_owned())
    });
    for name in ["escape", "e"] {
        vocabulary::add_filter(environment, name, |value: &Value| {
            if value.is_safe() {
                return Ok(value.clone());
            }
            escaped(&pytext::str(value)).map(Value::from_safe_string)
        });
    }
    vocabulary::add_filter(environment, "forceescape", |value: &Value| {
        escaped(&pytext::str(value)).map(Value::from_safe_string)
    });
    vocabulary::add_filter(environment, "striptags", |value: &Value| {
        markup::without_tags(&pytext::str(value))
    });
    vocabulary::add_filter(environment, "urlencode", markup::url_encode);
    vocabulary::add_filter(environment, "xmlattr", markup::attributes);
}

/// The first letter of each word in upper case, the rest in lower case. A word begins
/// after white space, a hyphen or an opening bracket.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_first = true;
    for c in text.chars() {
        if is_first {
            out.extend(c.to_uppercase());
        } else {
            out.extend(c.to_lowercase());
        }
        is_first = pytext::is_space(c) || "-({[<".contains(c);
    }
    out
}

fn center(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["width"], &args, &kwargs)?;
    let width = Value::from(match args.get(0).and_then(number) {
        Some(Number::Int(width)) => size(width)?,
        _ => usize::try_from(args.int(0, 80)?).unwrap_or(0),
    });
    strings::call(&pytext::str(value), "center", &[width])
        .unwrap_or_else(|| Err(Error::from(ErrorKind::UnknownMethod)))
        .map(|text| pytext::like(value, pytext::str(&text)))
}

/// `str(value).strip(chars)`.
fn trim_filter(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["chars"], &args, &kwargs)?;
    let text = pytext::str(value);
    match args.some(0).map(Value::as_str) {
        Some(None) => Err(args.wrong_type(0)),
        chars => Ok(pytext::like(
            value,
            trimmed(&text, chars.flatten(), true, true)?,
        )),
    }
}

/// `replace(s, old, new, count=None)`.
fn replace(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["old", "new", "count"], &args, &kwargs)?;
    let count = match args.some(2) {
        None => None,
        Some(_) => Some(args.int(2, -1)?),
    };
    replaced(
        &pytext::str(value),
        &pytext::str(args.required(0)?),
        &pytext::str(args.required(1)?),
        count,
    )
}

/// `indent(s, width=4, first=False, blank=False)`.
fn indent(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["width", "first", "blank"], &args, &kwargs)?;
    let (first, blank) = (args.truth(1, false), args.truth(2, false));
    let Some(text) = value.as_str() else {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{} cannot be indented", value.kind()),
        ));
    };
    let indention = match args.get(0) {
        None => "    ".to_owned(),
        Some(width) => match (width.as_str(), number(width)) {
            (Some(text), _) => text.to_owned(),
            (None, Some(Number::Int(width))) => {
                let width = size(width)?;
                produce(width)?;
                " ".repeat(width)
            }
            _ => return Err(args.wrong_type(0)),
        },
    };
    // Jinja2 (filters.py, `do_indent`) adds a line break before it splits the text, so
    // that a final one survives; and it joins the lines with `\n`, whatever they ended in.
    let with_end = format!("{text}\n");
    let mut lines = pytext::lines(&with_end, false);
    let mut out = String::with_capacity(text.len());
    produce(indention.len())?;
    if first {
        out.push_str(&indention);
    }
    out.push_str(lines.next().unwrap_or_default());
    for line in lines {
        out.push('\n');
        if blank || !line.is_empty() {
            produce(indention.len() + line.len())?;
            out.push_str(&indention);
        }
        out.push_str(line);
    }
    Ok(pytext::like(value, out))
}

/// printf's formats, with values or with names.
fn format(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let text = pytext::str(value);
    let names: Vec<&str> = kwargs.args().collect();
    let values = if names.is_empty() {
        Value::from(Tuple::from(args.0))
    } else if args.is_empty() {
        let mut pairs = Vec::new();
        for name in names {
            pairs.push((Value::from(name), kwargs.get::<Value>(name)?));
        }
        Value::from_pairs(pairs)
    } else {
        return Err(Error::new(
            ErrorKind::TooManyArguments,
            "format takes values or names, not both",
        ));
    };
    Ok(pytext::like(value, printf(&text, &values)?))
}

/// `truncate(s, length=255, killwords=False, end='...', leeway=5)`.
fn truncate(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["length", "killwords", "end", "leeway"], &args, &kwargs)?;
    let (length, end) = (args.int(0, 255)?, args.text(2, "...")?);
    let leeway = match args.some(3) {
        None => 5,
        Some(_) => args.int(3, 5)?,
    };
    let invalid = || Error::new(ErrorKind::InvalidOperation, "the length is too small");
    let kept = usize::try_from(length)
        .ok()
        .and_then(|length| length.checked_sub(end.chars().count()))
        .ok_or_else(invalid)?;
    let leeway = usize::try_from(leeway).map_err(|_| invalid())?;
    let most = kept
        .saturating_add(end.chars().count())
        .saturating_add(leeway);
    // What has a length and is short enough stays as it is, whatever it is.
    if super::sequences::length(value)? <= most {
        return Ok(value.clone());
    }
    let Some(text) = value.as_str() else {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{} cannot be truncated", value.kind()),
        ));
    };
    let chars: Vec<char> = text.chars().collect();
    let start: String = chars[..kept].iter().collect();
    let start = if args.truth(1, false) {
        start.as_str()
    } else {
        start
            .rsplit_once(' ')
            .map_or(start.as_str(), |(words, _)| words)
    };
    Ok(pytext::like(value, format!("{start}{end}")))
}

/// `wordwrap(s, width=79, break_long_words=True, wrapstring='\n', break_on_hyphens=True)`.
fn wordwrap(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<String, Error> {
    let names = [
        "width",
        "break_long_words",
        "wrapstring",
        "break_on_hyphens",
    ];
    let args = Arguments::of(names, &args, &kwargs)?;
    let width = usize::try_from(args.int(0, 79)?).unwrap_or(0);
    if width == 0 {
        return Err(args.wrong_type(0));
    }
    let Some(text) = value.as_str() else {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{} cannot be wrapped", value.kind()),
        ));
    };
    let wrap_string = match args.some(2) {
        None => "\n",
        Some(_) => args.text(2, "\n")?,
    };
    let most = text.len() / width + text.split(pytext::is_space).count();
    work(text.len().saturating_mul(CHARACTER + LETTER))?;
    produce(most.saturating_mul(wrap_string.len() + OBJECT / 8))?;
    let wrapped: Vec<String> = pytext::lines(text, false)
        .map(|line| {
            wrapping::wrap(line, width, args.truth(1, true), args.truth(3, true)).join(wrap_string)
        })
        .collect();
    Ok(wrapped.join(wrap_string))
}

/// `filesizeformat(value, binary=False)`.
fn file_size(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<String, Error> {
    let args = Arguments::of(["binary"], &args, &kwargs)?;
    let bytes = match number(value) {
        Some(number) => Some(number.as_f64()),
        None => value
            .as_str()
            .and_then(|text| trim(text, None, true, true).parse().ok()),
    };
    let Some(bytes) = bytes else {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "what is no number has no size",
        ));
    };
    let (base, infix): (f64, &str) = if args.truth(0, false) {
        (1024.0, "i")
    } else {
        (1000.0, "")
    };
    if equal(&Value::from(bytes), &Value::from(1)) {
        return Ok("1 Byte".to_owned());
    }
    if bytes < base {
        return Ok(format!("{:.0} Bytes", bytes.trunc() + 0.0));
    }
    let kilo = if infix.is_empty() { "k" } else { "K" };
    let mut text = String::new();
    for (power, prefix) in (2..).zip([kilo, "M", "G", "T", "P", "E", "Z", "Y"]) {
        let unit = base.powi(power);
        text = format!("{:.1} {prefix}{infix}B", base * bytes / unit);
        if bytes < unit {
            break;
        }
    }
    Ok(text)
}
