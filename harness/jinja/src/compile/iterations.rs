//! Loops that always have an iteration, because a condition around them asks for what they go
//! through.
//!
//! What a condition finds true has something in it, if it is a list, a dictionary or a text. Only
//! values of the conversation are known to be one of these: what a template assigns itself can be a
//! generator, which is true even if nothing comes of it.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{BinOpKind, Expr, Stmt, UnaryOpKind};
use minijinja::value::Value;

use crate::compile::nodes::{Source, assigned, bodies, names};

/// The names that a template assigns other than by a loop, and the attributes that it assigns.
#[derive(Debug, Default)]
pub(super) struct Assigned(BTreeSet<String>);

/// Paths to values, such as `message.tool_calls`, that have something in them.
pub(super) type Full = Vec<String>;

impl Assigned {
    pub(super) fn of(template: &Stmt<'_>) -> Assigned {
        let mut assigned = Assigned::default();
        assigned.add(template);
        assigned
    }

    fn add(&mut self, statement: &Stmt<'_>) {
        for (target, source) in assigned(statement) {
            // A loop over the groups of a filter has whatever the filter makes.
            if !matches!(source, Source::ElementOf(list) if path(list).is_some()) {
                self.target(target);
            }
        }
        for inner in bodies(statement).into_iter().flatten() {
            self.add(inner);
        }
    }

    fn target(&mut self, target: &Expr<'_>) {
        names(target, &mut |name| {
            self.0.insert(name.to_owned());
        });
        if let Expr::GetAttr(node) = target {
            self.0.insert(node.name.to_owned());
        }
        if let Expr::List(node) = target {
            node.items.iter().for_each(|item| self.target(item));
        }
    }

    /// What a loop goes through, if it is a value of the conversation.
    pub(super) fn looped(&self, expression: &Expr<'_>) -> Option<String> {
        match expression {
            // All entries of a dictionary.
            Expr::Call(node) if node.args.is_empty() => match &node.expr {
                Expr::GetAttr(method) if method.name == "items" => self.known(&method.expr),
                _ => None,
            },
            Expr::Filter(node) if node.name == "items" && node.args.is_empty() => {
                self.known(node.expr.as_ref()?)
            }
            other => self.known(other),
        }
    }

    fn known(&self, expression: &Expr<'_>) -> Option<String> {
        let path = path(expression)?;
        let mut names = path.split(['.', '[']);
        names.all(|name| !self.0.contains(name)).then_some(path)
    }

    /// Forgets what is known of the variables of a loop: they have other values in it.
    pub(super) fn forget(target: &Expr<'_>, full: &mut Full) {
        names(target, &mut |name| {
            full.retain(|path| path.split(['.', '[']).next() != Some(name));
        });
    }

    /// Adds what has something in it, if a condition has this truth.
    pub(super) fn ask(&self, condition: &Expr<'_>, truth: bool, full: &mut Full) {
        match condition {
            Expr::UnaryOp(node) if matches!(node.op, UnaryOpKind::Not) => {
                self.ask(&node.expr, !truth, full);
            }
            Expr::BinOp(node) => {
                let is_all = match node.op {
                    BinOpKind::ScAnd => truth,
                    BinOpKind::ScOr => !truth,
                    _ => return,
                };
                if is_all {
                    self.ask(&node.left, truth, full);
                    self.ask(&node.right, truth, full);
                }
            }
            other if truth => full.extend(self.known(other)),
            _ => {}
        }
    }
}

/// A variable, or an attribute or an item of one. The forms stay apart: `a.items` and `a['items']`
/// are two values.
fn path(expression: &Expr<'_>) -> Option<String> {
    match expression {
        Expr::Var(name) => Some(name.id.to_owned()),
        Expr::GetAttr(node) => Some(format!("{}.{}", path(&node.expr)?, node.name)),
        Expr::GetItem(node) => match &node.subscript_expr {
            Expr::Const(key) => {
                let key: &Value = &key.value;
                Some(format!("{}[{}", path(&node.expr)?, key.as_str()?))
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Dialect, Program, SiteKind, Template};

    use crate::JinjaEngine;

    /// Whether the last loop of a template always has an iteration.
    fn always_iterates(source: &str) -> bool {
        let template = Template::from_source("t", Dialect::Jinja, source);
        let program = JinjaEngine::new().program(&template).unwrap();
        let sites = program.sites().unwrap();
        let mut loops = sites
            .iter()
            .rev()
            .filter(|site| site.kind == SiteKind::Loop);
        loops.next().unwrap().is_never_empty
    }

    #[test]
    fn a_condition_that_asks_for_the_list_leaves_no_loop_empty() {
        let looped = "{% for x in tools %}{{ x }}{% endfor %}";
        for (before, after, is_never_empty) in [
            ("{% if tools %}", "{% endif %}", true),
            ("{% if tools and messages %}", "{% endif %}", true),
            ("{% if not tools %}{% else %}", "{% endif %}", true),
            (
                "{% if not tools or not messages %}{% else %}",
                "{% endif %}",
                true,
            ),
            ("", "", false),
            ("{% if tools %}{% endif %}", "", false),
            ("{% if tools or messages %}", "{% endif %}", false),
            ("{% if not tools %}", "{% endif %}", false),
            ("{% if messages %}", "{% endif %}", false),
            ("{% if tools is defined %}", "{% endif %}", false),
            ("{% if tools %}{% else %}", "{% endif %}", false),
            // What is assigned can be empty in spite of the condition.
            (
                "{% set tools = messages | select %}{% if tools %}",
                "{% endif %}",
                false,
            ),
            ("{% if tools %}{% set tools = [] %}", "{% endif %}", false),
            (
                "{% if tools %}{% for tools in messages %}",
                "{% endfor %}{% endif %}",
                false,
            ),
            (
                "{% if tools %}{% macro m() %}",
                "{% endmacro %}{% endif %}",
                false,
            ),
            (
                "{% if tools %}{% generation %}",
                "{% endgeneration %}{% endif %}",
                true,
            ),
            (
                "{% macro m(tools) %}{% if tools %}",
                "{% endif %}{% endmacro %}",
                false,
            ),
        ] {
            let source = format!("{before}{looped}{after}");
            assert_eq!(always_iterates(&source), is_never_empty, "{source}");
        }
    }

    #[test]
    fn the_loop_goes_through_exactly_what_was_asked_for() {
        for (asked, looped, is_never_empty) in [
            ("m.tool_calls", "x in m.tool_calls", true),
            ("m['tool_calls']", "x in m['tool_calls']", true),
            ("m.properties", "k, v in m.properties.items()", true),
            ("m.properties", "k, v in m.properties | items", true),
            ("m['tool_calls']", "x in m.tool_calls", false),
            ("m.tool_calls", "x in m.tool_calls if x", false),
            ("m.tool_calls", "x in m.tool_calls[1:]", false),
            ("m", "x in m.tool_calls", false),
            ("m.tool_calls", "x in n.tool_calls", false),
        ] {
            let source = format!(
                "{{% for m in messages %}}{{% if {asked} %}}{{% for {looped} %}}{{% endfor %}}{{% endif %}}{{% endfor %}}"
            );
            assert_eq!(always_iterates(&source), is_never_empty, "{source}");
        }
        // An attribute that is assigned somewhere.
        let source = "{% set ns = namespace() %}{% set ns.calls = messages | select %}\
                      {% if ns.calls %}{% for x in ns.calls %}{% endfor %}{% endif %}";
        assert!(!always_iterates(source));
    }
}
