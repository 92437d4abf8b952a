//! First drafts of response templates, made from what a chat template writes.
//!
//! The chat template writes answers of words that nothing else contains. What is between these
//! words are the delimiters. A draft is right only for ordinary formats, so it has to be proven.

mod asked;
mod pattern;

mod call;

use rolecall_core::guard::contained;
use rolecall_core::{Cut, Engine, Template};
use rolecall_front::program::FrontProgram;
use serde_json::{Map, Value, json};

use self::asked::{KEYS, QUESTION, REASONING, Seen, TEXT, TOOL, Trial, VALUES, calling, seen};
use self::call::{Call, CallList};
use self::pattern::{escaped, literal};
use crate::written::{Writer, Written};

/// A draft, and what could not be found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub response_template: Value,
    /// What the draft lacks, in sentences.
    pub unknown: Vec<String>,
}

/// Why there is no draft.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoDraft {
    /// The template gives no prompt for a question, or its answer is not in the prompt.
    #[error("the template does not write a question and its answer")]
    NoAnswer,
    /// The finished turn does not begin with the prompt.
    #[error(
        "the template is not prefix-stable: a conversation with the answer does not begin \
             with the prompt that asks for it"
    )]
    DoesNotContinue,
}

impl Draft {
    /// Makes a draft for a template.
    ///
    /// # Errors
    ///
    /// The template does not write answers.
    pub fn infer(engine: &dyn Engine, template: &Template) -> Result<Draft, NoDraft> {
        let program = FrontProgram::load(engine, template);
        let writer = Writer::new(&program);
        let plain = seen(&writer, json!({"content": TEXT})).map_err(|written| match written {
            Some(Written::DoesNotContinue) => NoDraft::DoesNotContinue,
            _ => NoDraft::NoAnswer,
        })?;
        let (before, end) = plain.text.split_once(TEXT).ok_or(NoDraft::NoAnswer)?;
        let mut draft = Parts {
            anchor: opening(&plain.prompt, end.trim()).to_owned(),
            fields: Map::new(),
            ends: vec![end.trim().to_owned()],
            close_of_reasoning: None,
            unknown: Vec::new(),
        };
        draft.add_reasoning(&writer, before);
        let calls = draft.calls(&writer);
        draft.add_content(before, end.starts_with(char::is_whitespace));
        draft
            .fields
            .extend(calls.map(|calls| ("tool_calls".to_owned(), calls)));
        let (key, anchor) = literal("start_anchor", &draft.anchor);
        let mut response_template = json!({"version": 1, "defaults": {"role": "assistant"}});
        if let Some(made) = response_template.as_object_mut() {
            made.insert(key, anchor.into());
            made.insert("fields".to_owned(), draft.fields.into());
        }
        let mut unknown = draft.unknown;
        let trials = Trial::all();
        unknown.extend(
            trials
                .iter()
                .filter_map(|it| contained("a trial", || it.fault(&writer, &response_template))?),
        );
        Ok(Draft {
            response_template,
            unknown,
        })
    }
}

/// A draft in the making.
struct Parts {
    anchor: String,
    fields: Map<String, Value>,
    /// The texts that end a text, the end token among them.
    ends: Vec<String>,
    /// The tag after reasoning, if it is known.
    close_of_reasoning: Option<String>,
    unknown: Vec<String>,
}

impl Parts {
    fn miss(&mut self, what: &str) {
        self.unknown.push(what.to_owned());
    }

    /// The text outside of all other fields, or between delimiters of its own.
    fn add_content(&mut self, before: &str, is_padded: bool) {
        let before = self.without_reasoning(before);
        let ends: Vec<String> = self
            .ends
            .iter()
            .filter(|end| !end.is_empty())
            .map(|end| escaped(end))
            .collect();
        let mut content = Map::new();
        // A template that pads texts with white space says nothing by it.
        let is_padded = is_padded || before.starts_with(char::is_whitespace);
        if !is_padded {
            content.insert("content_args".to_owned(), json!({"strip": false}));
        }
        if ends.is_empty() {
            self.miss("No end token is known: a text runs to the end of the answer.");
        } else {
            let pattern = format!("(?:{}).*", ends.join("|"));
            content.insert("close_pattern".to_owned(), pattern.into());
        }
        if !before.trim().is_empty() {
            let (key, opener) = literal("open", before.trim());
            content.insert(key, opener.into());
        }
        self.fields.insert("content".to_owned(), content.into());
    }

