//! The variable `loop` (Jinja2's `runtime.py`, `LoopContext`), and the items that loops go through.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Object, ObjectRepr, Value, ValueIter};
use minijinja::{Error, State};

use crate::python::arguments::Arguments;
use crate::python::generator::{Generator, Source};
use crate::refusal::invalid;
use crate::release::{Release, at_end};

/// The items of a value, one after the other.
pub(crate) enum Items {
    Known(ValueIter),
    Generator(Arc<Generator>),
}

impl Items {
    pub(crate) fn of(value: &Value) -> Result<Items, Error> {
        Ok(match value.downcast_object() {
            Some(generator) => Items::Generator(generator),
            None => Items::Known(value.try_iter()?),
        })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Value>, Error> {
        match self {
            Items::Known(items) => Ok(items.next()),
            Items::Generator(generator) => generator.first(),
        }
    }
}

/// What a loop that calls itself writes for other items, at a depth.
pub(crate) type Recurse =
    dyn Fn(&mut State<'_, '_>, Value, usize) -> Result<Value, Error> + Send + Sync;

pub(crate) struct Loop {
    /// How many items there are. None for a generator.
    length: Option<usize>,
    /// How many iterations have begun.
    index: AtomicUsize,
    /// How many loops around this one are the same loop.
    pub(crate) depth: usize,
    /// Calls the loop again, if it is `recursive`.
    recursion: Option<Arc<Recurse>>,
    state: Mutex<LoopState>,
}

struct LoopState {
    items: Items,
    previous: Option<Value>,
    current: Option<Value>,
    next: Option<Value>,
    /// The values of the last call of `loop.changed(…)`.
    last: Option<Vec<Value>>,
}

impl Loop {
    pub(crate) fn over(
        value: &Value,
        depth: usize,
        recursion: Option<Arc<Recurse>>,
    ) -> Result<Arc<Loop>, Error> {
        let items = match Source::of_generator(value) {
            // What the loop has looked at in advance, nobody else gets.
            Some(mut source) => Items::of(&Generator::lazy("ahead", move || source.next())?)?,
            None => Items::of(value)?,
        };
        Ok(Arc::new(Loop {
            length: value.len(),
            index: AtomicUsize::new(0),
            depth,
            recursion,
            state: Mutex::new(LoopState {
                items,
                previous: None,
                current: None,
                next: None,
                last: None,
            }),
        }))
    }

    /// The loop that a value is, if it is one.
    #[inline]
    pub(crate) fn of(value: &Value) -> Option<&Loop> {
        value.downcast_object_ref()
    }

    /// Begins the next iteration.
    pub(crate) fn advance(&self) -> Result<Option<Value>, Error> {
        self.index.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        let next = match state.next.take() {
            Some(next) => Some(next),
            None => state.items.next()?,
        };
        state.previous = std::mem::replace(&mut state.current, next.clone());
        Ok(next)
    }

    fn lock(&self) -> MutexGuard<'_, LoopState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many items there are. To know this of a generator, all its items are computed.
    fn length(&self) -> usize {
        self.length.unwrap_or_else(|| match &self.lock().items {
            Items::Generator(items) => self.index() + items.look_ahead().left().len(),
            Items::Known(_) => self.index(),
        })
    }

    fn next(&self) -> Result<Option<Value>, Error> {
        let mut state = self.lock();
        if let Items::Generator(items) = &state.items {
            return items.peek();
        }
        if state.next.is_none() {
            state.next = state.items.next()?;
        }
        Ok(state.next.clone())
    }

    fn index(&self) -> usize {
        self.index.load(Ordering::Relaxed)
    }

    pub(crate) fn attribute(&self, name: &str) -> Result<Value, Error> {
        let index = self.index();
        Ok(Value::from(match name {
            "index" => index,
            "index0" => index.wrapping_sub(1),
            "first" => return Ok(Value::from(index == 1)),
            "last" => {
                return Ok(Value::from(match self.length {
                    Some(length) => index >= length,
                    None => self.next()?.is_none(),
                }));
            }
            "length" => self.length(),
            "revindex" => (self.length() + 1).saturating_sub(index),
            "revindex0" => self.length().saturating_sub(index),
            "depth" => self.depth + 1,
            "depth0" => self.depth,
            "previtem" => return Ok(self.lock().previous.clone().unwrap_or_default()),
            "nextitem" => return Ok(self.next()?.unwrap_or_default()),
            _ => return Ok(Value::UNDEFINED),
        }))
    }

    /// `loop.changed(…)`: keeps the values, and gives those of the last call.
    pub(crate) fn change(self: &Arc<Self>, values: Vec<Value>) -> Option<Vec<Value>> {
        let last = self.lock().last.replace(values);
        // The values may hold the loop itself.
        if last.is_none() {
            at_end(self);
        }
        last
    }
}

impl Release for Loop {
    fn release(&self) {
        // The lock is open again when the values are dropped.
        let last = self.lock().last.take();
        drop(last);
    }
}

impl fmt::Debug for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<LoopContext {}/{}>", self.index(), self.length())
    }
}

impl Object for Loop {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let value = self.attribute(key).unwrap_or_else(Value::from);
        (!value.is_undefined()).then_some(value)
    }

    /// `loop(iterable)`
    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let Some(recursion) = &self.recursion else {
            return Err(invalid("the loop must be `recursive` to be called"));
        };
        let items = Arguments::of_call(["iterable"], args)?;
        recursion(state, items.required(0)?.clone(), self.depth + 1)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
