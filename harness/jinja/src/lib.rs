#![doc = include_str!("../README.md")]
//!
//! The engine compiles a template once. The program owns everything that it needs. Keep it in a
//! struct or share it between threads; dropping it frees its memory.
//!
//! ```
//! use std::thread;
//!
//! use rolecall_jinja::{Case, Dialect, JinjaProgram, JinjaEngine, Program, Refusal, Template};
//! use serde_json::json;
//!
//! struct Model {
//!     chat: JinjaProgram,
//! }
//!
//! # fn main() -> Result<(), Refusal> {
//! let source = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}\
//!               {{ '<assistant>' if add_generation_prompt }}";
//! let template = Template::from_source("tags", Dialect::Jinja, source)
//!     .with_special_token("bos_token", "<s>");
//! let model = Model {
//!     chat: JinjaEngine::new().program(&template)?,
//! };
//!
//! let case = Case::from_messages(vec![json!({"role": "user", "content": " Hi "})]);
//! assert_eq!(model.chat.prompt(&case)?, "<user>Hi<assistant>");
//!
//! let prompts = thread::scope(|scope| {
//!     let threads = [1, 2].map(|_| scope.spawn(|| model.chat.prompt(&case)));
//!     threads.map(|thread| thread.join().expect("a render does not panic"))
//! });
//! assert_eq!(prompts[0], prompts[1]);
//! # Ok(())
//! # }
//! ```
//!
//! A render without a prompt says why, and who is to blame:
//!
//! ```
//! use rolecall_jinja::{Case, Dialect, Limit, Limits, JinjaEngine, Program, Refusal, Template};
//!
//! let limits = Limits { fuel: 10_000, ..Limits::default() };
//! let engine = JinjaEngine::with_limits(limits);
//! let prompt = |source: &str| {
//!     let template = Template::from_source("t", Dialect::Jinja, source);
//!     engine.program(&template)?.prompt(&Case::from_messages(vec![]))
//! };
//! assert_eq!(
//!     prompt("{{ raise_exception('No messages') }}"),
//!     Err(Refusal::Raised { message: "No messages".to_owned() })
//! );
//! assert!(matches!(prompt("{% if %}"), Err(Refusal::Failed { line: Some(1), .. })));
//! assert_eq!(
//!     prompt("{% for i in range(99999) %}{{ i }}{% endfor %}"),
//!     Err(Refusal::Exceeded { limit: Limit::Fuel })
//! );
//! ```
//!
//! A render stays within its [`Limits`]. The stack that it needs depends on how deeply a template
//! may nest (see [`Limits::recursion`]). To render templates from strangers, use
//! `rolecall_core::guard`: it provides a large stack and catches panics. Dates come from
//! [`Case::now`], a frozen clock by default.
//!
//! Values are minijinja's; what is done with them is Python's. The modules are listed from the ground
//! up; each one uses only those above it.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

// Objects that a render leaves behind, and marks of the model's own text.
mod generation;
mod release;

// Limits, and the errors of the engine.
mod meter;

// Where texts come from, in a render that is traced.
mod provenance;

mod refusal;

// Python's values: their kinds, their methods, and how they are written.
mod python;

// The variables that a template sees.
mod context;

// The operators of two values.
mod operator;

// What a render reaches.
mod coverage;

// Where the texts of a render come from.
mod explanation;

// What the decisions of a render look at.
mod decisions;

// What looks at the calls of a render that tells more.
mod watch;

// Operators, literals and macros.
mod operators;

// Functions, filters and tests.
mod library;

// The tree of a template that can be rendered, and how it is walked.
mod cells;
mod code;
mod machine;

// The text of a template, its trees, and the variables it expects.
mod compile;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use minijinja::Error;

#[cfg(feature = "guard")]
pub use rolecall_core::guard;
pub use rolecall_core::{
    Case, Conversation, Decisions, Dialect, Engine, Hits, Limit, Limits, Moment, Mutation,
    MutationKind, Observer, Outcome, Program, Refusal, Site, Stage, Template, UnknownName,
    Variable, Wanted, Words,
};

pub use compile::content_loops::ContentLoops;
pub use compile::grammar::constructs::Constructs;
pub use compile::outline::{Body, Outline, Piece, PieceKind};
pub use compile::pitfalls::{Pitfall, PitfallKind};
pub use context::tools_json;

use rolecall_core::provenance::Origin;

use code::Code;
use compile::bindings::Bindings;
use compile::grammar::lexer::normalised;
use compile::{
    content_loops, grammar, inputs, literals, lower, mutation, pitfalls, unknown, words,
};
use provenance::Texts;
use python::undefined;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version of minijinja, on which the engine is.
const MINIJINJA: &str = "3.0.5";

