//! Folders whose files are not what they seem: links, pipes, devices, sizes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::World;
use crate::extent::sample;

/// What is in the place of a file.
const STRANGE: [&str; 10] = [
    "a link outside",
    "an absolute link",
    "a link through a folder",
    "a link to itself",
    "a link to nothing",
    "a pipe",
    "a folder",
    "an endless device",
    "a link to /proc",
    "ten gibibytes",
];

/// Puts something strange in the place of a file.
fn put(world: &World, strange: &str, name: &str) {
    let path = world.path(name);
    let _ = fs::remove_file(&path);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let secret = world.path("outside/secret.json");
    let up = "../".repeat(name.matches('/').count());
    match strange {
        "a link outside" => world.link(name, format!("{up}outside/secret.json")),
        "an absolute link" => world.link(name, secret),
        "a link through a folder" => {
            world.link("work/through", world.path("outside"));
            let up = "../".repeat(name.matches('/').count() - 1);
            world.link(name, format!("{up}through/secret.json"));
        }
        "a link to itself" => world.link(name, path.file_name().unwrap()),
        "a link to nothing" => world.link(name, "nothing"),
        "a pipe" => mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap(),
        "a folder" => fs::create_dir(&path).unwrap(),
        "an endless device" => world.link(name, "/dev/zero"),
        "a link to /proc" => world.link(name, "/proc/self/environ"),
        "ten gibibytes" => fs::File::create(&path).unwrap().set_len(10 << 30).unwrap(),
        other => unreachable!("{other}"),
    }
}

/// Every file with everything strange.
fn combined<'f>(files: &[&'f str]) -> Vec<(&'f str, &'static str)> {
    let files = files.iter();
    let all = files.flat_map(|file| STRANGE.iter().map(move |strange| (*file, *strange)));
    all.collect()
}

