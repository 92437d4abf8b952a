//! The variables that a template expects from outside.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{Expr, Macro, Stmt};

use crate::compile::nodes::{all_within, bodies, expressions, given};
use crate::library::functions;

/// The variables that a template reads and does not set itself.
///
/// A name that a branch of a condition sets stays set after the condition. So a name that the
/// template sets anywhere counts only if the template also asks whether it is defined: `{% if date
/// is not defined %}{% set date = … %}`.
pub(crate) fn variables(template: &Stmt<'_>) -> BTreeSet<String> {
    let mut inputs = InputNames {
        scopes: vec![BTreeSet::from(["self"])],
        ..InputNames::default()
    };
    inputs.statement(template);
    let read = inputs.read.iter();
    read.filter(|name| !functions::is_global(name))
        .filter(|name| !inputs.set.contains(*name) || inputs.asked_for.contains(*name))
        .map(|name| (*name).to_owned())
        .collect()
}

/// The names that a piece of a template reads, sets and asks for.
#[derive(Default)]
struct InputNames<'s> {
    /// The names that are known in the scopes around a piece.
    scopes: Vec<BTreeSet<&'s str>>,
    /// The names that are read where they are not known.
    read: BTreeSet<&'s str>,
    /// The names that a `set` assigns.
    set: BTreeSet<&'s str>,
    /// The names that the template tests with `is defined`.
    asked_for: BTreeSet<&'s str>,
}

impl<'s> InputNames<'s> {
    fn knows(&mut self, name: &'s str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name);
        }
    }

    /// Goes through statements that have a scope of their own.
    fn scope(&mut self, within: impl FnOnce(&mut InputNames<'s>)) {
        self.scopes.push(BTreeSet::new());
        within(self);
        self.scopes.pop();
    }

    fn statements(&mut self, statements: &[Stmt<'s>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt<'s>) {
        match statement {
            Stmt::ForLoop(node) => {
                self.expression(&node.iter);
                self.scope(|inner| {
                    inner.knows("loop");
                    inner.target(&node.target, false);
                    if let Some(condition) = &node.filter_expr {
                        inner.expression(condition);
                    }
                    inner.statements(&node.body);
                });
                self.scope(|inner| inner.statements(&node.else_body));
            }
            Stmt::WithBlock(node) => self.scope(|inner| {
                for (_, value) in &node.assignments {
                    inner.expression(value);
                }
                for (target, _) in &node.assignments {
                    inner.target(target, false);
                }
                inner.statements(&node.body);
            }),
            Stmt::Block(node) => self.scope(|inner| {
                inner.knows("super");
                inner.statements(&node.body);
            }),
            Stmt::Macro(node) => {
                self.knows(node.name);
                self.macro_body(node);
            }
            Stmt::CallBlock(node) => {
                self.expression(&node.call.expr);
                for argument in &node.call.args {
                    self.expression(given(argument));
                }
                self.macro_body(&node.macro_decl);
            }
            Stmt::Import(node) => self.target(&node.name, false),
            Stmt::FromImport(node) => {
                for (name, alias) in &node.names {
                    self.target(alias.as_ref().unwrap_or(name), false);
                }
            }
            _ => {
                for expression in expressions(statement) {
                    self.expression(expression);
                }
                for body in bodies(statement) {
                    self.scope(|inner| inner.statements(body));
                }
                match statement {
                    Stmt::Set(node) => self.target(&node.target, true),
                    Stmt::SetBlock(node) => self.target(&node.target, true),
                    _ => {}
                }
            }
        }
    }

    fn macro_body(&mut self, node: &Macro<'s>) {
        self.scope(|inner| {
            inner.knows("caller");
            for argument in &node.args {
                inner.target(argument, false);
            }
            for default in &node.defaults {
                inner.expression(default);
            }
            inner.statements(&node.body);
        });
    }

    fn target(&mut self, target: &Expr<'s>, is_set: bool) {
        match target {
            Expr::Var(name) => {
                self.knows(name.id);
                if is_set {
                    self.set.insert(name.id);
                }
            }
            Expr::List(list) => {
                for item in &list.items {
                    self.target(item, is_set);
                }
            }
            other => self.expression(other),
        }
    }

    fn expression(&mut self, expression: &Expr<'s>) {
        let asked = match expression {
            Expr::Var(name) => {
                if !self.scopes.iter().any(|scope| scope.contains(name.id)) {
                    self.read.insert(name.id);
                }
                None
            }
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
    use crate::compile::grammar;

    #[test]
    fn what_a_template_sets_itself_is_no_input() {
        let of = |source: &str| -> Vec<String> {
            let parsed = grammar::parse(source).unwrap();
            variables(&parsed.template).into_iter().collect()
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
        // Constants are not evaluated, and the names next to them are found.
        let constants = "a 1 'b' {{ c['d\\'' ~ \"e\"] + 0x1f*f-1.5e3 }}{{ ('x' * 99999999) ~ ('x' * 99999999) }}{{g.0}} 'h'";
        assert_eq!(of(constants), ["c", "f", "g"]);
    }
}
