//! The trial: what users do for which a session in `harness/tests/sessions` has no words, such as damage to
//! a file, a reader that stops, or a disk that is full.

mod proposed;

use std::io::Write as _;
use std::process::Stdio;

use rolecall_cli::report::clean;

use crate::extent::sample;
use crate::folder::Folder;

/// A template that does most things well.
const GOOD: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n\
    {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// A full disk is an error, and what is not written is left. No message names a draft.
#[cfg(unix)]
#[test]
fn a_review_on_a_full_disk_leaves_everything() {
    use std::process::Command;

    let folder = Folder::empty();
    folder.write("a.jinja", GOOD);
    folder.write(
        "rolecall.toml",
        "contracts = \"off\"\n[templates]\na = \"a.jinja\"\n[cases]\nbuiltin = [\"plain\"]\n",
    );
    // The built-in suite is unpacked, and the lock is there.
    folder.rolecall(&["run"]);
    std::fs::create_dir_all(folder.path("snapshots")).unwrap();
    for (command, last) in [("review", "results are left"), ("accept", "pairs left")] {
        let program = folder.command(&[command]);
        let mut limited = Command::new("sh");
        limited
            .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
            .arg(program.get_program())
            .args(program.get_args())
            .envs(
                program
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .current_dir(folder.path("."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = limited.spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"a\na\na\n").unwrap();
        let output = child.wait_with_output().unwrap();
        let said = clean::plain(&output.stdout);
        let complained = clean::plain(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{command}: {said}{complained}"
        );
        assert!(
            said.contains(last) && !said.contains("nothing is left"),
            "{said}"
        );
        assert!(
            complained.contains("plain.snap: cannot be written"),
            "{complained}"
        );
        assert!(!complained.contains(".draft"), "{complained}");
    }
}

/// A template that loses every message but the last.
const BAD: &str = "{{ messages[-1].content }}";

#[test]
fn a_reader_that_stops_changes_no_exit_code() {
    let folder = Folder::empty();
    folder.write("good.jinja", GOOD);
    folder.write("bad.jinja", BAD);
    folder.write(
        "rolecall.toml",
        "contracts = \"errors\"\n[templates]\nbad = \"bad.jinja\"\n[cases]\nbuiltin = [\"plain\"]\n",
    );
    let commands: &[(&[&str], i32)] = &[
        (&["run"], 1),
        (&["run", "-q"], 1),
        (&["run", "--format", "junit"], 1),
        (&["run", "--format", "jsonl"], 1),
        (&["check", "bad.jinja"], 1),
        (&["check", "bad.jinja", "--format", "github"], 1),
        (&["check", "nowhere", "bad.jinja"], 2),
        (&["diff", "good.jinja", "bad.jinja"], 1),
        (&["lint"], 1),
        (&["list", "cases"], 0),
    ];
    // A reader stops before the first byte, and one of both streams does. Every third command is
    // tried, or all if the tests try everything.
    let commands = commands.iter();
    let all =
        commands.flat_map(|(arguments, code)| [false, true].map(|both| (*arguments, *code, both)));
    for (arguments, code, both) in sample(all.collect(), 7) {
        let mut command = folder.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        if both {
            drop(child.stderr.take());
        }
        let ended = child.wait_with_output().unwrap().status;
        assert_eq!(ended.code(), Some(code), "{arguments:?}, both: {both}");
    }
}

#[test]
fn a_home_is_not_nobodys_folder() {
    let folder = Folder::empty();
    let home = |folder: &Folder| {
        let mut command = folder.command(&["run", "chatml"]);
        command.env("HOME", folder.path(""));
        command.output().unwrap()
    };
    assert_eq!(home(&folder).status.code(), Some(0));
    folder.write("model/chat_template.jinja", GOOD);
    assert_eq!(home(&folder).status.code(), Some(2));
}

#[test]
fn a_damaged_builtin_suite_is_made_again() {
    let folder = Folder::empty();
    let cache = tempfile::tempdir().unwrap();
    let run = || {
        folder
            .rolecall_with_cache(cache.path(), &["run", "-q", "chatml", "qwen2.5:plain/*"])
            .stdout()
    };
    let whole = run();
    assert!(whole.contains("agree (100 %)"), "{whole}");
    let mut suites = std::fs::read_dir(cache.path()).unwrap();
    let suite = suites.next().unwrap().unwrap().path();
    std::fs::remove_dir_all(suite.join("snapshots/cards")).unwrap();
    std::fs::remove_file(suite.join("snapshots/plain.snap")).unwrap();
    std::fs::remove_file(suite.join("cases/templates/qwen2.5.jinja")).unwrap();
    std::fs::remove_file(suite.join("cases/templates/qwen2.5.json")).unwrap();
    assert_eq!(run(), whole);
}
