//! The tree that a render walks: a template with its names resolved and its filters looked up.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use minijinja::{ErrorKind, Value};

use crate::library::vocabulary::Callable;
use crate::operator::Operator;
use crate::operators::macros::Signature;

/// A template that is ready to be rendered.
#[derive(Default)]
pub(crate) struct Code {
    /// The template itself, then its macros, call blocks and named blocks.
    pub(crate) functions: Vec<Function>,
    /// The variables that the template is given.
    pub(crate) globals: Vec<Box<str>>,
    /// The functions of the named blocks.
    pub(crate) blocks: BTreeMap<Box<str>, usize>,
    /// The source of the template, in which its plain text and the names of its variables are.
    pub(crate) source: Arc<str>,
    /// The length of the plain text.
    pub(crate) text_len: usize,
}

impl Code {
    /// A part of the source.
    pub(crate) fn part(&self, place: &Range<usize>) -> &str {
        self.source.get(place.clone()).unwrap_or_default()
    }
}

/// Statements with variables of their own.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) signature: Option<Arc<Signature>>,
    /// Where the arguments of a call go, each with its default.
    pub(crate) parameters: Vec<(Place, Option<Expr>)>,
    /// How many variables there are.
    pub(crate) slots: usize,
    /// The slots whose variables functions within this one use, too.
    pub(crate) cells: Vec<usize>,
    /// The variables of the function around this one that it uses.
    pub(crate) captures: Vec<Place>,
    pub(crate) body: Body,
    pub(crate) site: Option<usize>,
}

/// Statements in a scope.
#[derive(Default)]
pub(crate) struct Body {
    /// The variables whose value at the beginning matters: that of a variable around the scope, or
    /// none.
    pub(crate) begins: Vec<(Place, Option<Place>)>,
    pub(crate) statements: Vec<Stmt>,
    /// The variables that functions share, which have no value after the scope.
    pub(crate) ends: Vec<Place>,
}

/// Where a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Slot(usize),
    /// In a cell in a slot, which functions within this one share.
    Cell(usize),
    /// In a cell of a function around this one.
    Capture(usize),
    Global(usize),
    /// In what a named block sees of the template around it, or else a global.
    Context(usize),
}

pub(crate) struct Variable {
    pub(crate) place: Place,
    pub(crate) name: Range<usize>,
    /// Whether Jinja2's code takes for granted that it has a value, such as the target of a loop
    /// (compiler.py, `visit_Name`).
    pub(crate) is_given: bool,
}

pub(crate) enum Stmt {
    Text(Range<usize>),
    Write(Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    For(Box<For>),
    /// A loop that calls itself: its items, and the function that has it.
    Recursive(Expr, usize),
    Set(Target, Expr),
    With(Vec<(Target, Expr)>, Body),
    /// Captures a text.
    Capture(Place, Body),
    /// Writes what has to be a text.
    WriteText(Expr),
    AutoEscape(Expr, Box<Body>),
    Macro(usize, Place),
    Generation(usize),
    /// A named block. One that is `scoped` sees these variables, each with whether it certainly has a
    /// value.
    Block(usize, Vec<(usize, Place, bool)>),
    /// Hands a variable of the template to its named blocks.
    Export(usize, Place),
    /// Whether a loop has an item: its target, and its condition.
    Choose(Target, Expr),
    Break,
    Continue,
    /// Reports that this site is reached.
    Reach(usize),
}

pub(crate) struct For {
    pub(crate) iter: Expr,
    pub(crate) target: Target,
    /// The variable `loop`, if the body uses it.
    pub(crate) object: Option<Place>,
    pub(crate) condition: Option<Expr>,
    /// The function that chooses the items of a loop with the variable `loop`.
    pub(crate) choice: Option<usize>,
    pub(crate) body: Body,
    pub(crate) otherwise: Body,
    pub(crate) site: Option<usize>,
}

pub(crate) enum Target {
    Variable(Place),
    Attribute(Box<Expr>, Box<str>),
    Several(Vec<Target>),
}

pub(crate) struct Expr {
    pub(crate) line: u16,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Constant(Value),
    Variable(Variable),
    Attribute(Box<Expr>, Box<str>),
    /// `loop.index`
    LoopField(Box<Expr>, Box<str>),
    /// `a.items`, where Python's types have a method of that name
    Member(Box<Expr>, Box<str>),
    Item(Box<[Expr; 2]>),
    Slice(Box<[Expr; 4]>, bool),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    And(Box<[Expr; 2]>),
    Or(Box<[Expr; 2]>),
    Choice(Box<[Expr; 3]>),
    Binary(Operator, Box<[Expr; 2]>),
    /// `a + b + …` or `a ~ b ~ …`, whose operands may be evaluated first.
    Join(Operator, Vec<Expr>),
    /// `a < b == c`
    Compare(Box<Expr>, Vec<(Operator, Expr)>),
    Filter(&'static Callable, Args),
    Test(&'static Callable, Args),
    Call(Box<Expr>, Args),
    Method(Box<Expr>, Box<str>, Args),
    Block(Box<str>),
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// What an `if` without `else` gives in this line.
    Missing(u16),
    /// Something that fails after its operands are evaluated.
    Fail(ErrorKind, String, Args),
    /// A condition with a site.
    Decide(usize, Box<Expr>),
}

#[derive(Default)]
pub(crate) struct Args {
    pub(crate) positional: Vec<Arg>,
    pub(crate) named: Vec<NamedArg>,
}

pub(crate) enum Arg {
    One(Expr),
    Splat(Expr),
}

pub(crate) enum NamedArg {
    One(Box<str>, Expr),
    /// A dictionary, which must not have these names.
    Splat(Expr, Vec<Value>),
}
