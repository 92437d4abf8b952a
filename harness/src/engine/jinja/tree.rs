//! Gives a parsed template Python's semantics.
//!
//! minijinja's operators are fixed, its filters are not: every operator of the syntax tree
//! becomes the call of a filter with the same operands, under a name that no template can
//! spell. The filters are in `operators`. Nothing of this is a constant any more, so that
//! minijinja works nothing out by its own rules when it compiles.

use minijinja::machinery::Span;
use minijinja::machinery::ast::{
    AutoEscape, BinOp, BinOpKind, Block, Call, CallArg, CallBlock, Compare, CompareOpKind, Const,
    Do, EmitExpr, EmitRaw, Expr, Extends, Filter, FilterBlock, ForLoop, FromImport, GetAttr,
    GetItem, IfCond, IfExpr, Import, Include, List, Macro, Map, Set, SetBlock, Slice, Spanned,
    Stmt, Template, Test, Tuple, UnaryOp, UnaryOpKind, Var, WithBlock,
};
use minijinja::{Error, ErrorKind, Value};

use super::expressions::{is_constant, is_loop, is_plain_key, is_repeatable};
use super::macros::Signature;
use super::methods::is_method;
use super::operators::Operator;
use super::vocabulary;

/// Literal text from this length on is written through the formatter, which counts it;
/// what is shorter is bounded by the fuel that its instruction costs.
const COUNTED_TEXT: usize = 24;

/// The name of the macro that a call block makes. No template can spell it.
const CALL_BLOCK: &str = "call block";

/// How a template writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// As fast as it can.
    Plain,
    /// Everything through the formatter, which is also told of texts that are captured:
    /// `generation` needs to know.
    Tracked,
}

/// The tree with every operator replaced.
pub(super) fn adapt<'s>(template: &Stmt<'s>, writing: Writing) -> Result<Stmt<'s>, Error> {
    let mut adapter = Adapter {
        writing,
        is_soft: false,
        is_constant: false,
    };
    let mut statements = Vec::new();
    adapter.statement(template, &mut statements)?;
    statements
        .pop()
        .ok_or_else(|| Error::new(ErrorKind::SyntaxError, "there is no template"))
}

struct Adapter {
    writing: Writing,
    /// Within a condition: an unknown filter fails when it is used, elsewhere when the
    /// template is compiled (Jinja2's compiler.py, `soft_frame`).
    is_soft: bool,
    /// Within an expression that is written and that Jinja2 works out when it compiles.
    is_constant: bool,
}

