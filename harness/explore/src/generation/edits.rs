//! Changes of a conversation, each of a kind that could make a template take another way.

use rolecall_core::chance::Chance;
use rolecall_core::{Case, Cut, Moment, Words};
use serde_json::{Map, Value, json};

use super::likelihood::is_chat;
use super::parts::Pointers;
use super::vocabulary::Vocabulary;
use rolecall_core::shrinking::{parts, with_parts};

/// The keys that messages have, calls aside.
const OF_MESSAGES: [&str; 8] = [
    "role",
    "content",
    "tool_calls",
    "reasoning_content",
    "reasoning",
    "thinking",
    "name",
    "tool_call_id",
];

/// The most messages of a generated conversation.
const MOST_MESSAGES: usize = 40;

/// Years for the clock, one of them a leap year.
const YEARS: [&str; 3] = ["2024", "2026", "2030"];

/// Days and hours of a month.
const DAYS: [&str; 3] = ["01T00:00:00Z", "12T08:30:00Z", "28T23:59:59Z"];

/// Changes conversations. The focus has the words of the place that should be reached.
pub(super) struct Editor<'e> {
    pub(super) vocabulary: &'e Vocabulary,
    pub(super) focus: &'e Words,
}

impl Editor<'_> {
    /// A conversation with some changes. Parts of it may come from another one. None if the result
    /// is no chat.
    pub(super) fn edited(&self, case: &Case, other: &Case, chance: &mut Chance) -> Option<Case> {
        let mut case = case.clone();
        let changes = 1 + chance.any(&[0, 0, 0, 1, 1, 2, 3]).unwrap_or(&0);
        for _ in 0..changes {
            case = self.change(case, other, chance);
        }
        (is_chat(&case) && case.messages.len() <= MOST_MESSAGES).then_some(case)
    }

    fn change(&self, mut case: Case, other: &Case, chance: &mut Chance) -> Case {
        match chance.below(100) {
            0..=34 => return self.anywhere(&case, chance),
            35..=46 => self.message(&mut case.messages, chance),
            47..=54 => self.content(&mut case.messages, chance),
            55..=66 => self.variable(&mut case.variables, chance),
            67..=74 => self.tools(&mut case, other, chance),
            75..=80 => take_over(&mut case, other, chance),
            81..=84 => case.add_generation_prompt = !case.add_generation_prompt,
            85..=87 => {
                let is_continued = case.continue_final_message.is_some();
                case.continue_final_message = (!is_continued).then(|| "content".to_owned());
                // transformers refuses a conversation with both.
                case.add_generation_prompt = is_continued;
            }
            88..=90 => {
                let (year, month) = (chance.word(&YEARS), 1 + chance.below(12));
                let text = format!("{year}-{month:02}-{}", chance.word(&DAYS));
                case.now = text.parse::<Moment>().unwrap_or(case.now);
            }
            91..=93 => {
                let documents = [
                    None,
                    Some(vec![]),
                    Some(vec![json!({"title": "Oslo", "text": "A city."})]),
                    Some(vec![
                        json!({"title": "Oslo", "text": "A city."}),
                        json!({"text": "A fjord."}),
                    ]),
                ];
                case.documents = chance.any(&documents).cloned().flatten();
            }
            _ => self.grow(&mut case.messages, chance),
        }
        case
    }

    /// Sets or removes a key of some object, or changes a list.
    fn anywhere(&self, case: &Case, chance: &mut Chance) -> Case {
        let mut whole = parts(case);
        let pointers = Pointers::of(&whole);
        if chance.one_in(6) {
            if let Some(pointer) = chance.any(&pointers.lists)
                && let Some(Value::Array(list)) = whole.pointer_mut(pointer)
            {
                self.list(list, chance);
            }
            return with_parts(case, whole);
        }
        let Some(name) = self.vocabulary.name(self.focus, chance) else {
            return with_parts(case, whole);
        };
        let is_variable = self.vocabulary.variables.contains(&name);
        let is_of_message = OF_MESSAGES.contains(&name.as_str());
        let is_home = |pointer: &&String| {
            if is_variable {
                return *pointer == "/variables";
            }
            let object = whole.pointer(pointer);
            let has_name = object.is_some_and(|object| object.get(&name).is_some());
            has_name
                || is_of_message
                    && pointer.starts_with("/messages/")
                    // What follows `/messages/` is a number alone: this is a message, and nothing
                    // within one.
                    && pointer.cut(10..).parse::<usize>().is_ok()
        };
        let homes: Vec<String> = pointers.objects.iter().filter(is_home).cloned().collect();
        let among = if homes.is_empty() || chance.one_in(4) {
            &pointers.objects
        } else {
            &homes
        };
        let value = self.vocabulary.value(&name, self.focus, chance);
        if let Some(pointer) = chance.any(among)
            && let Some(Value::Object(object)) = whole.pointer_mut(pointer)
        {
            if chance.one_in(5) {
                object.shift_remove(&name);
            } else {
                object.insert(name, value);
            }
        }
        with_parts(case, whole)
    }

    fn list(&self, list: &mut Vec<Value>, chance: &mut Chance) {
        let at = chance.below(list.len());
        match (chance.below(4), list.is_empty()) {
            (0, false) => drop(list.remove(at)),
            (1, false) => list.truncate(1),
            (2, false) => list.extend(list.get(at).cloned()),
            (3, _) => list.clear(),
            _ => list.push(self.vocabulary.plain(self.focus, chance)),
        }
    }

    /// Adds, removes, repeats or moves a message.
    fn message(&self, messages: &mut Vec<Value>, chance: &mut Chance) {
        if messages.is_empty() {
            messages.push(self.vocabulary.message(self.focus, chance));
            return;
        }
        let at = chance.below(messages.len());
        match chance.below(8) {
            0 if messages.len() > 1 => drop(messages.remove(at)),
            1 if messages.len() > 1 => messages.truncate(at.max(1)),
            2 => {
                if let Some(message) = messages.get(at).cloned() {
                    messages.insert(at, message);
                }
            }
            3 => {
                let moved = messages.remove(at);
                messages.insert(chance.below(messages.len() + 1), moved);
            }
            4 => {
                let system = json!({"role": "system", "content": "Answer briefly."});
                messages.insert(0, system);
            }
            5 => messages.insert(at, self.vocabulary.message(self.focus, chance)),
            _ => messages.push(self.vocabulary.message(self.focus, chance)),
        }
    }

    /// Gives a message another content.
    fn content(&self, messages: &mut [Value], chance: &mut Chance) {
        let at = chance.below(messages.len());
        let content = self.vocabulary.content(self.focus, chance);
        if let Some(Value::Object(message)) = messages.get_mut(at) {
            message.insert("content".to_owned(), content);
        }
    }

    fn variable(&self, variables: &mut Map<String, Value>, chance: &mut Chance) {
        let all = &self.vocabulary.variables;
        let near: Vec<&String> = all
            .iter()
            .filter(|name| self.focus.names.contains(name.as_str()))
            .collect();
        let near = chance.any(&near).copied().filter(|_| chance.percent(80));
        let Some(name) = near.or_else(|| chance.any(all)) else {
            return;
        };
        if chance.one_in(6) {
            variables.shift_remove(name);
        } else {
            let value = self.vocabulary.value(name, self.focus, chance);
            variables.insert(name.clone(), value);
        }
    }

    fn tools(&self, case: &mut Case, other: &Case, chance: &mut Chance) {
        case.tools = match chance.below(8) {
            0 => None,
            1 => Some(vec![]),
            2..=4 => other.tools.clone(),
            5 => {
                let mut tools = case.tools.take().unwrap_or_default();
                tools.push(self.vocabulary.tool(chance));
                Some(tools)
            }
            count => {
                let tools = (0..count - 5).map(|_| self.vocabulary.tool(chance));
                Some(tools.collect())
            }
        };
    }

    /// Makes the conversation longer, by as many turns as the template counts.
    fn grow(&self, messages: &mut Vec<Value>, chance: &mut Chance) {
        let numbers = self.focus.numbers.iter().copied();
        let counted = numbers.filter_map(|number| usize::try_from(number).ok());
        let most = counted.max().unwrap_or(3).clamp(1, 10);
        for _ in 0..=chance.below(most) {
            messages.extend(self.vocabulary.exchange(chance));
        }
        if chance.one_in(2) {
            messages.push(json!({"role": "user", "content": "Thank you."}));
        }
    }
}

