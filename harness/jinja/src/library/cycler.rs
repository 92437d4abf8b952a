//! `cycler`, which gives its values in turn (Jinja2's `utils.py`, `Cycler`).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minijinja::value::{Object, ObjectRepr, Rest, Tuple, Value, from_args};
use minijinja::{Error, ErrorKind, State};

use crate::meter::{OBJECT, SLOT, produce};

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
    produce(OBJECT + SLOT * values.len())?;
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
            "items" => Some(Value::from(Tuple::from(self.values.clone()))),
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