/// The engine for Jinja templates: minijinja with Python's semantics, in transformers' settings.
#[derive(Clone)]
pub struct JinjaEngine {
    limits: Arc<Limits>,
}

/// A compiled Jinja template.
pub struct JinjaProgram {
    limits: Arc<Limits>,
    template: Arc<CompiledTemplate>,
}

/// What is known of a template whatever the limits are.
struct CompiledTemplate {
    /// The source with its newlines normalised.
    source: Arc<str>,
    code: Arc<Code>,
    variables: context::TemplateVariables,
    /// The template's names; the first use collects them.
    reading: OnceLock<TemplateNames>,
    /// The form that tells what a render does; the first use makes it.
    instrumented: OnceLock<Option<Instrumented>>,
    /// Where each byte of the source with normalised newlines, and its end, is in the template's
    /// own source. None if the two agree.
    places: Option<Vec<usize>>,
}

/// The variables of a template and its names without a meaning.
#[derive(Default)]
struct TemplateNames {
    variables: BTreeSet<String>,
    unknown_names: Vec<UnknownName>,
}

/// A template with sites, whose literals are known.
struct Instrumented {
    code: Arc<Code>,
    literals: Arc<Texts>,
    sites: Vec<Site>,
}

impl Default for JinjaEngine {
    fn default() -> JinjaEngine {
        JinjaEngine::new()
    }
}

impl std::fmt::Debug for JinjaEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JinjaEngine")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl JinjaEngine {
    /// With the default limits.
    pub fn new() -> JinjaEngine {
        JinjaEngine::with_limits(Limits::default())
    }

    /// With limits of one's own.
    pub fn with_limits(limits: Limits) -> JinjaEngine {
        JinjaEngine {
            limits: Arc::new(limits),
        }
    }

    /// Compiles a template: see [`Engine::compile`].
    pub fn program(&self, template: &Template) -> Result<JinjaProgram, Refusal> {
        self.compile_source(template)
            .map_err(|error| refusal::refusal(&error, Stage::Parse, None))
    }

    fn compile_source(&self, template: &Template) -> Result<JinjaProgram, Error> {
        let source = normalised(&template.source);
        let places = match source {
            Cow::Borrowed(_) => None,
            Cow::Owned(_) => places(&template.source),
        };
        let source = Arc::from(source);
        let mut code = lower::lower(&grammar::parse(&source)?, false)?.code;
        code.source = Arc::clone(&source);
        Ok(JinjaProgram {
            limits: Arc::clone(&self.limits),
            template: Arc::new(CompiledTemplate {
                source,
                code: Arc::new(code),
                variables: context::TemplateVariables::of(template),
                reading: OnceLock::new(),
                instrumented: OnceLock::new(),
                places,
            }),
        })
    }
}

/// The content of the source of a template.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The texts that are in it: its plain text, and the text constants in it, as transformers
    /// searches them for control tokens.
    pub texts: BTreeSet<String>,
    /// The names that it assigns itself.
    pub assigned: BTreeSet<String>,
    /// The places that do not do what they look like.
    pub pitfalls: Vec<Pitfall>,
    /// The names and the literals in its code.
    pub words: Words,
    /// Its loops over the content of messages.
    pub content_loops: ContentLoops,
}

/// Reads the source of a template. None if it cannot be read.
pub fn read(source: &str) -> Option<Reading> {
    let source = normalised(source);
    let parsed = grammar::parse(&source).ok()?;
    Some(Reading {
        texts: literals::texts(&parsed.template),
        assigned: Bindings::of(&parsed.template).names(),
        pitfalls: pitfalls::pitfalls(&parsed.template),
        words: words::words(&parsed.template),
        content_loops: content_loops::content_loops(&parsed.template),
    })
}

/// Where each byte of a source with normalised newlines, and its end, is in the source itself. None
/// if the two agree.
fn places(source: &str) -> Option<Vec<usize>> {
    if !source.contains('\r') {
        return None;
    }
    let bytes = source.as_bytes();
    // Of the two bytes of a line break, the second one is the normalised one.
    let is_kept = |at: &usize| bytes[*at] != b'\r' || bytes.get(at + 1) != Some(&b'\n');
    let kept = (0..bytes.len()).filter(is_kept);
    Some(kept.chain([bytes.len()]).collect())
}

