//! Every page and every comment that names a version of transformers names the one that Rolecall
//! follows.

use std::fs;
use std::path::Path;

use regex::Regex;
use rolecall_suite::reference::Reference;

/// The files that also speak of an earlier version.
const ALSO_EARLIER: [&str; 4] = [
    "CONTRIBUTING.md",
    "harness/docs/suite.md",
    "harness/response/src/inspection/serving.rs",
    "harness/check/src/contract/served_fields.md",
];

/// Versions of transformers in a text: "transformers 5.24", "transformers==5.24.0", also where a line
/// breaks in between. "transformers 5.13 and later" says since when something is so.
fn versions(text: &str) -> Vec<(usize, String)> {
    let named = Regex::new(r"transformers(?:[\s/!#]+|==)(5\.\d+)").expect("a pattern");
    let found = named.captures_iter(text);
    let found = found.filter_map(|one| {
        let version = one.get(1).expect("a group");
        let line = text[..version.start()].matches('\n').count() + 1;
        let is_beginning = text[version.end()..].trim_start().starts_with("and");
        (!is_beginning).then(|| (line, version.as_str().to_owned()))
    });
    found.collect()
}

fn examine(root: &Path, path: &Path, wrong: &mut Vec<String>, seen: &mut usize) {
    if path.is_dir() {
        let name = path.file_name().unwrap_or_default();
        if name == "data" || name == "target" || name == "node_modules" {
            return;
        }
        for entry in fs::read_dir(path).expect("a folder").flatten() {
            examine(root, &entry.path(), wrong, seen);
        }
        return;
    }
    let Ok(text) = fs::read_to_string(path) else {
        return;
    };
    let version = Reference::by_name("transformers")
        .expect("it is one")
        .version;
    let name = path.strip_prefix(root).expect("below").to_string_lossy();
    for (line, named) in versions(&text) {
        *seen += 1;
        let is_followed = version.starts_with(&format!("{named}."));
        // Servers choose their own version, and so do trainers, which come as wheels.
        let mut servers = Reference::SERVED.iter();
        let is_servers =
            servers.any(|one| name.starts_with(&format!("scripts/engines/{}/", one.name)));
        let is_wheels = path.with_file_name("wheel.txt").is_file();
        if !is_followed && !is_servers && !is_wheels && !ALSO_EARLIER.contains(&&*name) {
            wrong.push(format!(
                "{name}:{line} names transformers {named}, and {version} is followed"
            ));
        }
    }
}

#[test]
fn every_text_names_the_version_of_transformers_that_is_followed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for part in ["README.md", "CONTRIBUTING.md", "harness", "scripts"] {
        examine(root, &root.join(part), &mut wrong, &mut seen);
    }
    assert!(seen > 50, "only {seen} versions were found");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
