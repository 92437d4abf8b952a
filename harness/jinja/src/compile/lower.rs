//! Makes the tree that a render walks out of a syntax tree.

use std::ops::Range;
use std::sync::Arc;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{
    BinOp, BinOpKind, Call, CallArg, CallBlock, Compare, CompareOpKind, Expr as Node, ForLoop,
    GetAttr, GetItem, Macro, Slice, Spanned, Stmt as Statement, UnaryOpKind,
};
use minijinja::value::{Kwargs, Tuple};
use minijinja::{Error, ErrorKind, Value};
use rolecall_core::Site;

use crate::code::{
    Arg, Args, Body, Code, Expr, For, Function, Kind, NamedArg, Place, Stmt, Target, Variable,
};
use crate::compile::grammar::Parsed;
use crate::compile::grammar::expressions::is_keyword;
use crate::compile::lines::line_of;
use crate::compile::nodes::{all_within, bodies, given, names};
use crate::compile::properties::{
    CALLER, SPECIAL, is_constant, is_lookup, is_loop_variable, is_plain_key, is_self,
    literal_truth, unknown_number,
};
use crate::compile::scopes::{Functions, Uses, reads};
use crate::compile::sites::Sites;
use crate::library::functions::GENERATION;
use crate::library::vocabulary;
use crate::operator::Operator;
use crate::operators::macros::Signature;
use crate::operators::{literals, negated};
use crate::provenance::{self, Texts};
use crate::python::attributes::is_method;
use crate::python::text;
use crate::refusal::syntax_error_at;

/// A template that is ready to be rendered.
pub(crate) struct Lowered {
    pub(crate) code: Code,
    /// The literals of an instrumented form.
    pub(crate) literals: Texts,
    /// The sites that an instrumented form reports.
    pub(crate) sites: Vec<Site>,
}

/// Lowers a template. The instrumented form reports its sites, and its literals know their places.
pub(crate) fn lower(parsed: &Parsed<'_>, is_instrumented: bool) -> Result<Lowered, Error> {
    let sites = is_instrumented.then(|| Sites::of(&parsed.template, parsed.source));
    let mut functions = Functions::default();
    loop {
        let mut lowering = Lowering {
            parsed,
            sites: sites.as_ref(),
            literals: is_instrumented.then(Texts::new),
            code: Code::default(),
            functions,
            is_soft: false,
            is_constant: false,
            line: 0,
            blocks: Vec::new(),
            captured: None,
        };
        lowering.template()?;
        if let Some(again) = lowering.functions.again() {
            functions = again;
            continue;
        }
        lowering.code.globals = lowering.functions.globals();
        return Ok(Lowered {
            code: lowering.code,
            literals: lowering.literals.unwrap_or_default(),
            sites: sites.map_or_else(Vec::new, Sites::into_list),
        });
    }
}

struct Lowering<'p, 's> {
    parsed: &'p Parsed<'s>,
    sites: Option<&'p Sites>,
    literals: Option<Texts>,
    code: Code,
    functions: Functions<'s>,
    /// Within a condition. An unknown filter fails there when it is used, elsewhere when the
    /// template is compiled (Jinja2's compiler.py, `soft_frame`).
    is_soft: bool,
    /// Within a printed expression that Jinja2 evaluates when it compiles.
    is_constant: bool,
    /// The line that Jinja2 names in errors: the one of the statement.
    line: u16,
    /// The named blocks that are not lowered yet, with their functions.
    blocks: Vec<(usize, &'p [Statement<'s>])>,
    /// Where the text is that the filters of a block are given.
    captured: Option<Place>,
}

type Lower<T> = Result<T, Error>;

impl<'p, 's> Lowering<'p, 's> {
    fn template(&mut self) -> Lower<()> {
        let Statement::Template(template) = &self.parsed.template else {
            return Err(Error::new(ErrorKind::SyntaxError, "there is no template"));
        };
        let number = self.code.functions.len();
        self.code.functions.push(Function::default());
        self.blocks.push((number, &template.children));
        // A named block is no part of a scope around it.
        while let Some((number, block)) = self.blocks.pop() {
            self.functions.open(number, false);
            self.functions.enter_with(&[], Uses::of(block));
            let body = self.scope(block)?;
            self.code.functions[number] = self.close(body);
        }
        Ok(())
    }

    /// Begins the next function.
    fn open(&mut self, is_macro: bool) -> usize {
        let number = self.code.functions.len();
        self.code.functions.push(Function::default());
        self.functions.open(number, is_macro);
        number
    }

    /// The function that is open, which has only a body. Its variables keep their values.
    fn close(&mut self, body: Body) -> Function {
        let closed = self.functions.close();
        Function {
            slots: closed.slots,
            cells: closed.cells,
            captures: closed.captures,
            body: Body {
                ends: Vec::new(),
                ..body
            },
            ..Function::default()
        }
    }

