//! The engine for the `go` dialect: gotmpl's syntax tree, with the semantics that
//! Ollama 0.14 and later give to Go's text/template.
//!
//! gotmpl parses; its own executor has values that do not know their Go type, and what
//! a template prints depends on that type. So the tree is executed here:
//!
//! - `source` and `check` refuse what Go refuses before a template runs,
//! - `message`, `tools`, `think` and `collate` turn a case into Ollama's values,
//!   reading JSON as Go does (`read`, `base64`),
//! - `exec` and `functions` run a tree over those `values`; `legacy` is for templates
//!   that know no messages,
//! - `format`, `printf`, `json` and `quote` write values as Go's packages do,
//! - `reads` finds the fields of the root that a template reads,
//! - `meter` counts what is left of the limits, and `refusal` says why it ended.

mod base64;
mod check;
mod collate;
mod exec;
mod format;
mod functions;
mod json;
mod legacy;
mod message;
mod meter;
mod printf;
mod quote;
mod read;
mod reads;
mod refusal;
mod source;
mod think;
mod tools;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use gotmpl::TemplateError;
use gotmpl::parse::{ListNode, Parser, SmolStr};
use serde_json::Value as Json;

use crate::case::Case;
use crate::engine::limits::Limits;
use crate::engine::{Conversation, Engine, Program};
use crate::outcome::{Limit, Outcome, Stage};
use crate::template::{Dialect, Template, Variable};

use collate::Form;
use exec::{Execution, Surroundings};
use meter::Meter;
use refusal::Refusal;
use think::Think;
use values::{Text, Value};

/// gotmpl with Ollama's semantics: the harness's engine for Go templates.
#[derive(Debug, Clone, Default)]
pub struct Gotmpl {
    limits: Limits,
}

impl Gotmpl {
    /// With the default limits.
    pub fn new() -> Gotmpl {
        Gotmpl::default()
    }

    /// With limits of one's own.
    pub fn with_limits(limits: Limits) -> Gotmpl {
        Gotmpl { limits }
    }

    fn load(&self, template: &Template) -> Result<Compiled, Refusal> {
        let prepared = source::prepare(&template.source)?;
        let (mut root, defines) = Parser::new(&prepared, "{{", "}}")
            .and_then(Parser::parse)
            .map_err(|error| parse_refusal(&error))?;
        let checked = check::check(&root, defines)?;
        let knows = |name: &str| checked.names.contains(name);
        let style = if knows("messages") {
            Style::Messages
        } else {
            if !knows("response") {
                root.nodes.push(legacy::response(root.pos));
            }
            Style::Legacy(legacy::cut(&root))
        };
        // What the template itself says about thinking; the case's word comes first.
        let variables = template
            .variables
            .iter()
            .filter_map(|(name, variable)| match variable {
                Variable::Value(value) => Some((name.clone(), value.clone())),
                Variable::ToolsJson { .. } => None,
            })
            .collect();
        Ok(Compiled {
            limits: self.limits.clone(),
            root,
            style,
            defines: checked.defines,
            variables,
        })
    }
}

fn parse_refusal(error: &TemplateError) -> Refusal {
    match error {
        TemplateError::Parse { message, line, .. } | TemplateError::Lex { message, line, .. } => {
            if message.contains("nesting depth exceeded") {
                Refusal::Limit(Limit::Recursion)
            } else {
                Refusal::new(message.clone()).at(*line)
            }
        }
        other => Refusal::new(other.to_string()),
    }
}

impl Engine for Gotmpl {
    fn name(&self) -> &'static str {
        "gotmpl"
    }

    fn description(&self) -> String {
        "gotmpl 0.6.1 with Ollama's semantics".to_owned()
    }

    fn dialect(&self) -> Dialect {
        Dialect::Go
    }

    fn compile<'e>(&'e self, template: &Template) -> Result<Box<dyn Program + 'e>, Outcome> {
        match self.load(template) {
            Ok(program) => Ok(Box::new(program)),
            Err(refusal) => Err(refusal.outcome(Stage::Parse)),
        }
    }
}

/// A template that is ready to run.
struct Compiled {
    limits: Limits,
    root: ListNode,
    style: Style,
    defines: HashMap<SmolStr, ListNode>,
    variables: HashMap<String, Json>,
}

/// What a template wants to see.
enum Style {
    /// All messages at once.
    Messages,
    /// Turn by turn. The tree is for the last turn; without one Ollama panics.
    Legacy(Option<ListNode>),
}

impl Program for Compiled {
    fn render(&self, conversation: &Conversation<'_>) -> Outcome {
        let case = conversation.case();
        let form = conversation.form(Dialect::Go, Form::new);
        let form = match &*form {
            Ok(form) => form,
            Err(refusal) => return refusal.clone().outcome(Stage::Input),
        };
        let think = Think::read(|name| {
            let said = case.variables.get(name);
            said.or_else(|| self.variables.get(name))
        });
        let think = match think {
            Ok(think) => think,
            Err(refusal) => return refusal.outcome(Stage::Input),
        };
        match self.run(case, form, think) {
            Ok(text) => Outcome::Rendered { text },
            Err(refusal) => refusal.outcome(Stage::Render),
        }
    }

    fn variables(&self) -> BTreeSet<String> {
        reads::root_fields(&self.root)
    }
}

impl Compiled {
    fn run(&self, case: &Case, form: &Form, think: Think) -> Result<String, Refusal> {
        let meter = Meter::new(&self.limits);
        let mut execution = Execution::new(&self.defines, case.now, meter);
        match &self.style {
            Style::Messages => {
                let fields = [
                    ("System", form.system.clone()),
                    ("Messages", form.messages.clone()),
                    ("Tools", form.tools.clone()),
                    ("Response", Value::text("")),
                ];
                execution.execute(&self.root, &root(fields, think))?;
            }
            Style::Legacy(cut) => {
                let (full, last) = legacy::turns(form);
                let fields = |turn: legacy::Turn| {
                    [
                        ("System", Value::Text(turn.system)),
                        ("Prompt", Value::Text(turn.prompt)),
                        ("Response", Value::Text(turn.response)),
                    ]
                };
                for turn in full {
                    execution.execute(&self.root, &root(fields(turn), think))?;
                }
                let Some(cut) = cut else {
                    return Err(Refusal::new(
                        "panic: interface conversion: parse.Node is nil, not *parse.ListNode",
                    ));
                };
                execution.surroundings = Surroundings::Bare;
                execution.execute(cut, &root(fields(last), think))?;
            }
        }
        let text = exec::text(execution.out, &mut execution.meter)?;
        if text.len() > self.limits.prompt {
            return Err(Refusal::Limit(Limit::Output));
        }
        Ok(text)
    }
}

fn root(
    fields: impl IntoIterator<Item = (&'static str, Value)>,
    think: Think,
) -> Arc<BTreeMap<Text, Value>> {
    let thinking = [
        ("Think", Value::Bool(think.on)),
        ("ThinkLevel", Value::text(think.level)),
        ("IsThinkSet", Value::Bool(think.is_set)),
    ];
    let fields = fields.into_iter().chain(thinking);
    Arc::new(
        fields
            .map(|(name, value)| (Text::from(name.as_bytes()), value))
            .collect(),
    )
}
