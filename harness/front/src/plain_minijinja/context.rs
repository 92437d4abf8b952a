//! The variables that a template sees.

use minijinja::value::Value;
use rolecall_core::{Case, Conversation, Template, Variable};
use rolecall_jinja::tools_json;
use serde_json::Value as Json;

/// A template's own variables, special tokens included.
pub(crate) struct TemplateVariables(Vec<(String, OwnVariable)>);

/// What a template's own variable holds.
enum OwnVariable {
    Value(Value),
    /// The JSON text of the case's tools, with this indent.
    ToolsJson(Option<usize>),
}

/// The variables of a case: those that are always defined, and its own.
struct CaseVariables {
    defined: [(&'static str, Value); 4],
    own: Vec<(String, Value)>,
}

impl CaseVariables {
    fn of(case: &Case) -> CaseVariables {
        let list = |items: &Vec<Json>| items.iter().map(value).collect::<Value>();
        let optional = |items: Option<&Vec<Json>>| items.map_or_else(|| Value::from(()), list);
        let own = case.variables.iter();
        CaseVariables {
            defined: [
                ("messages", list(&case.messages)),
                ("tools", optional(case.tools.as_ref())),
                ("documents", optional(case.documents.as_ref())),
                ("add_generation_prompt", case.add_generation_prompt.into()),
            ],
            own: own
                .map(|(name, json)| (name.clone(), value(json)))
                .collect(),
        }
    }
}

impl TemplateVariables {
    pub(crate) fn of(template: &Template) -> TemplateVariables {
        let tokens = template.special_tokens.iter();
        let tokens = tokens.map(|(name, token)| (name.clone(), OwnVariable::Value(value(token))));
        let variables = template.variables.iter().map(|(name, variable)| {
            let slot = match variable {
                Variable::Value(json) => OwnVariable::Value(value(json)),
                Variable::ToolsJson { indent } => OwnVariable::ToolsJson(*indent),
            };
            (name.clone(), slot)
        });
        TemplateVariables(tokens.chain(variables).collect())
    }

    /// All variables of a render. A variable of the case wins over one of the template, which wins
    /// over those that are always defined. `without` names a variable to leave out.
    pub(crate) fn with(&self, conversation: &Conversation<'_>, without: Option<&str>) -> Value {
        let case = conversation.form(CaseVariables::of);
        let defined = case.defined.iter();
        let defined = defined.map(|(name, value)| (*name, value.clone()));
        let template = self.0.iter().filter_map(|(name, slot)| {
            let value = match slot {
                OwnVariable::Value(value) => value.clone(),
                OwnVariable::ToolsJson(indent) => {
                    tools_json(conversation.case().tools.as_ref()?, *indent).into()
                }
            };
            Some((name.as_str(), value))
        });
        let own = case.own.iter();
        let own = own.map(|(name, value)| (name.as_str(), value.clone()));
        let all = defined.chain(template).chain(own);
        Value::from_pairs(all.filter(|(name, _)| Some(*name) != without))
    }
}

/// Converts a JSON value. A number is as exact as minijinja's numbers.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(bool) => Value::from(*bool),
        Json::String(text) => Value::from(text.as_str()),
        Json::Number(number) => match number.as_i128() {
            Some(integer) => match i64::try_from(integer) {
                Ok(small) => Value::from(small),
                Err(_) => Value::from(integer),
            },
            None => Value::from(number.as_str().parse().unwrap_or(f64::NAN)),
        },
        Json::Array(items) => items.iter().map(value).collect(),
        Json::Object(map) => {
            Value::from_pairs(map.iter().map(|(key, json)| (key.as_str(), value(json))))
        }
    }
}
