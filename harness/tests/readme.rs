//! The README's examples do what it says.
//!
//! In a `console` block, each `$ cargo run --release -- …` is run in the repository, and
//! prints what stands below it. A line `…` stands for any lines; counts and times in the
//! summaries may be others, for the suite grows. `json` blocks are read as what they are examples of.

use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use rolecall::case_file::read_family;
use rolecall::template_file::read_template;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn blocks(language: &str) -> Vec<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let pattern = format!(r"(?ms)^```{language}\n(.*?)^```$");
    Regex::new(&pattern)
        .unwrap()
        .captures_iter(&readme)
        .map(|block| block[1].to_owned())
        .collect()
}

/// The arguments of a command line: words, some of them in single quotes.
fn words(line: &str) -> Vec<String> {
    Regex::new(r"'([^']*)'|(\S+)")
        .unwrap()
        .captures_iter(line)
        .map(|word| word.get(1).or(word.get(2)).unwrap().as_str().to_owned())
        .collect()
}

fn pattern(command: &str, expected: &str) -> Regex {
    let number = Regex::new(r"\d[\d,.\\]*").unwrap();
    let spaces = Regex::new(" +").unwrap();
    let lines: Vec<String> = expected
        .lines()
        .map(|line| match line {
            "…" => "(?:.*\n)*?".to_owned(),
            line => {
                let mut line = regex::escape(line) + "\n";
                if command.starts_with("run") || command.starts_with("parity") {
                    line = number.replace_all(&line, r"[\d,.]+").into_owned();
                    line = spaces.replace_all(&line, " +").into_owned();
                }
                line
            }
        })
        .collect();
    Regex::new(&format!("^{}$", lines.concat())).unwrap()
}

#[test]
fn commands_print_what_the_readme_says() {
    let mut commands = 0;
    for block in blocks("console") {
        for example in block.split("$ cargo run --release -- ").skip(1) {
            let (line, expected) = example.split_once('\n').unwrap();
            let output = Command::new(env!("CARGO_BIN_EXE_rolecall"))
                .env("ROLECALL_CACHE", crate::folder::CACHE)
                .args(words(line))
                .current_dir(root())
                .output()
                .unwrap();
            let found = String::from_utf8(output.stdout).unwrap();
            assert!(
                pattern(line, expected).is_match(&found),
                "`{line}` printed:\n{found}\nbut the README says:\n{expected}"
            );
            commands += 1;
        }
    }
    assert!(commands >= 5, "{commands} examples were found");
}

#[test]
fn the_example_files_can_be_read() {
    let examples = blocks("json");
    let [case, sidecar] = examples.as_slice() else {
        panic!("{} JSON examples", examples.len());
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad-roles.json");
    std::fs::write(&path, case).unwrap();
    let family = read_family(&path, &[root().join("cases/tools")]);
    assert_eq!(family.problems, []);
    assert_eq!(family.cases.len(), 1);

    let path = folder.path().join("mine.jinja");
    std::fs::write(&path, "").unwrap();
    std::fs::write(path.with_extension("json"), sidecar).unwrap();
    assert!(read_template(&path).is_ok());
}

#[test]
fn the_error_shown_is_the_error_given() {
    let shown = "unknown key `mesages` in case `unknown-role`\n  did you mean `messages`?";
    assert!(blocks("text").iter().any(|block| block.contains(shown)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad-roles.json");
    let text = r#"{"about": "x", "cases": {"unknown-role": {"mesages": []}}}"#;
    std::fs::write(&path, text).unwrap();
    let problem = read_family(&path, &[]).problems[0].to_string();
    assert!(problem.contains(shown), "{problem}");
}
