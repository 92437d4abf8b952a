//! The command `check`: prints report cards.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::report::card::CardDetail;
use crate::report::cards;
use crate::report::checked;
use crate::report::clean;
use crate::report::comparison;
use crate::report::counted;
use crate::report::fixes::{self, ByHand, Fate, TemplateFixes};
use crate::report::format::Format;
use crate::report::github;
use crate::report::html;
use crate::report::junit;
use crate::report::other_fault::OtherFault;
use crate::report::problems;
use crate::report::progress::Progress;
use crate::report::sarif;
use crate::report::screen;
use rolecall_check::card::Card;
use rolecall_check::choice::ContractChoice;
use rolecall_check::contract::{Judgement, Severity};
use rolecall_check::known_defects::{self, KnownDefects};
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::Template;
use rolecall_core::file::write_whole;
use rolecall_core::invocation;
use rolecall_core::problem::{Note, Problem};
use rolecall_suite::checked_base::CheckedBase;
use rolecall_suite::comparison::Comparison;
use rolecall_suite::configuration;
use rolecall_suite::run::{Expected, Runner};
use rolecall_suite::suite::{Pair, Suite};

use crate::args::CheckArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::setup::OneDialect;
use crate::surroundings::Surroundings;
use crate::{cards as suite_cards, engines, fixing, home, inputs, likeness, page, setup};

/// What the user typed, and the paths that it means.
type Asked<'a> = (&'a CheckArguments, &'a [PathBuf]);

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
    hold_contracts(arguments)?;
    let known = arguments.baseline.as_deref();
    let known = known.map(KnownDefects::read).transpose()?;
    let paths = paths(arguments)?;
    let checks_base = likeness::is_asked_for(arguments)?;
    let mut suite = loaded(arguments, &paths, checks_base)?;
    let engines = arguments.rendering.limits.chosen().engines();
    let chosen = engines::named(&engines, &arguments.rendering)?;
    OneDialect::of(&arguments.dialect, &arguments.rendering, &chosen)?.narrow(&mut suite)?;
    let runner = setup::runner(&engines, &chosen, &arguments.rendering)?;
    let mut input = setup::problems(&runner, &suite);
    input.extend(known_defects::unknown_contracts(&suite.templates));
    report_problems(&input)?;
    if suite.templates.is_empty() {
        return Err(Failure::Request("there is no template to check".to_owned()));
    }
    if is_written {
        let owned = hold_owned((arguments, &paths), &suite)?;
        report_problems(&owned)?;
        input.extend(owned);
    }
    let (tokenizers, of_models) = setup::tokenizers(&suite.templates);
    report_problems(&of_models)?;
    input.extend(of_models);
    let progress = Progress::new(suite.templates.len(), "checking", "templates");
    let mut run = runner.with_progress(progress.step()).examine_by(
        &suite.templates,
        &tokenizers,
        &judged(arguments, suite.templates.len()),
    );
    progress.clear();
    let runner = setup::runner(&engines, &chosen, &arguments.rendering)?;
    let searched = (&runner, &tokenizers, known.as_ref());
    let asked = (arguments, paths.as_slice());
    let fixes = if arguments.fix {
        let (fixes, problems) = fix(asked, &mut suite, &mut run.results, searched, out)?;
        input.extend(problems);
        fixes
    } else {
        Vec::new()
    };
    let mut stale = unused_reasons(arguments, &suite, &run.results)?;
    let whole = if may_show_fixes(arguments, run.results.len()) {
        run.results.clone()
    } else {
        Vec::new()
    };
    let notes = narrow(arguments, known.as_ref(), &mut run.results, &suite);
    if !arguments.select.is_empty() {
        tell_unjudged(&run.results);
    }
    problems::write_notes(&mut clean::messages(), &notes)?;
    let examined = &run.results;
    let likenesses = if checks_base {
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
        let passes = status == Status::Fine;
        let cards = (examined.as_slice(), others.as_slice(), passes);
        write_page(path, cards, &suite, &runner, &tokenizers)?;
    }
    let of_run = (
        suite.templates.as_slice(),
        likenesses.as_slice(),
        others.as_slice(),
    );
    write(asked, examined, of_run, &fixes, out)?;
    for found in find_fixes(asked, &suite, &whole, searched)? {
        fixes::write(out, &found, arguments.all)?;
    }
    if arguments.format == Format::Human {
        // The time that the user waited, with everything that is printed above.
        run.elapsed = start.elapsed();
        cards::write_close(out, &run, &others, origin(&paths)?.as_deref())?;
    }
    if let Some(path) = &arguments.write_baseline {
        write_baseline((arguments, path), &run.results, &suite, out)?;
        return Ok(if input.is_empty() {
            Status::Fine
        } else {
            Status::BadInput
        });
    }
    Ok(status)
}

