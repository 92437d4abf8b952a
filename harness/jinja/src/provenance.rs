//! Remembers where texts come from, while a render is traced.
//!
//! A traced render keeps each text whose origin it knows in a separate buffer until it ends. So the
//! address of a text names its origin, whatever variables, lists or namespaces it goes through, and a
//! part of the buffer has the same part of the origin.
//!
//! The prompt, the text of a macro and a captured text are each written in a frame, which collects
//! the origins of what is written.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use minijinja::Value;
use minijinja::tests::is_sameas;
use rolecall_core::provenance::{Input, Origin, Span, Spans};

/// The most spans of a traced render, all of its texts together. A template that needs more is not
/// traced.
const MOST_SPANS: usize = 4_000_000;

/// Texts by the address of their buffer.
pub(crate) type Texts = BTreeMap<usize, Text>;

/// A text with a known origin.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    spans: Arc<Spans>,
    /// Keeps the buffer.
    _value: Value,
}

/// What is known of a conversation before a render.
#[derive(Default)]
pub(crate) struct KnownTexts {
    texts: Texts,
    /// Its lists and maps.
    containers: Vec<(Value, Arc<Input>)>,
    spans: usize,
}

/// What is known in a traced render.
#[derive(Default)]
struct Trace {
    literals: Arc<Texts>,
    conversation: Arc<KnownTexts>,
    texts: Texts,
    /// Further lists and maps that the template was given.
    containers: Vec<(Value, Arc<Input>)>,
    /// What is being written: the prompt, macros, and captured texts.
    frames: Vec<Spans>,
    /// The captured texts that have ended and are not yet values.
    captured: Vec<Spans>,
    /// The parts of the JSON text that was written last.
    json: Vec<(usize, JsonPart)>,
    spans: usize,
}

/// A part of a JSON text.
enum JsonPart {
    /// A list or a map begins.
    Begin(Option<Arc<Input>>),
    /// A list or a map ends.
    End,
    /// A text with its quotation marks ends here. It began at this place.
    Text(usize, Option<Arc<Spans>>, String),
}

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
    /// Whether the render on this thread is traced.
    static IS_TRACED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the render on this thread is traced.
#[inline]
pub(crate) fn is_traced() -> bool {
    IS_TRACED.get()
}

/// Does something with the trace, if the render on this thread is traced.
fn with<T>(act: impl FnOnce(&mut Trace) -> T) -> Option<T> {
    if !is_traced() {
        return None;
    }
    TRACE.with_borrow_mut(|trace| trace.as_mut().map(act))
}

/// Traces a render. It gives the spans of what it wrote; None if there are too many.
pub(crate) fn traced<T>(
    literals: Arc<Texts>,
    render: impl FnOnce() -> T,
) -> (T, Option<Vec<Span>>) {
    /// Ends the trace, after a panic too.
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            IS_TRACED.set(false);
            let trace = TRACE.take();
            drop(trace);
        }
    }
    TRACE.set(Some(Trace {
        literals,
        frames: vec![Spans::default()],
        ..Trace::default()
    }));
    IS_TRACED.set(true);
    let _off = Off;
    let result = render();
    let spans = with(|trace| match trace.frames.as_mut_slice() {
        [prompt] if trace.spans <= MOST_SPANS => Some(std::mem::take(prompt).into_list()),
        _ => None,
    });
    (result, spans.flatten())
}

impl Trace {
    /// The spans of a text, which may be a part of a known one.
    fn spans_of(&self, text: &str) -> Option<Arc<Spans>> {
        let start = text.as_ptr().addr();
        let find = |texts: &Texts| {
            let (at, known) = texts.range(..=start).next_back()?;
            let part = start - at..start - at + text.len();
            let whole = known.spans.end();
            (part.end <= whole).then(|| {
                if part.len() == whole {
                    Arc::clone(&known.spans)
                } else {
                    Arc::new(known.spans.cut(part))
                }
            })
        };
        let texts = [&self.texts, &self.conversation.texts, &self.literals];
        texts.into_iter().find_map(find)
    }

    fn input_of(&self, value: &Value) -> Option<Arc<Input>> {
        value.as_object()?;
        let mut known = self.containers.iter().chain(&self.conversation.containers);
        let (_, input) = known.find(|(known, _)| is_sameas(known, value))?;
        Some(Arc::clone(input))
    }
}

/// The spans of a text, if they are known.
pub(crate) fn spans_of(text: &str) -> Option<Arc<Spans>> {
    if text.is_empty() {
        return None;
    }
    with(|trace| trace.spans_of(text)).flatten()
}

