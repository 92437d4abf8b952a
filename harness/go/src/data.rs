//! The data that a template is executed with, as JSON. Engines in other programs use it, so that
//! they need not repeat Ollama's preparation of a conversation.
//!
//! The template function `json` gives the same keys and values for the root.

use rolecall_core::Limits;
use serde_json::Value as Json;

use crate::error::Error;
use crate::json;
use crate::meter::{Meter, Sink};
use crate::values::{Map, MapKind, Root, Roots, Value};

/// The data that a template is executed with.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplateData {
    /// For a template that reads the messages: Ollama executes it once with this.
    Messages(Json),
    /// For a template that does not read the messages: Ollama executes it with each of these and
    /// joins the outputs. The last time the template ends after its first field `Response`.
    Turns(Vec<Json>),
}

/// Converts roots to JSON.
pub(crate) fn template_data(roots: &Roots, limits: &Limits) -> Result<TemplateData, Error> {
    let mut meter = Meter::new(limits);
    Ok(match roots {
        Roots::Messages(root) => TemplateData::Messages(json(root, &mut meter)?),
        Roots::Turns { full, last } => {
            let turns = full.iter().chain([last]);
            TemplateData::Turns(
                turns
                    .map(|root| json(root, &mut meter))
                    .collect::<Result<_, _>>()?,
            )
        }
    })
}

fn json(root: &Root, meter: &mut Meter) -> Result<Json, Error> {
    let value = Value::Map(Map {
        kind: MapKind::Anything,
        entries: Some(root.clone()),
    });
    let mut out = Sink::new(meter);
    json::marshal(&mut out, &value)?;
    serde_json::from_slice(&out.into_bytes())
        .map_err(|error| Error::new(format!("the conversation has no JSON form: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Case, Conversation, Dialect, GoEngine, Program as _, Refusal, Stage, Template};

    fn data(source: &str, case: &Case) -> Result<TemplateData, Refusal> {
        let template = Template::from_source("t", Dialect::Go, source);
        let program = GoEngine::new().program(&template).unwrap();
        program.data(&Conversation::new(case))
    }

    /// A conversation with everything that Ollama changes.
    fn case() -> Case {
        let mut case = Case::from_messages(vec![
            json!({"role": "system", "content": "S"}),
            json!({"role": "user", "content": "a", "images": ["AQI="]}),
            json!({"role": "user", "content": "b"}),
            json!({"role": "assistant", "tool_calls": [
                {"id": "c1", "function": {"name": "f", "arguments": "{\"y\": 1.0, \"x\": \"<\"}"}}
            ]}),
            json!({"role": "tool", "name": "f", "content": "3"}),
        ]);
        case.tools = Some(vec![json!({"type": "function", "function": {
            "name": "f", "description": "d",
            "parameters": {"type": "object", "properties": {"x": {"type": "string"}}},
        }})]);
        case.variables.insert("think".into(), "low".into());
        case
    }

    #[test]
    fn the_data_of_a_template_with_messages_is_what_its_json_function_prints() {
        let case = case();
        let source = "{{ if .Messages }}{{ json . }}{{ end }}";
        let TemplateData::Messages(data) = data(source, &case).unwrap() else {
            panic!("turns");
        };
        let template = Template::from_source("t", Dialect::Go, source);
        let printed = GoEngine::new().program(&template).unwrap().prompt(&case);
        assert_eq!(
            serde_json::from_str::<Json>(&printed.unwrap()).unwrap(),
            data
        );
        assert_eq!(data["System"], "S");
        assert_eq!(data["ThinkLevel"], "low");
        // Adjacent texts of one role become one message.
        assert_eq!(data["Messages"].as_array().map(Vec::len), Some(4));
        assert_eq!(data["Messages"][1]["Content"], "[img-0]a\n\nb");
        let call = &data["Messages"][2]["ToolCalls"][0]["Function"];
        assert_eq!(call["Arguments"], json!({"x": "<", "y": 1}));
        assert_eq!(data["Tools"][0]["function"]["name"], "f");
    }

    #[test]
    fn a_template_without_messages_has_the_data_of_each_turn() {
        let text = |role: &str, content: &str| json!({"role": role, "content": content});
        let case = Case::from_messages(vec![
            text("system", "S"),
            text("user", "1?"),
            text("assistant", "1."),
            text("user", "2?"),
        ]);
        let turn = |system: &str, prompt: &str, response: &str| {
            json!({
                "System": system, "Prompt": prompt, "Response": response,
                "Think": false, "ThinkLevel": "", "IsThinkSet": false,
            })
        };
        assert_eq!(
            data("{{ .Prompt }}", &case),
            Ok(TemplateData::Turns(vec![
                turn("S", "1?", "1."),
                turn("", "2?", "")
            ]))
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused_as_input() {
        let case = Case::from_messages(vec![json!({"role": 3})]);
        let refused = data("{{ .Messages }}", &case).unwrap_err();
        let is_input = matches!(
            refused,
            Refusal::Failed {
                stage: Stage::Input,
                ..
            }
        );
        assert!(is_input, "{refused:?}");
    }
}
