//! The values that a generated conversation may have.

use std::collections::BTreeSet;

use rolecall_core::chance::Chance;
use rolecall_core::{Dialect, Template, Words};
use serde_json::{Value, json};

/// Not in the order of those in `core`: a seed chooses by the index, and goes on to generate the same.
const ROLES: [&str; 5] = ["system", "user", "assistant", "tool", "developer"];

/// What people and models say.
const QUESTIONS: [&str; 4] = [
    "How far is it to Oslo?",
    "Name a planet.",
    "What is the weather in Bergen?",
    "Thank you.",
];
const ANSWERS: [&str; 3] = ["Saturn.", "About five hours by train.", "Let me look."];

/// The names of switches that chats have, whatever the template reads.
const SWITCHES: [&str; 4] = ["think", "reasoning_effort", "enable_thinking", "thinking"];

/// What the search knows of a template.
pub(super) struct Vocabulary {
    dialect: Dialect,
    /// The words of the whole template.
    pub(super) words: Words,
    pub(super) variables: Vec<String>,
}

impl Vocabulary {
    pub(super) fn of(template: &Template, variables: BTreeSet<String>) -> Vocabulary {
        let of_front = [
            "messages",
            "tools",
            "documents",
            "add_generation_prompt",
            "Messages",
            "Tools",
            "System",
            "Prompt",
            "Response",
            "Suffix",
        ];
        let words = words(template.dialect, &template.source);
        let variables = match template.dialect {
            Dialect::Jinja => variables.into_iter().collect(),
            Dialect::Go => SWITCHES.map(str::to_owned).to_vec(),
        };
        let is_own = |name: &String| {
            !of_front.contains(&name.as_str())
                && !template.special_tokens.contains_key(name.as_str())
        };
        Vocabulary {
            dialect: template.dialect,
            words,
            variables: variables.into_iter().filter(is_own).collect(),
        }
    }

    /// The words of a place of the template.
    pub(super) fn focus(&self, text: &str) -> Words {
        match self.dialect {
            Dialect::Go => words(Dialect::Go, text),
            Dialect::Jinja => {
                // A place is a piece of a tag: an expression, or the beginning of a statement that ends
                // elsewhere.
                let forms = [
                    format!("{{{{ {text} }}}}"),
                    format!("{{% {text} %}}"),
                    format!("{{% {text} %}}{{% endfor %}}"),
                    format!("{{% {text} %}}{{% endmacro %}}"),
                ];
                let read = forms.iter().find_map(|form| rolecall_jinja::read(form));
                read.map(|read| read.words).unwrap_or_default()
            }
        }
    }

    /// One of the names in the words, or in the template.
    pub(super) fn name(&self, focus: &Words, chance: &mut Chance) -> Option<String> {
        let near = focus
            .names
            .iter()
            .chain(focus.texts.iter().filter(|text| is_name(text)));
        let near: Vec<&String> = near.collect();
        if chance.percent(75)
            && let Some(name) = chance.any(&near)
        {
            return Some((*name).clone());
        }
        let all = &self.words;
        let all = all
            .names
            .iter()
            .chain(all.texts.iter().filter(|text| is_name(text)));
        let all: Vec<&String> = all.collect();
        chance.any(&all).map(|name| (*name).clone())
    }

    /// A literal of the template, near ones first.
    pub(super) fn text(&self, focus: &Words, chance: &mut Chance) -> String {
        let words = if chance.percent(60) && !focus.texts.is_empty() {
            focus
        } else {
            &self.words
        };
        let texts: Vec<&String> = words.texts.iter().collect();
        chance
            .any(&texts)
            .map_or_else(String::new, |text| (*text).clone())
    }

    /// A value for a key of a conversation, or for a variable.
    pub(super) fn value(&self, key: &str, focus: &Words, chance: &mut Chance) -> Value {
        let mut compared = focus.compared_with(key);
        if compared.is_empty() {
            compared = self.words.compared_with(key);
        }
        if chance.percent(40)
            && let Some(text) = chance.any(&compared)
        {
            return (*text).into();
        }
        match key {
            "role" => self.role(focus, chance).into(),
            "content" => self.content(focus, chance),
            "tool_calls" => {
                let calls = (0..chance.below(3)).map(|_| self.call(chance));
                calls.collect()
            }
            _ if key.ends_with("tools") && !chance.one_in(4) => {
                let tools = (0..chance.below(3)).map(|_| self.tool(chance));
                tools.collect()
            }
            _ if key.ends_with("_token") => "<|edge|>".into(),
            "function" => json!({"name": "get_time", "arguments": arguments(chance)}),
            "arguments" => arguments(chance),
            "parameters" => schema(chance, 2),
            "items" | "additionalProperties" | "return" | "returns" => schema(chance, 1),
            "properties" | "$defs" => properties(chance, 2),
            "anyOf" | "oneOf" | "allOf" => {
                let options = (0..=chance.below(2)).map(|_| schema(chance, 1));
                options.collect()
            }
            "required" | "enum" => {
                let all = ["city", "day", "unit"];
                json!(all.get(..chance.below(4)))
            }
            "type" => self.kind(focus, chance),
            "reasoning_content" | "reasoning" | "thinking" => one(
                chance,
                &[
                    json!("They want a fact."),
                    json!(""),
                    json!(true),
                    json!(false),
                ],
            ),
            "think" => one(
                chance,
                &[
                    json!(true),
                    json!(false),
                    json!("high"),
                    json!("low"),
                    json!("max"),
                ],
            ),
            _ => self.plain(focus, chance),
        }
    }

