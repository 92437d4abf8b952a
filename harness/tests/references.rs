//! The references at the command line: recording, verifying, verdicts, divergences.
//!
//! The real references need Python and Go. Here a shell script replaces transformers and gives back
//! the first message's content.

use std::os::unix::fs::PermissionsExt;

use crate::folder::{Folder, REFERENCE, has};
use rolecall_core::TemplateName;
use rolecall_suite::records::AskedTemplates;
use rolecall_suite::snapshot::Snapshots;
use serde_json::Value;

/// Two templates and two cases; `echo` agrees with the reference, `polite` does not.
fn suite() -> Folder {
    let folder = Folder::empty();
    let conversations = r#"{"about": "Words.", "cases": {
        "one": {"about": "One word.", "messages": [{"role": "user", "content": "one"}]},
        "two": {"about": "Two words.", "messages": [{"role": "user", "content": "two words"}]}}}"#;
    folder.write("cases/conversations/words.json", conversations);
    folder.write("cases/templates/echo.jinja", "{{ messages[0].content }}");
    install(&folder, REFERENCE);
    folder
}

fn install(folder: &Folder, script: &str) {
    let path = folder.write(".references/transformers", script);
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// The file with what the references were asked.
const ASKED: &str = "snapshots/reference.json";

/// The file of the family, with what the reference did.
const WORDS: &str = "snapshots/words.snap";

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

/// What the reference was asked about `echo` with.
fn asked(folder: &Folder) -> Value {
    let asked = AskedTemplates::read(&Snapshots::of(&folder.layout())).unwrap();
    serde_json::to_value(asked.of(&TemplateName::new("echo"))).unwrap()
}

/// What the reference did, as its file has it.
fn answers(folder: &Folder) -> Vec<String> {
    let text = read(folder, WORDS);
    let lines = text.lines().filter(|line| line.starts_with("reference "));
    lines.map(str::to_owned).collect()
}

/// The verdicts that `run` gives, one for each pair.
fn verdicts(folder: &Folder) -> Vec<Value> {
    folder.rolecall(&["run", "--format", "jsonl"]).json_lines()
}

#[test]
fn records_are_written_once_and_then_verified() {
    let folder = suite();
    folder.accept_snapshots();
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "unverified echo words/one\n",
            "  the template has no reference records\n",
            "  to ask the reference: rolecall reference setup && rolecall reference update echo\n",
            "none of 2 pairs are verified by transformers 5.24.0, as recorded\n",
        ],
    );
    let ran = folder.rolecall(&["reference", "verify"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "no record echo:words/one: the template has no reference records\n",
            "0 of 2 records are current\n",
        ],
    );

    let ran = folder.rolecall(&["reference", "update"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    has(
        &ran.stdout(),
        &[
            "echo: 2 new\n",
            "2 pairs asked of transformers 5.24.0 (jinja2 3.1.6) in ",
            "; 2 files written\n",
        ],
    );
    assert_eq!(asked(&folder)["reference"]["version"], "5.24.0");
    // The beginning of the SHA-256 of `one`.
    assert!(answers(&folder)[0].ends_with(" 7692c3ad3540"));
    let again = folder.rolecall(&["reference", "update"]).stdout();
    has(&again, &["2 records are unchanged\n", "0 files written"]);

    assert_eq!(folder.rolecall(&["run"]).code(), 0);
    let ran = folder.rolecall(&["reference", "verify"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    has(
        &ran.stdout(),
        &[
            "2 of 2 agree (100 %) with transformers 5.24.0",
            "2 of 2 records are current\n",
        ],
    );
    for line in verdicts(&folder) {
        assert_eq!(line["verdict"], "agrees");
    }
}

/// In this repository every pair needs a record. The reference was just asked, so nobody has to ask
/// it again.
#[test]
fn accepting_what_is_verified_records_it() {
    let folder = suite();
    let ran = folder.rolecall(&["accept", "--verified", "--dry-run"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    has(
        &ran.stdout(),
        &[
            "would record the reference's results for 2 pairs\n",
            "would accept 1 report card\n",
            "would accept 2 snapshots in 1 file: 0 changed, 2 new\n",
        ],
    );
    assert!(!folder.path("snapshots").exists());

    let ran = folder.rolecall(&["accept", "--verified"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    has(
        &ran.stdout(),
        &[
            "recorded the reference's results for 2 pairs\n",
            "accepted 1 report card\n",
            "2 of 2 confirmed by transformers 5.24.0\n",
        ],
    );
    let recorded = [ASKED, WORDS].map(|name| read(&folder, name));
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
    let again = folder.rolecall(&["reference", "update"]).stdout();
    has(&again, &["2 records are unchanged\n", "0 files written"]);
    assert_eq!([ASKED, WORDS].map(|name| read(&folder, name)), recorded);
    let recorded = (asked(&folder), answers(&folder));

    // A change that changes no prompt makes the records stale: they are written again.
    folder.write("cases/templates/echo.jinja", "{{  messages[0].content }}");
    assert_eq!(folder.rolecall(&["run"]).code(), 1);
    let ran = folder.rolecall(&["accept", "--verified"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    has(
        &ran.stdout(),
        &["recorded the reference's results for 2 pairs\n"],
    );
    assert_eq!(folder.rolecall(&["run"]).code(), 0);

    // What the reference refutes is recorded, too, and not accepted.
    folder.write("cases/templates/echo.jinja", "{{ messages[0].content }}!");
    let ran = folder.rolecall(&["accept", "--verified"]);
    assert_eq!(ran.code(), 1, "{}", ran.stdout());
    has(
        &ran.stdout(),
        &[
            "recorded the reference's results for 2 pairs\n",
            "2 pairs left: the reference gives another result\n",
            "nothing to accept\n",
        ],
    );
    assert_eq!(answers(&folder), recorded.1, "the same answers");
    assert_ne!(asked(&folder)["template"], recorded.0["template"]);
}

/// A record is the reference's answer, and never our own.
#[test]
fn nothing_is_recorded_without_the_reference() {
    let folder = suite();
    std::fs::remove_file(folder.path(".references/transformers")).unwrap();
    let ran = folder.rolecall(&["accept", "--verified"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "2 pairs left: the reference's result is not known\n  to accept without it, name the pairs\n",
        ],
    );
    assert!(!folder.path("snapshots").exists());
    // It dies at one of the cases.
    install(
        &folder,
        &REFERENCE.replace("*fail*)", "*two*) exit 3 ;;\n    *fail*)"),
    );
    let ran = folder.rolecall(&["accept", "--verified"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &["1 pair left: the reference's result is not known\n"],
    );
    let text = read(&folder, WORDS);
    let (one, two) = text.split_once("=== two, echo: ").unwrap_or((&text, ""));
    assert!(
        one.contains("\nreference ") && !two.contains("\nreference "),
        "{text}"
    );
}

/// All trust rests on this: a change of one byte on either side is noticed and named.
#[allow(clippy::too_many_lines)] // it is one list
#[test]
fn one_changed_byte_is_noticed_and_named() {
    let folder = suite();
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let good = [
        "cases/templates/echo.jinja",
        "cases/conversations/words.json",
        WORDS,
        ASKED,
    ]
    .map(|name| read(&folder, name));
    let [template, case, record, asked] = &good;
    let run = |name: &str, text: &str, original: &str| {
        folder.write(name, text);
        let ran = folder.rolecall(&["run"]);
        let verify = folder.rolecall(&["reference", "verify"]);
        let lint = folder.rolecall(&["lint"]);
        folder.write(name, original);
        assert_eq!(
            (ran.code(), verify.code(), lint.code()),
            (1, 1, 1),
            "{text}"
        );
        (
            ran.stdout() + &ran.stderr(),
            verify.stdout() + &verify.stderr(),
            lint.stdout(),
        )
    };

    // A template with one more space, which changes no prompt.
    let (ran, verify, lint) = run(
        "cases/templates/echo.jinja",
        &template.replace("{{ m", "{{  m"),
        template,
    );
    let why = "the template has changed since it was recorded";
    has(&ran, &["unverified echo words/one", why]);
    has(&verify, &["no record echo:words/one: ", why]);
    has(
        &lint,
        &["snapshots/reference.json: stale: ", why, ": echo\n"],
    );

    // A case.
    let changed = case.replace(
        "\"user\", \"content\": \"one\"",
        "\"usel\", \"content\": \"one\"",
    );
    let (ran, verify, lint) = run("cases/conversations/words.json", &changed, case);
    let why = "the case has changed since it was recorded";
    has(
        &ran,
        &[
            "unverified echo words/one",
            why,
            "reference update echo:words/one",
        ],
    );
    has(&verify, &["no record echo:words/one: ", why]);
    has(
        &lint,
        &["without a record, or changed since: `one, echo`\n"],
    );

    // The case's record: another prompt, in the reference's name.
    let at = record.find("7692c3ad").unwrap();
    let changed = format!("{}8{}", &record[..at], &record[at + 1..]);
    folder.write(WORDS, &changed);
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "differs echo words/one\n",
            "the reference rendered something else; only its SHA-256 is recorded",
            "{\"engine\": \"rolecall-jinja\", \"template\": \"echo\", \"case\": \"words/one\", \"reason\": \"…\", \"observed\": ",
        ],
    );
    let verify = folder.rolecall(&["reference", "verify"]);
    assert_eq!(verify.code(), 1);
    has(
        &verify.stdout(),
        &[
            "wrong record echo:words/one\n  recorded: rendered, SHA-256 8692c3ad3540…\n  transformers now: rendered, SHA-256 7692c3ad3540…\n",
            "2 of 2 agree (100 %)",
            "1 of 2 records are current",
        ],
    );
    folder.write(WORDS, record);
    // A byte without a meaning.
    folder.write(ASKED, &asked.replacen("  ", " ", 1));
    let lint = folder.rolecall(&["lint"]).stdout();
    has(
        &lint,
        &["snapshots/reference.json: edited after it was written"],
    );
    // A byte that breaks the file.
    folder.write(ASKED, &asked.replacen("front", "frond", 1));
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stderr(),
        &[
            "snapshots/reference.json:2:115: not the list of what the references were asked: unknown field `frond`",
        ],
    );
    folder.write(ASKED, asked);
    // One that breaks an answer of the reference.
    folder.write(WORDS, &record.replacen("7692c3ad", "7692C3ad", 1));
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stderr(),
        &["snapshots/words.snap:7:1: not what a reference did: `reference "],
    );
    has(
        &ran.stdout(),
        &[
            "unverified echo words/one",
            "the case has no reference record",
        ],
    );
}

#[test]
fn accepting_a_wrong_snapshot_makes_it_no_better() {
    let folder = suite();
    folder.write("cases/templates/echo.jinja", "{{ messages[0].content }}!");
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &["differs echo words/", "0 of 2 agree (0.00 %)"],
    );
    // The reference, asked now, shows what is wrong.
    let verify = folder.rolecall(&["reference", "verify"]);
    assert_eq!(verify.code(), 1);
    has(
        &verify.stdout(),
        &["- one␃\n  + one!␃\n", "2 of 2 records are current"],
    );
}

/// A suite whose template differs from the reference, and the entries for the list of divergences
/// that `run` prints.
fn diverging() -> (Folder, Vec<String>) {
    let folder = suite();
    folder.write("cases/templates/echo.jinja", "{{ messages[0].content }}!");
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let out = folder.rolecall(&["run", "--all"]).stdout();
    let drafts: Vec<_> = out
        .lines()
        .filter(|line| line.contains("\"observed\""))
        .map(|line| line.trim().to_owned())
        .collect();
    assert_eq!(drafts.len(), 2, "{out}");
    (folder, drafts)
}

/// Lists divergences, with a reason.
fn list(folder: &Folder, entries: &[&str]) {
    let text = format!("[{}]", entries.join(",\n")).replace('…', "It is polite.");
    folder.write("snapshots/divergences.json", &text);
}

#[test]
fn a_divergence_is_explained_and_may_not_go_stale() {
    let (folder, drafts) = diverging();
    let drafts: Vec<&str> = drafts.iter().map(String::as_str).collect();
    let hold = |entries: &[&str]| list(&folder, entries);
    hold(&drafts);
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    has(
        &ran.stdout(),
        &[
            "2 diverge",
            "0 of 2 agree (0.00 %)",
            "; 2 known divergences",
        ],
    );
    let lines = verdicts(&folder);
    assert_eq!(lines[0]["verdict"], "differs");
    assert_eq!(lines[0]["divergence"], "It is polite.");
    has(
        &folder.rolecall(&["list", "divergences"]).stdout(),
        &["rolecall-jinja echo:words/one  It is polite.\n"],
    );

    // The reference's own transcript is kept, so that the difference can be read.
    has(
        &folder.rolecall(&["lint"]).stdout(),
        &["snapshots/words.snap: not what the reference did with a listed divergence: `one, echo`"],
    );
    folder.rolecall(&["reference", "update"]);
    has(
        &read(&folder, WORDS),
        &[
            "\n\n=== one, echo, reference: rendered\none␃\n\n=== two, echo: rendered\n",
            "\n\n=== two, echo, reference: rendered\ntwo words␃\n",
        ],
    );
    let lint = folder.rolecall(&["lint"]).stdout();
    assert!(!lint.contains(WORDS), "{lint}");
    has(
        &folder
            .rolecall(&["show", "echo", "words/one", "--reference"])
            .stdout(),
        &["rendered\none␃\n"],
    );
    let ran = folder.rolecall(&["show", "echo", "words/one", "--reference", "--raw"]);
    assert_eq!(ran.stdout(), "one");
    let ran = folder.rolecall(&["show", "echo", "words/one", "--reference", "--diff"]);
    assert_eq!(ran.code(), 1);
    has(&ran.stdout(), &["- one␃\n+ one!␃\n"]);
    assert_eq!(folder.rolecall(&["reference", "verify"]).code(), 0);
}

#[test]
fn a_list_of_divergences_is_checked_against_the_results() {
    let (folder, drafts) = diverging();
    let drafts: Vec<&str> = drafts.iter().map(String::as_str).collect();
    let list = |entries: &[&str]| list(&folder, entries);
    // A divergence that is not listed.
    list(&drafts[..1]);
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "1 differ, 1 diverge",
            "rolecall show echo words/two --reference --diff",
        ],
    );
    // A divergence whose output has changed.
    list(&drafts);
    folder.write("cases/templates/echo.jinja", "{{ messages[0].content }}?");
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "diverges otherwise echo words/",
            "listed, but the output has changed since review; the reason then: It is polite.",
        ],
    );
    // A divergence that is gone.
    folder.write("cases/templates/echo.jinja", "{{ messages[0].content }}");
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "no divergence rolecall-jinja echo:words/one\n  the reference agrees now: remove it from snapshots/divergences.json\n",
        ],
    );
    // When the list goes, the transcripts go too.
    list(&[]);
    folder.rolecall(&["reference", "update"]);
    assert!(!read(&folder, WORDS).contains(", reference: "));
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
    // An entry about nothing.
    list(&[&drafts[0].replace("words/one", "words/gone")]);
    has(
        &folder.rolecall(&["lint"]).stdout(),
        &[
            "snapshots/divergences.json:1:2: no template matching `echo` has a case matching `words/gone`",
        ],
    );
    // An entry without a reason.
    folder.write("snapshots/divergences.json", &format!("[{}]", drafts[0]));
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 2);
    has(
        &ran.stderr(),
        &["snapshots/divergences.json:1:", "`reason` is not filled in"],
    );
}

