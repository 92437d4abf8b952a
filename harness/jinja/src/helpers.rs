//! Jinja2's helpers for loops (`utils.py`, `Cycler` and `Joiner`).

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::cell::RefCell;
use std::cmp::Ordering as Order;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use minijinja::value::{DynObject, Kwargs, Object, ObjectRepr, Rest, Value, from_args};
use minijinja::{Error, ErrorKind, State};

use super::arguments::Arguments;
use super::checks::is_loop;
use super::comparisons::is_item;
use super::meter::{OBJECT, SLOT, produce};

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

/// What a loop was last told with `loop.changed(…)`.
///
/// The loop keeps it, and it may hold the loop: it is emptied when the render ends.
struct Told {
    values: Mutex<Vec<Value>>,
}

thread_local! {
    /// Of the render on this thread.
    static TOLD: RefCell<Vec<Weak<Told>>> = const { RefCell::new(Vec::new()) };
}

/// Drops what the loops of the render on this thread were told.
pub(super) fn clear() {
    for told in TOLD.take() {
        if let Some(told) = told.upgrade() {
            let values = std::mem::take(&mut *told.lock());
            drop(values);
        }
    }
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, Vec<Value>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<what a loop was told>")
    }
}

impl Object for Told {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Order> {
        let other = other.downcast_ref::<Told>()?;
        let (own, others) = (self.lock().clone(), other.lock().clone());
        let are_equal = own.len() == others.len()
            && own
                .iter()
                .zip(&others)
                .all(|(a, b)| is_item(a, b).unwrap_or(false));
        Some(if are_equal { Order::Equal } else { Order::Less })
    }
}

/// `loop.changed(…)` and `loop.cycle(…)`, or whatever has methods of these names.
pub(super) fn loop_method(
    state: &mut State<'_, '_>,
    of: &Value,
    method: &str,
    args: Rest<Value>,
) -> Result<Value, Error> {
    if !is_loop(of) {
        return of.call_method(state, method, &args);
    }
    match method {
        // minijinja divides by their number.
        "cycle" if args.is_empty() => Err(Error::new(
            ErrorKind::InvalidOperation,
            "no items for cycling have been given",
        )),
        "changed" => {
            produce(OBJECT + SLOT * args.len())?;
            let told = Arc::new(Told {
                values: Mutex::new(args.0),
            });
            TOLD.with_borrow_mut(|all| all.push(Arc::downgrade(&told)));
            of.call_method(state, method, &[Value::from_dyn_object(told)])
        }
        _ => of.call_method(state, method, &args),
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
