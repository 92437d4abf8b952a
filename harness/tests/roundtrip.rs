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
    let engine = engines.for_dialect(template.dialect);
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

/// A response template with a fault, and the same without it.
const BROKEN: &str = r#"{"start_anchor": "<assistant>", "fields": {
    "content": {"close_pattern": "</s>\\s*|$"}}}"#;

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
