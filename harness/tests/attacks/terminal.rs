//! Texts that a terminal or GitHub's runner would obey, wherever somebody else can write one: nothing
//! of them reaches the terminal or a log as it is.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Stdio;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use vte::{Params, Parser, Perform};

use super::World;
use super::world::is_command;
use crate::extent::sample;

/// Texts that a terminal obeys: a title, colours, movements, a clipboard, a link, other controls. The
/// last ones are commands for GitHub's runner.
const TEXTS: [&str; 13] = [
    "\u{1b}]0;owned\u{7}",
    "\u{1b}]52;c;b3duZWQ=\u{1b}\\",
    "\u{1b}[2J\u{1b}[1;1H",
    "\u{1b}[7;31;47m",
    "\u{9b}31m\u{9d}0;owned\u{9c}",
    "\u{1b}P+q544e\u{1b}\\",
    "a\u{8}\u{8}\u{d}b\u{b}\u{c}",
    "\u{202e}txt.exe\u{2066}x\u{2069}\u{200f}",
    "\u{1b}[?1049h\u{1b}c",
    "\u{1b}]8;;http://owned\u{1b}\\here\u{1b}]8;;\u{1b}\\",
    "::error::owned",
    "a\n \t\u{2003}::add-mask::a\n::stop-commands::owned\n",
    "a ##[error]owned ##[group]b",
];

/// The commands that a terminal received.
#[derive(Default)]
struct Obeyed {
    found: Vec<String>,
    styles: usize,
}

impl Perform for Obeyed {
    fn execute(&mut self, byte: u8) {
        if !matches!(byte, b'\n' | b'\t' | b'\r') {
            self.found.push(format!("control {byte:#x}"));
        }
    }

    fn print(&mut self, c: char) {
        let is_bidirectional = matches!(
            c,
            '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
        );
        if is_bidirectional || ('\u{80}'..='\u{9f}').contains(&c) {
            self.found.push(format!("character {:#x}", u32::from(c)));
        }
    }

    fn osc_dispatch(&mut self, parts: &[&[u8]], _: bool) {
        self.found
            .push(format!("operating system command {parts:?}"));
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, byte: u8) {
        // The end of a string, whose beginning was counted.
        if byte != b'\\' {
            self.found.push(format!("escape {byte:#x}"));
        }
    }

    fn hook(&mut self, _: &Params, _: &[u8], _: bool, action: char) {
        self.found.push(format!("device control {action}"));
    }

    fn csi_dispatch(&mut self, params: &Params, marks: &[u8], _: bool, action: char) {
        let numbers: Vec<u16> = params.iter().flatten().copied().collect();
        let is_style =
            action == 'm' && marks.is_empty() && matches!(numbers.as_slice(), [0..=4 | 30..=36]);
        // The bar that shows how far a run is writes its own line again.
        let is_bar = matches!(
            (action, numbers.as_slice()),
            ('K', [0 | 2]) | ('A', [0 | 1])
        );
        if is_style {
            self.styles += 1;
        } else if !is_bar {
            self.found
                .push(format!("control sequence {numbers:?}{action}"));
        }
    }
}

/// Runs a command on a terminal with colours. Returns the commands that the terminal received.
fn on_a_terminal(world: &World, arguments: &[&str]) -> Obeyed {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new())
        .unwrap()
        .into_string()
        .unwrap();
    let screen = || -> Stdio {
        let flags = OFlags::NOCTTY.bits().cast_signed();
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).custom_flags(flags);
        options.open(&name).unwrap().into()
    };
    let mut command = world.command("work", arguments);
    command
        .env("TERM", "xterm-256color")
        .env("COLORTERM", "truecolor");
    command
        .stdin(Stdio::null())
        .stdout(screen())
        .stderr(screen());
    let mut child = command.spawn().unwrap();
    // This process's own ends of the screen.
    drop(command);
    let mut output = Vec::new();
    let mut chunk = [0; 4096];
    let mut terminal = File::from(terminal);
    // A terminal whose other end is closed gives an error.
    while let Ok(read @ 1..) = terminal.read(&mut chunk) {
        output.extend_from_slice(&chunk[..read]);
    }
    child.wait().unwrap();
    let mut obeyed = Obeyed::default();
    Parser::new().advance(&mut obeyed, &output);
    // What is eight bits wide is a control only where a terminal does not know UTF-8.
    let text = String::from_utf8_lossy(&output);
    text.chars().for_each(|c| obeyed.print(c));
    assert!(!text.contains("panicked"), "{text}");
    obeyed
}

