//! Folders that want to start something: nothing runs unless the user says so.

use std::fs;
use std::os::unix::fs::chown;

use super::World;
use crate::extent::sample;

/// Commands that are about templates or the suite, and start no engine of a file.
const WITHOUT_ENGINES: [&[&str]; 12] = [
    &["check", "chat_template.jinja"],
    &["check"],
    &["check", "--format", "json"],
    &["diff", "chat_template.jinja", "other.jinja"],
    &["list", "templates"],
    &["list", "engines"],
    &["list", "cases"],
    &["lint"],
    &["explain", "tools-kept"],
    &["export", "exported"],
    &["matrix"],
    &["show", "mine", "--probe"],
];

/// Commands that ask the engines of a suite.
const WITH_ENGINES: [&[&str]; 7] = [
    &["run"],
    &["run", "--format", "jsonl"],
    &["render"],
    &["show", "mine", "plain/single-turn"],
    &["accept", "mine"],
    &["accept", "mine", "--dry-run"],
    &["accept", "--verified"],
];

/// A folder of somebody else with a `rolecall.toml`, whose engine is this text.
fn folder_with(world: &World, engine: &str) {
    let engine = serde_json::Value::from(engine);
    world.write(
        "work/rolecall.toml",
        format!(
            "[templates]\nmine = \"chat_template.jinja\"\n[cases]\nbuiltin = [\"plain/single-turn\"]\n[engines]\njinja = {engine}\n"
        ),
    );
    let template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}";
    world.write("work/chat_template.jinja", template);
    world.write("work/other.jinja", "{{ messages[0].content }}");
}

/// The ways to write a command that leaves a mark.
fn engines(world: &World) -> Vec<String> {
    let script = world.write_program(
        "work/adapter.sh",
        &format!("#!/bin/sh\n{}\n", world.touch("script")),
    );
    world.write_program(
        "work/.engines/planted",
        &format!("#!/bin/sh\n{}\n", world.touch("planted")),
    );
    vec![
        world.touch("direct"),
        format!("sh -c '{}'", world.touch("shell")),
        "./adapter.sh".to_owned(),
        script.display().to_string(),
        "planted".to_owned(),
        ".engines/planted".to_owned(),
        format!("env X=1 {}", world.touch("env")),
    ]
}

/// Six commands are tried, each with another engine, or all if the tests try everything.
#[test]
fn no_command_of_a_file_runs_unasked() {
    let engines_in = |world: &World, index: usize| {
        folder_with(world, &engines(world)[index]);
    };
    let engines = 0..engines(&World::new()).len();
    let commands = WITHOUT_ENGINES.map(|one| (one, false)).into_iter();
    let commands = commands.chain(WITH_ENGINES.map(|one| (one, true)));
    let all = engines
        .clone()
        .flat_map(|index| commands.clone().map(move |command| (index, command)));
    for (index, (arguments, asks_engines)) in sample(all.collect(), 23) {
        let world = World::new();
        engines_in(&world, index);
        let seen = world.rolecall(arguments);
        if asks_engines {
            seen.is_well(&[2])
                .says(&["nothing was started", "--allow-engines"]);
        } else {
            seen.is_well(&[0, 1, 2]);
        }
    }
    for index in sample(engines.collect(), 7) {
        let world = World::new();
        engines_in(&world, index);
        // From outside of the folder, the file is not even looked at.
        world
            .rolecall_in("home", &["check", "../work"], b"")
            .is_well(&[0, 1, 2]);
    }
}

#[test]
fn a_command_of_a_file_runs_only_where_the_user_allows_it() {
    let mut world = World::new();
    folder_with(&world, &world.touch("mark"));
    // An earlier version kept what the user had allowed.
    let folder = world.path("work").canonicalize().unwrap();
    let kept = serde_json::json!({"folders": {folder.to_str().unwrap(): [world.touch("mark")]}});
    world.write("home/.config/rolecall/trusted.json", kept.to_string());
    let refused = |world: &World| {
        world.rolecall(&["run"]).is_well(&[2]).says(&[
            "nothing was started",
            "marks/mark",
            "--allow-engines",
        ]);
    };
    refused(&world);
    let ran = world.rolecall(&["run", "--allow-engines"]);
    assert_eq!(ran.marks(), ["mark"]);
    fs::remove_file(world.path("marks/mark")).unwrap();
    // It was for that command alone.
    refused(&world);
    world.set("ROLECALL_ALLOW_ENGINES", "0");
    refused(&world);
    world.set("ROLECALL_ALLOW_ENGINES", "1");
    assert_eq!(world.rolecall(&["run"]).marks(), ["mark"]);
}

/// A file of another user can be changed at any time: the option is not enough.
#[test]
fn nothing_of_another_user_runs() {
    let world = World::new();
    folder_with(&world, &world.touch("foreign"));
    let file = world.path("work/rolecall.toml");
    // Only the administrator can give files away.
    if chown(&file, Some(12345), None).is_err() {
        return;
    }
    for arguments in [
        &["run"][..],
        &["run", "--allow-engines"],
        &["accept", "mine", "--allow-engines"],
    ] {
        world
            .rolecall(arguments)
            .is_well(&[2])
            .says(&["belongs to another user"]);
    }
    // Nor of a folder above the user's own.
    fs::create_dir(world.path("work/below")).unwrap();
    world
        .rolecall_in("work/below", &["run", "--allow-engines"], b"")
        .is_well(&[2]);
}

