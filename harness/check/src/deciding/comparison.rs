//! Comparisons of content with literals.

use std::ops::Range;

use rolecall_core::decision::{Look, Operand, OperandValue, TRUTH};
use rolecall_core::provenance::{InputKind, Origin};

use super::subject::{Subject, subject};

/// One comparison that a render made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) subject: Subject,
    /// Where the text is in the conversation.
    pub(crate) path: String,
    /// The bytes of the text that are compared, if not all of them.
    pub(crate) bytes: Option<Range<usize>>,
    pub(crate) operation: &'static str,
    /// Whether the text comes before the literal.
    pub(crate) is_first: bool,
    pub(crate) with: ComparedWith,
}

/// What a text is compared with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ComparedWith {
    /// A literal at a byte of the source, if its place is known.
    Literal { text: String, at: Option<usize> },
    /// A number that a render compared with a number made from the text.
    Number(usize),
}

/// The operations that look for a text in a whole.
const SEARCHES: [&str; 8] = [
    "in", "not in", "find", "rfind", "index", "count", "==", "!=",
];

/// The comparisons in a look: each text that somebody wrote with each literal.
pub(crate) fn comparisons(look: &Look) -> Vec<Comparison> {
    let mut found = Vec::new();
    for (at, operand) in look.operands.iter().enumerate() {
        let texts = match written(operand) {
            Some(one) if subject(&one.0).is_some() => vec![one],
            _ if SEARCHES.contains(&look.operation) => within_whole(operand),
            _ => continue,
        };
        let others = look.operands.iter().enumerate();
        let others = others.filter(|(place, _)| *place != at);
        for ((path, bytes), (place, other)) in texts
            .iter()
            .flat_map(|one| others.clone().map(move |other| (one, other)))
        {
            let Some(subject) = subject(path) else {
                continue;
            };
            let is_number = matches!(operand.value, OperandValue::Plain(_));
            let with: Vec<ComparedWith> = match (&other.value, is_number) {
                (OperandValue::Plain(number), true) => {
                    let number = number.parse().ok();
                    number.map(ComparedWith::Number).into_iter().collect()
                }
                _ => literals(other),
            };
            found.extend(with.into_iter().map(|with| Comparison {
                subject,
                path: path.clone(),
                bytes: bytes.clone(),
                operation: look.operation,
                is_first: at < place,
                with,
            }));
            // The second literal of `replace` is what is put in.
            if look.operation == "replace" {
                break;
            }
        }
    }
    found
}

/// The literals of an operand. An empty one is none.
fn literals(operand: &Operand) -> Vec<ComparedWith> {
    let literals = operand.literals().into_iter();
    let literals = literals.map(|(text, source)| ComparedWith::Literal {
        text: text.to_owned(),
        at: source.map(|source| source.start),
    });
    literals.collect()
}

/// The text of a conversation that an operand is, or is a part of, or was made from.
fn written(operand: &Operand) -> Option<(String, Option<Range<usize>>)> {
    match operand.origins.as_slice() {
        [Origin::Input { input, bytes }] if input.kind != InputKind::Clock => {
            Some((input.path.clone(), Some(bytes.clone())))
        }
        [Origin::Made { from }] => match from.as_ref() {
            [input] if input.kind != InputKind::Clock => Some((input.path.clone(), None)),
            _ => None,
        },
        // Stretches of one text.
        [Origin::Input { input, .. }, rest @ ..] => {
            let is_same = |origin: &Origin| matches!(origin, Origin::Input { input: other, .. } if other == input);
            rest.iter().all(is_same).then(|| (input.path.clone(), None))
        }
        _ => None,
    }
}

/// Texts of the conversation within an operand that holds all messages or all tools, such as
/// `messages | string`: a content, and a name.
fn within_whole(operand: &Operand) -> Vec<(String, Option<Range<usize>>)> {
    let inputs = operand.inputs();
    let paths = inputs.iter().map(|input| match input.path.as_str() {
        "messages" => "messages[0].content".to_owned(),
        "tools" => "tools[0].function.description".to_owned(),
        path => path.to_owned(),
    });
    let paths: Vec<String> = paths.collect();
    let is_whole = matches!(
        operand.value,
        OperandValue::Text(_) | OperandValue::Items(_)
    );
    let first = |wanted: Subject| {
        let mut paths = paths.iter().filter(|_| is_whole);
        paths.find(|path| subject(path) == Some(wanted)).cloned()
    };
    let found = [first(Subject::Content), first(Subject::Name)];
    found
        .into_iter()
        .flatten()
        .map(|path| (path, None))
        .collect()
}

/// The texts that a look compares or takes apart. It is no such look that asks whether there is a text,
/// or trims one.
pub(crate) fn read_texts(look: &Look) -> impl Iterator<Item = &str> {
    /// They give the same for any text that neither begins nor ends with white space.
    const BLIND: [&str; 12] = [
        TRUTH,
        "string",
        "defined",
        "undefined",
        "none",
        "mapping",
        "iterable",
        "sequence",
        "trim",
        "strip",
        "lstrip",
        "rstrip",
    ];
    let is_blind = look.operands.len() == 1 && BLIND.contains(&look.operation);
    let operands = look.operands.iter().filter(move |_| !is_blind);
    let paths =
        operands.flat_map(|operand| operand.inputs().into_iter().map(|it| it.path.as_str()));
    paths.filter(|path| subject(path) == Some(Subject::Content))
}

/// Whether a look compares the clock with something.
pub(crate) fn is_of_clock(look: &Look) -> bool {
    let mut inputs = look.operands.iter().flat_map(Operand::inputs);
    look.operands.len() > 1 && inputs.any(|input| input.kind == InputKind::Clock)
}

/// The texts of the template with which a look compares the clock.
pub(crate) fn clock_texts(look: &Look) -> impl Iterator<Item = String> {
    let operands = look.operands.iter().filter(|_| is_of_clock(look));
    let literals = operands.flat_map(Operand::literals);
    literals.map(|(text, _)| text.to_owned())
}

/// Whether a look asks whether a text that somebody wrote is empty, and where that text is.
pub(crate) fn emptiness(look: &Look) -> Option<String> {
    let is_empty = |operand: &Operand| {
        matches!(&operand.value, OperandValue::Text(text) if text.is_empty())
            && operand.origins.is_empty()
    };
    let is_truth = look.operation == TRUTH;
    let asks = is_truth || ["==", "!=", "eq", "ne"].contains(&look.operation);
    let (path, _) = look.operands.iter().find_map(written)?;
    let is_asked = asks && (is_truth || look.operands.iter().any(is_empty));
    (is_asked && subject(&path) == Some(Subject::Content)).then_some(path)
}

/// The number with which a look compares another number that no text made, if it compares two: the
/// number of a turn, or of the messages.
pub(crate) fn count(look: &Look) -> Option<usize> {
    let [one, other] = look.operands.as_slice() else {
        return None;
    };
    let number = |operand: &Operand| match &operand.value {
        OperandValue::Plain(number) if operand.inputs().is_empty() => number.parse().ok(),
        _ => None,
    };
    let numbers: [usize; 2] = [number(one)?, number(other)?];
    Some(numbers.into_iter().max().unwrap_or_default())
}
