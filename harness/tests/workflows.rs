//! The workflows for GitHub: what they run is pinned, and may do as little as possible.

use std::path::PathBuf;

use regex::Regex;
use rolecall::initial::initial;

use crate::project::LAYOUT;
use crate::scratch;

/// The workflows and the action of this repository, and the workflow that `init` writes.
fn workflows() -> Vec<(PathBuf, String)> {
    let root = LAYOUT.root();
    let folder = std::fs::read_dir(root.join(".github/workflows")).unwrap();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.push(root.join("action.yml"));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    let mut all: Vec<_> = paths.into_iter().map(read).collect();
    let made = initial(scratch::folder().path(), None, "1.2.3").unwrap();
    let made = made
        .files
        .into_iter()
        .find(|file| file.path.ends_with("rolecall.yml"));
    let made = made.unwrap();
    all.push((made.path, made.text));
    assert_eq!(all.len(), 4);
    all
}

/// A commit that only deletes or renames files has no files for a hook, and the suite is run all the
/// same. A hook that gets files gets every kind of file with a template in it.
#[test]
fn hooks_see_every_change() {
    let text = std::fs::read_to_string(LAYOUT.root().join(".pre-commit-hooks.yaml")).unwrap();
    let hooks: Vec<&str> = text.split("- id: ").skip(1).collect();
    let [check, run] = hooks.as_slice() else {
        panic!("{} hooks", hooks.len());
    };
    assert!(run.starts_with("rolecall-run\n"));
    assert!(run.contains("always_run: true"), "{run}");
    assert!(!run.contains("files: "), "{run}");
    let files = check
        .lines()
        .find_map(|line| line.trim().strip_prefix("files: "));
    let files = Regex::new(files.unwrap()).unwrap();
    for name in [
        "a.jinja",
        "a/b.jinja2",
        "a.j2",
        "a.gotmpl",
        "Modelfile",
        "m/Modelfile.q4",
        "x.modelfile",
        "m/tokenizer_config.json",
        "m/chat_template.json",
        "m/processor_config.json",
    ] {
        assert!(files.is_match(name), "{name}");
    }
    for name in ["a.json", "a.py", "README.md", "tokenizer_config.json.bak"] {
        assert!(!files.is_match(name), "{name}");
    }
}

/// A tag can be moved to other code; a hash cannot.
#[test]
fn actions_are_pinned_by_hash() {
    let uses = Regex::new(r"uses: *(\S+)(.*)").unwrap();
    let pinned = Regex::new(r"^[\w.-]+/[\w.-]+@[0-9a-f]{40}$").unwrap();
    let mut count = 0;
    for (path, text) in workflows() {
        for found in uses.captures_iter(&text) {
            count += 1;
            let (action, version) = (&found[1], found[2].trim());
            assert!(pinned.is_match(action), "{}: {action}", path.display());
            assert!(
                version.starts_with("# v"),
                "{}: {action} without its version",
                path.display()
            );
        }
    }
    assert!(count > 8, "{count} actions");
}

/// Only the job that drafts a release may write.
#[test]
fn workflows_may_only_read() {
    for (path, text) in workflows() {
        if path.ends_with("action.yml") {
            continue;
        }
        let shown = path.display();
        assert!(
            text.contains("\npermissions:\n  contents: read\n"),
            "{shown}"
        );
        let writing = text.matches(": write").count();
        assert_eq!(
            writing,
            usize::from(path.ends_with("release.yml")),
            "{shown}"
        );
        assert!(!text.contains("pull_request_target"), "{shown}");
    }
}
