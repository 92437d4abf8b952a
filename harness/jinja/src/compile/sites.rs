//! The sites of a template, and the probes that report them.
//!
//! The sites are collected from the tree as the parser made it. Each belongs to a node, so an
//! expression that the rewritten tree evaluates at two places has one site.

use std::collections::HashMap;
use std::ops::Range;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{
    BinOpKind, CallArg, CallBlock, Expr, ForLoop, Macro, Spanned, Stmt,
};
use rolecall_core::{Site, SiteKind};

use crate::compile::iterations::{Assigned, Full};
use crate::compile::nodes::{expressions, given};
use crate::library::functions::GENERATION;

/// The sites of a template, each with its node.
pub(super) struct Sites {
    list: Vec<Site>,
    /// The site of each node, by the node's address and size: a node may begin with another one.
    of: HashMap<(usize, usize), usize>,
}

impl Sites {
    pub(super) fn of(template: &Stmt<'_>, source: &str) -> Sites {
        let mut collector = Collector {
            source,
            is_unreachable: false,
            assigned: Assigned::of(template),
            full: Full::new(),
            sites: Sites {
                list: Vec::new(),
                of: HashMap::new(),
            },
        };
        collector.statement(template);
        collector.sites
    }

    pub(super) fn into_list(self) -> Vec<Site> {
        self.list
    }

    pub(super) fn site<T>(&self, node: &T) -> Option<usize> {
        self.of.get(&address(node)).copied()
    }
}

fn address<T>(node: &T) -> (usize, usize) {
    (std::ptr::from_ref(node).addr(), size_of::<T>())
}

/// Collects the sites of a tree, in a fixed order: a node before the nodes within it.
struct Collector<'s> {
    source: &'s str,
    /// Whether a literal keeps every render away from what is collected.
    is_unreachable: bool,
    /// What the template assigns itself.
    assigned: Assigned,
    /// What the conditions around have found to have something in it.
    full: Full,
    sites: Sites,
}