impl Adapter {
    fn statements<'s>(&mut self, statements: &[Stmt<'s>]) -> Result<Vec<Stmt<'s>>, Error> {
        let mut adapted = Vec::with_capacity(statements.len() + 1);
        for statement in statements {
            self.statement(statement, &mut adapted)?;
        }
        Ok(adapted)
    }

    fn statement<'s>(
        &mut self,
        statement: &Stmt<'s>,
        adapted: &mut Vec<Stmt<'s>>,
    ) -> Result<(), Error> {
        let new = match statement {
            Stmt::Template(node) => Stmt::Template(Spanned::new(
                Template {
                    children: self.statements(&node.children)?,
                },
                node.span(),
            )),
            Stmt::EmitExpr(node) => {
                self.is_constant = is_constant(&node.expr);
                let adapted = self.expression(&node.expr);
                self.is_constant = false;
                emit(adapted?, node.span())
            }
            Stmt::EmitRaw(node)
                if node.raw.len() >= COUNTED_TEXT || self.writing == Writing::Tracked =>
            {
                emit(constant(node.raw, node.span()), node.span())
            }
            Stmt::EmitRaw(node) => {
                Stmt::EmitRaw(Spanned::new(EmitRaw { raw: node.raw }, node.span()))
            }
            Stmt::ForLoop(node) => self.for_loop(node)?,
            Stmt::IfCond(node) => self.condition(node)?,
            Stmt::WithBlock(node) => self.with_block(node)?,
            Stmt::Set(node) => match &node.target {
                Expr::GetAttr(attribute) if attribute.name.starts_with('_') => {
                    let span = node.span();
                    let value = self.expression(&node.expr)?;
                    let refusal = operation(Operator::SetPrivate, vec![value], span);
                    emit(refusal, span)
                }
                target => Stmt::Set(Spanned::new(
                    Set {
                        target: self.target(target)?,
                        expr: self.assigned(&node.expr, target)?,
                    },
                    node.span(),
                )),
            },
            Stmt::SetBlock(node) => Stmt::SetBlock(Spanned::new(
                SetBlock {
                    target: self.target(&node.target)?,
                    filter: self.optional(node.filter.as_ref())?,
                    body: self.captured(&node.body, node.span())?,
                },
                node.span(),
            )),
            Stmt::AutoEscape(node) => Stmt::AutoEscape(Spanned::new(
                AutoEscape {
                    enabled: self.expression(&node.enabled)?,
                    body: vec![self.scope(&node.body, node.span())?],
                },
                node.span(),
            )),
            Stmt::FilterBlock(node) => Stmt::FilterBlock(Spanned::new(
                FilterBlock {
                    filter: operation(
                        Operator::TextOnly,
                        vec![self.expression(&node.filter)?],
                        node.span(),
                    ),
                    body: self.captured(&node.body, node.span())?,
                },
                node.span(),
            )),
            Stmt::Macro(node) => return self.macro_declaration(node, node.name, adapted),
            Stmt::CallBlock(node) => self.call_block(node)?,
            Stmt::Continue(_) => Stmt::Continue(Spanned::new(
                minijinja::machinery::ast::Continue,
                span_of(statement),
            )),
            Stmt::Break(_) => Stmt::Break(Spanned::new(
                minijinja::machinery::ast::Break,
                span_of(statement),
            )),
            Stmt::Do(node) => return Err(unknown_tag(node)),
            other => self.other_template(other)?,
        };
        adapted.push(new);
        Ok(())
    }

    /// Statements whose variables are their own (Jinja2's compiler.py, `frame.inner()`).
    fn scope<'s>(&mut self, statements: &[Stmt<'s>], span: Span) -> Result<Stmt<'s>, Error> {
        Ok(Stmt::WithBlock(Spanned::new(
            WithBlock {
                assignments: Vec::new(),
                body: self.statements(statements)?,
            },
            span,
        )))
    }

    /// Statements whose text is not written, but captured.
    fn captured<'s>(
        &mut self,
        statements: &[Stmt<'s>],
        span: Span,
    ) -> Result<Vec<Stmt<'s>>, Error> {
        let scope = self.scope(statements, span)?;
        if self.writing == Writing::Plain {
            return Ok(vec![scope]);
        }
        let tell = |begins: bool| {
            Stmt::IfCond(Spanned::new(
                IfCond {
                    expr: operation(Operator::Capture, vec![constant(begins, span)], span),
                    true_body: Vec::new(),
                    false_body: Vec::new(),
                },
                span,
            ))
        };
        Ok(vec![tell(true), scope, tell(false)])
    }

    /// What takes other templates. There are none, so that most of it fails when it is
    /// reached.
    fn other_template<'s>(&mut self, statement: &Stmt<'s>) -> Result<Stmt<'s>, Error> {
        Ok(match statement {
            Stmt::Block(node) => Stmt::Block(Spanned::new(
                Block {
                    name: node.name,
                    required: node.required,
                    body: self.statements(&node.body)?,
                },
                node.span(),
            )),
            Stmt::Extends(node) => Stmt::Extends(Spanned::new(
                Extends {
                    name: self.expression(&node.name)?,
                },
                node.span(),
            )),
            // Without a loader Jinja2 fails before it can miss a template.
            Stmt::Include(node) => Stmt::Include(Spanned::new(
                Include {
                    name: self.expression(&node.name)?,
                    ignore_missing: false,
                },
                node.span(),
            )),
            Stmt::Import(node) => Stmt::Import(Spanned::new(
                Import {
                    expr: self.expression(&node.expr)?,
                    name: self.expression(&node.name)?,
                },
                node.span(),
            )),
            Stmt::FromImport(node) => {
                let mut names = Vec::new();
                for (name, alias) in &node.names {
                    names.push((self.target(name)?, self.optional(alias.as_ref())?));
                }
                let expr = self.expression(&node.expr)?;
                Stmt::FromImport(Spanned::new(FromImport { expr, names }, node.span()))
            }
            _ => {
                return Err(Error::new(
                    ErrorKind::SyntaxError,
                    "a tag that this engine does not know",
                ));
            }
        })
    }

    fn for_loop<'s>(&mut self, node: &Spanned<ForLoop<'s>>) -> Result<Stmt<'s>, Error> {
        let iter = self.expression(&node.iter)?;
        let iter = match &node.target {
            Expr::List(_) => operation(Operator::IteratePairs, vec![iter], node.iter.span()),
            _ => operation(Operator::Iterate, vec![iter], node.iter.span()),
        };
        Ok(Stmt::ForLoop(Spanned::new(
            ForLoop {
                target: self.target(&node.target)?,
                iter,
                filter_expr: self.optional(node.filter_expr.as_ref())?,
                recursive: node.recursive,
                body: self.statements(&node.body)?,
                else_body: self.statements(&node.else_body)?,
            },
            node.span(),
        )))
    }

    fn condition<'s>(&mut self, node: &Spanned<IfCond<'s>>) -> Result<Stmt<'s>, Error> {
        let was_soft = std::mem::replace(&mut self.is_soft, true);
        let condition = IfCond {
            expr: self.expression(&node.expr)?,
            true_body: self.statements(&node.true_body)?,
            false_body: self.statements(&node.false_body)?,
        };
        self.is_soft = was_soft;
        Ok(Stmt::IfCond(Spanned::new(condition, node.span())))
    }

    /// All values are worked out before the first is assigned (Jinja2's `visit_With`).
    fn with_block<'s>(&mut self, node: &Spanned<WithBlock<'s>>) -> Result<Stmt<'s>, Error> {
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
        let body = self.statements(&node.body)?;
        Ok(Stmt::WithBlock(Spanned::new(
            WithBlock { assignments, body },
            node.span(),
        )))
    }

    /// A macro, and then the same under Python's rules for its arguments.
    fn macro_declaration<'s>(
        &mut self,
        node: &Spanned<Macro<'s>>,
        name: &'s str,
        adapted: &mut Vec<Stmt<'s>>,
    ) -> Result<(), Error> {
        let span = node.span();
        let mut seen = super::macros::Names::default();
        seen.of_macro(node);
        let signature = Signature::of(node, &seen);
        let was_soft = std::mem::replace(&mut self.is_soft, false);
        let mut body = Vec::new();
        if let Some(names) = seen.enclosed(span) {
            body.push(names);
        }
        let without_default = node.args.len() - node.defaults.len();
        for (argument, default) in node.args.iter().skip(without_default).zip(&node.defaults) {
            body.push(Stmt::IfCond(Spanned::new(
                IfCond {
                    expr: operation(Operator::IsMissing, vec![self.target(argument)?], span),
                    true_body: vec![Stmt::Set(Spanned::new(
                        Set {
                            target: self.target(argument)?,
                            expr: self.expression(default)?,
                        },
                        default.span(),
                    ))],
                    false_body: Vec::new(),
                },
                default.span(),
            )));
        }
        body.extend(self.statements(&node.body)?);
        self.is_soft = was_soft;
        let args = signature
            .parameters(node)
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
            vec![
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

    /// A call block is a macro of its own that is handed over as `caller`.
    fn call_block<'s>(&mut self, node: &Spanned<CallBlock<'s>>) -> Result<Stmt<'s>, Error> {
        let span = node.span();
        let mut body = Vec::new();
        self.macro_declaration(&node.macro_decl, CALL_BLOCK, &mut body)?;
        let mut args = self.arguments(&node.call.args)?;
        args.push(CallArg::Kwarg("caller", variable(CALL_BLOCK, span)));
        let call = Call {
            expr: self.expression(&node.call.expr)?,
            args,
        };
        let called = Expr::Call(Spanned::new(call, node.call.span()));
        body.push(emit(
            operation(Operator::TextOnly, vec![called], span),
            span,
        ));
        Ok(Stmt::WithBlock(Spanned::new(
            WithBlock {
                assignments: Vec::new(),
                body,
            },
            span,
        )))
    }

    /// Names and attributes that are assigned to stay as they are.
    fn target<'s>(&mut self, target: &Expr<'s>) -> Result<Expr<'s>, Error> {
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
            other => self.expression(other)?,
        })
    }

    /// A value that is assigned to a target: where there are several names, a text comes
    /// apart too.
    fn assigned<'s>(&mut self, value: &Expr<'s>, target: &Expr<'s>) -> Result<Expr<'s>, Error> {
        let adapted = self.expression(value)?;
        Ok(match (target, value) {
            (Expr::List(_), Expr::Tuple(_)) | (Expr::Var(_) | Expr::GetAttr(_), _) => adapted,
            _ => operation(Operator::Iterate, vec![adapted], value.span()),
        })
    }

    fn optional<'s>(&mut self, expression: Option<&Expr<'s>>) -> Result<Option<Expr<'s>>, Error> {
        expression.map(|inner| self.expression(inner)).transpose()
    }

    fn expressions<'s>(&mut self, expressions: &[Expr<'s>]) -> Result<Vec<Expr<'s>>, Error> {
        expressions
            .iter()
            .map(|inner| self.expression(inner))
            .collect()
    }

    fn arguments<'s>(&mut self, arguments: &[CallArg<'s>]) -> Result<Vec<CallArg<'s>>, Error> {
        arguments
            .iter()
            .map(|argument| {
                Ok(match argument {
                    CallArg::Pos(value) => CallArg::Pos(self.expression(value)?),
                    CallArg::Kwarg(name, value) => CallArg::Kwarg(name, self.expression(value)?),
                    CallArg::PosSplat(value) => {
                        let span = value.span();
                        let value = self.expression(value)?;
                        CallArg::PosSplat(operation(Operator::Iterate, vec![value], span))
                    }
                    CallArg::KwargSplat(value) => CallArg::KwargSplat(self.expression(value)?),
                })
            })
            .collect()
    }

    fn expression<'s>(&mut self, expression: &Expr<'s>) -> Result<Expr<'s>, Error> {
        Ok(match expression {
            Expr::Var(node) => variable(node.id, node.span()),
            Expr::Const(node) => constant(node.value.clone(), node.span()),
            Expr::Slice(node) => self.slice(node)?,
            Expr::UnaryOp(node) => self.unary(node)?,
            Expr::BinOp(node) => self.binary(node)?,
            Expr::Compare(node) => self.comparison(node)?,
            Expr::IfExpr(node) => {
                let was_soft = std::mem::replace(&mut self.is_soft, true);
                let choice = IfExpr {
                    test_expr: self.expression(&node.test_expr)?,
                    true_expr: self.expression(&node.true_expr)?,
                    false_expr: Some(match &node.false_expr {
                        Some(otherwise) => self.expression(otherwise)?,
                        None => constant(Value::UNDEFINED, node.span()),
                    }),
                };
                self.is_soft = was_soft;
                Expr::IfExpr(Spanned::new(choice, node.span()))
            }
            Expr::Filter(node) => {
                let name = self.known("filter", node.name, vocabulary::is_filter(node.name))?;
                let filter = Filter {
                    name,
                    expr: self.optional(node.expr.as_ref())?,
                    args: self.arguments(&node.args)?,
                };
                Expr::Filter(Spanned::new(filter, node.span()))
            }
            Expr::Test(node) => {
                let name = self.known("test", node.name, vocabulary::is_test(node.name))?;
                let test = Test {
                    name,
                    expr: self.expression(&node.expr)?,
                    args: self.arguments(&node.args)?,
                };
                Expr::Test(Spanned::new(test, node.span()))
            }
            // The template itself has blocks and nothing else.
            Expr::GetAttr(node) if matches!(&node.expr, Expr::Var(name) if name.id == "self") => {
                constant(Value::UNDEFINED, node.span())
            }
            Expr::GetAttr(node) => {
                let inner = self.expression(&node.expr)?;
                if is_method(node.name) && !is_loop(&node.expr) {
                    let operands = vec![inner, constant(node.name, node.span())];
                    operation(Operator::Attribute, operands, node.span())
                } else {
                    let attribute = GetAttr {
                        expr: inner,
                        name: node.name,
                    };
                    Expr::GetAttr(Spanned::new(attribute, node.span()))
                }
            }
            Expr::GetItem(node) => {
                let inner = self.expression(&node.expr)?;
                let subscript = self.expression(&node.subscript_expr)?;
                if is_plain_key(&node.subscript_expr) {
                    let item = GetItem {
                        expr: inner,
                        subscript_expr: subscript,
                    };
                    Expr::GetItem(Spanned::new(item, node.span()))
                } else {
                    operation(Operator::Item, vec![inner, subscript], node.span())
                }
            }
            Expr::Call(node) => Expr::Call(Spanned::new(self.call(node)?, node.span())),
            Expr::List(node) => Expr::List(Spanned::new(
                List {
                    items: self.expressions(&node.items)?,
                },
                node.span(),
            )),
            Expr::Tuple(node) => Expr::Tuple(Spanned::new(
                Tuple {
                    items: self.expressions(&node.items)?,
                },
                node.span(),
            )),
            Expr::Map(node) => Expr::Map(Spanned::new(
                Map {
                    keys: self.expressions(&node.keys)?,
                    values: self.expressions(&node.values)?,
                },
                node.span(),
            )),
        })
    }

    fn slice<'s>(&mut self, node: &Spanned<Slice<'s>>) -> Result<Expr<'s>, Error> {
        let bound = |bound: &Option<Expr<'s>>, adapter: &mut Adapter| match bound {
            Some(bound) => adapter.expression(bound),
            None => Ok(constant((), node.span())),
        };
        let operands = vec![
            self.expression(&node.expr)?,
            bound(&node.start, self)?,
            bound(&node.stop, self)?,
            bound(&node.step, self)?,
        ];
        let operator = if self.is_constant {
            Operator::SliceConstant
        } else {
            Operator::Slice
        };
        Ok(operation(operator, operands, node.span()))
    }

    /// A name that Jinja2 knows, or what fails when it is used.
    fn known<'s>(&self, what: &str, name: &'s str, is_known: bool) -> Result<&'s str, Error> {
        if is_known {
            Ok(name)
        } else if self.is_soft {
            Ok("unknown")
        } else {
            Err(Error::new(
                ErrorKind::SyntaxError,
                format!("no {what} named {name:?}"),
            ))
        }
    }

    /// The call itself stays minijinja's. A loop that calls itself runs over what any loop
    /// could run over.
    fn call<'s>(&mut self, node: &Spanned<Call<'s>>) -> Result<Call<'s>, Error> {
        if let (Expr::GetAttr(attribute), true) = (&node.expr, node.args.is_empty())
            && attribute.name == "cycle"
            && is_loop(&attribute.expr)
        {
            // minijinja divides by their number.
            return Ok(Call {
                expr: constant("no items for cycling", node.span()),
                args: Vec::new(),
            });
        }
        let mut args = self.arguments(&node.args)?;
        if let (true, [CallArg::Pos(value)]) = (is_loop(&node.expr), node.args.as_slice()) {
            let value = self.expression(value)?;
            let value = operation(Operator::Iterate, vec![value], node.span());
            args = vec![CallArg::Pos(value)];
        }
        let expr = match &node.expr {
            Expr::GetAttr(attribute) => Expr::GetAttr(Spanned::new(
                GetAttr {
                    expr: self.expression(&attribute.expr)?,
                    name: attribute.name,
                },
                attribute.span(),
            )),
            other => self.expression(other)?,
        };
        Ok(Call { expr, args })
    }

    fn unary<'s>(&mut self, node: &Spanned<UnaryOp<'s>>) -> Result<Expr<'s>, Error> {
        let span = node.span();
        Ok(match (&node.op, &node.expr) {
            (UnaryOpKind::Not, inner) => {
                let expr = self.expression(inner)?;
                Expr::UnaryOp(Spanned::new(
                    UnaryOp {
                        op: UnaryOpKind::Not,
                        expr,
                    },
                    span,
                ))
            }
            (UnaryOpKind::Neg, Expr::Const(number)) if number.value.is_number() => {
                Expr::UnaryOp(Spanned::new(
                    UnaryOp {
                        op: UnaryOpKind::Neg,
                        expr: constant(number.value.clone(), number.span()),
                    },
                    span,
                ))
            }
            (UnaryOpKind::Neg, inner) => {
                operation(Operator::Negate, vec![self.expression(inner)?], span)
            }
        })
    }

    fn binary<'s>(&mut self, node: &Spanned<BinOp<'s>>) -> Result<Expr<'s>, Error> {
        let operator = match node.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                let both = BinOp {
                    op: node.op,
                    left: self.expression(&node.left)?,
                    right: self.expression(&node.right)?,
                };
                return Ok(Expr::BinOp(Spanned::new(both, node.span())));
            }
            BinOpKind::Eq => Operator::Equal,
            BinOpKind::Ne => Operator::NotEqual,
            BinOpKind::Lt => Operator::Less,
            BinOpKind::Lte => Operator::LessOrEqual,
            BinOpKind::Gt => Operator::Greater,
            BinOpKind::Gte => Operator::GreaterOrEqual,
            BinOpKind::Add => Operator::Add,
            BinOpKind::Sub => Operator::Subtract,
            BinOpKind::Mul => Operator::Multiply,
            BinOpKind::Div => Operator::Divide,
            BinOpKind::FloorDiv => Operator::FloorDivide,
            BinOpKind::Rem => Operator::Modulo,
            BinOpKind::Pow => Operator::Power,
            BinOpKind::Concat => Operator::Concat,
            BinOpKind::In => Operator::In,
        };
        let operands = vec![self.expression(&node.left)?, self.expression(&node.right)?];
        Ok(operation(operator, operands, node.span()))
    }

    /// `a < b < c`: `a < b and b < c`. Where `b` may not be worked out twice, everything is
    /// worked out beforehand.
    fn comparison<'s>(&mut self, node: &Spanned<Compare<'s>>) -> Result<Expr<'s>, Error> {
        let span = node.span();
        let middle = &node.ops[..node.ops.len().saturating_sub(1)];
        if !middle.iter().all(|op| is_repeatable(&op.expr)) {
            let mut operands = vec![self.expression(&node.expr)?];
            for op in &node.ops {
                operands.push(constant(comparing(op.op).name(), span));
                operands.push(self.expression(&op.expr)?);
            }
            return Ok(operation(Operator::Chain, operands, span));
        }
        let mut left = &node.expr;
        let mut chain = None;
        for op in &node.ops {
            let operands = vec![self.expression(left)?, self.expression(&op.expr)?];
            let compared = operation(comparing(op.op), operands, span);
            left = &op.expr;
            chain = Some(match chain {
                None => compared,
                Some(before) => Expr::BinOp(Spanned::new(
                    BinOp {
                        op: BinOpKind::ScAnd,
                        left: before,
                        right: compared,
                    },
                    span,
                )),
            });
        }
        Ok(chain.unwrap_or_else(|| constant((), span)))
    }
}

