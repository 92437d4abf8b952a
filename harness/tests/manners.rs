//! What makes the command pleasant: completions that know names, help in groups, `--watch`, one
//! cause told once, and an engine's row in a folder of its author's.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rolecall::report::clean;

use crate::folder::Folder;
use crate::protocol::command;

/// What a shell is offered for the last of the words behind the program's name.
fn offered(folder: &Folder, words: &[&str]) -> Vec<String> {
    let all: Vec<&str> = ["--", "rolecall"].iter().chain(words).copied().collect();
    let output = folder
        .command(&all)
        .env("ROLECALL_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "false")
        .env("_CLAP_IFS", "\n")
        .output()
        .unwrap();
    assert_eq!(output.stderr, b"", "{words:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn shells_complete_names() {
    let folder = Folder::new();
    let is_offered = |words: &[&str], name: &str| {
        let offered = offered(&folder, words);
        assert!(
            offered.iter().any(|one| one == name),
            "{words:?}: {offered:?}"
        );
        let typed = words.last().unwrap();
        assert!(
            offered.iter().all(|one| one.starts_with(typed)),
            "{offered:?}"
        );
    };
    is_offered(&["ch"], "check");
    is_offered(&["check", "--select", "no-null"], "no-null-leak");
    is_offered(&["explain", "turn-"], "turn-end-stops");
    is_offered(&["run", "--engine", "mini"], "minijinja");
    is_offered(&["run", "--front", ""], "transformers");
    let templates = offered(&folder, &["show", ""]);
    let template = templates.first().unwrap();
    assert!(
        folder
            .path(&format!("cases/templates/{template}.jinja"))
            .is_file()
    );
    let cases = offered(&folder, &["show", template, ""]);
    let case = cases.first().unwrap();
    is_offered(
        &["run", &format!("{template}:")],
        &format!("{template}:{case}"),
    );
    is_offered(&["check", "case"], "cases/");
}

#[test]
fn a_suite_that_cannot_be_read_completes_nothing() {
    let folder = Folder::empty();
    folder.write("rolecall.toml", "[templates\n");
    let offered = offered(&folder, &["run", ""]);
    assert!(
        offered.iter().all(|one| one.starts_with("--")),
        "{offered:?}"
    );
}

#[test]
fn the_script_of_each_shell_asks_the_program() {
    let folder = Folder::empty();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = folder.rolecall(&["completions", shell]);
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
        assert!(ran.stdout().contains("ROLECALL_COMPLETE"), "{shell}");
    }
}

/// A command that watches, and the lines that it says.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(folder: &Folder, arguments: &[&str]) -> Watching {
        let mut child = folder
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let both: [Box<dyn std::io::Read + Send>; 2] = [
            Box::new(child.stdout.take().unwrap()),
            Box::new(child.stderr.take().unwrap()),
        ];
        for stream in both {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if sender.send(clean::plain(line.as_bytes())).is_err() {
                        return;
                    }
                }
            });
        }
        Watching { child, lines }
    }

    /// Waits for lines with these words, in any order.
    #[track_caller]
    fn says(&self, mut words: Vec<&str>) {
        let mut said = Vec::new();
        while !words.is_empty() {
            let line = self.lines.recv_timeout(Duration::from_mins(1));
            let line = line.unwrap_or_else(|_| panic!("no {words:?} in {said:#?}"));
            words.retain(|one| !line.contains(one));
            said.push(line);
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watched_commands_are_done_again_when_a_file_changes() {
    let folder = Folder::empty();
    folder.write("mine.jinja", "{{ messages[0].content }}");
    let watching = Watching::start(&folder, &["check", "mine.jinja", "--watch"]);
    watching.says(vec!["what it can do", "watching 1 file or folder"]);
    folder.write("mine.jinja", "{{ messages[0].content");
    watching.says(vec!["unexpected end", "watching"]);
    drop(watching);
    let suite = Folder::new();
    suite.accept_all();
    let page = suite.path("page.html");
    let page = format!("--html={}", page.display());
    let watching = Watching::start(&suite, &["run", "--watch", &page]);
    watching.says(vec!["agree", "watching"]);
    let cases = std::fs::read_dir(suite.path("cases/conversations")).unwrap();
    let case = cases.flatten().next().unwrap().path();
    let text = std::fs::read_to_string(&case).unwrap();
    std::fs::write(&case, text.replace("\"messages\"", "\"mesages\"")).unwrap();
    watching.says(vec!["unknown key `mesages`", "watching"]);
}

#[test]
fn what_cannot_change_is_not_watched() {
    let ran = Folder::empty().rolecall(&["check", "-", "--watch"]);
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr().contains("standard input is read once"),
        "{}",
        ran.stderr()
    );
}

/// An engine whose answers all fail alike.
const BROKEN: &str = r#"
start
while ask; do
  case $line in
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *) echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"render\", \"message\": \"clock is not defined\"}" ;;
  esac
done
"#;

#[test]
fn one_cause_of_many_failures_is_told_once() {
    let folder = Folder::empty();
    let engine = command(&folder, BROKEN);
    let ran = folder.rolecall(&["probe-engine", &engine]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let said = clean::plain(ran.stdout().as_bytes());
    assert!(said.contains("fail alike"), "{said}");
    let told = said.matches("clock is not defined").count();
    let pointed = said.matches("the same as").count();
    assert!(told < 4 && pointed > 5, "{said}");
    let ran = folder.rolecall(&["probe-engine", &engine, "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    let checks = document["checks"].as_array().unwrap();
    let same = checks.iter().filter(|check| check["same_as"].is_string());
    assert_eq!(same.count(), pointed);
}

/// `| head` ends a command quietly, and its exit code says what it found all the same.
#[test]
fn a_closed_pipe_does_not_make_a_command_succeed() {
    let folder = Folder::new();
    folder.accept_all();
    let good = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>\n{% endfor %}\
                {% if add_generation_prompt %}<assistant>{% endif %}";
    folder.write("good.jinja", good);
    let broken = good.replace("{{ m.content }}", "{{ m }}");
    folder.write("broken.jinja", &broken);
    let closed = |arguments: &[&str]| {
        let mut child = folder
            .command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("error"), "{arguments:?}: {said}");
        output.status.code()
    };
    for format in ["human", "json", "junit", "github", "sarif"] {
        let check = |file| closed(&["check", file, "--format", format]);
        assert_eq!(check("broken.jinja"), Some(1), "{format}");
    }
    assert_eq!(closed(&["check", "good.jinja", "-q"]), Some(0));
    assert_eq!(closed(&["run"]), Some(0));
    assert_eq!(closed(&["list", "templates"]), Some(0));
    assert_eq!(closed(&["serve", "rolecall-jinja"]), Some(0));
    folder.write("cases/templates/chat.jinja", &broken);
    for format in ["human", "jsonl", "junit"] {
        assert_eq!(closed(&["run", "--format", format]), Some(1), "{format}");
    }
}
