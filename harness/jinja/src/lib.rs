//! The engine for Jinja chat templates: minijinja, with the semantics of Jinja2 3.1.6 as
//! transformers 5.23 sets it up.
//!
//! A template is compiled once. The program owns all that it needs: it can be kept in a
//! struct, shared between threads, and is freed when it is dropped.
//!
//! ```
//! use std::thread;
//!
//! use rolecall_jinja::{Case, Dialect, JinjaProgram, Minijinja, Program, Refusal, Template};
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
//!     chat: Minijinja::new().program(&template)?,
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
//! What ends without a prompt says why, and who is to blame:
//!
//! ```
//! use rolecall_jinja::{Case, Dialect, Limit, Limits, Minijinja, Program, Refusal, Template};
//!
//! let limits = Limits { fuel: 10_000, ..Limits::default() };
//! let engine = Minijinja::with_limits(limits);
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
//! A render stays within its [`Limits`]. It needs stack by how deeply a template may nest
//! (see [`Limits::recursion`]); those who render the templates of strangers use
//! `rolecall_model::guard`, which gives them a large stack and catches panics. Dates come
//! from [`Case::now`], which is frozen unless one says otherwise.
//!
//! minijinja has semantics of its own. Where they differ from Python's, the engine changes
//! what a template meets. The modules are listed from the ground up; each one uses only those
//! above it.

// What a render leaves behind, and what it marks as the model's own text.
mod generation;
mod release;

// Limits, and the errors that they and others lead to.
mod meter;

mod refusal;

// Python's values: their kinds, their methods, and how they are written.
mod python;

// The variables that a template sees.
mod context;

// The names of the filters that the operators are.
mod operator;

// Operators, literals and macros.
mod operators;

// Functions, filters and tests.
mod library;

// The text of a template, its tree with Python's semantics, and the variables it expects.
mod compile;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use minijinja::machinery::ast::Stmt;
use minijinja::machinery::{CodeGenerator, Instructions, eval, make_string_output, parse};
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, Output, UndefinedBehavior};
use self_cell::self_cell;

#[cfg(feature = "guard")]
pub use rolecall_model::guard;
pub use rolecall_model::{
    Case, Conversation, Dialect, Engine, Limit, Limits, Moment, Outcome, Program, Refusal, Stage,
    Template, Tracked, UnknownName, Variable,
};

pub use context::tools_json;

use compile::grammar::lexer::normalised;
use compile::tree::Writing;
use compile::{grammar, inputs, preparation, tree, unknown};
use library::functions;
use operators::output;
use python::methods;

/// The version of minijinja, which the engine is made of.
const MINIJINJA: &str = "3.0.5";

/// minijinja in transformers' settings.
#[derive(Clone)]
pub struct Minijinja {
    name: &'static str,
    shared: Arc<Shared>,
}

/// What an engine and the programs that it compiled have in common.
struct Shared {
    semantics: Semantics,
    limits: Limits,
    environment: Environment<'static>,
}

/// Whose semantics a template meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Semantics {
    /// Python's.
    Python,
    /// minijinja's own.
    Own,
}

/// A compiled Jinja template.
pub struct JinjaProgram {
    shared: Arc<Shared>,
    compiled: Compiled,
    variables: context::Variables,
    /// The text of the template, where the code borrows from another.
    text: Option<String>,
    /// What stands in the template, since it was first asked for.
    reading: OnceLock<Reading>,
}

/// What a template says of itself.
#[derive(Default)]
struct Reading {
    variables: BTreeSet<String>,
    unknown_names: Vec<UnknownName>,
}

self_cell!(
    /// The source as it was prepared, and what borrows from it.
    struct Compiled {
        owner: String,

        #[covariant]
        dependent: Code,
    }
);

/// What runs.
struct Code<'s> {
    instructions: Instructions<'s>,
    blocks: BTreeMap<&'s str, Instructions<'s>>,
    size_hint: usize,
}

impl Default for Minijinja {
    fn default() -> Minijinja {
        Minijinja::new()
    }
}

impl std::fmt::Debug for Minijinja {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Minijinja")
            .field("name", &self.name)
            .field("limits", &self.shared.limits)
            .finish_non_exhaustive()
    }
}

