//! Filters that take or give sequences (Jinja2 3.1.6, `filters.py`).

use minijinja::value::{Kwargs, Rest, Tuple, Value};
use minijinja::{Error, ErrorKind};

use crate::library::path::{Path, attribute_of};
use crate::library::vocabulary::Registry;
use crate::meter::{ENTRY, OBJECT, SLOT, produce, work};
use crate::operator::Operator;
use crate::operators::calculated;
use crate::python::arguments::{AllArguments, Arguments};
use crate::python::attributes::{attribute, is_method};
use crate::python::dictionaries::{self, entry};
use crate::python::generator::Generator;
use crate::python::iteration::{each, iterate, list, source_when_asked};
use crate::python::kinds::{is_dictionary, is_list, is_loop, is_range};
use crate::python::markup::like;
use crate::python::numbers::{Number, number, whole};
use crate::python::text;
use crate::python::undefined::undefined;
use crate::refusal::invalid;

/// Adds the filters to a registry.
pub(super) fn add(registry: &mut Registry) {
    registry.filter("length", length);
    registry.filter("count", length);
    registry.filter("items", items);
    registry.filter("default", default);
    registry.filter("d", default);
    registry.filter("attr", named_attribute);
    registry.filter("list", |value: Value| {
        Ok::<_, Error>(Value::from(list(&value)?))
    });
    registry.filter("first", first);
    registry.filter("last", last);
    registry.filter("random", random);
    registry.filter("reverse", reverse);
    registry.filter("join", join);
    registry.filter("sum", sum);
    registry.filter("batch", batch);
    registry.filter("slice", slice);
}

/// `random(value)`: the last item, so that it is the same each time. Python picks a random index;
/// for a dictionary it takes the value with that index as its key.
fn random(value: Value) -> Result<Value, Error> {
    if is_dictionary(&value)
        && let Some(index) = value.len().and_then(|len| len.checked_sub(1))
    {
        let found = entry(&value, &Value::from(index));
        return found.ok_or_else(|| invalid(format!("there is no key {index}")));
    }
    last(value)
}

/// `next(iter(value))`
fn first(value: Value) -> Result<Value, Error> {
    let first = match (Generator::of(&value), value.as_str()) {
        (Some(generator), _) => generator.first()?,
        (None, Some(text)) => text.chars().next().map(Value::from),
        (None, None) => iterate(value)?.try_iter()?.next(),
    };
    Ok(first.unwrap_or_else(|| none_of("first")))
}

/// What a filter gives that finds no item.
fn none_of(which: &str) -> Value {
    undefined(|| format!("No {which} item, sequence was empty."))
}

/// `len(value)`. The length of an undefined value is zero.
pub(super) fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    if let Some(text) = value.as_str() {
        work(text.len())?;
        return Ok(text.chars().count());
    }
    let length = if is_loop(value) {
        value.get_attr("length")?.as_usize()
    } else {
        value.len()
    };
    length.ok_or_else(|| invalid(format!("a value of type {} has no length", value.kind())))
}

/// `items(value)`: the items of a dictionary. An undefined value has none.
fn items(value: &Value) -> Result<Value, Error> {
    let value = value.clone();
    let mut pairs = None;
    Generator::lazy("do_items", move || {
        let pairs = match &mut pairs {
            Some(pairs) => pairs,
            None => pairs.insert(pairs_of(&value)?.into_iter()),
        };
        let pair = pairs.next();
        Ok(pair.map(|(key, item)| Value::from(Tuple::from([key, item]))))
    })
}

/// The keys and values of a dictionary. An undefined value has none.
fn pairs_of(value: &Value) -> Result<Vec<(Value, Value)>, Error> {
    if value.is_undefined() {
        return Ok(Vec::new());
    }
    if !is_dictionary(value) {
        return Err(invalid("only mappings have pairs of items"));
    }
    let found = dictionaries::pairs(value)?;
    produce((ENTRY + SLOT) * found.len())?;
    Ok(found)
}

/// `default(value, default_value='', boolean=False)`.
fn default(value: &Value, args: AllArguments<'_>) -> Result<Value, Error> {
    let args = Arguments::of_call(["default_value", "boolean"], args.0)?;
    if value.is_undefined() || (args.truth(1, false) && !value.is_true()) {
        Ok(args.get(0).cloned().unwrap_or_else(|| Value::from("")))
    } else {
        Ok(value.clone())
    }
}

/// `attr(obj, name)`: an attribute, and never an item.
fn named_attribute(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["name"], &args, &kwargs)?;
    args.required(0)?;
    let name = args.text(0, "")?;
    if is_dictionary(value) && !is_method(name) {
        return Ok(Value::UNDEFINED);
    }
    if value.is_undefined() && !name.starts_with("__") {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_undefined() {
        return Ok(Value::UNDEFINED);
    }
    attribute(value, name)
}

