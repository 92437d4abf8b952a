//! Operators with Python's semantics.
//!
//! Each is a filter under a name that no template can spell; `instructions` puts them in
//! the place of minijinja's own.

use std::cell::RefCell;
use std::cmp::Ordering;

use minijinja::formatting::FormatStyle;
use minijinja::value::{Tuple, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State};

use super::generation;
use super::generator;
use super::meter::{produce, search};
use super::methods;
use super::pytext;
use super::strings::formatted;

/// An operator that is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `a + b`
    Add,
    /// `a ~ b`
    Concat,
    /// `a * b`
    Multiply,
    /// `a % b`
    Modulo,
    /// `a in b`
    In,
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterOrEqual,
    /// `a[b:c:d]`
    Slice,
    /// What `for` iterates over.
    Iterate,
    /// `a.items`, where dictionaries have a method of that name
    Attribute,
    /// `namespace._attribute = …`
    SetPrivate,
    /// A text that is not written, but captured, begins or ends.
    Capture,
}

impl Operator {
    /// The name of the operator's filter.
    pub(super) fn name(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Concat => "~",
            Operator::Multiply => "*",
            Operator::Modulo => "%",
            Operator::In => "in",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Slice => "[:]",
            Operator::Iterate => "for",
            Operator::Attribute => ".",
            Operator::SetPrivate => "._=",
            Operator::Capture => "{}",
        }
    }

    /// How many operands it takes from the stack.
    pub(super) fn operands(self) -> u16 {
        match self {
            Operator::Iterate | Operator::Capture => 1,
            Operator::Slice => 4,
            _ => 2,
        }
    }
}

/// Adds the operators to an environment.
pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_filter(Operator::Add.name(), plus);
    environment.add_filter(Operator::Concat.name(), concat);
    environment.add_filter(Operator::Multiply.name(), multiply);
    environment.add_filter(Operator::Modulo.name(), modulo);
    environment.add_filter(Operator::In.name(), is_in);
    environment.add_filter(Operator::Less.name(), |a: &Value, b: &Value| {
        compare("<", a, b).map(Ordering::is_lt)
    });
    environment.add_filter(Operator::LessOrEqual.name(), |a: &Value, b: &Value| {
        compare("<=", a, b).map(Ordering::is_le)
    });
    environment.add_filter(Operator::Greater.name(), |a: &Value, b: &Value| {
        compare(">", a, b).map(Ordering::is_gt)
    });
    environment.add_filter(Operator::GreaterOrEqual.name(), |a: &Value, b: &Value| {
        compare(">=", a, b).map(Ordering::is_ge)
    });
    environment.add_filter(Operator::Slice.name(), slice);
    environment.add_filter(Operator::Iterate.name(), iterate);
    environment.add_filter(Operator::Attribute.name(), methods::attribute);
    environment.add_filter(Operator::Capture.name(), generation::capture);
    environment.add_filter(
        Operator::SetPrivate.name(),
        |_: &Value, _: &Value| -> Result<Value, Error> { Err(private_attribute()) },
    );
}

/// `{{ value }}`: writes `str(value)`, and counts it.
pub(super) fn emit(
    output: &mut Output<'_>,
    _: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    let text = pytext::str(value);
    produce(text.len())?;
    generation::before_write(output)?;
    output.write_str(&text)?;
    Ok(())
}

/// transformers 5.23 hardens `namespace`: attributes with a leading underscore are a
/// `SecurityError` (`TemplateNamespace._check_name`).
pub(super) fn private_attribute() -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        "a namespace cannot store attributes that begin with an underscore",
    )
}

