//! Questions: a Go template, tools, and the text of an answer in pieces.

use rolecall_core::{Dialect, Template};
use serde_json::{Value, json};

use crate::grammar::{self, Start};
use crate::mutation;
use rolecall_core::chance::Chance;

/// A template and what is to be read after it.
#[derive(Debug, Clone)]
pub struct AnswerQuestion {
    /// Its number within the seed.
    pub number: u64,
    pub source: String,
    pub answers: Vec<AskedAnswer>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AskedAnswer {
    pub tools: Vec<Value>,
    pub think: Option<bool>,
    pub prompt: String,
    pub pieces: Vec<String>,
}

/// The answers to read after a template.
const ANSWERS: usize = 8;

const NAMES: [&str; 9] = [
    "get",
    "get_weather",
    "weather",
    "name",
    "a",
    "",
    "add",
    "日本",
    "\"x\"",
];

/// Texts that may be tags.
const TAGS: [&str; 12] = [
    "<tool_call>",
    "<think>",
    "</think>",
    "[TOOL_CALLS]",
    "[TOOL_CALLS] [",
    "[",
    "{",
    "<|call|>",
    "<｜tool▁call▁begin｜>",
    "call:\r\n",
    "<t>",
    "Thinking:",
];

/// What a text between actions is made of.
const TEMPLATE_TEXTS: [&str; 12] = [
    " ",
    "\n",
    "{",
    "}",
    "{{/* c */}}",
    "{{- /* c */ -}}",
    "\"name\": ",
    "\u{a0}",
    "[",
    "x",
    "</t>",
    "\r\n",
];

const CONDITIONS: [&str; 14] = [
    ".ToolCalls",
    ".ToolCalls",
    "and .ToolCalls .Content",
    "len .ToolCalls",
    "(len .ToolCalls)",
    "$.ToolCalls",
    "$x.ToolCalls",
    ".ToolCalls.X",
    ".Message.ToolCalls",
    ".Thinking",
    "and .Thinking (not .Content)",
    "(.Thinking)",
    ".Content",
    "not .ToolCalls",
];

const RANGES: [&str; 7] = [
    ".Messages",
    "$i, $m := .Messages",
    "(slice .Messages 1)",
    "$.Messages",
    ".ToolCalls",
    "$x := .Messages.X",
    "and .Thinking .Messages",
];

const ACTIONS: [&str; 6] = [
    ".Thinking",
    ".Content",
    "json .Function",
    "$x",
    "\"<call>\"",
    "print .Thinking.X",
];

/// What an answer is made of, besides the tags of its template and the names of its tools.
const ANSWER_TEXTS: [&str; 40] = [
    " ",
    "\n",
    "\t",
    "Hi",
    "é",
    "日",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    ":",
    "{}",
    "{\"a\": 1}",
    "{\"a\": 1e3, \"b\": [1.50, null, true]}",
    "{\"name\": \"get\", \"arguments\": {\"x\": 1}}",
    "{\"name\": \"weather\", \"parameters\": {\"x\": \"}\"}}",
    "{\"name\": \"get\"}",
    "{\"name\": \"a\", \"arguments\": \"{\\\"x\\\": 1}\"}",
    "{\"name\": \"a\", \"arguments\": \"null\", \"parameters\": {\"y\": 2}}",
    "{\"name\": \"a\", \"arguments\": \"[1]\"}",
    "{\"get\": {\"x\": {}}}",
    "{\"function\": {\"name\": \"get\", \"arguments\": {\"q\": 1}}}",
    "{\"z\": {\"name\": \"a\", \"arguments\": {\"n\": 1}}, \"y\": [{\"name\": \"a\", \"arguments\": {\"n\": 2}}]}",
    "[{\"name\": \"get\", \"arguments\": {}}, {\"name\": \"add\", \"arguments\": {}}]",
    "\"arguments\": {\"x\": \"\\ud83d\"}",
    "{\"x\": 1e400}",
    "{\"x\": \"\\u0041\\n\"}",
    "{'x': 1}",
    "\u{a0}",
    "\u{2003}",
    "</tool_call>",
    "</think>",
    "<think>",
    "<tool_call>",
    "]}",
    "}}",
    "{\"",
];

/// Words from which a template or an answer gets its tags.
struct Words {
    tags: Vec<String>,
}

impl AnswerQuestion {
    /// The question with a number. The seed, the number and the templates determine it.
    pub fn of(templates: &[Template], seed: u64, number: u64) -> AnswerQuestion {
        let chance = &mut Chance::of(seed, number);
        let mut words = Words {
            tags: (0..3).map(|_| chance.word(&TAGS).to_owned()).collect(),
        };
        let source = match chance.below(10) {
            0 => grammar::text(Start::Template, Dialect::Go, chance),
            1..=3 => match chance.any(templates) {
                Some(template) => {
                    words.tags.extend(marks(&template.source));
                    if chance.one_in(2) {
                        template.source.clone()
                    } else {
                        mutation::mutate(&template.source, "", Dialect::Go, chance)
                    }
                }
                None => words.nodes(3, chance),
            },
            4 | 5 => words.usual(chance),
            _ => "{{ $x := . -}}".to_owned() + &words.nodes(3, chance),
        };
        let answers = (0..ANSWERS).map(|_| words.answer(chance)).collect();
        AnswerQuestion {
            number,
            source,
            answers,
        }
    }
}

impl Words {
    /// A template as people write it, with reasoning and calls.
    fn usual(&self, chance: &mut Chance) -> String {
        let mut tag = || chance.any(&self.tags).cloned().unwrap_or_default();
        let (opening, closing, call) = (tag(), tag(), tag());
        let space = chance.word(&["", "\n", " ", "{{/* c */}}"]);
        format!(
            "{{{{ range .Messages }}}}{{{{ if .Thinking }}}}{opening}{space}{{{{ .Thinking }}}}\
             {space}{closing}{{{{ end }}}}{{{{ .Content }}}}{{{{ if .ToolCalls }}}}{space}\
             {{{{ range .ToolCalls }}}}{call}{space}{{\"name\": {{{{ json .Function.Name }}}}}}\
             {{{{ end }}}}{{{{ end }}}}{{{{ end }}}}"
        )
    }

