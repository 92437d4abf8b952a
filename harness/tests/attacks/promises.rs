//! Every sentence about what holds, in `SECURITY.md`, names a test that there is.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;

/// The tests of a module, by their names.
fn tests_of(module: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/tests");
    let file = root.join(module.replace("::", "/")).with_extension("rs");
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let pattern = Regex::new(r"(?m)^#\[test\]\n(?:#\[.*\n)*fn (\w+)\(").unwrap();
    pattern
        .captures_iter(&text)
        .map(|found| found[1].to_owned())
        .collect()
}

#[test]
fn every_promise_has_a_test() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/SECURITY.md")).unwrap();
    let begin = page.find("## Guarantees").unwrap();
    let end = page.find("## No guarantees").unwrap();
    let name = Regex::new("<!-- ([a-z_:]+) -->").unwrap();
    let mut promises = 0;
    let mut named = BTreeSet::new();
    for line in page[begin..end]
        .lines()
        .filter(|line| line.starts_with("- "))
    {
        promises += 1;
        assert!(name.is_match(line), "no test: {line}");
        for found in name.captures_iter(line) {
            let found = found[1].to_owned();
            if let Some(module) = found.strip_prefix("measured::") {
                assert!(
                    !tests_of(&format!("measured::{module}")).is_empty(),
                    "{found}"
                );
                continue;
            }
            let (module, test) = found.rsplit_once("::").unwrap();
            assert!(tests_of(module).contains(test), "no test: {found}");
            named.insert(found);
        }
    }
    assert!(
        promises > 25 && named.len() > 25,
        "{promises} promises, {} tests",
        named.len()
    );
}

/// The figures of the page on limits are those of the program.
#[test]
fn the_limits_are_as_the_page_says() {
    use rolecall_check::tokens::{isolation, vetting};
    use rolecall_core::file;
    use rolecall_core::json;
    use rolecall_io::source;
    use rolecall_suite::configuration;
    use rolecall_suite::conversation;
    use rolecall_suite::saved_run;

    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/harness/docs/limits.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
    let kibibytes = |bytes: usize| format!("{} KiB", bytes >> 10);
    let thousands = |count: usize| rolecall_cli::report::thousands(count);
    for (row, figures) in [
        ("any text file", vec![mebibytes(file::MOST_TEXT)]),
        ("a template, a case file", vec![mebibytes(file::MOST_CASES)]),
        (
            "a file with conversations",
            vec![
                mebibytes(conversation::MOST_LOG),
                thousands(conversation::MOST_LOG_VALUES),
                thousands(conversation::MOST_CONVERSATIONS),
            ],
        ),
        (
            "`rolecall.toml`",
            vec![
                mebibytes(file::MOST_CONFIGURATION),
                thousands(configuration::MOST_TEMPLATES),
            ],
        ),
        (
            "the values in a JSON file",
            vec![thousands(json::MOST_VALUES)],
        ),
        (
            "a special token;",
            vec![
                kibibytes(source::MOST_TOKEN),
                mebibytes(source::MOST_TOKENS as u64),
            ],
        ),
        (
            "`tokenizer.json`",
            vec![
                mebibytes(vetting::MOST_BYTES),
                thousands(vetting::MOST_WORDS),
                kibibytes(vetting::MOST_WORD_BYTES),
                thousands(vetting::MOST_MERGES),
                thousands(vetting::MOST_ADDED),
            ],
        ),
        (
            "the steps of a tokenizer",
            vec![
                format!("{} steps", vetting::MOST_STEPS),
                mebibytes(vetting::MOST_STEP_BYTES as u64),
                kibibytes(vetting::MOST_PATTERN_BYTES),
                format!("{} tokens", vetting::MOST_PIECES),
            ],
        ),
        (
            "how much longer",
            vec![format!("{} times", vetting::MOST_GROWTH)],
        ),
        (
            "the process that reads a tokenizer",
            vec![
                mebibytes(isolation::MOST_MEMORY),
                format!("{} s", isolation::SHORTEST.as_secs()),
            ],
        ),
        (
            "a saved run",
            vec![
                mebibytes(saved_run::MOST),
                thousands(saved_run::MOST_OUTCOMES),
                mebibytes(saved_run::MOST_LINE),
            ],
        ),
    ] {
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| {row}")));
        let line = line.unwrap_or_else(|| panic!("no row: {row}"));
        for figure in figures {
            assert!(line.contains(&figure), "{row}: {figure} is not in {line}");
        }
    }
}
