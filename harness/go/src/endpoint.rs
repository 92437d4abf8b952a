//! The work of Ollama's endpoints before a template sees a conversation.
//!
//! Source: server/routes.go (`ChatHandler`, `filterThinkTags`, `shouldUseHarmony`),
//! server/images.go (`Capabilities`), model/parsers/parsers.go, middleware/openai.go and
//! openai/openai.go of 0.33. The parts that need the weights are missing: this module does not
//! shorten long conversations and does not check images.

use rolecall_core::{Case, OllamaSetup, Template};
use serde_json::{Map, Value as Json};

use crate::abilities::Abilities;
use crate::error::Error;
use crate::harmony;
use crate::message::{self, Message, MessageRules};
use crate::think::Think;
use crate::tools;

/// The endpoint to which a client sends its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// Ollama's own, `/api/chat`.
    Native,
    /// The endpoint for clients of OpenAI, `/v1/chat/completions`. It converts a request and
    /// passes it to the native one.
    OpenAi,
}

/// The traits of a model that a server derives from its template and settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools)] // each is asked on its own
pub struct ModelTraits {
    /// Whether the server accepts requests with tools.
    pub tools: bool,
    /// Whether the model thinks by default.
    pub thinking: bool,
    /// Whether the server turns the names of tools into identifiers.
    pub renames_tools: bool,
    /// Whether `high` is the model's highest level of thinking.
    pub thinks_highly_at_most: bool,
    /// Whether the server drops the reasoning in the text of earlier answers.
    pub drops_reasoning: bool,
}

/// The built-in parser whose models have no tools, whatever their template says.
const WITHOUT_TOOLS: [&str; 1] = ["olmo3-think"];

/// Built-in parsers whose models think.
const THINKING: [&str; 17] = [
    "cogito",
    "cohere",
    "deepseek3",
    "gemma4",
    "glimmer",
    "glm-4.7",
    "harmony",
    "laguna",
    "lfm2-thinking",
    "nemotron-3-nano",
    "nemotron-3.5-nano",
    "olmo3-think",
    "ornith",
    "poolside-v1",
    "qwen3-thinking",
    "qwen3-vl-thinking",
    "qwen3.5",
];

/// Built-in parsers whose models do not think, and have tools.
const WITH_TOOLS_ALONE: [&str; 9] = [
    "glm-ocr",
    "functiongemma",
    "gemma4-no-thinking",
    "lfm2",
    "ministral",
    "olmo3",
    "qwen3",
    "qwen3-coder",
    "qwen3-vl-instruct",
];

impl ModelTraits {
    /// Derives the traits from a template and its settings.
    pub fn of(template: &Template) -> ModelTraits {
        let setup = &template.setup;
        let is = |what: &Option<String>, names: &[&str]| {
            what.as_deref().is_some_and(|what| names.contains(&what))
        };
        let abilities = Abilities::of(&template.source).unwrap_or_default();
        let is_harmony_family = is_of_gpt_oss(template);
        let speaks_harmony = speaks_harmony(template);
        let parser_thinks = is(&setup.parser, &THINKING);
        let parser_has_tools = (parser_thinks || is(&setup.parser, &WITH_TOOLS_ALONE))
            && !is(&setup.parser, &WITHOUT_TOOLS);
        ModelTraits {
            tools: abilities.tools || parser_has_tools,
            thinking: abilities.thinking || parser_thinks || is_harmony_family,
            renames_tools: is(&setup.parser, &["harmony"])
                || speaks_harmony && setup.parser.is_none(),
            thinks_highly_at_most: speaks_harmony,
            drops_reasoning: is(&setup.family, &["qwen3"]) || is(&setup.model, &["deepseek-r1"]),
        }
    }
}

/// Whether the server reads the answers of a model with its own parser, and not with what it
/// finds in the template.
pub fn has_own_parser(template: &Template) -> bool {
    template.setup.parser.is_some() || speaks_harmony(template)
}

fn is_of_gpt_oss(template: &Template) -> bool {
    matches!(template.setup.family.as_deref(), Some("gptoss" | "gpt-oss"))
}

fn speaks_harmony(template: &Template) -> bool {
    let has = |tag| template.source.contains(tag);
    is_of_gpt_oss(template) && has("<|start|>") && has("<|end|>")
}

