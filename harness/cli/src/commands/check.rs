//! The command `check`: prints report cards.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rolecall::card::Card;
use rolecall::comparison::Comparison;
use rolecall::configuration;
use rolecall::contract::{self, Contract, Judgement, Severity};
use rolecall::engines::Engines;
use rolecall::file::write_whole;
use rolecall::held_base::HeldBase;
use rolecall::invocation;
use rolecall::known_defects::{self, KnownDefects};
use rolecall::problem::Problem;
use rolecall::report::card::CardDetail;
use rolecall::report::fixes::{self, FixUse};
use rolecall::report::format::Format;
use rolecall::report::other_fault::OtherFault;
use rolecall::report::progress::Progress;
use rolecall::report::{
    cards, checked, clean, comparison, counted, github, html, junit, problems, sarif, screen,
};
use rolecall::run::{Expected, Runner, TimedResults};
use rolecall::suite::{Pair, Suite};
use rolecall::tokenizer::Tokenizers;

use crate::args::CheckArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::setup::OneDialect;
use crate::surroundings::Surroundings;
use crate::{cards as suite_cards, engines, fixing, home, inputs, likeness, page, setup};

/// How many cards are printed one after the other; more become a table.
const MOST_CARDS: usize = 3;

pub(super) fn execute(arguments: &CheckArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let start = Instant::now();
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
    let mut input = setup::problems(&runner, &suite);
    input.extend(known_defects::unknown_contracts(&suite.templates));
    report_problems(&input)?;
    if suite.templates.is_empty() {
        return Err(Failure::Request("there is no template to check".to_owned()));
    }
    let (tokenizers, of_models) = setup::tokenizers(&suite.templates);
    report_problems(&of_models)?;
    input.extend(of_models);
    let mut run = runner
        .with_progress(progress.step())
        .examine(&suite.templates, &tokenizers);
    progress.clear();
    // The time that the user waited: reading a tokenizer takes longer than examining a template.
    run.elapsed = start.elapsed();
    if arguments.fix {
        fix(
            arguments,
            &mut suite,
            &run.results,
            (&engines, &tokenizers),
            out,
        )?;
        let runner = setup::runner(&engines, &chosen, &arguments.rendering)?;
        run = runner.examine(&suite.templates, &tokenizers);
        run.elapsed = start.elapsed();
    }
    let mut stale = idle_reasons(arguments, &suite, &run.results)?;
    narrow(arguments, &mut run.results, &suite)?;
    let examined = &run.results;
    let likenesses = if is_held_to_base {
        let runner = setup::runner(&engines, &chosen, &arguments.rendering)?;
        let (found, problems) = likeness::compare(arguments, &runner, &suite)?;
        stale.extend(problems);
        found
    } else {
        Vec::new()
    };
    let of_bases = likenesses.iter().flat_map(|one| one.stale.clone());
    let stale: Vec<Problem> = stale.into_iter().chain(of_bases).collect();
    report_problems(&stale)?;
    input.extend(stale);
    let status = status(arguments, examined, &likenesses, &input);
    let others = others(&input, &likenesses);
    if let Some(path) = &arguments.html {
        let runner = setup::runner(&engines, &chosen, &arguments.rendering)?;
        let passes = status == Status::Fine;
        let cards = (examined.as_slice(), others.as_slice(), passes);
        write_page(path, cards, &suite, &runner, &tokenizers)?;
    }
    let close = (others.as_slice(), origin(&paths)?);
    write(
        (arguments, &paths),
        &run,
        (&suite, &likenesses, &close),
        out,
    )?;
    if let ([card], Format::Human, false) = (examined.as_slice(), arguments.format, arguments.fix) {
        show_fixes(
            (arguments, &paths),
            &suite,
            card,
            (&engines, &tokenizers),
            out,
        )?;
        cards::write_close(out, &run, close.0, close.1.as_deref())?;
    }
    if let Some(path) = &arguments.write_baseline {
        let known = KnownDefects::of(path, examined, &suite.templates);
        write_whole(path, known.text())?;
        let count = counted(known.count(), "finding", "findings");
        let wrote = format!("wrote {}: {count}, known from now on", path.display());
        if arguments.format == Format::Human && screen::is_quiet() {
            writeln!(out, "{wrote}")?;
        } else {
            tell(&wrote);
        }
        return Ok(if input.is_empty() {
            Status::Fine
        } else {
            Status::BadInput
        });
    }
    Ok(status)
}

