//! The lines that Jinja2 gives to statements.

use minijinja::machinery::ast::{BinOp, BinOpKind, Expr as Node, Spanned, Stmt as Statement};

/// The line that Jinja2 3.1.6 gives to a statement. A printed expression has that of its outermost
/// node (`parser.py`): a chain of operators has the line of its last operator, but of two operands that
/// of the first; a filter has that of its name, and what is in dots or brackets that of the sign.
pub(super) fn line_of(statement: &Statement<'_>, source: &str) -> u16 {
    let node = match statement {
        Statement::EmitExpr(node) => &node.expr,
        Statement::ForLoop(node) => return node.span().start_line,
        Statement::IfCond(node) => return node.span().start_line,
        Statement::Set(node) => return node.span().start_line,
        Statement::WithBlock(node) => return node.span().start_line,
        Statement::SetBlock(node) => return node.span().start_line,
        Statement::AutoEscape(node) => return node.span().start_line,
        Statement::FilterBlock(node) => return node.span().start_line,
        Statement::Macro(node) => return node.span().start_line,
        Statement::CallBlock(node) => return node.span().start_line,
        Statement::Include(node) => return node.span().start_line,
        Statement::Import(node) => return node.span().start_line,
        Statement::FromImport(node) => return node.span().start_line,
        Statement::Extends(node) => return node.span().start_line,
        _ => return 0,
    };
    let start = node.span().start_line;
    let after = |inner: &Node<'_>, signs: &[char]| {
        let span = inner.span();
        let rest = source.get(span.end_offset as usize..).unwrap_or_default();
        let skipped = rest.trim_start_matches(|c: char| c.is_whitespace() || signs.contains(&c));
        let skipped = &rest[..rest.len() - skipped.len()];
        let breaks = skipped.matches('\n').count();
        span.end_line + u16::try_from(breaks).unwrap_or_default()
    };
    match node {
        Node::BinOp(both) if is_chain(both) => after(&both.left, &[')']),
        Node::Filter(filter) => match &filter.expr {
            Some(inner) => after(inner, &[')', '|']),
            None => start,
        },
        Node::Test(test) => after(&test.expr, &[')']),
        Node::Call(call) => after(&call.expr, &[')']),
        Node::GetAttr(get) => after(&get.expr, &[')']),
        Node::GetItem(get) => after(&get.expr, &[')']),
        _ => start,
    }
}

/// Whether the first operand of an operator is one of the same level before it, without brackets.
fn is_chain(both: &Spanned<BinOp<'_>>) -> bool {
    let level = |op: BinOpKind| match op {
        BinOpKind::Add | BinOpKind::Sub => 0,
        BinOpKind::Mul | BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem => 1,
        BinOpKind::Pow => 2,
        BinOpKind::ScAnd => 3,
        BinOpKind::ScOr => 4,
        _ => 5,
    };
    matches!(&both.left, Node::BinOp(left) if level(left.op) == level(both.op)
        && level(both.op) < 5
        && left.span().start_offset == both.span().start_offset)
}