/// A copy of a text, in a separate buffer.
fn apart(text: &Value) -> Value {
    let content = text.as_str().unwrap_or_default();
    if text.is_safe() {
        Value::from_safe_string(content.to_owned())
    } else {
        Value::from(Arc::<str>::from(content))
    }
}

/// A literal of the template with its place.
pub(crate) fn literal(text: &Value, source: Range<usize>, texts: &mut Texts) -> Value {
    let text = apart(text);
    let content = text.as_str().unwrap_or_default();
    let mut spans = Spans::default();
    let origin = Origin::Literal { source };
    spans.push(content.len(), origin, &no_operations());
    insert(texts, &text, spans);
    text
}

fn insert(texts: &mut Texts, value: &Value, spans: Spans) {
    let address = value.as_str().unwrap_or_default().as_ptr().addr();
    let text = Text {
        spans: Arc::new(spans),
        _value: value.clone(),
    };
    texts.insert(address, text);
}

/// The same text, whose spans are known from now on. They have to cover it.
pub(crate) fn known(text: &Value, spans: Spans) -> Value {
    let content = text.as_str().unwrap_or_default();
    if content.is_empty() || spans.end() != content.len() {
        return text.clone();
    }
    let text = apart(text);
    with(|trace| {
        trace.spans += spans.count();
        if trace.spans <= MOST_SPANS {
            insert(&mut trace.texts, &text, spans);
        }
    });
    text
}

/// A text that the template is given.
pub(crate) fn given(text: &str, input: Arc<Input>, operation: Option<&'static str>) -> Value {
    let mut spans = Spans::default();
    let bytes = 0..text.len();
    let origin = Origin::Input { input, bytes };
    spans.push(text.len(), origin, &operation.into_iter().collect());
    known(&Value::from(text), spans)
}

/// Runs something that gives texts, lists and maps, and keeps what is known of them.
pub(crate) fn gathered<T>(give: impl FnOnce() -> T) -> (T, KnownTexts) {
    let outer = TRACE.replace(Some(Trace::default()));
    let was_traced = IS_TRACED.replace(true);
    let given = give();
    IS_TRACED.set(was_traced);
    let trace = TRACE.replace(outer).unwrap_or_default();
    let known = KnownTexts {
        texts: trace.texts,
        containers: trace.containers,
        spans: trace.spans,
    };
    (given, known)
}

/// The render on this thread is given what is known of a conversation.
pub(crate) fn know(conversation: &Arc<KnownTexts>) {
    with(|trace| {
        trace.spans += conversation.spans;
        trace.conversation = Arc::clone(conversation);
    });
}

/// A list or a map that the template is given.
pub(crate) fn given_container(value: &Value, input: Arc<Input>) {
    with(|trace| {
        trace.containers.push((value.clone(), input));
    });
}

/// The input that a list or a map is.
pub(crate) fn input_of(value: &Value) -> Option<Arc<Input>> {
    with(|trace| trace.input_of(value)).flatten()
}

