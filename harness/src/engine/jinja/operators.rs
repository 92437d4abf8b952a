//! Operators with Python's semantics.
//!
//! Each is a filter under a name that no template can spell; `expressions` puts them in
//! the place of minijinja's own.

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::cell::RefCell;
use std::cmp::Ordering;

use minijinja::value::{Rest, Tuple, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, tests};

use super::formats::printf;
use super::generation;
use super::generator;
use super::macros;
use super::markup::escaped;
use super::meter::{produce, work};
use super::methods;
use super::numbers::{self, Number, number};
use super::pytext;
use super::sequences::hashable;
use super::slices::{slice, slice_constant};
use super::views::{self, is_range};

/// An operator that is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `a + b`
    Add,
    /// `a + b + c`
    Add3,
    /// `a + b + c + d`
    Add4,
    /// `a + b + c + d + e`
    Add5,
    /// `a - b`
    Subtract,
    /// `a ~ b`
    Concat,
    /// `a ~ b ~ c`
    Concat3,
    /// `a ~ b ~ c ~ d`
    Concat4,
    /// `a ~ b ~ c ~ d ~ e`
    Concat5,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a // b`
    FloorDivide,
    /// `a % b`
    Modulo,
    /// `a ** b`
    Power,
    /// `-a`
    Negate,
    /// `a in b`
    In,
    /// `a not in b`
    NotIn,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterOrEqual,
    /// `a < b == c`, with the operators' names between the operands
    Chain,
    /// `a[b:c:d]`
    Slice,
    /// `a[b:c:d]` of constants
    SliceConstant,
    /// `a[b]`
    Item,
    /// What `for` iterates over, and what comes apart.
    Iterate,
    /// What `for` iterates over where every item comes apart.
    IteratePairs,
    /// `a.items`, where Python's types have a method of that name
    Attribute,
    /// `namespace._attribute = …`
    SetPrivate,
    /// Whether a macro was not given an argument.
    IsMissing,
    /// What filter and call blocks write: a text and nothing else.
    TextOnly,
    /// A macro under its signature.
    Bind,
    /// A text that is not written, but captured, begins or ends.
    Capture,
}

impl Operator {
    /// The name of the operator's filter. minijinja looks it up in an ordered map in every
    /// macro that is called: what is used most comes first.
    pub(super) fn name(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Add3 => "!+3",
            Operator::Add4 => "!+4",
            Operator::Add5 => "!+5",
            Operator::Subtract => "-",
            Operator::Concat => "~",
            Operator::Concat3 => "~3",
            Operator::Concat4 => "~4",
            Operator::Concat5 => "~5",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Modulo => "%",
            Operator::Power => "**",
            Operator::Negate => "-a",
            Operator::In => "!<-",
            Operator::NotIn => "!</",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Chain => "<==",
            Operator::Slice => "![:]",
            Operator::SliceConstant => "1[:]",
            Operator::Item => "![]",
            Operator::Iterate => "!for",
            Operator::IteratePairs => "!for,",
            Operator::Attribute => "!.",
            Operator::SetPrivate => "._=",
            Operator::IsMissing => "!?",
            Operator::TextOnly => "!t",
            Operator::Bind => "!m",
            Operator::Capture => "!{}",
        }
    }
}

