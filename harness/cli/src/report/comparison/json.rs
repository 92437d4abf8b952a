//! A comparison as JSON.

use std::io::{self, Write};

use rolecall_check::contract::Severity;
use rolecall_io::outcome_json::OutcomeJson;
use serde::Serialize;

use super::super::json::{self, VERSION};
use rolecall_suite::comparison::{
    CardChange, CaseGroup, CaseTally, Comparison, FindingChange, Meaning, Member, Pairing,
};

/// What `diff --format json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Comparison"))]
pub struct ComparisonDocument<'c> {
    /// The version of this format: 1.
    rolecall: u32,
    /// `templates`, `engines`, `fronts` or `runs`.
    subject: &'static str,
    a: &'c str,
    b: &'c str,
    differs: bool,
    counts: CaseCounts,
    templates: Vec<PairingEntry<'c>>,
    only_a: &'c [String],
    only_b: &'c [String],
    differences: Vec<GroupEntry<'c>>,
    /// The cases in which both sides fail.
    failures: Vec<GroupEntry<'c>>,
}

/// How many cases there are, by their result.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Counts"))]
struct CaseCounts {
    cases: usize,
    differ: usize,
    /// The same prompt.
    same: usize,
    /// The template refuses in the same words.
    refuse: usize,
    /// Both sides fail.
    fail: usize,
}

/// A template of A and one of B.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PairingEntry<'c> {
    a: &'c str,
    b: &'c str,
    counts: CaseCounts,
    only_a: &'c [String],
    only_b: &'c [String],
    /// How their report cards differ, if these were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<CardEntry<'c>>,
}

/// How two report cards differ.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct CardEntry<'c> {
    /// The contracts that only B breaks.
    broken: Vec<FindingEntry<'c>>,
    /// The contracts that only A breaks.
    mended: Vec<FindingEntry<'c>>,
    capabilities: Vec<CapabilityEntry<'c>>,
}

/// A contract that one side breaks.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FindingEntry<'c> {
    contract: &'static str,
    severity: Severity,
    what: &'c str,
    /// Whether it is broken only where no application comes before the template.
    alone: bool,
}

/// An ability that the two sides have in different ways.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CapabilityEntry<'c> {
    name: &'c str,
    a: &'c str,
    b: &'c str,
    /// `gained`, `lost` or `other`.
    turn: &'static str,
}

/// Cases with the same difference.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct GroupEntry<'c> {
    cases: Vec<CaseEntry<'c>>,
    /// The outcomes of the first case.
    a: OutcomeJson<'c>,
    b: OutcomeJson<'c>,
    /// What it means, where A is the base of B: `breaks`, `mends` or `differs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<&'c str>,
    /// The contracts that B breaks there, or fixes.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    contracts: &'c [&'static str],
    /// Why it is meant, where it is a known difference from the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<&'c str>,
    /// The words that were removed and added in each of the cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    edits: Option<Vec<EditEntry<'c>>>,
    /// Where two outcomes of one kind differ first, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<&'c str>,
}

/// A case of a template.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CaseEntry<'c> {
    /// The template's place in the list `templates`, counted from 0.
    template: usize,
    case: &'c str,
}

/// Words that were removed and added.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EditEntry<'c> {
    gone: &'c str,
    came: &'c str,
}

/// Writes a comparison as one object.
pub fn write(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    json::write(out, &ComparisonDocument::of(comparison))
}

impl<'c> ComparisonDocument<'c> {
    pub(in super::super) fn of(comparison: &'c Comparison) -> ComparisonDocument<'c> {
        let [a, b] = &comparison.sides;
        let [only_a, only_b] = &comparison.only;
        let groups = |groups: &'c [CaseGroup]| groups.iter().map(GroupEntry::of).collect();
        ComparisonDocument {
            rolecall: VERSION,
            subject: comparison.subject.name(),
            a,
            b,
            differs: comparison.differs(),
            counts: CaseCounts::of(comparison.tally()),
            templates: comparison.pairings.iter().map(PairingEntry::of).collect(),
            only_a,
            only_b,
            differences: groups(comparison.differences()),
            failures: groups(comparison.failures()),
        }
    }
}

impl CaseCounts {
    fn of(tally: CaseTally) -> CaseCounts {
        CaseCounts {
            cases: tally.count(),
            differ: tally.differ,
            same: tally.same,
            refuse: tally.refuse,
            fail: tally.fail,
        }
    }
}

impl<'c> PairingEntry<'c> {
    fn of(pairing: &'c Pairing) -> PairingEntry<'c> {
        let [a, b] = &pairing.names;
        let [only_a, only_b] = &pairing.only;
        PairingEntry {
            a,
            b,
            counts: CaseCounts::of(pairing.tally),
            only_a,
            only_b,
            card: pairing.card.as_ref().map(card),
        }
    }
}

/// The difference between two report cards.
pub(super) fn card(change: &CardChange) -> CardEntry<'_> {
    let capabilities = change.capabilities.iter().map(|change| CapabilityEntry {
        name: change.name,
        a: &change.sides[0],
        b: &change.sides[1],
        turn: change.turn.name(),
    });
    CardEntry {
        broken: change.broken.iter().map(FindingEntry::of).collect(),
        mended: change.fixed.iter().map(FindingEntry::of).collect(),
        capabilities: capabilities.collect(),
    }
}

impl<'c> FindingEntry<'c> {
    fn of(change: &'c FindingChange) -> FindingEntry<'c> {
        FindingEntry {
            contract: change.contract.id,
            severity: change.severity,
            what: &change.what,
            alone: change.is_raw_only,
        }
    }
}

impl<'c> GroupEntry<'c> {
    fn of(group: &'c CaseGroup) -> GroupEntry<'c> {
        let [a, b] = &group.outcomes;
        let case = |member: &'c Member| CaseEntry {
            template: member.pairing,
            case: &member.case,
        };
        let edits = group.edits.iter().map(|edit| EditEntry {
            gone: &edit.gone,
            came: &edit.came,
        });
        let first = group.diff.first.as_deref();
        GroupEntry {
            cases: group.members.iter().map(case).collect(),
            meaning: group.meaning.as_ref().map(Meaning::name),
            contracts: group.meaning.as_ref().map_or(&[], Meaning::contracts),
            known: group.known.as_deref(),
            a: a.into(),
            b: b.into(),
            edits: (!group.edits.is_empty()).then(|| edits.collect()),
            first: first.filter(|_| a.kind() == b.kind()),
        }
    }
}
