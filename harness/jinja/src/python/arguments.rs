//! The arguments of a call, bound to names as Python binds them.

use minijinja::value::{ArgType, Kwargs, Rest, Value, from_args};
use minijinja::{Error, ErrorKind, State};

use crate::python::numbers::{Number, clamped, number};
use crate::refusal::invalid;

/// All arguments of a call, as they are.
pub(crate) struct AllArguments<'a>(pub(crate) &'a [Value]);

impl<'a> ArgType<'a> for AllArguments<'_> {
    type Output = AllArguments<'a>;

    fn from_value(value: Option<&'a Value>) -> Result<AllArguments<'a>, Error> {
        Ok(AllArguments(value.map_or(&[], std::slice::from_ref)))
    }

    fn from_state_and_values(
        _: Option<&'a State<'_, '_>>,
        values: &'a [Value],
        offset: usize,
    ) -> Result<(AllArguments<'a>, usize), Error> {
        let rest = values.get(offset..).unwrap_or_default();
        Ok((AllArguments(rest), rest.len()))
    }

    fn from_state_and_values_mut(
        _: Option<&State<'_, '_>>,
        values: &'a [Value],
        offset: usize,
    ) -> Result<(AllArguments<'a>, usize), Error> {
        let rest = values.get(offset..).unwrap_or_default();
        Ok((AllArguments(rest), rest.len()))
    }
}

/// The values that a call gave, each under the name of an argument.
pub(crate) struct Arguments<const N: usize> {
    names: [&'static str; N],
    given: [Option<Value>; N],
}

impl<const N: usize> Arguments<N> {
    /// Binds all values that a call gave. Most calls give none by name.
    pub(crate) fn of_call(names: [&'static str; N], all: &[Value]) -> Result<Arguments<N>, Error> {
        if all.last().is_some_and(Value::is_kwargs) {
            let (positional, kwargs): (Rest<Value>, Kwargs) = from_args(all)?;
            return Arguments::of(names, &positional, &kwargs);
        }
        if all.len() > N {
            return Err(Error::from(ErrorKind::TooManyArguments));
        }
        let mut given = [const { None }; N];
        for (place, value) in given.iter_mut().zip(all) {
            *place = Some(value.clone());
        }
        Ok(Arguments { names, given })
    }

    /// Binds the values that were given by position and by name.
    pub(crate) fn of(
        names: [&'static str; N],
        positional: &[Value],
        kwargs: &Kwargs,
    ) -> Result<Arguments<N>, Error> {
        if positional.len() > N {
            return Err(Error::from(ErrorKind::TooManyArguments));
        }
        let mut given = [const { None }; N];
        for (place, value) in given.iter_mut().zip(positional) {
            *place = Some(value.clone());
        }
        if kwargs.args().next().is_none() {
            // There are no keyword arguments with a text as name.
            kwargs.assert_all_used()?;
            return Ok(Arguments { names, given });
        }
        for (place, name) in given.iter_mut().zip(names) {
            if kwargs.has(name) {
                if place.is_some() {
                    return Err(Error::new(
                        ErrorKind::TooManyArguments,
                        format!("{name} is given twice"),
                    ));
                }
                *place = Some(kwargs.get::<Value>(name)?);
            }
        }
        kwargs.assert_all_used()?;
        Ok(Arguments { names, given })
    }

    /// The argument at a place, if it was given.
    pub(crate) fn get(&self, at: usize) -> Option<&Value> {
        self.given[at].as_ref()
    }

    /// The argument at a place, if it was given and is not `None`.
    pub(crate) fn some(&self, at: usize) -> Option<&Value> {
        self.get(at).filter(|value| !value.is_none())
    }

    /// An argument that a call must give.
    pub(crate) fn required(&self, at: usize) -> Result<&Value, Error> {
        self.get(at)
            .ok_or_else(|| Error::new(ErrorKind::MissingArgument, self.names[at]))
    }

    /// Whether an argument is true, as `if` would see it.
    pub(crate) fn truth(&self, at: usize, otherwise: bool) -> bool {
        self.get(at).map_or(otherwise, Value::is_true)
    }

    /// The integer at a place. A boolean is an integer too.
    pub(crate) fn int(&self, at: usize, otherwise: i64) -> Result<i64, Error> {
        match self.get(at) {
            None => Ok(otherwise),
            Some(value) => match number(value) {
                Some(Number::Int(int)) => Ok(clamped(int)),
                _ => Err(self.wrong_type(at)),
            },
        }
    }

    pub(crate) fn text<'a>(&'a self, at: usize, otherwise: &'a str) -> Result<&'a str, Error> {
        match self.get(at) {
            None => Ok(otherwise),
            Some(value) => value.as_str().ok_or_else(|| self.wrong_type(at)),
        }
    }

    /// The error of an argument that has another type.
    pub(crate) fn wrong_type(&self, at: usize) -> Error {
        wrong_type(self.names[at])
    }
}

/// The arguments of a method without named arguments, with a required number of them. An undefined
/// argument counts as present.
pub(super) fn positional<const N: usize>(
    args: &[Value],
    least: usize,
) -> Result<[Option<&Value>; N], Error> {
    if args.len() > N || args.iter().any(Value::is_kwargs) {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    if args.len() < least {
        return Err(Error::from(ErrorKind::MissingArgument));
    }
    let mut all = [None; N];
    for (place, value) in all.iter_mut().zip(args) {
        *place = Some(value);
    }
    Ok(all)
}

/// Reads an integer as a count or a size. A float is an error, and so is an integer of more than 64
/// bits.
pub(crate) fn count_of(value: &Value) -> Result<i64, Error> {
    match number(value) {
        Some(Number::Int(int)) => {
            i64::try_from(int).map_err(|_| invalid("the number is too large"))
        }
        _ => Err(invalid(format!(
            "{} cannot be interpreted as an integer",
            value.kind()
        ))),
    }
}

/// The error of an argument that has another type, given its name.
pub(crate) fn wrong_type(name: &str) -> Error {
    invalid(format!("{name} has the wrong type"))
}
