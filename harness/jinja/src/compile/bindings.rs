//! Finds out what a template's variables hold, if it is certain.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};

use crate::compile::nodes::{Source, assigned, bodies, names};

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

/// All values that a template assigns to names, anywhere.
#[derive(Default)]
pub(crate) struct Bindings<'e, 's> {
    sources: BTreeMap<&'s str, Vec<Source<'e, 's>>>,
    /// The names of the current search.
    asked: RefCell<Vec<&'s str>>,
}

impl<'e, 's> Bindings<'e, 's> {
    /// The bindings of a statement and of all statements within it.
    pub(crate) fn of(statement: &'e Stmt<'s>) -> Bindings<'e, 's> {
        let mut bindings = Bindings::default();
        bindings.add(statement);
        bindings
    }

    /// Whether the template assigns to a name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.sources.contains_key(name)
    }

    /// The names that the template assigns.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.sources.keys().map(|name| (*name).to_owned()).collect()
    }

    fn add(&mut self, statement: &'e Stmt<'s>) {
        if let Stmt::Macro(node) = statement {
            self.name(node.name, Source::Unknown);
        }
        for (target, source) in assigned(statement) {
            let is_one = matches!(target, Expr::Var(_));
            let source = if is_one { source } else { Source::Unknown };
            names(target, &mut |name| self.name(name, source));
        }
        for inner in bodies(statement).into_iter().flatten() {
            self.add(inner);
        }
    }

    fn name(&mut self, name: &'s str, source: Source<'e, 's>) {
        self.sources.entry(name).or_default().push(source);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::grammar;

    #[test]
    fn assigned_names_are_those_of_sets_loops_and_macros() {
        let parsed = grammar::parse(
            "{% set a, b = 1, 2 %}{% for c in d %}{% endfor %}{% macro e(f) %}{% endmacro %}{{ g }}\
             {% with h = 1 %}{% endwith %}{% call(i) e() %}{% endcall %}{% set j %}{% endset %}",
        )
        .unwrap();
        let names = Bindings::of(&parsed.template).names();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        assert_eq!(names, ["a", "b", "c", "e", "f", "h", "i", "j"]);
    }
}
