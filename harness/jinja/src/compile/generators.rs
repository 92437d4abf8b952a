//! Which loops may run over a generator, and what they ask of its items in advance.

use minijinja::machinery::ast::{Expr, Stmt};

use crate::compile::nodes::{all_within, bodies, expressions, given};
use crate::compile::properties::is_loop_variable;

/// The filters that give a generator or another iterator (Jinja2 3.1.6, `filters.py`).
const FILTERS: [&str; 10] = [
    "batch",
    "items",
    "map",
    "reject",
    "rejectattr",
    "reverse",
    "select",
    "selectattr",
    "slice",
    "unique",
];

/// What a loop knows only with a look ahead (Jinja2's `LoopContext`).
pub(super) const AHEAD: [&str; 5] = ["last", "length", "nextitem", "revindex", "revindex0"];

/// What a loop knows without a look ahead.
const KNOWN: [&str; 8] = [
    "changed", "cycle", "depth", "depth0", "first", "index", "index0", "previtem",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Generators {
    None,
    /// A filter or a loop takes each of them at once.
    Taken,
    /// One may be used in several places.
    Shared,
}

impl Generators {
    /// The generators of a statement and all statements within it.
    pub(super) fn of(statement: &Stmt<'_>) -> Generators {
        let inner = bodies(statement).into_iter().flatten().map(Generators::of);
        let own = expressions(statement).into_iter().map(|expression| {
            let is_taken = matches!(statement, Stmt::ForLoop(node) if std::ptr::eq(&raw const node.iter, expression));
            within(expression, is_taken)
        });
        inner.chain(own).max().unwrap_or(Generators::None)
    }
}

/// The generators of an expression, whose own value a loop or a filter may take at once.
fn within(expression: &Expr<'_>, is_taken: bool) -> Generators {
    let mut most = match expression {
        Expr::Filter(node) if !FILTERS.contains(&node.name) => Generators::None,
        Expr::Filter(_) if is_taken => Generators::Taken,
        Expr::Filter(_) => Generators::Shared,
        _ => Generators::None,
    };
    let subject = match expression {
        Expr::Filter(node) => node.expr.as_ref(),
        _ => None,
    };
    all_within(expression, |inner| {
        let is_taken = subject.is_some_and(|subject| std::ptr::eq(subject, inner));
        most = most.max(within(inner, is_taken));
        true
    });
    most
}

/// What the body of a loop asks of its variable `loop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LoopUse {
    /// Nothing that needs a look ahead.
    Known,
    /// Whether there is a next item, or how many there are.
    Ahead,
    /// Something else.
    Any,
}

impl LoopUse {
    /// What statements ask.
    pub(super) fn of(body: &[Stmt<'_>]) -> LoopUse {
        let all = body.iter().map(LoopUse::of_statement);
        all.max().unwrap_or(LoopUse::Known)
    }

    fn of_statement(statement: &Stmt<'_>) -> LoopUse {
        let own = expressions(statement)
            .into_iter()
            .map(LoopUse::of_expression);
        // The body of a loop has a variable of its own, and a block or a macro may see another one.
        let inner = match statement {
            Stmt::ForLoop(node) => LoopUse::of(&node.else_body),
            Stmt::Macro(_) | Stmt::CallBlock(_) | Stmt::Block(_) => {
                match bodies(statement).into_iter().map(LoopUse::of).max() {
                    Some(LoopUse::Ahead | LoopUse::Any) => LoopUse::Any,
                    _ => LoopUse::Known,
                }
            }
            _ => bodies(statement)
                .into_iter()
                .map(LoopUse::of)
                .max()
                .unwrap_or(LoopUse::Known),
        };
        own.max().unwrap_or(LoopUse::Known).max(inner)
    }

    fn of_expression(expression: &Expr<'_>) -> LoopUse {
        match expression {
            Expr::GetAttr(node) if is_loop_variable(&node.expr) => {
                if KNOWN.contains(&node.name) {
                    LoopUse::Known
                } else if AHEAD.contains(&node.name) {
                    LoopUse::Ahead
                } else {
                    LoopUse::Any
                }
            }
            other if is_loop_variable(other) => LoopUse::Any,
            other => {
                let mut most = LoopUse::Known;
                all_within(other, |inner| {
                    most = most.max(LoopUse::of_expression(inner));
                    true
                });
                most
            }
        }
    }
}

/// Whether a statement, or one within it, reads the variable `loop` in another way than by a call.
pub(super) fn asks_loop_in(statement: &Stmt<'_>) -> bool {
    expressions(statement).into_iter().any(asks_loop)
        || bodies(statement).into_iter().flatten().any(asks_loop_in)
}

/// Whether an expression does so.
pub(super) fn asks_loop(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::Call(node) if is_loop_variable(&node.expr) => {
            node.args.iter().map(given).any(asks_loop)
        }
        other => is_loop_variable(other) || !all_within(other, |inner| !asks_loop(inner)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::grammar;

    #[test]
    fn generators_are_shared_unless_they_are_taken_at_once() {
        for (source, expected) in [
            ("{{ a | upper }}", Generators::None),
            ("{% for k, v in a | items %}{% endfor %}", Generators::Taken),
            ("{{ a | map('upper') | list }}", Generators::Taken),
            ("{% set a = b | map('upper') | list %}", Generators::Taken),
            ("{% set a = b | map('upper') %}", Generators::Shared),
            (
                "{% if x %}{{ f(a | reverse) }}{% endif %}",
                Generators::Shared,
            ),
        ] {
            let parsed = grammar::parse(source).unwrap();
            assert_eq!(Generators::of(&parsed.template), expected, "{source}");
        }
    }

    #[test]
    fn a_loop_is_asked_by_its_own_body() {
        for (body, expected) in [
            ("{{ loop.index }}{{ loop.cycle(1) }}", LoopUse::Known),
            ("{% if not loop.last %},{% endif %}", LoopUse::Ahead),
            (
                "{% for b in a %}{{ loop.last }}{% endfor %}",
                LoopUse::Known,
            ),
            ("{% for b in loop.length %}{% endfor %}", LoopUse::Ahead),
            ("{{ loop }}", LoopUse::Any),
        ] {
            let parsed = grammar::parse(body).unwrap();
            let Stmt::Template(node) = &parsed.template else {
                unreachable!()
            };
            assert_eq!(LoopUse::of(&node.children), expected, "{body}");
        }
    }
}
