//! The command `check`: prints report cards.

pub mod fixing;

pub mod served;

pub mod report;

pub mod document;

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::report::card::CardDetail;
use crate::report::diagnostic::Diagnostic;
use crate::report::fixes::{self, ByHand, Fate, TemplateFixes};
use crate::report::format::Format;
use crate::report::progress::Progress;
use crate::report::{
    clean, comparison, conversations as report_conversations, counted, github, html, junit,
    problems, reach, sarif, screen,
};
use document as checked;
use report as cards;
use rolecall_check::card::Card;
use rolecall_check::choice::ContractChoice;
use rolecall_check::contract::{self, Contract, Judgement, Severity};
use rolecall_check::fix::Work;
use rolecall_check::known_defects::{self, KnownDefects};
use rolecall_check::nearest;
use rolecall_check::published::Index;
use rolecall_check::reach::Reach;
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::file::write_whole;
use rolecall_core::invocation;
use rolecall_core::problem::{Note, Problem};
use rolecall_core::{Case, CaseId};
use rolecall_front::front::Front;
use rolecall_suite::checked_base::CheckedBase;
use rolecall_suite::comparison::Comparison;
use rolecall_suite::configuration;
use rolecall_suite::own_conversations::{ConversationCause, JudgedConversations, say_once};
use rolecall_suite::run::{Expected, Runner};
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::own_template::own_template;
use rolecall_suite::workspace::without_suite::Surroundings;

use crate::args::{CheckArguments, FailOn, NEAREST};
use crate::engines::ChosenEngine;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::session::{self, Session};
use crate::{cards as suite_cards, conversations, home, inputs, likeness, page};

/// How many cards are printed one after the other; more become a table.
const MOST_CARDS: usize = 3;

pub(crate) fn execute(arguments: &CheckArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let start = Instant::now();
    if is_written(arguments) {
        fixing::hold_files(&arguments.paths)?;
    }
    let (named, logs) = conversations::among(&arguments.paths);
    let cases = [arguments.cases.clone(), logs].concat();
    hold_contracts(arguments, !cases.is_empty())?;
    let known = arguments.baseline.as_deref();
    let known = known.map(KnownDefects::read).transpose()?;
    let paths = paths(named)?;
    let checks_base = likeness::is_asked_for(arguments)?;
    // The baseline is read before this, since opening the templates may fetch models.
    let mut suite = loaded(arguments, &paths, &cases, checks_base)?;
    let index = arguments.index.as_deref().map(nearest::read).transpose();
    // Without this index there are still cards.
    let (index, wrong_index) = match index {
        Ok(index) => (index.map(Arc::new), None),
        Err(problem) => (None, Some(problem)),
    };
    let session = Session::of(&arguments.rendering);
    let chosen = session.named()?;
    session
        .one_dialect(&arguments.dialect, &chosen)?
        .narrow(&mut suite)?;
    let check = Check {
        arguments,
        paths: &paths,
        has_cases: !cases.is_empty(),
        known,
        session: &session,
        chosen: &chosen,
        runner: session.runner(&chosen)?.with_index(index.clone()),
        index,
        wrong_index,
    };
    check.execute(suite, checks_base, start, out)
}

/// Whether files of templates are changed.
fn is_written(arguments: &CheckArguments) -> bool {
    arguments.fix && !arguments.dry_run
}

/// What is checked, and with which engines.
struct Check<'c> {
    arguments: &'c CheckArguments,
    /// What the user's words mean.
    paths: &'c [PathBuf],
    /// Whether the user named cases, which are judged then.
    has_cases: bool,
    known: Option<KnownDefects>,
    session: &'c Session,
    chosen: &'c [ChosenEngine<'c>],
    runner: Runner<'c>,
    /// The published templates that the user compares with.
    index: Option<Arc<Index>>,
    /// What is wrong with their file.
    wrong_index: Option<Problem>,
}

