//! What renders reach, for small templates.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use rolecall_core::SiteKind;
use rolecall_go::{
    Case, Conversation, Dialect, GoEngine, Limits, Observer, Outcome, Program, Site, Template,
    Wanted,
};
use serde_json::{Value, json};

/// The sites of a template, each as `kind text: ways`, with what a case of these messages reaches.
/// The covered render must have the outcome of a plain one.
fn covered(source: &str, messages: &[Value]) -> Vec<String> {
    let template = Template::from_source("t", Dialect::Go, source);
    let program = GoEngine::new().program(&template).unwrap();
    let case = Case::from_messages(messages.to_vec());
    let conversation = Conversation::new(&case);
    let mut coverage = Observer::of(&[Wanted::Hits]);
    let outcome = program.render_with(&conversation, &mut coverage);
    assert_eq!(outcome, program.render(&conversation));
    let hits = coverage.hits.unwrap();
    let line = |(at, site): (usize, &Site)| {
        let branches = site
            .kind
            .branches()
            .iter()
            .filter(|branch| hits.has(at, **branch));
        let branches: Vec<_> = branches.map(|branch| branch.name()).collect();
        let text = &source[site.span.clone()];
        format!("{} {text}: {}", site.kind.name(), branches.join(" "))
    };
    program
        .sites()
        .unwrap()
        .iter()
        .enumerate()
        .map(line)
        .collect()
}

/// Messages of alternating roles: Ollama joins those of one role that follow each other.
fn messages(count: usize) -> Vec<Value> {
    let roles = ["user", "assistant"].into_iter().cycle().take(count);
    let messages = roles.map(|role| json!({"role": role, "content": "x"}));
    messages.collect()
}

#[test]
fn each_kind_of_place_is_reached_or_not() {
    for (source, expected) in [
        (
            "é{{ .System }}{{- $a := 1 -}}\n\n{{/* no */}}\n{{ $a }}{{ .Messages }}",
            vec![
                "statement .System: reached",
                "statement $a := 1: reached",
                "statement $a: reached",
                "statement .Messages: reached",
            ],
        ),
        (
            "{{ if .Messages }}{{ 1 }}{{ else if .Tools }}{{ 2 }}{{ end }}",
            vec![
                "condition if .Messages: true",
                "statement 1: reached",
                "condition else if .Tools: ",
                "statement 2: ",
            ],
        ),
        (
            "{{ with .Tools }}{{ . }}{{ else }}{{ 1 }}{{ end }}{{ .Messages }}",
            vec![
                "condition with .Tools: false",
                "statement .: ",
                "statement 1: reached",
                "statement .Messages: reached",
            ],
        ),
        (
            "{{ if and (or .Tools (index .Messages 0).Role) (not .System) true }}{{ end }}\
             {{ .Messages }}",
            vec![
                "condition if and (or .Tools (index .Messages 0).Role) (not .System) true: true",
                "operand .Tools: false",
                "operand (index .Messages 0).Role: true",
                "operand (not .System): true",
                "statement .Messages: reached",
            ],
        ),
        (
            "{{ range $i, $m := .Messages }}{{ if $i }}{{ break }}{{ end }}{{ continue }}{{ $m }}\
             {{ end }}",
            vec![
                "loop range $i, $m := .Messages: several",
                "condition if $i: true false",
                "statement break: reached",
                "statement continue: reached",
                "statement $m: ",
            ],
        ),
        (
            "{{ range .Tools }}{{ . }}{{ else }}{{ 1 }}{{ end }}{{ .Messages }}",
            vec![
                "loop range .Tools: empty",
                "statement .: ",
                "statement 1: reached",
                "statement .Messages: reached",
            ],
        ),
        (
            "{{ define \"a\" }}{{ 1 }}{{ end }}{{ define \"b\" }}{{ 2 }}{{ end }}\
             {{ template \"a\" . }}{{ block \"c\" .Messages }}{{ 3 }}{{ end }}",
            vec![
                "statement template \"a\" .: reached",
                "statement block \"c\" .Messages: reached",
                "macro define \"a\": reached",
                "statement 1: reached",
                "macro define \"b\": ",
                "statement 2: ",
                "macro block \"c\" .Messages: reached",
                "statement 3: reached",
            ],
        ),
        (
            "{ {{ .Messages }}{{ index .Messages 9 }}{{ 1 }}",
            vec![
                "statement .Messages: reached",
                "statement index .Messages 9: reached",
                "statement 1: ",
            ],
        ),
        // Turn by turn. The last turn ends at the response, which is Ollama's own here.
        (
            "{{ if .System }}{{ .System }}{{ end }}{{ .Prompt }}",
            vec![
                "condition if .System: false",
                "statement .System: ",
                "statement .Prompt: reached",
            ],
        ),
    ] {
        assert_eq!(covered(source, &messages(2)), expected, "{source}");
    }
}

