//! A comparison as JSON.

use std::io::{self, Write};

use rolecall_core::diff::Edit;
use rolecall_io::outcome_json::OutcomeJson;

use crate::report::json;
use crate::report::json::{VERSION, document};
use rolecall_suite::comparison::{
    CardChange, CaseGroup, CaseTally, Comparison, GroupKind, Meaning, Member, Pairing, SourceEdit,
};

document! {
    /// What `diff --format json` prints.
    #[cfg_attr(feature = "schema", schemars(rename = "Comparison"))]
    pub struct ComparisonDocument<'c> from (comparison: &'c Comparison) with {
        let [a, b] = &comparison.sides;
        let [only_a, only_b] = &comparison.only;
        let groups = |groups: &'c [CaseGroup]| groups.iter().map(GroupEntry::of).collect();
    } {
        /// The version of this format: 1.
        rolecall: u32 = VERSION,
        /// `templates`, `engines`, `fronts` or `runs`.
        subject: &'static str = comparison.subject.name(),
        a: &'c str = a,
        b: &'c str = b,
        differs: bool = comparison.differs(),
        counts: CaseCounts = CaseCounts::of(comparison.tally()),
        templates: Vec<PairingEntry<'c>> =
            comparison.pairings.iter().map(PairingEntry::of).collect(),
        only_a: &'c [String] = only_a,
        only_b: &'c [String] = only_b,
        differences: Vec<GroupEntry<'c>> = groups(comparison.differences()),
        /// The cases in which both sides fail.
        failures: Vec<GroupEntry<'c>> = groups(comparison.failures()),
    }

    /// How many cases there are, by their result.
    #[cfg_attr(feature = "schema", schemars(rename = "Counts"))]
    struct CaseCounts from (tally: CaseTally) {
        cases: usize = tally.count(),
        differ: usize = tally.differ,
        /// The same prompt.
        same: usize = tally.same,
        /// The template refuses in the same words.
        refuse: usize = tally.refuse,
        /// Both sides fail.
        fail: usize = tally.fail,
    }

    /// A template of A and one of B.
    struct PairingEntry<'c> from (pairing: &'c Pairing) with {
        let [a, b] = &pairing.names;
        let [only_a, only_b] = &pairing.only;
    } {
        a: &'c str = a,
        b: &'c str = b,
        counts: CaseCounts = CaseCounts::of(pairing.tally),
        only_a: &'c [String] = only_a,
        only_b: &'c [String] = only_b,
        /// How their report cards differ, if these were compared.
        card?: Option<&'c CardChange> = pairing.card.as_ref(),
    }

    /// Cases with the same cause: an edit of the template, or the same difference where no edit is
    /// known.
    struct GroupEntry<'c> from (group: &'c CaseGroup) with {
        let [a, b] = &group.outcomes;
        let edits = group.edits.iter();
        let first = group.diff.first.as_deref();
        let kinds = group.kinds().into_iter();
    } {
        /// The edit of the template that makes the difference, where both sides are templates and
        /// one was made from the other.
        source_edit?: Option<SourceEditEntry<'c>> =
            group.edit.as_deref().map(|edit| SourceEditEntry::of(edit, group.is_shared)),
        /// The cases by the kinds of their outcomes: first those like the first case.
        kinds: Vec<KindEntry<'c>> = kinds.map(KindEntry::of).collect(),
        cases: &'c [Member] = &group.members,
        /// The outcomes of the first case. If `source_edit` is `shared`, `a` is that of B without the
        /// edit.
        a: OutcomeJson<'c> = a.into(),
        b: OutcomeJson<'c> = b.into(),
        /// What it means, where A is the base of B: `breaks`, `mends` or `differs`.
        meaning?: Option<&'c str> = group.meaning.as_ref().map(Meaning::name),
        /// The contracts that B breaks there, or fixes.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        contracts: &'c [&'static str] = group.meaning.as_ref().map_or(&[], Meaning::contracts),
        /// Why it is meant, where it is a known difference from the base.
        known?: Option<&'c str> = group.known.as_deref(),
        /// The words that were removed and added in the first case. Without `source_edit` they are
        /// the same in each of the cases.
        edits?: Option<Vec<EditEntry<'c>>> =
            (!group.edits.is_empty()).then(|| edits.map(EditEntry::of).collect()),
        /// Where two outcomes of one kind differ first, in words.
        first?: Option<&'c str> = first.filter(|_| a.kind() == b.kind()),
    }

    /// An edit of a template's source.
    struct SourceEditEntry<'c> from (edit: &'c SourceEdit, is_shared: bool) {
        /// The lines of B in which its places begin.
        lines: &'c [usize] = &edit.lines,
        /// The text of A at the first place. If both texts are short, they come with what is
        /// around them.
        a: &'c str = &edit.texts[0],
        /// The text of B there.
        b: &'c str = &edit.texts[1],
        /// Whether other edits change the first case, too.
        shared: bool = is_shared,
    }

    /// Cases in which the sides have outcomes of the same kinds.
    struct KindEntry<'c> from (kind: GroupKind<'c>) {
        count: usize = kind.count,
        a: &'static str = kind.outcomes[0].kind().name(),
        b: &'static str = kind.outcomes[1].kind().name(),
        /// The first of the cases.
        case: &'c str = &kind.member.case,
    }

    /// Words that were removed and added.
    struct EditEntry<'c> from (edit: &'c Edit) {
        gone: &'c str = &edit.gone,
        came: &'c str = &edit.came,
    }
}

/// Writes a comparison as one object.
pub fn write(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    json::write(out, &ComparisonDocument::of(comparison))
}
