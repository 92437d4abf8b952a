//! The names of the filters and tests that a template may use, and their costs.

use minijinja::functions::Function;
use minijinja::value::{FunctionArgs, FunctionResult, Value};
use minijinja::{Error, State};

use crate::meter::{Cost, LETTER};
use crate::python::arguments::AllArguments;
use crate::registry::Registry;

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

/// Other names for the filters and tests that templates use most. minijinja looks names up in
/// ordered maps, and these names come first. No template can spell them. The filters share the map
/// with the [operators](crate::operator), so each has a letter that no operator has.
const USUAL_FILTERS: [(&str, &str); 3] = [("trim", "!!c"), ("default", "!!m"), ("tojson", "!!n")];
const USUAL_TESTS: [(&str, &str); 4] = [
    ("string", "!!a"),
    ("defined", "!!b"),
    ("mapping", "!!c"),
    ("none", "!!d"),
];

/// The name under which minijinja knows a filter, if Jinja2 has one of this name.
pub(crate) fn filter(name: &str) -> Option<&str> {
    is_filter(name).then(|| first(&USUAL_FILTERS, name))
}

/// The name under which minijinja knows a test, if Jinja2 has one of this name.
pub(crate) fn test(name: &str) -> Option<&str> {
    is_test(name).then(|| first(&USUAL_TESTS, name))
}

/// The name that comes first in minijinja's map, for those that are used most.
fn first<'n>(usual: &[(&str, &'static str)], name: &'n str) -> &'n str {
    let found = usual.iter().find(|(known, _)| *known == name);
    found.map_or(name, |(_, first)| first)
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
pub(super) fn add_filter<F, Rv, Args>(registry: &mut Registry<'_>, name: &'static str, filter: F)
where
    F: Function<Rv, Args>,
    Rv: FunctionResult,
    Args: for<'a> FunctionArgs<'a>,
{
    let first = first(&USUAL_FILTERS, name);
    match cost(&FILTERS, name) {
        Cost::NOTHING => registry.add_filter(first, name, filter),
        cost => registry.add_filter(first, name, counted(cost, Value::from_function(filter))),
    }
}

/// Adds a test. Each call counts its cost before it runs.
pub(super) fn add_test<F, Rv, Args>(registry: &mut Registry<'_>, name: &'static str, test: F)
where
    F: Function<Rv, Args>,
    Rv: FunctionResult,
    Args: for<'a> FunctionArgs<'a>,
{
    let first = first(&USUAL_TESTS, name);
    match cost(&TESTS, name) {
        Cost::NOTHING => registry.add_test(first, name, test),
        cost => registry.add_test(first, name, counted(cost, Value::from_function(test))),
    }
}

/// The cost of a filter or a test in its list.
fn cost(known: &[(&str, Cost)], name: &str) -> Cost {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map_or(Cost::SPELLS, |(_, cost)| *cost)
}

/// A function that counts a cost and then calls another.
fn counted(
    cost: Cost,
    function: Value,
) -> impl Fn(&mut State<'_, '_>, AllArguments<'_>) -> Result<Value, Error> + Send + Sync + 'static {
    move |state, args| {
        cost.charge(args.0)?;
        function.call(state, args.0)
    }
}
