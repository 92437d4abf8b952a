//! Macros with Python's rules for arguments.
//!
//! minijinja binds arguments by its own rules and knows no `varargs` and `kwargs`. Here a
//! macro takes everything by position, and what stands in its place binds a call's
//! arguments as Jinja2 3.1.6 does (`runtime.py`, `Macro.__call__`).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{CallArg, Const, Expr, IfCond, Macro, Spanned, Stmt};
use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Rest, Tuple, Value, from_args};
use minijinja::{Error, ErrorKind, State};

use super::meter::{ENTRY, OBJECT, SLOT, produce, work};
use super::nodes::{emit, variable};

/// What a macro takes.
#[derive(Debug)]
pub(super) struct Signature {
    name: String,
    arguments: Vec<String>,
    /// How many of them have no default: the first.
    required: usize,
    /// How many names of outside the macro may keep.
    enclosed: usize,
    takes_caller: bool,
    takes_kwargs: bool,
    takes_varargs: bool,
}

impl Signature {
    /// Of a macro in whose body these names are seen: the three special ones are handed
    /// over where they are used.
    pub(super) fn of(node: &Macro<'_>, seen: &Names<'_>) -> Signature {
        let arguments: Vec<String> = argument_names(node).map(str::to_owned).collect();
        let uses = |name: &str| seen.loaded.contains(name) && !arguments.iter().any(|a| a == name);
        Signature {
            name: node.name.to_owned(),
            required: node.args.len() - node.defaults.len(),
            enclosed: seen.loaded.len() + seen.namespaces.len(),
            takes_caller: uses("caller"),
            takes_kwargs: uses("kwargs"),
            takes_varargs: uses("varargs"),
            arguments,
        }
    }

    /// The names under which the macro's body finds what it is given.
    pub(super) fn parameters<'s>(&self, node: &Macro<'s>) -> impl Iterator<Item = &'s str> {
        let special = [
            (self.takes_caller, "caller"),
            (self.takes_kwargs, "kwargs"),
            (self.takes_varargs, "varargs"),
        ];
        let special = special
            .into_iter()
            .filter_map(|(takes, name)| takes.then_some(name));
        let names: Vec<&'s str> = argument_names(node).chain(special).collect();
        names.into_iter()
    }

    /// Whether arguments are what the macro takes, as they are.
    fn is_bound(&self, args: &[Value]) -> bool {
        args.len() == self.arguments.len()
            && !self.takes_caller
            && !self.takes_kwargs
            && !self.takes_varargs
            && !args.last().is_some_and(Value::is_kwargs)
    }

    fn bind(&self, args: &[Value]) -> Result<Vec<Value>, Error> {
        let (given, kwargs): (Rest<Value>, Kwargs) = from_args(args)?;
        // Every name is sought among the others.
        let named = kwargs.args().count();
        work((named + 1) * (self.arguments.len() + given.len() + named))?;
        produce(SLOT * (self.arguments.len() + given.len()) + ENTRY * named)?;
        let mut given = given.0.into_iter();
        let mut bound: Vec<Value> = given.by_ref().take(self.arguments.len()).collect();
        let rest: Vec<Value> = given.collect();
        let mut named: Vec<&str> = kwargs.args().collect();
        let mut take = |name: &str| -> Result<Option<Value>, Error> {
            match named.iter().position(|other| *other == name) {
                None => Ok(None),
                Some(at) => {
                    named.remove(at);
                    kwargs.peek::<Value>(name).map(Some)
                }
            }
        };
        let by_position = bound.len();
        for name in &self.arguments[by_position..] {
            let value = take(name)?;
            // What is missing and has a default is asked for in the body.
            bound.push(match value {
                Some(value) => value,
                None if bound.len() < self.required => Value::UNDEFINED,
                None => Value::from_object(Missing),
            });
        }
        if self.takes_caller {
            bound.push(take("caller")?.unwrap_or_default());
        }
        if self.takes_kwargs {
            let mut pairs = Vec::new();
            for name in named {
                pairs.push((Value::from(name), kwargs.peek::<Value>(name)?));
            }
            bound.push(Value::from_pairs(pairs));
        } else if let Some(name) = named.first() {
            return Err(Error::new(
                ErrorKind::TooManyArguments,
                format!("macro {:?} takes no keyword argument {name:?}", self.name),
            ));
        }
        if self.takes_varargs {
            bound.push(Value::from(Tuple::from(rest)));
        } else if !rest.is_empty() {
            return Err(Error::new(
                ErrorKind::TooManyArguments,
                format!(
                    "macro {:?} takes not more than {} argument(s)",
                    self.name,
                    self.arguments.len()
                ),
            ));
        }
        Ok(bound)
    }
}

