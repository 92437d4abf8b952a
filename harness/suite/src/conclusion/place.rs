//! Which place of a template writes what differs in a prompt.
//!
//! The expected prompt is only a text, and its template may be gone. So the new prompt is rendered
//! once more with its provenance: the literal at an edit, or the last one before it, is the place.

use std::collections::{BTreeSet, HashMap};

use rolecall_core::lines::Lines;
use rolecall_core::provenance::{Origin, Span};
use rolecall_core::{Outcome, Template};
use rolecall_front::engines::Engines;
use rolecall_front::front::ModelProfile;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use crate::cause::{placed_edits, with_one_number};
use crate::run::Compared;
use crate::suite::Pair;

/// An edit is traced once for all prompts that have the same bytes around it, so many on each side.
const AROUND: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    /// The name of the template, and of the one that its front picked.
    pub(super) template: String,
    /// The byte of its source.
    at: usize,
    /// The line of that byte, from 1.
    pub(super) line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PlacedEdit {
    /// The place that writes it, if the engine can tell.
    pub(super) place: Option<Place>,
    /// What is gone and what came, with `#` for every number. Without a place also the word before
    /// a short edit.
    pub(super) texts: [String; 3],
}

/// The name of a pair's template, and of the one that its front picks.
pub(super) fn name(pair: &Pair<'_>) -> String {
    let picked = pair.chosen().map_or("", |picked| picked.name.as_str());
    format!("{} {picked}", pair.template.name)
}

/// Finds the places of edits, and remembers them.
#[derive(Default)]
pub(super) struct Tracer<'s> {
    engines: Option<&'s Engines>,
    programs: HashMap<*const Template, Option<FrontProgram<'s>>>,
    lines: HashMap<*const Template, Lines>,
    known: HashMap<(*const Template, Vec<String>), BTreeSet<PlacedEdit>>,
}

impl<'s> Tracer<'s> {
    /// A tracer for prompts of these engines.
    pub(super) fn of(engines: &'s Engines) -> Tracer<'s> {
        Tracer {
            engines: Some(engines),
            ..Tracer::default()
        }
    }

    /// The edits between the accepted prompt of a pair and its prompt. None if a side has no prompt.
    pub(super) fn edits(
        &mut self,
        accepted: &Outcome,
        compared: &Compared<'s>,
    ) -> BTreeSet<PlacedEdit> {
        let (pair, found) = (&compared.rendered.pair, &compared.rendered.outcome);
        let (Some(template), Outcome::Rendered { text }) = (pair.chosen(), found) else {
            return BTreeSet::new();
        };
        let edits = placed_edits([accepted, found]);
        let around = edits.iter().map(|(edit, at)| {
            let start = text.floor_char_boundary(at.saturating_sub(AROUND));
            let end = text.floor_char_boundary(at + edit.came.len() + AROUND);
            let around = text.get(start..end).unwrap_or_default();
            format!("{edit:?}{around:?}")
        });
        let mut key: Vec<String> = around.collect();
        // A filter in a loop makes the same edit for each message.
        key.dedup();
        let key = (std::ptr::from_ref(template), key);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let spans = if edits.is_empty() {
            Vec::new()
        } else {
            self.spans(compared).unwrap_or_default()
        };
        let lines = self.lines.entry(key.0);
        let lines = lines.or_insert_with(|| Lines::of(&template.source));
        let placed = edits.iter().map(|(edit, at)| {
            let place = source(&spans, *at, edit.came.is_empty()).map(|at| Place {
                template: name(pair),
                at,
                line: lines.line(at),
            });
            // The place says more than the word before, which may be another in each conversation.
            let after = if place.is_some() { "" } else { &edit.after };
            let texts = [after, &edit.gone, &edit.came].map(with_one_number);
            PlacedEdit { place, texts }
        });
        let placed: BTreeSet<PlacedEdit> = placed.collect();
        self.known.insert(key, placed.clone());
        placed
    }

    /// Where the bytes of a pair's prompt come from. None if another engine rendered it, or if the
    /// engine makes something else now.
    fn spans(&mut self, compared: &Compared<'s>) -> Option<Vec<Span>> {
        let rendered = &compared.rendered;
        let pair = rendered.pair;
        let engine = self.engines?.for_dialect(pair.template.dialect);
        let program = self.programs.entry(pair.template);
        let program = program.or_insert_with(|| {
            let is_own = engine.name() == rendered.engine;
            is_own.then(|| FrontProgram::load(engine, pair.template))
        });
        let program = program.as_ref()?;
        let model = ModelProfile::of(pair.template).with(pair.case, pair.front());
        let (outcome, spans) = program.traced(&PreparedCase::new(pair.case, pair.front(), &model));
        spans.filter(|_| outcome == rendered.outcome)
    }
}

/// The byte of the source that writes a byte of a prompt, or the byte before it. For a byte that no
/// text of the template writes, it is the end of the last literal before it.
fn source(spans: &[Span], at: usize, is_gone: bool) -> Option<usize> {
    let literal = |span: &Span| match &span.origin {
        Origin::Literal { source } => Some((source.clone(), source.len() == span.prompt.len())),
        Origin::Input { .. } | Origin::Made { .. } => None,
    };
    let of_byte = |at: usize| {
        let span = spans.get(spans.partition_point(|span| span.prompt.end <= at))?;
        let (source, is_exact) = literal(span)?;
        let within = at.checked_sub(span.prompt.start).filter(|_| is_exact);
        Some(source.start + within.unwrap_or_default())
    };
    let written = of_byte(at).filter(|_| !is_gone);
    let before = || of_byte(at.checked_sub(1)?);
    let last = || {
        let mut before = spans.iter().rev().filter(|span| span.prompt.end <= at);
        before.find_map(literal)
    };
    let any = || last().or_else(|| spans.iter().find_map(literal));
    let near = || {
        any().map(|(source, is_exact)| {
            if is_exact {
                source.end - 1
            } else {
                source.start
            }
        })
    };
    written
        .or_else(before)
        .or_else(|| of_byte(at))
        .or_else(near)
}
