//! The proof of a fix: which prompts stay as they are, and which change.

use std::collections::BTreeSet;

use rolecall_card::card::Card;
use rolecall_card::contract::Contract;
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_model::{Case, Engine, Outcome, Template};
use serde_json::Value;

/// Which prompts a fix changes.
#[derive(Debug, Default)]
pub struct Proof {
    /// How many prompts and refusals stay byte for byte.
    pub same: usize,
    /// The conversations that showed the defect, and have another prompt now, each with its switches.
    pub shown: Vec<String>,
    /// Other conversations that have another prompt now.
    pub others: Vec<String>,
}

/// Whether a fix mends a contract and breaks no other one.
pub(super) fn mends(old: &Card, new: &Card, contract: &Contract) -> bool {
    let broken = |card: &Card| -> BTreeSet<&'static str> {
        let alone = card.without_front.iter();
        let findings = card.broken().chain(alone);
        findings.map(|finding| finding.contract.id).collect()
    };
    let (before, after) = (broken(old), broken(new));
    new.syntax_error.is_none() && !after.contains(contract.id) && after.is_subset(&before)
}

impl Proof {
    /// Renders every case with both templates, under every switch.
    pub(super) fn of(
        engine: &dyn Engine,
        templates: [&Template; 2],
        cases: &[Case],
        contract: &Contract,
    ) -> Proof {
        let programs = templates.map(|template| FrontProgram::load(engine, template));
        let mut proof = Proof::default();
        let [first, _] = templates;
        // Users of the application, and those of servers that hand conversations on as they are.
        let mut fronts = vec![Front::of(first), Front::Raw];
        fronts.dedup();
        let cases = cases
            .iter()
            .filter(|case| case.front.is_none() && case.is_for(first.dialect));
        for case in cases {
            for (name, case) in switched(case) {
                for front in &fronts {
                    let outcomes = programs.each_ref().map(|program| {
                        let prepared = PreparedCase::new(&case, *front, &program.model);
                        program.outcome(&prepared)
                    });
                    let [old, new] = &outcomes;
                    let name = format!("{name} behind {front}");
                    if old == new || both_fail(old, new) {
                        proof.same += 1;
                    } else if shows(contract.id, &case, old, new) {
                        proof.shown.push(name);
                    } else {
                        proof.others.push(name);
                    }
                }
            }
        }
        proof
    }
}

/// Whether both fail: the words of a failure belong to the engine.
fn both_fail(old: &Outcome, new: &Outcome) -> bool {
    matches!((old, new), (Outcome::Failed { .. }, Outcome::Failed { .. }))
}

/// A case under every switch that a user of a chat has: with and without a generation prompt, with
/// and without thinking.
fn switched(case: &Case) -> Vec<(String, Case)> {
    let mut all = vec![(case.id.to_string(), case.clone())];
    if case.continue_final_message.is_none() {
        let mut other = case.clone();
        other.add_generation_prompt = !case.add_generation_prompt;
        let name = format!(
            "{} with add_generation_prompt={}",
            case.id, other.add_generation_prompt
        );
        all.push((name, other));
    }
    for thinks in [true, false] {
        if case.variables.contains_key("enable_thinking") {
            continue;
        }
        let mut other = case.clone();
        let value = Value::from(thinks);
        other.variables.insert("enable_thinking".to_owned(), value);
        all.push((format!("{} with enable_thinking={thinks}", case.id), other));
    }
    all
}

/// Whether a conversation and its old outcome show the defect that a contract is about: another
/// prompt is meant then.
fn shows(contract: &str, case: &Case, old: &Outcome, new: &Outcome) -> bool {
    let messages = || case.messages.iter();
    let calls = |message: &Value| message.get("tool_calls").cloned();
    let arguments = || {
        messages()
            .filter_map(|message| message.get("tool_calls")?.as_array())
            .flatten()
            .map(|call| call["function"]["arguments"].clone())
    };
    let fewer = |words: &[&str]| {
        let (Outcome::Rendered { text: old }, Outcome::Rendered { text: new }) = (old, new) else {
            return false;
        };
        let count =
            |text: &str| -> usize { words.iter().map(|word| text.matches(word).count()).sum() };
        count(new) < count(old)
    };
    match contract {
        "no-tools-alike" => case.tools.as_ref().is_some_and(Vec::is_empty),
        "no-calls-alike" => messages()
            .filter_map(calls)
            .any(|calls| calls.is_null() || calls.as_array().is_some_and(Vec::is_empty)),
        "no-null-leak" => fewer(&["None", "none", "null", "Undefined", "undefined"]),
        "no-repr-leak" => fewer(&["{'", "['", "': '", "': True", "': False", "': None"]),
        "arguments-encoded-once" | "arguments-alike" => {
            arguments().any(|arguments| arguments.is_string())
        }
        "text-part-is-text" | "capabilities-work" => {
            let mut contents = messages().filter_map(|message| message.get("content"));
            contents.any(|content| {
                let parts = content.as_array();
                parts.is_some_and(|parts| {
                    !parts.is_empty() && parts.iter().all(|part| part["type"] == "text")
                })
            })
        }
        _ => false,
    }
}
