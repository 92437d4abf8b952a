//! Walks the tree of a template.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};
use rolecall_core::Recorder;

use crate::cells::{Cell, Seen, is_missing, load, missing, store};
use crate::code::{
    Arg, Args, Body, Code, Expr, For, Function, Kind, NamedArg, Place, Stmt, Target, Variable,
};
use crate::context::Context;
use crate::coverage;
use crate::decisions;
use crate::explanation;
use crate::generation;
use crate::library::functions;
use crate::meter::{ENTRY, ITEM, NAME, Nesting, OBJECT, SLOT, produce, step, work};
use crate::operator::Operator;
use crate::operators::comparison::holds;
use crate::operators::literals::{keyword_splat, list, map, splat, tuple};
use crate::operators::macros::Macro;
use crate::operators::{calculated, joined, negated};
use crate::provenance;
use crate::python::attributes::attribute;
use crate::python::generator::Generator;
use crate::python::items::item;
use crate::python::iteration::{iterate, iterate_lazily};
use crate::python::loops::{Items, Loop, Recurse};
use crate::python::markup::{escaped, escapes, set_escapes};
use crate::python::slices::{slice, slice_constant};
use crate::python::undefined::{self, found_at};
use crate::python::{namespaces, text};
use crate::refusal::invalid;
use crate::release::at_end;
use crate::watch;

/// How much deeper a call of a macro is than a loop.
const MACRO: usize = 5;

/// Plain text of this length or more is counted when it is written.
const COUNTED_TEXT: usize = 24;

/// The environment of all renders. It only knows the methods of values.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_unknown_method_callback(watch::method);
    environment
});

/// What the functions of a render share.
struct Render {
    code: Arc<Code>,
    context: Context,
    globals: Vec<OnceLock<Value>>,
    /// The line of the failure. Zero if nothing has failed.
    line: AtomicUsize,
}

impl Render {
    fn global(&self, at: usize) -> &Value {
        self.globals[at].get_or_init(|| {
            let name = &self.code.globals[at];
            let value = self.context.value(name);
            value
                .or_else(|| functions::global(name))
                .unwrap_or_default()
        })
    }
}

/// Renders a template. A failure has a line, if it is known.
pub(crate) fn render(code: &Arc<Code>, context: Context) -> Result<String, (Error, Option<usize>)> {
    let out = String::with_capacity(code.text_len + context.text_len());
    let render = Arc::new(Render {
        code: Arc::clone(code),
        context,
        globals: (0..code.globals.len()).map(|_| OnceLock::new()).collect(),
        line: AtomicUsize::new(0),
    });
    set_escapes(false);
    let run = || {
        let mut state = ENVIRONMENT.empty_state();
        let seen = Arc::new(Seen::default());
        // A macro that is in it may see it.
        at_end(&seen);
        let mut machine = Machine::new(&render, &seen, 0, &[], &mut state)?;
        machine.out = out;
        let _ = machine.body(&machine.function.body)?;
        Ok(machine.out)
    };
    run().map_err(|error| {
        let line = render.line.load(Ordering::Relaxed);
        (error, Some(line).filter(|line| *line > 0))
    })
}

/// How a loop is left before its body ends.
enum Leave {
    Break,
    Continue,
}

type Flow = Result<ControlFlow<Leave>, Error>;

const NEXT: Flow = Ok(ControlFlow::Continue(()));

struct Machine<'m, 't, 'e> {
    render: &'m Arc<Render>,
    seen: &'m Arc<Seen>,
    function: &'m Function,
    state: &'m mut State<'t, 'e>,
    slots: Vec<Value>,
    captures: &'m [Value],
    /// The arguments of the calls that are being prepared.
    stack: Vec<Value>,
    out: String,
    /// Whether what is written goes to the prompt.
    is_prompt: bool,
    is_watched: bool,
}

