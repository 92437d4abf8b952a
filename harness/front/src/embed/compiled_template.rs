//! A template with its engine, compiled after an application.

use crate::front::Front;
use crate::prepared_case::PreparedCase;
use crate::program::FrontProgram;
use rolecall_core::guard::column_of_refusal;
use rolecall_core::{Case, Dialect, Engine, Limits, Outcome, Template};
use rolecall_go::GoEngine;
use rolecall_jinja::JinjaEngine;
use self_cell::self_cell;

struct Source {
    engine: Box<dyn Engine>,
    template: Template,
}

self_cell!(
    struct Owned {
        owner: Source,

        #[not_covariant]
        dependent: FrontProgram,
    }
);

/// A compiled template that owns everything it needs. Several threads may render with it at once.
///
/// Callers see to the stack: see `rolecall_core::guard`.
pub struct CompiledTemplate {
    owned: Owned,
}

impl CompiledTemplate {
    /// Compiles a template. If the engine refuses it, every outcome says so.
    pub fn new(template: Template, limits: &Limits) -> CompiledTemplate {
        let limits = limits.clone();
        let engine: Box<dyn Engine> = match template.dialect {
            Dialect::Jinja => Box::new(JinjaEngine::with_limits(limits)),
            Dialect::Go => Box::new(GoEngine::with_limits(limits)),
        };
        let owned = Owned::new(Source { engine, template }, |source| {
            FrontProgram::load(source.engine.as_ref(), &source.template)
        });
        CompiledTemplate { owned }
    }

    /// The template that was compiled.
    pub fn template(&self) -> &Template {
        &self.owned.borrow_owner().template
    }

    /// The outcome of a case with a front.
    pub fn outcome(&self, case: &Case, front: Front) -> Outcome {
        self.owned.with_dependent(|_, program| {
            let prepared = PreparedCase::new(case, front, &program.model);
            program.outcome(&prepared)
        })
    }

    /// Why the engine refuses the template, if it does.
    pub fn refusal(&self) -> Option<Outcome> {
        let owned = &self.owned;
        owned.with_dependent(|_, program| program.without_front().refusal().cloned())
    }

    /// The column of the mistake for which the engine refuses the template, from 1, in characters.
    pub fn column_of_refusal(&self) -> Option<usize> {
        let Source { engine, template } = self.owned.borrow_owner();
        column_of_refusal(engine.as_ref(), template)
    }
}