    /// The text after the reasoning, if a text begins with empty reasoning.
    fn without_reasoning<'b>(&self, before: &'b str) -> &'b str {
        let Some(close) = &self.close_of_reasoning else {
            return before;
        };
        let after = before.rsplit_once(close.as_str());
        after.map_or(before, |(_, after)| after.trim_start())
    }

    /// The reasoning. `before` comes before a text without it.
    fn add_reasoning(&mut self, writer: &Writer<'_, '_>, before: &str) {
        let message = json!({"content": TEXT, "reasoning_content": REASONING});
        let Ok(seen) = seen(writer, message) else {
            return self.miss("The template gives no prompt for an answer with reasoning.");
        };
        let Some((opener, rest)) = seen.text.split_once(REASONING) else {
            return self.miss("The template writes no reasoning.");
        };
        let Some((between, _)) = rest.split_once(TEXT) else {
            return self.miss("The text after the reasoning is not found.");
        };
        let mut opener = opener.trim();
        let plain = format!("{}{before}", self.anchor);
        let end = self.ends.first().map_or("", String::as_str);
        let tail = opening(&seen.prompt, end).to_owned();
        if opener.is_empty() {
            // The prompt opens the reasoning. What it has of it is a part of the answer.
            let at = tail.trim_end().rfind(['<', '[']).unwrap_or(0);
            opener = tail.cut(at..).trim();
            tail.cut(..at).clone_into(&mut self.anchor);
        }
        let close = between.trim();
        if opener.is_empty() || close.is_empty() {
            return self
                .miss("No text marks the reasoning, so it is not separated from the answer.");
        }
        // A format with channels opens the text after the reasoning with a tag of its own.
        let close = close.split_inclusive('>').next().unwrap_or(close).trim();
        // Some templates write only the tag after the reasoning if there is none.
        let plain = plain.strip_prefix(self.anchor.as_str()).unwrap_or(before);
        let open = if plain.trim_start().starts_with(close) {
            format!("\\s*(?:{}|(?={}))", escaped(opener), escaped(close))
        } else {
            format!("\\s*{}", escaped(opener))
        };
        let field = json!({
            "open_pattern": open,
            "close_pattern": format!("{}\\s*", escaped(close)),
        });
        self.close_of_reasoning = Some(close.to_owned());
        self.fields.insert("thinking".to_owned(), field);
    }

    fn calls(&mut self, writer: &Writer<'_, '_>) -> Option<Value> {
        let [first, second] = [[VALUES[0], VALUES[1]], [VALUES[2], VALUES[3]]]
            .map(|[one, other]| json!({KEYS[0]: one, KEYS[1]: other}));
        let one = seen(writer, calling(std::slice::from_ref(&first)));
        let two = seen(writer, calling(&[first, second]));
        let Some(one) = one.ok().filter(|seen| seen.text.contains(TOOL)) else {
            self.miss("The template writes no calls.");
            return None;
        };
        let names = |seen: &Seen| seen.text.matches(TOOL).count();
        let calls = two.ok().filter(|two| names(two) == 2 * names(&one));
        if calls.is_none() {
            self.miss("The template does not write two calls at once: one call is read.");
        }
        let two = calls
            .as_ref()
            .map(|seen| self.without_reasoning(&seen.text));
        let one = self.without_reasoning(&one.text);
        if let Some(list) = two.and_then(|two| CallList::find(two, &self.ends)) {
            return Some(list.field());
        }
        let found = Call::find(one, two, &self.ends);
        let Some(call) = found else {
            self.miss(
                "The draft reads no call: how calls are written is not found. The name has to \
                 come before the arguments.",
            );
            return None;
        };
        if !call.tail.is_empty() {
            // The text after the last call ends the answer.
            self.ends.insert(0, call.tail.clone());
        }
        Some(call.field())
    }
}

