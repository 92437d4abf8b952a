//! The sites of a template: the places that a render can reach.
//!
//! A node is known by its place in the prepared source. So the tree that Ollama cuts for the last turn
//! has the same sites, and a block has the same ones wherever it is called.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use gotmpl::parse::{BranchNode, CommandNode, Expr, ListNode, Node, PipeNode, Pos, SmolStr};
use rolecall_core::{Hits, Recorder, Site, SiteKind};

use crate::legacy;
use crate::places::Places;
use crate::scanner::Marks;

/// The sites of a template, each with its node.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    pub(crate) list: Vec<Site>,
    of: HashMap<(Part, usize), usize>,
}

/// What a site is a part of. Two parts of one node begin at the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Statement,
    Branch,
    Loop,
    /// An operand of `and` or `or`.
    Operand,
    /// The body of a named template.
    Body,
}

impl Sites {
    /// The sites of a template and of the templates that it defines, in the order of their names.
    /// `marks` and `places` belong to its prepared source.
    pub(crate) fn of(
        root: &ListNode,
        defines: &HashMap<SmolStr, ListNode>,
        (marks, places): (&Marks, &Places),
    ) -> Sites {
        let mut collector = Collector {
            marks,
            places,
            is_unreachable: false,
            dot: 0,
            dots: 1,
            full: Vec::new(),
            assigned: assigned(root, defines),
            sites: Sites::default(),
        };
        collector.list(root);
        let mut names: Vec<&SmolStr> = defines.keys().collect();
        names.sort_unstable();
        for name in names {
            let body = &defines[name];
            let span = places.action_before(body.pos.offset);
            collector.add(Part::Body, SiteKind::Macro, body.pos, span);
            // A named template has another dot, and its own `$`.
            collector.dot = collector.next_dot();
            collector.list(body);
        }
        collector.sites
    }

    /// The site of a part of a node.
    pub(crate) fn site(&self, part: Part, pos: Pos) -> Option<usize> {
        self.of.get(&(part, pos.offset)).copied()
    }
}

/// Records what a render reaches.
#[derive(Debug)]
pub(crate) struct SiteRecorder<'t> {
    sites: &'t Sites,
    recorder: Recorder,
}

impl<'t> SiteRecorder<'t> {
    pub(crate) fn new(sites: &'t Sites) -> SiteRecorder<'t> {
        SiteRecorder {
            sites,
            recorder: Recorder::new(sites.list.len()),
        }
    }

    pub(crate) fn into_hits(self) -> Hits {
        self.recorder.into_hits()
    }

    /// A statement or a named template begins.
    pub(crate) fn reach(&mut self, part: Part, pos: Pos) {
        if let Some(site) = self.sites.site(part, pos) {
            self.recorder.reach(site);
        }
    }

    /// A condition or an operand is true or false.
    pub(crate) fn decide(&mut self, part: Part, pos: Pos, truth: bool) {
        if let Some(site) = self.sites.site(part, pos) {
            self.recorder.decide(site, truth);
        }
    }

    /// Something happens to a loop.
    pub(crate) fn in_loop(&mut self, pos: Pos, report: impl FnOnce(&mut Recorder, usize)) {
        if let Some(site) = self.sites.site(Part::Loop, pos) {
            report(&mut self.recorder, site);
        }
    }
}

/// Collects the sites of trees, in a fixed order: a node before the nodes within it.
struct Collector<'m> {
    marks: &'m Marks,
    places: &'m Places,
    /// Whether a literal keeps every render away from what is collected.
    is_unreachable: bool,
    /// The number of the value that `.` is here.
    dot: usize,
    /// How many such values there are until now.
    dots: usize,
    /// What the conditions around have found to have something in it.
    full: Vec<Path>,
    /// The variables that get a new value somewhere.
    assigned: BTreeSet<String>,
    sites: Sites,
}

/// A value: the number of the dot or the name of the variable from which it comes, and its fields.
type Path = (Result<usize, String>, Vec<String>);

