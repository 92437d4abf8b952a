//! Programs that cannot take their caller down: they run on a stack that is large enough,
//! and a panic in them is an outcome.
//!
//! The limits of a render keep what a template does in bounds, but a template may still nest
//! as deeply as its recursion limit allows, and an engine may have a defect. Those who render
//! the templates of strangers call [`load`] in place of [`Engine::compile`].
//!
//! A panic that is caught here has been printed by the panic hook of the process before, as
//! every panic. [`keep_quiet`] sets a hook that prints nothing for those.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::conversation::Conversation;
use crate::engine::{Engine, Program, Tracked, UnknownName};
use crate::outcome::{Outcome, Refusal};
use crate::template::Template;

/// A stack on which every template that keeps within the limits can be parsed and rendered,
/// and what it made be dropped, in an unoptimised build too: 256 MiB of address space. Memory
/// is taken as it is used. A thread that has such a stack needs no other for each call.
pub const STACK: usize = 256 << 20;

/// How much of it is enough: the rest is for those who call.
const NEEDED: usize = STACK - (4 << 20);

/// A template in an engine, ready to be rendered or known not to be.
pub struct Loaded {
    program: Result<Box<dyn Program>, Outcome>,
}

/// Compiles a template. One that the engine refuses loads too: each of its pairs then has
/// the refusal for its outcome.
pub fn load(engine: &dyn Engine, template: &Template) -> Loaded {
    Loaded::of(guarded(|| engine.compile(template)))
}

/// Compiles a template as [`load`] does, for an engine that has a front of this name
/// itself: see [`Engine::compile_behind`].
pub fn load_behind(engine: &dyn Engine, front: &str, template: &Template) -> Option<Loaded> {
    let compiled = guarded(|| engine.compile_behind(front, template));
    compiled.transpose().map(Loaded::of)
}

/// The column of a refusal to compile: see [`Engine::column_of_refusal`].
pub fn column_of_refusal(engine: &dyn Engine, template: &Template) -> Option<usize> {
    guarded(|| engine.column_of_refusal(template)).ok()?
}

impl Loaded {
    /// Of what came of compiling; the outer error is a panic.
    fn of(compiled: Result<Result<Box<dyn Program>, Refusal>, String>) -> Loaded {
        let program = compiled.map_or_else(
            |message| Err(Outcome::Crashed { message }),
            |compiled| compiled.map_err(Outcome::from),
        );
        Loaded { program }
    }

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

    /// Renders one conversation without a variable, if the engine can leave it out: see
    /// [`Program::render_without`].
    pub fn render_without(
        &self,
        variable: &'static str,
        conversation: &Conversation<'_>,
    ) -> Option<Outcome> {
        match &self.program {
            Ok(program) => guarded(|| program.render_without(variable, conversation))
                .unwrap_or_else(|message| Some(Outcome::Crashed { message })),
            Err(outcome) => Some(outcome.clone()),
        }
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

    /// The names in the template that nothing gives a meaning: see
    /// [`Program::unknown_names`]. None of a template that the engine refuses.
    pub fn unknown_names(&self) -> Option<Vec<UnknownName>> {
        let program = self.program.as_ref().ok()?;
        guarded(|| program.unknown_names()).ok()?
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("refused", &self.program.as_ref().err())
            .finish()
    }
}

thread_local! {
    /// Whether a panic on this thread is going to be caught here.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic on this thread was, if the hook of [`keep_quiet`] saw it.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a closure on a large stack; a panic in it is returned as what it said, and where if
/// the hook of [`keep_quiet`] is there to see that.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    on_large_stack(|| catch(run))
}

/// Runs a closure on a stack of [`STACK`] bytes, unless the thread has one already. What loads
/// and renders many templates one after the other does it in here, for a stack that is taken for
/// each of them costs more than most renders do.
pub fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(NEEDED, STACK, run)
}

/// Runs a closure; a panic in it is returned as what it said, and where if the hook of
/// [`keep_quiet`] is there to see that.
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_GUARDED.replace(true);
    // A panic leaves an engine's state behind only in the render that panicked: a
    // program is shared and immutable, everything else is dropped.
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(before);
    result.map_err(|payload| {
        let said = payload.downcast_ref::<&str>().copied();
        let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let said = said.unwrap_or("a panic without words");
        match PLACE.take() {
            Some(place) => format!("{said} ({place})"),
            None => said.to_owned(),
        }
    })
}

/// Sets a panic hook for the whole process: nothing is printed for a panic that is caught
/// here, and its place becomes part of what it said. Others go to the hook that was there
/// before. A program calls it once, when it begins; a library never does.
pub fn keep_quiet() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if IS_GUARDED.get() {
            // Of the place only the file's name: a path would differ from one machine to
            // the next.
            let place = info.location().map(|location| {
                let file = location.file().rsplit(['/', '\\']).next();
                format!("{}:{}", file.unwrap_or_default(), location.line())
            });
            PLACE.replace(place);
        } else {
            others(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::template::Dialect;

    struct Panics;

    impl Engine for Panics {
        fn name(&self) -> &'static str {
            "panics"
        }
        fn version(&self) -> &'static str {
            ""
        }
        fn description(&self) -> String {
            "an engine that panics".into()
        }
        fn dialect(&self) -> Dialect {
            Dialect::Jinja
        }
        fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
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
        let empty = Case::from_messages(vec![]);
        let full = Case::from_messages(vec![1.into()]);

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
    fn there_is_room_for_what_goes_deep() {
        fn deep(levels: usize) -> usize {
            let room = std::hint::black_box([levels; 1024]);
            match levels {
                0 => 0,
                _ => room[1] - room[2] + 1 + deep(levels - 1),
            }
        }
        // 5,000 levels of at least 8 KiB, on a thread that has 2 MiB.
        assert_eq!(guarded(|| deep(5_000)), Ok(5_000));
    }
}
