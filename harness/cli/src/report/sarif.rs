//! Report cards and runs as SARIF 2.1.0, which code scanning reads: GitHub's, GitLab's, editors'.
//!
//! This module writes the format by hand. The crates for it generate the format's whole schema as
//! types, and a report card needs only a screenful.

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rolecall_core::{Template, TemplatePart};
use serde_json::{Value, json};

use super::fixes::TemplateFixes;
use super::json;
use super::numbers::counted;
use super::other_fault::{FaultKind, OtherFault};
use super::place::lines;
use super::run_report::{Ending, RunReport};
use rolecall_check::card::Card;
use rolecall_check::contract::{self, Finding, Severity};
use rolecall_check::fix::Fix;
use rolecall_core::patch;
use rolecall_io::template_file::line_in_file;
use rolecall_suite::checked_text::TextKind;
use rolecall_suite::conclusion::Fault;
use rolecall_suite::configuration;

/// The rule for templates that cannot be read.
const SYNTAX: &str = "syntax";

/// The characters of a path that a URI has to escape.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Writes a log with a rule for each contract and a result for each broken one. Paths below
/// `folder` are relative to it, as code scanning wants them. A defect that a sidecar explains is
/// suppressed, with the sidecar's words. A result has the fix that was found for it, as far as the
/// fix changes lines that the fixes before it do not.
///
/// A limitation has the level `note`, as a note has. SARIF's kind `informational` would remove its
/// level, and code scanning does not show a result without a level.
///
/// What belongs to no card has rules of its own, by its kind.
pub fn write(
    out: &mut dyn Write,
    (cards, templates): (&[Card], &[Template]),
    fixes: &[TemplateFixes],
    others: &[OtherFault],
    folder: &Path,
) -> io::Result<()> {
    let mut results: Vec<Value> = cards
        .iter()
        .flat_map(|card| {
            let mut templates = templates.iter();
            let template = templates.find(|template| template.name.as_str() == card.template);
            let mut results = results(card, template, folder);
            let mut fixes = fixes.iter();
            let fixes = fixes.find(|fixes| fixes.template == card.template);
            if let (Some(template), Some(fixes)) = (template, fixes) {
                add_fixes(&mut results, template, fixes, folder);
            }
            results
        })
        .collect();
    results.extend(others.iter().map(|other| of_other(other, folder)));
    let mut rules = rules();
    // The rule for templates that cannot be read is among those for cards.
    let kinds = FaultKind::ALL.into_iter();
    let kinds = kinds.filter(|kind| others.iter().any(|other| other.kind == *kind));
    rules.extend(kinds.map(|kind| plain_rule(kind.name(), kind.about())));
    json::write(out, &log(&rules, &results))
}

fn run_result(rule: &str, message: &str, place: (&Path, &Path), line: usize, mark: &str) -> Value {
    let (path, folder) = place;
    json!({
        "ruleId": rule,
        "level": "error",
        "message": {"text": message},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(path, folder)},
            "region": {"startLine": line},
        }}],
        "partialFingerprints": {"primaryLocationLineHash": mark},
        "suppressions": [],
    })
}

/// The result for something that belongs to no pair and no card. Without a file of its own, it is at
/// the suite's.
fn of_other(other: &OtherFault, folder: &Path) -> Value {
    let mark = format!("{}/{}", other.what, other.kind.name());
    let line = other.line().unwrap_or(1);
    let path = if other.path.as_os_str().is_empty() {
        Path::new(configuration::FILE)
    } else {
        &other.path
    };
    run_result(other.kind.name(), &other.what, (path, folder), line, &mark)
}

/// A rule of which there is nothing more to say than its meaning.
fn plain_rule(id: &str, about: &str) -> Value {
    json!({
        "id": id,
        "shortDescription": {"text": about},
        "fullDescription": {"text": about},
        "help": {"text": about},
        "defaultConfiguration": {"level": "error"},
    })
}

/// Writes the results of a run: a rule for each way to be not as expected, a result for each cause.
pub fn write_run(out: &mut dyn Write, report: &RunReport<'_, '_>, folder: &Path) -> io::Result<()> {
    let mut results = Vec::new();
    for group in report.groups {
        let Some(first) = group.pairs.first() else {
            continue;
        };
        let pair = &first.pair;
        let name = format!("{} {}", pair.template.name, pair.case.id);
        let mut message = name.clone();
        if group.pairs.len() > 1 {
            let others = counted(group.pairs.len() - 1, "other pair", "other pairs");
            message = format!("{message} and {others}");
        }
        let difference = group.diff().and_then(|diff| diff.first.as_deref());
        for what in difference.into_iter().chain(group.word()) {
            message = format!("{message}\n{what}");
        }
        let line = line_in_file(pair.template, None).unwrap_or(1);
        let rule = group.fault().name();
        let mark = format!("{name}/{rule}");
        let place = (&*pair.template.path, folder);
        results.push(run_result(rule, &message, place, line, &mark));
    }
    for checked in &report.conclusion.cards {
        let forbidden = checked.forbidden.iter().map(|found| found.contract.id);
        let kind = checked.kind.name();
        let mut message = format!("{}: the {kind} is not as demanded", checked.template);
        for id in forbidden {
            message = format!("{message}\n{id} is broken, and nothing gives the reason");
        }
        let mark = format!("{}/{kind}", checked.template);
        let place = (&*checked.path, folder);
        results.push(run_result(kind, &message, place, 1, &mark));
    }
    let others = report.others();
    results.extend(others.iter().map(|other| of_other(other, folder)));
    let faults = Fault::ALL.map(|fault| (fault.name(), fault.about()));
    let kinds = FaultKind::ALL.map(|kind| (kind.name(), kind.about()));
    let texts = TextKind::ALL.map(|kind| {
        let about = format!("the {} is not as the suite demands", kind.name());
        plain_rule(kind.name(), &about)
    });
    let rules = faults.into_iter().chain(kinds);
    let rules = rules.map(|(id, about)| plain_rule(id, about));
    let rules: Vec<Value> = rules.chain(texts).collect();
    let mut log = log(&rules, &results);
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

fn log(rules: &[Value], results: &[Value]) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "rolecall",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A rule for each contract, in their order, and one for templates that cannot be read.
fn rules() -> Vec<Value> {
    let rule = |id: &str, meaning: &str, guards_against: &str, severity: Severity, page: &str| {
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
    };
    let contracts = contract::ALL.iter().map(|contract| {
        let contract::Contract {
            id,
            meaning,
            guards_against,
            severity,
            page,
            ..
        } = contract;
        rule(id, meaning, guards_against, *severity, page)
    });
    let meaning = "the engine can read the template";
    let guards_against = "a template that gives no prompt for any conversation";
    let page = "# syntax\n\nThe engine cannot read the template. The message has its words.";
    let syntax = rule(SYNTAX, meaning, guards_against, Severity::Error, page);
    contracts.chain([syntax]).collect()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Limitation | Severity::Note => "note",
    }
}

