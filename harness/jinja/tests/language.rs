//! The Jinja engine speaks Python's Jinja: each row of the table is a small template with
//! what the real transformers gives for it, recorded by `scripts/record-language.py`.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use regex::Regex;
use rolecall_core::guard::load;
use rolecall_core::{
    Case, Conversation, Dialect, Observer, Outcome, OutcomeKind, Template, Wanted,
};
use rolecall_jinja::JinjaEngine;
use serde_json::Value;

/// A reason of [`KNOWN`].
const NO_BYTES: &str = "there are no bytes";

/// A reason of [`KNOWN`].
const LARGE: &str = "integers beyond 128 bits are written, and not calculated with";

/// A reason of [`KNOWN`].
const FOLDED: &str =
    "names are compared as they are written; Python folds some letters of a name (NFKC)";

/// Where the engine differs and will go on to, each with the reason. A row that agrees has
/// to be taken out.
const KNOWN: &[(&str, &str)] = &[
    ("{{ 'x'.encode() }}", NO_BYTES),
    (
        "{{ 'é'.encode() }}{{ 'a'.encode('utf-8') }}{{ 'a'.encode(encoding='utf-8') }}{{ 'é'.encode('latin-1') }}{{ 'é'.encode('ascii', 'ignore') }}",
        NO_BYTES,
    ),
    (
        "{{ 'abc'.encode()|length }}{{ 'a'.encode() is string }}",
        NO_BYTES,
    ),
    ("{{ (0).from_bytes('a'.encode()) }}", NO_BYTES),
    (
        "{{ (5).to_bytes(2, 'big') }}{{ (5).to_bytes() }}{{ (5).to_bytes(length=2, byteorder='little') }}{{ (-5).to_bytes(2, 'big', signed=true) }}{{ true.to_bytes(1, 'big') }}",
        NO_BYTES,
    ),
    (
        "{{ lipsum() is string }}{{ lipsum(n=1, html=false)|length > 100 }}{{ lipsum() is escaped }}{{ lipsum(html=false) is escaped }}",
        "its text is random",
    ),
    (
        r"{{ '\N{EM DASH}' }}",
        "the names of Unicode's characters are not known",
    ),
    (
        r"{{ '\ud83d\ude00'|tojson(ensure_ascii=true) }}",
        "half of a pair of surrogates is no character, and no prompt can have it",
    ),
    (
        "{% for x in [1] %}{{ loop.cycle }}{% endfor %}",
        "a method of `loop` is only known where it is called",
    ),
    (
        r"{{ '\ud83f\udfff'|length }}",
        "half of a pair of surrogates is no character, and no prompt can have it",
    ),
    ("{{ (-8)**0.5 }}", "complex numbers are not known"),
    ("{{ 2 ** 200 }}", LARGE),
    ("{{ 99999999999999999999 * 99999999999999999999 }}", LARGE),
    (
        "{{ '&eacute;'|striptags }}",
        "only some of HTML's 2231 named characters are known",
    ),
    (
        "{{ 257 is sameas 257 }}{{ 5 is sameas 5 }}",
        "two integers that are equal are the same here; CPython keeps only small ones once",
    ),
    ("{% set ﬁx = 1 %}{{ fix }}", FOLDED),
    ("{% set ａ = 1 %}{{ a }}", FOLDED),
    (
        "{% for a in [1] %}{{ loop|map('tojson')|list }}{% endfor %}",
        "the variable `loop` gives no items here, and in Python those that are left",
    ),
];

/// Rows whose message does not name what is missing.
const UNNAMED: &[&str] = &[
    "{{ {2: 2, p: 3}|pprint }}",
    "{{ {p: 0, '': {'': []}}|pprint }}",
    "{{ {'': {'': 1, {5: ''}.r: []}}|pprint }}",
    "{{ {none: 1, p: 3}|pprint }}",
];

/// A template, what comes of it, and its text or message.
type Row = [String; 3];

fn rows() -> Vec<Row> {
    let tables = [
        include_str!("../../../cases/constructs/jinja.json"),
        include_str!("scopes.json"),
    ];
    let row = |row: &Value| {
        let text = row.get("text").or_else(|| row.get("message"));
        [&row["template"], &row["outcome"], text.unwrap()]
            .map(|part| part.as_str().unwrap().to_owned())
    };
    let rows_of = |table: &str| -> Vec<Row> {
        let table: Value = serde_json::from_str(table).unwrap();
        table["rows"].as_array().unwrap().iter().map(row).collect()
    };
    tables.iter().flat_map(|table| rows_of(table)).collect()
}

