//! The functions of a template as values: what Python calls them.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Object, ObjectRepr, Value};
use minijinja::{Error, State};

use crate::python::undefined;

/// A function, or a class that is called like one.
struct Callable {
    /// Its `repr()`, without the address that Python writes: it is another one each time.
    python: &'static str,
    function: Value,
}

/// A function of minijinja's, under its name in Python.
pub(super) fn callable(python: &'static str, function: Value) -> Value {
    Value::from_object(Callable { python, function })
}

/// Whether a value is such a function.
pub(super) fn is_callable(value: &Value) -> bool {
    value.downcast_object_ref::<Callable>().is_some()
}

impl fmt::Debug for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.python)
    }
}

impl Object for Callable {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        undefined::nameless(args, |args| self.function.call(state, args))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.python)
    }
}
