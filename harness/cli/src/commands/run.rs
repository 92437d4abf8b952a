//! The command `run`: renders every case with every template, and compares with snapshots and
//! records.

use std::collections::BTreeSet;
use std::io::Write;

use rolecall::conclusion::Conclusion;
use rolecall::divergence::Divergences;
use rolecall::engines::Engines;
use rolecall::reference::Reference;
use rolecall::repetition::Repetition;
use rolecall::report::clean;
use rolecall::report::format::Format;
use rolecall::report::progress::Progress;
use rolecall::report::{
    self, counted, difference, failures, grid, html, jsonl, repetition, summary,
};
use rolecall::run::{Acceptance, Compared, Expected, Runner};
use rolecall::selection::select;
use rolecall::suite::{Pair, Suite};
use rolecall::verdict::Truth;
use rolecall_model::{Engine, Template};

use crate::args::RunArguments;
use crate::failure::{Failure, Status, report_problems, tell};
#[cfg(feature = "fetch")]
use crate::served;
use crate::setup::OneDialect;
use crate::{engines, inputs, page, setup};

pub(super) fn execute(arguments: &RunArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let mut inputs = inputs::load(&arguments.selection.sources)?;
    // Only the pairs with a template's own front have records.
    let is_recorded = inputs.layout.is_some() && arguments.against.is_empty();
    let is_elsewhere = !is_recorded && setup::put_behind(arguments.front.name, &mut inputs.suite);
    let suite = &inputs.suite;
    let engines = arguments.rendering.limits.chosen().engines();
    let chosen = chosen(arguments, &engines, suite)?;
    let others = arguments
        .against
        .iter()
        .map(|name| engines::open(&engines, name, &arguments.rendering.limits.chosen()))
        .collect::<Result<Vec<_>, _>>()?;
    let others: Vec<&dyn Engine> = others.iter().map(engines::ChosenEngine::engine).collect();
    let runner = setup::runner(&engines, &chosen, &arguments.rendering)?;
    let is_sound = setup::report_input(&runner, suite)?;
    let pairs = pairs(arguments, suite, &chosen, &others)?;
    let expectations = inputs.expectations(&pairs)?;

    let is_slow = chosen.iter().any(engines::ChosenEngine::is_slow) || !others.is_empty();
    let progress = if is_slow {
        Progress::new(pairs.len(), "rendering", "pairs")
    } else {
        Progress::hidden()
    };
    let runner = runner.with_progress(progress.step());
    let none = Divergences::default();
    let divergences = expectations
        .as_ref()
        .map_or(&none, |known| &known.divergences);
    if let Some(known) = &expectations {
        report_problems(&known.records.problems)?;
    }
    // Snapshots do not hold for another engine or another front.
    let is_others = is_others(arguments, &engines, &chosen);
    let accepted = expectations
        .as_ref()
        .filter(|_| !is_elsewhere && !is_others)
        .map(|known| Acceptance {
            suite,
            snapshots: &known.snapshots,
        });
    let expected = Expected {
        accepted,
        truth: match &expectations {
            _ if !others.is_empty() => Truth::Engines {
                engines: &others,
                divergences,
            },
            Some(known) => known.truth(),
            None => Truth::Unknown,
        },
        needs_differences_only: arguments.html.is_none() && arguments.format == Format::Human,
    };
    let mut page = match &arguments.html {
        Some(_) => Some(page_of(suite, &pairs, &engines, &chosen, arguments)?),
        None => None,
    };
    let mut results = RunResults::new(arguments, &pairs);
    let mut written = Ok(());
    let ran = runner.compare_each(&pairs, &expected, |mut compared| {
        if written.is_err() {
            return;
        }
        if arguments.format == Format::Jsonl {
            written = jsonl::write_compared(out, &compared);
        }
        compared.shorten(page::MOST_SHOWN);
        results.add(&compared, divergences);
        if let Some(page) = page.as_mut().filter(|_| written.is_ok()) {
            written = page.add(compared);
        }
    });
    progress.clear();
    written?;
    if let (Some(path), Some(page)) = (&arguments.html, page) {
        page::write(path, |out| page.write(out))?;
    }
    results.conclusion.finish(ran);
    let status = results.status(is_sound);
    let program = engines::program(&arguments.rendering, &chosen);
    let mut errors = clean::messages();
    let told: &mut dyn Write = if arguments.format == Format::Human {
        &mut *out
    } else {
        &mut errors
    };
    let is_other = program.is_some() || is_others && !arguments.results.is_empty();
    results.write_failures(told, &runner, is_other)?;
    if let Some(program) = program {
        let pairs = std::mem::take(&mut results.differing);
        let jobs = arguments.rendering.jobs.map(usize::from);
        repetition::write(told, &pairs.ask(&engines, program, jobs)?)?;
    }
    if arguments.format == Format::Human {
        let law = law(&expected.truth, &pairs);
        results.write(out, arguments, law.as_deref(), is_other)?;
    } else {
        report_problems(&results.conclusion.problems)?;
    }
    Ok(status)
}

