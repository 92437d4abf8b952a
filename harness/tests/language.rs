//! The Jinja engine speaks Python's Jinja: each row of the table is a small template with
//! what the real transformers gives for it, recorded by `scripts/record-language.py`.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use rolecall::engines::Engines;
use rolecall_model::guard::load;
use rolecall_model::{Case, Conversation, Dialect, Outcome, OutcomeKind, Template};

/// Where the engine is known to differ, each with the reason. A row that agrees has to
/// be taken out.
const KNOWN: &[(&str, &str)] = &[("{{ 'x'.encode() }}", "no bytes")];

#[test]
fn small_templates_give_what_transformers_gives() {
    let table: Vec<[String; 3]> = serde_json::from_str(include_str!("data/language.json")).unwrap();
    assert!(table.len() > 150, "{} rows", table.len());
    let engines = Engines::default();
    let engine = engines.for_dialect(Dialect::Jinja).unwrap();
    let message = serde_json::json!({"role": "user", "content": "hey"});
    let case = Case::from_messages(vec![message]);
    let mut wrong = Vec::new();
    for [source, kind, text] in &table {
        let template = Template::from_source("row", Dialect::Jinja, source);
        let outcome = load(engine, &template).render(&Conversation::new(&case));
        let agrees = match outcome.kind() {
            OutcomeKind::Failed => kind == "failed",
            found => found.name() == kind && outcome.text() == text,
        };
        let known = KNOWN.iter().any(|(known, _)| known == source);
        match (agrees, known) {
            (false, false) => wrong.push(format!(
                "{source:?}\n  expected {kind}: {text:?}\n  found {}: {:?}",
                outcome.kind(),
                outcome.text()
            )),
            (true, true) => wrong.push(format!("{source:?}\n  agrees now: take it out of KNOWN")),
            _ => {}
        }
        assert!(!matches!(outcome, Outcome::Crashed { .. }), "{source:?}");
    }
    for (known, _) in KNOWN {
        if !table.iter().any(|[source, ..]| source == known) {
            wrong.push(format!("{known:?}\n  is not in the table"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn generation_blocks_are_where_transformers_finds_them() {
    type Row = (String, String, Vec<[usize; 2]>);
    let table: Vec<Row> = serde_json::from_str(include_str!("data/generation.json")).unwrap();
    let engines = Engines::default();
    let engine = engines.for_dialect(Dialect::Jinja).unwrap();
    let case = Case::from_messages(vec![
        serde_json::json!({"role": "user", "content": "hey"}),
        serde_json::json!({"role": "assistant", "content": "yé"}),
    ]);
    for (source, text, spans) in table {
        let template = Template::from_source("row", Dialect::Jinja, &source);
        let loaded = load(engine, &template);
        let conversation = Conversation::new(&case);
        let rendered = Outcome::Rendered { text: text.clone() };
        assert_eq!(loaded.render(&conversation), rendered, "{source}");
        let Some(tracked) = loaded.render_tracked(&conversation) else {
            assert!(spans.is_empty(), "{source}");
            continue;
        };
        assert_eq!(tracked.text, text, "{source}");
        let found: Vec<_> = tracked.spans.iter().map(|s| [s.start, s.end]).collect();
        assert_eq!(found, spans, "{source}");
    }
}

#[test]
fn variables_are_those_that_the_template_does_not_set() {
    let source = "{% set a = b.c %}{% macro m(d) %}{{ d ~ e }}{% endmacro %}\
        {% for f in messages %}{% generation %}{{ f ~ loop.index ~ a }}{% endgeneration %}{% endfor %}\
        {{ raise_exception(g) if namespace(h=1).h * 2 }}{{ bos_token }}";
    let template = Template::from_source("t", Dialect::Jinja, source);
    let engines = Engines::default();
    let loaded = load(engines.for_dialect(Dialect::Jinja).unwrap(), &template);
    let read: Vec<_> = loaded.variables().into_iter().collect();
    assert_eq!(read, ["b", "bos_token", "e", "g", "messages"]);
}
