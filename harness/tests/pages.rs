//! The examples in the README and in `harness/docs` do what the pages say.
//!
//! In a `console` block, each `$ cargo run -- …` runs in the repository, and each `$ rolecall …`
//! runs in a folder of the page's own, which has only the page's files. A block whose language is
//! followed by the name of a file, such as `jinja chat.jinja`, is that file. The lines below a
//! command are its output. A line `…` represents any lines. Times may differ, and so may the counts
//! of a whole suite, because it grows. Everything that is said about a template is exact, its
//! counts included. `json` blocks are examples of the project's own files, and are read as such.
//! `ROLECALL_PAGES=print` prints the commands' current output, and `ROLECALL_PAGES=write` writes
//! their numbers into the pages.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use regex::Regex;
use rolecall_io::template_file::read_template;
use rolecall_suite::case_file::read_family;

use crate::extent::{is_everything, sample};
use crate::folder::{CACHE, Folder};
use crate::project::LAYOUT;
use crate::scratch;

/// The width of a page for people with narrow terminals.
const COLUMNS: &str = "100";

/// The examples that take longest run only if the tests try everything: the export's own tests read
/// parts of it, and the target `cases` renders and compares what `run` does.
const LONG: [&str; 2] = ["export target/data", "run"];

/// The suite that the commands of the pages work on.
struct TriedSuite {
    /// The folder of the commands for this repository.
    checkout: PathBuf,
    /// The cache with the built-in suite.
    cache: PathBuf,
    /// Whether to try a command, in the repository or elsewhere.
    is_tried: fn(&str, bool) -> bool,
}

/// A page: its path and its text.
struct Page {
    path: PathBuf,
    text: String,
}

/// A block of code: its language, its file's name, and its text.
struct Block {
    language: String,
    file: Option<String>,
    text: String,
}

fn pages() -> Vec<Page> {
    let docs = std::fs::read_dir(LAYOUT.root().join("harness/docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = docs.chain([LAYOUT.root().join("README.md")]).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    let read = |path: PathBuf| Page {
        text: std::fs::read_to_string(&path).unwrap(),
        path,
    };
    paths.into_iter().map(read).collect()
}

impl Block {
    /// The commands of a `console` block, each with its output.
    fn examples(&self) -> Vec<(&str, &str)> {
        let examples = self.text.split("\n$ ").map(|example| {
            let example = example.trim_start_matches("$ ");
            example.split_once('\n').unwrap_or((example, ""))
        });
        examples.collect()
    }
}

impl Page {
    fn blocks(&self) -> Vec<Block> {
        Regex::new(r"(?ms)^```(\w+)(?: (\S+))?\n(.*?)^```$")
            .unwrap()
            .captures_iter(&self.text)
            .map(|block| Block {
                language: block[1].to_owned(),
                file: block.get(2).map(|file| file.as_str().to_owned()),
                text: block[3].to_owned(),
            })
            .collect()
    }

    fn blocks_in(&self, language: &str) -> Vec<String> {
        let blocks = self.blocks().into_iter();
        blocks
            .filter(|block| block.language == language)
            .map(|block| block.text)
            .collect()
    }

    /// Runs the page's commands, and returns how many there were.
    fn run(&self, suite: &TriedSuite) -> usize {
        let mode = std::env::var("ROLECALL_PAGES").unwrap_or_default();
        let mut text = self.text.clone();
        let folder = scratch::folder();
        let mut commands = 0;
        for block in self.blocks() {
            if let Some(file) = &block.file {
                std::fs::write(folder.path().join(file), &block.text).unwrap();
            }
            if block.language != "console" {
                continue;
            }
            for (line, expected) in block.examples() {
                let (arguments, place) = match line.strip_prefix("cargo run -- ") {
                    Some(arguments) => (arguments, suite.checkout.clone()),
                    None => (
                        line.strip_prefix("rolecall ").unwrap(),
                        folder.path().to_path_buf(),
                    ),
                };
                commands += 1;
                let is_in_checkout = line.starts_with("cargo ");
                if !(suite.is_tried)(arguments, is_in_checkout) {
                    continue;
                }
                let output = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
                    .env("ROLECALL_CACHE", &suite.cache)
                    .env("COLUMNS", COLUMNS)
                    .args(words(arguments))
                    .current_dir(place)
                    .output()
                    .unwrap();
                let found = String::from_utf8(output.stdout).unwrap();
                let page = self.path.display();
                if mode == "print" {
                    println!("{page}\n$ {line}\n{found}");
                } else if mode == "write"
                    && suite.checkout == LAYOUT.root()
                    && let Some(now) = with_numbers(expected, &found)
                {
                    text = text.replace(
                        &format!("$ {line}\n{expected}"),
                        &format!("$ {line}\n{now}"),
                    );
                } else {
                    assert!(
                        pattern(arguments, expected).is_match(&found),
                        "`{line}` printed:\n{found}\n{}\nbut {page} says:\n{expected}",
                        String::from_utf8_lossy(&output.stderr),
                    );
                }
            }
        }
        if text != self.text {
            std::fs::write(&self.path, text).unwrap();
        }
        commands
    }
}

/// The expected output of a command with the numbers of its output, if they differ in nothing else.
fn with_numbers(expected: &str, found: &str) -> Option<String> {
    let lines = Lines::of(expected, Numbers::Any);
    let found = lines.pattern.captures(found)?;
    let mut groups = found.iter().skip(1).flatten();
    let mut now = String::new();
    for line in expected.lines() {
        if line == "…" {
            now.push_str("…\n");
            continue;
        }
        let found = groups.next()?.as_str();
        let is_current = Lines::of(line, Numbers::Times).pattern.is_match(found);
        let line = format!("{line}\n");
        now.push_str(if is_current { &line } else { found });
    }
    // The last line of an example before another one has no end here.
    let is_whole = expected.is_empty() || expected.ends_with('\n');
    now.truncate(now.len() - usize::from(!is_whole));
    Some(now)
}

/// The arguments of a command line: words, some of them in single quotes.
fn words(line: &str) -> Vec<String> {
    Regex::new(r"'([^']*)'|(\S+)")
        .unwrap()
        .captures_iter(line)
        .map(|word| word.get(1).or(word.get(2)).unwrap().as_str().to_owned())
        .collect()
}

/// Which numbers of an output may differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Times,
    /// All of them, with the spaces that keep them in columns.
    Any,
    /// The same, and a star marks an engine that was measured before a new case. Nobody needs the
    /// engines to add one.
    AnyWithStars,
}

