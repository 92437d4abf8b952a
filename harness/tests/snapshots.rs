//! Damaged snapshot files: the harness reports everything with its place, and uses the undamaged
//! sections.

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

const ACCEPTED: &str = "---
source: harness/tests/suite/review.rs
input_file: cases/conversations/words.json
---
=== one, echo: rendered
a␃
reference 4249f7037ab2 ca978112ca1b

=== two, echo: rendered
=== one, echo: rendered␊
b␃
reference c8dd69851129 5217474a678d

=== three, echo: rendered
c⟦U+00A0⟧␃
reference b4338e01f7be 55e65c96ad80
";

#[test]
fn a_family_is_one_file_with_a_section_for_each_pair() {
    let folder = folder();
    assert_eq!(read(&folder), ACCEPTED);
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

fn read(folder: &Folder) -> String {
    std::fs::read_to_string(folder.path(FILE)).unwrap()
}

struct Change {
    what: &'static str,
    text: String,
    /// Each case's comparison with it.
    states: [&'static str; 3],
    problem: &'static str,
    /// How many problems `lint` has with the file.
    findings: usize,
    /// Whether it would lose something if it were written anew, so that nobody does.
    is_kept: bool,
}

const SAME: [&str; 3] = ["same"; 3];

#[allow(clippy::too_many_lines)] // it is a table
fn changes() -> Vec<Change> {
    let section = |name: &str| {
        let heading = format!("=== {name}, echo: ");
        let mut sections = ACCEPTED.split("\n\n");
        let section = |section: &str| section.find(&heading).map(|at| section[at..].to_owned());
        sections.find_map(section).unwrap()
    };
    let one = &(section("one") + "\n\n");
    let three = &("\n\n".to_owned() + section("three").trim_end());
    let record = one.trim_end().rsplit('\n').next().unwrap();
    let change = |what, text: String, problem| {
        assert_ne!(text, ACCEPTED, "{what}");
        Change {
            what,
            text,
            states: SAME,
            problem,
            findings: 1,
            is_kept: false,
        }
    };
    let kept = |what, text, states, problem| Change {
        states,
        is_kept: true,
        ..change(what, text, problem)
    };
    let with_one = |text: &str| ACCEPTED.replace(one, text);
    let edited = ":16:1: not as insta writes it: someone has edited it";
    vec![
        kept(
            "a section without its end",
            ACCEPTED.replace("a␃", "a"),
            ["unreadable", "same", "same"],
            ":5:1: the section of `one, echo` does not end with ␃",
        ),
        kept(
            "the last section without its end",
            ACCEPTED.replace("⟧␃", "⟧"),
            ["same", "same", "unreadable"],
            ":14:1: the section of `three, echo` does not end with ␃",
        ),
        kept(
            "a file that ends in the middle of a section",
            ACCEPTED[..ACCEPTED.find("⟦").unwrap()].to_owned(),
            ["same", "same", "unreadable"],
            ":14:1: the section of `three, echo` does not end with ␃",
        ),
        change(
            "a section twice",
            with_one(&one.repeat(2)),
            ":9:1: the section of `one, echo` occurs twice",
        ),
        kept(
            "another section of the same pair",
            with_one(&format!("{one}{}", one.replace("a␃", "b␃"))),
            ["unreadable", "same", "same"],
            ":9:1: a second section of `one, echo`, which says something else",
        ),
        kept(
            "a section with another record",
            with_one(&format!(
                "{one}{}",
                one.replace("a␃\nreference 4", "a␃\nreference 5")
            )),
            ["unreadable", "same", "same"],
            ":9:1: a second section of `one, echo`, which says something else",
        ),
        change(
            "a section of no case",
            with_one(&format!("{one}{}", one.replace("one", "four"))),
            ":9:1: an orphan: the suite has no pair of `four` and `echo`",
        ),
        change(
            "a section of an unknown template",
            with_one(&format!("{one}{}", one.replace("echo", "gone"))),
            ":9:1: an orphan: the suite has no pair of `one` and `gone`",
        ),
        Change {
            states: ["same", "same", "new"],
            findings: 3,
            ..change(
                "a section of another case",
                ACCEPTED.replace("=== three", "=== four"),
                ":14:1: an orphan: the suite has no pair of `four` and `echo`",
            )
        },
        change(
            "a section out of place",
            with_one("").replace(three, &format!("{three}\n\n{}", one.trim_end())),
            ":14:1: the section of `one, echo` is out of place",
        ),
        Change {
            states: ["unreadable", "same", "same"],
            ..change(
                "bytes that no transcript has",
                ACCEPTED.replace("a␃", "\u{a0}␃"),
                ":6:1: `one, echo` is not a transcript: U+00A0 must be written as its mark",
            )
        },
        Change {
            states: ["unreadable", "same", "same"],
            ..change(
                "no outcome",
                ACCEPTED.replace("one, echo: rendered\na", "one, echo: sung\na"),
                ":5:1: `one, echo` is not a transcript: the first line, `sung`, names no outcome",
            )
        },
        kept(
            "no heading",
            ACCEPTED.replacen("=== one, echo: ", "=== one, echo ", 1),
            ["new", "same", "same"],
            ":5:1: not a heading such as `=== case, template: rendered`",
        ),
        kept(
            "no empty line",
            ACCEPTED
                .replace(one, one.trim_end())
                .replacen("=== two", "\n=== two", 1),
            SAME,
            ":7:1: expected an empty line after the section",
        ),
        kept(
            "a line break more",
            ACCEPTED.to_owned() + "\n",
            SAME,
            ":16:1: expected an empty line after the section",
        ),
        kept(
            "somebody's words between two sections",
            with_one(&format!("{one}Mine.\n\n")),
            SAME,
            ":9:1: not a heading such as `=== case, template: rendered`",
        ),
        kept(
            "a conflict of two records",
            with_one(&one.replace(
                record,
                &format!("<<<<<<< HEAD\n{record}\n=======\n{record}0\n>>>>>>> other"),
            )),
            SAME,
            ":7:1: git has left a conflict here: choose one of its sides",
        ),
        kept(
            "a conflict of two transcripts",
            ACCEPTED.replacen("a␃", "<<<<<<< HEAD\na␃\n=======\nb␃\n>>>>>>> other", 1),
            ["unreadable", "same", "same"],
            ":6:1: git has left a conflict here: choose one of its sides",
        ),
        Change {
            findings: 2,
            ..kept(
                "a conflict of two sections",
                with_one(&format!(
                    "<<<<<<< HEAD\n{one}=======\n{}>>>>>>> other\n",
                    one.replace("a␃", "b␃")
                )),
                ["unreadable", "same", "same"],
                ":5:1: git has left a conflict here: choose one of its sides",
            )
        },
        change(
            "no line break at the end",
            ACCEPTED.trim_end().to_owned(),
            edited,
        ),
        change(
            "another header",
            ACCEPTED.replace("words.json", "others.json"),
            ":3:1: not as insta writes it: someone has edited it",
        ),
        Change {
            states: ["unreadable"; 3],
            findings: 1,
            is_kept: true,
            ..change(
                "other line endings",
                ACCEPTED.replace('\n', "\r\n"),
                ": the file has no insta header",
            )
        },
    ]
}

/// `run` and `lint` both say where a file is damaged, and the run goes on. Nobody writes over what
/// cannot be read.
#[test]
fn what_is_damaged_has_a_place_and_leaves_the_other_sections() {
    let folder = folder();
    for change in sample(changes(), 6) {
        let what = change.what;
        folder.write(FILE, &change.text);
        let ran = folder.rolecall(&["run", "--format", "jsonl"]);
        assert_ne!(ran.code(), 0, "{what}");
        let lines = ran.json_lines();
        let found: Vec<_> = lines.iter().map(|line| line["snapshot"].clone()).collect();
        assert_eq!(found, change.states, "{what}");
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
