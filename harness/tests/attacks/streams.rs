//! Streams that are full, closed or endless.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::World;
use crate::extent::sample;

/// A device that is always full: what cannot be printed is an error.
#[test]
fn a_full_device_is_an_error() {
    let world = World::new();
    world.write("work/t.jinja", "{{ messages[0].content }}");
    let commands = vec![
        &["--help"][..],
        &["--version"],
        &["help", "run"],
        &["run", "--help"],
        &["completions", "bash"],
        &["list", "cases"],
        &["explain", "tools-kept"],
        &["check", "t.jinja"],
        &["check", "--format", "json", "t.jinja"],
        &["check", "--format", "junit", "t.jinja"],
        &[
            "show",
            "--raw",
            "--templates",
            "t.jinja",
            "t",
            "plain/single-turn",
        ],
        &["render", "--templates", "t.jinja", "*:plain/*"],
    ];
    for arguments in sample(commands, 4) {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = world.command("work", arguments);
        command
            .stdin(Stdio::null())
            .stdout(full)
            .stderr(Stdio::piped());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("cannot write"), "{arguments:?}: {said}");
    }
}

/// Requests of an engine's user that are larger than any honest one.
#[test]
fn a_request_without_end_is_refused() {
    let start = "{\"rolecall\": 1, \"request\": \"start\"}\n";
    let world = World::new();
    let lines = [
        ("a line", "x".repeat(64 << 20)),
        (
            "a text",
            format!(
                "{{\"id\": 1, \"request\": \"load\", \"template\": \"t\", \"source\": \"{}\"}}",
                "x".repeat(64 << 20)
            ),
        ),
        (
            "lists",
            format!(
                "{{\"id\": 1, \"request\": \"render\", \"messages\": [{}[]]}}",
                "[],".repeat(5 << 20)
            ),
        ),
        (
            "objects",
            format!(
                "{{\"id\": 1, \"request\": \"render\", \"messages\": [{}{{}}]}}",
                "{},".repeat(5 << 20)
            ),
        ),
        (
            "depth",
            format!(
                "{{\"id\": 1, \"request\": \"render\", \"messages\": {}",
                "[".repeat(15 << 20)
            ),
        ),
        (
            "numbers",
            format!(
                "{{\"id\": 1, \"request\": \"render\", \"messages\": [{}1]}}",
                "1,".repeat(7 << 20)
            ),
        ),
        ("nothing", "\0".repeat(1 << 20)),
    ];
    let engines = ["rolecall-jinja", "rolecall-go"];
    let all = lines
        .iter()
        .flat_map(|line| engines.map(|engine| (line, engine)));
    for ((what, line), engine) in sample(all.collect(), 10) {
        let request = format!("{start}{line}\n");
        let seen = world.rolecall_in("work", &["serve", engine], request.as_bytes());
        let complaints = seen.complaints(&[0]);
        assert!(complaints.is_empty(), "{engine}, {what}: {complaints:?}");
    }
}

/// A program that asks for more templates than fit into memory at once.
#[test]
#[ignore = "long: .ci/nightly tries it"]
fn templates_without_end_are_served() {
    let world = World::new();
    let mut requests = vec![r#"{"rolecall": 1, "request": "start"}"#.to_owned()];
    let source = "{% for m in messages %}{{ m.role }}: {{ m.content }}\\n{% endfor %}".repeat(4);
    requests.extend((0..12_000).map(|number| {
        format!(
            r#"{{"id": {number}, "request": "load", "template": "{number}", "source": "{source}"}}"#
        )
    }));
    requests.push(r#"{"id": 1, "request": "render", "template": "7", "messages": []}"#.to_owned());
    let requests = requests.join("\n") + "\n";
    let seen = world.rolecall_in("work", &["serve", "rolecall-jinja"], requests.as_bytes());
    seen.is_well(&[0]).says(&["\"outcome\":\"rendered\""]);
}

/// A program that asks and is gone before the answer.
#[test]
fn an_engine_without_a_reader_ends_as_usual() {
    let world = World::new();
    let mut command = world.command("work", &["serve", "rolecall-jinja"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    // It may be gone already.
    let _ = stdin.write_all(b"{\"rolecall\": 1, \"request\": \"start\"}\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The smallest stack that a system gives to a program.
#[test]
fn a_small_stack_is_enough() {
    let world = World::new();
    world.write("work/t.jinja", "{{ messages[0].content }}");
    let program = env!("CARGO_BIN_EXE_rolecall-checkout");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -s 64; exec {program} check t.jinja")]);
    command
        .env("ROLECALL_CACHE", crate::folder::CACHE)
        .current_dir(world.path("work"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
