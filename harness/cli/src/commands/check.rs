//! The command `check`: prints report cards.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::args::CheckArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::likeness::{self, Likeness};
use crate::setup::OneDialect;
use crate::surroundings::Surroundings;
use crate::{engines, fixing, home, inputs, page, setup};
use rolecall::card::Card;
use rolecall::comparison::Comparison;
use rolecall::configuration;
use rolecall::contract::{Contract, Severity};
use rolecall::file::write_whole;
use rolecall::known_defects::{self, KnownDefects};
use rolecall::problem::{Note, Problem};
use rolecall::report::card::CardDetail;
use rolecall::report::fixes::{self, ByHand, Fate, TemplateFixes};
use rolecall::report::format::Format;
use rolecall::report::progress::Progress;
use rolecall::report::{
    cards, checked, clean, comparison, counted, github, html, junit, problems, sarif, screen,
};
use rolecall::run::{Expected, Runner, TimedResults};
use rolecall::suite::{Pair, Suite};
use rolecall::tokenizer::Tokenizers;

/// What fixes are looked for with: the engines, the tokenizers, and the findings that are known.
type Searched<'s> = (&'s Runner<'s>, &'s Tokenizers, Option<&'s KnownDefects>);

/// How many cards are printed one after the other; more become a table.
const MOST_CARDS: usize = 3;

pub(super) fn execute(arguments: &CheckArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let start = Instant::now();
    let is_written = arguments.fix && !arguments.dry_run;
    if is_written {
        fixing::hold_files(&arguments.paths)?;
    }
    let known = arguments.baseline.as_deref();
    let known = known.map(KnownDefects::read).transpose()?;
    let paths = paths(arguments)?;
    let is_held_to_base = likeness::is_asked_for(arguments)?;
    // The page shows cases, and bases are compared in them.
    let mut suite = if arguments.html.is_some() || is_held_to_base {
        inputs::load_templates_with_cases(&paths, &arguments.set)?
    } else {
        inputs::load_templates(&paths, &arguments.set)?
    };
    let engines = arguments.rendering.limits.chosen().engines();
    let chosen = engines::named(&engines, &arguments.rendering)?;
    OneDialect::of(&arguments.dialect, &arguments.rendering, &chosen)?.narrow(&mut suite)?;
    let progress = Progress::new(suite.templates.len(), "checking", "templates");
    let runner = setup::runner(&engines, &chosen, &arguments.rendering)?;
    let strange = known_defects::unknown_contracts(&suite.templates);
    report_problems(&strange)?;
    let mut is_sound = setup::report_input(&runner, &suite)? && strange.is_empty();
    if suite.templates.is_empty() {
        return Err(Failure::Request("there is no template to check".to_owned()));
    }
    if is_written {
        is_sound &= hold_owned(arguments, &suite)?;
    }
    let (tokenizers, is_known) = setup::tokenizers(&suite.templates)?;
    is_sound &= is_known;
    let mut run = runner
        .with_progress(progress.step())
        .examine(&suite.templates, &tokenizers);
    progress.clear();
    let runner = setup::runner(&engines, &chosen, &arguments.rendering)?;
    let searched = (&runner, &tokenizers, known.as_ref());
    let mut fixes = Vec::new();
    if arguments.fix {
        fixes = find_fixes(arguments, &suite, &run.results, searched)?;
        if is_written {
            is_sound &= mend(&mut suite, &mut run.results, &mut fixes, searched)?;
        }
        write_fixes(arguments, &fixes, out)?;
    }
    let whole = if shows_fixes(arguments, &run.results) {
        run.results.clone()
    } else {
        Vec::new()
    };
    let notes = narrow(arguments, known.as_ref(), &mut run.results);
    problems::write_notes(&mut clean::messages(), &notes)?;
    if let Some(path) = &arguments.html {
        write_page(path, &run.results, &suite, &runner, &tokenizers)?;
    }
    let likenesses = if is_held_to_base {
        likeness::compare(arguments, &runner, &suite)?
    } else {
        Vec::new()
    };
    write(arguments, &run, (&suite, &likenesses, &fixes), out)?;
    let stale = likenesses.iter().flat_map(|one| one.stale.clone());
    let stale: Vec<Problem> = stale.collect();
    report_problems(&stale)?;
    is_sound &= stale.is_empty();
    for found in find_fixes(arguments, &suite, &whole, searched)? {
        fixes::write(out, &found, arguments.all)?;
    }
    if arguments.format == Format::Human {
        // The time that the user waited, with everything that is printed above.
        run.elapsed = start.elapsed();
        cards::write_close(out, &run)?;
    }
    finish(arguments, &run.results, &likenesses, is_sound)
}

