//! Notes what the decisions of a traced render look at.
//!
//! The code of a traced render has probes around its conditions. What the operators, filters, tests
//! and methods between them read is theirs. Comparisons outside of all conditions are noted too: a
//! text may be looked up in a dictionary, or replaced.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use minijinja::value::{Value, ValueKind};
use rolecall_core::decision::{DecisionLog, Decisions, Look, Operand, OperandValue, TRUTH};
use rolecall_core::provenance::Input;

use crate::explanation;
use crate::provenance::{self, spans_of};
use crate::python::dictionaries::entries;
use crate::python::kinds::{is_dictionary, is_list, is_tuple};
use crate::python::text;

/// The most items of a list, or keys of a map, that are noted.
const MOST_ITEMS: usize = 64;

/// The operations that compare. They are noted outside of conditions, too.
const COMPARING: [&str; 34] = [
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not in",
    "[]",
    "eq",
    "equalto",
    "ne",
    "lt",
    "lessthan",
    "le",
    "gt",
    "greaterthan",
    "ge",
    "sameas",
    "startswith",
    "endswith",
    "find",
    "rfind",
    "index",
    "rindex",
    "count",
    "get",
    "replace",
    "split",
    "rsplit",
    "partition",
    "rpartition",
    "removeprefix",
    "removesuffix",
];

/// What is noted in a render.
#[derive(Default)]
struct Notes {
    log: DecisionLog,
    /// What made each number, by its text. A number has no place of its own as a text has, so the
    /// last operation that made this number counts.
    numbers: HashMap<String, Vec<Arc<Input>>>,
}

thread_local! {
    static NOTES: RefCell<Option<Notes>> = const { RefCell::new(None) };
    /// Whether the decisions of the render on this thread are noted.
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
}

fn with<T>(act: impl FnOnce(&mut Notes) -> T) -> Option<T> {
    if !IS_NOTED.get() {
        return None;
    }
    NOTES.with_borrow_mut(|notes| notes.as_mut().map(act))
}

/// Notes what the decisions of a render look at, if somebody wants to know.
pub(crate) fn noted<T>(is_wanted: bool, render: impl FnOnce() -> T) -> (T, Option<Decisions>) {
    /// Ends the notes, after a panic too.
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            IS_NOTED.set(false);
            NOTES.take();
        }
    }
    if is_wanted {
        NOTES.set(Some(Notes::default()));
        IS_NOTED.set(true);
    }
    let _off = Off;
    let result = render();
    (result, NOTES.take().map(|notes| notes.log.into_decisions()))
}

/// A condition begins to be evaluated.
pub(crate) fn begin() {
    with(|notes| notes.log.begin());
}

/// A condition has been evaluated.
pub(crate) fn end(site: usize, value: &Value) {
    truth(value);
    with(|notes| {
        let written = provenance::written();
        notes.log.end(site, value.is_true(), written);
    });
}

/// The truth of a value is looked at.
pub(crate) fn truth(value: &Value) {
    // A truth alone says less than what it was made by.
    if IS_NOTED.get() && value.kind() != ValueKind::Bool {
        look(TRUTH, std::slice::from_ref(value), value);
    }
}

/// What a call gave, with the origin of its texts. The call is noted.
pub(crate) fn watched(name: &'static str, args: &[Value], result: Value) -> Value {
    let result = explanation::watched(name, args, result);
    look(name, args, &result);
    result
}

/// What a method gave. Its object is the first argument.
pub(crate) fn watched_method(name: &str, args: &[Value], result: Value) -> Value {
    let result = explanation::watched_method(name, args, result);
    let known = explanation::METHODS
        .iter()
        .chain(&COMPARING)
        .chain(&["keys", "items", "values", "isdigit", "isalpha", "isupper"]);
    let name = known.copied().find(|known| *known == name);
    look(name.unwrap_or("a method"), args, &result);
    result
}

/// Notes a call, if it reads something that the template was given.
fn look(name: &'static str, args: &[Value], result: &Value) {
    let Some(is_deciding) = with(|notes| notes.log.is_deciding()) else {
        return;
    };
    // A number is followed from a text to a condition. Small numbers from lists are everywhere.
    let is_text = |of: &Value| of.as_str().is_some() || provenance::input_of(of).is_none();
    let makes_number = result.is_number() && args.first().is_some_and(is_text);
    // A loop over parts of a text has as many iterations as the text has parts.
    let counts = name == "for" && args.first().is_some_and(is_of_texts);
    let compares = counts || COMPARING.contains(&name);
    if !is_deciding && !makes_number && !compares {
        return;
    }
    // What writes JSON or joins texts decides nothing, and neither does the number of an item.
    let is_numbered = name == "[]" && args.get(1).is_some_and(Value::is_number);
    if is_numbered || !counts && !makes_number && ["tojson", "+", "~", "for"].contains(&name) {
        return;
    }
    let operands: Vec<Operand> = args.iter().map(|value| operand(value, 0)).collect();
    let is_of_input = || operands.iter().any(|operand| !operand.inputs().is_empty());
    // A condition may compare what has no origin: an empty text, or the number of a loop's
    // iteration.
    if !(is_deciding && (compares || name == TRUTH) || is_of_input()) {
        return;
    }
    let result = match result.kind() {
        ValueKind::Bool | ValueKind::Number => Some(text::str(result).into_owned()),
        _ => None,
    };
    with(|notes| {
        if makes_number && let Some(number) = &result {
            let inputs = operands.iter().flat_map(Operand::inputs).cloned();
            notes.numbers.insert(number.clone(), inputs.collect());
        }
        notes.log.look(Look {
            operation: name,
            operands,
            result,
        });
    });
}

/// Whether a value is a text or a list of texts.
fn is_of_texts(value: &Value) -> bool {
    let first = || value.get_item_by_index(0).ok();
    value.as_str().is_some() || is_list(value) && first().is_some_and(|it| it.as_str().is_some())
}

/// A value that is looked at, within so many lists.
fn operand(value: &Value, depth: usize) -> Operand {
    if let Some(text) = value.as_str() {
        let spans = spans_of(text);
        let spans = spans.iter().flat_map(|spans| spans.list());
        return Operand::text(text, spans.map(|span| span.origin.clone()));
    }
    if let Some(input) = provenance::input_of(value) {
        let kind = if is_dictionary(value) {
            "{…}"
        } else {
            "[…]"
        };
        let text = match value.len() {
            Some(0) => kind.replace('…', ""),
            _ => kind.to_owned(),
        };
        return Operand::made(OperandValue::Plain(text), vec![input]);
    }
    if depth < 2 && is_dictionary(value) {
        let entries = entries(value).unwrap_or_default();
        let keys = entries.iter().take(MOST_ITEMS);
        let keys = keys.map(|(key, _)| operand(key, depth + 1)).collect();
        return Operand::made(OperandValue::Items(keys), Vec::new());
    }
    if depth < 2 && (is_list(value) || is_tuple(value)) {
        let items = value.try_iter().into_iter().flatten().take(MOST_ITEMS);
        let items = items.map(|item| operand(&item, depth + 1)).collect();
        return Operand::made(OperandValue::Items(items), Vec::new());
    }
    let text = match value.kind() {
        ValueKind::Number | ValueKind::Bool | ValueKind::None => text::str(value).into_owned(),
        ValueKind::Undefined => "undefined".to_owned(),
        other => other.to_string(),
    };
    let mut from = None;
    if value.is_number() {
        from = with(|notes| notes.numbers.get(&text).cloned()).flatten();
    }
    Operand::made(OperandValue::Plain(text), from.unwrap_or_default())
}