/// Adds the operators to an environment.
pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_filter(Operator::Add.name(), plus);
    environment.add_filter(Operator::Concat.name(), |a: &Value, b: &Value| {
        concat(&[a, b])
    });
    environment.add_filter(Operator::Add3.name(), |a: &Value, b: &Value, c: &Value| {
        sum(&[a, b, c])
    });
    environment.add_filter(
        Operator::Add4.name(),
        |a: &Value, b: &Value, c: &Value, d: &Value| sum(&[a, b, c, d]),
    );
    environment.add_filter(
        Operator::Add5.name(),
        |a: &Value, b: &Value, c: &Value, d: &Value, e: &Value| sum(&[a, b, c, d, e]),
    );
    environment.add_filter(
        Operator::Concat3.name(),
        |a: &Value, b: &Value, c: &Value| concat(&[a, b, c]),
    );
    environment.add_filter(
        Operator::Concat4.name(),
        |a: &Value, b: &Value, c: &Value, d: &Value| concat(&[a, b, c, d]),
    );
    environment.add_filter(
        Operator::Concat5.name(),
        |a: &Value, b: &Value, c: &Value, d: &Value, e: &Value| concat(&[a, b, c, d, e]),
    );
    environment.add_filter(Operator::Multiply.name(), multiply);
    environment.add_filter(Operator::Modulo.name(), modulo);
    for (operator, of_numbers) in [
        (Operator::Subtract, numbers::subtract as Arithmetic),
        (Operator::Divide, numbers::divide),
        (Operator::FloorDivide, numbers::floor_divide),
        (Operator::Power, numbers::power),
    ] {
        environment.add_filter(operator.name(), move |a: &Value, b: &Value| {
            match (number(a), number(b)) {
                (Some(a), Some(b)) => of_numbers(a, b),
                _ => Err(unsupported(operator.name(), a, b)),
            }
        });
    }
    environment.add_filter(Operator::Negate.name(), |a: &Value| match number(a) {
        Some(number) => numbers::negate(number),
        None => Err(unsupported("-", a, a)),
    });
    for operator in [
        Operator::In,
        Operator::NotIn,
        Operator::Equal,
        Operator::NotEqual,
        Operator::Less,
        Operator::LessOrEqual,
        Operator::Greater,
        Operator::GreaterOrEqual,
    ] {
        environment.add_filter(operator.name(), move |a: &Value, b: &Value| {
            holds(operator, a, b)
        });
    }
    environment.add_filter(Operator::Chain.name(), chain);
    environment.add_filter(Operator::Slice.name(), slice);
    environment.add_filter(Operator::SliceConstant.name(), slice_constant);
    environment.add_filter(Operator::Item.name(), item);
    environment.add_filter(Operator::Iterate.name(), iterate);
    environment.add_filter(Operator::IteratePairs.name(), iterate_pairs);
    environment.add_filter(Operator::Attribute.name(), methods::attribute);
    environment.add_filter(Operator::Capture.name(), generation::capture);
    environment.add_filter(
        Operator::SetPrivate.name(),
        |_: &Value| -> Result<Value, Error> { Err(private_attribute()) },
    );
    environment.add_filter(Operator::IsMissing.name(), macros::is_missing);
    environment.add_filter(Operator::TextOnly.name(), text_only);
    environment.add_filter(Operator::Bind.name(), macros::bind);
}

type Arithmetic = fn(Number, Number) -> Result<Value, Error>;