/// A conversation as a template gets it, in the native endpoint's form.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateConversation {
    /// The messages.
    pub messages: Vec<Json>,
    /// The tools.
    pub tools: Option<Vec<Json>>,
    /// `think`, if the request sets it.
    pub variables: Map<String, Json>,
}

impl TemplateConversation {
    fn new(messages: &[Message], tools: Option<Vec<Json>>, think: Think) -> TemplateConversation {
        let variables = think.to_json().map(|think| ("think".to_owned(), think));
        TemplateConversation {
            messages: messages.iter().map(Message::to_json).collect(),
            tools,
            variables: variables.into_iter().collect(),
        }
    }

    /// Puts this conversation into a copy of a case.
    pub fn to_case(self, case: &Case) -> Case {
        case.saying(self.messages, self.tools, self.variables)
    }
}

/// A request after the native endpoint has read it.
struct NativeRequest {
    messages: Vec<Message>,
    tools: Option<Vec<Json>>,
    think: Think,
}

/// Prepares a conversation as a server does before it executes a model's template.
///
/// # Errors
///
/// The reason why the server refuses the request, in its words.
pub fn answer(
    case: &Case,
    endpoint: Endpoint,
    traits: ModelTraits,
    setup: &OllamaSetup,
) -> Result<TemplateConversation, String> {
    let request = read(case, endpoint).map_err(|error| error.to_string())?;
    let NativeRequest {
        messages,
        mut tools,
        mut think,
    } = request;
    let refuse = |what| {
        Err(match &setup.model {
            Some(model) => format!("{model:?} does not support {what}"),
            None => format!("the model does not support {what}"),
        })
    };
    if traits.thinking {
        if !think.is_set {
            think = Think::switched(true);
        }
    } else if think.on {
        return refuse("thinking");
    }
    if !traits.tools && tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
        return Err("does not support tools".to_owned());
    }
    let mut messages = with_preamble(messages, setup);
    if traits.drops_reasoning {
        drop_reasoning(&mut messages);
    }
    if traits.thinks_highly_at_most && think.level == "max" {
        think = Think::level("high");
    }
    if let Some(tools) = &mut tools
        && traits.renames_tools
    {
        harmony::rename(tools);
    }
    Ok(TemplateConversation::new(&messages, tools, think))
}

/// A conversation as a template gets it without an endpoint, in the form of [`answer`].
///
/// # Errors
///
/// The reason why neither endpoint could read it.
pub fn without_endpoint(case: &Case) -> Result<TemplateConversation, String> {
    let read = || {
        let messages = message::read(&case.messages, MessageRules::Either)?;
        let think = think(
            &case.variables,
            &["think", "reasoning_effort", "enable_thinking"],
        )?;
        Ok((messages, think))
    };
    let (messages, think) = read().map_err(|error: Error| error.to_string())?;
    Ok(TemplateConversation::new(
        &messages,
        case.tools.clone(),
        think,
    ))
}

/// Whether both endpoints accept tools, and hand them on as they are to a model that takes them.
pub fn keeps_tools(given: &[Json]) -> bool {
    !given.is_empty()
        && tools::tools(Some(given)).is_ok()
        && tools::without_empty_lists(given) == given
}

fn read(case: &Case, endpoint: Endpoint) -> Result<NativeRequest, Error> {
    // A tool that does not fit Go's types fails the request.
    tools::tools(case.tools.as_deref())?;
    Ok(match endpoint {
        Endpoint::Native => NativeRequest {
            messages: message::read(&case.messages, MessageRules::Native)?,
            tools: case.tools.clone(),
            think: think(&case.variables, &["think"])?,
        },
        Endpoint::OpenAi => NativeRequest {
            messages: message::read(&case.messages, MessageRules::OpenAi)?,
            tools: case
                .tools
                .as_ref()
                .filter(|tools| !tools.is_empty())
                .map(|tools| tools::without_empty_lists(tools)),
            think: think(&case.variables, &["reasoning_effort"])?,
        },
    })
}

/// Reads the setting for thinking from the variables that a request may have.
fn think(variables: &Map<String, Json>, known: &[&str]) -> Result<Think, Error> {
    Think::read(|name| known.contains(&name).then(|| variables.get(name)).flatten())
}

