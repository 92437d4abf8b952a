//! The command `cover`, and what the engines record for it.

use rayon::prelude::*;
use rolecall_explore::coverage::{Excuse, TemplateCoverage};
use rolecall_front::engines::Engines;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Pair;
use serde_json::{Value, json};

use crate::extent::{is_everything, sample};
use crate::folder::{Folder, Ran};
use crate::project::SUITE;

/// A covered render has the outcome of a plain one. What the templates themselves show to be
/// impossible never happens, and the cases take every branch that nobody has explained. Every
/// fourth template is tried, or all if the tests try everything.
#[test]
fn covered_renders_have_the_outcomes_of_plain_ones_and_reach_every_place() {
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[], None).unwrap();
    let unreachable: usize = sample(SUITE.templates.iter().collect(), 4)
        .into_par_iter()
        .map(|template| {
            let name = &template.name;
            let engine = engines.for_dialect(template.dialect).unwrap();
            let pairs: Vec<Pair<'_>> = SUITE.pairs_among(template, &SUITE.cases).collect();
            let plain = runner.render(&pairs);
            let mut plain = plain.iter();
            let coverage = TemplateCoverage::of(engine, template, pairs, |pair, covered| {
                let expected = &plain.next().unwrap().outcome;
                assert_eq!(covered, expected, "{name}:{}", pair.case.id);
            });
            let coverage = coverage.unwrap();
            assert_eq!(plain.next().map(|one| &one.pair.case.id), None, "{name}");
            let whole = coverage.whole();
            assert!(whole.reached > 0, "{name}");
            assert_eq!(whole.reached, whole.all, "{name}");
            assert!(coverage.not_run < coverage.cases, "{name}");
            assert_eq!(coverage.unused_explanations(), [], "{name}");
            let branches = coverage.sites.iter().flat_map(|covered| &covered.branches);
            for branch in branches.filter(|branch| branch.excuse == Some(Excuse::Unreachable)) {
                assert_eq!(branch.cases, 0, "{name}: {branch:?}");
            }
            coverage.excused().0
        })
        .sum();
    let least = if is_everything() { 20 } else { 0 };
    assert!(unreachable > least, "{unreachable}");
}

const TEMPLATE: &str = "\
{%- macro unused() -%}
{{ 1 }}
{%- endmacro -%}
{%- for m in messages -%}
{%- if m.role == 'tool' and m.name -%}{{ m.name }}{%- else -%}{{ m.content }}{%- endif -%}
{%- endfor -%}
";

const CASES: &str = r#"{"about": "Talks.", "cases": {
    "one": {"about": "A question.", "messages": [{"role": "user", "content": "q"}]},
    "two": {"about": "Two results without a name.", "messages": [
        {"role": "tool", "content": "a"}, {"role": "tool", "content": "b"}]}}}"#;

/// A folder with a template and cases that do not reach all of it.
fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("t.jinja", TEMPLATE);
    folder.write("talks.json", CASES);
    folder
}

fn cover(folder: &Folder, arguments: &[&str]) -> Ran {
    let asked = ["cover", "t.jinja", "--cases", "talks.json"];
    folder.rolecall(&[&asked, arguments].concat())
}

