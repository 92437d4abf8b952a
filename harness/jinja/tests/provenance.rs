//! Where the bytes of prompts come from, for small templates.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use rolecall_core::provenance::{Origin, Span};
use rolecall_jinja::{
    Case, Conversation, Dialect, JinjaEngine, Observer, Outcome, Program, Template, Wanted,
};
use serde_json::{Value, json};

fn case(messages: &Value) -> Case {
    Case::from_messages(messages.as_array().cloned().unwrap_or_default())
}

/// A span in one line: the text, where it comes from, and what was done.
fn line(source: &str, prompt: &str, span: &Span) -> String {
    let text = &prompt[span.prompt.clone()];
    let origin = match &span.origin {
        Origin::Literal { source: place } => {
            let literal = &source[place.clone()];
            if literal == text {
                "literal".to_owned()
            } else {
                format!("literal {literal}")
            }
        }
        Origin::Input { input, bytes } => format!("{}[{}..{}]", input.path, bytes.start, bytes.end),
        Origin::Made { from } => {
            let paths: Vec<_> = from.iter().map(|input| input.path.as_str()).collect();
            format!("made of {}", paths.join(", "))
        }
    };
    let operations: Vec<_> = span
        .operations
        .iter()
        .map(|name| format!(" {name}"))
        .collect();
    format!("{text:?} {origin}{}", operations.concat())
}

/// The spans of the prompt that a template makes of a case, which have to cover it.
fn traced_template(template: &Template, case: &Case) -> Vec<String> {
    let program = JinjaEngine::new().program(template).unwrap();
    let conversation = Conversation::new(case);
    let mut provenance = Observer::of(&[Wanted::Spans]);
    let outcome = program.render_with(&conversation, &mut provenance);
    assert_eq!(outcome, program.render(&conversation));
    let Outcome::Rendered { text } = outcome else {
        panic!("{outcome:?}");
    };
    let spans = provenance.spans.unwrap();
    let mut end = 0;
    for span in &spans {
        assert_eq!(span.prompt.start, end);
        end = span.prompt.end;
    }
    assert_eq!(end, text.len());
    let lines = spans.iter().map(|span| line(&template.source, &text, span));
    lines.collect()
}

fn traced(source: &str, messages: &Value) -> Vec<String> {
    let template = Template::from_source("t", Dialect::Jinja, source);
    traced_template(&template, &case(messages))
}

/// The spans of a template that is given one message with a content.
fn of_content(source: &str, content: &str) -> Vec<String> {
    let source = source.replace('C', "messages[0].content");
    traced(&source, &json!([{"role": "user", "content": content}]))
}

#[test]
fn texts_keep_their_origin_whatever_they_go_through() {
    for source in [
        "{{ C }}",
        "{% set x = C %}{{ x }}",
        "{% set ns = namespace(x=C) %}{{ ns.x }}",
        "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(C) }}",
        "{% set x %}{{ C }}{% endset %}{{ x }}",
        "{% for m in messages %}{{ m['content'] }}{% endfor %}",
        "{{ C if true else 'x' }}",
        "{{ C or 'x' }}",
        "{{ C | default('x') }}",
        "{{ [C, 'x'][0] }}",
        "{{ {'k': C}.k }}",
        "{% for k, v in messages[0].items() if k == 'content' %}{{ v }}{% endfor %}",
        "{{ messages | map(attribute='content') | join }}",
        "{% call(x) m(C) %}{{ x }}{% endcall %}"
            .replacen(
                "{% call",
                "{% macro m(a) %}{{ caller(a) }}{% endmacro %}{% call",
                1,
            )
            .as_str(),
        "{% for m in messages recursive %}{{ m.content if m.content else loop(m) }}{% endfor %}",
        "{% filter string %}{{ C }}{% endfilter %}",
        "{{ C | string | safe }}",
        "{{ C.replace('zz', '') }}",
        "{% for c in C %}{{ c }}{% endfor %}",
        "{{ C | list | join }}",
    ] {
        assert_eq!(
            of_content(source, "Höllo"),
            ["\"Höllo\" messages[0].content[0..6]"],
            "{source}"
        );
    }
}

#[test]
fn parts_of_texts_are_parts_of_their_origin() {
    for (source, expected) in [
        (
            "{{ C.strip() }}",
            vec!["\"a, b\" messages[0].content[1..5] strip"],
        ),
        (
            "{{ C | trim }}",
            vec!["\"a, b\" messages[0].content[1..5] trim"],
        ),
        (
            "{{ C.rstrip() }}",
            vec!["\" a, b\" messages[0].content[0..5] rstrip"],
        ),
        (
            "{{ C.lstrip() }}",
            vec!["\"a, b \" messages[0].content[1..6] lstrip"],
        ),
        ("{{ C[1:2] }}", vec!["\"a\" messages[0].content[1..2] [:]"]),
        (
            "{{ C[-3:] }}",
            vec!["\" b \" messages[0].content[3..6] [:]"],
        ),
        ("{{ C[1] }}", vec!["\"a\" messages[0].content[1..2] []"]),
        (
            "{{ C | trim | last }}",
            vec!["\"b\" messages[0].content[4..5] trim last"],
        ),
        (
            "{{ C.split(',')[1] }}",
            vec!["\" b \" messages[0].content[3..6] split"],
        ),
        (
            "{{ C.split() | join('+') }}",
            vec![
                "\"a,\" messages[0].content[1..3] split",
                "\"+\" literal",
                "\"b\" messages[0].content[4..5] split",
            ],
        ),
        (
            "{{ C.replace(', ', ';') }}",
            vec![
                "\" a\" messages[0].content[0..2] replace",
                "\";\" literal replace",
                "\"b \" messages[0].content[4..6] replace",
            ],
        ),
        (
            "{{ C.partition(',')[0] }}",
            vec!["\" a\" messages[0].content[0..2] partition"],
        ),
        (
            "{{ C | upper }}",
            vec!["\" A, B \" messages[0].content[0..6] upper"],
        ),
        (
            "{{ C[::-1] }}",
            vec!["\" b ,a \" made of messages[0].content [:]"],
        ),
    ] {
        assert_eq!(of_content(source, " a, b "), expected, "{source}");
    }
}

