//! Patches for templates: changes of the source that mend a broken contract, each with its proof.
//!
//! A recipe proposes changes by the look of the source, and knows nothing about the template. The
//! proof decides: the contract holds afterwards, no other contract breaks, and every conversation
//! that did not show the defect keeps its prompt, byte for byte, under every switch. A change that
//! alters other prompts, too, is no safe one.

mod recipe;

mod proof;

use rolecall_base::diff::Diff;
use rolecall_card::card::{Card, examine_with};
use rolecall_card::contract::{self, Contract};
use rolecall_card::tokenizer::Tokenizer;
use rolecall_model::{Case, Dialect, Engine, Template, TemplatePart};

pub use proof::Proof;

/// A change of a template that mends a contract.
#[derive(Debug)]
pub struct Fix {
    /// The contract that holds afterwards.
    pub contract: &'static Contract,
    /// The source before it.
    pub before: String,
    /// The source after it.
    pub after: String,
    /// Which prompts stay, and which change.
    pub proof: Proof,
}

impl Fix {
    /// The change as a difference of the source.
    pub fn diff(&self) -> Diff {
        Diff::of_sides(&self.before, &self.after)
    }

    /// Whether only prompts change that showed the defect.
    pub fn is_safe(&self) -> bool {
        self.proof.others.is_empty()
    }
}

/// What fixes are looked for with.
pub struct Fixer<'f> {
    /// The engine of the template.
    pub engine: &'f dyn Engine,
    /// The conversations whose prompts have to stay.
    pub cases: &'f [Case],
    /// The model's tokenizer, if it is known.
    pub tokenizer: Option<&'f Tokenizer>,
}

/// The fixes of a template, in the order in which they are applied, and the template with all that
/// were applied.
#[derive(Debug)]
pub struct Fixes {
    /// The fixes. Each starts from the source that the applied ones before it leave.
    pub found: Vec<Fix>,
    /// The source after all that were applied.
    pub source: String,
}

impl Fixer<'_> {
    /// Looks for fixes of a template's broken contracts. The safe ones are applied one after the
    /// other, the others as well if `unsafe_too`.
    pub fn fixes(&self, template: &Template, card: &Card, unsafe_too: bool) -> Fixes {
        let mut fixes = Fixes {
            found: Vec::new(),
            source: template.source.clone(),
        };
        // A Go template, and one inside of another file, are left alone.
        if template.dialect != Dialect::Jinja || template.part != TemplatePart::Whole {
            return fixes;
        }
        let mut current = template.clone();
        let mut card = card.clone();
        let broken: Vec<&'static str> = ids(&card).collect();
        for id in broken {
            // An earlier fix may have mended this one, too.
            let Some(contract) = contract::by_id(id) else {
                continue;
            };
            if !ids(&card).any(|broken| broken == id) {
                continue;
            }
            let Some(fix) = self.fix(&current, &card, contract) else {
                continue;
            };
            if fix.is_safe() || unsafe_too {
                current.source = fix.after.as_str().into();
                card = examine_with(self.engine, &current, self.tokenizer);
                fixes.source.clone_from(&fix.after);
            }
            fixes.found.push(fix);
        }
        fixes
    }

    /// The first safe change that mends a contract, or the first one at all.
    fn fix(&self, template: &Template, card: &Card, contract: &'static Contract) -> Option<Fix> {
        let mut other = None;
        for after in recipe::candidates(contract.id, &template.source) {
            let mut changed = template.clone();
            changed.source = after.as_str().into();
            let new = examine_with(self.engine, &changed, self.tokenizer);
            if !proof::mends(card, &new, contract) {
                continue;
            }
            let proof = Proof::of(self.engine, [template, &changed], self.cases, contract);
            let fix = Fix {
                contract,
                before: template.source.clone(),
                after,
                proof,
            };
            if fix.is_safe() {
                return Some(fix);
            }
            other = other.or(Some(fix));
        }
        other
    }
}

