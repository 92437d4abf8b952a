//! The variables that a template sees.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::Value;
use rolecall_core::provenance::{Input, InputKind};
use rolecall_core::{Beginning, CONTENT, Case, Conversation, Template, Variable};
use serde_json::Value as Json;

use crate::provenance::{self, KnownTexts};
use crate::python::dictionaries::{by_text, entries};
use crate::python::json::{JsonStyle, dumps, value};
use crate::python::kinds::{is_dictionary, is_list};

/// A template's own variables, special tokens included.
#[derive(Debug, Clone)]
pub(crate) struct TemplateVariables {
    values: Arc<Vec<(String, OwnVariable)>>,
    /// How many of them, the first ones, are special tokens.
    tokens: usize,
}

/// The value of a template's own variable.
#[derive(Debug)]
enum OwnVariable {
    Value(Value),
    /// The JSON text of the case's tools, with this indent.
    ToolsJson(Option<usize>),
}

/// The values of a case that a template sees.
#[derive(Clone)]
struct CaseValues {
    messages: Value,
    tools: Value,
    documents: Value,
    add_generation_prompt: Value,
    variables: Vec<(String, Value)>,
    /// The names that are not defined.
    undefined: Vec<String>,
    /// The length of the texts that most templates print.
    text_len: usize,
}

/// The variables of one render. `messages`, `tools`, `documents` and
/// `add_generation_prompt` are always defined. A special token wins over them, a variable
/// of the template over a special token, and a variable of the case over all others.
pub(crate) struct Context {
    template: TemplateVariables,
    case: Arc<CaseValues>,
    /// The template's own variables whose origin a traced render knows. They win over those of the
    /// template, which are the same.
    known: Vec<(String, OwnVariable)>,
    /// The variable to leave out, although it is always defined.
    without: Option<&'static str>,
    /// The JSON texts of the case's tools that the render has used, by indent.
    tools_json: Mutex<Vec<(Option<usize>, Value)>>,
}

impl TemplateVariables {
    pub(crate) fn of(template: &Template) -> TemplateVariables {
        let tokens = template
            .special_tokens
            .iter()
            .map(|(name, token)| (name.clone(), OwnVariable::Value(value(token))));
        let variables = template.variables.iter().map(|(name, variable)| {
            let slot = match variable {
                Variable::Value(json) => OwnVariable::Value(value(json)),
                Variable::ToolsJson { indent } => OwnVariable::ToolsJson(*indent),
            };
            (name.clone(), slot)
        });
        TemplateVariables {
            values: Arc::new(tokens.chain(variables).collect()),
            tokens: template.special_tokens.len(),
        }
    }
}

impl TemplateVariables {
    /// Whether there is one of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(known, _)| known == name)
    }
}

impl CaseValues {
    fn of(case: &Case) -> CaseValues {
        let list = |items: &[Json]| Value::from(items.iter().map(value).collect::<Vec<_>>());
        let optional =
            |items: Option<&Vec<Json>>| items.map_or_else(|| Value::from(()), |items| list(items));
        let contents = case
            .messages
            .iter()
            .filter_map(|message| message.get(CONTENT));
        let texts = contents.filter_map(Json::as_str);
        CaseValues {
            text_len: texts.map(str::len).sum(),
            messages: list(&case.messages),
            tools: optional(case.tools.as_ref()),
            documents: optional(case.documents.as_ref()),
            add_generation_prompt: Value::from(case.add_generation_prompt),
            variables: case
                .variables
                .iter()
                .map(|(name, json)| (name.clone(), value(json)))
                .collect(),
            undefined: case.undefined.clone(),
        }
    }

    /// The values of a conversation. A beginning shares those of its whole conversation.
    fn of_conversation(conversation: &Conversation<'_>) -> Arc<CaseValues> {
        let Some(beginning) = conversation.as_beginning() else {
            return conversation.form(CaseValues::of);
        };
        Arc::new(beginning.whole.form(CaseValues::of).cut(beginning))
    }

    /// The values of the beginning of a conversation.
    fn cut(&self, beginning: &Beginning<'_>) -> CaseValues {
        let messages = self.messages.try_iter().into_iter().flatten();
        CaseValues {
            messages: Value::from(messages.take(beginning.count).collect::<Vec<_>>()),
            add_generation_prompt: Value::from(beginning.add_generation_prompt),
            ..self.clone()
        }
    }
}

/// The values of a case whose origin a traced render knows.
struct KnownValues {
    case: CaseValues,
    texts: Arc<KnownTexts>,
}

impl KnownValues {
    fn of(case: &Case) -> KnownValues {
        let case = CaseValues::of(case);
        let (case, texts) = provenance::gathered(|| {
            let variables = case.variables.iter().map(|(name, value)| {
                let value = known(name, InputKind::Variable, value);
                (name.clone(), value)
            });
            CaseValues {
                messages: known("messages", InputKind::Message, &case.messages),
                tools: known("tools", InputKind::Tool, &case.tools),
                documents: known("documents", InputKind::Document, &case.documents),
                variables: variables.collect(),
                ..case.clone()
            }
        });
        KnownValues {
            case,
            texts: Arc::new(texts),
        }
    }
}

/// A variable whose origin is known.
fn known(name: &str, kind: InputKind, value: &Value) -> Value {
    let path = name.to_owned();
    given(value, Arc::new(Input { kind, path }))
}