impl Collector<'_> {
    fn add(&mut self, part: Part, kind: SiteKind, pos: Pos, span: Range<usize>) {
        let next = self.sites.list.len();
        // A block that several trees have has its sites once.
        let site = self.sites.of.entry((part, pos.offset)).or_insert(next);
        if *site == next {
            self.sites.list.push(Site {
                kind,
                span,
                is_unreachable: self.is_unreachable,
                is_never_empty: false,
            });
        }
    }

    fn action(&mut self, part: Part, kind: SiteKind, pos: Pos) {
        let span = self.places.action(pos.offset);
        self.add(part, kind, pos, span);
    }

    fn list(&mut self, list: &ListNode) {
        for node in &list.nodes {
            match node {
                // A brace is text that could not be written as such, and Ollama's own action at the end
                // of a template has no place.
                Node::Action(action)
                    if self.marks.is_brace(action.pos.offset)
                        || action.pos.offset == legacy::NOWHERE => {}
                Node::Action(action) => {
                    self.action(Part::Statement, SiteKind::Statement, action.pos);
                    self.pipe(&action.pipe);
                }
                Node::If(branch) | Node::With(branch) => {
                    // A literal cannot go both ways.
                    if truth(&branch.pipe).is_none() {
                        self.action(Part::Branch, SiteKind::Condition, branch.pos);
                    }
                    self.branch(branch, matches!(node, Node::With(_)));
                }
                Node::Range(branch) => {
                    if !is_literal(&branch.pipe) {
                        self.action(Part::Loop, SiteKind::Loop, branch.pos);
                        let path = sole(&branch.pipe).and_then(|value| self.path(value));
                        let is_full = path.is_some_and(|path| self.full.contains(&path));
                        let site = self.sites.site(Part::Loop, branch.pos);
                        if let Some(site) = site.and_then(|at| self.sites.list.get_mut(at)) {
                            site.is_never_empty = is_full;
                        }
                    }
                    self.turns(branch);
                }
                Node::Template(call) => {
                    self.action(Part::Statement, SiteKind::Statement, call.pos);
                    if let Some(pipe) = &call.pipe {
                        self.pipe(pipe);
                    }
                }
                Node::Break(pos) | Node::Continue(pos) => {
                    self.action(Part::Statement, SiteKind::Statement, *pos);
                }
                Node::List(list) => self.list(list),
                Node::Text(_) | Node::Define(_) => {}
            }
        }
    }

    /// An `if` or a `with`, which also gives its body another dot.
    fn branch(&mut self, branch: &BranchNode, is_with: bool) {
        self.pipe(&branch.pipe);
        let truth = truth(&branch.pipe);
        let (dot, known) = (self.dot, self.full.clone());
        self.ask(&branch.pipe);
        if is_with {
            let names_dot = |path: &Path| path.0 == Ok(dot) && path.1.is_empty();
            let value = sole(&branch.pipe).and_then(|value| self.path(value));
            if !value.is_some_and(|path| names_dot(&path)) {
                self.dot = self.next_dot();
            }
            self.full.push((Ok(self.dot), Vec::new()));
        }
        self.branch_body(&branch.body, truth == Some(false));
        self.dot = dot;
        self.full = known;
        if let Some(otherwise) = &branch.else_body {
            self.branch_body(otherwise, truth == Some(true));
        }
    }

    /// The body of a loop, where every iteration has its own dot.
    fn turns(&mut self, branch: &BranchNode) {
        self.pipe(&branch.pipe);
        let (dot, known) = (self.dot, self.full.clone());
        self.dot = self.next_dot();
        self.list(&branch.body);
        (self.dot, self.full) = (dot, known);
        if let Some(otherwise) = &branch.else_body {
            self.list(otherwise);
        }
    }

    fn next_dot(&mut self) -> usize {
        self.dots += 1;
        self.dots
    }

    /// Adds what has something in it if a condition is true.
    fn ask(&mut self, pipe: &PipeNode) {
        if let Some(value) = sole(pipe) {
            if let Expr::Pipe(_, inner) = value {
                return self.ask(inner);
            }
            let path = self.path(value);
            self.full.extend(path);
        } else if let [command] = pipe.commands.as_slice()
            && let [Expr::Identifier(_, name), operands @ ..] = command.args.as_slice()
            && name == "and"
        {
            for operand in operands {
                if let Expr::Pipe(_, inner) = operand {
                    self.ask(inner);
                } else {
                    let path = self.path(operand);
                    self.full.extend(path);
                }
            }
        }
    }

    /// The value that an expression names, if it stays the same while the conditions hold.
    fn path(&self, expression: &Expr) -> Option<Path> {
        let names = |fields: &[SmolStr]| fields.iter().map(ToString::to_string).collect();
        match expression {
            Expr::Dot(_) => Some((Ok(self.dot), Vec::new())),
            Expr::Field(_, fields) => Some((Ok(self.dot), names(fields))),
            Expr::Variable(_, name, fields) if !self.assigned.contains(name.as_str()) => {
                Some((Err(name.to_string()), names(fields)))
            }
            _ => None,
        }
    }

    /// The body of a branch. If the condition never lets it run, it is unreachable.
    fn branch_body(&mut self, body: &ListNode, is_unreachable: bool) {
        let around = self.is_unreachable;
        self.is_unreachable |= is_unreachable;
        self.list(body);
        self.is_unreachable = around;
    }

    fn pipe(&mut self, pipe: &PipeNode) {
        let is_declared = |path: &Path| {
            let name = path.0.as_ref().err();
            name.is_some_and(|name| pipe.decl.iter().any(|own| own == name))
        };
        self.full.retain(|path| !is_declared(path));
        for command in &pipe.commands {
            self.command(command);
        }
    }

    fn command(&mut self, command: &CommandNode) {
        let are_operands = is_logical(command);
        for (number, argument) in command.args.iter().enumerate() {
            if are_operands && number > 0 && is_operand(argument) {
                let pos = argument.pos();
                let span = self.places.operand(pos.offset);
                self.add(Part::Operand, SiteKind::Operand, pos, span);
            }
            self.expression(argument);
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Pipe(_, pipe) => self.pipe(pipe),
            Expr::Chain(_, inner, _) => self.expression(inner),
            _ => {}
        }
    }
}

