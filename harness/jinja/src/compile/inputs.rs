//! The variables that a template expects from outside.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{Expr, Stmt};

use crate::compile::nodes::{all_within, assigned, bodies, expressions, names};
use crate::library::functions;

/// The variables that a template takes from the context and does not set itself, among the names that
/// its compiled form looks for there.
///
/// A name that a branch of a condition sets stays set after the condition. So a name that the
/// template sets anywhere counts only if the template also asks whether it is defined: `{% if date
/// is not defined %}{% set date = … %}`.
pub(crate) fn variables(template: &Stmt<'_>, looked_for: &[Box<str>]) -> BTreeSet<String> {
    let mut found = InputNames::default();
    found.statement(template);
    let names = looked_for.iter().map(|name| &**name);
    names
        .filter(|name| !["self", "super"].contains(name) && !functions::is_global(name))
        .filter(|name| !found.set.contains(name) || found.asked_for.contains(name))
        .map(str::to_owned)
        .collect()
}

/// The names that a piece of a template sets and asks for.
#[derive(Default)]
struct InputNames<'s> {
    /// The names that a `set` assigns.
    set: BTreeSet<&'s str>,
    /// The names that the template tests with `is defined`.
    asked_for: BTreeSet<&'s str>,
}

impl<'s> InputNames<'s> {
    fn statement(&mut self, statement: &Stmt<'s>) {
        if let Stmt::Set(_) | Stmt::SetBlock(_) = statement {
            for (target, _) in assigned(statement) {
                names(target, &mut |name| {
                    self.set.insert(name);
                });
            }
        }
        for expression in expressions(statement) {
            self.expression(expression);
        }
        for inner in bodies(statement).into_iter().flatten() {
            self.statement(inner);
        }
    }

    fn expression(&mut self, expression: &Expr<'s>) {
        let asked = match expression {
            Expr::Test(node) if ["defined", "undefined"].contains(&node.name) => Some(&node.expr),
            Expr::Filter(node) if ["default", "d"].contains(&node.name) => node.expr.as_ref(),
            _ => None,
        };
        if let Some(Expr::Var(name)) = asked {
            self.asked_for.insert(name.id);
        }
        all_within(expression, |inner| {
            self.expression(inner);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{grammar, lower};

    #[test]
    fn what_a_template_sets_itself_is_no_input() {
        let of = |source: &str| -> Vec<String> {
            let parsed = grammar::parse(source).unwrap();
            let code = lower::lower(&parsed, false).unwrap().code;
            variables(&parsed.template, &code.globals)
                .into_iter()
                .collect()
        };
        assert_eq!(of("{{ a }}{{ b.c }}{% if d %}{% endif %}"), ["a", "b", "d"]);
        let branches = "{% if m is string %}{% set text = m %}{% else %}{% set text = '' %}{% endif %}{{ text }}";
        assert_eq!(of(branches), ["m"]);
        let default = "{% if date is not defined %}{% set date = 'x' %}{% endif %}{{ date }}";
        assert_eq!(of(default), ["date"]);
        let filtered = "{% if not a %}{% set date = 'x' %}{% endif %}{{ date | default('y') }}";
        assert_eq!(of(filtered), ["a", "date"]);
        assert_eq!(of("{% set ns = namespace(x=1) %}{{ ns.x }}"), [""; 0]);
        assert_eq!(
            of("{% for m in a[b:] %}{{ m.x[c] }}{% endfor %}"),
            ["a", "b", "c"]
        );
        // The loop reads nothing, because the assignment comes later.
        assert_eq!(
            of("{% for m in a %}{{ tools }}{% endfor %}{% set tools = b %}"),
            ["a", "b"]
        );
        // Constants are not evaluated, and the names next to them are found.
        let constants = "a 1 'b' {{ c['d\\'' ~ \"e\"] + 0x1f*f-1.5e3 }}{{ ('x' * 99999999) ~ ('x' * 99999999) }}{{g.0}} 'h'";
        assert_eq!(of(constants), ["c", "f", "g"]);
    }
}