#[test]
fn people_see_what_no_case_reaches() {
    let folder = folder();
    let ran = cover(&folder, &[]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let expected = "\
t  t.jinja
  2 cases
      1 of     3  statements, 33.33 %
      4 of     6  branches of conditions, 66.66 %
      2 of     3  iterations of loops, 66.66 %
      0 of     1  macros, 0.00 %
      7 of    13  all, 53.84 %

  1:5 macro never called
    {%- macro unused() -%}␊
        ^^^^^^^^^^^^^^
    and 1 place after it, up to line 2

  4:5 loop never without items
    {%- for m in messages -%}␊
        ^^^^^^^^^^^^^^^^^

  5:8 condition never true
    {%- if m.role == 'tool' and m.name -%}{{ m.name }}{%- else -%}{{ m.content }}{%- endif -%}␊
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^

  5:29 operand never true
    {%- if m.role == 'tool' and m.name -%}{{ m.name }}{%- else -%}{{ m.content }}{%- endif -%}␊
                                ^^^^^^

  5:42 statement never reached
    {%- if m.role == 'tool' and m.name -%}{{ m.name }}{%- else -%}{{ m.content }}{%- endif -%}␊
                                             ^^^^^^
";
    assert_eq!(ran.stdout(), expected);
    let all = cover(&folder, &["--all"]).stdout();
    assert!(all.contains("2:4 statement never reached"), "{all}");
    assert!(!all.contains("after it"), "{all}");
}

#[test]
fn programs_get_every_place_as_json() {
    let folder = folder();
    let ran = cover(&folder, &["--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let template = &document["templates"][0];
    assert_eq!(template["cases"], 2);
    assert_eq!(template["idle"], 0);
    assert_eq!(
        template["reached"]["statement"],
        json!({"reached": 1, "all": 3})
    );
    let sites = template["sites"].as_array().unwrap();
    let of = |text: &str| sites.iter().find(|site| site["text"] == text).unwrap();
    let operand = of("m.name");
    assert_eq!(operand["kind"], "operand");
    let place = ["line", "column", "end_line", "end_column"].map(|key| operand[key].clone());
    assert_eq!(place, [5, 29, 5, 35].map(Value::from));
    assert_eq!(operand["missing"], "never true");
    let branches = json!([
        {"way": "true", "cases": 0, "first": []},
        {"way": "false", "cases": 1, "first": ["talks/two"]},
    ]);
    assert_eq!(operand["ways"], branches);
    assert!(of("m.content").get("missing").is_none());
}

#[test]
fn editors_and_ci_get_lcov() {
    let folder = folder();
    let ran = cover(&folder, &["--format", "lcov"]);
    let expected = "\
TN:
SF:t.jinja
BRDA:4,2,0,0
BRDA:4,2,1,1
BRDA:4,2,2,1
BRDA:5,3,0,0
BRDA:5,3,1,2
BRDA:5,4,0,1
BRDA:5,4,1,1
BRDA:5,5,0,0
BRDA:5,5,1,1
BRF:9
BRH:6
DA:1,0
DA:2,0
DA:4,2
DA:5,2
LF:4
LH:2
end_of_record
";
    assert_eq!(ran.stdout(), expected);
    // A template within a configuration has no lines of its own.
    folder.write(
        "model/tokenizer_config.json",
        r#"{"chat_template": "{{ messages[0].content }}"}"#,
    );
    let asked = [
        "cover",
        "model",
        "--cases",
        "talks.json",
        "--format",
        "lcov",
    ];
    let ran = folder.rolecall(&asked);
    assert_eq!((ran.code(), ran.stdout().as_str()), (0, ""));
    assert!(ran.stderr().contains("model: left out"), "{}", ran.stderr());
}

#[test]
fn a_share_can_be_demanded() {
    let folder = folder();
    for (percent, code) in [("0", 0), ("53", 0), ("54", 1), ("100", 1)] {
        let ran = cover(&folder, &["--fail-under", percent]);
        assert_eq!(ran.code(), code, "{percent}: {}", ran.stderr());
        assert_eq!(ran.stderr().contains("below"), code == 1, "{percent}");
    }
    assert_eq!(cover(&folder, &["--fail-under", "101"]).code(), 2);
}

#[test]
fn a_suite_may_demand_a_share() {
    let folder = folder();
    let lint = |least: &str| {
        let configuration = format!(
            "templates.t = \"t.jinja\"\ncases.builtin = []\ncases.own = [\"talks.json\"]\n{least}"
        );
        folder.write("rolecall.toml", &configuration);
        folder.rolecall(&["lint"])
    };
    let quiet = lint("");
    assert!(!quiet.stderr().contains("never"), "{}", quiet.stderr());
    let below = lint("coverage.at_least = 54");
    let message = "the cases cover 53.84 % of its branches, and rolecall.toml demands 54 %";
    assert!(below.stdout().contains(message), "{}", below.stdout());
    let note = "t.jinja:4: the loop in column 5 is never without items";
    assert!(below.stderr().contains(note), "{}", below.stderr());
    let enough = lint("coverage.at_least = 53");
    assert!(!enough.stdout().contains("demands"), "{}", enough.stdout());
    assert!(enough.stderr().contains(note), "{}", enough.stderr());
    for (wrong, what) in [
        (
            "coverage.at_least = 101",
            "must be a whole number from 0 to 100",
        ),
        (
            "coverage.at_leats = 1",
            "unknown key `at_leats` in `coverage`",
        ),
    ] {
        let ran = lint(wrong);
        assert_eq!(ran.code(), 2, "{}", ran.stderr());
        assert!(ran.stderr().contains(what), "{}", ran.stderr());
    }
}

#[test]
fn what_is_explained_does_not_count_while_it_is_true() {
    let folder = folder();
    let lint = |unreached: &str| {
        folder.write("t.json", &format!("{{\"unreached\": {{{unreached}}}}}"));
        let configuration = "templates.t = \"t.jinja\"\ncases.builtin = []\n\
             cases.own = [\"talks.json\"]\ncoverage.at_least = 58";
        folder.write("rolecall.toml", configuration);
        folder.rolecall(&["lint"])
    };
    let place = "for m in messages";
    let said = lint(&format!(
        "\"{place}\": {{\"empty\": \"Nobody sends nothing.\"}}"
    ));
    assert!(!said.stdout().contains("demands"), "{}", said.stdout());
    assert!(
        !said.stderr().contains("without items"),
        "{}",
        said.stderr()
    );
    let ran = cover(&folder, &[]);
    assert!(ran.stdout().contains("7 of    12  all"), "{}", ran.stdout());
    assert!(
        ran.stdout().contains("1           explained"),
        "{}",
        ran.stdout()
    );
    for (unreached, why) in [
        (
            "\"for x in y\": {\"empty\": \"Why?\"}".to_owned(),
            "the template has no such place",
        ),
        (
            format!("\"{place}\": {{\"several\": \"Why?\"}}"),
            "some case covers this branch",
        ),
        (
            format!("\"{place}\": {{\"true\": \"Why?\"}}"),
            "some case covers this branch",
        ),
        (
            format!("\"{place}\": {{\"emtpy\": \"Why?\"}}"),
            "there is no branch `emtpy`",
        ),
        (
            format!("\"{place}\": {{\"empty\": \"\"}}"),
            "is not filled in",
        ),
    ] {
        let ran = lint(&unreached);
        assert_ne!(ran.code(), 0, "{unreached}");
        let said = ran.stdout() + &ran.stderr();
        assert!(said.contains(why), "{unreached}: {said}");
    }
}

#[test]
fn templates_and_cases_that_cannot_be_used_are_named() {
    let folder = folder();
    folder.write("broken.jinja", "a\n{% if %}");
    let asked = ["cover", "broken.jinja", "t.jinja", "--cases", "talks.json"];
    let ran = folder.rolecall(&asked);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("broken.jinja:2"), "{}", ran.stderr());
    assert!(ran.stdout().contains("7 of    13  all"), "{}", ran.stdout());
    folder.write("none.json", r#"{"about": "Nothing.", "cases": {}}"#);
    let asked = ["cover", "t.jinja", "--cases", "none.json"];
    assert_eq!(folder.rolecall(&asked).code(), 2);
}

#[test]
fn a_template_of_ollama_is_covered_with_its_front() {
    let folder = folder();
    folder.write(
        "t.gotmpl",
        "{{ range .Messages }}{{ if eq .Role \"tool\" }}x{{ else }}{{ .Content }}{{ end }}{{ end }}",
    );
    // Ollama refuses tools for a template that does not read them.
    folder.write(
        "talks.json",
        &CASES.replace(
            "}}}",
            r#"},
    "tools": {"about": "A tool.", "tools": [{"type": "function", "function": {"name": "f", "description": "A function.", "parameters": {"type": "object", "properties": {}}}}],
        "messages": [{"role": "user", "content": "q"}]}}}"#,
        ),
    );
    let ran = folder.rolecall(&["cover", "t.gotmpl", "--cases", "talks.json"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let expected = "\
t  t.gotmpl
  3 cases, one of them without running it
      1 of     1  statements, 100 %
      2 of     2  branches of conditions, 100 %
      2 of     3  iterations of loops, 66.66 %
      5 of     6  all, 83.33 %

  1:4 loop never without items
    {{ range .Messages }}{{ if eq .Role \"tool\" }}x{{ else }}{{ .Content }}{{ end }}{{ end }}␃
       ^^^^^^^^^^^^^^^
";
    assert_eq!(ran.stdout(), expected);
}