    /// The type of a schema or of a part.
    fn kind(&self, focus: &Words, chance: &mut Chance) -> Value {
        match chance.below(4) {
            0 => self.text(focus, chance).into(),
            1 => json!(["string", "null"]),
            2 => json!(["integer", "string"]),
            _ => {
                let known = [
                    "string", "number", "integer", "boolean", "array", "object", "function",
                ];
                chance.word(&known).into()
            }
        }
    }

    pub(super) fn plain(&self, focus: &Words, chance: &mut Chance) -> Value {
        match chance.below(14) {
            0..=2 => self.text(focus, chance).into(),
            3 | 4 => json!(true),
            5 | 6 => json!(false),
            7 => Value::Null,
            8 => json!(""),
            9 => json!("plain"),
            10 => {
                let words = if focus.numbers.is_empty() {
                    &self.words
                } else {
                    focus
                };
                let numbers: Vec<i64> = words.numbers.iter().copied().collect();
                let number = chance.any(&numbers).copied().unwrap_or(1);
                let near = i64::try_from(chance.below(3)).unwrap_or_default();
                json!(number.saturating_add(near - 1))
            }
            11 => json!([]),
            12 => json!([self.text(focus, chance)]),
            _ => json!({"name": "plain", "description": "Très simple."}),
        }
    }

    fn role(&self, focus: &Words, chance: &mut Chance) -> String {
        let compared = [
            focus.compared_with("role"),
            self.words.compared_with("role"),
        ]
        .concat();
        if chance.percent(40)
            && let Some(role) = chance.any(&compared)
        {
            return (*role).to_owned();
        }
        chance.word(&ROLES).to_owned()
    }

    pub(super) fn content(&self, focus: &Words, chance: &mut Chance) -> Value {
        match chance.below(12) {
            0 => json!(""),
            1 => Value::Null,
            2 => json!([{"type": "text", "text": chance.word(&QUESTIONS)}]),
            3 => json!([
                {"type": "text", "text": chance.word(&QUESTIONS)},
                {"type": self.text(focus, chance), "text": chance.word(&ANSWERS)}
            ]),
            4 => {
                let kind = ["image", "video", "audio", "image_url"];
                json!([{"type": chance.word(&kind)}, {"type": "text", "text": chance.word(&QUESTIONS)}])
            }
            5 => chance.word(&QUESTIONS).into(),
            6 => chance.word(&ANSWERS).into(),
            _ => self.marked(focus, chance).into(),
        }
    }

    /// A text with one or two literals of the template in it, or with what looks like one.
    fn marked(&self, focus: &Words, chance: &mut Chance) -> String {
        let mark = self.text(focus, chance);
        let mark = if chance.one_in(5) {
            nearly(mark, chance)
        } else {
            mark
        };
        let said = chance.word(&ANSWERS);
        match chance.below(7) {
            0 => mark,
            1 => mark + said,
            2 => said.to_owned() + &mark,
            3 => format!("{said}{mark}{said}"),
            4 => format!("{mark}{said}{}", self.text(focus, chance)),
            5 => format!(" {said}{mark} \n"),
            _ => {
                let end = self.text(focus, chance);
                format!("{mark}{said}{end}{}", chance.word(&QUESTIONS))
            }
        }
    }

    /// A message as applications send it.
    pub(super) fn message(&self, focus: &Words, chance: &mut Chance) -> Value {
        match chance.below(8) {
            0 => json!({"role": "system", "content": "Answer briefly."}),
            1 | 2 => json!({"role": "user", "content": chance.word(&QUESTIONS)}),
            3 => json!({"role": "assistant", "content": chance.word(&ANSWERS)}),
            4 => {
                json!({"role": "assistant", "content": chance.word(&ANSWERS), "reasoning_content": "They want a fact."})
            }
            5 => {
                let calls: Vec<Value> = (0..=chance.below(2)).map(|_| self.call(chance)).collect();
                json!({"role": "assistant", "content": "", "tool_calls": calls})
            }
            6 => {
                json!({"role": "tool", "tool_call_id": "call_0001", "name": "get_time", "content": "12:30"})
            }
            _ => json!({"role": self.role(focus, chance), "content": self.content(focus, chance)}),
        }
    }

