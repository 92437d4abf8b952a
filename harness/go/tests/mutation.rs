//! The small changes of templates, on small templates.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use rolecall_go::{Dialect, Engine, GoEngine, Template};

/// The mutants of a template: the kind, and the whole source. None if it cannot be read.
fn read(source: &str) -> Option<Vec<(&'static str, String)>> {
    let template = Template::from_source("t", Dialect::Go, source);
    let mutations = GoEngine::new().mutations(&template)?.into_iter();
    let shown = mutations.map(|one| (one.kind.name(), one.applied_to(source).unwrap()));
    Some(shown.collect())
}

fn of_kind(kind: &str, source: &str) -> Vec<String> {
    let mutants = read(source).unwrap().into_iter();
    let of_kind = mutants.filter(|(own, _)| *own == kind);
    of_kind.map(|(_, mutant)| mutant).collect()
}

fn assert_all(table: &[(&str, &str, &[&str])]) {
    for (kind, source, expected) in table {
        assert_eq!(of_kind(kind, source), *expected, "{source}");
    }
}

#[test]
fn a_condition_becomes_its_contrary_once() {
    assert_all(&[
        (
            "negation",
            "{{ if .A }}{{ else if gt .B 1 }}{{ end }}",
            &[
                "{{ if not (.A) }}{{ else if gt .B 1 }}{{ end }}",
                "{{ if .A }}{{ else if not (gt .B 1) }}{{ end }}",
            ],
        ),
        (
            "negation",
            "{{ if not .A }}{{ end }}",
            &["{{ if .A }}{{ end }}"],
        ),
        // The changed comparison is the contrary.
        ("negation", "{{ if eq .A 1 }}{{ end }}", &[]),
        // It would change what the dot is.
        ("negation", "{{ with .A }}{{ end }}", &[]),
        (
            "negation",
            "{{ if and .A.B (or $.C (eq .D 1)) }}{{ end }}",
            &[
                "{{ if not (and .A.B (or $.C (eq .D 1))) }}{{ end }}",
                "{{ if and (not .A.B) (or $.C (eq .D 1)) }}{{ end }}",
                "{{ if and .A.B (not (or $.C (eq .D 1))) }}{{ end }}",
                "{{ if and .A.B (or (not $.C) (eq .D 1)) }}{{ end }}",
            ],
        ),
    ]);
}

#[test]
fn words_and_literals_become_others() {
    assert_all(&[
        (
            "logic",
            "{{ and .A (or .B .or) }}",
            &["{{ or .A (or .B .or) }}", "{{ and .A (and .B .or) }}"],
        ),
        (
            "comparison",
            "{{ eq .A 1 }}{{ lt .B 2 }}",
            &["{{ ne .A 1 }}{{ lt .B 2 }}", "{{ eq .A 1 }}{{ le .B 2 }}"],
        ),
        ("boolean", "{{ eq .A true }}", &["{{ eq .A false }}"]),
        (
            "number",
            "{{ index .A 0 }}{{ eq .B -1 }}",
            &[
                "{{ index .A 1 }}{{ eq .B -1 }}",
                "{{ index .A 0 }}{{ eq .B 0 }}",
            ],
        ),
        (
            "text",
            "{{ if eq .A \"ab\" }}{{ `c` }}{{ end }}",
            &[
                "{{ if eq .A \"\" }}{{ `c` }}{{ end }}",
                "{{ if eq .A \"a\" }}{{ `c` }}{{ end }}",
                "{{ if eq .A \"ab\" }}{{ `` }}{{ end }}",
            ],
        ),
        ("text", "{{ \"a\\n\" }}", &["{{ \"\" }}", "{{ \"a\" }}"]),
        (
            "text",
            "ab{{ .A }}c\nd",
            &[
                "{{ .A }}c\nd",
                "a{{ .A }}c\nd",
                "ab\n{{ .A }}c\nd",
                "ab{{ .A }}",
                "ab{{ .A }}cd",
                "ab{{ .A }}c\n",
            ],
        ),
    ]);
}

#[test]
fn what_an_action_does_is_gone() {
    assert_all(&[
        ("print", "{{ .A.B }}{{ \"c\" }}", &["{{ \"\" }}{{ \"c\" }}"]),
        (
            "statement",
            "{{ $a := 1 }}{{ $a = 2 }}",
            &["{{ $a := 1 }}{{ \"\" }}"],
        ),
        (
            "statement",
            "{{ range .A }}{{ break }}{{ end }}",
            &["{{ range .A }}{{ \"\" }}{{ end }}"],
        ),
        (
            "filter",
            "{{ .A | json | len }}",
            &["{{ .A | len }}", "{{ .A | json }}"],
        ),
    ]);
}

#[test]
fn marks_are_changed_only_next_to_white_space() {
    assert_all(&[
        ("white-space", "a{{ .A }}b", &[]),
        (
            "white-space",
            "a {{.A -}} b",
            &["a {{- .A -}} b", "a {{.A }} b"],
        ),
        ("white-space", "{{ .A -}} {{- .B }}", &[]),
        (
            "white-space",
            "{{- .A }} {{/* a comment */}}",
            &["{{- .A -}} {{/* a comment */}}"],
        ),
    ]);
}

#[test]
fn what_no_render_reaches_is_not_changed() {
    let source = "{{ range .A }}{{ continue }} x {{ end }}";
    let only = "{{ range .A }}{{ \"\" }} x {{ end }}";
    assert_eq!(read(source).unwrap(), [("statement", only.to_owned())]);
    assert_eq!(read("{{/* a comment */}}").unwrap(), []);
    assert_eq!(read("{{ if }"), None);
}
