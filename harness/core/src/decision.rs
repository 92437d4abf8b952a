//! What the decisions of a render looked at.
//!
//! A [`Look`] is one operation that read something: a comparison, a length, the truth of a value. A [`Decision`] is one evaluation of a condition
//! or of an operand, with its looks. Together they say whether the content of a message decided, and
//! with which literals the template compared it.

use crate::cut::Cut;
use std::ops::Range;
use std::sync::Arc;

use crate::provenance::{Input, Origin};

/// The most looks that are kept of one render.
const MOST_LOOKS: usize = 100_000;

/// The most bytes that are kept of one text.
const MOST_BYTES: usize = 400;

/// The look of a condition at its own value.
pub const TRUTH: &str = "truth";

/// What the decisions of one render looked at, in the order of the render.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Everything that the render looked at. A comparison outside of all conditions is here, too.
    pub looks: Vec<Look>,
    /// The evaluations of conditions and operands, each where it ended.
    pub decisions: Vec<Decision>,
    /// Whether the render had more looks than are kept.
    pub is_cut: bool,
}

impl Decisions {
    /// The looks outside of all conditions.
    pub fn outside(&self) -> impl Iterator<Item = &Look> {
        let mut is_within = vec![false; self.looks.len()];
        for decision in &self.decisions {
            if let Some(within) = is_within.get_mut(decision.looks.clone()) {
                within.fill(true);
            }
        }
        let looks = self.looks.iter().zip(is_within);
        looks
            .filter(|(_, is_within)| !is_within)
            .map(|(look, _)| look)
    }

    /// The places of all literals of the template in them.
    pub fn literals_mut(&mut self) -> impl Iterator<Item = &mut Range<usize>> {
        fn of_operand(operand: &mut Operand) -> Vec<&mut Range<usize>> {
            let own = operand
                .origins
                .iter_mut()
                .filter_map(|origin| match origin {
                    Origin::Literal { source } => Some(source),
                    _ => None,
                });
            let mut places: Vec<_> = own.collect();
            if let OperandValue::Items(items) = &mut operand.value {
                places.extend(items.iter_mut().flat_map(of_operand));
            }
            places
        }
        let operands = self.looks.iter_mut().flat_map(|look| &mut look.operands);
        operands.flat_map(of_operand)
    }
}

/// One evaluation of a condition or of an operand of `and` or `or`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its site: an index in the list of the program's sites.
    pub site: usize,
    /// What it came to.
    pub truth: bool,
    /// Its looks, with those of the operands within it.
    pub looks: Range<usize>,
    /// How many bytes the prompt had when it was made. Texts of macros and captured texts count when
    /// they are written to the prompt.
    pub written: usize,
}

/// One operation that read something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The operation, by the template's own word for it: `==`, `in`, `startswith`, `length`; or
    /// [`TRUTH`].
    pub operation: &'static str,
    /// What it read: its operands, in their order.
    pub operands: Vec<Operand>,
    /// What it gave: a truth or a number. None for anything else.
    pub result: Option<String>,
}

/// A value that an operation read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// What it was, cut if it is long.
    pub value: OperandValue,
    /// Where it comes from, as far as that is known, each origin once.
    pub origins: Vec<Origin>,
}

/// The value of an operand. Long texts and lists are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperandValue {
    /// A text. A long one is cut.
    Text(Arc<str>),
    /// A number, a truth, or nothing, as the template would print it.
    Plain(String),
    /// The items of a list, or the keys of a map. Many are cut.
    Items(Vec<Operand>),
}