fn plus(a: &Value, b: &Value) -> Result<Value, Error> {
    if let (Some(left), Some(right)) = (a.as_str(), b.as_str()) {
        return match (a.is_safe(), b.is_safe()) {
            (false, false) => joined(left, right),
            // A `Markup` (what `|safe` gives) escapes the plain text that is added to it,
            // on either side, also where nothing else is escaped.
            (true, false) => joined(left, &escaped(right)).map(|text| safe(&text)),
            (false, true) => joined(&escaped(left), right).map(|text| safe(&text)),
            (true, true) => joined(left, right).map(|text| safe(&text)),
        };
    }
    match (number(a), number(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => {
            a.checked_add(b).map(integer).ok_or_else(|| too_large("+"))
        }
        (Some(a), Some(b)) => Ok(Value::from(a.as_f64() + b.as_f64())),
        _ if a.is_tuple() && b.is_tuple() => {
            produce(16 * (a.len().unwrap_or(0) + b.len().unwrap_or(0)))?;
            let items: Vec<Value> = a.try_iter()?.chain(b.try_iter()?).collect();
            Ok(Value::from(Tuple::from(items)))
        }
        _ if is_list(a) && is_list(b) => {
            produce(16 * (a.len().unwrap_or(0) + b.len().unwrap_or(0)))?;
            Ok(a.try_iter()?.chain(b.try_iter()?).collect())
        }
        _ => Err(unsupported("+", a, b)),
    }
}

fn concat(a: &Value, b: &Value) -> Result<Value, Error> {
    // Without auto-escaping Jinja2 joins the plain texts, of a `Markup` too.
    joined(&pytext::str(a), &pytext::str(b))
}

fn joined(a: &str, b: &str) -> Result<Value, Error> {
    thread_local! {
        /// Most texts that are joined are short, and minijinja copies them once more.
        static JOINED: RefCell<String> = const { RefCell::new(String::new()) };
    }
    const SHORT: usize = 4096;
    produce(a.len() + b.len())?;
    if a.len() + b.len() > SHORT {
        return Ok(Value::from([a, b].concat()));
    }
    Ok(JOINED.with_borrow_mut(|text| {
        text.clear();
        text.push_str(a);
        text.push_str(b);
        Value::from(text.as_str())
    }))
}

fn safe(text: &Value) -> Value {
    Value::from_safe_string(pytext::str(text).into_owned())
}

/// `markupsafe.escape`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    out
}

fn multiply(a: &Value, b: &Value) -> Result<Value, Error> {
    match (number(a), number(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => {
            a.checked_mul(b).map(integer).ok_or_else(|| too_large("*"))
        }
        (Some(a), Some(b)) => Ok(Value::from(a.as_f64() * b.as_f64())),
        (None, Some(Number::Int(times))) => repeat(a, times, b),
        (Some(Number::Int(times)), None) => repeat(b, times, a),
        _ => Err(unsupported("*", a, b)),
    }
}

/// Whether a value is in another: a text in a text, an item in a list, a key in a
/// dictionary. Nothing is in an undefined value.
fn is_in(item: &Value, container: &Value) -> Result<bool, Error> {
    if let (Some(item), Some(container)) = (item.as_str(), container.as_str()) {
        search(container.len())?;
        return Ok(container.contains(item));
    }
    match container.kind() {
        ValueKind::Undefined => Ok(false),
        ValueKind::Map => Ok(container
            .as_object()
            .is_some_and(|map| map.get_value(item).is_some())),
        ValueKind::Seq | ValueKind::Iterable => {
            search(16 * container.len().unwrap_or(0))?;
            Ok(container.try_iter()?.any(|other| other == *item))
        }
        kind => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{} in {kind} is not supported", item.kind()),
        )),
    }
}

