//! How a template leaves a loop: whether the loop's `else` runs, and `break` and `continue` within
//! a `with`, `set`, `filter` or `autoescape` block of the loop.
//!
//! minijinja jumps out of the loop there and leaves scopes and captured texts open. So here a
//! variable of the loop notes how the template leaves it. The tree skips the following statements
//! and jumps after it has closed the scopes.

use minijinja::machinery::Span;
use minijinja::machinery::ast::{Break, Continue, Expr, GetAttr, IfCond, Set, Spanned, Stmt};

use crate::compile::nodes::{constant, evaluate, not, operation, variable};
use crate::operator::Operator;

/// The variable that notes how a loop is left. No template can spell it.
const DEPARTURE: &str = "departure";

/// The attributes of the variable: whether the loop is left, and whether that is for good.
const LEAVES: &str = "leaves";
const BREAKS: &str = "breaks";

/// Whether a loop's statements leave it, from within themselves or deeper.
pub(super) fn leave(statements: &[Stmt<'_>]) -> bool {
    statements.iter().any(|statement| match statement {
        Stmt::Break(_) | Stmt::Continue(_) => true,
        Stmt::IfCond(node) => leave(&node.true_body) || leave(&node.false_body),
        Stmt::ForLoop(node) => leave(&node.else_body),
        scope => body_of_scope(scope).is_some_and(leave),
    })
}

/// Whether a loop's statements leave it from within a scope.
pub(super) fn leave_scope(statements: &[Stmt<'_>]) -> bool {
    statements.iter().any(|statement| match statement {
        Stmt::IfCond(node) => leave_scope(&node.true_body) || leave_scope(&node.false_body),
        Stmt::ForLoop(node) => leave_scope(&node.else_body),
        scope => body_of_scope(scope).is_some_and(leave),
    })
}

fn body_of_scope<'n, 's>(statement: &'n Stmt<'s>) -> Option<&'n [Stmt<'s>]> {
    match statement {
        Stmt::WithBlock(node) => Some(&node.body),
        Stmt::SetBlock(node) => Some(&node.body),
        Stmt::FilterBlock(node) => Some(&node.body),
        Stmt::AutoEscape(node) => Some(&node.body),
        _ => None,
    }
}

/// The statement at the beginning of a loop's body. It notes that the template has not left the
/// loop.
pub(super) fn begin<'s>(span: Span) -> Stmt<'s> {
    let set = Set {
        target: variable(DEPARTURE, span),
        expr: operation(Operator::Departure, [constant((), span)], span),
    };
    Stmt::Set(Spanned::new(set, span))
}

/// Replaces the statement that leaves the loop with one that notes it.
pub(super) fn note<'s>(is_break: bool, span: Span) -> Vec<Stmt<'s>> {
    let attributes = if is_break {
        &[LEAVES, BREAKS][..]
    } else {
        &[LEAVES]
    };
    let set = |name: &&'static str| {
        let operands = [
            variable(DEPARTURE, span),
            constant(*name, span),
            constant(true, span),
        ];
        evaluate(operation(Operator::SetAttribute, operands, span), span)
    };
    attributes.iter().map(set).collect()
}

/// Leaves the loop if that was noted.
pub(super) fn follow<'s>(span: Span) -> Stmt<'s> {
    let how = IfCond {
        expr: noted(BREAKS, span),
        true_body: vec![Stmt::Break(Spanned::new(Break, span))],
        false_body: vec![Stmt::Continue(Spanned::new(Continue, span))],
    };
    let whether = IfCond {
        expr: noted(LEAVES, span),
        true_body: vec![Stmt::IfCond(Spanned::new(how, span))],
        false_body: Vec::new(),
    };
    Stmt::IfCond(Spanned::new(whether, span))
}

/// The variables that note whether the template left a loop in every iteration, one for each level
/// of nested loops. No template can spell them.
const ARRIVALS: [&str; 8] = [
    "arrival 1",
    "arrival 2",
    "arrival 3",
    "arrival 4",
    "arrival 5",
    "arrival 6",
    "arrival 7",
    "arrival 8",
];

/// The statement before a loop with an `else`. It notes that no iteration has reached the end of
/// the body. None if loops nest too deeply.
pub(super) fn await_arrival<'s>(level: usize, span: Span) -> Option<Stmt<'s>> {
    let set = Set {
        target: variable(ARRIVALS.get(level)?, span),
        expr: operation(Operator::Departure, [constant((), span)], span),
    };
    Some(Stmt::Set(Spanned::new(set, span)))
}

/// The statement at the end of that loop's body.
pub(super) fn arrive<'s>(level: usize, span: Span) -> Option<Stmt<'s>> {
    let operands = [
        variable(ARRIVALS.get(level)?, span),
        constant(LEAVES, span),
        constant(true, span),
    ];
    Some(evaluate(
        operation(Operator::SetAttribute, operands, span),
        span,
    ))
}

/// The `else` of that loop. It runs if no iteration reached its end (Jinja2's compiler.py,
/// `visit_For`).
pub(super) fn unless_arrived(
    level: usize,
    statements: Vec<Stmt<'_>>,
    span: Span,
) -> Option<Stmt<'_>> {
    let expr = variable(ARRIVALS.get(level)?, span);
    let noted = Expr::GetAttr(Spanned::new(GetAttr { expr, name: LEAVES }, span));
    let condition = IfCond {
        expr: not(noted, span),
        true_body: statements,
        false_body: Vec::new(),
    };
    Some(Stmt::IfCond(Spanned::new(condition, span)))
}

/// Statements that run only if the template has not left the loop.
pub(super) fn unless_left(statements: Vec<Stmt<'_>>, span: Span) -> Stmt<'_> {
    let condition = IfCond {
        expr: not(noted(LEAVES, span), span),
        true_body: statements,
        false_body: Vec::new(),
    };
    Stmt::IfCond(Spanned::new(condition, span))
}

fn noted<'s>(name: &'static str, span: Span) -> Expr<'s> {
    let expr = variable(DEPARTURE, span);
    Expr::GetAttr(Spanned::new(GetAttr { expr, name }, span))
}
