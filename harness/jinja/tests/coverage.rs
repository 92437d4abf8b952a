//! What renders reach, for small templates.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use rolecall_jinja::{
    Case, Conversation, Dialect, Hits, JinjaEngine, JinjaProgram, Limits, Observer, Outcome,
    Program, Site, Template, Wanted,
};
use serde_json::{Value, json};

fn program(source: &str) -> JinjaProgram {
    let template = Template::from_source("t", Dialect::Jinja, source);
    JinjaEngine::new().program(&template).unwrap()
}

/// The hits of a render, which must have the outcome of a plain one.
fn hits(program: &JinjaProgram, messages: &[Value]) -> Hits {
    let case = Case::from_messages(messages.to_vec());
    let conversation = Conversation::new(&case);
    let mut coverage = Observer::of(&[Wanted::Hits]);
    let covered = program.render_with(&conversation, &mut coverage);
    assert_eq!(covered, program.render(&conversation));
    coverage.hits.unwrap()
}

/// A site and the branches in which it was reached: `kind text: ways`.
fn line(source: &str, at: usize, site: &Site, hits: &Hits) -> String {
    let branches = site
        .kind
        .branches()
        .iter()
        .filter(|branch| hits.has(at, **branch));
    let branches: Vec<_> = branches.map(|branch| branch.name()).collect();
    let text = &source[site.span.clone()];
    format!("{} {text}: {}", site.kind.name(), branches.join(" "))
}

/// The sites of a template with what a case of these messages reaches.
fn covered(source: &str, messages: &[Value]) -> Vec<String> {
    let program = program(source);
    let hits = hits(&program, messages);
    let sites = program.sites().unwrap();
    let lines = sites.iter().enumerate();
    lines
        .map(|(at, site)| line(source, at, site, &hits))
        .collect()
}

/// The sites without what the statements have to say.
fn choices(source: &str, messages: &[Value]) -> Vec<String> {
    let mut lines = covered(source, messages);
    lines.retain(|line| !line.starts_with("statement"));
    lines
}

#[test]
fn statements_are_reached_or_not() {
    for (source, expected) in [
        ("{{ 1 }}{{ x }}", vec!["1: reached", "x: reached"]),
        ("{% set a = 1 %}", vec!["set a = 1: reached"]),
        (
            "{% if none %}{% set a %}b{% endset %}{% endif %}{% set a | upper -%}b{% endset %}",
            vec!["set a: ", "set a | upper: reached"],
        ),
        (
            "{{ 1 }}{{ raise_exception('no') }}{{ 2 }}",
            vec!["1: reached", "raise_exception('no'): reached", "2: "],
        ),
        (
            "{%- with a = 1 -%}{%- filter upper -%}{{ a }}{% endfilter %}{% endwith %}",
            vec!["with a = 1: reached", "filter upper: reached", "a: reached"],
        ),
        (
            "{% for m in [1, 2] %}{% break %}{{ m }}{% endfor %}",
            vec!["break: reached", "m: "],
        ),
        (
            "{% for m in [1] %}{% with %}{% continue %}{{ m }}{% endwith %}{% endfor %}",
            vec!["with: reached", "continue: reached", "m: "],
        ),
        ("{% print 1, 2 %}", vec!["1: reached", "2: reached"]),
        (
            "{% generation %}{{ 1 }}{% endgeneration %}",
            vec!["generation: reached", "1: reached"],
        ),
        (
            "{% block b %}{% autoescape true %}{{ 1 }}{% endautoescape %}{% endblock %}",
            vec!["block b: reached", "autoescape true: reached", "1: reached"],
        ),
    ] {
        let mut lines = covered(source, &[]);
        lines.retain(|line| line.starts_with("statement"));
        let lines: Vec<_> = lines
            .iter()
            .map(|line| &line["statement ".len()..])
            .collect();
        assert_eq!(lines, expected, "{source}");
    }
}

