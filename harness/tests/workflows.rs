//! The workflows for GitHub: what they run is pinned, and may do as little as possible.

use std::path::PathBuf;

use regex::Regex;
use rolecall_suite::initial::initial;

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
    assert_eq!(all.len(), 7);
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

/// Only the jobs of a release may do more than read, and only what they need: one drafts it and signs
/// a statement about its files, and the registries ask each job that uploads who it is. The nightly
/// checks open an issue if one fails, and a job of its own publishes the page.
#[test]
fn workflows_may_only_read() {
    let writing = Regex::new(r"([\w-]+): write").unwrap();
    for (path, text) in workflows() {
        if path.ends_with("action.yml") {
            continue;
        }
        let shown = path.display();
        assert!(
            text.contains("\npermissions:\n  contents: read\n"),
            "{shown}"
        );
        let found: Vec<&str> = writing
            .captures_iter(&text)
            .map(|found| found.get(1).unwrap().as_str())
            .collect();
        let expected: &[&str] = match path.file_name().and_then(|name| name.to_str()) {
            Some("release.yml") => &["attestations", "contents", "id-token"],
            Some("publish.yml") => &["id-token"; 2],
            Some("nightly.yml") => &["issues"],
            Some("pages.yml") => &["id-token", "pages"],
            _ => &[],
        };
        assert_eq!(found, expected, "{shown}");
        assert!(!text.contains("pull_request_target"), "{shown}");
        assert!(!text.contains("{{ secrets."), "{shown}");
    }
}

/// Everything that a person may install is in a release: for each platform a program and a wheel.
#[test]
fn a_release_has_every_platform() {
    let path = LAYOUT.root().join(".github/workflows/release.yml");
    let text = std::fs::read_to_string(path).unwrap();
    let job = |name: &str| {
        let (_, rest) = text.split_once(&format!("\n  {name}:\n")).unwrap();
        let end = Regex::new(r"\n  \w+:\n").unwrap().find(rest);
        rest[..end.map_or(rest.len(), |end| end.start())].to_owned()
    };
    let machines = [
        "x86_64-unknown-linux-musl",
        "aarch64-unknown-linux-musl",
        "x86_64-apple-darwin",
        "aarch64-apple-darwin",
        "x86_64-pc-windows-msvc",
    ];
    let (programs, wheels) = (job("programs"), job("wheels"));
    for machine in machines {
        let target = format!("{{ target: {machine}, ");
        assert!(programs.contains(&target), "{machine}");
    }
    for machine in ["x86_64", "aarch64"] {
        for libc in ["\"2_28\"", "musllinux_1_2"] {
            let wheel = Regex::new(&format!("target: {machine}, .*manylinux: {libc}")).unwrap();
            assert!(wheel.is_match(&wheels), "{machine} {libc}");
        }
    }
    // Both Macs in one wheel.
    for target in ["universal2-apple-darwin", "x64"] {
        assert!(
            wheels.contains(&format!("{{ target: {target}, ")),
            "{target}"
        );
    }
    // The draft waits for all of them.
    let needs = "needs: [crates, programs, wheels, materials]";
    assert!(job("release").contains(needs));
}
