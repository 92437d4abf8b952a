//! The names of the filters and tests that a template may use, and their costs.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use minijinja::functions::Function;
use minijinja::value::{FunctionArgs, FunctionResult, Value};
use minijinja::{Error, State};

use crate::meter::{Cost, LETTER};
use crate::watch;

/// Jinja2 3.1.6, `filters.py` (`FILTERS`), and transformers' `tojson`.
const FILTERS: [(&str, Cost); 54] = [
    ("abs", Cost::NOTHING),
    ("attr", Cost::NOTHING),
    ("batch", Cost::NOTHING),
    (
        "capitalize",
        Cost {
            byte: 3 * LETTER,
            text: 2,
        },
    ),
    ("center", Cost::COPIES),
    ("count", Cost::NOTHING),
    ("d", Cost::NOTHING),
    ("default", Cost::NOTHING),
    ("dictsort", Cost::NOTHING),
    ("e", Cost::READS),
    ("escape", Cost::READS),
    ("filesizeformat", Cost::READS),
    ("first", Cost::NOTHING),
    ("float", Cost::REWRITES.times(2)),
    ("forceescape", Cost::READS),
    ("format", Cost::READS),
    ("groupby", Cost::NOTHING),
    ("indent", Cost::REWRITES),
    ("int", Cost::REWRITES.times(4)),
    ("items", Cost::NOTHING),
    ("join", Cost::NOTHING),
    ("last", Cost::NOTHING),
    ("length", Cost::NOTHING),
    ("list", Cost::NOTHING),
    ("lower", Cost::SPELLS),
    ("map", Cost::NOTHING),
    ("max", Cost::NOTHING),
    ("min", Cost::NOTHING),
    ("pprint", Cost::NOTHING),
    ("random", Cost::NOTHING),
    ("reject", Cost::NOTHING),
    ("rejectattr", Cost::NOTHING),
    ("replace", Cost::SEARCHES),
    ("reverse", Cost::REWRITES),
    ("round", Cost::NOTHING),
    ("safe", Cost::COPIES),
    ("select", Cost::NOTHING),
    ("selectattr", Cost::NOTHING),
    ("slice", Cost::NOTHING),
    ("sort", Cost::NOTHING),
    ("string", Cost::COPIES),
    ("striptags", Cost::SPELLS.times(4)),
    ("sum", Cost::NOTHING),
    ("title", Cost::SPELLS),
    ("tojson", Cost::NOTHING),
    ("trim", Cost::REWRITES),
    ("truncate", Cost::REWRITES.times(3)),
    ("unique", Cost::NOTHING),
    ("upper", Cost::SPELLS),
    ("urlencode", Cost::REWRITES.times(3)),
    ("urlize", Cost::NOTHING),
    ("wordcount", Cost::KNOWS),
    ("wordwrap", Cost::SPELLS.times(24)),
    ("xmlattr", Cost::READS),
];

/// Jinja2 3.1.6, `tests.py` (`TESTS`).
const TESTS: [(&str, Cost); 39] = [
    ("!=", Cost::NOTHING),
    ("<", Cost::NOTHING),
    ("<=", Cost::NOTHING),
    ("==", Cost::NOTHING),
    (">", Cost::NOTHING),
    (">=", Cost::NOTHING),
    ("boolean", Cost::NOTHING),
    ("callable", Cost::NOTHING),
    ("defined", Cost::NOTHING),
    ("divisibleby", Cost::NOTHING),
    ("eq", Cost::NOTHING),
    ("equalto", Cost::NOTHING),
    ("escaped", Cost::NOTHING),
    ("even", Cost::NOTHING),
    ("false", Cost::NOTHING),
    ("filter", Cost::NOTHING),
    ("float", Cost::NOTHING),
    ("ge", Cost::NOTHING),
    ("greaterthan", Cost::NOTHING),
    ("gt", Cost::NOTHING),
    ("in", Cost::NOTHING),
    ("integer", Cost::NOTHING),
    ("iterable", Cost::NOTHING),
    ("le", Cost::NOTHING),
    ("lessthan", Cost::NOTHING),
    ("lower", Cost::KNOWS),
    ("lt", Cost::NOTHING),
    ("mapping", Cost::NOTHING),
    ("ne", Cost::NOTHING),
    ("none", Cost::NOTHING),
    ("number", Cost::NOTHING),
    ("odd", Cost::NOTHING),
    ("sameas", Cost::COPIES.times(0)),
    ("sequence", Cost::NOTHING),
    ("string", Cost::NOTHING),
    ("test", Cost::NOTHING),
    ("true", Cost::NOTHING),
    ("undefined", Cost::NOTHING),
    ("upper", Cost::KNOWS),
];

/// A filter or a test.
pub(crate) struct Callable {
    name: &'static str,
    cost: Cost,
    function: Value,
}

impl Callable {
    pub(crate) fn call(&self, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        watch::call(self.name, args, |args| {
            self.cost.charge(args)?;
            self.function.call(state, args)
        })
    }
}

/// All filters and tests, by their names.
#[derive(Default)]
pub(crate) struct Registry {
    filters: BTreeMap<&'static str, Callable>,
    tests: BTreeMap<&'static str, Callable>,
}

static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// Makes the filters and tests known, once.
pub(super) fn register(add: impl FnOnce(&mut Registry)) {
    REGISTRY.get_or_init(|| {
        let mut registry = Registry::default();
        add(&mut registry);
        registry
    });
}

/// A filter of Jinja2's.
pub(crate) fn filter(name: &str) -> Option<&'static Callable> {
    REGISTRY.get()?.filters.get(name)
}

/// A test of Jinja2's.
pub(crate) fn test(name: &str) -> Option<&'static Callable> {
    REGISTRY.get()?.tests.get(name)
}

/// Whether Jinja2 has a filter of this name.
pub(crate) fn is_filter(name: &str) -> bool {
    FILTERS.iter().any(|(known, _)| *known == name)
}

/// Whether Jinja2 has a test of this name.
pub(crate) fn is_test(name: &str) -> bool {
    TESTS.iter().any(|(known, _)| *known == name)
}

/// Adds a filter. Each call counts its cost before it runs.
pub(super) fn add_filter<F, Rv, Args>(registry: &mut Registry, name: &'static str, filter: F)
where
    F: Function<Rv, Args>,
    Rv: FunctionResult,
    Args: for<'a> FunctionArgs<'a>,
{
    let callable = callable(&FILTERS, name, Value::from_function(filter));
    registry.filters.insert(name, callable);
}

/// Adds a test. Each call counts its cost before it runs.
pub(super) fn add_test<F, Rv, Args>(registry: &mut Registry, name: &'static str, test: F)
where
    F: Function<Rv, Args>,
    Rv: FunctionResult,
    Args: for<'a> FunctionArgs<'a>,
{
    let callable = callable(&TESTS, name, Value::from_function(test));
    registry.tests.insert(name, callable);
}

fn callable(known: &[(&str, Cost)], name: &'static str, function: Value) -> Callable {
    let found = known.iter().find(|(known, _)| *known == name);
    Callable {
        name,
        cost: found.map_or(Cost::SPELLS, |(_, cost)| *cost),
        function,
    }
}
