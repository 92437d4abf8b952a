//! Jinja2's namespaces: the only values whose attributes a template can assign (`utils.py`,
//! `Namespace`), as transformers 5.24 hardens them.
//!
//! A namespace can hold itself, so the end of the render empties it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::Error;
use minijinja::value::{Object, ObjectRepr, Value};

use crate::meter::{ENTRY, OBJECT, produce};
use crate::refusal::invalid;
use crate::release::{Release, at_end};

/// Attributes by name, each with its place in the order in which they were first set.
type Attributes = BTreeMap<Arc<str>, (usize, Value)>;

#[derive(Default)]
pub(crate) struct Namespace {
    attributes: Mutex<Attributes>,
}

/// `namespace(**attributes)`
pub(crate) fn namespace(attributes: Vec<(Value, Value)>) -> Result<Value, Error> {
    produce(OBJECT)?;
    let namespace = Arc::new(Namespace::default());
    for (name, value) in attributes {
        if let Some(name) = name.as_str() {
            namespace.set(name, value)?;
        }
    }
    at_end(&namespace);
    Ok(Value::from_dyn_object(namespace))
}

/// `{% set namespace.name = value %}`
pub(crate) fn set(of: &Value, name: &str, value: &Value) -> Result<(), Error> {
    check(of)?.set(name, value.clone())
}

/// The namespace that a value has to be whose attribute is assigned.
pub(crate) fn check(of: &Value) -> Result<&Namespace, Error> {
    let message = || invalid(format!("can only assign to namespaces, not {}", of.kind()));
    of.downcast_object_ref().ok_or_else(message)
}

/// The attributes of a namespace in their order, or None if the value is no namespace.
pub(crate) fn attributes(value: &Value) -> Option<Vec<(Value, Value)>> {
    let namespace = value.downcast_object_ref::<Namespace>()?;
    let mut attributes: Vec<(usize, Value, Value)> = namespace
        .lock()
        .iter()
        .map(|(name, (place, value))| (*place, Value::from(Arc::clone(name)), value.clone()))
        .collect();
    attributes.sort_by_key(|(place, ..)| *place);
    Some(
        attributes
            .into_iter()
            .map(|(_, name, value)| (name, value))
            .collect(),
    )
}

impl Namespace {
    fn lock(&self) -> MutexGuard<'_, Attributes> {
        self.attributes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, name: &str, value: Value) -> Result<(), Error> {
        if name.starts_with('_') {
            return Err(private_attribute());
        }
        let mut attributes = self.lock();
        if let Some((_, attribute)) = attributes.get_mut(name) {
            let before = std::mem::replace(attribute, value);
            // The value before may hold this namespace, whose lock is open again here.
            drop(attributes);
            drop(before);
            return Ok(());
        }
        produce(ENTRY + name.len())?;
        let place = attributes.len();
        attributes.insert(name.into(), (place, value));
        Ok(())
    }
}

/// The error of an attribute with a leading underscore, which is a `SecurityError` since
/// transformers 5.24 hardens `namespace` (`TemplateNamespace._check_name`).
fn private_attribute() -> Error {
    invalid("a namespace cannot store attributes that begin with an underscore")
}

impl Release for Namespace {
    fn release(&self) {
        // The lock is open again when the values are dropped.
        let attributes = std::mem::take(&mut *self.lock());
        drop(attributes);
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<Namespace>")
    }
}

impl Object for Namespace {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.lock().get(key).map(|(_, value)| value.clone())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text of a namespace in a template is written by `text`.
        write!(f, "{self:?}")
    }
}
