//! Finds out what a template's variables hold, if it is certain.

use std::cell::RefCell;
use std::collections::BTreeMap;

use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};

use crate::compile::nodes::bodies;

/// The known kinds of values that a variable may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BindingKind {
    Messages,
    Message,
    Tools,
    Tool,
    Calls,
    Call,
}

impl BindingKind {
    /// The kind of a list's items.
    fn element(self) -> Option<BindingKind> {
        match self {
            BindingKind::Messages => Some(BindingKind::Message),
            BindingKind::Tools => Some(BindingKind::Tool),
            BindingKind::Calls => Some(BindingKind::Call),
            BindingKind::Message | BindingKind::Tool | BindingKind::Call => None,
        }
    }

    /// The kind of a key's value.
    fn entry(self, key: &str) -> Option<BindingKind> {
        match (self, key) {
            (BindingKind::Message, "tool_calls") => Some(BindingKind::Calls),
            (BindingKind::Tool | BindingKind::Call, "function") => Some(self),
            _ => None,
        }
    }
}

/// Filters that return their input or a list of its items.
const SAME: [&str; 7] = [
    "default",
    "list",
    "reject",
    "rejectattr",
    "reverse",
    "select",
    "selectattr",
];

/// The source of a name's value.
#[derive(Clone, Copy)]
enum BindingSource<'e, 's> {
    Value(&'e Expr<'s>),
    ElementOf(&'e Expr<'s>),
    Unknown,
}

/// All values that a template assigns to names, anywhere.
#[derive(Default)]
pub(super) struct Bindings<'e, 's> {
    sources: BTreeMap<&'s str, Vec<BindingSource<'e, 's>>>,
    /// The names of the current search.
    asked: RefCell<Vec<&'s str>>,
}

impl<'e, 's> Bindings<'e, 's> {
    /// The bindings of a statement and of all statements within it.
    pub(super) fn of(statement: &'e Stmt<'s>) -> Bindings<'e, 's> {
        let mut bindings = Bindings::default();
        bindings.add(statement);
        bindings
    }

    /// Whether the template assigns to a name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.sources.contains_key(name)
    }

    fn add(&mut self, statement: &'e Stmt<'s>) {
        match statement {
            Stmt::ForLoop(node) => self.target(&node.target, BindingSource::ElementOf(&node.iter)),
            Stmt::WithBlock(node) => {
                for (target, value) in &node.assignments {
                    self.target(target, BindingSource::Value(value));
                }
            }
            Stmt::Set(node) => self.target(&node.target, BindingSource::Value(&node.expr)),
            Stmt::SetBlock(node) => self.target(&node.target, BindingSource::Unknown),
            Stmt::Macro(node) => {
                self.name(node.name, BindingSource::Unknown);
                for argument in &node.args {
                    self.target(argument, BindingSource::Unknown);
                }
            }
            Stmt::CallBlock(node) => {
                for argument in &node.macro_decl.args {
                    self.target(argument, BindingSource::Unknown);
                }
            }
            Stmt::Import(node) => self.target(&node.name, BindingSource::Unknown),
            Stmt::FromImport(node) => {
                for (name, alias) in &node.names {
                    self.target(alias.as_ref().unwrap_or(name), BindingSource::Unknown);
                }
            }
            _ => {}
        }
        for inner in bodies(statement).into_iter().flatten() {
            self.add(inner);
        }
    }

    fn name(&mut self, name: &'s str, source: BindingSource<'e, 's>) {
        self.sources.entry(name).or_default().push(source);
    }

    fn target(&mut self, target: &'e Expr<'s>, source: BindingSource<'e, 's>) {
        match target {
            Expr::Var(name) => self.name(name.id, source),
            Expr::List(list) => {
                for item in &list.items {
                    self.target(item, BindingSource::Unknown);
                }
            }
            Expr::Tuple(tuple) => {
                for item in &tuple.items {
                    self.target(item, BindingSource::Unknown);
                }
            }
            _ => {}
        }
    }

    /// The kind of an expression's value, if it is certain.
    pub(super) fn kind(&self, expression: &Expr<'s>) -> Option<BindingKind> {
        match expression {
            Expr::Var(node) => self.kind_of_name(node.id),
            Expr::Slice(node) => self
                .kind(&node.expr)
                .filter(|kind| kind.element().is_some()),
            Expr::GetAttr(node) => self.kind(&node.expr)?.entry(node.name),
            Expr::GetItem(node) => {
                let of = self.kind(&node.expr)?;
                match &node.subscript_expr {
                    Expr::Const(key) if key.value.as_str().is_some() => {
                        of.entry(key.value.as_str()?)
                    }
                    _ => of.element(),
                }
            }
            Expr::Filter(node) if SAME.contains(&node.name) => self.kind(node.expr.as_ref()?),
            Expr::Filter(node) if ["first", "last"].contains(&node.name) => {
                self.kind(node.expr.as_ref()?)?.element()
            }
            Expr::BinOp(node) if matches!(node.op, BinOpKind::ScOr) => self.kind(&node.left),
            _ => None,
        }
    }

    fn kind_of_name(&self, name: &'s str) -> Option<BindingKind> {
        let given = match name {
            "messages" => Some(BindingKind::Messages),
            "tools" => Some(BindingKind::Tools),
            _ => None,
        };
        let Some(sources) = self.sources.get(name) else {
            return given;
        };
        // `{% set messages = messages[1:] %}`
        if self.asked.borrow().contains(&name) {
            return given;
        }
        self.asked.borrow_mut().push(name);
        let mut kinds = sources.iter().map(|source| match source {
            BindingSource::Value(value) => self.kind(value),
            BindingSource::ElementOf(list) => self.kind(list)?.element(),
            BindingSource::Unknown => None,
        });
        let first = given.or_else(|| kinds.next()?);
        let kind = first.filter(|first| kinds.all(|kind| kind == Some(*first)));
        self.asked.borrow_mut().pop();
        kind
    }
}
