//! Parsed answers: the command `roundtrip`, and suites that hold it.

use rolecall_answers::reader::OwnReader;
use rolecall_answers::reading::read_all;
use rolecall_core::TemplateName;
use rolecall_front::engines::Engines;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::recording::Updates;
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::Suite;

use crate::folder::{Folder, Ran};

/// A template whose turns end with a token and a line break.
const TEMPLATE: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>\n{% endfor %}\
    {% if add_generation_prompt %}<assistant>{% endif %}";

const CASES: &str = r#"{"about": "An answer.", "cases": {
    "answer": {"about": "A question and its answer.", "messages": [
        {"role": "user", "content": "q"}, {"role": "assistant", "content": "It is so."}]}}}"#;

/// Its sidecar without a response template.
const PLAIN_SIDECAR: &str =
    r#"{"about": "A test.", "origin": "a test", "special_tokens": {"eos_token": "</s>"}}"#;

/// How its answers are read.
const RESPONSE: &str =
    r#"{"start_anchor": "<assistant>", "fields": {"content": {"close_pattern": "\\s*</s>\\s*"}}}"#;

fn sidecar(response: &str) -> String {
    format!(
        r#"{{"about": "A test.", "origin": "a test", "special_tokens": {{"eos_token": "</s>"}}, "response_template": {response}}}"#
    )
}

/// A suite as in a checkout, with its prompts accepted and recorded.
fn suite() -> Folder {
    let folder = Folder::empty();
    folder.write("cases/templates/t.jinja", TEMPLATE);
    folder.write("cases/templates/t.json", &sidecar(RESPONSE));
    folder.write("cases/conversations/plain.json", CASES);
    folder.accept_all();
    folder
}

/// Records what this process reads as what the reference read.
fn record(folder: &Folder) {
    let layout = folder.layout();
    let suite = Suite::load_layout(&layout);
    let template = suite.template(&TemplateName::new("t")).unwrap();
    let engines = Engines::default();
    let engine = engines.for_dialect(template.dialect).unwrap();
    let readings = read_all(engine, template, &OwnReader::default(), &suite.cases).unwrap();
    let mut updates = Updates::new(&layout, &suite);
    updates.add_readings(template, &readings);
    let written = updates.write(&Snapshots::of(&layout), &Divergences::default(), &[]);
    assert_eq!(written.problems, []);
}

fn edit(folder: &Folder, name: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(folder.path(name)).unwrap();
    assert!(text.contains(from), "{name}: {text}");
    folder.write(name, &text.replacen(from, to, 1));
}

#[track_caller]
fn says(ran: &Ran, code: i32, words: &str) {
    let all = format!("{}{}", ran.stdout(), ran.stderr());
    // Lines are wrapped.
    let words_of = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words_of(&all).contains(words), "no `{words}` in {all}");
    assert_eq!(ran.code(), code, "{all}");
}

#[test]
fn a_suite_holds_what_the_reference_reads() {
    let folder = suite();
    let run = |code, words: &str| says(&folder.rolecall(&["run"]), code, words);
    run(
        1,
        "1 message is not parsed as by the reference, such as plain/answer#1: the reference was \
         not asked about it",
    );
    // Nothing is accepted that no reference confirms.
    folder.rolecall(&["accept"]);
    let name = "snapshots/plain.snap";
    let read = || std::fs::read_to_string(folder.path(name)).unwrap();
    assert!(!read().contains("\n#1: "), "{}", read());

    record(&folder);
    run(1, "1 transcript of readings not as accepted");
    says(
        &folder.rolecall(&["accept"]),
        0,
        "accepted 1 transcript of readings",
    );
    run(0, "answers of 1 template: 1 read back, 0 changed, 0 failed");
    let whole = read();
    assert!(whole.contains("␃\n#1: read back\nreference "), "{whole}");

    edit(&folder, name, "#1: read back", "#1: read back, changed");
    run(1, "1 transcript of readings not as accepted");
    says(
        &folder.rolecall(&["accept"]),
        0,
        "accepted 1 transcript of readings",
    );
    assert_eq!(read(), whole);

    let at = whole.find("reference #1 ").unwrap() + "reference #1 ".len();
    for (at, words) in [
        (at, "the reference writes another answer"),
        (
            at + 13,
            "the reference reads something else from the same answer",
        ),
    ] {
        // The first digit of the checksum, made another one.
        let digit = if &whole[at..=at] == "0" { "1" } else { "0" };
        let broken = format!("{}{digit}{}", &whole[..at], &whole[at + 1..]);
        folder.write(name, &broken);
        run(1, words);
    }
    let place = whole[..at].matches('\n').count() + 1;
    folder.write(name, &whole.replacen("reference #1 ", "reference #x ", 1));
    run(
        1,
        &format!("plain.snap:{place}:1: not what a reference did"),
    );
    folder.write(name, &whole);
    run(0, "1 read back");

    let other = RESPONSE.replace("</s>", "(?:</s>)");
    folder.write("cases/templates/t.json", &sidecar(&other));
    run(
        1,
        "nothing confirms the parsed answers: the response template has changed since",
    );
    folder.write(
        "cases/templates/t.json",
        &sidecar(RESPONSE).replace(
            "response_template\":",
            "variables\": {}, \"response_template\":",
        ),
    );
    run(0, "1 read back");
}

