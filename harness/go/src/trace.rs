//! What a traced render knows of its texts: where each of their bytes comes from.
//!
//! The values of a render share the bytes of their texts, and functions write pieces of them. So a
//! text is known by its address: a trace keeps every text that it knows, and no other text can have
//! an address within a kept one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use rolecall_core::decision::{DecisionLog, Decisions, Look, Operand, OperandValue, TRUTH};
use rolecall_core::provenance::{Input, InputKind, Origin, Span, Spans};

use crate::values::{Struct, Text, Value};

/// What was done to a text, in order.
pub(crate) type Operations = Arc<[&'static str]>;

/// What a text was made from.
pub(crate) type Sources = Arc<[Arc<Input>]>;

/// The most operations that a trace tells apart in one text.
const MOST_OPERATIONS: usize = 8;

/// The most pieces that a text may have, and all texts together. What exceeds it counts as made from
/// something unknown. So a template cannot fill the memory with pieces of a byte each.
const MOST_PIECES: usize = 1 << 20;

/// The most parts that a made text can name.
const MOST_TOUCHED: usize = 64;

/// The number of new texts after which a trace looks for those that nobody has any more.
const SWEEP: usize = 4096;

/// The functions that compare. They are noted outside of conditions, too.
const COMPARING: [&str; 7] = ["eq", "ne", "lt", "le", "gt", "ge", "index"];

/// The operation that makes the name of a member a text.
pub(crate) const KEY: &str = "key";

#[derive(Debug, Default)]
pub(crate) struct KnownTexts(BTreeMap<usize, KnownText>);

#[derive(Debug)]
struct KnownText {
    length: usize,
    spans: Arc<[Span]>,
    /// Keeps the text alive, so that its address stays its own. The texts of a template and of a
    /// conversation are kept by others.
    kept: Option<Text>,
}

impl KnownTexts {
    /// Adds a text that lives as long as this.
    pub(crate) fn add(&mut self, text: &[u8], spans: Vec<Span>) {
        self.insert(text, spans.into(), None);
    }

    fn insert(&mut self, text: &[u8], spans: Arc<[Span]>, kept: Option<Text>) {
        let known = KnownText {
            length: text.len(),
            spans,
            kept,
        };
        self.0.insert(address(text), known);
    }

    /// The spans of the text that holds these bytes, and where they are in it.
    fn find(&self, bytes: &[u8]) -> Option<(usize, &Arc<[Span]>)> {
        let at = address(bytes);
        let (start, known) = self.0.range(..=at).next_back()?;
        let from = at - start;
        (from + bytes.len() <= known.length).then_some((from, &known.spans))
    }
}

fn address<T: ?Sized>(of: &T) -> usize {
    std::ptr::from_ref(of).cast::<()>().addr()
}

/// Where the texts of a render come from.
#[derive(Debug)]
pub(crate) struct Trace {
    literals: Arc<KnownTexts>,
    /// The texts of the conversation, and those that the render has made.
    texts: KnownTexts,
    /// The parts of the conversation, by the addresses of their values or of what they hold.
    parts: HashMap<usize, Sources>,
    /// The addresses of the fields whose names somebody wrote.
    named: HashSet<usize>,
    key: Operations,
    /// The parts that the current action has read.
    touched: Vec<Arc<Input>>,
    /// The same as a list, as soon as somebody needs it.
    touched_list: Option<Sources>,
    /// What the variables in scope were made from, by their places.
    variables: HashMap<usize, Sources>,
    nothing: Sources,
    untouched: Operations,
    /// Each list of operations, by what it continues.
    operations: Vec<(Operations, &'static str, Operations)>,
    /// The pieces of all texts that the render has made.
    pieces: usize,
    /// The number of texts that makes the next sweep worthwhile.
    sweep_at: usize,
    /// What the decisions of the render look at, if somebody wants to know.
    pub(crate) decisions: Option<Box<DecisionNotes>>,
}

/// What the decisions of a render look at.
#[derive(Debug, Default)]
pub(crate) struct DecisionNotes {
    log: DecisionLog,
    /// What made each number. A number has no place of its own as a text has, so the last operation
    /// that made this number counts.
    numbers: HashMap<i64, Vec<Arc<Input>>>,
    /// For each decision that has begun, how many parts had been read before.
    read_before: Vec<usize>,
}

/// The pieces of a text under construction.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    spans: Spans,
    count: usize,
    /// What the text is made by, the outermost first.
    operations: Vec<&'static str>,
    /// The part of the conversation that is being written.
    subject: Option<Sources>,
    /// The origin of what comes next, whatever it is.
    instead: Option<(Origin, Operations)>,
}

impl Trace {
    /// A trace that knows the texts of a template.
    pub(crate) fn new(literals: Arc<KnownTexts>) -> Trace {
        Trace {
            literals,
            texts: KnownTexts::default(),
            parts: HashMap::new(),
            named: HashSet::new(),
            key: Arc::from([KEY]),
            touched: Vec::new(),
            touched_list: None,
            variables: HashMap::new(),
            nothing: Arc::from([]),
            untouched: Arc::from([]),
            operations: Vec::new(),
            pieces: 0,
            sweep_at: SWEEP,
            decisions: None,
        }
    }

    /// A condition or an operand begins to be evaluated.
    pub(crate) fn begin_decision(&mut self) {
        if let Some(notes) = &mut self.decisions {
            notes.log.begin();
            notes.read_before.push(self.touched.len());
        }
    }

    /// A condition or an operand has this value, when the prompt has so many bytes. It belongs to a
    /// site, if it has one.
    pub(crate) fn end_decision(&mut self, site: Option<usize>, value: &Value, written: usize) {
        // A truth alone says less than what it was made by. But nothing has made a plain field.
        let has_looked = |notes: &DecisionNotes| notes.log.has_looked();
        let has_looked = self.decisions.as_deref().is_some_and(has_looked);
        if !matches!(value, Value::Bool(_)) || !has_looked {
            self.look(TRUTH, std::slice::from_ref(value), None);
        }
        if let Some(notes) = &mut self.decisions {
            notes.read_before.pop();
            match site {
                Some(site) => notes.log.end(site, value.truth(), written),
                None => notes.log.forget(),
            }
        }
    }

    /// A function reads its arguments and gives a value.
    pub(crate) fn look(&mut self, name: &'static str, arguments: &[Value], given: Option<&Value>) {
        let Some(notes) = &self.decisions else { return };
        // A number is followed from a text to a condition. Small numbers from lists are everywhere.
        let number = match (arguments.first(), given) {
            (Some(Value::Text(_)), Some(Value::Int(number))) => Some(*number),
            _ => None,
        };
        let is_deciding = notes.log.is_deciding();
        let compares = COMPARING.contains(&name);
        if !is_deciding && number.is_none() && !compares {
            return;
        }
        let operands: Vec<Operand> = arguments.iter().map(|value| self.operand(value)).collect();
        let is_of_input = || operands.iter().any(|operand| !operand.inputs().is_empty());
        // A condition may compare what has no origin: an empty text, or a plain number.
        if !(is_deciding && (compares || name == TRUTH) || is_of_input()) {
            return;
        }
        let result = match given {
            Some(Value::Bool(truth)) => Some(truth.to_string()),
            Some(Value::Int(number)) => Some(number.to_string()),
            _ => None,
        };
        let Some(notes) = &mut self.decisions else {
            return;
        };
        if let Some(number) = number {
            let inputs = operands.iter().flat_map(Operand::inputs).cloned();
            notes.numbers.insert(number, inputs.collect());
        }
        notes.log.look(Look {
            operation: name,
            operands,
            result,
        });
    }

    /// A value that is looked at.
    fn operand(&self, value: &Value) -> Operand {
        if let Value::Text(text) = value {
            let found = self.find(text).filter(|_| !text.is_empty());
            let origins = found.iter().flat_map(|(from, spans)| {
                let (from, to) = (*from, from + text.len());
                let within = move |span: &&Span| span.prompt.start < to && span.prompt.end > from;
                spans.iter().filter(within).map(move |span| {
                    part_of(span, span.prompt.start.max(from), span.prompt.end.min(to))
                })
            });
            return Operand::text(&String::from_utf8_lossy(text), origins);
        }
        let shared_address =
            shared_address(value).and_then(|shared_address| self.parts.get(&shared_address));
        let known = shared_address.or_else(|| self.parts.get(&address(value)));
        let from = match (known, value) {
            (Some(part), _) => part.to_vec(),
            (None, Value::Int(number)) => {
                let notes = self.decisions.as_deref();
                let made = notes.and_then(|notes| notes.numbers.get(number));
                made.cloned().unwrap_or_default()
            }
            (None, Value::Bool(_)) => {
                let notes = self.decisions.as_deref();
                let before = notes.and_then(|notes| notes.read_before.last().copied());
                let read = self.touched.get(before.unwrap_or_default()..);
                read.unwrap_or_default().to_vec()
            }
            _ => Vec::new(),
        };
        let text = match value {
            Value::Absent | Value::Nil => "nil".to_owned(),
            Value::Bool(truth) => truth.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Byte(byte) => byte.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Text(_) => String::new(),
            Value::List(list) if list.items().is_empty() => "[]".to_owned(),
            Value::List(_) | Value::Bytes(_) => "[…]".to_owned(),
            Value::Map(_) | Value::Struct(_) | Value::Ordered(_) => "{…}".to_owned(),
        };
        Operand::made(OperandValue::Plain(text), from)
    }

    /// What the decisions of the render looked at.
    pub(crate) fn into_decisions(self) -> Option<Decisions> {
        Some(self.decisions?.log.into_decisions())
    }

    /// Adds a text of the conversation.
    pub(crate) fn add_text(&mut self, text: &Text, spans: Vec<Span>) {
        if !text.is_empty() {
            self.texts.insert(text, spans.into(), Some(text.clone()));
        }
    }

    /// Adds a text that is an input by itself.
    pub(crate) fn add_whole_text(&mut self, text: &Text, kind: InputKind, path: &str) {
        let path = path.to_owned();
        let input = Arc::new(Input { kind, path });
        self.add_text(text, vec![whole(&input, text.len(), &self.untouched)]);
    }

    /// Adds a part of the conversation under its own address and the address of what it holds.
    pub(crate) fn add_part(&mut self, value: &Value, input: &Arc<Input>) {
        let sources: Sources = Arc::from([Arc::clone(input)]);
        if let Some(shared_address) = shared_address(value) {
            self.parts.insert(shared_address, Arc::clone(&sources));
        }
        self.parts.insert(address(value), sources);
    }

    /// Says that somebody wrote the name of a field, as the field is named in JSON.
    pub(crate) fn add_name(&mut self, field: &Value) {
        self.named.insert(address(field));
    }

    pub(crate) fn begin_action(&mut self) {
        self.touched.clear();
        self.touched_list = None;
    }

    /// The current action reads a value where it is.
    pub(crate) fn touch(&mut self, value: &Value) {
        if let Some(part) = self.parts.get(&address(value)) {
            let part = Arc::clone(part);
            self.touch_all(&part);
        }
    }

    fn touch_all(&mut self, inputs: &Sources) {
        for input in inputs.iter() {
            if self.touched.len() < MOST_TOUCHED && !self.touched.contains(input) {
                self.touched.push(Arc::clone(input));
                self.touched_list = None;
            }
        }
    }

    /// What the current action has read.
    fn touched(&mut self) -> Sources {
        if self.touched.is_empty() {
            return Arc::clone(&self.nothing);
        }
        let touched = &self.touched;
        let list = self
            .touched_list
            .get_or_insert_with(|| touched.iter().cloned().collect());
        Arc::clone(list)
    }

    /// A variable gets the value that the current action has found.
    pub(crate) fn set_variable(&mut self, at: usize) {
        let touched = self.touched();
        self.variables.insert(at, touched);
    }

    /// A variable gets an item of a list or map.
    pub(crate) fn set_variable_to(&mut self, at: usize, item: &Value) {
        let part = self.parts.get(&address(item)).unwrap_or(&self.nothing);
        self.variables.insert(at, Arc::clone(part));
    }

    /// The current action reads a variable.
    pub(crate) fn touch_variable(&mut self, at: usize) {
        if let Some(inputs) = self.variables.get(&at) {
            let inputs = Arc::clone(inputs);
            self.touch_all(&inputs);
        }
    }

    /// A named template begins: it has its own variables. Returns the outer ones.
    pub(crate) fn begin_template(&mut self) -> HashMap<usize, Sources> {
        std::mem::take(&mut self.variables)
    }

    pub(crate) fn end_template(&mut self, outer: HashMap<usize, Sources>) {
        self.variables = outer;
    }

    /// A text that the render has made from these pieces.
    pub(crate) fn made(&mut self, text: &Text, pieces: Pieces) {
        if text.is_empty() {
            return;
        }
        if self.texts.0.len() >= self.sweep_at {
            self.sweep();
        }
        let mut spans = pieces.spans.into_list();
        if self.pieces + spans.len() > MOST_PIECES {
            spans = vec![Span {
                prompt: 0..text.len(),
                origin: Origin::Made {
                    from: Arc::clone(&self.nothing),
                },
                operations: Arc::clone(&self.untouched),
            }];
        }
        self.pieces += spans.len();
        self.texts.insert(text, spans.into(), Some(text.clone()));
    }

    /// A text that the render has cut out of another one.
    pub(crate) fn cut(&mut self, text: &Text, from: &[u8], operation: &'static str) {
        let mut pieces = Pieces::default();
        pieces.operations.push(operation);
        self.write(&mut pieces, from);
        self.made(text, pieces);
    }

    /// Forgets the texts that only the trace has.
    fn sweep(&mut self) {
        let pieces = &mut self.pieces;
        self.texts.0.retain(|_, known| {
            let is_lost = known
                .kept
                .as_ref()
                .is_some_and(|kept| Arc::strong_count(kept) == 1);
            if is_lost {
                *pieces = pieces.saturating_sub(known.spans.len());
            }
            !is_lost
        });
        self.sweep_at = (2 * self.texts.0.len()).max(SWEEP);
    }

    /// Notes bytes that are written to a text.
    #[cold]
    pub(crate) fn write(&mut self, pieces: &mut Pieces, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if pieces.count >= MOST_PIECES {
            let origin = Origin::Made {
                from: Arc::clone(&self.nothing),
            };
            pieces.spans.push(bytes.len(), origin, &self.untouched);
            return;
        }
        if let Some((origin, operations)) = &pieces.instead {
            let (origin, operations) = (origin.clone(), Arc::clone(operations));
            self.push(pieces, bytes.len(), origin, &operations);
            return;
        }
        let Some((from, spans)) = self.find(bytes) else {
            let origin = self.unknown(pieces);
            let untouched = Arc::clone(&self.untouched);
            self.push(pieces, bytes.len(), origin, &untouched);
            return;
        };
        let to = from + bytes.len();
        let first = spans.partition_point(|span| span.prompt.end <= from);
        for span in &spans[first..] {
            if span.prompt.start >= to {
                break;
            }
            let start = span.prompt.start.max(from);
            let end = span.prompt.end.min(to);
            let origin = part_of(span, start, end);
            self.push(pieces, end - start, origin, &span.operations);
        }
    }

    fn find(&self, bytes: &[u8]) -> Option<(usize, Arc<[Span]>)> {
        let found = self.texts.find(bytes);
        let (from, spans) = found.or_else(|| self.literals.find(bytes))?;
        Some((from, Arc::clone(spans)))
    }

    fn push(&mut self, pieces: &mut Pieces, length: usize, origin: Origin, done: &Operations) {
        let mut operations = Arc::clone(done);
        for operation in pieces.operations.iter().rev() {
            operations = self.then(&operations, operation);
        }
        pieces.count += 1;
        pieces.spans.push(length, origin, &operations);
    }

    fn then(&mut self, done: &Operations, next: &'static str) -> Operations {
        if done.len() >= MOST_OPERATIONS || done.last() == Some(&next) {
            return Arc::clone(done);
        }
        let known = self.operations.iter();
        let mut known = known.filter(|(first, second, _)| *second == next && first == done);
        if let Some((_, _, both)) = known.next() {
            return Arc::clone(both);
        }
        let both: Operations = done.iter().copied().chain([next]).collect();
        if self.operations.len() < 64 {
            let entry = (Arc::clone(done), next, Arc::clone(&both));
            self.operations.push(entry);
        }
        both
    }

    /// The origin of bytes that no known text has.
    fn unknown(&mut self, pieces: &Pieces) -> Origin {
        let from = match &pieces.subject {
            Some(subject) => Arc::clone(subject),
            None => self.touched(),
        };
        Origin::Made { from }
    }

    /// Begins to write a value. What is written for it, other than texts, is made from it. Returns
    /// what was written before.
    pub(crate) fn begin(&self, pieces: &mut Pieces, value: &Value) -> Option<Sources> {
        let outer = pieces.subject.clone();
        if let Value::Text(text) = value {
            if outer.is_none() {
                pieces.subject = self.input_of(text);
            }
        } else {
            let found =
                shared_address(value).and_then(|shared_address| self.parts.get(&shared_address));
            let found = found.or_else(|| self.parts.get(&address(value)));
            if let Some(subject) = found {
                pieces.subject = Some(Arc::clone(subject));
            }
        }
        outer
    }

    /// The input that a text is, if it is one.
    fn input_of(&self, text: &Text) -> Option<Sources> {
        let (_, spans) = self.texts.find(text).filter(|_| !text.is_empty())?;
        match &**spans {
            [
                Span {
                    origin: Origin::Input { input, .. },
                    ..
                },
            ] => Some(Arc::from([Arc::clone(input)])),
            _ => None,
        }
    }

    /// Begins to write what is made from a struct.
    pub(crate) fn begin_struct(&self, pieces: &mut Pieces, of: &Struct) -> Option<Sources> {
        let outer = pieces.subject.clone();
        if let Some(subject) = self.parts.get(&address(of)) {
            pieces.subject = Some(Arc::clone(subject));
        }
        outer
    }

    /// Begins to write the name of a field.
    pub(crate) fn name(&self, pieces: &mut Pieces, name: &str, field: &Value) {
        let at = address(field);
        let part = self.parts.get(&at).filter(|_| self.named.contains(&at));
        if let Some([input]) = part.map(|part| &**part) {
            let origin = Origin::Input {
                input: Arc::clone(input),
                bytes: 0..name.len(),
            };
            pieces.instead = Some((origin, Arc::clone(&self.key)));
        }
    }

    /// Begins to write something in place of bytes, such as an escape.
    pub(crate) fn replace(&mut self, pieces: &mut Pieces, bytes: &[u8]) {
        if pieces.instead.is_some() {
            return;
        }
        pieces.instead = Some(match self.find(bytes) {
            Some((from, spans)) => {
                let to = from + bytes.len();
                let mut over = spans
                    .iter()
                    .filter(|span| span.prompt.start < to && span.prompt.end > from);
                match (over.next(), over.next()) {
                    (Some(span), None) => (part_of(span, from, to), Arc::clone(&span.operations)),
                    // A character of two halves.
                    _ => (self.unknown(pieces), Arc::clone(&self.untouched)),
                }
            }
            None => (self.unknown(pieces), Arc::clone(&self.untouched)),
        });
    }
}

impl Pieces {
    /// Begins an operation. Returns whether it was not yet under way.
    pub(crate) fn begin_operation(&mut self, name: &'static str) -> bool {
        let is_new = self.operations.last() != Some(&name);
        if is_new {
            self.operations.push(name);
        }
        is_new
    }

    /// Ends the operation that began last.
    pub(crate) fn end_operation(&mut self) {
        self.operations.pop();
    }

    pub(crate) fn end(&mut self, outer: Option<Sources>) {
        self.subject = outer;
    }

    /// Ends what was written in place of something.
    pub(crate) fn end_replacement(&mut self) {
        self.instead = None;
    }

    pub(crate) fn into_spans(self) -> Vec<Span> {
        self.spans.into_list()
    }
}

/// The span of a text that is an input as it is.
pub(crate) fn whole(input: &Arc<Input>, length: usize, operations: &Operations) -> Span {
    Span {
        prompt: 0..length,
        origin: Origin::Input {
            input: Arc::clone(input),
            bytes: 0..length,
        },
        operations: Arc::clone(operations),
    }
}

/// The origin of a part of a span. If the lengths differ, nobody knows the place of a single byte, and the
/// part has the whole origin.
pub(crate) fn part_of(span: &Span, start: usize, end: usize) -> Origin {
    let inner = |source: &std::ops::Range<usize>| {
        if source.len() == span.prompt.len() {
            source.start + (start - span.prompt.start)..source.start + (end - span.prompt.start)
        } else {
            source.clone()
        }
    };
    match &span.origin {
        Origin::Literal { source } => Origin::Literal {
            source: inner(source),
        },
        Origin::Input { input, bytes } => Origin::Input {
            input: Arc::clone(input),
            bytes: inner(bytes),
        },
        made @ Origin::Made { .. } => made.clone(),
    }
}

/// The address of what a value shares with its copies.
fn shared_address(value: &Value) -> Option<usize> {
    match value {
        Value::List(list) if !list.items().is_empty() => Some(address(&list.items()[0]) + 1),
        Value::Map(map) => map.entries.as_deref().map(address),
        Value::Struct(structure) => Some(address(&**structure)),
        Value::Ordered(Some(entries)) => Some(address(&**entries)),
        Value::Bytes(bytes) if !bytes.is_empty() => Some(address(&**bytes)),
        _ => None,
    }
}