impl Engine for JinjaEngine {
    fn name(&self) -> &'static str {
        "rolecall-jinja"
    }

    fn version(&self) -> &str {
        VERSION
    }

    fn components(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("minijinja".to_owned(), MINIJINJA.to_owned())])
    }

    fn description(&self) -> String {
        format!("rolecall-jinja {VERSION} (minijinja {MINIJINJA}) with Python's semantics")
    }

    fn dialect(&self) -> Dialect {
        Dialect::Jinja
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        self.program(template)
            .map(|program| Box::new(program) as Box<dyn Program>)
    }

    fn reads_alike(&self, one: &str, other: &str) -> bool {
        normalised(one) == normalised(other)
    }

    fn mutations(&self, template: &Template) -> Option<Vec<Mutation>> {
        let mutations = mutation::mutations(&normalised(&template.source))?;
        let Some(places) = places(&template.source) else {
            return Some(mutations);
        };
        // A line break is changed with both of its bytes.
        let place = |at: usize| {
            let at = places.get(at).copied().unwrap_or(template.source.len());
            let is_second = at > 0 && template.source.get(at - 1..=at) == Some("\r\n");
            at - usize::from(is_second)
        };
        let mutations = mutations.into_iter().map(|mutation| {
            let span = mutation.span();
            mutation.moved_to(place(span.start)..place(span.end))
        });
        Some(mutations.collect())
    }

    fn column_of_refusal(&self, template: &Template) -> Option<usize> {
        let source = normalised(&template.source);
        let error = self.compile_source(template).err()?;
        let before = source.get(..refusal::byte_of(&error)?)?;
        let line = before.rsplit('\n').next()?;
        Some(line.chars().count() + 1)
    }
}

impl Program for JinjaProgram {
    fn render_with(&self, conversation: &Conversation<'_>, observer: &mut Observer) -> Outcome {
        let without = observer.left_out();
        let root = || context::Context::new(&self.template.variables, conversation, without);
        if observer.wants(Wanted::OwnText)
            && let Some((text, spans)) = self.tracked(conversation, root())
        {
            observer.own_text = Some(spans);
            return Outcome::Rendered { text };
        }
        if observer.wants(Wanted::Spans) || observer.wants(Wanted::Decisions) {
            let outcome = self.render(conversation);
            self.examine(conversation, root(), &outcome, observer);
            return outcome;
        }
        let form = observer.wants(Wanted::Hits).then(|| self.instrumented());
        let rendered = if let Some(form) = form.flatten() {
            let render = || self.run(&form.code, root(), conversation);
            let (rendered, hits) = coverage::recorded(form.sites.len(), render);
            observer.hits = Some(hits);
            rendered
        } else {
            self.run(&self.template.code, root(), conversation)
        };
        rendered
            .map_err(|refusal| self.named(refusal, conversation, root()))
            .into()
    }

    fn is_observable(&self) -> bool {
        true
    }

    fn within(&self, limits: &Limits) -> Option<Box<dyn Program>> {
        Some(Box::new(JinjaProgram {
            limits: Arc::new(limits.clone()),
            template: Arc::clone(&self.template),
        }))
    }

    fn variables(&self) -> BTreeSet<String> {
        self.reading().variables.clone()
    }

    fn unknown_names(&self) -> Option<Vec<UnknownName>> {
        Some(self.reading().unknown_names.clone())
    }

    fn sites(&self) -> Option<Vec<Site>> {
        let mut sites = self.instrumented()?.sites.clone();
        for site in &mut sites {
            site.span = self.place(site.span.start)..self.place(site.span.end);
        }
        Some(sites)
    }
}

impl std::fmt::Debug for JinjaProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JinjaProgram")
            .field("source", &self.template.source)
            .finish_non_exhaustive()
    }
}

impl JinjaProgram {
    /// The template's names. The first call parses the template once more.
    fn reading(&self) -> &TemplateNames {
        self.template.reading.get_or_init(|| {
            let parsed = grammar::parse(&self.template.source);
            let reading = parsed.map(|parsed| TemplateNames {
                variables: inputs::variables(&parsed.template, &self.template.code.globals),
                unknown_names: unknown::names(&parsed.template, |name| {
                    self.template.variables.has(name)
                }),
            });
            reading.unwrap_or_default()
        })
    }

    /// The template in the form that tells what a render does. The first call makes it.
    fn instrumented(&self) -> Option<&Instrumented> {
        let form = self.template.instrumented.get_or_init(|| {
            let parsed = grammar::parse(&self.template.source).ok()?;
            let mut lowered = lower::lower(&parsed, true).ok()?;
            lowered.code.source = Arc::clone(&self.template.source);
            Some(Instrumented {
                code: Arc::new(lowered.code),
                literals: Arc::new(lowered.literals),
                sites: lowered.sites,
            })
        });
        form.as_ref()
    }

