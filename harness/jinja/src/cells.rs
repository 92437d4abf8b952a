//! What variables hold that several functions use, or that nothing has set.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use minijinja::Error;
use minijinja::value::{Object, ObjectRepr, Value};

use crate::meter::{OBJECT, produce};
use crate::release::{Release, at_end};

/// What named blocks see of the template around them, by the numbers of the globals: Jinja2's
/// `context.vars`, or what `derive_context` in its compiler.py adds for a block that is `scoped`.
#[derive(Default)]
pub(crate) struct Seen(pub(crate) Mutex<BTreeMap<usize, Value>>);

impl Seen {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Release for Seen {
    fn release(&self) {
        // The lock is open again when the values are dropped.
        let values = std::mem::take(&mut *self.lock());
        drop(values);
    }
}

/// A variable that several functions use.
#[derive(Debug, Default)]
pub(crate) struct Cell(Mutex<Value>);

impl Cell {
    pub(crate) fn value() -> Result<Value, Error> {
        produce(OBJECT)?;
        let cell = Arc::new(Cell::default());
        // A macro that calls itself is in its own cell.
        at_end(&cell);
        Ok(Value::from_dyn_object(cell))
    }

    fn replace(&self, value: Value) -> Value {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut own, value)
    }
}

impl Release for Cell {
    fn release(&self) {
        drop(self.replace(Value::UNDEFINED));
    }
}

impl Object for Cell {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}

pub(crate) fn load(cell: &Value) -> Value {
    let cell = cell.downcast_object_ref::<Cell>();
    cell.map_or_else(Value::default, |cell| {
        cell.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    })
}

pub(crate) fn store(cell: &Value, value: Value) {
    if let Some(cell) = cell.downcast_object_ref::<Cell>() {
        drop(cell.replace(value));
    }
}

/// What a macro finds that looks for the target of a loop after the loop (Jinja2's `missing`): its
/// compiled code takes for granted that such a variable is set (`visit_Name`).
#[derive(Debug)]
struct Missing;

impl Object for Missing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("missing")
    }
}

pub(crate) fn missing() -> Value {
    static MISSING: LazyLock<Value> = LazyLock::new(|| Value::from_object(Missing));
    MISSING.clone()
}

pub(crate) fn is_missing(value: &Value) -> bool {
    value.downcast_object_ref::<Missing>().is_some()
}
