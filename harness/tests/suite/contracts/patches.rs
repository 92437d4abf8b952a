//! Compares the patch for a template with what a file says about it.

use std::sync::{Arc, LazyLock};

use rolecall_check::card::Card;
use rolecall_check::contract::Contract;
use rolecall_check::fix::{Fix, Fixer, Fixes};
use rolecall_core::{Case, CaseId, Outcome, Template};
use rolecall_front::front::{Front, ModelProfile};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use serde_json::Value;

use super::file::{Changes, Note, Part};
use super::template::{self, Subject};
use crate::pairs::ENGINES;
use crate::test_files::Malformed;

/// The conversations whose prompts have to stay.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let cases: Vec<Value> = serde_json::from_str(&template::text("conversations.json")).unwrap();
    let list = |value: &Value| value.as_array().cloned();
    let case = |case: &Value| Case {
        id: CaseId::new("x", case["name"].as_str().unwrap()),
        tools: list(&case["tools"]),
        ..Case::from_messages(list(&case["messages"]).unwrap())
    };
    cases.iter().map(case).collect()
});

impl Part {
    /// The notes about patches that are not true.
    pub(super) fn unpatched(
        &self,
        template: &Template,
        card: &Card,
    ) -> Result<Vec<Malformed>, Malformed> {
        let mut wrong = Vec::new();
        // The fix that the notes below it are about, the template after it, and a conversation.
        let mut fixed: Option<(Fix, Template)> = None;
        let mut asked = Vec::new();
        for (line, note) in &self.notes {
            let why = match (note, &fixed) {
                (Note::Fix(contract, unsafe_words, changes), _) => {
                    let (found, why) =
                        patched(template, card, contract, unsafe_words.as_deref(), changes)?;
                    fixed = found;
                    why
                }
                (Note::NoSafeFix(contract), _) => {
                    let found = search(template, card, contract, false);
                    (found.source != template.source)
                        .then(|| format!("a safe fix makes of it:\n{}", found.source))
                }
                (Note::Asked(messages), _) => {
                    asked.clone_from(messages);
                    None
                }
                (Note::Proof(kind, names), Some((fix, _))) => {
                    let (shown, reworded) = (&fix.proof.shown, &fix.proof.reworded);
                    let is_met = match kind.as_str() {
                        "shows only" => shown.join(", ") == *names,
                        "shows" => shown.iter().any(|one| one.contains(names)),
                        "shows no" => !shown.iter().any(|one| one.contains(names)),
                        _ => reworded.contains(names),
                    };
                    (!is_met).then(|| format!("it shows {shown:?} and rewords {reworded:?}"))
                }
                (Note::Prompt(_) | Note::Refusal(_) | Note::SamePrompt, Some((_, after))) => {
                    let found = outcome(after, &asked);
                    let is_met = match (note, &found) {
                        (Note::Prompt(text), Outcome::Rendered { text: found }) => found == text,
                        (Note::Refusal(words), Outcome::Raised { message }) => {
                            message.contains(words)
                        }
                        (Note::SamePrompt, found) => *found == outcome(template, &asked),
                        _ => false,
                    };
                    (!is_met).then(|| format!("the patched template gives {found:?}"))
                }
                (Note::Proof(..) | Note::Prompt(_) | Note::Refusal(_) | Note::SamePrompt, None) => {
                    Some("no patch is found for a note above this one".to_owned())
                }
                _ => None,
            };
            wrong.extend(why.map(|why| (*line, why)));
        }
        Ok(wrong)
    }
}

/// The patch for a contract, the template after it, and what is not as expected.
#[allow(clippy::type_complexity)]
fn patched(
    template: &Template,
    card: &Card,
    contract: &'static Contract,
    unsafe_words: Option<&str>,
    changes: &Changes,
) -> Result<(Option<(Fix, Template)>, Option<String>), Malformed> {
    let found = search(template, card, contract, unsafe_words.is_some());
    let Some(fix) = found.found.iter().find(|fix| fix.contract == contract) else {
        return Ok((None, Some("no fix is found".to_owned())));
    };
    let mut after = template.clone();
    after.source.clone_from(&found.source);
    let reason = fix.proof.reason();
    let is_safe = unsafe_words.is_none();
    let is_untouched =
        || is_safe || search(template, card, contract, false).source == template.source;
    let why = if fix.is_safe() != is_safe || !reason.contains(unsafe_words.unwrap_or_default()) {
        Some(format!(
            "whether the fix is safe: {}, {reason}",
            fix.is_safe()
        ))
    } else if found.source != changes.apply(&template.source)? {
        Some(format!("the template is after the fix:\n{}", found.source))
    } else if !is_untouched() {
        Some("a fix that is not safe is applied without being asked for".to_owned())
    } else {
        // A second search finds nothing more to change.
        let card = Subject::from(after.clone()).card();
        let again = search(&after, &card, contract, !is_safe);
        (again.source != after.source).then(|| format!("fixed again, it is:\n{}", again.source))
    };
    Ok((Some((fix.clone(), after)), why))
}

fn search(template: &Template, card: &Card, contract: &Contract, unsafe_too: bool) -> Fixes {
    let fixer = Fixer {
        engine: ENGINES.for_dialect(template.dialect),
        cases: &|| &CASES,
        tokenizer: None,
        unsafe_too,
        most_work: None,
        step: &|| {},
    };
    fixer.fixes(template, card, |one| one == contract)
}

/// What a template makes of messages.
fn outcome(template: &Template, messages: &[Value]) -> Outcome {
    let engine = ENGINES.for_dialect(template.dialect);
    let case = Arc::new(Case::from_messages(messages.to_vec()));
    let input = PreparedCase::of(&case, Front::Raw, &ModelProfile::of(template));
    FrontProgram::load(engine, template).outcome(&input)
}
