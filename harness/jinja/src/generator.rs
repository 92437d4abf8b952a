//! Python's generators: what `map`, `select` and their kin give.
//!
//! A generator has no length and no JSON form, it counts as true even when nothing comes
//! out of it, and it can be run through once only.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::Error;
use minijinja::value::{Enumerator, Object, ObjectRepr, Tuple, Value};

use super::meter::{OBJECT, SLOT, produce};
use super::pytext;

/// Values that are handed out once.
pub(super) struct Generator {
    /// The filter that made it.
    filter: &'static str,
    items: Mutex<(std::vec::IntoIter<Value>, Option<Error>)>,
}

impl Generator {
    /// Of what a filter gives. Where it fails, it does so when someone gets there.
    pub(super) fn value(
        filter: &'static str,
        items: impl FnOnce(&mut Vec<Value>) -> Result<(), Error>,
    ) -> Result<Value, Error> {
        let mut all = Vec::new();
        let failure = items(&mut all).err();
        produce(OBJECT + SLOT * all.len())?;
        Ok(Value::from_object(Generator {
            filter,
            items: Mutex::new((all.into_iter(), failure)),
        }))
    }

    /// Everything that is left; nothing is left afterwards.
    pub(super) fn run(&self) -> Result<Vec<Value>, Error> {
        let (items, failure) = self.take();
        match failure {
            Some(error) => Err(error),
            None => Ok(items.collect()),
        }
    }

    /// The first that is left.
    pub(super) fn first(&self) -> Result<Option<Value>, Error> {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        match items.0.next() {
            Some(first) => Ok(Some(first)),
            None => items.1.take().map_or(Ok(None), Err),
        }
    }

    fn take(&self) -> (std::vec::IntoIter<Value>, Option<Error>) {
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
        let (items, failure) = self.take();
        Enumerator::Iter(Box::new(items.chain(failure.map(Value::from))))
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

/// A group that `groupby` gives: a pair whose parts have names too.
struct Group {
    key: Value,
    items: Value,
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pair = Tuple::from([self.key.clone(), self.items.clone()]);
        f.write_str(&pytext::repr(&Value::from(pair)))
    }
}

impl Object for Group {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match (key.as_str(), key.as_usize()) {
            (Some("grouper"), _) | (None, Some(0)) => Some(self.key.clone()),
            (Some("list"), _) | (None, Some(1)) => Some(self.items.clone()),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(2)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A group of items under their key.
pub(super) fn group(key: Value, items: Value) -> Value {
    Value::from_object(Group { key, items })
}

/// Whether a value is a group.
pub(super) fn is_group(value: &Value) -> bool {
    value.downcast_object_ref::<Group>().is_some()
}

/// The key and the items of a group.
pub(super) fn group_parts(value: &Value) -> Option<(Value, Value)> {
    let group = value.downcast_object_ref::<Group>()?;
    Some((group.key.clone(), group.items.clone()))
}
