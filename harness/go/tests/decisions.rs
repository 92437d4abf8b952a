//! What the decisions of Go templates look at.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use rolecall_core::decision::{Look, OperandValue};
use rolecall_go::{
    Case, Conversation, Dialect, GoEngine, Observer, Origin, Program, Template, Wanted,
};
use serde_json::json;

fn line(source: &str, look: &Look) -> String {
    let operands = look.operands.iter().map(|operand| {
        let value = match &operand.value {
            OperandValue::Text(text) => format!("{text:?}"),
            OperandValue::Plain(text) => text.clone(),
            OperandValue::Items(_) => "items".to_owned(),
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
    });
    let operands = operands.collect::<Vec<_>>().join(", ");
    let result = look.result.as_ref().map(|result| format!(" -> {result}"));
    format!(
        "{}({operands}){}",
        look.operation,
        result.unwrap_or_default()
    )
}

/// The decisions of a template, each with its place in the source and what it looked at.
fn decided(source: &str, case: &Case) -> Vec<String> {
    let template = Template::from_source("t", Dialect::Go, source);
    let program = GoEngine::new().program(&template).unwrap();
    let conversation = Conversation::new(case);
    let mut examination = Observer::of(&[Wanted::Spans, Wanted::Decisions]);
    let outcome = program.render_with(&conversation, &mut examination);
    assert_eq!(outcome, program.render(&conversation));
    let decisions = examination.decisions.unwrap();
    let sites = program.sites().unwrap();
    let lines = decisions.decisions.iter().map(|decision| {
        let looks = &decisions.looks[decision.looks.clone()];
        let looks: Vec<_> = looks.iter().map(|look| line(source, look)).collect();
        let condition = &source[sites[decision.site].span.clone()];
        format!("{condition}: {} {}", decision.truth, looks.join("; "))
    });
    lines.collect()
}

#[test]
fn a_condition_says_what_it_compared() {
    let case = Case::from_messages(vec![json!({"role": "user", "content": "deploy"})]);
    let found = decided(
        "{{ range .Messages }}{{ if and (eq .Role \"user\") (eq .Content \"stop\" \"deploy\") }}x\
         {{ end }}{{ end }}",
        &case,
    );
    let role = "eq(\"user\"@messages[0].role, \"user\"=user) -> true";
    let word = "eq(\"deploy\"@messages[0].content, \"stop\"=stop, \"deploy\"=deploy) -> true";
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].ends_with(&format!(": true {role}")), "{found:?}");
    assert!(found[1].ends_with(&format!(": true {word}")), "{found:?}");
    assert!(
        found[2].ends_with(&format!(": true {role}; {word}")),
        "{found:?}"
    );
}

#[test]
fn lengths_slices_and_truths_are_followed() {
    let mut case = Case::from_messages(vec![json!({"role": "user", "content": "deploy it"})]);
    case.variables.insert("think".to_owned(), json!(true));
    let found = decided(
        "{{ range .Messages }}{{ if gt (len .Content) 3 }}long{{ end }}\
         {{ if eq (slice .Content 0 3) \"dep\" }}d{{ end }}{{ if .Content }}c{{ end }}{{ end }}\
         {{ $n := len .Messages }}{{ if gt $n 4 }}many{{ end }}{{ if .Think }}t{{ end }}",
        &case,
    );
    let found = found.join("\n");
    for expected in [
        "true len(\"deploy it\"@messages[0].content) -> 9; gt(9~messages[0].content, 3) -> true",
        "eq(\"dep\"@messages[0].content, \"dep\"=dep) -> true",
        "true truth(\"deploy it\"@messages[0].content)",
        "false gt(1, 4) -> false",
        "true truth(true~think)",
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
}
