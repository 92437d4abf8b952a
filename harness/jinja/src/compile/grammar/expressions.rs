//! The expressions of a template, by the grammar of Jinja2 3.1.6 (`parser.py`).

use std::collections::BTreeSet;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{
    BinOp, BinOpKind, Call, CallArg, Compare, CompareOp, CompareOpKind, Expr, Filter, GetAttr,
    GetItem, IfExpr, List, Map, Slice, Spanned, Test, Tuple, UnaryOp, UnaryOpKind,
};
use minijinja::{Error, Value};

use crate::compile::grammar::stream::Stream;
use crate::compile::grammar::tokens::Token;
use crate::compile::nodes::{constant, not, variable};
use crate::compile::properties::SPECIAL;
use crate::refusal::syntax_error_at;

type Level = for<'s> fn(&mut Stream<'s>) -> Result<Expr<'s>, Error>;

pub(super) fn expression<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    let mut span = stream.span();
    let mut expression = without_condition(stream)?;
    while stream.skip_name("if")? {
        let test_expr = without_condition(stream)?;
        let false_expr = if stream.skip_name("else")? {
            Some(self::expression(stream)?)
        } else {
            None
        };
        let choice = IfExpr {
            test_expr,
            true_expr: expression,
            false_expr,
        };
        expression = Expr::IfExpr(stream.node(choice, span));
        span = stream.span();
    }
    Ok(expression)
}

/// An expression that is no `a if b else c`, unless it is in brackets.
pub(super) fn without_condition<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    logical(stream, "or", |stream| logical(stream, "and", negation))
}

/// `a or b`, or `a and b`.
fn logical<'s>(stream: &mut Stream<'s>, word: &str, operand: Level) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    let mut left = operand(stream)?;
    while stream.skip_name(word)? {
        let op = if word == "or" {
            BinOpKind::ScOr
        } else {
            BinOpKind::ScAnd
        };
        let right = operand(stream)?;
        let both = BinOp { op, left, right };
        left = Expr::BinOp(stream.node(both, span));
    }
    Ok(left)
}

/// `not a`
fn negation<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    if stream.skip_name("not")? {
        let expr = negation(stream)?;
        return Ok(not(expr, stream.until_here(span)));
    }
    comparison(stream)
}

/// `a < b == c`, and `a in b`.
fn comparison<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    let expr = binary(stream, 0)?;
    let Some(first) = compared(stream)? else {
        return Ok(expr);
    };
    let Some(second) = compared(stream)? else {
        return Ok(single(expr, first, stream.until_here(span)));
    };
    let mut ops = vec![first, second];
    while let Some(next) = compared(stream)? {
        ops.push(next);
    }
    Ok(Expr::Compare(stream.node(Compare { expr, ops }, span)))
}

/// A comparison's sign and what follows it, if it is next.
fn compared<'s>(stream: &mut Stream<'s>) -> Result<Option<CompareOp<'s>>, Error> {
    let is_not_in = stream.is_name("not") && *stream.look()? == Token::Name("in");
    let op = match stream.current() {
        Token::Sign("==") => CompareOpKind::Eq,
        Token::Sign("!=") => CompareOpKind::Ne,
        Token::Sign("<") => CompareOpKind::Lt,
        Token::Sign("<=") => CompareOpKind::Lte,
        Token::Sign(">") => CompareOpKind::Gt,
        Token::Sign(">=") => CompareOpKind::Gte,
        Token::Name("in") => CompareOpKind::In,
        Token::Name("not") if is_not_in => CompareOpKind::NotIn,
        _ => return Ok(None),
    };
    if is_not_in {
        stream.advance()?;
    }
    stream.advance()?;
    let expr = binary(stream, 0)?;
    Ok(Some(CompareOp { op, expr }))
}

/// A comparison with one sign.
fn single<'s>(left: Expr<'s>, CompareOp { op, expr }: CompareOp<'s>, span: Span) -> Expr<'s> {
    let both = BinOp {
        op: match op {
            CompareOpKind::Eq => BinOpKind::Eq,
            CompareOpKind::Ne => BinOpKind::Ne,
            CompareOpKind::Lt => BinOpKind::Lt,
            CompareOpKind::Lte => BinOpKind::Lte,
            CompareOpKind::Gt => BinOpKind::Gt,
            CompareOpKind::Gte => BinOpKind::Gte,
            CompareOpKind::In | CompareOpKind::NotIn => BinOpKind::In,
        },
        left,
        right: expr,
    };
    let compared = Expr::BinOp(Spanned::new(both, span));
    if matches!(op, CompareOpKind::NotIn) {
        not(compared, span)
    } else {
        compared
    }
}