/// A folder that looks like a checkout of this project is somebody else's all the same.
#[test]
fn programs_in_a_folder_that_looks_like_a_checkout_do_not_run() {
    for is_whole in [false, true] {
        let world = World::new();
        for folder in ["cases/conversations", "cases/templates", "snapshots"] {
            fs::create_dir_all(world.path("work").join(folder)).unwrap();
        }
        if is_whole {
            world.write("work/cases/templates/t.jinja", "{{ messages[0].content }}");
            let case = r#"{"about": "x", "cases": {"y": {"about": "z", "messages": [{"role": "user", "content": "Hi"}]}}}"#;
            world.write("work/cases/conversations/plain.json", case);
            for name in ["Cargo.toml", "Cargo.lock", "harness/cli/Cargo.toml"] {
                world.write(&format!("work/{name}"), "");
            }
        }
        for name in ["transformers", "ollama", "huggingface-js", "bin/go"] {
            let program = format!("#!/bin/sh\n{}\n", world.touch("program"));
            for folder in [".references", ".engines"] {
                world.write_program(&format!("work/{folder}/{name}"), &program);
            }
        }
        let script = format!("#!/bin/sh\n{}\n", world.touch("script"));
        world.write_program("work/scripts/setup-references", &script);
        for arguments in [
            &["run"][..],
            &["run", "--against", "transformers"],
            &["run", "--engine", "transformers"],
            &["run", "--engine", "huggingface-js"],
            &["run", "--engine", "ollama"],
            &["render", "--engine", "transformers"],
            &["reference", "verify"],
            &["reference", "update"],
            &["accept", "--verified"],
            &["matrix", "update", "transformers"],
            &["matrix", "verify", "huggingface-js"],
            &["probe-engine", "transformers"],
            &["probe-engine", "huggingface-js"],
            &["diff", "--engines", "rolecall-jinja,transformers"],
            &["check", "--engine", "transformers"],
        ] {
            world.rolecall(arguments).is_well(&[0, 1, 2]);
        }
    }
}

/// Nobody's program learns the user's secrets, unless the user gives it one.
#[test]
fn engines_do_not_inherit_secrets() {
    let mut world = World::new();
    let dump = world.path("outside").with_file_name("environment");
    let program = format!("#!/bin/sh\nenv > {}\n", dump.display());
    world.write_program("work/adapter", &program);
    folder_with(&world, "./adapter");
    world.set("DATABASE_URL", "postgres://me:secret-word@host/db");
    for arguments in [
        &["run", "--allow-engines"][..],
        &["run", "--engine", "./adapter"],
        &["probe-engine", "./adapter"],
        &["render", "--engine", "./adapter"],
    ] {
        world.rolecall(arguments);
        let environment = fs::read_to_string(&dump).unwrap();
        fs::remove_file(&dump).unwrap();
        assert!(environment.contains("HOME="), "{environment}");
        assert!(
            !environment.to_lowercase().contains("secret"),
            "{environment}"
        );
    }
    world.set("ROLECALL_ENGINE_ENV", "HF_TOKEN");
    world.rolecall(&["run", "--engine", "./adapter"]);
    let environment = fs::read_to_string(&dump).unwrap();
    assert!(environment.contains("hf_secretToken"), "{environment}");
    assert!(!environment.contains("secret-aws"), "{environment}");
}

/// A repository whose configuration names commands, and lacks what is asked for.
#[test]
fn git_runs_no_command_of_a_repository() {
    let world = World::new();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command
            .args(arguments)
            .current_dir(world.path("work"))
            .env("HOME", world.path("home"));
        command
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@b");
        command
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@b");
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    world.write("work/t.jinja", "{{ messages[0].content }}");
    git(&["add", "t.jinja"]);
    git(&["commit", "-qm", "x"]);
    let object = git(&["rev-parse", "HEAD:t.jinja"]);
    let object = object.trim();
    let folder = format!("work/.git/objects/{}", &object[..2]);
    fs::remove_file(world.path(&folder).join(&object[2..])).unwrap();
    let command = world.touch("git");
    let wait = "sh -c 'sleep 100'";
    for (key, value) in [
        ("core.fsmonitor", command.as_str()),
        ("core.sshCommand", &command),
        ("core.pager", &command),
        ("core.hooksPath", "."),
        ("credential.helper", &format!("!{command}")),
        ("core.alternateRefsCommand", &command),
        ("remote.origin.url", &format!("ext::sh -c '{command}'")),
        ("protocol.ext.allow", "always"),
        ("protocol.allow", "always"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.uploadpack", wait),
        ("alias.rev-parse", &format!("!{command}")),
        ("alias.cat-file", &format!("!{command}")),
    ] {
        git(&["config", key, value]);
    }
    for arguments in [
        &["diff", "HEAD:t.jinja", "t.jinja"][..],
        &["diff", "HEAD:", "t.jinja"],
        &["diff", "HEAD:missing", "t.jinja"],
        &["diff", "nothing:t.jinja", "t.jinja"],
    ] {
        world.rolecall(arguments).is_well(&[0, 1, 2]);
    }
}