/// A world in which somebody wrote a text wherever one can be written, and the commands that show
/// it.
type Place = (
    &'static str,
    fn(&World, &str),
    &'static [&'static [&'static str]],
);

const CASE: &str = r#"{"about": "x", "cases": {"y": {"about": "z", "messages": [{"role": "user", "content": "Hi"}]}}}"#;

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// TOML has no raw control characters, and other escapes than JSON.
fn toml_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        write!(out, "\\U{:08X}", u32::from(c)).unwrap();
    }
    out + "\""
}

fn base(world: &World) {
    world.write("work/t.jinja", "{{ messages[0].content }}");
    world.write("work/c.json", CASE);
}

fn adapter(world: &World, greeting: &str, answer: &str, errors: &str) {
    let program = format!(
        "import sys, json\nerrors = json.loads({errors})\nfor line in sys.stdin:\n    asked = json.loads(line)\n    sys.stderr.write(errors); sys.stderr.flush()\n    if asked['request'] == 'start':\n        print(json.dumps(json.loads({greeting}))); sys.stdout.flush()\n    elif asked['request'] == 'stop':\n        break\n    else:\n        answer = json.loads({answer}); answer['id'] = asked.get('id')\n        print(json.dumps(answer)); sys.stdout.flush()\n",
        errors = quoted(&quoted(errors)),
        greeting = quoted(greeting),
        answer = quoted(answer),
    );
    world.write("work/adapter.py", program);
}

fn greeting(name: &str, version: &str, dialect: &str) -> String {
    format!(
        "{{\"rolecall\": 1, \"engine\": {}, \"version\": {}, \"dialect\": {}, \"components\": {{{}: {}}}}}",
        quoted(name),
        quoted(version),
        quoted(dialect),
        quoted(name),
        quoted(version)
    )
}

const ENGINE: &[&[&str]] = &[
    &[
        "run",
        "--templates",
        "t.jinja",
        "--cases",
        "c.json",
        "--engine",
        "python3 adapter.py",
    ],
    &["probe-engine", "python3 adapter.py", "--limits", "time=1s"],
    &[
        "render",
        "--templates",
        "t.jinja",
        "--cases",
        "c.json",
        "--engine",
        "python3 adapter.py",
    ],
];

