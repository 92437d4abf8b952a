//! Python's generators, which filters such as `map` and `select` give.
//!
//! A generator has no length and no JSON form, it is true even when it gives no items, and
//! it gives each item only once: whoever asks next gets the next one.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::Error;
use minijinja::value::{Enumerator, Object, ObjectRepr, Value};

use crate::meter::{OBJECT, SLOT, produce};

/// The next item, or None after the last one.
type Next = Result<Option<Value>, Error>;

/// Items that are given only once.
pub(crate) struct Generator {
    /// What Python calls it.
    name: IteratorName,
    items: Mutex<Items>,
}

struct Items {
    /// The items that were computed before anybody asked for them.
    ahead: VecDeque<Value>,
    /// How many items were given.
    given: usize,
    /// Computes the items after those. None after the last item, after an error, and while it runs:
    /// a generator cannot ask itself.
    rest: Option<Box<dyn FnMut() -> Next + Send>>,
}

/// What Python calls an iterator.
enum IteratorName {
    /// A generator, by the function of Jinja2 that makes it.
    Function(&'static str),
    Class(&'static str),
}

/// The items of a value, one after the other. Those of a generator are shared with everybody else
/// who takes from it.
pub(crate) enum Source {
    Shared(Arc<Generator>),
    Own(std::vec::IntoIter<Value>),
}

impl Source {
    pub(crate) fn of_generator(value: &Value) -> Option<Source> {
        value.downcast_object().map(Source::Shared)
    }

    pub(crate) fn next(&mut self) -> Next {
        match self {
            Source::Shared(generator) => generator.first(),
            Source::Own(items) => Ok(items.next()),
        }
    }
}

/// The items of a generator that were computed in advance.
pub(crate) struct Ahead<'g>(MutexGuard<'g, Items>);

impl Ahead<'_> {
    /// How many items were given before.
    pub(crate) fn given(&self) -> usize {
        self.0.given
    }

    pub(crate) fn left(&self) -> &VecDeque<Value> {
        &self.0.ahead
    }
}

impl Generator {
    /// The generator that a value is, if it is one.
    #[inline]
    pub(crate) fn of(value: &Value) -> Option<&Generator> {
        value.downcast_object_ref()
    }

    /// A generator whose items are computed when somebody asks for them.
    pub(crate) fn lazy(
        function: &'static str,
        next: impl FnMut() -> Next + Send + 'static,
    ) -> Result<Value, Error> {
        Generator::value(IteratorName::Function(function), VecDeque::new(), next)
    }

    /// An iterator of a class of Python's.
    pub(crate) fn iterator(class: &'static str, items: Vec<Value>) -> Result<Value, Error> {
        produce(SLOT * items.len())?;
        Generator::value(IteratorName::Class(class), items.into(), || Ok(None))
    }

    fn value(
        name: IteratorName,
        ahead: VecDeque<Value>,
        rest: impl FnMut() -> Next + Send + 'static,
    ) -> Result<Value, Error> {
        produce(OBJECT)?;
        Ok(Value::from_object(Generator {
            name,
            items: Mutex::new(Items {
                ahead,
                given: 0,
                rest: Some(Box::new(rest)),
            }),
        }))
    }

    /// All items that are left; none is left afterwards.
    pub(crate) fn run(&self) -> Result<Vec<Value>, Error> {
        let mut items = Vec::new();
        while let Some(item) = self.first()? {
            items.push(item);
        }
        produce(SLOT * items.len())?;
        Ok(items)
    }

    /// The first item that is left.
    pub(crate) fn first(&self) -> Next {
        let mut items = self.lock();
        let ahead = items.ahead.pop_front();
        let next = if ahead.is_some() {
            Ok(ahead)
        } else {
            drop(items);
            let next = self.compute();
            items = self.lock();
            next
        };
        items.given += usize::from(matches!(next, Ok(Some(_))));
        next
    }

    /// Computes the item after those that were computed before.
    fn compute(&self) -> Next {
        // Nobody else holds the lock while the item is computed: this may take from other generators.
        let rest = self.lock().rest.take();
        let Some(mut rest) = rest else {
            return Ok(None);
        };
        let next = rest();
        if matches!(next, Ok(Some(_))) {
            self.lock().rest = Some(rest);
        }
        next
    }

    /// The first item that is left, which stays here.
    pub(crate) fn peek(&self) -> Next {
        let first = self.lock().ahead.front().cloned();
        if first.is_some() {
            return Ok(first);
        }
        let next = self.compute()?;
        self.lock().ahead.extend(next.clone());
        Ok(next)
    }

    /// Computes all items that are left. They stay here, and so does the error after them.
    pub(crate) fn look_ahead(&self) -> Ahead<'_> {
        loop {
            match self.compute() {
                Ok(Some(item)) => self.lock().ahead.push_back(item),
                Ok(None) => break,
                Err(error) => {
                    let mut error = Some(error);
                    let again = move || error.take().map_or(Ok(None), Err);
                    self.lock().rest = Some(Box::new(again));
                    break;
                }
            }
        }
        Ahead(self.lock())
    }

    /// Takes the items up to one that was computed in advance. Whether it was still there.
    pub(crate) fn take_to(&self, at: usize) -> bool {
        let mut items = self.lock();
        let is_left = items.given <= at;
        while items.given <= at && items.ahead.pop_front().is_some() {
            items.given += 1;
        }
        is_left
    }

    fn lock(&self) -> MutexGuard<'_, Items> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
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
        let generator = Arc::clone(self);
        Enumerator::Iter(Box::new(std::iter::from_fn(move || {
            generator
                .first()
                .transpose()
                .map(|item| item.unwrap_or_else(Value::from))
        })))
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
