//! The statements of a template, by the grammar of Jinja2 3.1.6 (`parser.py`) with the tags
//! that transformers adds: `break`, `continue` and `generation`.
//!
//! Some rules come from Jinja2's compiler, and some from Python's compiler, which compiles Jinja2's
//! code. A template that breaks one also fails when it is loaded.

use minijinja::Error;
use minijinja::machinery::Span;
use minijinja::machinery::ast::{
    AutoEscape, Block, Break, Call, CallArg, CallBlock, Continue, EmitExpr, EmitRaw, Expr, Extends,
    FilterBlock, ForLoop, FromImport, GetAttr, IfCond, Import, Include, List, Macro, Set, SetBlock,
    Spanned, Stmt, Template, WithBlock,
};

use crate::compile::grammar::expressions::{
    Tuples, expression, filter_chain, filters, repeated, tuple_or_expression,
};
use crate::compile::grammar::stream::Stream;
use crate::compile::grammar::tokens::Token;
use crate::compile::nodes::{emit, variable};
use crate::library::functions::GENERATION;

/// The syntax tree of a template, and other results of parsing.
pub(crate) struct Parsed<'s> {
    pub(crate) source: &'s str,
    pub(crate) template: Stmt<'s>,
    /// Whether there is a named block.
    pub(crate) has_blocks: bool,
    /// The names of the blocks that see the variables around them.
    pub(crate) scoped: Vec<&'s str>,
    /// Whether there is a number that is too large for a float, or a text that may become one.
    pub(crate) has_infinity: bool,
    /// The variables among `loop` and the arguments that macros get besides their own.
    pub(crate) special: Vec<&'s str>,
}

pub(super) fn template(source: &str) -> Result<Parsed<'_>, Error> {
    let mut parser = Parser {
        stream: Stream::new(source)?,
        tags: Vec::new(),
        ends: Vec::new(),
        blocks: Vec::new(),
        scoped: Vec::new(),
        can_break: false,
        in_loop: false,
    };
    let span = parser.stream.span();
    let children = parser.statements_until(&[])?;
    let span = parser.stream.until_here(span);
    Ok(Parsed {
        source,
        template: Stmt::Template(Spanned::new(Template { children }, span)),
        has_blocks: !parser.blocks.is_empty(),
        scoped: parser.scoped,
        has_infinity: parser.stream.has_infinity(),
        special: parser.stream.special,
    })
}

struct Parser<'s> {
    stream: Stream<'s>,
    tags: Vec<&'s str>,
    /// The tags that can end each of the open ones.
    ends: Vec<&'static [&'static str]>,
    /// The names of the blocks until now.
    blocks: Vec<&'s str>,
    scoped: Vec<&'s str>,
    /// Whether `break` and `continue` have a loop to leave.
    can_break: bool,
    /// Whether a loop is around the statement, however far.
    in_loop: bool,
}

