//! Functions, filters and tests as transformers and Jinja2 have them.

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::cmp::Ordering;

use minijinja::formatting::FormatStyle;
use minijinja::value::{Kwargs, Rest, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, functions};

use super::context::BigInteger;
use super::dumps::{Style, dumps};
use super::generation;
use super::meter::{now, produce};
use super::operators::{Number, compare, iterate, number, private_attribute};
use super::pytext;
use super::refusal::Raised;
use super::strings::{formatted, replaced, trim};

/// The function that a `{% generation %}` block calls. No template can spell it by
/// accident.
pub(super) const GENERATION: &str = "__rolecall_generation";

/// The number one, which minijinja does not know to be a constant.
pub(super) const ONE: &str = "__rolecall_one";

/// What transformers adds to Jinja2's globals.
pub(super) fn add_globals(environment: &mut Environment<'_>) {
    environment.add_global(ONE, 1);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", |format: &str| now().strftime(format));
    environment.add_function(GENERATION, |state: &mut State<'_, '_>, kwargs: Kwargs| {
        let caller: Value = kwargs.get("caller")?;
        Ok(generation::block(caller.call(state, &[])?))
    });
}

/// Names that a template reads without anyone having to set them: what is above, Jinja2's
/// own globals, and what its blocks define.
pub(super) fn is_global(name: &str) -> bool {
    name.starts_with("__rolecall_")
        || [
            "raise_exception",
            "strftime_now",
            "namespace",
            "dict",
            "range",
            "lipsum",
            "cycler",
            "joiner",
            "loop",
            "caller",
            "varargs",
            "kwargs",
            "self",
        ]
        .contains(&name)
}

/// Where minijinja's filters and tests differ from Jinja2's.
pub(super) fn add_filters_and_tests(environment: &mut Environment<'_>) {
    environment.add_function("namespace", namespace);
    environment.add_function("dict", dict);
    environment.add_filter("tojson", tojson);
    environment.add_filter("length", length);
    environment.add_filter("count", length);
    environment.add_filter("items", items);
    environment.add_filter("default", default);
    environment.add_filter("d", default);
    environment.add_filter("int", int);
    environment.add_filter("float", float);
    environment.add_filter("string", |value: &Value| {
        pytext::like(value, pytext::str(value))
    });
    environment.add_filter("trim", trim_filter);
    environment.add_filter("sort", sort);
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    environment.add_filter("indent", indent);
    environment.add_filter("format", |text: &Value, args: Rest<Value>| {
        let text = pytext::str(text);
        formatted(FormatStyle::Printf, &text, &args)
    });
    environment.add_test("iterable", is_iterable);
    environment.add_test("sequence", is_sequence);
    environment.add_test("number", |value: &Value| {
        number(value).is_some() || is_big_integer(value)
    });
    environment.add_test("integer", |value: &Value| {
        value.is_integer() || is_big_integer(value)
    });
}

fn raise_exception(message: &Value) -> Result<Value, Error> {
    let message = pytext::str(message).into_owned();
    Err(Error::new(ErrorKind::InvalidOperation, message.clone()).with_source(Raised(message)))
}

/// The hardened namespace of transformers 5.23.
fn namespace(defaults: Option<ValueOrKwargs>) -> Result<Value, Error> {
    if let Some(defaults) = &defaults {
        let is_private = |name: &Value| name.as_str().is_some_and(|name| name.starts_with('_'));
        if defaults.try_iter()?.any(|name| is_private(&name)) {
            return Err(private_attribute());
        }
    }
    functions::namespace(defaults)
}

/// `dict(mapping or pairs, **kwargs)`.
fn dict(args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let mut pairs: Vec<(Value, Value)> = Vec::new();
    for value in args.iter() {
        let is_map = value.kind() == ValueKind::Map;
        for key in value.try_iter()? {
            if is_map {
                let item = value.get_item(&key)?;
                pairs.push((key, item));
                continue;
            }
            let pair: Vec<Value> = key.try_iter()?.collect();
            let [key, item] = pair.as_slice() else {
                return Err(wrong_argument("dict"));
            };
            pairs.push((key.clone(), item.clone()));
        }
    }
    Ok(Value::from_pairs(pairs))
}

