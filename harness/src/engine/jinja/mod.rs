//! The engine for the `jinja` dialect: minijinja, set up as transformers 5.23 sets up
//! Jinja2 3.1.6.
//!
//! minijinja is a fine engine with semantics of its own. Where they differ from
//! Python's, this module changes what a template sees, each thing in one place:
//!
//! - `source` prepares the text (line endings, `{% generation %}`),
//! - `tree` replaces the macros of a parsed template and `expressions` its operators, out
//!   of `nodes`, with what can be told of their `properties`,
//! - `operators`, `comparisons`, `slices`, `literals`, `namespaces` and `macros` are what
//!   takes their place,
//! - `library`, `helpers` and `checks` have functions and tests; `numbers`, `texts` (with
//!   `wrapping` and `markup`), `sequences` and `selection` have filters, whose arguments
//!   `arguments` binds; `vocabulary` lists what there is and what it costs,
//! - `methods`, `strings` and `splitting` are the methods of Python's types,
//! - `generator` is what lazy filters give, `views` what Python walks through lazily,
//! - `generation` tells what a model shall write, `inputs` what a template expects,
//! - `formats` takes formats apart, for `%` and `str.format`,
//! - `pytext` and `dumps` write values as `str()`, `repr()` and `json.dumps()` do,
//! - `meter` keeps a render within its limits.

mod arguments;
mod checks;
mod comparisons;
mod context;
mod dumps;
mod expressions;
mod formats;
mod generation;
mod generator;
mod helpers;
mod inputs;
mod library;
mod literals;
mod macros;
mod markup;
mod meter;
mod methods;
mod namespaces;
mod nodes;
mod numbers;
mod operators;
mod properties;
mod pytext;
mod refusal;
mod selection;
mod sequences;
mod slices;
mod source;
mod splitting;
mod strings;
mod texts;
mod tree;
mod views;
mod vocabulary;
mod wrapping;

use std::collections::{BTreeMap, BTreeSet};

use elsa::sync::FrozenVec;
use minijinja::machinery::{CodeGenerator, Instructions, eval, make_string_output, parse};
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, Output, UndefinedBehavior};

pub(in crate::engine) use context::tools_json;

use crate::engine::{Conversation, Engine, Limits, Program, Tracked};
use crate::outcome::{Limit, Outcome, Stage};
use crate::template::{Dialect, Template};

use tree::Writing;

/// minijinja in transformers' settings.
pub struct Minijinja {
    name: &'static str,
    semantics: Semantics,
    limits: Limits,
    environment: Environment<'static>,
    /// The prepared sources: programs borrow from them.
    sources: FrozenVec<String>,
}

/// Whose semantics a template meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Semantics {
    /// Python's.
    Python,
    /// minijinja's own.
    Own,
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
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Minijinja {
    /// The name of minijinja as it is.
    pub const PLAIN: &str = "minijinja-plain";

    /// With Python's semantics: the harness's engine for Jinja templates.
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

    fn build(name: &'static str, semantics: Semantics, limits: Limits) -> Minijinja {
        let mut environment = match semantics {
            // Only what Jinja2 has.
            Semantics::Python => Environment::empty(),
            Semantics::Own => Environment::new(),
        };
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_fuel(Some(limits.fuel));
        environment.set_recursion_limit(limits.recursion.min(Limits::DEEPEST));
        environment.set_debug(false);
        library::add_globals(&mut environment);
        match semantics {
            Semantics::Python => {
                environment.set_formatter(operators::emit);
                environment.set_unknown_method_callback(methods::call);
                library::add_functions_and_tests(&mut environment);
                numbers::add_filters(&mut environment);
                texts::add_filters(&mut environment);
                sequences::add_filters(&mut environment);
                selection::add_filters(&mut environment);
                operators::add(&mut environment);
            }
            Semantics::Own => {
                environment.set_unknown_method_callback(
                    minijinja_contrib::pycompat::unknown_method_callback,
                );
            }
        }
        Minijinja {
            name,
            semantics,
            limits,
            environment,
            sources: FrozenVec::new(),
        }
    }

    fn syntax() -> Result<SyntaxConfig, Error> {
        SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(false)
            .build()
    }

    fn compile_source<'e>(&'e self, template: &Template) -> Result<Jinja<'e>, Error> {
        let syntax = Self::syntax()?;
        let is_folded = self.semantics == Semantics::Own;
        let (source, lookup) = source::prepare(&template.source, &syntax, is_folded)?;
        let source: &'e str = self.sources.push_get(source);
        Ok(Jinja {
            engine: self,
            source,
            lookup,
            code: self.generate(source, Writing::Plain, lookup)?,
            variables: context::Variables::of(template),
        })
    }

    fn generate<'e>(
        &'e self,
        source: &'e str,
        writing: Writing,
        lookup: usize,
    ) -> Result<Code<'e>, Error> {
        let mut ast = parse(source, "template", Self::syntax()?)?;
        if self.semantics == Semantics::Python {
            ast = tree::adapt(&ast, writing, lookup)?;
        }
        let mut generator = CodeGenerator::new("template", source);
        generator.compile_stmt(&ast);
        let size_hint = generator.buffer_size_hint();
        let (instructions, blocks) = generator.finish();
        Ok(Code {
            instructions,
            blocks,
            size_hint,
        })
    }
}