/// Operands with operators of a level or of a higher one, which are applied from the left.
fn binary<'s>(stream: &mut Stream<'s>, least: u8) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    let mut left = filtered(stream)?;
    while let Token::Sign(sign) = stream.current()
        && let Some((level, op)) = operator(sign)
        && level >= least
    {
        stream.advance()?;
        let right = binary(stream, level + 1)?;
        let both = BinOp { op, left, right };
        left = Expr::BinOp(stream.node(both, span));
    }
    Ok(left)
}

/// The operator of a sign, and its level: an operator of a higher level binds its operands first.
fn operator(sign: &str) -> Option<(u8, BinOpKind)> {
    Some(match sign {
        "+" => (0, BinOpKind::Add),
        "-" => (0, BinOpKind::Sub),
        "~" => (1, BinOpKind::Concat),
        "*" => (2, BinOpKind::Mul),
        "/" => (2, BinOpKind::Div),
        "//" => (2, BinOpKind::FloorDiv),
        "%" => (2, BinOpKind::Rem),
        "**" => (3, BinOpKind::Pow),
        _ => return None,
    })
}

/// An operand with its signs, filters and tests. Filters and tests apply to the operand with its
/// signs, and a call may follow them as for any other value.
fn filtered<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    let mut expression = signed(stream)?;
    loop {
        expression = match stream.current() {
            Token::Sign("|") => filters(stream, Some(expression))?,
            Token::Name("is") => test(stream, expression)?,
            Token::Sign("(") => call(stream, expression)?,
            _ => return Ok(expression),
        };
    }
}

/// An operand with its signs. minijinja has no sign `+`: `+a` is `-(-a)`, which is the same
/// for every value that has a sign.
fn signed<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    let is_plus = stream.is_sign("+");
    let operand = if is_plus || stream.is_sign("-") {
        stream.advance()?;
        let operand = signed(stream)?;
        let span = stream.until_here(span);
        let negated = negated(operand, span);
        if is_plus {
            self::negated(negated, span)
        } else {
            negated
        }
    } else {
        primary(stream, false)?
    };
    postfixes(stream, operand)
}

