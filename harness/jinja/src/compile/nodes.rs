//! The nodes of a syntax tree: what is within them.

use minijinja::Value;
use minijinja::machinery::Span;
use minijinja::machinery::ast::{
    CallArg, Const, EmitExpr, Expr, Spanned, Stmt, UnaryOp, UnaryOpKind, Var,
};

pub(super) fn constant<'s>(value: impl Into<Value>, span: Span) -> Expr<'s> {
    let value = value.into();
    Expr::Const(Spanned::new(Const { value }, span))
}

/// `not a`
pub(super) fn not(expr: Expr<'_>, span: Span) -> Expr<'_> {
    let op = UnaryOpKind::Not;
    Expr::UnaryOp(Spanned::new(UnaryOp { op, expr }, span))
}

pub(super) fn variable(id: &str, span: Span) -> Expr<'_> {
    Expr::Var(Spanned::new(Var { id }, span))
}

/// A statement that writes a value.
pub(super) fn emit(expr: Expr<'_>, span: Span) -> Stmt<'_> {
    Stmt::EmitExpr(Spanned::new(EmitExpr { expr }, span))
}

/// Whether something holds of every expression that is directly within another.
pub(super) fn all_within<'e, 's>(
    expression: &'e Expr<'s>,
    mut holds: impl FnMut(&'e Expr<'s>) -> bool,
) -> bool {
    match expression {
        Expr::Var(_) | Expr::Const(_) => true,
        Expr::Slice(node) => {
            let bounds = [&node.start, &node.stop, &node.step];
            holds(&node.expr) && bounds.into_iter().flatten().all(holds)
        }
        Expr::UnaryOp(node) => holds(&node.expr),
        Expr::BinOp(node) => holds(&node.left) && holds(&node.right),
        Expr::Compare(node) => holds(&node.expr) && node.ops.iter().all(|op| holds(&op.expr)),
        Expr::IfExpr(node) => {
            holds(&node.test_expr)
                && holds(&node.true_expr)
                && node.false_expr.as_ref().is_none_or(holds)
        }
        Expr::Filter(node) => {
            node.expr.as_ref().is_none_or(&mut holds) && node.args.iter().map(given).all(holds)
        }
        Expr::Test(node) => holds(&node.expr) && node.args.iter().map(given).all(holds),
        Expr::GetAttr(node) => holds(&node.expr),
        Expr::GetItem(node) => holds(&node.expr) && holds(&node.subscript_expr),
        Expr::Call(node) => holds(&node.expr) && node.args.iter().map(given).all(holds),
        Expr::List(node) => node.items.iter().all(holds),
        Expr::Tuple(node) => node.items.iter().all(holds),
        Expr::Map(node) => node.keys.iter().chain(&node.values).all(holds),
    }
}

/// The expressions that are directly within a statement, without what it assigns to.
pub(super) fn expressions<'e, 's>(statement: &'e Stmt<'s>) -> Vec<&'e Expr<'s>> {
    match statement {
        Stmt::EmitExpr(node) => vec![&node.expr],
        Stmt::ForLoop(node) => [&node.iter].into_iter().chain(&node.filter_expr).collect(),
        Stmt::IfCond(node) => vec![&node.expr],
        Stmt::WithBlock(node) => node.assignments.iter().map(|(_, value)| value).collect(),
        Stmt::Set(node) => vec![&node.expr],
        Stmt::SetBlock(node) => node.filter.iter().collect(),
        Stmt::AutoEscape(node) => vec![&node.enabled],
        Stmt::FilterBlock(node) => vec![&node.filter],
        Stmt::Macro(node) => node.defaults.iter().collect(),
        Stmt::CallBlock(node) => {
            let callee = [&node.call.expr].into_iter();
            let handed = callee.chain(node.call.args.iter().map(given));
            handed.chain(&node.macro_decl.defaults).collect()
        }
        Stmt::Extends(node) => vec![&node.name],
        Stmt::Include(node) => vec![&node.name],
        Stmt::Import(node) => vec![&node.expr],
        Stmt::FromImport(node) => vec![&node.expr],
        Stmt::Do(node) => {
            let callee = [&node.call.expr].into_iter();
            callee.chain(node.call.args.iter().map(given)).collect()
        }
        Stmt::Template(_)
        | Stmt::Block(_)
        | Stmt::EmitRaw(_)
        | Stmt::Continue(_)
        | Stmt::Break(_) => Vec::new(),
    }
}

/// The statements that are directly within another.
pub(super) fn bodies<'e, 's>(statement: &'e Stmt<'s>) -> Vec<&'e [Stmt<'s>]> {
    match statement {
        Stmt::Template(node) => vec![&node.children],
        Stmt::ForLoop(node) => vec![&node.body, &node.else_body],
        Stmt::IfCond(node) => vec![&node.true_body, &node.false_body],
        Stmt::WithBlock(node) => vec![&node.body],
        Stmt::SetBlock(node) => vec![&node.body],
        Stmt::AutoEscape(node) => vec![&node.body],
        Stmt::FilterBlock(node) => vec![&node.body],
        Stmt::Block(node) => vec![&node.body],
        Stmt::Macro(node) => vec![&node.body],
        Stmt::CallBlock(node) => vec![&node.macro_decl.body],
        _ => Vec::new(),
    }
}

/// Where a value comes from that a statement assigns.
#[derive(Clone, Copy)]
pub(super) enum Source<'e, 's> {
    Value(&'e Expr<'s>),
    ElementOf(&'e Expr<'s>),
    Unknown,
}

/// The targets that a statement itself assigns to, other than the name of a macro.
pub(super) fn assigned<'e, 's>(statement: &'e Stmt<'s>) -> Vec<(&'e Expr<'s>, Source<'e, 's>)> {
    let unknown = |target| (target, Source::Unknown);
    match statement {
        Stmt::ForLoop(node) => vec![(&node.target, Source::ElementOf(&node.iter))],
        Stmt::WithBlock(node) => {
            let assignments = node.assignments.iter();
            let valued = assignments.map(|(target, value)| (target, Source::Value(value)));
            valued.collect()
        }
        Stmt::Set(node) => vec![(&node.target, Source::Value(&node.expr))],
        Stmt::SetBlock(node) => vec![unknown(&node.target)],
        Stmt::Macro(node) => node.args.iter().map(unknown).collect(),
        Stmt::CallBlock(node) => node.macro_decl.args.iter().map(unknown).collect(),
        Stmt::Import(node) => vec![unknown(&node.name)],
        Stmt::FromImport(node) => {
            let names = node.names.iter();
            let targets = names.map(|(name, alias)| alias.as_ref().unwrap_or(name));
            targets.map(unknown).collect()
        }
        _ => Vec::new(),
    }
}

/// The names in a target.
pub(super) fn names<'s>(target: &Expr<'s>, add: &mut impl FnMut(&'s str)) {
    match target {
        Expr::Var(node) => add(node.id),
        Expr::List(node) => node.items.iter().for_each(|item| names(item, add)),
        Expr::Tuple(node) => node.items.iter().for_each(|item| names(item, add)),
        _ => {}
    }
}

/// The expression that an argument hands over.
pub(super) fn given<'e, 's>(argument: &'e CallArg<'s>) -> &'e Expr<'s> {
    match argument {
        CallArg::Pos(value)
        | CallArg::Kwarg(_, value)
        | CallArg::PosSplat(value)
        | CallArg::KwargSplat(value) => value,
    }
}
