//! Runs programs so that they cannot crash their caller: on a large enough stack, with a panic as
//! an outcome.
//!
//! The limits of a render bound the work of a template. But a template may nest as deeply as its
//! recursion limit allows, and an engine may have a defect. Call [`load`] instead of
//! [`Engine::compile`] to render templates from strangers.
//!
//! The panic hook of the process prints a panic before this module catches it. [`keep_quiet`] sets
//! a hook that prints nothing for such panics.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::conversation::Conversation;
use crate::coverage::{Hits, Site};
use crate::engine::{Engine, Observer, Program, UnknownName, Wanted};
pub use crate::large_stack::{STACK, on_large_stack};
use crate::limits::Limits;
use crate::outcome::{Outcome, Refusal};
use crate::template::Template;

/// A template that an engine has compiled or refused.
pub struct LoadedTemplate {
    program: Result<Box<dyn Program>, Outcome>,
}

/// Compiles a template. If the engine refuses it, the refusal becomes the outcome of each of its
/// pairs.
pub fn load(engine: &dyn Engine, template: &Template) -> LoadedTemplate {
    LoadedTemplate::of(guarded(|| engine.compile(template)))
}

/// Like [`load`], for an engine that has a front of this name itself: see
/// [`Engine::compile_with_front`].
pub fn load_with_front(
    engine: &dyn Engine,
    front: &str,
    template: &Template,
) -> Option<LoadedTemplate> {
    let compiled = guarded(|| engine.compile_with_front(front, template));
    compiled.transpose().map(LoadedTemplate::of)
}

/// The column of a refusal to compile: see [`Engine::column_of_refusal`].
pub fn column_of_refusal(engine: &dyn Engine, template: &Template) -> Option<usize> {
    guarded(|| engine.column_of_refusal(template)).ok()?
}

impl LoadedTemplate {
    /// Takes the result of compiling; the outer error is a panic.
    fn of(compiled: Result<Result<Box<dyn Program>, Refusal>, String>) -> LoadedTemplate {
        let program = compiled.unwrap_or_else(|message| Err(Outcome::Crashed { message }));
        LoadedTemplate { program }
    }

    /// The same program with other limits: see [`Program::within`].
    pub fn within(&self, limits: &Limits) -> Option<LoadedTemplate> {
        let program = match &self.program {
            Ok(program) => Ok(program.within(limits)?),
            Err(refusal) => Err(refusal.clone()),
        };
        Some(LoadedTemplate { program })
    }

    /// Renders one conversation. A panic becomes [`Outcome::Crashed`].
    pub fn render(&self, conversation: &Conversation<'_>) -> Outcome {
        match &self.program {
            Ok(program) => guarded(|| program.render(conversation))
                .unwrap_or_else(|message| Outcome::Crashed { message }),
            Err(outcome) => outcome.clone(),
        }
    }

    /// Renders one conversation while an observer watches: see [`Program::render_with`]. None if
    /// the program is not observable.
    pub fn render_with(
        &self,
        conversation: &Conversation<'_>,
        observer: &mut Observer,
    ) -> Option<Outcome> {
        match &self.program {
            Ok(program) if !program.is_observable() => None,
            Ok(program) => Some(
                guarded(|| program.render_with(conversation, observer))
                    .unwrap_or_else(|message| Outcome::Crashed { message }),
            ),
            Err(outcome) => Some(outcome.clone()),
        }
    }

    /// Renders one conversation, and says which sites of the template that reaches. None if the
    /// engine refused the template or cannot tell.
    pub fn render_covered(&self, conversation: &Conversation<'_>) -> Option<(Outcome, Hits)> {
        let program = self.program.as_ref().ok()?;
        let mut coverage = Observer::of(&[Wanted::Hits]);
        let outcome = guarded(|| program.render_with(conversation, &mut coverage)).ok()?;
        Some((outcome, coverage.hits?))
    }