#[test]
fn conditions_and_operands_are_covered_both_ways() {
    for (source, expected) in [
        (
            "{% if messages %}a{% endif %}",
            vec!["condition messages: false"],
        ),
        (
            "{% if messages %}a{% elif not messages %}b{% else %}c{% endif %}",
            vec!["condition messages: false", "condition not messages: true"],
        ),
        (
            "{{ 'a' if x is defined }}",
            vec!["condition x is defined: false"],
        ),
        ("{{ 'a' if true else x }}", vec![]),
        (
            "{{ x or 'default' }}{{ none or x or 2 and y }}",
            vec!["operand x: false", "operand x: false", "operand y: false"],
        ),
        (
            "{% if (x is none or x == 2) and y %}a{% endif %}",
            vec![
                "condition (x is none or x == 2) and y: false",
                "operand x is none: false",
                "operand x == 2: false",
                "operand y: ",
            ],
        ),
        (
            "{{ [1, 2] | join('a' if x else 'b') }}{{ 1 is divisibleby(2 if x else 1) }}",
            vec!["condition x: false", "condition x: false"],
        ),
        ("{{ 1 < (x or 2) < 3 }}", vec!["operand x: false"]),
        (
            "{% for i in range(4) if i % 2 %}{% endfor %}",
            vec![
                "loop for i in range(4) if i % 2: several",
                "condition i % 2: true false",
            ],
        ),
        (
            "{% for i in range(3) if i > 5 %}{{ i }}{% else %}b{% endfor %}",
            vec![
                "loop for i in range(3) if i > 5: empty",
                "condition i > 5: false",
            ],
        ),
    ] {
        assert_eq!(choices(source, &[]), expected, "{source}");
    }
}

#[test]
fn loops_have_no_turn_one_or_several() {
    let source = "{% for m in messages %}{{ m.content }}{% else %}nothing{% endfor %}";
    let message = || json!({"role": "user", "content": "x"});
    for (count, expected) in [(0, "empty"), (1, "once"), (2, "several"), (3, "several")] {
        let messages: Vec<Value> = (0..count).map(|_| message()).collect();
        let expected = format!("loop for m in messages: {expected}");
        assert_eq!(choices(source, &messages), [expected]);
    }
    for (source, expected) in [
        (
            "{% for a in pair %}{% for b in messages %}{% else %}{% continue %}{% endfor %}{% endfor %}",
            vec![
                "loop for a in pair: several",
                "loop for b in messages: empty",
            ],
        ),
        (
            "{% for a in pair %}{% break %}{% else %}{{ raise_exception('x') }}{% endfor %}",
            vec!["loop for a in pair: once"],
        ),
        (
            "{% for a in pair %}{{ raise_exception('x') }}{% endfor %}",
            vec!["loop for a in pair: "],
        ),
        (
            "{% for a in nested recursive %}{{ loop(a) }}{% endfor %}",
            vec!["loop for a in nested recursive: several"],
        ),
        // A loop over a literal always has the same turns.
        ("{% for a in [1, 2] %}{% endfor %}", vec![]),
        (
            "{% for a in [1, 2] if a > 1 %}{% endfor %}",
            vec![
                "loop for a in [1, 2] if a > 1: once",
                "condition a > 1: true false",
            ],
        ),
    ] {
        let source = [
            "{% set pair = [1, 2] %}{% set nested = [[], [[]]] %}",
            source,
        ]
        .concat();
        assert_eq!(choices(&source, &[]), expected, "{source}");
    }
}

#[test]
fn macros_are_called_or_not() {
    let source = "{% macro one(a=x or 1) %}{{ a }}{% endmacro %}{% macro two() %}{{ caller() }}\
                  {% endmacro %}{% call two() %}text{% endcall %}";
    let expected = [
        "macro macro one(a=x or 1): ",
        "operand x: ",
        "statement a: ",
        "macro macro two(): reached",
        "statement caller(): reached",
        "statement call two(): reached",
        "macro call two(): reached",
    ];
    assert_eq!(covered(source, &[]), expected);
}

#[test]
fn spans_are_those_of_the_written_source() {
    let source = "a\r\n{{ 1 }}\r{{ 'é' if x }}\r\n";
    let expected = [
        "statement 1: reached",
        "statement 'é' if x: reached",
        "condition x: false",
    ];
    assert_eq!(covered(source, &[]), expected);
}

#[test]
fn a_covered_render_has_the_limits_of_a_plain_one() {
    let source = "{% for i in range(200) %}{% if i and x or i %}{{ i }}{% endif %}{% endfor %}";
    let template = Template::from_source("t", Dialect::Jinja, source);
    let case = Case::from_messages(vec![]);
    let conversation = Conversation::new(&case);
    let mut branches = [0, 0];
    for fuel in (100..4_000).step_by(7) {
        let limits = Limits {
            fuel,
            ..Limits::default()
        };
        let program = JinjaEngine::with_limits(limits).program(&template).unwrap();
        let plain = program.render(&conversation);
        let covered = program.render_with(&conversation, &mut Observer::of(&[Wanted::Hits]));
        assert_eq!(covered, plain, "{fuel}");
        branches[usize::from(matches!(plain, Outcome::Rendered { .. }))] += 1;
    }
    assert!(branches.iter().all(|count| *count > 10), "{branches:?}");
}
