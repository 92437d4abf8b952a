//! Random templates, made by the grammar of their language.
//!
//! Most values have the wanted type, and the templates are small, because a template that fails at
//! its first tag shows little.

mod arguments;

mod go;

mod jinja;

use rolecall_core::Dialect;

use rolecall_core::chance::Chance;

pub fn template(dialect: Dialect, chance: &mut Chance) -> String {
    match dialect {
        Dialect::Jinja => jinja::template(chance),
        Dialect::Go => go::template(chance),
    }
}

/// An expression of a dialect, for the place of a value.
pub fn expression(dialect: Dialect, chance: &mut Chance) -> String {
    match dialect {
        Dialect::Jinja => jinja::expression(chance),
        Dialect::Go => format!("({})", go::expression(chance)),
    }
}

/// Something to append to a value: a filter, a method, or a pipe into a function.
pub fn suffix(dialect: Dialect, chance: &mut Chance) -> String {
    match dialect {
        Dialect::Jinja => jinja::suffix(chance),
        Dialect::Go => go::suffix(chance),
    }
}

pub fn statements(dialect: Dialect, chance: &mut Chance) -> String {
    match dialect {
        Dialect::Jinja => jinja::statements(chance),
        Dialect::Go => go::statements(chance),
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::guard::load;
    use rolecall_core::{Case, Conversation, Outcome, Template};
    use rolecall_front::engines::Engines;
    use serde_json::json;

    use super::*;

    /// If all templates failed, they would show nothing.
    #[test]
    fn most_templates_give_a_prompt() {
        let engines = Engines::default();
        let case = Case::from_messages(vec![json!({"role": "user", "content": "hey"})]);
        let conversation = Conversation::new(&case);
        for dialect in Dialect::ALL {
            let engine = engines.for_dialect(dialect).unwrap();
            let is_rendered = |number| {
                let source = template(dialect, &mut Chance::of(1, number));
                let template = Template::from_source("t", dialect, &source);
                let outcome = load(engine, &template).render(&conversation);
                assert!(!matches!(outcome, Outcome::Crashed { .. }), "{source}");
                matches!(outcome, Outcome::Rendered { .. })
            };
            let rendered = (0..1000).filter(|number| is_rendered(*number)).count();
            assert!(rendered > 250, "{dialect}: {rendered} of 1000");
        }
    }
}
