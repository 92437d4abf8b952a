//! Where the operators, filters, tests and functions of an environment are added. Every one that
//! gives a value can be watched.

use minijinja::functions::Function;
use minijinja::value::{FunctionArgs, FunctionResult, Value};
use minijinja::{Environment, Error, State};

use crate::operator::Operator;
use crate::python::arguments::AllArguments;

/// Arguments that mean the same as others, if there are any.
pub(crate) type Arguments = Result<Option<Vec<Value>>, Error>;

/// What looks at each call of a filter, a test or an operator, whose name is the one for people.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    /// Receives the arguments before the call, and gives others that mean the same.
    pub(crate) before: fn(&'static str, &[Value]) -> Arguments,
    /// Receives the arguments and the result, and gives the value that the template receives.
    pub(crate) after: fn(&'static str, &[Value], Value) -> Value,
    /// Receives the arguments and the error, and gives the error that the template receives.
    pub(crate) failed: fn(&[Value], Error) -> Error,
}

/// An environment to which callables are added.
pub(crate) struct Registry<'e> {
    pub(crate) environment: &'e mut Environment<'static>,
    /// What looks at the calls of filters and operators.
    watch: Option<Watch>,
}

impl<'e> Registry<'e> {
    /// Adds callables as they are.
    pub(crate) fn of(environment: &'e mut Environment<'static>) -> Registry<'e> {
        let watch = None;
        Registry { environment, watch }
    }

    /// Adds callables that are watched.
    pub(crate) fn watched(environment: &'e mut Environment<'static>, watch: Watch) -> Registry<'e> {
        let watch = Some(watch);
        Registry { environment, watch }
    }

    pub(crate) fn add_operator<F, Rv, Args>(&mut self, operator: Operator, function: F)
    where
        F: Function<Rv, Args>,
        Rv: FunctionResult,
        Args: for<'a> FunctionArgs<'a>,
    {
        self.add_filter(operator.name(), operator.label(), function);
    }

    /// Adds a filter under a name. People know it by its label.
    pub(crate) fn add_filter<F, Rv, Args>(
        &mut self,
        name: &'static str,
        label: &'static str,
        function: F,
    ) where
        F: Function<Rv, Args>,
        Rv: FunctionResult,
        Args: for<'a> FunctionArgs<'a>,
    {
        match self.watch {
            Some(watch) => self
                .environment
                .add_filter(name, watched(watch, label, function)),
            None => self.environment.add_filter(name, function),
        }
    }

    /// Adds a test under a name. People know it by its label.
    pub(crate) fn add_test<F, Rv, Args>(&mut self, name: &'static str, label: &'static str, test: F)
    where
        F: Function<Rv, Args>,
        Rv: FunctionResult,
        Args: for<'a> FunctionArgs<'a>,
    {
        match self.watch {
            Some(watch) => self.environment.add_test(name, watched(watch, label, test)),
            None => self.environment.add_test(name, test),
        }
    }
}

/// A function whose calls are watched.
fn watched<F, Rv, Args>(
    watch: Watch,
    label: &'static str,
    function: F,
) -> impl Fn(&mut State<'_, '_>, AllArguments<'_>) -> Result<Value, Error> + Send + Sync + 'static
where
    F: Function<Rv, Args>,
    Rv: FunctionResult,
    Args: for<'a> FunctionArgs<'a>,
{
    let function = Value::from_function(function);
    move |state, args| {
        let others = (watch.before)(label, args.0)?;
        let meant = others.as_deref().unwrap_or(args.0);
        let result = function.call(state, meant);
        let result = result.map_err(|error| (watch.failed)(args.0, error))?;
        Ok((watch.after)(label, meant, result))
    }
}
