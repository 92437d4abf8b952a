//! Compiled templates: a template in its engine, behind one front.

use std::sync::OnceLock;

use rolecall::engines::Engines;
use rolecall::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_model::guard::{self, column_of_refusal, on_large_stack};
use rolecall_model::{Case, Engine, Outcome, Template};
use self_cell::self_cell;

self_cell! {
    /// A template with its compiled form.
    struct Owned {
        owner: Template,
        #[not_covariant]
        dependent: FrontProgram,
    }
}

/// A compiled template, for any number of threads.
pub(crate) struct CompiledTemplate {
    owned: Owned,
    front: Front,
}

/// The engines of the package, with the limits of the command.
pub(crate) fn engines() -> &'static Engines {
    static ENGINES: OnceLock<Engines> = OnceLock::new();
    ENGINES.get_or_init(|| {
        // The hook is this extension's alone: Python and other extensions have their own.
        guard::keep_quiet();
        Engines::default()
    })
}

fn engine(template: &Template) -> &'static dyn Engine {
    let engines = engines();
    let engine = engines.for_dialect(template.dialect);
    // Each dialect has an engine.
    engine.unwrap_or_else(|| engines.all()[0])
}

impl CompiledTemplate {
    /// Compiles a template behind a front. If the engine refuses it, every outcome says so.
    pub(crate) fn new(mut template: Template, front: Front) -> CompiledTemplate {
        template.front = Some(front.name().to_owned());
        let owned = Owned::new(template, |template| {
            on_large_stack(|| FrontProgram::load(engine(template), template))
        });
        CompiledTemplate { owned, front }
    }

    /// The outcome of a case. The case may nest deeply: it is handled and dropped on a large stack.
    pub(crate) fn outcome(&self, case: Case) -> Outcome {
        let outcome = move || {
            self.owned.with_dependent(|_, program| {
                let prepared = PreparedCase::new(&case, self.front, &program.model);
                program.outcome(&prepared)
            })
        };
        on_large_stack(outcome)
    }

    /// Why the engine refuses the template, if it does.
    pub(crate) fn refusal(&self) -> Option<Outcome> {
        let owned = &self.owned;
        owned.with_dependent(|_, program| program.without_front().refusal().cloned())
    }

    /// The column of the mistake for which the engine refuses the template, from 1.
    pub(crate) fn column(&self) -> Option<usize> {
        let template = self.owned.borrow_owner();
        column_of_refusal(engine(template), template)
    }
}
