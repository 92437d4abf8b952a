//! Jinja2's helpers for loops (`utils.py`, `Cycler` and `Joiner`).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use minijinja::value::{Kwargs, Object, ObjectRepr, Rest, Value, from_args};
use minijinja::{Error, ErrorKind, State};

use super::arguments::Arguments;

/// Gives its values in turn.
struct Cycler {
    values: Vec<Value>,
    next: AtomicUsize,
}

/// `cycler(*values)`
pub(super) fn cycler(values: Rest<Value>) -> Result<Value, Error> {
    if values.is_empty() {
        return Err(Error::new(ErrorKind::MissingArgument, "a value"));
    }
    Ok(Value::from_object(Cycler {
        values: values.0,
        next: AtomicUsize::new(0),
    }))
}

impl fmt::Debug for Cycler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<jinja2.utils.Cycler object>")
    }
}

impl Object for Cycler {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "current" => {
                let at = self.next.load(Ordering::Relaxed);
                self.values.get(at % self.values.len()).cloned()
            }
            "items" => Some(Value::from(minijinja::value::Tuple::from(
                self.values.clone(),
            ))),
            "pos" => Some(Value::from(
                self.next.load(Ordering::Relaxed) % self.values.len(),
            )),
            _ => None,
        }
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        let () = from_args(args)?;
        match method {
            "next" => {
                let at = self.next.fetch_add(1, Ordering::Relaxed);
                Ok(self.values[at % self.values.len()].clone())
            }
            "reset" => {
                self.next.store(0, Ordering::Relaxed);
                Ok(Value::from(()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Gives nothing the first time, then its separator.
struct Joiner {
    separator: Value,
    is_used: AtomicBool,
}

/// `joiner(sep=', ')`
#[allow(clippy::needless_pass_by_value)] // as minijinja hands them over
pub(super) fn joiner(args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let args = Arguments::of(["sep"], &args, &kwargs)?;
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

/// `lipsum()`: another text each time, which no comparison can hold.
pub(super) fn lipsum(_: Rest<Value>) -> Result<Value, Error> {
    Err(Error::new(
        ErrorKind::InvalidOperation,
        "lipsum gives random text, which is not reproduced here",
    ))
}

/// Whether a value is one of these that can be called.
pub(super) fn is_joiner(value: &Value) -> bool {
    value.downcast_object_ref::<Joiner>().is_some()
}