    /// Renders a conversation in the traced form, and tells an observer what that shows. It shows
    /// nothing if it does not end as the plain render did.
    fn examine(
        &self,
        conversation: &Conversation<'_>,
        root: context::Context,
        outcome: &Outcome,
        observer: &mut Observer,
    ) {
        let Some(traced) = self.instrumented() else {
            return;
        };
        let render = || {
            provenance::traced(Arc::clone(&traced.literals), || {
                let root = root.traced(conversation, &self.reading().variables);
                self.run(&traced.code, root, conversation)
            })
        };
        let ((found, spans), decisions) =
            decisions::noted(observer.wants(Wanted::Decisions), render);
        let rendered: Outcome = found.into();
        // The message of a failure may name what is missing.
        let is_alike = match (&rendered, outcome) {
            (Outcome::Failed { line, .. }, Outcome::Failed { line: other, .. }) => line == other,
            _ => rendered == *outcome,
        };
        if !is_alike {
            return;
        }
        if let Some(mut decisions) = decisions {
            let literals = decisions.literals_mut();
            literals.for_each(|source| *source = self.place(source.start)..self.place(source.end));
            observer.decisions = Some(decisions);
        }
        let (Outcome::Rendered { text }, Some(mut spans)) = (outcome, spans) else {
            return;
        };
        let end = spans.last().map_or(0, |last| last.prompt.end);
        if observer.wants(Wanted::Spans) && end == text.len() {
            for span in &mut spans {
                if let Origin::Literal { source } = &mut span.origin {
                    *source = self.place(source.start)..self.place(source.end);
                }
            }
            observer.spans = Some(spans);
        }
    }

    /// The refusal of a render that failed. Its message names what is missing, as Jinja2's does: the
    /// conversation is rendered once more with values that know their names. What it shows counts only
    /// if this render ends at the same place.
    fn named(
        &self,
        plain: Refusal,
        conversation: &Conversation<'_>,
        root: context::Context,
    ) -> Refusal {
        let Refusal::Failed { line, message, .. } = &plain else {
            return plain;
        };
        // A message with the types of its values is complete.
        let about_types = [
            " is not supported",
            " has no attribute ",
            " is not iterable",
        ];
        if about_types.iter().any(|words| message.contains(words)) && !message.contains("undefined")
        {
            return plain;
        }
        let rendered = undefined::with_names(|| self.run(&self.template.code, root, conversation));
        match rendered {
            Err(named @ Refusal::Failed { line: other, .. }) if *line == other => named,
            _ => plain,
        }
    }

    /// Where a byte of the source with normalised newlines is in the template's own source.
    fn place(&self, at: usize) -> usize {
        let places = self.template.places.as_ref();
        places.map_or(at, |places| places.get(at).copied().unwrap_or(at))
    }

    /// The prompt of a template that marks the model's own text, and the ranges of that text.
    fn tracked(
        &self,
        conversation: &Conversation<'_>,
        root: context::Context,
    ) -> Option<(String, Vec<Range<usize>>)> {
        if !self.template.source.contains("endgeneration") {
            return None;
        }
        generation::tracked(|| self.run(&self.template.code, root, conversation)).ok()
    }

    fn run(
        &self,
        code: &Arc<Code>,
        root: context::Context,
        conversation: &Conversation<'_>,
    ) -> Result<String, Refusal> {
        let now = conversation.now();
        let mut line = None;
        let rendered = meter::metered(&self.limits, now, || {
            let text = machine::render(code, root).map_err(|(error, at)| {
                line = at;
                error
            })?;
            if text.len() > self.limits.prompt {
                return Err(meter::exceeded(Limit::Output));
            }
            Ok(text)
        });
        rendered.map_err(|error| refusal::refusal(&error, Stage::Render, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_is_pinned() {
        let manifest = include_str!("../../../Cargo.toml");
        let pin = format!("minijinja = {{ version = \"={MINIJINJA}\"");
        assert!(manifest.contains(&pin));
    }

    #[test]
    fn sources_that_differ_in_line_endings_are_read_alike() {
        let engine = JinjaEngine::new();
        for (one, other, is_alike) in [
            ("a\nb", "a\r\nb\r\n", true),
            ("a\nb\n", "a\rb", true),
            ("a\n\n", "a\n", false),
            ("a", "b", false),
        ] {
            assert_eq!(
                engine.reads_alike(one, other),
                is_alike,
                "{one:?} {other:?}"
            );
        }
    }

    #[test]
    fn a_variable_can_be_left_out() {
        let source =
            "{% macro m() %}{{ tools is defined }}{% endmacro %}{{ m() }} {{ tools is none }}";
        let mut template = Template::from_source("t", Dialect::Jinja, source);
        template.variables = vec![("tools".into(), Variable::Value(1.into()))];
        let program = JinjaEngine::new().program(&template).unwrap();
        let case = Case::from_messages(vec![]);
        let conversation = Conversation::new(&case);
        let outcome = |text: &str| Outcome::Rendered { text: text.into() };
        assert_eq!(program.render(&conversation), outcome("True False"));
        let mut observer = Observer::without("tools");
        let without = program.render_with(&conversation, &mut observer);
        assert_eq!(without, outcome("False False"));
        assert!(observer.is_asked);
    }
}
