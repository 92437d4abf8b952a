//! Names of files that look like something else: options, models on a hub, standard input.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::World;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Names that a repository may give its files.
const NAMES: [&str; 7] = [
    "--engine=sh evil.jinja",
    "-oX.jinja",
    "--html=X.jinja",
    "--write-baseline=X.jinja",
    "hf:org/name.jinja",
    "ollama:x.jinja",
    "-",
];

/// Writes files with all the names, and a script that a command of theirs would start.
fn write_all(world: &World) {
    for name in NAMES {
        world.write(&format!("work/{name}"), "{{ messages[0].content }}");
    }
    let script = format!("#!/bin/sh\n{}\n", world.touch("evil"));
    world.write_program("work/evil.jinja", &script);
}

/// The words with which pre-commit starts a hook: `entry`, and then the files.
fn entry_of_the_hook() -> Vec<String> {
    let hooks = fs::read_to_string(Path::new(ROOT).join(".pre-commit-hooks.yaml")).unwrap();
    let entry = hooks
        .lines()
        .find_map(|line| line.trim().strip_prefix("entry: rolecall "));
    let words = entry.unwrap().split(' ');
    words.map(str::to_owned).collect()
}

#[test]
fn the_hook_takes_every_name_for_a_file() {
    let entry = entry_of_the_hook();
    for name in NAMES {
        let world = World::new();
        write_all(&world);
        let mut arguments: Vec<&str> = entry.iter().map(String::as_str).collect();
        // The list of a hook has more than one.
        arguments.extend([name, "evil.jinja"]);
        let seen = world.rolecall(&arguments);
        seen.is_well(&[1, 2]);
        assert!(
            !seen.printed().contains("no such file"),
            "{name}: {}",
            seen.printed()
        );
        assert!(!world.path("work/X.jinja").exists(), "{name} writes");
    }
}

/// The action's script, with what a workflow gives it.
fn act(world: &World, inputs: &[(&str, &str)]) -> Output {
    let mut command = Command::new("bash");
    command
        .arg(Path::new(ROOT).join("scripts/action"))
        .current_dir(world.path("work"))
        .env("ROLECALL", env!("CARGO_BIN_EXE_rolecall-checkout"))
        .env("ROLECALL_CACHE", crate::folder::CACHE)
        .env("HOME", world.path("home"))
        .env("RUNNER_TEMP", world.path("home"))
        .env("GITHUB_OUTPUT", world.path("home/output"))
        .env("GITHUB_STEP_SUMMARY", world.path("home/summary"))
        .env("GITHUB_ACTIONS", "true")
        .envs(inputs.iter().copied());
    command.output().unwrap()
}

#[test]
fn the_action_takes_every_name_for_a_file() {
    let world = World::new();
    write_all(&world);
    let names = NAMES.join("\n");
    let output = act(&world, &[("TEMPLATES", &names)]);
    assert!(!world.path("marks/evil").exists());
    let log = String::from_utf8_lossy(&output.stdout);
    for name in ["--engine=sh evil", "-oX", "ollama:x"] {
        assert!(log.contains(name), "{log}");
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("no such file"), "{said}");
    let wrong = act(&world, &[("MODELS", "--engine=sh evil.jinja")]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(!world.path("marks/evil").exists());
}

#[test]
fn the_folder_of_the_action_forges_no_output() {
    let world = World::new();
    let folder = "a\nexit-code=0\npage=x";
    world.write(
        &format!("work/{folder}/t.jinja"),
        "{{ messages[0].content }}",
    );
    let output = act(&world, &[("FOLDER", folder), ("TEMPLATES", "t.jinja")]);
    assert_eq!(output.status.code(), Some(2));
    let written = fs::read_to_string(world.path("home/output")).unwrap_or_default();
    assert!(!written.contains("exit-code=0"), "{written}");
}

#[test]
fn a_name_begins_no_record_of_lcov() {
    let world = World::new();
    for name in ["a\u{2028}SF:b.jinja", "a\u{85}SF:b.jinja", "a\nSF:b.jinja"] {
        world.write(&format!("work/{name}"), "{% if tools %}x{% endif %}");
    }
    let seen = world.rolecall(&["cover", "--format", "lcov", "."]);
    seen.is_well(&[0, 1]);
    let lines = seen.printed();
    let lines = lines.split(['\n', '\u{85}', '\u{2028}']);
    assert!(!lines.into_iter().any(|line| line == "SF:b.jinja"));
}