const PLACES: [Place; 17] = [
    (
        "the name of a template",
        |world, text| {
            world.write(
                &format!("work/{text}.jinja").replace("//", "_"),
                "{{ messages[0].content }}",
            );
        },
        &[
            &["check", "."],
            &["render", "--templates", ".", "*:plain/single-turn"],
            &["list", "templates", "--templates", "."],
        ],
    ),
    (
        "what a template says",
        |world, text| {
            let name = quoted(text);
            world.write(
                "work/raises.jinja",
                format!("{{{{ raise_exception({name}) }}}}"),
            );
            world.write("work/prompt.jinja", text);
            world.write("work/syntax.jinja", format!("{{% {text} %}}"));
            world.write("work/filter.jinja", format!("{{{{ 1 | {text} }}}}"));
            world.write("work/key.jinja", format!("{{{{ messages[{name}].x.y }}}}"));
            world.write("work/go.gotmpl", format!("{{{{ {text} }}}}"));
        },
        &[
            &["check", "."],
            &["render", "--templates", ".", "*:plain/single-turn"],
            &["run", "--templates", ".", "*:plain/*"],
            &["diff", "raises.jinja", "prompt.jinja"],
            &[
                "show",
                "--raw",
                "--templates",
                "prompt.jinja",
                "prompt",
                "plain/single-turn",
            ],
            &[
                "render",
                "--format",
                "jsonl",
                "--templates",
                ".",
                "*:plain/single-turn",
            ],
        ],
    ),
    (
        "a sidecar",
        |world, text| {
            base(world);
            let text = quoted(text);
            world.write(
                "work/t.json",
                format!("{{\"about\": {text}, \"origin\": {text}, \"family\": {text}, \"special_tokens\": {{\"bos_token\": {text}}}, \"broken\": {{\"tools-kept\": {text}, {text}: {text}}}}}"),
            );
            world.write("work/u.jinja", "{{ bos_token }}{{ messages[0].content }}");
            world.write("work/u.json", format!("{{\"family\": {text}, {text}: 1}}"));
        },
        &[
            &["check", "t.jinja"],
            &["check", "u.jinja"],
            &["list", "templates", "--templates", "."],
        ],
    ),
    (
        "a case file",
        |world, text| {
            base(world);
            let text = quoted(text);
            world.write(
                "work/c.json",
                format!("{{\"about\": {text}, \"cases\": {{\"y\": {{\"about\": {text}, \"messages\": [{{\"role\": {text}, \"content\": {text}}}], {text}: 1}}, {text}: {{}}}}}}"),
            );
            world.write(
                "work/d.json",
                format!("{{\"about\": {text}, \"cases\": {{\"y\": {{\"about\": {text}, \"messages\": [{{\"role\": \"user\", \"content\": {text}}}]}}}}}}"),
            );
        },
        &[
            &["list", "cases", "--cases", "c.json"],
            &["list", "cases", "--cases", "d.json"],
            &["render", "--templates", "t.jinja", "--cases", "d.json"],
            &["run", "--templates", "t.jinja", "--cases", "c.json"],
        ],
    ),
    (
        "rolecall.toml",
        |world, text| {
            base(world);
            let text = toml_quoted(text);
            world.write(
                "work/rolecall.toml",
                format!("{text} = 1\n[templates]\n{text} = \"t.jinja\"\nt = {{ source = {text}, family = {text}, broken = {{ {text} = {text} }} }}\n[cases]\nown = [{text}]\nbuiltin = [{text}]\n"),
            );
        },
        &[&["run"], &["check"], &["list", "templates"]],
    ),
    (
        "an engine in rolecall.toml",
        |world, text| {
            base(world);
            let text = toml_quoted(text);
            world.write(
                "work/rolecall.toml",
                format!("[templates]\nt = \"t.jinja\"\n[engines]\njinja = {text}\n"),
            );
        },
        &[&["run"], &["run", "--allow-engines"]],
    ),
    (
        "an engine's greeting",
        |world, text| {
            base(world);
            adapter(world, &greeting(text, text, "jinja"), "{\"ok\": true}", "");
        },
        ENGINE,
    ),
    (
        "an engine's dialect",
        |world, text| {
            base(world);
            adapter(world, &greeting("e", "1", text), "{\"ok\": true}", "");
        },
        ENGINE,
    ),
    (
        "an engine's errors",
        |world, text| {
            base(world);
            adapter(world, "[]", "[]", text);
        },
        ENGINE,
    ),
    (
        "an engine's answers",
        |world, text| {
            base(world);
            let answer = format!(
                "{{\"outcome\": \"failed\", \"stage\": \"render\", \"message\": {}, \"line\": 1}}",
                quoted(text)
            );
            adapter(world, &greeting("e", "1", "jinja"), &answer, text);
        },
        ENGINE,
    ),
    (
        "an engine's strange answers",
        |world, text| {
            base(world);
            let text = quoted(text);
            adapter(
                world,
                &greeting("e", "1", "jinja"),
                &format!("{{\"outcome\": {text}, {text}: {text}}}"),
                "",
            );
        },
        ENGINE,
    ),
    (
        "a saved run",
        |world, text| {
            base(world);
            let text = quoted(text);
            let line = |outcome: &str| {
                format!(
                    "{{\"template\": {text}, \"case\": \"x/y\", \"engine\": {text}, \"outcome\": \"rendered\", \"text\": {outcome}}}\n"
                )
            };
            world.write("work/a.jsonl", line(&text) + &line("\"b\""));
            world.write("work/b.jsonl", line("\"c\""));
            world.write("work/wrong.jsonl", format!("{{{text}: {text}}}\n"));
        },
        &[
            &["diff", "a.jsonl", "b.jsonl"],
            &["diff", "a.jsonl", "wrong.jsonl"],
        ],
    ),
    (
        "a tokenizer",
        |world, text| {
            let text = quoted(text);
            world.write(
                "work/model/tokenizer_config.json",
                format!("{{\"chat_template\": \"{{{{ bos_token }}}}{{{{ messages[0].content }}}}\", \"bos_token\": {text}, \"extra_special_tokens\": {{\"x_token\": {text}}}, \"added_tokens_decoder\": {{\"0\": {{\"content\": {text}}}}}}}"),
            );
            world.write(
                "work/model/tokenizer.json",
                format!("{{\"version\": \"1.0\", \"added_tokens\": [{{\"id\": 0, \"content\": {text}, \"special\": true}}], \"model\": {{\"type\": {text}}}}}"),
            );
        },
        &[&["check", "model"], &["check", "--all", "model"]],
    ),
    (
        "a Modelfile",
        |world, text| {
            world.write(
                "work/Modelfile",
                format!("FROM x{text}\nTEMPLATE \"\"\"{{{{ .Prompt }}}}{text}\"\"\"\n{text} 1\n"),
            );
        },
        &[&["check", "Modelfile"], &["check", "."]],
    ),
    (
        "a list of defects",
        |world, text| {
            base(world);
            let text = quoted(text);
            world.write(
                "work/known.json",
                format!("{{{text}: {text}, \"templates\": {{{text}: {{{text}: {text}}}}}}}"),
            );
        },
        &[&["check", "--baseline", "known.json", "t.jinja"]],
    ),
    (
        "the name of a folder",
        |world, text| {
            let folder = text.replace('/', "_");
            world.write(
                &format!("work/{folder}/tokenizer_config.json"),
                "{\"chat_template\": \"{{ x.y.z }}\"}",
            );
            world.write(&format!("work/{folder}/Modelfile"), "FROM x\n");
        },
        &[
            &["check", "."],
            &["render", "--templates", ".", "*:plain/single-turn"],
        ],
    ),
    (
        "a project around",
        |world, text| {
            base(world);
            let text = quoted(text);
            world.write("work/cases/conversations/c.json", format!("{{\"about\": {text}, \"cases\": {{\"y\": {{\"about\": {text}, \"messages\": [{{\"role\": \"user\", \"content\": {text}}}]}}}}}}"));
            world.write("work/cases/templates/t.jinja", "{{ messages[0].content }}");
            world.write("work/snapshots/divergences.json", format!("{{\"divergences\": [{{\"engine\": {text}, \"template\": {text}, \"case\": {text}, \"reason\": {text}, \"observed\": {text}}}]}}"));
            world.write(
                "work/snapshots/c.snap",
                format!("---\n{text}\n---\n=== y, t: {text}␃\nreference {text}\n\n=== {text}, t: rendered\n=== y\n"),
            );
            let hash = "0".repeat(64);
            world.write(
                "work/snapshots/reference.json",
                format!("{{\"t\": {{\"reference\": {{\"engine\": {text}, \"version\": {text}, \"components\": {{{text}: {text}}}}}, \"front\": {text}, \"template\": \"{hash}\", \"settings\": \"{hash}\"}}}}"),
            );
        },
        &[
            &["run"],
            &["lint"],
            &["list", "divergences"],
            &["list", "cases"],
            &["accept", "*", "--dry-run"],
            &["matrix"],
        ],
    ),
];

