//! The scopes of a template, and the cost of minijinja's search for names in them.
//!
//! minijinja looks for a name in all scopes around a statement, for the fuel of one step.

use minijinja::machinery::Span;
use minijinja::machinery::ast::Stmt;

use crate::compile::nodes::{constant, evaluate, operation};
use crate::operator::Operator;

/// The scopes around a statement.
pub(super) struct Scopes {
    /// The work of looking for a name in one of them.
    lookup: usize,
    /// How many are open.
    open: usize,
    /// The most that were open at once, since the innermost loop or macro began.
    deepest: usize,
    /// Whether a loop around the statement calls itself, so that scopes pile up.
    is_recursive: bool,
}

impl Scopes {
    /// Work for a step that need not be counted.
    const LITTLE: usize = 200;

    /// The scopes at the beginning of a template.
    pub(super) fn of_template(lookup: usize) -> Scopes {
        Scopes {
            lookup,
            open: 0,
            deepest: 0,
            is_recursive: false,
        }
    }

    /// The scopes at the beginning of a macro: its own, and one with the names that it keeps from
    /// the scopes around it. It sees no other outer names.
    pub(super) fn of_macro(&self) -> Scopes {
        Scopes {
            lookup: self.lookup,
            open: 2,
            deepest: 2,
            is_recursive: false,
        }
    }

    pub(super) fn enter(&mut self) {
        self.open += 1;
        self.deepest = self.deepest.max(self.open);
    }

    pub(super) fn leave(&mut self) {
        self.open -= 1;
    }

    /// Opens the scope of a loop, and gives what [`leave_loop`](Self::leave_loop) needs.
    pub(super) fn enter_loop(&mut self, is_recursive: bool) -> OuterScopes {
        let was_recursive = self.is_recursive;
        self.is_recursive |= is_recursive;
        self.enter();
        OuterScopes {
            deepest: std::mem::replace(&mut self.deepest, self.open),
            is_recursive: was_recursive,
        }
    }

    /// Closes the scope of a loop.
    pub(super) fn leave_loop(&mut self, outer: &OuterScopes) {
        self.deepest = self.deepest.max(outer.deepest);
        self.leave();
        self.is_recursive = outer.is_recursive;
    }

    /// Whether a loop around the statement calls itself.
    pub(super) fn is_recursive(&self) -> bool {
        self.is_recursive
    }

    /// A statement for the beginning of a loop or a macro that counts the lookups of names. None if
    /// the lookups are little work.
    pub(super) fn tick<'s>(&self, span: Span) -> Option<Stmt<'s>> {
        let work = self.deepest * self.lookup;
        if !self.is_recursive && work < Scopes::LITTLE {
            return None;
        }
        let operands = [constant(self.deepest, span), constant(self.lookup, span)];
        Some(evaluate(operation(Operator::Tick, operands, span), span))
    }
}

/// The state of the scopes around a loop.
pub(super) struct OuterScopes {
    deepest: usize,
    is_recursive: bool,
}
