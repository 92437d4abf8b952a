//! Go templates that are too large for a file, or as large as a file may be: each ends within its
//! time and memory limits. Smaller ones are in `data/hostile`.

use rolecall_core::file::MOST_TEXT;
use rolecall_core::guard::load;
use rolecall_core::{Case, Conversation, Dialect, Limit, Limits, Outcome, Template};
use rolecall_go::GoEngine;

use crate::extent::sample;
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

/// The wrong outcomes of some templates. Each template's source is made just before it is rendered.
fn wrong<S>(templates: Vec<(&str, &str, S)>, written: impl Fn(S) -> String) -> Vec<String> {
    let engine = GoEngine::new();
    let mut wrong = Vec::new();
    for (name, expected, source) in sample(templates, 20) {
        let template = Template::from_source(name, Dialect::Go, &written(source));
        let (outcome, taken, complaint) = measure::pair(&engine, &template, &case());
        println!(
            "{name}: {outcome}, {:?}, {} MiB",
            taken.time,
            taken.peak >> 20
        );
        if outcome != expected {
            wrong.push(format!("{name} gives {outcome}"));
        }
        wrong.extend(complaint.map(|complaint| format!("{name} {complaint}")));
    }
    wrong
}

#[test]
fn deep_templates_end() {
    let _alone = alone();
    let nested = |open: &str, close: &str, times: usize| {
        format!(
            "{}{{{{ .Messages }}}}{}",
            open.repeat(times),
            close.repeat(times)
        )
    };
    let many = 100_000;
    let chain = format!("{{{{ if 0 }}}}{}", "{{ else if 0 }}".repeat(490));
    let templates = [
        ("ifs", "recursion", nested("{{ if 1 }}", "{{ end }}", many)),
        (
            "withs",
            "recursion",
            nested("{{ with 1 }}", "{{ end }}", many),
        ),
        (
            "ranges",
            "recursion",
            nested("{{ range 1 }}", "{{ end }}", many),
        ),
        (
            "blocks",
            "recursion",
            nested("{{ block \"a\" . }}", "{{ end }}", many),
        ),
        (
            "else branches",
            "recursion",
            nested("{{ if 0 }}{{ else }}", "{{ end }}", many),
        ),
        (
            "parentheses",
            "recursion",
            format!("{{{{ {}1{} }}}}", "(".repeat(many), ")".repeat(many)),
        ),
        (
            "fields of parentheses",
            "recursion",
            format!("{{{{ {}.{} }}}}", "(".repeat(20_000), ").a".repeat(20_000)),
        ),
        (
            "else if",
            "recursion",
            format!(
                "{{{{ if 0 }}}}{}{{{{ end }}}}",
                "{{ else if 0 }}".repeat(many)
            ),
        ),
        (
            "else with",
            "recursion",
            format!(
                "{{{{ with 0 }}}}{}{{{{ end }}}}",
                "{{ else with 0 }}".repeat(many)
            ),
        ),
        (
            "chains in chains",
            "recursion",
            nested(&chain, "{{ end }}", 90),
        ),
        (
            "a pipeline",
            "rendered",
            format!(
                "{{{{ 1 {} }}}}{{{{ .Messages | len }}}}",
                "| print".repeat(many)
            ),
        ),
        (
            "fields",
            "failed",
            format!("{{{{ .Messages{} }}}}", ".a".repeat(many)),
        ),
        (
            "templates that call the next",
            "recursion",
            (0..2000).fold("{{ template \"t0\" .Messages }}".to_owned(), |all, i| {
                format!(
                    "{all}{{{{ define \"t{i}\" }}}}{{{{ template \"t{}\" . }}}}{{{{ end }}}}",
                    i + 1
                )
            }),
        ),
    ];
    let wrong = wrong(templates.into(), |source| source);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The largest source that the harness reads, full of one construct.
#[test]
fn large_templates_end() {
    let _alone = alone();
    let most = usize::try_from(MOST_TEXT).unwrap_or(usize::MAX);
    let full = |(before, part, after): (&str, &str, &str)| {
        let times = (most - before.len() - after.len()) / part.len();
        format!("{before}{}{after}", part.repeat(times))
    };
    let see = "{{ .Messages | len }}";
    let long = format!(
        "{see}{{{{define \"a\"}}}}{}{{{{1}}}}{{{{end}}}}",
        " ".repeat(most / 2)
    );
    let templates = [
        ("text", "rendered", (see, "text ", "")),
        ("spaces", "rendered", (see, " \n", "{{- 1 -}}")),
        ("braces", "rendered", (see, "{ ", "")),
        ("NULs", "rendered", (see, "\0", "")),
        ("actions", "fuel", (see, "{{1}}", "")),
        ("texts and actions", "fuel", (see, "x{{1}}", "")),
        ("braces and actions", "fuel", (see, "{ {{-1}}", "")),
        ("arguments", "fuel", ("{{ print", " 1", "}}")),
        ("texts as arguments", "fuel", ("{{ print", " \"\"", "}}")),
        (
            "escapes",
            "rendered",
            ("{{ len \"", "\\n", "\"}}{{ .Messages | len }}"),
        ),
        (
            "a raw text",
            "rendered",
            ("{{ len `", "a\r", "`}}{{ .Messages | len }}"),
        ),
        ("a number", "failed", ("{{ ", "9", " }}")),
        ("a long float", "failed", ("{{ 1.", "9", "e9999 }}")),
        ("a number with a base", "failed", ("{{ 0x", "f", " }}")),
        ("an octal number", "failed", ("{{ 0", "7", " }}")),
        ("a name", "fuel", ("{{ ", "a", " }}")),
        ("a field", "fuel", ("{{ .Messages | len }}{{ .", "a", " }}")),
        ("a variable", "fuel", ("{{ $", "a", " }}")),
        ("fields", "fuel", ("{{ .Messages", ".a", "}}")),
        ("dots", "failed", ("{{ ", ".", " }}")),
        ("pipes", "fuel", ("{{ .Messages", "|len", "}}")),
        (
            "spaces in an action",
            "rendered",
            ("{{", " ", "1}}{{ .Messages | len }}"),
        ),
        (
            "lines in an action",
            "rendered",
            ("{{", "\n", "1}}{{ .Messages | len }}"),
        ),
        ("comments", "fuel", (see, "{{/**/}}", "")),
        (
            "a comment",
            "rendered",
            ("{{/*", "*", "*/}}{{ .Messages | len }}"),
        ),
        ("unclosed comments", "failed", (see, "{{/*", "")),
        ("unclosed actions", "failed", (see, "{{ ", "")),
        ("an unclosed text", "failed", ("{{ \"", "a", "")),
        ("ends", "failed", (see, "{{end}}", "")),
        ("parentheses", "fuel", ("{{ ", "(", "")),
        ("ifs", "recursion", ("", "{{if 1}}", "")),
        ("definitions", "fuel", (see, "{{define \"a\"}}{{end}}", "")),
        (
            "definitions after a long one",
            "fuel",
            (long.as_str(), "{{define \"a\"}}{{end}}", ""),
        ),
        ("declarations", "fuel", (see, "{{$a:=1}}", "")),
        ("lookups", "fuel", ("{{$b:=1}}", "{{$a:=$b}}", "")),
        ("trims", "fuel", (see, "\n{{- 1 -}}\n", "")),
        ("characters", "rendered", (see, "語\u{200b}", "")),
        ("characters as a name", "fuel", ("{{ ", "語", " }}")),
    ];
    let wrong = wrong(templates.into(), full);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// As many tokens as a template may have.
#[test]
fn templates_of_many_tokens_end() {
    let _alone = alone();
    let full = |before: &str, part: &str, tokens: usize, after: &str| {
        format!("{before}{}{after}", part.repeat(249_000 / tokens))
    };
    let see = "{{ .Messages | len }}";
    let templates = [
        ("actions", "rendered", full(see, "{{1}}", 4, "")),
        (
            "arguments",
            "rendered",
            full("{{ len (print ", "1 ", 1, ")}}{{ .Messages | len }}"),
        ),
        ("fields", "failed", full("{{ .Messages", ".a", 1, "}}")),
        (
            "pipes",
            "rendered",
            full("{{ 1 ", "|print ", 2, "}}{{ .Messages | len }}"),
        ),
        ("declarations", "rendered", full(see, "{{$a:=1}}", 6, "")),
        (
            "declarations in a template that calls itself",
            "output",
            full(
                "{{ template \"m\" .Messages }}{{ define \"m\" }}",
                "{{$a:=1}}",
                6,
                "{{ template \"m\" . }}{{ end }}",
            ),
        ),
        (
            "lookups after many declarations",
            "fuel",
            full(
                &format!("{see}{{{{$b:=1}}}}{}", "{{$a:=1}}".repeat(20_000)),
                "{{$b}}",
                8,
                "",
            ),
        ),
        (
            "definitions",
            "rendered",
            full(see, "{{define \"a\"}}{{end}}", 9, ""),
        ),
        (
            "blocks",
            "failed",
            full(see, "{{block \"a\" .}}1{{end}}", 10, ""),
        ),
        (
            "branches",
            "rendered",
            full(see, "{{if 0}}{{else}}{{end}}", 13, ""),
        ),
        (
            "names",
            "rendered",
            full(see, "{{if 0}}{{.None.A}}{{end}}", 14, ""),
        ),
        (
            "a legacy template",
            "rendered",
            full("{{ .Prompt }}", "{{1}}", 4, "{{ .Response }}"),
        ),
    ];
    let wrong = wrong(templates.into(), |source| source);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
