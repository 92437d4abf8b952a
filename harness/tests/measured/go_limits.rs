//! Go templates that are too large for a file, or as large as a file may be: each ends within its
//! time and memory limits.

use rolecall_core::guard::load;
use rolecall_core::{Case, Conversation, Dialect, Limit, Limits, Outcome, Template};
use rolecall_go::GoEngine;

use crate::extent::sample;
use crate::large;
use crate::measure;
use crate::meter::alone;

fn case() -> Case {
    Case::from_messages(vec![
        serde_json::json!({"role": "user", "content": "hello"}),
    ])
}

fn outcome(engine: &GoEngine, source: &str) -> Outcome {
    let template = Template::from_source("t", Dialect::Go, source);
    load(engine, &template).render(&Conversation::new(&case()))
}

/// Fails if a template of a table does not end as the table says. Each source is made just before it is rendered.
fn end_as_expected(table: &str) {
    let _alone = alone();
    let engine = GoEngine::new();
    let mut wrong = Vec::new();
    for row in sample(large::table(table), 20) {
        let name = row.name();
        let template = Template::from_source(name, Dialect::Go, &row.source());
        let (outcome, taken, complaint) = measure::pair(&engine, &template, &case());
        println!(
            "{name}: {outcome}, {:?}, {} MiB",
            taken.time,
            taken.peak >> 20
        );
        if outcome != row.outcome() {
            wrong.push(format!("{name} gives {outcome}"));
        }
        wrong.extend(complaint.map(|complaint| format!("{name} {complaint}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn deep_templates_end() {
    end_as_expected("go-deep");
}

/// The largest source that the harness reads, full of one construct.
#[test]
fn large_templates_end() {
    end_as_expected("go-full");
}

/// As many tokens as a template may have.
#[test]
fn templates_of_many_tokens_end() {
    end_as_expected("go-tokens");
}

#[test]
fn limits_are_configurable() {
    let _alone = alone();
    let source = "{{ range 100 }}{{ $.Nope }}{{ end }}{{ .Messages | len }}";
    let engine = |fuel, output| {
        GoEngine::with_limits(Limits {
            fuel,
            output,
            ..Limits::default()
        })
    };
    assert!(matches!(
        outcome(
            &engine(50, 1000),
            "{{ range 100 }}x{{ end }}{{ .Messages }}"
        ),
        Outcome::Exceeded { limit: Limit::Fuel }
    ));
    assert!(matches!(
        outcome(
            &engine(5000, 50),
            "{{ range 100 }}x{{ end }}{{ .Messages }}"
        ),
        Outcome::Exceeded {
            limit: Limit::Output
        }
    ));
    let rendered = outcome(&GoEngine::new(), source);
    let text = format!("{}1", "<no value>".repeat(100));
    assert_eq!(rendered, Outcome::Rendered { text });
}
