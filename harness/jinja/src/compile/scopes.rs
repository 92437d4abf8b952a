//! Which scope each name of a template belongs to, as Jinja2 3.1.6 decides it when it compiles
//! (`idtracking.py`, and `enter_frame` in `compiler.py`).
//!
//! A name that a scope's own statements assign is a variable of this scope from the beginning. It
//! begins with the value of the variable of that name around the scope. If there is none, it begins
//! with the value from the context, or without a value if the first use of the name is an assignment
//! outside of conditions. So a scope within reads nothing where the assignment comes later.

use std::collections::{BTreeMap, BTreeSet};
use std::{slice, vec};

use minijinja::machinery::ast::{Expr, Stmt};

use crate::code::{Body, Place, Stmt as Lowered};
use crate::compile::nodes::{all_within, assigned, bodies, expressions, given, names};
use crate::compile::properties::SPECIAL;

/// A name. Its first bytes as a number tell it apart from most others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name<'s>(u64, &'s str);

impl<'s> From<&'s str> for Name<'s> {
    fn from(name: &'s str) -> Name<'s> {
        let byte = |at: usize| name.as_bytes().get(at).copied().unwrap_or_default();
        Name(u64::from_be_bytes(std::array::from_fn(byte)), name)
    }
}

/// What the statements of one scope do with names (`FrameSymbolVisitor`). What is in a scope within
/// does not count.
#[derive(Default)]
pub(super) struct Uses<'s> {
    names: BTreeMap<Name<'s>, Known>,
    /// How many conditions are around the statement, within the scope.
    conditions: usize,
    /// The scopes within, in the order in which they begin.
    within: Vec<Uses<'s>>,
    /// The names that scopes within look for here, and whether a function within does.
    wanted: BTreeMap<Name<'s>, bool>,
    /// Whether it is in a function within the template.
    in_function: bool,
}

/// A name that a scope uses.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // None excludes another one.
struct Known {
    /// Whether a statement of the scope assigns it.
    is_target: bool,
    /// Its variable. None if the scope reads the name from the context.
    slot: Option<usize>,
    /// Whether it has a value from the beginning, such as an argument.
    is_given: bool,
    /// Whether it has no value at the beginning: its first use is an assignment outside of
    /// conditions, and no scope around knows it.
    is_unset: bool,
    /// Whether a statement that always runs has assigned it until now.
    is_assigned: bool,
    /// Whether it is read before that.
    is_read: bool,
}

