//! `check --fix`: what is written, where nothing is written, and what users read about it.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::folder::{Folder, Ran, has};

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

/// How its fix changes a line.
const NO_NONE: &str = "+{{ m.content if m.content is not none else '' }}<|im_end|>";

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
fn a_fixed_file_needs_no_more_fixes() {
    let folder = folder();
    let ran = folder.rolecall(&["check", "x.jinja", "--fix"]);
    has(
        &ran.stdout(),
        &[
            "fixed no-tools-alike in x.jinja",
            "prompts stay byte for byte",
        ],
    );
    assert_eq!(text(&folder, "x.jinja"), FIXED);
    let ran = folder.rolecall(&["check", "x.jinja", "--fix", "--unsafe-fixes"]);
    has_not(&ran.stdout(), &["fixed ", "fix for"]);
    assert_eq!(text(&folder, "x.jinja"), FIXED);
}

#[test]
fn only_the_chosen_contracts_are_fixed() {
    for arguments in [["--select", "no-tools-alike"], ["--ignore", "no-null-leak"]] {
        let folder = folder();
        folder.rolecall(&[&["check", "x.jinja", "--fix"][..], &arguments].concat());
        has(
            &text(&folder, "x.jinja"),
            &["{{ m.content }}", "{% if tools %}Tools: "],
        );
    }
    // What a baseline knows stays, and what it does not know is fixed.
    let folder = folder();
    folder.rolecall(&["check", "x.jinja", "--write-baseline", "known.json"]);
    let ran = folder.rolecall(&["check", "x.jinja", "--fix", "--baseline", "known.json"]);
    assert_eq!(text(&folder, "x.jinja"), BROKEN, "{}", ran.stdout());
    folder.write("x.jinja", FIXED);
    folder.rolecall(&["check", "x.jinja", "--write-baseline", "known.json"]);
    folder.write("x.jinja", BROKEN);
    folder.rolecall(&["check", "x.jinja", "--fix", "--baseline", "known.json"]);
    has(
        &text(&folder, "x.jinja"),
        &["{% if tools %}Tools: {{ tools | tojson }}"],
    );
    // A contract that is ignored does not hide the fixes of the others.
    folder.write("x.jinja", BROKEN);
    let ran = folder.rolecall(&["check", "x.jinja", "--ignore", "reasoning-kept"]);
    has(&ran.stdout(), &["a safe fix for no-tools-alike in x.jinja"]);
}

