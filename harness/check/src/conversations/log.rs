//! Whether the texts of a conversation are sound, and where a template looks for them.

use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::problem::{meant, misspelt};
use rolecall_core::{CONTENT, Case, Cut, Dialect, ROLES, Template};
use serde_json::Value;

use super::message::{MEDIA, calls_of, has_tool, in_message, shown, texts_of};
use super::symptom::Symptoms;
use super::texts;
use crate::tokenizer::Tokenizer;

/// The rules by which each message is judged.
const MESSAGES: &str = "content-is-known texts-not-empty no-control-tokens texts-intact";

/// What can become of the reasoning of an answer.
const EARLIER: &str = "the template leaves out the reasoning of an earlier answer";
const LACKING: &str = "the prompt lacks reasoning, whose field the template reads";
const UNREAD: &str = "the template does not read the field in which reasoning is";

/// What programs make of a missing value: pandas, Python, JSON and JavaScript.
const MISSING: [&str; 6] = ["nan", "NaN", "None", "null", "undefined", "[object Object]"];

/// What servers say of an answer that ended before it was done.
pub const CUT: [&str; 4] = [
    "length",
    "max_tokens",
    "max_output_tokens",
    "content_filter",
];

/// The keys under which servers say why an answer ended.
pub const ENDINGS: [&str; 3] = ["finish_reason", "stop_reason", "done_reason"];

/// The fields in which templates look for reasoning.
const READ: [&str; 4] = ["reasoning_content", "reasoning", "thinking", "thought"];

/// How many tokens a model takes.
#[derive(Debug, Clone, Copy)]
pub struct Length<'t> {
    pub tokenizer: &'t Tokenizer,
    pub most: usize,
}

/// A conversation whose messages are judged one by one.
pub(super) struct Log<'j> {
    pub(super) template: &'j Template,
    pub(super) case: &'j Case,
    pub(super) found: &'j mut Symptoms,
}

