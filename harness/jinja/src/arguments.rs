//! The arguments of a call, bound to names as Python binds them.

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind};

use super::numbers::{Number, number};

/// What a call gave for each of the names.
pub(super) struct Arguments<const N: usize> {
    names: [&'static str; N],
    given: [Option<Value>; N],
}

impl<const N: usize> Arguments<N> {
    /// Binds what was given by position and by name.
    pub(super) fn of(
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
            // There are none, or none that has a name.
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
    pub(super) fn get(&self, at: usize) -> Option<&Value> {
        self.given[at].as_ref()
    }

    /// The argument at a place, if it was given and is not `None`.
    pub(super) fn some(&self, at: usize) -> Option<&Value> {
        self.get(at).filter(|value| !value.is_none())
    }

    /// An argument that has to be there.
    pub(super) fn required(&self, at: usize) -> Result<&Value, Error> {
        self.get(at)
            .ok_or_else(|| Error::new(ErrorKind::MissingArgument, self.names[at]))
    }

    /// Whether an argument is true, as `if` would see it.
    pub(super) fn truth(&self, at: usize, otherwise: bool) -> bool {
        self.get(at).map_or(otherwise, Value::is_true)
    }

    /// An integer; a boolean is one.
    pub(super) fn int(&self, at: usize, otherwise: i64) -> Result<i64, Error> {
        match self.get(at) {
            None => Ok(otherwise),
            Some(value) => match number(value) {
                Some(Number::Int(int)) => {
                    Ok(i64::try_from(int).unwrap_or(if int < 0 { i64::MIN } else { i64::MAX }))
                }
                _ => Err(self.wrong_type(at)),
            },
        }
    }

    /// A text.
    pub(super) fn text<'a>(&'a self, at: usize, otherwise: &'a str) -> Result<&'a str, Error> {
        match self.get(at) {
            None => Ok(otherwise),
            Some(value) => value.as_str().ok_or_else(|| self.wrong_type(at)),
        }
    }

    /// The error of an argument that has another type.
    pub(super) fn wrong_type(&self, at: usize) -> Error {
        Error::new(
            ErrorKind::InvalidOperation,
            format!("{} has the wrong type", self.names[at]),
        )
    }
}
