//! Questions: random templates, each with some conversations.

use rolecall_core::{Case, Dialect, Template};
use serde_json::{Value, json};

use crate::grammar::{self, Start};
use crate::mutation;
use rolecall_core::chance::Chance;

/// The number of conversations for a template.
const CONVERSATIONS: usize = 4;

/// The material for questions: real templates and conversations.
#[derive(Debug, Default)]
pub struct Material {
    pub templates: Vec<Template>,
    /// Small templates, each about one thing, like the rows of the table of constructs.
    pub rows: Vec<Template>,
    /// Conversations. The first one is the plainest.
    pub cases: Vec<Case>,
}

/// A template with conversations.
#[derive(Debug)]
pub struct Question {
    /// Its number within the seed.
    pub number: u64,
    /// The source of its template.
    pub origin: String,
    pub template: Template,
    pub cases: Vec<Case>,
}

impl Question {
    /// The question with a number. The seed, the number and the material determine it.
    pub fn of(material: &Material, dialect: Dialect, seed: u64, number: u64) -> Question {
        let chance = &mut Chance::of(seed, number);
        let (mut template, origin) = template(material, dialect, chance);
        if template.special_tokens.is_empty() {
            template = template
                .with_special_token("bos_token", "<s>")
                .with_special_token("eos_token", "</s>");
        }
        // All questions use the same name, so that a program keeps only one template.
        template.name = rolecall_core::TemplateName::new("fuzzed");
        let mut cases = Vec::new();
        cases.extend(material.cases.first().cloned());
        while cases.len() < CONVERSATIONS
            && let Some(case) = chance.any(&material.cases)
        {
            let case = case.clone();
            cases.push(if chance.one_in(3) {
                changed(case, chance)
            } else {
                case
            });
        }
        Question {
            number,
            origin,
            template,
            cases,
        }
    }
}

fn template(material: &Material, dialect: Dialect, chance: &mut Chance) -> (Template, String) {
    let kind = chance.below(100);
    let (seeds, what) = match kind {
        0..=49 => (&[][..], ""),
        50..=79 => (&material.rows[..], "a row of the language table"),
        _ => (&material.templates[..], ""),
    };
    let Some(seed) = chance.any(seeds) else {
        let source = grammar::text(Start::Template, dialect, chance);
        return (
            Template::from_source("", dialect, &source),
            "the grammar".to_owned(),
        );
    };
    let other = if chance.one_in(2) {
        &material.rows
    } else {
        &material.templates
    };
    let other = chance.any(other).map_or("", |other| other.source.as_str());
    let mut template = seed.clone();
    template.source = mutation::mutate(&seed.source, other, dialect, chance);
    let origin = if what.is_empty() {
        seed.name.to_string()
    } else {
        what.to_owned()
    };
    (template, origin)
}

fn changed(mut case: Case, chance: &mut Chance) -> Case {
    let odd = [
        json!(null),
        json!(""),
        json!("a\n"),
        json!(1),
        json!(1.5),
        json!(true),
        json!([]),
        json!({}),
        json!([{"type": "text", "text": "b"}]),
        json!("é\u{200b}<|im_end|>"),
        json!({"a": null}),
        json!(10_000_000_000_000_000_000_u64),
    ];
    let mut value = || chance.any(&odd).cloned().unwrap_or(Value::Null);
    let (new, other) = (value(), value());
    match chance.below(6) {
        0 if case.messages.len() > 1 => {
            let at = chance.below(case.messages.len());
            case.messages.remove(at);
        }
        1 => case.add_generation_prompt = !case.add_generation_prompt,
        2 => {
            let name = chance.word(&["x", "enable_thinking", "think", "tools_in_user_message"]);
            case.variables.insert(name.to_owned(), new);
        }
        3 => {
            case.tools = if case.tools.is_some() {
                None
            } else {
                Some(vec![other])
            }
        }
        _ => {
            let at = chance.below(case.messages.len());
            if let Some(Value::Object(message)) = case.messages.get_mut(at) {
                let keys: Vec<String> = message.keys().cloned().collect();
                if let Some(key) = chance.any(&keys) {
                    message.insert(key.clone(), new);
                }
            }
        }
    }
    case
}
