#![doc = include_str!("../README.md")]
//!
//! gotmpl parses the template. This crate executes the tree itself, because the output depends on
//! the Go types of values, and gotmpl's executor does not know them. A program owns everything that
//! it needs, and several threads may render with it. The caller provides the stack and catches
//! panics; `rolecall_core::guard` has a wrapper for both.
//!
//! The modules are listed in the order in which they build on each other; each one uses
//! only those above it.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod error;

// The values of a render, where they come from, and the limits.
mod values;

mod trace;

mod meter;

// Values as Go's packages write them.
mod base64_text;
mod quote;

mod json;

mod format;

mod printf;

// A case in Ollama's values, read as Go reads JSON.
mod unmarshal;

mod think;
mod tools;

mod message;

mod collate;

// Go's checks before a template runs, and its execution.
mod places;
mod scanner;

mod constructs;
mod words;

// Small changes of a template.
mod mutation;

// The text of an answer.
pub mod answer;

mod abilities;

// Ollama's endpoints, which prepare a conversation.
mod harmony;

pub mod endpoint;

mod functions;

// Templates that do not read the messages.
mod legacy;

// What a render reaches.
mod sites;

// Where the bytes of a prompt come from.
mod provenance;

mod exec;
mod parse_checks;
mod root_fields;
mod unknown;

// The data of a template for engines in other programs.
mod data;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use gotmpl::TemplateError;
use gotmpl::parse::{ListNode, Parser, SmolStr};
use serde_json::Value as Json;

#[cfg(feature = "guard")]
pub use rolecall_core::guard;
pub use rolecall_core::provenance::{Input, InputKind, Origin, Span};
pub use rolecall_core::{
    Case, Conversation, Decisions, Dialect, Engine, Hits, Limit, Limits, Moment, Mutation,
    MutationKind, Observer, OllamaSetup, Outcome, Program, Refusal, Site, Stage, Template,
    UnknownName, Variable, Wanted, Words,
};

pub use abilities::Abilities;
pub use constructs::constructs;
pub use data::TemplateData;
pub use words::words;

use answer::{CallTag, Reading, ThinkingTags};
use collate::CollatedCase;
use error::Error;
use exec::{Execution, Surroundings};
use meter::{Meter, Output};
use provenance::LiteralCollector;
use scanner::Marks;
use sites::{SiteRecorder, Sites};
use think::Think;
use trace::{KnownTexts, Trace};
use values::{Root, Roots, Text, Value};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version of gotmpl, which makes the syntax tree.
const GOTMPL: &str = "0.6.1";

/// The engine for Go templates: gotmpl with Ollama's semantics.
#[derive(Debug, Clone, Default)]
pub struct GoEngine {
    limits: Limits,
}

/// A compiled Go template.
pub struct GoProgram {
    limits: Limits,
    root: ListNode,
    marks: Marks,
    style: Style,
    defines: HashMap<SmolStr, ListNode>,
    variables: HashMap<String, Json>,
    /// The text of the template.
    source: String,
    /// The places that a render can reach; the first use collects them.
    sites: OnceLock<Sites>,
    /// The texts of the template, each with its place; the first use collects them.
    literals: OnceLock<Arc<KnownTexts>>,
}

/// What an observer wants of a render.
struct Watched<'p> {
    recorder: Option<SiteRecorder<'p>>,
    trace: Option<Box<Trace>>,
    /// The spans of the prompt, if there is one.
    spans: Option<Vec<Span>>,
    /// What the decisions of the render looked at.
    decisions: Option<Decisions>,
}

/// How Ollama executes a template.
enum Style {
    Messages,
    /// Turn by turn. The tree is for the last turn; without a tree Ollama panics.
    Legacy(Option<ListNode>),
}

impl GoEngine {
    /// Makes the engine with the default limits.
    pub fn new() -> GoEngine {
        GoEngine::default()
    }

    /// Makes the engine with these limits.
    pub fn with_limits(limits: Limits) -> GoEngine {
        GoEngine { limits }
    }

