//! The names of the filters and tests that a template may use, and their costs.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use minijinja::functions::Function;
use minijinja::value::{FunctionArgs, FunctionResult, Value};
use minijinja::{Error, State};

use crate::meter::{Cost, LETTER};
use crate::watch;

/// The filters that cost something.
const FILTERS: &[(&str, Cost)] = &[
    (
        "capitalize",
        Cost {
            byte: 3 * LETTER,
            text: 2,
        },
    ),
    ("center", Cost::COPIES),
    ("e", Cost::READS),
    ("escape", Cost::READS),
    ("filesizeformat", Cost::READS),
    ("float", Cost::REWRITES.times(2)),
    ("forceescape", Cost::READS),
    ("format", Cost::READS),
    ("indent", Cost::REWRITES),
    ("int", Cost::REWRITES.times(4)),
    ("lower", Cost::SPELLS),
    ("replace", Cost::SEARCHES),
    ("reverse", Cost::REWRITES),
    ("safe", Cost::COPIES),
    ("string", Cost::COPIES),
    ("striptags", Cost::SPELLS.times(4)),
    ("title", Cost::SPELLS),
    ("trim", Cost::REWRITES),
    ("truncate", Cost::REWRITES.times(3)),
    ("upper", Cost::SPELLS),
    ("urlencode", Cost::REWRITES.times(3)),
    ("wordcount", Cost::KNOWS),
    ("wordwrap", Cost::SPELLS.times(24)),
    ("xmlattr", Cost::READS),
];

/// The tests that cost something.
const TESTS: &[(&str, Cost)] = &[
    ("lower", Cost::KNOWS),
    ("sameas", Cost::COPIES.times(0)),
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

impl Registry {
    /// Adds a filter. Each call counts its cost before it runs.
    pub(super) fn filter<F, Rv, Args>(&mut self, name: &'static str, filter: F)
    where
        F: Function<Rv, Args>,
        Rv: FunctionResult,
        Args: for<'a> FunctionArgs<'a>,
    {
        let callable = callable(FILTERS, name, Value::from_function(filter));
        self.filters.insert(name, callable);
    }

    /// Adds a test. Each call counts its cost before it runs.
    pub(super) fn test<F, Rv, Args>(&mut self, name: &'static str, test: F)
    where
        F: Function<Rv, Args>,
        Rv: FunctionResult,
        Args: for<'a> FunctionArgs<'a>,
    {
        let callable = callable(TESTS, name, Value::from_function(test));
        self.tests.insert(name, callable);
    }
}

fn callable(known: &[(&str, Cost)], name: &'static str, function: Value) -> Callable {
    let found = known.iter().find(|(known, _)| *known == name);
    Callable {
        name,
        cost: found.map_or(Cost::NOTHING, |(_, cost)| *cost),
        function,
    }
}