impl<'s> Parser<'s> {
    /// Reads statements until a tag that ends them. The tag's name is then the next token.
    fn statements_until(&mut self, ends: &'static [&'static str]) -> Result<Vec<Stmt<'s>>, Error> {
        let mut statements = Vec::new();
        loop {
            let span = self.stream.span();
            match self.stream.take()? {
                Token::Text(raw) => {
                    statements.push(Stmt::EmitRaw(Spanned::new(EmitRaw { raw }, span)));
                }
                Token::PrintBegin => {
                    let expr = tuple_or_expression(&mut self.stream, Tuples::Plain)?;
                    let node = self.stream.node(EmitExpr { expr }, span);
                    statements.push(Stmt::EmitExpr(node));
                    self.stream.expect_end(&Token::PrintEnd)?;
                }
                Token::BlockBegin => {
                    if let Token::Name(name) = self.stream.current()
                        && ends.contains(name)
                    {
                        return Ok(statements);
                    }
                    self.tag(&mut statements)?;
                    self.stream.expect_end(&Token::BlockEnd)?;
                }
                _ if ends.is_empty() => return Ok(statements),
                _ => return Err(self.unclosed(ends)),
            }
        }
    }

    /// The statements in a tag that is open, which begin with the end of its first part. A
    /// colon before that end is skipped, as in Python.
    fn body(&mut self, ends: &'static [&'static str]) -> Result<Vec<Stmt<'s>>, Error> {
        self.stream.skip_sign(":")?;
        self.stream.expect_end(&Token::BlockEnd)?;
        self.ends.push(ends);
        let body = self.statements_until(ends);
        self.ends.pop();
        body
    }

    /// The statements in a tag that only one other can end, which is taken.
    fn whole_body(&mut self, ends: &'static [&'static str]) -> Result<Vec<Stmt<'s>>, Error> {
        let body = self.body(ends)?;
        self.stream.advance()?;
        Ok(body)
    }

    /// The statements of a separate function. They cannot leave a loop around it.
    fn function(&mut self, ends: &'static [&'static str]) -> Result<Vec<Stmt<'s>>, Error> {
        let could_break = std::mem::replace(&mut self.can_break, false);
        let body = self.whole_body(ends);
        self.can_break = could_break;
        body
    }

    /// The error of a template that ends before a tag is closed.
    fn unclosed(&self, ends: &[&str]) -> Error {
        let found = "Unexpected end of template.";
        let looking = format!(
            "Jinja was looking for the following tags: {}.",
            listed(ends)
        );
        self.nesting_error(&[found, &looking])
    }

    /// The error of a tag that is unknown or not allowed here.
    fn unknown(&self, name: &str) -> Error {
        let found = format!("Encountered unknown tag '{name}'.");
        let Some(ends) = self.ends.last() else {
            return self.nesting_error(&[&found]);
        };
        let is_expected = self.ends.iter().any(|ends| ends.contains(&name));
        let looking = if is_expected {
            format!(
                "You probably made a nesting mistake. Jinja is expecting this tag, but currently \
                 looking for {}.",
                listed(ends)
            )
        } else {
            format!(
                "Jinja was looking for the following tags: {}.",
                listed(ends)
            )
        };
        self.nesting_error(&[&found, &looking])
    }

    /// An error of these sentences, and one that names the tag that is open.
    fn nesting_error(&self, sentences: &[&str]) -> Error {
        let open = self.tags.last();
        let open =
            open.map(|tag| format!("The innermost block that needs to be closed is '{tag}'."));
        let sentences: Vec<&str> = sentences.iter().copied().chain(open.as_deref()).collect();
        self.stream.error(sentences.join(" "))
    }

    /// A tag, whose name is the next token.
    fn tag(&mut self, statements: &mut Vec<Stmt<'s>>) -> Result<(), Error> {
        let span = self.stream.span();
        let Token::Name(tag) = *self.stream.current() else {
            return Err(self.stream.error("tag name expected"));
        };
        if !TAGS.contains(&tag) {
            return Err(self.unknown(tag));
        }
        self.stream.advance()?;
        self.tags.push(tag);
        let statement = match tag {
            "print" => self.print(statements).map(|()| None),
            tag => self.nested(tag, span).map(Some),
        };
        self.tags.pop();
        statements.extend(statement?);
        Ok(())
    }

    /// A tag, one level deeper.
    fn nested(&mut self, tag: &'s str, span: Span) -> Result<Stmt<'s>, Error> {
        self.stream.deeper()?;
        let statement = match tag {
            "for" => self.for_loop(span),
            "if" => self.condition(span),
            "with" => self.with_block(span),
            "set" => self.set(span),
            "macro" => self.macro_declaration(span),
            "call" => self.call_block(span),
            "filter" => self.filter_block(span),
            "autoescape" => self.autoescape(span),
            "block" => self.block(span),
            "generation" => self.generation(span),
            "break" => self.loop_control(Stmt::Break(Spanned::new(Break, span))),
            "continue" => self.loop_control(Stmt::Continue(Spanned::new(Continue, span))),
            _ => self.other_template(tag, span),
        };
        self.stream.shallower();
        statement
    }

    /// `{% print a, b %}`
    fn print(&mut self, statements: &mut Vec<Stmt<'s>>) -> Result<(), Error> {
        let mut is_first = true;
        while *self.stream.current() != Token::BlockEnd {
            if !std::mem::replace(&mut is_first, false) {
                self.stream.expect_sign(",")?;
            }
            let span = self.stream.span();
            let expr = expression(&mut self.stream)?;
            statements.push(emit(expr, self.stream.until_here(span)));
        }
        Ok(())
    }

    /// `{% for a in b if c recursive %}`
    fn for_loop(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let target = self.target(Tuples::Target)?;
        if stores(&target, "loop") {
            return Err(self.special_loop());
        }
        self.stream.expect_keyword("in")?;
        let iter = tuple_or_expression(&mut self.stream, Tuples::WithoutCondition)?;
        let filter_expr = if self.stream.skip_name("if")? {
            Some(expression(&mut self.stream)?)
        } else {
            None
        };
        let recursive = self.stream.skip_name("recursive")?;
        let could_break = std::mem::replace(&mut self.can_break, true);
        let was_in_loop = std::mem::replace(&mut self.in_loop, true);
        let body = self.body(&["endfor", "else"])?;
        // Only the loop around this one can be left from here, and a loop that calls itself
        // is a function of its own.
        self.can_break = could_break && !recursive;
        let else_body = match self.stream.take()? {
            Token::Name("else") => self.whole_body(&["endfor"])?,
            _ => Vec::new(),
        };
        self.can_break = could_break;
        self.in_loop = was_in_loop;
        let node = ForLoop {
            target,
            iter,
            filter_expr,
            recursive,
            body,
            else_body,
        };
        Ok(Stmt::ForLoop(self.stream.node(node, span)))
    }

    /// The error of an assignment to `loop` within a loop.
    fn special_loop(&self) -> Error {
        self.stream
            .error("Can't assign to special loop variable in for-loop target")
    }

    /// `{% if a %}`, and `{% elif b %}`, which is a condition within the other's `else`.
    fn condition(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let mut branches = Vec::new();
        let mut begin = span;
        let mut false_body = loop {
            let expr = tuple_or_expression(&mut self.stream, Tuples::WithoutCondition)?;
            let true_body = self.body(&["elif", "else", "endif"])?;
            branches.push((begin, expr, true_body));
            begin = self.stream.span();
            match self.stream.take()? {
                Token::Name("elif") => {}
                Token::Name("else") => break self.whole_body(&["endif"])?,
                _ => break Vec::new(),
            }
        };
        while branches.len() > 1 {
            if let Some((begin, expr, true_body)) = branches.pop() {
                let branch = IfCond {
                    expr,
                    true_body,
                    false_body,
                };
                false_body = vec![Stmt::IfCond(Spanned::new(branch, begin))];
            }
        }
        let Some((_, expr, true_body)) = branches.pop() else {
            return Err(self.stream.expected("if"));
        };
        let node = IfCond {
            expr,
            true_body,
            false_body,
        };
        Ok(Stmt::IfCond(self.stream.node(node, span)))
    }

    /// `{% with a = b, c = d %}`
    fn with_block(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let mut assignments = Vec::new();
        while *self.stream.current() != Token::BlockEnd {
            if !assignments.is_empty() {
                self.stream.expect_sign(",")?;
            }
            let target = self.target(Tuples::Target)?;
            self.stream.expect_sign("=")?;
            assignments.push((target, expression(&mut self.stream)?));
        }
        let body = self.whole_body(&["endwith"])?;
        let node = WithBlock { assignments, body };
        Ok(Stmt::WithBlock(self.stream.node(node, span)))
    }

    /// `{% set a = b %}`, or `{% set a | filter %}` with a body.
    fn set(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let target = self.target(Tuples::NamespaceTarget)?;
        if self.in_loop && stores(&target, "loop") {
            return Err(self.special_loop());
        }
        if self.stream.skip_sign("=")? {
            let expr = tuple_or_expression(&mut self.stream, Tuples::Plain)?;
            return Ok(Stmt::Set(self.stream.node(Set { target, expr }, span)));
        }
        let filter = if self.stream.is_sign("|") {
            Some(filters(&mut self.stream, None)?)
        } else {
            None
        };
        let node = SetBlock {
            target,
            filter,
            body: self.whole_body(&["endset"])?,
        };
        Ok(Stmt::SetBlock(self.stream.node(node, span)))
    }

    /// What a value is assigned to: a name, several of them, or an attribute of a namespace.
    fn target(&mut self, tuples: Tuples) -> Result<Expr<'s>, Error> {
        let parsed = tuple_or_expression(&mut self.stream, tuples)?;
        match parsed {
            Expr::Var(_) => Ok(parsed),
            _ => self.assignable(&parsed),
        }
    }

    /// The target that an expression is.
    fn assignable(&self, parsed: &Expr<'s>) -> Result<Expr<'s>, Error> {
        match parsed {
            Expr::Var(name) => Ok(variable(name.id, name.span())),
            Expr::GetAttr(attribute) => {
                let expr = self.assignable(&attribute.expr)?;
                let name = attribute.name;
                let node = GetAttr { expr, name };
                Ok(Expr::GetAttr(Spanned::new(node, attribute.span())))
            }
            Expr::Tuple(tuple) => {
                let items = tuple.items.iter();
                let items = items.map(|item| self.assignable(item));
                let items = items.collect::<Result<_, _>>()?;
                Ok(Expr::List(Spanned::new(List { items }, tuple.span())))
            }
            other => {
                let message = format!("can't assign to '{}'", other.description());
                Err(self.stream.error(message))
            }
        }
    }

    fn name(&mut self) -> Result<&'s str, Error> {
        let name = self.stream.expect_name()?;
        if ["true", "false", "none", "True", "False", "None"].contains(&name) {
            return Err(self.stream.error("can't assign to 'name'"));
        }
        Ok(name)
    }

    /// The arguments of a macro, and the defaults of the last of them.
    fn signature(&mut self) -> Result<(Vec<Expr<'s>>, Vec<Expr<'s>>), Error> {
        let (mut names, mut args, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
        self.stream.expect_sign("(")?;
        while !self.stream.is_sign(")") {
            if !args.is_empty() {
                self.stream.expect_sign(",")?;
            }
            let span = self.stream.span();
            let name = self.name()?;
            if names.contains(&name) {
                let message = format!("duplicate argument '{name}' in function definition");
                return Err(self.stream.error(message));
            }
            names.push(name);
            args.push(variable(name, span));
            if self.stream.skip_sign("=")? {
                defaults.push(expression(&mut self.stream)?);
            } else if !defaults.is_empty() {
                let message = "non-default argument follows default argument";
                return Err(self.stream.error(message));
            }
        }
        self.stream.expect_sign(")")?;
        Ok((args, defaults))
    }

    /// `{% macro name(a, b=c) %}`
    fn macro_declaration(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let name = self.name()?;
        let (args, defaults) = self.signature()?;
        let node = Macro {
            name,
            args,
            defaults,
            body: self.function(&["endmacro"])?,
        };
        Ok(Stmt::Macro(self.stream.node(node, span)))
    }

    /// `{% call(a) macro(b) %}`
    fn call_block(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let (args, defaults) = if self.stream.is_sign("(") {
            self.signature()?
        } else {
            (Vec::new(), Vec::new())
        };
        let Expr::Call(call) = expression(&mut self.stream)? else {
            return Err(self.stream.error("expected call"));
        };
        let names = call.args.iter().filter_map(|argument| match argument {
            CallArg::Kwarg(name, _) => Some(*name),
            _ => None,
        });
        // The block itself is handed over under this name.
        if let Some(name) = repeated(names.chain(["caller"])) {
            let message = format!("keyword argument repeated: {name}");
            return Err(self.stream.error(message));
        }
        let body = self.function(&["endcall"])?;
        Ok(self.called(call, args, defaults, body, span))
    }

    /// `{% generation %}`: transformers makes a call block of it (`chat_template_utils.py`,
    /// `AssistantTracker`), so that it has a scope of its own.
    fn generation(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let call = Call {
            expr: variable(GENERATION, span),
            args: Vec::new(),
        };
        let call = Spanned::new(call, span);
        let body = self.function(&["endgeneration"])?;
        Ok(self.called(call, Vec::new(), Vec::new(), body, span))
    }

    fn called(
        &self,
        call: Spanned<Call<'s>>,
        args: Vec<Expr<'s>>,
        defaults: Vec<Expr<'s>>,
        body: Vec<Stmt<'s>>,
        span: Span,
    ) -> Stmt<'s> {
        let span = self.stream.until_here(span);
        let macro_decl = Macro {
            name: "caller",
            args,
            defaults,
            body,
        };
        let macro_decl = Spanned::new(macro_decl, span);
        Stmt::CallBlock(Spanned::new(CallBlock { call, macro_decl }, span))
    }

    /// `{% filter a|b %}`
    fn filter_block(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let node = FilterBlock {
            filter: filter_chain(&mut self.stream)?,
            body: self.whole_body(&["endfilter"])?,
        };
        Ok(Stmt::FilterBlock(self.stream.node(node, span)))
    }

    /// `{% autoescape true %}`
    fn autoescape(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let node = AutoEscape {
            enabled: expression(&mut self.stream)?,
            body: self.whole_body(&["endautoescape"])?,
        };
        Ok(Stmt::AutoEscape(self.stream.node(node, span)))
    }

    /// `{% block name scoped required %}`
    fn block(&mut self, span: Span) -> Result<Stmt<'s>, Error> {
        let name = self.stream.expect_name()?;
        if self.stream.skip_name("scoped")? {
            self.scoped.push(name);
        }
        let required = self.stream.skip_name("required")?;
        if self.blocks.contains(&name) {
            let message = format!("block '{name}' defined twice");
            return Err(self.stream.error(message));
        }
        self.blocks.push(name);
        let body = self.function(&["endblock"])?;
        let is_blank = |statement: &Stmt<'_>| matches!(statement, Stmt::EmitRaw(text) if text.raw.trim().is_empty());
        if required && !body.iter().all(is_blank) {
            let message = "Required blocks can only contain comments or whitespace";
            return Err(self.stream.error(message));
        }
        self.stream.skip_name(name)?;
        let node = Block {
            name,
            required,
            body,
        };
        Ok(Stmt::Block(self.stream.node(node, span)))
    }

    /// `{% break %}` or `{% continue %}`
    fn loop_control(&self, statement: Stmt<'s>) -> Result<Stmt<'s>, Error> {
        if !self.can_break {
            return Err(self.stream.error("there is no loop to leave here"));
        }
        Ok(statement)
    }

    /// A tag that loads another template. There are no other templates, so it fails when it runs.
    fn other_template(&mut self, tag: &str, span: Span) -> Result<Stmt<'s>, Error> {
        let name = expression(&mut self.stream)?;
        match tag {
            "extends" => {
                // The last tag is this one. A condition has no scope of its own.
                let (_, around) = self.tags.split_last().unwrap_or((&"", &[]));
                if around.iter().any(|tag| *tag != "if") {
                    let message = "cannot use extend from a non top-level scope";
                    return Err(self.stream.error(message));
                }
                return Ok(Stmt::Extends(self.stream.node(Extends { name }, span)));
            }
            "import" => {
                self.stream.expect_keyword("as")?;
                let place = self.stream.span();
                let alias = self.name()?;
                self.context()?;
                let node = Import {
                    expr: name,
                    name: variable(alias, place),
                };
                return Ok(Stmt::Import(self.stream.node(node, span)));
            }
            "from" => {
                let names = self.imported()?;
                let node = FromImport { expr: name, names };
                return Ok(Stmt::FromImport(self.stream.node(node, span)));
            }
            _ => {}
        }
        let ignore_missing =
            self.stream.is_name("ignore") && *self.stream.look()? == Token::Name("missing");
        if ignore_missing {
            self.stream.advance()?;
            self.stream.advance()?;
        }
        self.context()?;
        let node = Include {
            name,
            ignore_missing,
        };
        Ok(Stmt::Include(self.stream.node(node, span)))
    }

    /// `with context` or `without context`, if it is next.
    fn context(&mut self) -> Result<bool, Error> {
        let is_next = (self.stream.is_name("with") || self.stream.is_name("without"))
            && *self.stream.look()? == Token::Name("context");
        if is_next {
            self.stream.advance()?;
            self.stream.advance()?;
        }
        Ok(is_next)
    }

    /// The names of `{% from a import b as c, d %}`.
    fn imported(&mut self) -> Result<Vec<Imported<'s>>, Error> {
        let mut names = Vec::new();
        self.stream.expect_keyword("import")?;
        loop {
            if !names.is_empty() {
                self.stream.expect_sign(",")?;
            }
            if self.context()? {
                return Ok(names);
            }
            let span = self.stream.span();
            let name = self.name()?;
            if name.starts_with('_') {
                let message = "names starting with an underline can not be imported";
                return Err(self.stream.error(message));
            }
            let alias = if self.stream.skip_name("as")? {
                let span = self.stream.span();
                Some(variable(self.name()?, span))
            } else {
                None
            };
            names.push((variable(name, span), alias));
            if self.context()? || !self.stream.is_sign(",") {
                return Ok(names);
            }
        }
    }
}

/// A name that is imported, and the name that it gets.
type Imported<'s> = (Expr<'s>, Option<Expr<'s>>);

/// The tags that a template may have, but for those within other tags.
const TAGS: [&str; 17] = [
    "autoescape",
    "block",
    "break",
    "call",
    "continue",
    "extends",
    "filter",
    "for",
    "from",
    "generation",
    "if",
    "import",
    "include",
    "macro",
    "print",
    "set",
    "with",
];

/// Whether a target has a name among its own.
fn stores(target: &Expr<'_>, name: &str) -> bool {
    match target {
        Expr::Var(variable) => variable.id == name,
        Expr::List(list) => list.items.iter().any(|item| stores(item, name)),
        _ => false,
    }
}

fn listed(tags: &[&str]) -> String {
    let quoted: Vec<String> = tags.iter().map(|tag| format!("'{tag}'")).collect();
    quoted.join(" or ")
}
