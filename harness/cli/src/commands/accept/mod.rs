//! The command `accept`: makes current results the expected ones.

pub mod report;

use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::path::PathBuf;

use crate::report::diagnostic::Diagnostic;
use crate::report::difference::{self, Extent};
use crate::report::{checked_texts, syntax_error};
use crate::{cards, engines, home, inputs, references, roundtrip};
use rolecall_core::TemplateName;
use rolecall_core::file::{is_there, read_text, remove_below, write_below};
use rolecall_core::problem::Problem;
use rolecall_io::protocol::ProtocolEngine;
use rolecall_io::syntax_error::SyntaxError;
use rolecall_suite::accepting::{
    AcceptedCounts, AcceptedFile, AcceptedPairs, Choice, is_open, remove_pending, untidy,
};
use rolecall_suite::checked_text::{CheckedText, TextKind};
use rolecall_suite::conclusion::{FaultGroup, FaultGroups};
use rolecall_suite::expectations::Expectations;
use rolecall_suite::layout::Layout;
use rolecall_suite::lint;
use rolecall_suite::record::Unverified;
use rolecall_suite::recording::Updates;
use rolecall_suite::records::AskedTemplates;
use rolecall_suite::reference::Reference;
use rolecall_suite::roundtrip::SuiteReadings;
use rolecall_suite::run::{Acceptance, Compared, Expected};
use rolecall_suite::selection::select;
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::{Pair, Suite, templates_of};
use rolecall_suite::verdict::Verdict;
use rolecall_suite::workspace::known::KnownSuite;

use crate::args::AcceptArguments;
use crate::engines::ChosenEngine;

use crate::failure::{self, Failure, Status, report_problems, tell};
use crate::references::ReferenceResults;
use crate::roundtrip::ReferenceReadings;
use crate::session::Session;

pub(crate) fn execute(arguments: &AcceptArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::writable_layout()?;
    home::tell_suite(&layout);
    // From reading what was accepted before to the last file that is written.
    let to_lock = (!arguments.dry_run).then_some(&layout);
    let _lock = to_lock.map(home::lock).transpose()?;
    let suite = inputs::load_sound(&layout, "the suite has problems, so nothing is accepted")?;
    let pairs = select(&suite, &arguments.filters)?;
    let mut known = inputs::known(&layout, &suite, templates_of(&pairs))?;
    let session = Session::new(&arguments.limits, arguments.jobs);
    let chosen = session.configured()?;
    let judge = PairJudge {
        session: &session,
        chosen: &chosen,
        suite: &suite,
        is_verified: arguments.verified,
    };
    let mut choice = Choice::default();
    let mut judged = judge.by_record(&pairs, &known.expectations, &mut choice.counts)?;
    // In this repository every pair needs a record, so that anyone can judge it without the references.
    let to_ask = if layout.is_checkout() {
        &judged.unrecorded
    } else {
        &judged.unknown
    };
    let to_read = to_read(&pairs, to_ask, &known.expectations, arguments.verified);
    let programs = references_of(&to_read, &session);
    let updates = Updates::new(&layout, &suite);
    let divergences = &known.expectations.divergences;
    let mut asked = references::ask(&programs, &session, updates, divergences, to_ask)?;
    ReferenceReadings::of_cases(&programs, &session, &to_read)?.add_to(&mut asked.updates);
    asked.updates.teach(&mut known.expectations.records);
    // The references have just answered: these pairs get their verdicts only now.
    let now_known = judge.all(&judged.unknown, &known.expectations)?;
    judged.open.extend(now_known);
    let mut groups = FaultGroups::of(&session.engines);
    let (also, snapshots) = (&arguments.also, &known.expectations.snapshots);
    for compared in &judged.open {
        if choice.add(compared, arguments.verified, also, snapshots) {
            groups.add(compared);
        }
    }
    let groups = groups.sorted();
    AcceptedSuite::new(&known, &pairs, &session).accept(arguments, choice, &groups, &asked, out)
}

/// The pairs of a suite whose results are accepted, all or some of them.
pub(crate) struct AcceptedSuite<'s> {
    pub(crate) known: &'s KnownSuite<'s>,
    pub(crate) pairs: &'s [Pair<'s>],
    pub(crate) session: &'s Session,
}