impl Minijinja {
    /// The name of minijinja as it is.
    pub const PLAIN: &str = "minijinja-plain";

    /// With Python's semantics and the default limits.
    pub fn new() -> Minijinja {
        Minijinja::with_limits(Limits::default())
    }

    /// With Python's semantics and limits of one's own.
    pub fn with_limits(limits: Limits) -> Minijinja {
        Minijinja::build("minijinja", Semantics::Python, limits)
    }

    /// minijinja as it is, in transformers' settings and nothing more: what a server
    /// that uses it plainly gives. Only fuel and recursion are limited.
    pub fn plain(limits: Limits) -> Minijinja {
        Minijinja::build(Minijinja::PLAIN, Semantics::Own, limits)
    }

    /// Compiles a template: see [`Engine::compile`].
    pub fn program(&self, template: &Template) -> Result<JinjaProgram, Refusal> {
        self.compile_source(template)
            .map_err(|error| refusal::refusal(&error, Stage::Parse))
    }

    fn build(name: &'static str, semantics: Semantics, limits: Limits) -> Minijinja {
        let mut environment = match semantics {
            // `library` adds the functions, filters and tests that Jinja2 has, and no others.
            Semantics::Python => Environment::empty(),
            Semantics::Own => Environment::new(),
        };
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_fuel(Some(limits.fuel));
        environment.set_recursion_limit(limits.recursion.min(Limits::DEEPEST));
        environment.set_debug(false);
        match semantics {
            Semantics::Python => {
                environment.set_formatter(output::emit);
                environment.set_unknown_method_callback(methods::call);
                library::add(&mut environment);
                operators::add(&mut environment);
            }
            Semantics::Own => {
                functions::add_to_own(&mut environment);
                environment.set_unknown_method_callback(
                    minijinja_contrib::pycompat::unknown_method_callback,
                );
            }
        }
        Minijinja {
            name,
            shared: Arc::new(Shared {
                semantics,
                limits,
                environment,
            }),
        }
    }

    fn compile_source(&self, template: &Template) -> Result<JinjaProgram, Error> {
        let normalised = normalised(&template.source);
        let (compiled, text) = match self.shared.semantics {
            Semantics::Python => {
                let compiled = Compiled::try_new(normalised.into_owned(), |source| {
                    generate(source, Writing::Plain)
                })?;
                (compiled, None)
            }
            Semantics::Own => {
                let prepared = preparation::prepare(&template.source, &syntax()?)?;
                (
                    Compiled::try_new(prepared, own_code)?,
                    Some(normalised.into_owned()),
                )
            }
        };
        Ok(JinjaProgram {
            compiled,
            shared: Arc::clone(&self.shared),
            variables: context::Variables::of(template),
            text,
            reading: OnceLock::new(),
        })
    }
}

fn syntax() -> Result<SyntaxConfig, Error> {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(false)
        .build()
}

/// The code of a template with Python's semantics.
fn generate(source: &str, writing: Writing) -> Result<Code<'_>, Error> {
    let parsed = grammar::parse(source)?;
    Ok(code(source, &tree::adapt(&parsed, writing)?))
}

/// The code of a prepared template for minijinja as it is.
#[allow(clippy::ptr_arg)] // what owns the code hands its text over like this
fn own_code(source: &String) -> Result<Code<'_>, Error> {
    Ok(code(source, &parse(source, "template", syntax()?)?))
}

fn code<'s>(source: &'s str, template: &Stmt<'s>) -> Code<'s> {
    let mut generator = CodeGenerator::new("template", source);
    generator.compile_stmt(template);
    let size_hint = generator.buffer_size_hint();
    let (instructions, blocks) = generator.finish();
    Code {
        instructions,
        blocks,
        size_hint,
    }
}

impl Engine for Minijinja {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &str {
        MINIJINJA
    }

    fn description(&self) -> String {
        let semantics = match self.shared.semantics {
            Semantics::Python => "with Python's semantics",
            Semantics::Own => "in transformers' settings, nothing more",
        };
        format!("minijinja {MINIJINJA} {semantics}")
    }

    fn dialect(&self) -> Dialect {
        Dialect::Jinja
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        self.program(template)
            .map(|program| Box::new(program) as Box<dyn Program>)
    }