impl Object for Signature {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}

/// An argument that was not given.
#[derive(Debug)]
struct Missing;

impl Object for Missing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }
}

/// Whether an argument was not given.
pub(super) fn is_missing(value: &Value) -> bool {
    value.downcast_object_ref::<Missing>().is_some()
}

/// A macro that binds its arguments by a signature.
struct BoundMacro {
    by_position: Value,
    signature: Arc<Signature>,
}

/// A macro of minijinja's under a [`Signature`].
pub(super) fn bind(by_position: Value, signature: &Value) -> Result<Value, Error> {
    let signature = signature
        .downcast_object::<Signature>()
        .ok_or_else(|| Error::from(ErrorKind::BadSerialization))?;
    produce(2 * OBJECT + SLOT * signature.arguments.len() + ENTRY * signature.enclosed)?;
    Ok(Value::from_object(BoundMacro {
        by_position,
        signature,
    }))
}

/// Whether a value is a macro.
pub(super) fn is_macro(value: &Value) -> bool {
    value.downcast_object_ref::<BoundMacro>().is_some()
}

impl fmt::Debug for BoundMacro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Macro '{}'>", self.signature.name)
    }
}

impl Object for BoundMacro {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let signature = &self.signature;
        Some(match key.as_str()? {
            "name" => Value::from(signature.name.as_str()),
            "arguments" => {
                let names = signature
                    .arguments
                    .iter()
                    .map(|name| Value::from(name.as_str()));
                Value::from(Tuple::from(names.collect::<Vec<_>>()))
            }
            "caller" => Value::from(signature.takes_caller),
            "catch_kwargs" => Value::from(signature.takes_kwargs),
            "catch_varargs" => Value::from(signature.takes_varargs),
            _ => return None,
        })
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        if self.signature.is_bound(args) {
            return self.by_position.call(state, args);
        }
        let bound = self.signature.bind(args)?;
        self.by_position.call(state, &bound)
    }
}

fn argument_names<'s>(node: &Macro<'s>) -> impl Iterator<Item = &'s str> {
    node.args.iter().filter_map(|argument| match argument {
        Expr::Var(name) => Some(name.id),
        _ => None,
    })
}

/// The names that a piece of a template reads and writes.
#[derive(Debug, Default)]
pub(super) struct Names<'s> {
    loaded: BTreeSet<&'s str>,
    stored: BTreeSet<&'s str>,
    /// Of which only an attribute is written: minijinja overlooks that it is read.
    namespaces: BTreeSet<&'s str>,
}