#[test]
fn a_reference_that_cannot_be_asked_writes_nothing() {
    let folder = suite();
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let before = [ASKED, WORDS].map(|name| read(&folder, name));
    let refuse = |expected: &str| {
        for arguments in [
            &["reference", "update"][..],
            &["reference", "verify"],
            &["run", "--against", "transformers"],
        ] {
            let ran = folder.rolecall(arguments);
            assert_eq!(ran.code(), 2, "{arguments:?}");
            assert_eq!(ran.stdout(), "", "{arguments:?}");
            has(&ran.stderr(), &[expected]);
            assert_eq!([ASKED, WORDS].map(|name| read(&folder, name)), before);
        }
    };
    install(&folder, &REFERENCE.replace("5.24.0", "4.57.0"));
    refuse(
        "error: transformers 4.57.0 (jinja2 3.1.6) is installed, the reference is transformers 5.24.0 (jinja2 3.1.6): run `rolecall reference setup`\n",
    );
    install(
        &folder,
        "#!/bin/sh\necho 'No module named transformers' >&2\nexit 1\n",
    );
    refuse("it ended instead of answering (exit status: 1); it said: No module named transformers");
    std::fs::remove_file(folder.path(".references/transformers")).unwrap();
    refuse(
        "error: the reference transformers is not installed: run `rolecall reference setup` first\n",
    );
}