/// What an output must look like. Each line is a group.
struct Lines {
    pattern: Regex,
}

impl Lines {
    fn of(expected: &str, numbers: Numbers) -> Lines {
        let number = Regex::new(r"\d(?:[\d,]|\\\.)*").unwrap();
        let spaces = Regex::new(" +").unwrap();
        let time = Regex::new(r"\d(?:[\d,]|\\\.)* (s\b|pairs/s)").unwrap();
        let lines = expected.lines().map(|line| match line {
            "…" => "(?:.*\n)*?".to_owned(),
            line => {
                let mut line = regex::escape(line) + "\n";
                if numbers == Numbers::Times {
                    line = time.replace_all(&line, r"[\d,.]+ $1").into_owned();
                } else {
                    line = number.replace_all(&line, r"[\d,.]+").into_owned();
                    line = spaces.replace_all(&line, " +").into_owned();
                }
                if numbers == Numbers::AnyWithStars {
                    line = line.replace(r" +[\d,.]+/", r"(?: +\*)? +[\d,.]+/");
                }
                format!("({line})")
            }
        });
        let lines: Vec<String> = lines.collect();
        Lines {
            pattern: Regex::new(&format!("^{}$", lines.concat())).unwrap(),
        }
    }
}

/// The pattern of a command's output.
fn pattern(command: &str, expected: &str) -> Regex {
    let grows = ["run", "accept", "diff", "export"]
        .iter()
        .any(|growing| command.starts_with(growing));
    let numbers = match command {
        _ if grows => Numbers::Any,
        _ if command.starts_with("matrix") => Numbers::AnyWithStars,
        _ => Numbers::Times,
    };
    Lines::of(expected, numbers).pattern
}

