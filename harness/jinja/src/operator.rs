//! The operators that are calls of filters, and the names of those filters.
//!
//! `compile` writes the calls into the syntax tree, and `operators` has the filters. No template
//! can spell their names.

/// An operator, or another part of the language, that becomes the call of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `a + b`
    Add,
    /// `a + b + c`
    Add3,
    /// `a + b + c + d`
    Add4,
    /// `a + b + c + d + e`
    Add5,
    /// `a - b`
    Subtract,
    /// `a ~ b`
    Concat,
    /// `a ~ b ~ c`
    Concat3,
    /// `a ~ b ~ c ~ d`
    Concat4,
    /// `a ~ b ~ c ~ d ~ e`
    Concat5,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a // b`
    FloorDivide,
    /// `a % b`
    Modulo,
    /// `a ** b`
    Power,
    /// `-a`
    Negate,
    /// `a in b`
    In,
    /// `a not in b`
    NotIn,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterOrEqual,
    /// `a < b == c`, with the operators' names between the operands
    Chain,
    /// `a[b:c:d]`
    Slice,
    /// `a[b:c:d]` of constants
    SliceConstant,
    /// `a[b]`
    Item,
    /// The value that a `for` runs over, or that is unpacked to several names.
    Iterate,
    /// The value that a `for` with several names runs over: each item is unpacked.
    IteratePairs,
    /// The value that a `for` runs over if its length has to be known, or that is unpacked.
    IterateWhole,
    /// The value that a `for` runs over, whose items the body looks at in advance.
    IterateAhead,
    /// `loop.last`, and what else needs a look ahead.
    LookAhead,
    /// The value of a variable, in a render that names what is missing.
    Variable,
    /// A call of one of Jinja2's functions, in a render that names what is missing.
    Call,
    /// `a.items`, where Python's types have a method of that name
    Attribute,
    /// `namespace.attribute = …`
    SetAttribute,
    /// `[a, b]`
    List,
    /// `(a, b)`
    Tuple,
    /// `{a: b}`
    Map,
    /// The list `*a` in a call.
    Splat,
    /// The dictionary `**a` in a call.
    KwargSplat,
    /// `loop.changed(a)` and `loop.cycle(a)`
    LoopMethod,
    /// A tag that would read another template.
    OtherTemplate,
    /// A filter or a test that Jinja2 does not know, used within a condition.
    Unknown,
    /// What notes how a loop is left.
    Departure,
    /// Counts the names that the interpreter looked for.
    Tick,
    /// The value that a loop runs over when it calls itself.
    Recurse,
    /// Whether a macro was called without an argument.
    IsMissing,
    /// The text that a filter block or a call block writes; nothing but a text will do.
    TextOnly,
    /// A macro that binds its arguments by its signature.
    Bind,
    /// Notes that a text that is captured, and not written, begins or ends.
    Capture,
    /// The text that was captured: a traced render knows its origin.
    Captured,
    /// Reports what a render reaches: a statement, a macro, or a step of a loop.
    Reach,
    /// Reports whether a condition is true, and hands its value on.
    Decide,
    /// A condition begins to be evaluated, in a traced render.
    Deciding,
    /// A condition has been evaluated, in a traced render.
    Decided,
    /// The truth of a value is looked at, in a traced render.
    Truth,
}

impl Operator {
    /// The name of the operator's filter. minijinja looks it up in an ordered map, once in
    /// every render and call of a macro: those that are used most come first, by the letter
    /// that their name begins with.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operator::Add => "!!e",
            Operator::Add3 => "!!i",
            Operator::Add4 => "!+4",
            Operator::Add5 => "!+5",
            Operator::Subtract => "-",
            Operator::Concat => "!!j",
            Operator::Concat3 => "!!h",
            Operator::Concat4 => "~4",
            Operator::Concat5 => "~5",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Modulo => "%",
            Operator::Power => "**",
            Operator::Negate => "-a",
            Operator::In => "!!k",
            Operator::NotIn => "!</",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Chain => "<==",
            Operator::Slice => "![:]",
            Operator::SliceConstant => "1[:]",
            Operator::Item => "!!d",
            Operator::Iterate => "!!a",
            Operator::IteratePairs => "!for,",
            Operator::IterateWhole => "!for[]",
            Operator::IterateAhead => "!for.",
            Operator::LookAhead => "!last",
            Operator::Variable => "!$",
            Operator::Call => "!()",
            Operator::Attribute => "!.",
            Operator::SetAttribute => "!!l",
            Operator::List => "![",
            Operator::Tuple => "!(",
            Operator::Map => "!{",
            Operator::Splat => "!*",
            Operator::KwargSplat => "!**",
            Operator::LoopMethod => "!loop.",
            Operator::OtherTemplate => "!template",
            Operator::Unknown => "!unknown",
            Operator::Tick => "!tick",
            Operator::Recurse => "!recurse",
            Operator::Departure => "!departure",
            Operator::IsMissing => "!!f",
            Operator::TextOnly => "!!g",
            Operator::Bind => "!!b",
            Operator::Capture => "!{}",
            Operator::Captured => "!{}!",
            Operator::Reach => "!!o",
            Operator::Decide => "!!p",
            Operator::Deciding => "!?",
            Operator::Decided => "!?!",
            Operator::Truth => "!??",
        }
    }

    /// The operator as people write it. Empty for what is no operator in the language.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Operator::Add | Operator::Add3 | Operator::Add4 | Operator::Add5 => "+",
            Operator::Subtract | Operator::Negate => "-",
            Operator::Concat | Operator::Concat3 | Operator::Concat4 | Operator::Concat5 => "~",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Modulo => "%",
            Operator::Power => "**",
            Operator::In => "in",
            Operator::NotIn => "not in",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Slice | Operator::SliceConstant => "[:]",
            Operator::Item => "[]",
            Operator::Iterate
            | Operator::IteratePairs
            | Operator::IterateWhole
            | Operator::IterateAhead
            | Operator::Recurse => "for",
            Operator::Attribute => ".",
            _ => "",
        }
    }
}
