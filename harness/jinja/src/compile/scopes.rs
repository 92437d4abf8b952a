//! Where the variables of a template are (Jinja2's `idtracking.py`).
//!
//! A name that is assigned somewhere in a scope is a variable of this scope from the beginning. Until
//! it is assigned, it has the value of the variable of that name around the scope.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::ast::{Expr, Stmt};

use crate::code::Place;

/// The functions around a statement, and the scopes in each.
#[derive(Default)]
pub(super) struct Functions<'s> {
    open: Vec<OpenFunction<'s>>,
    globals: BTreeMap<&'s str, usize>,
    /// The variables that functions within theirs use: their function and slot.
    shared: BTreeSet<(usize, usize)>,
    /// Whether one of them was found after a use.
    pub(super) is_incomplete: bool,
}

struct OpenFunction<'s> {
    number: usize,
    scopes: Vec<Scope<'s>>,
    slots: usize,
    captures: BTreeMap<&'s str, usize>,
    captured: Vec<Place>,
}

/// Variables that are known from some statement to another.
struct Scope<'s> {
    names: BTreeMap<&'s str, Known>,
    /// How many conditions are around the statement, within the scope.
    conditions: usize,
    /// Whether it is the body of a loop that calls itself.
    is_recursive: bool,
}

struct Known {
    slot: usize,
    /// Whether it has a value from the beginning.
    is_given: bool,
    /// Whether it is read before it is assigned.
    is_read: bool,
    /// Whether a statement assigns it that always runs. None if none has until now.
    is_assigned: Option<bool>,
}

impl Known {
    fn new(slot: usize, is_given: bool) -> Known {
        Known {
            slot,
            is_given,
            is_read: false,
            is_assigned: None,
        }
    }
}

/// What is known of a function after its last statement.
pub(super) struct Closed {
    pub(super) slots: usize,
    pub(super) cells: Vec<usize>,
    pub(super) captures: Vec<Place>,
}

