//! Engines: what renders templates of one dialect.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::case::Case;
use crate::conversation::Conversation;
use crate::outcome::{Outcome, Refusal};
use crate::template::{Dialect, Template};

/// Something that renders the templates of one dialect.
pub trait Engine: Send + Sync {
    /// Its name, such as `minijinja`.
    fn name(&self) -> &str;

    /// Its version, or that of the engine that it builds upon; empty where it has none.
    fn version(&self) -> &str;

    /// What it is and which versions it is made of, in a line.
    fn description(&self) -> String;

    /// The dialect it renders.
    fn dialect(&self) -> Dialect;

    /// Compiles a template, or says why it cannot be compiled. The program owns all that
    /// it needs: it may be kept for as long as anyone likes, and what it takes is freed
    /// when it is dropped.
    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal>;

    /// The column, from 1 and counted in characters, at which the engine sees that a template
    /// cannot be compiled; the refusal says in which line. None where it is not known.
    fn column_of_refusal(&self, _template: &Template) -> Option<usize> {
        None
    }

    /// Whether two sources are one and the same template to the engine, whatever stands in
    /// them: they differ in nothing that it reads. False where it cannot tell.
    fn reads_alike(&self, one: &str, other: &str) -> bool {
        one == other
    }

    /// Compiles a template for an engine that is an application too: the program is given
    /// conversations as they are written, and does itself what the front of this name does
    /// before and after a template. None of an engine that has no such front, as most.
    fn compile_behind(
        &self,
        _front: &str,
        _template: &Template,
    ) -> Option<Result<Box<dyn Program>, Refusal>> {
        None
    }
}

/// A template that an engine has compiled. Many threads may render with it at a time.
pub trait Program: Send + Sync {
    /// Renders one conversation.
    fn render(&self, conversation: &Conversation<'_>) -> Outcome;

    /// The prompt of one case: what [`Program::render`] gives, for callers that have one
    /// template for each conversation.
    fn prompt(&self, case: &Case) -> Result<String, Refusal> {
        self.render(&Conversation::new(case)).into_prompt()
    }

    /// Renders one conversation and keeps track of what the template marks as the
    /// model's own text, with `{% generation %}`. None where the template marks nothing,
    /// where it refuses, and where the engine cannot tell.
    fn render_tracked(&self, _conversation: &Conversation<'_>) -> Option<Tracked> {
        None
    }

    /// Renders one conversation as for a caller who does not define a variable that is
    /// always there, such as `tools`. None where the engine always defines it.
    fn render_without(
        &self,
        _variable: &'static str,
        _conversation: &Conversation<'_>,
    ) -> Option<Outcome> {
        None
    }

    /// The variables that the template reads and does not set itself, without the
    /// engine's own functions.
    fn variables(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// The names in the template that nothing gives a meaning, in branches that no
    /// conversation reaches too. None where the engine cannot tell.
    fn unknown_names(&self) -> Option<Vec<UnknownName>> {
        None
    }
}

/// A name in a template that nothing gives a meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// What it should be the name of.
    pub kind: NameKind,
    /// The name.
    pub name: String,
    /// Its line in the template, from 1.
    pub line: usize,
}

/// What a name in a template should be the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// A filter. One that does not exist fails.
    Filter,
    /// A test. One that does not exist fails.
    Test,
    /// A function. One that does not exist fails.
    Function,
    /// A method that a template may call. One that changes a list or a dictionary fails in
    /// transformers, which hands templates over to Jinja2's `ImmutableSandboxedEnvironment`.
    Method,
    /// A field of a Go struct, such as `a message`. One that does not exist fails.
    Field(&'static str),
    /// A key of something that may lack it. One that no application gives is undefined.
    Key {
        /// What should have it, such as `a message`.
        of: &'static str,
        /// The keys that applications give it.
        known: &'static [&'static str],
    },
}

/// A prompt, and which parts of it a model is trained to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    /// The prompt.
    pub text: String,
    /// What the template marked, as ranges of bytes.
    pub spans: Vec<Range<usize>>,
}
