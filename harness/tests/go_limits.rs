//! Go templates that loop, recurse or grow without end: each ends in `exceeded`, in time.

mod clock;

use std::time::Duration;

use rolecall::case::Case;
use rolecall::engine::{Conversation, Gotmpl, Limits, load};
use rolecall::outcome::{Limit, Outcome};
use rolecall::template::{Dialect, Template};

/// One pair may take this long and no longer, whatever the template does.
const LONGEST: Duration = Duration::from_secs(1);

fn outcome(engine: &Gotmpl, source: &str) -> (Outcome, Duration) {
    let messages = vec![serde_json::json!({"role": "user", "content": "hello"})];
    let case = Case::from_messages(messages);
    let template = Template::from_source("t", Dialect::Go, source);
    let begin = clock::computed();
    let outcome = load(engine, &template).render(&Conversation::new(&case));
    (outcome, clock::since(begin))
}

#[test]
fn hostile_templates_end_in_time() {
    let nested = |open: &str, close: &str, times: usize| {
        format!(
            "{}{{{{ .Messages }}}}{}",
            open.repeat(times),
            close.repeat(times)
        )
    };
    let hostile = [
        ("a long range", Limit::Fuel, "{{ range 9000000000000000000 }}{{ end }}{{ .Messages }}".to_owned()),
        (
            "nested ranges",
            Limit::Fuel,
            "{{ range 99999 }}{{ range 99999 }}{{ end }}{{ end }}{{ .Messages }}".to_owned(),
        ),
        (
            "a template that calls itself",
            Limit::Recursion,
            "{{ define \"m\" }}{{ template \"m\" . }}{{ end }}{{ template \"m\" .Messages }}".to_owned(),
        ),
        (
            "templates that call each other",
            Limit::Recursion,
            "{{ define \"a\" }}{{ if 1 }}{{ template \"b\" . }}{{ end }}{{ end }}\
             {{ define \"b\" }}{{ range 2 }}{{ template \"a\" . }}{{ end }}{{ end }}\
             {{ template \"a\" .Messages }}"
                .to_owned(),
        ),
        (
            "a template that calls itself twice",
            Limit::Recursion,
            "{{ define \"m\" }}{{ template \"m\" . }}{{ template \"m\" . }}{{ end }}{{ template \"m\" .Messages }}".to_owned(),
        ),
        (
            "a text that doubles",
            Limit::Output,
            "{{ $x := \"0123456789\" }}{{ range 99 }}{{ $x = print $x $x }}{{ end }}{{ .Messages }}".to_owned(),
        ),
        (
            "json of json",
            Limit::Output,
            "{{ $x := \"\\\"\\\"\" }}{{ range 99 }}{{ $x = json $x }}{{ end }}{{ .Messages }}".to_owned(),
        ),
        (
            "much output",
            Limit::Output,
            format!("{{{{ range 999999 }}}}{}{{{{ end }}}}{{{{ .Messages }}}}", "x".repeat(999)),
        ),
        (
            "wide padding",
            Limit::Output,
            "{{ range 9999 }}{{ printf \"%999999d\" 1 }}{{ end }}{{ .Messages }}".to_owned(),
        ),
        (
            "wide padding in one format",
            Limit::Output,
            format!(
                "{{{{ printf \"{}\" {} }}}}{{{{ .Messages }}}}",
                "%999999d".repeat(999),
                "1 ".repeat(999)
            ),
        ),
        ("nested ifs", Limit::Recursion, nested("{{ if 1 }}", "{{ end }}", 20_000)),
        (
            "nested parentheses",
            Limit::Recursion,
            format!("{{{{ {}1{} }}}}", "(".repeat(20_000), ")".repeat(20_000)),
        ),
        (
            "a chain of else if",
            Limit::Recursion,
            format!("{{{{ if 0 }}}}{}{{{{ end }}}}", "{{ else if 0 }}".repeat(20_000)),
        ),
    ];
    let engine = Gotmpl::new();
    for (name, limit, source) in &hostile {
        let (found, took) = outcome(&engine, source);
        let exceeded = Outcome::Exceeded { limit: *limit };
        assert!(found == exceeded, "{name}: {:?}", found.kind());
        assert!(took < LONGEST, "{name} took {took:?}");
    }
}

#[test]
fn limits_are_configurable() {
    let source = "{{ range 100 }}{{ $.Nope }}{{ end }}{{ .Messages | len }}";
    let engine = |fuel, output| {
        Gotmpl::with_limits(Limits {
            fuel,
            output,
            ..Limits::default()
        })
    };
    assert!(matches!(
        outcome(
            &engine(50, 1000),
            "{{ range 100 }}x{{ end }}{{ .Messages }}"
        )
        .0,
        Outcome::Exceeded { limit: Limit::Fuel }
    ));
    assert!(matches!(
        outcome(
            &engine(5000, 50),
            "{{ range 100 }}x{{ end }}{{ .Messages }}"
        )
        .0,
        Outcome::Exceeded {
            limit: Limit::Output
        }
    ));
    let rendered = outcome(&Gotmpl::new(), source).0;
    let text = format!("{}1", "<no value>".repeat(100));
    assert_eq!(rendered, Outcome::Rendered { text });
}