#[test]
fn what_is_put_together_has_the_origins_of_its_parts() {
    for (source, expected) in [
        (
            "<{{ '|' ~ C + '\\n' }}>",
            vec![
                "\"<\" literal",
                "\"|\" literal",
                "\"hi\" messages[0].content[0..2]",
                "\"\\n\" literal '\\n'",
                "\">\" literal",
            ],
        ),
        (
            "{{ '%s=%s' % (C, C | length) }}",
            vec![
                "\"hi\" messages[0].content[0..2]",
                "\"=\" literal",
                "\"2\" made of ",
            ],
        ),
        (
            "{{ '[{}]'.format(C) }}",
            vec![
                "\"[\" literal",
                "\"hi\" messages[0].content[0..2]",
                "\"]\" literal",
            ],
        ),
        (
            "{{ C | indent(2, true) }}",
            vec![
                "\"  \" made of messages[0].content indent",
                "\"hi\" messages[0].content[0..2] indent",
            ],
        ),
        (
            "{{ C * 2 }}",
            vec![
                "\"hi\" messages[0].content[0..2] *",
                "\"hi\" messages[0].content[0..2] *",
            ],
        ),
        (
            "{% autoescape true %}{{ C ~ '<' }}{% endautoescape %}",
            vec![
                "\"hi\" messages[0].content[0..2] escape",
                "\"&lt;\" literal < escape",
            ],
        ),
    ] {
        assert_eq!(of_content(source, "hi"), expected, "{source}");
    }
}

#[test]
fn json_has_texts_and_punctuation() {
    let messages = json!([{"role": "user", "content": "a\n\"é", "n": 1}]);
    assert_eq!(
        traced("{{ messages[0] | tojson }}", &messages),
        [
            "\"{\\\"\" made of messages[0] tojson",
            "\"role\" messages[0].role[0..4] key tojson",
            "\"\\\": \\\"\" made of messages[0] tojson",
            "\"user\" messages[0].role[0..4] tojson",
            "\"\\\", \\\"\" made of messages[0] tojson",
            "\"content\" messages[0].content[0..7] key tojson",
            "\"\\\": \\\"\" made of messages[0] tojson",
            "\"a\" messages[0].content[0..1] tojson",
            "\"\\\\n\" messages[0].content[1..2] tojson",
            "\"\\\\\\\"\" messages[0].content[2..3] tojson",
            "\"é\" messages[0].content[3..5] tojson",
            "\"\\\", \\\"\" made of messages[0] tojson",
            "\"n\" messages[0].n[0..1] key tojson",
            "\"\\\": 1}\" made of messages[0] tojson",
        ]
    );
    assert_eq!(
        traced("{{ {'k': messages[0].role} | tojson }}", &messages),
        [
            "\"{\\\"\" made of messages[0].role tojson",
            "\"k\" literal tojson",
            "\"\\\": \\\"\" made of messages[0].role tojson",
            "\"user\" messages[0].role[0..4] tojson",
            "\"\\\"}\" made of messages[0].role tojson",
        ]
    );
}

#[test]
fn tokens_variables_and_the_clock_are_inputs() {
    let source = "{{ bos_token }}{{ mode }}{{ strftime_now('%Y') }}{{ 1 + 1 }}";
    let mut template = Template::from_source("t", Dialect::Jinja, source);
    template = template.with_special_token("bos_token", "<s>");
    let mut case = case(&json!([]));
    case.variables.insert("mode".into(), json!("fast"));
    let lines = traced_template(&template, &case);
    assert_eq!(lines[0], "\"<s>\" bos_token[0..3]");
    assert_eq!(lines[1], "\"fast\" mode[0..4]");
    assert!(lines[2].ends_with(" made of now strftime_now"), "{lines:?}");
    assert_eq!(lines[3], "\"2\" made of ");
}

#[test]
fn places_are_those_of_the_templates_own_source() {
    let lines = traced("a\r\n{{ 'b' }}\r\nc", &json!([]));
    assert_eq!(lines.concat().matches("literal").count(), lines.len());
    assert!(lines.contains(&"\"b\" literal".to_owned()), "{lines:?}");
}

#[test]
fn texts_that_are_written_late_have_their_place() {
    let source = "{% set ns = namespace(all='') %}{% for m in messages %}\
        {% set ns.all = ns.all + '<' + m.content + '>' %}{% if loop.last %}{% break %}{% endif %}\
        {% endfor %}{{ ns.all }}";
    let messages = json!([{"role": "user", "content": "x"}, {"role": "user", "content": "y"}]);
    assert_eq!(
        traced(source, &messages),
        [
            "\"<\" literal",
            "\"x\" messages[0].content[0..1]",
            "\">\" literal",
            "\"<\" literal",
            "\"y\" messages[1].content[0..1]",
            "\">\" literal",
        ]
    );
}