/// How the command ends.
fn status(
    arguments: &CheckArguments,
    examined: &[Card],
    likenesses: &[HeldBase],
    input: &[Problem],
) -> Status {
    let fails = |card: &Card| {
        card.unexplained()
            .any(|finding| arguments.strict || finding.severity() == Severity::Error)
    };
    if !input.is_empty() {
        Status::BadInput
    } else if examined.iter().any(fails) || likenesses.iter().any(|one| one.comparison.departs()) {
        Status::Nonconforming
    } else {
        Status::Fine
    }
}

/// What fails the check, besides the cards.
fn others(input: &[Problem], likenesses: &[HeldBase]) -> Vec<OtherFault> {
    let mut others: Vec<OtherFault> = input.iter().map(OtherFault::of_problem).collect();
    for held in likenesses {
        others.extend(OtherFault::of_departures(held));
    }
    others
}

/// The reasons in the suite's own file for contracts that its templates keep. Other engines may
/// break other contracts.
fn idle_reasons(
    arguments: &CheckArguments,
    suite: &Suite,
    cards: &[Card],
) -> Result<Vec<Problem>, Failure> {
    if !arguments.paths.is_empty() || arguments.rendering.engine.is_some() {
        return Ok(Vec::new());
    }
    let layout = home::layout()?;
    let own = layout.configuration();
    Ok(own.map_or_else(Vec::new, |own| suite_cards::idle(own, suite, cards)))
}

/// Writes the page with the cards and all cases.
fn write_page(
    path: &Path,
    (examined, others, passes): (&[Card], &[OtherFault], bool),
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
    let verdict = html::verdict::of_cards(examined, others, passes);
    page::write(path, |out| page.write(out, &verdict))?;
    Ok(())
}

/// Writes the cards in the format that the user chose.
fn write(
    (arguments, paths): (&CheckArguments, &[PathBuf]),
    run: &TimedResults<Card>,
    (suite, likenesses, close): (&Suite, &[HeldBase], &(&[OtherFault], Option<String>)),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let examined = &run.results;
    let (others, origin) = (close.0, close.1.as_deref());
    match arguments.format {
        Format::Json => {
            let bases: Vec<&Comparison> = likenesses.iter().map(|one| &one.comparison).collect();
            checked::write(out, examined, &bases)?;
        }
        Format::Junit => junit::write(out, examined, others)?,
        Format::Github => github::write(out, examined, &suite.templates, others)?,
        Format::Sarif => {
            let folder = std::env::current_dir()?;
            sarif::write(out, examined, &suite.templates, others, &folder)?;
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
                        &shown_as(arguments, paths, card, examined),
                    )?;
                    writeln!(out)?;
                }
            }
            if let ([card], false) = (examined.as_slice(), arguments.all) {
                cards::write_advice(out, card, &shown_as(arguments, paths, card, examined))?;
            }
            if examined.len() > 1 {
                cards::write_table(out, examined)?;
            }
            for likeness in likenesses {
                comparison::write_base(out, &likeness.comparison, arguments.all)?;
                writeln!(out)?;
            }
            // With one card, the fixes stand before the end.
            if examined.len() > 1 || arguments.fix {
                cards::write_close(out, run, others, origin)?;
            }
        }
    }
    Ok(())
}

/// Mends the templates' files, and says what was changed. The templates are as mended afterwards.
fn fix(
    arguments: &CheckArguments,
    suite: &mut Suite,
    cards: &[Card],
    (engines, tokenizers): (&Engines, &Tokenizers),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let conversations = fixing::conversations()?;
    for template in &mut suite.templates {
        let mut cards = cards.iter();
        let Some(card) = cards.find(|card| card.template == template.name.as_str()) else {
            continue;
        };
        let both = (&*template, card);
        let found = fixing::find(
            engines,
            &conversations,
            both,
            tokenizers,
            arguments.unsafe_fixes,
        );
        let Some(fixes) = found.filter(|fixes| !fixes.found.is_empty()) else {
            continue;
        };
        if fixes.source != *template.source {
            fixing::apply(template, &fixes)?;
            template.source = fixes.source.as_str().into();
        }
        if arguments.format == Format::Human {
            let what = if arguments.unsafe_fixes {
                FixUse::All
            } else {
                FixUse::Safe
            };
            let name = template.path.display().to_string();
            fixes::write(out, &name, &fixes.found, what)?;
        }
    }
    Ok(())
}