pub(crate) fn no_operations() -> Arc<[&'static str]> {
    thread_local! {
        static NONE: Arc<[&'static str]> = Arc::from([]);
    }
    NONE.with(Arc::clone)
}

/// The span of a text that an operation made.
pub(crate) fn made(len: usize, from: Vec<Arc<Input>>, operation: &'static str) -> Spans {
    let mut spans = Spans::default();
    let operations = Some(operation).filter(|name| !name.is_empty());
    let origin = Origin::Made { from: from.into() };
    spans.push(len, origin, &operations.into_iter().collect());
    spans
}

/// How many bytes the prompt has.
pub(crate) fn written() -> usize {
    with(|trace| trace.frames.first().map_or(0, Spans::end)).unwrap_or_default()
}

/// Something is written to the innermost frame.
pub(crate) fn write(spans: &Spans) {
    with(|trace| {
        trace.spans += 1;
        if let Some(frame) = trace.frames.last_mut()
            && trace.spans <= MOST_SPANS
        {
            frame.extend(spans);
        }
    });
}

/// A frame begins: a macro, or a text that is captured.
pub(crate) fn begin() {
    with(|trace| trace.frames.push(Spans::default()));
}

/// The innermost frame ends. Its text will become a value.
pub(crate) fn end() {
    with(|trace| {
        if let Some(frame) = trace.frames.pop() {
            trace.captured.push(frame);
        }
    });
}

/// The text of the frame that ended last.
pub(crate) fn captured(text: Value) -> Value {
    match with(|trace| trace.captured.pop()).flatten() {
        Some(spans) if text.as_str().is_some() => known(&text, spans),
        _ => text,
    }
}

pub(crate) fn json_begins() {
    with(|trace| trace.json.clear());
}

/// A list or a map of a JSON text begins at a place.
pub(crate) fn json_container_begins(at: usize, value: &Value) {
    with(|trace| {
        let input = trace.input_of(value);
        trace.json.push((at, JsonPart::Begin(input)));
    });
}

/// A list or a map of a JSON text ends at a place.
pub(crate) fn json_container_ends(at: usize) {
    with(|trace| trace.json.push((at, JsonPart::End)));
}

/// A text of a JSON text is, with its quotation marks, at a place.
pub(crate) fn json_text(place: Range<usize>, text: &str) {
    with(|trace| {
        let spans = trace.spans_of(text).filter(|_| !text.is_empty());
        let part = JsonPart::Text(place.start, spans, text.to_owned());
        trace.json.push((place.end, part));
    });
}

/// The spans of the JSON text that was written last.
///
/// Punctuation of lists and maps that the template made itself comes from `from`.
pub(crate) fn json_spans(json: &str, from: Vec<Arc<Input>>, operation: &'static str) -> Spans {
    let parts = with(|trace| std::mem::take(&mut trace.json)).unwrap_or_default();
    let mut spans = Spans::default();
    let mut around: Vec<Arc<[Arc<Input>]>> = vec![from.into()];
    let operations: Arc<[&'static str]> = Arc::from([operation]);
    let punctuation = |spans: &mut Spans, until: usize, around: &[Arc<[Arc<Input>]>]| {
        let from = around.last().map_or_else(|| Arc::from([]), Arc::clone);
        let len = until.saturating_sub(spans.end());
        spans.push(len, Origin::Made { from }, &operations);
    };
    for (at, part) in parts {
        match part {
            JsonPart::Begin(input) => {
                punctuation(&mut spans, at, &around);
                let from = match input {
                    Some(input) => Arc::from([input]),
                    None => around.last().map_or_else(|| Arc::from([]), Arc::clone),
                };
                around.push(from);
            }
            JsonPart::End => {
                punctuation(&mut spans, at, &around);
                around.pop();
            }
            JsonPart::Text(start, of_text, text) => {
                let Some(of_text) = of_text else { continue };
                punctuation(&mut spans, start + 1, &around);
                let written = json.get(start + 1..at.saturating_sub(1));
                let written = written.unwrap_or_default();
                spans.extend(&escaped(&of_text, &text, written, Escapes::Json, operation));
            }
        }
    }
    punctuation(&mut spans, json.len(), &around);
    spans
}

/// How characters are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// `\\n`, `\\u00e9`
    Json,
    /// `&lt;`
    Html,
}

/// The spans of a text whose characters are escaped, each one or not: each has its own stretch in
/// what is written, one after the other.
pub(crate) fn escaped(
    of_text: &Spans,
    text: &str,
    written: &str,
    escapes: Escapes,
    operation: &'static str,
) -> Spans {
    if text == written {
        return of_text.after(operation);
    }
    let of_text = of_text.after(operation);
    let mut spans = Spans::default();
    let mut rest = written;
    let mut run = 0..0;
    for (at, c) in text.char_indices() {
        let len = c.len_utf8();
        let may_be_escape = c == if escapes == Escapes::Json { '\\' } else { '&' };
        if rest.starts_with(c) && !(may_be_escape && escape_len(rest, escapes, c) > len) {
            run.end = at + len;
            rest = &rest[len..];
            continue;
        }
        spans.extend(&of_text.cut(run.clone()));
        let escape = escape_len(rest, escapes, c).min(rest.len());
        let character = of_text.cut(at..at + len);
        if let Some(first) = character.list().first() {
            spans.push(escape, first.origin.clone(), &first.operations);
        }
        rest = rest.get(escape..).unwrap_or_default();
        run = at + len..at + len;
    }
    spans.extend(&of_text.cut(run));
    spans
}

/// The length of the escape at the beginning of a text, which represents a character.
fn escape_len(rest: &str, escapes: Escapes, c: char) -> usize {
    /// The length of `\uXXXX`.
    const UNICODE: usize = 6;
    let bytes = rest.as_bytes();
    match (escapes, bytes.first(), bytes.get(1)) {
        (Escapes::Json, Some(b'\\'), Some(b'u')) => UNICODE * c.len_utf16(),
        (Escapes::Json, Some(b'\\'), Some(_)) => 2,
        (Escapes::Html, Some(b'&'), _) => rest.find(';').map_or(1, |end| end + 1),
        _ => c.len_utf8(),
    }
}
