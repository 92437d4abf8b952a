//! The command `run`: renders every case with every template, and compares with snapshots and
//! records.

pub mod failures;

pub mod grid;

pub mod report;

#[cfg(feature = "fetch")]
mod servers;

use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::path::Path;

use crate::report::diagnostic::Diagnostic;
use crate::report::format::Format;
use crate::report::progress::Progress;
use crate::report::run_report::RunReport;
use crate::report::{clean, counted, github, html, jsonl, junit, markdown, problems, sarif};
use crate::{cards, coverage, home, inputs, likeness, page, roundtrip};
use rolecall_check::known_defects;
use rolecall_core::file::is_there;
use rolecall_core::problem::Problem;
use rolecall_core::{Dialect, Engine, Template};
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_io::protocol::ProtocolEngine;
use rolecall_io::syntax_error::SyntaxError;
use rolecall_suite::checked_text::CheckedText;
use rolecall_suite::conclusion::{Conclusion, FaultGroups};
use rolecall_suite::configuration;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::lint;
use rolecall_suite::reference::Reference;
use rolecall_suite::run::{Acceptance, Compared, Expected, Runner};
use rolecall_suite::selection::select;
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::untested;
use rolecall_suite::verdict::Truth;
use rolecall_suite::workspace::Workspace;
use rolecall_suite::workspace::known::KnownSuite;

use crate::args::RunArguments;
use crate::engines::ChosenEngine;
use crate::failure::{Failure, Status, report_problems, tell};
#[cfg(feature = "fetch")]
use crate::served;
use crate::session::{self, Session};

pub(crate) fn execute(arguments: &RunArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    hold_meant(arguments)?;
    if arguments.roundtrip {
        return roundtrip(arguments, out);
    }
    let selection = &arguments.selection;
    let mut inputs = inputs::open(&selection.sources.subject(&selection.filters))?;
    // Only the pairs with a template's own front have records, and those with a served one.
    let is_served = arguments.front.name.is_some_and(Front::is_served);
    let is_recorded = inputs.is_own && arguments.against.is_empty() && !is_served;
    let is_elsewhere = !is_recorded && session::use_front(arguments.front.name, &mut inputs.suite);
    let session = Session::of(&arguments.rendering);
    let chosen = session.chosen()?;
    let others = arguments.against.iter().map(|name| session.open(name));
    let others: Vec<ChosenEngine<'_>> = others.collect::<Result<_, Failure>>()?;
    let run = Run {
        arguments,
        session: &session,
        inputs: &inputs,
        chosen: &chosen,
        others: others.iter().map(ChosenEngine::engine).collect(),
        is_elsewhere,
        no_divergences: Divergences::default(),
    };
    run.judge(out)
}

/// What is run, and with which engines.
struct Run<'r> {
    arguments: &'r RunArguments,
    session: &'r Session,
    inputs: &'r Workspace,
    /// The engines that render, as far as they replace the default ones.
    chosen: &'r [ChosenEngine<'r>],
    /// The engines that give the verdicts instead of the records.
    others: Vec<&'r dyn Engine>,
    /// Whether some templates have another front than their own.
    is_elsewhere: bool,
    no_divergences: Divergences,
}

