//! Filters that give texts (Jinja2 3.1.6, `filters.py`).

use std::cmp::Ordering;

use minijinja::value::{Kwargs, Rest, Tuple, Value};
use minijinja::{Error, ErrorKind};

use crate::library::numbers::parse_float;
use crate::library::truncation;
use crate::library::vocabulary::Registry;
use crate::library::wrapping;
use crate::meter::produce;
use crate::python::arguments::{AllArguments, Arguments, count_of, wrong_type};
use crate::python::casing::capitalize;
use crate::python::characters::{is_space, lines};
use crate::python::comparisons::equal;
use crate::python::json::{JsonStyle, dumped};
use crate::python::markup::{escaped, like, without_tags};
use crate::python::numbers::{Number, number, size};
use crate::python::pretty::pretty;
use crate::python::printf::printf;
use crate::python::strings::{self, replaced, trimmed};
use crate::python::text;
use crate::refusal::invalid;

/// Adds the filters to a registry.
pub(super) fn add(registry: &mut Registry) {
    registry.filter("string", |value: &Value| like(value, text::str(value)));
    for (name, change) in [
        ("upper", str::to_uppercase as fn(&str) -> String),
        ("lower", str::to_lowercase),
        ("capitalize", capitalize),
    ] {
        registry.filter(name, move |value: &Value| {
            let text = text::str(value);
            strings::may_grow(&text)?;
            Ok::<_, Error>(like(value, change(&text)))
        });
    }
    registry.filter("title", |value: &Value| {
        let text = text::str(value);
        strings::may_grow(&text)?;
        Ok::<_, Error>(title(&text))
    });
    registry.filter("center", center);
    registry.filter("trim", trim_filter);
    registry.filter("replace", replace);
    registry.filter("indent", indent);
    registry.filter("format", format);
    registry.filter("truncate", truncation::truncate);
    registry.filter("wordcount", |value: &Value| {
        wrapping::words(&text::str(value))
    });
    registry.filter("wordwrap", wrapping::wordwrap);
    registry.filter("tojson", tojson);
    registry.filter("filesizeformat", file_size);
    registry.filter("pprint", pretty);
    registry.filter("safe", |value: &Value| {
        Value::from_safe_string(text::str(value).into_owned())
    });
    for name in ["escape", "e"] {
        registry.filter(name, |value: &Value| {
            if value.is_safe() {
                return Ok(value.clone());
            }
            escaped(&text::str(value)).map(Value::from_safe_string)
        });
    }
    registry.filter("forceescape", |value: &Value| {
        escaped(&text::str(value)).map(Value::from_safe_string)
    });
    registry.filter("striptags", |value: &Value| without_tags(&text::str(value)));
}

/// `title(value)`: the first letter of each word in upper case, the rest in lower case. A
/// word begins after white space, a hyphen or an opening bracket.
fn title(text: &str) -> String {
    let ends = |c: char| is_space(c) || "-({[<".contains(c);
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(ends) {
        let mut letters = word.chars();
        out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        // How a sigma looks depends on the word.
        out.push_str(&letters.as_str().to_lowercase());
    }
    out
}

/// `center(value, width=80)`
fn center(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["width"], &args, &kwargs)?;
    let width = Value::from(match args.get(0).and_then(number) {
        Some(Number::Int(width)) => size(width)?,
        _ => usize::try_from(args.int(0, 80)?).unwrap_or(0),
    });
    strings::call(&text::str(value), "center", &[width])
        .unwrap_or_else(|| Err(Error::from(ErrorKind::UnknownMethod)))
        .map(|text| like(value, text::str(&text)))
}

/// `str(value).strip(chars)`.
fn trim_filter(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["chars"], &args, &kwargs)?;
    let text = text::str(value);
    match args.some(0).map(Value::as_str) {
        Some(None) => Err(args.wrong_type(0)),
        chars => Ok(like(value, trimmed(&text, chars.flatten(), true, true)?)),
    }
}

/// `replace(s, old, new, count=None)`.
fn replace(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["old", "new", "count"], &args, &kwargs)?;
    let count = args.some(2).map(count_of).transpose()?;
    replaced(
        &text::str(value),
        &text::str(args.required(0)?),
        &text::str(args.required(1)?),
        count,
    )
}