impl<'s> Functions<'s> {
    /// Begins anew, with what is known of shared variables.
    pub(super) fn again(self) -> Functions<'s> {
        Functions {
            shared: self.shared,
            ..Functions::default()
        }
    }

    pub(super) fn open(&mut self, number: usize) {
        self.open.push(OpenFunction {
            number,
            scopes: Vec::new(),
            slots: 0,
            captures: BTreeMap::new(),
            captured: Vec::new(),
        });
    }

    pub(super) fn close(&mut self) -> Closed {
        let Some(closed) = self.open.pop() else {
            unreachable!("a function is open")
        };
        let cells = self
            .shared
            .range((closed.number, 0)..=(closed.number, usize::MAX));
        Closed {
            slots: closed.slots,
            cells: cells.map(|(_, slot)| *slot).collect(),
            captures: closed.captured,
        }
    }

    fn innermost(&mut self) -> &mut OpenFunction<'s> {
        let Some(innermost) = self.open.last_mut() else {
            unreachable!("a function is open")
        };
        innermost
    }

    /// The next slot of the innermost function.
    pub(super) fn slot(&mut self) -> usize {
        let function = self.innermost();
        function.slots += 1;
        function.slots - 1
    }

    /// How many slots the innermost function has until now.
    pub(super) fn slots(&mut self) -> usize {
        self.innermost().slots
    }

    /// Begins a scope with names that have a value, and names that statements assign.
    pub(super) fn enter(
        &mut self,
        given: &[(&'s str, usize)],
        body: &[Stmt<'s>],
        is_recursive: bool,
    ) {
        let given = given.iter();
        let given = given.map(|(name, slot)| (*name, Known::new(*slot, true)));
        let mut names: BTreeMap<&'s str, Known> = given.collect();
        assigned(body, &mut |name| {
            let known = names.entry(name);
            known.or_insert_with(|| Known::new(self.slot(), false));
        });
        let function = self.innermost();
        for name in names.keys() {
            let outer = function.scopes.iter_mut();
            for outer in outer.filter_map(|scope| scope.names.get_mut(name)) {
                // For Jinja2 an assignment in an inner scope makes a name no special argument.
                outer.is_assigned.get_or_insert(false);
            }
        }
        function.scopes.push(Scope {
            names,
            conditions: 0,
            is_recursive,
        });
    }

    /// Ends a scope. It gives the variables that begin with a value from around it.
    pub(super) fn leave(&mut self) -> Vec<(Place, Place)> {
        let scope = self.innermost().scopes.pop();
        let names = scope.into_iter().flat_map(|scope| scope.names);
        let read = names.filter(|(_, known)| {
            !known.is_given && (known.is_read || known.is_assigned == Some(false))
        });
        read.map(|(name, known)| (self.place(known.slot), self.find(name)))
            .collect()
    }

    /// Statements that a condition chooses begin or end.
    pub(super) fn condition(&mut self, begins: bool) {
        if let Some(scope) = self.innermost().scopes.last_mut() {
            scope.conditions = (scope.conditions + 1) - usize::from(!begins) * 2;
        }
    }

    /// Whether the variable `loop` is that of a loop of the innermost function that calls itself.
    pub(super) fn is_loop_recursive(&mut self) -> bool {
        let mut scopes = self.innermost().scopes.iter().rev();
        let of = scopes.find(|scope| scope.names.contains_key("loop"));
        of.is_some_and(|scope| scope.is_recursive)
    }

    /// Where a variable of the innermost function is.
    pub(super) fn place(&mut self, slot: usize) -> Place {
        let number = self.innermost().number;
        if self.shared.contains(&(number, slot)) {
            Place::Cell(slot)
        } else {
            Place::Slot(slot)
        }
    }

    /// Where a variable is that is assigned.
    pub(super) fn assigned(&mut self, name: &'s str) -> Place {
        let scope = self.innermost().scopes.last_mut();
        let known = scope.and_then(|scope| {
            let conditions = scope.conditions;
            let known = scope.names.get_mut(name)?;
            known.is_assigned.get_or_insert(conditions == 0);
            Some(known.slot)
        });
        match known {
            Some(slot) => self.place(slot),
            None => self.find(name),
        }
    }

    /// Where a variable is that is read.
    pub(super) fn find(&mut self, name: &'s str) -> Place {
        self.find_from(self.open.len() - 1, name)
    }

    fn find_from(&mut self, level: usize, name: &'s str) -> Place {
        let function = &mut self.open[level];
        for scope in function.scopes.iter_mut().rev() {
            if let Some(known) = scope.names.get_mut(name) {
                known.is_read |= known.is_assigned.is_none();
                let place = (function.number, known.slot);
                return if self.shared.contains(&place) {
                    Place::Cell(known.slot)
                } else {
                    Place::Slot(known.slot)
                };
            }
        }
        if level == 0 {
            let next = self.globals.len();
            return Place::Global(*self.globals.entry(name).or_insert(next));
        }
        if let Some(at) = function.captures.get(name) {
            return Place::Capture(*at);
        }
        let mut place = self.find_from(level - 1, name);
        if let Place::Global(_) = place {
            return place;
        }
        if let Place::Slot(slot) = place {
            self.shared.insert((self.open[level - 1].number, slot));
            self.is_incomplete = true;
            place = Place::Cell(slot);
        }
        let function = &mut self.open[level];
        let at = function.captured.len();
        function.captures.insert(name, at);
        function.captured.push(place);
        Place::Capture(at)
    }

    /// The names of the variables that the template is given.
    pub(super) fn globals(&self) -> Vec<Box<str>> {
        let mut names: Vec<_> = self.globals.iter().collect();
        names.sort_by_key(|(_, at)| **at);
        names
            .into_iter()
            .map(|(name, _)| Box::from(*name))
            .collect()
    }

    /// The slot of a name that is read before it is assigned in the scope that is open. Then the name
    /// counts as not read.
    pub(super) fn take_read(&mut self, name: &str) -> Option<usize> {
        let scope = self.innermost().scopes.last_mut()?;
        let known = scope.names.get_mut(name)?;
        std::mem::take(&mut known.is_read).then_some(known.slot)
    }

    /// Adds a name to the scope that is open, unless statements assign it.
    pub(super) fn declare(&mut self, name: &'s str) {
        let slot = self.slot();
        if let Some(scope) = self.innermost().scopes.last_mut() {
            let known = scope.names.entry(name);
            known.or_insert(Known::new(slot, false));
        }
    }

    /// A variable has a value from the beginning.
    pub(super) fn is_given(&mut self, name: &str) {
        let scope = self.innermost().scopes.last_mut();
        if let Some(known) = scope.and_then(|scope| scope.names.get_mut(name)) {
            known.is_given = true;
        }
    }

    /// Whether the innermost function is within another.
    pub(super) fn is_nested(&self) -> bool {
        self.open.len() > 1
    }
}

/// The names that statements assign in their own scope.
fn assigned<'s>(statements: &[Stmt<'s>], add: &mut impl FnMut(&'s str)) {
    for statement in statements {
        match statement {
            Stmt::Set(node) => targets(&node.target, add),
            Stmt::SetBlock(node) => targets(&node.target, add),
            Stmt::Macro(node) => add(node.name),
            Stmt::Import(node) => targets(&node.name, add),
            Stmt::FromImport(node) => {
                for (name, alias) in &node.names {
                    targets(alias.as_ref().unwrap_or(name), add);
                }
            }
            Stmt::IfCond(node) => {
                assigned(&node.true_body, add);
                assigned(&node.false_body, add);
            }
            _ => {}
        }
    }
}

/// The names of a target.
pub(super) fn targets<'s>(target: &Expr<'s>, add: &mut impl FnMut(&'s str)) {
    match target {
        Expr::Var(node) => add(node.id),
        Expr::List(node) => node.items.iter().for_each(|item| targets(item, add)),
        _ => {}
    }
}
