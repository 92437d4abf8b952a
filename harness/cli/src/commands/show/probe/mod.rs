//! The command `show TEMPLATE probe/NAME`: shows a conversation of the report card.

pub mod report;

use std::io::Write;
use std::path::PathBuf;

use crate::report::transcripts;
use crate::{home, inputs};
use rolecall_check::card::as_examined;
use rolecall_core::invocation;
use rolecall_core::problem::{closest, meant};
use rolecall_core::{Case, CaseId, Template};
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::is_place;
use rolecall_suite::workspace::own_template::own_template;

use super::{tokens, trace};
use crate::args::ShowArguments;
use crate::failure::{Failure, Status, report_problems};
use crate::session::{self, Session};

/// The prefix of probes' names. Cases have their family there.
pub(crate) const FAMILY: &str = "probe/";

/// How many names to suggest for an unknown one.
const MOST_NAMES: usize = 12;

/// Shows a template's result for a probe.
pub(crate) fn show(
    arguments: &ShowArguments,
    name: &str,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    if arguments.diff || arguments.reference {
        return Err(Failure::Request(
            "a probe is no case of the suite: it has neither a snapshot nor a record".to_owned(),
        ));
    }
    let (mut suite, named) = suite(arguments)?;
    report_problems(&suite.problems)?;
    session::use_front(arguments.front.name, &mut suite);
    let template = find(&suite, named.as_deref(), arguments)?;
    let session = Session::of(&arguments.rendering);
    let chosen = session.named()?;
    let runner = session.runner(&chosen)?;
    let probes = runner.probes(template);
    let Some(render) = probes.get(name) else {
        let known: Vec<&str> = probes.keys().copied().collect();
        return Err(unknown(name, &known));
    };
    if arguments.trace || arguments.decisions {
        let pair = Pair {
            // The card assumes special tokens that are not set, and the trace has to be of the prompt
            // on the card.
            template: &as_examined(template),
            case: &Case {
                id: CaseId::new(FAMILY.trim_end_matches('/'), name),
                ..Case::clone(&render.asked)
            },
        };
        return trace::show(arguments, &runner, &pair, out);
    }
    if arguments.tokens {
        return tokens::show(arguments, template, &render.outcome, out);
    }
    if arguments.raw {
        transcripts::write_raw(out, &render.outcome)?;
    } else {
        report::write(out, render)?;
    }
    Ok(Status::Fine)
}

/// The loaded templates and the name of the chosen one. Without a name, the argument must lead to
/// one template only.
fn suite(arguments: &ShowArguments) -> Result<(Suite, Option<String>), Failure> {
    let (text, sources) = (&arguments.template, &arguments.sources);
    let name = Some(text.clone());
    if !sources.templates.is_empty() {
        let suite = inputs::open(&inputs::templates_only(&sources.templates, &sources.set))?.suite;
        return Ok((suite, name));
    }
    // The same order as for the sides of `diff`: a template of the suite, then a path, then a model
    // by name.
    let layout = home::layout()?;
    if own_template(&home::access(), &layout, text).is_some() || is_place(text) {
        let suite = inputs::open(&inputs::templates_only(
            &[PathBuf::from(text)],
            &sources.set,
        ))?
        .suite;
        return Ok((suite, None));
    }
    let suite = inputs::open(&inputs::templates_only(&[], &sources.set))?.suite;
    Ok((suite, name))
}

/// The template with the name, or the only one of those that the arguments lead to.
pub(crate) fn find<'s>(
    suite: &'s Suite,
    name: Option<&str>,
    arguments: &ShowArguments,
) -> Result<&'s Template, Failure> {
    let names = suite.templates.iter().map(|known| known.name.as_str());
    let names: Vec<&str> = names.collect();
    if let Some(name) = name {
        let mut templates = suite.templates.iter();
        let found = templates.find(|known| known.name.as_str() == name);
        return found.ok_or_else(|| Failure::unknown("template", name, &names, &suite.problems));
    }
    match suite.templates.as_slice() {
        [one] => Ok(one),
        [] => Err(Failure::unknown(
            "template",
            &arguments.template,
            &names,
            &suite.problems,
        )),
        many => {
            let own = own_template(&home::access(), &home::layout()?, &arguments.template);
            let first = many[0].name.as_str();
            // The suite's own are known by their names alone.
            let place = match own {
                Some(_) => String::new(),
                None => format!(" --templates {}", invocation::word(&arguments.template)),
            };
            let words = invocation::words([first, &arguments.case]);
            Err(Failure::Request(format!(
                "there are {} templates: {}\n  name one: {}",
                many.len(),
                names.join(", "),
                invocation::command(&format!("show{place} {words}"))
            )))
        }
    }
}

/// The error for an unknown probe, with similar names.
fn unknown(name: &str, names: &[&str]) -> Failure {
    let help = closest(name, names.iter().copied());
    let help = help.map_or_else(String::new, |known| {
        format!("\n  {}", meant(format_args!("{FAMILY}{known}")))
    });
    let parts: Vec<&str> = names.iter().flat_map(|known| known.split('-')).collect();
    let words = name.split('-').filter(|word| word.len() > 2);
    let words: Vec<&str> = words
        .map(|word| closest(word, parts.iter().copied()).unwrap_or(word))
        .collect();
    let near = names
        .iter()
        .filter(|known| known.split('-').any(|part| words.contains(&part)));
    let mut near: Vec<&str> = near.copied().take(MOST_NAMES).collect();
    let heading = if near.is_empty() {
        near = names.to_vec();
        "there are"
    } else {
        "near it are"
    };
    let near = near.join(", ");
    Failure::Request(format!(
        "no probe is named `{name}`{help}\n  {heading} {near}"
    ))
}
