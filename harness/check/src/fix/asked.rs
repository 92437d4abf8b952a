//! The conversations that a proof asks a template for: the suite's, with some that a patch may get
//! wrong, under every switch.

use std::sync::Arc;

use crate::card::Card;
use crate::contract::{Finding, Render};
use rolecall_core::{Case, CaseId, Template};
use rolecall_front::front::{Front, ModelProfile};
use rolecall_front::prepared_case::PreparedCase;
use serde_json::{Value, json};

/// A conversation under some switches, with a front.
pub(super) struct Asked {
    /// The conversation and the switches in words.
    pub(super) name: String,
    /// The conversation with the switches set.
    pub(super) case: Arc<Case>,
    /// What the application before the template makes of it. All templates share it.
    pub(super) input: PreparedCase<'static>,
    /// The name of the same conversation without the switch, if the value of the switch is one that
    /// the card tries because it knows no better.
    pub(super) guessed_from: Option<String>,
}

pub(super) struct Conversations {
    pub(super) all: Vec<Asked>,
    /// How many come first in which no switch of the template's own is set. They are enough to
    /// choose a change, and all have to prove it.
    pub(super) usual: usize,
}

impl Conversations {
    /// The usual ones, and the others.
    pub(super) fn parts(&self) -> [&[Asked]; 2] {
        self.all.split_at(self.usual).into()
    }
}