impl<'s> AcceptedSuite<'s> {
    pub(crate) fn new(
        known: &'s KnownSuite<'s>,
        pairs: &'s [Pair<'s>],
        session: &'s Session,
    ) -> AcceptedSuite<'s> {
        AcceptedSuite {
            known,
            pairs,
            session,
        }
    }

    /// Writes what was chosen, and says so.
    fn accept(
        &self,
        arguments: &AcceptArguments,
        mut choice: Choice<'s>,
        groups: &[FaultGroup<'s>],
        asked: &ReferenceResults<'_>,
        out: &mut dyn Write,
    ) -> Result<Status, Failure> {
        for template in choice.unreadable.values() {
            let engine = self.session.engines.for_dialect(template.dialect);
            let error = SyntaxError::find(engine, template);
            error.map_or(Ok(()), |error| syntax_error::write(out, &error))?;
        }
        difference::write(out, groups, Extent::of(arguments.all))?;
        let mut checked = self.texts(out)?;
        // The card of a template whose prompts nobody confirms is not confirmed either.
        checked.retain(|card| !choice.left.contains(&card.template));
        checked_texts::write(out, &checked, arguments.all)?;
        let (readings, cards): (Vec<CheckedText>, Vec<CheckedText>) =
            checked.into_iter().partition(is_of_readings);
        choice.add_readings(self.known.suite, &readings);
        let mut problems = Vec::new();
        let snapshots = &self.known.expectations.snapshots;
        let files = choice.files(self.known.suite, snapshots, &mut problems);
        let untidy = self.other_untidy(&files, &mut problems);
        report::write_untidy(out, &untidy)?;
        let mut written = files.len();
        if !arguments.dry_run {
            written = choice.write(&files, snapshots, &mut problems);
            self.put_in_order(&untidy, &cards, &mut choice, &mut problems);
        }
        for card in cards.iter().filter(|card| !card.change.is_same()) {
            if arguments.dry_run {
                choice.counts.add_text(card.kind);
            } else {
                self.write_card(card, &mut choice.counts, &mut problems);
            }
        }
        self.finish_records(arguments, asked, &mut problems, out)?;
        let references = Reference::of_pairs(self.pairs);
        let is_dry = arguments.dry_run;
        report::write(out, &choice.counts, &files, written, &references, is_dry)?;
        if self.known.layout.is_checkout() && choice.counts.accepted != AcceptedPairs::default() {
            report::write_engines(out)?;
        }
        Ok(Status::of(problems.is_empty(), !choice.counts.has_left()))
    }

    /// Writes what the references gave, and removes what is left of templates and cases that are
    /// gone. Reports all problems.
    fn finish_records(
        &self,
        arguments: &AcceptArguments,
        asked: &ReferenceResults<'_>,
        problems: &mut Vec<Problem>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let KnownSuite {
            layout,
            suite,
            expectations,
            ..
        } = self.known;
        // In this repository every pair needs a record. A suite of the user's own may lack them.
        let is_recorded = layout.is_checkout();
        if is_recorded && !arguments.dry_run {
            let recorded = asked.write(&expectations.snapshots, &expectations.divergences);
            problems.extend(recorded.problems);
        }
        // Whoever names pairs decides on these alone.
        if arguments.filters.is_empty() {
            let orphans = orphans(layout, suite, arguments.dry_run, problems);
            report::write_orphans(out, &orphans, arguments.dry_run)?;
        }
        report_problems(problems)?;
        report::write_asked(out, asked.count(), is_recorded, arguments.dry_run)?;
        Ok(())
    }

    /// The texts about the templates that may be accepted: report cards, and transcripts of readings.
    pub(crate) fn texts(&self, out: &mut dyn Write) -> Result<Vec<CheckedText>, Failure> {
        let rule = cards::rule_of_accepting(self.known.layout);
        let mut texts = cards::checked(rule, self.known, self.pairs, self.session)?.sound()?;
        let readings = roundtrip::checked(self.known, self.pairs, self.session)?;
        if !readings.problems.is_empty() {
            return Err(Failure::Problems(readings.problems));
        }
        texts.extend(confirmed(readings, out)?);
        Ok(texts)
    }

    /// The files that are not written anyway, and have something wrong besides their transcripts. Adds
    /// the problems with those that cannot be written.
    pub(crate) fn other_untidy(
        &self,
        files: &[AcceptedFile],
        problems: &mut Vec<Problem>,
    ) -> Vec<AcceptedFile> {
        let is_written = |one: &AcceptedFile| files.iter().any(|file| file.path == one.path);
        let snapshots = &self.known.expectations.snapshots;
        let (mut untidy, unreadable) = untidy(self.known.suite, snapshots, self.pairs);
        untidy.retain(|one| !is_written(one));
        for problem in unreadable {
            // A file with damaged parts that is written anyway has been reported by `Choice::files`
            // before.
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        untidy
    }

    /// Removes pending files in which nothing is left to accept, and writes files as they should be
    /// that have something wrong besides the accepted transcripts.
    fn put_in_order(
        &self,
        untidy: &[AcceptedFile],
        cards: &[CheckedText],
        choice: &mut Choice<'_>,
        problems: &mut Vec<Problem>,
    ) {
        let snapshots = &self.known.expectations.snapshots;
        for one in untidy {
            choice.write_tidy(one, snapshots, problems);
        }
        let mut settled = choice.settled(self.known.suite, snapshots, self.pairs);
        settled.extend(same_cards(cards));
        choice.counts.removed = remove_settled(&settled, problems);
        self.tidy_cards(cards, &mut choice.counts, problems);
    }

    /// Writes the accepted cards as they should be whose files somebody has edited besides the card
    /// itself.
    pub(crate) fn tidy_cards(
        &self,
        cards: &[CheckedText],
        counts: &mut AcceptedCounts,
        problems: &mut Vec<Problem>,
    ) {
        let KnownSuite {
            suite,
            expectations,
            ..
        } = self.known;
        let edited = cards.iter().filter(|card| {
            let template = suite.template(&TemplateName::new(&card.template));
            let written = |template| expectations.snapshots.written_text(template, &card.text);
            !is_of_readings(card)
                && card.change.is_same()
                && is_there(&card.path)
                && read_text(&card.path).ok() != template.map(written)
        });
        for card in edited {
            match self.write_text(card) {
                Ok(()) => counts.tidied += 1,
                Err(problem) => problems.push(problem),
            }
        }
    }

    /// Writes a report card as the accepted one, and counts it. Returns whether it could.
    pub(crate) fn write_card(
        &self,
        card: &CheckedText,
        counts: &mut AcceptedCounts,
        problems: &mut Vec<Problem>,
    ) -> bool {
        match self.write_text(card) {
            Ok(()) => {
                counts.add_text(card.kind);
                true
            }
            Err(problem) => {
                problems.push(problem);
                false
            }
        }
    }

    fn write_text(&self, card: &CheckedText) -> Result<(), Problem> {
        let name = TemplateName::new(&card.template);
        let Some(template) = self.known.suite.template(&name) else {
            return Ok(());
        };
        let snapshots = &self.known.expectations.snapshots;
        let text = snapshots.written_text(template, &card.text);
        write_below(snapshots.root(), &card.path, &text)?;
        // insta would show the old pending file as a change of what was accepted just now.
        remove_pending(&card.path).map(drop)
    }
}

/// Whether a text is of the parsed answers. Its lines are among the transcripts.
pub(crate) fn is_of_readings(text: &CheckedText) -> bool {
    text.kind == TextKind::Readings
}

/// The transcripts of readings that the reference's records confirm, or that need no confirmation.
/// Reports the others.
fn confirmed(readings: SuiteReadings, out: &mut dyn Write) -> Result<Vec<CheckedText>, Failure> {
    let SuiteReadings { checked, tally, .. } = readings;
    for fault in Diagnostic::of_read_back(&tally) {
        writeln!(out, "{}", fault.sentence())?;
    }
    let is_confirmed = |checked: &CheckedText| tally.confirms(&checked.template);
    Ok(checked.into_iter().filter(is_confirmed).collect())
}

/// The files of cards that are as accepted.
pub(crate) fn same_cards(cards: &[CheckedText]) -> impl Iterator<Item = PathBuf> {
    let same = cards.iter().filter(|card| card.change.is_same());
    same.map(|card| card.path.clone())
}

/// Removes the files that insta has left for review next to these. Returns how many there were.
pub(crate) fn remove_settled(settled: &BTreeSet<PathBuf>, problems: &mut Vec<Problem>) -> usize {
    let removed = settled.iter().map(|file| remove_pending(file));
    let mut count = 0;
    for removed in removed {
        match removed {
            Ok(was_there) => count += usize::from(was_there),
            Err(problem) => problems.push(problem),
        }
    }
    count
}

/// Pairs by what is known of them.
#[derive(Default)]
pub(crate) struct Judged<'s> {
    /// The outcomes of pairs that differ from their snapshots.
    pub(crate) open: Vec<Compared<'s>>,
    /// If the user wants verified results: pairs that differ from their snapshots, and have no
    /// record of the reference.
    unknown: Vec<Pair<'s>>,
    /// If the user wants verified results: all pairs without a record.
    unrecorded: Vec<Pair<'s>>,
}