impl<'s> Names<'s> {
    /// A statement that does nothing but name what is both read and written. minijinja
    /// takes a name for the macro's own wherever it is written first, Jinja2 sees the
    /// outer one until it is.
    pub(super) fn enclosed(&self, span: Span) -> Option<Stmt<'s>> {
        let changed = self.loaded.intersection(&self.stored);
        let names: Vec<&'s str> = changed.chain(&self.namespaces).copied().collect();
        if names.is_empty() {
            return None;
        }
        let never = Const {
            value: Value::from(false),
        };
        Some(Stmt::IfCond(Spanned::new(
            IfCond {
                expr: Expr::Const(Spanned::new(never, span)),
                true_body: names
                    .into_iter()
                    .map(|name| emit(variable(name, span), span))
                    .collect(),
                false_body: Vec::new(),
            },
            span,
        )))
    }

    /// Whether a condition or the statements under it read a variable.
    pub(super) fn has_read(condition: &Expr<'s>, body: &[Stmt<'s>], name: &str) -> bool {
        let mut names = Names::default();
        names.expression(condition);
        names.statements(body);
        names.loaded.contains(name)
    }

    /// Adds the names in a macro's defaults and body.
    pub(super) fn of_macro(&mut self, node: &Macro<'s>) {
        self.expressions(&node.defaults);
        self.statements(&node.body);
    }

    fn statements(&mut self, statements: &[Stmt<'s>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt<'s>) {
        match statement {
            Stmt::Template(node) => self.statements(&node.children),
            Stmt::EmitExpr(node) => self.expression(&node.expr),
            Stmt::ForLoop(node) => {
                self.expression(&node.iter);
                self.optional(node.filter_expr.as_ref());
                self.statements(&node.body);
                self.statements(&node.else_body);
            }
            Stmt::IfCond(node) => {
                self.expression(&node.expr);
                self.statements(&node.true_body);
                self.statements(&node.false_body);
            }
            Stmt::WithBlock(node) => {
                for (_, value) in &node.assignments {
                    self.expression(value);
                }
                self.statements(&node.body);
            }
            Stmt::Set(node) => {
                self.expression(&node.expr);
                self.target(&node.target);
            }
            Stmt::SetBlock(node) => {
                self.optional(node.filter.as_ref());
                self.statements(&node.body);
                self.target(&node.target);
            }
            Stmt::AutoEscape(node) => {
                self.expression(&node.enabled);
                self.statements(&node.body);
            }
            Stmt::FilterBlock(node) => {
                self.expression(&node.filter);
                self.statements(&node.body);
            }
            Stmt::Macro(node) => {
                self.stored.insert(node.name);
                self.of_macro(node);
            }
            Stmt::CallBlock(node) => {
                self.expression(&node.call.expr);
                self.arguments(&node.call.args);
                self.of_macro(&node.macro_decl);
            }
            Stmt::Block(node) => self.statements(&node.body),
            _ => {}
        }
    }

    fn target(&mut self, target: &Expr<'s>) {
        match target {
            Expr::Var(name) => {
                self.stored.insert(name.id);
            }
            Expr::List(list) => {
                for item in &list.items {
                    self.target(item);
                }
            }
            Expr::GetAttr(attribute) => {
                if let Expr::Var(name) = &attribute.expr {
                    self.namespaces.insert(name.id);
                }
                self.expression(&attribute.expr);
            }
            other => self.expression(other),
        }
    }

    fn optional(&mut self, expression: Option<&Expr<'s>>) {
        if let Some(expression) = expression {
            self.expression(expression);
        }
    }

    fn expressions(&mut self, expressions: &[Expr<'s>]) {
        for expression in expressions {
            self.expression(expression);
        }
    }

    fn arguments(&mut self, arguments: &[CallArg<'s>]) {
        for argument in arguments {
            match argument {
                CallArg::Pos(value)
                | CallArg::Kwarg(_, value)
                | CallArg::PosSplat(value)
                | CallArg::KwargSplat(value) => self.expression(value),
            }
        }
    }

    fn expression(&mut self, expression: &Expr<'s>) {
        match expression {
            Expr::Var(name) => {
                self.loaded.insert(name.id);
            }
            Expr::Const(_) => {}
            Expr::Slice(node) => {
                self.expression(&node.expr);
                for bound in [&node.start, &node.stop, &node.step] {
                    self.optional(bound.as_ref());
                }
            }
            Expr::UnaryOp(node) => self.expression(&node.expr),
            Expr::BinOp(node) => {
                self.expression(&node.left);
                self.expression(&node.right);
            }
            Expr::Compare(node) => {
                self.expression(&node.expr);
                for op in &node.ops {
                    self.expression(&op.expr);
                }
            }
            Expr::IfExpr(node) => {
                self.expression(&node.test_expr);
                self.expression(&node.true_expr);
                self.optional(node.false_expr.as_ref());
            }
            Expr::Filter(node) => {
                self.optional(node.expr.as_ref());
                self.arguments(&node.args);
            }
            Expr::Test(node) => {
                self.expression(&node.expr);
                self.arguments(&node.args);
            }
            Expr::GetAttr(node) => self.expression(&node.expr),
            Expr::GetItem(node) => {
                self.expression(&node.expr);
                self.expression(&node.subscript_expr);
            }
            Expr::Call(node) => {
                self.expression(&node.expr);
                self.arguments(&node.args);
            }
            Expr::List(node) => self.expressions(&node.items),
            Expr::Tuple(node) => self.expressions(&node.items),
            Expr::Map(node) => {
                self.expressions(&node.keys);
                self.expressions(&node.values);
            }
        }
    }
}
