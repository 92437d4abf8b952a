//! The command `run`: every case across every template, against what was accepted and
//! recorded.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use rolecall::divergence::Divergences;
use rolecall::reference::Reference;
use rolecall::report::progress::Progress;
use rolecall::report::{counted, difference, grid, html, jsonl, summary};
use rolecall::run::{Compared, Expected, Runner, Timed, agreeing_again};
use rolecall::selection::select;
use rolecall::suite::{Pair, Suite};
use rolecall::verdict::Truth;
use rolecall_model::{Dialect, Engine, Template};

use crate::args::{Format, RunArguments};
use crate::failure::{Failure, Status, report_problems, tell};
use crate::{engines, inputs, page, setup};

/// Bytes of the text of a pair that is as expected which are kept where nobody reads them.
const MOST_AS_EXPECTED: usize = 4 << 10;

pub(super) fn execute(arguments: &RunArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let inputs = inputs::load(&arguments.selection.sources)?;
    let baseline = inputs.baseline()?;
    let suite = &inputs.suite;
    let engines = arguments.rendering.limits.chosen().engines();
    let chosen = engines::chosen(&engines, &arguments.rendering)?;
    let others = arguments
        .against
        .iter()
        .map(|name| engines::open(&engines, name, &arguments.rendering))
        .collect::<Result<Vec<_>, _>>()?;
    let others: Vec<&dyn Engine> = others.iter().map(engines::Choice::engine).collect();
    let runner = setup::runner(&engines, chosen.as_ref(), &arguments.rendering)?;
    let is_sound = setup::report_input(&runner, suite)?;
    let pairs = with_dialects(select(suite, &arguments.selection.filters)?, &others)?;

    let is_slow = chosen.as_ref().is_some_and(engines::Choice::is_program) || !others.is_empty();
    let progress = if is_slow {
        Progress::new(pairs.len(), "rendering")
    } else {
        Progress::hidden()
    };
    let runner = runner.with_progress(progress.step());
    let none = Divergences::default();
    let divergences = baseline.as_ref().map_or(&none, |known| &known.divergences);
    if let Some(known) = &baseline {
        report_problems(&known.records.problems)?;
    }
    let expected = Expected {
        // Another engine's results are not what was accepted.
        accepted: baseline
            .as_ref()
            .filter(|_| chosen.is_none())
            .map(|known| &known.snapshots),
        truth: match &baseline {
            _ if !others.is_empty() => Truth::Engines {
                engines: &others,
                divergences,
            },
            Some(known) => Truth::Records {
                records: &known.records,
                divergences,
                snapshots: &known.snapshots,
            },
            None => Truth::Unknown,
        },
    };
    let mut written = Ok(());
    let mut results = Vec::new();
    let most = if arguments.html.is_some() {
        page::MOST_SHOWN
    } else {
        MOST_AS_EXPECTED
    };
    let elapsed = runner.compare_each(&pairs, &expected, |mut compared| {
        if arguments.format == Format::Jsonl && written.is_ok() {
            written = jsonl::write_compared(out, &compared);
        }
        compared.shorten(most);
        results.push(compared);
    });
    progress.clear();
    written?;
    let run = Timed { results, elapsed };
    let gone = agreeing_again(divergences, &run.results);
    let tally = summary::Tally::of(&run.results);
    if let Some(path) = &arguments.html {
        let runner = setup::runner(&engines, chosen.as_ref(), &arguments.rendering)?;
        write_results(path, suite, &run.results, &runner)?;
    }
    match arguments.format {
        Format::Jsonl => {}
        Format::Human => {
            let mut templates: Vec<_> = pairs.iter().map(|pair| &pair.template.name).collect();
            templates.dedup();
            let few =
                !arguments.selection.filters.is_empty() && templates.len() <= grid::MOST_TEMPLATES;
            if arguments.pairs || few {
                grid::write(out, &run.results)?;
                writeln!(out)?;
            }
            let extent = if arguments.all {
                difference::Extent::WHOLE
            } else {
                difference::Extent::SHORT
            };
            difference::write(out, &difference::groups(&run.results), extent)?;
            difference::write_gone(out, &gone)?;
            summary::write_table(out, &run.results)?;
            writeln!(out)?;
            let law = law(&expected.truth, &pairs);
            summary::write_close(out, &run, law.as_deref())?;
        }
    }
    Ok(if !is_sound {
        Status::BadInput
    } else if tally.is_as_accepted() && tally.is_as_the_reference() && gone.is_empty() {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}

/// Writes the page of a run: its results, and the cards of its templates.
fn write_results(
    path: &Path,
    suite: &Suite,
    results: &[Compared<'_>],
    runner: &Runner<'_>,
) -> Result<(), Failure> {
    let shown: BTreeSet<_> = results
        .iter()
        .map(|compared| &compared.rendered.pair.template.name)
        .collect();
    let is_shown = |template: &&Template| shown.contains(&template.name);
    let templates: Vec<Template> = suite.templates.iter().filter(is_shown).cloned().collect();
    let cards = runner.examine(&templates).results;
    let page = html::Page {
        title: "Rolecall".to_owned(),
        families: &suite.families,
        templates: &templates,
        results,
        cards: cards
            .iter()
            .map(|card| (card.template.clone(), html::card(card)))
            .collect(),
    };
    page::write(path, &page)
}

/// The pairs whose dialect one of the engines that are asked for verdicts has; what is
/// left out is told.
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

/// Who decides what is right, in words; nobody for pairs from outside the suite.
fn law(truth: &Truth<'_>, pairs: &[Pair<'_>]) -> Option<String> {
    let names: Vec<String> = match truth {
        Truth::Unknown => return None,
        Truth::Engines { engines, .. } => {
            engines.iter().map(|engine| engine.description()).collect()
        }
        Truth::Records { .. } => Dialect::ALL
            .into_iter()
            .filter(|dialect| pairs.iter().any(|pair| pair.template.dialect == *dialect))
            .map(|dialect| {
                let reference = Reference::of(dialect);
                format!("{} {}", reference.name, reference.version)
            })
            .collect(),
    };
    let recorded = match truth {
        Truth::Records { .. } => ", as recorded",
        _ => "",
    };
    Some(names.join(" and ") + recorded)
}
