//! `probe-engine`: good engines pass, and every mistake of a bad one is reported.

use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use rolecall_core::guard::load;
use rolecall_core::{Case, Conversation, Dialect, Outcome, Template};
use rolecall_go::{GoEngine, TemplateData};
use rolecall_io::protocol::{CheckResult, ProtocolEngine, ProtocolLimits};
use rolecall_io::protocol::{ProtocolError, Trial};
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::project::LAYOUT;

/// A program that works. Other programs around it in a pipe make it misbehave.
const GOOD: &str = concat!(
    "'",
    env!("CARGO_BIN_EXE_rolecall-checkout"),
    "' serve rolecall-jinja"
);

fn limits() -> ProtocolLimits {
    ProtocolLimits {
        time: std::time::Duration::from_secs(2),
        ..ProtocolLimits::default()
    }
}

fn tried(script: &str) -> Trial {
    let words = ["sh", "-c", script].map(str::to_owned);
    Trial::run(&words, &limits()).unwrap()
}

/// The checks that fail, with what the program did.
fn wrong(trial: &Trial) -> Vec<(&'static str, String)> {
    let seen = |finding: &CheckResult| match finding {
        CheckResult::Fine => None,
        CheckResult::Wrong { seen, .. } => Some(seen.clone()),
        CheckResult::Noted { seen, .. } => Some(format!("note: {seen}")),
        CheckResult::NotTried => Some("not tried".to_owned()),
    };
    let checks = trial.checks.iter();
    checks
        .filter_map(|check| Some((check.name, seen(&check.finding)?)))
        .collect()
}

#[test]
fn engines_of_this_program_have_nothing_wrong() {
    let folder = Folder::empty();
    for name in ["rolecall-jinja", "rolecall-go"] {
        let ran = folder.rolecall(&["probe-engine", name]);
        assert_eq!(ran.code(), 0, "{}", ran.stdout());
        assert!(!ran.stdout().contains("wrong"), "{}", ran.stdout());
        assert!(ran.stdout().contains("fine  two-processes"), "{name}");
    }
}

/// A program with one mistake, and the checks that report it, with their words.
type Fault<'f> = (String, &'f [(&'f str, &'f str)]);

