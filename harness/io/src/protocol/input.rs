//! The conversation as a program gets it: one object, made from the template and the
//! case.

use rolecall_core::guard::catch;
use rolecall_core::{Case, Conversation, Refusal, Template, Variable};
use rolecall_go::{GoEngine, GoProgram, TemplateData};
use rolecall_jinja::tools_json;
use serde_json::{Map, Value};

use super::message::{GoInput, RenderInput};

/// The conversation as an application gets it, with the keys of `render`: messages,
/// tools, documents and variables as they are written, and the options.
pub fn request(conversation: &Conversation<'_>, template: &Template) -> Map<String, Value> {
    let input = render_input(conversation, template, true, None);
    // Through its text, so that numbers stay as they are written.
    let text = serde_json::to_string(&input).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// The program that makes the data for a Go template; none if our engine cannot read the
/// template. A failure here is not the fault of the program under test.
pub(super) fn go_program(template: &Template) -> Option<GoProgram> {
    catch(|| GoEngine::new().program(template)).ok()?.ok()
}

/// The conversation as a program gets it. It merges the variables of the template and of the
/// case; the case's win. An application has the special tokens already, and continues messages
/// itself.
pub(super) fn render_input<'c>(
    conversation: &'c Conversation<'_>,
    template: &Template,
    is_for_application: bool,
    go: Option<&GoProgram>,
) -> RenderInput<'c> {
    let case = conversation.case();
    let tokens = !is_for_application;
    let mut variables = variables(template, case.tools.as_deref(), &case.variables, tokens);
    variables.retain(|name, _| case.variables.contains_key(name) || !case.undefined.contains(name));
    let continued = case.continue_final_message.as_deref();
    RenderInput {
        now: case.now.to_string(),
        messages: &case.messages,
        tools: case.tools.as_deref(),
        documents: case.documents.as_deref(),
        add_generation_prompt: case.add_generation_prompt,
        continue_final_message: continued.filter(|_| is_for_application),
        variables,
        undefined: &case.undefined,
        go: go.and_then(|program| go_input(program, conversation)),
    }
}

/// All variables that a Jinja template sees: the conversation, the special tokens, and the variables
/// of the template and of the case.
pub fn all_variables(case: &Case, template: &Template) -> Map<String, Value> {
    let list = |items: &Option<Vec<Value>>| items.clone().map_or(Value::Null, Value::Array);
    let mut all = Map::new();
    all.insert("messages".into(), Value::Array(case.messages.clone()));
    all.insert("tools".into(), list(&case.tools));
    all.insert("documents".into(), list(&case.documents));
    all.insert(
        "add_generation_prompt".into(),
        case.add_generation_prompt.into(),
    );
    let tools = case.tools.as_deref();
    all.extend(variables(template, tools, &case.variables, true));
    all
}

/// The variables of the template and of a conversation; the conversation's win. With the special
/// tokens, if an engine needs them.
pub(super) fn variables(
    template: &Template,
    tools: Option<&[Value]>,
    given: &Map<String, Value>,
    with_tokens: bool,
) -> Map<String, Value> {
    let mut variables = if with_tokens {
        template.special_tokens.clone()
    } else {
        Map::new()
    };
    for (name, variable) in &template.variables {
        let value = match (variable, tools) {
            (Variable::Value(value), _) => value.clone(),
            (Variable::ToolsJson { indent }, Some(tools)) => tools_json(tools, *indent).into(),
            (Variable::ToolsJson { .. }, None) => continue,
        };
        variables.insert(name.clone(), value);
    }
    variables.extend(given.clone());
    variables
}

/// The data with which Ollama executes a Go template; none if it is too large.
fn go_input(program: &GoProgram, conversation: &Conversation<'_>) -> Option<GoInput> {
    match catch(|| program.data(conversation)).ok()? {
        Ok(TemplateData::Messages(data)) => Some(GoInput::Data(data)),
        Ok(TemplateData::Turns(turns)) => Some(GoInput::Turns(turns)),
        Err(Refusal::Failed { message, .. }) => Some(GoInput::Refused(message)),
        Err(_) => None,
    }
}