/// The text that opens the answer: what comes after the question, without the end of its turn.
fn opening<'p>(prompt: &'p str, end: &str) -> &'p str {
    let after = prompt.rsplit(QUESTION).next().unwrap_or(prompt);
    let without_end = after
        .trim_start()
        .strip_prefix(end)
        .filter(|_| !end.is_empty());
    let opening = without_end.unwrap_or(after).trim_start();
    if opening.is_empty() { after } else { opening }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Case, Dialect};
    use rolecall_front::engines::Engines;

    use super::asked::tool;
    use super::*;
    use crate::comparison::Verdict;
    use crate::reader::{DeclaredReader, OwnReader};
    use crate::reading::read_case;

    fn draft(source: &str) -> Result<(Template, Draft), NoDraft> {
        let template = Template::from_source("t", Dialect::Jinja, source)
            .with_special_token("eos_token", "<end>");
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let draft = Draft::infer(engine, &template)?;
        Ok((template, draft))
    }

    /// A template that writes reasoning, text and calls in this way.
    fn chat(calls: &str) -> String {
        "{% for m in messages %}<{{ m.role }}>\n\
         {% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}\
         {{ m.content }}CALLS<end>\n{% endfor %}\
         {% if add_generation_prompt %}<assistant>\n{% endif %}"
            .replace("CALLS", calls)
    }

    #[test]
    fn drafts_of_ordinary_formats_read_all_back() {
        let tagged = "{% for c in m.tool_calls %}\n<tool_call>\n\
            {\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}}\n\
            </tool_call>{% endfor %}";
        let list = "{% if m.tool_calls %}[CALLS] [{% for c in m.tool_calls %}\
            {\"tool\": \"{{ c.function.name }}\", \"with\": {{ c.function.arguments | tojson }}, \
            \"id\": \"{{ c.id }}\"}{{ ', ' if not loop.last }}{% endfor %}]{% endif %}";
        let xml = "{% for c in m.tool_calls %}<call>\n<function={{ c.function.name }}>\n\
            {% for k, v in c.function.arguments.items() %}<parameter={{ k }}>\n{{ v }}\n</parameter>\n\
            {% endfor %}</function>\n</call>{% endfor %}";
        let nearly_json = "{% for c in m.tool_calls %}<call>call:{{ c.function.name ~ '{' }}\
            {% for k, v in c.function.arguments.items() %}{{ k }}:<|q|>{{ v }}<|q|>\
            {{ ',' if not loop.last }}{% endfor %}{{ '}' }}</call>{% endfor %}";
        let named_twice = "{% for c in m.tool_calls %}<call>to={{ c.function.name }}\
            <invoke name=\"{{ c.function.name }}\">{{ c.function.arguments | tojson }}</invoke>\
            </call>{% endfor %}";
        let lines = "{% if m.tool_calls %}<calls>{% for c in m.tool_calls %}\n\
            {\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}}\
            {% endfor %}\n</calls>{% endif %}";
        let all = [tagged, list, xml, nearly_json, named_twice, lines].map(chat);
        let asks = "{% if add_generation_prompt %}<assistant>\n{% endif %}";
        let always = all
            .each_ref()
            .map(|it| it.replace(asks, "<assistant>\n{{ '' }}"));
        for source in all.iter().chain(&always) {
            let (template, draft) = draft(source).unwrap();
            assert!(!draft.response_template.to_string().contains("quil"));
            assert_eq!(draft.unknown, [""; 0]);
            let engines = Engines::default();
            let engine = engines.for_dialect(Dialect::Jinja);
            let program = FrontProgram::load(engine, &template);
            let writer = Writer::new(&program);
            let own = OwnReader::default();
            let reader = DeclaredReader::new(&own, &draft.response_template);
            let call = |city: &str| {
                let function = json!({"name": "weather", "arguments": {"city": city, "unit": "C"}});
                json!({"id": "abc", "type": "function", "function": function})
            };
            let answers = [
                json!({"content": "It is so."}),
                json!({"content": "Yes.", "reasoning_content": "Is it?\n\nIt is."}),
                json!({"content": "", "tool_calls": [call("Oslo")]}),
                json!({"content": "Two.", "tool_calls": [call("Oslo"), call("São Paulo")]}),
                json!({"content": "", "reasoning_content": "Call.", "tool_calls": [call("a")]}),
            ];
            for mut answer in answers {
                answer["role"] = "assistant".into();
                let question = json!({"role": "user", "content": "Is it?"});
                let mut case = Case::from_messages(vec![question, answer.clone()]);
                case.tools = Some(vec![tool()]);
                let reading = read_case(&writer, &reader, &case).last().unwrap();
                assert_eq!(
                    reading.verdict(),
                    Verdict::ReadBack,
                    "{answer}\n{}\n{reading:?}",
                    draft.response_template
                );
            }
        }
    }

    #[test]
    fn what_is_not_found_is_said() {
        let (_, plain) = draft(&chat("")).unwrap();
        assert_eq!(plain.unknown, ["The template writes no calls."]);
        assert!(plain.response_template["fields"]["tool_calls"].is_null());
        let backwards = "{% for c in m.tool_calls %}<call>{\"with\": {{ c.function.arguments | tojson }}, \
            \"tool\": \"{{ c.function.name }}\"}</call>{% endfor %}";
        let (_, backwards) = draft(&chat(backwards)).unwrap();
        let said = &backwards.unknown[0];
        assert!(said.starts_with("The draft reads no call"), "{said}");
        // A tool may have the name of a tag, so the draft takes an end token for a call.
        let bare = "{% for c in m.tool_calls %}<{{ c.function.name }}>\
            {{ c.function.arguments | tojson }}</call>{% endfor %}";
        let (_, bare) = draft(&chat(bare)).unwrap();
        let said = &bare.unknown[0];
        assert!(
            said.starts_with("The draft does not read a text back"),
            "{said}"
        );
        assert_eq!(
            draft("{{ messages | length }}").unwrap_err(),
            NoDraft::DoesNotContinue
        );
        assert_eq!(
            draft("{{ raise_exception('no') }}").unwrap_err(),
            NoDraft::NoAnswer
        );
    }
}