impl<'r> Run<'r> {
    fn judge(&self, out: &mut dyn Write) -> Result<Status, Failure> {
        let runner = self.session.runner(self.chosen)?;
        let mut input = self.inputs.suite.problems.clone();
        input.extend(known_defects::unknown_contracts(
            &self.inputs.suite.templates,
        ));
        report_problems(&input)?;
        let is_sound = input.is_empty();
        let mut pairs = self.pairs()?;
        // A pair that somebody names by its files may be one of the suite: what was accepted holds for it.
        let around = (!self.inputs.is_own).then(|| Suite::load_layout(&self.inputs.layout));
        let mut known = KnownSuite::of(self.inputs, around.as_ref(), &pairs)?;
        if let (Some(known), Some(front)) = (&mut known, arguments_front(self.arguments)) {
            for reason in known.use_front(front, &mut pairs)? {
                tell(&format!("pairs are left out: {reason}"));
            }
        }
        if let Some(known) = &known {
            let of_records = &known.expectations.records.problems;
            report_problems(of_records)?;
            input.extend(of_records.iter().cloned());
        }
        let known = known.as_ref();
        let page = self.arguments.html.as_ref().map(|_| self.page(&pairs));
        let (mut page, of_models) = page.transpose()?.unzip();
        let mut of_models = of_models.unwrap_or_default();
        let is_slow = self.chosen.iter().any(ChosenEngine::is_slow) || !self.others.is_empty();
        let progress = Progress::of_slow(is_slow, pairs.len(), "rendering", "pairs");
        let runner = runner.with_progress(progress.step());
        let results = self.compare(&runner, &pairs, known, &mut page, out);
        progress.clear();
        let mut results = results?;
        if let Some(known) = known.filter(|_| !self.is_elsewhere) {
            if !self.is_others() {
                of_models.extend(results.hold(known, &known.pairs(&pairs), self.session)?);
            }
            // What cannot be read is not gone.
            if is_sound {
                results.find_unnoticed(known, &pairs, self.is_others())?;
            }
        }
        let status = Status::of(
            is_sound && of_models.is_empty(),
            results.conclusion.passes(),
        );
        add_new(&mut input, of_models)?;
        let truth = self.truth(known);
        let reference_names = reference_names(&truth, &pairs);
        let mut groups = std::mem::take(&mut results.groups).sorted();
        // What makes every pair of a template fail is said once.
        let broken: HashSet<_> = results.conclusion.unread().collect();
        groups.retain(|group| !group.is_unread || !group.is_of(&broken));
        let is_unread =
            |text: &CheckedText| broken.iter().any(|name| name.as_str() == text.template);
        results.conclusion.cards.retain(|text| !is_unread(text));
        let report = RunReport {
            conclusion: &results.conclusion,
            groups: &groups,
            input: &input,
            unread: &unread(&runner, &results.conclusion),
            origin: &self.inputs.origin,
            reference_names: reference_names.as_deref(),
            is_recorded: is_recorded_truth(&truth),
            engine: self.arguments.rendering.engine.as_deref(),
        };
        self.report(&report, &results, page, &runner, &pairs, out)?;
        Ok(status)
    }

    /// Whether the results come from another engine than the default ones.
    fn is_others(&self) -> bool {
        self.arguments.rendering.engine.is_some()
    }

    /// The external program that the user chose.
    fn program(&self) -> Option<&ProtocolEngine> {
        let asked = self.session.asked(self.chosen);
        asked.and_then(ChosenEngine::program)
    }

    /// Writes the page and the results, in the format that the user chose.
    fn report<'s>(
        &self,
        report: &RunReport<'_, 's>,
        results: &RunResults<'s>,
        page: Option<html::Page<'s>>,
        runner: &Runner<'_>,
        pairs: &[Pair<'s>],
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let arguments = self.arguments;
        if let (Some(path), Some(page)) = (&arguments.html, page) {
            let verdict = html::verdict::of_run(report, &engines_of(runner, pairs));
            page::write(path, |out| page.write(out, &verdict))?;
        }
        let is_other = self.program().is_some();
        let mut errors = clean::messages();
        // In the other formats a program reads standard output, and a sentence between its lines would
        // break it.
        let reported: &mut dyn Write = if arguments.format == Format::Human {
            &mut *out
        } else {
            &mut errors
        };
        let failures = &report.conclusion.failures;
        // The engines of this process need no set-up. If every template fails in them, the templates
        // are wrong, and each error has a place.
        match failures.common_refusal().filter(|_| is_other) {
            Some(words) => failures::write_common_refusal(reported, words)?,
            None => failures::write(reported, failures, |dialect| runner.engine(dialect))?,
        }
        if arguments.format != Format::Human {
            tell(&format!("suite: {}", report.origin));
            report_problems(&report.conclusion.problems)?;
        }
        match arguments.format {
            Format::Human => {
                let grid = results.grid.as_ref();
                report::write(out, report, grid, arguments.all, is_other)?;
            }
            Format::Junit => junit::write_run(out, report, pairs)?,
            Format::Github => github::write_run(out, report)?,
            Format::Sarif => sarif::write_run(out, report, &std::env::current_dir()?)?,
            Format::Markdown => markdown::write_run(out, report)?,
            // The lines are written one after the other.
            Format::Json | Format::Jsonl | Format::Lcov => {}
        }
        Ok(())
    }

