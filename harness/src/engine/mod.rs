//! Engines: what renders a template with a conversation.
//!
//! A template is loaded once and rendered many times, from many threads. Whatever a
//! template or an engine does, rendering gives one [`Outcome`] and returns.

pub mod conversation;
pub mod go;
pub mod jinja;
pub mod limits;
mod panics;
pub mod protocol;
mod stack;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use crate::outcome::Outcome;
use crate::template::{Dialect, Template};

pub use conversation::Conversation;
pub use go::Gotmpl;
pub use jinja::Minijinja;
pub use limits::{Limits, ProtocolLimits};
pub use panics::catch;
pub use protocol::ProtocolEngine;
pub(crate) use stack::STACK;

/// Something that renders the templates of one dialect.
pub trait Engine: Send + Sync {
    /// The name that `--engine` takes.
    fn name(&self) -> &str;

    /// What it is and which versions it is made of, in a line.
    fn description(&self) -> String;

    /// The dialect it renders.
    fn dialect(&self) -> Dialect;

    /// Prepares a template for rendering, or says what every pair with it will give.
    ///
    /// Called through [`load`], which also catches panics.
    fn compile<'e>(&'e self, template: &Template) -> Result<Box<dyn Program + 'e>, Outcome>;
}

/// A template that an engine has prepared.
pub trait Program: Send + Sync {
    /// Renders one conversation.
    ///
    /// Called through [`Loaded::render`], which also catches panics.
    fn render(&self, conversation: &Conversation<'_>) -> Outcome;

    /// Renders one conversation and keeps track of what the template marks as the
    /// model's own text, with `{% generation %}`. None where the template marks nothing,
    /// where it refuses, and where the engine cannot tell.
    ///
    /// Called through [`Loaded::render_tracked`], which also catches panics.
    fn render_tracked(&self, _conversation: &Conversation<'_>) -> Option<Tracked> {
        None
    }

    /// The variables that the template reads and does not set itself, without the
    /// engine's own functions.
    fn variables(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }
}

/// A prompt, and which parts of it a model is trained to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    /// The prompt.
    pub text: String,
    /// What the template marked, as ranges of bytes.
    pub spans: Vec<Range<usize>>,
}

/// A template in an engine, ready to be rendered or known not to be.
pub struct Loaded<'e> {
    program: Result<Box<dyn Program + 'e>, Outcome>,
}

/// Loads a template. One that the engine refuses loads too: each of its pairs then has
/// the refusal for its outcome.
pub fn load<'e>(engine: &'e dyn Engine, template: &Template) -> Loaded<'e> {
    let program = guarded(|| engine.compile(template))
        .unwrap_or_else(|message| Err(Outcome::Crashed { message }));
    Loaded { program }
}

/// Runs an engine: on a stack that is large enough, and what it panics with is returned.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    stack::on_large(|| panics::catch(run))
}

impl Loaded<'_> {
    /// Renders one conversation. A panic becomes [`Outcome::Crashed`].
    pub fn render(&self, conversation: &Conversation<'_>) -> Outcome {
        match &self.program {
            Ok(program) => guarded(|| program.render(conversation))
                .unwrap_or_else(|message| Outcome::Crashed { message }),
            Err(outcome) => outcome.clone(),
        }
    }

    /// Renders one conversation with the places of what the template marks as the
    /// model's own text: see [`Program::render_tracked`].
    pub fn render_tracked(&self, conversation: &Conversation<'_>) -> Option<Tracked> {
        let program = self.program.as_ref().ok()?;
        guarded(|| program.render_tracked(conversation)).ok()?
    }

    /// What every pair gives, if the engine refused the template.
    pub fn refusal(&self) -> Option<&Outcome> {
        self.program.as_ref().err()
    }

    /// The variables that the template reads: see [`Program::variables`]. None of a
    /// template that the engine refuses.
    pub fn variables(&self) -> BTreeSet<String> {
        match &self.program {
            Ok(program) => guarded(|| program.variables()).unwrap_or_default(),
            Err(_) => BTreeSet::new(),
        }
    }
}

impl fmt::Debug for Loaded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("refused", &self.program.as_ref().err())
            .finish()
    }
}

/// The engines in this process: the first of each dialect is its default.
#[derive(Debug)]
pub struct Engines {
    jinja: Minijinja,
    plain: Minijinja,
    go: Gotmpl,
}

impl Default for Engines {
    fn default() -> Engines {
        Engines::with_limits(&Limits::default())
    }
}

impl Engines {
    /// With limits of one's own.
    pub fn with_limits(limits: &Limits) -> Engines {
        Engines {
            jinja: Minijinja::with_limits(limits.clone()),
            plain: Minijinja::plain(limits.clone()),
            go: Gotmpl::with_limits(limits.clone()),
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<&dyn Engine> {
        vec![&self.jinja, &self.plain, &self.go]
    }

    /// An engine by name.
    pub fn by_name(&self, name: &str) -> Option<&dyn Engine> {
        self.all().into_iter().find(|engine| engine.name() == name)
    }

    /// The engine that renders a dialect unless another is asked for.
    pub fn for_dialect(&self, dialect: Dialect) -> Option<&dyn Engine> {
        self.all()
            .into_iter()
            .find(|engine| engine.dialect() == dialect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Panics;

    impl Engine for Panics {
        fn name(&self) -> &'static str {
            "panics"
        }
        fn description(&self) -> String {
            "an engine that panics".into()
        }
        fn dialect(&self) -> Dialect {
            Dialect::Jinja
        }
        fn compile<'e>(&'e self, template: &Template) -> Result<Box<dyn Program + 'e>, Outcome> {
            assert!(template.source != "parse", "no parser");
            Ok(Box::new(Panics))
        }
    }

    impl Program for Panics {
        fn render(&self, conversation: &Conversation<'_>) -> Outcome {
            let first = &conversation.case().messages[0];
            Outcome::Rendered {
                text: first.to_string(),
            }
        }
    }

    #[test]
    fn a_panic_is_the_outcome_of_that_pair_only() {
        let template = |source: &str| Template::from_source("t", Dialect::Jinja, source);
        let empty = crate::case::Case::from_messages(vec![]);
        let full = crate::case::Case::from_messages(vec![1.into()]);

        let loaded = load(&Panics, &template("fine"));
        let crashed = loaded.render(&Conversation::new(&empty));
        assert!(
            matches!(&crashed, Outcome::Crashed { message } if message.contains("index out of bounds")),
            "{crashed:?}"
        );
        let rendered = loaded.render(&Conversation::new(&full));
        assert_eq!(rendered, Outcome::Rendered { text: "1".into() });

        let refused = load(&Panics, &template("parse")).render(&Conversation::new(&full));
        assert!(
            matches!(refused, Outcome::Crashed { message } if message.starts_with("no parser"))
        );
    }

    #[test]
    fn minijinja_panics_on_an_empty_list_reversed() {
        // The reason why panics are caught at all: minijinja 3.0.5, value/ops.rs,
        // `range_step_backwards`. If this stops crashing, the defect is fixed upstream.
        let engines = Engines::default();
        let template = Template::from_source("t", Dialect::Jinja, "{{ [][::-1] }}");
        let case = crate::case::Case::from_messages(vec![]);
        let outcome = |name| {
            load(engines.by_name(name).unwrap(), &template).render(&Conversation::new(&case))
        };
        assert!(matches!(
            outcome("minijinja-plain"),
            Outcome::Crashed { .. }
        ));
        assert_eq!(
            outcome("minijinja"),
            Outcome::Rendered { text: "[]".into() }
        );
    }
}