/// `next(iter(reversed(value)))`
fn last(value: Value) -> Result<Value, Error> {
    if Generator::of(&value).is_some() || is_loop(&value) {
        return Err(invalid("neither a generator nor a loop can be reversed"));
    }
    if let Some(text) = value.as_str() {
        return Ok(text
            .chars()
            .next_back()
            .map_or_else(|| none_of("last"), |last| like(&value, last)));
    }
    if let Some(len) = value.len()
        && (is_list(&value) || value.is_tuple())
    {
        return match len.checked_sub(1) {
            Some(at) => value.get_item(&Value::from(at)),
            None => Ok(none_of("last")),
        };
    }
    Ok(list(&value)?.pop().unwrap_or_else(|| none_of("last")))
}

/// `reverse(value)`: a text gives a text, everything else a generator.
fn reverse(value: &Value) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        produce(text.len())?;
        let reversed: String = text.chars().rev().collect();
        return Ok(like(value, reversed));
    }
    let mut items = list(value)?;
    items.reverse();
    if Generator::of(value).is_some() {
        return Ok(Value::from(items));
    }
    let class = if is_range(value) {
        "range_iterator"
    } else if is_list(value) {
        "list_reverseiterator"
    } else if let Some((view, _)) = dictionaries::view_parts(value) {
        match view {
            "dict_items" => "dict_reverseitemiterator",
            "dict_values" => "dict_reversevalueiterator",
            _ => "dict_reversekeyiterator",
        }
    } else if is_dictionary(value) {
        "dict_reversekeyiterator"
    } else {
        "reversed"
    };
    Generator::iterator(class, items)
}

/// `join(value, d='', attribute=None)`.
fn join(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["d", "attribute"], &args, &kwargs)?;
    let separator = args.get(0).map_or_else(Default::default, text::str);
    let path = args.some(1).map(Path::of).transpose()?;
    let mut text = String::new();
    for (index, item) in each(value)?.enumerate() {
        let item = attribute_of(path.as_ref(), item)?;
        let item = text::str(&item);
        produce(item.len() + separator.len())?;
        if index > 0 {
            text.push_str(&separator);
        }
        text.push_str(&item);
    }
    Ok(Value::from(text))
}

/// `sum(iterable, attribute=None, start=0)`.
fn sum(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["attribute", "start"], &args, &kwargs)?;
    let path = args.some(0).map(Path::of).transpose()?;
    let mut total = args.get(1).cloned().unwrap_or_else(|| Value::from(0));
    if total.as_str().is_some() {
        return Err(args.wrong_type(1));
    }
    for item in each(value)? {
        let item = attribute_of(path.as_ref(), item)?;
        total = calculated(Operator::Add, &[total, item])?;
    }
    Ok(total)
}

/// `batch(value, linecount, fill_with=None)`.
fn batch(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["linecount", "fill_with"], &args, &kwargs)?;
    args.required(0)?;
    let mut items = source_when_asked(value);
    let mut current: Vec<Value> = Vec::new();
    Generator::lazy("do_batch", move || {
        // A value that is not a number never equals the length of a batch.
        let size = match args.get(0).and_then(number) {
            Some(Number::Int(size)) => usize::try_from(size).unwrap_or(usize::MAX),
            Some(Number::Float(float)) => whole(float)
                .filter(|_| float.fract() == 0.0)
                .and_then(|size| usize::try_from(size).ok())
                .unwrap_or(usize::MAX),
            None => usize::MAX,
        };
        while let Some(item) = items()? {
            let is_full = current.len() == size;
            let full = is_full.then(|| std::mem::take(&mut current));
            current.push(item);
            if let Some(full) = full {
                produce(OBJECT + SLOT * size)?;
                return Ok(Some(Value::from(full)));
            }
        }
        if current.is_empty() {
            return Ok(None);
        }
        produce(OBJECT + SLOT * current.len())?;
        if let Some(fill) = args.some(1)
            && args.int(0, 0)? > 0
        {
            produce(SLOT.saturating_mul(size.saturating_sub(current.len())))?;
            current.resize(size.max(current.len()), fill.clone());
        }
        Ok(Some(Value::from(std::mem::take(&mut current))))
    })
}

/// `slice(value, slices, fill_with=None)`.
fn slice(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["slices", "fill_with"], &args, &kwargs)?;
    args.required(0)?;
    let value = value.clone();
    let mut parts = None;
    Generator::lazy("sync_do_slice", move || {
        let parts = match &mut parts {
            Some(parts) => parts,
            None => parts.insert(sliced(&value, &args)?.into_iter()),
        };
        Ok(parts.next())
    })
}

/// The parts that `slice` gives.
fn sliced(value: &Value, args: &Arguments<2>) -> Result<Vec<Value>, Error> {
    let items = list(value)?;
    let count = args.int(0, 0)?;
    if count == 0 {
        return Err(args.wrong_type(0));
    }
    let slices = usize::try_from(count).unwrap_or(0);
    produce(
        OBJECT
            .saturating_mul(slices)
            .saturating_add(SLOT * items.len()),
    )?;
    let mut parts = Vec::new();
    let mut rest = items.as_slice();
    for at in 0..slices {
        let is_longer = at < items.len() % slices;
        let (part, after) = rest.split_at(items.len() / slices + usize::from(is_longer));
        rest = after;
        let mut part = part.to_vec();
        if let (Some(fill), false) = (args.some(1), is_longer) {
            part.push(fill.clone());
        }
        parts.push(Value::from(part));
    }
    Ok(parts)
}