    /// Renders the pairs, and compares each with what is expected of it.
    fn compare<'s>(
        &self,
        runner: &Runner<'r>,
        pairs: &[Pair<'s>],
        known: Option<&KnownSuite<'_>>,
        page: &mut Option<html::Page<'s>>,
        out: &mut dyn Write,
    ) -> Result<RunResults<'s>, Failure>
    where
        'r: 's,
    {
        let arguments = self.arguments;
        // Snapshots do not hold for another engine or another front.
        let checked = known.filter(|_| !self.is_elsewhere && !self.is_others());
        let expected = Expected {
            accepted: checked.map(|known| Acceptance {
                suite: known.suite,
                snapshots: &known.expectations.snapshots,
            }),
            truth: self.truth(known),
            belonging: known.and_then(|known| known.belonging.as_ref()),
            needs_differences_only: arguments.html.is_none() && arguments.format != Format::Jsonl,
        };
        let divergences = self.divergences(known);
        let mut results = RunResults::new(arguments, pairs, &self.session.engines);
        let mut lines = jsonl::LineWriter::new(runner);
        let mut written = Ok(());
        let mut take = |mut compared: Compared<'s>| {
            if arguments.format == Format::Jsonl {
                lines.write_compared(out, &compared)?;
            }
            // The groups and the page keep what they show of all pairs until the end.
            compared.shorten(page::MOST_SHOWN);
            results.add(&compared, divergences);
            page.as_mut().map_or(Ok(()), |page| page.add(compared))
        };
        let ran = runner.compare_each(pairs, &expected, |compared| {
            // A run cannot be stopped from here. After the first error nothing more is written, and
            // that error is the one that is reported.
            if written.is_ok() {
                written = take(compared);
            }
        });
        written?;
        results.conclusion.finish(ran);
        results.add_engines(self.chosen, &self.others);
        Ok(results)
    }

    /// The pairs that the user chose.
    fn pairs(&self) -> Result<Vec<Pair<'r>>, Failure> {
        let arguments = self.arguments;
        let one = self.session.one_dialect(&arguments.dialect, self.chosen)?;
        let selected = select(&self.inputs.suite, &arguments.selection.filters)?;
        let pairs = session::after(arguments.front.name, one.pairs(selected)?)?;
        #[cfg(feature = "fetch")]
        let pairs = served::pairs(pairs, self.session.asked(self.chosen), arguments.front.name)?;
        with_dialects(pairs, &self.others)
    }

    /// A page of the run's results, with the cards of its templates, and the problems of files that
    /// the cards need.
    fn page<'s>(&self, pairs: &[Pair<'s>]) -> Result<(html::Page<'s>, Vec<Problem>), Failure>
    where
        'r: 's,
    {
        let suite = &self.inputs.suite;
        let shown: BTreeSet<_> = pairs.iter().map(|pair| &pair.template.name).collect();
        let is_shown = |template: &&Template| shown.contains(&template.name);
        let templates: Vec<Template> = suite.templates.iter().filter(is_shown).cloned().collect();
        page::hold(templates.len())?;
        let runner = self.session.runner(self.chosen)?;
        let (cards, problems) = session::examine(&runner, &templates);
        let page = html::Page::new("Rolecall", suite, pairs, cards);
        Ok((page, problems))
    }

    fn divergences<'t>(&'t self, known: Option<&'t KnownSuite<'_>>) -> &'t Divergences {
        known.map_or(&self.no_divergences, |known| {
            &known.expectations.divergences
        })
    }

    /// Who gives the verdicts: engines that are asked, or else the records.
    fn truth<'t>(&'t self, known: Option<&'t KnownSuite<'_>>) -> Truth<'t> {
        match known {
            _ if !self.others.is_empty() => Truth::Engines {
                engines: &self.others,
                divergences: self.divergences(known),
            },
            Some(known) => known.truth(),
            None => Truth::Unknown,
        }
    }
}