/// `indent(s, width=4, first=False, blank=False)`.
fn indent(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["width", "first", "blank"], &args, &kwargs)?;
    let (first, blank) = (args.truth(1, false), args.truth(2, false));
    let Some(text) = value.as_str() else {
        return Err(invalid(format!("{} cannot be indented", value.kind())));
    };
    let indention = match args.get(0) {
        None => "    ".to_owned(),
        Some(width) => indention("width", width)?,
    };
    // Jinja2 (filters.py, `do_indent`) adds a line break before it splits the text, so a final line
    // break survives. It joins the lines with `\n`, whatever their old ends were.
    let with_end = format!("{text}\n");
    let mut lines = lines(&with_end, false);
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
    Ok(like(value, out))
}

/// The indentation of a line, from an argument of this name: the text itself, or a number of
/// spaces.
fn indention(name: &str, width: &Value) -> Result<String, Error> {
    match (width.as_str(), number(width)) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(Number::Int(width))) => {
            let width = size(width)?;
            produce(width)?;
            Ok(" ".repeat(width))
        }
        _ => Err(wrong_type(name)),
    }
}

/// `format(value, *args, **kwargs)`: printf's formats, with values or with names.
fn format(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let text = text::str(value);
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
    Ok(like(value, printf(&text, &values, value.is_safe())?))
}

/// `filesizeformat(value, binary=False)`.
fn file_size(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<String, Error> {
    let args = Arguments::of(["binary"], &args, &kwargs)?;
    let bytes = match number(value) {
        Some(number) => Some(number.as_f64()),
        None => value.as_str().and_then(parse_float),
    };
    let Some(bytes) = bytes else {
        return Err(invalid("what is no number has no size"));
    };
    let (base, infix): (i128, &str) = if args.truth(0, false) {
        (1024, "i")
    } else {
        (1000, "")
    };
    let is_less = |than| Number::Float(bytes).compare(Number::Int(than)) == Some(Ordering::Less);
    if equal(&Value::from(bytes), &Value::from(1)) {
        return Ok("1 Byte".to_owned());
    }
    if is_less(base) {
        return Ok(format!("{:.0} Bytes", bytes.trunc() + 0.0));
    }
    let kilo = if infix.is_empty() { "k" } else { "K" };
    let mut text = String::new();
    for (power, prefix) in (2..).zip([kilo, "M", "G", "T", "P", "E", "Z", "Y"]) {
        let unit = base.pow(power);
        let size = Number::Int(base).as_f64() * bytes / Number::Int(unit).as_f64();
        text = format!("{size:.1} {prefix}{infix}B");
        // Python compares a float with an integer exactly.
        if is_less(unit) {
            break;
        }
    }
    Ok(text)
}

/// `json.dumps(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
fn tojson(value: &Value, args: AllArguments<'_>) -> Result<Value, Error> {
    let names = ["ensure_ascii", "indent", "separators", "sort_keys"];
    let args = Arguments::of_call(names, args.0)?;
    let mut style = JsonStyle::indented(None);
    style.ensure_ascii = args.truth(0, false);
    // A text is written without a look at what is only for lists and dictionaries.
    let is_text = value.as_str().is_some();
    if let Some(indent) = args.some(1).filter(|_| !is_text) {
        style.indent = Some(indention("indent", indent)?);
        style.item_separator = ",".into();
    }
    if let Some(separators) = args.some(2) {
        let pair: Vec<Value> = separators.try_iter()?.take(3).collect();
        let [item, key] = pair.as_slice() else {
            return Err(wrong_type("separators"));
        };
        if is_text {
            return dumped(value, &style);
        }
        let text = |value: &Value| value.as_str().map(|text| text.to_owned().into());
        style.item_separator = text(item).ok_or_else(|| wrong_type("separators"))?;
        style.key_separator = text(key).ok_or_else(|| wrong_type("separators"))?;
    }
    style.sort_keys = args.truth(3, false);
    dumped(value, &style)
}
