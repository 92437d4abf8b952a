//! Gives the expressions of a syntax tree Python's operators.

use minijinja::machinery::Span;
use minijinja::machinery::ast::{
    BinOp, BinOpKind, Call, CallArg, Compare, CompareOpKind, Expr, Filter, GetAttr, GetItem,
    IfExpr, List, Map, Slice, Spanned, Test, Tuple, UnaryOp, UnaryOpKind,
};
use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use crate::compile::generators::AHEAD;
use crate::compile::grammar::Rarities;
use crate::compile::grammar::expressions::is_keyword;
use crate::compile::nodes::{constant, given, operation, variable};
use crate::compile::properties::{
    is_constant, is_loop_variable, is_plain, is_plain_key, is_repeatable, is_self, is_short_list,
    is_silent, literal_truth, unknown_number,
};
use crate::compile::sites::Sites;
use crate::library::functions::{GENERATION, is_global};
use crate::library::vocabulary;
use crate::operator::Operator;
use crate::provenance::{self, Texts};
use crate::python::attributes::is_method;
use crate::python::text;
use crate::python::undefined;
use crate::refusal::syntax_error;

/// What a render knows of missing values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum MissingValues {
    #[default]
    Plain,
    Named,
}

/// Gives expressions Python's operators.
#[derive(Default)]
pub(super) struct Expressions<'s> {
    /// The text of the template.
    pub(super) source: &'s str,
    /// Within a condition. An unknown filter fails there when it is used, elsewhere when the
    /// template is compiled (Jinja2's compiler.py, `soft_frame`).
    pub(super) is_soft: bool,
    /// Within a printed expression that Jinja2 evaluates when it compiles.
    pub(super) is_constant: bool,
    /// Within a plain loop inside a recursive one. Its depth counts as for any other loop (Jinja2's
    /// compiler.py, `visit_For`).
    pub(super) is_outermost: bool,
    /// The variable with the items of the innermost loop, if its body looks at them in advance.
    pub(super) ahead: Option<&'static str>,
    /// The rare features of the template.
    pub(super) rarities: Rarities,
    /// What is known of missing values.
    pub(super) missing: MissingValues,
    /// The variable that a block's filters take, if it is not the captured text.
    pub(super) captured: Option<&'static str>,
    /// The texts of the template that a traced render knows, if it is to be traced.
    pub(super) literals: Option<Texts>,
    /// The sites of the template, if the code is to report what it reaches.
    pub(super) sites: Option<Sites>,
}

