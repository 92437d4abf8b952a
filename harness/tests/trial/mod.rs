//! The trial: what users do for which a session in `harness/tests/sessions` has no words, such as damage to
//! a file, a reader that stops, or a disk that is full.

mod proposed;

use std::io::Write as _;
use std::process::{Output, Stdio};

use rolecall_cli::report::clean;
use rolecall_suite::records::AskedTemplates;
use rolecall_suite::snapshot::Snapshots;

use crate::extent::sample;
use crate::folder::Folder;

/// A template that does most things well.
const GOOD: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n\
    {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// A review in which these keys are typed.
fn review(folder: &Folder, keys: &str) -> Output {
    let mut child = folder
        .command(&["review"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let typed: String = keys.chars().flat_map(|key| [key, '\n']).collect();
    let mut input = child.stdin.take().unwrap();
    // A review that is over reads no more.
    let _ = input.write_all(typed.as_bytes());
    drop(input);
    child.wait_with_output().unwrap()
}

/// Four edits of one template are four decisions, in however many prompts they meet.
#[test]
fn a_review_decides_on_each_edit_once() {
    let folder = Folder::empty();
    let template = "{% if tools %}# Tools\n{{ tools | tojson }}\n{% endif %}\
        {% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n\
        {% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>\n{% endfor %}\
        {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
    folder.write("a.jinja", template);
    folder.write(
        "rolecall.toml",
        "contracts = \"off\"\n[templates]\na = \"a.jinja\"\n[cases]\nbuiltin = [\"plain\", \"tool-use\", \"tool-lists\"]\n",
    );
    assert_eq!(folder.rolecall(&["accept"]).code(), 0);
    let mut edited = template.to_owned();
    for (before, after) in [
        ("# Tools", "# Functions"),
        ("</call>", "</function>"),
        ("}}<|im_end|>\n", "}}<|im_end|>"),
        ("assistant\n{%", "model\n{%"),
    ] {
        assert!(edited.contains(before));
        edited = edited.replace(before, after);
    }
    folder.write("a.jinja", &edited);
    let review = review(&folder, &"a".repeat(8));
    let said = clean::plain(&review.stdout);
    assert_eq!(review.status.code(), Some(0), "{said}");
    let last = said.lines().last().unwrap();
    let decisions = last
        .split(" in ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    assert!(decisions.parse::<usize>().unwrap() <= 5, "{said}");
    assert!(
        said.contains("with no other differences than those that you accepted"),
        "{said}"
    );
    assert_eq!(folder.rolecall(&["run"]).code(), 0);

    // What has an edit that was rejected is not accepted either, and nobody asks about it again.
    let less = edited
        .replace("# Functions", "# Tools")
        .replace("<|im_start|>m", "<|begin|>m");
    assert_ne!(less, edited);
    folder.write("a.jinja", &less);
    let review = self::review(&folder, &format!("r{}", "a".repeat(8)));
    let said = clean::plain(&review.stdout);
    assert_eq!(review.status.code(), Some(1), "{said}");
    assert!(
        said.contains("with a difference that you rejected"),
        "{said}"
    );
}

/// What `lint` says to do works: `review` and `accept` put files in order whose transcripts are as
/// accepted. `accept` and every second damage are tried, or all if the tests try everything.
#[test]
fn what_lint_proposes_leaves_nothing_to_lint() {
    type Damage = (&'static str, fn(&Folder));
    const FILE: &str = "snapshots/plain.snap";
    let edit = |folder: &Folder, name: &str, with: &dyn Fn(&str) -> String| {
        let text = std::fs::read_to_string(folder.path(name)).unwrap();
        folder.write(name, &with(&text));
    };
    let damages: &[Damage] = &[
        ("a pending file as accepted", |folder| {
            let text = std::fs::read_to_string(folder.path(FILE)).unwrap();
            folder.write(&format!("{FILE}.new"), &text);
        }),
        ("a pending card as accepted", |folder| {
            folder.write("snapshots/cards/a.snap.new", "pending");
        }),
        ("a section without a case", |folder| {
            let text = std::fs::read_to_string(folder.path(FILE)).unwrap();
            folder.write(FILE, &format!("{text}\n=== nonsense, a: rendered\nabc␃\n"));
        }),
        ("a section twice", |folder| {
            let text = std::fs::read_to_string(folder.path(FILE)).unwrap();
            let (_, section) = text.split_once("\n=== ").unwrap();
            let section = section.split("\n=== ").next().unwrap().trim_end();
            folder.write(FILE, &format!("{text}\n=== {section}\n"));
        }),
    ];
    let headers = [FILE, "snapshots/cards/a.snap"];
    for remedy in sample(vec!["accept", "review"], 2) {
        let folder = Folder::empty();
        folder.write("a.jinja", GOOD);
        folder.write(
            "rolecall.toml",
            "[templates]\na = \"a.jinja\"\n[cases]\nbuiltin = [\"plain\"]\n",
        );
        assert_eq!(folder.rolecall(&["accept"]).code(), 0);
        let fixed = |what: &str| {
            let lint = folder.rolecall(&["lint"]);
            assert_eq!(lint.code(), 1, "{what}: {}", lint.stdout());
            assert!(
                lint.stdout().contains("rolecall review"),
                "{what}: {}",
                lint.stdout()
            );
            let (code, said) = if remedy == "review" {
                let ran = review(&folder, "aa");
                (ran.status.code(), clean::plain(&ran.stdout))
            } else {
                let ran = folder.rolecall(&["accept"]);
                (Some(ran.code()), ran.stdout())
            };
            assert_eq!(code, Some(0), "{what}: {said}");
            let lint = folder.rolecall(&["lint"]);
            assert_eq!(lint.code(), 0, "{what}: {said}\n{}", lint.stdout());
            let run = folder.rolecall(&["run"]);
            assert_eq!(run.code(), 0, "{what}: {}", run.stdout());
        };
        for (what, damage) in sample(damages.to_vec(), 2) {
            damage(&folder);
            fixed(what);
        }
        for file in headers {
            edit(&folder, file, &|text| {
                text.replacen("source: rolecall", "source: me", 1)
            });
            fixed(file);
        }
    }
    // Of a file that belongs to nothing, `lint` says so.
    let folder = Folder::empty();
    folder.write("a.jinja", GOOD);
    folder.write(
        "rolecall.toml",
        "[templates]\na = \"a.jinja\"\n[cases]\nbuiltin = [\"plain\"]\n",
    );
    assert_eq!(folder.rolecall(&["accept"]).code(), 0);
    folder.write("snapshots/gone.snap.new", "pending");
    let said = folder.rolecall(&["lint"]).stdout();
    assert!(
        said.contains("nothing in the suite has it\n  delete it"),
        "{said}"
    );
}

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
fn the_more_records_are_missing_the_less_green() {
    let folder = Folder::new();
    // A built-in family has its name.
    let ours = folder.path("cases/conversations/ours.json");
    std::fs::rename(folder.path("cases/conversations/plain.json"), ours).unwrap();
    folder.accept_all();
    let toml = "contracts = \"off\"\n[templates]\nchat = \"cases/templates/chat.jinja\"\n\
                strict = { source = \"cases/templates/strict.jinja\" }\n[cases]\nbuiltin = []\n\
                own = [\"cases/conversations\"]\n";
    folder.write("rolecall.toml", toml);
    // The file has the header of a checkout.
    folder.rolecall(&["accept"]);
    let run = folder.rolecall(&["run", "-q"]);
    assert_eq!(run.code(), 0, "{}", folder.rolecall(&["run"]).stdout());
    let snapshots = Snapshots::of(&folder.layout());
    let mut asked = AskedTemplates::read(&snapshots).unwrap();
    asked.retain(|name| name.as_str() != "chat");
    asked.write(&snapshots).unwrap();
    let reported = "missing: no reference records, and other templates have: chat";
    for (arguments, words) in [
        (
            &["run", "-q"][..],
            "rolecall.toml: Failed: 2 pairs unverified",
        ),
        (&["run"], "; 2 unverified"),
        (&["run", "chat"], "none of 2 pairs are verified"),
        (&["lint"], reported),
    ] {
        let ran = folder.rolecall(arguments);
        assert_eq!(ran.code(), 1, "{arguments:?}");
        assert!(
            ran.stdout().contains(words),
            "{arguments:?}: {}",
            ran.stdout()
        );
    }
    // Without any record, a suite is checked by its snapshots.
    std::fs::remove_file(AskedTemplates::file(&snapshots)).unwrap();
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1, "{}", ran.stdout());
    let lint = folder.rolecall(&["lint"]).stdout();
    let reported =
        "missing: the snapshots were recorded, and nothing says with which reference: chat, strict";
    assert!(lint.contains(reported), "{lint}");
    let file = folder.path("snapshots/ours.snap");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines = text.split_inclusive('\n');
    let lines = lines.filter(|line| !line.starts_with("reference "));
    std::fs::write(&file, lines.collect::<String>()).unwrap();
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
    assert_eq!(folder.rolecall(&["lint"]).code(), 0);
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
