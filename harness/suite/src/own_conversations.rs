//! What is wrong with conversations of a user's own, gathered by cause.

use rayon::prelude::*;
use rolecall_check::contract::{self, Severity};
use rolecall_check::conversations::{RULES, Symptom, judge};
use rolecall_core::{Case, CaseId, Template};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use serde::Serialize;

use crate::cause::{Groups, error, size};
use crate::run::Runner;
use crate::suite::Pair;

/// What is wrong with the conversations that a template was judged by.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedConversations {
    /// The template's name.
    pub template: String,
    /// How many conversations were judged.
    pub conversations: usize,
    /// What is wrong, the worst first, and of what is as bad the most frequent.
    pub causes: Vec<ConversationCause>,
}

/// What is wrong with some of the conversations, for one reason.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConversationCause {
    /// The contract that is broken, `arguments-are-json`, `calls-answered` or `internal-error`.
    pub rule: &'static str,
    pub severity: Severity,
    /// What is wrong.
    pub what: String,
    /// How many conversations have it.
    pub count: usize,
    /// The smallest of them.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub example: CaseId,
    /// What shows it in the smallest one. Empty if `what` says it all.
    pub detail: String,
    /// How many bytes of earlier prompts a prefix cache computes anew in all of them, and how many it
    /// had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anew: Option<(usize, usize)>,
}

impl ConversationCause {
    /// What should be.
    pub fn meaning(&self) -> &'static str {
        let mut rules = RULES.iter();
        let own = rules.find(|(name, _)| *name == self.rule);
        own.map(|(_, meaning)| *meaning)
            .or_else(|| contract::by_id(self.rule).map(|one| one.meaning))
            .unwrap_or_default()
    }
}

impl Runner<'_> {
    /// Judges a template by the cases that it is rendered with. None if its dialect has no engine.
    pub fn judge_conversations(
        &self,
        template: &Template,
        cases: &[&Case],
    ) -> Option<JudgedConversations> {
        let engine = self.engine(template.dialect)?;
        let program = FrontProgram::load(engine, template);
        let judged = |case: &&Case| {
            let front = Pair { template, case }.front();
            let render = |case: &Case| {
                let model = program.model.with(case, front);
                program.outcome(&PreparedCase::new(case, front, &model))
            };
            judge(template, case, &render)
        };
        let all: Vec<Vec<Symptom>> = self.on_its_threads(|| cases.par_iter().map(judged).collect());
        let mut groups = Groups::default();
        for (case, symptoms) in cases.iter().zip(all) {
            for symptom in symptoms {
                let why = match symptom.rule {
                    "renders" => error(&symptom.what),
                    _ => symptom.what.clone(),
                };
                let example = (case.id.clone(), symptom.clone());
                groups.add((symptom.rule, why), size(case), symptom.anew, || example);
            }
        }
        let sorted = groups.sorted().map(|((example, symptom), members)| {
            let anew = members.iter().flatten();
            let sum = anew.fold((0, 0), |(some, all), one| (some + one.0, all + one.1));
            ConversationCause {
                rule: symptom.rule,
                severity: symptom.severity,
                what: symptom.what,
                count: members.len(),
                example,
                detail: symptom.detail,
                anew: symptom.anew.map(|_| sum),
            }
        });
        let mut found: Vec<ConversationCause> = sorted.collect();
        found.sort_by_key(|one| one.severity);
        Some(JudgedConversations {
            template: template.name.to_string(),
            conversations: cases.len(),
            causes: found,
        })
    }
}
