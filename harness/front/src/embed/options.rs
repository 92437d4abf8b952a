//! What a template comes with besides its source, as JSON: special tokens, a dialect, limits.

use rolecall_core::{Dialect, Limits, OllamaSetup, Template, Variable};
use serde_json::{Map, Value};

use crate::embed::fields::Fields;

/// Makes a template of its source and its options, with the limits of its renders. The options are a
/// JSON object. All of its fields are optional, and an empty text means none:
///
/// - `name`: the name of the template, for report cards
/// - `dialect`: `jinja` or `go`; `jinja` if it is absent
/// - `special_tokens`: the tokenizer's, by name, such as `bos_token`
/// - `variables`: further variables of the template
/// - `front`: the application around the template; the default is `transformers` or `ollama`
/// - `limits`: `fuel`, `work`, `output`, `prompt`, `recursion`: see [`Limits`]
/// - `setup`: what an Ollama server knows about the model: `model`, `family`, `parser`, `system`,
///   `messages`
///
/// # Errors
///
/// The options are not as they should be. The error says why in words.
pub fn read_template(source: &str, options: &str) -> Result<(Template, Limits), String> {
    let fields = if options.trim().is_empty() {
        Map::new()
    } else {
        let value = serde_json::from_str(options)
            .map_err(|error| format!("the options are not JSON: {error}"))?;
        let Value::Object(fields) = value else {
            return Err("the options are not an object".to_owned());
        };
        fields
    };
    let mut fields = Fields::new("the options", fields);
    let dialect = match fields.text("dialect")? {
        None => Dialect::Jinja,
        Some(name) => Dialect::named(&name)
            .ok_or_else(|| format!("no dialect is named `{name}`; there are `jinja` and `go`"))?,
    };
    let name = fields.text("name")?;
    let name = name.as_deref().unwrap_or("template");
    let mut template = Template::from_source(name, dialect, source);
    template.special_tokens = fields.object("special_tokens")?;
    template.variables = fields
        .object("variables")?
        .into_iter()
        .map(|(name, value)| (name, Variable::Value(value)))
        .collect();
    let front = fields.front(dialect)?;
    template.front = front.map(|front| front.name().to_owned());
    template.setup = setup(fields.object("setup")?)?;
    let limits = limits(fields.object("limits")?)?;
    fields.finish()?;
    Ok((template, limits))
}

/// What an Ollama server knows about the model.
fn setup(fields: Map<String, Value>) -> Result<OllamaSetup, String> {
    let mut fields = Fields::new("`setup`", fields);
    let mut messages = Vec::new();
    for message in fields.list("messages")?.unwrap_or_default() {
        let Value::Object(message) = message else {
            return Err("a message of `setup` is not an object".to_owned());
        };
        let mut message = Fields::new("a message of `setup`", message);
        let role = message.text("role")?.unwrap_or_default();
        messages.push((role, message.text("content")?.unwrap_or_default()));
        message.finish()?;
    }
    let setup = OllamaSetup {
        model: fields.text("model")?,
        family: fields.text("family")?,
        parser: fields.text("parser")?,
        system: fields.text("system")?,
        messages,
        stops: Vec::new(),
    };
    fields.finish()?;
    Ok(setup)
}

fn limits(fields: Map<String, Value>) -> Result<Limits, String> {
    let mut fields = Fields::new("`limits`", fields);
    let mut limits = Limits::default();
    let size = |number| usize::try_from(number).unwrap_or(usize::MAX);
    if let Some(fuel) = fields.number("fuel")? {
        limits.fuel = fuel;
    }
    if let Some(work) = fields.number("work")? {
        limits.work = work;
    }
    if let Some(output) = fields.number("output")? {
        limits.output = size(output);
    }
    if let Some(prompt) = fields.number("prompt")? {
        limits.prompt = size(prompt);
    }
    if let Some(recursion) = fields.number("recursion")? {
        limits.recursion = size(recursion);
    }
    fields.finish()?;
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_defaults() {
        for text in ["", " ", "{}", r#"{"limits": null}"#] {
            let (template, limits) = read_template("x", text).unwrap();
            assert_eq!(template.dialect, Dialect::Jinja);
            assert_eq!(limits, Limits::default());
            assert_eq!(template.front, None);
        }
    }

    #[test]
    fn options_are_read() {
        let text = r#"{"dialect": "go", "front": "ollama-openai", "special_tokens": {"eos_token": "</s>"},
            "variables": {"think": true}, "limits": {"fuel": 7, "prompt": 9},
            "setup": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}}"#;
        let (template, limits) = read_template("x", text).unwrap();
        assert_eq!(template.dialect, Dialect::Go);
        assert_eq!(template.front.as_deref(), Some("ollama-openai"));
        assert_eq!((limits.fuel, limits.prompt), (7, 9));
        assert_eq!(template.setup.messages, [("user".into(), "Hi".into())]);
        assert_eq!(template.special_tokens["eos_token"], "</s>");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("[]", "the options are not an object"),
            ("{", "the options are not JSON"),
            (r#"{"dialect": "erb"}"#, "there are `jinja` and `go`"),
            (
                r#"{"limits": {"steps": 1}}"#,
                "no field of `limits` is named `steps`",
            ),
            (
                r#"{"limits": {"fuel": -1}}"#,
                "`fuel` of `limits` is not a whole number",
            ),
            (
                r#"{"bos_token": "<s>"}"#,
                "no field of the options is named `bos_token`",
            ),
        ] {
            let error = read_template("x", text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