#[test]
fn nothing_that_others_wrote_is_obeyed() {
    let texts = TEXTS.iter();
    let all: Vec<_> = texts
        .flat_map(|text| PLACES.iter().map(move |place| (*text, place)))
        .collect();
    let mut count = 0;
    let mut styles = 0;
    let mut wrong = Vec::new();
    for (text, (name, prepare, commands)) in sample(all, 150) {
        let world = World::new();
        prepare(&world, text);
        for arguments in *commands {
            count += 2;
            let obeyed = on_a_terminal(&world, arguments);
            styles += obeyed.styles;
            if !obeyed.found.is_empty() {
                wrong.push(format!(
                    "{name}, {text:?}, {arguments:?}: {:?}",
                    &obeyed.found[..1]
                ));
            }
            let is_raw = arguments.contains(&"--raw");
            let seen = world.rolecall(arguments);
            let mut complaints = seen.complaints(&[0, 1, 2]);
            // A pipe gets the exact bytes of a prompt. Everything else can be written in another way.
            complaints.retain(|one| !is_raw || !one.contains("terminal obeys"));
            complaints.retain(|one| !is_raw || !one.contains("runner obeys"));
            if !complaints.is_empty() {
                wrong.push(format!(
                    "{name}, {text:?}, {arguments:?}, a pipe: {complaints:?}"
                ));
            }
        }
    }
    assert!(styles > 0, "the terminal gets colours");
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A prompt is never shown in a log if GitHub's runner would obey it, and never changed.
#[test]
fn a_log_has_no_raw_prompt_that_a_runner_obeys() {
    let mut world = World::new();
    let prompt = "a\n ::add-mask::a\n##[error]owned";
    world.write("work/t.jinja", prompt);
    world.set("GITHUB_ACTIONS", "true");
    let show = ["show", "--raw", "t.jinja", "plain/single-turn"];
    let piped = world.command("work", &show).output().unwrap();
    assert_eq!(piped.status.code(), Some(2));
    for stream in [&piped.stdout, &piped.stderr] {
        let text = String::from_utf8_lossy(stream);
        assert!(!text.lines().any(is_command), "{text}");
    }
    let said = String::from_utf8_lossy(&piped.stderr);
    assert!(said.contains("--output FILE"), "{said}");
    world
        .rolecall(&[&show[..], &["--output", "prompt.txt"]].concat())
        .is_well(&[0]);
    let written = std::fs::read_to_string(world.path("work/prompt.txt")).unwrap();
    assert_eq!(written, prompt);
}

/// Arguments may be names of files that somebody else chose: `rolecall check *`. Three of them are
/// tried, or all if the tests try everything.
#[test]
fn nothing_in_an_argument_is_obeyed() {
    let arguments = |text: &'static str| {
        let revisions = [format!("HEAD:{text}"), format!("{text}:x")];
        let all: [&[&str]; 14] = [
            &[text],
            &["check", text],
            &["--", text],
            &["check", "--format", text],
            &["run", text],
            &["render", "--templates", text],
            &["show", text, text],
            &["diff", text, text],
            &["diff", &revisions[0], &revisions[1]],
            &["explain", text],
            &["run", "--engine", text],
            &["run", "--limits", text],
            &["list", text],
            &["init", text],
        ];
        all.map(|words| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        })
    };
    for words in sample(TEXTS.into_iter().flat_map(arguments).collect(), 61) {
        let world = World::new();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let obeyed = on_a_terminal(&world, &words);
        assert!(obeyed.found.is_empty(), "{words:?}: {:?}", obeyed.found);
        let complaints = world.rolecall(&words).complaints(&[0, 1, 2]);
        assert!(complaints.is_empty(), "{words:?}: {complaints:?}");
    }
}
