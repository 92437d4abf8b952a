//! Templates that loop, recurse or grow without end: each ends in `exceeded`, in time,
//! and the whole test stays small.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

mod clock;

use std::time::Duration;

use rolecall::case::Case;
use rolecall::engine::{Conversation, Engines, Limits, Minijinja, load};
use rolecall::outcome::{Limit, Outcome};
use rolecall::run::Runner;
use rolecall::suite::Pair;
use rolecall::template::{Dialect, Template};

/// One pair may take this long and no longer, whatever the template does.
const LONGEST: Duration = Duration::from_secs(1);

/// The process may never have been larger than this.
const LARGEST: usize = 256 << 20;

const HOSTILE: &[(&str, Limit, &str)] = &[
    (
        "nested loops",
        Limit::Fuel,
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    ),
    (
        "nested loops that print",
        Limit::Fuel,
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    ),
    (
        "a macro that calls itself",
        Limit::Recursion,
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    ),
    (
        "two macros that call each other",
        Limit::Recursion,
        "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
    ),
    (
        "a loop that calls itself",
        Limit::Recursion,
        "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    ),
    (
        "a text that doubles with +",
        Limit::Output,
        "{% set n = namespace(x='0123456789') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
    ),
    (
        "a text that doubles with ~",
        Limit::Output,
        "{% set n = namespace(x='0123456789') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    ),
    (
        "a text that doubles with *",
        Limit::Output,
        "{% set n = namespace(x='0123456789') %}{% for i in range(99) %}{% set n.x = n.x * 2 %}{% endfor %}",
    ),
    (
        "a text that doubles with replace",
        Limit::Output,
        "{% set n = namespace(x='00') %}{% for i in range(99) %}{% set n.x = n.x | replace('0', '00') %}{% endfor %}",
    ),
    (
        "a text that doubles with str.replace",
        Limit::Output,
        "{% set n = namespace(x='00') %}{% for i in range(99) %}{% set n.x = n.x.replace('0', '00') %}{% endfor %}",
    ),
    (
        "a text that doubles with join",
        Limit::Output,
        "{% set n = namespace(x='00') %}{% for i in range(99) %}{% set n.x = [n.x, n.x] | join %}{% endfor %}",
    ),
    (
        "a list that doubles",
        Limit::Output,
        "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
    ),
    (
        "a list that is repeated",
        Limit::Output,
        "{% set n = 999999999 %}{{ ([1] * n) | length }}",
    ),
    (
        "a text that is repeated",
        Limit::Output,
        "{% set n = 999999999 %}{{ 'x' * n }}",
    ),
    (
        "a prompt that grows",
        Limit::Output,
        "{% set x = '0123456789' * 1000 %}{% for i in range(99999) %}{{ x }}{% endfor %}",
    ),
    (
        "a prompt that grows by literal text",
        Limit::Output,
        "{% for i in range(99999) %}{% for j in range(99999) %}This is a sentence that is written over and over again, and it never seems to end.{% endfor %}{% endfor %}",
    ),
    (
        "a set block that grows",
        Limit::Output,
        "{% set n = 99999 %}{% set x %}{% for i in range(n) %}{{ '0123456789' * 1000 }}{% endfor %}{% endset %}",
    ),
    (
        "a wide indent",
        Limit::Output,
        "{{ 'a\\nb' | indent(999999999) }}",
    ),
    (
        "json with a wide indent",
        Limit::Output,
        "{{ [[1]] | tojson(indent=999999999) }}",
    ),
    ("conditions nested too deeply", Limit::Recursion, "DEEP"),
    (
        "constants that are large",
        Limit::Output,
        "{{ ('x' * 99999999) ~ ('y' * 99999999) }}{{ [0] * 99999999 }}",
    ),
    (
        "a format with a wide field",
        Limit::Output,
        "{{ '{:>999999999}'.format('a') }}",
    ),
    (
        "a printf format with a wide field",
        Limit::Output,
        "{{ '%0999999999d' % 1 }}",
    ),
    (
        "a large text that is looked through again and again",
        Limit::Fuel,
        "{% set x = 'ab' * 4000000 %}{% for i in range(99999) %}{% if 'abc' in x %}{% endif %}{% endfor %}",
    ),
    ("an expression without end", Limit::Recursion, "NOT"),
    ("many comparisons in one", Limit::Recursion, "COMPARE"),
    (
        "a list of nothing, often",
        Limit::Output,
        "{{ [] * 999999999999999999 }}{{ [1] * 999999999999999999 }}",
    ),
    (
        "a printf format with a field as wide as a value says",
        Limit::Output,
        "{{ '%*d' % (999999999, 1) }}",
    ),
    (
        "a text with wide tabs",
        Limit::Output,
        "{{ '\\t\\t'.expandtabs(999999999) }}",
    ),
    (
        "a batch filled up",
        Limit::Output,
        "{{ [1] | batch(999999999, 0) | list }}",
    ),
];

#[test]
fn hostile_templates_are_stopped_in_time_and_in_memory() {
    let case = Case::from_messages(vec![]);
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[], Some(1)).unwrap();
    for (name, limit, source) in HOSTILE {
        let source = match *source {
            "DEEP" => format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000)),
            "COMPARE" => format!("{{{{ x {} }}}}", "< y ".repeat(6_000)),
            "NOT" => format!("{{{{ {}x }}}}", "not ".repeat(50_000)),
            source => source.to_owned(),
        };
        let template = Template::from_source(name, Dialect::Jinja, &source);
        let start = clock::computed();
        let run = runner.render(&[Pair {
            template: &template,
            case: &case,
        }]);
        let took = clock::since(start);
        assert_eq!(
            run.results[0].outcome,
            Outcome::Exceeded { limit: *limit },
            "{name}"
        );
        assert!(took < LONGEST, "{name} took {took:?}");
    }
    if let Some(peak) = peak_memory() {
        assert!(peak < LARGEST, "the test took {} MiB", peak >> 20);
    }
}

/// The largest that this process has ever been, where the system tells (Linux).
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

#[test]
fn limits_can_be_chosen() {
    let case = Case::from_messages(vec![]);
    let template = Template::from_source(
        "t",
        Dialect::Jinja,
        "{% for i in range(1000) %}{{ '0123456789' }}{% endfor %}",
    );
    let outcome = |limits| {
        let engine = Minijinja::with_limits(limits);
        load(&engine, &template).render(&Conversation::new(&case))
    };
    let defaults = Limits::default();
    assert!(
        matches!(outcome(defaults.clone()), Outcome::Rendered { text } if text.len() == 10_000)
    );
    let little_fuel = Limits {
        fuel: 100,
        ..defaults.clone()
    };
    assert_eq!(
        outcome(little_fuel),
        Outcome::Exceeded { limit: Limit::Fuel }
    );
    let little_text = Limits {
        output: 5000,
        ..defaults
    };
    assert_eq!(
        outcome(little_text),
        Outcome::Exceeded {
            limit: Limit::Output
        }
    );
}
