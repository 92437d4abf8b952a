//! What a page starts with: the verdict, and everything that is wrong, by cause.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::card::excerpt;
use super::page_file::diff;
use crate::report::diagnostic::Diagnostic;
use crate::report::reach::{headline, in_words};
use crate::report::run_report::{Ending, RunReport};
use rolecall_check::card::Card;
use rolecall_check::reach::Reach;
use rolecall_suite::checked_text::CheckedText;
use rolecall_suite::conclusion::{FaultGroup, GroupedPair};
use rolecall_suite::snapshot::SnapshotStatus;

/// The most causes that a page shows. Each has its difference.
const MOST_CAUSES: usize = 200;

/// The longest transcript that is with a cause, in lines.
const MOST_LINES: usize = 60;

pub fn of_run(report: &RunReport<'_, '_>, engines: &str) -> Value {
    let groups = report.groups.iter().take(MOST_CAUSES);
    let causes = groups.filter_map(|group| cause(report, group));
    let others = report.others();
    let others: Vec<String> = others.iter().map(Diagnostic::sentence).collect();
    json!({
        "sign": sign(report.ending()),
        "headline": report.headline(),
        "facts": facts(&[&report.extent(), engines]),
        "causes": causes.collect::<Vec<_>>(),
        "more": report.groups.len().saturating_sub(MOST_CAUSES),
        "cards": report.conclusion.cards.iter().map(checked).collect::<Vec<_>>(),
        "others": others,
    })
}

/// The verdict of report cards, with what else fails the check. `passes` says how the command ends.
pub fn of_cards(cards: &[Card], reach: &Reach, others: &[Diagnostic<'_>], passes: bool) -> Value {
    let mut engines: Vec<&str> = cards.iter().map(|card| card.engine.as_str()).collect();
    engines.sort_unstable();
    engines.dedup();
    let sentences = [in_words(reach), format!("Engine: {}", engines.join(", "))];
    let sentences = sentences.map(|sentence| sentence + ".");
    let mut verdict = of_comparison(&headline(cards, others), passes);
    verdict["facts"] = facts(&sentences.each_ref().map(String::as_str)).into();
    verdict["others"] = others.iter().map(Diagnostic::sentence).collect();
    verdict
}

/// The verdict of a comparison, in a sentence.
pub fn of_comparison(sentence: &str, is_same: bool) -> Value {
    json!({
        "sign": sign(if is_same { Ending::Passed } else { Ending::Failed }),
        "headline": sentence,
        "facts": facts(&[]),
        "causes": [],
        "more": 0,
        "cards": [],
        "others": [],
    })
}

/// The colour of a verdict, and the sign before it.
fn sign(ending: Ending) -> [&'static str; 2] {
    match ending {
        Ending::Passed => ["good", "✓"],
        Ending::NotCompared => ["note", "?"],
        Ending::Failed => ["bad", "✗"],
    }
}

/// Sentences, and with which version and when the page was made.
fn facts(sentences: &[&str]) -> String {
    let sentences = sentences.iter().filter(|sentence| !sentence.is_empty());
    let mut facts: Vec<String> = sentences.map(|sentence| (*sentence).to_owned()).collect();
    let made = Timestamp::now().strftime("%Y-%m-%d %H:%M UTC");
    facts.push(format!("Rolecall {}, {made}.", env!("CARGO_PKG_VERSION")));
    facts.join(" ")
}

fn cause(report: &RunReport<'_, '_>, group: &FaultGroup<'_>) -> Option<Value> {
    let (first, others) = group.pairs.split_first()?;
    let pair = &first.pair;
    let mut of_template: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for GroupedPair { pair, .. } in others {
        let name = pair.template.name.as_str();
        let cases = of_template.entry(name).or_default();
        cases.push(pair.case.id.to_string());
    }
    let case = pair.case;
    let messages = case.messages.iter().map(ToString::to_string);
    let tools = case
        .tools
        .iter()
        .map(|tools| format!("tools: {}", json!(tools)));
    let shown = group.shown.as_deref().map(|shown| {
        let lines: Vec<&str> = shown.lines().take(MOST_LINES).collect();
        lines.join("\n")
    });
    let template = pair.chosen().unwrap_or(pair.template);
    let faults = group.fault.of_many(group.pairs.len());
    Some(json!({
        "fault": group.fault.name(),
        "faults": match group.place() {
            Some(place) => format!("{faults} by {place}"),
            None => faults.to_owned(),
        },
        "about": group.fault.about(),
        "count": group.pairs.len(),
        "template": pair.template.name.as_str(),
        "case": pair.case.id.to_string(),
        "case_about": case.about,
        "word": group.word,
        "diff": group.diff.as_ref().map(|found| diff("", found)),
        "shown": shown,
        "asked": messages.chain(tools).collect::<Vec<_>>(),
        "path": template.path.display().to_string(),
        "source": group.lines.first().map(|line| excerpt(template, *line)),
        "others": of_template,
        "command": report.command(group),
    }))
}

fn checked(checked: &CheckedText) -> Value {
    let word = match &checked.change {
        SnapshotStatus::Same => "breaks contracts without a reason".to_owned(),
        SnapshotStatus::New => "was never accepted".to_owned(),
        SnapshotStatus::Unreadable(why) => why.to_string(),
        SnapshotStatus::Changed(_) => "changed".to_owned(),
    };
    let forbidden = checked.forbidden.iter().map(|found| {
        json!({
            "contract": found.contract.id,
            "severity": found.severity().name(),
            "what": found.what(),
            "page": found.contract.page,
        })
    });
    json!({
        "template": checked.template,
        "kind": checked.kind.name(),
        "word": word,
        "diff": checked.diff().map(|found| diff("", &found)),
        "forbidden": forbidden.collect::<Vec<_>>(),
    })
}
