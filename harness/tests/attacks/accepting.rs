//! Results that would be accepted although nobody was asked, or lost although they were accepted.

use std::fs;
use std::process::Stdio;

use super::World;
use crate::extent::sample;

const TEMPLATE: &str = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}";

fn world(engine: &str) -> World {
    let world = World::new();
    let engines = if engine.is_empty() {
        String::new()
    } else {
        format!("[engines]\njinja = {}\n", serde_json::Value::from(engine))
    };
    world.write(
        "work/rolecall.toml",
        format!("contracts = \"off\"\n[templates]\na = \"a.jinja\"\nb = \"b.jinja\"\n[cases]\nbuiltin = [\"plain\", \"bad-roles\"]\n{engines}"),
    );
    world.write("work/a.jinja", TEMPLATE);
    world.write("work/b.jinja", TEMPLATE);
    world
}

/// Two programs that accept different parts at once: both parts are there afterwards.
#[test]
fn no_acceptance_is_lost() {
    for _ in sample(vec![1, 2, 3], 3) {
        let world = world("");
        let parts = [
            "a:plain/*",
            "a:bad-roles/*",
            "a:plain/single-turn",
            "b",
            "a:plain/s*",
        ];
        let running: Vec<_> = parts
            .iter()
            .map(|part| {
                world
                    .command("work", &["accept", part])
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for mut child in running {
            assert!(child.wait().unwrap().success());
        }
        world.rolecall(&["run", "--quiet"]).is_well(&[0]);
    }
}

/// Engines that give no result: nothing of it is accepted, and the command says so.
#[test]
fn what_is_no_result_is_not_accepted() {
    let greeting = r#"echo '{"rolecall": 1, "engine": "e", "version": "1", "dialect": "jinja"}'"#;
    let adapters = [
        ("dies at once", "#!/bin/sh\nexit 3\n".to_owned()),
        (
            "dies after its greeting",
            format!("#!/bin/sh\nread -r x\n{greeting}\nexit 3\n"),
        ),
        (
            "says nonsense",
            format!("#!/bin/sh\nread -r x\n{greeting}\nwhile read -r x; do echo nonsense; done\n"),
        ),
        (
            "dies when it renders",
            format!(
                "#!/bin/sh\nread -r x\n{greeting}\nread -r x\necho '{{\"id\": 1, \"ok\": true}}'\nread -r x\nexit 3\n"
            ),
        ),
    ];
    for (name, adapter) in sample(adapters.to_vec(), 4) {
        let world = world("./adapter");
        world.write_program("work/adapter", &adapter);
        for arguments in [
            &["accept", "*", "--allow-engines"][..],
            &["accept", "*", "--allow-engines", "--also", "exceeded"],
        ] {
            let seen = world.rolecall(arguments);
            assert!(
                seen.complaints(&[1, 2]).is_empty(),
                "{name}: {:?}",
                seen.complaints(&[1, 2])
            );
            let snapshots = world.path("work/snapshots");
            let is_empty =
                fs::read_dir(snapshots).map_or(true, |mut entries| entries.next().is_none());
            assert!(is_empty, "{name}");
        }
        for arguments in [
            &["run", "--allow-engines"][..],
            &["render", "--allow-engines"],
        ] {
            let seen = world.rolecall(arguments);
            assert!(
                seen.complaints(&[1, 2]).is_empty(),
                "{name}: {:?}",
                seen.complaints(&[1, 2])
            );
        }
    }
}

/// Engines that die, also after many answers: no command passes because nobody was asked.
#[test]
fn an_engine_that_dies_passes_nothing() {
    let greeting = r#"echo '{"rolecall": 1, "engine": "e", "version": "1", "dialect": "jinja"}'"#;
    // It answers so many requests, and never starts again.
    let adapter = |answers: usize| {
        format!(
            "#!/bin/sh\nif [ -e died ]; then exit 3; fi\nread -r x\n{greeting}\nn=0\nwhile read -r line; do\n  n=$((n+1)); if [ $n -gt {answers} ]; then touch died; exit 3; fi\n  id=${{line%%,\\\"template*}} id=${{id##*\\\"id\\\":}}\n  case $line in\n    *request\\\":\\\"load*) echo \"{{\\\"id\\\": $id, \\\"ok\\\": true}}\" ;;\n    *) echo \"{{\\\"id\\\": $id, \\\"outcome\\\": \\\"rendered\\\", \\\"text\\\": \\\"x\\\"}}\" ;;\n  esac\ndone\n"
        )
    };
    for answers in sample(vec![5, 1, 2, 12], 4) {
        let commands = vec![
            &["run", "--templates", "a.jinja", "--engine", "./adapter"][..],
            &["render", "--templates", "a.jinja", "--engine", "./adapter"],
            &[
                "render",
                "--templates",
                "a.jinja",
                "--engine",
                "./adapter",
                "--format",
                "jsonl",
            ],
            &["run", "--templates", "a.jinja", "--against", "./adapter"],
            &[
                "diff",
                "--engines",
                "./adapter,./adapter",
                "--templates",
                "a.jinja",
            ],
            &["diff", "--engine", "./adapter", "a.jinja", "b.jinja"],
            &["check", "--engine", "./adapter", "a.jinja"],
            &["run", "--engine", "./adapter"],
        ];
        for arguments in sample(commands, 3) {
            let world = world("");
            world.write_program("work/adapter", &adapter(answers));
            let arguments = [arguments, &["--jobs", "1"]].concat();
            let seen = world.rolecall(&arguments);
            let complaints = seen.complaints(&[1, 2]);
            assert!(
                complaints.is_empty(),
                "{answers}, {arguments:?}: {complaints:?}\n{}",
                seen.printed()
            );
        }
    }
}