/// The served front that the user chose, if its records give the verdicts.
fn arguments_front(arguments: &RunArguments) -> Option<Front> {
    let front = arguments.front.name.filter(|front| front.is_served());
    front.filter(|_| arguments.against.is_empty())
}

/// Whether the verdicts are those of a reference, as recorded.
fn is_recorded_truth(truth: &Truth<'_>) -> bool {
    matches!(truth, Truth::Records { records, .. } if !records.are_never_asked())
}

/// Tests a whole server, prompt and parser.
#[cfg(feature = "fetch")]
fn roundtrip(arguments: &RunArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    servers::execute(arguments, out)
}

/// This program has no servers.
#[cfg(not(feature = "fetch"))]
fn roundtrip(_: &RunArguments, _: &mut dyn Write) -> Result<Status, Failure> {
    Err(Failure::Request(NO_SERVERS.to_owned()))
}

/// Why servers are not asked.
#[cfg(not(feature = "fetch"))]
pub(crate) const NO_SERVERS: &str = "this program was built without the feature `fetch`, and asks no \
    servers\n  in the repository, `cargo run --package rolecall-cli --` has it";

/// Reports problems, and adds them to others, each once.
fn add_new(input: &mut Vec<Problem>, found: Vec<Problem>) -> Result<(), Failure> {
    for problem in found {
        if !input.contains(&problem) {
            report_problems(std::slice::from_ref(&problem))?;
            input.push(problem);
        }
    }
    Ok(())
}

/// The templates that no engine can read.
fn unread<'s>(runner: &Runner<'_>, conclusion: &Conclusion<'s>) -> Vec<Diagnostic<'s>> {
    let unread = conclusion.failures.unread().map(|template| {
        let engine = runner.engine(template.dialect);
        let error = SyntaxError::find(engine, template);
        Diagnostic::of_unread(template, error.as_ref())
    });
    unread.collect()
}

/// Refuses to run the built-in suite where the user probably means their own.
fn hold_meant(arguments: &RunArguments) -> Result<(), Failure> {
    let names_engine = arguments.rendering.engine.is_some() || !arguments.against.is_empty();
    let mut filters = arguments.selection.filters.iter();
    // What such a filter means is said when it matches no template.
    let names_path = filters.any(|filter| is_there(Path::new(&filter.to_string())));
    if arguments.selection.sources.templates.is_empty() && !names_path {
        home::hold_meant(names_engine)
    } else {
        Ok(())
    }
}

/// The engines that rendered the pairs, in a sentence.
fn engines_of(runner: &Runner<'_>, pairs: &[Pair<'_>]) -> String {
    let has = |dialect| pairs.iter().any(|pair| pair.template.dialect == dialect);
    let engines = Dialect::ALL.into_iter().filter(|dialect| has(*dialect));
    let names: Vec<String> = engines
        .map(|dialect| runner.engine(dialect).description())
        .collect();
    format!("Engine: {}.", names.join(" and "))
}

/// The results of a run, as far as reports need them: the conclusion, and its details.
#[derive(Default)]
struct RunResults<'s> {
    conclusion: Conclusion<'s>,
    groups: FaultGroups<'s>,
    /// Only for a few templates, or if the user asks for it.
    grid: Option<grid::Grid<'s>>,
}

impl<'s> RunResults<'s> {
    fn new(arguments: &RunArguments, pairs: &[Pair<'s>], engines: &'s Engines) -> RunResults<'s> {
        let mut templates: Vec<_> = pairs.iter().map(|pair| &pair.template.name).collect();
        // The pairs of a template come one after the other, so equal names are neighbours.
        templates.dedup();
        let are_few = !arguments.selection.filters.is_empty()
            && templates.len() <= grid::MOST_TEMPLATES
            && pairs.len() <= grid::MOST_CASES * templates.len();
        RunResults {
            groups: FaultGroups::of(engines),
            grid: (arguments.pairs || are_few).then(grid::Grid::default),
            ..RunResults::default()
        }
    }