impl<'s> Uses<'s> {
    pub(super) fn of(statements: &[Stmt<'s>]) -> Uses<'s> {
        let mut uses = Uses::default();
        uses.statements(statements);
        uses
    }

    /// Adds what an expression reads.
    fn read(&mut self, expression: &Expr<'s>) {
        if let Expr::Var(name) = expression {
            self.names.entry(name.id.into()).or_default();
        }
        all_within(expression, |inner| {
            self.read(inner);
            true
        });
    }

    fn assign(&mut self, name: &'s str) {
        let is_unset = self.conditions == 0;
        let used = self.names.entry(name.into()).or_insert(Known {
            is_unset,
            ..Known::default()
        });
        used.is_target = true;
    }

    fn statements(&mut self, statements: &[Stmt<'s>]) {
        for statement in statements {
            match statement {
                Stmt::EmitExpr(node) => self.read(&node.expr),
                Stmt::Set(node) => {
                    self.read(&node.expr);
                    self.target(&node.target);
                }
                Stmt::ForLoop(node) => {
                    self.read(&node.iter);
                    if node.filter_expr.is_some() {
                        self.scope(Some(statement), node.filter_expr.as_slice(), &[]);
                    }
                    self.scope(Some(statement), &[], &node.body);
                    self.scope(None, &[], &node.else_body);
                }
                Stmt::CallBlock(node) => {
                    self.read(&node.call.expr);
                    for argument in &node.call.args {
                        self.read(given(argument));
                    }
                    let node = &node.macro_decl;
                    self.scope(Some(statement), &node.defaults, &node.body);
                }
                Stmt::Macro(node) => {
                    self.assign(node.name);
                    self.scope(Some(statement), &node.defaults, &node.body);
                }
                // The names in the filters of a set block are looked for nowhere.
                Stmt::SetBlock(node) => {
                    self.target(&node.target);
                    self.scope(None, &[], &node.body);
                }
                Stmt::WithBlock(node) => {
                    self.expressions(statement);
                    self.scope(Some(statement), &[], &node.body);
                }
                Stmt::FilterBlock(node) => {
                    self.read(&node.filter);
                    self.scope(None, &[], &node.body);
                    if let Some(inner) = self.within.last_mut() {
                        inner.read(&node.filter);
                    }
                }
                Stmt::AutoEscape(node) => {
                    self.scope(None, slice::from_ref(&node.enabled), &node.body);
                }
                Stmt::EmitRaw(_) | Stmt::Block(_) => {}
                Stmt::IfCond(node) => {
                    self.read(&node.expr);
                    self.conditions += 1;
                    for body in bodies(statement) {
                        self.statements(body);
                    }
                    self.conditions -= 1;
                }
                _ => {
                    self.expressions(statement);
                    for (target, _) in assigned(statement) {
                        self.target(target);
                    }
                }
            }
        }
    }

    /// A scope within, given the statement whose targets have a value in it.
    fn scope(&mut self, of: Option<&Stmt<'s>>, reads: &[Expr<'s>], body: &[Stmt<'s>]) {
        let is_loop = matches!(of, Some(Stmt::ForLoop(_)));
        let is_function = match of {
            Some(Stmt::ForLoop(node)) => node.recursive,
            of => matches!(of, Some(Stmt::Macro(_) | Stmt::CallBlock(_))),
        };
        let mut inner = Uses {
            in_function: self.in_function || is_function,
            ..Uses::default()
        };
        for (target, _) in of.into_iter().flat_map(assigned) {
            names(target, &mut |name| inner.assign(name));
        }
        for read in reads {
            inner.read(read);
        }
        inner.statements(body);
        let is_own = |name: &Name<'s>| {
            inner.is_target(name) || SPECIAL.contains(&name.1) || is_loop && name.1 == "loop"
        };
        for (name, in_function) in inner.wanted.iter().filter(|(name, _)| !is_own(name)) {
            *self.wanted.entry(*name).or_default() |= in_function | is_function;
        }
        let read = inner.names.keys().filter(|name| !is_own(name));
        for name in read.take_while(|_| inner.in_function) {
            *self.wanted.entry(*name).or_default() |= is_function;
        }
        self.within.push(inner);
    }

    fn is_target(&self, name: &Name<'s>) -> bool {
        self.names.get(name).is_some_and(|used| used.is_target)
    }

    fn expressions(&mut self, statement: &Stmt<'s>) {
        for expression in expressions(statement) {
            self.read(expression);
        }
    }

    fn target(&mut self, target: &Expr<'s>) {
        names(target, &mut |name| self.assign(name));
        // `{% set ns.x = 1 %}` reads `ns`.
        all_within(target, |inner| {
            if let Expr::GetAttr(_) = target {
                self.read(inner);
            } else if !matches!(inner, Expr::Var(_)) {
                self.target(inner);
            }
            true
        });
    }
}

/// Whether statements read a name before they assign it, with the statements within them, as
/// `find_undeclared` in `compiler.py` searches: what a statement assigns to comes first in it.
pub(super) fn reads(statements: &[Stmt<'_>], name: &str) -> bool {
    statements.iter().find_map(|inner| first_use(inner, name)) == Some(true)
}

fn first_use(statement: &Stmt<'_>, name: &str) -> Option<bool> {
    let assigns = || {
        let mut is_assigned = false;
        for (target, _) in assigned(statement) {
            names(target, &mut |assigned| is_assigned |= assigned == name);
        }
        is_assigned.then_some(false)
    };
    let reads = || {
        let is_read = expressions(statement).any(|inner| is_within(inner, name));
        is_read.then_some(true)
    };
    match statement {
        Stmt::Block(_) => return None,
        Stmt::CallBlock(_) => reads().or_else(assigns),
        _ => assigns().or_else(reads),
    }
    .or_else(|| {
        let mut inner = bodies(statement).into_iter().flatten();
        inner.find_map(|inner| first_use(inner, name))
    })
}

fn is_within(expression: &Expr<'_>, name: &str) -> bool {
    matches!(expression, Expr::Var(node) if node.id == name)
        || !all_within(expression, |inner| !is_within(inner, name))
}

/// The functions around a statement, and the scopes in each.
#[derive(Default)]
pub(super) struct Functions<'s> {
    open: Vec<OpenFunction<'s>>,
    globals: BTreeMap<Name<'s>, usize>,
    /// The variables that functions within theirs use: their function and slot.
    shared: BTreeSet<(usize, usize)>,
    /// Those among them that no function has used yet.
    expected: BTreeSet<(usize, usize)>,
    /// Whether one of them was found after a use.
    is_incomplete: bool,
    /// Whether variables are expected to be shared no more, because one of them was not.
    is_wary: bool,
}

struct OpenFunction<'s> {
    number: usize,
    scopes: Vec<Scope<'s>>,
    slots: usize,
    /// The slot of each name at each level: scopes beside each other share them, as in Python.
    variables: BTreeMap<(usize, Name<'s>), usize>,
    /// Where the variables around it are that it uses, and whether they have a value from the
    /// beginning.
    captures: BTreeMap<Name<'s>, (usize, bool)>,
    captured: Vec<Place>,
    /// Whether it is a macro, which may outlive the scope around it.
    is_macro: bool,
}

#[derive(Default)]
struct Scope<'s> {
    names: BTreeMap<Name<'s>, Known>,
    /// The scopes within that have not begun yet.
    within: vec::IntoIter<Uses<'s>>,
    /// How many conditions are around the statement, within the scope.
    conditions: usize,
}

/// What is known of a function after its last statement.
pub(super) struct Closed {
    pub(super) slots: usize,
    pub(super) cells: Vec<usize>,
    pub(super) captures: Vec<Place>,
}

impl<'s> Functions<'s> {
    /// Where the template has to be lowered again, with what is known of shared variables: some
    /// turned out to be shared after they were used, or not to be shared.
    pub(super) fn again(&mut self) -> Option<Functions<'s>> {
        let is_wrong = !self.expected.is_empty();
        (is_wrong || self.is_incomplete).then(|| Functions {
            shared: std::mem::take(&mut self.shared)
                .into_iter()
                .filter(|_| !is_wrong)
                .collect(),
            is_wary: true,
            ..Functions::default()
        })
    }