/// Renders pairs and gets their verdicts.
pub(crate) struct PairJudge<'s> {
    pub(crate) session: &'s Session,
    pub(crate) chosen: &'s [ChosenEngine<'s>],
    pub(crate) suite: &'s Suite,
    /// Whether the user wants only results that the reference confirms.
    pub(crate) is_verified: bool,
}

impl<'s> PairJudge<'s> {
    fn expected<'x>(&'x self, expectations: &'x Expectations) -> Expected<'x> {
        Expected {
            accepted: Some(Acceptance {
                suite: self.suite,
                snapshots: &expectations.snapshots,
            }),
            truth: expectations.truth(),
            belonging: None,
            needs_differences_only: true,
        }
    }

    /// Renders pairs and judges them by the records.
    pub(crate) fn by_record(
        &self,
        pairs: &[Pair<'s>],
        expectations: &Expectations,
        counts: &mut AcceptedCounts,
    ) -> Result<Judged<'s>, Failure> {
        let mut judged = Judged::default();
        let expected = self.expected(expectations);
        self.session
            .runner(self.chosen)?
            .compare_each(pairs, &expected, |compared| {
                let is_unknown = matches!(compared.verdict, Verdict::Unverified(_));
                let is_unknown = self.is_verified && is_unknown;
                let pair = compared.rendered.pair;
                if is_unknown {
                    judged.unrecorded.push(pair);
                }
                if !is_open(&compared) {
                    counts.same += 1;
                } else if is_unknown {
                    judged.unknown.push(pair);
                } else {
                    judged.open.push(compared);
                }
            });
        Ok(judged)
    }

