//! What a program is given of a conversation: one object, from the template and the case.

use rolecall_go::{Data, GoProgram, Gotmpl};
use rolecall_jinja::tools_json;
use rolecall_model::guard::catch;
use rolecall_model::{Conversation, Refusal, Template, Variable};
use serde_json::Map;

use super::message::{GoInput, Input};

/// What makes the data that a Go template is executed with; none of a template that cannot be
/// read here. Whatever goes wrong with that is no fault of the program that is asked.
pub(super) fn go_program(template: &Template) -> Option<GoProgram> {
    catch(|| Gotmpl::new().program(template)).ok()?.ok()
}

/// What a program is given of a conversation. The template's variables and the case's are one
/// object here; those of the case win. An application has the special tokens already, and goes on
/// with messages itself.
pub(super) fn of<'c>(
    conversation: &'c Conversation<'_>,
    template: &Template,
    is_for_application: bool,
    go: Option<&GoProgram>,
) -> Input<'c> {
    let case = conversation.case();
    let mut variables = if is_for_application {
        Map::new()
    } else {
        template.special_tokens.clone()
    };
    let continued = case.continue_final_message.as_deref();
    for (name, variable) in &template.variables {
        let value = match (variable, &case.tools) {
            (Variable::Value(value), _) => value.clone(),
            (Variable::ToolsJson { indent }, Some(tools)) => tools_json(tools, *indent).into(),
            (Variable::ToolsJson { .. }, None) => continue,
        };
        variables.insert(name.clone(), value);
    }
    variables.extend(case.variables.clone());
    Input {
        now: case.now.to_string(),
        messages: &case.messages,
        tools: case.tools.as_deref(),
        documents: case.documents.as_deref(),
        add_generation_prompt: case.add_generation_prompt,
        continue_final_message: continued.filter(|_| is_for_application),
        variables,
        go: go.and_then(|program| go_input(program, conversation)),
    }
}

/// What Ollama executes a Go template with. Nothing where it is too large to say.
fn go_input(program: &GoProgram, conversation: &Conversation<'_>) -> Option<GoInput> {
    match catch(|| program.data(conversation)).ok()? {
        Ok(Data::Messages(data)) => Some(GoInput::Data(data)),
        Ok(Data::Turns(turns)) => Some(GoInput::Turns(turns)),
        Err(Refusal::Failed { message, .. }) => Some(GoInput::Refused(message)),
        Err(_) => None,
    }
}