    /// Renders one conversation, and tells an observer what the program can tell: its spans, or what
    /// its decisions look at. A program that cannot tell them just renders.
    pub fn render_examined(
        &self,
        conversation: &Conversation<'_>,
        observer: &mut Observer,
    ) -> Outcome {
        match &self.program {
            Ok(program) => guarded(|| program.render_with(conversation, observer))
                .unwrap_or_else(|message| Outcome::Crashed { message }),
            Err(outcome) => outcome.clone(),
        }
    }

    /// The sites of the template: see [`Program::sites`]. None if the engine refused the template.
    pub fn sites(&self) -> Option<Vec<Site>> {
        let program = self.program.as_ref().ok()?;
        guarded(|| program.sites()).ok()?
    }

    /// The outcome of every pair, if the engine refused the template.
    pub fn refusal(&self) -> Option<&Outcome> {
        self.program.as_ref().err()
    }

    /// The variables that the template reads: see [`Program::variables`]. Empty if the engine
    /// refused the template.
    pub fn variables(&self) -> BTreeSet<String> {
        match &self.program {
            Ok(program) => guarded(|| program.variables()).unwrap_or_default(),
            Err(_) => BTreeSet::new(),
        }
    }

    /// The names in the template that have no meaning: see [`Program::unknown_names`]. None if the
    /// engine refused the template.
    pub fn unknown_names(&self) -> Option<Vec<UnknownName>> {
        let program = self.program.as_ref().ok()?;
        guarded(|| program.unknown_names()).ok()?
    }
}

impl fmt::Debug for LoadedTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("refused", &self.program.as_ref().err())
            .finish()
    }
}

thread_local! {
    /// Whether this module will catch a panic on this thread.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    /// The place of the last panic on this thread, if the hook of [`keep_quiet`] recorded it.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a closure on a large stack. A panic in it becomes an error with the panic's message. With
/// the hook of [`keep_quiet`] the error also has the place.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    on_large_stack(|| catch(run))
}

/// Runs a closure. A panic in it becomes an error with the panic's message. With the hook of
/// [`keep_quiet`] the error also has the place.
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_GUARDED.replace(true);
    // A panic breaks no state of an engine beyond its own render: a program is immutable, and
    // everything else is dropped.
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

/// The internal errors of this process that no result shows.
static UNSHOWN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs one part of a larger work, such as the mask of one conversation. A panic costs this part only:
/// there is no result, and [`take_internal_errors`] returns a sentence about it.
pub fn contained<T>(part: &str, run: impl FnOnce() -> T) -> Option<T> {
    let result = catch(run);
    let internal_error = |why: String| {
        let mut all = UNSHOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let sentence = internal_error(part, &why);
        // One defect may appear in each of many parts.
        if !all.contains(&sentence) {
            all.push(sentence);
        }
    };
    result.map_err(internal_error).ok()
}

/// The internal errors of [`contained`] so far, each once. They are reported by who takes them.
pub fn take_internal_errors() -> Vec<String> {
    std::mem::take(&mut UNSHOWN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What users read about a panic in a part of the work: one line, which names the part. `why` is the
/// error of [`catch`], which ends with the place.
pub fn internal_error(part: &str, why: &str) -> String {
    let why = why.replace(char::is_control, " ");
    format!("internal error in {part}, please report: {why}")
}

/// Sets a panic hook for the whole process. It prints nothing for a panic that this module catches
/// and adds the place to its message. Other panics go to the previous hook. A program calls this
/// once at its start; a library never does.
pub fn keep_quiet() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if IS_GUARDED.get() {
            // Only the file's name: its path differs from machine to machine.
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
        fn render_with(&self, conversation: &Conversation<'_>, _: &mut Observer) -> Outcome {
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
    fn a_panic_in_a_part_of_the_work_is_a_line_that_names_the_part() {
        assert_eq!(contained("addition", || 1 + 1), Some(2));
        let lost: Option<()> = contained("a test", || panic!("no\n\u{1b}[2J é"));
        assert_eq!(lost, None);
        let all = take_internal_errors();
        assert_eq!(all, ["internal error in a test, please report: no  [2J é"]);
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
