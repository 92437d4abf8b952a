//! Executes a tree: Go's text/template, with Ollama's values.
//!
//! Source: text/template/exec.go of Go 1.26, with `missingkey=zero`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use gotmpl::parse::{
    BranchNode, CommandNode, Expr, ListNode, Node, Number, PipeNode, Pos, SmolStr, TemplateNode,
};

use crate::error::Error;
use crate::format;
use crate::functions::{self, Parameter};
use crate::json;
use crate::meter::{Meter, Output, Sink, WriteResult};
use crate::sites::{Part, SiteRecorder, Sites};
use crate::tools;
use crate::trace::Trace;
use crate::values::{MapKind, Struct, StructKind, Text, Value};
use rolecall_core::{Moment, Recorder};

pub(crate) struct Execution<'t> {
    pub(crate) defines: &'t HashMap<SmolStr, ListNode>,
    pub(crate) surroundings: Surroundings,
    pub(crate) now: Moment,
    pub(crate) meter: Meter,
    pub(crate) out: Output,
    /// Records what the render reaches, if somebody wants to know.
    pub(crate) recorder: Option<SiteRecorder<'t>>,
    /// The sites of the template, for the decisions of a trace.
    pub(crate) sites: Option<&'t Sites>,
    /// The tree to execute: the template whose name is empty.
    tree: Option<&'t ListNode>,
    variables: Vec<(&'t str, Value)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// Ollama's functions, `missingkey=zero` and the named templates.
    Full,
    /// None of these: Ollama executes the last legacy turn in a new template.
    Bare,
}

/// How the execution of a list of nodes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    End,
    Break,
    Continue,
}

/// The work to pass a variable during a search.
const LOOKUP: usize = 10;

/// The work to look up one byte of a name.
const NAME: usize = 8;

/// The work to pass a byte that is not UTF-8.
const BROKEN: usize = 30;

/// The number of variables that a scope may have without any cost.
const FREE_VARIABLES: usize = 100;

type ValueResult = Result<Value, Error>;

