//! The page of `show --trace`, and the spans that the engines give.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use rolecall_core::Outcome;
use rolecall_core::provenance::Origin;
use rolecall_front::engines::Engines;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_front::trace::check;
use serde_json::json;

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
        let engine = engines.for_dialect(template.dialect);
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
