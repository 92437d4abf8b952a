//! The functions that a template can call: Go's own and Ollama's four.
//!
//! Source: text/template/funcs.go of Go 1.26, and `funcs` of Ollama's
//! template/template.go; `yesterdayDate` since 2025-12.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::error::Error;
use crate::format;
use crate::json;
use crate::meter::{Meter, Sink, WriteResult};
use crate::printf;
use crate::quote;
use crate::tools;
use crate::values::{StructKind, Text, Value};
use rolecall_core::Moment;
use rolecall_core::provenance::InputKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// `any`: a missing value becomes nil.
    Anything,
    /// `string`.
    Text,
    /// `reflect.Value`: takes the value as it is.
    Value,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) fixed: &'static [Parameter],
    pub(crate) others: Option<Parameter>,
    /// Whether it is Ollama's own. The cut tree of the last legacy turn does not have it.
    pub(crate) is_ollamas: bool,
}

const fn function(
    name: &'static str,
    fixed: &'static [Parameter],
    others: Option<Parameter>,
) -> Function {
    Function {
        name,
        fixed,
        others,
        is_ollamas: false,
    }
}

const fn ollamas(
    name: &'static str,
    fixed: &'static [Parameter],
    others: Option<Parameter>,
) -> Function {
    Function {
        is_ollamas: true,
        ..function(name, fixed, others)
    }
}

const ONE: &[Parameter] = &[Parameter::Value];
const TWO: &[Parameter] = &[Parameter::Value, Parameter::Value];

const FUNCTIONS: &[Function] = &[
    function("eq", ONE, Some(Parameter::Value)),
    function("and", ONE, Some(Parameter::Value)),
    function("or", ONE, Some(Parameter::Value)),
    function("not", ONE, None),
    function("ne", TWO, None),
    function("len", ONE, None),
    function("index", ONE, Some(Parameter::Value)),
    ollamas("json", &[Parameter::Anything], None),
    ollamas("currentDate", &[], Some(Parameter::Text)),
    ollamas("yesterdayDate", &[], Some(Parameter::Text)),
    ollamas("toTypeScriptType", &[Parameter::Anything], None),
    function("slice", ONE, Some(Parameter::Value)),
    function("printf", &[Parameter::Text], Some(Parameter::Anything)),
    function("print", &[], Some(Parameter::Anything)),
    function("println", &[], Some(Parameter::Anything)),
    function("lt", TWO, None),
    function("le", TWO, None),
    function("gt", TWO, None),
    function("ge", TWO, None),
    function("html", &[], Some(Parameter::Anything)),
    function("js", &[], Some(Parameter::Anything)),
    function("urlquery", &[], Some(Parameter::Anything)),
    function("call", ONE, Some(Parameter::Value)),
];

pub(crate) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// The work to call any function.
const CALL: usize = 50;

/// The work to write a date.
const DATE: usize = 3000;

/// Calls a function whose arguments fit its parameters. `and` and `or` do not come here: they
/// evaluate their arguments one by one.
pub(crate) fn call(
    name: &'static str,
    arguments: &[Value],
    now: Moment,
    meter: &mut Meter,
) -> Result<Value, Error> {
    let first = arguments.first().unwrap_or(&Value::Absent);
    let others = arguments.get(1..).unwrap_or_default();
    meter.work(CALL)?;
    let mut write = |write: &dyn Fn(&mut Sink<'_>) -> WriteResult| -> Result<Value, Error> {
        let mut out = Sink::new(meter);
        out.by(name, write)?;
        Ok(Value::Text(out.into_text()))
    };
    Ok(match name {
        "eq" => Value::Bool(eq(first, others)?),
        "ne" => Value::Bool(!eq(first, others)?),
        "lt" => Value::Bool(order(first, &others[0])? == Some(Ordering::Less)),
        "le" => Value::Bool(at_most(first, &others[0])?),
        "gt" => Value::Bool(!at_most(first, &others[0])?),
        "ge" => Value::Bool(order(first, &others[0])? != Some(Ordering::Less)),
        "not" => Value::Bool(!first.truth()),
        "len" => Value::Int(len(first)?),
        "index" => index(first, others, meter)?,
        "slice" => slice(first, others, meter)?,
        "json" => write(&|out| json::marshal(out, first))?,
        "currentDate" => {
            meter.work(DATE)?;
            date(name, now, meter)
        }
        "yesterdayDate" => {
            meter.work(DATE)?;
            date(name, now.yesterday(), meter)
        }
        "toTypeScriptType" => match first {
            Value::Struct(structure) if structure.kind == StructKind::Property => {
                write(&|out| tools::typescript(out, structure))?
            }
            _ => Value::text("any"),
        },
        "printf" => match first {
            Value::Text(layout) => write(&|out| printf::sprintf(out, layout, others))?,
            _ => Value::text(""),
        },
        "print" => write(&|out| format::sprint(out, arguments))?,
        "println" => write(&|out| format::sprintln(out, arguments))?,
        "html" => write(&|out| escaped(out, arguments, quote::html))?,
        "js" => write(&|out| escaped(out, arguments, quote::js))?,
        "urlquery" => write(&|out| escaped(out, arguments, quote::urlquery))?,
        _ => {
            return Err(Error::new(match first {
                Value::Absent => "call of nil".to_owned(),
                other => format!("non-function of type {}", other.type_name()),
            }));
        }
    })
}

