//! The engines in this process.

use rolecall_go::Gotmpl;
use rolecall_model::{Dialect, Engine, Limits};

use rolecall_jinja::Minijinja;

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
    use rolecall_model::guard::load;
    use rolecall_model::{Case, Conversation, Outcome, Template};

    use super::*;

    #[test]
    fn minijinja_panics_on_an_empty_list_reversed() {
        // The reason why panics are caught at all: minijinja 3.0.5, value/ops.rs,
        // `range_step_backwards`. If this stops crashing, the defect is fixed upstream.
        let engines = Engines::default();
        let template = Template::from_source("t", Dialect::Jinja, "{{ [][::-1] }}");
        let case = Case::from_messages(vec![]);
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
