//! The engines in this process.

use crate::plain_minijinja::Minijinja;
use rolecall_core::{Dialect, Engine, Limits};
use rolecall_go::GoEngine;
use rolecall_jinja::JinjaEngine;

/// The engines in this process. The first of each dialect is its default.
#[derive(Debug)]
pub struct Engines {
    jinja: JinjaEngine,
    plain: Minijinja,
    go: GoEngine,
}

impl Default for Engines {
    fn default() -> Engines {
        Engines::with_limits(&Limits::default())
    }
}

impl Engines {
    /// The engines, each with these limits on fuel, output and recursion.
    pub fn with_limits(limits: &Limits) -> Engines {
        Engines {
            jinja: JinjaEngine::with_limits(limits.clone()),
            plain: Minijinja::with_limits(limits.clone()),
            go: GoEngine::with_limits(limits.clone()),
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<&dyn Engine> {
        vec![&self.jinja, &self.plain, &self.go]
    }

    /// The engine with this name. None if no engine of this process has it.
    pub fn by_name(&self, name: &str) -> Option<&dyn Engine> {
        self.all().into_iter().find(|engine| engine.name() == name)
    }

    /// The default engine for a dialect.
    pub fn for_dialect(&self, dialect: Dialect) -> Option<&dyn Engine> {
        self.all()
            .into_iter()
            .find(|engine| engine.dialect() == dialect)
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::guard::load;
    use rolecall_core::{Case, Conversation, Outcome, Template};

    use super::*;

    #[test]
    fn minijinja_panics_on_an_empty_list_reversed() {
        // This panic is the reason why Rolecall catches panics: minijinja 3.0.5, value/ops.rs,
        // `range_step_backwards`. If it stops crashing, upstream has fixed the defect.
        let engines = Engines::default();
        let template = Template::from_source("t", Dialect::Jinja, "{{ [][::-1] }}");
        let case = Case::from_messages(vec![]);
        let outcome = |name| {
            load(engines.by_name(name).unwrap(), &template).render(&Conversation::new(&case))
        };
        assert!(matches!(outcome("minijinja"), Outcome::Crashed { .. }));
        assert_eq!(
            outcome("rolecall-jinja"),
            Outcome::Rendered { text: "[]".into() }
        );
    }
}
