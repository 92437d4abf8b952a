//! Large templates load within their limits of time and memory, or are refused. Conversations may
//! be long, nothing stays in memory, and users can choose the limits.

use rolecall_core::guard::load;
use rolecall_core::{Case, Conversation, Dialect, Limit, Limits, Outcome, Template};
use rolecall_front::engines::Engines;
use rolecall_jinja::JinjaEngine;

use crate::extent::sample;
use crate::measure;
use crate::meter::{Taken, alone, shared};

/// The most memory at a time for a hundred renders that hold a megabyte each.
const LARGEST: usize = 32 << 20;

/// How much memory may remain after them.
const LEFT: usize = 1 << 20;

/// Templates that are too large for a file, each made of a few pieces. Smaller ones are in
/// `data/hostile`.
fn large() -> Vec<(&'static str, Outcome, String)> {
    let recursion = Outcome::Exceeded {
        limit: Limit::Recursion,
    };
    let fuel = Outcome::Exceeded { limit: Limit::Fuel };
    let rendered = |text: &str| Outcome::Rendered {
        text: text.to_owned(),
    };
    let chain = |times: usize, link: &str| format!("{{{{ 1{} }}}}", link.repeat(times));
    vec![
        (
            "parentheses",
            recursion.clone(),
            format!("{{{{ {}1{} }}}}", "(".repeat(5_000), ")".repeat(5_000)),
        ),
        ("comparisons", recursion.clone(), chain(6_000, " < y")),
        ("attributes", recursion.clone(), chain(100_000, ".b")),
        ("filters", recursion.clone(), chain(100_000, "|e")),
        ("sums", recursion.clone(), chain(100_000, "+a")),
        ("choices", recursion.clone(), chain(100_000, " if 1")),
        ("fewer sums", rendered("4901"), chain(4_900, "+1")),
        ("fewer filters", rendered("1"), chain(4_900, "|e")),
        ("fewer conditions", rendered("1"), chain(4_900, " and 1")),
        (
            "an expression without end",
            recursion.clone(),
            format!("{{{{ {}x }}}}", "not ".repeat(50_000)),
        ),
        (
            "branches",
            recursion.clone(),
            format!(
                "{{% if a %}}{}{{% endif %}}",
                "{% elif a %}".repeat(100_000)
            ),
        ),
        (
            "fewer branches",
            rendered(""),
            format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(900)),
        ),
        ("tags", fuel.clone(), "{{ a }}".repeat(2_000_000)),
        ("fewer tags", rendered(""), "{{ a }}".repeat(70_000)),
        (
            "macros",
            fuel.clone(),
            "{% macro a() %}{% endmacro %}".repeat(200_000),
        ),
        (
            "macros in macros",
            fuel.clone(),
            format!(
                "{}{}{}",
                "{% macro a() %}".repeat(140),
                "{{ a.b.c }}".repeat(20_000),
                "{% endmacro %}".repeat(140)
            ),
        ),
        (
            "blocks",
            fuel.clone(),
            (0..30_000).fold(String::new(), |text, at| {
                text + &format!("{{% block a{at} %}}{{% endblock %}}")
            }),
        ),
        ("constants", fuel.clone(), chain(4_900, " or 0").repeat(30)),
        ("comments", rendered(""), "{# a #}".repeat(2_000_000)),
        (
            "text",
            rendered(&"{ ".repeat(4 << 20)),
            "{ ".repeat(4 << 20),
        ),
        ("a name", fuel, format!("{{{{ {} }}}}", "a".repeat(8 << 20))),
    ]
}

#[test]
fn large_templates_are_loaded_in_time_or_refused() {
    let _alone = alone();
    let case = Case::from_messages(vec![]);
    let engine = JinjaEngine::new();
    for (name, expected, source) in sample(large(), 11) {
        let template = Template::from_source(name, Dialect::Jinja, &source);
        let (outcome, _, complaint) = measure::pair(&engine, &template, &case);
        assert_eq!(outcome, measure::word(&expected), "{name}");
        let found = load(&engine, &template).render(&Conversation::new(&case));
        assert!(found == expected, "{name} gave {}", shown(&found));
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
