//! The command `mask`, and masks compared with the marks of the suite's templates.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use rolecall_answers::mask::Mask;
use rolecall_core::Dialect;
use rolecall_explore::masks::{TemplateMasks, has_answer, has_marks};
use rolecall_front::engines::Engines;
use serde_json::Value;

use crate::extent::{is_everything, sample};
use crate::folder::{Folder, Ran};
use crate::project::SUITE;

/// The texts in which a mask and the marks differ: marked, but not written; and written, but not
/// marked.
fn differences(mask: &Mask, marked: &[Range<usize>]) -> [Vec<String>; 2] {
    let is_in = |ranges: &[Range<usize>], at: usize| ranges.iter().any(|it| it.contains(&at));
    let learned = mask.ranges();
    [(marked, &learned[..]), (&learned[..], marked)].map(|(ranges, others)| {
        let mut texts = Vec::new();
        for range in ranges {
            let bytes = &mask.prompt.as_bytes()[range.clone()];
            let outside: Vec<_> = range.clone().map(|at| !is_in(others, at)).collect();
            for run in outside.chunk_by(|a, b| a == b).scan(0, |at, run| {
                *at += run.len();
                Some((*at - run.len(), run))
            }) {
                if let (at, [true, ..]) = run {
                    let text = &bytes[at..at + run.1.len()];
                    texts.push(String::from_utf8(text.to_vec()).unwrap());
                }
            }
        }
        texts
    })
}

/// Templates of the suite that mark something else than the model writes, and whether a difference
/// is of the known kind: marked, but not written; or written, but not marked.
fn is_known(template: &str, is_marked: bool, text: &str) -> bool {
    match template {
        // They mark the line break after the end token, as the templates of TRL do.
        "gemma-functions" | "phi3" => is_marked && text == "\n",
        // The prompt opens the reasoning, so the model does not write the tag.
        "deepseek-think" => is_marked && text == "<think>\n",
        // Nothing asks for an answer before any question, so nothing shows who writes the space.
        "mistral-v3" => is_marked && text == " ",
        // The space before the answer is outside of the marks.
        "llama2-inst" => !is_marked && text == " ",
        _ => false,
    }
}

/// Every fourth template with marks is tried, or all if the tests try everything.
#[test]
fn the_suites_templates_mark_what_the_model_writes() {
    let engines = Engines::default();
    let marked: Vec<_> = SUITE
        .templates
        .iter()
        .filter(|one| has_marks(one))
        .collect();
    assert_eq!(marked.len(), 16);
    let found = sample(marked, 4).into_par_iter().map(|template| {
        let engine = engines.for_dialect(Dialect::Jinja).unwrap();
        let pairs = SUITE.pairs_among(template, &SUITE.cases);
        let pairs = pairs.filter(|pair| has_answer(pair.case));
        let masks = TemplateMasks::of(engine, None, template, pairs).unwrap();
        let name = template.name.as_str();
        let (mut same, mut other) = (0, 0);
        for case in &masks.cases {
            let (Ok(mask), Some(marked)) = (&case.mask, &case.marked) else {
                assert!(case.mask.is_err(), "{name} {}", case.case.id);
                continue;
            };
            if case.agrees() == Some(true) {
                same += 1;
                continue;
            }
            other += 1;
            let [too_much, missing] = differences(mask, marked);
            assert!(too_much.len() + missing.len() > 0);
            for (is_marked, texts) in [(true, too_much), (false, missing)] {
                for text in texts {
                    assert!(
                        is_known(name, is_marked, &text),
                        "{name} {}: {text:?}, {}",
                        case.case.id,
                        if is_marked { "marked" } else { "not marked" }
                    );
                }
            }
        }
        (name, (same, other))
    });
    let found: BTreeMap<&str, (usize, usize)> = found.collect();
    let agreeing = found
        .values()
        .filter(|(same, other)| *other == 0 && *same > 100);
    let same: usize = found.values().map(|(same, _)| same).sum();
    if is_everything() {
        assert_eq!(agreeing.count(), 11, "{found:?}");
        assert!(same > 3_900, "{found:?}");
    } else {
        assert!(agreeing.count() > 0 && same > 500, "{found:?}");
    }
}