impl Context {
    /// The variables of a conversation and a template. `without` names a variable to leave out.
    pub(crate) fn new(
        template: &TemplateVariables,
        conversation: &Conversation<'_>,
        without: Option<&'static str>,
    ) -> Context {
        Context {
            template: template.clone(),
            case: CaseValues::of_conversation(conversation),
            known: Vec::new(),
            without,
            tools_json: Mutex::default(),
        }
    }

    /// The same variables, whose origin the traced render on this thread knows. Of the template's own
    /// variables these are the ones that it `reads`: a model may have many thousands of tokens.
    pub(crate) fn traced(
        self,
        conversation: &Conversation<'_>,
        reads: &BTreeSet<String>,
    ) -> Context {
        let beginning = conversation.as_beginning();
        let whole = beginning.map_or(conversation, |beginning| beginning.whole);
        let values = whole.form(KnownValues::of);
        provenance::know(&values.texts);
        let mut case = values.case.clone();
        if let Some(beginning) = beginning {
            case = case.cut(beginning);
            let path = "messages".to_owned();
            let kind = InputKind::Message;
            provenance::given_container(&case.messages, Arc::new(Input { kind, path }));
        }
        let own = self.template.values.iter().enumerate();
        let own = own.filter(|(_, (name, _))| reads.contains(name));
        let own = own.map(|(at, (name, variable))| {
            let kind = if at < self.template.tokens {
                InputKind::Token
            } else {
                InputKind::Variable
            };
            let variable = match variable {
                OwnVariable::Value(value) => OwnVariable::Value(known(name, kind, value)),
                OwnVariable::ToolsJson(indent) => OwnVariable::ToolsJson(*indent),
            };
            (name.clone(), variable)
        });
        Context {
            known: own.collect(),
            case: Arc::new(case),
            template: self.template,
            without: self.without,
            tools_json: Mutex::default(),
        }
    }

    /// The length of the texts that most templates print.
    pub(crate) fn text_len(&self) -> usize {
        self.case.text_len
    }

    /// The value of a variable, if it has one.
    pub(crate) fn value(&self, key: &str) -> Option<Value> {
        if self.without == Some(key) {
            return None;
        }
        let of_case = self.case.variables.iter().find(|(name, _)| name == key);
        if let Some((_, value)) = of_case {
            return Some(value.clone());
        }
        if self.case.undefined.iter().any(|name| name == key) {
            return None;
        }
        if let Some(value) = self.template_value(key) {
            return Some(value);
        }
        Some(match key {
            "messages" => self.case.messages.clone(),
            "tools" => self.case.tools.clone(),
            "documents" => self.case.documents.clone(),
            "add_generation_prompt" => self.case.add_generation_prompt.clone(),
            _ => return None,
        })
    }

    fn template_value(&self, name: &str) -> Option<Value> {
        // The last entry of a name wins.
        let mut known = self.known.iter().rev();
        let known = known.find(|(key, _)| key == name);
        let all = || self.template.values.iter().rfind(|(key, _)| key == name);
        let (_, slot) = known.or_else(all)?;
        match slot {
            OwnVariable::Value(value) => Some(value.clone()),
            OwnVariable::ToolsJson(_) if self.case.tools.is_none() => None,
            OwnVariable::ToolsJson(indent) => self.tools_json(*indent),
        }
    }

    fn tools_json(&self, indent: Option<usize>) -> Option<Value> {
        let mut known = self
            .tools_json
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = known.iter().find(|(of, _)| *of == indent) {
            return Some(text.clone());
        }
        // Tools come from JSON: they have a JSON form.
        let text = dumps(&self.case.tools, &JsonStyle::indented(indent)).ok()?;
        let text = if provenance::is_traced() {
            provenance::known(
                &Value::from(text.as_str()),
                provenance::json_spans(&text, Vec::new(), "json"),
            )
        } else {
            Value::from(text)
        };
        known.push((indent, text.clone()));
        Some(text)
    }
}

/// A value that a traced render is given, whose texts, lists and maps are known.
fn given(value: &Value, input: Arc<Input>) -> Value {
    let part = |path| {
        let kind = input.kind;
        Arc::new(Input { kind, path })
    };
    if let Some(text) = value.as_str() {
        return provenance::given(text, input, None);
    }
    if is_list(value)
        && let Ok(items) = value.try_iter()
    {
        let items = items.enumerate();
        let items = items.map(|(at, item)| given(&item, part(format!("{}[{at}]", input.path))));
        let list = Value::from(items.collect::<Vec<_>>());
        provenance::given_container(&list, input);
        return list;
    }
    if is_dictionary(value)
        && let Ok(entries) = entries(value)
    {
        let entries = entries.iter().map(|(key, value)| {
            let Some(name) = key.as_str() else {
                return (key.clone(), value.clone());
            };
            let part = part(Input::entry_path(&input.path, name));
            let key = provenance::given(name, Arc::clone(&part), Some("key"));
            (key, given(value, part))
        });
        let map = by_text(entries.collect::<Vec<_>>().into_iter());
        provenance::given_container(&map, input);
        return map;
    }
    value.clone()
}

/// The JSON text of tools, as `json.dumps(tools, ensure_ascii=False, indent=…)` writes it.
pub fn tools_json(tools: &[Json], indent: Option<usize>) -> String {
    let tools = Value::from(tools.iter().map(value).collect::<Vec<_>>());
    // Tools come from JSON: they have a JSON form.
    dumps(&tools, &JsonStyle::indented(indent)).unwrap_or_default()
}
