//! The command `mutate`, and the mutants of the suite's templates.

use rolecall_core::{Dialect, MutationKind};
use rolecall_explore::generation::Effort;
use rolecall_explore::mutation::{Mutant, TemplateMutants};
use rolecall_front::engines::Engines;
use rolecall_suite::suite::Pair;
use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use crate::project::SUITE;

/// The mutants of a template of the suite, with the cases of a family.
fn mutants<'s>(name: &str, family: &str) -> TemplateMutants<'s> {
    let mut templates = SUITE.templates.iter();
    let template = templates.find(|template| template.name.as_str() == name);
    let template = template.unwrap();
    let engines = Engines::default();
    let engine = engines.for_dialect(Dialect::Jinja).unwrap();
    let pairs: Vec<Pair<'_>> = SUITE.pairs_of(template, family).collect();
    assert!(!pairs.is_empty(), "{family}");
    let nothing = Effort {
        seed: Effort::SEED,
        tries: 0,
    };
    TemplateMutants::of(engine, template, pairs, nothing).unwrap()
}

/// The mutant with another text at a place: the line, and the text before and after the change.
fn find<'m>(
    mutants: &'m TemplateMutants<'_>,
    line: usize,
    text: &str,
    replacement: &str,
) -> &'m Mutant {
    let source = &mutants.template.source;
    let found = mutants.mutants.iter().find(|mutant| {
        let span = mutant.mutation.span();
        let before = &source[..span.start];
        before.matches('\n').count() + 1 == line
            && &source[span] == text
            && mutant.mutation.replacement == replacement
    });
    found.unwrap()
}

#[test]
fn mistakes_that_people_made_are_among_the_mutants() {
    let firefunction = mutants("firefunction-v2", "tool-calls");
    let and = find(&firefunction, 46, "and", "or");
    assert_eq!(and.mutation.kind, MutationKind::Logic);
    let glm = mutants("glm-xml", "tool-calls");
    let ascii = find(&glm, 71, "False", "True");
    assert_eq!(ascii.mutation.kind, MutationKind::Boolean);
    for all in [&firefunction, &glm] {
        assert!(all.noticed() > 0, "{}", all.template.name);
        assert!(all.mutants.len() > 150, "{}", all.template.name);
        assert_eq!(
            all.noticed() + all.unnoticed().count(),
            all.mutants.len(),
            "{}",
            all.template.name
        );
    }
}

const TEMPLATE: &str = "\
{%- for m in messages -%}
{%- if m.role == 'tool' and m.name -%}{{ m.name }}{%- else -%}{{ m.content }}{%- endif -%}
{%- endfor -%}
";

const CASES: &str = r#"{"about": "Talks.", "cases": {
    "named": {"about": "A result with a name.", "messages": [
        {"role": "tool", "name": "f", "content": "a"}, {"role": "user", "content": "q"}]},
    "nameless": {"about": "A result without a name.", "messages": [{"role": "tool", "content": "a"}]}}}"#;

/// The same without the second case.
const FEWER: &str = r#"{"about": "Talks.", "cases": {
    "named": {"about": "A result with a name.", "messages": [
        {"role": "tool", "name": "f", "content": "a"}, {"role": "user", "content": "q"}]}}}"#;

/// A folder with a template and cases.
fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("t.jinja", TEMPLATE);
    folder.write("all.json", CASES);
    folder.write("fewer.json", FEWER);
    folder
}

fn mutate(folder: &Folder, cases: &str, arguments: &[&str]) -> Ran {
    let asked = ["mutate", "t.jinja", "--cases", cases];
    folder.rolecall(&[&asked, arguments].concat())
}

#[test]
fn without_a_case_its_mutants_are_not_noticed() {
    let folder = folder();
    let all = mutate(&folder, "all.json", &[]);
    assert_eq!(all.code(), 0, "{}", all.stderr());
    let expected = "\
t  t.jinja
  8 of 8 mutants noticed by 2 cases (100 %)
";
    assert_eq!(all.stdout(), expected);
    let fewer = mutate(&folder, "fewer.json", &["--tries", "0"]);
    let expected = "\
t  t.jinja
  7 of 8 mutants noticed by 1 case (87.50 %)

  2:25 logic not noticed
  - {%- if m.role == 'tool' and m.name -%}{{ m.name }}{%- else -%}{{ m.content }}{%- endif -%}␃
  + {%- if m.role == 'tool' or m.name -%}{{ m.name }}{%- else -%}{{ m.content }}{%- endif -%}␃
";
    assert_eq!(fewer.stdout(), expected);
}

