//! The version of a suite, as fingerprints of the parts that engines are asked for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rolecall_core::{Dialect, TemplateName};

use crate::construct::ConstructTable;
use crate::record::RecordedAnswer;
use crate::records::Records;
use crate::reference::{Identity, Reference};
use crate::suite::Suite;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::transcript;
use rolecall_front::front::Front;

/// The parts of a suite that a measurement depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteVersion {
    /// The reference that gives the verdicts.
    pub reference: Identity,
    /// For each template: the fingerprints of its source with its settings, and of the reference's
    /// results.
    pub templates: BTreeMap<TemplateName, (Fingerprint, Option<Fingerprint>)>,
    /// For each family: the fingerprint of its cases.
    pub families: BTreeMap<String, Fingerprint>,
    /// The fingerprint of the table of constructs.
    pub constructs: Option<Fingerprint>,
}

impl SuiteVersion {
    /// The present version of a suite, for the templates of a dialect.
    pub fn of(
        suite: &Suite,
        records: &Records,
        constructs: Option<&ConstructTable>,
        dialect: Dialect,
    ) -> SuiteVersion {
        let is_for = |case: &&rolecall_core::Case| case.is_for(dialect);
        let mut inputs = BTreeMap::new();
        let mut families: BTreeMap<String, String> = BTreeMap::new();
        for case in suite.cases.iter().filter(is_for) {
            let family = families.entry(case.id.family().to_owned()).or_default();
            let input = Fingerprint::of_case(case);
            // Writing to a string cannot fail.
            let _ = writeln!(family, "{} {input}", case.id);
            inputs.insert(&case.id, input);
        }
        let templates = suite
            .templates
            .iter()
            .filter(|template| template.dialect == dialect)
            .map(|template| {
                let source = Fingerprint::of(format!(
                    "{} {} {}",
                    Fingerprint::of_source(template),
                    Fingerprint::of_settings(template),
                    Front::of(template),
                ));
                let mut answers = String::new();
                for pair in suite.pairs_among(template, &suite.cases) {
                    let id = &pair.case.id;
                    let input = inputs.get(id).copied();
                    let input = input.unwrap_or_else(|| Fingerprint::of_case(pair.case));
                    let answer = match records.answer(&pair, || input) {
                        Ok(answer) => of_answer(answer),
                        Err(why) => why.to_string(),
                    };
                    let _ = writeln!(answers, "{id} {answer}");
                }
                (
                    template.name.clone(),
                    (source, Some(Fingerprint::of(answers))),
                )
            });
        SuiteVersion {
            reference: Reference::of(dialect).identity(),
            templates: templates.collect(),
            families: families
                .into_iter()
                .map(|(name, cases)| (name, Fingerprint::of(cases)))
                .collect(),
            constructs: constructs.map(of_constructs),
        }
    }

    /// The changes from an earlier version of the suite to this one, in words.
    pub fn changes_since(&self, before: &SuiteVersion) -> Vec<String> {
        let mut changes = Vec::new();
        if self.reference != before.reference {
            changes.push(format!("the reference was {}", before.reference));
        }
        let names = |suite: &SuiteVersion| suite.templates.keys().cloned().collect::<Vec<_>>();
        tell(
            &mut changes,
            ["template", "templates"],
            (&names(before), &names(self)),
            |name| {
                self.templates.get(name).map(|(source, _)| source)
                    != before.templates.get(name).map(|(source, _)| source)
            },
        );
        let names = |suite: &SuiteVersion| suite.families.keys().cloned().collect::<Vec<_>>();
        tell(
            &mut changes,
            ["family", "families"],
            (&names(before), &names(self)),
            |name| self.families.get(name) != before.families.get(name),
        );
        if self.constructs != before.constructs {
            changes.push("the table of constructs".to_owned());
        }
        // The reference's results depend on all of these, so report them only if nothing else
        // changed.
        if changes.is_empty() && self.templates != before.templates {
            changes.push("what the reference did".to_owned());
        }
        changes
    }
}

/// Adds the names of the things that came, went or changed.
fn tell<T: Ord + std::fmt::Display>(
    changes: &mut Vec<String>,
    [one, many]: [&str; 2],
    (before, now): (&[T], &[T]),
    is_other: impl Fn(&T) -> bool,
) {
    const MOST: usize = 3;
    let mut names: Vec<&T> = before
        .iter()
        .chain(now)
        .filter(|name| is_other(name))
        .collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return;
    }
    let mut words: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("{name}"))
        .collect();
    if names.len() > MOST {
        words.push(format!("{} more", names.len() - MOST));
    }
    let what = if names.len() == 1 { one } else { many };
    changes.push(format!("the {what} {}", words.join(", ")));
}

/// The part of an answer that decides a verdict.
fn of_answer(answer: &RecordedAnswer) -> String {
    match answer {
        RecordedAnswer::Checked(kind, hash) => format!("{kind} {hash}"),
        RecordedAnswer::Whole(outcome) => outcome.kind().to_string(),
    }
}

fn of_constructs(constructs: &ConstructTable) -> Fingerprint {
    let mut rows = format!("{}\n", Fingerprint::of_case(&constructs.case));
    for row in &constructs.rows {
        let expected = Fingerprint::of(transcript::encode(&row.expected));
        let _ = writeln!(rows, "{} {expected}", row.id());
    }
    Fingerprint::of(rows)
}