    /// Messages that follow each other in many chats.
    pub(super) fn exchange(&self, chance: &mut Chance) -> Vec<Value> {
        let question = json!({"role": "user", "content": chance.word(&QUESTIONS)});
        let answer = json!({"role": "assistant", "content": chance.word(&ANSWERS)});
        if chance.one_in(2) {
            return vec![question, answer];
        }
        let calls: Vec<Value> = (0..=chance.below(2)).map(|_| self.call(chance)).collect();
        let results = calls.iter().map(|call| {
            json!({"role": "tool", "tool_call_id": call["id"], "name": call.pointer("/function/name"), "content": "12:30"})
        });
        let results: Vec<Value> = results.collect();
        let call = json!({"role": "assistant", "content": "", "tool_calls": calls});
        [vec![question, call], results, vec![answer]].concat()
    }

    fn call(&self, chance: &mut Chance) -> Value {
        let name = self.tool_name(chance);
        json!({"id": "call_0001", "type": "function", "function": {"name": name, "arguments": arguments(chance)}})
    }

    pub(super) fn tool(&self, chance: &mut Chance) -> Value {
        let name = self.tool_name(chance);
        json!({"type": "function", "function": {"name": name, "description": "Tell the time.", "parameters": schema(chance, 2)}})
    }

    /// The name of a tool. Some templates treat a few names in a branch of their own.
    fn tool_name(&self, chance: &mut Chance) -> String {
        let compared = self.words.compared_with("name");
        if chance.one_in(4)
            && let Some(name) = chance.any(&compared)
        {
            return (*name).to_owned();
        }
        chance.word(&["get_time", "find_trains"]).to_owned()
    }
}

/// A text that differs from another one in its last character.
fn nearly(mut text: String, chance: &mut Chance) -> String {
    text.pop();
    if chance.one_in(2) {
        text.push_str(chance.word(&["s", ".", "er>"]));
    }
    text
}

fn one(chance: &mut Chance, values: &[Value]) -> Value {
    chance.any(values).cloned().unwrap_or_default()
}

fn arguments(chance: &mut Chance) -> Value {
    let all = [
        json!({"city": "Oslo"}),
        json!({"city": "Oslo", "days": 2}),
        json!({"stops": ["Oslo", "Tromsø"], "is_direct": true}),
        json!({"where": {"city": "Tromsø"}, "day": null}),
        json!({}),
        json!("{\"city\": \"Oslo\"}"),
        json!("{}"),
        json!(""),
    ];
    one(chance, &all)
}

fn schema(chance: &mut Chance, depth: usize) -> Value {
    match chance.below(if depth == 0 { 6 } else { 10 }) {
        0 => json!({"type": "string", "description": "A city."}),
        1 => json!({"type": "integer"}),
        2 => json!({"type": "string", "enum": ["metric", "imperial"]}),
        3 => json!({"type": ["string", "null"], "default": "Oslo"}),
        4 => json!({"type": "boolean", "default": true}),
        5 => json!({"type": "object"}),
        6 => json!({"type": "array", "items": schema(chance, depth - 1)}),
        7 => json!({"anyOf": [schema(chance, depth - 1), {"type": "null"}]}),
        _ => {
            json!({"type": "object", "properties": properties(chance, depth - 1), "required": ["city"]})
        }
    }
}

fn properties(chance: &mut Chance, depth: usize) -> Value {
    let names = ["city", "day", "unit"];
    let count = chance.below(names.len());
    let properties = names
        .iter()
        .take(count)
        .map(|name| ((*name).to_owned(), schema(chance, depth.saturating_sub(1))));
    Value::Object(properties.collect())
}

/// Whether a text could be the name of a key.
fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    !text.is_empty() && text.len() <= 32 && text.chars().all(is_letter)
}

/// The words of a template or of a piece of it.
fn words(dialect: Dialect, source: &str) -> Words {
    match dialect {
        Dialect::Jinja => rolecall_jinja::read(source)
            .map(|read| read.words)
            .unwrap_or_default(),
        Dialect::Go => rolecall_go::words(source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_words_of_its_own() {
        let source = "{% for m in messages if m.role == 'x' %}{% if effort == 'high' %}{% endif %}{% endfor %}";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let read = ["effort", "messages"].map(str::to_owned);
        let vocabulary = Vocabulary::of(&template, read.into());
        assert_eq!(vocabulary.variables, ["effort"]);
        assert_eq!(
            vocabulary.focus("effort == 'high'").compared_with("effort"),
            ["high"]
        );
        let focus = vocabulary.focus("for m in messages if m.role == 'x'");
        assert_eq!(focus.compared_with("role"), ["x"]);
        assert!(vocabulary.focus("if %}").is_empty());
        let go = Template::from_source("t", Dialect::Go, "{{ if eq .Role \"x\" }}{{ end }}");
        let vocabulary = Vocabulary::of(&go, BTreeSet::new());
        assert_eq!(vocabulary.words.compared_with("role"), ["x"]);
        assert!(vocabulary.variables.contains(&"think".to_owned()));
    }
}