/// The variables that an action gives a new value, in a template and in those that it defines.
fn assigned(root: &ListNode, defines: &HashMap<SmolStr, ListNode>) -> BTreeSet<String> {
    fn collect(list: &ListNode, found: &mut BTreeSet<String>) {
        for node in &list.nodes {
            let pipe = match node {
                Node::Action(action) => &action.pipe,
                Node::If(branch) | Node::With(branch) | Node::Range(branch) => {
                    collect(&branch.body, found);
                    if let Some(otherwise) = &branch.else_body {
                        collect(otherwise, found);
                    }
                    &branch.pipe
                }
                Node::List(list) => {
                    collect(list, found);
                    continue;
                }
                _ => continue,
            };
            if pipe.is_assign {
                found.extend(pipe.decl.iter().map(ToString::to_string));
            }
        }
    }
    let mut found = BTreeSet::new();
    for body in [root].into_iter().chain(defines.values()) {
        collect(body, &mut found);
    }
    found
}

/// The only argument of a pipeline that calls nothing and sets no variable.
fn sole(pipe: &PipeNode) -> Option<&Expr> {
    match pipe.commands.as_slice() {
        [command] => match command.args.as_slice() {
            [value] => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a pipeline is a number. A loop over it always has the same iterations.
fn is_literal(pipe: &PipeNode) -> bool {
    match pipe.commands.as_slice() {
        [command] => matches!(command.args.as_slice(), [Expr::Number(..)]),
        _ => false,
    }
}

/// Whether a condition is true, if it is the literal `true` or `false`.
fn truth(pipe: &PipeNode) -> Option<bool> {
    match pipe.commands.as_slice() {
        [command] => match command.args.as_slice() {
            [Expr::Bool(_, truth)] => Some(*truth),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a command is a call of `and` or `or`.
fn is_logical(command: &CommandNode) -> bool {
    let first = command.args.first();
    matches!(first, Some(Expr::Identifier(_, name)) if name == "and" || name == "or")
}

/// Whether an argument of `and` or `or` is a place of its own. A literal cannot go both ways, and an
/// argument that is itself `and` or `or` has its own operands.
fn is_operand(argument: &Expr) -> bool {
    match argument {
        Expr::Pipe(_, pipe) => match pipe.commands.as_slice() {
            [command] => !is_logical(command),
            _ => true,
        },
        Expr::Field(..)
        | Expr::Variable(..)
        | Expr::Chain(..)
        | Expr::Dot(_)
        | Expr::Identifier(..) => true,
        Expr::String(..) | Expr::Number(..) | Expr::Bool(..) | Expr::Nil(_) => false,
    }
}