/// A count that nobody looks at for a year is still true: what a card says about a template is
/// compared digit by digit.
#[test]
fn numbers_on_cards_are_exact() {
    let shown = "3 limitations; 25 contracts hold\n…\n1 template in 0.01 s: 0 errors\n";
    let found = |hold: u8| {
        format!("3 limitations; {hold} contracts hold\nx\n1 template in 2.50 s: 0 errors\n")
    };
    let check = pattern("check a.jinja", shown);
    assert!(check.is_match(&found(25)) && !check.is_match(&found(34)));
    assert!(pattern("run", shown).is_match(&found(34)));
    let written = with_numbers(shown, &found(34)).unwrap();
    assert_eq!(
        written,
        "3 limitations; 34 contracts hold\n…\n1 template in 0.01 s: 0 errors\n"
    );
}

/// The pages say how many contracts there are.
#[test]
fn contracts_are_counted_on_the_pages() {
    let count = Regex::new(r"(\d+)\s+contracts\b").unwrap();
    let block = Regex::new(r"(?ms)^```.*?^```$").unwrap();
    let mut counts = 0;
    for page in pages() {
        let prose = block.replace_all(&page.text, "");
        for found in count.captures_iter(&prose) {
            counts += 1;
            let all = rolecall_check::contract::ALL.len().to_string();
            assert_eq!(found[1], all, "{}", page.path.display());
        }
    }
    assert!(counts > 0);
}

#[test]
fn commands_print_what_the_pages_say() {
    let suite = TriedSuite {
        checkout: LAYOUT.root().to_path_buf(),
        cache: CACHE.into(),
        is_tried: |arguments, is_in_checkout| {
            is_everything() || !is_in_checkout || !LONG.contains(&arguments)
        },
    };
    // `.ci/run` tries all of them, and so does whoever writes their output.
    let is_written = std::env::var_os("ROLECALL_PAGES").is_some();
    let one_of = if is_written { 1 } else { 4 };
    let pages = sample(pages(), one_of).into_iter();
    let commands: usize = pages.map(|page| page.run(&suite)).sum();
    let least = if is_everything() { 20 } else { 2 };
    assert!(commands >= least, "{commands} examples were found");
}

