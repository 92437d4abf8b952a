//! Edits of whole sections and lines, as people, merges and scripts make them: whoever runs the suite
//! notices each of them, and says where it is.

use std::path::Path;

use rolecall_front::engines::Engines;
use rolecall_suite::lint::unnoticed;
use rolecall_suite::snapshot::Snapshots;

use super::Victim;
use super::checks::Check;
use super::files::Kind;

/// A family of the sample with several sections, answers, and the reference's answers about them.
const FAMILY: &str = "snapshots/generation-prompt.snap";

const DIVERGING: &str = "snapshots/plain.snap";

/// The sections of a file, without the header before the first.
type Sections = Vec<String>;

/// An edit: its name, its file, and what it does.
type Edit = (&'static str, &'static str, fn(&mut Sections));

fn add(sections: &mut Sections, at: usize, section: String) {
    sections.insert(at + 1, section);
}

/// Replaces the first line that begins so in a section. `None` removes it.
fn line(sections: &mut Sections, at: usize, begin: &str, with: impl Fn(&str) -> Option<String>) {
    let lines: Vec<&str> = sections[at].split('\n').collect();
    let found = lines.iter().position(|line| line.starts_with(begin));
    let found = found.unwrap_or_else(|| panic!("no `{begin}` in {}", sections[at]));
    let new = lines.iter().enumerate().filter_map(|(index, line)| {
        if index == found {
            with(line)
        } else {
            Some((*line).to_owned())
        }
    });
    sections[at] = new.collect::<Vec<_>>().join("\n");
}

/// Takes the first line that begins so out of a section.
fn take(sections: &mut Sections, at: usize, begin: &str) -> String {
    let taken = sections[at].lines().find(|line| line.starts_with(begin));
    let taken = taken.unwrap_or_else(|| panic!("no `{begin}` in {}", sections[at]));
    let taken = taken.to_owned();
    line(sections, at, begin, |_| None);
    taken
}

/// The index of a section of one template in which somebody has answered.
fn answered(sections: &Sections) -> usize {
    let is_answered = |section: &String| section.contains("\n#");
    sections.iter().position(is_answered).unwrap()
}

/// The line with another last digit.
fn other(line: &str) -> String {
    let (rest, last) = line.split_at(line.len() - 1);
    format!("{rest}{}", if last == "0" { "1" } else { "0" })
}

/// Changes the last digit of the first line that begins so.
fn change(sections: &mut Sections, at: usize, begin: &str) {
    line(sections, at, begin, |line| Some(other(line)));
}

/// Adds a line to a section.
fn append(sections: &mut Sections, at: usize, line: &str) {
    sections[at] = format!("{}\n{line}", sections[at]);
}

/// A conflict of two texts, as git leaves it.
fn conflict(ours: &str, theirs: &str) -> String {
    format!("<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other")
}