/// Writes the current findings into the baseline, if the user asks for that, and decides how the
/// command ends.
fn finish(
    arguments: &CheckArguments,
    examined: &[Card],
    likenesses: &[Likeness],
    is_sound: bool,
) -> Result<Status, Failure> {
    if let Some(path) = &arguments.write_baseline {
        let known = KnownDefects::of(examined);
        write_whole(path, known.text())?;
        let count = counted(known.count(), "finding", "findings");
        tell(&format!(
            "wrote {}: {count}, known from now on",
            path.display()
        ));
        return Ok(if is_sound {
            Status::Fine
        } else {
            Status::BadInput
        });
    }
    let fails = |card: &Card| {
        card.unexplained()
            .any(|finding| arguments.strict || finding.severity() == Severity::Error)
    };
    Ok(if !is_sound {
        Status::BadInput
    } else if examined.iter().any(fails) || likenesses.iter().any(|one| one.comparison.departs()) {
        Status::Nonconforming
    } else {
        Status::Fine
    })
}

/// Writes the page with the cards and all cases.
fn write_page(
    path: &Path,
    examined: &[Card],
    suite: &Suite,
    runner: &Runner<'_>,
    tokenizers: &Tokenizers,
) -> Result<(), Failure> {
    let pairs: Vec<Pair<'_>> = suite.pairs().collect();
    let shown = examined
        .iter()
        .map(|card| {
            let mut templates = suite.templates.iter();
            let template = templates.find(|one| one.name.as_str() == card.template);
            (card.template.clone(), html::card(card, template))
        })
        .collect();
    let mut page = html::Page::new("Rolecall check", suite, &pairs, shown)
        .of_cards()
        .with_tokens(tokenizers);
    let mut added = Ok(());
    runner.compare_each(&pairs, &Expected::default(), |mut compared| {
        if added.is_ok() {
            compared.shorten(page::MOST_SHOWN);
            added = page.add(compared);
        }
    });
    added?;
    let verdict = html::verdict::of_cards(examined);
    page::write(path, |out| page.write(out, &verdict))?;
    Ok(())
}

/// Writes the cards in the format that the user chose.
fn write(
    arguments: &CheckArguments,
    run: &TimedResults<Card>,
    (suite, likenesses, fixes): (&Suite, &[Likeness], &[TemplateFixes]),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let examined = &run.results;
    match arguments.format {
        Format::Json => {
            let bases: Vec<&Comparison> = likenesses.iter().map(|one| &one.comparison).collect();
            let fixes = arguments.fix.then_some(fixes);
            checked::write(out, examined, &bases, fixes)?;
        }
        Format::Junit => junit::write(out, examined)?,
        Format::Github => github::write(out, examined, &suite.templates)?,
        Format::Sarif => {
            let folder = std::env::current_dir()?;
            sarif::write(out, examined, &suite.templates, fixes, &folder)?;
        }
        _ => {
            let detail = if arguments.all {
                CardDetail::Full
            } else {
                CardDetail::Marked
            };
            if arguments.all || examined.len() <= MOST_CARDS {
                for card in examined {
                    cards::write_card(
                        out,
                        card,
                        detail,
                        &shown_as(arguments, &card.template, examined.len()),
                    )?;
                    writeln!(out)?;
                }
            }
            if let ([card], false) = (examined.as_slice(), arguments.all) {
                cards::write_advice(
                    out,
                    card,
                    &shown_as(arguments, &card.template, examined.len()),
                )?;
            }
            if examined.len() > 1 {
                cards::write_table(out, examined)?;
            }
            for likeness in likenesses {
                comparison::write_base(out, &likeness.comparison, arguments.all)?;
                writeln!(out)?;
            }
        }
    }
    Ok(())
}

