//! The command as a library: it finds, judges and compares templates as the command does, and
//! returns what the command would print.

use std::path::{Path, PathBuf};

use crate::commands::check::{document as checked, report as cards};
use crate::report::card::CardDetail;
use crate::report::{clean, comparison as report, conversations};
use rolecall_check::card::Card;
use rolecall_check::choice::ContractChoice;
use rolecall_check::reach::Reach;
use rolecall_check::served;
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::guard::take_internal_errors;
use rolecall_core::problem::Problem;
use rolecall_core::{Case, Limits, Template};
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_suite::comparison::{Comparison, SideKind};
use rolecall_suite::conversation;
use rolecall_suite::layout::Layout;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::{Subject, Workspace, stdin};
use serde_json::Value;

use crate::failure::{self, Failure};
use crate::limits::ChosenLimits;
use crate::{home, likeness, program, session};

#[derive(Debug)]
pub struct FoundTemplates {
    pub templates: Vec<Template>,
    /// What there is to say about the place and its files.
    pub notes: Vec<String>,
    pub problems: Vec<String>,
}

#[derive(Debug, Default)]
pub struct CheckOptions<'o> {
    /// The names of the contracts to judge by; all if it is empty.
    pub select: Vec<String>,
    /// The names of contracts that do not count.
    pub ignore: Vec<String>,
    /// The template that it should be like.
    pub like: Option<&'o Template>,
    /// The fronts of applications that serve the template, to say what they make of conversations.
    /// All that are known if there is none in the list.
    pub served: Option<Vec<String>>,
    /// A file with conversations to judge, too.
    pub conversations: Option<PathBuf>,
}

/// What the command prints about something.
#[derive(Debug)]
pub struct Report {
    /// With `--format json`.
    pub json: String,
    /// On a terminal, without colours.
    pub text: String,
}

/// Why there is no result, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LibraryError(String);

impl From<Failure> for LibraryError {
    fn from(failure: Failure) -> LibraryError {
        LibraryError(clean::plain(failure::text(&failure).as_bytes()))
    }
}

/// Sets the words that start the command. Some work needs a new process, and runs the command there.
/// Without these words, it starts the program of this process.
pub fn start_with(words: Vec<String>) {
    program::set_again(words);
}

/// The limits of a render that a text such as `fuel=1000000,output=8MiB` sets. The others stay at their
/// defaults.
pub fn limits(text: &str) -> Result<Limits, LibraryError> {
    let chosen: ChosenLimits = text.parse().map_err(LibraryError)?;
    if chosen.program != ChosenLimits::default().program {
        let message = format!("only limits of a render can be set here, and not `{text}`");
        return Err(LibraryError(message));
    }
    Ok(chosen.render)
}

/// The text that [`limits`] reads as these limits.
pub fn limits_text(limits: &Limits) -> String {
    let render = limits.clone();
    let program = ChosenLimits::default().program;
    ChosenLimits { render, program }.of_render()
}

/// Finds templates by what one types after `rolecall check`: a file, a folder, a model by name, or a
/// template of the suite. It fetches what the command would fetch.
pub fn find(text: &str) -> Result<FoundTemplates, LibraryError> {
    // Standard input belongs to the program that uses this library.
    if text == stdin::NAME {
        let message = "standard input is not read: give the template itself";
        return Err(LibraryError(message.to_owned()));
    }
    let subject = Subject {
        templates: &[PathBuf::from(text)],
        has_names: true,
        ..Subject::default()
    };
    let suite = Workspace::open(&home::access(), &subject)?.suite;
    let texts = |problems: &[Problem]| problems.iter().map(ToString::to_string).collect();
    Ok(FoundTemplates {
        notes: suite.notes.iter().map(ToString::to_string).collect(),
        problems: texts(&suite.problems),
        templates: suite.templates,
    })
}

/// Reads a file with conversations: as JSON the fields of each that can be read, with its `name`, and what
/// there is to say about the file and what cannot be read.
pub fn read_conversations(path: &Path) -> Result<(String, Vec<String>), LibraryError> {
    let found = conversation::read_file(path).map_err(Failure::Problems)?;
    let notes = found.note(path).map(|note| note.to_string());
    let problems = found.problems.iter().map(ToString::to_string);
    let notes = notes.into_iter().chain(problems).collect();
    let named = found.read.into_iter().map(|one| {
        let mut fields = one.fields;
        fields.insert("name".to_owned(), one.name.into());
        Value::Object(fields)
    });
    Ok((named.collect::<Value>().to_string(), notes))
}

