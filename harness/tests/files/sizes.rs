//! Files that never end, or have more of something than anybody would write.

use std::time::{Duration, Instant};

use rolecall_suite::case_file::read_family;

use crate::extent::{is_everything, sample};

use super::{Folder, ended, has, link, pipe};

/// The commands refuse devices and pipes before they open them. Otherwise none of these commands
/// would end.
#[test]
fn devices_and_pipes_are_not_read() {
    let folder = Folder::new();
    pipe(&folder.path("pipe.jinja"));
    pipe(&folder.path("pipe.json"));
    pipe(&folder.path("pipe.gguf"));
    pipe(&folder.path("Modelfile"));
    link("/dev/zero", &folder.path("zero.jinja"));
    link("/dev/zero", &folder.path("zero.json"));
    link("/dev/zero", &folder.path("zero.gguf"));
    link("/dev/zero", &folder.path("zero.modelfile"));
    for name in sample(
        vec![
            "pipe.jinja",
            "pipe.json",
            "pipe.gguf",
            "Modelfile",
            "zero.jinja",
            "zero.json",
            "zero.gguf",
            "zero.modelfile",
            "/dev/zero",
            "/dev/full",
            "/dev/null",
        ],
        2,
    ) {
        let path = folder.path(name);
        let path = path.to_str().unwrap();
        for command in [
            &["check", path][..],
            &["list", "templates", "--templates", path],
            &["render", "--cases", path],
        ] {
            let ran = folder.rolecall(command);
            assert_eq!(ended(&ran), 2, "{command:?}");
            let said = ran.stderr();
            let is_clear = ["not a regular file", "not a template"]
                .iter()
                .any(|words| said.contains(words));
            assert!(is_clear, "{command:?} {said}");
        }
    }
    // Among other files, they are reported and the rest is read.
    folder.write("some/a.jinja", "A");
    pipe(&folder.path("some/b.jinja"));
    link("/dev/zero", &folder.path("some/c.jinja"));
    let path = folder.path("some");
    let ran = folder.rolecall(&["list", "templates", "--templates", path.to_str().unwrap()]);
    assert!(ran.stdout().starts_with("a "), "{}", ran.stdout());
    has(
        &ran.stderr(),
        &[
            "b.jinja: not a regular file",
            "c.jinja: a link that leads outside of ",
        ],
    );
}

fn within<T>(most: Duration, what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    let took = start.elapsed();
    assert!(took < most, "{what} took {took:?}");
    result
}

/// Reading takes time in proportion to the file, not to its square: these files would take hours.
#[test]
fn many_cases_are_read_as_fast_as_few() {
    let (many, most) = if is_everything() {
        (80_000, Duration::from_mins(2))
    } else {
        (5_000, Duration::from_secs(10))
    };
    let folder = Folder::empty();
    folder.write("tools/t.json", "{}");
    let file = |entry: &dyn Fn(usize) -> String| {
        let entries: Vec<String> = (0..many).map(entry).collect();
        let text = format!(r#"{{"about": "x", "cases": {{{}}}}}"#, entries.join(","));
        let path = folder.write("cases/many.json", &text);
        within(most, &entry(0), || {
            read_family(&path, &[folder.path("tools")])
        })
    };
    let family = file(&|n| format!(r#""c{n}":{{"messages":[],"tools":["t"]}}"#));
    assert_eq!((family.cases.len(), family.problems.len()), (many, 0));

    for entry in [
        &(|n| format!(r#""c{n}":{{"messagez":[]}}"#)) as &dyn Fn(usize) -> String,
        &|_| r#""c":{"messages":[]}"#.to_owned(),
        &|n| format!(r#""C{n}":{{"messages":[]}}"#),
        &|n| format!(r#""c{n}":{{"messages":[],"tools":["nope"]}}"#),
    ] {
        let family = file(entry);
        // The first hundred, and how many more.
        assert_eq!(family.problems.len(), 101);
        let last = family.problems[100].to_string();
        assert!(last.contains("more problems in this file"), "{last}");
        assert!(family.cases.len() <= 1);
    }
}

/// A word of some megabytes is not compared with other words, and not printed whole.
#[test]
fn long_words_are_cut_in_messages() {
    let folder = Folder::new();
    let long = "k".repeat(3 << 20);
    folder.write(
        "cases/conversations/long.json",
        &format!(r#"{{"about": "x", "cases": {{"a": {{"messages": [], "{long}": 1}}}}}}"#),
    );
    folder.write(
        "cases/templates/strict.json",
        &format!(r#"{{"{long}": 1}}"#),
    );
    let ran = within(Duration::from_mins(1), "one key", || {
        folder.rolecall(&["lint"])
    });
    assert_eq!(ended(&ran), 2);
    assert!(ran.stderr().len() < 100_000, "{} bytes", ran.stderr().len());
    has(
        &ran.stderr(),
        &[
            "long.json:1:48: unknown key `kkk",
            "strict.json:1:2: unknown key `kkk",
        ],
    );
}

/// Values stay as they are written, however large. Depth is limited, and the error has a place.
#[test]
fn numbers_and_depth() {
    let folder = Folder::new();
    let digits = "9".repeat(100_000);
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    folder.write(
        "cases/conversations/deep.json",
        &format!(
            r#"{{"about": "x", "cases": {{"a": {{"messages": [{{"content": {}}}]}}}}}}"#,
            nested(600)
        ),
    );
    folder.write(
        "cases/conversations/large.json",
        &format!(
            "{{\"about\": \"x\",\r\n \"cases\": {{\"a\": {{\"messages\": [{{\"content\": {digits}}}, {{\"content\": 1e999999}}, {{\"content\": {}}}]}}}}}}",
            nested(200)
        ),
    );
    let ran = folder.rolecall(&["render", "chat", "--format", "jsonl"]);
    assert_eq!(ended(&ran), 2);
    has(
        &ran.stderr(),
        &["deep.json:1:", "not JSON: Maximum nesting depth exceeded"],
    );
    let lines = ran.json_lines();
    let text = lines.iter().find(|line| line["case"] == "large/a").unwrap();
    has(text["text"].as_str().unwrap(), &[&digits]);
}

/// Lines are counted by line feeds, with or without carriage returns.
#[test]
fn line_endings_of_json_change_nothing() {
    let folder = Folder::empty();
    let text = "{\n \"about\": \"x\",\n \"cases\": {\"a\": {\n  \"mesages\": []}}\n}\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let path = folder.write("a.json", &text);
        let problems: Vec<String> = read_family(&path, &[])
            .problems
            .iter()
            .map(ToString::to_string)
            .collect();
        has(&problems.join("\n"), &["a.json:4:3: unknown key `mesages`"]);
    }
}