#[test]
fn small_templates_give_what_transformers_gives() {
    let table = rows();
    let engine = JinjaEngine::new();
    let message = serde_json::json!({"role": "user", "content": "hey"});
    let case = Case::from_messages(vec![message]);
    let mut wrong = Vec::new();
    for [source, kind, text] in &table {
        let template = Template::from_source("row", Dialect::Jinja, source);
        let outcome = load(&engine, &template).render(&Conversation::new(&case));
        let agrees = match outcome.kind() {
            OutcomeKind::Failed => kind == "failed",
            found => found.name() == kind && outcome.text() == text,
        };
        let is_known = KNOWN.iter().any(|(known, _)| known == source);
        match (agrees, is_known) {
            (false, false) => wrong.push(format!(
                "{source:?}\n  expected {kind}: {text:?}\n  found {}: {:?}",
                outcome.kind(),
                outcome.text()
            )),
            (true, true) => {
                wrong.push(format!("{source:?}\n  agrees now: take it out of the list"));
            }
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
fn what_is_missing_has_the_name_that_python_gives_it() {
    let names = Regex::new(
        r"is undefined$|^'[\w.]+ object' has no attribute|has no element|was not provided|sequence was empty|is unsafe",
    );
    let names = names.unwrap();
    let engine = JinjaEngine::new();
    let message = serde_json::json!({"role": "user", "content": "hey"});
    let case = Case::from_messages(vec![message]);
    let mut wrong = Vec::new();
    for [source, kind, text] in rows() {
        let is_known = UNNAMED.contains(&source.as_str());
        if kind != "failed" || !names.is_match(&text) {
            continue;
        }
        let template = Template::from_source("row", Dialect::Jinja, source.as_str());
        let outcome = load(&engine, &template).render(&Conversation::new(&case));
        if outcome.text().contains(&text) == is_known {
            wrong.push(format!("{source:?}\n  {text:?}\n  {:?}", outcome.text()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What transformers gives a template, recorded by the same script as the rows.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    filters: Vec<String>,
    tests: Vec<String>,
    globals: Vec<String>,
    r#loop: Vec<String>,
    /// Attributes of Python's types, by type.
    methods: BTreeMap<String, Vec<String>>,
    /// Attributes that the sandbox keeps from a template.
    refused: BTreeMap<String, Vec<String>>,
}

/// Something that a row can use.
struct Name {
    /// What it is, and its name.
    label: String,
    /// Matches the templates that use it.
    pattern: Regex,
    /// Whether the sandbox keeps it from templates, so that every use fails.
    is_refused: bool,
}

fn name(what: &str, name: &str, pattern: &str) -> Name {
    Name {
        label: format!("{what} {name}"),
        pattern: Regex::new(pattern).unwrap(),
        is_refused: false,
    }
}

/// An attribute of one of Python's types. Whose attribute it is shows only after a literal.
fn attribute(kind: &str, attribute: &str) -> Name {
    let literal = match kind {
        "str" => r#"['"]"#,
        "dict" => r"\}",
        "list" => r"\]",
        "tuple" => r"\([^()]*,[^()]*\)",
        "int" => r"\(-?\d+\)",
        "float" => r"\(-?\d+\.\d+\)",
        _ => panic!("it is not known how a literal of the type {kind} looks"),
    };
    let pattern = format!(r"{literal}\.{attribute}\b");
    name(&format!("attribute of {kind}"), attribute, &pattern)
}

impl Names {
    fn read() -> Vec<Name> {
        let names: Names =
            serde_json::from_str(include_str!("../../tests/data/language-names.json")).unwrap();
        let mut all = Vec::new();
        all.extend(names.filters.iter().map(|filter| {
            let pattern = format!(r"\|\s*{filter}\b");
            name("filter", filter, &pattern)
        }));
        all.extend(names.tests.iter().map(|test| {
            // What is no word can only be named.
            let pattern = if test.starts_with(char::is_alphabetic) {
                format!(r"\bis (not )?{test}\b")
            } else {
                format!(r"\|(select|reject)(attr)?\([^)]*'{test}'")
            };
            name("test", test, &pattern)
        }));
        all.extend(names.globals.iter().map(|function| {
            let pattern = format!(r"(^|[^.|\w]){function}\(");
            name("function", function, &pattern)
        }));
        all.extend(names.r#loop.iter().map(|attribute| {
            let pattern = format!(r"\bloop\.{attribute}\b");
            name("attribute of a loop", attribute, &pattern)
        }));
        for (attributes, is_refused) in [(names.methods, false), (names.refused, true)] {
            for (kind, attributes) in attributes {
                all.extend(attributes.iter().map(|name| Name {
                    is_refused,
                    ..attribute(&kind, name)
                }));
            }
        }
        all
    }
}

/// The names that no row uses so that something comes of it; of what the sandbox keeps from
/// templates, those that no row asks for in vain.
fn unused<'n>(names: &'n [Name], rows: &[Row]) -> Vec<&'n str> {
    let is_used = |name: &Name| {
        rows.iter().any(|[source, kind, _]| {
            (kind == "failed") == name.is_refused && name.pattern.is_match(source)
        })
    };
    let unused = names.iter().filter(|name| !is_used(name));
    unused.map(|name| name.label.as_str()).collect()
}

#[test]
fn every_name_of_the_language_is_in_a_row() {
    let names = Names::read();
    let unused = unused(&names, &rows());
    assert!(unused.is_empty(), "no row uses: {}", unused.join(", "));
}

/// A name is found where it is used, and only there.
#[test]
fn a_name_is_in_a_row_only_where_it_is_used() {
    let names = Names::read();
    for (source, kind, expected) in [
        ("{{ upper }}{{ x.upper() }}upper", "rendered", ""),
        ("{{ x|upper }}", "rendered", "filter upper"),
        ("{{ x|upper }}", "failed", ""),
        ("{{ x|default('') }}", "rendered", "filter default"),
        ("{{ x is not upper }}", "rendered", "test upper"),
        (
            "{{ x|select('>=', 1) }}",
            "rendered",
            "filter select, test >=",
        ),
        (
            "{{ raise_exception(1) }}",
            "raised",
            "function raise_exception",
        ),
        (
            "{{ loop.index0 }}",
            "rendered",
            "attribute of a loop index0",
        ),
        ("{{ 'x'.upper() }}", "rendered", "attribute of str upper"),
        ("{{ {}.copy() }}", "rendered", "attribute of dict copy"),
        ("{{ [1].count(1) }}", "rendered", "attribute of list count"),
        (
            "{{ (1, 2).count(1) }}",
            "rendered",
            "attribute of tuple count",
        ),
        ("{{ (5).real }}", "rendered", "attribute of int real"),
        ("{{ (-0.5).hex() }}", "rendered", "attribute of float hex"),
        ("{{ [1].append(1) }}", "failed", "attribute of list append"),
        ("{{ [1].append(1) }}", "rendered", ""),
    ] {
        let unused = unused(&names, &[[source, kind, ""].map(str::to_owned)]);
        let mut used: Vec<&str> = names.iter().map(|name| name.label.as_str()).collect();
        used.retain(|name| !unused.contains(name));
        assert_eq!(used.join(", "), expected, "{source}");
    }
}

/// What Python writes with an address in memory cannot be a row: it is another text each time.
/// It is written without the address, and never with a name of this engine's own.
#[test]
fn what_is_global_has_the_name_that_python_gives_it() {
    let names: Names =
        serde_json::from_str(include_str!("../../tests/data/language-names.json")).unwrap();
    let engine = JinjaEngine::new();
    let case = Case::from_messages(vec![]);
    for name in names.globals {
        let source = format!("{{{{ {name} }}}}{{{{ [{name}] }}}}");
        let template = Template::from_source("global", Dialect::Jinja, &source);
        let outcome = load(&engine, &template).render(&Conversation::new(&case));
        let text = outcome.text();
        let is_pythons = text.starts_with('<') && !text.contains("rolecall");
        assert!(is_pythons && !text.contains("::"), "{source}: {text}");
    }
    for name in ["__rolecall_one", "__rolecall_generation"] {
        let source = format!("{{{{ {name} is defined }}}}");
        let template = Template::from_source("own", Dialect::Jinja, &source);
        let outcome = load(&engine, &template).render(&Conversation::new(&case));
        assert_eq!(outcome.text(), "False", "{name}");
    }
}

#[test]
fn generation_blocks_are_where_transformers_finds_them() {
    type Row = (String, String, Vec<[usize; 2]>);
    let table: Vec<Row> =
        serde_json::from_str(include_str!("../../tests/data/generation.json")).unwrap();
    let has_spans = |(_, _, spans): &Row| !spans.is_empty();
    assert!(table.iter().any(has_spans), "no row has a block");
    assert!(!table.iter().all(has_spans), "every row has a block");
    let engine = JinjaEngine::new();
    let case = Case::from_messages(vec![
        serde_json::json!({"role": "user", "content": "hey"}),
        serde_json::json!({"role": "assistant", "content": "yé"}),
    ]);
    for (source, text, spans) in table {
        assert!(source.contains("generation"), "{source}: says nothing");
        let template = Template::from_source("row", Dialect::Jinja, &source);
        let loaded = load(&engine, &template);
        let conversation = Conversation::new(&case);
        let rendered = Outcome::Rendered { text: text.clone() };
        assert_eq!(loaded.render(&conversation), rendered, "{source}");
        let mut observer = Observer::of(&[Wanted::OwnText]);
        let outcome = loaded.render_with(&conversation, &mut observer);
        assert_eq!(outcome, Some(rendered), "{source}");
        let found = observer.own_text.unwrap_or_default();
        let found: Vec<_> = found.iter().map(|s| [s.start, s.end]).collect();
        assert_eq!(found, spans, "{source}");
    }
}

#[test]
fn variables_are_those_that_the_template_does_not_set() {
    let source = "{% set a = b.c %}{% macro m(d) %}{{ d ~ e }}{% endmacro %}\
        {% for f in messages %}{% generation %}{{ f ~ loop.index ~ a }}{% endgeneration %}{% endfor %}\
        {{ raise_exception(g) if namespace(h=1).h * 2 }}{{ bos_token }}";
    let template = Template::from_source("t", Dialect::Jinja, source);
    let loaded = load(&JinjaEngine::new(), &template);
    let read: Vec<_> = loaded.variables().into_iter().collect();
    assert_eq!(read, ["b", "bos_token", "e", "g", "messages"]);
}
