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
//! minijinja has its own semantics. If they differ from Python's, the engine replaces them. The
//! modules are listed from the ground up; each one uses only those above it.

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

// The names of the filters that the operators are.
mod operator;

// What a render reaches.
mod coverage;

// Where callables are added.
mod registry;

// Where the texts of a render come from.
mod explanation;

// What the decisions of a render look at.
mod decisions;

// Operators, literals and macros.
mod operators;

// Functions, filters and tests.
mod library;

// The text of a template, its tree with Python's semantics, and the variables it expects.
mod compile;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use minijinja::machinery::{CodeGenerator, Instructions, eval, make_string_output};
use minijinja::{AutoEscape, Environment, Error, Output, UndefinedBehavior};
use self_cell::self_cell;

#[cfg(feature = "guard")]
pub use rolecall_core::guard;
pub use rolecall_core::{
    Case, Conversation, Coverage, Decisions, Dialect, Engine, Examination, Hits, Limit, Limits,
    Moment, Mutation, MutationKind, Observer, OmittedVariable, Outcome, OwnText, Program,
    Provenance, Refusal, Site, Stage, Template, UnknownName, Variable, Words,
};

pub use compile::grammar::constructs::Constructs;
pub use compile::outline::{Body, Outline, Piece, PieceKind};
pub use compile::pitfalls::{Pitfall, PitfallKind};
pub use context::tools_json;

use rolecall_core::provenance::Origin;

use compile::grammar::lexer::normalised;
use compile::tree::Writing;
use compile::{grammar, inputs, literals, mutation, pitfalls, tree, unknown, words};
use operators::output;
use provenance::Texts;
use python::{methods, undefined};
use registry::{Registry, Watch};

/// The engine's version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version of minijinja, on which the engine is.
const MINIJINJA: &str = "3.0.5";

/// How much more fuel a traced render gets. It writes each text with two instructions instead of one,
/// and a captured text with ten.
const TRACED_FUEL_FACTOR: u64 = 8;

/// How much more fuel a render gets that names what is missing: it reads each variable with three
/// instructions instead of one.
const NAMED_FUEL_FACTOR: u64 = 4;

/// The engine for Jinja templates: minijinja with Python's semantics, in transformers' settings.
#[derive(Clone)]
pub struct JinjaEngine {
    shared: Arc<EngineEnvironment>,
}

/// The parts that an engine shares with its programs.
struct EngineEnvironment {
    limits: Limits,
    environment: Environment<'static>,
    /// The same for renders that report what they reach, with more fuel. The first use makes it.
    covered: OnceLock<Environment<'static>>,
    /// The same for renders that are traced.
    traced: OnceLock<Environment<'static>>,
    /// The same for renders that name what is missing.
    named: OnceLock<Environment<'static>>,
}

/// A compiled Jinja template.
pub struct JinjaProgram {
    shared: Arc<EngineEnvironment>,
    template: Arc<CompiledTemplate>,
}

