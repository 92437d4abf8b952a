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
pub(super) fn expressions<'e, 's>(
    statement: &'e Stmt<'s>,
) -> impl Iterator<Item = &'e Expr<'s>> + use<'e, 's> {
    let (mut first, mut second) = (None, None);
    let mut assignments: &[(Expr<'s>, Expr<'s>)] = &[];
    let mut handed: &[CallArg<'s>] = &[];
    let mut rest: &[Expr<'s>] = &[];
    match statement {
        Stmt::EmitExpr(node) => first = Some(&node.expr),
        Stmt::ForLoop(node) => (first, second) = (Some(&node.iter), node.filter_expr.as_ref()),
        Stmt::IfCond(node) => first = Some(&node.expr),
        Stmt::WithBlock(node) => assignments = &node.assignments,
        Stmt::Set(node) => first = Some(&node.expr),
        Stmt::SetBlock(node) => first = node.filter.as_ref(),
        Stmt::AutoEscape(node) => first = Some(&node.enabled),
        Stmt::FilterBlock(node) => first = Some(&node.filter),
        Stmt::Macro(node) => rest = &node.defaults,
        Stmt::CallBlock(node) => {
            (first, handed) = (Some(&node.call.expr), &node.call.args);
            rest = &node.macro_decl.defaults;
        }
        Stmt::Extends(node) => first = Some(&node.name),
        Stmt::Include(node) => first = Some(&node.name),
        Stmt::Import(node) => first = Some(&node.expr),
        Stmt::FromImport(node) => first = Some(&node.expr),
        Stmt::Do(node) => (first, handed) = (Some(&node.call.expr), &node.call.args),
        Stmt::Template(_)
        | Stmt::Block(_)
        | Stmt::EmitRaw(_)
        | Stmt::Continue(_)
        | Stmt::Break(_) => {}
    }
    let single = first.into_iter().chain(second);
    let values = assignments.iter().map(|(_, value)| value);
    single
        .chain(values)
        .chain(handed.iter().map(given))
        .chain(rest)
}

/// The statements that are directly within another.
pub(super) fn bodies<'e, 's>(statement: &'e Stmt<'s>) -> [&'e [Stmt<'s>]; 2] {
    match statement {
        Stmt::Template(node) => [&node.children, &[]],
        Stmt::ForLoop(node) => [&node.body, &node.else_body],
        Stmt::IfCond(node) => [&node.true_body, &node.false_body],
        Stmt::WithBlock(node) => [&node.body, &[]],
        Stmt::SetBlock(node) => [&node.body, &[]],
        Stmt::AutoEscape(node) => [&node.body, &[]],
        Stmt::FilterBlock(node) => [&node.body, &[]],
        Stmt::Block(node) => [&node.body, &[]],
        Stmt::Macro(node) => [&node.body, &[]],
        Stmt::CallBlock(node) => [&node.macro_decl.body, &[]],
        _ => [&[], &[]],
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
pub(super) fn assigned<'e, 's>(
    statement: &'e Stmt<'s>,
) -> impl Iterator<Item = (&'e Expr<'s>, Source<'e, 's>)> + use<'e, 's> {
    let mut single = None;
    let mut assignments: &[(Expr<'s>, Expr<'s>)] = &[];
    let mut arguments: &[Expr<'s>] = &[];
    let mut imported: &[(Expr<'s>, Option<Expr<'s>>)] = &[];
    match statement {
        Stmt::ForLoop(node) => single = Some((&node.target, Source::ElementOf(&node.iter))),
        Stmt::WithBlock(node) => assignments = &node.assignments,
        Stmt::Set(node) => single = Some((&node.target, Source::Value(&node.expr))),
        Stmt::SetBlock(node) => single = Some((&node.target, Source::Unknown)),
        Stmt::Macro(node) => arguments = &node.args,
        Stmt::CallBlock(node) => arguments = &node.macro_decl.args,
        Stmt::Import(node) => single = Some((&node.name, Source::Unknown)),
        Stmt::FromImport(node) => imported = &node.names,
        _ => {}
    }
    let names = imported.iter();
    let names = names.map(|(name, alias)| alias.as_ref().unwrap_or(name));
    let unknown = arguments.iter().chain(names);
    let valued = assignments.iter();
    let valued = valued.map(|(target, value)| (target, Source::Value(value)));
    let single = single.into_iter().chain(valued);
    single.chain(unknown.map(|target| (target, Source::Unknown)))
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