    /// Compiles a template: see [`Engine::compile`].
    pub fn program(&self, template: &Template) -> Result<GoProgram, Refusal> {
        // The template's own setting for thinking. The case's setting wins.
        let variables = template.variables.iter();
        let variables = variables.filter_map(|(name, variable)| match variable {
            Variable::Value(value) => Some((name.clone(), value.clone())),
            Variable::ToolsJson { .. } => None,
        });
        self.load(&template.source, variables.collect())
            .map_err(|error| error.refusal(Stage::Parse))
    }

    fn load(&self, source: &str, variables: HashMap<String, Json>) -> Result<GoProgram, Error> {
        let prepared = scanner::prepare(source)?;
        let (mut root, defines) = Parser::new(&prepared.source, "{{", "}}")
            .and_then(Parser::parse)
            .map_err(|error| parse_error(&error))?;
        // An error at the very end belongs to the last line.
        let last = 1 + source.bytes().filter(|b| *b == b'\n').count();
        let checked = parse_checks::check(&mut root, defines).map_err(|error| error.at(last))?;
        let knows = |name: &str| checked.names.contains(name);
        let style = if knows("messages") {
            Style::Messages
        } else {
            if !knows("response") {
                root.nodes.push(legacy::response(root.pos.line));
            }
            Style::Legacy(legacy::cut(&root))
        };
        Ok(GoProgram {
            limits: self.limits.clone(),
            root,
            marks: prepared.marks,
            style,
            defines: checked.defines,
            variables,
            source: source.to_owned(),
            sites: OnceLock::new(),
            literals: OnceLock::new(),
        })
    }
}

fn parse_error(error: &TemplateError) -> Error {
    match error {
        TemplateError::Parse { message, line, .. } | TemplateError::Lex { message, line, .. } => {
            if message.contains("nesting depth exceeded") {
                Error::Limit(Limit::Recursion)
            } else {
                Error::new(message.clone()).at(*line)
            }
        }
        other => Error::new(other.to_string()),
    }
}

impl Engine for GoEngine {
    fn name(&self) -> &'static str {
        "rolecall-go"
    }

    fn version(&self) -> &str {
        VERSION
    }

    fn components(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("gotmpl".to_owned(), GOTMPL.to_owned())])
    }

    fn description(&self) -> String {
        format!("rolecall-go {VERSION} (gotmpl {GOTMPL}) with Ollama's semantics")
    }

    fn dialect(&self) -> Dialect {
        Dialect::Go
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        self.program(template)
            .map(|program| Box::new(program) as Box<dyn Program>)
    }

    fn mutations(&self, template: &Template) -> Option<Vec<Mutation>> {
        mutation::mutations(&template.source)
    }

    fn column_of_refusal(&self, template: &Template) -> Option<usize> {
        self.load(&template.source, HashMap::new()).err()?.column()
    }
}

impl Program for GoProgram {
    fn render_with(&self, conversation: &Conversation<'_>, observer: &mut Observer) -> Outcome {
        match self.roots(conversation) {
            Ok(roots) => self.render_roots(conversation, &roots, observer),
            Err(refusal) => refusal,
        }
    }

    fn within(&self, limits: &Limits) -> Option<Box<dyn Program>> {
        let engine = GoEngine::with_limits(limits.clone());
        let program = engine.load(&self.source, self.variables.clone()).ok()?;
        Some(Box::new(program))
    }

    fn sites(&self) -> Option<Vec<Site>> {
        Some(self.own_sites().list.clone())
    }

    fn variables(&self) -> BTreeSet<String> {
        root_fields::root_fields(&self.root)
    }

    fn unknown_names(&self) -> Option<Vec<UnknownName>> {
        Some(unknown::names(&self.root))
    }
}

impl GoProgram {
    /// The data that Ollama executes the template with for a conversation, as JSON. It is for
    /// engines that only execute templates.
    ///
    /// # Errors
    ///
    /// Ollama refuses the conversation, at the stage `input`, or the data exceeds a limit.
    pub fn data(&self, conversation: &Conversation<'_>) -> Result<TemplateData, Refusal> {
        let roots = self.roots(conversation)?;
        data::template_data(&roots, &self.limits).map_err(|error| error.refusal(Stage::Input))
    }

