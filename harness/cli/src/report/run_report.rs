//! The results of a run, as every format tells them: the verdict in a sentence, and the causes.

use std::collections::BTreeMap;

use super::diagnostic::Diagnostic;
use super::numbers::{counted, thousands};
use super::summary::not_compared;
use rolecall_core::invocation;
use rolecall_core::problem::Problem;
use rolecall_suite::checked_text::{CheckedText, TextKind, by_change};
use rolecall_suite::conclusion::{Conclusion, EngineFailure, EngineFault, Fault, FaultGroup};

#[derive(Debug, Clone, Copy)]
pub struct RunReport<'r, 's> {
    /// The counts, and what fails the run.
    pub conclusion: &'r Conclusion<'s>,
    /// The pairs that are not as expected, by cause.
    pub groups: &'r [FaultGroup<'s>],
    /// Problems with files that the run needs.
    pub input: &'r [Problem],
    /// Templates that no engine can read.
    pub unread: &'r [Diagnostic<'r>],
    /// Where templates and cases come from, in words.
    pub origin: &'r str,
    /// Who gives the verdicts, in words.
    pub reference_names: Option<&'r str>,
    /// Whether these are the records of a reference.
    pub is_recorded: bool,
    /// The engine that the user chose, if it is not the usual one.
    pub engine: Option<&'r str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Passed,
    /// Nothing fails, but nothing says what some pairs should give.
    NotCompared,
    Failed,
}