/// The broken contracts, in their order. If the template cannot be read, only that.
fn results(card: &Card, template: Option<&Template>, folder: &Path) -> Vec<Value> {
    let uri = template.map_or_else(String::new, |template| uri(&template.path, folder));
    let place = |line: usize, column: Option<usize>| {
        let mut region = json!({"startLine": line});
        if let Some(column) = column {
            region["startColumn"] = column.into();
        }
        json!({"artifactLocation": {"uri": uri}, "region": region})
    };
    if let Some(error) = &card.syntax_error {
        let first = template.and_then(|template| line_in_file(template, None));
        let line = error.line.or(first).unwrap_or(1);
        let message = format!("{}: {}", card.template, error.message);
        let mut result = result(card, SYNTAX, "error", &message);
        result["locations"] = json!([{"physicalLocation": place(line, error.column)}]);
        return vec![result];
    }
    let broken = card.broken().map(|finding| {
        let id = finding.contract.id;
        let level = match &finding.deliberate {
            Some(_) => "note",
            None => level(finding.severity()),
        };
        let mut result = result(card, id, level, &message(card, finding));
        if let Some(why) = &finding.deliberate {
            result["suppressions"] = json!([{"kind": "external", "justification": why}]);
        }
        let lines = template.map_or_else(Vec::new, |template| lines(finding, template));
        let (first, others) = lines.split_first().unwrap_or((&1, &[]));
        result["locations"] = json!([{"physicalLocation": place(*first, None)}]);
        if !others.is_empty() {
            let others = others.iter().map(|line| {
                let text = "It also fails here.";
                json!({"physicalLocation": place(*line, None), "message": {"text": text}})
            });
            result["relatedLocations"] = others.collect();
        }
        result
    });
    broken.collect()
}

/// Adds to each result the fix of its contract that is not in the file yet.
fn add_fixes(results: &mut [Value], template: &Template, fixes: &TemplateFixes, folder: &Path) {
    // Lines of a template inside of another file are no lines of that file.
    if template.part != TemplatePart::Whole {
        return;
    }
    for fix in fixes
        .fixes
        .found
        .iter()
        .filter(|fix| !fixes.is_applied(fix))
    {
        let id = fix.contract.id;
        let mut results = results.iter_mut();
        let Some(result) = results.find(|result| result["ruleId"] == id) else {
            continue;
        };
        let Some(replacements) = replacements(&template.source, fix) else {
            continue;
        };
        let text = if fix.is_safe() {
            format!("Fixes {id}, and changes only prompts that show the defect.")
        } else {
            format!("Fixes {id}, and changes other prompts, too: look at them first.")
        };
        result["fixes"] = json!([{
            "description": {"text": text},
            "artifactChanges": [{
                "artifactLocation": {"uri": uri(&template.path, folder)},
                "replacements": replacements,
            }],
        }]);
    }
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

/// A result without its place. Its fingerprint stays the same while the same template breaks the
/// same contract, even if lines are added or removed.
fn result(card: &Card, rule: &str, level: &str, message: &str) -> Value {
    let at = contract::ALL.iter().position(|known| known.id == rule);
    json!({
        "ruleId": rule,
        "ruleIndex": at.unwrap_or(contract::ALL.len()),
        "level": level,
        "message": {"text": message},
        "partialFingerprints": {"primaryLocationLineHash": format!("{}/{rule}", card.template)},
        "suppressions": [],
    })
}

/// The evidence as sentences, each on a line of its own.
fn message(card: &Card, finding: &Finding) -> String {
    let said: Vec<&str> = finding
        .evidence()
        .iter()
        .map(|evidence| evidence.what.as_str())
        .collect();
    format!("{}: {}", card.template, said.join("\n"))
}

/// A path as a URI, relative to the folder if the path is below it.
fn uri(path: &Path, folder: &Path) -> String {
    let mut whole = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
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
    use rolecall_core::Dialect;
    use rolecall_jinja::JinjaEngine;

    fn log(template: Template) -> Value {
        let card = rolecall_check::card::examine(&JinjaEngine::new(), &template);
        let mut out = Vec::new();
        let folder = Path::new("/home/me");
        write(&mut out, (&[card], &[template]), &[], &[], folder).unwrap();
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