    /// Statements whose variables are their own (Jinja2's compiler.py, `frame.inner()`).
    fn scope(&mut self, body: &'p [Statement<'s>]) -> Lower<Body> {
        let statements = self.hard(|inner| inner.statements(body))?;
        Ok(self.functions.leave(statements))
    }

    /// The scope of a captured text, and what the filters make of the text, which know the names of
    /// the scope.
    fn captured(
        &mut self,
        body: &'p [Statement<'s>],
        filter: Option<&'p Node<'s>>,
        span: Span,
    ) -> Lower<(Stmt, Expr)> {
        let place = Place::Slot(self.functions.slot());
        self.functions.enter(&[]);
        let statements = self.hard(|inner| inner.statements(body))?;
        let value = match filter {
            None => at(span, variable(place)),
            Some(filter) => {
                self.check_known(filter, span)?;
                self.captured = Some(place);
                let filtered = self.hard(|inner| inner.expr(filter));
                self.captured = None;
                filtered?
            }
        };
        Ok((
            Stmt::Capture(place, self.functions.leave(statements)),
            value,
        ))
    }

    /// Fails where an expression reads a name that no scope around it uses.
    fn check_known(&self, expression: &Node<'s>, span: Span) -> Lower<()> {
        if let Node::Var(name) = expression
            && !self.functions.is_known(name.id)
        {
            let message = format!(
                "Tried to resolve a name to a reference that was unknown to the frame ('{}')",
                name.id
            );
            return Err(syntax_error_at(message, span));
        }
        let mut checked = Ok(());
        all_within(expression, |inner| {
            checked = self.check_known(inner, span);
            checked.is_ok()
        });
        checked
    }

    /// Lowers what Jinja2 puts in a separate frame. It is no longer within a condition, so an
    /// unknown filter fails at once.
    fn hard<T>(&mut self, lower: impl FnOnce(&mut Self) -> Lower<T>) -> Lower<T> {
        let was_soft = std::mem::replace(&mut self.is_soft, false);
        let lowered = lower(self);
        self.is_soft = was_soft;
        lowered
    }

    fn soft<T>(&mut self, lower: impl FnOnce(&mut Self) -> Lower<T>) -> Lower<T> {
        let was_soft = std::mem::replace(&mut self.is_soft, true);
        let lowered = lower(self);
        self.is_soft = was_soft;
        lowered
    }

    fn site<T>(&self, node: &T) -> Option<usize> {
        self.sites?.site(node)
    }

    fn statements(&mut self, statements: &'p [Statement<'s>]) -> Lower<Vec<Stmt>> {
        let mut lowered = Vec::with_capacity(statements.len());
        for statement in statements {
            lowered.extend(self.site(statement).map(Stmt::Reach));
            let around = self.line;
            self.line = line_of(statement, self.parsed.source);
            let made = self.statement(statement, &mut lowered);
            self.line = around;
            lowered.push(made?);
            if self.parsed.has_blocks && self.functions.is_outermost() {
                self.export(statement, &mut lowered);
            }
        }
        Ok(lowered)
    }

    /// Hands what the template itself assigns to its named blocks (`pop_assign_tracking`).
    fn export(&mut self, statement: &Statement<'s>, lowered: &mut Vec<Stmt>) {
        let mut add = |name: &'s str| {
            let place = self.functions.find(name);
            lowered.push(Stmt::Export(self.functions.global(name), place));
        };
        match statement {
            Statement::Macro(node) => add(node.name),
            Statement::Set(node) => names(&node.target, &mut add),
            Statement::SetBlock(node) => names(&node.target, &mut add),
            _ => {}
        }
    }

    #[allow(clippy::too_many_lines)] // one arm for each statement of the language
    fn statement(&mut self, statement: &'p Statement<'s>, before: &mut Vec<Stmt>) -> Lower<Stmt> {
        Ok(match statement {
            Statement::EmitRaw(node) => {
                self.code.text_len += node.raw.len();
                let place = self.place(node.raw);
                let Some(literals) = &mut self.literals else {
                    return Ok(Stmt::Text(place));
                };
                let text = Value::from_safe_string(node.raw.to_owned());
                let text = provenance::literal(&text, place, literals);
                Stmt::Write(at(node.span(), Kind::Constant(text)))
            }
            Statement::EmitExpr(node) => {
                // Jinja2 evaluates everything within a constant by the rules for constants.
                self.is_constant = is_constant(&node.expr);
                let expr = self.expr(&node.expr);
                self.is_constant = false;
                Stmt::Write(expr?)
            }
            Statement::ForLoop(node) => self.for_loop(node)?,
            Statement::IfCond(node) => self.soft(|inner| {
                let condition = inner.expr(&node.expr)?;
                inner.functions.condition(true);
                let yes = inner.statements(&node.true_body)?;
                let no = inner.statements(&node.false_body)?;
                inner.functions.condition(false);
                Ok(Stmt::If(condition, yes, no))
            })?,
            Statement::Set(node) => {
                let value = self.expr(&node.expr)?;
                Stmt::Set(self.target(&node.target)?, value)
            }
            Statement::WithBlock(node) => self.with_block(&node.assignments, &node.body)?,
            Statement::SetBlock(node) => {
                let filter = node.filter.as_ref();
                let (capture, value) = self.captured(&node.body, filter, node.span())?;
                before.push(capture);
                Stmt::Set(self.target(&node.target)?, value)
            }
            Statement::FilterBlock(node) => {
                let filter = Some(&node.filter);
                let (capture, value) = self.captured(&node.body, filter, node.span())?;
                before.push(capture);
                Stmt::WriteText(value)
            }
            Statement::AutoEscape(node) => {
                self.functions.enter(&[]);
                let (enabled, statements) = self.hard(|inner| {
                    Ok((inner.expr(&node.enabled)?, inner.statements(&node.body)?))
                })?;
                Stmt::AutoEscape(enabled, Box::new(self.functions.leave(statements)))
            }
            Statement::Macro(node) => {
                let place = self.functions.assigned(node.name);
                Stmt::Macro(self.function(node, node.name)?, place)
            }
            Statement::CallBlock(node) => self.call_block(node, before)?,
            Statement::Block(node) if node.required => {
                let message = format!("Required block '{}' not found", node.name);
                let kind = Kind::Fail(ErrorKind::InvalidOperation, message, Args::default());
                Stmt::Write(at(node.span(), kind))
            }
            Statement::Block(node) => {
                let number = self.code.functions.len();
                self.code.functions.push(Function::default());
                self.code.blocks.insert(node.name.into(), number);
                self.blocks.push((number, &node.body));
                let is_scoped = self.parsed.scoped.contains(&node.name);
                let seen = is_scoped.then(|| self.functions.around());
                Stmt::Block(number, seen.unwrap_or_default())
            }
            Statement::Break(_) => Stmt::Break,
            Statement::Continue(_) => Stmt::Continue,
            // Without a loader Jinja2 fails before it looks for the template.
            Statement::Extends(node) => self.missing(&node.name, node.span())?,
            Statement::Include(node) => self.missing(&node.name, node.span())?,
            Statement::Import(node) => self.missing(&node.expr, node.span())?,
            Statement::FromImport(node) => self.missing(&node.expr, node.span())?,
            Statement::Template(_) | Statement::Do(_) => {
                let message = "a tag that this engine does not know";
                return Err(Error::new(ErrorKind::SyntaxError, message));
            }
        })
    }

    /// A tag that evaluates the name of another template and then fails.
    fn missing(&mut self, name: &'p Node<'s>, span: Span) -> Lower<Stmt> {
        let message = "no loader for this environment specified".to_owned();
        let args = Args {
            positional: vec![Arg::One(self.expr(name)?)],
            named: Vec::new(),
        };
        let kind = Kind::Fail(ErrorKind::TemplateNotFound, message, args);
        Ok(Stmt::Write(at(span, kind)))
    }

    /// Where a part of the source is in it. A name that the engine itself gives to something is in no
    /// source, and nothing asks for its place.
    fn place(&self, part: &str) -> Range<usize> {
        let source = self.parsed.source.as_ptr().addr();
        let start = part.as_ptr().addr().saturating_sub(source);
        start..start + part.len()
    }

    /// A constant. If it is a text, an instrumented form knows its place: what is between its
    /// quotation marks, or all of it if that is not there as it is.
    fn literal(&mut self, value: &Value, span: Span) -> Value {
        let (Some(literals), Some(text)) = (&mut self.literals, value.as_str()) else {
            return value.clone();
        };
        let whole = span.start_offset as usize..span.end_offset as usize;
        let inner = whole.start + 1..whole.end.saturating_sub(1);
        let is_verbatim = self.parsed.source.get(inner.clone()) == Some(text);
        provenance::literal(value, if is_verbatim { inner } else { whole }, literals)
    }

    fn for_loop(&mut self, node: &'p Spanned<ForLoop<'s>>) -> Lower<Stmt> {
        let iter = self.expr(&node.iter)?;
        // Python makes a function of a loop that calls itself.
        let function = node.recursive.then(|| self.open(false));
        let is_extended = node.recursive
            || self.reads(&node.body, "loop")
            || node
                .body
                .iter()
                .chain(&node.else_body)
                .any(|inner| self.has_scoped(inner));
        let mut given: Vec<&'s str> = Vec::new();
        names(&node.target, &mut |name| given.push(name));
        let (mut condition, mut choice) = (None, None);
        if let Some(filter) = &node.filter_expr {
            // The variable `loop` may look for the next item at any time.
            choice = is_extended.then(|| self.open(false));
            self.functions.enter(&given);
            let target = self.target(&node.target)?;
            let chosen = self.hard(|inner| inner.expr(filter))?;
            let mut body = self.functions.leave(Vec::new());
            match choice {
                None => condition = Some(chosen),
                Some(number) => {
                    body.statements.push(Stmt::Choose(target, chosen));
                    self.code.functions[number] = self.close(body);
                }
            }
        }
        given.extend(is_extended.then_some("loop"));
        self.functions.enter(&given);
        let target = self.target(&node.target)?;
        let statements = self.hard(|inner| inner.statements(&node.body))?;
        let object = is_extended.then(|| self.functions.assigned("loop"));
        let body = self.functions.leave(statements);
        self.functions.enter(&[]);
        let otherwise = self.scope(&node.else_body)?;
        let looped = |iter| {
            Stmt::For(Box::new(For {
                iter,
                target,
                object,
                condition,
                choice,
                body,
                otherwise,
                site: self.site(&**node),
            }))
        };
        let Some(number) = function else {
            return Ok(looped(iter));
        };
        let statement = looped(Expr {
            line: iter.line,
            kind: Kind::Constant(Value::UNDEFINED),
        });
        let body = Body {
            statements: vec![statement],
            ..Body::default()
        };
        self.code.functions[number] = self.close(body);
        Ok(Stmt::Recursive(iter, number))
    }

    /// Whether statements read `loop`, or an argument that each macro gets, and do not assign it first.
    fn reads(&self, statements: &[Statement<'s>], name: &str) -> bool {
        self.parsed.special.contains(&name) && reads(statements, name)
    }

    /// Whether there is a named block that sees the variables around it.
    fn has_scoped(&self, statement: &Statement<'s>) -> bool {
        let scoped = &self.parsed.scoped;
        let is_scoped = matches!(statement, Statement::Block(node) if scoped.contains(&node.name));
        let mut within = bodies(statement).into_iter().flatten();
        is_scoped || !scoped.is_empty() && within.any(|inner| self.has_scoped(inner))
    }

    /// `{% with %}` (Jinja2's `visit_With`)
    fn with_block(
        &mut self,
        assignments: &'p [(Node<'s>, Node<'s>)],
        body: &'p [Statement<'s>],
    ) -> Lower<Stmt> {
        let mut values = Vec::new();
        let mut given = Vec::new();
        for (target, value) in assignments {
            values.push(self.expr(value)?);
            names(target, &mut |name| given.push(name));
        }
        self.functions.enter(&given);
        let (targets, statements) = self.hard(|inner| {
            let targets = assignments.iter().map(|(target, _)| inner.target(target));
            let targets = targets.collect::<Lower<Vec<_>>>()?;
            Ok((targets, inner.statements(body)?))
        })?;
        let body = self.functions.leave(statements);
        Ok(Stmt::With(targets.into_iter().zip(values).collect(), body))
    }

    /// The function of a macro or a call block. It gets the special arguments `caller`, `kwargs` and
    /// `varargs` if its body uses them. In a default they are ordinary variables (Jinja2's compiler.py,
    /// `macro_body`).
    fn function(&mut self, node: &'p Spanned<Macro<'s>>, name: &str) -> Lower<usize> {
        let required = node.args.len() - node.defaults.len();
        let mut given: Vec<&'s str> = Vec::new();
        for argument in &node.args {
            names(argument, &mut |name| given.push(name));
        }
        let arguments = given.iter().map(|name| (*name).to_owned()).collect();
        let is_read = SPECIAL.map(|name| self.reads(&node.body, name));
        if is_read[0] && given[..required].contains(&CALLER) {
            let message = "When defining macros or call blocks the special \"caller\" argument must \
                           be omitted or be given a default.";
            return Err(syntax_error_at(message, node.span()));
        }
        let is_special = |at: usize| is_read[at] && !given.contains(&SPECIAL[at]);
        let signature = Signature {
            name: name.to_owned(),
            arguments,
            required,
            reads_caller: is_read[0],
            takes_kwargs: is_special(1),
            takes_varargs: is_special(2),
        };
        let special: Vec<_> = (0..3)
            .filter(|at| is_special(*at))
            .map(|at| SPECIAL[at])
            .collect();
        given.extend(special);
        let number = self.open(!name.is_empty());
        self.functions.enter(&given);
        let defaults = self.hard(|inner| inner.exprs(&node.defaults))?;
        let statements = self.hard(|inner| inner.statements(&node.body))?;
        let places: Vec<_> = given
            .iter()
            .map(|name| self.functions.assigned(name))
            .collect();
        let first = (0..required).map(|_| None);
        let defaults = first.chain(defaults.into_iter().map(Some));
        let defaults = defaults.chain(std::iter::repeat_with(|| None));
        let body = self.functions.leave(statements);
        self.code.functions[number] = Function {
            signature: Some(Arc::new(signature)),
            parameters: places.into_iter().zip(defaults).collect(),
            site: self.site(&**node),
            ..self.close(body)
        };
        Ok(number)
    }

    /// A call block: a macro of its own, which is handed over as `caller`.
    fn call_block(
        &mut self,
        node: &'p Spanned<CallBlock<'s>>,
        before: &mut Vec<Stmt>,
    ) -> Lower<Stmt> {
        let function = self.function(&node.macro_decl, "")?;
        if matches!(&node.call.expr, Node::Var(called) if called.id == GENERATION) {
            return Ok(Stmt::Generation(function));
        }
        let place = Place::Slot(self.functions.slot());
        let caller = at(node.span(), variable(place));
        before.push(Stmt::Macro(function, place));
        let call = self.call(&node.call, Some(caller))?;
        Ok(Stmt::WriteText(at(node.call.span(), call)))
    }

    fn target(&mut self, target: &'p Node<'s>) -> Lower<Target> {
        Ok(match target {
            Node::Var(node) => Target::Variable(self.functions.assigned(node.id)),
            Node::List(node) => {
                let items = node.items.iter().map(|item| self.target(item));
                Target::Several(items.collect::<Lower<_>>()?)
            }
            Node::GetAttr(node) => {
                Target::Attribute(Box::new(self.expr(&node.expr)?), node.name.into())
            }
            other => {
                return Err(syntax_error_at(
                    "cannot assign to an expression",
                    other.span(),
                ));
            }
        })
    }

    fn optional(&mut self, node: Option<&'p Node<'s>>) -> Lower<Option<Expr>> {
        node.map(|node| self.expr(node)).transpose()
    }

    fn exprs(&mut self, nodes: &'p [Node<'s>]) -> Lower<Vec<Expr>> {
        nodes.iter().map(|node| self.expr(node)).collect()
    }

    fn both(&mut self, one: &'p Node<'s>, other: &'p Node<'s>) -> Lower<Box<[Expr; 2]>> {
        Ok(Box::new([self.expr(one)?, self.expr(other)?]))
    }

    fn expr(&mut self, node: &'p Node<'s>) -> Lower<Expr> {
        let kind = self.expr_alone(node)?;
        let line = self.line;
        let expr = Expr { line, kind };
        let Some(site) = self.site(node) else {
            return Ok(expr);
        };
        let kind = Kind::Decide(site, Box::new(expr));
        Ok(Expr { line, kind })
    }

    fn expr_alone(&mut self, node: &'p Node<'s>) -> Lower<Kind> {
        if !self.parsed.has_infinity || self.is_constant || !is_constant(node) {
            return self.kind(node);
        }
        // A value that cannot be sliced is not a constant, alone or in a list. Jinja2 then looks at
        // each item.
        self.is_constant = !matches!(
            node,
            Node::Slice(_) | Node::List(_) | Node::Tuple(_) | Node::Map(_)
        );
        let kind = self.kind(node);
        self.is_constant = false;
        let kind = kind?;
        let Some(name) = unknown_number(node) else {
            return Ok(kind);
        };
        let message = format!("name '{name}' is not defined");
        Ok(Kind::Fail(
            ErrorKind::InvalidOperation,
            message,
            Args::default(),
        ))
    }

    fn kind(&mut self, node: &'p Node<'s>) -> Lower<Kind> {
        Ok(match node {
            Node::Var(node) => {
                let (place, is_given) = self.functions.look_up(node.id);
                Kind::Variable(Variable {
                    place,
                    name: self.place(node.id),
                    is_given,
                })
            }
            Node::Const(node) => Kind::Constant(self.literal(&node.value, node.span())),
            Node::Slice(node) => self.slice(node)?,
            Node::UnaryOp(node) => {
                let inner = Box::new(self.expr(&node.expr)?);
                match (&node.op, &inner.kind) {
                    (UnaryOpKind::Not, _) => Kind::Not(inner),
                    (UnaryOpKind::Neg, Kind::Constant(value)) if value.is_number() => {
                        match negated(value) {
                            Ok(value) => Kind::Constant(value),
                            Err(_) => Kind::Negate(inner),
                        }
                    }
                    (UnaryOpKind::Neg, _) => Kind::Negate(inner),
                }
            }
            Node::BinOp(node) => self.binary(node)?,
            Node::Compare(node) => self.comparison(node)?,
            Node::IfExpr(node) => self.soft(|inner| {
                let test = inner.expr(&node.test_expr)?;
                let yes = inner.expr(&node.true_expr)?;
                let no = match &node.false_expr {
                    Some(no) => inner.expr(no)?,
                    None => at(node.span(), Kind::Missing(node.span().start_line)),
                };
                Ok(Kind::Choice(Box::new([test, yes, no])))
            })?,
            Node::Filter(node) => {
                let of = match (&node.expr, self.captured) {
                    (None, Some(place)) => Some(at(node.span(), variable(place))),
                    (of, _) => self.optional(of.as_ref())?,
                };
                let taken = other_names(node.expr.as_ref(), &node.args);
                let args = self.args(of, &node.args, &taken, None)?;
                match vocabulary::filter(node.name) {
                    Some(filter) => Kind::Filter(filter, args),
                    None => self.unknown("filter", node.name, args, node.span())?,
                }
            }
            Node::Test(node) => {
                let of = self.expr(&node.expr)?;
                let taken = other_names(Some(&node.expr), &node.args);
                let args = self.args(Some(of), &node.args, &taken, None)?;
                match vocabulary::test(node.name) {
                    Some(test) => Kind::Test(test, args),
                    None => self.unknown("test", node.name, args, node.span())?,
                }
            }
            Node::GetAttr(node) => self.attribute(node)?,
            Node::GetItem(node) => self.item(node)?,
            Node::Call(node) => self.call(node, None)?,
            Node::List(node) => {
                let items = self.exprs(&node.items)?;
                match constants(&items) {
                    Some(items) => Kind::Constant(Value::from(items)),
                    None => Kind::List(items),
                }
            }
            Node::Tuple(node) => {
                let items = self.exprs(&node.items)?;
                match constants(&items) {
                    Some(items) => Kind::Constant(Value::from(Tuple::from(items))),
                    None => Kind::Tuple(items),
                }
            }
            Node::Map(node) => {
                let (keys, values) = (self.exprs(&node.keys)?, self.exprs(&node.values)?);
                let pairs = constants(&keys).zip(constants(&values));
                let pairs = pairs.map(|(keys, values)| keys.into_iter().zip(values).collect());
                match pairs.map(literals::map) {
                    Some(Ok(map)) => Kind::Constant(map),
                    _ => Kind::Map(keys.into_iter().zip(values).collect()),
                }
            }
        })
    }

    /// Whether an expression is the variable `self`, to which the template assigns nothing.
    fn is_template(&mut self, node: &Node<'s>) -> bool {
        let is_given = |place| matches!(place, Place::Global(_) | Place::Context(_));
        is_self(node) && is_given(self.functions.find("self"))
    }

    fn attribute(&mut self, node: &'p Spanned<GetAttr<'s>>) -> Lower<Kind> {
        // `self` has nothing but the template's blocks.
        if self.is_template(&node.expr) {
            return Ok(Kind::Constant(Value::UNDEFINED));
        }
        let of = Box::new(self.expr(&node.expr)?);
        let name = node.name.into();
        Ok(match node.name {
            _ if is_loop_variable(&node.expr) => Kind::LoopField(of, name),
            name_ if is_method(name_) => Kind::Member(of, name),
            _ => Kind::Attribute(of, name),
        })
    }

    /// An item. One with a short text as its key, which is no method's name, is the attribute.
    fn item(&mut self, node: &'p Spanned<GetItem<'s>>) -> Lower<Kind> {
        if is_plain_key(&node.subscript_expr)
            && let Node::Const(key) = &node.subscript_expr
            && let Some(name) = key.value.as_str()
        {
            return Ok(Kind::Attribute(
                Box::new(self.expr(&node.expr)?),
                name.into(),
            ));
        }
        Ok(Kind::Item(self.both(&node.expr, &node.subscript_expr)?))
    }

    fn slice(&mut self, node: &'p Spanned<Slice<'s>>) -> Lower<Kind> {
        if let Node::Const(of) = &node.expr
            && of.value.is_undefined()
        {
            // A slice within a tuple that is a key: `a[1:, 2]`. Python has no such tuple, so its
            // compiler refuses Jinja2's code, unless Jinja2 has already evaluated the key. Then no
            // value has this key, because it has no hash. An empty list has no hash either.
            if self.is_constant {
                return Ok(Kind::Constant(Value::from(Vec::<Value>::new())));
            }
            return Err(syntax_error_at("invalid syntax", node.span()));
        }
        let mut bound = |bound: &'p Option<Node<'s>>| match bound {
            Some(bound) => self.expr(bound),
            None => Ok(at(node.span(), Kind::Constant(Value::from(())))),
        };
        let [start, end, step] = [bound(&node.start)?, bound(&node.stop)?, bound(&node.step)?];
        let parts = Box::new([self.expr(&node.expr)?, start, end, step]);
        Ok(Kind::Slice(parts, self.is_constant))
    }

    /// A filter or a test that Jinja2 does not know. Within a condition it fails when it is
    /// used, elsewhere at once.
    fn unknown(&self, what: &str, name: &str, args: Args, span: Span) -> Lower<Kind> {
        let message = format!("No {what} named {}", text::repr(&Value::from(name)));
        if !self.is_soft {
            return Err(syntax_error_at(format!("{message}."), span));
        }
        // Its arguments are evaluated before it fails.
        let message = format!("{message} found.");
        Ok(Kind::Fail(ErrorKind::InvalidOperation, message, args))
    }

    /// The arguments of a call. A `**dictionary` must not repeat the names that are taken.
    fn args(
        &mut self,
        of: Option<Expr>,
        nodes: &'p [CallArg<'s>],
        taken: &[&'s str],
        caller: Option<Expr>,
    ) -> Lower<Args> {
        let mut args = Args::default();
        args.positional
            .reserve_exact(nodes.len() + usize::from(of.is_some()));
        args.positional.extend(of.map(Arg::One));
        for node in nodes {
            match node {
                CallArg::Pos(value) => args.positional.push(Arg::One(self.expr(value)?)),
                CallArg::PosSplat(value) => args.positional.push(Arg::Splat(self.expr(value)?)),
                CallArg::Kwarg(name, value) => {
                    let value = self.expr(value)?;
                    args.named.push(NamedArg::One((*name).into(), value));
                }
                CallArg::KwargSplat(value) => {
                    let value = self.expr(value)?;
                    let taken = taken.iter().map(|name| Value::from(*name)).collect();
                    args.named.push(NamedArg::Splat(value, taken));
                }
            }
        }
        args.named
            .extend(caller.map(|caller| NamedArg::One(CALLER.into(), caller)));
        let constants = args.named.iter().map(|arg| match arg {
            NamedArg::One(
                name,
                Expr {
                    kind: Kind::Constant(value),
                    ..
                },
            ) => Some((name.to_string(), value.clone())),
            _ => None,
        });
        if let Some(named) = constants.collect::<Option<Vec<_>>>()
            && !named.is_empty()
        {
            args.named.clear();
            let named = Value::from(named.into_iter().collect::<Kwargs>());
            let named = at(Span::default(), Kind::Constant(named));
            args.positional.push(Arg::One(named));
        }
        Ok(args)
    }

    /// A call. A call block gives it a caller.
    fn call(&mut self, node: &'p Spanned<Call<'s>>, caller: Option<Expr>) -> Lower<Kind> {
        if let Node::GetAttr(attribute) = &node.expr
            && self.is_template(&attribute.expr)
        {
            return Ok(Kind::Block(attribute.name.into()));
        }
        let others: &[&str] = if caller.is_some() { &[CALLER] } else { &[] };
        let taken = named(&node.args, others);
        Ok(match &node.expr {
            Node::GetAttr(attribute) => {
                let of = Box::new(self.expr(&attribute.expr)?);
                let args = self.args(None, &node.args, &taken, caller)?;
                Kind::Method(of, attribute.name.into(), args)
            }
            other => {
                let of = Box::new(self.expr(other)?);
                Kind::Call(of, self.args(None, &node.args, &taken, caller)?)
            }
        })
    }

    fn binary(&mut self, node: &'p Spanned<BinOp<'s>>) -> Lower<Kind> {
        let operator = match node.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                let left = self.expr(&node.left)?;
                // Where a literal decides, Jinja2 forgets the rest before it looks for filters.
                let is_or = matches!(node.op, BinOpKind::ScOr);
                let was_soft = self.is_soft;
                self.is_soft |= literal_truth(&node.left) == Some(is_or);
                let right = self.expr(&node.right);
                self.is_soft = was_soft;
                let both = Box::new([left, right?]);
                return Ok(if is_or {
                    Kind::Or(both)
                } else {
                    Kind::And(both)
                });
            }
            BinOpKind::Eq => Operator::Equal,
            BinOpKind::Ne => Operator::NotEqual,
            BinOpKind::Lt => Operator::Less,
            BinOpKind::Lte => Operator::LessOrEqual,
            BinOpKind::Gt => Operator::Greater,
            BinOpKind::Gte => Operator::GreaterOrEqual,
            BinOpKind::In => Operator::In,
            BinOpKind::Add => return self.join(node, Operator::Add),
            BinOpKind::Concat => return self.join(node, Operator::Concat),
            BinOpKind::Sub => Operator::Subtract,
            BinOpKind::Mul => Operator::Multiply,
            BinOpKind::Div => Operator::Divide,
            BinOpKind::FloorDiv => Operator::FloorDivide,
            BinOpKind::Rem => Operator::Modulo,
            BinOpKind::Pow => Operator::Power,
        };
        if operator.compares() {
            let left = Box::new(self.expr(&node.left)?);
            let right = self.expr(&node.right)?;
            return Ok(Kind::Compare(left, vec![(operator, right)]));
        }
        Ok(Kind::Binary(operator, self.both(&node.left, &node.right)?))
    }

    /// `a + b + c` and `a ~ b ~ c`: all operands are joined at once. But if `b` or `c` of a sum may
    /// fail, they are evaluated one by one, because `a + b` may fail before `c` is evaluated.
    fn join(&mut self, node: &'p Spanned<BinOp<'s>>, operator: Operator) -> Lower<Kind> {
        let is_sum = operator == Operator::Add;
        let mut operands = Vec::with_capacity(8);
        operands.push(&node.right);
        let mut left = &node.left;
        while let Node::BinOp(inner) = left
            && std::mem::discriminant(&inner.op) == std::mem::discriminant(&node.op)
            && operands.iter().all(|right| !is_sum || is_lookup(right))
        {
            operands.push(&inner.right);
            left = &inner.left;
        }
        operands.push(left);
        let operands = operands.into_iter().rev();
        let operands = operands.map(|operand| self.expr(operand));
        Ok(Kind::Join(operator, operands.collect::<Lower<_>>()?))
    }

    fn comparison(&mut self, node: &'p Spanned<Compare<'s>>) -> Lower<Kind> {
        let first = Box::new(self.expr(&node.expr)?);
        let mut rest = Vec::new();
        for op in &node.ops {
            rest.push((comparing(op.op), self.expr(&op.expr)?));
        }
        Ok(Kind::Compare(first, rest))
    }
}