/// The engines that replace the default ones.
fn chosen<'e>(
    arguments: &RunArguments,
    engines: &'e Engines,
    suite: &Suite,
) -> Result<Vec<engines::ChosenEngine<'e>>, Failure> {
    match &arguments.results[..] {
        [] => engines::chosen(engines, &arguments.rendering),
        files => engines::replayed(files, suite),
    }
}

/// The pairs that the user chose.
fn pairs<'s>(
    arguments: &RunArguments,
    suite: &'s Suite,
    chosen: &[engines::ChosenEngine<'_>],
    others: &[&dyn Engine],
) -> Result<Vec<Pair<'s>>, Failure> {
    let one = OneDialect::of(&arguments.dialect, &arguments.rendering, chosen)?;
    let selected = select(suite, &arguments.selection.filters)?;
    let pairs = setup::behind(arguments.front.name, one.pairs(selected)?)?;
    #[cfg(feature = "fetch")]
    let pairs = served::pairs(pairs, &arguments.rendering, chosen, arguments.front.name)?;
    let pairs = with_dialects(pairs, others)?;
    if arguments.results.is_empty() {
        return Ok(arguments.shard.of(pairs));
    }
    let replays: Vec<&dyn Engine> = chosen.iter().map(engines::ChosenEngine::engine).collect();
    with_dialects(pairs, &replays)
}

/// Whether the results come from other engines than the default ones.
fn is_others(
    arguments: &RunArguments,
    engines: &Engines,
    chosen: &[engines::ChosenEngine<'_>],
) -> bool {
    let is_ours = |choice: &engines::ChosenEngine<'_>| {
        let ours = engines.for_dialect(choice.engine().dialect());
        ours.is_some_and(|ours| ours.name() == choice.engine().name())
    };
    match &arguments.results[..] {
        [] => arguments.rendering.engine.is_some(),
        _ => !chosen.iter().all(is_ours),
    }
}

/// The results of a run, as far as reports need them: the conclusion, and its details.
#[derive(Default)]
struct RunResults<'s> {
    conclusion: Conclusion<'s>,
    groups: difference::FaultGroups<'s>,
    /// The pairs of an external program that differ from the reference.
    differing: Repetition<'s>,
    /// Only for a few templates, or if the user asks for it.
    grid: Option<grid::Grid<'s>>,
}