impl<'s> Expressions<'s> {
    /// An expression that may be missing, with Python's operators.
    pub(super) fn adapt_optional(
        &mut self,
        expression: Option<&Expr<'s>>,
    ) -> Result<Option<Expr<'s>>, Error> {
        expression.map(|inner| self.adapt(inner)).transpose()
    }

    fn adapt_all(&mut self, expressions: &[Expr<'s>]) -> Result<Vec<Expr<'s>>, Error> {
        expressions.iter().map(|inner| self.adapt(inner)).collect()
    }

    /// The arguments of a call, with Python's operators. A `**dictionary` must not repeat these
    /// names.
    pub(super) fn adapt_arguments(
        &mut self,
        arguments: &[CallArg<'s>],
        named: &[&'s str],
    ) -> Result<Vec<CallArg<'s>>, Error> {
        arguments
            .iter()
            .map(|argument| {
                Ok(match argument {
                    CallArg::Pos(value) => CallArg::Pos(self.adapt(value)?),
                    CallArg::Kwarg(name, value) => CallArg::Kwarg(name, self.adapt(value)?),
                    CallArg::PosSplat(value) => {
                        let span = value.span();
                        let value = self.adapt(value)?;
                        CallArg::PosSplat(operation(Operator::Splat, [value], span))
                    }
                    CallArg::KwargSplat(value) => {
                        let span = value.span();
                        let mut operands = vec![self.adapt(value)?];
                        operands.extend(named.iter().map(|name| constant(*name, span)));
                        CallArg::KwargSplat(operation(Operator::KwargSplat, operands, span))
                    }
                })
            })
            .collect()
    }

    /// The filters of a block, which are given a variable.
    pub(super) fn adapt_filter_of(
        &mut self,
        filter: &Expr<'s>,
        captured: &'static str,
    ) -> Result<Expr<'s>, Error> {
        self.captured = Some(captured);
        let adapted = self.adapt(filter);
        self.captured = None;
        adapted
    }

    /// An expression with Python's operators.
    pub(super) fn adapt(&mut self, expression: &Expr<'s>) -> Result<Expr<'s>, Error> {
        let adapted = self.adapt_alone(expression)?;
        Ok(match &self.sites {
            Some(sites) => sites.decided(expression, adapted),
            None => adapted,
        })
    }

    fn adapt_alone(&mut self, expression: &Expr<'s>) -> Result<Expr<'s>, Error> {
        if self.rarities.has_infinity && !self.is_constant && is_constant(expression) {
            // A value that cannot be sliced is not a constant, alone or in a list. Jinja2 then
            // looks at each item.
            self.is_constant = !matches!(
                expression,
                Expr::Slice(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Map(_)
            );
            let adapted = self.with_operators(expression);
            self.is_constant = false;
            let adapted = adapted?;
            let Some(name) = unknown_number(expression) else {
                return Ok(adapted);
            };
            let span = expression.span();
            let message = constant(format!("name '{name}' is not defined"), span);
            return Ok(operation(Operator::Unknown, [message], span));
        }
        self.with_operators(expression)
    }

    fn with_operators(&mut self, expression: &Expr<'s>) -> Result<Expr<'s>, Error> {
        Ok(match expression {
            Expr::Var(node) if self.names_missing() && ![GENERATION, "self"].contains(&node.id) => {
                let span = node.span();
                let operands = [variable(node.id, span), constant(node.id, span)];
                operation(Operator::Variable, operands, span)
            }
            Expr::Var(node) => variable(node.id, node.span()),
            Expr::Const(node) => self.literal(&node.value, node.span()),
            Expr::Slice(node) => self.slice(node)?,
            Expr::UnaryOp(node) => self.unary(node)?,
            Expr::BinOp(node) => self.binary(node)?,
            Expr::Compare(node) => self.comparison(node)?,
            Expr::IfExpr(node) => {
                let was_soft = std::mem::replace(&mut self.is_soft, true);
                let choice = IfExpr {
                    test_expr: self.adapt(&node.test_expr)?,
                    true_expr: self.adapt(&node.true_expr)?,
                    false_expr: Some(match &node.false_expr {
                        Some(otherwise) => self.adapt(otherwise)?,
                        None if self.names_missing() => {
                            let line = node.span().start_line;
                            let message = format!(
                                "the inline if-expression on line {line} evaluated to false and \
                                 no else section was defined."
                            );
                            constant(undefined::named(message), node.span())
                        }
                        None => constant(Value::UNDEFINED, node.span()),
                    }),
                };
                self.is_soft = was_soft;
                Expr::IfExpr(Spanned::new(choice, node.span()))
            }
            Expr::Filter(node) => {
                let expr = match (&node.expr, self.captured.take()) {
                    (None, Some(captured)) => Some(variable(captured, node.span())),
                    (expr, captured) => {
                        self.captured = captured;
                        let expr = self.adapt_optional(expr.as_ref())?;
                        self.captured = None;
                        expr
                    }
                };
                let named = other_names(node.expr.as_ref(), &node.args);
                let args = self.adapt_arguments(&node.args, &named)?;
                let span = node.span();
                let Some(name) = vocabulary::filter(node.name) else {
                    return self.unknown("filter", node.name, expr, args, span);
                };
                Expr::Filter(Spanned::new(Filter { name, expr, args }, span))
            }
            Expr::Test(node) => {
                let expr = self.adapt(&node.expr)?;
                let named = other_names(Some(&node.expr), &node.args);
                let args = self.adapt_arguments(&node.args, &named)?;
                let span = node.span();
                let Some(name) = vocabulary::test(node.name) else {
                    return self.unknown("test", node.name, Some(expr), args, span);
                };
                Expr::Test(Spanned::new(Test { name, expr, args }, span))
            }
            // `self` has nothing but the template's blocks.
            Expr::GetAttr(node) if is_self(&node.expr) && !self.rarities.assigns_self => {
                constant(Value::UNDEFINED, node.span())
            }
            Expr::GetAttr(node) => self.attribute(node)?,
            Expr::GetItem(node) => self.item(node)?,
            Expr::Call(node) => self.call(node)?,
            Expr::List(node) => {
                let items = self.adapt_all(&node.items)?;
                if node.as_const().is_some() {
                    Expr::List(Spanned::new(List { items }, node.span()))
                } else {
                    operation(Operator::List, items, node.span())
                }
            }
            Expr::Tuple(node) => {
                let items = self.adapt_all(&node.items)?;
                if node.as_const().is_some() {
                    Expr::Tuple(Spanned::new(Tuple { items }, node.span()))
                } else {
                    operation(Operator::Tuple, items, node.span())
                }
            }
            Expr::Map(node) => self.map(node)?,
        })
    }

    fn item(&mut self, node: &Spanned<GetItem<'s>>) -> Result<Expr<'s>, Error> {
        let span = node.span();
        let expr = self.adapt(&node.expr)?;
        let subscript_expr = self.adapt(&node.subscript_expr)?;
        if self.names_missing() || !is_plain_key(&node.subscript_expr) {
            return Ok(operation(Operator::Item, [expr, subscript_expr], span));
        }
        Ok(match self.plain_key(node) {
            Some(name) => Expr::GetAttr(Spanned::new(GetAttr { expr, name }, span)),
            None => Expr::GetItem(Spanned::new(
                GetItem {
                    expr,
                    subscript_expr,
                },
                span,
            )),
        })
    }

    fn names_missing(&self) -> bool {
        self.missing == MissingValues::Named
    }

    fn attribute(&mut self, node: &Spanned<GetAttr<'s>>) -> Result<Expr<'s>, Error> {
        let is_depth = self.is_outermost
            && is_loop_variable(&node.expr)
            && ["depth", "depth0"].contains(&node.name);
        if is_depth {
            // minijinja counts the loops around it, too, if one of them calls itself.
            return Ok(constant(i64::from(node.name == "depth"), node.span()));
        }
        if let Some(items) = self.ahead
            && is_loop_variable(&node.expr)
            && AHEAD.contains(&node.name)
        {
            let items = variable(items, node.span());
            let operands = [
                items,
                self.adapt(&node.expr)?,
                constant(node.name, node.span()),
            ];
            return Ok(operation(Operator::LookAhead, operands, node.span()));
        }
        let expr = self.adapt(&node.expr)?;
        if self.names_missing() || is_method(node.name) && !is_loop_variable(&node.expr) {
            let operands = [expr, constant(node.name, node.span())];
            return Ok(operation(Operator::Attribute, operands, node.span()));
        }
        let name = node.name;
        Ok(Expr::GetAttr(Spanned::new(
            GetAttr { expr, name },
            node.span(),
        )))
    }

    /// A constant. If it is a text, a traced render knows its place: what is between its quotation
    /// marks, or all of it if that is not there as it is.
    fn literal(&mut self, value: &Value, span: Span) -> Expr<'s> {
        let (Some(literals), Some(text)) = (&mut self.literals, value.as_str()) else {
            return constant(value.clone(), span);
        };
        let whole = span.start_offset as usize..span.end_offset as usize;
        let inner = whole.start + 1..whole.end.saturating_sub(1);
        let is_verbatim = self.source.get(inner.clone()) == Some(text);
        let source = if is_verbatim { inner } else { whole };
        constant(provenance::literal(value, source, literals), span)
    }

    /// The key of an item in the text of the template, if it is there as it is. minijinja finds an
    /// attribute faster than an item, and they are the same if the name is no method's.
    fn plain_key(&self, node: &GetItem<'s>) -> Option<&'s str> {
        let Expr::Const(key) = &node.subscript_expr else {
            return None;
        };
        let name = key.value.as_str()?;
        let place = key.span();
        let place = place.start_offset as usize + 1..(place.end_offset as usize).checked_sub(1)?;
        let written = self.source.get(place)?;
        (written == name && is_plain_key(&node.subscript_expr)).then_some(written)
    }

    fn map(&mut self, node: &Spanned<Map<'s>>) -> Result<Expr<'s>, Error> {
        let keys = self.adapt_all(&node.keys)?;
        let values = self.adapt_all(&node.values)?;
        let is_bool = |key: &Expr<'_>| matches!(key, Expr::Const(key) if matches!(key.value.kind(), ValueKind::Bool));
        if node.as_const().is_some() && !node.keys.iter().any(is_bool) {
            return Ok(Expr::Map(Spanned::new(Map { keys, values }, node.span())));
        }
        let pairs = keys.into_iter().zip(values);
        let parts = pairs.flat_map(|(key, value)| [key, value]);
        Ok(operation(Operator::Map, parts, node.span()))
    }

    fn slice(&mut self, node: &Spanned<Slice<'s>>) -> Result<Expr<'s>, Error> {
        if let Expr::Const(of) = &node.expr
            && of.value.is_undefined()
        {
            return self.slice_in_key(node.span());
        }
        let bound = |bound: &Option<Expr<'s>>, all: &mut Expressions<'s>| match bound {
            Some(bound) => all.adapt(bound),
            None => Ok(constant((), node.span())),
        };
        let operands = [
            self.adapt(&node.expr)?,
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

    /// A slice within a tuple that is a key: `a[1:, 2]`. Python has no such tuple, so its compiler
    /// refuses Jinja2's code, unless Jinja2 has already evaluated the key. Then no value has this
    /// key, because it has no hash. An empty list has no hash either.
    fn slice_in_key(&self, span: Span) -> Result<Expr<'s>, Error> {
        if self.is_constant {
            let items = Vec::new();
            return Ok(Expr::List(Spanned::new(List { items }, span)));
        }
        let line = usize::from(span.start_line);
        let byte = span.start_offset as usize;
        Err(syntax_error("invalid syntax", line, byte))
    }

    /// A filter or a test that Jinja2 does not know. Within a condition it fails when it is
    /// used, elsewhere at once.
    fn unknown(
        &self,
        what: &str,
        name: &str,
        of: Option<Expr<'s>>,
        mut args: Vec<CallArg<'s>>,
        span: Span,
    ) -> Result<Expr<'s>, Error> {
        let message = format!("No {what} named {}", text::repr(&Value::from(name)));
        if !self.is_soft {
            let line = usize::from(span.start_line);
            let byte = span.start_offset as usize;
            return Err(syntax_error(format!("{message}."), line, byte));
        }
        // Its arguments are evaluated before it fails.
        args.splice(0..0, of.map(CallArg::Pos));
        let filter = Filter {
            name: Operator::Unknown.name(),
            expr: Some(constant(format!("{message} found."), span)),
            args,
        };
        Ok(Expr::Filter(Spanned::new(filter, span)))
    }

    /// A call, which stays minijinja's own. The argument of a recursive loop is prepared like the
    /// value of any loop.
    fn call(&mut self, node: &Spanned<Call<'s>>) -> Result<Expr<'s>, Error> {
        let mut args = self.adapt_arguments(&node.args, &named(&node.args, &[]))?;
        if let (true, [CallArg::Pos(value)]) = (is_loop_variable(&node.expr), node.args.as_slice())
        {
            let value = self.adapt(value)?;
            let value = operation(Operator::Recurse, [value], node.span());
            args = vec![CallArg::Pos(value)];
            if self.literals.is_some() {
                let expr = self.adapt(&node.expr)?;
                let called = Expr::Call(Spanned::new(Call { expr, args }, node.span()));
                let operands = [called, constant(true, node.span())];
                return Ok(operation(Operator::Captured, operands, node.span()));
            }
        }
        if self.names_missing()
            && let Expr::Var(name) = &node.expr
            && is_global(name.id)
            && !FREE.contains(&name.id)
        {
            let filter = Filter {
                name: Operator::Call.name(),
                expr: Some(variable(name.id, name.span())),
                args,
            };
            return Ok(Expr::Filter(Spanned::new(filter, node.span())));
        }
        let expr = match &node.expr {
            // minijinja would look for a block even if `self` is a variable.
            Expr::GetAttr(attribute)
                if ["changed", "cycle"].contains(&attribute.name)
                    || is_self(&attribute.expr) && self.rarities.assigns_self =>
            {
                let name = constant(attribute.name, attribute.span());
                args.insert(0, CallArg::Pos(name));
                let filter = Filter {
                    name: Operator::LoopMethod.name(),
                    expr: Some(self.adapt(&attribute.expr)?),
                    args,
                };
                return Ok(Expr::Filter(Spanned::new(filter, node.span())));
            }
            Expr::GetAttr(attribute) => Expr::GetAttr(Spanned::new(
                GetAttr {
                    expr: self.adapt(&attribute.expr)?,
                    name: attribute.name,
                },
                attribute.span(),
            )),
            callee if is_loop_variable(callee) => variable("loop", node.span()),
            // The call of an item is no call of a method.
            Expr::GetItem(item) if is_plain_key(&item.subscript_expr) => {
                Expr::GetItem(Spanned::new(
                    GetItem {
                        expr: self.adapt(&item.expr)?,
                        subscript_expr: self.adapt(&item.subscript_expr)?,
                    },
                    item.span(),
                ))
            }
            other => self.adapt(other)?,
        };
        Ok(Expr::Call(Spanned::new(Call { expr, args }, node.span())))
    }

    fn unary(&mut self, node: &Spanned<UnaryOp<'s>>) -> Result<Expr<'s>, Error> {
        let span = node.span();
        Ok(match (&node.op, &node.expr) {
            (UnaryOpKind::Not, inner) => {
                let mut expr = self.adapt(inner)?;
                if self.literals.is_some() {
                    expr = operation(Operator::Truth, [expr], span);
                }
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
            (UnaryOpKind::Neg, inner) => operation(Operator::Negate, [self.adapt(inner)?], span),
        })
    }

    fn binary(&mut self, node: &Spanned<BinOp<'s>>) -> Result<Expr<'s>, Error> {
        let operator = match node.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                let left = self.adapt(&node.left)?;
                // Where a literal decides, Jinja2 forgets the rest before it looks for filters.
                let is_or = matches!(node.op, BinOpKind::ScOr);
                let is_decided = literal_truth(&node.left) == Some(is_or);
                let was_soft = self.is_soft;
                self.is_soft |= is_decided;
                let right = self.adapt(&node.right);
                self.is_soft = was_soft;
                let both = BinOp {
                    op: node.op,
                    left,
                    right: right?,
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
        if let Operator::Add | Operator::Concat = operator {
            return self.sum(node, operator);
        }
        let operands = [self.adapt(&node.left)?, self.adapt(&node.right)?];
        Ok(self.compared(operator, operands, node.span()))
    }

    /// `a + b + c` and `a ~ b ~ c`: one call joins up to five operands. But if `b` or `c` of a sum
    /// may raise an exception, they are evaluated one by one, because `a + b` may fail before `c`
    /// is evaluated.
    fn sum(&mut self, node: &Spanned<BinOp<'s>>, operator: Operator) -> Result<Expr<'s>, Error> {
        let is_sum = operator == Operator::Add;
        let mut operands = vec![&node.right];
        let mut left = &node.left;
        while let Expr::BinOp(inner) = left
            && std::mem::discriminant(&inner.op) == std::mem::discriminant(&node.op)
            && operands.iter().all(|right| !is_sum || is_silent(right))
        {
            operands.push(&inner.right);
            left = &inner.left;
        }
        let mut sum = self.adapt(left)?;
        operands.reverse();
        for operands in operands.chunks(4) {
            let several = match (operands.len(), is_sum) {
                (1, _) => operator,
                (2, true) => Operator::Add3,
                (3, true) => Operator::Add4,
                (_, true) => Operator::Add5,
                (2, false) => Operator::Concat3,
                (3, false) => Operator::Concat4,
                (_, false) => Operator::Concat5,
            };
            let mut all = vec![sum];
            for operand in operands {
                all.push(self.adapt(operand)?);
            }
            sum = operation(several, all, node.span());
        }
        Ok(sum)
    }

    /// `a < b < c`: `a < b and b < c`. If `b` must not be evaluated twice, all operands are
    /// evaluated first.
    fn comparison(&mut self, node: &Spanned<Compare<'s>>) -> Result<Expr<'s>, Error> {
        let span = node.span();
        let middle = &node.ops[..node.ops.len().saturating_sub(1)];
        if !middle.iter().all(|op| is_repeatable(&op.expr)) {
            let mut operands = vec![self.adapt(&node.expr)?];
            for op in &node.ops {
                operands.push(constant(comparing(op.op).name(), span));
                operands.push(self.adapt(&op.expr)?);
            }
            return Ok(operation(Operator::Chain, operands, span));
        }
        let mut left = &node.expr;
        let mut chain = None;
        for op in &node.ops {
            let operands = [self.adapt(left)?, self.adapt(&op.expr)?];
            let compared = self.compared(comparing(op.op), operands, span);
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

    /// A comparison, or any operator with two operands. minijinja's own comparisons are faster, so they
    /// stay if the result is the same: if one operand is a literal text or number, or for `in` if the
    /// list is a short list of literal texts. A traced render watches all comparisons.
    fn compared(&self, operator: Operator, operands: [Expr<'s>; 2], span: Span) -> Expr<'s> {
        let [left, right] = &operands;
        let own = match operator {
            Operator::Equal if is_plain(left) || is_plain(right) => Some(BinOpKind::Eq),
            Operator::NotEqual if is_plain(left) || is_plain(right) => Some(BinOpKind::Ne),
            Operator::In | Operator::NotIn if is_short_list(right) => Some(BinOpKind::In),
            _ => None,
        };
        let Some(op) = own.filter(|_| self.literals.is_none()) else {
            return operation(operator, operands, span);
        };
        let [left, right] = operands;
        let compared = Expr::BinOp(Spanned::new(BinOp { op, left, right }, span));
        match operator {
            Operator::NotIn => Expr::UnaryOp(Spanned::new(
                UnaryOp {
                    op: UnaryOpKind::Not,
                    expr: compared,
                },
                span,
            )),
            _ => compared,
        }
    }
}

/// The global names whose calls are no calls of Jinja2's functions.
const FREE: [&str; 6] = ["loop", "caller", "varargs", "kwargs", "self", GENERATION];

/// The names of a call's arguments, and other names. A `**dictionary` of the call must not repeat
/// them. Empty if a name is a Python keyword: Jinja2 then makes one dictionary of all, in which the
/// last one of each name counts (compiler.py, `signature`).
pub(super) fn named<'s>(arguments: &[CallArg<'s>], others: &[&'s str]) -> Vec<&'s str> {
    let names = arguments.iter().filter_map(|argument| match argument {
        CallArg::Kwarg(name, _) => Some(*name),
        _ => None,
    });
    let names: Vec<&str> = names.chain(others.iter().copied()).collect();
    if names.iter().any(|name| is_keyword(name)) {
        return Vec::new();
    }
    names
}

/// The names of the arguments of a filter or a test. If all of its input is constant, Jinja2 calls
/// it when it compiles, and the last argument of each name counts (`args_as_const`).
fn other_names<'s>(of: Option<&Expr<'s>>, arguments: &[CallArg<'s>]) -> Vec<&'s str> {
    if of.is_some_and(is_constant) && arguments.iter().map(given).all(is_constant) {
        return Vec::new();
    }
    named(arguments, &[])
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