    /// The text that Ollama takes for the beginning of a call.
    pub fn call_tag(&self) -> CallTag {
        CallTag::of(&self.root, &self.marks)
    }

    /// The texts that Ollama takes for the beginning and the end of reasoning.
    pub fn thinking_tags(&self) -> ThinkingTags {
        ThinkingTags::of(&self.root, &self.marks)
    }

    /// Begins to read the text of an answer, as Ollama's chat endpoint does.
    ///
    /// `tools` are the tools of the request; without any, Ollama looks for no calls. `think` is the
    /// request's setting: without one, a model that can think does. `prompt` is the prompt that the
    /// model answers. If it ends with the opening tag, the answer begins with reasoning.
    ///
    /// ```
    /// use rolecall_go::{Dialect, GoEngine, Template};
    /// use serde_json::json;
    ///
    /// # fn main() -> Result<(), rolecall_go::Refusal> {
    /// let source = "{{ range .Messages }}{{ if .ToolCalls }}<call>{{ end }}{{ end }}";
    /// let program = GoEngine::new().program(&Template::from_source("t", Dialect::Go, source))?;
    /// let tools = [json!({"type": "function", "function": {"name": "add"}})];
    /// let mut reading = program.reading(&tools, None, "")?;
    /// reading.add("Wait. ")?;
    /// reading.add(r#"<call>{"name": "add", "arguments": {"a": 1}}"#)?;
    /// let (_, answer) = reading.end()?;
    /// assert_eq!(answer.content, "Wait. ");
    /// assert_eq!(answer.calls[0].arguments["a"], json!(1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Ollama refuses the tools, at the stage `input`, or a limit runs out.
    pub fn reading(
        &self,
        tools: &[Json],
        think: Option<bool>,
        prompt: &str,
    ) -> Result<Reading, Refusal> {
        let names = tools::names(tools).map_err(|error| error.refusal(Stage::Input))?;
        Reading::begin(
            self.thinking_tags(),
            self.call_tag(),
            names,
            think,
            prompt,
            &self.limits,
        )
        .map_err(|error| error.refusal(Stage::Parse))
    }

    /// The places that a render can reach. The first call prepares the source once more.
    fn own_sites(&self) -> &Sites {
        self.sites.get_or_init(|| {
            let places = scanner::prepare(&self.source).map(|prepared| prepared.places);
            let places = places.unwrap_or_default();
            Sites::of(&self.root, &self.defines, (&self.marks, &places))
        })
    }

    /// The texts of the template, each with its place. The first call prepares the source once
    /// more.
    fn own_literals(&self) -> Arc<KnownTexts> {
        let literals = self.literals.get_or_init(|| {
            let mut collector = LiteralCollector::of(&self.source);
            collector.list(&self.root);
            for body in self.defines.values() {
                collector.list(body);
            }
            Arc::new(collector.into_texts())
        });
        Arc::clone(literals)
    }

    /// Begins to trace a render.
    fn trace(&self, conversation: &Conversation<'_>, roots: &Roots) -> Trace {
        let mut trace = Trace::new(self.own_literals());
        let case = conversation.case();
        let variable = Think::variable(|name| self.variable(case, name));
        let form = conversation.form(CollatedCase::new);
        if let Ok(form) = form.as_ref() {
            let thinking = variable.map(|name| (name, self.variable(case, name)));
            provenance::add_inputs(&mut trace, case, form, roots, thinking);
        }
        trace
    }

