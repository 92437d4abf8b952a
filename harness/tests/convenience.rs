//! What makes the command pleasant: completions that know names, help in groups, `--watch`, one
//! cause reported once, and an engine's row in a folder of its author's.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rolecall_cli::report::clean;

use crate::extent::sample;
use crate::folder::Folder;
use crate::project::LAYOUT;
use crate::protocol::command;

/// What a shell is offered for the last of the words after the program's name.
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
    is_offered(&["run", "--engine", "rolecall-j"], "rolecall-jinja");
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

/// Bash breaks words at colons and equals signs, so the script is tried in a real one.
#[test]
fn bash_completes_words_with_colons_and_equals_signs() {
    let folder = Folder::empty();
    folder.write("a.jinja", "{{ messages }}");
    folder.write(
        "rolecall.toml",
        "[templates]\nmodel = \"a.jinja\"\n[cases]\nbuiltin = [\"plain\"]\n",
    );
    let bin = folder.path("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = folder.command(&[]).get_program().to_owned();
    std::os::unix::fs::symlink(program, bin.join("rolecall")).unwrap();
    let mut bash = Terminal::start(&folder, &bin);
    bash.type_line("source <(rolecall completions bash); echo [ready]\n");
    for (typed, expected) in [
        ("run mod", "run model"),
        ("run model:plain/single", "run model:plain/single-turn"),
        ("run 'model:plain/single", "run model:plain/single-turn"),
        ("show model probe/user-p", "show model probe/user-parts"),
        ("check --select=turn-end-s", "check --select=turn-end-stops"),
        (
            "check --select one-bos,turn-end-s",
            "check --select one-bos,turn-end-stops",
        ),
        (
            "diff --engines rolecall-jinja,rolecall-g",
            "diff --engines rolecall-jinja,rolecall-go",
        ),
        (
            "diff --engines=rolecall-jinja,rolecall-g",
            "diff --engines=rolecall-jinja,rolecall-go",
        ),
        ("acc", "accept"),
    ] {
        // The words are in the line when it is printed instead of run.
        let line = format!("rolecall {typed}\t\u{1}echo [\u{5}]\n");
        let said = bash.type_line(&line);
        let said = said.replace("[rolecall", "").replace(" ]", "]");
        assert!(said.contains(&format!("{expected}]")), "{typed}: {said}");
    }
}

struct Terminal {
    screen: std::fs::File,
    shown: Receiver<Vec<u8>>,
    child: Child,
}

impl Terminal {
    const PROMPT: &str = "READY> ";

    fn start(folder: &Folder, bin: &std::path::Path) -> Terminal {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let name = name.into_string().unwrap();
        let end = || -> Stdio {
            let mut options = std::fs::OpenOptions::new();
            let flags = OFlags::NOCTTY.bits().cast_signed();
            options.read(true).write(true).custom_flags(flags);
            options.open(&name).unwrap().into()
        };
        let path = std::env::var("PATH").unwrap();
        let child = std::process::Command::new("bash")
            .args(["--noprofile", "--norc", "-i"])
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("PS1", Self::PROMPT)
            .env("TERM", "dumb")
            .env("ROLECALL_CACHE", crate::folder::CACHE)
            .current_dir(folder.path("."))
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let screen = std::fs::File::from(terminal);
        let mut reader = screen.try_clone().unwrap();
        let (sender, shown) = mpsc::channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                if sender.send(chunk[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut bash = Terminal {
            screen,
            shown,
            child,
        };
        bash.until(&[Self::PROMPT]);
        bash
    }

    /// Types a line that prints something in brackets, and returns what the terminal shows until
    /// then. The line itself may be shown with its prompt again while it is typed.
    fn type_line(&mut self, line: &str) -> String {
        self.screen.write_all(line.as_bytes()).unwrap();
        self.until(&["]\r\n", Self::PROMPT])
    }

    fn until(&mut self, end: &[&str]) -> String {
        let end = end.concat();
        let mut shown = Vec::new();
        while !shown.ends_with(end.as_bytes()) {
            let chunk = self.shown.recv_timeout(Duration::from_mins(1));
            let chunk = chunk.unwrap_or_else(|error| {
                panic!("{error}: {}", String::from_utf8_lossy(&shown));
            });
            shown.extend_from_slice(&chunk);
        }
        String::from_utf8_lossy(&shown).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The help of every command fits the terminal, and shows no marks that are for the documentation
/// of the code.
#[test]
fn help_fits_the_terminal_and_has_no_marks() {
    let folder = Folder::empty();
    let help = |words: &[&str], columns: usize| {
        let words: Vec<&str> = words.iter().copied().chain(["--help"]).collect();
        let mut command = folder.command(&words);
        let output = command
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    // Names that clippy wants in marks: `JUnit`, `OpenAI`.
    let mark = regex::Regex::new(r"`[A-Z]+[a-z]+[A-Z]\w*`|`[A-Z]{2,}[a-z]\w*`").unwrap();
    let all = help(&[], 100);
    let names = regex::Regex::new(r"(?m)^  ([a-z][a-z-]+)  ").unwrap();
    let names: Vec<&str> = names
        .captures_iter(&all)
        .map(|name| name.get(1).unwrap().as_str())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 15, "{names:?}");
    for columns in sample(vec![60, 80, 100], 3) {
        let commands = names.iter().map(|name| vec![*name]);
        for words in commands.chain([
            vec![],
            vec!["reference", "update"],
            vec!["matrix", "update"],
        ]) {
            let help = help(&words, columns);
            for line in help.lines() {
                // A word that is wider than the terminal is not broken.
                let is_word = !line.trim().contains(' ');
                assert!(
                    line.chars().count() <= columns || is_word,
                    "{words:?}: {line}"
                );
            }
            assert!(!mark.is_match(&help), "{words:?}: {:?}", mark.find(&help));
        }
    }
    let schemas = std::fs::read_dir(LAYOUT.root().join("harness/schema")).unwrap();
    for schema in schemas.chain(std::fs::read_dir(LAYOUT.root().join("cases")).unwrap()) {
        let path = schema.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(
                !mark.is_match(&text),
                "{}: {:?}",
                path.display(),
                mark.find(&text)
            );
        }
    }
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
fn one_cause_of_many_failures_is_reported_once() {
    let folder = Folder::empty();
    let engine = command(&folder, BROKEN);
    let ran = folder.rolecall(&["probe-engine", &engine]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let said = clean::plain(ran.stdout().as_bytes());
    assert!(said.contains("fail alike"), "{said}");
    let reported = said.matches("clock is not defined").count();
    let pointed = said.matches("the same as").count();
    assert!(reported < 4 && pointed > 5, "{said}");
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
