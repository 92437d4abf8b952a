//! The values of loops, and the methods of the variable `loop`.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{DynObject, Object, ObjectRepr, Rest, Value};
use minijinja::{Error, State};

use crate::meter::{OBJECT, SLOT, produce, recursed};
use crate::operator::Operator;
use crate::provenance;
use crate::python::comparisons::is_item;
use crate::python::generator::{Generator, Source};
use crate::python::iteration::{iterate, iterate_lazily, iterate_pairs};
use crate::python::kinds::is_loop;
use crate::python::namespaces::namespace;
use crate::refusal::invalid;
use crate::registry::Registry;
use crate::release::{Release, at_end};

/// Adds the operators to a registry.
pub(super) fn add(registry: &mut Registry<'_>) {
    registry.add_operator(Operator::Iterate, iterate_lazily);
    registry.add_operator(Operator::IteratePairs, iterate_pairs);
    registry.add_operator(Operator::IterateWhole, iterate);
    registry.add_operator(
        Operator::IterateAhead,
        |items: Value| match Source::of_generator(&items) {
            Some(mut source) => Generator::lazy("ahead", move || source.next()),
            None => iterate(items),
        },
    );
    registry.add_operator(Operator::LookAhead, look_ahead);
    registry.add_operator(Operator::Recurse, |items: Value| {
        recursed();
        provenance::begin();
        iterate(items)
    });
    registry.add_operator(Operator::Departure, |_: Value| namespace(Vec::new()));
    registry.add_operator(Operator::LoopMethod, loop_method);
}

/// The values of the last call of `loop.changed(…)`.
///
/// The loop keeps them for a comparison with the next ones. They may hold the loop itself, so the
/// end of the render drops them.
struct LastValues {
    values: Mutex<Vec<Value>>,
}

impl Release for LastValues {
    fn release(&self) {
        // The lock is open again when the values are dropped.
        let values = std::mem::take(&mut *self.lock());
        drop(values);
    }
}

impl LastValues {
    fn lock(&self) -> MutexGuard<'_, Vec<Value>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LastValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<the last values of a loop>")
    }
}

impl Object for LastValues {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        let other = other.downcast_ref::<LastValues>()?;
        let (own, others) = (self.lock().clone(), other.lock().clone());
        let are_equal = own.len() == others.len()
            && own
                .iter()
                .zip(&others)
                .all(|(a, b)| is_item(a, b).unwrap_or(false));
        Some(if are_equal {
            Ordering::Equal
        } else {
            Ordering::Less
        })
    }
}

/// An attribute of a loop that Jinja2's `LoopContext` knows only with a look at the next item, or at
/// all items. Of a generator, these items are then taken.
fn look_ahead(items: &Value, of: &Value, name: &str) -> Result<Value, Error> {
    let Some(items) = Generator::of(items) else {
        return of.get_attr(name);
    };
    if ["last", "nextitem"].contains(&name) {
        let next = items.peek()?;
        return Ok(match name {
            "last" => Value::from(next.is_none()),
            _ => next.unwrap_or_default(),
        });
    }
    let ahead = items.look_ahead();
    let (given, left) = (ahead.given(), ahead.left().len());
    Ok(Value::from(match name {
        "revindex" => left + 1,
        "revindex0" => left,
        _ => given + left,
    }))
}

/// `loop.changed(…)` and `loop.cycle(…)`, or a method of this name of another value.
fn loop_method(
    state: &mut State<'_, '_>,
    of: &Value,
    method: &str,
    args: Rest<Value>,
) -> Result<Value, Error> {
    if !is_loop(of) {
        return of.call_method(state, method, &args);
    }
    match method {
        // minijinja would divide by the number of arguments.
        "cycle" if args.is_empty() => Err(invalid("no items for cycling have been given")),
        "changed" => {
            produce(OBJECT + SLOT * args.len())?;
            let last = Arc::new(LastValues {
                values: Mutex::new(args.0),
            });
            at_end(&last);
            of.call_method(state, method, &[Value::from_dyn_object(last)])
        }
        _ => of.call_method(state, method, &args),
    }
}
