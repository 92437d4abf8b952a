//! Report cards and runs as SARIF 2.1.0, which code scanning reads: GitHub's, GitLab's, editors'.
//!
//! This module writes the format by hand. The crates for it generate the format's whole schema as
//! types, and a report card needs only a screenful.

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde_json::{Value, json};

use super::diagnostic::{self, Diagnostic, SYNTAX, level};
use super::json;
use super::run_report::{Ending, RunReport};
use rolecall_check::contract::{self, Severity};
use rolecall_check::fix::Fix;
use rolecall_core::patch;
use rolecall_suite::checked_text::TextKind;
use rolecall_suite::conclusion::Fault;
use rolecall_suite::configuration;

/// The characters of a path that a URI has to escape.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Writes a log with a rule for each contract and a result for each diagnostic. Paths below `folder`
/// are relative to it, as code scanning wants them. A defect that a sidecar explains is suppressed,
/// with the sidecar's words. A result has the fix that was found for it, as far as the fix changes
/// lines that the fixes before it do not.
///
/// A limitation has the level `note`, as a note has. SARIF's kind `informational` would remove its
/// level, and code scanning does not show a result without a level.
pub fn write(out: &mut dyn Write, all: &[Diagnostic<'_>], folder: &Path) -> io::Result<()> {
    let mut rules = rules();
    // The rule for templates that cannot be read is among those for cards.
    let others = diagnostic::rules();
    let others = others.filter(|(id, _)| *id != SYNTAX && all.iter().any(|one| one.rule == *id));
    rules.extend(others.map(|(id, about)| plain_rule(id, about)));
    json::write(out, &log(&rules, all, folder))
}

/// Writes the results of a run: a rule for each way to be not as expected, a result for each cause.
pub fn write_run(out: &mut dyn Write, report: &RunReport<'_, '_>, folder: &Path) -> io::Result<()> {
    let faults = Fault::ALL.map(|fault| (fault.name(), fault.about()));
    let rules = faults.into_iter().chain(diagnostic::RULES);
    let rules = rules.map(|(id, about)| plain_rule(id, about));
    let texts = TextKind::ALL.map(|kind| {
        let about = format!("the {} is not as the suite demands", kind.name());
        plain_rule(kind.name(), &about)
    });
    let rules: Vec<Value> = rules.chain(texts).collect();
    let mut log = log(&rules, &report.diagnostics(), folder);
    if report.ending() == Ending::NotCompared {
        // No result would look like a success.
        log["runs"][0]["invocations"] = json!([{
            "executionSuccessful": true,
            "toolExecutionNotifications": [
                {"level": "warning", "message": {"text": report.headline()}},
            ],
        }]);
    }
    json::write(out, &log)
}

/// A rule without more to say than its meaning.
fn plain_rule(id: &str, about: &str) -> Value {
    json!({
        "id": id,
        "shortDescription": {"text": about},
        "fullDescription": {"text": about},
        "help": {"text": about},
        "defaultConfiguration": {"level": "error"},
    })
}

fn place(one: &Diagnostic<'_>, line: usize, folder: &Path) -> Value {
    json!({"artifactLocation": {"uri": uri(&one.path, folder)}, "region": {"startLine": line}})
}

/// A result. Its fingerprint stays the same while the same thing is wrong with the same template, even
/// if lines are added or removed.
fn result(one: &Diagnostic<'_>, rules: &[Value], folder: &Path) -> Value {
    let line = one.lines.first().copied().or(one.begins).unwrap_or(1);
    let mut first = place(one, line, folder);
    if let Some(column) = one.column() {
        first["region"]["startColumn"] = column.into();
    }
    let mut result = json!({
        "ruleId": one.rule,
        "ruleIndex": rules.iter().position(|known| known["id"] == one.rule),
        "level": one.level,
        "message": {"text": one.message()},
        "partialFingerprints": {"primaryLocationLineHash": one.mark()},
        "suppressions": [],
        "locations": [{"physicalLocation": first}],
    });
    if let Some(why) = &one.known {
        result["suppressions"] = json!([{"kind": "external", "justification": why}]);
    }
    if let Some((_, others @ [_, ..])) = one.lines.split_first() {
        let others = others.iter().map(|line| {
            let text = "It also fails here.";
            json!({"physicalLocation": place(one, *line, folder), "message": {"text": text}})
        });
        result["relatedLocations"] = others.collect();
    }
    if let Some((fix, source)) = one.fix
        && let Some(replacements) = replacements(source, fix)
    {
        let how = if fix.is_safe() { "safe" } else { "unsafe" };
        let reason = fix.proof.reason();
        result["fixes"] = json!([{
            "description": {"text": format!("A fix for {}, which is {how}: {reason}.", one.rule)},
            "artifactChanges": [{
                "artifactLocation": {"uri": uri(&one.path, folder)},
                "replacements": replacements,
            }],
        }]);
    }
    result
}

fn log(rules: &[Value], all: &[Diagnostic<'_>], folder: &Path) -> Value {
    let results = all.iter().map(|one| result(one, rules, folder));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "rolecall",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            // SARIF 2.1.0 also knows columns in units of UTF-16; those of a `Position` are characters.
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

/// A rule for each contract, in their order, and one for templates that cannot be read.
fn rules() -> Vec<Value> {
    let contracts = contract::ALL.iter();
    let contracts =
        contracts.map(|it| (it.id, it.meaning, it.guards_against, it.severity, it.page));
    let syntax = (
        SYNTAX,
        "the engine can read the template",
        "a template that gives no prompt for any conversation",
        Severity::Error,
        "# syntax\n\nThe engine cannot read the template. The message has its words.",
    );
    let all = contracts.chain([syntax]);
    let rules = all.map(|(id, meaning, guards_against, severity, page)| {
        let help = format!(
            "Should be: {meaning}. Guards against: {guards_against}. `rolecall check TEMPLATE \
             --all` shows the conversations and the prompts that prove it."
        );
        json!({
            "id": id,
            "shortDescription": {"text": meaning},
            "fullDescription": {"text": format!("Guards against: {guards_against}")},
            "help": {"text": help, "markdown": page},
            "defaultConfiguration": {"level": level(severity)},
            "properties": {"problem.severity": match severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Limitation | Severity::Note => "recommendation",
            }},
        })
    });
    rules.collect()
}

/// The changes of a fix as lines of the file. None if a fix before it changes the same lines.
fn replacements(file: &str, fix: &Fix) -> Option<Vec<Value>> {
    let kept = patch::kept(&fix.before, file);
    let count = file.split_inclusive('\n').count();
    // Where a line is in the file. The end of the one is the end of the other.
    let place = |line: usize| match kept.get(line) {
        Some(place) => *place,
        None => Some(count),
    };
    let changes = patch::changes(&fix.before, &fix.after);
    let replacement = |change: &patch::LineChange| {
        let start = place(change.lines.start)?;
        let mut lines = change.lines.clone();
        let is_together = lines.all(|line| {
            place(line).is_some_and(|place| place == start + (line - change.lines.start))
        });
        let end = start + change.lines.len();
        let (end_line, end_column) = match file.lines().nth(end.wrapping_sub(1)) {
            // Nothing comes after a last line without a line ending.
            Some(last) if end == count && !file.ends_with('\n') => (end, last.chars().count() + 1),
            _ => (end + 1, 1),
        };
        // A fix before this one may have removed lines between these: a region of the file would have
        // them, too.
        is_together.then(|| {
            json!({
                "deletedRegion": {
                    "startLine": start + 1, "startColumn": 1,
                    "endLine": end_line, "endColumn": end_column,
                },
                "insertedContent": {"text": change.text},
            })
        })
    };
    changes.iter().map(replacement).collect()
}

/// A path as a URI, relative to the folder if the path is below it. What has no file of its own is at
/// the suite's.
fn uri(path: &Path, folder: &Path) -> String {
    let path = match path.to_str() {
        Some("") => Path::new(configuration::FILE),
        _ => path,
    };
    let mut whole = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                // Without asking the file system: code scanning knows the names in a repository, and
                // not where links lead.
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    let escaped = |path: &Path| {
        let parts = path.components().filter_map(|part| match part {
            Component::Normal(part) => {
                Some(percent_encode(part.as_encoded_bytes(), ESCAPED).to_string())
            }
            Component::Prefix(drive) => Some(drive.as_os_str().to_string_lossy().into_owned()),
            _ => None,
        });
        parts.collect::<Vec<_>>().join("/")
    };
    match whole.strip_prefix(folder) {
        Ok(below) => escaped(below),
        Err(_) => format!("file:///{}", escaped(&whole)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::{Dialect, Template};
    use rolecall_jinja::JinjaEngine;

    fn log(template: Template) -> Value {
        let card = rolecall_check::card::examine(&JinjaEngine::new(), &template);
        let mut out = Vec::new();
        let folder = Path::new("/home/me");
        let (cards, templates) = ([card], [template]);
        let all = Diagnostic::of_cards(&cards, &templates, &[]);
        write(&mut out, &all, folder).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    fn template(source: &str) -> Template {
        let mut template = Template::from_source("t", Dialect::Jinja, source);
        template.path = "/home/me/a b/t.jinja".into();
        template
    }

    /// Every property that code scanning requires of a log, by GitHub's documentation.
    fn has_what_is_asked_for(log: &Value) {
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), contract::ALL.len() + 1);
        for rule in rules {
            for key in ["shortDescription", "fullDescription", "help"] {
                assert!(!rule[key]["text"].as_str().unwrap().is_empty(), "{rule}");
            }
            // Code scanning shows the page of the contract next to the result.
            let page = rule["help"]["markdown"].as_str().unwrap();
            assert!(
                page.starts_with(&format!("# {}", rule["id"].as_str().unwrap())),
                "{page}"
            );
            let level = &rule["defaultConfiguration"]["level"];
            assert!(["error", "warning", "note"].contains(&level.as_str().unwrap()));
        }
        let results = run["results"].as_array().unwrap();
        assert!(!results.is_empty());
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"], "{result}");
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "a%20b/t.jinja");
            assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
            assert!(result["suppressions"].is_array(), "{result}");
        }
    }

    fn result<'l>(log: &'l Value, rule: &str) -> &'l Value {
        let mut results = log["runs"][0]["results"].as_array().unwrap().iter();
        results.find(|result| result["ruleId"] == rule).unwrap()
    }

    #[test]
    fn what_is_broken_is_a_result_with_its_place() {
        let mut template = template(
            "{{ messages | length }}{% for m in messages %}<{{ m.role }}>{{ m.content }}\
             {% endfor %}\n{%- if tools %}\n{{ tools | nope }}{% endif %}",
        );
        template.broken = vec![("history-stable".into(), "It counts.".into())];
        let log = log(template);
        has_what_is_asked_for(&log);
        let failing = result(&log, "capabilities-work");
        assert_eq!(failing["level"], "error");
        assert_eq!(
            failing["locations"][0]["physicalLocation"]["region"],
            json!({"startLine": 3})
        );
        assert!(
            failing["message"]["text"]
                .as_str()
                .unwrap()
                .starts_with("t: every conversation with tools fails: line 3: ")
        );
        assert_eq!(failing["suppressions"], json!([]));
        let known = result(&log, "history-stable");
        assert_eq!(known["level"], "note");
        assert_eq!(
            known["suppressions"],
            json!([{"kind": "external", "justification": "It counts."}])
        );
        assert_eq!(
            known["partialFingerprints"]["primaryLocationLineHash"],
            "t/history-stable"
        );
        assert_eq!(result(&log, "reasoning-kept")["level"], "note");
    }

    #[test]
    fn a_template_that_cannot_be_read_is_one_result() {
        let log = log(template("a\n  {{ y }"));
        has_what_is_asked_for(&log);
        assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 1);
        assert_eq!(
            result(&log, "syntax")["locations"][0]["physicalLocation"]["region"],
            json!({"startLine": 2, "startColumn": 8})
        );
    }

    #[test]
    fn paths_are_relative_below_the_folder_and_whole_elsewhere() {
        let of = |path: &str| uri(Path::new(path), Path::new("/home/me/here"));
        assert_eq!(of("t.jinja"), "t.jinja");
        assert_eq!(of("./a/../b c%.jinja"), "b%20c%25.jinja");
        assert_eq!(of("/home/me/here/models/t.gguf"), "models/t.gguf");
        assert_eq!(of("../there/t.jinja"), "file:///home/me/there/t.jinja");
    }
}