impl<'m, 't, 'e> Machine<'m, 't, 'e> {
    fn new(
        render: &'m Arc<Render>,
        seen: &'m Arc<Seen>,
        function: usize,
        captures: &'m [Value],
        state: &'m mut State<'t, 'e>,
    ) -> Result<Machine<'m, 't, 'e>, Error> {
        let function = &render.code.functions[function];
        work(NAME * function.slots)?;
        produce(SLOT * function.slots)?;
        let mut slots = vec![Value::UNDEFINED; function.slots];
        for at in &function.cells {
            slots[*at] = Cell::value()?;
        }
        Ok(Machine {
            render,
            seen,
            function,
            state,
            slots,
            captures,
            stack: Vec::new(),
            out: String::new(),
            is_prompt: true,
            is_watched: watch::is_on(),
        })
    }

    /// An error at a line. The first one is where the render failed.
    #[cold]
    fn at(&self, line: u16, error: Error) -> Error {
        let line = usize::from(line);
        let _ = (self.render.line).compare_exchange(0, line, Ordering::Relaxed, Ordering::Relaxed);
        error
    }

    fn load(&self, place: Place) -> Value {
        match place {
            Place::Slot(at) => self.slots[at].clone(),
            Place::Cell(at) => load(&self.slots[at]),
            Place::Capture(at) => load(&self.captures[at]),
            Place::Global(at) => self.render.global(at).clone(),
            Place::Context(at) => {
                let seen = self.seen.lock().get(&at).cloned();
                seen.unwrap_or_else(|| self.render.global(at).clone())
            }
        }
    }

    fn store(&mut self, place: Place, value: Value) {
        match place {
            Place::Slot(at) => self.slots[at] = value,
            Place::Cell(at) => store(&self.slots[at], value),
            Place::Capture(at) => store(&self.captures[at], value),
            Place::Global(_) | Place::Context(_) => {}
        }
    }

    /// Runs the statements of a scope.
    fn body(&mut self, body: &'m Body) -> Flow {
        self.begin(body)?;
        let flow = self.statements(&body.statements)?;
        // Jinja2 forgets nothing where `break` or `continue` leaves a scope (`leave_frame`).
        if flow.is_continue() {
            self.end(body)?;
        }
        Ok(flow)
    }

    fn begin(&mut self, body: &'m Body) -> Result<(), Error> {
        if body.begins.is_empty() {
            return Ok(());
        }
        work(NAME * body.begins.len())?;
        for (place, from) in &body.begins {
            let value = from
                .map(|from| self.load(from))
                .filter(|value| !is_missing(value));
            self.store(*place, value.unwrap_or_default());
        }
        Ok(())
    }

    fn end(&mut self, body: &'m Body) -> Result<(), Error> {
        work(NAME * body.ends.len())?;
        for place in &body.ends {
            self.store(*place, missing());
        }
        Ok(())
    }

    fn statements(&mut self, statements: &'m [Stmt]) -> Flow {
        for statement in statements {
            let flow = self.statement(statement)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        NEXT
    }

    fn statement(&mut self, statement: &'m Stmt) -> Flow {
        if let Stmt::Reach(site) = statement {
            coverage::record(|recorder| recorder.reach(*site));
            return NEXT;
        }
        step()?;
        match statement {
            Stmt::Reach(_) | Stmt::Choose(..) => {}
            Stmt::Text(place) => {
                let text = self.render.code.part(place);
                // The step of the statement is limit enough.
                if text.len() < COUNTED_TEXT {
                    self.write_uncounted(text);
                } else {
                    self.write_text(text)?;
                }
            }
            Stmt::Write(expr) => self.write_expr(expr)?,
            Stmt::If(condition, yes, no) => {
                let chosen = if self.truth(condition)? { yes } else { no };
                return self.statements(chosen);
            }
            Stmt::For(node) => {
                let items = self.eval(&node.iter)?;
                return self.repeat(node, items, 0, None);
            }
            Stmt::Recursive(items, function) => {
                let items = self.eval(items)?;
                let recursion = Arc::new(Recursion {
                    render: Arc::clone(self.render),
                    seen: Arc::clone(self.seen),
                    function: *function,
                    captures: self.captures_of(*function)?,
                });
                let text = recursion.run(self.state, items, 0)?;
                self.write(&text)?;
            }
            Stmt::Set(target, expr) => {
                self.check(target, expr.line)?;
                let mut value = self.eval(expr)?;
                if self.is_watched && matches!(target, Target::Several(_)) {
                    value = watch::call("for", &[value], |value| iterate(value[0].clone()))?;
                }
                self.assign(target, value, expr.line)?;
            }
            Stmt::With(assignments, body) => {
                let _nesting = Nesting::deeper(1)?;
                for (target, expr) in assignments {
                    let value = self.eval(expr)?;
                    self.assign(target, value, expr.line)?;
                }
                return self.body(body);
            }
            Stmt::Capture(place, body) => {
                let (flow, text) = self.capture(|inner| inner.body(body))?;
                self.store(*place, text);
                return Ok(flow);
            }
            Stmt::WriteText(expr) => self.write_only_text(expr)?,
            Stmt::AutoEscape(expr, body) => {
                self.begin(body)?;
                let outer = set_escapes(self.truth(expr)?);
                let flow = self.statements(&body.statements);
                set_escapes(outer);
                self.end(body)?;
                return flow;
            }
            Stmt::Macro(function, place) => {
                let function = self.function(*function)?;
                self.store(*place, function);
            }
            Stmt::Generation(function) => {
                let text = self.function(*function)?.call(self.state, &[])?;
                let text = generation::block(text);
                self.write(&text)?;
            }
            Stmt::Block(function, around) => {
                let mut seen = Arc::clone(self.seen);
                if !around.is_empty() {
                    work(ITEM * around.len())?;
                    let mut values = seen.lock().clone();
                    for (at, place, is_set) in around {
                        let value = self.load(*place);
                        if (*is_set || !value.is_undefined()) && !is_missing(&value) {
                            values.insert(*at, value);
                        }
                    }
                    produce(OBJECT + ENTRY * values.len())?;
                    seen = Arc::new(Seen(Mutex::new(values)));
                    at_end(&seen);
                }
                self.block(*function, &seen)?;
            }
            Stmt::Export(at, place) => {
                let value = self.load(*place);
                drop(self.seen.lock().insert(*at, value));
            }
            Stmt::Break => return Ok(ControlFlow::Break(Leave::Break)),
            Stmt::Continue => return Ok(ControlFlow::Break(Leave::Continue)),
        }
        NEXT
    }

    /// Runs the iterations of a loop. One that calls itself knows how, and how deep it is.
    fn repeat(
        &mut self,
        node: &'m For,
        items: Value,
        depth: usize,
        recursion: Option<Arc<Recurse>>,
    ) -> Flow {
        let _nesting = Nesting::deeper(1)?;
        let line = |machine: &Self, error| machine.at(node.iter.line, error);
        let items = watch::call("for", &[items], |items| iterate_lazily(items[0].clone()));
        let mut items = items.map_err(|error| line(self, error))?;
        let report = |event: fn(&mut Recorder, usize)| {
            if let Some(site) = node.site {
                coverage::record(|recorder| event(recorder, site));
            }
        };
        // A loop that calls itself is one loop.
        if depth == 0 {
            report(Recorder::begin_loop);
        }
        if let Some(function) = node.choice {
            let chosen = self.chosen(&items, function);
            items = chosen.map_err(|error| line(self, error))?;
        }
        let mut iterations = match node.object {
            Some(place) => {
                let iterations =
                    Loop::over(&items, depth, recursion).map_err(|error| line(self, error))?;
                self.store(place, Value::from_dyn_object(Arc::clone(&iterations)));
                Iterations::Loop(iterations)
            }
            None => Iterations::Items(Items::of(&items).map_err(|error| line(self, error))?),
        };
        let mut has_arrived = false;
        while let Some(item) = iterations.next().map_err(|error| line(self, error))? {
            step()?;
            self.assign(&node.target, item, node.iter.line)?;
            if let Some(condition) = &node.condition
                && !self.truth(condition)?
            {
                continue;
            }
            report(Recorder::iteration);
            self.begin(&node.body)?;
            match self.statements(&node.body.statements)? {
                ControlFlow::Continue(()) => has_arrived = true,
                ControlFlow::Break(Leave::Continue) => {}
                ControlFlow::Break(Leave::Break) => break,
            }
        }
        self.end(&node.body)?;
        let mut flow = NEXT;
        // It runs if no iteration reached its end (Jinja2's compiler.py, `visit_For`).
        if !has_arrived && !node.otherwise.statements.is_empty() {
            if depth == 0 {
                report(Recorder::begin_else);
            }
            flow = self.body(&node.otherwise);
        }
        if depth == 0 {
            report(Recorder::end_loop);
        }
        flow
    }

    /// The items of a loop that its condition chooses, which are computed when they are asked for.
    fn chosen(&self, items: &Value, function: usize) -> Result<Value, Error> {
        let mut items = Items::of(items)?;
        let captures = self.captures_of(function)?;
        let (render, seen) = (Arc::clone(self.render), Arc::clone(self.seen));
        Generator::lazy("chosen", move || {
            let mut state = ENVIRONMENT.empty_state();
            let mut machine = Machine::new(&render, &seen, function, &captures, &mut state)?;
            let [Stmt::Choose(target, condition)] = &*machine.function.body.statements else {
                return Ok(None);
            };
            while let Some(item) = items.next()? {
                step()?;
                machine.assign(target, item.clone(), condition.line)?;
                if machine.truth(condition)? {
                    return Ok(Some(item));
                }
            }
            Ok(None)
        })
    }

    /// Captures what statements write.
    fn capture(
        &mut self,
        run: impl FnOnce(&mut Self) -> Flow,
    ) -> Result<(ControlFlow<Leave>, Value), Error> {
        let outer = std::mem::take(&mut self.out);
        let was_prompt = std::mem::replace(&mut self.is_prompt, false);
        provenance::begin();
        let flow = run(self);
        let text = std::mem::replace(&mut self.out, outer);
        self.is_prompt = was_prompt;
        let flow = flow?;
        provenance::end();
        Ok((flow, provenance::captured(captured(text))))
    }

    /// The value of a macro or a call block.
    fn function(&mut self, at: usize) -> Result<Value, Error> {
        let function = &self.render.code.functions[at];
        let Some(signature) = &function.signature else {
            return Ok(Value::UNDEFINED);
        };
        produce(OBJECT + SLOT * function.parameters.len())?;
        let captures = self.captures_of(at)?;
        let (render, seen) = (Arc::clone(self.render), Arc::clone(self.seen));
        Ok(Value::from_object(Macro {
            signature: Arc::clone(signature),
            body: Box::new(move |state, args| {
                let _nesting = Nesting::deeper(MACRO)?;
                let mut machine = Machine::new(&render, &seen, at, &captures, state)?;
                machine.is_prompt = false;
                machine.run(args)?;
                Ok(captured(machine.out))
            }),
        }))
    }

    /// What a function uses of this one.
    fn captures_of(&self, function: usize) -> Result<Vec<Value>, Error> {
        let captures = &self.render.code.functions[function].captures;
        produce(OBJECT + ENTRY * captures.len())?;
        let captures = captures.iter().map(|place| match place {
            Place::Cell(at) | Place::Slot(at) => self.slots[*at].clone(),
            Place::Capture(at) => self.captures[*at].clone(),
            Place::Global(_) | Place::Context(_) => Value::UNDEFINED,
        });
        Ok(captures.collect())
    }

    /// Runs a macro with arguments.
    fn run(&mut self, args: Vec<Option<Value>>) -> Result<(), Error> {
        self.begin(&self.function.body)?;
        let mut missing = Vec::new();
        for ((place, default), arg) in self.function.parameters.iter().zip(args) {
            if let (None, Some(default)) = (&arg, default) {
                missing.push((*place, default));
            }
            self.store(*place, arg.unwrap_or_default());
        }
        for (place, default) in missing {
            let value = self.eval(default)?;
            self.store(place, value);
        }
        if let Some(site) = self.function.site {
            coverage::record(|recorder| recorder.reach(site));
        }
        self.statements(&self.function.body.statements).map(drop)
    }

    /// Runs a named block.
    fn block(&mut self, at: usize, seen: &Arc<Seen>) -> Result<(), Error> {
        let _nesting = Nesting::deeper(MACRO)?;
        let mut machine = Machine::new(self.render, seen, at, &[], self.state)?;
        machine.out = std::mem::take(&mut self.out);
        machine.is_prompt = self.is_prompt;
        let flow = machine.body(&machine.function.body);
        self.out = machine.out;
        flow.map(drop)
    }

    /// Fails where a target is an attribute of anything but a namespace (`visit_Assign`).
    fn check(&mut self, target: &'m Target, line: u16) -> Result<(), Error> {
        match target {
            Target::Variable(_) => Ok(()),
            Target::Attribute(of, _) => {
                let of = self.eval(of)?;
                let checked = namespaces::check(&of).map(drop);
                checked.map_err(|error| self.at(line, error))
            }
            Target::Several(targets) => targets.iter().try_for_each(|one| self.check(one, line)),
        }
    }

    fn assign(&mut self, target: &'m Target, value: Value, line: u16) -> Result<(), Error> {
        let assigned = match target {
            Target::Variable(place) => {
                self.store(*place, value);
                return Ok(());
            }
            Target::Attribute(of, name) => {
                let of = self.eval(of)?;
                namespaces::set(&of, name, &value)
            }
            Target::Several(targets) => unpacked(value, targets.len()).and_then(|items| {
                let mut all = targets.iter().zip(items);
                all.try_for_each(|(target, item)| self.assign(target, item, line))
            }),
        };
        assigned.map_err(|error| self.at(line, error))
    }

    /// Writes a text, and counts it.
    fn write_text(&mut self, text: &str) -> Result<(), Error> {
        produce(text.len())?;
        self.write_uncounted(text);
        Ok(())
    }

    fn write_uncounted(&mut self, text: &str) {
        if self.is_prompt {
            generation::before_write(self.out.len());
        }
        self.out.push_str(text);
    }

    fn write_expr(&mut self, expr: &'m Expr) -> Result<(), Error> {
        if let Kind::Join(operator, operands) = &expr.kind
            && !self.is_watched
            && !escapes()
        {
            let values = self.evals(operands)?;
            let is_plain = |text: &Value| text.as_str().is_some() && !text.is_safe();
            if values.iter().all(is_plain) {
                let mut texts = values.iter().filter_map(Value::as_str);
                produce(texts.clone().map(str::len).sum())?;
                return texts.try_for_each(|text| self.write_text(text));
            }
            let value = joined(*operator, &values).map_err(|error| self.at(expr.line, error))?;
            return self.write(&value);
        }
        let value = match &expr.kind {
            Kind::Constant(value) => return self.write(value),
            _ => self.eval(expr)?,
        };
        self.write(&value)
            .map_err(|error| self.at(expr.line, error))
    }

    /// What a filter block or a call block writes. Jinja2 writes it without `str()`, so only a text
    /// can be joined with the rest of the prompt.
    fn write_only_text(&mut self, expr: &'m Expr) -> Result<(), Error> {
        let value = self.eval(expr)?;
        if value.as_str().is_none() {
            let error = invalid(format!("expected a text, found {}", value.kind()));
            return Err(self.at(expr.line, error));
        }
        self.write(&value)
    }

    /// Writes `str(value)`, and counts it. Within `{% autoescape true %}` it is escaped, unless it
    /// is a `Markup`.
    fn write(&mut self, value: &Value) -> Result<(), Error> {
        let text = text::str(value);
        if escapes() && !value.is_safe() {
            let escaped = escaped(&text)?;
            if provenance::is_traced() {
                provenance::write(&explanation::written_escaped(value, &text, &escaped));
            }
            return self.write_text(&escaped);
        }
        if provenance::is_traced() {
            provenance::write(&explanation::written(value, &text));
        }
        self.write_text(&text)
    }

    /// Does something with the value of an expression, which need not be copied.
    fn with<T>(&mut self, expr: &'m Expr, act: impl FnOnce(&Value) -> T) -> Result<T, Error> {
        match &expr.kind {
            Kind::Constant(value) => Ok(act(value)),
            Kind::Variable(Variable {
                place: Place::Slot(at),
                ..
            }) if !self.is_watched => Ok(act(&self.slots[*at])),
            Kind::Variable(Variable {
                place: Place::Global(at),
                ..
            }) if !self.is_watched => Ok(act(self.render.global(*at))),
            _ => self.eval(expr).map(|value| act(&value)),
        }
    }

    fn truth(&mut self, expr: &'m Expr) -> Result<bool, Error> {
        match &expr.kind {
            Kind::Not(inner) if !self.is_watched => self.truth(inner).map(|truth| !truth),
            Kind::Decide(site, inner) if !self.is_watched => {
                let truth = self.truth(inner)?;
                coverage::record(|recorder| recorder.decide(*site, truth));
                Ok(truth)
            }
            Kind::And(both) => Ok(self.truth(&both[0])? && self.truth(&both[1])?),
            Kind::Or(both) => Ok(self.truth(&both[0])? || self.truth(&both[1])?),
            _ => self.with(expr, Value::is_true),
        }
    }

    fn eval(&mut self, expr: &'m Expr) -> Result<Value, Error> {
        if let Kind::Decide(site, inner) = &expr.kind {
            return self.decide(*site, inner);
        }
        step()?;
        self.kind(&expr.kind)
            .map_err(|error| self.at(expr.line, error))
    }

    /// Evaluates a condition with a site. It takes no step of its own.
    fn decide(&mut self, site: usize, condition: &'m Expr) -> Result<Value, Error> {
        decisions::begin();
        let value = self.eval(condition)?;
        coverage::record(|recorder| recorder.decide(site, value.is_true()));
        decisions::end(site, &value);
        Ok(value)
    }

    #[allow(clippy::too_many_lines)] // one arm for each expression of the language
    fn kind(&mut self, kind: &'m Kind) -> Result<Value, Error> {
        Ok(match kind {
            Kind::Constant(value) => value.clone(),
            Kind::Variable(variable) => {
                let mut value = self.load(variable.place);
                if !variable.is_given && is_missing(&value) {
                    value = Value::UNDEFINED;
                }
                undefined::variable(value, || self.render.code.part(&variable.name))
            }
            Kind::Attribute(of, name) | Kind::LoopField(of, name) if undefined::is_named() => {
                let of = self.eval(of)?;
                return member(&of, name);
            }
            Kind::Attribute(of, name) => return self.with(of, |of| of.get_attr(name))?,
            Kind::LoopField(of, name) => {
                return self.with(of, |of| match Loop::of(of) {
                    Some(of_loop) => of_loop.attribute(name),
                    None => of.get_attr(name),
                })?;
            }
            Kind::Member(of, name) => return self.with(of, |of| member(of, name))?,
            Kind::Item(both) => {
                let operands = [self.eval(&both[0])?, self.eval(&both[1])?];
                return watch::call("[]", &operands, |operands| {
                    let [of, key] = operands else {
                        return Ok(Value::UNDEFINED);
                    };
                    item(of, key).map(|found| found_at(found, of, key))
                });
            }
            Kind::Slice(parts, is_constant) => {
                let slice = if *is_constant { slice_constant } else { slice };
                return self.all(&parts[..], |parts| {
                    watch::call("[:]", parts, |parts| {
                        slice(&parts[0], &parts[1], &parts[2], &parts[3])
                    })
                });
            }
            Kind::Not(inner) => {
                let value = self.eval(inner)?;
                decisions::truth(&value);
                Value::from(!value.is_true())
            }
            Kind::Negate(inner) => {
                let value = self.eval(inner)?;
                return negated(&value);
            }
            Kind::And(both) => {
                let left = self.eval(&both[0])?;
                if !left.is_true() {
                    return Ok(left);
                }
                return self.eval(&both[1]);
            }
            Kind::Or(both) => {
                let left = self.eval(&both[0])?;
                if left.is_true() {
                    return Ok(left);
                }
                return self.eval(&both[1]);
            }
            Kind::Choice(parts) => {
                let chosen = if self.truth(&parts[0])? { 1 } else { 2 };
                return self.eval(&parts[chosen]);
            }
            Kind::Binary(operator, both) => {
                let operands = [self.eval(&both[0])?, self.eval(&both[1])?];
                return calculated(*operator, &operands);
            }
            Kind::Join(operator, operands) => {
                return self.all(operands, |operands| joined(*operator, operands));
            }
            Kind::Compare(first, rest) => {
                if let [(operator, right)] = rest.as_slice()
                    && let Kind::Constant(right) = &right.kind
                    && !self.is_watched
                {
                    let held = self.with(first, |left| holds(*operator, left, right))?;
                    return held.map(Value::from);
                }
                let mut left = self.eval(first)?;
                for (operator, right) in rest {
                    let right = self.eval(right)?;
                    if !self.compared(*operator, &left, &right)? {
                        return Ok(Value::from(false));
                    }
                    left = right;
                }
                Value::from(true)
            }
            Kind::Filter(filter, args) => {
                return self.call(args, |state, args| filter.call(state, args));
            }
            Kind::Test(test, args) => {
                let value = self.call(args, |state, args| test.call(state, args))?;
                Value::from(value.is_true())
            }
            Kind::Call(of, args) => {
                let of = self.eval(of)?;
                return self.call(args, |state, args| of.call(state, args));
            }
            Kind::Method(of, name, args) => {
                let of = self.eval(of)?;
                // Python looks for the method before it evaluates the arguments.
                if of.is_undefined() || undefined::message(&of).is_some() {
                    return of.call_method(self.state, name, &[]);
                }
                return self.call(args, |state, args| match of.as_str() {
                    Some(_) => watch::method(state, &of, name, args),
                    None => of.call_method(state, name, args),
                });
            }
            Kind::Block(name) => {
                let Some(at) = self.render.code.blocks.get(name) else {
                    return Err(undefined::error(format!(
                        "'jinja2.runtime.TemplateReference object' has no attribute '{name}'"
                    )));
                };
                let written = self.capture(|inner| {
                    inner.block(*at, inner.seen)?;
                    NEXT
                });
                written?.1
            }
            Kind::List(items) => return list(self.evals(items)?),
            Kind::Tuple(items) => return tuple(self.evals(items)?),
            Kind::Map(entries) => {
                let mut pairs = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    pairs.push((self.eval(key)?, self.eval(value)?));
                }
                return map(pairs);
            }
            Kind::Missing(line) => undefined::undefined(|| {
                format!(
                    "the inline if-expression on line {line} evaluated to false and no else \
                     section was defined."
                )
            }),
            Kind::Fail(kind, message, args) => {
                return self.call(args, |_, _| Err(Error::new(*kind, message.clone())));
            }
            Kind::Decide(site, inner) => return self.decide(*site, inner),
        })
    }

    fn compared(&self, operator: Operator, left: &Value, right: &Value) -> Result<bool, Error> {
        if !self.is_watched {
            return holds(operator, left, right);
        }
        let operands = [left.clone(), right.clone()];
        let held = watch::call(operator.label(), &operands, |operands| {
            holds(operator, &operands[0], &operands[1]).map(Value::from)
        });
        held.map(|value| value.is_true())
    }

    fn evals(&mut self, items: &'m [Expr]) -> Result<Vec<Value>, Error> {
        items.iter().map(|item| self.eval(item)).collect()
    }

    /// Does something with the values of expressions, which are on the stack meanwhile.
    fn all<T>(
        &mut self,
        items: &'m [Expr],
        act: impl FnOnce(&[Value]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let base = self.stack.len();
        for item in items {
            let value = self.eval(item)?;
            self.stack.push(value);
        }
        let result = act(&self.stack[base..]);
        self.stack.truncate(base);
        result
    }

    /// Calls something with arguments.
    fn call<T>(
        &mut self,
        args: &'m Args,
        act: impl FnOnce(&mut State<'t, 'e>, &[Value]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let base = self.stack.len();
        self.push_args(args)?;
        let result = act(self.state, &self.stack[base..]);
        self.stack.truncate(base);
        result
    }

    /// Puts the arguments of a call on the stack.
    fn push_args(&mut self, args: &'m Args) -> Result<(), Error> {
        for arg in &args.positional {
            match arg {
                Arg::One(expr) => {
                    let value = self.eval(expr)?;
                    self.stack.push(value);
                }
                Arg::Splat(expr) => {
                    let items = self.eval(expr)?;
                    let items = watch::call("", &[items], |items| splat(items[0].clone()))?;
                    self.stack.extend(items.try_iter()?);
                }
            }
        }
        if args.named.is_empty() {
            return Ok(());
        }
        let mut named: Vec<(String, Value)> = Vec::new();
        for arg in &args.named {
            match arg {
                NamedArg::One(name, expr) => {
                    let value = self.eval(expr)?;
                    named.push((name.to_string(), value));
                }
                NamedArg::Splat(expr, taken) => {
                    let mapping = self.eval(expr)?;
                    undefined::nameless(std::slice::from_ref(&mapping), |mapping| {
                        keyword_splat(&mapping[0], taken)
                    })?;
                    for name in mapping.try_iter()? {
                        let value = mapping.get_item(&name)?;
                        named.extend(name.as_str().map(|name| (name.to_owned(), value)));
                    }
                }
            }
        }
        let named = named.into_iter().collect::<Kwargs>();
        self.stack.push(Value::from(named));
        Ok(())
    }
}

/// A loop that calls itself.
struct Recursion {
    render: Arc<Render>,
    seen: Arc<Seen>,
    /// The function whose only statement is the loop.
    function: usize,
    captures: Vec<Value>,
}

impl Recursion {
    /// What the loop writes for these items.
    fn run(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        items: Value,
        depth: usize,
    ) -> Result<Value, Error> {
        let _nesting = Nesting::deeper(1)?;
        let mut machine = Machine::new(
            &self.render,
            &self.seen,
            self.function,
            &self.captures,
            state,
        )?;
        machine.is_prompt = false;
        provenance::begin();
        if let [Stmt::For(node)] = machine.function.body.statements.as_slice() {
            let again = Arc::clone(self);
            let recursion: Arc<Recurse> =
                Arc::new(move |state, items, depth| again.run(state, items, depth));
            let _ = machine.repeat(node, items, depth, Some(recursion))?;
        }
        provenance::end();
        Ok(provenance::captured(captured(machine.out)))
    }
}

/// `value.name`, where a method may have this name.
fn member(of: &Value, name: &str) -> Result<Value, Error> {
    let operands = [of.clone(), Value::from(name)];
    watch::call(".", &operands, |operands| {
        let of = &operands[0];
        attribute(of, name).map(|found| found_at(found, of, &operands[1]))
    })
}

/// The items of a value that is assigned to so many targets.
fn unpacked(value: Value, count: usize) -> Result<Vec<Value>, Error> {
    work(ITEM / 4 * count)?;
    let items: Vec<Value> = iterate(value)?.try_iter()?.take(count + 1).collect();
    if items.len() == count {
        return Ok(items);
    }
    let message = format!("expected {count} values to unpack");
    Err(Error::new(ErrorKind::CannotUnpack, message))
}

/// A captured text. Where everything is escaped, it is escaped already.
fn captured(text: String) -> Value {
    if escapes() {
        Value::from_safe_string(text)
    } else {
        Value::from(text)
    }
}

/// The items of a loop, with or without the variable `loop`.
enum Iterations {
    Items(Items),
    Loop(Arc<Loop>),
}

impl Iterations {
    fn next(&mut self) -> Result<Option<Value>, Error> {
        match self {
            Iterations::Items(items) => items.next(),
            Iterations::Loop(iterations) => iterations.advance(),
        }
    }
}