/// A model folder, of which one file is strange.
#[test]
fn models_with_strange_files() {
    let files = [
        "chat_template.jinja",
        "chat_template.json",
        "tokenizer_config.json",
        "tokenizer.json",
        "special_tokens_map.json",
        "generation_config.json",
        "config.json",
        "processor_config.json",
        "additional_chat_templates/tool_use.jinja",
        "model.gguf",
        "Modelfile",
    ];
    let mut count = 0;
    let mut wrong = Vec::new();
    for (file, strange) in sample(combined(&files), 37) {
        let world = World::new();
        world.write(
            "work/model/tokenizer_config.json",
            r#"{"chat_template": "x", "bos_token": "<s>"}"#,
        );
        world.write("work/model/config.json", "{}");
        put(&world, strange, &format!("work/model/{file}"));
        for arguments in [
            &["check", "model"][..],
            &["render", "--templates", "model", "*:plain/*"],
        ] {
            count += 1;
            let complaints = world.rolecall(arguments).complaints(&[0, 1, 2]);
            if !complaints.is_empty() {
                wrong.push(format!(
                    "{strange} as {file}, {arguments:?}: {complaints:?}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A suite of which one file is strange.
#[test]
fn suites_with_strange_files() {
    let files = [
        "rolecall.toml",
        "cases/own.json",
        "cases/tools/t.json",
        "tools/t.json",
        "t.jinja",
        "t.json",
        "snapshots/plain.snap",
        "snapshots/reference.json",
        "snapshots/own.snap.new",
        "snapshots/divergences.json",
    ];
    let mut count = 0;
    let mut wrong = Vec::new();
    for (file, strange) in sample(combined(&files), 67) {
        let world = suite();
        put(&world, strange, &format!("work/{file}"));
        for arguments in [
            &["run"][..],
            &["lint"],
            &["accept", "*"],
            &["check"],
            &["list", "cases"],
        ] {
            count += 1;
            let complaints = world.rolecall(arguments).complaints(&[0, 1, 2]);
            if !complaints.is_empty() {
                wrong.push(format!(
                    "{strange} as {file}, {arguments:?}: {complaints:?}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn suite() -> World {
    let world = World::new();
    world.write(
        "work/rolecall.toml",
        "[templates]\nt = \"t.jinja\"\n[cases]\nbuiltin = [\"plain/single-turn\"]\n",
    );
    world.write("work/t.jinja", "{{ messages[0].content }}");
    let case = r#"{"about": "x", "cases": {"y": {"about": "z", "messages": [{"role": "user", "content": "Hi"}], "tools": ["t"]}}}"#;
    world.write("work/cases/own.json", case);
    world.write(
        "work/cases/tools/t.json",
        r#"{"type": "function", "function": {"name": "t"}}"#,
    );
    world
}

/// What a suite names lies below it.
#[test]
#[allow(clippy::items_after_statements)] // It is a type for one table.
fn a_suite_names_nothing_outside() {
    let outside = World::new();
    let absolute =
        |world: &World, name: &str| world.path("outside").join(name).display().to_string();
    drop(outside);
    type Line = fn(&World, &str) -> String;
    let lines: [(&str, Line); 5] = [
        ("source", |_, path| format!("[templates]\nt = {path}\n")),
        ("a table", |_, path| {
            format!("[templates.t]\nsource = {path}\n")
        }),
        ("own", |_, path| {
            format!("[templates]\nt = \"t.jinja\"\n[cases]\nown = [{path}]\n")
        }),
        ("snapshots", |_, path| {
            format!("snapshots = {path}\n[templates]\nt = \"t.jinja\"\n")
        }),
        ("own in a list", |_, path| {
            format!("[templates]\nt = \"t.jinja\"\n[cases]\nown = [\"cases\", {path}]\n")
        }),
    ];
    let mut wrong = Vec::new();
    let mut count = 0;
    let places = [
        "../outside",
        "../outside/secret.jinja",
        "../outside/secret.json",
        "/absolute",
        "/absolute/secret.jinja",
        "below/../../outside/secret.jinja",
        "link",
        "link/secret.jinja",
        "link/secret.json",
        "link/new",
        "file.jinja",
        "file.json",
        "./.././outside",
        "/proc/self/environ",
        "/etc/passwd",
        "~/secret",
        "",
    ];
    let lines = lines.iter();
    let all = lines.flat_map(|line| places.iter().map(move |place| (line, *place)));
    for ((what, line), place) in sample(all.collect(), 43) {
        let world = suite();
        world.link("work/link", "../outside");
        world.link("work/file.jinja", "../outside/secret.jinja");
        world.link("work/file.json", "../outside/secret.json");
        fs::create_dir(world.path("work/below")).unwrap();
        let place = match place.strip_prefix("/absolute") {
            Some(rest) => absolute(&world, rest.trim_start_matches('/')),
            None => place.to_owned(),
        };
        let path = serde_json::Value::from(place.as_str()).to_string();
        world.write("work/rolecall.toml", line(&world, &path));
        for arguments in [
            &["run"][..],
            &["accept", "*"],
            &["check"],
            &["show", "t", "plain/single-turn"],
            &["list", "cases"],
        ] {
            count += 1;
            let seen = world.rolecall(arguments);
            let complaints = seen.complaints(&[0, 1, 2]);
            if !complaints.is_empty() {
                wrong.push(format!("{what} = {place}, {arguments:?}: {complaints:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Folders of a suite that are links: nothing is written through them. Every third folder is tried, or
/// all if the tests try everything.
#[test]
fn folders_that_are_links() {
    let folders = vec![
        ("snapshots", true),
        ("cases", true),
        ("tools", true),
        ("snapshots", false),
        ("cases/templates", false),
        ("cases/conversations", false),
        ("cases/tools", false),
        ("snapshots/cards", true),
    ];
    for (name, is_own) in sample(folders, 3) {
        let world = suite();
        let path = world.path("work").join(name);
        if !is_own {
            fs::remove_file(world.path("work/rolecall.toml")).unwrap();
            for folder in ["cases/conversations", "cases/templates", "snapshots"] {
                fs::create_dir_all(world.path("work").join(folder)).unwrap();
            }
        }
        let _ = fs::remove_dir_all(&path);
        world.link(&format!("work/{name}"), world.path("outside"));
        for arguments in [
            &["run"][..],
            &["accept", "*"],
            &["lint"],
            &["lint", "--fix"],
            &["check"],
            &["reference", "update"],
        ] {
            let complaints = world.rolecall(arguments).complaints(&[0, 1, 2]);
            assert!(
                complaints.is_empty(),
                "{name}, {arguments:?}: {complaints:?}"
            );
        }
    }
}

/// Another user's folder, or a link, in the place of a shared temporary folder.
#[test]
fn no_folder_of_others_is_trusted_in_place_of_a_home() {
    for prepared in ["rolecall", "rolecall-0", "link"] {
        let mut world = World::new();
        let shared = world.path("outside").with_file_name("shared");
        fs::create_dir(&shared).unwrap();
        world.set("TMPDIR", &shared.display().to_string());
        world.set("HOME", "/proc/nowhere");
        world.set("ROLECALL_CACHE", "");
        let script = format!("#!/bin/sh\n{}\n", world.touch("setup"));
        if prepared == "link" {
            std::os::unix::fs::symlink(world.path("outside"), shared.join("rolecall-0")).unwrap();
        } else {
            let suite = format!(
                "shared/{prepared}/suite-{}",
                rolecall_suite::builtin::fingerprint()
            );
            world.write_program(&format!("{suite}/scripts/setup-references"), &script);
            world.write(
                &format!("{suite}/.rolecall-suite"),
                rolecall_suite::builtin::fingerprint(),
            );
            world.write(&format!("{suite}/cases/conversations/x.json"), "{}");
            fs::set_permissions(shared.join(prepared), fs::Permissions::from_mode(0o777)).unwrap();
        }
        for arguments in [&["list", "cases"][..], &["reference", "setup", "nothing"]] {
            let complaints = world.rolecall(arguments).complaints(&[0, 1, 2]);
            assert!(
                complaints.is_empty(),
                "{prepared}, {arguments:?}: {complaints:?}"
            );
        }
    }
}

/// Folders in the cache that are not this program's.
#[test]
fn nothing_in_the_cache_is_removed_that_is_not_ours() {
    let mut world = World::new();
    let cache = world.path("outside");
    world.set("ROLECALL_CACHE", &cache.display().to_string());
    world.write("outside/suite-of-photos/photo", "mine");
    world.write("outside/suite-000000000000/photo", "mine");
    world.write("outside/.suite-photos/photo", "mine");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(300);
    for name in ["suite-of-photos", "suite-000000000000"] {
        fs::File::open(cache.join(name))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    world.rolecall(&["list", "fronts"]);
    for name in ["suite-of-photos", "suite-000000000000", ".suite-photos"] {
        assert!(cache.join(name).join("photo").is_file(), "{name}");
    }
}

/// Somebody exchanges a file for a link, again and again, while it is read.
#[test]
fn a_file_that_is_exchanged_while_it_is_read() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let world = World::new();
    world.write("work/model/config.json", "{}");
    world.write("work/file", "harmless");
    world.link("work/link", world.path("outside/secret.jinja"));
    let path = |name: &str| world.path("work").join(name);
    let is_over = AtomicBool::new(false);
    let mut answers = [0, 0];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for from in ["file", "link"] {
                    let new = path("model/new");
                    if from == "file" {
                        fs::copy(path(from), &new).unwrap();
                    } else {
                        let _ = fs::remove_file(&new);
                        world.link("work/model/new", world.path("outside/secret.jinja"));
                    }
                    fs::rename(new, path("model/chat_template.jinja")).unwrap();
                }
            }
        });
        let case = ["render", "--templates", "model", "*:plain/single-turn"];
        let least = sample((0..100).collect::<Vec<_>>(), 10).len();
        // Now and then it is the link each time, and until one is the file, nobody knows that any can be read.
        while answers[0] + answers[1] < least || answers[1] == 0 && answers[0] < 1000 {
            let seen = world.rolecall(&case);
            let complaints = seen.complaints(&[0, 1, 2]);
            answers[usize::from(seen.code() == Some(0))] += 1;
            if !complaints.is_empty() {
                is_over.store(true, Ordering::Relaxed);
            }
            assert!(complaints.is_empty(), "{complaints:?}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(answers[1] > 0, "{answers:?}");
}