/// Only an error or a warning makes `check` look for patches that nobody asked for.
#[test]
fn patches_for_servers_without_a_front_are_looked_for_on_demand() {
    let folder = Folder::empty();
    let sound = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}\
                 {% if add_generation_prompt %}<assistant>{% endif %}";
    folder.write("x.jinja", sound);
    let check = |more: &[&str]| {
        let ran = folder.rolecall(&[&["check", "x.jinja"], more].concat());
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
        ran.stdout()
    };
    let (hint, patch) = (
        "check x.jinja --fix --dry-run` looks for a patch for no-null-leak",
        "a safe fix for no-null-leak in x.jinja",
    );
    let unasked = check(&[]);
    assert!(
        unasked.contains(hint) && !unasked.contains(patch),
        "{unasked}"
    );
    for more in [&["--all"][..], &["--fix", "--dry-run"]] {
        let asked = check(more);
        assert!(asked.contains(patch) && !asked.contains(hint), "{asked}");
    }
    let card: Value = serde_json::from_str(&check(&["--format", "json"])).unwrap();
    assert_eq!(card["fixes"][0]["contract"], "no-null-leak", "{card:#}");
    // An error makes it look for all.
    folder.write("x.jinja", BROKEN);
    let ran = folder.rolecall(&["check", "x.jinja"]);
    has(&ran.stdout(), &["a safe fix for no-tools-alike", patch]);
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
fn every_format_says_what_was_written() {
    let all = "fixed no-tools-alike, no-null-leak in x.jinja\n";
    for (format, source, sentence) in [
        ("json", BROKEN, all),
        ("github", PRINTS_NONE, SENTENCE),
        ("junit", PRINTS_NONE, SENTENCE),
        ("sarif", PRINTS_NONE, SENTENCE),
        ("human", PRINTS_NONE, SENTENCE),
    ] {
        let folder = Folder::empty();
        folder.write("x.jinja", source);
        let quiet: &[&str] = if format == "human" { &["-q"] } else { &[] };
        let ran =
            folder.rolecall(&[&["check", "x.jinja", "--fix", "--format", format], quiet].concat());
        has(&ran.stderr(), &[sentence]);
        assert_eq!(text(&folder, "x.jinja"), FIXED);
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
fn what_a_model_was_trained_with_changes_only_on_request() {
    let folder = Folder::empty();
    let source = FIXED.replace("tools | tojson", "tools");
    folder.write("x.jinja", &source);
    // Plain JSON has the patches, too.
    let ran = folder.rolecall(&["check", "x.jinja", "--format", "json"]);
    let card: Value = serde_json::from_slice(&ran.0.stdout).unwrap();
    let fix = &card["fixes"][0];
    assert_eq!(fix["contract"], "no-repr-leak");
    assert_eq!(
        (&fix["is_safe"], &fix["applied"]),
        (&false.into(), &false.into())
    );
    has(fix["reason"].as_str().unwrap(), &["has learnt `"]);
    has(
        fix["diff"].as_str().unwrap(),
        &["+{% if tools %}Tools: {{ tools | tojson }}\n"],
    );
    let ran = folder.rolecall(&["check", "x.jinja", "--fix"]);
    has(
        &ran.stdout(),
        &[
            "an unsafe fix for no-repr-leak",
            "unsafe: the prompts held everything",
        ],
    );
    assert_eq!(text(&folder, "x.jinja"), source);
    folder.rolecall(&["check", "x.jinja", "--fix", "--unsafe-fixes"]);
    assert_eq!(text(&folder, "x.jinja"), FIXED);
    let ran = folder.rolecall(&["check", "x.jinja", "--format", "json", "-q"]);
    assert!(!ran.stdout().contains("\"fixes\""), "{}", ran.stdout());
}

#[test]
fn long_lines_of_a_patch_are_not_cut_in_a_pipe() {
    let folder = Folder::empty();
    let end = "{# a comment that makes the line longer than any screen is wide #}".repeat(4);
    folder.write(
        "x.jinja",
        &PRINTS_NONE.replace("<|im_end|>", &format!("<|im_end|>{end}")),
    );
    folder.write("y.jinja", &PRINTS_NONE.replace('\n', "\r\n"));
    let ran = folder.rolecall(&["check", "x.jinja", "y.jinja", "--fix", "--dry-run"]);
    let line = format!("{NO_NONE}{end}\n");
    has(
        &ran.stdout(),
        &[
            &line,
            "a safe fix for no-null-leak in x.jinja",
            "a safe fix for no-null-leak in y.jinja",
            "--- y.jinja\n+++ y.jinja\n",
        ],
    );
    has_not(&ran.stdout(), &["U+000D", "\r"]);
}

#[test]
fn templates_in_other_files_are_fixed_by_hand() {
    for (name, value) in [
        ("tokenizer_config.json", serde_json::json!(PRINTS_NONE)),
        ("chat_template.json", serde_json::json!(PRINTS_NONE)),
        (
            "tokenizer_config.json",
            serde_json::json!([{"name": "default", "template": PRINTS_NONE}]),
        ),
    ] {
        let folder = Folder::empty();
        let json = serde_json::json!({"chat_template": value}).to_string();
        folder.write(&format!("model/{name}"), &json);
        for arguments in [&["check", "model"][..], &["check", "model", "--fix"]] {
            let ran = folder.rolecall(arguments);
            has(
                &ran.stdout(),
                &[
                    "a safe fix for no-null-leak in model",
                    NO_NONE,
                    "apply it there",
                ],
            );
            has_not(&ran.stdout(), &["fixed ", "to the file"]);
        }
        assert_eq!(text(&folder, &format!("model/{name}")), json);
    }
}

#[test]
fn standard_input_has_no_file_to_write() {
    let folder = Folder::empty();
    // A file of that name is not meant.
    folder.write("<stdin>", PRINTS_NONE);
    let given = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The command may refuse before it reads.
        let _ = child
            .stdin
            .take()
            .unwrap()
            .write_all(PRINTS_NONE.as_bytes());
        Ran(child.wait_with_output().unwrap())
    };
    let ran = given(&["check", "-", "--fix"]);
    assert_eq!(ran.code(), 2);
    has(
        &ran.stderr(),
        &["standard input has no file that --fix could change"],
    );
    for arguments in [&["check", "-"][..], &["check", "-", "--fix", "--dry-run"]] {
        let ran = given(arguments);
        has(
            &ran.stdout(),
            &["a safe fix for no-null-leak", "standard input has no file"],
        );
        has_not(&ran.stdout(), &["check - --fix"]);
    }
    assert_eq!(text(&folder, "<stdin>"), PRINTS_NONE);
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
    // Nobody sees the patches of a quiet command, so it does not look for them.
    let quiet = seconds(&["check", "x.jinja", "-q"]);
    let shown = seconds(&["check", "x.jinja"]);
    assert!(
        shown > 2.0 * quiet,
        "{shown} s, and {quiet} s without the patches"
    );
}

#[test]
fn fixes_break_no_other_engine() {
    // What a patch uses, the other engines know, too.
    let source = "{% for m in messages %}<{{ m.role }}>{% if m.content %}{{ m.content + '' }}{% endif %}\
        {% if m.tool_calls %}{% for c in m.tool_calls %}{\"name\": \"{{ c.function.name }}\", \
        \"arguments\": {{ c.function.arguments | tojson }}}{% endfor %}{% endif %}\n{% endfor %}\
        {% if add_generation_prompt %}<assistant>{% endif %}";
    let folder = Folder::empty();
    folder.write("x.jinja", source);
    folder.rolecall(&["check", "x.jinja", "--fix"]);
    has(&text(&folder, "x.jinja"), &["[:1] ~ "]);
    let conversation = r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "",
        "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}]"#;
    folder.write("a.json", conversation);
    for engine in ["rolecall-jinja", "minijinja"] {
        let ran = folder.rolecall(&["render", "x.jinja", "a.json", "--raw", "--engine", engine]);
        let out = ran.stdout();
        has(&out, &[r#""arguments": {"a": 1}}"#]);
    }
}
