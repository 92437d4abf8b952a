//! A comparison of a template with its base: what each difference means, and which are known.

use std::collections::BTreeSet;

use super::cards::{Degree, FindingChange};
use super::gathered::{CaseGroup, Comparison, Member};
use super::meaning::Meaning;
use crate::exception::Exception;

fn is_of_contract(known: &Exception, group: &CaseGroup) -> bool {
    let meaning = group.meaning.as_ref();
    meaning.is_some_and(|meaning| meaning.contracts().contains(&known.place.as_str()))
}

fn is_about(known: &Exception, group: &CaseGroup) -> bool {
    let mut cases = group.members.iter().map(|member| &member.case);
    is_of_contract(known, group) || cases.any(|case| known.covers(case))
}

impl Comparison {
    /// Finds out what each difference from the base A means, and marks those that are known.
    /// Differences that break something come first. Returns what was known and is no difference
    /// any more.
    pub fn checked_against_base<'k>(&mut self, known: &'k [Exception]) -> Vec<&'k Exception> {
        let changes: Vec<_> = self
            .pairings
            .iter()
            .map(|pairing| pairing.card.clone().unwrap_or_default())
            .collect();
        let contracts = |members: &[Member], fixed: bool| -> Vec<&'static str> {
            let of_member = |member: &Member| {
                let change = changes.get(member.pairing);
                let found = change.map(|change| {
                    let worse = change
                        .changed
                        .iter()
                        .filter(|one| one.degree == Degree::Worse);
                    let worse = worse.filter(|_| !fixed).map(|one| &one.finding);
                    let alone = if fixed { &change.fixed } else { &change.broken };
                    alone.iter().chain(worse)
                });
                let found = found.into_iter().flatten();
                let shows = |change: &&FindingChange| {
                    let is_better = !fixed || change.holds_elsewhere;
                    is_better && change.is_shown_by(&member.case)
                };
                let ids = found.filter(shows).map(|change| change.contract.id);
                ids.collect::<Vec<_>>()
            };
            let ids: BTreeSet<_> = members.iter().flat_map(of_member).collect();
            ids.into_iter().collect()
        };
        // A prompt that is gone fixes nothing.
        self.judge(|group| {
            let (broken, fixed) = (
                contracts(&group.members, false),
                contracts(&group.members, true),
            );
            group.meaning = Some(if !broken.is_empty() {
                Meaning::Breaks(broken)
            } else if !fixed.is_empty() && !group.is_lost() {
                Meaning::Fixes(fixed)
            } else {
                Meaning::Differs
            });
            let mut of_group = known.iter().filter(|one| is_about(one, group)).peekable();
            let of_contract = of_group.clone().find(|one| is_of_contract(one, group));
            let is_known = |member: &Member| of_group.clone().any(|one| one.covers(&member.case));
            if of_contract.is_some() || group.members.iter().all(is_known) {
                let first = of_contract.or(of_group.peek().copied());
                group.known = first.map(|one| one.reason.clone());
            }
        });
        let parts = || self.differences().iter().flat_map(CaseGroup::each_part);
        let is_used = |one: &&Exception| parts().any(|group| is_about(one, group));
        known.iter().filter(|one| !is_used(one)).collect()
    }

    /// Whether the template deviates from its base in a way that is not known: it breaks something,
    /// or differs where no contract says which is right.
    pub fn deviates(&self) -> bool {
        self.deviations().next().is_some()
    }

    /// The differences by which the template deviates from its base, those that break something
    /// first.
    pub fn deviations(&self) -> impl Iterator<Item = &CaseGroup> {
        let groups = self.differences().iter();
        groups.filter(|group| {
            group.known.is_none() && !matches!(group.meaning, Some(Meaning::Fixes(_)))
        })
    }
}

#[cfg(test)]
mod tests {
    use rolecall_check::card::examine;
    use rolecall_core::{Dialect, Template};
    use rolecall_jinja::JinjaEngine;

    use super::super::{CardChange, Pairing, SideKind};
    use super::*;
    use rolecall_check::side_by_side::compare_probes;
    use rolecall_core::problem::Position;

    fn compared(base: &str, own: &str) -> Comparison {
        let engine = JinjaEngine::new();
        let [a, b] = [base, own].map(|source| Template::from_source("t", Dialect::Jinja, source));
        let mut comparison =
            Comparison::new(SideKind::Templates, ["base".to_owned(), "own".to_owned()]);
        comparison.pairings.push(Pairing {
            card: Some(CardChange::between(
                &examine(&engine, &a),
                &examine(&engine, &b),
            )),
            ..Pairing::default()
        });
        for probe in compare_probes([&engine, &engine], [&a, &b]) {
            comparison.add(&probe.name, Some(&probe.asked), probe.outcomes);
        }
        comparison.sorted()
    }

    const GOOD: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}\
                        {{ '<assistant>' if add_generation_prompt }}";

    #[test]
    fn a_difference_breaks_fixes_or_just_differs() {
        let bad = GOOD.replace("{{ m.content }}", "{{ m.content | trim }}");
        let other = GOOD
            .replace("<{{ m.role }}>", "[{{ m.role }}]")
            .replace("<assistant>", "[assistant]");
        let meanings = |mut comparison: Comparison| -> Vec<&'static str> {
            let _ = comparison.checked_against_base(&[]);
            let groups = comparison.differences().iter();
            let meanings = groups.filter_map(|group| group.meaning.as_ref());
            meanings.map(Meaning::name).collect()
        };
        assert_eq!(meanings(compared(GOOD, &bad))[0], "breaks");
        let fixed = meanings(compared(&bad, GOOD));
        assert!(
            fixed.contains(&"mends") && !fixed.contains(&"breaks"),
            "{fixed:?}"
        );
        let differs = meanings(compared(GOOD, &other));
        assert!(
            differs.iter().all(|meaning| *meaning == "differs"),
            "{differs:?}"
        );
    }

    /// What the base gets wrong is not better if the template gives no prompt at all any more.
    #[test]
    fn a_prompt_that_is_gone_fixes_nothing() {
        let bad = GOOD.replace("{{ m.content }}", "{{ m.content | trim }}");
        let gone = format!("{{{{ raise_exception('Out of order.') }}}}{bad}");
        let mut comparison = compared(&bad, &gone);
        let _ = comparison.checked_against_base(&[]);
        let groups = comparison.differences();
        let is_fix = |group: &CaseGroup| matches!(group.meaning, Some(Meaning::Fixes(_)));
        assert!(
            !groups.is_empty() && !groups.iter().any(is_fix),
            "{groups:?}"
        );
        assert!(comparison.deviates());
    }

    #[test]
    fn what_is_known_does_not_count_and_what_is_stale_is_reported() {
        let place = Position { line: 1, column: 1 };
        let known = |text: &str| Exception::new(text, "so".to_owned(), place).unwrap();
        let all = [known("probe/*"), known("bad-roles/*")];
        let other = GOOD.replace("</s>", "<end>");
        let mut comparison = compared(GOOD, &other);
        let stale: Vec<_> = comparison
            .checked_against_base(&all)
            .iter()
            .map(|one| one.place.clone())
            .collect();
        assert_eq!(stale, ["bad-roles/*"]);
        assert!(!comparison.deviates() && comparison.differs());
    }
}