/// `json.dumps(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
fn tojson(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let names = ["ensure_ascii", "indent", "separators", "sort_keys"];
    if args.len() > names.len() {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let argument = |position: usize| -> Result<Option<Value>, Error> {
        match (
            args.get(position),
            kwargs.get::<Option<Value>>(names[position])?,
        ) {
            (Some(_), Some(_)) => Err(Error::new(
                ErrorKind::TooManyArguments,
                format!("{} is given twice", names[position]),
            )),
            (Some(value), None) => Ok(Some(value.clone())),
            (None, given) => Ok(given),
        }
    };
    let mut style = Style::indented(None);
    style.ensure_ascii = argument(0)?.is_some_and(|value| value.is_true());
    if let Some(indent) = argument(1)?.filter(|value| !value.is_none()) {
        let width = match (indent.as_str(), number(&indent)) {
            (Some(text), _) => text.to_owned(),
            (None, Some(Number::Int(width))) => {
                let width = usize::try_from(width.max(0)).unwrap_or(usize::MAX);
                produce(width)?;
                " ".repeat(width)
            }
            _ => return Err(wrong_argument("indent")),
        };
        style.indent = Some(width);
        ",".clone_into(&mut style.item_separator);
    }
    if let Some(separators) = argument(2)?.filter(|value| !value.is_none()) {
        let pair: Vec<Value> = separators.try_iter()?.collect();
        let [item, key] = pair.as_slice() else {
            return Err(wrong_argument("separators"));
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        style.item_separator = text(item).ok_or_else(|| wrong_argument("separators"))?;
        style.key_separator = text(key).ok_or_else(|| wrong_argument("separators"))?;
    }
    style.sort_keys = argument(3)?.is_some_and(|value| value.is_true());
    kwargs.assert_all_used()?;
    dumps(value, &style).map(Value::from)
}

fn wrong_argument(name: &str) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("{name} has the wrong type"),
    )
}

/// `len(value)`; an undefined value has none.
fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    if let Some(text) = value.as_str() {
        return Ok(text.chars().count());
    }
    value.len().ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidOperation,
            format!("a value of type {} has no length", value.kind()),
        )
    })
}

/// `dict.items()`, of an undefined value none.
fn items(value: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Ok(Value::from(Vec::<Value>::new()));
    }
    minijinja::filters::items(value)
}

/// `default(value, default_value='', boolean=False)`.
fn default(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    if args.len() > 2 {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let otherwise = match args.first() {
        Some(value) => Some(value.clone()),
        None => kwargs.get("default_value")?,
    };
    let boolean = match args.get(1) {
        Some(value) => value.is_true(),
        None => kwargs
            .get::<Option<Value>>("boolean")?
            .is_some_and(|value| value.is_true()),
    };
    kwargs.assert_all_used()?;
    if value.is_undefined() || (boolean && !value.is_true()) {
        Ok(otherwise.unwrap_or_else(|| Value::from("")))
    } else {
        Ok(value.clone())
    }
}

/// `int(value, default=0, base=10)`: what is no number is the default, not an error; but
/// an undefined value cannot be asked.
fn int(
    value: &Value,
    default: Option<Value>,
    base: Option<u32>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let default = default
        .or(kwargs.get("default")?)
        .unwrap_or_else(|| Value::from(0));
    let base = base.or(kwargs.get("base")?).unwrap_or(10);
    kwargs.assert_all_used()?;
    defined(value)?;
    let parsed = match number(value) {
        Some(Number::Int(int)) => Some(int),
        Some(Number::Float(float)) => whole(float),
        None => value.as_str().and_then(|text| parse_int(text, base)),
    };
    Ok(parsed.map_or(default, |int| {
        i64::try_from(int).map_or_else(|_| Value::from(int), Value::from)
    }))
}

fn defined(value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    Ok(())
}

fn parse_int(text: &str, base: u32) -> Option<i128> {
    let digits = trim(text, None, true, true).replace('_', "");
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, digits.strip_prefix('+').unwrap_or(&digits)),
    };
    let lower = digits.to_ascii_lowercase();
    let digits = match base {
        2 => lower.strip_prefix("0b").unwrap_or(&lower),
        8 => lower.strip_prefix("0o").unwrap_or(&lower),
        16 => lower.strip_prefix("0x").unwrap_or(&lower),
        _ => &lower,
    };
    if !(2..=36).contains(&base) {
        return None;
    }
    match i128::from_str_radix(digits, base) {
        Ok(int) => Some(sign * int),
        // `int("1.9")` fails in Python, and Jinja2 then tries `int(float("1.9"))`.
        Err(_) => parse_float(text).and_then(whole),
    }
}