/// The templates that are checked. The page shows cases, and bases are compared in them.
fn loaded(
    arguments: &CheckArguments,
    paths: &[PathBuf],
    checks_base: bool,
) -> Result<Suite, Failure> {
    if arguments.html.is_none() && !checks_base {
        return inputs::load_templates(paths, &arguments.set);
    }
    let suite = inputs::load_templates_with_cases(paths, &arguments.set)?;
    if arguments.html.is_some() {
        page::hold(suite.templates.len())?;
    }
    Ok(suite)
}

/// The contracts that are judged: all where fixes are looked for, since a fix must not break any.
fn judged(arguments: &CheckArguments, templates: usize) -> ContractChoice {
    if arguments.fix || may_show_fixes(arguments, templates) {
        ContractChoice::default()
    } else {
        choice(arguments)
    }
}

/// Writes the current findings into a baseline.
fn write_baseline(
    (arguments, path): (&CheckArguments, &Path),
    examined: &[Card],
    suite: &Suite,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let known = KnownDefects::of(path, examined, &suite.templates);
    write_whole(path, known.text())?;
    let count = counted(known.count(), "finding", "findings");
    let wrote = format!("wrote {}: {count}, known from now on", path.display());
    if arguments.format == Format::Human && screen::is_quiet() {
        writeln!(out, "{wrote}")?;
    } else {
        tell(&wrote);
    }
    Ok(())
}

/// How the command ends.
fn status(
    arguments: &CheckArguments,
    examined: &[Card],
    likenesses: &[CheckedBase],
    input: &[Problem],
) -> Status {
    let fails = |card: &Card| {
        card.unexplained()
            .any(|finding| arguments.strict || finding.severity() == Severity::Error)
    };
    if !input.is_empty() {
        Status::BadInput
    } else if examined.iter().any(fails) || likenesses.iter().any(|one| one.comparison.deviates()) {
        Status::Nonconforming
    } else {
        Status::Fine
    }
}

/// What fails the check, besides the cards.
fn others(input: &[Problem], likenesses: &[CheckedBase]) -> Vec<OtherFault> {
    let mut others: Vec<OtherFault> = input.iter().map(OtherFault::of_problem).collect();
    for checked_text in likenesses {
        others.extend(OtherFault::of_deviations(checked_text));
    }
    others
}

