//! Large templates load within their limits of time and memory, or are refused. Conversations may
//! be long, nothing stays in memory, and users can choose the limits.

use rolecall_core::guard::load;
use rolecall_core::{Case, Conversation, Dialect, Limit, Limits, Outcome, Template};
use rolecall_front::engines::Engines;
use rolecall_jinja::JinjaEngine;

use crate::extent::sample;
use crate::large;
use crate::measure;
use crate::meter::{Taken, alone, shared};

/// The most memory at a time for a hundred renders that hold a megabyte each.
const LARGEST: usize = 32 << 20;

/// How much memory may remain after them.
const LEFT: usize = 1 << 20;

#[test]
fn large_templates_are_loaded_in_time_or_refused() {
    let _alone = alone();
    let case = Case::from_messages(vec![]);
    let engine = JinjaEngine::new();
    for row in sample(large::table("jinja"), 11) {
        let name = row.name();
        let template = Template::from_source(name, Dialect::Jinja, &row.source());
        let (outcome, _, complaint) = measure::pair(&engine, &template, &case);
        assert_eq!(outcome, row.outcome(), "{name}");
        let found = load(&engine, &template).render(&Conversation::new(&case));
        let expected = row.text().map(|text| Outcome::Rendered { text });
        let is_expected = expected.is_none_or(|expected| found == expected);
        assert!(is_expected, "{name} gave {}", shown(&found));
        assert_eq!(complaint, None, "{name}");
    }
}

/// The beginning of what an outcome says.
fn shown(outcome: &Outcome) -> String {
    format!("{outcome:?}").chars().take(200).collect()
}

#[test]
fn conversations_of_thousands_of_messages_are_rendered() {
    let _shared = shared();
    let message = |role: &str, at: usize| serde_json::json!({"role": role, "content": format!("{at}: {}", "A sentence. ".repeat(20))});
    let messages = (0..4_000)
        .map(|at| message(if at % 2 == 0 { "user" } else { "assistant" }, at))
        .collect();
    let case = Case::from_messages(messages);
    let engines = Engines::default();
    let source = "{% set n = namespace(last='') %}{% for message in messages[1:] if message.role in ['user', 'assistant'] %}\
        {% set content = message['content'].split(':')[-1] | trim %}{% set n.last = message.role %}\
        {{ '<|' ~ message.role ~ '|>' + content.replace('A', 'The') + '\n' }}{{ {'role': n.last} | tojson }}\
        {% endfor %}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}";
    let template = Template::from_source("t", Dialect::Jinja, source);
    let engine = engines.by_name("rolecall-jinja").unwrap();
    let outcome = load(engine, &template).render(&Conversation::new(&case));
    assert!(
        matches!(&outcome, Outcome::Rendered { text } if text.ends_with("2000")),
        "{}",
        shown(&outcome)
    );
}

#[test]
fn a_namespace_that_holds_itself_is_dropped() {
    let _alone = alone();
    let case = Case::from_messages(vec![]);
    let engines = Engines::default();
    let source = "{% set n = namespace(x='x' * 1000000) %}{% set n.n = [n] %}\
        {% for i in [n] %}{% set n.l = loop %}{{ loop.changed([loop, n.x ~ i]) }}{% endfor %}";
    let template = Template::from_source("t", Dialect::Jinja, source);
    let program = load(engines.by_name("rolecall-jinja").unwrap(), &template);
    let render_often = || {
        for _ in 0..30 {
            let outcome = program.render(&Conversation::new(&case));
            assert!(
                matches!(outcome, Outcome::Rendered { .. }),
                "{}",
                shown(&outcome)
            );
        }
    };
    let is_little = |taken: Taken| taken.peak < LARGEST && taken.kept < LEFT;
    let taken = measure::least(render_often, is_little);
    assert!(taken.peak < LARGEST, "{} MiB", taken.peak >> 20);
    assert!(
        taken.kept < LEFT,
        "{} KiB are left behind",
        taken.kept >> 10
    );
}

#[test]
fn limits_can_be_chosen() {
    let _shared = shared();
    let case = Case::from_messages(vec![]);
    let template = Template::from_source(
        "t",
        Dialect::Jinja,
        "{% for i in range(1000) %}{{ '0123456789' }}{% endfor %}",
    );
    let outcome = |limits| {
        let engine = JinjaEngine::with_limits(limits);
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