    fn render_roots(
        &self,
        conversation: &Conversation<'_>,
        roots: &Roots,
        observer: &mut Observer,
    ) -> Outcome {
        let mut watched = Watched {
            recorder: observer
                .wants(Wanted::Hits)
                .then(|| SiteRecorder::new(self.own_sites())),
            trace: (observer.wants(Wanted::Spans) || observer.wants(Wanted::Decisions))
                .then(|| Box::new(self.trace(conversation, roots))),
            spans: None,
            decisions: None,
        };
        if observer.wants(Wanted::Decisions)
            && let Some(trace) = &mut watched.trace
        {
            trace.decisions = Some(Box::default());
        }
        let rendered = self.run(conversation.case(), roots, &mut watched);
        observer.hits = watched.recorder.map(SiteRecorder::into_hits);
        observer.decisions = watched.decisions;
        if rendered.is_ok() && observer.wants(Wanted::Spans) {
            observer.spans = watched.spans;
        }
        rendered
            .map_err(|error| error.refusal(Stage::Render))
            .into()
    }

    /// A variable of the case, or else of the template.
    fn variable<'v>(&'v self, case: &'v Case, name: &str) -> Option<&'v Json> {
        let said = case.variables.get(name);
        said.or_else(|| self.variables.get(name))
    }

    /// The values that the template is executed with.
    fn roots(&self, conversation: &Conversation<'_>) -> Result<Roots, Refusal> {
        let case = conversation.case();
        let refused = |error: Error| error.refusal(Stage::Input);
        let form = conversation.form(CollatedCase::new);
        let form = form
            .as_ref()
            .as_ref()
            .map_err(|error| refused(error.clone()))?;
        let think = Think::read(|name| self.variable(case, name)).map_err(refused)?;
        Ok(match &self.style {
            Style::Messages => {
                let fields = [
                    ("System", form.system.clone()),
                    ("Messages", form.messages.clone()),
                    ("Tools", form.tools.clone()),
                    ("Response", Value::text("")),
                ];
                Roots::Messages(root(fields, think))
            }
            Style::Legacy(_) => {
                let (full, last) = legacy::turns(form);
                let of_turn = |turn: legacy::LegacyTurn| {
                    let fields = [
                        ("System", Value::Text(turn.system)),
                        ("Prompt", Value::Text(turn.prompt)),
                        ("Response", Value::Text(turn.response)),
                    ];
                    root(fields, think)
                };
                Roots::Turns {
                    full: full.into_iter().map(of_turn).collect(),
                    last: of_turn(last),
                }
            }
        })
    }

    fn run<'p>(
        &'p self,
        case: &Case,
        roots: &Roots,
        watched: &mut Watched<'p>,
    ) -> Result<String, Error> {
        let mut meter = Meter::new(&self.limits);
        meter.trace = watched.trace.take();
        let mut execution = Execution::new(&self.defines, case.now, meter);
        execution.recorder = watched.recorder.take();
        execution.sites = execution.meter.trace.as_ref().map(|_| self.own_sites());
        let rendered = self.execute(&mut execution, roots);
        watched.recorder = execution.recorder.take();
        let trace = execution.meter.trace.take();
        watched.decisions = trace.and_then(|trace| trace.into_decisions());
        rendered?;
        let Output { bytes, pieces } = execution.out;
        let spans = pieces.map(|pieces| provenance::of_prompt(*pieces, &bytes));
        let text = exec::text(bytes, &mut execution.meter)?;
        if text.len() > self.limits.prompt {
            return Err(Error::Limit(Limit::Output));
        }
        watched.spans = spans;
        Ok(text)
    }

    fn execute<'p>(&'p self, execution: &mut Execution<'p>, roots: &Roots) -> Result<(), Error> {
        match roots {
            Roots::Messages(root) => execution.execute(&self.root, root)?,
            Roots::Turns { full, last } => {
                for root in full {
                    execution.execute(&self.root, root)?;
                }
                let Style::Legacy(Some(cut)) = &self.style else {
                    return Err(Error::new(
                        "panic: interface conversion: parse.Node is nil, not *parse.ListNode",
                    ));
                };
                execution.surroundings = Surroundings::Bare;
                execution.execute(cut, last)?;
            }
        }
        Ok(())
    }
}

fn root(fields: impl IntoIterator<Item = (&'static str, Value)>, think: Think) -> Root {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_is_pinned() {
        let manifest = include_str!("../../../Cargo.toml");
        assert!(manifest.contains(&format!("gotmpl = \"={GOTMPL}\"")));
    }
}
