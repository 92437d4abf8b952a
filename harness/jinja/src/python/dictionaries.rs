//! Python's dictionaries: their keys, their entries, and the views that `keys()`, `values()`
//! and `items()` give.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use minijinja::Error;
use minijinja::value::{
    DynObject, Enumerator, Object, ObjectExt, ObjectRepr, Tuple, Value, ValueKind,
};

use crate::meter::{ENTRY, ITEM, OBJECT, SLOT, nested, produce, work};
use crate::python::kinds::{is_dictionary, is_list};
use crate::python::numbers::{Number, number};
use crate::refusal::invalid;

/// The most entries of a [`SmallDictionary`].
const FEW: usize = 12;

/// A dictionary with few entries and different texts as keys, such as a message or a tool. To
/// compare a key with each of them takes less time than to hash it.
struct SmallDictionary {
    entries: Vec<(Value, Value)>,
}

impl fmt::Debug for SmallDictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.iter().map(|(key, value)| (key, value));
        f.debug_map().entries(entries).finish()
    }
}

impl Object for SmallDictionary {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let mut entries = self.entries.iter();
        let (_, value) = entries.find(|(known, _)| known.as_str() == Some(key))?;
        Some(value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_rev_key_value_enumerator(|this| Box::new(this.entries.iter().cloned()))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A dictionary with these entries, whose keys are texts that differ.
pub(crate) fn by_text(entries: impl ExactSizeIterator<Item = (Value, Value)>) -> Value {
    if entries.len() > FEW {
        return Value::from_pairs(entries);
    }
    let entries = entries.collect();
    Value::from_object(SmallDictionary { entries })
}

/// The value of a key, if a dictionary has the key.
#[inline]
pub(crate) fn entry(map: &Value, key: &Value) -> Option<Value> {
    let map = map.as_object()?;
    map.get_value(key).or_else(|| {
        // For Python `True` is the key 1, for minijinja it is another.
        let bit = bit(key)?;
        map.get_value(&if key.kind() == ValueKind::Bool {
            Value::from(u8::from(bit))
        } else {
            Value::from(bit)
        })
    })
}

/// The boolean that a number or a boolean is equal to.
fn bit(key: &Value) -> Option<bool> {
    match number(key)? {
        Number::Int(0) | Number::Float(0.0) => Some(false),
        Number::Int(1) | Number::Float(1.0) => Some(true),
        _ => None,
    }
}

/// A dictionary with these entries. Among equal keys the first key stays, with the last value:
/// `True` equals the key 1.
pub(crate) fn dictionary(mut pairs: Vec<(Value, Value)>) -> Value {
    if pairs.iter().any(|(key, _)| key.kind() == ValueKind::Bool) {
        let mut bits: [Option<Value>; 2] = [None, None];
        for (key, _) in &mut pairs {
            if let Some(bit) = bit(key) {
                *key = bits[usize::from(bit)]
                    .get_or_insert_with(|| key.clone())
                    .clone();
            }
        }
    }
    Value::from_pairs(pairs)
}

/// The keys and values of a dictionary, to be kept. Each key counts as one that is looked up.
pub(crate) fn pairs(map: &Value) -> Result<Vec<(Value, Value)>, Error> {
    entries(map).map(Cow::into_owned)
}

/// The keys and values of a dictionary. Each key counts as one that is looked up.
pub(crate) fn entries(map: &Value) -> Result<Cow<'_, [(Value, Value)]>, Error> {
    let look_up = |key: &Value| work(ITEM + key.as_str().map_or(0, str::len).saturating_mul(4));
    if let Some(small) = map.downcast_object_ref::<SmallDictionary>() {
        for (key, _) in &small.entries {
            look_up(key)?;
        }
        return Ok(Cow::Borrowed(&small.entries));
    }
    let mut pairs = Vec::with_capacity(map.len().unwrap_or(0));
    let object = map.as_object().filter(|_| map.kind() == ValueKind::Map);
    // Most dictionaries hand their values out together with the keys.
    if let Some(entries) = object.and_then(DynObject::try_iter_pairs) {
        for (key, value) in entries {
            look_up(&key)?;
            pairs.push((key, value));
        }
    } else {
        for key in map.try_iter()? {
            look_up(&key)?;
            let value = map.get_item(&key)?;
            pairs.push((key, value));
        }
    }
    Ok(Cow::Owned(pairs))
}

/// The error of a key that has no hash: a list, a dictionary, its keys or items, or a tuple with one
/// of them.
pub(crate) fn hashable(value: &Value) -> Result<(), Error> {
    if value.is_tuple() {
        return nested(|| {
            for item in value.try_iter()? {
                work(ITEM + item.as_str().map_or(0, str::len).saturating_mul(4))?;
                hashable(&item)?;
            }
            Ok(())
        })?;
    }
    let view = value.downcast_object_ref::<View>();
    let is_set = view.is_some_and(|view| view.name != "dict_values");
    if !is_dictionary(value) && !is_list(value) && !is_set {
        Ok(())
    } else {
        Err(invalid(format!("unhashable type: {}", value.kind())))
    }
}

/// Counts the work of looking for a key, which must be [`hashable`].
#[inline]
pub(crate) fn hashed(key: &Value) -> Result<(), Error> {
    match key.as_str() {
        Some(text) => work(4 * text.len()),
        None => hashable(key),
    }
}

struct View {
    /// What Python calls it.
    name: &'static str,
    items: Vec<Value>,
}

/// `dict.keys()`, `dict.values()` or `dict.items()`.
pub(super) fn view(map: &Value, method: &str) -> Result<Value, Error> {
    let pairs = pairs(map)?;
    let (name, each) = match method {
        "keys" => ("dict_keys", SLOT),
        "values" => ("dict_values", SLOT),
        _ => ("dict_items", SLOT + ENTRY),
    };
    produce(OBJECT + each * pairs.len())?;
    let items = pairs
        .into_iter()
        .map(|(key, value)| match method {
            "keys" => key,
            "values" => value,
            _ => Value::from(Tuple::from([key, value])),
        })
        .collect();
    Ok(Value::from_object(View { name, items }))
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} object", self.name)
    }
}

impl Object for View {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.items.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.items.len())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        !self.items.is_empty()
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text of a view in a template is written by `text`.
        write!(f, "{self:?}")
    }
}

/// What Python calls a view, and its items as a list.
pub(crate) fn view_parts(value: &Value) -> Option<(&'static str, Value)> {
    let view = value.downcast_object_ref::<View>()?;
    // The list takes room of its own while it is written.
    produce(SLOT * view.items.len()).ok()?;
    Some((view.name, Value::from(view.items.clone())))
}
