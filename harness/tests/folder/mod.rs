//! A small suite in a folder of its own, and the command line run in it.

// Not every test uses everything.
#![allow(dead_code, unreachable_pub)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use rolecall_core::transcript;
use rolecall_front::engines::Engines;
use rolecall_suite::accepting::Changes;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::layout::Layout;
use rolecall_suite::recording::Updates;
use rolecall_suite::run::{Rendered, Runner};
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::{Pair, Suite};
use serde_json::Value;

use crate::scratch;

/// The command line's cache, apart from the user's own.
pub const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

/// A reference for Jinja, as a program. It gives back the content of the first message, fails on
/// `fail`, and crashes on `boom`.
pub const REFERENCE: &str = include_str!("../sessions/shared/reference.sh");

/// A small suite in a folder of its own.
pub struct Folder {
    root: tempfile::TempDir,
}

impl Folder {
    pub fn empty() -> Folder {
        Folder {
            root: scratch::folder(),
        }
    }

    /// Two templates, one family of two cases.
    pub fn new() -> Folder {
        let folder = Folder::empty();
        folder.write(
            "cases/templates/chat.jinja",
            "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>\n",
        );
        folder.write(
            "cases/templates/strict.jinja",
            "{% if messages[0].role == 'system' %}{{ raise_exception('No system role') }}{% endif %}{{ messages[0].content + eos_token }}",
        );
        folder.write(
            "cases/templates/strict.json",
            r#"{"about": "Refuses a system role.", "origin": "a test", "special_tokens": {"eos_token": "</s>"}}"#,
        );
        folder.write(
            "cases/conversations/plain.json",
            r#"{"about": "Plain turns.", "cases": {
                "user": {"about": "One user turn.", "messages": [{"role": "user", "content": "Hi\u007f"}]},
                "system": {"about": "A system turn.", "messages": [{"role": "system", "content": "S"}]}}}"#,
        );
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn layout(&self) -> Layout {
        Layout::new(self.root.path())
    }

    /// Accepts every pair's current result, in insta's form.
    pub fn accept_snapshots(&self) {
        let suite = Suite::load_layout(&self.layout());
        let results = results(&suite);
        let transcript = |one: &Rendered<'_>| transcript::encode(&one.outcome);
        let changes = Changes {
            transcripts: results
                .iter()
                .map(|one| (one.pair.key(), transcript(one)))
                .collect(),
            ..Changes::default()
        };
        let snapshots = Snapshots::of(&self.layout());
        let (files, problems) = changes.accepted(&suite, &snapshots);
        assert_eq!(problems, []);
        for file in files {
            file.write(&snapshots).unwrap();
        }
    }

    /// Accepts every pair's current result, and records it as the reference's.
    pub fn accept_all(&self) {
        self.accept_snapshots();
        let (layout, suite) = (self.layout(), Suite::load_layout(&self.layout()));
        let mut updates = Updates::new(&layout, &suite);
        for one in results(&suite) {
            updates.add(&one);
        }
        let written = updates.write(&Snapshots::of(&layout), &Divergences::default(), &[]);
        assert_eq!(written.problems, []);
    }

    pub fn rolecall(&self, arguments: &[&str]) -> Ran {
        run_in(self.root.path(), arguments, Path::new(CACHE))
    }

    /// The command, which has not started yet.
    pub fn command(&self, arguments: &[&str]) -> Command {
        command_in(self.root.path(), arguments, Path::new(CACHE))
    }

    /// The same with a cache folder.
    pub fn rolecall_with_cache(&self, cache: &Path, arguments: &[&str]) -> Ran {
        run_in(self.root.path(), arguments, cache)
    }
}

static ENGINES: LazyLock<Engines> = LazyLock::new(Engines::default);

fn results(suite: &Suite) -> Vec<Rendered<'_>> {
    let pairs: Vec<Pair<'_>> = suite.pairs().collect();
    let runner = Runner::new(&ENGINES, &[], Some(1)).unwrap();
    runner.render(&pairs)
}

pub struct Ran(pub Output);

fn run_in(folder: &Path, arguments: &[&str], cache: &Path) -> Ran {
    Ran(command_in(folder, arguments, cache).output().unwrap())
}

fn command_in(folder: &Path, arguments: &[&str], cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"));
    command
        .env("ROLECALL_CACHE", cache)
        // What these folders start is what the tests wrote into them.
        .env("ROLECALL_ALLOW_ENGINES", "1")
        .args(arguments)
        .current_dir(folder);
    command
}

impl Ran {
    pub fn code(&self) -> i32 {
        self.0.status.code().unwrap()
    }

    pub fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Fails if one of these words is missing.
#[track_caller]
pub fn has(text: &str, expected: &[&str]) {
    for expected in expected {
        assert!(text.contains(expected), "missing {expected:?} in\n{text}");
    }
}
