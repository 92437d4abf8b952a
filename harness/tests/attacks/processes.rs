//! Engines that do not end, and programs that are killed: no process and no draft stays behind.

use std::process::Stdio;
use std::time::Duration;

use super::World;
use crate::extent::sample;

/// Adapters that start more than one process.
const ADAPTERS: [(&str, &str); 6] = [
    ("a shell that waits", "#!/bin/sh\nsleep 600\n"),
    (
        "a helper in the background",
        "#!/bin/sh\nsleep 600 &\nsleep 600\n",
    ),
    (
        "a helper that outlives it",
        "#!/bin/sh\nsleep 600 &\nexit 3\n",
    ),
    (
        "a shell in a shell",
        "#!/bin/sh\nsh -c 'sh -c \"sleep 600\"; true'\n",
    ),
    (
        "deaf to signals",
        "#!/bin/sh\ntrap '' TERM INT HUP PIPE\nsleep 600 & sleep 600\n",
    ),
    (
        "hangs after its greeting",
        "#!/bin/sh\nread -r x\necho '{\"rolecall\": 1, \"engine\": \"e\", \"version\": \"1\", \"dialect\": \"jinja\"}'\nsleep 600 | sleep 600\n",
    ),
];

fn world(adapter: &str) -> World {
    let world = World::new();
    world.write_program("work/adapter", adapter);
    world.write("work/t.jinja", "{{ messages[0].content }}");
    let case = r#"{"about": "x", "cases": {"y": {"about": "z", "messages": [{"role": "user", "content": "Hi"}]}}}"#;
    world.write("work/c.json", case);
    world
}

#[test]
fn an_engine_that_takes_too_long_ends_with_all_its_processes() {
    for (name, adapter) in sample(ADAPTERS.to_vec(), 6) {
        let world = world(adapter);
        for arguments in [
            &["run", "--templates", "t.jinja", "--cases", "c.json"][..],
            &["render", "--templates", "t.jinja", "--cases", "c.json"],
            &["check", "t.jinja"],
        ] {
            let more = [
                "--engine",
                "./adapter",
                "--limits",
                "start=300ms,time=300ms",
            ];
            let arguments: Vec<&str> = arguments.iter().copied().chain(more).collect();
            let complaints = world.rolecall(&arguments).complaints(&[0, 1, 2]);
            assert!(
                complaints.is_empty(),
                "{name}, {arguments:?}: {complaints:?}"
            );
        }
        let limits = ["--limits", "start=300ms,time=300ms"];
        let arguments = [&["probe-engine", "./adapter"][..], &limits].concat();
        let complaints = world.rolecall(&arguments).complaints(&[0, 1, 2]);
        assert!(complaints.is_empty(), "{name}: {complaints:?}");
    }
}

/// However the program ends, its engines end, too.
#[test]
fn engines_end_with_the_program() {
    let signals = ["-KILL", "-INT", "-TERM", "-HUP", "-QUIT", "-ABRT"];
    for signal in sample(signals.to_vec(), 6) {
        let (_, adapter) = ADAPTERS[5];
        let world = world(adapter);
        let arguments = ["run", "--engine", "./adapter", "--templates", "t.jinja"];
        let mut child = world
            .command("work", &arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        // Until the engine is there.
        for _ in 0..200 {
            if world.count_processes() > 3 {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(world.count_processes() > 3, "{signal}");
        let id = child.id().to_string();
        let killed = std::process::Command::new("kill")
            .args([signal, &id])
            .status();
        assert!(killed.unwrap().success());
        child.wait().unwrap();
        let left = world.leftovers();
        assert!(left.is_empty(), "{signal}: {left:?}");
    }
}

/// A program that is killed while it writes leaves a draft, and the next one removes it.
#[test]
fn what_killed_programs_left_is_collected() {
    let mut world = World::new();
    let cache = world.path("home/cache");
    world.set("ROLECALL_CACHE", &cache.display().to_string());
    for delay in sample(vec![5, 10, 15, 20, 30, 40, 60, 80], 3) {
        let mut child = world
            .command("work", &["list", "cases"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    world.rolecall(&["list", "cases"]).is_well(&[0]);
    let left = std::fs::read_dir(&cache).unwrap().count();
    assert_eq!(left, 1, "only the suite is there");
}
