//! Small templates, each with a branch that only one kind of conversation takes.

use rolecall_core::{Case, Dialect, Outcome, Template};
use rolecall_front::engines::Engines;
use serde_json::json;

use super::{Effort, Generation};
use rolecall_suite::suite::Pair;

/// What a search finds when the only case is one question.
fn searched<T>(
    dialect: Dialect,
    source: &str,
    effort: Effort,
    look: impl FnOnce(&Generation<'_>) -> T,
) -> T {
    let engines = Engines::default();
    let engine = engines.for_dialect(dialect);
    let template = Template::from_source("t", dialect, source);
    let case = Case::from_messages(vec![json!({"role": "user", "content": "Hi"})]);
    let pairs = [Pair {
        template: &template,
        case: &case,
    }];
    let generation = Generation::search(engine, &template, &pairs, effort).unwrap();
    look(&generation)
}

const EFFORT: Effort = Effort {
    seed: Effort::SEED,
    tries: 4_000,
};

/// Whether the new cases reach the print of `{{ 1 }}`, and whether a person would call the
/// conversation an ordinary chat that becomes a prompt.
fn reaches(dialect: Dialect, source: &str) -> (bool, bool) {
    searched(dialect, source, EFFORT, |generation| {
        let mark = source.find("1 }}").unwrap();
        let case = generation.cases.iter().find(|one| {
            let mut branches = one.branches.iter();
            branches.any(|branch| {
                let sites = &generation.before.sites;
                sites[branch.site].site.span.contains(&mark)
            })
        });
        let is_good = |one: &super::GeneratedCase| {
            one.oddities.is_empty() && matches!(one.outcome, Outcome::Rendered { .. })
        };
        (case.is_some(), case.is_some_and(is_good))
    })
}

/// Every third source, or all of them with the variable `ROLECALL_EVERYTHING`.
fn sample<T>(sources: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let is_everything =
        std::env::var_os("ROLECALL_EVERYTHING").is_some_and(|value| !value.is_empty());
    sources
        .into_iter()
        .step_by(if is_everything { 1 } else { 3 })
}

#[test]
fn conditions_of_jinja_are_solved() {
    let loops = |condition: &str| {
        format!(
            "{{% for m in messages %}}{{% if {condition} %}}{{{{ 1 }}}}{{% endif %}}{{% endfor %}}"
        )
    };
    let whole = |condition: &str| format!("{{% if {condition} %}}{{{{ 1 }}}}{{% endif %}}");
    let of_tools = |condition: &str| {
        format!(
            "{{% for t in tools or [] %}}{{% if {condition} %}}{{{{ 1 }}}}{{% endif %}}{{% endfor %}}"
        )
    };
    let sources = [
        loops("m.role == 'developer'"),
        loops("m['role'] == 'tool' and m.name"),
        loops("m.reasoning_content is defined"),
        loops("m.content.startswith('<think>') and m.content.endswith('</think>')"),
        loops("'</tool_response>' in m.content"),
        loops("m.content is not string"),
        loops("m.role == 'assistant' and (m.tool_calls and m.tool_calls|length > 1)"),
        loops("m.role == 'user' and loop.index0 > 3"),
        loops("m.role == 'assistant' and m.tool_calls[0].function.arguments is string"),
        whole("messages|length > 3"),
        whole("reasoning_effort == 'high'"),
        whole("enable_thinking is defined and enable_thinking is false"),
        whole("mode in ['low', 'lower'] and not add_generation_prompt"),
        whole("documents and documents|length > 1"),
        whole("messages[0].role == 'system' and not (tools or messages[1:]|length == 1)"),
        of_tools("t.function.name == 'browser'"),
        of_tools("t.function.parameters.properties.city.type is sequence and t.function.parameters.properties.city.type is not string"),
        "{% if messages[-1].role == 'user' %}{% if x is defined %}{% if x == 'a' or x == 'b' %}{% if tools %}{{ 1 }}{% endif %}{% endif %}{% endif %}{% endif %}".to_owned(),
    ];
    for source in sample(sources) {
        assert_eq!(reaches(Dialect::Jinja, &source), (true, true), "{source}");
    }
}

#[test]
fn conditions_of_go_are_solved() {
    let sources = [
        "{{ range .Messages }}{{ if eq .Role \"tool\" }}{{ 1 }}{{ end }}{{ end }}",
        "{{ range .Messages }}{{ range .ToolCalls }}{{ if eq .Function.Name \"browser\" }}{{ 1 }}{{ end }}{{ end }}{{ end }}",
        "{{ range .Messages }}{{ if and (eq .Role \"assistant\") .Thinking }}{{ 1 }}{{ end }}{{ end }}",
        "{{ range .Messages }}{{ end }}{{ if gt (len .Messages) 3 }}{{ 1 }}{{ end }}",
        "{{ range .Messages }}{{ end }}{{ if and .IsThinkSet (not .Think) }}{{ 1 }}{{ end }}",
        "{{ range .Messages }}{{ end }}{{ if .Tools }}{{ range .Tools }}{{ 1 }}{{ end }}{{ end }}",
        "{{ range .Messages }}{{ if eq .Content \"ping\" }}{{ 1 }}{{ end }}{{ end }}",
    ];
    for source in sample(sources) {
        assert_eq!(reaches(Dialect::Go, source), (true, true), "{source}");
    }
}

#[test]
fn a_refusal_is_a_case_only_where_nothing_else_reaches_the_place() {
    let source = "{% for m in messages %}{% if m.role not in ['user', 'assistant'] %}\
        {{ raise_exception('No ' + m.role) }}{% endif %}{% endfor %}";
    searched(Dialect::Jinja, source, EFFORT, |generation| {
        let refused = generation.cases.iter();
        let refused = refused.filter(|one| !matches!(one.outcome, Outcome::Rendered { .. }));
        let refused: Vec<_> = refused.collect();
        assert_eq!(refused.len(), 1, "{refused:?}");
        let about = refused[0].case.about.clone().unwrap();
        assert!(about.contains("There is no prompt."), "{about}");
        assert!(refused[0].oddities.is_empty());
    });
}

#[test]
fn conversations_are_small_and_say_what_they_reach() {
    let source = "{% for m in messages %}\n{% if m.role == 'assistant' and 'x' in m.content %}\n\
        {{ m.content }}{% endif %}{% endfor %}";
    searched(Dialect::Jinja, source, EFFORT, |generation| {
        let found = generation.cases.iter();
        let case = found
            .clone()
            .find(|one| one.branches.iter().any(|branch| branch.line == 3));
        let case = case.unwrap();
        assert!(case.case.messages.len() <= 2, "{case:?}");
        let about = case.case.about.as_deref().unwrap();
        assert!(about.contains("3 (statement)"), "{about}");
        assert!(
            case.case.id.name().starts_with("line-2-"),
            "{}",
            case.case.id
        );
        let before = generation.before.whole();
        let after = generation.after.whole();
        assert!(before.reached < after.reached);
        assert_eq!(generation.unreached(), after.all - after.reached);
    });
}

#[test]
fn a_seed_decides_every_case() {
    let source = "{% for m in messages %}{% if m.role == 'tool' and m.name == 'x' %}{{ y }}\
        {% elif m.tool_calls %}{% for c in m.tool_calls %}{{ c.function.name }}{% endfor %}{% endif %}{% endfor %}";
    let text = |seed| {
        let effort = Effort { seed, ..EFFORT };
        let file = |generation: &Generation<'_>| generation.case_file();
        searched(Dialect::Jinja, source, effort, file).unwrap()
    };
    assert_eq!(text(1), text(1));
}

#[test]
fn what_a_literal_decides_is_unreachable_and_is_not_searched() {
    for (dialect, source) in [
        (
            Dialect::Jinja,
            "{% if false %}{{ x }}{% elif 0 %}{{ y }}{% endif %}{{ messages }}",
        ),
        (
            Dialect::Go,
            "{{ if false }}{{ .X }}{{ .Y }}{{ end }}{{ .Messages }}",
        ),
    ] {
        searched(dialect, source, EFFORT, |generation| {
            assert_eq!(
                (generation.unreachable, generation.tries),
                (2, 0),
                "{source}"
            );
            assert_eq!(generation.unreached(), 0);
            assert!(generation.cases.is_empty() && generation.case_file().is_none());
        });
    }
}

#[test]
fn no_more_is_tried_than_asked_for() {
    let source = "{% if messages[0].content == 9 ** 9 ** 2 %}{{ 1 }}{% endif %}";
    let effort = Effort {
        seed: 1,
        tries: 200,
    };
    searched(Dialect::Jinja, source, effort, |generation| {
        assert!(generation.tries <= 200, "{}", generation.tries);
        assert_eq!(generation.unreached(), 2);
    });
}