fn negated(expr: Expr<'_>, span: Span) -> Expr<'_> {
    let op = UnaryOpKind::Neg;
    Expr::UnaryOp(Spanned::new(UnaryOp { op, expr }, span))
}

/// An expression with its attributes, items and calls.
fn postfixes<'s>(stream: &mut Stream<'s>, of: Expr<'s>) -> Result<Expr<'s>, Error> {
    let mut expression = of;
    loop {
        expression = match stream.current() {
            Token::Sign(".") => after_point(stream, expression)?,
            Token::Sign("[") => subscript(stream, expression)?,
            Token::Sign("(") => call(stream, expression)?,
            _ => return Ok(expression),
        };
    }
}

/// `a.b` or `a.0`
fn after_point<'s>(stream: &mut Stream<'s>, expr: Expr<'s>) -> Result<Expr<'s>, Error> {
    let span = expr.span();
    stream.advance()?;
    let place = stream.span();
    match stream.take()? {
        Token::Name(name) => {
            let attribute = GetAttr { expr, name };
            Ok(Expr::GetAttr(stream.node(attribute, span)))
        }
        Token::Integer(index) => {
            let subscript_expr = constant(index, place);
            Ok(item(expr, subscript_expr, stream.until_here(span)))
        }
        _ => Err(stream.error("expected name or number")),
    }
}

fn item<'s>(expr: Expr<'s>, subscript_expr: Expr<'s>, span: Span) -> Expr<'s> {
    let item = GetItem {
        expr,
        subscript_expr,
    };
    Expr::GetItem(Spanned::new(item, span))
}

/// The text between the brackets of a subscript, or between two of its commas.
enum Subscript<'s> {
    Item(Expr<'s>),
    Slice([Option<Expr<'s>>; 3]),
}

/// `a[b]`, `a[b:c]`, and `a[b, c]`, whose key is a tuple. Without a key, the key is the empty
/// tuple.
fn subscript<'s>(stream: &mut Stream<'s>, expr: Expr<'s>) -> Result<Expr<'s>, Error> {
    let span = expr.span();
    let place = stream.span();
    stream.advance()?;
    let mut keys = Vec::new();
    while !stream.is_sign("]") {
        if !keys.is_empty() {
            stream.expect_sign(",")?;
        }
        let key = key(stream)?;
        if keys.is_empty() && stream.skip_sign("]")? {
            return Ok(subscripted(expr, key, stream.until_here(span)));
        }
        keys.push(key);
    }
    stream.expect_sign("]")?;
    let span = stream.until_here(span);
    let items = keys
        .into_iter()
        .map(|key| match key {
            Subscript::Item(key) => key,
            // It is a slice of nothing.
            slice @ Subscript::Slice(_) => {
                subscripted(constant(Value::UNDEFINED, place), slice, place)
            }
        })
        .collect();
    Ok(item(expr, tuple(items, place), span))
}

fn subscripted<'s>(expr: Expr<'s>, subscript: Subscript<'s>, span: Span) -> Expr<'s> {
    match subscript {
        Subscript::Item(key) => item(expr, key, span),
        Subscript::Slice([start, stop, by]) => {
            let slice = Slice {
                expr,
                start,
                stop,
                step: by,
            };
            Expr::Slice(Spanned::new(slice, span))
        }
    }
}

fn key<'s>(stream: &mut Stream<'s>) -> Result<Subscript<'s>, Error> {
    let start = if stream.is_sign(":") {
        None
    } else {
        let start = expression(stream)?;
        if !stream.is_sign(":") {
            return Ok(Subscript::Item(start));
        }
        Some(start)
    };
    stream.advance()?;
    let bound = |stream: &mut Stream<'s>| {
        let is_missing = [":", "]", ","].iter().any(|sign| stream.is_sign(sign));
        if is_missing {
            Ok(None)
        } else {
            expression(stream).map(Some)
        }
    };
    let stop = bound(stream)?;
    let by = if stream.skip_sign(":")? {
        bound(stream)?
    } else {
        None
    };
    Ok(Subscript::Slice([start, stop, by]))
}

/// `a(b, c=d, *e, **f)`
fn call<'s>(stream: &mut Stream<'s>, expr: Expr<'s>) -> Result<Expr<'s>, Error> {
    let span = expr.span();
    let args = arguments(stream)?;
    let call = Call { expr, args };
    Ok(Expr::Call(stream.node(call, span)))
}

/// The arguments of a call, in brackets: first those without a name. A list of arguments and a
/// dictionary of them may each be there once, the dictionary last.
fn arguments<'s>(stream: &mut Stream<'s>) -> Result<Vec<CallArg<'s>>, Error> {
    let mut arguments = Vec::new();
    let mut names = Vec::new();
    let (mut has_list, mut has_dictionary) = (false, false);
    stream.expect_sign("(")?;
    while !stream.is_sign(")") {
        if !arguments.is_empty() {
            stream.expect_sign(",")?;
            if stream.is_sign(")") {
                break;
            }
        }
        let place = stream.span();
        if stream.skip_sign("*")? {
            if has_list || has_dictionary {
                return Err(misplaced(place));
            }
            has_list = true;
            arguments.push(CallArg::PosSplat(expression(stream)?));
        } else if stream.skip_sign("**")? {
            if has_dictionary {
                return Err(misplaced(place));
            }
            has_dictionary = true;
            arguments.push(CallArg::KwargSplat(expression(stream)?));
        } else if let Token::Name(name) = *stream.current()
            && *stream.look()? == Token::Sign("=")
        {
            if has_dictionary {
                return Err(misplaced(place));
            }
            names.push(name);
            stream.advance()?;
            stream.advance()?;
            arguments.push(CallArg::Kwarg(name, expression(stream)?));
        } else {
            if has_list || has_dictionary || !names.is_empty() {
                return Err(misplaced(place));
            }
            arguments.push(CallArg::Pos(expression(stream)?));
        }
    }
    stream.expect_sign(")")?;
    if let Some(name) = repeated(names.into_iter()) {
        let message = format!("keyword argument repeated: {name}");
        return Err(stream.error(message));
    }
    Ok(arguments)
}

/// The error of an argument that is not allowed at its place.
#[cold]
fn misplaced(place: Span) -> Error {
    syntax_error_at("invalid syntax for function call expression", place)
}