/// Reports the templates that are not to be changed where they are. Refuses to do anything if there
/// are no others.
fn hold_owned(arguments: &CheckArguments, suite: &Suite) -> Result<bool, Failure> {
    let templates = &suite.templates;
    let refused = templates.iter().filter_map(|template| {
        fixing::refusal(
            template,
            &shown_as(arguments, template.name.as_str(), templates.len()),
        )
    });
    let refused: Vec<Problem> = refused.collect();
    if refused.len() == templates.len() {
        return Err(Failure::Problems(refused));
    }
    report_problems(&refused)?;
    Ok(refused.is_empty())
}

/// Whether the fixes of the only template are shown, although nobody asked for them: if a person
/// reads the card, and this program's own engine takes no time to prove them.
fn shows_fixes(arguments: &CheckArguments, cards: &[Card]) -> bool {
    let is_read = arguments.format == Format::Human && !screen::is_quiet();
    cards.len() == 1 && is_read && !arguments.fix && arguments.rendering.engine.is_none()
}

/// Looks for the fixes of templates, on their whole cards: the options that choose contracts choose
/// what is fixed, and whether a fix breaks something is judged by all contracts.
fn find_fixes(
    arguments: &CheckArguments,
    suite: &Suite,
    cards: &[Card],
    (runner, tokenizers, known): Searched<'_>,
) -> Result<Vec<TemplateFixes>, Failure> {
    let mut narrowed = cards.to_vec();
    narrow(arguments, known, &mut narrowed);
    let mut search = None;
    let mut all = Vec::new();
    for (card, narrowed) in cards.iter().zip(&narrowed) {
        let mut templates = suite.templates.iter();
        let template = templates.find(|one| one.name.as_str() == card.template);
        let chosen: Vec<&'static str> = narrowed
            .unexplained()
            .chain(&narrowed.without_front)
            .map(|finding| finding.contract.id)
            .collect();
        let Some(template) = template.filter(|_| !chosen.is_empty()) else {
            continue;
        };
        if search.is_none() {
            let unsafe_too = arguments.unsafe_fixes;
            search = Some(fixing::Search::new(runner, tokenizers, unsafe_too)?);
        }
        let Some(search) = &search else {
            continue;
        };
        let fixes = search.fixes(template, card, |contract| chosen.contains(&contract.id));
        if !fixes.found.is_empty() {
            all.push(TemplateFixes {
                template: card.template.clone(),
                file: template.path.display().to_string(),
                typed: shown_as(arguments, &card.template, cards.len()),
                fixes,
                fate: fixing::fate_of_shown(template, arguments.dry_run),
            });
        }
    }
    Ok(all)
}

/// Mends the templates' files, and makes new cards of the templates that were changed. Reports the
/// files that cannot be written, and says whether there are none.
fn mend(
    suite: &mut Suite,
    cards: &mut [Card],
    fixes: &mut [TemplateFixes],
    (runner, tokenizers, _): Searched<'_>,
) -> Result<bool, Failure> {
    let mut problems = Vec::new();
    let mut changed = Vec::new();
    for fixes in fixes {
        let mut templates = suite.templates.iter_mut();
        let template = templates.find(|one| one.name.as_str() == fixes.template);
        let Some(template) = template.filter(|_| !matches!(fixes.fate, Fate::ByHand(_))) else {
            continue;
        };
        fixes.fate = Fate::Applied;
        if !fixes.fixes.found.iter().any(|fix| fix.is_applied) {
            continue;
        }
        match fixing::apply(template, fixes) {
            Ok(()) => {
                template.source.clone_from(&fixes.fixes.source);
                changed.push(template.clone());
            }
            Err(problem) => {
                fixes.fate = Fate::ByHand(ByHand::NotWritten);
                problems.push(problem);
            }
        }
    }
    for new in runner.examine(&changed, tokenizers).results {
        let mut known = cards.iter_mut();
        if let Some(card) = known.find(|card| card.template == new.template) {
            *card = new;
        }
    }
    report_problems(&problems)?;
    Ok(problems.is_empty())
}

