//! What the variables of a template stand for, where that is certain.

use std::cell::RefCell;
use std::collections::BTreeMap;

use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};

use crate::compile::nodes::bodies;

/// What a variable may stand for of which something is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Messages,
    Message,
    Tools,
    /// A tool, or its function.
    Tool,
    Calls,
    /// A call, or its function.
    Call,
}

impl Kind {
    /// What is in a list.
    fn element(self) -> Option<Kind> {
        match self {
            Kind::Messages => Some(Kind::Message),
            Kind::Tools => Some(Kind::Tool),
            Kind::Calls => Some(Kind::Call),
            Kind::Message | Kind::Tool | Kind::Call => None,
        }
    }

    /// What a key holds.
    fn entry(self, key: &str) -> Option<Kind> {
        match (self, key) {
            (Kind::Message, "tool_calls") => Some(Kind::Calls),
            (Kind::Tool | Kind::Call, "function") => Some(self),
            _ => None,
        }
    }
}

/// Filters that give a list of what they are given, or the same.
const SAME: [&str; 7] = [
    "default",
    "list",
    "reject",
    "rejectattr",
    "reverse",
    "select",
    "selectattr",
];

/// What a name is given.
#[derive(Clone, Copy)]
enum Source<'e, 's> {
    Value(&'e Expr<'s>),
    ElementOf(&'e Expr<'s>),
    Unknown,
}

/// All that a template gives to names, wherever it does.
#[derive(Default)]
pub(super) struct Bindings<'e, 's> {
    sources: BTreeMap<&'s str, Vec<Source<'e, 's>>>,
    /// The names that are looked at.
    asked: RefCell<Vec<&'s str>>,
}

impl<'e, 's> Bindings<'e, 's> {
    /// Those of a statement and of all within it.
    pub(super) fn of(statement: &'e Stmt<'s>) -> Bindings<'e, 's> {
        let mut bindings = Bindings::default();
        bindings.add(statement);
        bindings
    }

    /// Whether the template gives something to a name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.sources.contains_key(name)
    }

    fn add(&mut self, statement: &'e Stmt<'s>) {
        match statement {
            Stmt::ForLoop(node) => self.target(&node.target, Source::ElementOf(&node.iter)),
            Stmt::WithBlock(node) => {
                for (target, value) in &node.assignments {
                    self.target(target, Source::Value(value));
                }
            }
            Stmt::Set(node) => self.target(&node.target, Source::Value(&node.expr)),
            Stmt::SetBlock(node) => self.target(&node.target, Source::Unknown),
            Stmt::Macro(node) => {
                self.name(node.name, Source::Unknown);
                for argument in &node.args {
                    self.target(argument, Source::Unknown);
                }
            }
            Stmt::CallBlock(node) => {
                for argument in &node.macro_decl.args {
                    self.target(argument, Source::Unknown);
                }
            }
            Stmt::Import(node) => self.target(&node.name, Source::Unknown),
            Stmt::FromImport(node) => {
                for (name, alias) in &node.names {
                    self.target(alias.as_ref().unwrap_or(name), Source::Unknown);
                }
            }
            _ => {}
        }
        for inner in bodies(statement).into_iter().flatten() {
            self.add(inner);
        }
    }

    fn name(&mut self, name: &'s str, source: Source<'e, 's>) {
        self.sources.entry(name).or_default().push(source);
    }

    fn target(&mut self, target: &'e Expr<'s>, source: Source<'e, 's>) {
        match target {
            Expr::Var(name) => self.name(name.id, source),
            Expr::List(list) => {
                for item in &list.items {
                    self.target(item, Source::Unknown);
                }
            }
            Expr::Tuple(tuple) => {
                for item in &tuple.items {
                    self.target(item, Source::Unknown);
                }
            }
            _ => {}
        }
    }

    /// What an expression stands for, if that is certain.
    pub(super) fn kind(&self, expression: &Expr<'s>) -> Option<Kind> {
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

    fn kind_of_name(&self, name: &'s str) -> Option<Kind> {
        let given = match name {
            "messages" => Some(Kind::Messages),
            "tools" => Some(Kind::Tools),
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
            Source::Value(value) => self.kind(value),
            Source::ElementOf(list) => self.kind(list)?.element(),
            Source::Unknown => None,
        });
        let first = given.or_else(|| kinds.next()?);
        let kind = first.filter(|first| kinds.all(|kind| kind == Some(*first)));
        self.asked.borrow_mut().pop();
        kind
    }
}
