//! The operators of two values.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    /// `a ~ b`
    Concat,
    In,
    NotIn,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// Whether it gives a truth.
    pub(crate) fn compares(self) -> bool {
        use Operator::{Equal, Greater, GreaterOrEqual, In, Less, LessOrEqual, NotEqual, NotIn};
        matches!(
            self,
            In | NotIn | Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual
        )
    }

    /// The operator as people write it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Modulo => "%",
            Operator::Power => "**",
            Operator::Concat => "~",
            Operator::In => "in",
            Operator::NotIn => "not in",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        }
    }
}
