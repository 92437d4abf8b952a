//! Go's template language as Ollama uses it: the table is recorded from Go's own
//! text/template by `scripts/record-go-language.py`.

use rolecall_go::Gotmpl;
use rolecall_model::guard::load;
use rolecall_model::{Case, Conversation, Dialect, Outcome, Template};
use serde_json::Value;

#[test]
fn every_construct_is_as_in_go() {
    let table: Value =
        serde_json::from_str(include_str!("data/go-language.json")).expect("the table is JSON");
    let list = |value: &Value| value.as_array().cloned().expect("a list");
    let mut case = Case::from_messages(list(&table["case"]["messages"]));
    case.tools = Some(list(&table["case"]["tools"]));
    case.variables = table["case"]["variables"]
        .as_object()
        .cloned()
        .expect("an object");
    case.now = "2024-03-01T00:00:00Z".parse().expect("a moment");
    let conversation = Conversation::new(&case);
    let engine = Gotmpl::new();
    let rows = list(&table["rows"]);
    assert!(rows.len() > 90);
    let mut wrong = Vec::new();
    for row in rows {
        let source = row["template"].as_str().expect("a template");
        let template = Template::from_source("t", Dialect::Go, source);
        let found = load(&engine, &template).render(&conversation);
        let agrees = match &found {
            Outcome::Rendered { text } => row["text"] == **text,
            Outcome::Failed { stage, line, .. } => {
                // Go names a line almost always.
                let expected = row["line"].as_u64();
                let found = line.and_then(|line| u64::try_from(line).ok());
                row["stage"] == stage.name() && (expected.is_none() || expected == found)
            }
            _ => false,
        };
        if !agrees || row["outcome"] != found.kind().name() {
            wrong.push(format!("{row}\n  found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
