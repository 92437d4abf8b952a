//! Gives the syntax tree of a template Python's semantics.
//!
//! minijinja's operators are fixed, but an environment can have any filters. So every operator of
//! the tree becomes a filter call with the same operands, under a name that no template can spell.
//! `operators` has these filters. minijinja does not treat such a call as a constant. The constants
//! that minijinja still evaluates at compile time have the same value in Python.
//!
//! This module adapts the statements, `expressions` the expressions within them.

use std::ops::Range;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{
    AutoEscape, Block, Call, CallArg, CallBlock, EmitRaw, Expr, FilterBlock, ForLoop, GetAttr,
    IfCond, IfExpr, List, Macro, Set, SetBlock, Spanned, Stmt, Template, Tuple, WithBlock,
};
use minijinja::{Error, ErrorKind, Value};
use rolecall_core::{Limit, Site};

use crate::compile::expressions::{Expressions, MissingValues, named};
use crate::compile::generators::{Generators, LoopUse, asks_loop, asks_loop_in};
use crate::compile::grammar::Parsed;
use crate::compile::loop_controls::{self, leave, leave_scope};
use crate::compile::names::{Names, parameters, signature};
use crate::compile::nodes::{block, constant, emit, evaluate, operation, variable};
use crate::compile::properties::is_constant;
use crate::compile::scopes::Scopes;
use crate::compile::sites::{Reporting, Sites, probe_of_end};
use crate::coverage::Event;
use crate::meter::exceeded;
use crate::operator::Operator;
use crate::provenance::{self, Texts};
use crate::refusal::syntax_error;

/// Literal text of this length or more, within a loop or a macro, goes through the formatter, which
/// counts it. For shorter text the fuel of its instruction is limit enough.
const COUNTED_TEXT: usize = 24;

/// The name of the macro that a call block makes. No template can spell it.
const CALL_BLOCK: &str = "call block";

/// The name under which a call is given its block.
const CALLER: &str = "caller";

/// How a template writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// As fast as it can.
    Plain,
    /// Everything through the formatter. It also learns where captured texts begin and end, and
    /// `generation` keeps track of both.
    Tracked,
    /// With reports of what it reaches, for `coverage`.
    Covered,
    /// With names for what is missing.
    Named,
    /// Everything through the formatter, with texts whose origin `provenance` knows, and with
    /// conditions whose looks `decisions` notes.
    Traced,
}

impl Writing {
    /// How many there are.
    pub(crate) const COUNT: usize = Writing::Traced as usize + 1;
}

/// The tree of a template with Python's semantics, the literals of a traced form, and the sites that
/// a form reports.
pub(crate) fn adapt<'s>(
    parsed: &Parsed<'s>,
    writing: Writing,
) -> Result<(Stmt<'s>, Texts, Vec<Site>), Error> {
    let reporting = match writing {
        Writing::Plain | Writing::Tracked | Writing::Named => None,
        Writing::Covered => Some(Reporting::Hits),
        Writing::Traced => Some(Reporting::Looks),
    };
    let mut adapter = Adapter {
        writing,
        expressions: Expressions {
            source: parsed.source,
            rarities: parsed.rarities,
            sites: reporting.map(|what| Sites::of(&parsed.template, parsed.source, what)),
            literals: (writing == Writing::Traced).then(Texts::new),
            missing: match writing {
                Writing::Named => MissingValues::Named,
                _ => MissingValues::Plain,
            },
            ..Expressions::default()
        },
        is_repeated: false,
        leaves_scopes: parsed.rarities.leaves_scopes,
        level: 0,
        generators: Generators::of(&parsed.template),
        depth: 0,
        scopes: Scopes::of_template(parsed.lookup),
    };
    let mut statements = Vec::new();
    adapter.statement(&parsed.template, &mut statements)?;
    let tree = statements
        .pop()
        .ok_or_else(|| Error::new(ErrorKind::SyntaxError, "there is no template"))?;
    let Expressions {
        literals, sites, ..
    } = adapter.expressions;
    let sites = sites.map_or_else(Vec::new, Sites::into_list);
    Ok((tree, literals.unwrap_or_default(), sites))
}