/// Whether a comparison holds.
pub(super) fn holds(operator: Operator, a: &Value, b: &Value) -> Result<bool, Error> {
    match operator {
        Operator::Equal => Ok(equal(a, b)),
        Operator::NotEqual => Ok(!equal(a, b)),
        Operator::In => is_in(a, b),
        Operator::NotIn => is_in(a, b).map(|is_in| !is_in),
        ordering => {
            let order = compare(ordering.name(), a, b)?;
            Ok(order.is_some_and(|order| match ordering {
                Operator::Less => order.is_lt(),
                Operator::LessOrEqual => order.is_le(),
                Operator::Greater => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
    }
}

/// `a < b == c`
fn chain(state: &mut State<'_, '_>, first: Value, rest: Rest<Value>) -> Result<bool, Error> {
    let mut left = first;
    for step in rest.chunks(2) {
        let [operator, right] = step else { break };
        let operator = operator.as_str().unwrap_or_default();
        let compared = state.apply_filter(operator, &[left, right.clone()])?;
        if !compared.is_true() {
            return Ok(false);
        }
        left = right.clone();
    }
    Ok(true)
}

/// `a == b`: values of different types are not equal, apart from numbers.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return a.compare(b) == Some(Ordering::Equal);
    }
    if a.kind() != b.kind() && !(is_list(a) && is_list(b)) {
        return false;
    }
    match a.kind() {
        ValueKind::Undefined | ValueKind::None => true,
        ValueKind::Seq | ValueKind::Iterable if generator::of(a).is_none() => {
            if is_tuple(a) != is_tuple(b) || is_range(a) != is_range(b) || a.len() != b.len() {
                return false;
            }
            match (a.try_iter(), b.try_iter()) {
                (Ok(a), Ok(b)) => a.zip(b).all(|(a, b)| equal(&a, &b)),
                _ => false,
            }
        }
        ValueKind::Map if methods::is_dictionary(a) && methods::is_dictionary(b) => {
            a.len() == b.len()
                && a.try_iter().is_ok_and(|mut keys| {
                    keys.all(|key| {
                        let (Some(a), Some(b)) = (entry(a, &key), entry(b, &key)) else {
                            return false;
                        };
                        equal(&a, &b)
                    })
                })
        }
        // Everything else is equal to itself only.
        _ => match (a.as_object(), b.as_object()) {
            (Some(_), Some(_)) => tests::is_sameas(a, b),
            _ => a == b,
        },
    }
}

/// The value of a key that a dictionary has.
fn entry(map: &Value, key: &Value) -> Option<Value> {
    map.as_object().and_then(|map| map.get_value(key))
}

/// `a[b]`, as Jinja2's sandbox looks it up: an item, or else the attribute of that name.
pub(super) fn item(value: &Value, key: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if let Some(text) = value.as_str() {
        if let Some(Number::Int(index)) = number(key) {
            let len = if index < 0 { text.chars().count() } else { 0 };
            let found = position(index, len).and_then(|at| text.chars().nth(at));
            return Ok(found.map_or(Value::UNDEFINED, |c| pytext::like(value, c.to_string())));
        }
    } else if is_tuple(value) || is_list(value) || is_range(value) {
        if let Some(Number::Int(index)) = number(key) {
            let found = position(index, value.len().unwrap_or(0));
            if is_range(value) {
                let item = found.and_then(|at| views::range_item(value, at));
                return Ok(item.unwrap_or_default());
            }
            return found.map_or(Ok(Value::UNDEFINED), |at| value.get_item(&Value::from(at)));
        }
    } else if methods::is_dictionary(value)
        && let Some(found) = entry(value, key)
    {
        return Ok(found);
    }
    match key.as_str() {
        Some(name) => methods::attribute(value, name),
        None => Ok(Value::UNDEFINED),
    }
}

/// An index from the front, of one from the back too.
fn position(index: i128, len: usize) -> Option<usize> {
    if index < 0 {
        usize::try_from(index.checked_add(i128::try_from(len).ok()?)?).ok()
    } else {
        usize::try_from(index).ok()
    }
}

/// `{{ value }}`: writes `str(value)`, and counts it. Within `{% autoescape true %}` it is
/// escaped, unless it is a `Markup`.
pub(super) fn emit(
    output: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    let text = pytext::str(value);
    if !matches!(state.auto_escape(), AutoEscape::None) && !value.is_safe() {
        let text = escaped(&text);
        produce(text.len())?;
        generation::before_write(output)?;
        output.write_str(&text)?;
        return Ok(());
    }
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
            (false, false) => joined([left, right].into_iter()),
            // A `Markup` (what `|safe` gives) escapes the plain text that is added to it,
            // on either side, also where nothing else is escaped.
            (true, false) => joined([left, &escaped(right)].into_iter()).map(|text| safe(&text)),
            (false, true) => joined([&escaped(left), right].into_iter()).map(|text| safe(&text)),
            (true, true) => joined([left, right].into_iter()).map(|text| safe(&text)),
        };
    }
    match (number(a), number(b)) {
        (Some(a), Some(b)) => numbers::add(a, b),
        _ if is_tuple(a) && is_tuple(b) => {
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

/// `a + b + …`, from the left. Texts are put together at once.
fn sum(values: &[&Value]) -> Result<Value, Error> {
    if values
        .iter()
        .all(|value| value.as_str().is_some() && !value.is_safe())
    {
        return joined(values.iter().filter_map(|value| value.as_str()));
    }
    let Some((first, rest)) = values.split_first() else {
        return Ok(Value::UNDEFINED);
    };
    rest.iter()
        .try_fold(Value::clone(first), |left, right| plus(&left, right))
}

fn concat(values: &[&Value]) -> Result<Value, Error> {
    // Without auto-escaping Jinja2 joins the plain texts, of a `Markup` too.
    if values.iter().all(|value| value.as_str().is_some()) {
        return joined(values.iter().filter_map(|value| value.as_str()));
    }
    let texts: Vec<_> = values.iter().map(|value| pytext::str(value)).collect();
    joined(texts.iter().map(AsRef::as_ref))
}

fn joined<'t>(parts: impl Iterator<Item = &'t str> + Clone) -> Result<Value, Error> {
    thread_local! {
        /// Most texts that are joined are short, and minijinja copies them once more.
        static JOINED: RefCell<String> = const { RefCell::new(String::new()) };
    }
    const SHORT: usize = 4096;
    let len = parts.clone().map(str::len).sum();
    produce(len)?;
    if len > SHORT {
        return Ok(Value::from(parts.collect::<String>()));
    }
    Ok(JOINED.with_borrow_mut(|text| {
        text.clear();
        text.extend(parts);
        Value::from(text.as_str())
    }))
}

fn safe(text: &Value) -> Value {
    Value::from_safe_string(pytext::str(text).into_owned())
}

fn multiply(a: &Value, b: &Value) -> Result<Value, Error> {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => numbers::multiply(a, b),
        (None, Some(Number::Int(times))) => repeat(a, times, b),
        (Some(Number::Int(times)), None) => repeat(b, times, a),
        _ => Err(unsupported("*", a, b)),
    }
}

/// Whether a value is in another: a text in a text, an item in a list, a key in a
/// dictionary. Nothing is in an undefined value.
fn is_in(item: &Value, container: &Value) -> Result<bool, Error> {
    if let (Some(item), Some(container)) = (item.as_str(), container.as_str()) {
        work(container.len())?;
        return Ok(container.contains(item));
    }
    match container.kind() {
        ValueKind::Undefined => Ok(false),
        ValueKind::Map => {
            if item.as_str().is_none() {
                hashable(item)?;
            }
            Ok(entry(container, item).is_some())
        }
        ValueKind::Iterable if generator::of(container).is_some() => {
            let items = iterate(container.clone())?;
            Ok(items.try_iter()?.any(|other| equal(&other, item)))
        }
        ValueKind::Seq | ValueKind::Iterable => {
            work(16 * container.len().unwrap_or(0))?;
            Ok(container.try_iter()?.any(|other| equal(&other, item)))
        }
        kind => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{} in {kind} is not supported", item.kind()),
        )),
    }
}