impl Engine for Minijinja {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> String {
        match self.semantics {
            Semantics::Python => "minijinja 3.0.5 with Python's semantics".to_owned(),
            Semantics::Own => "minijinja 3.0.5 in transformers' settings, nothing more".to_owned(),
        }
    }

    fn dialect(&self) -> Dialect {
        Dialect::Jinja
    }

    fn compile<'e>(&'e self, template: &Template) -> Result<Box<dyn Program + 'e>, Outcome> {
        match self.compile_source(template) {
            Ok(program) => Ok(Box::new(program)),
            Err(error) => Err(refusal::outcome(&error, Stage::Parse)),
        }
    }
}

/// A compiled template.
struct Jinja<'e> {
    engine: &'e Minijinja,
    /// As it was prepared.
    source: &'e str,
    /// The work of looking for a name among the variables of a scope.
    lookup: usize,
    code: Code<'e>,
    variables: context::Variables,
}

/// What runs.
struct Code<'e> {
    instructions: Instructions<'e>,
    blocks: BTreeMap<&'e str, Instructions<'e>>,
    size_hint: usize,
}

impl Program for Jinja<'_> {
    fn render(&self, conversation: &Conversation<'_>) -> Outcome {
        match self.run(&self.code, conversation, |_| {}) {
            Ok(text) => Outcome::Rendered { text },
            Err(error) => refusal::outcome(&error, Stage::Render),
        }
    }

    fn render_tracked(&self, conversation: &Conversation<'_>) -> Option<Tracked> {
        if self.engine.semantics != Semantics::Python || !self.source.contains(library::GENERATION)
        {
            return None;
        }
        let code = self
            .engine
            .generate(self.source, Writing::Tracked, self.lookup)
            .ok()?;
        generation::track(|begin| self.run(&code, conversation, begin))
    }

    fn variables(&self) -> BTreeSet<String> {
        Minijinja::syntax()
            .map(|syntax| inputs::variables(self.source, syntax))
            .unwrap_or_default()
    }
}

impl Jinja<'_> {
    /// Runs the code; `begin` gets to see what it writes into.
    fn run(
        &self,
        code: &Code<'_>,
        conversation: &Conversation<'_>,
        begin: impl FnOnce(&Output<'_>),
    ) -> Result<String, Error> {
        let root = context::Context::new(&self.variables, conversation);
        let now = conversation.case().now;
        meter::metered(&self.engine.limits, now, || {
            let mut text = String::with_capacity(code.size_hint);
            let mut output = make_string_output(&mut text);
            begin(&output);
            eval(
                &self.engine.environment,
                &code.instructions,
                root.into(),
                &code.blocks,
                &mut output,
                AutoEscape::None,
            )?;
            drop(output);
            if text.len() > self.engine.limits.prompt {
                return Err(meter::exceeded(Limit::Output));
            }
            Ok(text)
        })
    }
}
