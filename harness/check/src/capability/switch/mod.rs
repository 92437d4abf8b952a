//! Switches: the variables that a template reads and that change a prompt, such as
//! `enable_thinking`. A server hands them to the template, and a user may set them.
//!
//! A value is tried if the template can tell it from others: true and false, the texts with which
//! the source compares the variable, and what applications are known to set.

mod effect;
pub(crate) mod values;

use rolecall_core::Dialect;
use serde::Serialize;
use serde_json::Value;

use crate::probe::catalogue::{CALL_TURN_USER, REASONED_CALL, REASONED_USER, TOOLS, USER};
use crate::probe::{Probe, Prober, Setting};

/// A variable that changes prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// The value that gives the prompts of a user who sets nothing. None if no value that was tried
    /// does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The values that change a prompt.
    pub values: Vec<SwitchValue>,
}

/// A value of a switch that changes a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwitchValue {
    /// The value.
    pub value: Value,
    /// What it changes, in a line.
    pub effect: String,
    /// Whether the template refuses it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub is_refused: bool,
    /// The conversation in which it does.
    pub probe: &'static str,
}

/// Conversations that reach what switches change, the simplest first.
const PROBES: [Probe; 5] = [USER, REASONED_USER, TOOLS, REASONED_CALL, CALL_TURN_USER];

/// The most switches of a template. A stranger's template may read thousands of names.
const MOST: usize = 24;

/// Finds the switches of a template.
pub(crate) fn find(prober: &Prober<'_>, variables: &[String]) -> Vec<Switch> {
    if prober.is_unread() || prober.see(USER).is_refused() {
        return Vec::new();
    }
    let names: Vec<&str> = match prober.dialect() {
        Dialect::Jinja => variables.iter().map(String::as_str).collect(),
        // Ollama hands templates nothing else that a user sets and that is no message.
        Dialect::Go if variables.iter().any(|name| THINK.contains(&name.as_str())) => {
            vec!["think"]
        }
        Dialect::Go => Vec::new(),
    };
    let names = names.into_iter().take(MOST);
    names.filter_map(|name| switch(prober, name)).collect()
}

/// The fields of the root of Ollama's templates that its `think` sets.
const THINK: [&str; 3] = ["Think", "ThinkLevel", "IsThinkSet"];

fn switch(prober: &Prober<'_>, name: &str) -> Option<Switch> {
    let mut default = None;
    let mut values = Vec::new();
    let mut tried = values::tried(prober.source_without_comments(), prober.dialect(), name);
    if tried == values::YES_AND_NO && is_printed(prober, name) {
        tried = vec![Value::from(TEXT)];
    }
    for value in tried {
        let setting = Setting {
            name: name.to_owned(),
            value: value.clone(),
        };
        let set = prober.with_setting(&setting);
        let seen = PROBES.iter().find_map(|probe| {
            let (usual, set) = (prober.see(*probe), set.see(*probe));
            usual.text()?;
            (set.outcome != usual.outcome).then_some((usual, set))
        });
        match seen {
            Some((usual, set)) => match effect::effect(&usual, &set) {
                // What is no value for this variable gives errors of the engine.
                None => {}
                Some(effect) => values.push(SwitchValue {
                    value,
                    effect,
                    is_refused: set.is_refused(),
                    probe: set.probe,
                }),
            },
            None if default.is_none() => default = Some(value),
            None => {}
        }
    }
    // A value that is only refused says nothing of what may be set.
    let is_of_use = values.iter().any(|one| !one.is_refused);
    is_of_use.then(|| Switch {
        name: name.to_owned(),
        default,
        values,
    })
}

/// A text for a variable that the template prints.
const TEXT: &str = "setquill";

/// Whether a template prints the value of a variable: then its value is a text, not true or false.
fn is_printed(prober: &Prober<'_>, name: &str) -> bool {
    let set = prober.with_setting(&Setting {
        name: name.to_owned(),
        value: Value::from(TEXT),
    });
    PROBES.iter().any(|probe| set.see(*probe).has(TEXT))
}

/// Words in the names of the variables that users should set. Others are for those who make models,
/// such as `is_training`.
const FOR_USERS: [&str; 10] = [
    "think", "reason", "effort", "date", "tools", "citation", "document", "system", "identity",
    "safety",
];

/// What a request may ask for one answer. It does not stay when the conversation goes on.
const FOR_ONE_ANSWER: [&str; 2] = ["response_format", "tool_choice"];

impl Switch {
    /// Whether it is about thinking.
    pub(crate) fn is_for_thinking(&self) -> bool {
        ["think", "reason"]
            .iter()
            .any(|word| self.name.contains(word))
    }