/// Templates, and what was found out about them.
struct Checked {
    suite: Suite,
    tokenizers: Tokenizers,
    cards: Vec<Card>,
    fixes: Vec<TemplateFixes>,
    /// The templates compared with their bases.
    bases: Vec<CheckedBase>,
    /// What is wrong with the cases that the user named.
    judged: Vec<JudgedConversations>,
    input: Vec<Problem>,
}

impl Checked {
    /// What fails the check, besides the cards.
    fn others(&self, arguments: &CheckArguments) -> Vec<Diagnostic<'_>> {
        self.besides_cards(|cause| fails(cause, arguments))
    }

    /// What there is to say besides the cards, with some causes in conversations.
    fn besides_cards(&self, is_said: impl Fn(&ConversationCause) -> bool) -> Vec<Diagnostic<'_>> {
        let files = self.input.iter().map(Diagnostic::of_problem);
        let bases = self.bases.iter().flat_map(Diagnostic::of_deviations);
        let said = self.judged.iter().flat_map(|judged| {
            let all = Diagnostic::of_conversations(judged, &self.suite);
            let all = all.zip(judged.all()).filter(|(_, cause)| is_said(cause));
            all.map(|(one, _)| one).collect::<Vec<_>>()
        });
        files.chain(bases).chain(said).collect()
    }

    /// Everything that fails the check, and the other findings.
    fn diagnostics(&self) -> Vec<Diagnostic<'_>> {
        let (cards, templates) = (&self.cards, &self.suite.templates);
        let of_cards = Diagnostic::of_cards(cards, templates, &self.fixes);
        [self.besides_cards(|_| true), of_cards].concat()
    }
}

fn fails(cause: &ConversationCause, arguments: &CheckArguments) -> bool {
    let strict = arguments.strict && cause.severity.is_defect();
    let is_of_log = cause.is_of_log();
    let what = if is_of_log {
        FailOn::Log
    } else {
        FailOn::Template
    };
    fails_on(arguments, what) && (strict || cause.severity == Severity::Error)
}

/// Whether something may fail the check.
fn fails_on(arguments: &CheckArguments, what: FailOn) -> bool {
    arguments.fail_on.is_empty() || arguments.fail_on.contains(&what)
}