#[test]
fn what_a_template_lost_its_reader_for_is_an_orphan() {
    let folder = suite();
    record(&folder);
    says(
        &folder.rolecall(&["accept"]),
        0,
        "accepted 1 transcript of readings",
    );
    let without = PLAIN_SIDECAR;
    folder.write("cases/templates/t.json", without);
    let lint = folder.rolecall(&["lint"]);
    let words = "snapshots/plain.snap:5:1: answers of `t`, which has no response template";
    says(&lint, 1, words);
    says(&folder.rolecall(&["run"]), 1, words);
    // What lint proposes.
    folder.rolecall(&["accept"]);
    let lint = folder.rolecall(&["lint"]).stdout();
    assert!(!lint.contains(words), "{lint}");
    folder.accept_all();
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

#[test]
fn a_suite_of_ones_own_holds_what_was_accepted() {
    let folder = Folder::empty();
    folder.write("my_model/chat_template.jinja", TEMPLATE);
    let config = format!(r#"{{"eos_token": "</s>", "response_template": {RESPONSE}}}"#);
    folder.write("my_model/tokenizer_config.json", &config);
    folder.rolecall(&["init"]);
    says(
        &folder.rolecall(&["run", "-q"]),
        1,
        "1 transcript of readings not as accepted",
    );
    says(
        &folder.rolecall(&["accept", "*"]),
        0,
        "accepted 1 transcript of readings",
    );
    let run = folder.rolecall(&["run"]);
    let said = run.stdout();
    assert!(said.contains("answers of 1 template: "), "{said}");
    assert!(!said.contains("transcript of readings"), "{said}");
    edit(
        &folder,
        "my_model/tokenizer_config.json",
        "</s>\\\\s*",
        "</s>\\\\s*|$",
    );
    says(
        &folder.rolecall(&["run", "-q"]),
        1,
        "1 transcript of readings not as accepted",
    );
}

#[test]
fn a_response_template_is_tried_on_a_template() {
    let folder = suite();
    let read = |response: &str| {
        let file = folder.write("response.json", response);
        folder.rolecall(&["roundtrip", "t", "--with", file.to_str().unwrap()])
    };
    says(&read(RESPONSE), 0, "1 read back");
    // It may end at any place, so a stream ends it at once.
    let early = RESPONSE.replace(r"\\s*</s>\\s*", r"</s>\\s*|$");
    let said = read(&early);
    says(&said, 0, "1 of all read otherwise when they are streamed");
    says(
        &said,
        0,
        "character by character: read {\"content\":\"It is so.</s>\"}",
    );
    // As a model's file has it.
    says(
        &read(&format!(r#"{{"response_template": {RESPONSE}}}"#)),
        0,
        "1 read back",
    );

    for (response, words) in [
        ("{", "response.json:1:1: not JSON"),
        ("[]", "no `fields` of a response template"),
        (
            r#"{"start_anchor": "a", "fields": {"content": {"close_pattern": "("}}}"#,
            "not a response template: fields.content.close_pattern: ",
        ),
        (
            r#"{"start_anchor": "a", "fields": {"content": {"colse": "x"}}}"#,
            "response.json:1:46: fields.content.colse: the key `colse` is not supported yet: transformers 5.",
        ),
        (
            r#"{"start_anchor": "a", "fields": {"content": {"content": "yaml"}}}"#,
            "fields.content.content: the content `yaml` is not supported yet: transformers 5.",
        ),
        (
            r#"{"version": 2, "start_anchor": "a", "fields": {"content": {}}}"#,
            "version: version 2 of the language is not supported yet: transformers 5.",
        ),
        (
            r#"{"start_anchor": "a", "fields": {"content": {"close_pattern": "(?i)a"}}}"#,
            "response.json:1:46: fields.content.close_pattern: ",
        ),
    ] {
        says(&read(response), 2, words);
    }
    let missing = folder.rolecall(&["roundtrip", "t", "--with", "nowhere.json"]);
    says(&missing, 2, "nowhere.json: ");

    let misspelt = sidecar(&RESPONSE.replace("start_anchor", "start_achor"));
    folder.write("cases/templates/t.json", &misspelt);
    for (arguments, code) in [
        (&["roundtrip", "t"][..], 2),
        (&["run"], 2),
        (&["accept"], 2),
        (&["lint"], 1),
    ] {
        let ran = folder.rolecall(arguments);
        says(
            &ran,
            code,
            "`response_template` of t cannot be used: start_achor: ",
        );
        // The key has a place.
        says(&ran, code, "t.json:1:");
    }
    folder.write("cases/templates/t.json", "{}");
    says(
        &folder.rolecall(&["roundtrip", "t"]),
        2,
        "none of these templates has a response template",
    );
}

#[test]
fn a_response_template_is_proven_or_its_smallest_failure_is_shown() {
    let folder = Folder::empty();
    folder.write("t.jinja", TEMPLATE);
    folder.write("t.json", PLAIN_SIDECAR);
    folder.write("good.json", RESPONSE);
    let tried = |file: &str| folder.rolecall(&["lint", file, "--templates", "t.jinja"]);
    let good = tried("good.json");
    says(
        &good,
        0,
        "t, answers read with good.json as transformers 5.",
    );
    says(&good, 0, "5 contracts about answers hold");
    // A text ends at its first comma.
    folder.write("bad.json", &RESPONSE.replace("</s>", "(?:,|</s>).*"));
    let bad = tried("bad.json");
    says(&bad, 1, "error reads-back");
    says(&bad, 1, "content: changed");
    let json = folder.rolecall(&[
        "lint",
        "bad.json",
        "--templates",
        "t.jinja",
        "--format",
        "json",
    ]);
    let proofs: serde_json::Value = serde_json::from_str(&json.stdout()).unwrap();
    let proof = &proofs["proofs"][0];
    assert_eq!((proof["holds"].as_bool(), json.code()), (Some(false), 1));
    let smallest = &proof["failures"][0];
    let content = smallest["conversation"][1]["content"].as_str().unwrap();
    let read = smallest["read"]["content"].as_str().unwrap();
    let is_cut = content.len() > read.len() && content.starts_with(read);
    assert!(is_cut && content.len() < 8, "{smallest}");
}

#[test]
fn what_cannot_be_proven_is_said_with_its_place() {
    let folder = Folder::empty();
    folder.write("t.jinja", TEMPLATE);
    folder.write("t.gotmpl", "{{ range .Messages }}{{ .Content }}{{ end }}");
    folder.write("good.json", RESPONSE);
    folder.write(
        "cut.json",
        "{\n  \"start_anchor\": \"<a>\",\n  \"fields\": {",
    );
    folder.write(
        "wrong.json",
        r#"{"start_anchor": "<a>", "fields": {"content": {"clos": "x"}}}"#,
    );
    let tried =
        |file: &str, template: &str| folder.rolecall(&["lint", file, "--templates", template]);
    says(&tried("cut.json", "t.jinja"), 2, "cut.json:3:");
    says(
        &tried("wrong.json", "t.jinja"),
        2,
        "wrong.json:1:48: fields.content.clos: the key `clos` is not supported yet",
    );
    says(&tried("none.json", "t.jinja"), 2, "none.json");
    says(
        &tried("good.json", "t.gotmpl"),
        2,
        "this one is for Ollama: t",
    );
}

#[test]
fn a_first_draft_says_what_it_does_not_know() {
    let folder = Folder::empty();
    folder.write("t.jinja", TEMPLATE);
    folder.write("t.json", PLAIN_SIDECAR);
    let draft = folder.rolecall(&["infer", "t.jinja"]);
    says(&draft, 0, "The template writes no calls.");
    says(&draft, 0, "are read back.");
    // The draft is proven as it was written.
    folder.write("draft.json", &draft.stdout());
    let proof = folder.rolecall(&["lint", "draft.json", "--templates", "t.jinja"]);
    says(&proof, 0, "6 contracts about answers hold, 0 are broken");
    folder.write("both/t.jinja", TEMPLATE);
    folder.write("both/other.jinja", TEMPLATE);
    let both = folder.rolecall(&["infer", "both"]);
    says(&both, 2, "a draft is for one template, and there are 2");
}

/// A response template with a fault, and the same without it.
const BROKEN: &str = r#"{"start_anchor": "<assistant>", "fields": {
    "content": {"close_pattern": "</s>\\s*|$"}}}"#;

#[test]
fn response_templates_are_looked_at_without_a_conversation() {
    let folder = Folder::empty();
    let lint = |name: &str, text: &str| {
        folder.write(name, text);
        folder.rolecall(&["lint", name])
    };
    let finding = "bare.json:2:17: warning close-at-end: `close_pattern` of `content` also matches";
    says(&lint("bare.json", BROKEN), 1, finding);
    says(
        &lint("bare.json", BROKEN),
        1,
        "\"Hi</s>\" as a whole: {\"content\":\"Hi\"} character by character: {\"content\":\"Hi</s>\"}",
    );
    says(
        &lint("bare.json", BROKEN),
        1,
        "1 response template: 1 warning, 0 notes",
    );
    says(
        &lint("bare.json", RESPONSE),
        0,
        "1 response template: 0 warnings, 0 notes",
    );
    // A note fails nothing.
    let note = RESPONSE.replace(
        "\"fields\": {",
        "\"fields\": {\"reasoning_content\": {\"open\": \"<t>\", \"close\": \"</t>\"}, ",
    );
    says(&lint("bare.json", &note), 0, "0 warnings, 1 note");

    // The end token is known from the file.
    let needs_end = |tokens: &str| {
        format!(
            r#"{{{tokens}"response_template": {{"start_anchor": "a", "fields": {{"tool_calls":
            {{"open": "<c>", "close_pattern": "!<end>", "content": "json"}}}}}}}}"#
        )
    };
    let named = needs_end(r#""eos_token": {"content": "<end>"}, "#);
    let config = "my_model/tokenizer_config.json";
    let words = "tokenizer_config.json:2:29: warning close-needs-end-token";
    says(&lint(config, &named), 1, words);
    folder.write("my_model/config.json", "{}");
    says(&folder.rolecall(&["lint", "my_model"]), 1, words);
    says(&lint(config, &needs_end("")), 0, "0 warnings");

    for (text, words) in [
        ("{", "wrong.json:1:1: not JSON"),
        ("[]", "wrong.json: there is no `response_template`"),
        ("{\"a\": 1}", "wrong.json: there is no `response_template`"),
        (
            "{\"response_template\":\n {\"start_anchor\": \"a\", \"fields\": {\"x\": {\"colse\": 1}}}}",
            "wrong.json:2:41: fields.x.colse: the key `colse`",
        ),
    ] {
        says(&lint("wrong.json", text), 2, words);
    }
    // A wrong file does not stop the others.
    folder.write("bare.json", &note);
    let both = folder.rolecall(&["lint", "wrong.json", "bare.json"]);
    says(&both, 2, "1 response template: 0 warnings, 1 note");
    says(
        &folder.rolecall(&["lint", "nowhere.json"]),
        2,
        "nowhere.json: ",
    );
    folder.write("plain.jinja", TEMPLATE);
    says(
        &folder.rolecall(&["lint", "plain.jinja"]),
        2,
        "plain.jinja: there is no response template",
    );
    says(
        &folder.rolecall(&["lint", "--format", "json"]),
        2,
        "required arguments were not provided",
    );
}

#[test]
fn a_suite_reports_what_harms_in_its_response_templates() {
    let folder = suite();
    record(&folder);
    folder.rolecall(&["accept"]);
    let quiet = folder.rolecall(&["lint"]);
    assert!(
        !quiet.stdout().contains("close-at-end"),
        "{}",
        quiet.stdout()
    );
    folder.write("cases/templates/t.json", &sidecar(BROKEN));
    says(
        &folder.rolecall(&["lint"]),
        1,
        "t.json:2:17: close-at-end: `close_pattern` of `content` also matches",
    );
    says(
        &folder.rolecall(&["lint", "t"]),
        1,
        "t.json:2:17: warning close-at-end",
    );
}
