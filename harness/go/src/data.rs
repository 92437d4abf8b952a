//! What a template is executed with, as JSON: for engines of other programs, which need not
//! know what Ollama does to a conversation before.
//!
//! Keys and values are what the function `json` of templates makes of the root.

use rolecall_model::Limits;
use serde_json::Value as Json;

use crate::error::Error;
use crate::json;
use crate::meter::{Meter, Sink};
use crate::values::{Map, MapKind, Root, Roots, Value};

/// What a template is executed with.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Of a template that reads the messages: it is executed once, with this.
    Messages(Json),
    /// Of a template that knows no messages: it is executed with each of these, and what comes
    /// out is joined. The last time it ends behind its first field `Response`.
    Turns(Vec<Json>),
}

/// The JSON of roots.
pub(crate) fn of(roots: &Roots, limits: &Limits) -> Result<Data, Error> {
    let mut meter = Meter::new(limits);
    Ok(match roots {
        Roots::Messages(root) => Data::Messages(json(root, &mut meter)?),
        Roots::Turns { full, last } => {
            let turns = full.iter().chain([last]);
            Data::Turns(
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
    use crate::{Case, Conversation, Dialect, Gotmpl, Program as _, Refusal, Stage, Template};

    fn data(source: &str, case: &Case) -> Result<Data, Refusal> {
        let template = Template::from_source("t", Dialect::Go, source);
        let program = Gotmpl::new().program(&template).unwrap();
        program.data(&Conversation::new(case))
    }

    /// A conversation with all that Ollama makes something else of.
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
        let Data::Messages(data) = data(source, &case).unwrap() else {
            panic!("turns");
        };
        let template = Template::from_source("t", Dialect::Go, source);
        let printed = Gotmpl::new().program(&template).unwrap().prompt(&case);
        assert_eq!(
            serde_json::from_str::<Json>(&printed.unwrap()).unwrap(),
            data
        );
        assert_eq!(data["System"], "S");
        assert_eq!(data["ThinkLevel"], "low");
        // The texts of one role in a row are one message.
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
            Ok(Data::Turns(vec![turn("S", "1?", "1."), turn("", "2?", "")]))
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
