//! Jinja2's namespaces: what a template can assign attributes of (`utils.py`, `Namespace`),
//! as transformers 5.23 hardens them.
//!
//! A namespace can hold itself. Whatever a render's namespaces hold is dropped when it ends.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use minijinja::value::{Object, ObjectRepr, Value};
use minijinja::{Error, ErrorKind};

use super::meter::{ENTRY, OBJECT, produce};
use super::pytext;

thread_local! {
    /// Of the render on this thread.
    static ALL: RefCell<Vec<Weak<Namespace>>> = const { RefCell::new(Vec::new()) };
}

/// Attributes by name, each with its place in the order in which they came.
type Attributes = BTreeMap<Arc<str>, (usize, Value)>;

/// Attributes that a template can assign.
#[derive(Default)]
struct Namespace {
    attributes: Mutex<Attributes>,
}

/// `namespace(**attributes)`
pub(super) fn namespace(attributes: Vec<(Value, Value)>) -> Result<Value, Error> {
    produce(OBJECT)?;
    let namespace = Arc::new(Namespace::default());
    for (name, value) in attributes {
        if let Some(name) = name.as_str() {
            namespace.set(name, value)?;
        }
    }
    ALL.with_borrow_mut(|all| all.push(Arc::downgrade(&namespace)));
    Ok(Value::from_dyn_object(namespace))
}

/// `{% set namespace.name = value %}`
pub(super) fn set(of: &Value, name: &str, value: &Value) -> Result<(), Error> {
    match of.downcast_object_ref::<Namespace>() {
        Some(namespace) => namespace.set(name, value.clone()),
        None => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("can only assign to namespaces, not {}", of.kind()),
        )),
    }
}

/// The attributes of a namespace in their order. None of any other value.
pub(super) fn attributes(value: &Value) -> Option<Vec<(Value, Value)>> {
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

/// Drops what the namespaces of the render on this thread hold, so that none of them keeps
/// itself.
pub(super) fn clear() {
    for namespace in ALL.take() {
        if let Some(namespace) = namespace.upgrade() {
            let attributes = std::mem::take(&mut *namespace.lock());
            drop(attributes);
        }
    }
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
            // What was there may hold this very namespace.
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

/// transformers 5.23 hardens `namespace`: attributes with a leading underscore are a
/// `SecurityError` (`TemplateNamespace._check_name`).
pub(super) fn private_attribute() -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        "a namespace cannot store attributes that begin with an underscore",
    )
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
        let value = Value::from_dyn_object(Arc::clone(self));
        f.write_str(&pytext::repr(&value))
    }
}