    /// The outcomes of pairs, with verdicts from the records.
    fn all(
        &self,
        pairs: &[Pair<'s>],
        expectations: &Expectations,
    ) -> Result<Vec<Compared<'s>>, Failure> {
        let mut all = Vec::new();
        let expected = self.expected(expectations);
        let take = |compared| all.push(compared);
        self.session
            .runner(self.chosen)?
            .compare_each(pairs, &expected, take);
        Ok(all)
    }
}

/// Removes the snapshots of families and templates that are gone, and what is recorded of those
/// templates. Returns the files.
fn orphans(
    layout: &Layout,
    suite: &Suite,
    is_dry: bool,
    problems: &mut Vec<Problem>,
) -> Vec<PathBuf> {
    let mut removed = Vec::new();
    for path in lint::orphans(layout, suite) {
        let result = if is_dry {
            Ok(())
        } else {
            remove_below(&layout.snapshots(), &path)
        };
        match result {
            Ok(()) => removed.push(path),
            Err(problem) => problems.push(problem),
        }
    }
    let snapshots = Snapshots::of(layout);
    if let Ok(mut asked) = AskedTemplates::read(&snapshots)
        && !is_dry
    {
        asked.retain(|name| suite.template(name).is_some());
        problems.extend(asked.write(&snapshots).err());
    }
    removed
}

/// The pairs whose answers the references are to read: those that they are to render, and all of a
/// template whose response template has changed. They are in the order of all pairs.
fn to_read<'s>(
    pairs: &[Pair<'s>],
    to_ask: &[Pair<'s>],
    expectations: &Expectations,
    is_verified: bool,
) -> Vec<Pair<'s>> {
    let to_ask: HashSet<_> = to_ask.iter().map(Pair::key).collect();
    let has_changed = |pair: &Pair<'_>| {
        let standing = expectations.records.standing_of_answers(pair.template);
        matches!(standing, Err(Unverified::ResponseTemplateChanged))
    };
    let is_to_be_read =
        |pair: &&Pair<'s>| to_ask.contains(&pair.key()) || is_verified && has_changed(pair);
    pairs.iter().filter(is_to_be_read).copied().collect()
}

/// Starts the references for some pairs. A reference that cannot be used is reported, and its pairs
/// stay unknown.
fn references_of(pairs: &[Pair<'_>], session: &Session) -> Vec<ProtocolEngine> {
    let mut programs = Vec::new();
    for reference in Reference::of_pairs(pairs) {
        match engines::reference_program(&reference, &session.limits.program) {
            Ok(program) => programs.push(program),
            Err(failure) => tell(&failure::text(&failure)),
        }
    }
    programs
}
