//! `check --fix`: what is written, where nothing is written, and what users read about it.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::folder::{Folder, has};

/// It asks for the tools in a way that an empty list passes, and prints the word None where a content
/// is null.
const BROKEN: &str = "{% if tools is not none %}Tools: {{ tools | tojson }}\n{% endif %}\
    {% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}\
    {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// The same after its safe fixes.
const FIXED: &str = "{% if tools %}Tools: {{ tools | tojson }}\n{% endif %}\
    {% for m in messages %}<|im_start|>{{ m.role }}\n\
    {{ m.content if m.content is not none else '' }}<|im_end|>\n{% endfor %}\
    {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// A template with one fault, for what is not about the faults: it prints the word None. A fix of this
/// contract is found and proven soonest.
const PRINTS_NONE: &str = "{% if tools %}Tools: {{ tools | tojson }}\n{% endif %}\
    {% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}\
    {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

const SENTENCE: &str = "fixed no-null-leak in x.jinja\n";

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("x.jinja", BROKEN);
    folder
}

fn text(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap()
}

#[track_caller]
fn has_not(text: &str, unexpected: &[&str]) {
    for word in unexpected {
        assert!(!text.contains(word), "{word:?} in {text}");
    }
}

#[test]
fn files_of_other_programs_stay_as_they_were_fetched() {
    for is_link in [true, false] {
        let folder = Folder::empty();
        let snapshot = "hub/models--org--name/snapshots/1a2b3c";
        let name = format!("{snapshot}/chat_template.jinja");
        let blob = folder.write("hub/models--org--name/blobs/4d5e6f", PRINTS_NONE);
        folder.write(&format!("{snapshot}/config.json"), "{}");
        if is_link {
            std::os::unix::fs::symlink("../../blobs/4d5e6f", folder.path(&name)).unwrap();
        } else {
            // As on Windows, where files are in the place of links.
            folder.write(&name, PRINTS_NONE);
        }
        for typed in [name.as_str(), snapshot] {
            let ran = folder.rolecall(&["check", typed, "--fix"]);
            assert_eq!(ran.code(), 2);
            has(
                &ran.stderr(),
                &[
                    "it belongs to the cache of Hugging Face",
                    "fix a copy: cp ",
                    "rolecall check chat_template.jinja --fix",
                ],
            );
            // The card does not recommend what is refused.
            let ran = folder.rolecall(&["check", typed]);
            has(
                &ran.stdout(),
                &["a safe fix for no-null-leak", "to fix a copy:"],
            );
            has_not(&ran.stdout(), &["to the file"]);
        }
        assert_eq!(text(&folder, &name), PRINTS_NONE);
        assert_eq!(fs::read_to_string(&blob).unwrap(), PRINTS_NONE);
        // Another template of the same command is fixed.
        folder.write("x.jinja", PRINTS_NONE);
        let ran = folder.rolecall(&["check", "x.jinja", snapshot, "--fix", "-q"]);
        assert_eq!(ran.code(), 2);
        has(&ran.stderr(), &[SENTENCE]);
        assert_eq!(text(&folder, "x.jinja"), FIXED);
        assert_eq!(text(&folder, &name), PRINTS_NONE);
    }
}

#[test]
fn programs_read_the_patches_in_whole() {
    let folder = folder();
    let json = |arguments: &[&str]| -> Value {
        let ran =
            folder.rolecall(&[&["check", "x.jinja", "--fix", "--dry-run"], arguments].concat());
        assert!(!ran.stderr().contains("fixed"), "{}", ran.stderr());
        serde_json::from_slice(&ran.0.stdout).unwrap()
    };
    let card = json(&["--format", "json"]);
    let fixes = card["fixes"].as_array().unwrap();
    let named: Vec<&str> = fixes
        .iter()
        .filter_map(|fix| fix["contract"].as_str())
        .collect();
    assert_eq!(named, ["no-tools-alike", "no-null-leak"]);
    assert!(
        fixes
            .iter()
            .all(|fix| fix["applied"] == false && fix["is_safe"] == true)
    );
    // The file after all the patches, one after the other.
    for fix in fixes {
        folder.write("patch.diff", fix["diff"].as_str().unwrap());
        let mut patch = Command::new("git");
        patch
            .args(["apply", "-p0", "patch.diff"])
            .current_dir(folder.path("."));
        let applied = patch.output().unwrap();
        assert!(applied.status.success(), "{applied:?}");
    }
    assert_eq!(text(&folder, "x.jinja"), FIXED);
    folder.write("x.jinja", BROKEN);
    let log = json(&["--format", "sarif"]);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|one| one["ruleId"] == "no-tools-alike");
    let change = &result.unwrap()["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "x.jinja");
    let replacement = &change["replacements"][0];
    assert_eq!(replacement["deletedRegion"]["startLine"], 1);
    assert_eq!(
        replacement["insertedContent"]["text"],
        "{% if tools %}Tools: {{ tools | tojson }}\n"
    );
    assert_eq!(text(&folder, "x.jinja"), BROKEN);
}

#[test]
fn a_file_that_cannot_be_written_does_not_keep_the_others_from_it() {
    let folder = Folder::empty();
    for name in ["a.jinja", "b.jinja", "d.jinja"] {
        folder.write(name, PRINTS_NONE);
    }
    let mut permissions = fs::metadata(folder.path("b.jinja")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.path("b.jinja"), permissions).unwrap();
    folder.write("elsewhere/linked.jinja", PRINTS_NONE);
    std::os::unix::fs::symlink("elsewhere/linked.jinja", folder.path("c.jinja")).unwrap();
    let all = ["check", "a.jinja", "b.jinja", "c.jinja", "d.jinja", "--fix"];
    let ran = folder.rolecall(&all);
    assert_eq!(ran.code(), 2);
    has(
        &ran.stderr(),
        &[
            "b.jinja: the file is read-only: nothing is written\n  make it writable",
            "c.jinja: a link: nothing is written through links\n  name the file",
        ],
    );
    has(
        &ran.stdout(),
        &[
            "fixed no-null-leak in a.jinja",
            "a safe fix for no-null-leak in b.jinja",
            "nothing was written: apply it by hand",
            "fixed no-null-leak in d.jinja",
        ],
    );
    let expected = [
        ("a.jinja", FIXED),
        ("b.jinja", PRINTS_NONE),
        ("elsewhere/linked.jinja", PRINTS_NONE),
        ("d.jinja", FIXED),
    ];
    for (name, source) in expected {
        assert_eq!(text(&folder, name), source, "{name}");
    }
    assert!(folder.path("c.jinja").is_symlink());
}

#[test]
fn the_time_is_the_one_that_the_user_waited() {
    let folder = folder();
    let seconds = |arguments: &[&str]| -> f64 {
        let ran = folder.rolecall(arguments);
        let out = ran.stdout();
        let time = out.lines().find_map(|line| {
            let (time, _) = line.strip_prefix("1 template in ")?.split_once(" s")?;
            time.parse().ok()
        });
        time.unwrap_or_else(|| panic!("{out}"))
    };
    // The other tests make some runs wait, and hardly all of them.
    let fastest = |arguments: &[&str]| (0..4).map(|_| seconds(arguments)).fold(60.0, f64::min);
    // Nobody sees the patches of a quiet command, so it does not look for them.
    let quiet = fastest(&["check", "x.jinja", "-q"]);
    let shown = fastest(&["check", "x.jinja"]);
    assert!(
        shown > 1.1 * quiet,
        "{shown} s, and {quiet} s without the patches"
    );
}