#[test]
fn records_of_another_version_are_distinguished() {
    let folder = suite();
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let asked = read(&folder, ASKED);
    folder.write(ASKED, &asked.replace("5.24.0", "4.57.0"));
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    let why = "recorded with transformers 4.57.0 (jinja2 3.1.6), the reference is";
    has(&ran.stdout(), &["unverified echo words/one", why]);
    has(&folder.rolecall(&["lint"]).stdout(), &[why]);
    has(
        &folder.rolecall(&["reference", "verify"]).stdout(),
        &[why, "0 of 2 records are current"],
    );
    folder.rolecall(&["reference", "update"]);
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

#[test]
fn a_pair_on_which_the_reference_crashes_is_reported_and_not_recorded() {
    let folder = suite();
    let conversations = r#"{"about": "Words.", "cases": {
        "one": {"about": "One word.", "messages": [{"role": "user", "content": "one"}]},
        "crash": {"about": "Crash.", "messages": [{"role": "user", "content": "boom"}]},
        "fail": {"about": "Fail.", "messages": [{"role": "user", "content": "fail"}]}}}"#;
    folder.write("cases/conversations/words.json", conversations);
    folder.accept_snapshots();
    let ran = folder.rolecall(&["reference", "update"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "echo: 2 new\n  crashed words/crash: it ended instead of answering (exit status: 139); it said: Segmentation fault\n",
        ],
    );
    let record = read(&folder, WORDS);
    has(&record, &[" failed render 1 \"KeyError: fail\"\n"]);
    let crashed = record
        .split("\n\n")
        .find(|section| section.starts_with("=== crash, echo: "));
    assert!(!crashed.unwrap().contains("\nreference "), "{record}");
    // Only the words of the failure are next to our prompt.
    let out = folder.rolecall(&["run", "echo:words/fail"]).stdout();
    has(
        &out,
        &["  - failed at render, line 1\n  - KeyError: fail␃\n  + rendered\n  + fail␃\n"],
    );
    // The failure's words are kept. Our engine rendered there, which differs.
    let lines = verdicts(&folder);
    let verdict = |index: usize| lines[index]["verdict"].as_str().unwrap().to_owned();
    assert_eq!(
        [verdict(0), verdict(1), verdict(2)],
        ["agrees", "unverified", "differs"]
    );
    assert_eq!(lines[2]["reference"]["message"], "KeyError: fail");
}