fn comparing(op: CompareOpKind) -> Operator {
    match op {
        CompareOpKind::Eq => Operator::Equal,
        CompareOpKind::Ne => Operator::NotEqual,
        CompareOpKind::Lt => Operator::Less,
        CompareOpKind::Lte => Operator::LessOrEqual,
        CompareOpKind::Gt => Operator::Greater,
        CompareOpKind::Gte => Operator::GreaterOrEqual,
        CompareOpKind::In => Operator::In,
        CompareOpKind::NotIn => Operator::NotIn,
    }
}

fn operation(operator: Operator, operands: Vec<Expr<'_>>, span: Span) -> Expr<'_> {
    let mut operands = operands.into_iter();
    let expr = operands.next();
    let filter = Filter {
        name: operator.name(),
        expr,
        args: operands.map(CallArg::Pos).collect(),
    };
    Expr::Filter(Spanned::new(filter, span))
}

fn constant<'s>(value: impl Into<Value>, span: Span) -> Expr<'s> {
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

fn span_of(statement: &Stmt<'_>) -> Span {
    match statement {
        Stmt::Continue(node) => node.span(),
        Stmt::Break(node) => node.span(),
        _ => Span::default(),
    }
}

/// transformers does not add Jinja2's extension for it.
fn unknown_tag(node: &Spanned<Do<'_>>) -> Error {
    Error::new(
        ErrorKind::SyntaxError,
        format!("unknown tag 'do' in line {}", node.span().start_line),
    )
}