/// The remainder has the divisor's sign, and a text is a printf format.
fn modulo(a: &Value, b: &Value) -> Result<Value, Error> {
    if let Some(format_text) = a.as_str() {
        let values: Vec<Value> = if b.is_tuple() {
            b.try_iter()?.collect()
        } else {
            vec![b.clone()]
        };
        let text = formatted(FormatStyle::Printf, format_text, &values)?;
        return Ok(pytext::like(a, pytext::str(&text)));
    }
    let by_zero = || Error::new(ErrorKind::InvalidOperation, "modulo by zero");
    match (number(a), number(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => {
            let remainder = a.checked_rem(b).ok_or_else(by_zero)?;
            let is_other_sign = remainder != 0 && (remainder < 0) != (b < 0);
            Ok(integer(if is_other_sign {
                remainder + b
            } else {
                remainder
            }))
        }
        (Some(a), Some(b)) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            if b == 0.0 {
                return Err(by_zero());
            }
            let remainder = a % b;
            let is_other_sign = remainder != 0.0 && (remainder < 0.0) != (b < 0.0);
            Ok(Value::from(if is_other_sign {
                remainder + b
            } else {
                remainder
            }))
        }
        _ => Err(unsupported("%", a, b)),
    }
}

fn repeat(value: &Value, times: i128, other: &Value) -> Result<Value, Error> {
    let times = usize::try_from(times.max(0)).unwrap_or(usize::MAX);
    if let Some(text) = value.as_str() {
        produce(text.len().saturating_mul(times))?;
        return Ok(Value::from(text.repeat(times)));
    }
    if !value.is_tuple() && !is_list(value) {
        return Err(unsupported("*", value, other));
    }
    let items: Vec<Value> = value.try_iter()?.collect();
    produce(items.len().saturating_mul(times).saturating_mul(16))?;
    let repeated: Vec<Value> = std::iter::repeat_n(items, times).flatten().collect();
    Ok(if value.is_tuple() {
        Value::from(Tuple::from(repeated))
    } else {
        Value::from(repeated)
    })
}

/// Python orders numbers with numbers, texts with texts, and lists with lists; anything
/// else is a `TypeError`.
pub(super) fn compare(operator: &str, a: &Value, b: &Value) -> Result<Ordering, Error> {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return Ok(a.cmp(b));
    }
    match (number(a), number(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => Ok(a.cmp(&b)),
        (Some(a), Some(b)) => {
            // A NaN compares false with everything, for which no ordering stands; equal
            // is what gives false for the two strict operators.
            Ok(a.as_f64()
                .partial_cmp(&b.as_f64())
                .unwrap_or(Ordering::Equal))
        }
        _ if (a.is_tuple() && b.is_tuple()) || (is_list(a) && is_list(b)) => {
            let (mut left, mut right) = (a.try_iter()?, b.try_iter()?);
            loop {
                return Ok(match (left.next(), right.next()) {
                    (None, None) => Ordering::Equal,
                    (None, Some(_)) => Ordering::Less,
                    (Some(_), None) => Ordering::Greater,
                    (Some(a), Some(b)) if a == b => continue,
                    (Some(a), Some(b)) => compare(operator, &a, &b)?,
                });
            }
        }
        _ => Err(unsupported(operator, a, b)),
    }
}

fn slice(value: &Value, start: &Value, end: &Value, step: &Value) -> Result<Value, Error> {
    let bounds = Bounds {
        start: slice_index(start)?,
        end: slice_index(end)?,
        step: slice_index(step)?.unwrap_or(1),
    };
    if bounds.step == 0 {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "slice step cannot be zero",
        ));
    }
    if let Some(text) = value.as_str() {
        produce(text.len())?;
        if let Some(part) = bounds.of_ascii(text) {
            return Ok(Value::from(part));
        }
        let chars: Vec<char> = text.chars().collect();
        let part: String = bounds.indices(chars.len()).map(|at| chars[at]).collect();
        return Ok(Value::from(part));
    }
    if !value.is_tuple() && !is_list(value) {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("value of type {} cannot be sliced", value.kind()),
        ));
    }
    let items: Vec<Value> = value.try_iter()?.collect();
    produce(16 * items.len())?;
    let part: Vec<Value> = bounds
        .indices(items.len())
        .map(|at| items[at].clone())
        .collect();
    Ok(if value.is_tuple() {
        Value::from(Tuple::from(part))
    } else {
        Value::from(part)
    })
}