/// New cases change figures, and make the kept measurements older than the suite. The pages are
/// right all the same, so that nobody has to change them with a case.
#[test]
#[ignore = "long: .ci/nightly tries it"]
fn the_pages_are_right_after_a_new_case() {
    let folder = Folder::empty();
    let cache = folder.path("cache");
    // Whatever asks for the built-in suite unpacks it.
    let ran = folder.rolecall_with_cache(&cache, &["list", "cases"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let suite = cache.join(format!("suite-{}", rolecall_suite::builtin::fingerprint()));
    for family in ["plain", "turns"] {
        let file = suite.join(format!("cases/conversations/{family}.json"));
        let cases = std::fs::read_to_string(&file).unwrap();
        let new =
            r#","new": {"about": "New.", "messages": [{"role": "user", "content": "New."}]}}}"#;
        let more = cases.trim_end().trim_end_matches("\n  }\n}").to_owned() + new;
        assert_ne!(cases, more);
        std::fs::write(&file, more).unwrap();
    }
    rolecall_suite::builtin::mark(&suite).unwrap();
    let suite = TriedSuite {
        checkout: suite,
        cache,
        // Nothing of it was accepted, and it is in no checkout of the repository.
        is_tried: |arguments, is_in_checkout| !is_in_checkout || arguments.starts_with("matrix"),
    };
    let table = folder
        .rolecall_with_cache(&suite.cache, &["matrix"])
        .stdout();
    assert!(
        table.contains("measured before the suite changed"),
        "{table}"
    );
    for page in pages() {
        page.run(&suite);
    }
}

/// Cargo runs test targets in the order of their names, and stops after the first one that fails.
/// The one that leaves new results for review has to be the first, and pages may name only targets
/// that exist.
#[test]
fn the_first_test_target_leaves_results_for_review() {
    let root = LAYOUT.root();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let targets = manifest["test"].as_array().unwrap().iter();
    let mut targets: Vec<(&str, &str)> = targets
        .map(|one| (one["name"].as_str().unwrap(), one["path"].as_str().unwrap()))
        .collect();
    targets.sort_unstable();
    assert_eq!(targets[0], ("cases", "harness/tests/suite/main.rs"));
    let named = Regex::new(r"(?m)^cargo test.*?--test (\S+)").unwrap();
    for page in ["CONTRIBUTING.md", "harness/docs/suite.md"] {
        let text = read(page);
        let mut named = named.captures_iter(&text).peekable();
        assert!(named.peek().is_some(), "{page}");
        for found in named.filter(|found| !found[0].contains("--package")) {
            let is_there = targets.iter().any(|(name, _)| *name == &found[1]);
            assert!(is_there, "{page}: {}", &found[0]);
        }
    }
}

#[test]
fn the_readme_is_read_in_one_sitting() {
    let lines = std::fs::read_to_string(LAYOUT.root().join("README.md")).unwrap();
    assert!(lines.lines().count() <= 200);
}

/// It has only words that readers meet on other pages.
#[test]
fn the_glossary_is_short_and_its_words_are_in_use() {
    let (glossary, others): (Vec<_>, Vec<_>) = pages()
        .into_iter()
        .partition(|page| page.path.ends_with("glossary.md"));
    let entry = Regex::new(r"(?m)^\| ([a-z ]+) \| [A-Z]").unwrap();
    let words: Vec<&str> = entry
        .captures_iter(&glossary[0].text)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    assert!((15..=25).contains(&words.len()), "{}", words.len());
    assert!(words.is_sorted(), "{words:?}");
    for word in words {
        let word = Regex::new(&format!(r"(?i)\b{word}s?\b")).unwrap();
        let is_used = |page: &Page| word.is_match(&page.text);
        assert!(others.iter().any(is_used), "no page uses {word}");
    }
}

#[test]
fn links_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)\s#]+)?(?:#([^)\s]+))?\)").unwrap();
    let pages = pages();
    let mut named = BTreeSet::new();
    for page in &pages {
        for target in link.captures_iter(&page.text) {
            let (path, anchor) = (target.get(1), target.get(2));
            if path.is_some_and(|path| path.as_str().contains("://")) {
                continue;
            }
            let path = match path {
                Some(path) => page.path.parent().unwrap().join(path.as_str()),
                None => page.path.clone(),
            };
            assert!(path.exists(), "{}: {}", page.path.display(), &target[0]);
            if let Some(anchor) = anchor {
                let text = std::fs::read_to_string(&path).unwrap();
                let headings = text.lines().filter_map(|line| line.strip_prefix("## "));
                let is_there = headings
                    .map(|heading| heading.to_lowercase().replace(' ', "-"))
                    .any(|heading| heading == anchor.as_str());
                assert!(is_there, "{}: {}", page.path.display(), &target[0]);
            }
            named.insert(path.canonicalize().unwrap());
        }
    }
    // Every page is linked from another one.
    for page in &pages {
        let path = page.path.canonicalize().unwrap();
        assert!(
            path.ends_with("README.md") || named.contains(&path),
            "{}",
            path.display()
        );
    }
}

#[test]
fn the_example_files_can_be_read() {
    let page = LAYOUT.root().join("harness/docs/suite.md");
    let page = Page {
        text: std::fs::read_to_string(&page).unwrap(),
        path: page,
    };
    let examples = page.blocks_in("json");
    let [case, sidecar] = examples.as_slice() else {
        panic!("{} JSON examples", examples.len());
    };
    let folder = scratch::folder();
    let path = folder.path().join("bad-roles.json");
    std::fs::write(&path, case).unwrap();
    let family = read_family(&path, &[LAYOUT.tools()]);
    assert_eq!(family.problems, []);
    assert_eq!(family.cases.len(), 1);

    let path = folder.path().join("mine.jinja");
    std::fs::write(&path, "").unwrap();
    std::fs::write(path.with_extension("json"), sidecar).unwrap();
    assert!(read_template(&path).is_ok());

    let shown = "unknown key `mesages` in `cases.unknown-role`\n  did you mean `messages`?";
    let shows_it = |text: &String| text.contains(shown);
    assert!(page.blocks_in("text").iter().any(shows_it));
    let path = folder.path().join("bad-roles.json");
    let text = r#"{"about": "x", "cases": {"unknown-role": {"mesages": []}}}"#;
    std::fs::write(&path, text).unwrap();
    let problems = read_family(&path, &[]).problems;
    let mut problems = problems.iter().map(ToString::to_string);
    assert!(problems.any(|problem| problem.contains(shown)));
}
