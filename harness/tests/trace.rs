//! The command `show --trace`, its page, and the spans that the engines give.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use rolecall_core::Outcome;
use rolecall_core::provenance::Origin;
use rolecall_front::engines::Engines;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_front::trace::check;
use serde_json::{Value, json};

use crate::extent::{is_everything, sample};
use crate::folder::{Folder, Ran};
use crate::page::browse;
use crate::project::SUITE;

/// Every fourth template is tried, or all if the tests try everything.
#[test]
fn a_traced_render_has_the_outcome_of_a_plain_one_and_spans_that_cover_it() {
    let engines = Engines::default();
    let templates = sample(SUITE.templates.iter().collect(), 4).into_par_iter();
    let traced = AtomicUsize::new(0);
    let decided = AtomicUsize::new(0);
    // The bytes of all prompts, and those that were made of nothing that is known.
    let bytes = [AtomicUsize::new(0), AtomicUsize::new(0)];
    templates.for_each(|template| {
        let engine = engines.for_dialect(template.dialect).unwrap();
        let program = FrontProgram::load(engine, template);
        for pair in SUITE.pairs_among(template, &SUITE.cases) {
            let model = program.model.with(pair.case, pair.front());
            let input = PreparedCase::new(pair.case, pair.front(), &model);
            let (outcome, examination) = program.examined(&input);
            let spans = examination.spans;
            if let Some(decisions) = examination.decisions {
                decided.fetch_add(decisions.decisions.len(), Ordering::Relaxed);
                assert!(!decisions.is_cut);
            }
            let name = format!("{} {}", template.name, pair.case.id);
            assert_eq!(outcome, program.outcome(&input), "{name}");
            let Outcome::Rendered { text } = outcome else {
                assert_eq!(spans, None, "{name}");
                continue;
            };
            let spans = spans.unwrap_or_else(|| panic!("{name} has no spans"));
            let chosen = pair.chosen().unwrap();
            let checked = check(&text, &spans, chosen, input.seen());
            assert_eq!(checked, Ok(()), "{name}");
            traced.fetch_add(1, Ordering::Relaxed);
            let unknown = spans
                .iter()
                .filter(|span| matches!(&span.origin, Origin::Made { from } if from.is_empty()));
            let unknown = unknown.map(|span| span.prompt.len()).sum();
            bytes[0].fetch_add(text.len(), Ordering::Relaxed);
            bytes[1].fetch_add(unknown, Ordering::Relaxed);
        }
    });
    let share = if is_everything() { 1 } else { 8 };
    assert!(traced.into_inner() > 10_000 / share);
    assert!(decided.into_inner() > 300_000 / share);
    let [all, unknown] = bytes.map(AtomicUsize::into_inner);
    assert!(
        unknown * 200 < all,
        "{unknown} of {all} bytes have no source"
    );
}

const TEMPLATE: &str = "\
{{ bos }}{% for m in messages %}
<{{ m.role }}>{{ m.content | trim }}{% endfor %}
{{ tools | tojson if tools }}{{ messages | length }}";

const CASES: &str = r#"{"about": "Talks.", "cases": {
    "one": {"about": "A question.", "variables": {"bos": "<s>"}, "tools": [{"name": "look_up"}],
        "messages": [{"role": "user", "content": " Who? "}]},
    "none": {"about": "Nothing.", "dialects": ["jinja"], "messages": []}}}"#;

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("t.jinja", TEMPLATE);
    folder.write("talks.json", CASES);
    folder
}

fn show(folder: &Folder, case: &str, arguments: &[&str]) -> Ran {
    let asked = ["show", "t.jinja", case, "--cases", "talks.json", "--trace"];
    folder.rolecall(&[&asked, arguments].concat())
}

