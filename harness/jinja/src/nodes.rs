//! Pieces of a syntax tree.

use minijinja::Value;
use minijinja::machinery::Span;
use minijinja::machinery::ast::{CallArg, Const, EmitExpr, Expr, Filter, Spanned, Stmt, Var};

use super::operators::Operator;

/// An operator over its operands.
pub(super) fn operation(operator: Operator, operands: Vec<Expr<'_>>, span: Span) -> Expr<'_> {
    let mut operands = operands.into_iter();
    let expr = operands.next();
    let filter = Filter {
        name: operator.name(),
        expr,
        args: operands.map(CallArg::Pos).collect(),
    };
    Expr::Filter(Spanned::new(filter, span))
}

/// A value that is known.
pub(super) fn constant<'s>(value: impl Into<Value>, span: Span) -> Expr<'s> {
    let value = value.into();
    Expr::Const(Spanned::new(Const { value }, span))
}

/// A variable.
pub(super) fn variable(id: &str, span: Span) -> Expr<'_> {
    Expr::Var(Spanned::new(Var { id }, span))
}

/// A statement that writes a value.
pub(super) fn emit(expr: Expr<'_>, span: Span) -> Stmt<'_> {
    Stmt::EmitExpr(Spanned::new(EmitExpr { expr }, span))
}