impl Operand {
    /// A text with the origins of its stretches.
    pub fn text(text: &str, of_stretches: impl IntoIterator<Item = Origin>) -> Operand {
        let mut end = text.len().min(MOST_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut origins: Vec<Origin> = Vec::new();
        for origin in of_stretches {
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
        Operand {
            value: OperandValue::Text(text.cut(..end).into()),
            origins,
        }
    }

    /// A value that is no text, made from inputs.
    pub fn made(value: OperandValue, from: Vec<Arc<Input>>) -> Operand {
        let origins = if from.is_empty() {
            Vec::new()
        } else {
            vec![Origin::Made { from: from.into() }]
        };
        Operand { value, origins }
    }

    /// The inputs that it comes from, each once.
    pub fn inputs(&self) -> Vec<&Arc<Input>> {
        let mut inputs: Vec<&Arc<Input>> = Vec::new();
        let mut add = |input| {
            if !inputs.contains(&input) {
                inputs.push(input);
            }
        };
        for origin in &self.origins {
            match origin {
                Origin::Literal { .. } => {}
                Origin::Input { input, .. } => add(input),
                Origin::Made { from } => from.iter().for_each(&mut add),
            }
        }
        if let OperandValue::Items(items) = &self.value {
            items.iter().flat_map(Operand::inputs).for_each(&mut add);
        }
        inputs
    }

    /// The texts in it that come from no input: the text itself, or those among its items. The
    /// template has them as literals, or makes them from literals and numbers. Each comes with the
    /// place of its first literal in the source, if that is known.
    pub fn literals(&self) -> Vec<(&str, Option<Range<usize>>)> {
        match &self.value {
            OperandValue::Text(text) if !text.is_empty() && self.inputs().is_empty() => {
                let mut origins = self.origins.iter();
                let place = origins.find_map(|origin| match origin {
                    Origin::Literal { source } => Some(source.clone()),
                    _ => None,
                });
                vec![(text, place)]
            }
            OperandValue::Text(_) | OperandValue::Plain(_) => Vec::new(),
            OperandValue::Items(items) => items.iter().flat_map(Operand::literals).collect(),
        }
    }
}

/// Collects what the decisions of a render look at. An engine fills it.
#[derive(Debug, Default)]
pub struct DecisionLog {
    decisions: Decisions,
    /// The evaluations that have begun, each with the number of looks before it.
    open: Vec<usize>,
}

impl DecisionLog {
    /// A condition or an operand begins to be evaluated.
    pub fn begin(&mut self) {
        self.open.push(self.decisions.looks.len());
    }

    /// The condition or the operand that began last has been evaluated, when the prompt had so many
    /// bytes.
    pub fn end(&mut self, site: usize, truth: bool, written: usize) {
        let Some(start) = self.open.pop() else { return };
        // Its looks may be among those that were not kept, so that it would seem to look at nothing.
        if self.decisions.is_cut {
            return;
        }
        let looks = start..self.decisions.looks.len();
        self.decisions.decisions.push(Decision {
            site,
            truth,
            looks,
            written,
        });
    }

    /// The condition that began last has no site.
    pub fn forget(&mut self) {
        self.open.pop();
    }

    /// Whether a condition is being evaluated.
    pub fn is_deciding(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether the condition that began last has looked at something.
    pub fn has_looked(&self) -> bool {
        let start = self.open.last();
        start.is_some_and(|start| *start < self.decisions.looks.len())
    }

    /// Something is looked at.
    pub fn look(&mut self, look: Look) {
        if self.decisions.looks.len() < MOST_LOOKS {
            self.decisions.looks.push(look);
        } else {
            self.decisions.is_cut = true;
        }
    }

    /// What was looked at.
    pub fn into_decisions(self) -> Decisions {
        self.decisions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::InputKind;

    fn look(operation: &'static str) -> Look {
        Look {
            operation,
            operands: Vec::new(),
            result: None,
        }
    }

    #[test]
    fn a_decision_has_the_looks_of_its_operands() {
        let mut log = DecisionLog::default();
        log.look(look("replace"));
        log.begin();
        log.begin();
        log.look(look("=="));
        log.end(1, true, 0);
        log.begin();
        log.look(look("in"));
        log.end(2, false, 4);
        log.end(0, false, 4);
        let decisions = log.into_decisions();
        let found = decisions.decisions.iter();
        let found: Vec<_> = found.map(|one| (one.site, one.looks.clone())).collect();
        assert_eq!(found, [(1, 1..2), (2, 2..3), (0, 1..3)]);
    }

    #[test]
    fn a_text_that_was_joined_from_literals_is_a_literal() {
        let literals = [3..5, 10..14].map(|source| Origin::Literal { source });
        let joined = Operand::text("deploy", literals.clone());
        assert_eq!(joined.literals(), [("deploy", Some(3..5))]);
        assert!(joined.inputs().is_empty());
        let input = Arc::new(Input {
            kind: InputKind::Message,
            path: "messages[0].content".to_owned(),
        });
        let bytes = 0..1;
        let letter = Origin::Input { input, bytes };
        let mixed = Operand::text("deploys", literals.into_iter().chain([letter]));
        assert!(mixed.literals().is_empty());
        assert_eq!(mixed.inputs().len(), 1);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = format!("{}é", "x".repeat(MOST_BYTES - 1));
        let OperandValue::Text(kept) = Operand::text(&text, []).value else {
            panic!("it is a text");
        };
        assert_eq!(kept.len(), MOST_BYTES - 1);
    }
}