    fn nodes(&self, depth: usize, chance: &mut Chance) -> String {
        let count = 1 + chance.below(4);
        (0..count).map(|_| self.node(depth, chance)).collect()
    }

    fn node(&self, depth: usize, chance: &mut Chance) -> String {
        let action = |words: &str, chance: &mut Chance| {
            let (before, after) = (chance.word(&["", "", "- "]), chance.word(&["", "", " -"]));
            format!("{{{{{before}{words}{after}}}}}")
        };
        let block = |keyword: &str, condition: &str, chance: &mut Chance| {
            let mut text = action(&format!("{keyword} {condition}"), chance);
            text += &self.nodes(depth - 1, chance);
            if chance.one_in(3) {
                text += &action("else", chance);
                text += &self.nodes(depth - 1, chance);
            }
            text + &action("end", chance)
        };
        match chance.below(if depth == 0 { 5 } else { 11 }) {
            0 | 1 => chance.any(&self.tags).cloned().unwrap_or_default(),
            2 | 3 => chance.word(&TEMPLATE_TEXTS).to_owned(),
            4 => {
                let words = chance.word(&ACTIONS);
                action(words, chance)
            }
            5..=7 => {
                let condition = chance.word(&CONDITIONS);
                block("if", condition, chance)
            }
            8 | 9 => {
                let range = chance.word(&RANGES);
                block("range", range, chance)
            }
            _ => {
                let condition = chance.word(&CONDITIONS);
                block(chance.word(&["with", "block \"b\""]), condition, chance)
            }
        }
    }

    fn answer(&self, chance: &mut Chance) -> AskedAnswer {
        let count = chance.below(4);
        let tools = (0..count).map(|_| {
            let name = chance.word(&NAMES);
            json!({"type": "function", "function": {"name": name}})
        });
        let tools: Vec<Value> = tools.collect();
        let think = [None, Some(true), Some(true), Some(false)][chance.below(4)];
        let tag = |chance: &mut Chance| chance.any(&self.tags).cloned().unwrap_or_default();
        let prompt = if chance.one_in(4) {
            format!("x{}{}", tag(chance), chance.word(&["", "\n", " \u{a0}"]))
        } else {
            String::new()
        };
        let mut text = if chance.one_in(3) {
            chance.word(&["", "", " ", "\n"]).to_owned() + &tag(chance)
        } else {
            String::new()
        };
        for _ in 0..chance.below(9) {
            match chance.below(10) {
                0 | 1 => text += &tag(chance),
                2 => {
                    let whole = tag(chance);
                    let end = chance.below(whole.chars().count() + 1);
                    text.extend(whole.chars().take(end));
                }
                3 => text += chance.word(&NAMES),
                4 | 5 => {
                    let name = chance
                        .any(&tools)
                        .map_or(&Value::Null, |tool| &tool["function"]["name"]);
                    let call = json!({"name": name, "arguments": {"x": chance.below(3)}});
                    text += &call.to_string();
                }
                _ => text += chance.word(&ANSWER_TEXTS),
            }
        }
        AskedAnswer {
            tools,
            think,
            prompt,
            pieces: pieces(&text, chance),
        }
    }
}

/// What a template writes in angle or square brackets.
fn marks(source: &str) -> Vec<String> {
    let mut marks = Vec::new();
    for (open, close) in [('<', '>'), ('[', ']')] {
        for part in source.split(open).skip(1) {
            if let Some((name, _)) = part.split_once(close)
                && name.len() < 40
            {
                marks.push(format!("{open}{name}{close}"));
            }
        }
    }
    marks
}

/// A text in pieces: whole, by characters, in fours, or cut anywhere.
fn pieces(text: &str, chance: &mut Chance) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let by = |length: usize| {
        let chunks = characters.chunks(length);
        chunks.map(|chunk| chunk.iter().collect()).collect()
    };
    match chance.below(5) {
        0 => vec![text.to_owned()],
        1 => by(1),
        2 => by(4),
        _ => {
            let mut pieces = vec![String::new()];
            for character in characters {
                if chance.one_in(6) {
                    pieces.push(String::new());
                }
                if let Some(last) = pieces.last_mut() {
                    last.push(character);
                }
            }
            pieces
        }
    }
}