#[allow(clippy::cast_possible_truncation)] // bounds are checked
fn whole(float: f64) -> Option<i128> {
    (float.is_finite() && float.abs() < 1e38).then(|| float.trunc() as i128)
}

fn parse_float(text: &str) -> Option<f64> {
    trim(text, None, true, true).replace('_', "").parse().ok()
}

/// `float(value, default=0.0)`.
fn float(value: &Value, default: Option<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let default = default
        .or(kwargs.get("default")?)
        .unwrap_or_else(|| Value::from(0.0));
    kwargs.assert_all_used()?;
    defined(value)?;
    let parsed = match number(value) {
        Some(number) => Some(number.as_f64()),
        None => value.as_str().and_then(parse_float),
    };
    Ok(parsed.map_or(default, Value::from))
}

/// `str(value).strip(chars)`.
fn trim_filter(value: &Value, chars: Option<Value>) -> Result<Value, Error> {
    let text = pytext::str(value);
    let chars = chars.filter(|chars| !chars.is_none());
    match chars.as_ref().map(|chars| chars.as_str()) {
        Some(None) => Err(wrong_argument("chars")),
        chars => Ok(pytext::like(
            value,
            trim(&text, chars.flatten(), true, true),
        )),
    }
}

/// `sort(value, reverse=False, case_sensitive=False, attribute=None)`: values that Python
/// does not order cannot be sorted.
fn sort(
    value: &Value,
    reverse: Option<bool>,
    case_sensitive: Option<bool>,
    attribute: Option<Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let reverse = reverse.or(kwargs.get("reverse")?).unwrap_or(false);
    let case_sensitive = case_sensitive.or(kwargs.get("case_sensitive")?);
    let attribute = attribute.or(kwargs.get("attribute")?);
    kwargs.assert_all_used()?;
    let mut keyed = Vec::new();
    for item in iterate(value.clone())?.try_iter()? {
        let mut keys = match attribute.as_ref().filter(|attribute| !attribute.is_none()) {
            None => vec![item.clone()],
            Some(attribute) => sort_keys(&item, attribute)?,
        };
        if case_sensitive != Some(true) {
            for key in &mut keys {
                if let Some(text) = key.as_str() {
                    *key = Value::from(text.to_lowercase());
                }
            }
        }
        keyed.push((keys, item));
    }
    // Python sorts stably, in reverse too, and fails at the first pair without an order.
    let mut failure = None;
    keyed.sort_by(|(a, _), (b, _)| {
        let order = a
            .iter()
            .zip(b)
            .find(|(a, b)| a != b)
            .map_or(Ok(Ordering::Equal), |(a, b)| compare("<", a, b));
        let order = order.unwrap_or_else(|error| {
            failure.get_or_insert(error);
            Ordering::Equal
        });
        if reverse { order.reverse() } else { order }
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(keyed.into_iter().map(|(_, item)| item).collect()),
    }
}

/// The attributes that a value is sorted by: `a.b`, or several with commas between.
fn sort_keys(item: &Value, attribute: &Value) -> Result<Vec<Value>, Error> {
    let Some(names) = attribute.as_str() else {
        return Ok(vec![item.get_item(attribute)?]);
    };
    names
        .split(',')
        .map(|path| {
            path.split('.').try_fold(item.clone(), |value, name| {
                let index = name
                    .parse::<usize>()
                    .map_or_else(|_| name.into(), Value::from);
                value.get_item(&index)
            })
        })
        .collect()
}

/// `join(value, d='', attribute=None)`.
fn join(
    state: &mut State<'_, '_>,
    value: &Value,
    separator: Option<Value>,
    attribute: Option<Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let separator = separator.or(kwargs.get("d")?);
    let attribute = attribute.or(kwargs.get("attribute")?);
    kwargs.assert_all_used()?;
    let separator = separator.map_or_else(String::new, |value| pytext::str(&value).into_owned());
    let value = match attribute.filter(|attribute| !attribute.is_none()) {
        Some(attribute) => {
            let by = Kwargs::from_iter([("attribute", attribute)]);
            state.apply_filter("map", &[value.clone(), Value::from(by)])?
        }
        None => value.clone(),
    };
    if value.is_none() {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "none is not iterable",
        ));
    }
    let mut text = String::new();
    for (index, item) in value.try_iter()?.enumerate() {
        let item = pytext::str(&item);
        produce(item.len() + separator.len())?;
        if index > 0 {
            text.push_str(&separator);
        }
        text.push_str(&item);
    }
    Ok(Value::from(text))
}

