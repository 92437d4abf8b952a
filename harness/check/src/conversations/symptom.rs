//! What is wrong with one conversation.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::message::number_in;
use crate::contract::{self, INTERNAL_ERROR, LOG_RULES, Severity};

/// What can be wrong with conversations themselves: the rule of each sentence, and how bad it is. Their
/// file has one on each line.
static KNOWN: LazyLock<HashMap<&str, (&str, Severity)>> = LazyLock::new(|| {
    let lines = include_str!("symptoms.txt").lines();
    let known = lines.filter_map(|line| {
        let mut columns = line.split(" | ");
        let (rule, severity) = (columns.next()?, Severity::named(columns.next()?)?);
        Some((columns.next()?, (rule, severity)))
    });
    known.collect()
});

/// Something that is wrong with one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symptom {
    /// The contract that is broken, or one of [`LOG_RULES`].
    pub rule: &'static str,
    pub severity: Severity,
    /// What is wrong: the same words wherever the cause is the same.
    pub what: String,
    /// What shows it in this conversation. Empty if the words above say it all.
    pub detail: String,
    /// The first message that has it, by its number, if it is in a message.
    pub message: Option<usize>,
    /// How many bytes of the prompt before this one a cache computes anew, and how many it had.
    pub anew: Option<(usize, usize)>,
}

/// What was found out about a conversation.
#[derive(Debug, Default)]
pub struct Symptoms {
    /// What is wrong: each rule and what is wrong once.
    pub all: Vec<Symptom>,
    /// By which of [`LOG_RULES`] something was judged: a bit for each.
    pub judged: u32,
}

impl Symptoms {
    /// Adds a symptom, as bad as its contract or its sentence says.
    pub(super) fn add(&mut self, rule: &'static str, what: impl Into<String>, detail: String) {
        let what = what.into();
        let of_log = KNOWN.get(what.as_str()).filter(|(known, _)| *known == rule);
        let severity = of_log.map(|(_, severity)| *severity);
        let of_contract = || contract::by_id(rule).map(|one| one.severity);
        let severity = severity.or_else(of_contract).unwrap_or(Severity::Error);
        let mut known = self.all.iter();
        if !known.any(|known| known.rule == rule && known.what == what) {
            self.all.push(Symptom {
                rule,
                severity,
                what,
                message: number_in(&detail),
                detail,
                anew: None,
            });
        }
    }

    /// Adds what is wrong in the conversation itself: a sentence of `symptoms.txt`.
    pub(super) fn say(&mut self, what: &str, detail: String) {
        let rule = KNOWN.get(what).map_or(INTERNAL_ERROR.id, |(rule, _)| rule);
        self.add(rule, what, detail);
    }

    /// Notes that there is something to judge by these rules for logs, with spaces between their names.
    pub(super) fn judges(&mut self, rules: &str) {
        let all = LOG_RULES.iter().enumerate();
        let all = all.filter(|(_, rule)| rules.split(' ').any(|id| id == rule.contract.id));
        self.judged |= all.fold(0, |all, (at, _)| all | (1 << at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_has_a_rule_for_logs_and_each_rule_a_sentence_as_bad() {
        assert_eq!(KNOWN.len(), include_str!("symptoms.txt").lines().count());
        for (rule, severity) in KNOWN.values() {
            let rule = contract::log_rule(rule).expect(rule);
            assert!(*severity >= rule.contract.severity, "{}", rule.contract.id);
        }
        for rule in LOG_RULES.iter() {
            let mut sentences = KNOWN.values();
            assert!(sentences.any(|one| *one == (rule.contract.id, rule.contract.severity)));
        }
        assert_eq!(LOG_RULES.len(), 12);
    }
}