/// A date, which comes from the clock.
fn date(name: &str, day: Moment, meter: &mut Meter) -> Value {
    let text = Text::from(day.strftime("%Y-%m-%d").as_bytes());
    if let Some(trace) = &mut meter.trace {
        trace.add_whole_text(&text, InputKind::Clock, name);
    }
    Value::Text(text)
}

/// The output of `print`, escaped.
fn escaped(
    out: &mut Sink<'_>,
    arguments: &[Value],
    escape: fn(&mut Sink<'_>, &[u8]) -> WriteResult,
) -> WriteResult {
    if let [Value::Text(text)] = arguments {
        return escape(out, text);
    }
    let text = out.aside(|side| format::sprint_printable(side, arguments))?;
    escape(out, &text)
}

/// The kinds that Go's comparisons tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Basic {
    Bool,
    Integer,
    Float,
    Text,
    Other,
}

fn basic(value: &Value) -> Basic {
    match value {
        Value::Bool(_) => Basic::Bool,
        Value::Int(_) | Value::Byte(_) => Basic::Integer,
        Value::Float(_) => Basic::Float,
        Value::Text(_) => Basic::Text,
        _ => Basic::Other,
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Byte(number) => Some(i64::from(*number)),
        _ => None,
    }
}

fn eq(first: &Value, others: &[Value]) -> Result<bool, Error> {
    if others.is_empty() {
        return Err(Error::new("missing argument for comparison"));
    }
    for other in others {
        let (left, right) = (basic(first), basic(other));
        let same = if left == right {
            match (first, other) {
                (Value::Bool(a), Value::Bool(b)) => a == b,
                #[allow(clippy::float_cmp, reason = "as Go compares them")]
                (Value::Float(a), Value::Float(b)) => a == b,
                (Value::Text(a), Value::Text(b)) => a == b,
                (a, b) if left == Basic::Integer => integer(a) == integer(b),
                (a, b) => same(a, b)?,
            }
        } else if is_absent(first) || is_absent(other) {
            false
        } else {
            return Err(Error::new("incompatible types for comparison"));
        };
        if same {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_absent(value: &Value) -> bool {
    matches!(value, Value::Absent | Value::Nil)
}

/// Equality of values that have no basic kind: nil, pointers and structs.
fn same(first: &Value, other: &Value) -> Result<bool, Error> {
    let kind = |value: &Value| match value {
        Value::List(_) | Value::Bytes(_) => 1,
        Value::Map(_) => 2,
        Value::Struct(structure) if structure.kind != StructKind::Message => 3,
        Value::Struct(_) | Value::Ordered(_) => 4,
        _ => 0,
    };
    let is_nil = |value: &Value| match value {
        Value::Absent | Value::Nil | Value::Ordered(None) => true,
        Value::List(list) => list.is_nil(),
        Value::Map(map) => map.entries.is_none(),
        _ => false,
    };
    if kind(first) != kind(other) && !is_absent(first) && !is_absent(other) {
        return Err(Error::new(format!(
            "non-comparable types {}, {}",
            first.type_name(),
            other.type_name()
        )));
    }
    if is_nil(first) || is_nil(other) {
        return Ok(is_nil(first) == is_nil(other));
    }
    match (first, other) {
        (Value::Struct(a), Value::Struct(b)) if a.kind == StructKind::Message => {
            Ok(Arc::ptr_eq(a, b))
        }
        (Value::Ordered(Some(a)), Value::Ordered(Some(b))) => Ok(Arc::ptr_eq(a, b)),
        _ => Err(Error::new(format!(
            "non-comparable type: {}",
            other.type_name()
        ))),
    }
}

fn order(first: &Value, other: &Value) -> Result<Option<Ordering>, Error> {
    let (left, right) = (basic(first), basic(other));
    if left == Basic::Other || right == Basic::Other {
        return Err(Error::new("invalid type for comparison"));
    }
    if left != right {
        return Err(Error::new("incompatible types for comparison"));
    }
    match (first, other) {
        (Value::Float(a), Value::Float(b)) => Ok(a.partial_cmp(b)),
        (Value::Text(a), Value::Text(b)) => Ok(Some(a.cmp(b))),
        (a, b) if left == Basic::Integer => Ok(integer(a).partial_cmp(&integer(b))),
        _ => Err(Error::new("invalid type for comparison")),
    }
}

fn at_most(first: &Value, other: &Value) -> Result<bool, Error> {
    Ok(matches!(
        order(first, other)?,
        Some(Ordering::Less | Ordering::Equal)
    ))
}

fn len(value: &Value) -> Result<i64, Error> {
    let length = match value {
        Value::Text(text) | Value::Bytes(text) => text.len(),
        Value::List(list) => list.items().len(),
        Value::Map(map) => map.len(),
        Value::Nil | Value::Ordered(None) => return Err(Error::new("len of nil pointer")),
        other => return Err(Error::new(format!("len of type {}", pointed(other)))),
    };
    Ok(i64::try_from(length).unwrap_or(i64::MAX))
}

/// The type after a pointer.
fn pointed(value: &Value) -> &'static str {
    value.type_name().trim_start_matches('*')
}

/// Reads an index. One past the end passes here, as in Go, and fails later.
fn position(index: &Value, length: usize) -> Result<usize, Error> {
    let number = match index {
        Value::Int(_) | Value::Byte(_) => integer(index).unwrap_or_default(),
        Value::Absent | Value::Nil => {
            return Err(Error::new("cannot index slice/array with nil"));
        }
        other => {
            return Err(Error::new(format!(
                "cannot index slice/array with type {}",
                other.type_name()
            )));
        }
    };
    usize::try_from(number)
        .ok()
        .filter(|position| *position <= length)
        .ok_or_else(|| Error::new(format!("index out of range: {number}")))
}

fn index(item: &Value, indexes: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    if is_absent(item) {
        return Err(Error::new("index of untyped nil"));
    }
    let mut item = item.clone();
    for index in indexes {
        meter.work(CALL)?;
        item = match &item {
            Value::Nil | Value::Ordered(None) => {
                return Err(Error::new("index of nil pointer"));
            }
            Value::List(list) => {
                let at = position(index, list.items().len())?;
                list.items()
                    .get(at)
                    .cloned()
                    .ok_or_else(|| Error::new("reflect: slice index out of range"))?
            }
            Value::Text(text) | Value::Bytes(text) => {
                let at = position(index, text.len())?;
                let kind = if matches!(item, Value::Text(_)) {
                    "string"
                } else {
                    "slice"
                };
                let byte = text.get(at).copied();
                Value::Byte(
                    byte.ok_or_else(|| Error::new(format!("reflect: {kind} index out of range")))?,
                )
            }
            Value::Map(map) => match index {
                Value::Text(key) => map.get(key).cloned().unwrap_or_else(|| map.zero()),
                Value::Absent | Value::Nil => {
                    return Err(Error::new("value is nil; should be of type string"));
                }
                other => {
                    return Err(Error::new(format!(
                        "value has type {}; should be string",
                        other.type_name()
                    )));
                }
            },
            other => {
                return Err(Error::new(format!(
                    "can't index item of type {}",
                    pointed(other)
                )));
            }
        };
    }
    Ok(item)
}

fn slice(item: &Value, indexes: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    if is_absent(item) {
        return Err(Error::new("slice of untyped nil"));
    }
    if indexes.len() > 3 {
        return Err(Error::new(format!(
            "too many slice indexes: {}",
            indexes.len()
        )));
    }
    let length = match item {
        Value::Text(_) if indexes.len() == 3 => {
            return Err(Error::new("cannot 3-index slice a string"));
        }
        Value::Text(text) | Value::Bytes(text) => text.len(),
        Value::List(list) => list.items().len(),
        Value::Ordered(None) => return Err(Error::new("slice of nil pointer")),
        other => {
            return Err(Error::new(format!(
                "can't slice item of type {}",
                pointed(other)
            )));
        }
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = position(index, length)?;
    }
    let [from, to, most] = bounds;
    let crossed = |a: usize, b: usize| Error::new(format!("invalid slice index: {a} > {b}"));
    if from > to {
        return Err(crossed(from, to));
    }
    if to > most {
        return Err(crossed(to, most));
    }
    Ok(match item {
        Value::Text(_) | Value::List(_) if from == 0 && to == length => item.clone(),
        Value::Text(text) => {
            meter.produce(to - from)?;
            let part = Text::from(&text[from..to]);
            if let Some(trace) = &mut meter.trace {
                trace.cut(&part, &text[from..to], "slice");
            }
            Value::Text(part)
        }
        Value::Bytes(bytes) => {
            meter.produce(to - from)?;
            Value::Bytes(Text::from(&bytes[from..to]))
        }
        Value::List(list) => Value::List(list.part(from, to)),
        other => other.clone(),
    })
}
