//! The small changes of templates, on small templates.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use rolecall_jinja::{Dialect, Engine, JinjaEngine, Template};

/// The mutants of a template: the kind, and the whole source. None if it cannot be read.
fn read(source: &str) -> Option<Vec<(&'static str, String)>> {
    let template = Template::from_source("t", Dialect::Jinja, source);
    let mutations = JinjaEngine::new().mutations(&template)?.into_iter();
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
            "{% if a %}{% endif %}",
            &["{% if not (a) %}{% endif %}"],
        ),
        (
            "negation",
            "{% if not a %}{% endif %}",
            &["{% if a %}{% endif %}"],
        ),
        // The changed comparison is the contrary.
        ("negation", "{% if a.b == 1 %}{% endif %}", &[]),
        ("negation", "{% if true %}{% endif %}", &[]),
        (
            "negation",
            "{{ 1 if (a or (b)|c) and d(e) }}",
            &[
                "{{ 1 if not ((a or (b)|c) and d(e)) }}",
                "{{ 1 if (not (a) or (b)|c) and d(e) }}",
                "{{ 1 if (a or not ((b)|c)) and d(e) }}",
                "{{ 1 if (a or (b)|c) and not (d(e)) }}",
            ],
        ),
        (
            "negation",
            "{% for a in b if c %}{% endfor %}",
            &["{% for a in b if not (c) %}{% endfor %}"],
        ),
    ]);
}

#[test]
fn operators_become_others() {
    assert_all(&[
        (
            "logic",
            "{{ a and b or c.and }}",
            &["{{ a or b or c.and }}", "{{ a and b and c.and }}"],
        ),
        (
            "comparison",
            "{{ a == b }}{{ a < b }}",
            &["{{ a != b }}{{ a < b }}", "{{ a == b }}{{ a <= b }}"],
        ),
        (
            "comparison",
            "{% for a in b %}{{ a in b }}{% endfor %}",
            &["{% for a in b %}{{ a not in b }}{% endfor %}"],
        ),
        (
            "comparison",
            "{{ a not in b }}{{ a is c }}{{ a is not c }}",
            &[
                "{{ a in b }}{{ a is c }}{{ a is not c }}",
                "{{ a not in b }}{{ a is not c }}{{ a is not c }}",
                "{{ a not in b }}{{ a is c }}{{ a is c }}",
            ],
        ),
        (
            "arithmetic",
            "{{ a + b % 2 }}",
            &["{{ a - b % 2 }}", "{{ a + b // 2 }}"],
        ),
        ("arithmetic", "{{ a // 2 }}", &["{{ a * 2 }}"]),
        (
            "loop-place",
            "{{ loop.first }}{{ x.last }}{{ loop.index }}",
            &[
                "{{ loop.last }}{{ x.last }}{{ loop.index }}",
                "{{ loop.first }}{{ x.last }}{{ loop.index0 }}",
            ],
        ),
    ]);
}

#[test]
fn literals_become_others() {
    assert_all(&[
        (
            "boolean",
            "{% set a = False %}{{ b(true=true) }}",
            &[
                "{% set a = True %}{{ b(true=true) }}",
                "{% set a = False %}{{ b(true=false) }}",
            ],
        ),
        ("number", "{{ a[0] }}{{ 1.5 }}", &["{{ a[1] }}{{ 1.5 }}"]),
        ("text", "ab{{ x }}", &["{{ x }}", "a{{ x }}", "ab\n{{ x }}"]),
        (
            "text",
            "{{ x }}a\nb",
            &["{{ x }}", "{{ x }}ab", "{{ x }}a\n"],
        ),
        // Every other byte stays as it is, also where lines end with two of them.
        (
            "text",
            "{{ 'ä' }}\r\nb",
            &[
                "{{ '' }}\r\nb",
                "{{ 'ä\\n' }}\r\nb",
                "{{ 'ä' }}b",
                "{{ 'ä' }}",
                "{{ 'ä' }}\r\n",
            ],
        ),
        (
            "text",
            "{{ 'ab' }}",
            &["{{ '' }}", "{{ 'a' }}", "{{ 'ab\\n' }}"],
        ),
        (
            "text",
            "{{ 'a\\n' }}{{ x['b'] }}",
            &[
                "{{ '' }}{{ x['b'] }}",
                "{{ 'a' }}{{ x['b'] }}",
                "{{ 'a\\n' }}{{ x[''] }}",
            ],
        ),
        // Half of an escape would be another text, or none.
        (
            "text",
            "{{ 'a\\u0041' }}",
            &["{{ '' }}", "{{ 'a\\u0041\\n' }}"],
        ),
    ]);
}

#[test]
fn what_a_tag_does_is_gone() {
    assert_all(&[
        (
            "filter",
            "{{ a | b.c(d, (e)) | f }}",
            &["{{ a | f }}", "{{ a | b.c(d, (e)) }}"],
        ),
        ("print", "{{ a }}{{ 'b' }}", &["{{ '' }}{{ 'b' }}"]),
        (
            "statement",
            "{%- set a = 1 -%}",
            &["{%- if false %}{% endif -%}"],
        ),
        ("statement", "{% set a %}b{% endset %}", &[]),
        (
            "statement",
            "{% for a in b %}{% break %}{% endfor %}",
            &["{% for a in b %}{% if false %}{% endif %}{% endfor %}"],
        ),
    ]);
}

#[test]
fn marks_are_changed_only_next_to_white_space() {
    assert_all(&[
        ("white-space", "a{{ x }}b", &[]),
        (
            "white-space",
            "a {{ x -}} b",
            &["a {{- x -}} b", "a {{ x }} b"],
        ),
        // Either mark takes the space away.
        ("white-space", "{{ x -}} {{- y }}", &[]),
        (
            "white-space",
            "{% if x %}\n\n{% endif %}",
            &["{% if x -%}\n\n{% endif %}", "{% if x %}\n\n{%- endif %}"],
        ),
        // A block takes away the line break after it in any case.
        ("white-space", "{% if x %}\n{% endif %}", &[]),
    ]);
}

#[test]
fn what_no_render_reaches_is_not_changed() {
    let source = "{% if a %}{{ raise_exception('b') }}\nnever {% endif %}";
    let kinds: BTreeSet<_> = read(source)
        .unwrap()
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    let kinds: Vec<_> = kinds.into_iter().collect();
    assert_eq!(kinds, ["negation", "print", "text"]);
    assert_eq!(
        of_kind("text", source),
        [
            "{% if a %}{{ raise_exception('') }}\nnever {% endif %}",
            "{% if a %}{{ raise_exception('b\\n') }}\nnever {% endif %}",
        ]
    );
    // The refusal takes the place of the prompt.
    let before = "{% if a %} x {{ raise_exception('') }}{% endif %}";
    assert_eq!(of_kind("text", before), [""; 0]);
    assert_eq!(of_kind("white-space", before), [""; 0]);
    let after = "{% for a in b %}{% continue %} x {% endfor %}";
    let only = "{% for a in b %}{% if false %}{% endif %} x {% endfor %}";
    assert_eq!(read(after).unwrap(), [("statement", only.to_owned())]);
    assert_eq!(read("{# a comment #}{% raw %}{% endraw %}").unwrap(), []);
}

#[test]
fn a_template_that_is_none_has_no_mutants() {
    assert_eq!(read("{% if %}"), None);
}