#[test]
fn a_conversation_that_would_notice_a_mutant_is_shown() {
    let folder = folder();
    // After `upper`, nothing is left for `replace`.
    folder.write(
        "t.jinja",
        &TEMPLATE.replace("m.content", "m.content | upper | replace('a', '')"),
    );
    let ran = mutate(&folder, "fewer.json", &[]);
    let shown = ran.stdout();
    assert!(shown.contains("2:25 logic not noticed"), "{shown}");
    assert!(
        shown.contains("conversation 1 would notice it: {\"messages\":["),
        "{shown}"
    );
    assert!(
        shown.contains(" more that no conversation distinguishes, of 1,000 tried"),
        "{shown}"
    );
    assert!(!shown.contains("filter"), "{shown}");
    let all = mutate(&folder, "fewer.json", &["--all"]).stdout();
    assert!(all.contains("filter not noticed"), "{all}");
    // A mutant that nothing tells apart does not count, and one without its case does.
    for (cases, code) in [("fewer.json", 1), ("all.json", 0)] {
        let ran = mutate(&folder, cases, &["--fail-under", "100"]);
        assert_eq!(ran.code(), code, "{}", ran.stdout());
    }
    let ran = mutate(
        &folder,
        "all.json",
        &["--fail-under", "100", "--tries", "0"],
    );
    assert_eq!(ran.code(), 1, "{}", ran.stdout());
}

#[test]
fn the_result_is_the_same_each_time_and_on_any_number_of_threads() {
    let folder = folder();
    let json = |jobs| {
        let ran = mutate(&folder, "fewer.json", &["--format", "json", "--jobs", jobs]);
        ran.stdout()
    };
    let once = json("1");
    assert_eq!(once, json("1"));
    assert_eq!(once, json("4"));
}

#[test]
fn programs_get_every_mutant_as_json() {
    let folder = folder();
    let ran = mutate(&folder, "fewer.json", &["--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let template = &document["templates"][0];
    assert_eq!(template["cases"], 1);
    assert_eq!(template["noticed"], 7);
    let mutants = template["mutants"].as_array().unwrap();
    assert_eq!(mutants.len(), 8);
    let of = |kind: &str| mutants.iter().find(|mutant| mutant["kind"] == kind);
    let expected = json!({
        "kind": "logic", "line": 2, "column": 25, "end_line": 2, "end_column": 28,
        "text": "and", "replacement": "or", "state": "missing", "conversation": 0, "reached_by": 1,
    });
    assert!(template["conversations"][0]["messages"].is_array());
    assert_eq!(template["alike"], 0);
    assert_eq!(of("logic").unwrap(), &expected);
    let comparison = of("comparison").unwrap();
    assert_eq!(comparison["state"], "noticed");
    assert_eq!(comparison["noticed_by"], "fewer/named");
}

#[test]
fn a_share_can_be_demanded() {
    let folder = folder();
    for (percent, code) in [("0", 0), ("87", 0), ("88", 1), ("100", 1)] {
        let ran = mutate(&folder, "fewer.json", &["--fail-under", percent]);
        assert_eq!(ran.code(), code, "{percent}: {}", ran.stderr());
        assert_eq!(ran.stderr().contains("below"), code == 1, "{percent}");
    }
    assert_eq!(
        mutate(&folder, "all.json", &["--fail-under", "100"]).code(),
        0
    );
    assert_eq!(
        mutate(&folder, "all.json", &["--fail-under", "101"]).code(),
        2
    );
}

#[test]
fn templates_that_cannot_be_changed_are_named() {
    let folder = folder();
    folder.write("broken.jinja", "a\n{% if %}");
    let asked = ["mutate", "broken.jinja", "t.jinja", "--cases", "all.json"];
    let ran = folder.rolecall(&asked);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("broken.jinja:2"), "{}", ran.stderr());
    assert!(ran.stdout().contains("8 of 8"), "{}", ran.stdout());
}

#[test]
fn a_template_of_ollama_is_changed_with_its_front() {
    let folder = folder();
    folder.write(
        "t.gotmpl",
        "{{ range .Messages }}{{ if and .ToolName (eq .Role \"tool\") }}{{ .ToolName }}{{ else }}{{ .Content }}{{ end }}{{ end }}",
    );
    let ran = folder.rolecall(&["mutate", "t.gotmpl", "--cases", "fewer.json"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    assert!(
        ran.stdout().contains("1:28 logic not noticed"),
        "{}",
        ran.stdout()
    );
    assert!(ran.stdout().contains("7 of 8 mutants"), "{}", ran.stdout());
}