impl Check<'_> {
    fn execute(
        &self,
        suite: Suite,
        checks_base: bool,
        start: Instant,
        out: &mut dyn Write,
    ) -> Result<Status, Failure> {
        let arguments = self.arguments;
        let mut checked = self.examined(suite)?;
        if arguments.fix {
            self.fix(&mut checked, out)?;
        }
        let is_fixable = self.may_show_fixes(checked.cards.len());
        // `judge` leaves only the chosen contracts on the cards, and a fix must not break any other.
        let whole = is_fixable.then(|| checked.cards.clone());
        let is_json = arguments.format == Format::Json;
        if let Some(whole) = whole.as_ref().filter(|_| is_json) {
            // A document is written at once, so its fixes have to be known before.
            checked.fixes = self.find_fixes(&checked, whole)?;
        }
        self.judge(&mut checked, checks_base)?;
        self.write(&checked, out)?;
        if let Some(whole) = whole.filter(|_| !is_json) {
            // Whoever waits for patches can read the findings.
            out.flush()?;
            for found in self.find_fixes(&checked, &whole)? {
                fixes::write(out, &found, arguments.all, true)?;
            }
        }
        if arguments.format == Format::Human {
            // The time that the user waited, with everything that is printed above.
            let elapsed = start.elapsed();
            let origin = origin(self.paths)?;
            cards::write_close(
                out,
                &checked.cards,
                elapsed,
                &checked.besides_cards(|cause| cause.severity.is_defect()),
                !checked.others(arguments).is_empty(),
                origin.as_deref(),
            )?;
        }
        if let Some(path) = &arguments.write_index {
            write_index(arguments, path, &checked.cards, out)?;
        }
        if let Some(path) = &arguments.write_baseline {
            write_baseline(arguments, path, &checked, out)?;
        }
        // Whoever writes down the present findings accepts them, so they do not fail the command.
        if arguments.write_index.is_some() || arguments.write_baseline.is_some() {
            // Nobody can know of an internal error.
            let mut findings = checked.cards.iter().flat_map(|card| &card.findings);
            let is_whole = findings.all(|one| *one.contract != contract::INTERNAL_ERROR);
            return Ok(Status::of(checked.input.is_empty(), is_whole));
        }
        Ok(self.status(&checked))
    }

    /// The templates with their cards. Reports what is wrong with their files.
    fn examined(&self, suite: Suite) -> Result<Checked, Failure> {
        let mut input = suite.problems.clone();
        input.extend(self.wrong_index.clone());
        input.extend(known_defects::unknown_contracts(&suite.templates));
        report_problems(&input)?;
        if suite.templates.is_empty() {
            return Err(Failure::Request("there is no template to check".to_owned()));
        }
        if is_written(self.arguments) {
            let owned = self.hold_owned(&suite)?;
            report_problems(&owned)?;
            input.extend(owned);
        }
        let (tokenizers, of_models) = session::tokenizers(&suite.templates);
        report_problems(&of_models)?;
        input.extend(of_models);
        let progress = Progress::new(suite.templates.len(), "checking", "templates");
        // Not `self.runner`, with which the bar would go on while fixes and bases are judged.
        let runner = self.session.runner(self.chosen)?;
        let runner = runner.with_index(self.index.clone());
        let judged = self.judged(suite.templates.len());
        let runner = runner.with_progress(progress.step());
        let mut cards = runner.examine_by(&suite.templates, &tokenizers, &judged);
        progress.clear();
        if let Some(chosen) = &self.arguments.served {
            let fronts: Vec<Front> = chosen.iter().flatten().copied().collect();
            for (card, template) in cards.iter_mut().zip(&suite.templates) {
                card.served = runner.served(template, &fronts);
            }
        }
        Ok(Checked {
            suite,
            tokenizers,
            cards,
            fixes: Vec::new(),
            bases: Vec::new(),
            judged: Vec::new(),
            input,
        })
    }

    /// The contracts that are judged: all where fixes are looked for, since a fix must not break any, and
    /// where the nearest published template is looked for, which one of them finds.
    fn judged(&self, templates: usize) -> ContractChoice {
        let wants_nearest = self.arguments.like.as_deref() == Some(NEAREST);
        if self.arguments.fix || wants_nearest || self.may_show_fixes(templates) {
            ContractChoice::default()
        } else {
            choice(self.arguments)
        }
    }

    /// Keeps what the user asks for, and compares with bases. Reports what is stale.
    fn judge(&self, checked: &mut Checked, checks_base: bool) -> Result<(), Failure> {
        let cards = &mut checked.cards;
        let mut stale = unused_reasons(self.arguments, &checked.suite, cards)?;
        let (of_baseline, notes) = self.narrow(cards, &checked.suite);
        stale.extend(of_baseline);
        // Of all contracts, some always do not apply. Only one that somebody has named is missed.
        if !self.arguments.select.is_empty() {
            tell_unjudged(cards);
        }
        problems::write_notes(&mut clean::messages(), &notes)?;
        if self.has_cases {
            checked.judged = self.judged_conversations(checked)?;
        }
        if checks_base {
            let (found, problems) =
                likeness::compare(self.arguments, &self.runner, &checked.suite, &checked.cards)?;
            stale.extend(problems);
            stale.extend(found.iter().flat_map(|one| one.stale.clone()));
            checked.bases = found;
        }
        report_problems(&stale)?;
        checked.input.extend(stale);
        Ok(())
    }

    /// What is wrong with the cases, by the chosen contracts.
    fn judged_conversations(&self, checked: &Checked) -> Result<Vec<JudgedConversations>, Failure> {
        let choice = choice(self.arguments);
        let (suite, tokenizers) = (&checked.suite, &checked.tokenizers);
        let count = suite.templates.len() * suite.cases.len();
        let progress = Progress::new(count, "judging", "conversations");
        let runner = self.session.runner(self.chosen)?;
        let runner = runner.with_progress(progress.step());
        let judged = suite.templates.iter().filter_map(|template| {
            let pairs = suite.pairs_among(template, &suite.cases);
            let all: Vec<&Case> = pairs.map(|pair| pair.case).collect();
            if all.is_empty() {
                return None;
            }
            Some(runner.judge_conversations(suite, template, tokenizers, &all, &choice))
        });
        let mut judged: Vec<_> = judged.collect();
        progress.clear();
        say_once(&mut judged);
        Ok(judged)
    }

    fn status(&self, checked: &Checked) -> Status {
        let is_broken = |card: &Card| {
            let strict = self.arguments.strict;
            let served = card.served.iter().flat_map(|served| &served.differences);
            card.unexplained()
                .any(|finding| strict || finding.severity() == Severity::Error)
                || strict && served.into_iter().any(|one| one.verdict.is_defect())
        };
        let mut bases = checked.bases.iter();
        let mut causes = checked.judged.iter().flat_map(JudgedConversations::all);
        let is_sound =
            !checked.cards.iter().any(is_broken) && !bases.any(|one| one.comparison.deviates());
        let conforms = (is_sound || !fails_on(self.arguments, FailOn::Template))
            && !causes.any(|cause| fails(cause, self.arguments));
        Status::of(checked.input.is_empty(), conforms)
    }

    /// Writes the page and the cards, without the end of the text for people.
    fn write(&self, checked: &Checked, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(path) = &self.arguments.html {
            self.write_page(path, checked)?;
        }
        let cards = &checked.cards;
        match self.arguments.format {
            Format::Json => {
                let bases = checked.bases.iter();
                let bases: Vec<&Comparison> = bases.map(|one| &one.comparison).collect();
                let is_fixable = self.arguments.fix || self.may_show_fixes(cards.len());
                let fixes = is_fixable.then_some(checked.fixes.as_slice());
                checked::write(out, cards, Reach::of(cards), &bases, fixes, &checked.judged)?;
            }
            Format::Junit => junit::write(out, cards, &checked.others(self.arguments))?,
            Format::Github => github::write(out, &checked.diagnostics())?,
            Format::Sarif => sarif::write(out, &checked.diagnostics(), &std::env::current_dir()?)?,
            Format::Markdown => {
                reach::write_markdown(
                    out,
                    &Reach::of(cards),
                    cards,
                    &checked.others(self.arguments),
                )?;
            }
            _ => self.write_cards(checked, out)?,
        }
        Ok(())
    }

    fn write_cards(&self, checked: &Checked, out: &mut dyn Write) -> Result<(), Failure> {
        let is_all = self.arguments.all;
        let cards = checked.cards.as_slice();
        let detail = if is_all {
            CardDetail::Full
        } else {
            CardDetail::Marked
        };
        let shown_as = |card: &Card| self.shown_as(&card.template, cards.len());
        // If only contracts about logs are selected, the template's card would be empty.
        let is_of_template = !choice(self.arguments).is_empty();
        let is_table = is_of_template && cards.len() > 1;
        if is_of_template && (is_all || cards.len() <= MOST_CARDS) {
            for card in cards {
                cards::write_card(out, card, detail, &shown_as(card))?;
                writeln!(out)?;
            }
        }
        if let ([card], false) = (cards, is_all) {
            cards::write_advice(out, card, &shown_as(card))?;
        }
        if is_table {
            cards::write_table(out, cards)?;
            served::write_table(out, cards)?;
        }
        for base in &checked.bases {
            comparison::write_base(out, &base.comparison, is_all)?;
            writeln!(out)?;
        }
        for judged in &checked.judged {
            let shown_as = self.shown_as(&judged.template, cards.len());
            let parts = (is_of_template, is_all);
            report_conversations::write(out, judged, &checked.suite, &shown_as, parts)?;
        }
        if is_table {
            reach::write(out, &Reach::of(cards), cards, is_all)?;
        }
        Ok(())
    }

    /// Writes the page with the cards and all cases: of cases that the user named those that show a
    /// cause.
    fn write_page(&self, path: &Path, checked: &Checked) -> Result<(), Failure> {
        let (suite, cards) = (&checked.suite, &checked.cards);
        let causes = checked.judged.iter().flat_map(JudgedConversations::all);
        let examples: HashSet<&CaseId> = causes.map(|cause| &cause.example).collect();
        let is_shown = |pair: &Pair<'_>| !self.has_cases || examples.contains(&pair.case.id);
        let pairs: Vec<Pair<'_>> = suite.pairs().filter(is_shown).collect();
        let mut page = html::Page::new("Rolecall check", suite, &pairs, cards.clone());
        page.is_of_cards = true;
        page.tokenizers = Some(&checked.tokenizers);
        let mut added = Ok(());
        let expected = Expected::default();
        self.runner.compare_each(&pairs, &expected, |mut compared| {
            if added.is_ok() {
                compared.shorten(page::MOST_SHOWN);
                added = page.add(compared);
            }
        });
        added?;
        let passes = self.status(checked) == Status::Fine;
        let others = checked.others(self.arguments);
        let verdict = html::verdict::of_cards(cards, &Reach::of(cards), &others, passes);
        page::write(path, |out| page.write(out, &verdict))
    }

    /// The templates that are not to be changed where they are, as problems. It is an error if there
    /// are no others.
    fn hold_owned(&self, suite: &Suite) -> Result<Vec<Problem>, Failure> {
        let templates = &suite.templates;
        let refused = templates.iter().filter_map(|template| {
            let typed = self.shown_as(template.name.as_str(), templates.len());
            fixing::refusal(template, &typed)
        });
        let refused: Vec<Problem> = refused.collect();
        if refused.len() == templates.len() {
            return Err(Failure::Problems(refused));
        }
        Ok(refused)
    }

    /// Looks for fixes, applies them unless they are only to be shown, and says what was fixed.
    fn fix(&self, checked: &mut Checked, out: &mut dyn Write) -> Result<(), Failure> {
        checked.fixes = self.find_fixes(checked, &checked.cards)?;
        if !self.arguments.dry_run {
            let problems = self.apply_fixes(checked);
            report_problems(&problems)?;
            checked.input.extend(problems);
        }
        let is_read = self.arguments.format == Format::Human && !screen::is_quiet();
        for found in &checked.fixes {
            if is_read {
                fixes::write(out, found, self.arguments.all, false)?;
            } else if let Some(sentence) = found.sentence() {
                // A file that was changed is more than a message that the user does without.
                writeln!(clean::messages(), "{sentence}")?;
            }
        }
        Ok(())
    }

    /// Whether fixes are shown although nobody asked for them: to a person who reads the card of one
    /// template, and in JSON. Another engine takes too long to prove them.
    fn may_show_fixes(&self, templates: usize) -> bool {
        let is_read = match self.arguments.format {
            Format::Human => templates == 1,
            Format::Json => true,
            _ => false,
        };
        is_read && !screen::is_quiet() && !self.arguments.fix && self.session.engine.is_none()
    }

    /// Looks for the fixes of templates, on their whole cards: the options that choose contracts
    /// choose what is fixed, and whether a fix breaks something is judged by all contracts.
    fn find_fixes(&self, checked: &Checked, cards: &[Card]) -> Result<Vec<TemplateFixes>, Failure> {
        let mut narrowed = cards.to_vec();
        self.narrow(&mut narrowed, &checked.suite);
        let mut all = Vec::new();
        let chosen: Vec<Vec<&str>> = narrowed.iter().map(|card| self.to_fix(card)).collect();
        let count = chosen.iter().map(Vec::len).sum();
        let progress = Progress::new(count, "looking for fixes", "findings");
        let step = progress.slow_step();
        let is_asked = self.arguments.all || self.arguments.format == Format::Json;
        let unsafe_too = self.arguments.unsafe_fixes;
        let tokenizers = &checked.tokenizers;
        let search = fixing::Search::new(&self.runner, tokenizers, unsafe_too, &step);
        for (card, chosen) in cards.iter().zip(&chosen) {
            let mut templates = checked.suite.templates.iter();
            let template = templates.find(|one| one.name.as_str() == card.template);
            let Some(template) = template.filter(|_| !chosen.is_empty()) else {
                continue;
            };
            // Whoever asks for fixes waits for all of them. If only servers without a front are
            // concerned, nobody waits for what nobody asked for.
            let is_searched = is_asked || card.unexplained().next().is_some();
            let most_work = match is_searched {
                _ if self.arguments.fix => None,
                true => Some(Work::SECOND),
                false => Some(Work::NONE),
            };
            let is_chosen = |contract: &Contract| chosen.contains(&contract.id);
            let fixes = search.fixes(template, card, most_work, is_chosen);
            if !fixes.found.is_empty() || !fixes.untried.is_empty() {
                all.push(TemplateFixes {
                    template: card.template.clone(),
                    file: template.path.display().to_string(),
                    typed: match cards {
                        [_] => self.shown_as(&card.template, 1),
                        _ => invocation::word(&template.path.to_string_lossy()),
                    },
                    fixes,
                    is_searched,
                    fate: fixing::fate_of_shown(template, self.arguments.dry_run),
                });
            }
        }
        progress.clear();
        search.end()?;
        Ok(all)
    }

    /// The contracts that a template breaks and the user does not know of.
    fn to_fix(&self, card: &Card) -> Vec<&'static str> {
        // A baseline does not hold contracts that are broken only without a front, and keeps them
        // as they are.
        let alone = card.without_front.iter().filter(|_| self.known.is_none());
        let broken = card.unexplained().chain(alone);
        broken.map(|finding| finding.contract.id).collect()
    }

    /// Fixes the templates' files, and makes new cards of the templates that were changed. Returns
    /// the files that cannot be written.
    fn apply_fixes(&self, checked: &mut Checked) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut changed = Vec::new();
        for fixes in &mut checked.fixes {
            let mut templates = checked.suite.templates.iter_mut();
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
        // The verdict and the exit code are about the files as they are now.
        for new in self.runner.examine(&changed, &checked.tokenizers) {
            let mut known = checked.cards.iter_mut();
            if let Some(card) = known.find(|card| card.template == new.template) {
                *card = new;
            }
        }
        problems
    }

    /// Keeps the contracts that the user chose, and marks the known findings. Returns what is wrong with
    /// the list of those, and what there is to say about it.
    fn narrow(&self, cards: &mut [Card], suite: &Suite) -> (Vec<Problem>, Vec<Note>) {
        let choice = choice(self.arguments);
        for card in &mut *cards {
            card.narrow(&choice);
        }
        match (&self.arguments.baseline, &self.known) {
            (Some(path), Some(known)) => known.apply(path, cards, &suite.templates),
            _ => (Vec::new(), Vec::new()),
        }
    }

    /// The words after `rolecall show` that name a template, which is one of the paths or of the
    /// suite.
    fn shown_as(&self, template: &str, count: usize) -> String {
        let word = invocation::word;
        let layout = home::layout().ok();
        let is_own = |path: &PathBuf| {
            let own = layout.as_ref();
            let own = own
                .and_then(|layout| own_template(&home::access(), layout, &path.to_string_lossy()));
            own.is_some_and(|own| own.has_name(template))
        };
        let named = self.paths.iter();
        let named: Vec<String> = named.map(|path| word(&path.to_string_lossy())).collect();
        let by_name = word(&format!("hf:{template}"));
        // A path with one template names that template. Other templates are named by their names,
        // and those of the suite by nothing else.
        let mut words = match named.as_slice() {
            [path] if count == 1 => vec![path.clone()],
            named if named.contains(&by_name) => vec![by_name],
            _ if self.paths.iter().any(is_own) => vec![word(template)],
            named => {
                let named = named.iter().map(|path| format!("--templates {path}"));
                named.chain([word(template)]).collect()
            }
        };
        let set = &self.arguments.set;
        for (name, value) in &set.special_tokens {
            let token = word(&format!("{name}={value}"));
            words.push(format!("--special-token {token}"));
        }
        for (name, value) in &set.variables {
            words.push(format!("--variable {}", word(&format!("{name}={value}"))));
        }
        if let Some(engine) = &self.session.engine {
            words.push(format!("--engine {}", word(engine)));
        }
        words.join(" ")
    }
}

