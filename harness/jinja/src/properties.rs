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
        Expr::Slice(node) => [&node.start, &node.stop, &node.step]
            .into_iter()
            .flatten()
            .chain([&node.expr])
            .all(is_repeatable),
        Expr::List(node) => node.items.iter().all(is_repeatable),
        Expr::Tuple(node) => node.items.iter().all(is_repeatable),
        Expr::Filter(node) => {
            REPEATABLE_FILTERS.contains(&node.name)
                && node.expr.as_ref().is_some_and(is_repeatable)
                && are_repeatable(&node.args)
        }
        Expr::Call(node) => match &node.expr {
            Expr::GetAttr(method) => {
                // A generator that is joined is used up.
                is_method(method.name)
                    && method.name != "join"
                    && is_repeatable(&method.expr)
                    && are_repeatable(&node.args)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Filters that give the same each time, of a generator too.
const REPEATABLE_FILTERS: [&str; 12] = [
    "abs",
    "capitalize",
    "count",
    "default",
    "float",
    "int",
    "length",
    "lower",
    "round",
    "string",
    "trim",
    "upper",
];

fn are_repeatable(arguments: &[CallArg<'_>]) -> bool {
    arguments.iter().all(|argument| match argument {
        CallArg::Pos(value) | CallArg::Kwarg(_, value) => is_repeatable(value),
        CallArg::PosSplat(_) | CallArg::KwargSplat(_) => false,
    })
}

/// A text that is compared and looked up in no time, which need not be counted.
const SHORT: usize = 64;

fn is_short(text: &str) -> bool {
    text.len() <= SHORT
}

/// A key that is no method's name: minijinja finds it as Python does.
pub(super) fn is_plain_key(subscript: &Expr<'_>) -> bool {
    match subscript {
        Expr::Const(key) => key
            .value
            .as_str()
            .is_some_and(|key| is_short(key) && !is_method(key)),
        _ => false,
    }
}

/// Whether an expression is the loop's own variable.
pub(super) fn is_loop(expression: &Expr<'_>) -> bool {
    matches!(expression, Expr::Var(name) if name.id == "loop")
}

/// A text or a number.
pub(super) fn is_plain(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::Const(node) => node.value.as_str().is_some_and(is_short) || node.value.is_number(),
        _ => false,
    }
}

/// A list or tuple of few texts.
pub(super) fn is_short_list(expression: &Expr<'_>) -> bool {
    const FEW: usize = 16;
    let items = match expression {
        Expr::List(node) => &node.items,
        Expr::Tuple(node) => &node.items,
        _ => return false,
    };
    let is_text = |item: &Expr<'_>| match item {
        Expr::Const(node) => node.value.as_str().is_some_and(is_short),
        _ => false,
    };
    items.len() <= FEW && items.iter().all(is_text)
}

/// Whether an expression calls nothing but methods, so that no `raise_exception` is in it.
pub(super) fn is_silent(expression: &Expr<'_>) -> bool {
    let all = |expressions: &[Expr<'_>]| expressions.iter().all(is_silent);
    let optional = |inner: &Option<Expr<'_>>| inner.as_ref().is_none_or(is_silent);
    let arguments = |arguments: &[CallArg<'_>]| {
        arguments.iter().all(|argument| match argument {
            CallArg::Pos(value)
            | CallArg::Kwarg(_, value)
            | CallArg::PosSplat(value)
            | CallArg::KwargSplat(value) => is_silent(value),
        })
    };
    match expression {
        Expr::Const(_) | Expr::Var(_) => true,
        Expr::Call(node) => match &node.expr {
            Expr::GetAttr(method) => {
                is_method(method.name) && is_silent(&method.expr) && arguments(&node.args)
            }
            _ => false,
        },
        Expr::Slice(node) => {
            is_silent(&node.expr)
                && optional(&node.start)
                && optional(&node.stop)
                && optional(&node.step)
        }
        Expr::UnaryOp(node) => is_silent(&node.expr),
        Expr::BinOp(node) => is_silent(&node.left) && is_silent(&node.right),
        Expr::Compare(node) => {
            is_silent(&node.expr) && node.ops.iter().all(|op| is_silent(&op.expr))
        }
        Expr::IfExpr(node) => {
            is_silent(&node.test_expr) && is_silent(&node.true_expr) && optional(&node.false_expr)
        }
        Expr::Filter(node) => optional(&node.expr) && arguments(&node.args),
        Expr::Test(node) => is_silent(&node.expr) && arguments(&node.args),
        Expr::GetAttr(node) => is_silent(&node.expr),
        Expr::GetItem(node) => is_silent(&node.expr) && is_silent(&node.subscript_expr),
        Expr::List(node) => all(&node.items),
        Expr::Tuple(node) => all(&node.items),
        Expr::Map(node) => all(&node.keys) && all(&node.values),
    }
}