/// What is known of a template whatever the limits are.
struct CompiledTemplate {
    compiled: Compiled,
    variables: context::TemplateVariables,
    /// The template's names; the first use collects them.
    reading: OnceLock<TemplateNames>,
    /// The other forms, by their writing; the first use of each makes it.
    forms: [OnceLock<Option<Box<Compiled>>>; Writing::COUNT],
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

self_cell!(
    /// The source with its newlines normalised, and what borrows from it.
    struct Compiled {
        owner: String,

        #[covariant]
        dependent: Code,
    }
);

/// The compiled instructions.
struct Code<'s> {
    instructions: Instructions<'s>,
    blocks: BTreeMap<&'s str, Instructions<'s>>,
    size_hint: usize,
    /// The literals of a traced form.
    literals: Arc<Texts>,
    /// The sites that a form reports.
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
            .field("limits", &self.shared.limits)
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
        // `library` adds the functions, filters and tests that Jinja2 has, and no others.
        let mut environment = Environment::empty();
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_fuel(Some(limits.fuel));
        environment.set_recursion_limit(limits.recursion.min(Limits::DEEPEST));
        environment.set_debug(false);
        environment.set_formatter(output::emit);
        environment.set_unknown_method_callback(methods::call);
        let mut registry = Registry::of(&mut environment);
        library::add(&mut registry);
        operators::add(&mut registry);
        JinjaEngine {
            shared: Arc::new(EngineEnvironment {
                limits,
                environment,
                covered: OnceLock::new(),
                traced: OnceLock::new(),
                named: OnceLock::new(),
            }),
        }
    }

    /// Compiles a template: see [`Engine::compile`].
    pub fn program(&self, template: &Template) -> Result<JinjaProgram, Refusal> {
        self.compile_source(template)
            .map_err(|error| refusal::refusal(&error, Stage::Parse))
    }

    fn compile_source(&self, template: &Template) -> Result<JinjaProgram, Error> {
        let source = normalised(&template.source).into_owned();
        Ok(JinjaProgram {
            shared: Arc::clone(&self.shared),
            template: Arc::new(CompiledTemplate {
                compiled: Compiled::try_new(source, |source| generate(source, Writing::Plain))?,
                variables: context::TemplateVariables::of(template),
                reading: OnceLock::new(),
                forms: Default::default(),
                places: places(&template.source),
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
}

/// Reads the source of a template. None if it cannot be read.
pub fn read(source: &str) -> Option<Reading> {
    let source = normalised(source);
    let parsed = grammar::parse(&source).ok()?;
    Some(Reading {
        texts: literals::texts(&parsed.template),
        assigned: pitfalls::assigned(&parsed.template),
        pitfalls: pitfalls::pitfalls(&parsed.template),
        words: words::words(&parsed.template),
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

/// The code of a template with Python's semantics.
fn generate(source: &str, writing: Writing) -> Result<Code<'_>, Error> {
    let parsed = grammar::parse(source)?;
    let mut generator = CodeGenerator::new("template", source);
    let (tree, literals, sites) = tree::adapt(&parsed, writing)?;
    generator.compile_stmt(&tree);
    let size_hint = generator.buffer_size_hint();
    let (instructions, blocks) = generator.finish();
    Ok(Code {
        instructions,
        blocks,
        size_hint,
        literals: Arc::new(literals),
        sites,
    })
}

impl EngineEnvironment {
    /// The environment of renders that report what they reach.
    fn covered(&self) -> &Environment<'static> {
        self.covered.get_or_init(|| {
            let mut environment = self.environment.clone();
            let fuel = self.limits.fuel.saturating_mul(coverage::FUEL_FACTOR);
            environment.set_fuel(Some(fuel));
            coverage::add(&mut environment);
            environment
        })
    }

    /// The environment of renders that are traced.
    fn traced(&self) -> &Environment<'static> {
        self.traced.get_or_init(|| {
            let mut environment = self.environment.clone();
            let fuel = self.limits.fuel.saturating_mul(TRACED_FUEL_FACTOR);
            environment.set_fuel(Some(fuel));
            environment.set_unknown_method_callback(|state, value, method, args| {
                let result = methods::call(state, value, method, args)?;
                let args: Vec<_> = [value].into_iter().chain(args).cloned().collect();
                Ok(decisions::watched_method(method, &args, result))
            });
            let watch = Watch {
                before: explanation::repeatable,
                after: decisions::watched,
                failed: |_, error| error,
            };
            let mut registry = Registry::watched(&mut environment, watch);
            library::add(&mut registry);
            operators::add(&mut registry);
            decisions::add(&mut environment);
            environment
        })
    }

    /// The environment of renders that name what is missing.
    fn named(&self) -> &Environment<'static> {
        self.named.get_or_init(|| {
            let mut environment = self.environment.clone();
            let fuel = self.limits.fuel.saturating_mul(NAMED_FUEL_FACTOR);
            environment.set_fuel(Some(fuel));
            environment.set_unknown_method_callback(|state, value, method, args| {
                let plain = undefined::without_names(args);
                let result = methods::call(state, value, method, plain.as_deref().unwrap_or(args));
                result.map_err(|error| undefined::with_name(args, error))
            });
            let watch = Watch {
                before: |_, args| Ok(undefined::without_names(args)),
                after: |_, _, result| result,
                failed: undefined::with_name,
            };
            let mut registry = Registry::watched(&mut environment, watch);
            library::add(&mut registry);
            operators::add(&mut registry);
            operators::add_keeping(&mut Registry::of(&mut environment));
            environment
        })
    }
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
    fn render_with(&self, conversation: &Conversation<'_>, observer: &mut dyn Observer) -> Outcome {
        let without = observer.left_out();
        let root = || context::Context::new(&self.template.variables, conversation, without);
        if observer.wants_own_text()
            && let Some((text, spans)) = self.tracked(conversation, root)
        {
            observer.own_text(spans);
            return Outcome::Rendered { text };
        }
        if observer.wants_spans() || observer.wants_decisions() {
            let outcome = self.render(conversation);
            self.examine(conversation, root(), &outcome, observer);
            return outcome;
        }
        let covered = observer.wants_hits().then(|| self.form(Writing::Covered));
        let rendered = if let Some(code) = covered.flatten() {
            let (environment, fuel) = (self.shared.covered(), self.shared.limits.fuel);
            let render = || self.run((environment, code), root(), conversation, |_| {});
            let (rendered, hits) = coverage::recorded(code.sites.len(), fuel, render);
            observer.hits(hits);
            rendered
        } else {
            let compiled = self.template.compiled.borrow_dependent();
            let plain = (&self.shared.environment, compiled);
            self.run(plain, root(), conversation, |_| {})
        };
        rendered
            .map_err(|error| self.refusal(&error, conversation, root()))
            .into()
    }

    fn is_observable(&self) -> bool {
        true
    }

    fn within(&self, limits: &Limits) -> Option<Box<dyn Program>> {
        Some(Box::new(JinjaProgram {
            shared: JinjaEngine::with_limits(limits.clone()).shared,
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
        let mut sites = self.form(Writing::Covered)?.sites.clone();
        for site in &mut sites {
            site.span = self.place(site.span.start)..self.place(site.span.end);
        }
        Some(sites)
    }
}

impl std::fmt::Debug for JinjaProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JinjaProgram")
            .field("source", self.template.compiled.borrow_owner())
            .finish_non_exhaustive()
    }
}

impl JinjaProgram {
    /// The template's names. The first call parses the template once more.
    fn reading(&self) -> &TemplateNames {
        self.template.reading.get_or_init(|| {
            let parsed = grammar::parse(self.template.compiled.borrow_owner());
            let reading = parsed.map(|parsed| TemplateNames {
                variables: inputs::variables(&parsed.template),
                unknown_names: unknown::names(&parsed.template, |name| {
                    self.template.variables.has(name)
                }),
            });
            reading.unwrap_or_default()
        })
    }

    /// The template in another form. The first call compiles it.
    fn form(&self, writing: Writing) -> Option<&Code<'_>> {
        let form = self.template.forms[writing as usize].get_or_init(|| {
            let source = self.template.compiled.borrow_owner().clone();
            let compiled = Compiled::try_new(source, |source| generate(source, writing));
            compiled.ok().map(Box::new)
        });
        Some(form.as_deref()?.borrow_dependent())
    }

    /// Renders a conversation in the traced form, and tells an observer what that shows. It shows
    /// nothing if it does not end as the plain render did.
    fn examine(
        &self,
        conversation: &Conversation<'_>,
        root: context::Context,
        outcome: &Outcome,
        observer: &mut dyn Observer,
    ) {
        let Some(traced) = self.form(Writing::Traced) else {
            return;
        };
        let code = (self.shared.traced(), traced);
        let render = || {
            provenance::traced(Arc::clone(&traced.literals), || {
                let root = root.traced(conversation, &self.reading().variables);
                self.run(code, root, conversation, |_| {})
            })
        };
        let ((rendered, spans), decisions) = decisions::noted(observer.wants_decisions(), render);
        let rendered: Outcome = rendered
            .map_err(|error| refusal::refusal(&error, Stage::Render))
            .into();
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
            observer.decisions(decisions);
        }
        let (Outcome::Rendered { text }, Some(mut spans)) = (outcome, spans) else {
            return;
        };
        if observer.wants_spans() && spans.last().map_or(0, |last| last.prompt.end) == text.len() {
            for span in &mut spans {
                if let Origin::Literal { source } = &mut span.origin {
                    *source = self.place(source.start)..self.place(source.end);
                }
            }
            observer.spans(spans);
        }
    }

    /// The refusal of a render that failed. Its message names what is missing, as Jinja2's does: the
    /// conversation is rendered once more with values that know their names. What it shows counts only
    /// if this render ends at the same place.
    fn refusal(
        &self,
        error: &Error,
        conversation: &Conversation<'_>,
        root: context::Context,
    ) -> Refusal {
        let plain = refusal::refusal(error, Stage::Render);
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
        let Some(named) = self.form(Writing::Named) else {
            return plain;
        };
        let code = (self.shared.named(), named);
        let rendered = undefined::with_names(|| self.run(code, root, conversation, |_| {}));
        match rendered.map_err(|error| refusal::refusal(&error, Stage::Render)) {
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
        root: impl Fn() -> context::Context,
    ) -> Option<(String, Vec<Range<usize>>)> {
        if !self
            .template
            .compiled
            .borrow_owner()
            .contains("endgeneration")
        {
            return None;
        }
        let code = (&self.shared.environment, self.form(Writing::Tracked)?);
        generation::track(|begin| self.run(code, root(), conversation, begin))
    }

    /// Runs the code. `begin` receives the output before the first write.
    fn run(
        &self,
        (environment, code): (&Environment<'static>, &Code<'_>),
        root: context::Context,
        conversation: &Conversation<'_>,
        begin: impl FnOnce(&Output<'_>),
    ) -> Result<String, Error> {
        let now = conversation.case().now;
        let limits = &self.shared.limits;
        meter::metered(limits, now, || {
            let len = code.size_hint + root.text_len();
            let mut text = String::with_capacity(len.min(limits.prompt));
            let mut output = make_string_output(&mut text);
            begin(&output);
            eval(
                environment,
                &code.instructions,
                root.into(),
                &code.blocks,
                &mut output,
                AutoEscape::None,
            )?;
            drop(output);
            if text.len() > limits.prompt {
                return Err(meter::exceeded(Limit::Output));
            }
            Ok(text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_is_pinned() {
        let manifest = include_str!("../../../Cargo.toml");
        for name in ["minijinja", "minijinja-contrib"] {
            let pin = format!("{name} = {{ version = \"={MINIJINJA}\"");
            assert!(manifest.contains(&pin), "{name}");
        }
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
        let mut observer = OmittedVariable::new("tools");
        let without = program.render_with(&conversation, &mut observer);
        assert_eq!(without, outcome("False False"));
        assert!(observer.is_asked);
    }

    #[test]
    fn a_program_is_its_owners_alone() {
        fn is_owned<T: Send + Sync + 'static>(_: &T) {}
        let template = Template::from_source("t", Dialect::Jinja, "{{ messages | length }}");
        let engine = JinjaEngine::new();
        let shared = Arc::downgrade(&engine.shared);
        let program = engine.program(&template).unwrap();
        is_owned(&program);
        drop(engine);
        assert_eq!(
            program.prompt(&Case::from_messages(vec![])),
            Ok("0".to_owned())
        );
        drop(program);
        assert_eq!(shared.strong_count(), 0);
    }
}
