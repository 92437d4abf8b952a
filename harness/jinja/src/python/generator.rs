//! Python's generators, which filters such as `map` and `select` give.
//!
//! A generator has no length and no JSON form, it is true even when it gives no items, and
//! it gives its items only once.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::Error;
use minijinja::value::{Enumerator, Object, ObjectRepr, Value};

use crate::meter::{OBJECT, SLOT, produce};

/// Items that are given only once.
pub(crate) struct Generator {
    /// What Python calls it.
    name: IteratorName,
    /// The items that are left, and the error after them.
    items: Mutex<(std::vec::IntoIter<Value>, Option<Error>)>,
}

/// What Python calls an iterator.
enum IteratorName {
    /// A generator, by the function of Jinja2 that makes it.
    Function(&'static str),
    /// Another iterator, by its class.
    Class(&'static str),
}

impl Generator {
    /// The generator that a value is, if it is one.
    #[inline]
    pub(crate) fn of(value: &Value) -> Option<&Generator> {
        value.downcast_object_ref()
    }

    /// A generator with the items that a filter gives. An error of the filter is kept until
    /// somebody asks for all items, or for one after the last.
    pub(crate) fn value(
        filter: &'static str,
        items: impl FnOnce(&mut Vec<Value>) -> Result<(), Error>,
    ) -> Result<Value, Error> {
        let mut all = Vec::new();
        let failure = items(&mut all).err();
        produce(OBJECT + SLOT * all.len())?;
        Ok(Value::from_object(Generator {
            name: IteratorName::Function(filter),
            items: Mutex::new((all.into_iter(), failure)),
        }))
    }

    /// An iterator of a class of Python's.
    pub(crate) fn iterator(class: &'static str, items: Vec<Value>) -> Result<Value, Error> {
        produce(OBJECT + SLOT * items.len())?;
        Ok(Value::from_object(Generator {
            name: IteratorName::Class(class),
            items: Mutex::new((items.into_iter(), None)),
        }))
    }

    /// All items that are left; none is left afterwards.
    pub(crate) fn run(&self) -> Result<Vec<Value>, Error> {
        let (items, failure) = self.take();
        match failure {
            Some(error) => Err(error),
            None => Ok(items.collect()),
        }
    }

    /// The first item that is left.
    pub(crate) fn first(&self) -> Result<Option<Value>, Error> {
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
        // Python also writes the address, which is another one each time.
        match self.name {
            IteratorName::Function(function) => write!(f, "<generator object {function}>"),
            IteratorName::Class(class) => write!(f, "<{class} object>"),
        }
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