/// The reasons in the suite's own file for contracts that its templates keep. Other engines may
/// break other contracts.
fn unused_reasons(
    arguments: &CheckArguments,
    suite: &Suite,
    cards: &[Card],
) -> Result<Vec<Problem>, Failure> {
    if !arguments.paths.is_empty() || arguments.rendering.engine.is_some() {
        return Ok(Vec::new());
    }
    let layout = home::layout()?;
    let own = layout.configuration();
    Ok(own.map_or_else(Vec::new, |own| suite_cards::unused(own, suite, cards)))
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

/// Writes the cards in the format that the user chose, without the end of the text for people.
fn write(
    asked: Asked<'_>,
    examined: &[Card],
    (templates, likenesses, others): (&[Template], &[CheckedBase], &[OtherFault]),
    fixes: &[TemplateFixes],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (arguments, _) = asked;
    match arguments.format {
        Format::Json => {
            let bases: Vec<&Comparison> = likenesses.iter().map(|one| &one.comparison).collect();
            let fixes = arguments.fix.then_some(fixes);
            checked::write(out, examined, &bases, fixes)?;
        }
        Format::Junit => junit::write(out, examined, others)?,
        Format::Github => github::write(out, examined, templates, others)?,
        Format::Sarif => {
            let folder = std::env::current_dir()?;
            sarif::write(out, (examined, templates), fixes, others, &folder)?;
        }
        _ => {
            let detail = if arguments.all {
                CardDetail::Full
            } else {
                CardDetail::Marked
            };
            let shown_as = |card: &Card| shown_as(asked, &card.template, examined.len());
            if arguments.all || examined.len() <= MOST_CARDS {
                for card in examined {
                    cards::write_card(out, card, detail, &shown_as(card))?;
                    writeln!(out)?;
                }
            }
            if let ([card], false) = (examined, arguments.all) {
                cards::write_advice(out, card, &shown_as(card))?;
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

/// The templates that are not to be changed where they are, as problems. It is an error if there are
/// no others.
fn hold_owned(asked: Asked<'_>, suite: &Suite) -> Result<Vec<Problem>, Failure> {
    let templates = &suite.templates;
    let refused = templates.iter().filter_map(|template| {
        let typed = shown_as(asked, template.name.as_str(), templates.len());
        fixing::refusal(template, &typed)
    });
    let refused: Vec<Problem> = refused.collect();
    if refused.len() == templates.len() {
        return Err(Failure::Problems(refused));
    }
    Ok(refused)
}

/// Looks for fixes, applies them unless they are only to be shown, and says what was fixed. Also
/// returns the problems that it reported.
fn fix(
    asked: Asked<'_>,
    suite: &mut Suite,
    cards: &mut [Card],
    searched: Searched<'_>,
    out: &mut dyn Write,
) -> Result<(Vec<TemplateFixes>, Vec<Problem>), Failure> {
    let (arguments, _) = asked;
    let mut fixes = find_fixes(asked, suite, cards, searched)?;
    let mut problems = Vec::new();
    if !arguments.dry_run {
        problems = apply_fixes(suite, cards, &mut fixes, searched);
        report_problems(&problems)?;
    }
    write_fixes(arguments, &fixes, out)?;
    Ok((fixes, problems))
}

/// Whether the fixes of the only template are shown, although nobody asked for them: if a person
/// reads the card, and this program's own engine takes no time to prove them.
fn may_show_fixes(arguments: &CheckArguments, templates: usize) -> bool {
    let is_read = arguments.format == Format::Human && !screen::is_quiet();
    templates == 1 && is_read && !arguments.fix && arguments.rendering.engine.is_none()
}

/// Looks for the fixes of templates, on their whole cards: the options that choose contracts choose
/// what is fixed, and whether a fix breaks something is judged by all contracts.
fn find_fixes(
    asked: Asked<'_>,
    suite: &Suite,
    cards: &[Card],
    (runner, tokenizers, known): Searched<'_>,
) -> Result<Vec<TemplateFixes>, Failure> {
    let (arguments, _) = asked;
    let mut narrowed = cards.to_vec();
    narrow(arguments, known, &mut narrowed, suite);
    let mut search = None;
    let mut all = Vec::new();
    let progress = Progress::new(cards.len(), "looking for fixes", "templates");
    let step = progress.step();
    for (card, narrowed) in cards.iter().zip(&narrowed) {
        step();
        let mut templates = suite.templates.iter();
        let template = templates.find(|one| one.name.as_str() == card.template);
        // A baseline does not hold contracts that are broken only without a front, and keeps them
        // as they are.
        let alone = narrowed.without_front.iter().filter(|_| known.is_none());
        let chosen: Vec<&'static str> = narrowed
            .unexplained()
            .chain(alone)
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
                typed: match cards {
                    [_] => shown_as(asked, &card.template, 1),
                    _ => invocation::word(&template.path.to_string_lossy()),
                },
                fixes,
                fate: fixing::fate_of_shown(template, arguments.dry_run),
            });
        }
    }
    progress.clear();
    Ok(all)
}

/// Fixes the templates' files, and makes new cards of the templates that were changed. Returns the
/// files that cannot be written.
fn apply_fixes(
    suite: &mut Suite,
    cards: &mut [Card],
    fixes: &mut [TemplateFixes],
    (runner, tokenizers, _): Searched<'_>,
) -> Vec<Problem> {
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
    problems
}

/// Writes the fixes: for a person in whole, otherwise the names, on standard error.
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

/// The suite whose templates are checked, in words, if the user names none.
fn origin(paths: &[PathBuf]) -> Result<Option<String>, Failure> {
    Ok(if paths.is_empty() {
        Some(home::layout()?.to_string())
    } else {
        None
    })
}

/// The words after `rolecall show` that name a template, which is one of these paths or of the suite.
fn shown_as((arguments, paths): Asked<'_>, template: &str, count: usize) -> String {
    let word = invocation::word;
    let layout = home::layout().ok();
    let is_own = |path: &PathBuf| {
        let own = layout.as_ref();
        let own = own.and_then(|layout| inputs::own_template(layout, &path.to_string_lossy()));
        own.is_some_and(|own| own.has_name(template))
    };
    let named: Vec<String> = paths
        .iter()
        .map(|path| word(&path.to_string_lossy()))
        .collect();
    // A path with one template names that template. Other templates are named by their names, and
    // those of the suite by nothing else.
    let mut words = match named.as_slice() {
        [path] if count == 1 => vec![path.clone()],
        _ if paths.iter().any(is_own) => vec![word(template)],
        named => {
            let named = named.iter().map(|path| format!("--templates {path}"));
            named.chain([word(template)]).collect()
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

/// The contracts that the user chose.
fn choice(arguments: &CheckArguments) -> ContractChoice {
    ContractChoice {
        select: arguments.select.clone(),
        ignore: arguments.ignore.clone(),
    }
}

/// Refuses to judge by no contract at all.
fn hold_contracts(arguments: &CheckArguments) -> Result<(), Failure> {
    if !choice(arguments).is_empty() {
        return Ok(());
    }
    Err(Failure::Request(
        "--select and --ignore leave no contract to judge by".to_owned(),
    ))
}

/// Keeps the contracts that the user chose, and marks the known findings. Returns what there is to
/// say about those.
fn narrow(
    arguments: &CheckArguments,
    known: Option<&KnownDefects>,
    cards: &mut [Card],
    suite: &Suite,
) -> Vec<Note> {
    let choice = choice(arguments);
    for card in &mut *cards {
        card.narrow(&choice);
    }
    match (&arguments.baseline, known) {
        (Some(path), Some(known)) => known.apply(path, cards, &suite.templates),
        _ => Vec::new(),
    }
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