/// The bounds of a slice, as they are written.
struct Bounds {
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
}

impl Bounds {
    /// The indices of a sequence that the slice takes (`slice.indices` in Python).
    fn indices(&self, len: usize) -> impl Iterator<Item = usize> + use<> {
        let step = self.step;
        let len = i64::try_from(len).unwrap_or(i64::MAX);
        let (lowest, highest) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let clamp = |index: i64| {
            let index = if index < 0 {
                index.saturating_add(len)
            } else {
                index
            };
            index.clamp(lowest, highest)
        };
        let (first, last) = if step > 0 {
            (lowest, highest)
        } else {
            (highest, lowest)
        };
        let start = self.start.map_or(first, clamp);
        let end = self.end.map_or(last, clamp);
        std::iter::successors(Some(start), move |at| at.checked_add(step))
            .take_while(move |at| if step > 0 { *at < end } else { *at > end })
            .filter_map(|at| usize::try_from(at).ok())
    }

    /// The common case without a list of characters: a step of one through ASCII.
    fn of_ascii<'t>(&self, text: &'t str) -> Option<&'t str> {
        if self.step != 1 || !text.is_ascii() {
            return None;
        }
        let mut indices = self.indices(text.len());
        let Some(start) = indices.next() else {
            return Some("");
        };
        let count = 1 + indices.count();
        text.get(start..start + count)
    }
}

fn slice_index(value: &Value) -> Result<Option<i64>, Error> {
    match number(value) {
        _ if value.is_none() => Ok(None),
        Some(Number::Int(index)) => Ok(Some(i64::try_from(index).unwrap_or(if index < 0 {
            i64::MIN
        } else {
            i64::MAX
        }))),
        _ => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("slice indices must be integers, not {}", value.kind()),
        )),
    }
}

/// What a loop runs over: `None` is not iterable, an undefined value is empty.
pub(super) fn iterate(value: Value) -> Result<Value, Error> {
    if value.is_none() {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "none is not iterable",
        ));
    }
    // A loop knows its length, of a generator too: Jinja2 makes a list of it. minijinja
    // does not know that of a text.
    if let Some(generator) = generator::of(&value) {
        return Ok(Value::from(generator.run()));
    }
    if let Some(text) = value.as_str() {
        produce(16 * text.len())?;
        return Ok(text.chars().map(Value::from).collect());
    }
    Ok(value)
}

/// A number as Python's arithmetic sees it: a boolean is an integer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    #[allow(clippy::cast_precision_loss)] // as in Python, where it meets a float
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Float(float) => float,
        }
    }
}

pub(super) fn number(value: &Value) -> Option<Number> {
    match value.kind() {
        ValueKind::Bool => Some(Number::Int(i128::from(value.is_true()))),
        ValueKind::Number if value.is_integer() => {
            i128::try_from(value.clone()).ok().map(Number::Int)
        }
        ValueKind::Number => f64::try_from(value.clone()).ok().map(Number::Float),
        _ => None,
    }
}

fn integer(int: i128) -> Value {
    i64::try_from(int).map_or_else(|_| Value::from(int), Value::from)
}

/// Lists, and the lazy sequences that minijinja gives where Python has lists.
fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
        && !value.is_tuple()
        && generator::of(value).is_none()
}

fn unsupported(operator: &str, a: &Value, b: &Value) -> Error {
    let kind = if a.is_undefined() || b.is_undefined() {
        ErrorKind::UndefinedError
    } else {
        ErrorKind::InvalidOperation
    };
    Error::new(
        kind,
        format!("{} {operator} {} is not supported", a.kind(), b.kind()),
    )
}

fn too_large(operator: &str) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("the result of {operator} is larger than 128 bits"),
    )
}
