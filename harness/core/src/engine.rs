//! Engines. Each renders the templates of one dialect.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::case::Case;
use crate::conversation::Conversation;
use crate::coverage::{Hits, Site};
use crate::decision::Decisions;
use crate::limits::Limits;
use crate::mutation::Mutation;
use crate::outcome::{Outcome, Refusal};
use crate::provenance::Span;
use crate::template::{Dialect, Template};

/// Renders the templates of one dialect.
pub trait Engine: Send + Sync {
    /// Its name, such as `rolecall-jinja`.
    fn name(&self) -> &str;

    /// Its version; empty if it has none.
    fn version(&self) -> &str;

    /// The parts that it is made of, each with its version.
    fn components(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// One line that says what it is and which versions it uses.
    fn description(&self) -> String;

    /// The dialect of the templates that it compiles.
    fn dialect(&self) -> Dialect;

    /// How often it has died so far without a trace in any outcome. An engine of this process never
    /// does.
    fn deaths(&self) -> Deaths {
        Deaths::default()
    }

    /// Whether it answers at all: an application may refuse every conversation before it is asked. The
    /// error says why it does not. An engine of this process always does.
    fn answers(&self) -> Result<(), String> {
        Ok(())
    }

    /// Compiles a template, or returns the reason why it cannot. The program owns everything that
    /// it needs. Callers may keep it as long as they like; dropping it frees its memory.
    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal>;

    /// The column of the error if the template does not compile. Columns start at 1 and count
    /// characters; the refusal has the line. None if the engine does not know it.
    fn column_of_refusal(&self, _template: &Template) -> Option<usize> {
        None
    }

    /// Whether the engine reads two sources as the same template, although their texts may differ.
    /// False if it cannot tell.
    fn reads_alike(&self, one: &str, other: &str) -> bool {
        one == other
    }

    /// Small changes of a template, always in the same order. None of them is read as the template
    /// itself, but some may not compile. None if the engine cannot read the template, or knows no
    /// changes.
    fn mutations(&self, _template: &Template) -> Option<Vec<Mutation>> {
        None
    }

    /// Compiles a template for an engine that is also an application. The program takes
    /// conversations as written and does the work of the front with this name itself. None if the
    /// engine has no such front; most have none.
    fn compile_with_front(
        &self,
        _front: &str,
        _template: &Template,
    ) -> Option<Result<Box<dyn Program>, Refusal>> {
        None
    }
}

/// How often an engine died in a request, or broke its protocol there, and answered the same request
/// in a new process. Its outcomes do not show that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deaths {
    /// How many requests this happened to.
    pub count: usize,
    /// What was seen the first time.
    pub first: String,
}

/// What a program may say of a render besides its outcome. It may need other code to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The parts of the prompt that the template marks with `{% generation %}`.
    OwnText,
    /// Which sites the render reaches.
    Hits,
    /// Where the bytes of the prompt come from.
    Spans,
    /// What the decisions of the render look at.
    Decisions,
}

/// Watches one render: what the caller wants to know, and what the program says after the render. What
/// a program cannot tell stays `None`.
#[derive(Debug, Clone, Default)]
pub struct Observer {
    wanted: &'static [Wanted],
    left_out: Option<&'static str>,
    /// Whether the program has asked for the variable to leave out.
    pub is_asked: bool,
    /// The model's own text, as ranges of bytes in the order of the prompt. None if the template
    /// refuses or marks nothing.
    pub own_text: Option<Vec<Range<usize>>>,
    /// The hits, in the order of [`Program::sites`]. None if no template ran.
    pub hits: Option<Hits>,
    /// The spans of the prompt. None if the template refuses.
    pub spans: Option<Vec<Span>>,
    /// The decisions, whatever the outcome is. Sites have the order of [`Program::sites`].
    pub decisions: Option<Decisions>,
}

impl Observer {
    /// Wants to know these things.
    pub fn of(wanted: &'static [Wanted]) -> Observer {
        Observer {
            wanted,
            ..Observer::default()
        }
    }

    /// Leaves out a variable that is always defined, such as `tools`.
    pub fn without(variable: &'static str) -> Observer {
        Observer {
            left_out: Some(variable),
            ..Observer::default()
        }
    }

    /// Whether the caller wants to know something.
    pub fn wants(&self, what: Wanted) -> bool {
        self.wanted.contains(&what)
    }

    /// The variable that the program should leave out.
    pub fn left_out(&mut self) -> Option<&'static str> {
        self.is_asked = true;
        self.left_out
    }
}

/// A template that an engine has compiled. Several threads may render with it at once.
pub trait Program: Send + Sync {
    /// Renders one conversation while an observer watches. A program that is not observable ignores
    /// the observer.
    fn render_with(&self, conversation: &Conversation<'_>, observer: &mut Observer) -> Outcome;

    /// Whether the program serves observers.
    fn is_observable(&self) -> bool {
        false
    }

    /// Renders one conversation. Failures, refusals and limits are outcomes, too.
    fn render(&self, conversation: &Conversation<'_>) -> Outcome {
        self.render_with(conversation, &mut Observer::default())
    }

    /// Renders one case with [`Program::render`], for callers that use each conversation once.
    fn prompt(&self, case: &Case) -> Result<String, Refusal> {
        self.render(&Conversation::new(case)).into_prompt()
    }

    /// The same program with other limits. None if the program cannot change its limits.
    fn within(&self, _limits: &Limits) -> Option<Box<dyn Program>> {
        None
    }

    /// The variables that the template reads but does not set. The engine's own functions do not
    /// count.
    fn variables(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// The names in the template that have no meaning, even in branches that no conversation
    /// reaches. None if the engine cannot tell.
    fn unknown_names(&self) -> Option<Vec<UnknownName>> {
        None
    }

    /// The places of the template that a render can reach, always in the same order. None if the
    /// engine cannot tell what a render reaches.
    fn sites(&self) -> Option<Vec<Site>> {
        None
    }
}

/// A name in a template that has no meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of thing that it should name.
    pub kind: NameKind,
    /// The name as the template writes it.
    pub name: String,
    /// Its line in the template, from 1.
    pub line: usize,
}

/// The kind of thing that a name in a template should name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// A filter. One that does not exist fails.
    Filter,
    /// A test. One that does not exist fails.
    Test,
    /// A function. One that does not exist fails.
    Function,
    /// A method that a template calls. transformers runs templates in Jinja2's
    /// `ImmutableSandboxedEnvironment`, where a method that changes a list or a dictionary fails.
    Method,
    /// A method that a template calls, and that no value has.
    NoMethod,
    /// A field of a Go struct, such as `a message`. One that does not exist fails.
    Field(&'static str),
    /// A key that its object may lack. If no application sets it, it is undefined.
    Key {
        /// The object that should have it, such as `a message`.
        of: &'static str,
        /// The keys that applications set.
        known: &'static [&'static str],
    },
}
