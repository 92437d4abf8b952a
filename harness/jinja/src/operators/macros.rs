//! Macros with Python's rules for arguments.
//!
//! minijinja binds arguments by its own rules and knows no `varargs` and `kwargs`. Here minijinja's
//! macro takes everything by position. A template sees only a [`BoundMacro`] around it, which binds
//! the arguments of a call as Jinja2 3.1.6 does (`runtime.py`, `Macro.__call__`).

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Rest, Tuple, Value, from_args};
use minijinja::{Error, ErrorKind, State};

use crate::meter::{ENTRY, OBJECT, SLOT, produce, work};
use crate::operator::Operator;
use crate::provenance;
use crate::python::undefined::undefined;
use crate::registry::Registry;

/// Adds the operators to a registry.
pub(super) fn add(registry: &mut Registry<'_>) {
    registry.add_operator(Operator::IsMissing, is_missing);
    registry.add_operator(Operator::Bind, bind);
}

#[derive(Debug)]
pub(crate) struct Signature {
    /// Empty for the macro of a call block.
    pub(crate) name: String,
    /// The names of the arguments, without the three special ones.
    pub(crate) arguments: Vec<String>,
    /// How many of the arguments have no default: they come first.
    pub(crate) required: usize,
    /// How many names from outside the macro may keep.
    pub(crate) enclosed: usize,
    /// Whether the macro reads `caller`, even as an ordinary argument.
    pub(crate) reads_caller: bool,
    pub(crate) takes_kwargs: bool,
    pub(crate) takes_varargs: bool,
}

impl Signature {
    /// Whether the macro gets `caller` besides its arguments.
    pub(crate) fn takes_caller(&self) -> bool {
        self.reads_caller && !self.arguments.iter().any(|name| name == "caller")
    }

    /// Whether the arguments of a call can be handed over as they are.
    fn is_bound(&self, args: &[Value]) -> bool {
        args.len() == self.arguments.len()
            && !self.takes_caller()
            && !self.takes_kwargs
            && !self.takes_varargs
            && !args.last().is_some_and(Value::is_kwargs)
    }

    /// The arguments of a call by position, as minijinja's macro takes them.
    fn bind(&self, args: &[Value]) -> Result<Vec<Value>, Error> {
        let (given, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
        // Each name is looked for among the others.
        let named = kwargs.args().count();
        work((named + 1) * (self.arguments.len() + given.len() + named))?;
        produce(SLOT * (self.arguments.len() + given.len()) + ENTRY * named)?;
        let mut given = given.0.into_iter();
        let mut bound: Vec<Value> = given.by_ref().take(self.arguments.len()).collect();
        let rest: Vec<Value> = given.collect();
        let mut named: Vec<&str> = kwargs.args().collect();
        let mut take = |name: &str| -> Result<Option<Value>, Error> {
            match named.iter().position(|other| *other == name) {
                None => Ok(None),
                Some(at) => {
                    named.remove(at);
                    kwargs.peek::<Value>(name).map(Some)
                }
            }
        };
        let by_position = bound.len();
        for name in &self.arguments[by_position..] {
            let value = take(name)?;
            // The body of the macro asks whether an argument with a default is missing.
            bound.push(match value {
                Some(value) => value,
                None if bound.len() < self.required => {
                    undefined(|| format!("parameter '{name}' was not provided"))
                }
                None => Value::from_object(Missing),
            });
        }
        if self.takes_caller() {
            bound.push(take("caller")?.unwrap_or_default());
        }
        if self.takes_kwargs {
            let mut pairs = Vec::new();
            for name in named {
                pairs.push((Value::from(name), kwargs.peek::<Value>(name)?));
            }
            bound.push(Value::from_pairs(pairs));
        } else if let Some(name) = named.first() {
            return Err(Error::new(
                ErrorKind::TooManyArguments,
                format!("macro {:?} takes no keyword argument {name:?}", self.name),
            ));
        }
        if self.takes_varargs {
            bound.push(Value::from(Tuple::from(rest)));
        } else if !rest.is_empty() {
            return Err(Error::new(
                ErrorKind::TooManyArguments,
                format!(
                    "macro {:?} takes not more than {} argument(s)",
                    self.name,
                    self.arguments.len()
                ),
            ));
        }
        Ok(bound)
    }
}

impl Object for Signature {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}

/// An argument that was not given.
#[derive(Debug)]
struct Missing;

impl Object for Missing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }
}

/// Whether an argument was not given.
fn is_missing(value: &Value) -> bool {
    value.downcast_object_ref::<Missing>().is_some()
}

/// A macro that binds its arguments by a signature.
struct BoundMacro {
    by_position: Value,
    signature: Arc<Signature>,
}

/// Gives a macro of minijinja's its signature.
fn bind(by_position: Value, signature: &Value) -> Result<Value, Error> {
    let signature = signature
        .downcast_object::<Signature>()
        .ok_or_else(|| Error::from(ErrorKind::BadSerialization))?;
    produce(2 * OBJECT + SLOT * signature.arguments.len() + ENTRY * signature.enclosed)?;
    Ok(Value::from_object(BoundMacro {
        by_position,
        signature,
    }))
}

/// Whether a value is a macro.
pub(crate) fn is_macro(value: &Value) -> bool {
    value.downcast_object_ref::<BoundMacro>().is_some()
}

impl BoundMacro {
    fn call_plainly(&self, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        if self.signature.is_bound(args) {
            return self.by_position.call(state, args);
        }
        let bound = self.signature.bind(args)?;
        self.by_position.call(state, &bound)
    }
}

impl fmt::Debug for BoundMacro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.signature.name.as_str() {
            "" => f.write_str("<Macro anonymous>"),
            name => write!(f, "<Macro '{name}'>"),
        }
    }
}

impl Object for BoundMacro {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let signature = &self.signature;
        Some(match key.as_str()? {
            "name" if signature.name.is_empty() => Value::from(()),
            "name" => Value::from(signature.name.as_str()),
            "arguments" => {
                let names = signature
                    .arguments
                    .iter()
                    .map(|name| Value::from(name.as_str()));
                Value::from(Tuple::from(names.collect::<Vec<_>>()))
            }
            "caller" => Value::from(signature.reads_caller),
            "catch_kwargs" => Value::from(signature.takes_kwargs),
            "catch_varargs" => Value::from(signature.takes_varargs),
            _ => return None,
        })
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        if !provenance::is_traced() {
            return self.call_plainly(state, args);
        }
        provenance::begin();
        let text = self.call_plainly(state, args)?;
        provenance::end();
        Ok(provenance::captured(text))
    }
}
