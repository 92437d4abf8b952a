//! The results of an engine that was measured.

use std::collections::BTreeMap;

use rolecall_core::{CaseId, Dialect, OutcomeKind, TemplateName};

use super::suite_version::SuiteVersion;
use rolecall_suite::conclusion::Share;
use rolecall_suite::reference::Identity;

/// An engine's results over a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// The engine, its version and its components.
    pub engine: Identity,
    pub dialect: Dialect,
    /// Pairs in a second, on the machine of the measurement. A different figure in another run is
    /// no change.
    pub pairs_per_second: usize,
    /// In how many requests it died, and answered only when it was asked again. Another figure in
    /// another run is no change, either.
    pub deaths: usize,
    pub suite: SuiteVersion,
    pub templates: BTreeMap<TemplateName, TemplateResult>,
    pub families: BTreeMap<String, FamilyResult>,
    /// The pairs in which it differs from the reference, grouped by cause.
    pub groups: Vec<DifferenceGroup>,
    /// The results in the table of constructs.
    pub constructs: Option<ConstructResults>,
}

/// How many pairs have a prompt by the reference, and how many have none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Pairs in which the reference gives a prompt.
    pub prompts: usize,
    pub refusals: usize,
}

/// An engine's result with a template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateResult {
    pub totals: Totals,
    /// Why the template does not load, if it does not.
    pub refused: Option<LoadError>,
}

/// An engine's result with a family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FamilyResult {
    pub totals: Totals,
}

/// Why a template does not load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The engine's message.
    pub message: String,
    /// The line of the template, if the engine reports it.
    pub line: Option<usize>,
}

/// Pairs in which an engine differs from the reference in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferenceGroup {
    /// The engine's outcome.
    pub found: OutcomeKind,
    /// The difference in words: the engine's message, or the removed and added words.
    pub cause: String,
    /// The pair with the shortest conversation.
    pub example: Example,
    pub pairs: Vec<DifferingPair>,
}

/// A pair with the lines that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    pub template: TemplateName,
    pub case: CaseId,
    /// The reference's lines around the first difference, as transcripts show them. Empty if only
    /// the fingerprint of the result is known.
    pub expected: String,
    /// The engine's lines.
    pub found: String,
}

/// A pair in which an engine differs from the reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DifferingPair {
    pub template: TemplateName,
    pub case: CaseId,
    /// The reference's outcome.
    pub expected: OutcomeKind,
    /// The first digits of the SHA-256 of the engine's prompt, or of its message if the template
    /// refused. None for failures, whose messages are not compared.
    pub gave: Option<String>,
}

/// An engine's results in the table of constructs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConstructResults {
    /// How many constructs the table has.
    pub all: usize,
    /// The constructs in which it differs from the reference, by name, with its outcomes.
    pub differ: BTreeMap<String, ConstructResult>,
}

/// An engine's outcome for a construct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConstructResult {
    pub outcome: OutcomeKind,
    /// The text as transcripts show it, or the message of a failure without its places; cut if it
    /// is long.
    pub shown: String,
}

impl Totals {
    /// Counts a pair, by the reference's outcome.
    pub fn add(&mut self, expected: OutcomeKind) {
        match expected {
            OutcomeKind::Rendered => self.prompts += 1,
            _ => self.refusals += 1,
        }
    }

    pub fn all(&self) -> usize {
        self.prompts + self.refusals
    }
}

impl Measurement {
    /// The engine with its version, as in the names of files and in options: `minijinja@3.0.5`.
    pub fn name(&self) -> String {
        let Identity {
            engine, version, ..
        } = &self.engine;
        format!("{engine}@{version}")
    }

    /// How many templates load.
    pub fn loaded(&self) -> Share {
        let refused = self.templates.values();
        let refused = refused.filter(|template| template.refused.is_some());
        Share::of(self.templates.len(), refused.count())
    }

    /// Agreement in all pairs in which the reference gives a prompt.
    pub fn prompts(&self) -> Share {
        self.share(
            |_| true,
            |totals| totals.prompts,
            |kind| kind == OutcomeKind::Rendered,
        )
    }

    /// The same, for the templates that load.
    pub fn prompts_of_loaded(&self) -> Share {
        let is_loaded = |name: &TemplateName| {
            let template = self.templates.get(name);
            template.is_some_and(|template| template.refused.is_none())
        };
        self.share(
            is_loaded,
            |totals| totals.prompts,
            |kind| kind == OutcomeKind::Rendered,
        )
    }

    /// Agreement in all pairs in which the reference gives no prompt.
    pub fn refusals(&self) -> Share {
        self.share(
            |_| true,
            |totals| totals.refusals,
            |kind| kind != OutcomeKind::Rendered,
        )
    }

    /// Agreement in the table of constructs.
    pub(crate) fn construct_share(&self) -> Option<Share> {
        let constructs = self.constructs.as_ref()?;
        Some(Share::of(constructs.all, constructs.differ.len()))
    }

    /// Agreement in all pairs of a template.
    pub fn of_template(&self, name: &TemplateName) -> Option<Share> {
        let all = self.templates.get(name)?.totals.all();
        let differ = self.differing().filter(|(_, pair)| pair.template == *name);
        Some(Share::of(all, differ.count()))
    }

    /// Agreement in all pairs of a family.
    pub fn of_family(&self, name: &str) -> Option<Share> {
        let all = self.families.get(name)?.totals.all();
        let differ = self
            .differing()
            .filter(|(_, pair)| pair.case.family() == name);
        Some(Share::of(all, differ.count()))
    }

    /// The pairs in which it differs from the reference, with their groups.
    pub fn differing(&self) -> impl Iterator<Item = (&DifferenceGroup, &DifferingPair)> {
        let groups = self.groups.iter();
        groups.flat_map(|group| group.pairs.iter().map(move |pair| (group, pair)))
    }

    /// The groups, those with the most pairs first.
    pub(crate) fn by_size(&self) -> Vec<&DifferenceGroup> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.pairs.len()));
        groups
    }

    /// Sorts everything as files have it.
    pub(super) fn settle(&mut self) {
        let key = |group: &DifferenceGroup| (group.found, group.cause.clone());
        self.groups.sort_by_key(key);
        for group in &mut self.groups {
            group.pairs.sort();
        }
    }

    fn share(
        &self,
        is_counted: impl Fn(&TemplateName) -> bool,
        of: impl Fn(&Totals) -> usize,
        is_of: impl Fn(OutcomeKind) -> bool,
    ) -> Share {
        let templates = self.templates.iter();
        let counted = templates.filter(|(name, _)| is_counted(name));
        let all = counted.map(|(_, template)| of(&template.totals)).sum();
        let differ = self
            .differing()
            .filter(|(_, pair)| is_counted(&pair.template) && is_of(pair.expected));
        Share::of(all, differ.count())
    }
}