impl<'r> RunReport<'r, '_> {
    /// Whether the run passes, and no file that it needs is wrong.
    pub fn passes(&self) -> bool {
        self.input.is_empty() && self.conclusion.passes()
    }

    /// The verdict: `Failed: 12 pairs changed, 1 report card changed`, or `Passed: all 22 pairs are
    /// as expected`.
    pub fn headline(&self) -> String {
        let tally = &self.conclusion.total;
        let uncompared = self.conclusion.uncompared.len();
        if self.passes() {
            let compared = tally.all() - uncompared;
            return match (not_compared(self.conclusion), compared) {
                (None, _) => {
                    let all = counted(tally.all(), "pair is", "pairs are");
                    format!("Passed: all {all} as expected")
                }
                (Some(what), 0) => format!("Not compared: {what}"),
                (Some(what), _) => {
                    let others = counted(compared, "pair is", "pairs are");
                    format!("Not compared: {what}; the other {others} as expected")
                }
            };
        }
        let mut parts = Vec::new();
        let mut faults: BTreeMap<Fault, usize> = BTreeMap::new();
        for group in self.groups {
            *faults.entry(group.fault).or_default() += group.pairs.len();
        }
        // The records of a stale template say nothing about it, so they come last.
        for (fault, count) in faults {
            parts.push(format!(
                "{} {}",
                counted(count, "pair", "pairs"),
                fault.of_many(count)
            ));
        }
        parts.extend(self.others_in_words());
        for EngineFault { engine, what } in &self.conclusion.engines {
            parts.push(match what {
                EngineFailure::Died(deaths) => {
                    let requests = counted(deaths.count, "request", "requests");
                    format!("{engine} died in {requests}")
                }
                EngineFailure::AnswersNothing(_) => format!("{engine} answers nothing"),
            });
        }
        if parts.is_empty() {
            parts.push("no pair gave a prompt".to_owned());
        }
        if uncompared > 0 {
            let count = counted(uncompared, "pair", "pairs");
            parts.push(format!("{count} not compared with anything"));
        }
        format!("Failed: {}", parts.join(", "))
    }

    /// How many of each thing besides pairs are not as expected.
    fn others_in_words(&self) -> Vec<String> {
        let conclusion = self.conclusion;
        let (cards, roundtrip) = (&conclusion.cards, &conclusion.roundtrip);
        let mut words = Vec::new();
        let mut add = |count: usize, one: &str, many: &str, what: &str| {
            words.extend((count > 0).then(|| counted(count, one, many) + what));
        };
        let unread = conclusion.failures.unread().count();
        add(unread, "template", "templates", " that cannot be read");
        for kind in TextKind::ALL {
            let is_changed = |one: &&CheckedText| one.kind == kind && !one.change.is_same();
            let count = cards.iter().filter(is_changed).count();
            add(count, kind.name(), kind.of_many(), " not as accepted");
        }
        let forbidden = cards.iter().map(|checked| checked.forbidden.len()).sum();
        add(
            forbidden,
            "contract",
            "contracts",
            " broken without a reason",
        );
        let files = self.input.len() + conclusion.problems.len();
        add(files, "problem with a file", "problems with files", "");
        let gone = conclusion.gone.len();
        add(
            gone,
            "listed divergence",
            "listed divergences",
            " that agree now",
        );
        add(
            conclusion.bases.len(),
            "template",
            "templates",
            " not as the base",
        );
        let differing = roundtrip.differing.len();
        add(
            differing,
            "answer",
            "answers",
            " not read as by the reference",
        );
        let unverified = roundtrip.unverified.len();
        add(
            unverified,
            "template",
            "templates",
            " without a record of the parsed answers",
        );
        words
    }

    pub(crate) fn ending(&self) -> Ending {
        match (self.passes(), self.conclusion.uncompared.is_empty()) {
            (true, true) => Ending::Passed,
            (true, false) => Ending::NotCompared,
            (false, _) => Ending::Failed,
        }
    }

    /// Everything that fails the run: what belongs to no pair, the pairs by cause, and the texts about
    /// templates.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic<'r>> {
        let conclusion = self.conclusion;
        let groups = self.groups.iter();
        let groups = groups.filter_map(|group| Diagnostic::of_group(group, self.command(group)));
        let texts = by_change(&conclusion.cards).into_iter();
        let texts = texts.map(|(first, others)| Diagnostic::of_text(first, &others));
        self.others()
            .into_iter()
            .chain(groups)
            .chain(texts)
            .collect()
    }

    /// What fails the run besides pairs and the texts about templates.
    pub(crate) fn others(&self) -> Vec<Diagnostic<'r>> {
        let conclusion = self.conclusion;
        let files = self.input.iter().chain(&conclusion.problems);
        let mut others = self.unread.to_vec();
        others.extend(files.map(Diagnostic::of_problem));
        for base in &conclusion.bases {
            others.extend(Diagnostic::of_deviations(base));
            others.extend(base.stale.iter().map(Diagnostic::of_problem));
        }
        others.extend(Diagnostic::of_read_back(&conclusion.roundtrip));
        others.extend(conclusion.engines.iter().map(Diagnostic::of_engine));
        let gone = conclusion.gone.iter();
        others.extend(gone.map(|name| Diagnostic::of_divergence(name)));
        let total = conclusion.failures.total();
        let total = total.filter(|_| !conclusion.failures.are_none());
        others
            .extend(total.map(|(pairs, name, outcome)| Diagnostic::of_total(pairs, name, outcome)));
        others
    }

    /// The command that shows the first pair of a cause compared with what was expected of it.
    pub(crate) fn command(&self, group: &FaultGroup<'_>) -> String {
        let name = group.pairs.first().map_or_else(String::new, |first| {
            let pair = &first.pair;
            let template = invocation::word(pair.template.name.as_str());
            format!(" {template} {}", pair.case.id)
        });
        let engine = self.engine.map_or_else(String::new, |engine| {
            format!(" --engine {}", invocation::word(engine))
        });
        let how = match group.fault {
            Fault::Changed => " --diff",
            Fault::Differs | Fault::OtherDivergence if self.is_recorded => " --reference --diff",
            _ => "",
        };
        invocation::command(&format!("show{name}{engine}{how}"))
    }

    /// The number of questions, and how much of it agrees with whom.
    pub fn extent(&self) -> String {
        let tally = &self.conclusion.total;
        let templates = self.conclusion.by_template.len();
        let all = format!(
            "{}: {} of {}",
            self.origin,
            counted(tally.all(), "pair", "pairs"),
            counted(templates, "template", "templates")
        );
        match self.reference_names {
            Some(reference_names) if tally.agree + tally.differ + tally.diverge > 0 => format!(
                "{all}; {} of {} agree with {reference_names}.",
                thousands(tally.agree),
                thousands(tally.judged())
            ),
            _ => format!("{all}."),
        }
    }
}