    pub(super) fn open(&mut self, number: usize, is_macro: bool) {
        self.open.push(OpenFunction {
            number,
            scopes: Vec::new(),
            slots: 0,
            variables: BTreeMap::new(),
            captures: BTreeMap::new(),
            captured: Vec::new(),
            is_macro,
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

    fn scope(&mut self) -> &mut Scope<'s> {
        let Some(scope) = self.innermost().scopes.last_mut() else {
            unreachable!("a scope is open")
        };
        scope
    }

    /// The next slot of the innermost function.
    pub(super) fn slot(&mut self) -> usize {
        let function = self.innermost();
        function.slots += 1;
        function.slots - 1
    }

    /// The slot of a name in the scope that is about to begin.
    fn variable(&mut self, name: Name<'s>) -> usize {
        let function = self.innermost();
        let variable = (function.scopes.len(), name);
        *function.variables.entry(variable).or_insert_with(|| {
            function.slots += 1;
            function.slots - 1
        })
    }

    /// Begins the next scope within the one around the next statement, with names that have a value.
    pub(super) fn enter(&mut self, given: &[&'s str]) {
        let mut open = self.open.iter_mut().rev();
        let around = open.find_map(|function| function.scopes.last_mut());
        let uses = around.and_then(|around| around.within.next());
        self.enter_with(given, uses.unwrap_or_default());
    }

    /// Begins a scope with names that have a value, and what its statements do with names.
    pub(super) fn enter_with(&mut self, given: &[&'s str], uses: Uses<'s>) {
        let before = self.innermost().slots;
        let mut names = uses.names;
        names.retain(|name, known| {
            let is_around = self.is_known(*name);
            known.slot = known.is_target.then(|| self.variable(*name));
            known.is_unset &= !is_around;
            known.is_target || !is_around
        });
        for name in given {
            let name = Name::from(*name);
            let known = Known {
                slot: Some(self.variable(name)),
                is_given: true,
                ..Known::default()
            };
            names.insert(name, known);
        }
        let wanted = uses.wanted.iter().filter(|(_, in_function)| **in_function);
        for (name, _) in wanted {
            let slot = names.get(name).and_then(|known| known.slot);
            let Some(slot) = slot.filter(|_| !self.is_wary) else {
                continue;
            };
            let variable = (self.innermost().number, slot);
            if self.shared.insert(variable) {
                self.expected.insert(variable);
                self.is_incomplete |= slot < before;
            }
        }
        self.innermost().scopes.push(Scope {
            names,
            within: uses.within.into_iter(),
            conditions: 0,
        });
    }

    /// Ends a scope, with the statements in it.
    pub(super) fn leave(&mut self, statements: Vec<Lowered>) -> Body {
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        let scope = self.innermost().scopes.pop();
        for (name, known) in scope.into_iter().flat_map(|scope| scope.names) {
            let Some(slot) = known.slot else {
                continue;
            };
            let place = self.place(slot);
            // A function may use the variable whenever it is called.
            let is_shared = matches!(place, Place::Cell(_));
            if !known.is_given && (known.is_read || is_shared) {
                begins.push((place, (!known.is_unset).then(|| self.find(name))));
            }
            if is_shared {
                ends.push(place);
            }
        }
        Body {
            begins,
            statements,
            ends,
        }
    }

    /// Whether a scope around the next statement uses a name.
    pub(super) fn is_known(&self, name: impl Into<Name<'s>>) -> bool {
        let name = name.into();
        let mut scopes = self.open.iter().flat_map(|function| &function.scopes);
        scopes.any(|scope| scope.names.contains_key(&name))
    }

    /// Whether the next statement is the template's own, in no scope within it.
    pub(super) fn is_outermost(&self) -> bool {
        matches!(self.open.as_slice(), [OpenFunction { number: 0, scopes, .. }] if scopes.len() == 1)
    }

    /// The variables of the scopes around the next statement, but for those of the template itself.
    /// For each the number of its name, and whether it certainly has a value.
    pub(super) fn around(&mut self) -> Vec<(usize, Place, bool)> {
        let mut names = BTreeMap::new();
        for function in &self.open {
            let outermost = usize::from(function.number == 0);
            let known = function
                .scopes
                .iter()
                .skip(outermost)
                .flat_map(|scope| &scope.names);
            let known = known.filter(|(_, known)| known.slot.is_some());
            names.extend(known.map(|(name, known)| (*name, known.is_given || known.is_assigned)));
        }
        let names = names.into_iter();
        names
            .map(|(name, is_set)| (self.global(name), self.find(name), is_set))
            .collect()
    }

    /// Statements that a condition chooses begin or end.
    pub(super) fn condition(&mut self, begins: bool) {
        let conditions = &mut self.scope().conditions;
        *conditions = (*conditions + 1) - usize::from(!begins) * 2;
    }

    /// Where a variable of the innermost function is.
    fn place(&mut self, slot: usize) -> Place {
        let number = self.innermost().number;
        if self.shared.contains(&(number, slot)) {
            Place::Cell(slot)
        } else {
            Place::Slot(slot)
        }
    }

    /// Where a variable is that is assigned.
    pub(super) fn assigned(&mut self, name: &'s str) -> Place {
        let scope = self.scope();
        let is_always = scope.conditions == 0;
        let Some(known) = scope.names.get_mut(&name.into()) else {
            return self.find(name);
        };
        known.is_assigned |= is_always;
        match known.slot {
            Some(slot) => self.place(slot),
            None => self.find(name),
        }
    }

    /// The number of a name that the template is given.
    pub(super) fn global(&mut self, name: impl Into<Name<'s>>) -> usize {
        let next = self.globals.len();
        *self.globals.entry(name.into()).or_insert(next)
    }

    /// Where a variable is that is read.
    pub(super) fn find(&mut self, name: impl Into<Name<'s>>) -> Place {
        self.look_up(name).0
    }

    /// The same, and whether the variable has a value from the beginning of its scope.
    pub(super) fn look_up(&mut self, name: impl Into<Name<'s>>) -> (Place, bool) {
        self.find_from(self.open.len() - 1, name.into())
    }

    fn find_from(&mut self, level: usize, name: Name<'s>) -> (Place, bool) {
        let function = &mut self.open[level];
        for scope in function.scopes.iter_mut().rev() {
            if let Some(known) = scope.names.get_mut(&name)
                && let Some(slot) = known.slot
            {
                known.is_read |= !known.is_assigned;
                let place = if self.shared.contains(&(function.number, slot)) {
                    Place::Cell(slot)
                } else {
                    Place::Slot(slot)
                };
                return (place, known.is_given);
            }
        }
        if level == 0 {
            let is_block = function.number != 0;
            let number = self.global(name);
            let place = if is_block {
                Place::Context(number)
            } else {
                Place::Global(number)
            };
            return (place, false);
        }
        if let Some((at, is_given)) = function.captures.get(&name) {
            return (Place::Capture(*at), *is_given);
        }
        if function.is_macro {
            self.keep(level - 1, name);
        }
        let (mut place, is_given) = self.find_from(level - 1, name);
        if let Place::Global(_) | Place::Context(_) = place {
            return (place, false);
        }
        let around = self.open[level - 1].number;
        if let Place::Slot(slot) = place {
            self.shared.insert((around, slot));
            self.is_incomplete = true;
            place = Place::Cell(slot);
        } else if let Place::Cell(slot) = place {
            self.expected.remove(&(around, slot));
        }
        let function = &mut self.open[level];
        let at = function.captured.len();
        function.captures.insert(name, (at, is_given));
        function.captured.push(place);
        (Place::Capture(at), is_given)
    }

    /// A macro reads a name that a scope around it reads from the context. In Python this is a variable
    /// of that scope, which has no value after it.
    fn keep(&mut self, level: usize, name: Name<'s>) {
        let function = &mut self.open[level];
        let mut scopes = function.scopes.iter_mut().enumerate().skip(1).rev();
        let found = scopes.find_map(|(at, scope)| Some((at, scope.names.get_mut(&name)?)));
        if let Some((at, known)) = found
            && known.slot.is_none()
        {
            known.slot = Some(*function.variables.entry((at, name)).or_insert_with(|| {
                self.shared.insert((function.number, function.slots));
                function.slots += 1;
                function.slots - 1
            }));
        }
    }

    /// The names of the variables that the template is given.
    pub(super) fn globals(&self) -> Vec<Box<str>> {
        let mut names: Vec<_> = self.globals.iter().collect();
        names.sort_by_key(|(_, at)| **at);
        names
            .into_iter()
            .map(|(name, _)| Box::from(name.1))
            .collect()
    }
}