/// Puts the model's own messages before the conversation. It adds the model's system text if the
/// conversation does not begin with one.
fn with_preamble(messages: Vec<Message>, setup: &OllamaSetup) -> Vec<Message> {
    let begins_with_system = messages.first().is_some_and(|first| first.role == "system");
    let system = setup
        .system
        .as_deref()
        .filter(|text| !text.is_empty() && !begins_with_system);
    let mut all: Vec<Message> = system
        .map(|text| Message {
            role: "system".to_owned(),
            content: text.to_owned(),
            ..Message::default()
        })
        .into_iter()
        .collect();
    all.extend(setup.messages.iter().map(|(role, content)| Message {
        role: role.clone(),
        content: content.clone(),
        ..Message::default()
    }));
    all.extend(messages);
    all
}

/// Drops the text between `<think>` and `</think>` at the beginning of the assistant's messages
/// before the user's last message.
fn drop_reasoning(messages: &mut [Message]) {
    let is_user = |message: &Message| message.role == "user";
    let before = messages.iter().rposition(is_user).unwrap_or(0);
    for message in &mut messages[..before] {
        if message.role == "assistant" {
            let content = said(&message.content).to_owned();
            message.content = content;
        }
    }
}

/// A text without the reasoning at its beginning. If the text is only the beginning of the tag, it
/// counts as unfinished reasoning.
fn said(text: &str) -> &str {
    const OPENING: &str = "<think>";
    const CLOSING: &str = "</think>";
    let trimmed = text.trim_start();
    match trimmed.strip_prefix(OPENING) {
        Some(reasoning) => match reasoning.trim_start().split_once(CLOSING) {
            Some((_, said)) => said.trim_start(),
            None => "",
        },
        None if OPENING.starts_with(trimmed) => "",
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::Dialect;
    use serde_json::json;

    use super::*;

    const EVERYTHING: ModelTraits = ModelTraits {
        tools: true,
        thinking: false,
        renames_tools: false,
        thinks_highly_at_most: false,
        drops_reasoning: false,
    };

    fn case(messages: &[Json]) -> Case {
        Case::from_messages(messages.to_vec())
    }

    fn asked(
        change: impl FnOnce(&mut Case),
        traits: ModelTraits,
    ) -> Result<TemplateConversation, String> {
        let mut case = case(&[json!({"role": "user", "content": "Hi"})]);
        change(&mut case);
        answer(&case, Endpoint::Native, traits, &OllamaSetup::default())
    }

    #[test]
    fn a_model_that_can_think_thinks_unless_it_is_asked_not_to() {
        let thinking = ModelTraits {
            thinking: true,
            ..EVERYTHING
        };
        let think = |value: Json, traits| {
            let asked = asked(
                |case| drop(case.variables.insert("think".into(), value)),
                traits,
            );
            asked.map(|case| case.variables.get("think").cloned())
        };
        assert_eq!(think(json!(null), thinking), Ok(Some(json!(true))));
        assert_eq!(think(json!(false), thinking), Ok(Some(json!(false))));
        assert_eq!(think(json!("max"), thinking), Ok(Some(json!("max"))));
        assert_eq!(
            think(
                json!("max"),
                ModelTraits {
                    thinks_highly_at_most: true,
                    ..thinking
                }
            ),
            Ok(Some(json!("high")))
        );
        assert_eq!(think(json!(null), EVERYTHING), Ok(None));
        assert_eq!(think(json!(false), EVERYTHING), Ok(Some(json!(false))));
        assert_eq!(
            think(json!(true), EVERYTHING),
            Err("the model does not support thinking".to_owned())
        );
        assert!(
            think(json!(1), EVERYTHING)
                .unwrap_err()
                .starts_with("think must be a boolean")
        );
    }

    #[test]
    fn tools_need_a_model_that_has_them() {
        let tools =
            |tools: Json, traits| asked(|case| case.tools = tools.as_array().cloned(), traits);
        let none = ModelTraits::default();
        assert!(tools(json!([]), none).is_ok());
        assert_eq!(
            tools(json!([{}]), none).unwrap_err(),
            "does not support tools"
        );
        let renamed = tools(
            json!([{"function": {"name": "a-b"}}]),
            ModelTraits {
                renames_tools: true,
                ..EVERYTHING
            },
        );
        assert_eq!(
            renamed.unwrap().tools.unwrap()[0]["function"]["name"],
            "a_b"
        );
    }

    #[test]
    fn what_a_model_brings_comes_first() {
        let setup = OllamaSetup {
            system: Some("Be brief.".into()),
            messages: [("user", "1?"), ("assistant", "1.")]
                .map(|(role, text)| (role.to_owned(), text.to_owned()))
                .to_vec(),
            ..OllamaSetup::default()
        };
        let roles = |first: &str| {
            let case = case(&[json!({"role": first, "content": "x"})]);
            let seen = answer(&case, Endpoint::Native, EVERYTHING, &setup).unwrap();
            seen.messages
                .iter()
                .map(|message| message["role"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(roles("User"), ["system", "user", "assistant", "user"]);
        assert_eq!(roles("system"), ["user", "assistant", "system"]);
    }

    #[test]
    fn reasoning_of_earlier_answers_are_dropped() {
        for (text, left) in [
            (" <think> a </think>\n b ", "b "),
            ("<think>a</think>b</think>", "b</think>"),
            ("<think>a", ""),
            ("<think></think>", ""),
            (" <thi", ""),
            ("  ", ""),
            (" a <think>b</think>", " a <think>b</think>"),
        ] {
            assert_eq!(said(text), left, "{text:?}");
        }
        let said = |role: &str| json!({"role": role, "content": "<think>a</think>b"});
        let written = case(&[said("assistant"), said("user"), said("assistant")]);
        let traits = ModelTraits {
            drops_reasoning: true,
            ..EVERYTHING
        };
        let seen = answer(&written, Endpoint::Native, traits, &OllamaSetup::default()).unwrap();
        let contents: Vec<_> = seen
            .messages
            .iter()
            .map(|message| &message["content"])
            .collect();
        assert_eq!(contents, ["b", "<think>a</think>b", "<think>a</think>b"]);
    }

    #[test]
    fn traits_come_from_the_template_and_what_goes_with_it() {
        let traits = |source: &str, setup: OllamaSetup| {
            let mut template = Template::from_source("t", Dialect::Go, source);
            template.setup = setup;
            ModelTraits::of(&template)
        };
        let family = |family: &str| OllamaSetup {
            family: Some(family.into()),
            ..OllamaSetup::default()
        };
        let parser = |parser: &str| OllamaSetup {
            parser: Some(parser.into()),
            ..OllamaSetup::default()
        };
        assert_eq!(
            traits("{{ .Messages }}", OllamaSetup::default()),
            ModelTraits::default()
        );
        assert!(traits("{{ .Messages }}{{ .Tools }}", OllamaSetup::default()).tools);
        assert!(traits("{{ .Messages }}", parser("qwen3")).tools);
        assert!(!traits("{{ .Messages }}", parser("olmo3-think")).tools);
        assert!(traits("{{ .Messages }}", parser("olmo3-think")).thinking);
        assert!(traits("{{ .Messages }}", family("qwen3")).drops_reasoning);
        let harmony = traits("<|start|>{{ .Messages }}<|end|>", family("gptoss"));
        assert!(harmony.renames_tools && harmony.thinks_highly_at_most && harmony.thinking);
        assert!(!harmony.tools);
        let other = traits("{{ .Messages }}", family("gptoss"));
        assert!(!other.renames_tools && other.thinking);
    }

    #[test]
    fn the_endpoint_for_clients_of_openai_leaves_empty_lists_out() {
        let parameters = json!({"required": [], "properties": {"a": {"enum": [], "anyOf": [{"type": []}], "x": []}}});
        let mut case = case(&[json!({"role": "user", "content": "Hi"})]);
        case.tools = Some(vec![json!({"function": {"parameters": parameters}})]);
        let seen = |endpoint| {
            let seen = answer(&case, endpoint, EVERYTHING, &OllamaSetup::default()).unwrap();
            seen.tools.unwrap()[0]["function"]["parameters"].clone()
        };
        assert_eq!(seen(Endpoint::Native), parameters);
        assert_eq!(
            seen(Endpoint::OpenAi),
            json!({"properties": {"a": {"anyOf": [{}], "x": []}}})
        );
        assert!(!keeps_tools(&case.tools.unwrap()));
        assert!(keeps_tools(&[
            json!({"function": {"parameters": {"required": ["a"]}}})
        ]));
        for other in [vec![], vec![json!({"function": 3})]] {
            assert!(!keeps_tools(&other));
        }
    }
}
