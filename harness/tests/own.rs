//! The user's own suite: `rolecall.toml`, `init`, `accept`, and the suite in the binary.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rolecall_suite::builtin::fingerprint;

use crate::folder::{CACHE, Folder, REFERENCE, Ran, has};
use crate::scratch;

/// A suite with cases of its own, and with its own cache folder.
struct Own {
    folder: Folder,
    home: tempfile::TempDir,
}

impl Own {
    fn new() -> Own {
        let own = Own {
            folder: Folder::empty(),
            home: scratch::folder(),
        };
        // Each test has its own references. All tests share the unpacked built-in suite, because it
        // has a thousand files.
        let suite = rolecall_suite::builtin::unpacked(Path::new(CACHE)).unwrap();
        symlink(
            suite,
            own.home.path().join(format!("suite-{}", fingerprint())),
        )
        .unwrap();
        own.write(
            "rolecall.toml",
            "[templates]\necho = \"model/echo.jinja\"\n\n[cases]\nbuiltin = []\n",
        );
        own.write("model/echo.jinja", "{{ messages[0].content }}");
        own.write(
            "cases/words.json",
            r#"{"about": "Words.", "cases": {
                "one": {"about": "One.", "messages": [{"role": "user", "content": "one"}]},
                "two": {"about": "Two.", "messages": [{"role": "user", "content": "two"}]}}}"#,
        );
        own
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        self.folder.write(name, text)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path(name)).unwrap()
    }

    fn install_reference(&self) {
        let path = self.home.path().join("references/transformers");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, REFERENCE).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn rolecall(&self, arguments: &[&str]) -> Ran {
        self.folder.rolecall_with_cache(self.home.path(), arguments)
    }
}