fn assert_reported(faults: &[Fault<'_>]) {
    std::thread::scope(|scope| {
        for (script, expected) in faults {
            scope.spawn(move || {
                let trial = tried(script);
                let found = wrong(&trial);
                let reported: Vec<_> = found
                    .iter()
                    .filter(|(_, seen)| seen != "not tried")
                    .collect();
                // If it answers nothing, the next checks say so, too, before the trial gives it up.
                for (name, words) in *expected {
                    let reported = reported.iter().find(|(found, _)| found == name);
                    let is_reported = reported.is_some_and(|(_, seen)| seen.contains(words));
                    assert!(is_reported, "{script}: {name}: {found:?}");
                }
                let is_given_up = reported.len() < found.len();
                assert!(
                    is_given_up || reported.len() == expected.len(),
                    "{script}: {found:?}"
                );
            });
        }
    });
}

#[test]
fn what_is_read_wrongly_is_reported_by_its_check() {
    let asked = |filter: &str| format!("{filter} | {GOOD}");
    assert_reported(&[
        (
            asked("sed -u 's/1\\.0/1/g; s/9007199254740993/9007199254740992/'"),
            &[
                (
                    "numbers",
                    r#"it gave the prompt "1 1"; expected the prompt "1.0 1""#,
                ),
                ("integers", "it gave the prompt \"9007199254740992 "),
                ("tojson", ""),
            ],
        ),
        (
            asked(r#"sed -u 's/"b":1,"10":2,"a":3,"2":4/"2":4,"10":2,"a":3,"b":1/'"#),
            &[("key-order", r#"it gave the prompt "2 10 a b ""#)],
        ),
        (
            asked(r#"sed -u 's/"a":null/"c":1/'"#),
            &[("null", r#"it gave the prompt "other absent""#)],
        ),
        (
            asked(r#"sed -u 's/"tools":null/"tools":[]/'"#),
            &[("no-tools", "it gave the prompt \"other null on\"")],
        ),
        (
            asked("sed -u 's/T23:59:07Z/T13:59:07Z/'"),
            &[("clock", "it gave the prompt \"2031-02-03 13:59\"")],
        ),
        (
            asked("sed -u 's/\"source\":\"c/\"source\":\"a/'"),
            &[("names", r#"it gave the prompt "aHi""#)],
        ),
        (
            asked("sed -u '/of_a_later_version/d'"),
            &[("more-fields", "no answer within 2 s")],
        ),
    ]);
}

#[test]
fn what_is_answered_wrongly_is_reported_by_its_check() {
    let answered = |filter: &str| format!("{GOOD} | {filter}");
    assert_reported(&[
        (
            answered(r#"sed -u 's/\\n"}$/"}/; s/\\n]"}$/]"}/'"#),
            &[("text", r#"\r\nend ]"; expected"#)],
        ),
        (
            answered(r#"sed -u 's/"outcome":"failed".*"parse".*/"ok":true}/'"#),
            &[("broken", "`a {% if %} b` was loaded")],
        ),
        (
            answered(
                r#"sed -u 's/"outcome":"raised","message"/"outcome":"failed","stage":"render","message"/'"#,
            ),
            &[(
                "raise",
                "it `failed` at the stage `render`: No, user.; expected `raised`",
            )],
        ),
        (
            answered(r#"sed -u 's/"message":"No/"message":"TemplateError: No/'"#),
            &[("raise", "it `raised` \"TemplateError: No, user.\"")],
        ),
        (
            answered(r#"sed -u 's/"version":"[^"]*",//'"#),
            &[("start", "note: it has no `version`")],
        ),
        (
            answered(r#"sed -u 's/"dialect":"jinja"/&,"fronts":["nobody"]/'"#),
            &[("start", "note: its front `nobody` is unknown")],
        ),
        // It claims to be an application and is none.
        (
            answered(r#"sed -u 's/"dialect":"jinja"/&,"fronts":["transformers"]/'"#),
            &[(
                "fronts",
                "front `transformers`: it gave the prompt \"Hi\"; expected the prompt \"Hi</s>\"",
            )],
        ),
        (
            format!("{GOOD}; exec sleep 60"),
            &[
                ("stop", "it was still running a second later"),
                ("end-of-input", "note: it was still running"),
            ],
        ),
        (
            answered(r#"sed -u 's/{"id":4/{"id":5/'"#),
            &[(
                "prompt",
                "it answered request 5000000010 instead of 4000000010",
            )],
        ),
        (
            "echo hello; sleep 5".to_owned(),
            &[(
                "start",
                "not an answer (expected value at character 1): `hello`",
            )],
        ),
    ]);
}

/// An engine that prints `true` for `True` hears so once.
#[test]
fn booleans_are_one_question() {
    let trial = tried(&format!(
        "{GOOD} | sed -u 's/True/true/g; s/False/false/g; s/None/null/g'"
    ));
    let found = wrong(&trial);
    let seen = "it gave the prompt \"true false true\"; expected the prompt \"True False True\"";
    assert_eq!(found, [("booleans", seen.to_owned())]);
}

/// Where everything fails, nothing is right because it should fail, and the cause is reported once.
#[test]
fn where_everything_fails_nothing_is_fine() {
    let folder = Folder::empty();
    let failed =
        r#""outcome":"failed","stage":"render","message":"Traceback:\\n  File x.py\\nValueError"}"#;
    let faults = [
        format!("s/\"outcome\":\"\\(rendered\\|raised\\|failed\\)\".*/{failed}/"),
        format!("s/\"ok\":true}}/{failed}/"),
    ];
    for fault in faults {
        let script = format!("{GOOD} | sed -u '{fault}'\n");
        let script = folder.write("engine.sh", &script);
        let engine = format!("sh '{}'", script.display());
        let ran = folder.rolecall(&["probe-engine", &engine, "--format", "json"]);
        let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
        let checks = document["checks"].as_array().unwrap();
        let of = |result: &str| -> Vec<&str> {
            let checks = checks.iter().filter(|check| check["result"] == result);
            checks
                .map(|check| check["name"].as_str().unwrap())
                .collect()
        };
        let about_processes = ["start", "standard-output", "stop", "end-of-input"];
        assert_eq!(of("fine"), about_processes, "{fault}: {}", ran.stdout());
        let causes: Vec<&Value> = checks
            .iter()
            .filter(|check| check["result"] == "wrong" && check["same_as"].is_null())
            .collect();
        assert_eq!(causes.len(), 1, "{fault}: {causes:#?}");
        assert_eq!(causes[0]["name"], "prompt");
        let help = causes[0]["help"].as_str().unwrap();
        assert!(help.contains("other checks fail alike"), "{help}");

        // The lines of a message stay in their column.
        let ran = folder.rolecall(&["probe-engine", &engine]);
        let said = ran.stdout();
        assert!(said.contains("  File x.py"), "{said}");
        let rows = said.lines().skip(2).filter(|line| !line.starts_with(' '));
        let rows = rows.filter(|line| !line.is_empty());
        for row in rows {
            let first = row.split(' ').next().unwrap();
            let is_row = ["fine", "wrong", "note", "25"].contains(&first);
            assert!(is_row, "{row:?} in\n{said}");
        }
    }
}

#[test]
fn lines_that_nobody_asked_for_are_reported() {
    // Output after the last answer of a check is read by the next one.
    let trial = tried(&format!("{GOOD} | {}", chatter("bHi", "xx")));
    let found = wrong(&trial);
    assert!(
        matches!(&found[..], [("more-fields", seen)] if seen.contains("not an answer")),
        "{found:?}"
    );
    let trial = tried(&format!("{GOOD} | {}", chatter("user: Hi", "xxx")));
    let found = wrong(&trial);
    assert!(
        matches!(&found[..], [("standard-output", seen)] if seen == "it said `done` unasked"),
        "{found:?}"
    );
}

/// A filter that says `done` after as many answers with a text as `times` has letters.
fn chatter(text: &str, times: &str) -> String {
    format!(
        "while IFS= read -r line; do printf '%s\\n' \"$line\"; \
         case $line in *'{text}'*) n=x$n ;; esac; \
         if [ \"$n\" = {times} ]; then echo done; n=; fi; done"
    )
}

#[test]
fn a_program_that_runs_once_at_a_time_is_reported() {
    let folder = Folder::empty();
    let lock = folder.path("lock");
    let script = format!(
        "mkdir {0} || {{ echo 'already running' >&2; exit 1; }}; trap 'rmdir {0}' EXIT; {GOOD}",
        lock.display()
    );
    let found = wrong(&tried(&script));
    let words = "the second: it ended instead of answering (exit status: 1); it said: ";
    assert!(
        matches!(&found[..], [("two-processes", seen)] if seen.starts_with(words)),
        "{found:?}"
    );
}

#[test]
fn a_program_that_answers_nothing_is_not_asked_on() {
    let trial = tried(&format!("{GOOD} | head -n 1"));
    let found = wrong(&trial);
    let tried = found.iter().filter(|(_, seen)| seen != "not tried");
    assert_eq!(tried.count(), 3, "{found:?}");
    assert!(!trial.is_fine());
}

/// The exit codes and the formats of the results.
#[test]
fn results_are_for_people_and_for_programs() {
    let folder = Folder::empty();
    let script = folder.write(
        "engine.sh",
        &format!("{GOOD} | sed -u 's/\"raised\"/\"ok\"/'\n"),
    );
    let engine = format!("sh '{}'", script.display());
    let ran = folder.rolecall(&["probe-engine", &engine]);
    assert_eq!(ran.code(), 1);
    let out = ran.stdout().replace('\n', " ");
    let out = Regex::new(" +")
        .unwrap()
        .replace_all(&out, " ")
        .into_owned();
    let words = "wrong raise an answer with the outcome `ok`";
    assert!(
        out.contains(words) && out.contains("— define raise_exception(message)"),
        "{out}"
    );
    assert!(out.ends_with("25 checks: 24 fine, 1 wrong "), "{out}");
    let ran = folder.rolecall(&["probe-engine", &engine, "--format", "json"]);
    assert_eq!(ran.code(), 1);
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(document["dialect"], "jinja");
    let check = |name: &str| {
        let checks = document["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()
    };
    assert_eq!(check("raise")["result"], "wrong");
    assert!(check("raise")["seen"].is_string() && check("raise")["help"].is_string());
    assert_eq!(check("prompt")["result"], "fine");
    assert_eq!(check("prompt")["help"], Value::Null);

    let missing = Trial::run(&["./no-such-program".to_owned()], &limits()).unwrap_err();
    assert!(matches!(missing, ProtocolError::Start { .. }));
}

/// A Python with jinja2: the reference's, or the user's.
fn python() -> Option<PathBuf> {
    let candidates = [
        LAYOUT
            .root()
            .join(".references/python-transformers/bin/python"),
        PathBuf::from("python3"),
    ];
    candidates.into_iter().find(|python| {
        let output = Command::new(python).args(["-c", "import jinja2"]).output();
        output.is_ok_and(|output| output.status.success())
    })
}

/// The adapter on the protocol's page makes no mistake, and agrees with transformers on templates
/// of the suite.
#[test]
#[ignore = "long: .ci/run and .ci/nightly try it"]
fn the_adapter_of_the_page_has_nothing_wrong() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/docs/protocol.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (_, block) = text.split_once("```python adapter.py\n").unwrap();
    let (adapter, _) = block.split_once("```").unwrap();
    let Some(python) = python() else {
        println!("no Python has jinja2: the adapter of the page was not tried");
        return;
    };
    let folder = Folder::empty();
    folder.write("adapter.py", adapter);
    let engine = format!("'{}' adapter.py", python.display());
    let ran = folder.rolecall(&["probe-engine", &engine]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    let filters = ["zephyr:*", "qwen2.5:plain/*"];
    let run = [&["run"], &filters[..], &["--engine", &engine]].concat();
    let ran = folder.rolecall(&run);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
}

/// Answers `render` with the value of `go`, as a text.
const TELLS_GO: &str = r#"
id() { id=${line%%,\"template*}; id=${id##*\"id\":}; }
while read -r line; do
  id
  case $line in
    *'"request":"start"'*) echo '{"rolecall": 1, "engine": "fake", "dialect": "go", "fronts": []}' ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *'"request":"stop"'*) exit 0 ;;
    *) printf '{"id": %s, "outcome": "rendered", "text": %s}\n' "$id" "$(printf '%s' "$line" | sed 's/.*"go":\(.*\)}$/\1/; s/["\\]/\\&/g; s/.*/"&"/')" ;;
  esac
done"#;

fn reported(script: &str, source: &str, case: &Case) -> String {
    let words = ["sh", "-c", script].map(str::to_owned);
    let engine = ProtocolEngine::spawn(&words, ProtocolLimits::default()).unwrap();
    let template = Template::from_source("t", Dialect::Go, source);
    match load(&engine, &template).render(&Conversation::new(case)) {
        Outcome::Rendered { text } => text,
        other => panic!("{other:?}"),
    }
}

/// An engine for Go templates gets the data with which Ollama executes the template: our engine
/// prints the same.
#[test]
fn engines_of_go_templates_are_given_what_ollama_executes_templates_with() {
    let mut case = Case::from_messages(vec![
        json!({"role": "system", "content": "S"}),
        json!({"role": "user", "content": "a"}),
        json!({"role": "user", "content": "b\\ \"<é\n"}),
        json!({"role": "assistant", "tool_calls": [
            {"function": {"name": "f", "arguments": {"b": 1.5, "a": null}}}]}),
    ]);
    case.tools = Some(vec![json!({"type": "function", "function": {
        "name": "f", "parameters": {"properties": {"x": {"type": ["string", "null"]}}}}})]);
    let source = "{{ if .Messages }}{{ json . }}{{ end }}";
    let template = Template::from_source("t", Dialect::Go, source);
    let program = GoEngine::new().program(&template).unwrap();
    let printed = rolecall_core::Program::prompt(&program, &case).unwrap();
    let given: Value = serde_json::from_str(&reported(TELLS_GO, source, &case)).unwrap();
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(given, json!({"data": printed}));
    assert_eq!(printed["Messages"][1]["Content"], "a\n\nb\\ \"<é\n");

    let turns = "{{ .System }}{{ .Prompt }}";
    let template = Template::from_source("t", Dialect::Go, turns);
    let program = GoEngine::new().program(&template).unwrap();
    let Ok(TemplateData::Turns(expected)) = program.data(&Conversation::new(&case)) else {
        panic!("no turns");
    };
    let given: Value = serde_json::from_str(&reported(TELLS_GO, turns, &case)).unwrap();
    assert_eq!(given, json!({"turns": expected}));

    let refused = Case::from_messages(vec![json!({"role": 3})]);
    let given: Value = serde_json::from_str(&reported(TELLS_GO, source, &refused)).unwrap();
    let outcome = program.data(&Conversation::new(&refused)).unwrap_err();
    let words = Outcome::from(Err(outcome)).text().to_owned();
    assert_eq!(given, json!({"refused": words}));

    // Applications make it themselves.
    let application = TELLS_GO.replace("\"fronts\": []", "\"fronts\": [\"ollama\"]");
    let given = reported(&application, source, &case);
    assert!(given.starts_with("{\"request\":\"render\""), "{given}");
}
