//! What can be told of an expression before it is worked out.

use minijinja::machinery::ast::{CallArg, Expr};

use super::methods::is_method;

/// Whether an expression has no variables.
pub(super) fn is_constant(expression: &Expr<'_>) -> bool {
    let all = |expressions: &[Expr<'_>]| expressions.iter().all(is_constant);
    let optional = |inner: &Option<Expr<'_>>| inner.as_ref().is_none_or(is_constant);
    let arguments = |arguments: &[CallArg<'_>]| {
        arguments.iter().all(|argument| match argument {
            CallArg::Pos(value) | CallArg::Kwarg(_, value) => is_constant(value),
            _ => false,
        })
    };
    match expression {
        Expr::Const(_) => true,
        Expr::Var(_) | Expr::Call(_) => false,
        Expr::Slice(node) => {
            is_constant(&node.expr)
                && optional(&node.start)
                && optional(&node.stop)
                && optional(&node.step)
        }
        Expr::UnaryOp(node) => is_constant(&node.expr),
        Expr::BinOp(node) => is_constant(&node.left) && is_constant(&node.right),
        Expr::Compare(node) => {
            is_constant(&node.expr) && node.ops.iter().all(|op| is_constant(&op.expr))
        }
        Expr::IfExpr(node) => {
            is_constant(&node.test_expr)
                && is_constant(&node.true_expr)
                && optional(&node.false_expr)
        }
        Expr::Filter(node) => optional(&node.expr) && arguments(&node.args),
        Expr::Test(node) => is_constant(&node.expr) && arguments(&node.args),
        Expr::GetAttr(node) => is_constant(&node.expr),
        Expr::GetItem(node) => is_constant(&node.expr) && is_constant(&node.subscript_expr),
        Expr::List(node) => all(&node.items),
        Expr::Tuple(node) => all(&node.items),
        Expr::Map(node) => all(&node.keys) && all(&node.values),
    }
}

/// Whether it makes no difference how often an expression is worked out.
pub(super) fn is_repeatable(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::Var(_) | Expr::Const(_) => true,
        Expr::GetAttr(node) => is_repeatable(&node.expr),
        Expr::GetItem(node) => is_repeatable(&node.expr) && is_repeatable(&node.subscript_expr),
        Expr::UnaryOp(node) => is_repeatable(&node.expr),
        Expr::BinOp(node) => is_repeatable(&node.left) && is_repeatable(&node.right),
        _ => false,
    }
}

/// A key that is no method's name: minijinja finds it as Python does.
pub(super) fn is_plain_key(subscript: &Expr<'_>) -> bool {
    match subscript {
        Expr::Const(key) => key.value.as_str().is_some_and(|key| !is_method(key)),
        _ => false,
    }
}

/// Whether an expression is the loop's own variable.
pub(super) fn is_loop(expression: &Expr<'_>) -> bool {
    matches!(expression, Expr::Var(name) if name.id == "loop")
}
