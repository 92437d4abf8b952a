//! The rules for conversations of a user's own: properties of a log, whatever the template is.

use std::sync::LazyLock;

use rolecall_core::Dialect;

use super::definition::Contract;
use super::severity::Severity;

/// A property of a sound conversation. It is none of templates, so it is not in
/// [`ALL`](crate::contract::ALL).
pub struct LogRule {
    pub contract: Contract,
    /// Why nothing is judged by it in some logs.
    pub unjudged: &'static str,
}

/// The rules, in the order in which reports list them. Their file has one on each line: its name, how bad
/// it is to break it, what it demands, what it guards against, and why some logs have nothing to judge.
pub static LOG_RULES: LazyLock<Vec<LogRule>> = LazyLock::new(|| {
    let lines = include_str!("of_logs.txt").lines();
    lines
        .filter_map(|line| rule(&mut line.split(" | ")))
        .collect()
});

fn rule(columns: &mut dyn Iterator<Item = &'static str>) -> Option<LogRule> {
    let (id, severity) = (columns.next()?, Severity::named(columns.next()?)?);
    let (meaning, guards_against) = (columns.next()?, columns.next()?);
    let page = format!(
        "# {id}\n\n`check MODEL log.jsonl` judges conversations by it, whatever their template is."
    );
    let contract = Contract {
        id,
        meaning,
        guards_against,
        severity,
        dialects: &Dialect::ALL,
        page: Box::leak(page.into_boxed_str()),
        // Findings name a contract, and this one is never asked: `crate::conversations` judges logs by it.
        judge: |tally, _, _| tally.holds(),
    };
    let unjudged = columns.next()?;
    Some(LogRule { contract, unjudged })
}

/// A rule for logs by its name.
pub fn log_rule(id: &str) -> Option<&'static LogRule> {
    LOG_RULES.iter().find(|rule| rule.contract.id == id)
}
