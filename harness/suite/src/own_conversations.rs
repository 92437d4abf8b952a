//! What is wrong with conversations of a user's own, gathered by cause.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use rayon::prelude::*;
use rolecall_check::choice::ContractChoice;
use rolecall_check::contract::{self, LOG_RULES, Severity};
use rolecall_check::conversations::{Length, Symptoms, judge};
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::{Case, CaseId, Template};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_io::context;
use serde::Serialize;

use crate::cause::{Groups, error, size};
use crate::run::Runner;
use crate::suite::{Pair, Suite};

/// What is wrong with the conversations that a template was judged by.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedConversations {
    /// The template's name.
    pub template: String,
    /// How many conversations were judged.
    pub conversations: usize,
    /// What the template makes of them that is wrong, the worst first, and of what is as bad the most
    /// frequent.
    pub causes: Vec<ConversationCause>,
    /// What is wrong with the conversations themselves. Absent if the chosen contracts say nothing about
    /// that. Of several templates the first has what is wrong whatever the template is, and the others
    /// what they add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<JudgedLog>,
}

/// What is wrong with conversations themselves, whatever the template is.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedLog {
    /// What is wrong, the worst first, and of what is as bad the most frequent.
    pub causes: Vec<ConversationCause>,
    /// The rules by which nothing was judged, each with the reason.
    pub unjudged: BTreeMap<&'static str, &'static str>,
}

impl JudgedConversations {
    /// All causes: first what the template makes of the conversations, then what is wrong with these.
    pub fn all(&self) -> impl Iterator<Item = &ConversationCause> {
        let of_log = self.log.iter().flat_map(|log| &log.causes);
        self.causes.iter().chain(of_log)
    }
}

/// What is wrong with some of the conversations, for one reason.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConversationCause {
    /// The contract that is broken, a rule for logs, or `internal-error`.
    pub rule: &'static str,
    pub severity: Severity,
    /// What is wrong.
    pub what: String,
    /// How many conversations have it.
    pub count: usize,
    /// The smallest of them.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub example: CaseId,
    /// All of them, in the order of the file.
    pub places: Vec<ConversationPlace>,
    /// What shows it in the smallest one. Empty if `what` says it all.
    pub detail: String,
    /// How many bytes of earlier prompts a prefix cache computes anew in all of them, and how many it
    /// had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anew: Option<(usize, usize)>,
}

/// Where a cause is.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConversationPlace {
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub conversation: CaseId,
    /// The file with the conversation.
    pub file: String,
    /// The line in which the conversation begins. Absent in a case file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The first message that shows the cause, by its number. Absent if no message does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
}

impl fmt::Display for ConversationPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file)?,
            None => write!(f, "{}", self.conversation)?,
        }
        (self.message).map_or(Ok(()), |number| write!(f, " (message {number})"))
    }
}

impl ConversationCause {
    /// What should be.
    pub fn meaning(&self) -> &'static str {
        contract::find_chosen(self.rule).map_or(contract::INTERNAL_ERROR.meaning, |one| one.meaning)
    }

    /// Whether the conversation itself is wrong, and not what the template makes of it.
    pub fn is_of_log(&self) -> bool {
        contract::log_rule(self.rule).is_some()
    }
}

/// Leaves out of each log's causes those that an earlier template has.
pub fn say_once(judged: &mut [JudgedConversations]) {
    let mut known = HashSet::new();
    for (at, one) in judged.iter_mut().enumerate() {
        if let Some(log) = &mut one.log {
            (log.causes).retain(|cause| known.insert((cause.rule, cause.what.clone())));
        }
        one.log.take_if(|log| at > 0 && log.causes.is_empty());
    }
}

impl Runner<'_> {
    /// Judges a template and a log by those cases of a suite that the template is rendered with, by the
    /// chosen contracts.
    pub fn judge_conversations(
        &self,
        suite: &Suite,
        template: &Template,
        tokenizers: &Tokenizers,
        cases: &[&Case],
        choice: &ContractChoice,
    ) -> JudgedConversations {
        let engine = self.engine(template.dialect);
        let program = FrontProgram::load(engine, template);
        let tokenizer = tokenizers.of(template).filter(|one| one.is_whole());
        let length = tokenizer.zip(context::context_length(&template.path));
        let length = length.map(|(tokenizer, most)| Length { tokenizer, most });
        let judged = |case: &&Case| {
            let front = Pair { template, case }.front();
            let render = |case: &Case| {
                let model = program.model.with(case, front);
                program.outcome(&PreparedCase::new(case, front, &model))
            };
            let found = judge(template, case, length, &render);
            self.step();
            found
        };
        let all: Vec<Symptoms> = self.on_its_threads(|| cases.par_iter().map(judged).collect());
        let by = all.iter().fold(0, |by, one| by | one.judged);
        let mut groups = Groups::default();
        for (case, symptoms) in cases.iter().zip(all) {
            for symptom in symptoms.all {
                let why = match symptom.rule {
                    // The engine's words name places and values, which differ from conversation to
                    // conversation.
                    "renders" => error(&symptom.what),
                    _ => symptom.what.clone(),
                };
                let example = (case.id.clone(), symptom.clone());
                let place = ConversationPlace {
                    conversation: case.id.clone(),
                    file: case.path.display().to_string(),
                    line: suite.line_of(case),
                    message: symptom.message,
                };
                let member = (symptom.anew, place);
                groups.add((symptom.rule, why), size(case), member, || example);
            }
        }
        let sorted = groups.sorted().map(|((example, symptom), members)| {
            let anew = members.iter().filter_map(|(anew, _)| *anew);
            let sum = anew.fold((0, 0), |(some, all), one| (some + one.0, all + one.1));
            let mut places: Vec<_> = members.into_iter().map(|(_, place)| place).collect();
            places.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
            ConversationCause {
                rule: symptom.rule,
                severity: symptom.severity,
                what: symptom.what,
                count: places.len(),
                example,
                places,
                detail: symptom.detail,
                anew: symptom.anew.map(|_| sum),
            }
        });
        let is_chosen = |cause: &ConversationCause| {
            let contract = contract::find_chosen(cause.rule);
            contract.is_ok_and(|one| choice.has(one)) || cause.rule == contract::INTERNAL_ERROR.id
        };
        let mut found: Vec<ConversationCause> = sorted.filter(is_chosen).collect();
        found.sort_by_key(|one| one.severity);
        let (of_log, of_template) = found.into_iter().partition(ConversationCause::is_of_log);
        let rules = LOG_RULES.iter().enumerate();
        let unjudged = rules.filter(|(at, rule)| by & (1 << at) == 0 && choice.has(&rule.contract));
        let unjudged = unjudged.map(|(_, rule)| (rule.contract.id, rule.unjudged));
        let log = JudgedLog {
            causes: of_log,
            unjudged: unjudged.collect(),
        };
        JudgedConversations {
            template: template.name.to_string(),
            conversations: cases.len(),
            causes: of_template,
            log: (!choice.is_without_logs()).then_some(log),
        }
    }
}