/// The name of a repeated argument. Python's compiler refuses Jinja2's code for such a call. But if
/// one of the names is a Python keyword, Jinja2 makes a dictionary, in which the last argument of
/// each name counts (Jinja2's compiler.py, `signature`).
pub(super) fn repeated<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut seen = BTreeSet::new();
    let (mut repeated, mut has_keyword) = (None, false);
    for name in names {
        has_keyword |= is_keyword(name);
        if !seen.insert(name) {
            repeated.get_or_insert(name);
        }
    }
    repeated.filter(|_| !has_keyword)
}

/// Whether a name is a Python keyword, so that it cannot name an argument of a call.
pub(in crate::compile) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Python's words that are no names (`keyword.kwlist` of CPython 3.11).
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// `a|filter|filter(b)`, given `a`. A block of `filter` and `set` has none.
pub(super) fn filters<'s>(
    stream: &mut Stream<'s>,
    of: Option<Expr<'s>>,
) -> Result<Expr<'s>, Error> {
    stream.expect_sign("|")?;
    let mut filtered = filter(stream, of)?;
    while stream.skip_sign("|")? {
        filtered = filter(stream, Some(filtered))?;
    }
    Ok(filtered)
}

/// A filter by its name, and those after it.
pub(super) fn filter_chain<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    let first = filter(stream, None)?;
    if stream.is_sign("|") {
        return filters(stream, Some(first));
    }
    Ok(first)
}

fn filter<'s>(stream: &mut Stream<'s>, expr: Option<Expr<'s>>) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    let name = dotted(stream)?;
    let args = if stream.is_sign("(") {
        arguments(stream)?
    } else {
        Vec::new()
    };
    let filter = Filter { name, expr, args };
    Ok(Expr::Filter(stream.node(filter, span)))
}

/// The name of a filter or a test, which may have points in it.
fn dotted<'s>(stream: &mut Stream<'s>) -> Result<&'s str, Error> {
    let span = stream.span();
    stream.expect_name()?;
    while stream.skip_sign(".")? {
        stream.expect_name()?;
    }
    Ok(stream.text(stream.until_here(span)))
}

/// `a is test`, given `a`. The test takes its arguments in brackets, or a single one without.
fn test<'s>(stream: &mut Stream<'s>, expr: Expr<'s>) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    stream.advance()?;
    let is_negated = stream.skip_name("not")?;
    let name = dotted(stream)?;
    let args = match stream.current() {
        Token::Sign("(") => arguments(stream)?,
        Token::Name("else" | "or" | "and") => Vec::new(),
        Token::Name("is") => {
            return Err(stream.error("You cannot chain multiple tests with is"));
        }
        Token::Name(_)
        | Token::String(_)
        | Token::Integer(_)
        | Token::Float(_)
        | Token::Sign("[" | "{") => {
            let argument = primary(stream, false)?;
            vec![CallArg::Pos(postfixes(stream, argument)?)]
        }
        _ => Vec::new(),
    };
    let span = stream.until_here(span);
    let tested = Expr::Test(Spanned::new(Test { name, expr, args }, span));
    Ok(if is_negated {
        not(tested, span)
    } else {
        tested
    })
}

/// A name, a literal, or an expression in brackets. Where an attribute of a namespace may be
/// assigned, `namespace.attribute` too.
fn primary<'s>(stream: &mut Stream<'s>, with_namespace: bool) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    stream.deeper()?;
    let expression = match stream.current() {
        Token::Sign("(") => {
            stream.advance()?;
            let inner = tuple_or_expression(stream, Tuples::InBrackets)?;
            stream.expect_sign(")")?;
            inner
        }
        Token::Sign("[") => list_literal(stream)?,
        Token::Sign("{") => dictionary_literal(stream)?,
        Token::String(_) => text(stream)?,
        Token::Name(_) | Token::Integer(_) | Token::Float(_) => match stream.take()? {
            Token::Name("true" | "True") => constant(true, span),
            Token::Name("false" | "False") => constant(false, span),
            Token::Name("none" | "None") => constant((), span),
            Token::Name(name) if with_namespace && stream.is_sign(".") => {
                stream.advance()?;
                let attribute = GetAttr {
                    expr: variable(name, span),
                    name: stream.expect_name()?,
                };
                Expr::GetAttr(stream.node(attribute, span))
            }
            Token::Name(name) => {
                if (name == "loop" || SPECIAL.contains(&name)) && !stream.special.contains(&name) {
                    stream.special.push(name);
                }
                variable(name, span)
            }
            Token::Integer(integer) => constant(integer, span),
            Token::Float(float) => constant(float, span),
            _ => constant((), span),
        },
        other => {
            let message = format!("unexpected '{}'", other.description());
            return Err(stream.error(message));
        }
    };
    stream.shallower();
    Ok(expression)
}