    /// Adds what the engines did that shows in no outcome.
    fn add_engines(&mut self, chosen: &[ChosenEngine<'_>], others: &[&dyn Engine]) {
        let asked = chosen.iter().map(ChosenEngine::engine);
        let asked = asked.chain(others.iter().copied());
        asked.for_each(|engine| self.conclusion.add_engine(engine));
    }

    fn add(&mut self, compared: &Compared<'s>, divergences: &Divergences) {
        self.conclusion.add(compared, divergences);
        self.groups.add(compared);
        if let Some(grid) = &mut self.grid {
            grid.add(compared);
        }
    }

    /// Adds what is not as the suite demands of its templates: report cards, readings, bases, reasons. Returns
    /// the problems of files that this needs.
    fn hold(
        &mut self,
        known: &KnownSuite<'_>,
        pairs: &[Pair<'_>],
        session: &Session,
    ) -> Result<Vec<Problem>, Failure> {
        let cards = cards::checked(cards::rule_of_run(known.layout), known, pairs, session)?;
        let readings = roundtrip::checked(known, pairs, session)?;
        let (bases, problems) = likeness::checked(known, pairs, session)?;
        let texts = cards.checked.into_iter().chain(readings.checked);
        let conclusion = &mut self.conclusion;
        conclusion.cards = texts.filter(|text| !text.is_as_expected()).collect();
        conclusion.problems.extend(cards.unused);
        conclusion.roundtrip = readings.tally;
        conclusion.bases = bases;
        let of_files = cards.problems.into_iter().chain(readings.problems);
        Ok(of_files.chain(problems).collect())
    }

    /// Adds what no pair shows: what is gone, and what nothing reads or reaches. A part of the suite
    /// leaves the rest alone.
    fn find_unnoticed(
        &mut self,
        known: &KnownSuite<'_>,
        pairs: &[Pair<'_>],
        is_others: bool,
    ) -> Result<(), Failure> {
        let suite = known.suite;
        let is_part = suite.lacks_templates || suite.lacks_cases;
        if is_part || known.belonging.is_some() || pairs.len() != suite.pairs().count() {
            return Ok(());
        }
        let notes = untested::below(known.layout, known.suite);
        problems::write_notes(&mut clean::messages(), &notes)?;
        let problems = &mut self.conclusion.problems;
        problems.extend(lint::unnoticed(
            known.layout,
            known.suite,
            &known.expectations.snapshots,
        ));
        let own = known.layout.configuration().filter(|_| !is_others);
        if let Some(least) = own.and_then(|own| own.least_coverage) {
            let (below, _) = coverage::demanded(known.suite, least, configuration::FILE)?;
            problems.extend(below);
        }
        Ok(())
    }
}

/// The pairs in the dialects of the engines that give verdicts. Reports the pairs that are left
/// out.
fn with_dialects<'s>(
    pairs: Vec<Pair<'s>>,
    others: &[&dyn Engine],
) -> Result<Vec<Pair<'s>>, Failure> {
    let has_dialect = |pair: &Pair<'_>| {
        let dialect = pair.template.dialect;
        others.is_empty() || others.iter().any(|engine| engine.dialect() == dialect)
    };
    let (kept, left): (Vec<_>, Vec<_>) = pairs.into_iter().partition(has_dialect);
    if let Some(pair) = left.first() {
        let names: Vec<_> = others.iter().map(|engine| engine.name()).collect();
        let message = format!(
            "{} of {} templates left out: {} does not render them",
            counted(left.len(), "pair", "pairs"),
            pair.template.dialect,
            names.join(" or "),
        );
        // Of no pairs at all every verdict would be good.
        if kept.is_empty() {
            return Err(Failure::Request(message));
        }
        tell(&message);
    }
    Ok(kept)
}

/// The reference that gives the verdicts, in words. Nothing for pairs from outside the suite.
fn reference_names(truth: &Truth<'_>, pairs: &[Pair<'_>]) -> Option<String> {
    match truth {
        Truth::Unknown => None,
        Truth::Engines { engines, .. } => {
            let names: Vec<_> = engines.iter().map(|engine| engine.description()).collect();
            Some(names.join(" and "))
        }
        Truth::Records { records, .. } if records.are_never_asked() => {
            Some("the accepted snapshots".to_owned())
        }
        Truth::Records { .. } => {
            let references = Reference::of_pairs(pairs);
            let names: Vec<_> = references.iter().map(Reference::to_string).collect();
            Some(names.join(" and ") + ", as recorded")
        }
    }
}