impl<'s> RunResults<'s> {
    fn new(arguments: &RunArguments, pairs: &[Pair<'s>]) -> RunResults<'s> {
        let mut templates: Vec<_> = pairs.iter().map(|pair| &pair.template.name).collect();
        templates.dedup();
        let are_few =
            !arguments.selection.filters.is_empty() && templates.len() <= grid::MOST_TEMPLATES;
        RunResults {
            grid: (arguments.pairs || are_few).then(grid::Grid::default),
            ..RunResults::default()
        }
    }

    fn add(&mut self, compared: &Compared<'s>, divergences: &Divergences) {
        self.conclusion.add(compared, divergences);
        self.groups.add(compared);
        self.differing.add(compared);
        if let Some(grid) = &mut self.grid {
            grid.add(compared);
        }
    }

    fn status(&self, is_sound: bool) -> Status {
        match (is_sound, self.conclusion.passes()) {
            (false, _) => Status::BadInput,
            (true, true) => Status::Fine,
            (true, false) => Status::Nonconforming,
        }
    }

    /// Writes why some templates, or all, gave no result.
    fn write_failures(
        &self,
        out: &mut dyn Write,
        runner: &Runner<'_>,
        is_other: bool,
    ) -> Result<(), Failure> {
        let failures = &self.conclusion.failures;
        match failures.common_refusal().filter(|_| is_other) {
            Some(words) => failures::write_common_refusal(out, words)?,
            None => failures::write(out, failures, |dialect| runner.engine(dialect))?,
        }
        Ok(())
    }

    /// Writes the results for people.
    fn write(
        self,
        out: &mut dyn Write,
        arguments: &RunArguments,
        law: Option<&str>,
        is_other: bool,
    ) -> Result<(), Failure> {
        if let Some(grid) = self.grid {
            grid.write(out)?;
            writeln!(out)?;
        }
        let extent = if arguments.all {
            difference::Extent::WHOLE
        } else {
            difference::Extent::SHORT
        };
        difference::write(out, &self.groups.sorted(), extent)?;
        let conclusion = &self.conclusion;
        difference::write_gone(out, &conclusion.gone)?;
        if !conclusion.problems.is_empty() {
            report::problems::write_shared(out, &conclusion.problems)?;
            writeln!(out)?;
        }
        summary::write_table(out, conclusion)?;
        writeln!(out)?;
        if is_other {
            summary::write_parts(out, conclusion)?;
        }
        summary::write_close(out, conclusion, law)?;
        Ok(())
    }
}

/// A page of the run's results, with the cards of its templates.
fn page_of<'s>(
    suite: &'s Suite,
    pairs: &[Pair<'s>],
    engines: &Engines,
    chosen: &[engines::ChosenEngine<'_>],
    arguments: &RunArguments,
) -> Result<html::Page<'s>, Failure> {
    let shown: BTreeSet<_> = pairs.iter().map(|pair| &pair.template.name).collect();
    let is_shown = |template: &&Template| shown.contains(&template.name);
    let templates: Vec<Template> = suite.templates.iter().filter(is_shown).cloned().collect();
    let runner = setup::runner(engines, chosen, &arguments.rendering)?;
    let (tokenizers, _) = setup::tokenizers(&templates)?;
    let cards = runner.examine(&templates, &tokenizers).results;
    let cards = cards
        .iter()
        .map(|card| (card.template.clone(), html::card(card)))
        .collect();
    Ok(html::Page::new("Rolecall", suite, pairs, cards))
}

/// The pairs in the dialects of the engines that give verdicts. Reports the pairs that are left
/// out.
fn with_dialects<'s>(
    pairs: Vec<Pair<'s>>,
    others: &[&dyn Engine],
) -> Result<Vec<Pair<'s>>, Failure> {
    if others.is_empty() {
        return Ok(pairs);
    }
    let has_dialect = |pair: &Pair<'_>| {
        let dialect = pair.template.dialect;
        others.iter().any(|engine| engine.dialect() == dialect)
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
        if kept.is_empty() {
            return Err(Failure::Request(message));
        }
        tell(&message);
    }
    Ok(kept)
}

/// The reference that gives the verdicts, in words. Nothing for pairs from outside the suite.
fn law(truth: &Truth<'_>, pairs: &[Pair<'_>]) -> Option<String> {
    let names: Vec<String> = match truth {
        Truth::Unknown => return None,
        Truth::Engines { engines, .. } => {
            engines.iter().map(|engine| engine.description()).collect()
        }
        Truth::Records { .. } => Reference::of_pairs(pairs)
            .iter()
            .map(Reference::to_string)
            .collect(),
    };
    let recorded = match truth {
        Truth::Records { .. } => ", as recorded",
        _ => "",
    };
    Some(names.join(" and ") + recorded)
}