    /// Whether its name says that the model thinks if it is true.
    pub(crate) fn turns_thinking_on(&self) -> bool {
        const NAMES: [&str; 6] = [
            "enable_thinking",
            "thinking",
            "think",
            "enable_reasoning",
            "reasoning",
            "use_thinking",
        ];
        NAMES.contains(&self.name.as_str()) && self.values.iter().any(|one| one.value.is_boolean())
    }

    /// Whether users set it for a whole conversation.
    pub(crate) fn is_for_users(&self) -> bool {
        FOR_USERS.iter().any(|word| self.name.contains(word))
            && !self.name.contains("training")
            && !FOR_ONE_ANSWER.contains(&self.name.as_str())
    }

    /// The settings that give prompts, and other ones than a user gets who sets nothing. What a user
    /// may choose freely, such as a date, changes only itself.
    pub(crate) fn settings(&self) -> impl Iterator<Item = Setting> {
        let is_free =
            values::is_free(&self.name) || self.values.iter().any(|one| one.value == TEXT);
        self.all_settings()
            .filter(move |setting| !is_free && !self.takes_tools_away(&setting.value))
    }

    /// Whether a value says that there are no tools: of a variable that lists them, or that says
    /// whether they are used.
    fn takes_tools_away(&self, value: &Value) -> bool {
        let is_nothing = match value {
            Value::Null | Value::Bool(false) => true,
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        self.name.ends_with("tools") && is_nothing
    }

    /// The settings that give other prompts than a user gets who sets nothing.
    pub(crate) fn all_settings(&self) -> impl Iterator<Item = Setting> {
        let values = self.values.iter();
        let values = values.filter(|value| !value.is_refused);
        values.map(|value| Setting {
            name: self.name.clone(),
            value: value.value.clone(),
        })
    }
}

/// A template under each setting of its switches that gives prompts.
pub(crate) fn set<'a, 't: 'a>(
    switches: &'a [Switch],
    prober: &'a Prober<'t>,
) -> impl Iterator<Item = Prober<'t>> + 'a {
    let settings = switches.iter().flat_map(Switch::settings);
    settings.map(|setting| prober.with_setting(&setting))
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Dialect, Template};
    use rolecall_front::engines::Engines;

    use serde_json::json;

    use super::*;
    use crate::probe::ProbeInputs;

    fn switches(source: &str) -> Vec<Switch> {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let template = Template::from_source("t", Dialect::Jinja, source);
        let inputs = ProbeInputs::default();
        let prober = Prober::new(engine, &template, &inputs);
        crate::capability::explore(&prober).switches
    }

    const CHAT: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";

    #[test]
    fn a_switch_has_a_default_and_says_what_it_does() {
        let found = switches(&format!(
            "{CHAT}{{% if add_generation_prompt %}}<model>{{% if enable_thinking is defined and \
             not enable_thinking %}}<think></think>{{% endif %}}{{% endif %}}"
        ));
        assert_eq!(
            found,
            [Switch {
                name: "enable_thinking".to_owned(),
                default: Some(json!(true)),
                values: vec![SwitchValue {
                    value: json!(false),
                    effect: "`<think></think>` is added at the end".to_owned(),
                    is_refused: false,
                    probe: "user",
                }],
            }]
        );
    }

    #[test]
    fn no_contract_is_judged_where_a_user_takes_the_tools_away() {
        let source = format!(
            "{{% if tools and (use_tools is not defined or use_tools) %}}{{{{ tools | tojson }}}}\
             {{% endif %}}{CHAT}"
        );
        let found = switches(&source);
        let [switch] = found.as_slice() else {
            panic!("{found:?}");
        };
        let is_nothing = |value: &Value| *value == json!(false);
        assert!(switch.values.iter().any(|one| is_nothing(&one.value)));
        assert!(!switch.settings().any(|setting| is_nothing(&setting.value)));
    }

    #[test]
    fn literals_are_tried_through_other_names() {
        let found = switches(&format!(
            "{{% set effort = reasoning_mode | default('mid') %}}{{% if effort == 'mid' %}}M\
             {{% elif effort in ['deep', \"quick\"] %}}{{{{ effort }}}}{{% endif %}}{CHAT}"
        ));
        let [switch] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(switch.default, Some(json!("mid")));
        let values: Vec<_> = switch.values.iter().map(|one| &one.value).collect();
        assert_eq!(values, [&json!("deep"), &json!("quick")]);
        assert_eq!(
            switch.values[0].effect,
            "`deep` instead of `M` at the beginning"
        );
    }

    #[test]
    fn what_changes_nothing_is_no_switch() {
        assert_eq!(switches(CHAT), []);
        assert_eq!(
            switches(&format!("{{% if verbose %}}{{% endif %}}{CHAT}")),
            []
        );
        assert_eq!(switches(&format!("{{{{ bos_token }}}}{CHAT}")), []);
    }
}
