//! `joiner`, which gives its separator every time but the first (Jinja2's `utils.py`,
//! `Joiner`).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use minijinja::value::{Kwargs, Object, ObjectRepr, Rest, Value, from_args};
use minijinja::{Error, State};

use crate::meter::{OBJECT, produce};
use crate::python::arguments::Arguments;

/// Gives an empty text the first time, then its separator.
struct Joiner {
    separator: Value,
    is_used: AtomicBool,
}

/// `joiner(sep=', ')`
pub(super) fn joiner(args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["sep"], &args, &kwargs)?;
    produce(OBJECT)?;
    Ok(Value::from_object(Joiner {
        separator: args.get(0).cloned().unwrap_or_else(|| Value::from(", ")),
        is_used: AtomicBool::new(false),
    }))
}

impl fmt::Debug for Joiner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<jinja2.utils.Joiner object>")
    }
}

impl Object for Joiner {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "sep" => Some(self.separator.clone()),
            "used" => Some(Value::from(self.is_used.load(Ordering::Relaxed))),
            _ => None,
        }
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let () = from_args(args)?;
        if self.is_used.swap(true, Ordering::Relaxed) {
            Ok(self.separator.clone())
        } else {
            Ok(Value::from(""))
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Whether a value is a joiner, which can be called.
pub(super) fn is_joiner(value: &Value) -> bool {
    value.downcast_object_ref::<Joiner>().is_some()
}