impl Collector<'_> {
    fn add<T>(&mut self, node: &T, kind: SiteKind, span: Range<usize>) {
        self.sites.of.insert(address(node), self.sites.list.len());
        self.sites.list.push(Site {
            kind,
            span,
            is_unreachable: self.is_unreachable,
            is_never_empty: false,
        });
    }

    fn statements(&mut self, statements: &[Stmt<'_>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// Statements that run if a condition has this truth. If it never has, they are unreachable.
    fn branch(&mut self, statements: &[Stmt<'_>], condition: &Expr<'_>, truth: bool) {
        let (around, known) = (self.is_unreachable, self.full.len());
        self.is_unreachable |= is_never(condition, truth);
        self.assigned.ask(condition, truth, &mut self.full);
        self.statements(statements);
        self.is_unreachable = around;
        self.full.truncate(known);
    }

    fn statement(&mut self, statement: &Stmt<'_>) {
        match statement {
            Stmt::Template(node) => self.statements(&node.children),
            Stmt::EmitRaw(_) => {}
            Stmt::EmitExpr(node) => {
                self.add(statement, SiteKind::Statement, extent(&node.expr));
                self.expression(&node.expr);
            }
            Stmt::IfCond(node) => {
                self.condition(&node.expr);
                self.branch(&node.true_body, &node.expr, true);
                self.branch(&node.false_body, &node.expr, false);
            }
            Stmt::ForLoop(node) => self.for_loop(node),
            Stmt::Macro(node) => self.macro_body(node, node.span()),
            Stmt::CallBlock(node) => self.call_block(statement, node),
            Stmt::AutoEscape(node) => {
                // Jinja2 looks at the switch when it compiles.
                self.tag(statement, node.span());
                self.statements(&node.body);
            }
            Stmt::WithBlock(node) => {
                self.tag(statement, node.span());
                self.within(statement);
                self.statements(&node.body);
            }
            Stmt::SetBlock(node) => {
                self.tag(statement, node.span());
                self.within(statement);
                self.statements(&node.body);
            }
            Stmt::FilterBlock(node) => {
                self.tag(statement, node.span());
                self.within(statement);
                self.statements(&node.body);
            }
            Stmt::Block(node) => {
                self.tag(statement, node.span());
                self.statements(&node.body);
            }
            Stmt::Set(node) => self.plain(statement, node.span()),
            Stmt::Extends(node) => self.plain(statement, node.span()),
            Stmt::Include(node) => self.plain(statement, node.span()),
            Stmt::Import(node) => self.plain(statement, node.span()),
            Stmt::FromImport(node) => self.plain(statement, node.span()),
            Stmt::Do(node) => self.plain(statement, node.span()),
            Stmt::Continue(node) => self.plain(statement, node.span()),
            Stmt::Break(node) => self.plain(statement, node.span()),
        }
    }

    /// A tag without a body.
    fn plain(&mut self, statement: &Stmt<'_>, span: Span) {
        self.tag(statement, span);
        self.within(statement);
    }

    /// The site of a tag that is a statement.
    fn tag(&mut self, statement: &Stmt<'_>, span: Span) {
        let heads: Vec<_> = expressions(statement).collect();
        let head = self.head(span, &heads);
        self.add(statement, SiteKind::Statement, head);
    }

    fn within(&mut self, statement: &Stmt<'_>) {
        for expression in expressions(statement) {
            self.expression(expression);
        }
    }

    fn for_loop(&mut self, node: &Spanned<ForLoop<'_>>) {
        let heads: Vec<_> = [&node.iter].into_iter().chain(&node.filter_expr).collect();
        let head = self.head(node.span(), &heads);
        // A loop over a literal always has the same iterations.
        if node.filter_expr.is_some() || !is_literal(&node.iter) {
            let looped = self.assigned.looped(&node.iter);
            let is_never_empty = looped.is_some_and(|looped| self.full.contains(&looped));
            self.add(&**node, SiteKind::Loop, head);
            if let Some(site) = self.sites.list.last_mut() {
                site.is_never_empty = is_never_empty && node.filter_expr.is_none();
            }
        }
        self.expression(&node.iter);
        if let Some(filter) = &node.filter_expr {
            self.condition(filter);
        }
        let known = self.full.clone();
        Assigned::forget(&node.target, &mut self.full);
        self.statements(&node.body);
        self.full = known;
        self.statements(&node.else_body);
    }

    fn macro_body(&mut self, node: &Macro<'_>, span: Span) {
        let heads: Vec<_> = node.args.iter().chain(&node.defaults).collect();
        let head = self.head(span, &heads);
        self.add(node, SiteKind::Macro, head);
        for default in &node.defaults {
            self.expression(default);
        }
        // It may be called elsewhere.
        let known = std::mem::take(&mut self.full);
        self.statements(&node.body);
        self.full = known;
    }

    /// The body of `{% generation %}`, which always runs where it is.
    fn marked_body(&mut self, node: &Macro<'_>, span: Span) {
        let head = self.head(span, &[]);
        self.add(node, SiteKind::Macro, head);
        self.statements(&node.body);
    }

    fn call_block(&mut self, statement: &Stmt<'_>, node: &Spanned<CallBlock<'_>>) {
        self.tag(statement, node.span());
        self.expression(&node.call.expr);
        self.arguments(&node.call.args);
        let called = &node.call.expr;
        if matches!(called, Expr::Var(called) if called.id == GENERATION) {
            self.marked_body(&node.macro_decl, node.span());
        } else {
            self.macro_body(&node.macro_decl, node.span());
        }
    }

    /// A condition. A literal one cannot go both ways, so it has no site.
    fn condition(&mut self, expression: &Expr<'_>) {
        self.choice(expression, SiteKind::Condition);
        self.expression(expression);
    }

    fn choice(&mut self, expression: &Expr<'_>, kind: SiteKind) {
        if !is_literal(expression) {
            self.add(expression, kind, extent(expression));
        }
    }

    fn expression(&mut self, expression: &Expr<'_>) {
        match expression {
            Expr::BinOp(node) if is_logical(expression) => {
                for operand in [&node.left, &node.right] {
                    if !is_logical(operand) {
                        self.choice(operand, SiteKind::Operand);
                    }
                    self.expression(operand);
                }
            }
            Expr::IfExpr(node) => {
                self.condition(&node.test_expr);
                self.expression(&node.true_expr);
                if let Some(otherwise) = &node.false_expr {
                    self.expression(otherwise);
                }
            }
            Expr::Filter(node) => {
                if let Some(of) = &node.expr {
                    self.expression(of);
                }
                self.arguments(&node.args);
            }
            Expr::Test(node) => {
                self.expression(&node.expr);
                self.arguments(&node.args);
            }
            Expr::Call(node) => {
                self.expression(&node.expr);
                self.arguments(&node.args);
            }
            other => {
                for inner in within(other) {
                    self.expression(inner);
                }
            }
        }
    }

    /// The arguments of a call, in the order in which Jinja2 has them.
    fn arguments(&mut self, arguments: &[CallArg<'_>]) {
        let is_of: [fn(&CallArg<'_>) -> bool; 4] = [
            |argument| matches!(argument, CallArg::Pos(_)),
            |argument| matches!(argument, CallArg::Kwarg(..)),
            |argument| matches!(argument, CallArg::PosSplat(_)),
            |argument| matches!(argument, CallArg::KwargSplat(_)),
        ];
        for is_of in is_of {
            for argument in arguments.iter().filter(|argument| is_of(argument)) {
                self.expression(given(argument));
            }
        }
    }

    /// The first tag of a statement, without the signs around it, given the expressions in it.
    fn head(&self, span: Span, expressions: &[&Expr<'_>]) -> Range<usize> {
        let start = span.start_offset as usize;
        let ends = expressions.iter().map(|expression| extent(expression).end);
        let known = ends.max().unwrap_or(start).max(start);
        let rest = self.source.get(known..).unwrap_or_default();
        let end = known + rest.find("%}").unwrap_or(0);
        let head = self.source.get(start..end).unwrap_or_default();
        let head = head.strip_suffix(['-', '+']).unwrap_or(head);
        start..start + head.trim_end().len()
    }
}

/// Whether an expression is a literal: it is always true or always false.
pub(super) fn is_literal(expression: &Expr<'_>) -> bool {
    matches!(
        expression,
        Expr::Const(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Map(_)
    )
}

/// Whether an expression is a constant that never has this truth.
fn is_never(expression: &Expr<'_>, truth: bool) -> bool {
    matches!(expression, Expr::Const(node) if node.value.is_true() != truth)
}

/// Whether an expression is `a and b` or `a or b`.
pub(super) fn is_logical(expression: &Expr<'_>) -> bool {
    matches!(expression, Expr::BinOp(node) if matches!(node.op, BinOpKind::ScAnd | BinOpKind::ScOr))
}

/// The expressions that are directly within another, in the order of the source.
fn within<'e, 's>(expression: &'e Expr<'s>) -> Vec<&'e Expr<'s>> {
    match expression {
        Expr::Var(_) | Expr::Const(_) => Vec::new(),
        Expr::Slice(node) => {
            let bounds = [&node.start, &node.stop, &node.step];
            let of = [&node.expr].into_iter();
            of.chain(bounds.into_iter().flatten()).collect()
        }
        Expr::UnaryOp(node) => vec![&node.expr],
        Expr::BinOp(node) => vec![&node.left, &node.right],
        Expr::Compare(node) => {
            let others = node.ops.iter().map(|op| &op.expr);
            [&node.expr].into_iter().chain(others).collect()
        }
        Expr::IfExpr(node) => {
            let both = [&node.true_expr, &node.test_expr].into_iter();
            both.chain(&node.false_expr).collect()
        }
        Expr::Filter(node) => node
            .expr
            .iter()
            .chain(node.args.iter().map(given))
            .collect(),
        Expr::Test(node) => {
            let of = [&node.expr].into_iter();
            of.chain(node.args.iter().map(given)).collect()
        }
        Expr::GetAttr(node) => vec![&node.expr],
        Expr::GetItem(node) => vec![&node.expr, &node.subscript_expr],
        Expr::Call(node) => {
            let of = [&node.expr].into_iter();
            of.chain(node.args.iter().map(given)).collect()
        }
        Expr::List(node) => node.items.iter().collect(),
        Expr::Tuple(node) => node.items.iter().collect(),
        Expr::Map(node) => {
            let pairs = node.keys.iter().zip(&node.values);
            pairs.flat_map(|(key, value)| [key, value]).collect()
        }
    }
}

/// From the first to the last byte of an expression. The span of a filter, for example, begins only
/// at its name.
pub(super) fn extent(expression: &Expr<'_>) -> Range<usize> {
    let span = expression.span();
    let own = span.start_offset as usize..span.end_offset as usize;
    within(expression).into_iter().fold(own, |all, inner| {
        let inner = extent(inner);
        all.start.min(inner.start)..all.end.max(inner.end)
    })
}