/// `replace(s, old, new, count=None)`.
fn replace(
    value: &Value,
    old: &Value,
    new: &Value,
    count: Option<i64>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let count = count.or(kwargs.get("count")?);
    kwargs.assert_all_used()?;
    replaced(
        &pytext::str(value),
        &pytext::str(old),
        &pytext::str(new),
        count,
    )
}

/// `indent(s, width=4, first=False, blank=False)`.
fn indent(
    value: &Value,
    width: Option<Value>,
    first: Option<bool>,
    blank: Option<bool>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let width = width.or(kwargs.get("width")?);
    let first = first.or(kwargs.get("first")?).unwrap_or(false);
    let blank = blank.or(kwargs.get("blank")?).unwrap_or(false);
    kwargs.assert_all_used()?;
    let text = pytext::str(value);
    let indention = match width {
        None => "    ".to_owned(),
        Some(width) => match (width.as_str(), number(&width)) {
            (Some(text), _) => text.to_owned(),
            (None, Some(Number::Int(width))) => {
                let width = usize::try_from(width.max(0)).unwrap_or(usize::MAX);
                produce(width)?;
                " ".repeat(width)
            }
            _ => return Err(wrong_argument("width")),
        },
    };
    // Jinja2 (filters.py, `do_indent`) adds a line break before it splits the text, so
    // that a final one survives; and it joins the lines with `\n`, whatever they ended in.
    let with_end = format!("{text}\n");
    let mut lines = pytext::lines(&with_end, false).into_iter();
    let mut out = String::with_capacity(text.len());
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

fn is_big_integer(value: &Value) -> bool {
    value.downcast_object_ref::<BigInteger>().is_some()
}

/// Whether `iter(value)` would work.
fn is_iterable(value: &Value) -> bool {
    match value.kind() {
        ValueKind::None | ValueKind::Bool | ValueKind::Number | ValueKind::Plain => false,
        ValueKind::Undefined
        | ValueKind::String
        | ValueKind::Seq
        | ValueKind::Map
        | ValueKind::Iterable => true,
        _ => value.try_iter().is_ok(),
    }
}

/// Whether the value has a length and can be indexed: text and dictionaries too.
fn is_sequence(value: &Value) -> bool {
    matches!(
        value.kind(),
        ValueKind::Undefined | ValueKind::String | ValueKind::Seq | ValueKind::Map
    ) || (value.kind() == ValueKind::Iterable && value.len().is_some())
}