/// A string, or several that follow each other and are one.
fn text<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    let Token::String(mut text) = stream.take()? else {
        return Err(stream.expected("string"));
    };
    while let Token::String(part) = stream.current() {
        text.to_mut().push_str(part);
        stream.advance()?;
    }
    Ok(constant(Value::from(text), span))
}

/// Where an expression is that may be a tuple without brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tuples {
    /// Anywhere else.
    Plain,
    /// Where `a if b else c` needs brackets, because an `if` may follow.
    WithoutCondition,
    /// In brackets, where a tuple may be empty.
    InBrackets,
    /// Where something is assigned, so that the items are names.
    Target,
    /// Where something is assigned, to an attribute of a namespace too.
    NamespaceTarget,
}

/// An expression, or several with commas between them (`parse_tuple`).
pub(super) fn tuple_or_expression<'s>(
    stream: &mut Stream<'s>,
    tuples: Tuples,
) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    let is_end = |stream: &Stream<'s>| {
        matches!(
            stream.current(),
            Token::PrintEnd | Token::BlockEnd | Token::Sign(")")
        )
    };
    let item = |stream: &mut Stream<'s>| match tuples {
        Tuples::Plain | Tuples::InBrackets => expression(stream),
        Tuples::WithoutCondition => without_condition(stream),
        Tuples::Target => target(stream, false),
        Tuples::NamespaceTarget => target(stream, true),
    };
    if is_end(stream) {
        if tuples == Tuples::InBrackets {
            return Ok(tuple(Vec::new(), stream.until_here(span)));
        }
        let found = stream.current().description();
        return Err(stream.error(format!("Expected an expression, got '{found}'")));
    }
    let first = item(stream)?;
    if !stream.is_sign(",") {
        return Ok(first);
    }
    let mut items = vec![first];
    while stream.skip_sign(",")? && !is_end(stream) {
        items.push(item(stream)?);
    }
    Ok(tuple(items, stream.until_here(span)))
}

/// An item of a target. Within brackets only names can be assigned.
fn target<'s>(stream: &mut Stream<'s>, with_namespace: bool) -> Result<Expr<'s>, Error> {
    fn has_attribute(target: &Expr<'_>) -> bool {
        match target {
            Expr::Tuple(tuple) => tuple.items.iter().any(has_attribute),
            other => matches!(other, Expr::GetAttr(_)),
        }
    }
    let is_in_brackets = stream.is_sign("(");
    let target = primary(stream, with_namespace)?;
    if is_in_brackets && has_attribute(&target) {
        return Err(stream.error("can't assign to 'getattr'"));
    }
    Ok(target)
}

fn tuple(items: Vec<Expr<'_>>, span: Span) -> Expr<'_> {
    Expr::Tuple(Spanned::new(Tuple { items }, span))
}

fn list(items: Vec<Expr<'_>>, span: Span) -> Expr<'_> {
    Expr::List(Spanned::new(List { items }, span))
}

/// `[a, b]`
fn list_literal<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    stream.advance()?;
    let mut items = Vec::new();
    while !stream.is_sign("]") {
        if !items.is_empty() {
            stream.expect_sign(",")?;
        }
        if stream.is_sign("]") {
            break;
        }
        items.push(expression(stream)?);
    }
    stream.expect_sign("]")?;
    Ok(list(items, stream.until_here(span)))
}

/// `{a: b}`
fn dictionary_literal<'s>(stream: &mut Stream<'s>) -> Result<Expr<'s>, Error> {
    let span = stream.span();
    stream.advance()?;
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    while !stream.is_sign("}") {
        if !keys.is_empty() {
            stream.expect_sign(",")?;
        }
        if stream.is_sign("}") {
            break;
        }
        keys.push(expression(stream)?);
        stream.expect_sign(":")?;
        values.push(expression(stream)?);
    }
    stream.expect_sign("}")?;
    let map = Map { keys, values };
    Ok(Expr::Map(stream.node(map, span)))
}
