//! The summary of the rendered pairs: how many pairs gave a prompt, and why the others gave none.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use minijinja::{Value, context};
use rolecall_core::{Outcome, OutcomeKind};

use crate::report::numbers::thousands;
use crate::report::screen::whose;
use crate::report::style;
use crate::report::text::text;
use rolecall_core::problem::shown;
use rolecall_suite::cause;
use rolecall_suite::run::Rendered;

const MOST: usize = 20;

#[derive(Debug, Default)]
pub struct RenderSummary {
    outcomes: BTreeMap<OutcomeKind, usize>,
    /// Why pairs gave no prompt: the kind, the line of the template, and the message without what
    /// changes from pair to pair.
    causes: HashMap<(OutcomeKind, Option<usize>, String), NoPrompt>,
}

/// Pairs that gave no prompt for one reason.
#[derive(Debug)]
struct NoPrompt {
    count: usize,
    /// The first pair, by its place and its name.
    first: (usize, String),
    /// The message of the first pair.
    message: String,
}

impl RenderSummary {
    pub fn add(&mut self, rendered: &Rendered<'_>) {
        let kind = rendered.outcome.kind();
        let at = self.all();
        *self.outcomes.entry(kind).or_default() += 1;
        if kind == OutcomeKind::Rendered {
            return;
        }
        let text = rendered.outcome.text();
        let pair = &rendered.pair;
        let line = match &rendered.outcome {
            Outcome::Failed { line, .. } => *line,
            _ => None,
        };
        let one = self.causes.entry((kind, line, cause::error(text)));
        let one = one.or_insert_with(|| NoPrompt {
            count: 0,
            first: (at, format!("{} {}", pair.template.name, pair.case.id)),
            message: text.to_owned(),
        });
        one.count += 1;
    }

    fn all(&self) -> usize {
        self.outcomes.values().sum()
    }

    fn count(&self, kind: OutcomeKind) -> usize {
        self.outcomes.get(&kind).copied().unwrap_or_default()
    }

    /// Whether every pair gave a prompt.
    pub fn is_whole(&self) -> bool {
        self.count(OutcomeKind::Rendered) == self.all()
    }

    /// Whether the engine answered for every pair.
    pub fn is_complete(&self) -> bool {
        self.count(OutcomeKind::Crashed) + self.count(OutcomeKind::NotAsked) == 0
    }

    /// Writes why pairs gave no prompt, the most frequent reason first, and in the last line how many
    /// pairs of which `origin` had which outcome. `wrong` is the number of problems with the input.
    pub fn write(&self, out: &mut dyn Write, origin: &str, wrong: usize) -> io::Result<()> {
        let mut causes: Vec<_> = self.causes.iter().collect();
        // A hash map has another order in each process. The place of the first pair makes equal counts
        // come out in one order.
        causes.sort_by(|(_, a), (_, b)| b.count.cmp(&a.count).then(a.first.cmp(&b.first)));
        let shown = causes.iter().take(MOST).map(|((kind, line, _), one)| {
            context! {
                count => one.count,
                kind => kind.name(),
                style => style::of_outcome(*kind),
                line => *line,
                message => shown(&one.message),
                first => &one.first.1,
            }
        });
        let outcomes = self.outcomes.iter();
        let outcomes = outcomes.map(|(kind, count)| format!("{} {kind}", thousands(*count)));
        text!(out, include_str!("report.txt"), {
            causes => shown.collect::<Value>(),
            left => causes.iter().skip(MOST).map(|(_, one)| one.count).sum::<usize>(),
            whose => whose(origin),
            all => self.all(),
            outcomes => outcomes.collect::<Vec<_>>(),
            wrong,
        })
    }
}
