//! Damaged snapshot files: the harness reports everything with its place, and uses the undamaged
//! sections.

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
            case("Two.", "=== one: rendered\\nb"),
            case("Three.", "c\\u00a0"),
        ),
    );
    folder.accept_all();
    folder
}

const FILE: &str = "snapshots/echo/words.snap";

const ACCEPTED: &str = "---
source: harness/tests/suite/review.rs
input_file: cases/conversations/words.json
---
=== one: rendered
a␃

=== two: rendered
=== one: rendered␊
b␃

=== three: rendered
c⟦U+00A0⟧␃
";

#[test]
fn a_family_is_one_file_with_a_section_for_each_case() {
    let folder = folder();
    let file = std::fs::read_to_string(folder.path(FILE)).unwrap();
    assert_eq!(file, ACCEPTED);
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

/// A change of the file: its name, the changed file, each case's comparison with it, and the
/// reported problem.
type Change = (&'static str, String, [&'static str; 3], &'static str);

#[allow(clippy::too_many_lines)] // it is a table
fn changes() -> Vec<Change> {
    let one = "=== one: rendered\na␃\n\n";
    let three = "\n\n=== three: rendered\nc⟦U+00A0⟧␃";
    let moved = ACCEPTED
        .replace(one, "")
        .replace(three, &format!("{three}\n\n{}", one.trim_end()));
    vec![
        (
            "a section without its end",
            ACCEPTED.replace("a␃", "a"),
            ["unreadable", "same", "same"],
            ":5:1: the section of `one` does not end with ␃",
        ),
        (
            "the last section without its end",
            ACCEPTED.replace("⟧␃", "⟧"),
            ["same", "same", "unreadable"],
            ":12:1: the section of `three` does not end with ␃",
        ),
        (
            "a section twice",
            ACCEPTED.replace(one, &one.repeat(2)),
            ["same", "same", "same"],
            ":8:1: the section of `one` occurs twice",
        ),
        (
            "a section of no case",
            ACCEPTED.replace(one, &format!("{one}{}", one.replace("one", "four"))),
            ["same", "same", "same"],
            ":8:1: an orphan: the suite has no case `four` for this",
        ),
        (
            "a section of another case",
            ACCEPTED.replace("=== three", "=== four"),
            ["same", "same", "new"],
            ":12:1: an orphan: the suite has no case `four` for this",
        ),
        (
            "a section out of place",
            moved,
            ["same", "same", "same"],
            ":12:1: the section of `one` is out of place",
        ),
        (
            "bytes that no transcript has",
            ACCEPTED.replace("a␃", "\u{a0}␃"),
            ["unreadable", "same", "same"],
            ":6:1: `one` is not a transcript: U+00A0 must be written as its mark",
        ),
        (
            "no outcome",
            ACCEPTED.replace("one: rendered\na", "one: sung\na"),
            ["unreadable", "same", "same"],
            ":5:1: `one` is not a transcript: the first line, `sung`, names no outcome",
        ),
        (
            "no heading",
            ACCEPTED.replacen("=== one: ", "=== one ", 1),
            ["new", "same", "same"],
            ":5:1: not a heading such as `=== case: rendered`",
        ),
        (
            "no empty line",
            ACCEPTED.replace("a␃\n\n", "a␃\n"),
            ["same", "same", "same"],
            ":6:1: expected an empty line after ␃",
        ),
        (
            "a space at the end",
            ACCEPTED.trim_end().to_owned() + " \n",
            ["same", "same", "same"],
            ":13:1: expected an empty line after ␃",
        ),
        (
            "a line break more",
            ACCEPTED.to_owned() + "\n",
            ["same", "same", "same"],
            ":13:1: expected an empty line after ␃",
        ),
        (
            "no line break at the end",
            ACCEPTED.trim_end().to_owned(),
            ["same", "same", "same"],
            ": not as insta writes it: someone has edited it",
        ),
        (
            "another header",
            ACCEPTED.replace("words.json", "others.json"),
            ["same", "same", "same"],
            ": not as insta writes it: someone has edited it",
        ),
        (
            "other line endings",
            ACCEPTED.replace('\n', "\r\n"),
            ["unreadable"; 3],
            ": the file has no insta header",
        ),
    ]
}

/// `run` and `lint` both say where a file is damaged, and the run goes on.
#[test]
fn what_is_damaged_has_a_place_and_leaves_the_other_sections() {
    let folder = folder();
    for (what, changed, states, expected) in changes() {
        folder.write(FILE, &changed);
        let ran = folder.rolecall(&["run", "--format", "jsonl"]);
        assert_eq!(ran.code(), 1, "{what}");
        let lines = ran.json_lines();
        let found: Vec<_> = lines.iter().map(|line| line["snapshot"].clone()).collect();
        assert_eq!(found, states, "{what}");
        // A section that cannot be read is reported with its pair, everything else separately.
        let ran = folder.rolecall(&["run"]);
        let place = format!("{FILE}{expected}");
        assert!(ran.stdout().contains(&place), "{what}: {}", ran.stdout());
        let ran = folder.rolecall(&["lint"]);
        assert_eq!(ran.code(), 1, "{what}");
        // A case without a section is reported, too.
        let findings = if states.contains(&"new") { 2 } else { 1 };
        assert_eq!(
            ran.stdout().matches(FILE).count(),
            findings,
            "{what}: {}",
            ran.stdout()
        );
        assert!(ran.stdout().contains(&place), "{what}: {}", ran.stdout());
    }
    folder.write(FILE, ACCEPTED);
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

/// A filter leaves cases out; their sections are not orphans.
#[test]
fn a_filtered_run_finds_nothing_wrong_with_the_other_sections() {
    let folder = folder();
    let ran = folder.rolecall(&["run", "echo:words/two"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    let changed = ACCEPTED.replace("a␃", "b␃");
    folder.write(FILE, &changed);
    assert_eq!(folder.rolecall(&["run", "echo:words/two"]).code(), 0);
    assert_eq!(folder.rolecall(&["run", "echo:words/one"]).code(), 1);
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
        folder.write(&format!("snapshots/gone{number}/words.snap"), "");
    }
    let out = folder.rolecall(&["lint"]).stdout();
    for expected in [
        "snapshots/t0/words.snap: missing: no transcript of this family was accepted yet",
        "  the same: snapshots/t1/words.snap",
        "snapshots/gone0/words.snap: an orphan: nothing in the suite has it",
        "  … and in 34 more files",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
    assert!(out.lines().count() < 60, "{out}");
}
