//! Properties of an expression that are known before its evaluation.

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, UnaryOpKind};

use crate::compile::nodes::all_within;
use crate::python::attributes::is_method;

/// Filters that take the context, so Jinja2 does not evaluate them when it compiles.
const OF_CONTEXT: [&str; 6] = [
    "map",
    "random",
    "reject",
    "rejectattr",
    "select",
    "selectattr",
];

/// The arguments that a macro gets besides its own.
pub(super) const SPECIAL: [&str; 3] = [CALLER, "kwargs", "varargs"];

/// The name under which a call is given its block.
pub(super) const CALLER: &str = "caller";

/// Whether an expression has no variables.
pub(super) fn is_constant(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::Var(_) | Expr::Call(_) => false,
        Expr::Filter(node) if OF_CONTEXT.contains(&node.name) => false,
        Expr::Filter(node) if has_splat(&node.args) => false,
        Expr::Test(node) if has_splat(&node.args) => false,
        other => all_within(other, is_constant),
    }
}

/// Whether a literal is true, if an expression is one.
pub(super) fn literal_truth(expression: &Expr<'_>) -> Option<bool> {
    match expression {
        Expr::Const(node) => Some(node.value.is_true()),
        literal if !is_constant(literal) => None,
        Expr::List(node) => Some(!node.items.is_empty()),
        Expr::Tuple(node) => Some(!node.items.is_empty()),
        Expr::Map(node) => Some(!node.keys.is_empty()),
        _ => None,
    }
}

/// Whether the filter `float` makes a number of a text that Python writes without digits.
pub(super) fn names_no_number(text: &str) -> bool {
    // Most texts end with another letter than these names.
    let may = !matches!(text.as_bytes(), [.., last] if last.is_ascii_graphic() && !b"fFnNyY".contains(last));
    may && without_digits(text).is_some()
}

fn without_digits(text: &str) -> Option<&'static str> {
    let name = text.trim().trim_start_matches(['+', '-']);
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    if is("inf") || is("infinity") {
        Some("inf")
    } else {
        is("nan").then_some("nan")
    }
}

/// Python's text for a constant or a number in it, if it has no digits, such as `inf`. Jinja2
/// writes this text into its code, and Python does not know the name there (`compiler.py`,
/// `visit_Const`).
pub(super) fn unknown_number(constant: &Expr<'_>) -> Option<&'static str> {
    let among = |items: &[Expr<'_>]| items.iter().find_map(unknown_number);
    match constant {
        Expr::Const(node) => {
            let float = f64::try_from(node.value.clone());
            float.is_ok_and(f64::is_infinite).then_some("inf")
        }
        Expr::Filter(node) => match (node.name, node.expr.as_ref()?) {
            ("float", Expr::Const(text)) if text.value.as_str().is_some() => {
                without_digits(text.value.as_str()?)
            }
            ("float" | "abs" | "round", inner) => unknown_number(inner),
            _ => None,
        },
        Expr::UnaryOp(node) if matches!(node.op, UnaryOpKind::Neg) => unknown_number(&node.expr),
        Expr::BinOp(node) => match node.op {
            BinOpKind::Add | BinOpKind::Sub | BinOpKind::Mul => {
                unknown_number(&node.left).or_else(|| unknown_number(&node.right))
            }
            BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem => unknown_number(&node.left),
            _ => None,
        },
        Expr::GetAttr(node) => unknown_number(&node.expr),
        Expr::GetItem(node) => unknown_number(&node.expr),
        Expr::List(node) => among(&node.items),
        Expr::Tuple(node) => among(&node.items),
        Expr::Map(node) => among(&node.keys).or_else(|| among(&node.values)),
        _ => None,
    }
}

/// Whether one of the arguments is `*list` or `**dictionary`.
fn has_splat(arguments: &[CallArg<'_>]) -> bool {
    arguments
        .iter()
        .any(|argument| matches!(argument, CallArg::PosSplat(_) | CallArg::KwargSplat(_)))
}

/// Whether a text is so short that the work of comparing it, or of looking for it, need not
/// be counted.
fn is_short(text: &str) -> bool {
    const SHORT: usize = 64;
    text.len() <= SHORT
}

/// Whether a subscript is a short text and no method's name: minijinja finds such a key as
/// Python does.
pub(super) fn is_plain_key(subscript: &Expr<'_>) -> bool {
    match subscript {
        Expr::Const(key) => key
            .value
            .as_str()
            .is_some_and(|key| is_short(key) && !is_method(key)),
        _ => false,
    }
}

/// Whether an expression is the variable `loop`.
pub(super) fn is_loop_variable(expression: &Expr<'_>) -> bool {
    matches!(expression, Expr::Var(name) if name.id == "loop")
}

/// Whether an expression is the variable `self`.
pub(super) fn is_self(expression: &Expr<'_>) -> bool {
    matches!(expression, Expr::Var(name) if name.id == "self")
}

/// Whether an expression is only looked up, so that evaluating it hardly ever fails.
pub(super) fn is_lookup(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::Var(_) | Expr::Const(_) => true,
        Expr::GetAttr(node) => matches!(node.expr, Expr::Var(_)),
        Expr::GetItem(node) => {
            matches!(
                (&node.expr, &node.subscript_expr),
                (Expr::Var(_), Expr::Const(_))
            )
        }
        _ => false,
    }
}