/// The contracts that a card says are broken without a reason, also those that are broken only
/// where no application stands before the template.
fn ids(card: &Card) -> impl Iterator<Item = &'static str> {
    let alone = card.without_front.iter();
    let alone = alone.filter(|one| one.deliberate.is_none() && one.severity().is_defect());
    card.unexplained()
        .chain(alone)
        .map(|finding| finding.contract.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_jinja::JinjaEngine;
    use rolecall_model::{CaseId, Moment};
    use serde_json::{Value, json};

    fn case(name: &str, messages: Value, tools: Option<Value>) -> Case {
        let list = |value: Value| value.as_array().unwrap().clone();
        Case {
            id: CaseId::new("x", name),
            path: std::path::PathBuf::new(),
            about: None,
            messages: list(messages),
            tools: tools.map(list),
            documents: None,
            add_generation_prompt: true,
            continue_final_message: None,
            variables: serde_json::Map::new(),
            now: Moment::default(),
            dialects: Dialect::ALL.to_vec(),
            front: None,
        }
    }

    fn cases() -> Vec<Case> {
        let hi = json!({"role": "user", "content": "Hi"});
        let tool = json!({"type": "function", "function": {"name": "f", "parameters": {}}});
        let call = json!({"role": "assistant", "content": null, "tool_calls": [
            {"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]});
        vec![
            case("plain", json!([hi]), None),
            case("no-tools", json!([hi]), Some(json!([]))),
            case("tools", json!([hi]), Some(json!([tool]))),
            case("call", json!([hi, call]), Some(json!([tool]))),
        ]
    }

    fn fixed(source: &str) -> (Vec<(&'static str, bool, usize)>, String) {
        let engine = JinjaEngine::new();
        let template = Template::from_source("t", Dialect::Jinja, source);
        let cases = cases();
        let fixer = Fixer {
            engine: &engine,
            cases: &cases,
            tokenizer: None,
        };
        let card = examine_with(&engine, &template, None);
        let found = fixer.fixes(&template, &card, false);
        // Applied again, there is nothing more to apply.
        let again = Template::from_source("t", Dialect::Jinja, &found.source);
        let card = examine_with(&engine, &again, None);
        let twice = fixer.fixes(&again, &card, false);
        assert_eq!(twice.source, found.source);
        let mended = found.found.iter();
        let mended = mended.map(|fix| (fix.contract.id, fix.is_safe(), fix.proof.shown.len()));
        (mended.collect(), found.source)
    }

    const TURN: &str = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}\
                        {% if add_generation_prompt %}<|assistant|>{% endif %}";

    #[test]
    fn a_guard_that_an_empty_list_passes_is_mended() {
        let source = format!(
            "{{% if tools is not none %}}Tools: {{{{ tools | tojson }}}}\n{{% endif %}}{TURN}"
        );
        let (found, after) = fixed(&source);
        assert!(found.contains(&("no-tools-alike", true, 8)), "{found:?}");
        assert!(after.starts_with("{% if tools %}Tools:"), "{after}");
    }

    #[test]
    fn a_list_that_python_prints_becomes_json() {
        let source = format!("{{% if tools %}}Tools: {{{{ tools }}}}\n{{% endif %}}{TURN}");
        let (found, after) = fixed(&source);
        assert!(
            found
                .iter()
                .any(|(id, is_safe, _)| *id == "no-repr-leak" && *is_safe),
            "{found:?}"
        );
        assert!(after.contains("Tools: {{ tools | tojson }}"), "{after}");
    }

    #[test]
    fn a_null_leaves_no_word() {
        let (found, after) = fixed(TURN);
        assert!(
            found
                .iter()
                .any(|(id, is_safe, _)| *id == "no-null-leak" && *is_safe),
            "{found:?}"
        );
        assert!(after.contains("{{ m.content or '' }}"), "{after}");
    }

    #[test]
    fn what_has_no_recipe_is_left_alone() {
        let source = "{{ messages[0].content }}";
        let (_, after) = fixed(source);
        assert!(!after.is_empty());
        let go = Template::from_source("t", Dialect::Go, "{{ .Prompt }}");
        let engine = rolecall_go::GoEngine::new();
        let card = examine_with(&engine, &go, None);
        let cases = cases();
        let fixer = Fixer {
            engine: &engine,
            cases: &cases,
            tokenizer: None,
        };
        let found = fixer.fixes(&go, &card, true);
        assert!(found.found.is_empty() && found.source == "{{ .Prompt }}");
    }
}