/// Makes the report card of a template, and compares the template with another one if it should be
/// like that.
pub fn check(template: &Template, options: &CheckOptions<'_>) -> Result<Report, LibraryError> {
    let choice = ContractChoice::named(&options.select, &options.ignore).map_err(LibraryError)?;
    if choice.is_empty() && (options.conversations.is_none() || choice.is_without_logs()) {
        let message = "`select` and `ignore` leave no contract to judge by";
        return Err(LibraryError(message.to_owned()));
    }
    let engines = Engines::default();
    let runner = runner(&engines)?;
    let templates = std::slice::from_ref(template);
    let (mut cards, tokenizers) = examine(&runner, templates, &choice)?;
    let fronts = options.served.as_ref().map(|names| {
        let fronts = names.iter().map(|name| served::front(name));
        fronts
            .collect::<Result<Vec<Front>, String>>()
            .map_err(LibraryError)
    });
    let fronts = fronts.transpose()?;
    for card in &mut cards {
        card.narrow(&choice);
        card.served = fronts
            .as_deref()
            .and_then(|fronts| runner.served(template, fronts));
    }
    let mut suite = Suite {
        templates: vec![template.clone()],
        ..Suite::default()
    };
    let mut judged = Vec::new();
    if let Some(path) = &options.conversations {
        let read = conversation::read_file(path).map_err(Failure::Problems)?;
        suite.cases = suite.told_of(path, read);
        if !suite.problems.is_empty() {
            return Err(Failure::Problems(suite.problems).into());
        }
        let cases: Vec<&Case> = suite.cases.iter().collect();
        judged.push(runner.judge_conversations(&suite, template, &tokenizers, &cases, &choice));
    }
    let mut bases = Vec::new();
    if let Some(base) = options.like {
        let layout = home::layout()?;
        let [one, other] =
            [base, template].map(|template| Suite::with_cases_of(&layout, vec![template.clone()]));
        let sides = [base, template].map(|template| template.name.to_string());
        let comparison = Comparison::new(SideKind::Templates, sides);
        let both = [&one, &other].map(|suite| (suite, &suite.templates[0]));
        let mut comparison = likeness::compare_with_base(&runner, comparison, both)?;
        // The call is for the meaning of each difference. An empty list has nothing that could be out
        // of date.
        let _ = comparison.checked_against_base(&[]);
        bases.push(comparison);
    }
    let bases: Vec<&Comparison> = bases.iter().collect();
    hold_whole()?;
    Ok(Report {
        json: text(|out| checked::write(out, &cards, Reach::of(&cards), &bases, None, &judged))?,
        text: plain(|out| {
            let detail = CardDetail::Marked;
            let mut cards = cards.iter();
            cards.try_for_each(|card| cards::write_card(out, card, detail, &card.template))?;
            let mut bases = bases.iter();
            bases.try_for_each(|base| report::write_base(out, base, false))?;
            let mut judged = judged.iter();
            let (name, is_of_template) = (template.name.as_str(), !choice.is_empty());
            judged.try_for_each(|one| {
                conversations::write(out, one, &suite, name, (is_of_template, false))
            })
        })?,
    })
}

/// Compares two templates in the cases of the suite, and by their report cards.
pub fn diff(a: &Template, b: &Template, names: [String; 2]) -> Result<Report, LibraryError> {
    let engines = Engines::default();
    let runner = runner(&engines)?;
    let layout = home::layout()?;
    let [one, other] = [a, b].map(|template| Suite::with_cases_of(&layout, vec![template.clone()]));
    let mut comparison = Comparison::new(SideKind::Templates, names);
    let sides = [&one, &other].map(|suite| suite.pairs().collect::<Vec<Pair<'_>>>());
    comparison.render([&runner, &runner], sides, &[]);
    let all = ContractChoice::default();
    let (cards, _) = examine(&runner, &[a.clone(), b.clone()], &all)?;
    comparison.add_cards(&cards);
    if comparison.tally().count() == 0 {
        let message = "there is no case that both sides have";
        return Err(LibraryError(message.to_owned()));
    }
    let comparison = comparison.sorted();
    hold_whole()?;
    Ok(Report {
        json: text(|out| report::write_json(out, &comparison))?,
        text: plain(|out| report::write(out, &comparison, false))?,
    })
}

/// The suite that is built into the command, as files in the user's cache.
pub fn builtin_suite() -> Result<Layout, LibraryError> {
    Ok(home::builtin()?)
}

/// An error if a panic has cost a part of the result.
fn hold_whole() -> Result<(), LibraryError> {
    match take_internal_errors().as_slice() {
        [] => Ok(()),
        all => Err(LibraryError(all.join("\n"))),
    }
}

fn runner(engines: &Engines) -> Result<Runner<'_>, Failure> {
    Ok(Runner::new(engines, &[], None)?)
}

fn examine(
    runner: &Runner<'_>,
    templates: &[Template],
    choice: &ContractChoice,
) -> Result<(Vec<Card>, Tokenizers), Failure> {
    let (tokenizers, problems) = session::tokenizers(templates);
    // A card without its tokens says less than it should. The command says so on standard error; a
    // library has only its result.
    if !problems.is_empty() {
        return Err(Failure::Problems(problems));
    }
    let cards = runner.examine_by(templates, &tokenizers, choice);
    Ok((cards, tokenizers))
}

fn text(
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<String, LibraryError> {
    let mut out = Vec::new();
    write(&mut out).map_err(Failure::Output)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// What is written, as it is without colours.
fn plain(
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<String, LibraryError> {
    let mut out = Vec::new();
    write(&mut out).map_err(Failure::Output)?;
    Ok(clean::plain(&out))
}
