//! Operators with Python's semantics.
//!
//! Each is a filter under a name that no template can spell; `expressions` puts them in
//! the place of minijinja's own.

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::cell::RefCell;

use minijinja::value::{Rest, Tuple, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State};

use super::comparisons::holds;
use super::formats::printf;
use super::generation;
use super::generator;
use super::helpers;
use super::literals;
use super::macros;
use super::markup::escaped;
use super::meter::{ITEM, OBJECT, SLOT, looked_up, produce, recursed, work};
use super::methods;
use super::namespaces;
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
    /// `namespace.attribute = …`
    SetAttribute,
    /// `[a, b]`
    List,
    /// `(a, b)`
    Tuple,
    /// `{a: b}`
    Map,
    /// The `*a` of a call.
    Splat,
    /// The `**a` of a call.
    KwargSplat,
    /// `loop.changed(a)` and `loop.cycle(a)`
    LoopMethod,
    /// What would read another template.
    OtherTemplate,
    /// Counts the names that were looked for.
    Tick,
    /// What a loop runs over that calls itself.
    Recurse,
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
            Operator::SetAttribute => "!.=",
            Operator::List => "![",
            Operator::Tuple => "!(",
            Operator::Map => "!{",
            Operator::Splat => "!*",
            Operator::KwargSplat => "!**",
            Operator::LoopMethod => "!loop.",
            Operator::OtherTemplate => "!template",
            Operator::Tick => "!tick",
            Operator::Recurse => "!recurse",
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
        Operator::SetAttribute.name(),
        |namespace: &Value, name: &str, value: &Value| namespaces::set(namespace, name, value),
    );
    literals::add(environment);
    environment.add_filter(
        Operator::Tick.name(),
        |state: &mut State<'_, '_>, scopes: usize, lookup: usize| {
            let steps = state.fuel_levels().map_or(0, |(consumed, _)| consumed);
            looked_up(steps, scopes, lookup)
        },
    );
    environment.add_filter(Operator::Recurse.name(), |items: Value| {
        recursed();
        iterate(items)
    });
    environment.add_filter(Operator::LoopMethod.name(), helpers::loop_method);
    environment.add_filter(
        Operator::OtherTemplate.name(),
        |_: &Value| -> Result<Value, Error> {
            Err(Error::new(
                ErrorKind::TemplateNotFound,
                "no loader for this environment specified",
            ))
        },
    );
    environment.add_filter(Operator::IsMissing.name(), macros::is_missing);
    environment.add_filter(Operator::TextOnly.name(), text_only);
    environment.add_filter(Operator::Bind.name(), macros::bind);
}

type Arithmetic = fn(Number, Number) -> Result<Value, Error>;

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

/// The value of a key that a dictionary has.
pub(super) fn entry(map: &Value, key: &Value) -> Option<Value> {
    map.as_object().and_then(|map| map.get_value(key))
}

/// `a[b]`, as Jinja2's sandbox looks it up: an item, or else the attribute of that name.
pub(super) fn item(value: &Value, key: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if let Some(text) = value.as_str() {
        if let Some(Number::Int(index)) = number(key) {
            let len = if index < 0 {
                work(text.len())?;
                text.chars().count()
            } else {
                0
            };
            let before = position(index, len).unwrap_or(0);
            work(before.saturating_mul(4).min(text.len()).saturating_mul(2))?;
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
    } else if methods::is_dictionary(value) {
        if key.as_str().is_none() {
            // A list has no hash, and what is nested deeply takes its time.
            let _ = hashable(key);
        }
        work(key.as_str().map_or(0, str::len).saturating_mul(4))?;
        if let Some(found) = entry(value, key) {
            return Ok(found);
        }
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
        let text = escaped(&text)?;
        generation::before_write(output)?;
        output.write_str(&text)?;
        return Ok(());
    }
    produce(text.len())?;
    generation::before_write(output)?;
    output.write_str(&text)?;
    Ok(())
}

fn plus(a: &Value, b: &Value) -> Result<Value, Error> {
    if let (Some(left), Some(right)) = (a.as_str(), b.as_str()) {
        return match (a.is_safe(), b.is_safe()) {
            (false, false) => joined([left, right].into_iter()),
            // A `Markup` (what `|safe` gives) escapes the plain text that is added to it,
            // on either side, also where nothing else is escaped.
            (true, false) => joined([left, &escaped(right)?].into_iter()).map(|text| safe(&text)),
            (false, true) => joined([&escaped(left)?, right].into_iter()).map(|text| safe(&text)),
            (true, true) => joined([left, right].into_iter()).map(|text| safe(&text)),
        };
    }
    match (number(a), number(b)) {
        (Some(a), Some(b)) => numbers::add(a, b),
        _ if is_tuple(a) && is_tuple(b) => Ok(Value::from(Tuple::from(appended(a, b)?))),
        _ if is_list(a) && is_list(b) => Ok(Value::from(appended(a, b)?)),
        _ => Err(unsupported("+", a, b)),
    }
}

/// The items of two lists, and no room for more.
fn appended(a: &Value, b: &Value) -> Result<Vec<Value>, Error> {
    let len = a.len().unwrap_or(0) + b.len().unwrap_or(0);
    work(ITEM * len / 4)?;
    produce(OBJECT + SLOT * len)?;
    let mut items = Vec::with_capacity(len);
    items.extend(a.try_iter()?);
    items.extend(b.try_iter()?);
    Ok(items)
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
    // However often, nothing stays nothing.
    let len = value.len().unwrap_or(0);
    let times = if len == 0 { 0 } else { times };
    let len = len.saturating_mul(times);
    work(len.saturating_mul(ITEM / 4))?;
    produce(len.saturating_mul(SLOT).saturating_add(OBJECT))?;
    let mut repeated = Vec::with_capacity(len);
    for _ in 0..times {
        repeated.extend(value.try_iter()?);
    }
    Ok(if is_tuple(value) {
        Value::from(Tuple::from(repeated))
    } else {
        Value::from(repeated)
    })
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
        work(ITEM * text.len())?;
        produce(OBJECT + SLOT * text.len())?;
        let mut characters = Vec::with_capacity(text.len());
        characters.extend(text.chars().map(Value::from));
        return Ok(Value::from(characters));
    }
    Ok(value)
}

/// What a loop runs over where every item comes apart: a text comes apart too.
fn iterate_pairs(value: Value) -> Result<Value, Error> {
    let value = iterate(value)?;
    let Ok(items) = value.try_iter() else {
        return Ok(value);
    };
    let len = value.len().unwrap_or(0);
    work(ITEM * len)?;
    let mut is_changed = false;
    let mut apart = Vec::with_capacity(len);
    for item in items {
        is_changed |= item.as_str().is_some() || generator::of(&item).is_some();
        apart.push(item);
    }
    if !is_changed {
        return Ok(value);
    }
    produce(OBJECT + SLOT * len)?;
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

pub(super) fn unsupported(operator: &str, a: &Value, b: &Value) -> Error {
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
