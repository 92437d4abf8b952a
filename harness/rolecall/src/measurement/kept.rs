//! What is kept of an engine that was measured.

use std::collections::BTreeMap;

use rolecall_model::{CaseId, Dialect, OutcomeKind, TemplateName};

use super::asked::Asked;
use crate::reference::Identity;

/// What an engine did with a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// Which engine, in which version, and what it is made of.
    pub engine: Identity,
    /// The dialect of the templates that it was asked for.
    pub dialect: Dialect,
    /// Pairs that it did in a second on the machine that it was measured on. Another run gives
    /// another figure, and that is no change.
    pub pairs_per_second: usize,
    /// What it was asked.
    pub asked: Asked,
    /// How it did, by template.
    pub templates: BTreeMap<TemplateName, OfTemplate>,
    /// How it did, by family.
    pub families: BTreeMap<String, OfFamily>,
    /// The pairs that it did otherwise than the reference, by what differs.
    pub groups: Vec<Group>,
    /// How it did in the table of constructs.
    pub constructs: Option<Constructs>,
}

/// How many pairs there are in which the reference gives a prompt, and in which it gives none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Pairs in which the reference gives a prompt.
    pub prompts: usize,
    /// Pairs in which it refuses.
    pub refusals: usize,
}

/// How many of some pairs agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Those that agree.
    pub agree: usize,
    /// All of them.
    pub all: usize,
}

/// How an engine did with a template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfTemplate {
    /// The pairs.
    pub totals: Totals,
    /// Why it does not load, if it does not.
    pub refused: Option<Refused>,
}

/// How an engine did with a family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfFamily {
    /// The pairs.
    pub totals: Totals,
}

/// Why a template does not load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The engine's words.
    pub message: String,
    /// The line of the template, where the engine knows it.
    pub line: Option<usize>,
}

/// Pairs that an engine did otherwise than the reference, in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What came of them.
    pub found: OutcomeKind,
    /// What differs, in words: what the engine said, or what came and went.
    pub cause: String,
    /// The pair with the shortest conversation.
    pub example: Example,
    /// All of them.
    pub pairs: Vec<Differing>,
}

/// A pair with what differs in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The template.
    pub template: TemplateName,
    /// The case.
    pub case: CaseId,
    /// What the reference gave: the lines around the first difference, as transcripts show
    /// them. Nothing where only its fingerprint is known.
    pub expected: String,
    /// What the engine gave.
    pub found: String,
}

/// A pair that an engine did otherwise than the reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Differing {
    /// The template.
    pub template: TemplateName,
    /// The case.
    pub case: CaseId,
    /// What the reference did.
    pub expected: OutcomeKind,
    /// The first digits of the SHA-256 of the prompt that came of it, or of the message with
    /// which the template refused. The words of a failure are not told apart.
    pub gave: Option<String>,
}

/// How an engine did in the table of constructs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constructs {
    /// How many there are.
    pub all: usize,
    /// Those that it did otherwise than the reference, by their names, with what came of them.
    pub differ: BTreeMap<String, Found>,
}

/// What came of a construct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The kind.
    pub outcome: OutcomeKind,
    /// The text, as transcripts show it, or the words of a failure without places; the
    /// beginning, where it is long.
    pub shown: String,
}

impl Totals {
    /// Counts a pair, by what the reference did.
    pub fn add(&mut self, expected: OutcomeKind) {
        match expected {
            OutcomeKind::Rendered => self.prompts += 1,
            _ => self.refusals += 1,
        }
    }

    /// All pairs.
    pub fn all(&self) -> usize {
        self.prompts + self.refusals
    }
}

impl Share {
    /// Whether all agree.
    pub fn is_whole(self) -> bool {
        self.agree == self.all
    }

    fn of(all: usize, differ: usize) -> Share {
        Share {
            agree: all.saturating_sub(differ),
            all,
        }
    }
}

impl Measurement {
    /// The engine with its version, as files and options name it: `minijinja@3.0.5`.
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

    /// The same, of the templates that load alone.
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
    pub fn construct_share(&self) -> Option<Share> {
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

    /// The pairs that it did otherwise than the reference, with their groups.
    pub fn differing(&self) -> impl Iterator<Item = (&Group, &Differing)> {
        let groups = self.groups.iter();
        groups.flat_map(|group| group.pairs.iter().map(move |pair| (group, pair)))
    }

    /// The groups, those with most pairs first.
    pub fn by_size(&self) -> Vec<&Group> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.pairs.len()));
        groups
    }

    /// Puts everything into the order that files have.
    pub(super) fn settle(&mut self) {
        let key = |group: &Group| (group.found, group.cause.clone());
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
