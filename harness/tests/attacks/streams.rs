//! Streams that are full, closed or endless.

use std::fs::OpenOptions;
use std::process::Stdio;

use super::World;
use crate::extent::sample;

/// A device that is always full: what cannot be printed is an error.
#[test]
fn a_full_device_is_an_error() {
    let world = World::new();
    world.write("work/t.jinja", "{{ messages[0].content }}");
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["help", "run"],
        &["run", "--help"],
        &["man"],
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
        &["trust", "--list"],
    ] {
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
    for (what, line) in sample(lines.to_vec(), 3) {
        for engine in ["rolecall-jinja", "rolecall-go", "minijinja"] {
            let seen = world.rolecall_in(
                "work",
                &["serve", engine],
                format!("{start}{line}\n").as_bytes(),
            );
            let complaints = seen.complaints(&[0]);
            assert!(complaints.is_empty(), "{engine}, {what}: {complaints:?}");
        }
    }
}
