//! Good templates of the suite, each with one known fault put into it: which contract notices it,
//! and how bad it is said to be. The figures are printed: `-- --nocapture`.

mod faults;

use std::collections::{BTreeMap, BTreeSet};

use rolecall::card::{Card, examine};
use rolecall::contract::Severity;
use rolecall::engines::Engines;
use rolecall_model::Template;

use crate::extent::sample;
use crate::project::SUITE;

use self::faults::{FAULTS, Fault, Noticed};

/// What a card says is broken, and how bad that is. What the template's own sidecar explains is
/// there before the fault and after it.
fn broken(card: &Card) -> BTreeMap<&'static str, Severity> {
    let findings = card.broken();
    findings
        .map(|finding| (finding.contract.id, finding.severity()))
        .collect()
}

/// What is broken by a fault, or worse than without it.
fn newly_broken(
    before: &BTreeMap<&'static str, Severity>,
    after: &BTreeMap<&'static str, Severity>,
) -> BTreeMap<&'static str, Severity> {
    let worse = after
        .iter()
        .filter(|(id, severity)| before.get(*id).is_none_or(|known| *severity < known));
    worse.map(|(id, severity)| (*id, *severity)).collect()
}

/// The template with the fault in it, wherever the part stands that is replaced.
fn seeded(template: &Template, fault: &Fault) -> Template {
    let count = template.source.matches(fault.part).count();
    assert!(count > 0, "{}: {} is not there", fault.template, fault.part);
    let mut seeded = template.clone();
    seeded.source = template.source.replace(fault.part, fault.instead);
    assert_ne!(seeded.source, template.source, "{}", fault.what);
    seeded
}

#[test]
fn faults_are_noticed_for_what_they_are() {
    let engines = Engines::default();
    let mut cards = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for fault in sample(FAULTS.iter().collect(), 6) {
        let mut templates = SUITE.templates.iter();
        let template = templates
            .find(|template| template.name.as_str() == fault.template)
            .unwrap_or_else(|| panic!("no template is named {}", fault.template));
        let engine = engines.for_dialect(template.dialect).unwrap();
        let before = cards
            .entry(fault.template)
            .or_insert_with(|| broken(&examine(engine, template)));
        let after = broken(&examine(engine, &seeded(template, fault)));
        let found = newly_broken(before, &after);
        let worst = found.values().min();
        let is_so = match fault.noticed {
            Noticed::Error(id) => found.get(id) == Some(&Severity::Error),
            Noticed::Warning(id) => {
                found.get(id) == Some(&Severity::Warning) && worst == Some(&Severity::Warning)
            }
            Noticed::Fact(id) => {
                found.contains_key(id) && worst.is_some_and(|severity| !severity.is_defect())
            }
            Noticed::Not(why) => found.is_empty() && !why.is_empty(),
        };
        if !is_so {
            wrong.push(format!(
                "{} ({}): expected {:?}, found {found:?}",
                fault.what, fault.template, fault.noticed
            ));
        }
        *counts.entry(fault.noticed.word()).or_default() += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} faults: {counts:?}", counts.values().sum::<usize>());
    let kinds: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.what).collect();
    let templates: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.template).collect();
    assert!(
        kinds.len() >= 40 && templates.len() >= 8,
        "{} {}",
        kinds.len(),
        templates.len()
    );
}