    fn reads_alike(&self, one: &str, other: &str) -> bool {
        self.shared.semantics == Semantics::Python && normalised(one) == normalised(other)
    }

    fn column_of_refusal(&self, template: &Template) -> Option<usize> {
        let source = match self.shared.semantics {
            Semantics::Python => normalised(&template.source),
            // Its errors say nothing of columns.
            Semantics::Own => return None,
        };
        let error = self.compile_source(template).err()?;
        let before = source.get(..refusal::byte_of(&error)?)?;
        let line = before.rsplit('\n').next()?;
        Some(line.chars().count() + 1)
    }
}

impl Program for JinjaProgram {
    fn render(&self, conversation: &Conversation<'_>) -> Outcome {
        let root = context::Context::new(&self.variables, conversation);
        self.outcome(root, conversation)
    }

    fn render_without(
        &self,
        variable: &'static str,
        conversation: &Conversation<'_>,
    ) -> Option<Outcome> {
        let root = context::Context::new(&self.variables, conversation).without(variable);
        Some(self.outcome(root, conversation))
    }

    fn render_tracked(&self, conversation: &Conversation<'_>) -> Option<Tracked> {
        let source = self.compiled.borrow_owner();
        let semantics = self.shared.semantics;
        if semantics != Semantics::Python || !source.contains("generation") {
            return None;
        }
        let code = generate(source, Writing::Tracked).ok()?;
        generation::track(|begin| {
            let root = context::Context::new(&self.variables, conversation);
            self.run(&code, root, conversation, begin)
        })
    }

    fn variables(&self) -> BTreeSet<String> {
        self.reading().variables.clone()
    }

    fn unknown_names(&self) -> Option<Vec<UnknownName>> {
        match self.shared.semantics {
            Semantics::Python => Some(self.reading().unknown_names.clone()),
            // It has other filters and tests.
            Semantics::Own => None,
        }
    }
}

impl std::fmt::Debug for JinjaProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JinjaProgram")
            .field("source", self.compiled.borrow_owner())
            .finish_non_exhaustive()
    }
}

impl JinjaProgram {
    /// What stands in the template: it is read once more for that.
    fn reading(&self) -> &Reading {
        self.reading.get_or_init(|| {
            let text = self.text.as_ref();
            let parsed = grammar::parse(text.unwrap_or(self.compiled.borrow_owner()));
            let reading = parsed.map(|parsed| Reading {
                variables: inputs::variables(&parsed.template),
                unknown_names: unknown::names(&parsed.template, |name| self.variables.has(name)),
            });
            reading.unwrap_or_default()
        })
    }

    /// What the template makes of a conversation, given the variables that it sees.
    fn outcome(&self, root: context::Context, conversation: &Conversation<'_>) -> Outcome {
        self.run(self.compiled.borrow_dependent(), root, conversation, |_| {})
            .map_err(|error| refusal::refusal(&error, Stage::Render))
            .into()
    }

    /// Runs the code; `begin` gets to see what it writes into.
    fn run(
        &self,
        code: &Code<'_>,
        root: context::Context,
        conversation: &Conversation<'_>,
        begin: impl FnOnce(&Output<'_>),
    ) -> Result<String, Error> {
        let now = conversation.case().now;
        let limits = &self.shared.limits;
        meter::metered(limits, now, || {
            let mut text = String::with_capacity(code.size_hint);
            let mut output = make_string_output(&mut text);
            begin(&output);
            eval(
                &self.shared.environment,
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
        let engine = Minijinja::new();
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
        let program = Minijinja::new().program(&template).unwrap();
        let case = Case::from_messages(vec![]);
        let conversation = Conversation::new(&case);
        let outcome = |text: &str| Outcome::Rendered { text: text.into() };
        assert_eq!(program.render(&conversation), outcome("True False"));
        let without = program.render_without("tools", &conversation);
        assert_eq!(without, Some(outcome("False False")));
    }

    #[test]
    fn a_program_is_its_owners_alone() {
        fn is_owned<T: Send + Sync + 'static>(_: &T) {}
        let template = Template::from_source("t", Dialect::Jinja, "{{ messages | length }}");
        let engine = Minijinja::new();
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

/// The example of the page about engines.
#[cfg(doctest)]
#[doc = include_str!("../../docs/engines.md")]
struct Readme;