const EDITS: &[Edit] = &[
    ("a section of an unknown template", FAMILY, |sections| {
        let copy = sections[0].replacen(", phi3: ", ", gone: ", 1);
        assert_ne!(copy, sections[0]);
        add(sections, 0, copy);
    }),
    ("a section of an unknown case", FAMILY, |sections| {
        let copy = sections[0].replacen("=== off, ", "=== gone, ", 1);
        assert_ne!(copy, sections[0]);
        add(sections, 0, copy);
    }),
    ("a section twice", FAMILY, |sections| {
        add(sections, 1, sections[1].clone());
    }),
    ("another section of the same pair", FAMILY, |sections| {
        let mut copies = vec![sections[1].clone()];
        change(&mut copies, 0, "reference ");
        add(sections, 1, copies.remove(0));
    }),
    ("a section that is gone", FAMILY, |sections| {
        sections.remove(1);
    }),
    ("sections in another order", FAMILY, |sections| {
        sections.swap(0, 1);
    }),
    (
        "the sections of two templates in another order",
        FAMILY,
        |sections| {
            sections.rotate_left(2);
        },
    ),
    ("a section without its end", FAMILY, |sections| {
        let end = sections[1].find('␃').unwrap();
        sections[1].truncate(end);
    }),
    (
        "a section that is cut, with the next one's heading",
        FAMILY,
        |sections| {
            let next = sections.remove(2);
            let end = sections[1].find('␊').unwrap();
            sections[1].truncate(end);
            let (_, rest) = next.split_once('\n').unwrap();
            sections[1].push_str(rest);
        },
    ),
    ("a file that ends too early", FAMILY, |sections| {
        let last = sections.last_mut().unwrap();
        last.truncate(last.len() / 2 / 4 * 4);
    }),
    ("a conflict of two sections", FAMILY, |sections| {
        let mut copies = vec![sections[1].clone()];
        change(&mut copies, 0, "reference ");
        sections[1] = conflict(&sections[1], &copies[0]);
    }),
    ("a conflict of two records", FAMILY, |sections| {
        line(sections, 1, "reference ", |line| {
            Some(conflict(line, &other(line)))
        });
    }),
    ("a conflict in a transcript", FAMILY, |sections| {
        line(sections, 1, "<|", |line| Some(conflict(line, "<|other|>␊")));
    }),
    ("an edited transcript", FAMILY, |sections| {
        line(sections, 1, "<|", |line| Some(format!("x{line}")));
    }),
    ("no transcript", FAMILY, |sections| {
        let (heading, rest) = sections[1].split_once(": ").unwrap();
        let (_, notes) = rest.split_once('␃').unwrap();
        sections[1] = format!("{heading}: nothing accepted\n␃{notes}");
    }),
    ("an edited record", FAMILY, |sections| {
        change(sections, 1, "reference ");
    }),
    ("a deleted record", FAMILY, |sections| {
        take(sections, 1, "reference ");
    }),
    ("a record twice", FAMILY, |sections| {
        line(sections, 1, "reference ", |line| {
            Some(format!("{line}\n{line}"))
        });
    }),
    ("a record in another section", FAMILY, |sections| {
        let taken = take(sections, 1, "reference ");
        append(sections, 2, &taken);
    }),
    (
        "the records of two sections exchanged",
        FAMILY,
        |sections| {
            let [first, second] = [1, 2].map(|at| take(sections, at, "reference "));
            assert_ne!(first, second);
            append(sections, 1, &second);
            append(sections, 2, &first);
        },
    ),
    ("an edited answer", FAMILY, |sections| {
        let at = answered(sections);
        line(sections, at, "#", |line| Some(format!("{line}, changed")));
    }),
    ("a deleted answer", FAMILY, |sections| {
        let at = answered(sections);
        take(sections, at, "#");
    }),
    ("an answer twice", FAMILY, |sections| {
        let at = answered(sections);
        line(sections, at, "#", |line| Some(format!("{line}\n{line}")));
    }),
    ("an answer after the record", FAMILY, |sections| {
        let at = answered(sections);
        let taken = take(sections, at, "#");
        append(sections, at, &taken);
    }),
    ("an edited record of an answer", FAMILY, |sections| {
        let at = answered(sections);
        change(sections, at, "reference #");
    }),
    ("a deleted record of an answer", FAMILY, |sections| {
        let at = answered(sections);
        take(sections, at, "reference #");
    }),
    (
        "a record of an answer before that of the prompt",
        FAMILY,
        |sections| {
            let at = answered(sections);
            let taken = take(sections, at, "reference #");
            line(sections, at, "reference ", |line| {
                Some(format!("{taken}\n{line}"))
            });
        },
    ),
    (
        "a reference's transcript that is gone",
        DIVERGING,
        |sections| {
            assert!(sections[1].contains(", reference: "));
            sections.remove(1);
        },
    ),
    ("an edited reference's transcript", DIVERGING, |sections| {
        line(sections, 1, "Something", |line| Some(format!("x{line}")));
    }),
    (
        "a record after a reference's transcript",
        DIVERGING,
        |sections| {
            let taken = take(sections, 0, "reference ");
            append(sections, 1, &taken);
        },
    ),
    (
        "a reference's transcript of a pair that agrees",
        FAMILY,
        |sections| {
            let copy = sections[1].split_once('␃').unwrap().0.to_owned() + "␃";
            add(sections, 1, copy.replacen(": ", ", reference: ", 1));
        },
    ),
    ("somebody's words", FAMILY, |sections| {
        add(sections, 1, "To be done.".to_owned());
    }),
];

/// Whether `rolecall run` notices, too. What the reference gave for a listed divergence is there
/// for people, and only `lint` looks at it.
fn is_noticed_by_run(victim: &Victim<'_>, check: Check, what: &str) -> bool {
    check != Check::Lint
        || !unnoticed(
            &victim.layout,
            &victim.suite,
            &Snapshots::of(&victim.layout),
        )
        .is_empty()
        || what.contains("reference's transcript")
}

#[test]
fn every_edit_of_a_section_is_noticed() {
    let engines = Engines::default();
    let victim = Victim::new(&engines);
    for (what, file, edit) in EDITS {
        let path = victim.folder.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let (header, body) = text.split_once("\n=== ").unwrap();
        let sections = body.trim_end_matches('\n').split("\n\n=== ");
        let mut sections: Sections = sections.map(|one| format!("=== {one}")).collect();
        edit(&mut sections);
        let changed = format!("{header}\n{}\n", sections.join("\n\n"));
        assert_ne!(changed, text, "{what}");
        std::fs::write(&path, &changed).unwrap();
        let noticed = victim.noticed(Path::new(file), Kind::Snapshot);
        let noticed = noticed.unwrap_or_else(|| panic!("{what}\n{changed}"));
        assert!(
            is_noticed_by_run(&victim, noticed, what),
            "{what}: {noticed:?}"
        );
        std::fs::write(&path, &text).unwrap();
    }
}
