//! Programs as engines for `run`: limited to their own dialect, the same on every run, in figures
//! that people can read.

use crate::folder::Folder;
use crate::protocol::command;

/// A folder with templates of both dialects.
fn both_dialects() -> Folder {
    let folder = Folder::new();
    let source = "{{ range .Messages }}{{ .Content }}{{ end }}";
    folder.write("cases/templates/port.gotmpl", source);
    folder
}

#[test]
fn a_program_is_judged_by_its_own_dialect() {
    let folder = both_dialects();
    let engine = command(&folder, "serve");
    for (arguments, words) in [
        (
            vec!["run", "port", "--engine", &engine],
            "of go templates left out: fake does not render them",
        ),
        (
            vec!["render", "port", "--engine", &engine],
            "of go templates left out: fake does not render them",
        ),
        (
            vec!["check", "cases/templates/port.gotmpl", "--engine", &engine],
            "1 template in go left out: fake does not render them",
        ),
        (
            vec!["run", "--dialect", "go", "--engine", &engine],
            "fake renders jinja templates, and --dialect asks for go",
        ),
        (
            vec!["run", "port", "--dialect", "jinja"],
            "--dialect asks for others than go",
        ),
        (
            vec!["run", "--dialect", "perl"],
            "there are `jinja` and `go`",
        ),
    ] {
        let ran = folder.rolecall(&arguments);
        assert_eq!(ran.code(), 2, "{arguments:?}");
        let errors = ran.stderr().replace("\n  ", " ");
        assert!(errors.contains(words), "{arguments:?}: {errors}");
    }
    let templates = |arguments: &[&str]| {
        let ran = folder.rolecall(&[arguments, &["--format", "jsonl"]].concat());
        let lines = ran.stdout();
        let name = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["template"].as_str().unwrap().to_owned()
        };
        let mut names: Vec<String> = lines.lines().map(name).collect();
        names.dedup();
        (names, ran.stderr())
    };
    for command in ["run", "render"] {
        let (names, errors) = templates(&[command, "--engine", &engine]);
        assert_eq!(names, ["chat", "strict"]);
        assert!(errors.contains("of go templates left out"), "{errors}");
        let (names, errors) = templates(&[command, "--dialect", "go"]);
        assert_eq!(names, ["port"]);
        assert!(
            errors.starts_with("suite: this repository's suite\n"),
            "{errors}"
        );
        assert!(!errors.contains("left out"), "{errors}");
    }
}

/// Refuses templates in its own words, except for one.
const REFUSES: &str = r#"start
while ask; do
  case $line in
    *'"template":"fine'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *'"template":"chat'*) echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"parse\", \"message\": \"unknown sign 'a' at 3:14\"}" ;;
    *) echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"parse\", \"message\": \"unknown sign 'bc' at 1:2\"}" ;;
  esac
done"#;

#[test]
fn disagreements_are_grouped_by_the_engines_own_error() {
    let folder = Folder::new();
    folder.write(
        "cases/conversations/short.json",
        r#"{"about": "Little.", "cases": {"none": {"about": "Nothing.", "messages": []}}}"#,
    );
    let engine = command(&folder, REFUSES);
    let run = ["run", "--engine", &engine, "--against", "rolecall-jinja"];
    let ran = folder.rolecall(&run);
    let out = ran.stdout();
    let first = out.replace("\n  ", " ");
    let words = "error every template fails to load with the same message: unknown sign 'a' at 3:14 — \
                 is the engine set up?\n";
    assert!(first.starts_with(words), "{out}");
    let groups: Vec<&str> = out
        .lines()
        .filter(|line| line.starts_with("differs "))
        .collect();
    // A conversation without a message is shorter, but nobody sends it.
    assert_eq!(groups, ["differs chat plain/user"], "{out}");
    assert!(
        out.contains("the same difference in 4 other pairs:"),
        "{out}"
    );
}

#[test]
fn figures_tell_templates_that_load_and_refusals_apart() {
    let folder = Folder::new();
    folder.write("cases/templates/fine.jinja", "{{ 'x' }}");
    let fine = REFUSES.replace(
        "*'\"template\":\"fine'*) ",
        "*'\"request\":\"render\"'*) text x ;;\n    *'\"template\":\"fine'*) ",
    );
    let engine = command(&folder, &fine);
    let run = ["run", "--engine", &engine, "--against", "rolecall-jinja"];
    let out = folder.rolecall(&run).stdout();
    for words in [
        "templates that load: 1 of 3; of their pairs 2 of 2 agree (100 %)\n",
        "prompts: 2 of 5 agree (40.00 %)\n",
        "refusals: 0 of 1 agree (0.00 %)\n",
        "2 of 6 agree (33.33 %) with rolecall-jinja",
    ] {
        assert!(out.contains(words), "missing {words:?} in\n{out}");
    }
    assert!(!out.contains("is the engine set up?"), "{out}");
}

/// If an engine answers nothing, the summary has no figure about its templates.
#[test]
fn nothing_is_reported_of_an_engine_that_was_asked_nothing() {
    let folder = Folder::new();
    folder.accept_all();
    let gone = command(&folder, "start; exit 3");
    let ran = folder.rolecall(&["run", "--engine", &gone]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let out = ran.stdout();
    assert!(out.contains("4 not asked"), "{out}");
    assert!(!out.contains("templates that load"), "{out}");
}