fn at(span: Span, kind: Kind) -> Expr {
    Expr {
        line: span.start_line,
        kind,
    }
}

/// A variable without a name.
fn variable(place: Place) -> Kind {
    Kind::Variable(Variable {
        place,
        name: 0..0,
        is_given: true,
    })
}

/// The values of expressions that are all constants.
fn constants(items: &[Expr]) -> Option<Vec<Value>> {
    let values = items.iter().map(|item| match &item.kind {
        Kind::Constant(value) => Some(value.clone()),
        _ => None,
    });
    values.collect()
}

/// The names of a call's arguments, and other names. A `**dictionary` of the call must not repeat
/// them. Empty if a name is a Python keyword: Jinja2 then makes one dictionary of all, in which the
/// last one of each name counts (compiler.py, `signature`).
fn named<'s>(arguments: &[CallArg<'s>], others: &[&'s str]) -> Vec<&'s str> {
    let is_dictionary = |argument: &CallArg<'_>| matches!(argument, CallArg::KwargSplat(_));
    if !arguments.iter().any(is_dictionary) {
        return Vec::new();
    }
    let names = arguments.iter().filter_map(|argument| match argument {
        CallArg::Kwarg(name, _) => Some(*name),
        _ => None,
    });
    let names: Vec<&str> = names.chain(others.iter().copied()).collect();
    if names.iter().any(|name| is_keyword(name)) {
        return Vec::new();
    }
    names
}

/// The names of the arguments of a filter or a test. If all of its input is constant, Jinja2 calls
/// it when it compiles, and the last argument of each name counts (`args_as_const`).
fn other_names<'s>(of: Option<&Node<'s>>, arguments: &[CallArg<'s>]) -> Vec<&'s str> {
    let names = named(arguments, &[]);
    if !names.is_empty()
        && of.is_some_and(is_constant)
        && arguments.iter().map(given).all(is_constant)
    {
        return Vec::new();
    }
    names
}

fn comparing(op: CompareOpKind) -> Operator {
    match op {
        CompareOpKind::Eq => Operator::Equal,
        CompareOpKind::Ne => Operator::NotEqual,
        CompareOpKind::Lt => Operator::Less,
        CompareOpKind::Lte => Operator::LessOrEqual,
        CompareOpKind::Gt => Operator::Greater,
        CompareOpKind::Gte => Operator::GreaterOrEqual,
        CompareOpKind::In => Operator::In,
        CompareOpKind::NotIn => Operator::NotIn,
    }
}