#[test]
fn people_see_where_each_text_comes_from() {
    let folder = folder();
    let ran = show(&folder, "talks/one", &[]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let expected = "\
t talks/one  t.jinja
35 bytes:  template 5.71 %  message 22.85 %  tool 31.42 %  variable 8.57 %  made 31.42 %

  0..3  <s>      bos
  3..4  <        t.jinja:2:1
  4..8  user     messages[0].role
  8..9  >        t.jinja:2:14
 9..13  Who?     messages[0].content[1..5] trim
13..14  [        made by tojson from tools
14..16  {\"       made by tojson from tools[0]
16..20  name     the key of tools[0].name tojson
";
    let found = ran.stdout();
    assert!(found.starts_with(expected), "{found}");
    assert!(found.contains("\n34..35  1        made"), "{found}");
    // With colours, the prompt is above.
    let coloured = show(&folder, "talks/one", &["--color", "always"]).stdout();
    let green = "\u{1b}[32mWho?\u{1b}[0m";
    assert_eq!(coloured.matches(green).count(), 2, "{coloured}");
    assert!(coloured.contains("messages[0].role"), "{coloured}");
}

#[test]
fn without_a_prompt_there_is_its_refusal() {
    let folder = folder();
    let ran = show(&folder, "talks/none", &[]);
    assert!(
        ran.stdout().starts_with("failed at input"),
        "{}",
        ran.stdout()
    );
    let ran = show(&folder, "talks/none", &["--format", "json"]);
    assert_eq!((ran.code(), ran.stdout().as_str()), (2, ""));
    assert!(
        ran.stderr().contains("no prompt to trace"),
        "{}",
        ran.stderr()
    );
}

#[test]
fn an_engine_that_cannot_tell_is_named() {
    let folder = folder();
    let ran = show(&folder, "talks/one", &["--engine", "minijinja"]);
    assert_eq!((ran.code(), ran.stdout().as_str()), (2, ""));
    let expected = "cannot tell where the bytes of this prompt come from";
    assert!(ran.stderr().contains(expected), "{}", ran.stderr());
    assert!(ran.stderr().contains("minijinja"), "{}", ran.stderr());
}

#[test]
fn programs_get_the_spans_as_json() {
    let ran = show(&folder(), "talks/one", &["--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let span = |text: &str| {
        let mut spans = document["spans"].as_array().unwrap().iter();
        spans.find(|span| span["text"] == text).unwrap()
    };
    assert_eq!(
        *span("Who?"),
        json!({
            "prompt": {"start": 9, "end": 13},
            "text": "Who?",
            "input": {"kind": "message", "path": "messages[0].content", "start": 1, "end": 5},
            "operations": ["trim"],
        })
    );
    let place = json!({"line": 2, "column": 14, "start": 46, "end": 47});
    assert_eq!(span(">")["template"], place);
    let from = json!({"from": [{"kind": "tool", "path": "tools"}]});
    assert_eq!(span("[")["made"], from);
}

#[test]
fn people_see_what_each_condition_looked_at() {
    let folder = Folder::empty();
    let template = "{% for m in messages %}{% if m.role == 'user' and 'now' in m.content %}!\
                    {% endif %}{% endfor %}{{ {'tool': 'a'}.get(messages[0].role) }}";
    folder.write("t.jinja", template);
    folder.write("talks.json", CASES);
    let asked = ["show", "t.jinja", "talks/one", "--cases", "talks.json"];
    let ran = folder.rolecall(&[&asked[..], &["--decisions"]].concat());
    let expected = "\
t talks/one
3 conditions evaluated

t.jinja:1:30
  m.role == 'user'
  true
    messages[0].role \"user\" == \"user\"

t.jinja:1:30
  m.role == 'user' and 'now' in m.content
  false

t.jinja:1:51
  'now' in m.content
  false
    \"now\" in messages[0].content \" Who? \"

compared outside of all conditions
    [\"tool\"] get messages[0].role \"user\"
";
    assert_eq!(ran.stdout(), expected, "{}", ran.stderr());
    let ran = folder.rolecall(&[&asked[..], &["--decisions", "--format", "json"]].concat());
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let decision = &document["decisions"][1];
    assert_eq!(decision["text"], "'now' in m.content");
    assert_eq!(decision["truth"], false);
    let operands = &decision["looks"][0]["operands"];
    assert_eq!(operands[0]["text"], "now");
    assert_eq!(operands[0]["origins"][0]["template"]["column"], 52);
    let input = json!({"kind": "message", "path": "messages[0].content", "start": 0, "end": 6});
    assert_eq!(operands[1]["origins"][0]["input"], input);
    assert_eq!(document["comparisons"][0]["operation"], "get");
    // A format alone says nothing about what to show.
    let ran = folder.rolecall(&[&asked[..], &["--format", "json"]].concat());
    assert_eq!(ran.code(), 2, "{}", ran.stdout());
}

fn page() -> (Folder, String) {
    let folder = folder();
    let ran = show(&folder, "talks/one", &["--html", "page.html"]);
    assert!(
        ran.stderr().starts_with("wrote page.html ("),
        "{}",
        ran.stderr()
    );
    let html = std::fs::read_to_string(folder.path("page.html")).unwrap();
    (folder, html)
}

/// What is highlighted on a page of a trace.
const LIT: &str = "const lit = (pane) => [...document.querySelectorAll(`#${pane} .on`)].map((one) => one.textContent).join('|');
    const find = (pane, text) => [...document.querySelectorAll(`#${pane} .piece, #${pane} .name`)].find((one) => one.textContent === text);
    const all = () => ['fields', 'prompt', 'source'].map(lit);";

#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn on_the_page_a_text_leads_to_its_field_and_a_field_to_its_texts() {
    let (folder, html) = page();
    let script = format!(
        "{LIT}
         const start = all();
         find('prompt', 'Who?').focus();
         const text = [...all(), text_of_tip()];
         find('fields', 'role').click();
         const field = all();
         find('source', '>').focus();
         const literal = all();
         find('prompt', 'user').focus();
         press('ArrowRight');
         const next = all();
         press('Escape');
         return {{ start, text, field, literal, next, end: all() }};
         function text_of_tip() {{ return text_content('#tip'); }}
         function text_content(selector) {{ return document.querySelector(selector).textContent; }}"
    );
    let found = browse(&folder, &html, "", &script);
    let none = json!(["", "", ""]);
    assert_eq!(found["start"], none, "{found}");
    let tip = " bytes 9–13: messages[0].content[1..5] trim";
    assert_eq!(found["text"], json!(["Who?", "Who?", "", tip]), "{found}");
    assert_eq!(found["field"], json!(["user", "user", ""]), "{found}");
    assert_eq!(found["literal"], json!(["", ">", ">"]), "{found}");
    assert_eq!(found["next"], json!(["", ">", ">"]), "{found}");
    assert_eq!(found["end"], none, "{found}");
}

#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn on_the_page_of_coverage_a_place_names_its_cases() {
    let folder = folder();
    let asked = [
        "cover",
        "t.jinja",
        "--cases",
        "talks.json",
        "--html",
        "page.html",
    ];
    folder.rolecall(&asked);
    let html = std::fs::read_to_string(folder.path("page.html")).unwrap();
    let script = "const pieces = [...document.querySelectorAll('#source .piece')];
         const gaps = [...document.querySelectorAll('.gap')].map((one) => one.textContent);
         pieces.find((one) => one.textContent === 'm.role').focus();
         const ways = text('#details .ways');
         document.querySelector('.gap').click();
         return { gaps, ways, gap: text('#details h3'), lit: document.querySelectorAll('#source .on').length > 0 };";
    let found = browse(&folder, &html, "", script);
    let gaps = found["gaps"].as_array().unwrap();
    assert!(
        gaps.iter()
            .any(|gap| gap == "1:13 loop never with several items"),
        "{found}"
    );
    assert_eq!(found["ways"], "reached1 casetalks/one", "{found}");
    assert_eq!(found["gap"], "loop at 1:13", "{found}");
    assert_eq!(found["lit"], true, "{found}");
}
