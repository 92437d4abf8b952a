//! What may only fall: the sizes in `ratchet.toml`. Code that is not there needs no care, so a crate that
//! grows has to say why, in that file.

use std::collections::BTreeMap;
use std::fs;

use toml::Value;
use walkdir::WalkDir;

use super::imports::stripped;
use super::{CRATES, harness};

/// A number that is higher than what it counts by more than this share of it is out of date.
const SLACK: usize = 50;

/// What is counted in a crate.
#[derive(Default)]
struct Size {
    /// Lines that have more than a comment or a text.
    lines: usize,
    types: usize,
    /// Doc comments of one line with five words or fewer: most repeat the name of what they document.
    short_docs: usize,
}

impl Size {
    fn add(&mut self, text: &str) {
        let code = stripped(text);
        let lines = code.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty()) {
            self.lines += 1;
            let words = line.split_whitespace();
            // `pub(in crate::a)` are two words.
            let mut words = words.skip_while(|word| word.starts_with("pub") || word.ends_with(')'));
            let is_type = matches!(words.next(), Some("struct" | "enum" | "trait"));
            self.types += usize::from(is_type);
        }
        let doc = |line: &str| line.trim().strip_prefix("/// ").map(str::to_owned);
        let all: Vec<Option<String>> = text.lines().map(doc).collect();
        let is_doc = |at: Option<usize>| at.and_then(|at| all.get(at)?.as_ref()).is_some();
        let short = all.iter().enumerate().filter(|(at, line)| {
            let few = |line: &String| line.split_whitespace().count() <= 5;
            line.as_ref().is_some_and(few) && !is_doc(at.checked_sub(1)) && !is_doc(Some(at + 1))
        });
        self.short_docs += short.count();
    }
}

/// The sizes of each crate, by what is counted.
fn sizes() -> BTreeMap<&'static str, BTreeMap<&'static str, usize>> {
    let mut sizes: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for name in CRATES {
        let mut size = Size::default();
        for file in WalkDir::new(harness().join(name).join("src")) {
            let file = file.expect("an entry").into_path();
            let is_rust = file.extension().is_some_and(|extension| extension == "rs");
            if is_rust
                && !file.ends_with("tests.rs")
                && !file.components().any(|one| one.as_os_str() == "tests")
            {
                size.add(&fs::read_to_string(&file).expect("a source"));
            }
        }
        for (what, count) in [
            ("lines", size.lines),
            ("types", size.types),
            ("short-docs", size.short_docs),
        ] {
            sizes.entry(what).or_default().insert(name, count);
        }
    }
    sizes
}

#[test]
fn no_crate_grows_without_a_reason() {
    let text = include_str!("ratchet.toml");
    let most: BTreeMap<String, BTreeMap<String, Value>> = toml::from_str(text).expect("numbers");
    let mut wrong = Vec::new();
    for (what, sizes) in sizes() {
        for (name, count) in sizes {
            // A new crate has no number yet.
            let most = most.get(what).and_then(|of| of.get(name)?.as_integer());
            let most = usize::try_from(most.unwrap_or(0)).expect("no less than nothing");
            if count > most {
                wrong.push(format!(
                    "{name} has {count} {what}, and may have {most}: delete something, or write `{count}` \
                     with the reason behind it"
                ));
            } else if most - count > most / SLACK + 5 {
                wrong.push(format!("{name} has only {count} {what}: write `{count}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "in ratchet.toml:\n{}", wrong.join("\n"));
}

#[test]
fn what_counts_is_code() {
    let mut size = Size::default();
    size.add(
        "//! Words.\n\n/// A type.\npub(crate) struct A;\n\n/// What it is, in more than five words.\nenum B {\n    \
         /// One\n    /// and two.\n    C,\n}\n// why\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    struct T;\n}\n",
    );
    assert_eq!((size.lines, size.types, size.short_docs), (5, 2, 1));
}
