//! Runs that several machines share: their parts, and the combined results.

use crate::folder::{Folder, Ran};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.accept_all();
    folder
}

/// Saves what a command prints with `--format jsonl`.
fn save(folder: &Folder, name: &str, arguments: &[&str]) -> Ran {
    let ran = folder.rolecall(&[arguments, &["--format", "jsonl"]].concat());
    folder.write(name, &ran.stdout());
    ran
}

/// Everything but the time.
fn figures(ran: &Ran) -> String {
    let lines = ran.stdout();
    let lines = lines.lines().filter(|line| !line.contains("pairs/s"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_parts_add_up_to_the_run() {
    let folder = folder();
    for (name, part) in [("a.jsonl", "1/3"), ("b.jsonl", "2/3"), ("c.jsonl", "3/3")] {
        let ran = save(&folder, name, &["run", "--shard", part]);
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
    }
    let parts = ["run", "--results", "a.jsonl", "b.jsonl", "c.jsonl"];
    let (together, whole) = (folder.rolecall(&parts), folder.rolecall(&["run"]));
    assert_eq!(together.code(), 0, "{}", together.stdout());
    assert_eq!(figures(&together), figures(&whole));
    // A wrong result in a part is wrong in the whole.
    let text = std::fs::read_to_string(folder.path("a.jsonl")).unwrap();
    folder.write("a.jsonl", &text.replace("<assistant>", "<asistant>"));
    let ran = folder.rolecall(&parts);
    assert_eq!(ran.code(), 1, "{}", ran.stdout());
    assert!(ran.stdout().contains("asistant"), "{}", ran.stdout());
}

/// Another engine's saved results are judged like those of a program that runs.
#[test]
fn the_results_of_another_engine_are_figures_about_it() {
    let folder = folder();
    save(&folder, "plain.jsonl", &["run", "--engine", "minijinja"]);
    let ran = folder.rolecall(&["run", "--results", "plain.jsonl"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    assert!(
        ran.stdout().contains("templates that load: 2 of 2"),
        "{}",
        ran.stdout()
    );
    let text = std::fs::read_to_string(folder.path("plain.jsonl")).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    folder.write("plain.jsonl", first);
    folder.write("other.jsonl", &rest.replace("minijinja", "other"));
    let ran = folder.rolecall(&[
        "run",
        "--results",
        "plain.jsonl",
        "--results",
        "other.jsonl",
    ]);
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr().contains("results of `other "),
        "{}",
        ran.stderr()
    );
}

/// A measurement of an engine may be made in parts, too.
#[test]
fn parts_are_measured_as_a_whole_is() {
    let folder = folder();
    let engine = "minijinja";
    save(
        &folder,
        "a.jsonl",
        &["run", "--engine", engine, "--shard", "1/2"],
    );
    save(
        &folder,
        "b.jsonl",
        &["run", "--engine", engine, "--shard", "2/2"],
    );
    let ran = folder.rolecall(&["matrix", "update", engine]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let parts = [
        "matrix",
        "verify",
        engine,
        "--results",
        "a.jsonl",
        "b.jsonl",
    ];
    let ran = folder.rolecall(&parts);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    let text = std::fs::read_to_string(folder.path("b.jsonl")).unwrap();
    folder.write("b.jsonl", &text.replace("\"text\":\"", "\"text\":\"x"));
    assert_eq!(folder.rolecall(&parts).code(), 1);
    let ran = folder.rolecall(&["matrix", "verify", engine, "--results", "a.jsonl"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("were not asked"), "{}", ran.stderr());
}
