//! The fields of what a template is given: everything that a span of a prompt may come from.

use rolecall_core::provenance::{Input, InputKind};
use rolecall_core::{Case, Template, Variable};
use serde_json::Value;

/// A field: a text, a number, a list or a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The kind of thing that it is a part of.
    pub kind: InputKind,
    /// How it is reached, as the spans of a prompt name it: `messages[2].content`.
    pub path: String,
    /// The last step of its path: `content` or `[2]`.
    pub name: String,
    /// How many fields it is in.
    pub depth: usize,
    /// Its text. None for a list or a map, whose fields follow.
    pub text: Option<String>,
    /// Whether its text is the very text that templates see, and not a number or a constant.
    pub is_text: bool,
}

/// The fields of what a template is given with a case, as the template sees it. A field comes
/// before the fields within it.
pub fn fields(template: &Template, case: &Case) -> Vec<Field> {
    let mut fields = Fields(Vec::new());
    fields.list(InputKind::Message, "messages", &case.messages);
    for (kind, name, values) in [
        (InputKind::Tool, "tools", &case.tools),
        (InputKind::Document, "documents", &case.documents),
    ] {
        if let Some(values) = values {
            fields.list(kind, name, values);
        }
    }
    let asks = Value::Bool(case.add_generation_prompt);
    fields.named(InputKind::Variable, "add_generation_prompt", &asks);
    for (name, value) in &case.variables {
        fields.named(InputKind::Variable, name, value);
    }
    for (name, variable) in &template.variables {
        if let Variable::Value(value) = variable
            && !case.variables.contains_key(name)
        {
            fields.named(InputKind::Variable, name, value);
        }
    }
    for (name, value) in &template.special_tokens {
        if !case.variables.contains_key(name) {
            fields.named(InputKind::Token, name, value);
        }
    }
    fields.0
}

struct Fields(Vec<Field>);

impl Fields {
    fn named(&mut self, kind: InputKind, name: &str, value: &Value) {
        self.value(kind, name, name, 0, value);
    }

    fn list(&mut self, kind: InputKind, name: &str, values: &[Value]) {
        self.0.push(Field::holder(kind, name, name, 0));
        self.items(kind, name, 0, values);
    }

    fn items(&mut self, kind: InputKind, path: &str, depth: usize, values: &[Value]) {
        for (index, value) in values.iter().enumerate() {
            let step = format!("[{index}]");
            self.value(kind, &format!("{path}{step}"), &step, depth + 1, value);
        }
    }

    fn value(&mut self, kind: InputKind, path: &str, name: &str, depth: usize, value: &Value) {
        match value {
            Value::Array(values) => {
                self.0.push(Field::holder(kind, path, name, depth));
                self.items(kind, path, depth, values);
            }
            Value::Object(map) => {
                self.0.push(Field::holder(kind, path, name, depth));
                for (key, value) in map {
                    let inner = Input::entry_path(path, key);
                    self.value(kind, &inner, key, depth + 1, value);
                }
            }
            Value::String(text) => self.0.push(Field {
                text: Some(text.clone()),
                is_text: true,
                ..Field::holder(kind, path, name, depth)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.0.push(Field {
                text: Some(value.to_string()),
                ..Field::holder(kind, path, name, depth)
            }),
        }
    }
}

impl Field {
    fn holder(kind: InputKind, path: &str, name: &str, depth: usize) -> Field {
        Field {
            kind,
            path: path.to_owned(),
            name: name.to_owned(),
            depth,
            text: None,
            is_text: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::Dialect;
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_have_the_paths_of_spans() {
        let mut template = Template::from_source("t", Dialect::Jinja, "");
        template
            .special_tokens
            .insert("bos_token".into(), json!("<s>"));
        template
            .special_tokens
            .insert("eos_token".into(), json!("</s>"));
        let mut case = Case::from_messages(vec![json!({"role": "user", "content": [1, "x"]})]);
        case.tools = Some(vec![json!({"a b": "c"})]);
        case.variables.insert("eos_token".into(), json!("<end>"));
        let found = fields(&template, &case);
        let shown: Vec<String> = found
            .iter()
            .map(|field| {
                let text = field.text.as_deref().unwrap_or("…");
                format!(
                    "{}{} {} {text}",
                    " ".repeat(field.depth),
                    field.kind.name(),
                    field.path
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "message messages …",
                " message messages[0] …",
                "  message messages[0].role user",
                "  message messages[0].content …",
                "   message messages[0].content[0] 1",
                "   message messages[0].content[1] x",
                "tool tools …",
                " tool tools[0] …",
                "  tool tools[0][\"a b\"] c",
                "variable add_generation_prompt true",
                "variable eos_token <end>",
                "token bos_token <s>",
            ]
        );
    }
}