/// The templates that are checked. The page shows cases, and bases are compared in them.
fn loaded(
    arguments: &CheckArguments,
    paths: &[PathBuf],
    cases: &[PathBuf],
    checks_base: bool,
) -> Result<Suite, Failure> {
    // A card is made from probes. The cases of the suite are read only for what is shown or compared in
    // them.
    if arguments.html.is_none() && !checks_base && cases.is_empty() {
        return Ok(inputs::open(&inputs::templates_only(paths, &arguments.set))?.suite);
    }
    let suite = inputs::open(&inputs::named(paths, cases, &arguments.set))?.suite;
    if arguments.html.is_some() {
        page::hold(suite.templates.len())?;
    }
    Ok(suite)
}

/// Writes the current findings into a baseline.
fn write_baseline(
    arguments: &CheckArguments,
    path: &Path,
    checked: &Checked,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let known = KnownDefects::of(path, &checked.cards, &checked.suite.templates);
    write_whole(path, known.text())?;
    let count = counted(known.count(), "finding", "findings");
    let wrote = format!("wrote {}: {count}, known from now on", path.display());
    tell_written(arguments, &wrote, out)
}

/// Writes an index of the templates.
fn write_index(
    arguments: &CheckArguments,
    path: &Path,
    cards: &[Card],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let known = cards.iter();
    let known = known.map(|card| (card.template.as_str(), card.dialect, &card.skeleton));
    let index = nearest::index(known);
    write_whole(path, index.to_string())?;
    let count = counted(index.count(), "template", "templates");
    let wrote = format!(
        "wrote {}: {count} with prompts of their own",
        path.display()
    );
    tell_written(arguments, &wrote, out)
}

fn tell_written(
    arguments: &CheckArguments,
    wrote: &str,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if arguments.format == Format::Human && screen::is_quiet() {
        writeln!(out, "{wrote}")?;
    } else {
        tell(wrote);
    }
    Ok(())
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

/// What the user asks to check. Without a word, the suite's templates; where there is no suite, the
/// templates of this folder.
fn paths(named: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    if !named.is_empty() {
        return Ok(named);
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

/// The contracts that the user chose.
fn choice(arguments: &CheckArguments) -> ContractChoice {
    ContractChoice {
        select: arguments.select.clone(),
        ignore: arguments.ignore.clone(),
    }
}

/// Refuses to judge by no contract at all.
fn hold_contracts(arguments: &CheckArguments, has_cases: bool) -> Result<(), Failure> {
    let choice = choice(arguments);
    if choice.is_empty() && (!has_cases || choice.is_without_logs()) {
        let message = "--select and --ignore leave no contract to judge by";
        Err(Failure::Request(message.to_owned()))
    } else {
        Ok(())
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