#[test]
fn loops_have_no_turn_one_or_several() {
    let source = "{{ range .Messages }}x{{ else }}y{{ end }}";
    for (count, expected) in [(1, "once"), (2, "several"), (3, "several")] {
        let lines = covered(source, &messages(count));
        assert_eq!(lines, [format!("loop range .Messages: {expected}")]);
    }
}

#[test]
fn a_covered_render_has_the_limits_of_a_plain_one() {
    let source = "{{ range .Messages }}{{ if and .Role .Content }}{{ .Content }}{{ end }}{{ end }}";
    let template = Template::from_source("t", Dialect::Go, source);
    let case = Case::from_messages(messages(3));
    let conversation = Conversation::new(&case);
    let mut rendered = 0;
    for fuel in 0..60 {
        let limits = Limits {
            fuel,
            ..Limits::default()
        };
        let program = GoEngine::with_limits(limits).program(&template).unwrap();
        let plain = program.render(&conversation);
        let covered = program.render_with(&conversation, &mut Observer::of(&[Wanted::Hits]));
        assert_eq!(covered, plain, "{fuel}");
        rendered += usize::from(matches!(plain, Outcome::Rendered { .. }));
    }
    assert!((1..60).contains(&rendered), "{rendered}");
}

#[test]
fn a_range_that_declares_with_a_comma_has_its_place() {
    // Go declares the first variable and takes the second one for the pipeline.
    let source = "{{ $b := .Messages }}{{ range $a, $b }}{{ or .Role $b }}{{ end }}";
    let lines = covered(source, &messages(1));
    assert_eq!(lines[1], "loop range $a, $b: once");
    assert_eq!(lines[3], "operand .Role: true");
}

#[test]
fn a_condition_that_asks_for_the_list_leaves_no_loop_empty() {
    for (source, is_never_empty) in [
        ("{{ if .Tools }}{{ range .Tools }}{{ end }}{{ end }}", true),
        ("{{ with .Tools }}{{ range . }}{{ end }}{{ end }}", true),
        (
            "{{ if and .System (.Tools) }}{{ range $i, $t := .Tools }}{{ end }}{{ end }}",
            true,
        ),
        (
            "{{ if .System }}{{ else if .Tools }}{{ range .Tools }}{{ end }}{{ end }}",
            true,
        ),
        (
            "{{ if $.Tools }}{{ range .Messages }}{{ range $.Tools }}{{ end }}{{ end }}{{ end }}",
            true,
        ),
        (
            "{{ $t := .Tools }}{{ if $t }}{{ range $t }}{{ end }}{{ end }}",
            true,
        ),
        ("{{ range .Tools }}{{ end }}", false),
        ("{{ if .Tools }}{{ end }}{{ range .Tools }}{{ end }}", false),
        (
            "{{ if .Tools }}{{ else }}{{ range .Tools }}{{ end }}{{ end }}",
            false,
        ),
        (
            "{{ if or .System .Tools }}{{ range .Tools }}{{ end }}{{ end }}",
            false,
        ),
        (
            "{{ if not .Tools }}{{ range .Tools }}{{ end }}{{ end }}",
            false,
        ),
        // The same words, and another value.
        (
            "{{ if .ToolCalls }}{{ range .Messages }}{{ range .ToolCalls }}{{ end }}{{ end }}{{ end }}",
            false,
        ),
        (
            "{{ with .Messages }}{{ with .Tools }}{{ end }}{{ range .Tools }}{{ end }}{{ end }}",
            false,
        ),
        (
            "{{ $t := .Tools }}{{ if $t }}{{ $t = .Messages }}{{ range $t }}{{ end }}{{ end }}",
            false,
        ),
        (
            "{{ $t := .Tools }}{{ if $t }}{{ $t := .Messages }}{{ range $t }}{{ end }}{{ end }}",
            false,
        ),
        (
            "{{ if .Tools }}{{ range .Messages }}{{ end }}{{ end }}",
            false,
        ),
    ] {
        let template = Template::from_source("t", Dialect::Go, source);
        let sites = GoEngine::new().program(&template).unwrap().sites().unwrap();
        let mut loops = sites.iter().filter(|site| site.kind == SiteKind::Loop);
        let last = loops.next_back().unwrap();
        assert_eq!(last.is_never_empty, is_never_empty, "{source}");
    }
}