/// The remainder has the divisor's sign, and a text is a printf format.
fn modulo(a: &Value, b: &Value) -> Result<Value, Error> {
    if let Some(text) = a.as_str() {
        return Ok(pytext::like(a, printf(text, b)?));
    }
    match (number(a), number(b)) {
        (Some(a), Some(b)) => numbers::modulo(a, b),
        _ => Err(unsupported("%", a, b)),
    }
}

fn repeat(value: &Value, times: i128, other: &Value) -> Result<Value, Error> {
    let times = numbers::size(times)?;
    if let Some(text) = value.as_str() {
        produce(text.len().saturating_mul(times))?;
        return Ok(Value::from(text.repeat(times)));
    }
    if !is_tuple(value) && !is_list(value) {
        return Err(unsupported("*", value, other));
    }
    let items: Vec<Value> = value.try_iter()?.collect();
    // However often, nothing stays nothing.
    let times = if items.is_empty() { 0 } else { times };
    produce(items.len().saturating_mul(times).saturating_mul(16))?;
    let repeated: Vec<Value> = std::iter::repeat_n(items, times).flatten().collect();
    Ok(if is_tuple(value) {
        Value::from(Tuple::from(repeated))
    } else {
        Value::from(repeated)
    })
}

/// Python orders numbers with numbers, texts with texts, and lists with lists; anything
/// else is a `TypeError`. A NaN has no place in the order.
pub(super) fn compare(operator: &str, a: &Value, b: &Value) -> Result<Option<Ordering>, Error> {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return Ok(Some(a.cmp(b)));
    }
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return Ok(a.compare(b));
    }
    let is_ordered = (is_tuple(a) && is_tuple(b)) || (is_list(a) && is_list(b));
    if !is_ordered {
        return Err(unsupported(operator, a, b));
    }
    let (mut left, mut right) = (a.try_iter()?, b.try_iter()?);
    loop {
        return Ok(match (left.next(), right.next()) {
            (None, None) => Some(Ordering::Equal),
            (None, Some(_)) => Some(Ordering::Less),
            (Some(_), None) => Some(Ordering::Greater),
            (Some(a), Some(b)) if equal(&a, &b) => continue,
            (Some(a), Some(b)) => compare(operator, &a, &b)?,
        });
    }
}

/// Jinja2 writes it without `str()`, and what is no text cannot be joined with the rest.
fn text_only(value: Value) -> Result<Value, Error> {
    if value.as_str().is_some() {
        return Ok(value);
    }
    Err(Error::new(
        ErrorKind::InvalidOperation,
        format!("expected a text, found {}", value.kind()),
    ))
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
        return generator.run().map(Value::from);
    }
    if let Some(text) = value.as_str() {
        produce(16 * text.len())?;
        return Ok(text.chars().map(Value::from).collect());
    }
    Ok(value)
}

/// What a loop runs over where every item comes apart: a text comes apart too.
fn iterate_pairs(value: Value) -> Result<Value, Error> {
    let value = iterate(value)?;
    let Ok(items) = value.try_iter() else {
        return Ok(value);
    };
    let mut is_changed = false;
    let mut apart = Vec::new();
    for item in items {
        is_changed |= item.as_str().is_some() || generator::of(&item).is_some();
        apart.push(item);
    }
    if !is_changed {
        return Ok(value);
    }
    apart.into_iter().map(iterate).collect()
}

/// Whether a value is what Python has a `list` for.
pub(super) fn is_list(value: &Value) -> bool {
    value.kind() == ValueKind::Seq && !value.is_tuple() && !generator::is_group(value)
}

/// Whether a value is a `tuple`, or what `groupby` gives, which is one.
pub(super) fn is_tuple(value: &Value) -> bool {
    value.is_tuple() || generator::is_group(value)
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