/// Writes what was fixed: for a person in whole, otherwise the names, on standard error.
fn write_fixes(
    arguments: &CheckArguments,
    fixes: &[TemplateFixes],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let is_read = arguments.format == Format::Human && !screen::is_quiet();
    for found in fixes {
        if is_read {
            fixes::write(out, found, arguments.all)?;
        } else if let Some(sentence) = found.sentence() {
            // A file that was changed is more than a message that the user does without.
            writeln!(clean::messages(), "{sentence}")?;
        }
    }
    Ok(())
}

/// What the user asks to check. Without a word, the suite's templates; where there is no suite, the
/// templates of this folder.
fn paths(arguments: &CheckArguments) -> Result<Vec<PathBuf>, Failure> {
    if !arguments.paths.is_empty() {
        return Ok(arguments.paths.clone());
    }
    if home::is_without_suite()? {
        let around = home::surroundings();
        if let Surroundings::Templates(what) = around {
            let file = configuration::FILE;
            tell(&format!(
                "there is no {file} here, so this folder is checked, which has {what}"
            ));
            return Ok(vec![PathBuf::from(".")]);
        }
        if let Some(refusal) = around.refusal(false) {
            return Err(refusal);
        }
    }
    home::tell_suite(&home::layout()?);
    Ok(Vec::new())
}

/// The words after `rolecall show` that name a template, one of some.
fn shown_as(arguments: &CheckArguments, template: &str, count: usize) -> String {
    let quoted = |text: &str| {
        let quoted = shlex::try_quote(text);
        quoted.map_or_else(|_| text.to_owned(), Cow::into_owned)
    };
    let paths = arguments.paths.iter();
    let paths: Vec<String> = paths.map(|path| quoted(&path.to_string_lossy())).collect();
    // A path with one template names that template. Other templates are named by their names.
    let mut words = match paths.as_slice() {
        [path] if count == 1 => vec![path.clone()],
        paths => {
            let named = paths.iter().map(|path| format!("--templates {path}"));
            named.chain([quoted(template)]).collect()
        }
    };
    let set = &arguments.set;
    for (name, value) in &set.special_tokens {
        words.push(format!(
            "--special-token {}",
            quoted(&format!("{name}={value}"))
        ));
    }
    for (name, value) in &set.variables {
        words.push(format!("--variable {}", quoted(&format!("{name}={value}"))));
    }
    if let Some(engine) = &arguments.rendering.engine {
        words.push(format!("--engine {}", quoted(engine)));
    }
    words.join(" ")
}

/// Keeps the contracts that the user chose, and marks the known findings. Returns what there is to
/// say about those.
fn narrow(
    arguments: &CheckArguments,
    known: Option<&KnownDefects>,
    cards: &mut [Card],
) -> Vec<Note> {
    let is_asked_for = |contract: &'static Contract| {
        (arguments.select.is_empty() || arguments.select.contains(&contract))
            && !arguments.ignore.contains(&contract)
    };
    // No contract says more about a template that cannot be read, whichever contracts the user
    // chose.
    let read = cards.iter_mut();
    for card in read.filter(|card| card.syntax_error.is_none()) {
        card.findings
            .retain(|finding| is_asked_for(finding.contract));
        card.without_front
            .retain(|finding| is_asked_for(finding.contract));
    }
    match (&arguments.baseline, known) {
        (Some(path), Some(known)) => known.apply(path, cards),
        _ => Vec::new(),
    }
}