impl<'t> Execution<'t> {
    pub(crate) fn new(
        defines: &'t HashMap<SmolStr, ListNode>,
        now: Moment,
        meter: Meter,
    ) -> Execution<'t> {
        Execution {
            defines,
            surroundings: Surroundings::Full,
            now,
            out: Output::new(&meter),
            meter,
            recorder: None,
            sites: None,
            tree: None,
            variables: Vec::new(),
        }
    }

    /// Executes a tree with a root.
    pub(crate) fn execute(
        &mut self,
        tree: &'t ListNode,
        root: &Arc<BTreeMap<Text, Value>>,
    ) -> Result<(), Error> {
        let dot = Value::Map(crate::values::Map {
            kind: MapKind::Anything,
            entries: Some(Arc::clone(root)),
        });
        self.tree = Some(tree);
        self.variables.clear();
        self.variables.push(("$", dot.clone()));
        self.list(&dot, tree)?;
        Ok(())
    }

    fn list(&mut self, dot: &Value, list: &'t ListNode) -> Result<Flow, Error> {
        self.meter.enter()?;
        for node in &list.nodes {
            self.meter.step()?;
            let flow = match node {
                Node::Text(text) => {
                    self.print(text.text.as_bytes())?;
                    Flow::End
                }
                Node::Action(action) => {
                    self.reach(Part::Statement, action.pos);
                    self.traced(Trace::begin_action);
                    let value = self.pipe(dot, &action.pipe)?;
                    if action.pipe.decl.is_empty() {
                        self.print_value(&value)?;
                    }
                    Flow::End
                }
                Node::If(branch) => self.branch(dot, branch, false)?,
                Node::With(branch) => self.branch(dot, branch, true)?,
                Node::Range(branch) => self.range(dot, branch)?,
                Node::Template(call) => {
                    self.template(dot, call)?;
                    Flow::End
                }
                Node::List(list) => self.list(dot, list)?,
                Node::Define(_) => Flow::End,
                Node::Break(pos) => {
                    self.reach(Part::Statement, *pos);
                    Flow::Break
                }
                Node::Continue(pos) => {
                    self.reach(Part::Statement, *pos);
                    Flow::Continue
                }
            };
            if flow != Flow::End {
                self.meter.leave();
                return Ok(flow);
            }
        }
        self.meter.leave();
        Ok(Flow::End)
    }

    fn reach(&mut self, part: Part, pos: Pos) {
        if let Some(recorder) = &mut self.recorder {
            recorder.reach(part, pos);
        }
    }

    /// Tells the trace, if there is one, what happens.
    fn traced(&mut self, tell: impl FnOnce(&mut Trace)) {
        if let Some(trace) = &mut self.meter.trace {
            tell(trace);
        }
    }

    fn decide(&mut self, part: Part, pos: Pos, value: &Value) {
        if let Some(recorder) = &mut self.recorder {
            recorder.decide(part, pos, value.truth());
        }
        let site = self.sites.and_then(|sites| sites.site(part, pos));
        let written = self.out.bytes.len();
        self.traced(|trace| trace.end_decision(site, value, written));
    }

    /// Reports something about a loop.
    fn in_loop(&mut self, branch: &BranchNode, report: impl FnOnce(&mut Recorder, usize)) {
        if let Some(recorder) = &mut self.recorder {
            recorder.in_loop(branch.pos, report);
        }
    }

    fn print(&mut self, text: &[u8]) -> Result<(), Error> {
        self.out.push(text, &mut self.meter)
    }

    fn print_value(&mut self, value: &Value) -> Result<(), Error> {
        if let Value::Text(text) = value {
            return self.print(text);
        }
        let mut out = Sink::onto(std::mem::take(&mut self.out), &mut self.meter);
        format::print_action(&mut out, value)?;
        self.out = out.into_output();
        Ok(())
    }

    fn branch(
        &mut self,
        dot: &Value,
        branch: &'t BranchNode,
        moves_dot: bool,
    ) -> Result<Flow, Error> {
        let scope = self.variables.len();
        self.traced(Trace::begin_action);
        self.traced(Trace::begin_decision);
        let value = self.pipe(dot, &branch.pipe)?;
        let truth = value.truth();
        self.decide(Part::Branch, branch.pos, &value);
        let flow = if truth {
            self.list(if moves_dot { &value } else { dot }, &branch.body)?
        } else if let Some(otherwise) = &branch.else_body {
            self.list(dot, otherwise)?
        } else {
            Flow::End
        };
        self.variables.truncate(scope);
        Ok(flow)
    }

    fn range(&mut self, dot: &Value, branch: &'t BranchNode) -> Result<Flow, Error> {
        let scope = self.variables.len();
        self.traced(Trace::begin_action);
        let value = self.pipe(dot, &branch.pipe)?;
        let line = branch.pos.line;
        let mut ran = false;
        self.in_loop(branch, Recorder::begin_loop);
        match &value {
            Value::List(list) => {
                for (i, item) in list.items().iter().enumerate() {
                    ran = true;
                    let index = Value::Int(i64::try_from(i).unwrap_or(i64::MAX));
                    if self.iteration(branch, index, item)? == Flow::Break {
                        break;
                    }
                }
            }
            Value::Bytes(bytes) => {
                for (i, byte) in bytes.iter().enumerate() {
                    ran = true;
                    let index = Value::Int(i64::try_from(i).unwrap_or(i64::MAX));
                    if self.iteration(branch, index, &Value::Byte(*byte))? == Flow::Break {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for (key, item) in map.iter() {
                    ran = true;
                    if self.iteration(branch, Value::Text(key.clone()), item)? == Flow::Break {
                        break;
                    }
                }
            }
            Value::Int(_) | Value::Byte(_) => {
                let (end, is_byte) = match value {
                    Value::Int(end) => (end, false),
                    Value::Byte(end) => (i64::from(end), true),
                    _ => (0, false),
                };
                if branch.pipe.decl.len() > 1 {
                    return Err(Error::new(format!(
                        "can't use {end} to iterate over more than one variable"
                    ))
                    .at(line));
                }
                for i in 0..end {
                    ran = true;
                    let item = match u8::try_from(i) {
                        Ok(byte) if is_byte => Value::Byte(byte),
                        _ => Value::Int(i),
                    };
                    if self.iteration(branch, Value::Absent, &item)? == Flow::Break {
                        break;
                    }
                }
            }
            Value::Absent => {}
            other => {
                let mut shown = Sink::new(&mut self.meter);
                shown.push_str("range can't iterate over ")?;
                format::print_action(&mut shown, other)?;
                let shown = shown.into_bytes();
                return Err(Error::new(text(shown, &mut self.meter)?).at(line));
            }
        }
        let mut flow = Flow::End;
        if !ran && let Some(otherwise) = &branch.else_body {
            self.in_loop(branch, Recorder::begin_else);
            // A break there leaves this range, and no other (text/template, `walkRange`).
            flow = match self.list(dot, otherwise)? {
                Flow::Break => Flow::End,
                other => other,
            };
        }
        self.in_loop(branch, Recorder::end_loop);
        self.variables.truncate(scope);
        Ok(flow)
    }

    /// One iteration of a range.
    fn iteration(
        &mut self,
        branch: &'t BranchNode,
        index: Value,
        item: &Value,
    ) -> Result<Flow, Error> {
        self.meter.step()?;
        self.in_loop(branch, Recorder::iteration);
        let mark = self.variables.len();
        match (branch.pipe.decl.as_slice(), branch.pipe.is_assign) {
            ([], _) => {}
            ([_], false) => self.set_top(1, item.clone(), item),
            ([_, _, ..], false) => {
                self.set_top(1, item.clone(), item);
                self.set_top(2, index, &Value::Absent);
            }
            ([one], true) => self.set_to(one, item.clone(), item, branch.pos.line)?,
            ([key, one, ..], true) => {
                self.set_to(key, index, &Value::Absent, branch.pos.line)?;
                self.set_to(one, item.clone(), item, branch.pos.line)?;
            }
        }
        let flow = self.list(item, &branch.body)?;
        self.variables.truncate(mark);
        Ok(flow)
    }

    fn declare(&mut self, name: &'t str, value: Value) -> WriteResult {
        if self.variables.len() >= FREE_VARIABLES {
            self.meter.produce(size_of::<(&str, Value)>())?;
        }
        let at = self.variables.len();
        self.traced(|trace| trace.set_variable(at));
        self.variables.push((name, value));
        Ok(())
    }

    /// Finds a variable. As long as there are few, it is fastest to search them all from the
    /// innermost.
    fn find(&mut self, name: &str, line: usize) -> Result<usize, Error> {
        let found = self.variables.iter().rposition(|(known, _)| *known == name);
        let passed = self.variables.len() - found.unwrap_or(0);
        self.meter
            .work(passed.saturating_mul(name.len() + LOOKUP))?;
        found.ok_or_else(|| Error::new(format!("undefined variable: {name}")).at(line))
    }

    /// Sets a variable of a range. Its pipeline has declared the variables, so they are on top.
    fn set_top(&mut self, from_top: usize, value: Value, item: &Value) {
        let at = self.variables.len() - from_top;
        self.traced(|trace| trace.set_variable_to(at, item));
        self.variables[at].1 = value;
    }

    /// Sets a variable to an item.
    fn set_to(&mut self, name: &str, value: Value, item: &Value, line: usize) -> WriteResult {
        let at = self.find(name, line)?;
        self.traced(|trace| trace.set_variable_to(at, item));
        self.variables[at].1 = value;
        Ok(())
    }

    fn set(&mut self, name: &str, value: Value, line: usize) -> Result<(), Error> {
        let at = self.find(name, line)?;
        self.traced(|trace| trace.set_variable(at));
        self.variables[at].1 = value;
        Ok(())
    }

    fn template(&mut self, dot: &Value, call: &'t TemplateNode) -> Result<(), Error> {
        self.reach(Part::Statement, call.pos);
        let defines = self.defines;
        self.meter.work(call.name.len().saturating_mul(NAME))?;
        let body = match self.surroundings {
            _ if call.name.is_empty() => self.tree,
            Surroundings::Full => defines.get(&call.name),
            Surroundings::Bare => None,
        };
        let Some(body) = body else {
            return Err(
                Error::new(format!("template {:?} not defined", call.name.as_str()))
                    .at(call.pos.line),
            );
        };
        let dot = match &call.pipe {
            Some(pipe) => self.pipe(dot, pipe)?,
            None => Value::Absent,
        };
        self.reach(Part::Body, body.pos);
        let outer = std::mem::replace(&mut self.variables, vec![("$", dot.clone())]);
        let trace = self.meter.trace.as_mut();
        let outer_trace = trace.map(|trace| trace.begin_template());
        self.list(&dot, body)?;
        self.variables = outer;
        if let (Some(trace), Some(outer)) = (&mut self.meter.trace, outer_trace) {
            trace.end_template(outer);
        }
        Ok(())
    }

    fn pipe(&mut self, dot: &Value, pipe: &'t PipeNode) -> ValueResult {
        let mut value = None;
        for command in &pipe.commands {
            let mut next = self.command(dot, command, value)?;
            // Go looks into an interface here, and finds no value in a nil one.
            if matches!(next, Value::Nil) {
                next = Value::Absent;
            }
            value = Some(next);
        }
        let value = value.unwrap_or(Value::Absent);
        for name in &pipe.decl {
            if pipe.is_assign {
                self.set(name, value.clone(), pipe.pos.line)?;
            } else {
                self.declare(name, value.clone())?;
            }
        }
        Ok(value)
    }

    fn command(
        &mut self,
        dot: &Value,
        command: &'t CommandNode,
        last: Option<Value>,
    ) -> ValueResult {
        self.meter.step()?;
        let Some(first) = command.args.first() else {
            return Ok(Value::Absent);
        };
        let line = first.pos().line;
        let given = command.args.len() - 1 + usize::from(last.is_some());
        let value = match first {
            Expr::Field(_, fields) => return self.fields(dot, fields, given, line),
            Expr::Chain(_, inner, fields) => return self.chain(dot, inner, fields, given, line),
            Expr::Variable(_, name, fields) if !fields.is_empty() => {
                let value = self.variable(name, line)?;
                return self.fields(&value, fields, given, line);
            }
            Expr::Identifier(_, name) => {
                return self.call(dot, name, &command.args[1..], last, line);
            }
            Expr::Pipe(_, pipe) if given == 0 => {
                self.meter.enter()?;
                let value = self.pipe(dot, pipe)?;
                self.meter.leave();
                return Ok(value);
            }
            _ if given > 0 => {
                return Err(Error::new("can't give argument to non-function").at(line));
            }
            Expr::Variable(_, name, _) => return self.variable(name, line),
            Expr::Nil(_) => return Err(Error::new("nil is not a command").at(line)),
            Expr::Dot(_) => {
                self.meter.touch(dot);
                dot.clone()
            }
            literal => Self::literal(literal)?,
        };
        Ok(value)
    }

    fn literal(expression: &Expr) -> ValueResult {
        let line = expression.pos().line;
        Ok(match expression {
            Expr::Bool(_, value) => Value::Bool(*value),
            Expr::String(_, text) => Value::Text(Text::from(Arc::clone(text))),
            Expr::Number(_, Number::Int(number)) => Value::Int(*number),
            Expr::Number(_, Number::Float(number)) => Value::Float(*number),
            Expr::Number(_, Number::Uint(number)) => {
                return Err(Error::new(format!("{number} overflows int")).at(line));
            }
            _ => Value::Absent,
        })
    }

    fn variable(&mut self, name: &str, line: usize) -> ValueResult {
        let at = self.find(name, line)?;
        self.traced(|trace| trace.touch_variable(at));
        Ok(self.variables[at].1.clone())
    }

    fn chain(
        &mut self,
        dot: &Value,
        inner: &'t Expr,
        fields: &[SmolStr],
        given: usize,
        line: usize,
    ) -> ValueResult {
        if matches!(inner, Expr::Nil(_)) {
            return Err(Error::new("indirection through explicit nil").at(line));
        }
        let value = self.expression(dot, inner)?;
        self.fields(&value, fields, given, line)
    }

    /// A chain of fields; only the last one may have arguments.
    fn fields(
        &mut self,
        receiver: &Value,
        fields: &[SmolStr],
        given: usize,
        line: usize,
    ) -> ValueResult {
        let mut value = std::borrow::Cow::Borrowed(receiver);
        for (i, name) in fields.iter().enumerate() {
            self.meter.step()?;
            let given = if i + 1 == fields.len() { given } else { 0 };
            let next = self
                .field(&value, name, given)
                .map_err(|refusal| refusal.at(line))?;
            value = std::borrow::Cow::Owned(next);
        }
        Ok(value.into_owned())
    }

    fn field(&mut self, receiver: &Value, name: &str, given: usize) -> ValueResult {
        let typ = receiver.type_name();
        match receiver {
            Value::Absent => return Ok(Value::Absent),
            Value::Nil => {
                return Err(Error::new(format!("nil pointer evaluating {typ}.{name}")));
            }
            _ => {}
        }
        if let Some(method) = ValueMethod::find(receiver, name) {
            if given > 0 {
                return Err(Error::new(format!(
                    "wrong number of args for {name}: want 0 got {given}"
                )));
            }
            return method.call(&mut self.meter);
        }
        match receiver {
            Value::Struct(structure) => {
                if let Some(value) = structure.get(name) {
                    if given > 0 {
                        return Err(Error::new(format!(
                            "{name} has arguments but cannot be invoked as function"
                        )));
                    }
                    self.meter.touch(value);
                    return Ok(value.clone());
                }
            }
            Value::Map(map) => {
                if given > 0 {
                    return Err(Error::new(format!(
                        "{name} is not a method but has arguments"
                    )));
                }
                return Ok(match map.get(name.as_bytes()) {
                    Some(value) => {
                        self.meter.touch(value);
                        value.clone()
                    }
                    None if self.surroundings == Surroundings::Full => map.zero(),
                    None => Value::Absent,
                });
            }
            _ => {}
        }
        Err(Error::new(format!(
            "can't evaluate field {name} in type {typ}"
        )))
    }

    /// Evaluates an argument, or the parentheses before a field.
    fn expression(&mut self, dot: &Value, expression: &'t Expr) -> ValueResult {
        self.meter.step()?;
        let line = expression.pos().line;
        match expression {
            Expr::Dot(_) => {
                self.meter.touch(dot);
                Ok(dot.clone())
            }
            Expr::Field(_, fields) => self.fields(dot, fields, 0, line),
            Expr::Variable(_, name, fields) => {
                let value = self.variable(name, line)?;
                self.fields(&value, fields, 0, line)
            }
            Expr::Pipe(_, pipe) => {
                self.meter.enter()?;
                let value = self.pipe(dot, pipe)?;
                self.meter.leave();
                Ok(value)
            }
            Expr::Identifier(_, name) => self.call(dot, name, &[], None, line),
            Expr::Chain(_, inner, fields) => self.chain(dot, inner, fields, 0, line),
            literal => Self::literal(literal),
        }
    }

    fn call(
        &mut self,
        dot: &Value,
        name: &str,
        arguments: &'t [Expr],
        last: Option<Value>,
        line: usize,
    ) -> ValueResult {
        let function = functions::find(name)
            .filter(|function| !function.is_ollamas || self.surroundings == Surroundings::Full)
            .ok_or_else(|| Error::new(format!("{name:?} is not a defined function")).at(line))?;
        let given = arguments.len() + usize::from(last.is_some());
        let wanted = function.fixed.len();
        if function.others.is_some() && given < wanted {
            return Err(Error::new(format!(
                "wrong number of args for {name}: want at least {wanted} got {given}"
            ))
            .at(line));
        }
        if function.others.is_none() && given != wanted {
            return Err(Error::new(format!(
                "wrong number of args for {name}: want {wanted} got {given}"
            ))
            .at(line));
        }
        if matches!(name, "and" | "or") {
            let mut value = Value::Absent;
            for argument in arguments {
                self.traced(Trace::begin_decision);
                value = self.argument(dot, argument, Parameter::Value)?;
                let truth = value.truth();
                self.decide(Part::Operand, argument.pos(), &value);
                if truth == (name == "or") {
                    return Ok(value);
                }
            }
            return match last {
                Some(last) => fit(last, Parameter::Value).map_err(|refusal| refusal.at(line)),
                None => Ok(value),
            };
        }
        let parameter = |i: usize| {
            function
                .fixed
                .get(i)
                .copied()
                .or(function.others)
                .unwrap_or(Parameter::Value)
        };
        let mut values = Vec::with_capacity(given);
        for (i, argument) in arguments.iter().enumerate() {
            values.push(self.argument(dot, argument, parameter(i))?);
        }
        if let Some(last) = last {
            let fitting = fit(last, parameter(values.len()));
            values.push(fitting.map_err(|refusal| refusal.at(line))?);
        }
        for value in &values {
            if let Value::Text(text) = value {
                self.meter.work(text.len())?;
            }
        }
        let given = functions::call(function.name, &values, self.now, &mut self.meter);
        let given = given.map_err(|refusal| match refusal {
            Error::Words { message, .. } => {
                Error::new(format!("error calling {name}: {message}")).at(line)
            }
            limit @ Error::Limit(_) => limit,
        })?;
        self.traced(|trace| trace.look(function.name, &values, Some(&given)));
        Ok(given)
    }

    fn argument(&mut self, dot: &Value, argument: &'t Expr, parameter: Parameter) -> ValueResult {
        let line = argument.pos().line;
        let found = match argument {
            Expr::Nil(_) if parameter == Parameter::Text => Some("cannot assign nil to string"),
            Expr::Bool(..) | Expr::Number(..) if parameter == Parameter::Text => {
                Some("expected string")
            }
            _ => None,
        };
        if let Some(message) = found {
            return Err(Error::new(message).at(line));
        }
        let value = self.expression(dot, argument)?;
        fit(value, parameter).map_err(|refusal| refusal.at(line))
    }
}

/// Converts a value for a parameter.
fn fit(value: Value, parameter: Parameter) -> ValueResult {
    match (parameter, value) {
        (Parameter::Anything, Value::Absent) => Ok(Value::Nil),
        (Parameter::Value, Value::Nil) => Ok(Value::Absent),
        (Parameter::Text, Value::Text(text)) => Ok(Value::Text(text)),
        (Parameter::Text, Value::Absent) => Err(Error::new("invalid value; expected string")),
        (Parameter::Text, other) => Err(Error::new(format!(
            "wrong type for value; expected string; got {}",
            other.type_name()
        ))),
        (_, value) => Ok(value),
    }
}

/// A method that templates can call, with its receiver.
enum ValueMethod<'v> {
    String(&'v Value),
    ToTypeScriptType(&'v Struct),
    Len(&'v Ordered),
    ToMap(&'v Ordered),
}

type Ordered = Option<Arc<Vec<(Text, Value)>>>;

impl<'v> ValueMethod<'v> {
    fn find(receiver: &'v Value, name: &str) -> Option<ValueMethod<'v>> {
        match (name, receiver) {
            ("String", _) if json::is_stringer(receiver) => Some(ValueMethod::String(receiver)),
            ("ToTypeScriptType", Value::Struct(structure))
                if structure.kind == StructKind::Property =>
            {
                Some(ValueMethod::ToTypeScriptType(structure))
            }
            ("Len", Value::Ordered(properties)) => Some(ValueMethod::Len(properties)),
            ("ToMap", Value::Ordered(properties)) => Some(ValueMethod::ToMap(properties)),
            _ => None,
        }
    }

    fn call(self, meter: &mut Meter) -> ValueResult {
        let mut out = Sink::new(meter);
        match self {
            ValueMethod::String(receiver) => json::string(&mut out, receiver)?,
            ValueMethod::ToTypeScriptType(property) => {
                out.by("ToTypeScriptType", |out| tools::typescript(out, property))?;
            }
            ValueMethod::Len(properties) => {
                let length = properties.as_ref().map_or(0, |p| p.len());
                return Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)));
            }
            ValueMethod::ToMap(properties) => {
                let properties = properties.as_ref().map(|p| p.as_slice());
                return tools::to_map(properties, out.meter);
            }
        }
        Ok(Value::Text(out.into_text()))
    }
}

/// Converts output to text. Each byte that is not UTF-8 becomes U+FFFD, as on Ollama's way to the
/// model.
pub(crate) fn text(bytes: Vec<u8>, meter: &mut Meter) -> Result<String, Error> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    let mut text = String::new();
    for chunk in error.as_bytes().utf8_chunks() {
        meter.produce(chunk.valid().len())?;
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            meter.work(BROKEN)?;
            meter.produce('\u{fffd}'.len_utf8())?;
            text.push('\u{fffd}');
        }
    }
    Ok(text)
}