/// If the reference stops answering, its earlier records stay.
#[test]
fn a_reference_that_is_gone_costs_no_record() {
    let folder = suite();
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let before = [ASKED, WORDS].map(|name| read(&folder, name));
    install(&folder, &REFERENCE.replace("*boom*)", "*render*)"));
    let ran = folder.rolecall(&["reference", "update"]);
    assert_eq!(ran.code(), 1, "{}", ran.stdout());
    has(&ran.stdout(), &["not asked words/one: ", "0 files written"]);
    assert_eq!([ASKED, WORDS].map(|name| read(&folder, name)), before);
}

#[test]
fn a_filter_updates_only_what_it_names() {
    let folder = suite();
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update", "echo:words/one"]);
    let verdicts = |folder: &Folder| -> Vec<String> {
        let lines = verdicts(folder);
        lines
            .iter()
            .map(|line| line["verdict"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(verdicts(&folder), ["agrees", "unverified"]);
    folder.rolecall(&["reference", "update", "echo:words/two"]);
    assert_eq!(verdicts(&folder), ["agrees", "agrees"]);
    // The update does not take over the earlier records of a template that has changed since.
    folder.write("cases/templates/echo.jinja", "{{ messages[0]['content'] }}");
    folder.rolecall(&["reference", "update", "echo:words/two"]);
    assert_eq!(verdicts(&folder), ["unverified", "agrees"]);
    // With a problem in the suite nothing is recorded.
    folder.write("cases/conversations/broken.json", "{");
    let ran = folder.rolecall(&["reference", "update"]);
    assert_eq!(ran.code(), 2);
    has(
        &ran.stderr(),
        &[
            "broken.json:1:",
            "no reference was asked and nothing was written",
        ],
    );
}

#[test]
fn an_update_that_is_interrupted_leaves_the_records_whole() {
    let folder = suite();
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let before = [ASKED, WORDS].map(|name| read(&folder, name));
    // The reference hangs on the second case; somebody stops the update there.
    install(
        &folder,
        &REFERENCE.replace("*boom*)", "*two*) sleep 60 ;;\n    *boom*)"),
    );
    folder.write(
        "cases/templates/echo.jinja",
        "{{ messages[0].content }}{# new #}",
    );
    let mut running = std::process::Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
        .env("ROLECALL_CACHE", crate::folder::CACHE)
        .env("ROLECALL_ALLOW_ENGINES", "1")
        .args(["reference", "update"])
        .current_dir(folder.path(""))
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!([ASKED, WORDS].map(|name| read(&folder, name)), before);
    let files = std::fs::read_dir(folder.path("snapshots")).unwrap().count();
    assert_eq!(files, 2, "nothing else is left");
}

#[test]
fn another_engine_is_measured_against_the_records_or_a_live_engine() {
    let folder = suite();
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let program = folder.write(
        "engine.sh",
        &REFERENCE
            .replace("transformers", "mine")
            .replace("\\\"$content\\\"", "\\\"$content.\\\""),
    );
    let command = format!("sh '{}'", program.display());
    let ran = folder.rolecall(&["run", "--engine", &command]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    has(
        &ran.stdout(),
        &[
            "- one␃\n  + one.␃\n",
            "0 of 2 agree (0.00 %) with transformers 5.24.0, as recorded",
        ],
    );

    let template = folder.write("elsewhere/echo.jinja", "{{ messages[0].content }}");
    folder.write("elsewhere/other.gotmpl", "{{ .Prompt }}");
    let elsewhere = template.parent().unwrap().to_str().unwrap();
    let against = |engine: &str, other: &str| {
        folder.rolecall(&[
            "run",
            "--templates",
            elsewhere,
            "--engine",
            engine,
            "--against",
            other,
        ])
    };
    let ran = against("rolecall-jinja", "transformers");
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    has(
        &ran.stdout(),
        &["2 of 2 agree (100 %) with transformers 5.24.0 (jinja2 3.1.6)\n"],
    );
    has(
        &ran.stderr(),
        &["2 pairs of go templates left out: rolecall-jinja does not render them\n"],
    );
    let ran = against(&command, "rolecall-jinja");
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "differs echo words/one",
            "- one␃\n  + one.␃\n",
            concat!(
                "0 of 2 agree (0.00 %) with rolecall-jinja ",
                env!("CARGO_PKG_VERSION"),
                " (minijinja 3.0.5)"
            ),
        ],
    );
    let ran = against(&command, &command);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    has(&ran.stdout(), &["2 of 2 agree (100 %) with mine 5.24.0"]);
}

/// An update that cannot write everything leaves no answer to another template that counts.
#[test]
fn an_update_that_loses_a_file_confirms_nothing() {
    let folder = suite();
    let other = r#"{"about": "More.", "cases": {
        "three": {"about": "x", "messages": [{"role": "user", "content": "three"}]}}}"#;
    folder.write("cases/conversations/more.json", other);
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
    // Somebody's edit, which nothing writes over.
    let damaged = read(&folder, "snapshots/more.snap").replacen("␃", "␃\nmine", 1);
    folder.write("snapshots/more.snap", &damaged);
    // The same template: its answers still count.
    let ran = folder.rolecall(&["reference", "update"]);
    assert_eq!(ran.code(), 2);
    has(
        &ran.stderr(),
        &[
            "snapshots/more.snap:6:1: expected an empty line",
            "repair the file",
        ],
    );
    assert_eq!(folder.rolecall(&["run", "echo:words/*"]).code(), 0);
    // Another one: as long as a file has the old answers, none counts.
    folder.write("cases/templates/echo.jinja", "{{ messages[0]['content'] }}");
    assert_eq!(folder.rolecall(&["reference", "update"]).code(), 2);
    let ran = folder.rolecall(&["run", "echo:words/*"]);
    has(
        &ran.stdout(),
        &[
            "unverified echo words/one",
            "the template has no reference records",
        ],
    );
    assert_eq!(read(&folder, "snapshots/more.snap"), damaged);
    let whole = damaged.replacen("␃\nmine", "␃", 1);
    folder.write("snapshots/more.snap", &whole);
    assert_eq!(folder.rolecall(&["reference", "update"]).code(), 0);
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

/// Nobody writes over what the references were asked about the other templates.
#[test]
fn what_was_asked_is_not_lost_with_a_conflict() {
    let folder = suite();
    folder.write("cases/templates/other.jinja", "{{ messages[0].content }}");
    folder.accept_snapshots();
    folder.rolecall(&["reference", "update"]);
    let whole = read(&folder, ASKED);
    let conflict = format!("<<<<<<< HEAD\n{whole}=======\n{whole}>>>>>>> other\n");
    folder.write(ASKED, &conflict);
    let ran = folder.rolecall(&["reference", "update", "echo"]);
    assert_eq!(ran.code(), 2);
    has(
        &ran.stderr(),
        &[
            "snapshots/reference.json:1:1: not JSON",
            "such as with `git checkout`",
        ],
    );
    assert_eq!(read(&folder, ASKED), conflict);
    // Who asks about all of them loses nothing.
    assert_eq!(folder.rolecall(&["reference", "update"]).code(), 0);
    assert_eq!(read(&folder, ASKED), whole);
}
