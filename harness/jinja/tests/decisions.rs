//! What the decisions of small templates look at.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use rolecall_core::decision::{Decisions, Look, Operand, OperandValue};
use rolecall_core::provenance::Origin;
use rolecall_jinja::{
    Case, Conversation, Dialect, JinjaEngine, Observer, Outcome, Program, Template, Wanted,
};
use serde_json::{Value, json};

/// An operand in a few words: its text, and where that comes from.
fn operand(source: &str, operand: &Operand) -> String {
    let value = match &operand.value {
        OperandValue::Text(text) => format!("{text:?}"),
        OperandValue::Plain(text) => text.clone(),
        OperandValue::Items(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|item| self::operand(source, item))
                .collect();
            format!("[{}]", items.join(", "))
        }
    };
    let origins = operand.origins.iter().map(|origin| match origin {
        Origin::Literal { source: place } => format!("={}", &source[place.clone()]),
        Origin::Input { input, .. } => format!("@{}", input.path),
        Origin::Made { from } => {
            let paths: Vec<_> = from.iter().map(|input| input.path.as_str()).collect();
            format!("~{}", paths.join("~"))
        }
    });
    format!("{value}{}", origins.collect::<String>())
}

fn line(source: &str, look: &Look) -> String {
    let operands: Vec<_> = look
        .operands
        .iter()
        .map(|one| operand(source, one))
        .collect();
    let result = look.result.as_ref().map(|result| format!(" -> {result}"));
    let result = result.unwrap_or_default();
    format!("{}({}){result}", look.operation, operands.join(", "))
}

/// What the decisions of a render looked at. The render has to end as a plain one.
fn examined(template: &Template, case: &Case) -> (Outcome, Decisions) {
    let program = JinjaEngine::new().program(template).unwrap();
    let conversation = Conversation::new(case);
    let mut examination = Observer::of(&[Wanted::Spans, Wanted::Decisions]);
    let outcome = program.render_with(&conversation, &mut examination);
    assert_eq!(outcome, program.render(&conversation));
    (outcome, examination.decisions.unwrap())
}

/// The decisions of a template about messages, each with its condition and what it looked at.
fn decided(source: &str, messages: &Value) -> Vec<String> {
    let template = Template::from_source("t", Dialect::Jinja, source);
    let case = Case::from_messages(messages.as_array().cloned().unwrap());
    let (_, decisions) = examined(&template, &case);
    let sites = JinjaEngine::new()
        .program(&template)
        .unwrap()
        .sites()
        .unwrap();
    let lines = decisions.decisions.iter().map(|decision| {
        let looks = &decisions.looks[decision.looks.clone()];
        let looks: Vec<_> = looks.iter().map(|look| line(source, look)).collect();
        let condition = &source[sites[decision.site].span.clone()];
        format!("{condition}: {} {}", decision.truth, looks.join("; "))
    });
    lines.collect()
}

/// Everything that a template about messages looked at.
fn looks(source: &str, messages: &Value) -> Vec<String> {
    let template = Template::from_source("t", Dialect::Jinja, source);
    let case = Case::from_messages(messages.as_array().cloned().unwrap());
    let (_, decisions) = examined(&template, &case);
    decisions
        .looks
        .iter()
        .map(|look| line(source, look))
        .collect()
}

#[test]
fn a_condition_says_what_it_compared() {
    let found = decided(
        "{% for m in messages %}{% if m.role == 'user' and 'de' ~ 'ploy' in m.content %}x{% endif %}\
         {% endfor %}",
        &json!([{"role": "user", "content": "please deploy"}, {"role": "tool", "content": ""}]),
    );
    let role = "==(\"user\"@messages[0].role, \"user\"=user) -> True";
    let word = "in(\"deploy\"=de=ploy, \"please deploy\"@messages[0].content) -> True";
    assert_eq!(
        found,
        [
            format!("m.role == 'user': true {role}"),
            format!("'de' ~ 'ploy' in m.content: true {word}"),
            format!("m.role == 'user' and 'de' ~ 'ploy' in m.content: true {role}; {word}"),
            "m.role == 'user': false ==(\"tool\"@messages[1].role, \"user\"=user) -> False"
                .to_owned(),
            "m.role == 'user' and 'de' ~ 'ploy' in m.content: false \
             ==(\"tool\"@messages[1].role, \"user\"=user) -> False"
                .to_owned(),
        ]
    );
}

