//! Macros with Python's rules for arguments.
//!
//! A macro binds the arguments of a call as Jinja2 3.1.6 does (`runtime.py`, `Macro.__call__`).

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Rest, Tuple, Value, from_args};
use minijinja::{Error, ErrorKind, State};

use crate::meter::{ENTRY, SLOT, produce, work};
use crate::provenance;
use crate::python::undefined::undefined;

#[derive(Debug)]
pub(crate) struct Signature {
    /// Empty for the macro of a call block.
    pub(crate) name: String,
    /// The names of the arguments, without the three special ones.
    pub(crate) arguments: Vec<String>,
    /// How many of the arguments have no default: they come first.
    pub(crate) required: usize,
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

    /// The arguments of a call by position, with the three special ones after them.
    fn bind(&self, args: &[Value]) -> Result<Vec<Option<Value>>, Error> {
        let (given, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
        // Each name is looked for among the others.
        let named = kwargs.args().count();
        work((named + 1) * (self.arguments.len() + given.len() + named))?;
        produce(SLOT * (self.arguments.len() + given.len()) + ENTRY * named)?;
        let mut given = given.0.into_iter();
        let mut bound: Vec<Option<Value>> = given
            .by_ref()
            .take(self.arguments.len())
            .map(Some)
            .collect();
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
            bound.push(value.or_else(|| {
                let is_required = bound.len() < self.required;
                is_required.then(|| undefined(|| format!("parameter '{name}' was not provided")))
            }));
        }
        if self.takes_caller() {
            bound.push(Some(take("caller")?.unwrap_or_default()));
        }
        if self.takes_kwargs {
            let mut pairs = Vec::new();
            for name in named {
                pairs.push((Value::from(name), kwargs.peek::<Value>(name)?));
            }
            bound.push(Some(Value::from_pairs(pairs)));
        } else if let Some(name) = named.first() {
            return Err(Error::new(
                ErrorKind::TooManyArguments,
                format!("macro {:?} takes no keyword argument {name:?}", self.name),
            ));
        }
        if self.takes_varargs {
            bound.push(Some(Value::from(Tuple::from(rest))));
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

/// What a macro does with its arguments. None is an argument that was not given.
pub(crate) type MacroBody =
    dyn Fn(&mut State<'_, '_>, Vec<Option<Value>>) -> Result<Value, Error> + Send + Sync;

/// A macro that a template can call.
pub(crate) struct Macro {
    pub(crate) signature: Arc<Signature>,
    pub(crate) body: Box<MacroBody>,
}

/// Whether a value is a macro.
pub(crate) fn is_macro(value: &Value) -> bool {
    value.downcast_object_ref::<Macro>().is_some()
}

impl fmt::Debug for Macro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.signature.name.as_str() {
            "" => f.write_str("<Macro anonymous>"),
            name => write!(f, "<Macro '{name}'>"),
        }
    }
}

impl Object for Macro {
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
        provenance::begin();
        let text = (self.body)(state, self.signature.bind(args)?)?;
        provenance::end();
        Ok(provenance::captured(text))
    }
}