/// Shows the fixes of the only template.
fn show_fixes(
    (arguments, paths): (&CheckArguments, &[PathBuf]),
    suite: &Suite,
    card: &Card,
    (engines, tokenizers): (&Engines, &Tokenizers),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut templates = suite.templates.iter();
    let template = templates.find(|one| one.name.as_str() == card.template);
    let is_broken = card.unexplained().next().is_some() || !card.without_front.is_empty();
    let Some(template) = template.filter(|_| is_broken && card.syntax_error.is_none()) else {
        return Ok(());
    };
    let conversations = fixing::conversations()?;
    let both = (template, card);
    if let Some(found) = fixing::find(engines, &conversations, both, tokenizers, false) {
        let name = shown_as(arguments, paths, card, std::slice::from_ref(card));
        fixes::write(out, &name, &found.found, FixUse::Shown)?;
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

/// The suite whose templates are checked, in words, if the user names none.
fn origin(paths: &[PathBuf]) -> Result<Option<String>, Failure> {
    Ok(if paths.is_empty() {
        Some(home::layout()?.to_string())
    } else {
        None
    })
}

/// The words after `rolecall show` that name the template of a card, which is one of these paths or
/// of the suite.
fn shown_as(
    arguments: &CheckArguments,
    paths: &[PathBuf],
    card: &Card,
    examined: &[Card],
) -> String {
    let word = invocation::word;
    let layout = home::layout().ok();
    let is_own = |path: &PathBuf| {
        let own = layout.as_ref();
        let own = own.and_then(|layout| inputs::own_template(layout, &path.to_string_lossy()));
        own.is_some_and(|own| own.has_name(&card.template))
    };
    let named: Vec<String> = paths
        .iter()
        .map(|path| word(&path.to_string_lossy()))
        .collect();
    // A path with one template names that template. Other templates are named by their names, and
    // those of the suite by nothing else.
    let mut words = match named.as_slice() {
        [path] if examined.len() == 1 => vec![path.clone()],
        _ if paths.iter().any(is_own) => vec![word(&card.template)],
        named => {
            let named = named.iter().map(|path| format!("--templates {path}"));
            named.chain([word(&card.template)]).collect()
        }
    };
    let set = &arguments.set;
    for (name, value) in &set.special_tokens {
        words.push(format!(
            "--special-token {}",
            word(&format!("{name}={value}"))
        ));
    }
    for (name, value) in &set.variables {
        words.push(format!("--variable {}", word(&format!("{name}={value}"))));
    }
    if let Some(engine) = &arguments.rendering.engine {
        words.push(format!("--engine {}", word(engine)));
    }
    words.join(" ")
}

/// Keeps the contracts that the user chose, and marks the known findings.
fn narrow(arguments: &CheckArguments, cards: &mut [Card], suite: &Suite) -> Result<(), Failure> {
    let is_asked_for = |contract: &'static Contract| {
        (arguments.select.is_empty() || arguments.select.contains(&contract))
            && !arguments.ignore.contains(&contract)
    };
    if !contract::ALL.iter().any(|one| is_asked_for(one)) {
        return Err(Failure::Request(
            "--select and --ignore leave no contract to judge by".to_owned(),
        ));
    }
    // No contract says more about a template that cannot be read, whichever contracts the user
    // chose.
    let read = cards.iter_mut();
    for card in read.filter(|card| card.syntax_error.is_none()) {
        card.findings
            .retain(|finding| is_asked_for(finding.contract));
        card.without_front
            .retain(|finding| is_asked_for(finding.contract));
    }
    if !arguments.select.is_empty() {
        tell_unjudged(cards);
    }
    if let Some(path) = &arguments.baseline {
        let notes = KnownDefects::read(path)?.apply(path, cards, &suite.templates);
        problems::write_notes(&mut clean::messages(), &notes)?;
    }
    Ok(())
}

/// Says which of the chosen contracts apply to no template, so that nothing was judged by them.
fn tell_unjudged(cards: &[Card]) {
    let mut unjudged: Vec<(&str, &str)> = Vec::new();
    let findings = cards.iter().flat_map(|card| &card.findings);
    for finding in findings.clone() {
        let id = finding.contract.id;
        if let Judgement::DoesNotApply(why) = &finding.judgement
            && !unjudged.iter().any(|(known, _)| *known == id)
        {
            unjudged.push((id, why));
        }
    }
    let is_judged = |id: &str| {
        let mut of_contract = findings.clone().filter(|finding| finding.contract.id == id);
        of_contract.any(|finding| !matches!(finding.judgement, Judgement::DoesNotApply(_)))
    };
    for (id, why) in unjudged.into_iter().filter(|(id, _)| !is_judged(id)) {
        tell(&format!("`{id}` judges nothing here: {why}"));
    }
}
