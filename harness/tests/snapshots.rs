//! Damaged snapshot files: the harness reports everything with its place, and uses the undamaged
//! sections.

use serde_json::Value;

use crate::extent::sample;
use crate::folder::Folder;

/// A suite with one template and a family of three cases, accepted and recorded.
fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("cases/templates/echo.jinja", "{{ messages[0].content }}\n");
    folder.write(
        "cases/templates/echo.json",
        r#"{"about": "Says it again.", "origin": "a test"}"#,
    );
    let case = |about: &str, content: &str| {
        format!(
            r#"{{"about": "{about}", "messages": [{{"role": "user", "content": "{content}"}}]}}"#
        )
    };
    folder.write(
        "cases/conversations/words.json",
        &format!(
            r#"{{"about": "Words.", "cases": {{"one": {}, "two": {}, "three": {}}}}}"#,
            case("One.", "a"),
            case("Two.", "=== one, echo: rendered\\nb"),
            case("Three.", "c\\u00a0"),
        ),
    );
    folder.accept_all();
    folder
}

const FILE: &str = "snapshots/words.snap";

const ACCEPTED: &str = include_str!("sessions/shared/words.transcripts");

#[test]
fn a_family_is_one_file_with_a_section_for_each_pair() {
    let folder = folder();
    assert_eq!(read(&folder), ACCEPTED);
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

fn read(folder: &Folder) -> String {
    std::fs::read_to_string(folder.path(FILE)).unwrap()
}

/// A damage to the file, and what becomes of it.
struct Change {
    what: String,
    text: String,
    /// Each case's comparison with it.
    snapshots: Value,
    problem: String,
    /// How many problems `lint` has with the file.
    findings: usize,
    /// Whether it would lose something if it were written anew, so that nobody does.
    is_kept: bool,
}

fn changes() -> Vec<Change> {
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("data/damaged-sections.json")).unwrap();
    let change = |row: &Value| {
        let edits = row["edits"].as_array().unwrap().iter();
        let edit = |text: String, edit: &Value| {
            let [from, to] = [0, 1].map(|side| edit[side].as_str().unwrap());
            assert!(text.contains(from), "{row}");
            text.replace(from, to)
        };
        Change {
            what: row["what"].to_string(),
            text: edits.fold(ACCEPTED.to_owned(), edit),
            snapshots: row["snapshots"].clone(),
            problem: row["problem"].as_str().unwrap().to_owned(),
            findings: usize::try_from(row["findings"].as_u64().unwrap()).unwrap(),
            is_kept: row["is_kept"] == true,
        }
    };
    rows.iter().map(change).collect()
}

/// `run` and `lint` both say where a file is damaged, and the run goes on. Nobody writes over what
/// cannot be read.
#[test]
fn what_is_damaged_has_a_place_and_leaves_the_other_sections() {
    let folder = folder();
    for change in sample(changes(), 6) {
        let what = &change.what;
        folder.write(FILE, &change.text);
        let ran = folder.rolecall(&["run", "--format", "jsonl"]);
        assert_ne!(ran.code(), 0, "{what}");
        let lines = ran.json_lines();
        let found: Value = lines.iter().map(|line| line["snapshot"].clone()).collect();
        assert_eq!(found, change.snapshots, "{what}");
        // A section that cannot be read is reported with its pair, everything else separately.
        let ran = folder.rolecall(&["run"]);
        let place = format!("{FILE}{}", change.problem);
        let said = ran.stdout() + &ran.stderr();
        assert!(said.contains(&place), "{what}: {said}");
        let ran = folder.rolecall(&["lint"]);
        assert_eq!(ran.code(), 1, "{what}");
        // A case without a section or a record is reported, too.
        let said = ran.stdout();
        assert!(said.contains(&place), "{what}: {said}");
        assert_eq!(
            said.matches(FILE).count(),
            change.findings,
            "{what}: {said}"
        );
        assert_eq!(
            said.contains("repair the file"),
            change.is_kept,
            "{what}: {said}"
        );
        let ran = folder.rolecall(&["accept"]);
        assert_eq!(ran.code() == 2, change.is_kept, "{what}: {}", ran.stdout());
        assert_eq!(read(&folder) == change.text, change.is_kept, "{what}");
        if change.is_kept {
            assert!(ran.stderr().contains(&place), "{what}: {}", ran.stderr());
        }
    }
    folder.write(FILE, ACCEPTED);
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

/// A problem that hundreds of files share is reported once.
#[test]
fn lint_stays_short() {
    let folder = folder();
    for number in 0..40 {
        let name = format!("cases/templates/t{number}.jinja");
        folder.write(&name, "{{ messages[0].content }}");
        let about = format!(r#"{{"about": "The {number}th.", "origin": "a test"}}"#);
        folder.write(&name.replace(".jinja", ".json"), &about);
        folder.write(&format!("snapshots/gone{number}.snap"), "");
    }
    let out = folder.rolecall(&["lint"]).stdout();
    for expected in [
        "snapshots/words.snap: missing: never accepted: `one, t0`, `one, t1`, `one, t10`, `one, t11`, `one, t12`, … and 115 more",
        "snapshots/gone0.snap: an orphan: nothing in the suite has it",
        "snapshots/reference.json: missing: no reference records: t0, t1, t10, t11, t12, … and 35 more",
        "  … and in 34 more files",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
    assert!(out.lines().count() < 60, "{out}");
}
