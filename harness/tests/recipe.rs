//! The recipe of CONTRIBUTING.md for cases and templates, typed after each kind of change. A script
//! replaces transformers, which gives back the first message's content.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use walkdir::WalkDir;

use crate::folder::{Folder, REFERENCE};

/// The commands of the recipe, without their comments.
fn recipe() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("CONTRIBUTING.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, block) = page.split_once("```sh\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let command = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    block.lines().map(command).collect()
}

/// Every file of the folder but the stand-in, with its content.
fn files(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let root = folder.path("");
    let entries = WalkDir::new(&root).into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    let named = files.map(|entry| {
        let name = entry.path().strip_prefix(&root).unwrap();
        let content = std::fs::read(entry.path()).unwrap();
        (name.to_string_lossy().into_owned(), content)
    });
    named.filter(|(name, _)| !name.starts_with('.')).collect()
}

/// Types the recipe after a change, and returns the names of the files that differ from before.
fn after(folder: &Folder, change: impl Fn(&Folder)) -> Vec<String> {
    let before = files(folder);
    change(folder);
    assert_eq!(
        folder.rolecall(&["run"]).code(),
        1,
        "the change is not noticed"
    );
    for command in recipe() {
        match command.as_str() {
            "scripts/setup-references" => {
                let path = folder.write(".references/transformers", REFERENCE);
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
            }
            // The tests of the suite judge what `run` and `lint` do.
            "cargo test --test cases" => {
                for command in ["run", "lint"] {
                    let ran = folder.rolecall(&[command]);
                    assert_eq!(ran.code(), 0, "{command}: {}{}", ran.stdout(), ran.stderr());
                }
            }
            _ => {
                let arguments = command.strip_prefix("cargo run -- ").unwrap();
                let arguments: Vec<&str> = arguments.split(' ').collect();
                let ran = folder.rolecall(&arguments);
                assert_eq!(ran.code(), 0, "{command}: {}{}", ran.stdout(), ran.stderr());
            }
        }
    }
    let now = files(folder);
    let names = before.keys().chain(now.keys());
    let mut changed: Vec<String> = names
        .filter(|name| before.get(*name) != now.get(*name))
        .cloned()
        .collect();
    changed.sort();
    changed.dedup();
    changed
}

fn write_cases(folder: &Folder, name: &str, cases: &[(&str, &str)]) {
    let case = |(name, content): &(&str, &str)| {
        format!(
            r#"    "{name}": {{
      "about": "Says {content}.",
      "messages": [{{"role": "user", "content": "{content}"}}]
    }}"#
        )
    };
    let cases: Vec<String> = cases.iter().map(case).collect();
    let text = format!(
        "{{\n  \"$schema\": \"../schema/cases.schema.json\",\n  \"about\": \"Words.\",\n  \"cases\": {{\n{}\n  }}\n}}\n",
        cases.join(",\n")
    );
    folder.write(&format!("cases/conversations/{name}.json"), &text);
}

fn write_template(folder: &Folder, name: &str, source: &str) {
    folder.write(&format!("cases/templates/{name}.jinja"), source);
    let sidecar = "{\n  \"$schema\": \"../schema/template.schema.json\",\n  \"about\": \"Says it again.\",\n  \
                   \"origin\": \"a test\",\n  \"broken\": {}\n}\n";
    folder.write(&format!("cases/templates/{name}.json"), sidecar);
}

fn remove(folder: &Folder, name: &str) {
    std::fs::remove_file(folder.path(name)).unwrap();
}

#[test]
fn three_commands_do_all_that_a_change_needs() {
    assert_eq!(recipe().len(), 3);
    let folder = Folder::empty();
    let same = "{{ messages[0].content }}";
    let changed = after(&folder, |folder| {
        write_template(folder, "echo", same);
        write_template(folder, "mirror", same);
        write_cases(folder, "words", &[("one", "a"), ("two", "b")]);
        // A checkout has the schemas.
        folder.rolecall(&["lint", "--fix"]);
        write_cases(folder, "others", &[("three", "c")]);
    });
    assert!(
        changed.contains(&"snapshots/reference.json".to_owned()),
        "{changed:?}"
    );

    // A new case, a changed one, a renamed one and one that is gone: two files each.
    let of_words = ["cases/conversations/words.json", "snapshots/words.snap"];
    for cases in [
        [("one", "a"), ("two", "b"), ("new", "d")].as_slice(),
        &[("one", "a"), ("two", "other"), ("new", "d")],
        &[("one", "a"), ("second", "other"), ("new", "d")],
        &[("second", "other"), ("new", "d")],
    ] {
        let changed = after(&folder, |folder| write_cases(folder, "words", cases));
        assert_eq!(changed, of_words, "{cases:?}");
    }

    // A template that is new, changed, renamed or gone: its card, and the files of all families.
    let families = ["snapshots/others.snap", "snapshots/words.snap"];
    let changed = after(&folder, |folder| write_template(folder, "late", same));
    let mut expected = vec![
        "cases/templates/late.jinja",
        "cases/templates/late.json",
        "snapshots/cards/late.snap",
        "snapshots/others.snap",
        "snapshots/reference.json",
        "snapshots/words.snap",
    ];
    assert_eq!(changed, expected);
    let changed = after(&folder, |folder| {
        write_template(folder, "late", "{{  messages[0].content }}");
    });
    // No prompt has changed, so no line next to a prompt has.
    assert_eq!(
        changed,
        ["cases/templates/late.jinja", "snapshots/reference.json"]
    );
    let changed = after(&folder, |folder| {
        remove(folder, "cases/templates/late.jinja");
        remove(folder, "cases/templates/late.json");
        write_template(folder, "later", same);
    });
    let renamed = ["cases/templates/later.jinja", "cases/templates/later.json"];
    expected.extend(renamed);
    expected.push("snapshots/cards/later.snap");
    expected.sort_unstable();
    assert_eq!(changed, expected);
    let changed = after(&folder, |folder| {
        remove(folder, "cases/templates/later.jinja");
        remove(folder, "cases/templates/later.json");
    });
    assert!(
        families
            .iter()
            .all(|family| changed.contains(&(*family).to_owned()))
    );
    assert!(!folder.path("snapshots/cards/later.snap").exists());

    // A whole family that is gone.
    let changed = after(&folder, |folder| {
        remove(folder, "cases/conversations/others.json");
    });
    assert_eq!(
        changed,
        ["cases/conversations/others.json", "snapshots/others.snap"]
    );
}