/// Takes something over from another conversation.
fn take_over(case: &mut Case, other: &Case, chance: &mut Chance) {
    match chance.below(4) {
        0 => case.variables.extend(other.variables.clone()),
        1 => case.documents.clone_from(&other.documents),
        2 => {
            let from = chance.below(other.messages.len());
            case.messages
                .extend(other.messages.iter().skip(from).cloned());
        }
        _ => {
            let kept = chance.below(case.messages.len()) + 1;
            case.messages.truncate(kept);
            case.messages.extend(other.messages.iter().cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rolecall_core::{Dialect, Template};

    use super::*;

    #[test]
    fn a_seed_decides_the_changes_and_every_result_is_a_chat() {
        let source =
            "{% for m in messages %}{% if m.role == 'tool' and x == 'on' %}{% endif %}{% endfor %}";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let vocabulary = Vocabulary::of(&template, BTreeSet::from(["x".to_owned()]));
        let focus = vocabulary.focus("m.role == 'tool' and x == 'on'");
        let editor = Editor {
            vocabulary: &vocabulary,
            focus: &focus,
        };
        let start = Case::from_messages(vec![json!({"role": "user", "content": "Hi"})]);
        let walk = |seed| {
            let mut chance = Chance::of(seed, 0);
            let mut case = start.clone();
            let mut seen = Vec::new();
            for _ in 0..300 {
                if let Some(next) = editor.edited(&case, &start, &mut chance) {
                    assert!(is_chat(&next));
                    seen.push(parts(&next).to_string());
                    case = next;
                }
            }
            seen
        };
        let one = walk(1);
        assert_eq!(one, walk(1));
        assert_ne!(one, walk(2));
        let has = |text: &str| one.iter().any(|case| case.contains(text));
        assert!(has("\"x\":\"on\"") && has("\"role\":\"tool\"") && has("\"tool_calls\""));
    }
}