impl Log<'_> {
    pub(super) fn judge(&mut self) {
        if self.case.messages.is_empty() {
            self.found.judges(MESSAGES);
            self.found
                .say("a conversation has no messages", String::new());
        }
        let mut before = &Value::Null;
        for (at, message) in self.case.messages.iter().enumerate() {
            let role = message["role"].as_str().unwrap_or_default();
            self.found.judges(MESSAGES);
            if !ROLES.contains(&role) && !self.names(role) {
                let meant = meant_role(role)
                    .map_or_else(String::new, |role| "; ".to_owned() + &meant(role));
                let what = "a role is none that templates know";
                self.found.say(what, in_message(at, role) + &meant);
            }
            let is_text = message[CONTENT]
                .as_str()
                .is_some_and(|text| !text.is_empty());
            if is_text && ["user", "assistant"].contains(&role) && message == before {
                let what = "a message stands twice, one after the other";
                self.found.say(what, format!("message {}", at + 1));
            }
            before = message;
            let parts = message[CONTENT].as_array().into_iter().flatten();
            if let Some(part) = parts.clone().find(|part| has_no_address(part)) {
                let what = "an image, a recording or a video has an empty address";
                self.found.say(what, in_message(at, &part.to_string()));
            }
            let mut texts = parts.filter(|part| part["type"] == "text");
            if let Some(part) = texts.find(|part| !part["text"].is_string()) {
                self.found.say(
                    "a part of the type `text` has no text",
                    in_message(at, &part.to_string()),
                );
            }
            let mut why = ENDINGS.iter().filter_map(|key| message[*key].as_str());
            if let Some(why) = why.find(|why| CUT.contains(why)) {
                self.found.say("an answer was cut off", in_message(at, why));
            }
            if let Some(what) = self.empty(role, message) {
                self.found.say(what, format!("message {}", at + 1));
            }
            for text in texts_of(message) {
                self.intact(at, role, text);
                if role == "assistant" {
                    self.apart(at, text);
                }
                self.control_tokens(at, role, text);
            }
        }
    }

    /// Whether somebody asks or answers nothing.
    fn empty(&self, role: &str, message: &Value) -> Option<&'static str> {
        let is_media = |part: &Value| part["type"].is_string() && part["type"] != "text";
        let mut parts = message[CONTENT].as_array().into_iter().flatten();
        let texts = texts_of(message);
        let is_blank = texts.iter().all(|text| text.trim().is_empty()) && !parts.any(is_media);
        let says_other = calls_of(message).next().is_some() || message["audio"].is_object();
        match role {
            "user" if is_blank => Some("a question is empty"),
            "assistant" if says_other || self.case.continue_final_message.is_some() => None,
            "assistant" if is_blank => Some("an answer is empty"),
            "assistant" if matches!(texts.as_slice(), [text] if MISSING.contains(text)) => {
                Some("an answer is what a program writes for a missing value")
            }
            _ => None,
        }
    }

    /// Whether no program has damaged a text.
    fn intact(&mut self, at: usize, role: &str, text: &str) {
        let escaped = || texts::escaped(text).filter(|_| role != "tool");
        let places = [
            (text.find('\0'), "a text has the character U+0000"),
            (
                text.find('\u{fffd}'),
                "a text has U+FFFD, which stands for bytes that nobody could read",
            ),
            (
                escaped(),
                "a text has `\\n`, two characters, where a line ends",
            ),
            (
                text.find('\u{feff}'),
                "a text has U+FEFF, which some programs write at the beginning of a file",
            ),
        ];
        if let Some(escape) = texts::escaped_letter(text).filter(|_| role != "tool") {
            let what = "a text has a letter as JSON or HTML escapes it";
            self.found.say(what, in_message(at, escape));
        }
        for (place, what) in places {
            if let Some(place) = place {
                let around = text.cut(place.saturating_sub(20)..);
                self.found.say(what, in_message(at, around));
            }
        }
        if let Some((is, should)) = texts::misread(text) {
            let what = "a text has UTF-8 that was read as Latin-1 or Windows-1252";
            let detail = format!("{}, which should be {}", in_message(at, is), shown(&should));
            self.found.say(what, detail);
        }
    }

    /// Whether an answer has its calls and its reasoning in fields.
    fn apart(&mut self, at: usize, text: &str) {
        self.found.judges("calls-and-thoughts-apart");
        if let Some((tag, is_whole)) = texts::thought(text)
            && !(is_whole && texts::takes_out(&self.template.source))
        {
            let what = if is_whole {
                "reasoning is in the text of an answer"
            } else {
                "reasoning in the text of an answer is opened or closed, and not both"
            };
            self.found.say(what, in_message(at, tag));
        }
        if let Some(call) = texts::call(text, |name| has_tool(self.case, name)) {
            self.found
                .say("a call is in the text of an answer", in_message(at, call));
        }
    }

    /// Whether a text has control tokens of the template, or ends like an answer of another model.
    fn control_tokens(&mut self, at: usize, role: &str, text: &str) {
        let is_answer = role == "assistant";
        let is_own = |token: &&str| {
            let mut special = self.template.special_tokens.values();
            let is_special = special.any(|one| one == *token || one["content"] == *token);
            (is_special || self.template.source.contains(*token))
                && !(is_answer && texts::is_tag(token))
        };
        let what = match role {
            "user" => "a question has a control token",
            "tool" => "a result has a control token",
            "assistant" => "an answer has a control token",
            _ => return,
        };
        if let Some(header) = texts::turn(text).filter(|_| is_answer) {
            let what = "an answer has the beginning of a turn in another format";
            self.found.say(what, in_message(at, header));
        }
        if let Some(token) = control_tokens_in(text).find(is_own) {
            self.found.say(what, in_message(at, token));
        } else if let Some(token) = texts::end(text).filter(|_| is_answer) {
            let what = "an answer ends with a control token that the template does not have";
            self.found.say(what, in_message(at, token));
        }
    }

    /// Whether the prompt has the reasoning of answers. `says` tells what it has.
    pub(super) fn reasoning(&mut self, says: &mut dyn FnMut(&str) -> bool) {
        let messages = &self.case.messages;
        for (at, message) in messages.iter().enumerate() {
            let fields = message.as_object().into_iter().flatten();
            let fields = fields.filter(|(key, _)| is_reasoning(key));
            for (key, text) in fields.filter_map(|(key, text)| Some((key, text.as_str()?))) {
                self.found.judges("reasoning-is-read");
                let is_read = self.reads(key);
                let is_earlier = messages.iter().skip(at).any(|one| one["role"] == "user");
                let is_asked = is_read && is_earlier && self.case.add_generation_prompt;
                if text.trim().is_empty() || is_asked || says(text) {
                    continue;
                }
                let detail = format!("`{key}` of {}", in_message(at, text));
                let mut others = READ.into_iter().filter(|other| self.reads(other));
                match others.next() {
                    _ if is_read && is_earlier => self.found.say(EARLIER, detail),
                    _ if is_read => self.found.say(LACKING, detail),
                    Some(other) => self
                        .found
                        .say(UNREAD, format!("{detail}; it reads `{other}`")),
                    None => self.found.say(UNREAD, format!("{detail}; it reads none")),
                }
            }
        }
    }

    /// Whether the template compares roles with this one.
    fn names(&self, role: &str) -> bool {
        let source = &self.template.source;
        let mut quoted = source.match_indices(role).map(|(at, _)| at);
        !role.is_empty()
            && quoted.any(|at| {
                source.cut(..at).ends_with(['\'', '"'])
                    && source.cut(at + role.len()..).starts_with(['\'', '"'])
            })
    }

    /// Whether the template reads a field of messages. Ollama reads all names of reasoning.
    fn reads(&self, key: &str) -> bool {
        let source = &self.template.source;
        let mut places = source.match_indices(key);
        let is_name = places.any(|(at, _)| {
            let after = source.cut(at + key.len()..).chars().next();
            source.cut(..at).ends_with(['.', '\'', '"'])
                && after.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        });
        is_name || self.template.dialect == Dialect::Go && source.contains(".Thinking")
    }

    /// Whether the model takes as many tokens as a prompt has. Each has a byte at least.
    pub(super) fn length(&mut self, prompt: &str, length: Length<'_>) {
        self.found.judges("fits-context");
        let counts = (prompt.len() > length.most).then(|| length.tokenizer.counts(&[prompt]));
        let count = counts.and_then(|counts| counts.ok()?.first().copied());
        if let Some(count) = count.filter(|count| *count > length.most) {
            let detail = format!("{count} tokens, where it takes {}", length.most);
            self.found.say(
                "a conversation has more tokens than the model takes",
                detail,
            );
        }
    }
}

/// Whether the address in a part of a content is there and empty.
fn has_no_address(part: &Value) -> bool {
    let media = MEDIA.iter().filter_map(|(kind, _)| part.get(*kind));
    let mut addresses = media.map(|media| media.get("url").unwrap_or(media));
    addresses.any(|address| address.as_str().is_some_and(|text| text.trim().is_empty()))
}

/// The role that was probably meant: one that is written nearly so, or what others call it.
fn meant_role(role: &str) -> Option<&'static str> {
    match role.trim().to_lowercase().as_str() {
        "human" | "prompter" => Some("user"),
        "bot" | "model" | "gpt" | "ai" | "chatbot" => Some("assistant"),
        role if ROLES.contains(&role) => ROLES.into_iter().find(|known| *known == role),
        role => misspelt(role, ROLES),
    }
}

/// Whether a field of a message is one for reasoning, by its name.
fn is_reasoning(key: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| key.contains(word));
    has(&["reason", "think", "thought", "rationale"])
        && !has(&["signature", "effort", "_id", "_reason"])
}