#[test]
fn a_suite_of_ones_own_is_accepted_checked_and_changed() {
    let own = Own::new();
    // Nothing was accepted, because nothing confirms the results.
    let ran = own.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &["2 new", "the reference's results are not recorded yet"],
    );
    let ran = own.rolecall(&["accept", "--verified"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "nothing to accept",
            "2 pairs left: the reference's result is not known",
        ],
    );
    has(
        &ran.stderr(),
        &["the reference transformers is not installed"],
    );
    assert!(!own.folder.path("snapshots").exists());

    own.install_reference();
    let ran = own.rolecall(&["accept", "--verified", "--dry-run"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    has(
        &ran.stdout(),
        &["would accept 2 snapshots in 1 file", "2 of 2 confirmed"],
    );
    assert!(!own.folder.path("snapshots").exists());
    let ran = own.rolecall(&["accept", "--verified"]);
    assert_eq!(ran.code(), 0);
    has(
        &ran.stdout(),
        &["asked the reference about 2 pairs, and recorded nothing"],
    );
    assert_eq!(
        own.read("snapshots/words.snap"),
        "---\nsource: rolecall accept\n---\n=== one, echo: rendered\none␃\n\n=== two, echo: rendered\ntwo␃\n"
    );
    assert_eq!(own.rolecall(&["run"]).code(), 0);
    let ran = own.rolecall(&["reference", "update"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let ran = own.rolecall(&["run"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    has(
        &ran.stdout(),
        &["2 of 2 agree (100 %) with transformers 5.24.0, as recorded"],
    );
    let ran = own.rolecall(&["lint"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());

    // One newline more changes every prompt, and the reference gives another result.
    own.write("model/echo.jinja", "{{ messages[0].content }}\n\n");
    let ran = own.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    has(&ran.stdout(), &["2 changed", "- one␃\n", "+ one␊\n"]);
    let ran = own.rolecall(&["accept", "--verified"]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "nothing to accept",
            "2 pairs left: the reference gives another result",
        ],
    );
    // A named pair is accepted nevertheless; the others stay as they are.
    let ran = own.rolecall(&["accept", "echo:words/two"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    has(
        &ran.stdout(),
        &[
            "accepted 1 snapshot in 1 file: 1 changed, 0 new",
            "0 of 1 confirmed",
        ],
    );
    let file = own.read("snapshots/words.snap");
    has(
        &file,
        &[
            "=== one, echo: rendered\none␃\n",
            "=== two, echo: rendered\ntwo␊\n␃\n",
        ],
    );
}

#[test]
fn what_cannot_be_read_is_not_written_over() {
    let own = Own::new();
    own.install_reference();
    own.rolecall(&["accept", "--verified"]);
    let whole = own.read("snapshots/words.snap");
    let damaged = whole.replace("one␃", "one");
    own.write("snapshots/words.snap", &damaged);
    let ran = own.rolecall(&["accept", "echo:words/two"]);
    assert_eq!(ran.code(), 2, "{}", ran.stdout());
    assert_eq!(own.read("snapshots/words.snap"), damaged);
    own.write("model/echo.jinja", "{{ messages[0].content }}!");
    for arguments in [&["accept", "echo:words/two"][..], &["accept", "echo"]] {
        let ran = own.rolecall(arguments);
        assert_eq!(ran.code(), 2, "{}", ran.stdout());
        has(
            &ran.stderr(),
            &[
                "words.snap:4:1: the section of `one, echo` does not end with ␃",
                "repair the file, such as with `git checkout`; or delete it, and accept all its",
            ],
        );
        assert!(!ran.stdout().contains("accepted "), "{}", ran.stdout());
        assert_eq!(own.read("snapshots/words.snap"), damaged);
    }
    // What the message proposes.
    std::fs::remove_file(own.folder.path("snapshots/words.snap")).unwrap();
    assert_eq!(own.rolecall(&["accept", "echo"]).code(), 0);
    has(&own.read("snapshots/words.snap"), &["one!␃", "two!␃"]);
}

#[test]
fn sections_without_a_case_go_and_are_reported() {
    let own = Own::new();
    own.install_reference();
    own.rolecall(&["accept", "--verified"]);
    let with_orphan = own.read("snapshots/words.snap") + "\n=== three, echo: rendered\nthree␃\n";
    own.write("snapshots/words.snap", &with_orphan);
    own.write("model/echo.jinja", "{{ messages[0].content }}!");
    let ran = own.rolecall(&["accept", "*"]);
    has(
        &ran.stdout(),
        &["words.snap: 1 section without a pair left out: three"],
    );
    assert!(!own.read("snapshots/words.snap").contains("three"));
}

#[test]
fn templates_have_what_the_file_gives_them() {
    let own = Own::new();
    own.write(
        "rolecall.toml",
        r#"
            [templates.told]
            source = "model/told.jinja"
            special_tokens = { bos_token = "<s>" }
            variables = { mood = "calm", depth = 3, tools_text = { "$json" = "tools" } }
            front = "raw"

            [cases]
            builtin = ["plain", "tool-use/one-call"]
            without = ["plain/multi-*"]
        "#,
    );
    own.write(
        "model/told.jinja",
        "{{ bos_token }}{{ mood }}{{ depth }}{{ messages[0].content }}",
    );
    own.write(
        "model/told.json",
        r#"{"special_tokens": {"bos_token": "<b>"}}"#,
    );
    let ran = own.rolecall(&["show", "told", "words/one", "--raw"]);
    assert_eq!(ran.stdout(), "<s>calm3one", "{}", ran.stderr());
    let ran = own.rolecall(&["render", "--format", "jsonl"]);
    let cases: Vec<String> = ran
        .json_lines()
        .iter()
        .map(|line| line["case"].as_str().unwrap().to_owned())
        .collect();
    has(
        &cases.join(" "),
        &["plain/single-turn", "words/one", "words/two"],
    );
    assert!(
        !cases.iter().any(|case| case.starts_with("plain/multi-")),
        "{cases:?}"
    );
    assert!(
        cases.iter().all(|case| case.starts_with("plain/")
            || case.starts_with("words/")
            || case == "tool-use/one-call"),
        "{cases:?}"
    );
    // Other templates meet the same cases.
    let ran = own.rolecall(&[
        "render",
        "--templates",
        "model/echo.jinja",
        "--format",
        "jsonl",
    ]);
    // The front's version of one of them is next to it.
    let others = ran.json_lines();
    let written = others
        .iter()
        .filter(|line| !line["case"].as_str().unwrap().contains('@'));
    assert_eq!(written.count(), cases.len());
}

#[test]
fn a_run_of_a_part_reads_only_what_its_filters_name() {
    let own = Own::new();
    own.install_reference();
    assert_eq!(own.rolecall(&["accept"]).code(), 0);
    let whole = own.rolecall(&["run"]);
    assert_eq!(whole.code(), 0, "{}{}", whole.stdout(), whole.stderr());
    own.write("cases/broken.json", "{");
    own.write("snapshots/gone.snap", "");
    for filter in ["echo:words/*", "*:words/one", "{echo,ec*}:w*"] {
        let part = own.rolecall(&["run", filter]);
        assert_eq!(part.code(), 0, "{}{}", part.stdout(), part.stderr());
        assert!(!part.stderr().contains("broken.json"), "{}", part.stderr());
        // A part says nothing of a whole template.
        assert!(!part.stdout().contains("gone"), "{}", part.stdout());
    }
    for all in [&["run"][..], &["run", "*"], &["run", "echo"], &["lint"]] {
        let ran = own.rolecall(all);
        assert_ne!(ran.code(), 0, "{all:?}");
        let said = ran.stdout() + &ran.stderr();
        assert!(said.contains("broken.json"), "{all:?}: {said}");
    }
    // Whoever misspells a name sees what there is.
    let ran = own.rolecall(&["run", "echo:word/*"]);
    assert_eq!(ran.code(), 2);
    has(&ran.stderr(), &["matches no case"]);
}

#[test]
fn outside_of_every_suite_the_built_in_one_is_there() {
    let empty = Folder::empty();
    let cache = scratch::folder();
    let rolecall = |arguments: &[&str]| empty.rolecall_with_cache(cache.path(), arguments);
    let ran = rolecall(&["run", "chatml"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    has(
        &ran.stdout(),
        &["agree (100 %) with transformers 5.24.0, as recorded"],
    );
    assert_eq!(rolecall(&["lint"]).code(), 0);
    for arguments in [
        ["accept", "chatml"],
        ["reference", "update"],
        ["lint", "--fix"],
    ] {
        let ran = rolecall(&arguments);
        assert_eq!(ran.code(), 2, "{arguments:?}");
        has(
            &ran.stderr(),
            &["the built-in one is not to be changed\n  `rolecall init`"],
        );
    }
}