/// Gives statements Python's semantics.
struct Adapter<'s> {
    writing: Writing,
    expressions: Expressions<'s>,
    /// Whether a statement is within a loop or a macro.
    is_repeated: bool,
    /// Whether some loop is left from within a scope of it.
    leaves_scopes: bool,
    /// How many loops are around a statement.
    level: usize,
    generators: Generators,
    /// How many scopes there are between a statement and the loop around it.
    depth: usize,
    /// The scopes around a statement.
    scopes: Scopes,
}

/// The variables for the items of loops within loops. No template can spell them.
const ITEMS: [&str; 4] = ["items 1", "items 2", "items 3", "items 4"];

/// The variable for a captured text that is not written if a loop is left. No template can
/// spell it.
const CAPTURED: &str = "captured text";

impl<'s> Adapter<'s> {
    fn statements(&mut self, statements: &[Stmt<'s>]) -> Result<Vec<Stmt<'s>>, Error> {
        let mut adapted = Vec::with_capacity(statements.len() + 1);
        for (at, statement) in statements.iter().enumerate() {
            self.statement(statement, &mut adapted)?;
            if !self.leaves_scopes {
                continue;
            }
            let (this, rest) = (&statements[at..=at], &statements[at + 1..]);
            if self.depth == 0 {
                if leave_scope(this) {
                    adapted.push(loop_controls::follow(Span::default()));
                }
            } else if leave(this) {
                let rest = self.statements(rest)?;
                adapted.push(loop_controls::unless_left(rest, Span::default()));
                break;
            }
        }
        Ok(adapted)
    }

    /// Statements in a scope of a loop.
    fn deeper<T>(
        &mut self,
        adapt: impl FnOnce(&mut Adapter<'s>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.depth += 1;
        let adapted = adapt(self);
        self.depth -= 1;
        adapted
    }

    /// Adapts the statements of a separate function, or around a loop. They leave no loop.
    fn apart<T>(
        &mut self,
        adapt: impl FnOnce(&mut Adapter<'s>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let depth = std::mem::take(&mut self.depth);
        let adapted = adapt(self);
        self.depth = depth;
        adapted
    }

    #[allow(clippy::too_many_lines)] // one arm for each statement of the language
    fn statement(
        &mut self,
        statement: &Stmt<'s>,
        adapted: &mut Vec<Stmt<'s>>,
    ) -> Result<(), Error> {
        let reached = self.probe(Event::Reach, statement, Span::default());
        adapted.extend(reached);
        let new = match statement {
            Stmt::Template(node) => {
                let mut children = self.statements(&node.children)?;
                if self.writing == Writing::Covered {
                    children.push(probe_of_end(Span::default()));
                }
                Stmt::Template(Spanned::new(Template { children }, node.span()))
            }
            Stmt::EmitExpr(node) => {
                // Jinja2 evaluates everything within a constant by the rules for constants.
                self.expressions.is_constant = is_constant(&node.expr);
                let adapted = self.expressions.adapt(&node.expr);
                self.expressions.is_constant = false;
                emit(adapted?, node.span())
            }
            Stmt::EmitRaw(node) if self.writing == Writing::Traced => {
                emit(self.plain_text(node.raw, node.span()), node.span())
            }
            Stmt::EmitRaw(node)
                if self.writing == Writing::Tracked
                    || self.is_repeated && node.raw.len() >= COUNTED_TEXT =>
            {
                let text = Value::from_safe_string(node.raw.to_owned());
                emit(constant(text, node.span()), node.span())
            }
            Stmt::EmitRaw(node) => {
                Stmt::EmitRaw(Spanned::new(EmitRaw { raw: node.raw }, node.span()))
            }
            Stmt::ForLoop(node) => return self.for_loop(node, adapted),
            Stmt::IfCond(node) => self.condition(node)?,
            Stmt::WithBlock(node) => self.with_block(node)?,
            Stmt::Set(node) => {
                let mut attributes = Vec::new();
                let set = Set {
                    target: self.without_attributes(&node.target, &mut attributes)?,
                    expr: self.assigned(&node.expr, &node.target)?,
                };
                if let (Expr::GetAttr(_), [(namespace, name, _)]) =
                    (&node.target, attributes.as_slice())
                {
                    let namespace = self.target(namespace)?;
                    set_attribute(namespace, name, set.expr, node.span())
                } else {
                    adapted.push(Stmt::Set(Spanned::new(set, node.span())));
                    return self.set_attributes(attributes, node.span(), adapted);
                }
            }
            Stmt::SetBlock(node) if self.is_apart(&node.body) => {
                self.captured_apart(&node.body, node.span(), adapted)?;
                let written = |inner: &mut Adapter<'s>| match &node.filter {
                    Some(filter) => inner.expressions.adapt_filter_of(filter, CAPTURED),
                    None => Ok(variable(CAPTURED, node.span())),
                };
                let mut attributes = Vec::new();
                let set = Set {
                    target: self.without_attributes(&node.target, &mut attributes)?,
                    expr: self.hard(written)?,
                };
                let mut assigned = vec![Stmt::Set(Spanned::new(set, node.span()))];
                self.set_attributes(attributes, node.span(), &mut assigned)?;
                if !leave(&node.body) {
                    adapted.extend(assigned);
                    return Ok(());
                }
                loop_controls::unless_left(assigned, node.span())
            }
            Stmt::FilterBlock(node) if self.is_apart(&node.body) => {
                self.captured_apart(&node.body, node.span(), adapted)?;
                let filtered =
                    self.hard(|inner| inner.expressions.adapt_filter_of(&node.filter, CAPTURED))?;
                let written = operation(Operator::TextOnly, [filtered], node.span());
                let written = emit(written, node.span());
                if !leave(&node.body) {
                    adapted.push(written);
                    return Ok(());
                }
                loop_controls::unless_left(vec![written], node.span())
            }
            Stmt::SetBlock(node) => {
                let mut attributes = Vec::new();
                let set = SetBlock {
                    target: self.without_attributes(&node.target, &mut attributes)?,
                    filter: self
                        .hard(|inner| inner.expressions.adapt_optional(node.filter.as_ref()))?,
                    body: self.captured(&node.body, node.span())?,
                };
                adapted.push(Stmt::SetBlock(Spanned::new(set, node.span())));
                return self.set_attributes(attributes, node.span(), adapted);
            }
            Stmt::AutoEscape(node) => Stmt::AutoEscape(Spanned::new(
                AutoEscape {
                    enabled: self.switch(&node.enabled)?,
                    body: vec![self.scope(&node.body, node.span())?],
                },
                node.span(),
            )),
            Stmt::FilterBlock(node) => Stmt::FilterBlock(Spanned::new(
                FilterBlock {
                    filter: operation(
                        Operator::TextOnly,
                        [self.hard(|inner| inner.expressions.adapt(&node.filter))?],
                        node.span(),
                    ),
                    body: self.captured(&node.body, node.span())?,
                },
                node.span(),
            )),
            Stmt::Macro(node) => return self.macro_declaration(node, node.name, adapted),
            Stmt::CallBlock(node) => self.call_block(node)?,
            Stmt::Continue(_) | Stmt::Break(_) if self.depth > 0 => {
                let is_break = matches!(statement, Stmt::Break(_));
                adapted.extend(loop_controls::note(is_break, span_of(statement)));
                return Ok(());
            }
            Stmt::Continue(_) => Stmt::Continue(Spanned::new(
                minijinja::machinery::ast::Continue,
                span_of(statement),
            )),
            Stmt::Break(_) => Stmt::Break(Spanned::new(
                minijinja::machinery::ast::Break,
                span_of(statement),
            )),
            other => self.other_template(other)?,
        };
        adapted.push(new);
        Ok(())
    }

    /// The probe for an event at a node, if the code is to report it.
    fn probe<T>(&self, event: Event, node: &T, span: Span) -> Option<Stmt<'s>> {
        self.expressions.sites.as_ref()?.probe(event, node, span)
    }

    /// Statements whose variables are their own (Jinja2's compiler.py, `frame.inner()`).
    fn scope(&mut self, statements: &[Stmt<'s>], span: Span) -> Result<Stmt<'s>, Error> {
        self.scopes.enter();
        let body = self.hard(|inner| inner.deeper(|inner| inner.statements(statements)))?;
        self.scopes.leave();
        Ok(block(body, span))
    }

    /// Captures a text that is written later, unless a loop is left before.
    fn captured_apart(
        &mut self,
        statements: &[Stmt<'s>],
        span: Span,
        adapted: &mut Vec<Stmt<'s>>,
    ) -> Result<(), Error> {
        let set = SetBlock {
            target: variable(CAPTURED, span),
            filter: None,
            body: self.captured(statements, span)?,
        };
        adapted.push(Stmt::SetBlock(Spanned::new(set, span)));
        if self.writing == Writing::Traced {
            let operands = [variable(CAPTURED, span), constant(false, span)];
            let set = Set {
                target: variable(CAPTURED, span),
                expr: operation(Operator::Captured, operands, span),
            };
            adapted.push(Stmt::Set(Spanned::new(set, span)));
        }
        Ok(())
    }

    /// Whether a captured text first becomes a variable, and is written or assigned after that.
    fn is_apart(&self, body: &[Stmt<'s>]) -> bool {
        self.writing == Writing::Traced || self.leaves_scopes && leave(body)
    }

    /// Plain text of the template, whose place a traced render knows.
    fn plain_text(&mut self, raw: &'s str, span: Span) -> Expr<'s> {
        let text = Value::from_safe_string(raw.to_owned());
        let start = raw
            .as_ptr()
            .addr()
            .checked_sub(self.expressions.source.as_ptr().addr());
        let place = start.map(|start| start..start + raw.len());
        let is_there =
            |place: &Range<usize>| self.expressions.source.get(place.clone()) == Some(raw);
        let place = place
            .filter(is_there)
            .unwrap_or(span.start_offset as usize..span.end_offset as usize);
        match &mut self.expressions.literals {
            Some(literals) => constant(provenance::literal(&text, place, literals), span),
            None => constant(text, span),
        }
    }

    /// The switch for escaping: whether a value is true.
    fn switch(&mut self, enabled: &Expr<'s>) -> Result<Expr<'s>, Error> {
        let span = enabled.span();
        let choice = IfExpr {
            test_expr: self.hard(|inner| inner.expressions.adapt(enabled))?,
            true_expr: constant(true, span),
            false_expr: Some(constant(false, span)),
        };
        Ok(Expr::IfExpr(Spanned::new(choice, span)))
    }

    /// Adapts statements that Jinja2 puts in a separate frame. They are no longer within a
    /// condition, so an unknown filter fails at once.
    fn hard<T>(
        &mut self,
        adapt: impl FnOnce(&mut Adapter<'s>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let was_soft = std::mem::replace(&mut self.expressions.is_soft, false);
        let adapted = adapt(self);
        self.expressions.is_soft = was_soft;
        adapted
    }

    /// Statements whose text is captured, and not written.
    fn captured(&mut self, statements: &[Stmt<'s>], span: Span) -> Result<Vec<Stmt<'s>>, Error> {
        let scope = self.scope(statements, span)?;
        if !matches!(self.writing, Writing::Tracked | Writing::Traced) {
            return Ok(vec![scope]);
        }
        let tell = |begins: bool| {
            let operands = [constant(begins, span)];
            evaluate(operation(Operator::Capture, operands, span), span)
        };
        Ok(vec![tell(true), scope, tell(false)])
    }

    /// A tag that loads another template. There are no other templates, so most of these tags fail
    /// when they run.
    fn other_template(&mut self, statement: &Stmt<'s>) -> Result<Stmt<'s>, Error> {
        Ok(match statement {
            Stmt::Block(node) => Stmt::Block(Spanned::new(
                Block {
                    name: node.name,
                    required: node.required,
                    body: self.hard(|inner| inner.apart(|inner| inner.statements(&node.body)))?,
                },
                node.span(),
            )),
            // Without a loader Jinja2 fails before it looks for the template.
            Stmt::Extends(node) => self.missing(&node.name, node.span())?,
            Stmt::Include(node) => self.missing(&node.name, node.span())?,
            Stmt::Import(node) => self.missing(&node.expr, node.span())?,
            Stmt::FromImport(node) => self.missing(&node.expr, node.span())?,
            _ => {
                return Err(Error::new(
                    ErrorKind::SyntaxError,
                    "a tag that this engine does not know",
                ));
            }
        })
    }

    /// A tag that evaluates the name of another template and then fails.
    fn missing(&mut self, name: &Expr<'s>, span: Span) -> Result<Stmt<'s>, Error> {
        let name = self.expressions.adapt(name)?;
        Ok(emit(operation(Operator::OtherTemplate, [name], span), span))
    }

    /// A target with a plain name in place of each attribute of a namespace. The attributes
    /// are collected, to be assigned afterwards.
    fn without_attributes<'t>(
        &mut self,
        target: &'t Expr<'s>,
        attributes: &mut Vec<Attribute<'s, 't>>,
    ) -> Result<Expr<'s>, Error> {
        Ok(match target {
            Expr::GetAttr(node) => {
                let place = PLACES.get(attributes.len());
                let place = place.ok_or_else(|| exceeded(Limit::Recursion))?;
                attributes.push((&node.expr, node.name, place));
                variable(place, node.span())
            }
            Expr::List(node) => {
                let mut items = Vec::new();
                for item in &node.items {
                    items.push(self.without_attributes(item, attributes)?);
                }
                Expr::List(Spanned::new(List { items }, node.span()))
            }
            other => self.target(other)?,
        })
    }

    /// Assigns the attributes of a target, each from the name in its place.
    fn set_attributes(
        &mut self,
        attributes: Vec<Attribute<'s, '_>>,
        span: Span,
        adapted: &mut Vec<Stmt<'s>>,
    ) -> Result<(), Error> {
        for (namespace, name, place) in attributes {
            let namespace = self.target(namespace)?;
            adapted.push(set_attribute(namespace, name, variable(place, span), span));
        }
        Ok(())
    }

    fn for_loop(
        &mut self,
        node: &Spanned<ForLoop<'s>>,
        adapted: &mut Vec<Stmt<'s>>,
    ) -> Result<(), Error> {
        let span = node.span();
        let level = self.level;
        let before = loop_controls::await_arrival(level, span);
        // minijinja's `else` runs only if there is no turn at all.
        let is_left =
            before.is_some() && !node.else_body.is_empty() && !node.recursive && leave(&node.body);
        let iter = self.expressions.adapt(&node.iter)?;
        let (iter, ahead) = self.iterated(node, iter, adapted);
        let target = self.target(&node.target)?;
        let was_repeated = std::mem::replace(&mut self.is_repeated, true);
        let outer = self.scopes.enter_loop(node.recursive);
        self.level += 1;
        let is_outermost = self.scopes.is_recursive() && !node.recursive;
        let was_outermost = std::mem::replace(&mut self.expressions.is_outermost, is_outermost);
        let outer_ahead = std::mem::replace(&mut self.expressions.ahead, ahead);
        let body = self.hard(|inner| inner.apart(|inner| inner.statements(&node.body)));
        self.expressions.ahead = outer_ahead;
        self.expressions.is_outermost = was_outermost;
        self.level = level;
        let mut body = body?;
        if is_left {
            body.extend(loop_controls::arrive(level, span));
        }
        if self.leaves_scopes && leave_scope(&node.body) {
            body.insert(0, loop_controls::begin(node.span()));
        }
        if let Some(turn) = self.probe(Event::Iteration, &**node, span) {
            body.insert(0, turn);
        }
        if let Some(tick) = self.scopes.tick(node.span()) {
            body.insert(0, tick);
        }
        self.scopes.leave_loop(&outer);
        self.is_repeated = was_repeated;
        let mut filter_expr =
            self.hard(|inner| inner.expressions.adapt_optional(node.filter_expr.as_ref()))?;
        // minijinja evaluates the condition for all items before the loop begins, Jinja2 for
        // one item after the other.
        if let Some(condition) = &node.filter_expr
            && node.else_body.is_empty()
            && !asks_loop(condition)
            && !node.body.iter().any(asks_loop_in)
            && let Some(expr) = filter_expr.take()
        {
            let chosen = IfCond {
                expr,
                true_body: body,
                false_body: Vec::new(),
            };
            body = vec![Stmt::IfCond(Spanned::new(chosen, condition.span()))];
        }
        let mut else_body = self.hard(|inner| inner.otherwise(&node.else_body, span))?;
        if !else_body.is_empty()
            && let Some(begins) = self.probe(Event::Else, &**node, span)
        {
            else_body.insert(0, begins);
        }
        let after = is_left
            .then(|| loop_controls::unless_arrived(level, std::mem::take(&mut else_body), span));
        let repeated = Stmt::ForLoop(Spanned::new(
            ForLoop {
                target,
                iter,
                filter_expr,
                recursive: node.recursive,
                body,
                else_body,
            },
            span,
        ));
        adapted.extend(self.probe(Event::Loop, &**node, span));
        adapted.extend(before.filter(|_| is_left));
        adapted.push(repeated);
        adapted.extend(after.flatten());
        adapted.extend(self.probe(Event::EndLoop, &**node, span));
        Ok(())
    }

    /// The value that a loop runs over, and the variable that has it if the body looks at its items
    /// in advance.
    ///
    /// minijinja knows the length of a list from the beginning. Of a generator, Jinja2 takes an item
    /// only when the loop comes to it, or when the body looks ahead.
    fn iterated(
        &self,
        node: &ForLoop<'s>,
        iter: Expr<'s>,
        adapted: &mut Vec<Stmt<'s>>,
    ) -> (Expr<'s>, Option<&'static str>) {
        let span = node.iter.span();
        let looks = match self.generators {
            Generators::None => LoopUse::Known,
            _ if node.recursive => LoopUse::Any,
            _ => LoopUse::of(&node.body),
        };
        // Nobody else takes from a generator that a filter hands to the loop.
        let is_shared =
            self.generators == Generators::Shared && !matches!(node.iter, Expr::Filter(_));
        let ahead = ITEMS.get(self.level).copied();
        let ahead = ahead.filter(|_| looks == LoopUse::Ahead && is_shared);
        let iter = match ahead {
            _ if looks == LoopUse::Known => iter,
            Some(_) => operation(Operator::IterateAhead, [iter], span),
            None => operation(Operator::IterateWhole, [iter], span),
        };
        let iter = match (&node.target, ahead, looks) {
            (Expr::List(_), ..) => operation(Operator::IteratePairs, [iter], span),
            (_, None, LoopUse::Known) => operation(Operator::Iterate, [iter], span),
            _ => iter,
        };
        let Some(name) = ahead else {
            return (iter, None);
        };
        let target = variable(name, span);
        adapted.push(Stmt::Set(Spanned::new(Set { target, expr: iter }, span)));
        (variable(name, span), Some(name))
    }

    /// The `else` of a loop, whose variables are its own.
    fn otherwise(&mut self, statements: &[Stmt<'s>], span: Span) -> Result<Vec<Stmt<'s>>, Error> {
        let is_text =
            |statement: &Stmt<'s>| matches!(statement, Stmt::EmitRaw(_) | Stmt::EmitExpr(_));
        // These statements can leave a loop around this one, so they are not a scope of that loop.
        if leave(statements) || statements.iter().all(is_text) {
            return self.statements(statements);
        }
        Ok(vec![self.scope(statements, span)?])
    }

    fn condition(&mut self, node: &Spanned<IfCond<'s>>) -> Result<Stmt<'s>, Error> {
        let was_soft = std::mem::replace(&mut self.expressions.is_soft, true);
        let condition = IfCond {
            expr: self.expressions.adapt(&node.expr)?,
            true_body: self.statements(&node.true_body)?,
            false_body: self.statements(&node.false_body)?,
        };
        self.expressions.is_soft = was_soft;
        Ok(Stmt::IfCond(Spanned::new(condition, node.span())))
    }

    /// All values are evaluated before the first is assigned (Jinja2's `visit_With`).
    fn with_block(&mut self, node: &Spanned<WithBlock<'s>>) -> Result<Stmt<'s>, Error> {
        let mut targets = Vec::new();
        let mut values = Vec::new();
        for (target, value) in &node.assignments {
            targets.push(self.target(target)?);
            values.push(self.assigned(value, target)?);
        }
        let assignments = if targets.len() > 1 {
            vec![(
                Expr::List(Spanned::new(List { items: targets }, node.span())),
                Expr::Tuple(Spanned::new(Tuple { items: values }, node.span())),
            )]
        } else {
            targets.into_iter().zip(values).collect()
        };
        self.scopes.enter();
        let body = self.hard(|inner| inner.deeper(|inner| inner.statements(&node.body)))?;
        self.scopes.leave();
        Ok(Stmt::WithBlock(Spanned::new(
            WithBlock { assignments, body },
            node.span(),
        )))
    }

    /// The declaration of a macro, and an assignment that gives the macro Python's rules for
    /// its arguments.
    fn macro_declaration(
        &mut self,
        node: &Spanned<Macro<'s>>,
        name: &'s str,
        adapted: &mut Vec<Stmt<'s>>,
    ) -> Result<(), Error> {
        let span = node.span();
        let mut seen = Names::default();
        seen.of_macro(node);
        let mut signature = signature(node, &seen);
        let required = &signature.arguments[..signature.required];
        if signature.reads_caller && required.iter().any(|argument| argument == "caller") {
            let message = "When defining macros or call blocks the special \"caller\" argument must \
                           be omitted or be given a default.";
            let (line, byte) = (usize::from(span.start_line), span.start_offset as usize);
            return Err(syntax_error(message, line, byte));
        }
        if name == CALL_BLOCK {
            signature.name.clear();
        }
        let was_soft = std::mem::replace(&mut self.expressions.is_soft, false);
        let was_repeated = std::mem::replace(&mut self.is_repeated, true);
        let was_outermost = std::mem::replace(&mut self.expressions.is_outermost, false);
        let of_macro = self.scopes.of_macro();
        let outer = std::mem::replace(&mut self.scopes, of_macro);
        let mut body = Vec::new();
        if let Some(names) = seen.enclosed(span) {
            body.push(names);
        }
        let without_default = node.args.len() - node.defaults.len();
        for (argument, default) in node.args.iter().skip(without_default).zip(&node.defaults) {
            body.push(Stmt::IfCond(Spanned::new(
                IfCond {
                    expr: operation(Operator::IsMissing, [self.target(argument)?], span),
                    true_body: vec![Stmt::Set(Spanned::new(
                        Set {
                            target: self.target(argument)?,
                            expr: self.expressions.adapt(default)?,
                        },
                        default.span(),
                    ))],
                    false_body: Vec::new(),
                },
                default.span(),
            )));
        }
        body.extend(self.probe(Event::Reach, &**node, span));
        body.extend(self.apart(|inner| inner.statements(&node.body))?);
        if let Some(tick) = self.scopes.tick(span) {
            body.insert(0, tick);
        }
        self.scopes = outer;
        self.expressions.is_outermost = was_outermost;
        self.expressions.is_soft = was_soft;
        self.is_repeated = was_repeated;
        let args = parameters(&signature, node)
            .into_iter()
            .map(|name| variable(name, span))
            .collect();
        let declaration = Macro {
            name,
            args,
            defaults: Vec::new(),
            body,
        };
        adapted.push(Stmt::Macro(Spanned::new(declaration, span)));
        let bound = operation(
            Operator::Bind,
            [
                variable(name, span),
                constant(Value::from_object(signature), span),
            ],
            span,
        );
        adapted.push(Stmt::Set(Spanned::new(
            Set {
                target: variable(name, span),
                expr: bound,
            },
            span,
        )));
        Ok(())
    }

    /// A call block: a macro of its own, which is handed over as `caller`.
    fn call_block(&mut self, node: &Spanned<CallBlock<'s>>) -> Result<Stmt<'s>, Error> {
        let span = node.span();
        let mut body = Vec::new();
        self.macro_declaration(&node.macro_decl, CALL_BLOCK, &mut body)?;
        let args = &node.call.args;
        let named = named(args, &[CALLER]);
        let mut args = self.expressions.adapt_arguments(args, &named)?;
        args.push(CallArg::Kwarg(CALLER, variable(CALL_BLOCK, span)));
        let call = Call {
            expr: self.expressions.adapt(&node.call.expr)?,
            args,
        };
        let called = Expr::Call(Spanned::new(call, node.call.span()));
        body.push(emit(operation(Operator::TextOnly, [called], span), span));
        Ok(block(body, span))
    }

    /// A target of an assignment. Its names and attributes stay as they are.
    fn target(&mut self, target: &Expr<'s>) -> Result<Expr<'s>, Error> {
        Ok(match target {
            Expr::Var(node) => variable(node.id, node.span()),
            Expr::List(node) => {
                let mut items = Vec::new();
                for item in &node.items {
                    items.push(self.target(item)?);
                }
                Expr::List(Spanned::new(List { items }, node.span()))
            }
            Expr::GetAttr(node) => Expr::GetAttr(Spanned::new(
                GetAttr {
                    expr: self.target(&node.expr)?,
                    name: node.name,
                },
                node.span(),
            )),
            other => self.expressions.adapt(other)?,
        })
    }

    /// A value that is assigned to a target. Where the target has several names, the value is
    /// unpacked, a text too.
    fn assigned(&mut self, value: &Expr<'s>, target: &Expr<'s>) -> Result<Expr<'s>, Error> {
        let adapted = self.expressions.adapt(value)?;
        Ok(match (target, value) {
            (Expr::List(_), Expr::Tuple(_)) | (Expr::Var(_) | Expr::GetAttr(_), _) => adapted,
            _ => operation(Operator::IterateWhole, [adapted], value.span()),
        })
    }
}

/// An attribute that is assigned: the namespace, the attribute's name, and the plain name in
/// its place.
type Attribute<'s, 't> = (&'t Expr<'s>, &'s str, &'static str);

/// The plain names in place of attributes. No template can spell them.
const PLACES: [&str; 8] = [
    "attribute 1",
    "attribute 2",
    "attribute 3",
    "attribute 4",
    "attribute 5",
    "attribute 6",
    "attribute 7",
    "attribute 8",
];

/// `namespace.name = value`, as a statement that writes nothing.
fn set_attribute<'s>(namespace: Expr<'s>, name: &'s str, value: Expr<'s>, span: Span) -> Stmt<'s> {
    let operands = [namespace, constant(name, span), value];
    evaluate(operation(Operator::SetAttribute, operands, span), span)
}

fn span_of(statement: &Stmt<'_>) -> Span {
    match statement {
        Stmt::Continue(node) => node.span(),
        Stmt::Break(node) => node.span(),
        _ => Span::default(),
    }
}
