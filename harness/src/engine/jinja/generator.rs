//! Python's generators: what `map`, `select` and their kin give.
//!
//! A generator has no length and no JSON form, it counts as true even when nothing comes
//! out of it, and it can be run through once only.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Rest, Value, ValueOrKwargs};
use minijinja::{Environment, Error, State, filters};

use super::meter::produce;

/// Values that are handed out once.
pub(super) struct Generator {
    /// The filter that made it.
    filter: &'static str,
    items: Mutex<Vec<Value>>,
}

impl Generator {
    fn value(filter: &'static str, items: Vec<Value>) -> Result<Value, Error> {
        produce(16 * items.len())?;
        Ok(Value::from_object(Generator {
            filter,
            items: Mutex::new(items),
        }))
    }

    /// Everything that is left; nothing is left afterwards.
    pub(super) fn run(&self) -> Vec<Value> {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *items)
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Python adds where it lies in memory, which is another place each time.
        write!(f, "<generator object {}>", self.filter)
    }
}

impl Object for Generator {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Iter(Box::new(self.run().into_iter()))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        None
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A generator, if the value is one.
pub(super) fn of(value: &Value) -> Option<&Generator> {
    value.downcast_object_ref::<Generator>()
}

/// Adds the filters that Jinja2 writes as generators (`filters.py`).
pub(super) fn add(environment: &mut Environment<'_>) {
    type Name<'a> = Option<Cow<'a, str>>;
    type Args = Rest<ValueOrKwargs>;
    environment.add_filter(
        "map",
        |state: &mut State<'_, '_>, value: Value, args: Args| {
            Generator::value("sync_do_map", filters::map(state, value, args)?)
        },
    );
    environment.add_filter(
        "select",
        |state: &mut State<'_, '_>, value: Value, test: Name<'_>, args: Args| {
            let items = filters::select(state, value, test, args)?;
            Generator::value("select_or_reject", items)
        },
    );
    environment.add_filter(
        "reject",
        |state: &mut State<'_, '_>, value: Value, test: Name<'_>, args: Args| {
            let items = filters::reject(state, value, test, args)?;
            Generator::value("select_or_reject", items)
        },
    );
    environment.add_filter(
        "selectattr",
        |state: &mut State<'_, '_>,
         value: Value,
         attribute: Cow<'_, str>,
         test: Name<'_>,
         args: Args| {
            let items = filters::selectattr(state, value, attribute, test, args)?;
            Generator::value("select_or_reject", items)
        },
    );
    environment.add_filter(
        "rejectattr",
        |state: &mut State<'_, '_>,
         value: Value,
         attribute: Cow<'_, str>,
         test: Name<'_>,
         args: Args| {
            let items = filters::rejectattr(state, value, attribute, test, args)?;
            Generator::value("select_or_reject", items)
        },
    );
    environment.add_filter(
        "unique",
        |state: &State<'_, '_>, value: Value, kwargs: Kwargs| {
            let items = filters::unique(state, value, kwargs)?;
            Generator::value("do_unique", items.try_iter()?.collect())
        },
    );
    environment.add_filter(
        "batch",
        |state: &State<'_, '_>, value: Value, count: usize, fill: Option<Value>| {
            let items = filters::batch(state, value, count, fill)?;
            Generator::value("do_batch", items.try_iter()?.collect())
        },
    );
    environment.add_filter(
        "slice",
        |state: &State<'_, '_>, value: Value, count: usize, fill: Option<Value>| {
            let items = filters::slice(state, value, count, fill)?;
            Generator::value("sync_do_slice", items.try_iter()?.collect())
        },
    );
}