/// The conversations for a template: with and without a generation prompt, with each value of each
/// switch on its card and with thinking on and off, with its own front and without one.
pub(super) fn conversations(cases: &[Case], template: &Template, card: &Card) -> Conversations {
    let own = Front::of(template);
    let model = ModelProfile::of(template);
    let mut more = more();
    more.extend(evidence(card));
    let cases = cases.iter().chain(&more);
    let cases = cases.filter(|case| case.front.is_none() && case.is_for(template.dialect));
    let begun: Vec<(String, Arc<Case>)> = cases.flat_map(begun).collect();
    let after = |name: String, base: Option<&str>, case: Arc<Case>| {
        // Users of servers that hand conversations on as they are written.
        let raw = own.differs(Front::Raw, &case, &model);
        let fronts = [("", own), (" without a front", Front::Raw)];
        let fronts = fronts.into_iter().take(if raw { 2 } else { 1 });
        let asked = |(after, front): (&str, Front)| Asked {
            name: format!("{name}{after}"),
            case: Arc::clone(&case),
            input: PreparedCase::of(&case, front, &model),
            guessed_from: base.map(|base| format!("{base}{after}")),
        };
        fronts.map(asked).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for (name, case) in &begun {
        all.extend(after(name.clone(), None, Arc::clone(case)));
    }
    let usual = all.len();
    for setting in settings(card) {
        let (variable, value) = (&setting.variable, &setting.value);
        for (base, case) in &begun {
            if !case.variables.contains_key(variable) {
                let mut case = Case::clone(case);
                case.variables.insert(variable.clone(), value.clone());
                let name = format!("{base} with {variable}={value}");
                let base = setting.is_guessed.then_some(base.as_str());
                all.extend(after(name, base, Arc::new(case)));
            }
        }
    }
    Conversations { all, usual }
}

/// A case with and without a generation prompt.
fn begun(case: &Case) -> Vec<(String, Arc<Case>)> {
    let mut both = vec![(case.id.to_string(), Arc::new(case.clone()))];
    if case.continue_final_message.is_none() {
        let mut other = case.clone();
        other.add_generation_prompt = !case.add_generation_prompt;
        let with = if other.add_generation_prompt {
            "with"
        } else {
            "without"
        };
        let name = format!("{} {with} a generation prompt", case.id);
        both.push((name, Arc::new(other)));
    }
    both
}

/// The conversation that a piece of evidence shows.
pub(super) fn case_of(render: &Render) -> Case {
    let asked = &render.conversation;
    let list = |name: &str| asked.get(name).and_then(Value::as_array).cloned();
    let variables = asked.get("variables").and_then(Value::as_object);
    Case {
        tools: list("tools"),
        documents: list("documents"),
        add_generation_prompt: asked.get("add_generation_prompt") != Some(&Value::Bool(false)),
        variables: variables.cloned().unwrap_or_default(),
        ..case_named("probe", render.probe, list("messages").unwrap_or_default())
    }
}

/// The conversations that show the broken contracts on a card, each once.
fn evidence(card: &Card) -> Vec<Case> {
    let broken = card.broken().chain(&card.without_front);
    let renders = broken
        .flat_map(Finding::evidence)
        .flat_map(|one| &one.renders);
    let mut seen: Vec<&Value> = Vec::new();
    let mut all = Vec::new();
    for render in renders {
        if !seen.contains(&&render.conversation) {
            seen.push(&render.conversation);
            all.push(case_of(render));
        }
    }
    all
}

/// A variable that a user may set.
struct Setting {
    variable: String,
    value: Value,
    /// Whether the card tries the value because it knows no better: true or false for a variable
    /// whose values neither its name nor the source tells.
    is_guessed: bool,
}

/// What users may set: each value that changes a prompt, and whether the model thinks.
fn settings(card: &Card) -> Vec<Setting> {
    let capabilities = &card.capabilities;
    let mut all = Vec::new();
    for switch in &capabilities.switches {
        let values = switch.values.iter().filter(|value| !value.is_refused);
        let is_about_thinking = ["think", "reason"]
            .iter()
            .any(|word| switch.name.contains(word));
        all.extend(values.map(|value| Setting {
            variable: switch.name.clone(),
            value: value.value.clone(),
            is_guessed: value.value.is_boolean() && !is_about_thinking,
        }));
    }
    for name in ["enable_thinking", "thinking"] {
        let mut read = capabilities.variables.iter();
        if !read.any(|variable| variable == name) {
            continue;
        }
        for value in [true, false].map(Value::from) {
            let is_known = |known: &Setting| known.variable == name && known.value == value;
            if !all.iter().any(is_known) {
                all.push(Setting {
                    variable: name.to_owned(),
                    value,
                    is_guessed: false,
                });
            }
        }
    }
    all
}

/// Conversations besides those of the suite: contents that are nothing and no text, calls and tools
/// in unusual forms.
#[allow(clippy::indexing_slicing)] // These messages are objects.
fn more() -> Vec<Case> {
    let hi = json!({"role": "user", "content": "Hi"});
    let call = json!({"role": "assistant", "content": "", "tool_calls": [
        {"id": "call00001", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]});
    let tool = json!({"type": "function", "function": {
        "name": "f", "description": "Does f.", "parameters": {
            "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}});
    let contents = [
        ("null", json!(null)),
        ("zero", json!(0)),
        ("false", json!(false)),
        ("empty-list", json!([])),
    ];
    let mut all = Vec::new();
    for (word, content) in contents {
        for role in ["system", "user", "assistant", "tool"] {
            let mut message = json!({"role": role, "content": content});
            let messages = match role {
                "system" => vec![message, hi.clone()],
                "user" => vec![message],
                "assistant" => vec![hi.clone(), message, hi.clone()],
                _ => {
                    message["tool_call_id"] = "call00001".into();
                    message["name"] = "f".into();
                    vec![hi.clone(), call.clone(), message]
                }
            };
            let mut case = case(&format!("{role}-{word}"), messages);
            if role == "tool" {
                case.tools = Some(vec![tool.clone()]);
            }
            all.push(case);
        }
    }
    for (word, arguments) in [
        ("empty", json!("")),
        ("null", json!(null)),
        ("in-words", json!("ping")),
        ("cut-off", json!("{\"a\": ")),
    ] {
        let mut called = call.clone();
        called["tool_calls"][0]["function"]["arguments"] = arguments;
        let mut case = case(&format!("arguments-{word}"), vec![hi.clone(), called]);
        case.tools = Some(vec![tool.clone()]);
        all.push(case);
    }
    for (word, part) in [
        ("null", json!({"type": "text", "text": null})),
        ("absent", json!({"type": "text"})),
        ("number", json!({"type": "text", "text": 1})),
    ] {
        let part = json!({"role": "user", "content": [part]});
        all.push(case(&format!("part-text-{word}"), vec![part]));
    }
    let mut texts = case("tools-as-texts", vec![hi.clone()]);
    texts.tools = Some(vec![json!("f"), json!("g")]);
    all.push(texts);
    let mut defaults = case("defaults-of-all-types", vec![hi.clone()]);
    let parameter =
        |default: Value| json!({"type": "string", "description": "It.", "default": default});
    defaults.tools = Some(vec![json!({"type": "function", "function": {
        "name": "f", "description": "Does f.", "parameters": {"type": "object", "properties": {
            "a": parameter(json!(true)), "b": parameter(json!(false)), "c": parameter(json!(null)),
            "d": parameter(json!(0.5)), "e": parameter(json!("true")),
            "f": parameter(json!(["x"])), "g": parameter(json!({"x": true}))}}}})]);
    all.push(defaults);
    let mut other_order = call.clone();
    let function = &mut other_order["tool_calls"][0]["function"];
    *function = json!({"arguments": "{\"a\": 1}", "name": "f", "strict": true});
    let mut other_order = case("arguments-before-the-name", vec![hi, other_order]);
    other_order.tools = Some(vec![tool]);
    all.push(other_order);
    all
}

fn case(name: &str, messages: Vec<Value>) -> Case {
    case_named("beside", name, messages)
}

fn case_named(family: &str, name: &str, messages: Vec<Value>) -> Case {
    Case {
        id: CaseId::new(family, name),
        ..Case::from_messages(messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::examine;
    use rolecall_core::Dialect;
    use rolecall_jinja::JinjaEngine;

    fn names(source: &str) -> Vec<String> {
        let template = Template::from_source("t", Dialect::Jinja, source);
        let card = examine(&JinjaEngine::new(), &template);
        let asked = conversations(&[], &template, &card);
        let [_, switched] = asked.parts();
        assert!(
            switched
                .iter()
                .all(|asked| !asked.case.variables.is_empty())
        );
        asked.all.into_iter().map(|asked| asked.name).collect()
    }

    const CHAT: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";

    #[test]
    fn every_switch_is_asked_for_alone() {
        let all = names(&format!(
            "{CHAT}{{% if effort == 'low' %}}L{{% endif %}}{{% if thinking %}}T{{% endif %}}\
             {{% if add_generation_prompt %}}A{{% endif %}}"
        ));
        for name in [
            "beside/user-zero",
            "beside/user-zero without a generation prompt",
            "beside/user-zero with effort=\"low\"",
            "beside/user-zero with thinking=true",
            "beside/user-zero with thinking=false",
            "beside/user-null without a front",
            "beside/user-null without a generation prompt with thinking=true without a front",
        ] {
            assert!(all.iter().any(|known| known == name), "{name} in {all:#?}");
        }
        // The front hands on all values but null.
        assert!(!all.contains(&"beside/user-zero without a front".to_owned()));
        assert!(!all.iter().any(|name| name.contains("enable_thinking")));
    }

    #[test]
    fn switches_that_the_template_does_not_read_are_not_tried() {
        assert!(names(CHAT).iter().all(|name| !name.contains('=')));
    }
}