const TEMPLATE: &str = "\
{%- for m in messages -%}
{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' -}}
{%- endfor -%}
{{- '<|im_start|>assistant\\n' if add_generation_prompt -}}
";

const CASES: &str = r#"{"about": "Talks.", "cases": {
    "one": {"about": "An answer.", "add_generation_prompt": false, "messages": [
        {"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Me."}]},
    "first": {"about": "It begins.", "messages": [
        {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "Who?"}]},
    "none": {"about": "No answer.", "messages": [{"role": "user", "content": "Who?"}]}}}"#;

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("t.jinja", TEMPLATE);
    folder.write("talks.json", CASES);
    folder
}

fn mask(folder: &Folder, arguments: &[&str]) -> Ran {
    let asked = ["mask", "t.jinja", "--cases", "talks.json"];
    folder.rolecall(&[&asked, arguments].concat())
}

#[test]
fn people_see_what_the_model_writes() {
    let folder = folder();
    let ran = mask(&folder, &["talks/one"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let expected = "\
t talks/one  t.jinja
  the model writes 13 of 68 bytes, in 1 turn
  messages[1]: bytes 54..67, up to `<|im_end|>`

reads  0..54  <|im_start|>user␊Who?<|im_end|>␊<|im_start|>assistant␊
writes 54..67  Me.<|im_end|>
reads  67..68  ␊
";
    assert_eq!(ran.stdout(), expected);
    let ran = mask(&folder, &[]);
    let expected = "\
t  t.jinja
  2 cases with answers
  1 turn as asked
  1 turn after another text than the prompt that asks for them, such as talks/first
  the template has no `{% generation %}` marks
";
    assert_eq!(ran.stdout(), expected);
    assert_eq!(mask(&folder, &["talks/two"]).code(), 2);
    assert_eq!(mask(&folder, &["--tokens"]).code(), 2);
    let ran = mask(&folder, &["talks/one", "--tokens"]);
    assert!(ran.stderr().contains("vocabulary"), "{}", ran.stderr());
}

#[test]
fn programs_get_ranges_of_bytes() {
    let folder = folder();
    let ran = mask(&folder, &["talks/one", "--format", "json"]);
    let json: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let mask = &json["masks"][0];
    assert_eq!(
        mask["learned"],
        serde_json::json!([{"start": 54, "end": 67}])
    );
    assert_eq!(mask["turns"][0]["kind"], "as-asked");
    assert_eq!(mask["turns"][0]["end"]["start"], 57);
    assert_eq!(mask.get("marked"), None);
}

#[test]
fn marks_are_written_where_they_change_no_prompt() {
    let folder = folder();
    let ran = mask(&folder, &["--write", "marked.jinja"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    let expected = "\
t: marked.jinja with 1 `{% generation %}` block
  3 prompts stay byte for byte, and 0 refusals as well
  the marks are what the model writes, in 2 prompts with answers
";
    assert_eq!(ran.stdout(), expected);
    let asked = ["mask", "marked.jinja", "--cases", "talks.json"];
    let again = folder.rolecall(&asked).stdout();
    assert!(
        again.contains("its marks are the same in 2 of 2 cases"),
        "{again}"
    );
    // Marks are written once.
    let again = folder.rolecall(&[&asked[..], &["--write", "again.jinja"]].concat());
    assert_eq!(again.code(), 2);
    assert!(!folder.path("again.jinja").exists());
}

#[test]
fn what_prevents_marks_is_named_with_its_line() {
    let folder = folder();
    let whole = TEMPLATE.replace(
        "{{- '<|im_start|>' + m.role",
        "{%- set x = '<|im_start|>' + m.role",
    );
    let whole = whole.replace("'<|im_end|>\\n' -}}", "'<|im_end|>\\n' -%}{{- x -}}");
    folder.write("t.jinja", &whole);
    let ran = mask(&folder, &["--write", "marked.jinja"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    assert!(
        ran.stdout().contains("from line 2: it is put together"),
        "{}",
        ran.stdout()
    );
    assert!(!folder.path("marked.jinja").exists());
    folder.write("t.gotmpl", "{{ .Prompt }}");
    let ran = folder.rolecall(&["mask", "t.gotmpl"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("Go template"), "{}", ran.stderr());
}
