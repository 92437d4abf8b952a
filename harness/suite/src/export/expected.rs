//! The references' outcomes, by front.

use std::collections::{BTreeMap, BTreeSet};

use rolecall_core::{Dialect, Outcome, Template, Variable};
use rolecall_jinja::tools_json;
use serde_json::{Map, Value};

use super::form::{ExpectedAnswer, ExpectedCase};
use crate::expectations::Expectations;
use crate::suite::Pair;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::transcript;
use rolecall_front::front::Front;

#[derive(Default)]
pub(super) struct Answers {
    /// The front, the front whose answers hold for the cases that are not listed, and the
    /// answers by the name of the case.
    pub(super) by_front: Vec<(Front, Option<Front>, BTreeMap<String, ExpectedCase>)>,
    /// The pairs without an answer, and why.
    pub(super) left_out: Vec<String>,
}

/// The reference's outcomes for the pairs of a template.
///
/// One front has all its cases: `raw` for Jinja, because engines have no fronts, and the
/// endpoint's front for Go. The other fronts have only the cases that differ from it.
pub(super) fn answers(
    template: &Template,
    pairs: &[Pair<'_>],
    expectations: &Expectations,
) -> Answers {
    let mut answers = Answers::default();
    // By the case's name in its file, and the front.
    let mut known: BTreeMap<(String, Front), ExpectedCase> = BTreeMap::new();
    // A template without a front cannot continue a message.
    let mut continued = BTreeSet::new();
    let own = Front::of(template);
    for pair in pairs {
        let case = pair.case;
        let name = format!("{}/{}", case.id.family(), case.id.written_name());
        if case.continue_final_message.is_some() && own != Front::Raw {
            continued.insert(name.clone());
        }
        match reference(pair, expectations) {
            Ok(answer) => {
                let expected = ExpectedCase {
                    answer,
                    variables: made_of_case(pair),
                };
                known.insert((name, pair.front()), expected);
            }
            Err(why) => {
                let words = format!("{} with {}: {why}", template.name, case.id);
                answers.left_out.push(words);
            }
        }
    }
    let complete = match template.dialect {
        Dialect::Jinja => Front::Raw,
        Dialect::Go => own,
    };
    let mut by_front: BTreeMap<Front, BTreeMap<String, ExpectedCase>> = BTreeMap::new();
    for ((name, front), expected) in &known {
        let of_complete = known.get(&(name.clone(), complete));
        if *front == own && of_complete.is_none() && !continued.contains(name) {
            // A case without a copy for a front has the outcome of the template's own
            // front.
            let all = by_front.entry(complete).or_default();
            all.insert(name.clone(), expected.clone());
        } else if *front == complete || of_complete.map(|of| &of.answer) != Some(&expected.answer) {
            let all = by_front.entry(*front).or_default();
            all.insert(name.clone(), expected.clone());
        }
    }
    for (front, cases) in by_front {
        let otherwise = (front != complete).then_some(complete);
        answers.by_front.push((front, otherwise, cases));
    }
    answers
}

/// The reference's whole outcome for a pair.
fn reference(pair: &Pair<'_>, expectations: &Expectations) -> Result<ExpectedAnswer, String> {
    let input = Fingerprint::of_case(pair.case);
    let recorded = expectations
        .records
        .answer(pair, || input)
        .map_err(|why| why.to_string())?;
    let kept = expectations.snapshots.reference(pair, recorded);
    let outcome = kept.and_then(|text| transcript::decode(&text).ok());
    let expected = outcome.as_ref().and_then(answer);
    expected.ok_or_else(|| "only the checksum of the reference's answer is known".to_owned())
}

/// An outcome as it is in the files; none for an outcome that no reference has.
pub(super) fn answer(outcome: &Outcome) -> Option<ExpectedAnswer> {
    let sha256 = |text: &str| Fingerprint::of(text).to_string();
    Some(match outcome {
        Outcome::Rendered { text } => ExpectedAnswer::Rendered {
            sha256: sha256(text),
            text: text.clone(),
        },
        Outcome::Raised { message } => ExpectedAnswer::Raised {
            sha256: sha256(message),
            message: message.clone(),
        },
        Outcome::Failed {
            stage,
            message,
            line,
        } => ExpectedAnswer::Failed {
            stage: stage.name(),
            message: message.clone(),
            line: *line,
        },
        Outcome::Exceeded { limit } => ExpectedAnswer::Exceeded {
            limit: limit.name(),
        },
        Outcome::Crashed { .. } | Outcome::NotAsked { .. } => return None,
    })
}

/// The variables of a template without a case: special tokens, and its own.
pub(super) fn variables(template: &Template) -> Map<String, Value> {
    let mut variables = template.special_tokens.clone();
    for (name, variable) in &template.variables {
        if let Variable::Value(value) = variable {
            variables.insert(name.clone(), value.clone());
        }
    }
    variables
}

/// Variables that are made of the case.
fn made_of_case(pair: &Pair<'_>) -> Map<String, Value> {
    let mut variables = Map::new();
    for (name, variable) in &pair.template.variables {
        if let (Variable::ToolsJson { indent }, Some(tools)) = (variable, &pair.case.tools) {
            variables.insert(name.clone(), tools_json(tools, *indent).into());
        }
    }
    variables
}