#[test]
fn every_way_to_compare_is_seen() {
    let messages = json!([{"role": "user", "content": "Deploy now"}]);
    let content = "\"Deploy now\"@messages[0].content";
    for (condition, expected) in [
        (
            "m.content.startswith('Dep')",
            format!("startswith({content}, \"Dep\"=Dep) -> True"),
        ),
        (
            "m.content.find('now') > -1",
            format!("find({content}, \"now\"=now) -> 7"),
        ),
        (
            "m.content is eq 'a'",
            format!("eq({content}, \"a\"=a) -> False"),
        ),
        (
            "m.content is in ['a', 'b']",
            format!("in({content}, [\"a\"=a, \"b\"=b]) -> False"),
        ),
        (
            "m.content not in ['a']",
            format!("in({content}, [\"a\"=a]) -> False"),
        ),
        (
            "m.content in {'a': 1}",
            format!("in({content}, [\"a\"=a]) -> False"),
        ),
        ("'b' > m.content", format!(">(\"b\"=b, {content}) -> True")),
        (
            "m.content[0] == 'D'",
            "==(\"D\"@messages[0].content, \"D\"=D) -> True".to_owned(),
        ),
        (
            "m.content | lower == 'deploy now'",
            "==(\"deploy now\"@messages[0].content, \"deploy now\"=deploy now) -> True".to_owned(),
        ),
        (
            "{'a': true}.get(m.content)",
            format!("get([\"a\"=a], {content})"),
        ),
        ("not m.content", format!("truth({content})")),
        (
            "messages | selectattr('content', 'equalto', 'x') | list",
            format!("equalto({content}, \"x\"=x) -> False"),
        ),
    ] {
        let source =
            format!("{{% for m in messages %}}{{% if {condition} %}}x{{% endif %}}{{% endfor %}}");
        let found = decided(&source, &messages).concat();
        assert!(found.contains(&expected), "{condition}: {found}");
    }
}

#[test]
fn a_number_that_was_made_of_a_text_is_followed() {
    let found = decided(
        "{% set n = messages[0].content | length %}{% if n > 3 %}long{% endif %}\
         {% if messages | length > 2 %}many{% endif %}",
        &json!([{"role": "user", "content": "Hello"}]),
    );
    assert_eq!(
        found,
        [
            "n > 3: true >(5~messages[0].content, 3) -> True",
            "messages | length > 2: false length([…]~messages) -> 1; >(1, 2) -> False",
        ]
    );
}

#[test]
fn a_word_is_followed_through_a_namespace_and_a_macro() {
    let found = decided(
        "{% set ns = namespace(word='deploy') %}\
         {% macro says(text) %}{% if ns.word in text %}x{% endif %}{% endmacro %}\
         {{ says(messages[0].content.strip()) }}",
        &json!([{"role": "user", "content": " deploy "}]),
    );
    assert_eq!(
        found,
        ["ns.word in text: true in(\"deploy\"=deploy, \"deploy\"@messages[0].content) -> True"]
    );
}

#[test]
fn a_comparison_outside_of_all_conditions_is_seen() {
    let messages = json!([{"role": "user", "content": "go"}]);
    let found = looks(
        "{{ {'go': 'stop'}[messages[0].content] }}{{ messages[0].content.replace('o', 'i') }}\
         {% set is_go = messages[0].content == 'go' %}",
        &messages,
    );
    let content = "\"go\"@messages[0].content";
    assert_eq!(
        found,
        [
            format!("[]([\"go\"=go], {content})"),
            format!("replace({content}, \"o\"=o, \"i\"=i)"),
            format!("==({content}, \"go\"=go) -> True"),
        ]
    );
}

#[test]
fn a_refusal_has_decisions_too() {
    let source = "{% if messages[0].role != 'user' %}{{ raise_exception('no') }}{% endif %}";
    let template = Template::from_source("t", Dialect::Jinja, source);
    let case = Case::from_messages(vec![json!({"role": "tool", "content": ""})]);
    let (outcome, decisions) = examined(&template, &case);
    assert!(matches!(outcome, Outcome::Raised { .. }), "{outcome:?}");
    assert_eq!(decisions.decisions.len(), 1);
    assert!(decisions.decisions[0].truth);
}

#[test]
fn the_places_of_literals_are_those_of_the_file() {
    let source = "a\r\n{% if messages[0].content in\r\n['x', 'yes'] %}{% endif %}";
    let template = Template::from_source("t", Dialect::Jinja, source);
    let case = Case::from_messages(vec![json!({"role": "user", "content": "no"})]);
    let (_, decisions) = examined(&template, &case);
    let literals = decisions.looks[0].operands[1].literals();
    let texts: Vec<_> = literals
        .iter()
        .map(|(text, place)| (*text, &source[place.clone().unwrap()]))
        .collect();
    assert_eq!(texts, [("x", "x"), ("yes", "yes")]);
}

#[test]
fn nothing_is_noted_for_those_who_do_not_ask() {
    let template = Template::from_source("t", Dialect::Jinja, "{% if messages %}{% endif %}");
    let program = JinjaEngine::new().program(&template).unwrap();
    let mut spans = Observer::of(&[Wanted::Spans]);
    program.render_with(&Conversation::new(&Case::from_messages(vec![])), &mut spans);
    assert!(spans.decisions.is_none());
}
