//! The command `mask`: shows what the model writes of a template's prompts.

pub mod report;

use std::io::Write;
use std::path::Path;

use rolecall_check::card;
use rolecall_core::problem::Problem;
use rolecall_core::{Dialect, Template};
use rolecall_explore::marking::{self, Marked, Unmarked};
use rolecall_explore::masks::{CaseMask, TemplateMasks, has_answer};
use rolecall_front::front::Front;
use rolecall_suite::suite::{Pair, Suite};

use crate::args::MaskArguments;
use crate::engines::ChosenEngine;
use crate::failure::{Failure, Status};
use crate::session::{self, Session};
use crate::{conversations, inputs, vocabulary};

pub(crate) fn execute(arguments: &MaskArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let named = [arguments.template.clone()];
    let (case, mut cases) = (arguments.case.clone(), arguments.cases.clone());
    let (case, file) = conversations::chosen(case);
    cases.extend(file);
    let (suite, is_wrong) =
        inputs::load_to_look_into(&inputs::named(&named, &cases, &arguments.set), None)?;
    let named = only_template(&suite)?;
    let template = &*card::with_assumed_tokens(named);
    let session = Session::new(&arguments.limits, arguments.jobs);
    let runner = session.own_runner()?;
    let engine = runner.engine(template.dialect);
    let pairs: Vec<Pair<'_>> = match &case {
        Some(case) => vec![inputs::find_pair(&suite, named, case)?],
        None => suite.pairs_among(named, &suite.cases).collect(),
    };
    if let Some(file) = &arguments.write {
        let found = runner.on_its_threads(|| marking::marked(engine, template, pairs));
        return write_marked(template, file, found, out);
    }
    // A trainer has no other front than the template's.
    let has_front =
        |pair: &Pair<'_>| arguments.engine.is_none() || pair.front() == Front::of(template);
    let pairs = pairs
        .into_iter()
        .filter(|pair| case.is_some() || (has_answer(pair.case) && has_front(pair)));
    let trainer = arguments.engine.as_ref();
    let trainer = trainer.map(|name| session.open(name)).transpose()?;
    let trainer = trainer.as_ref().map(ChosenEngine::engine);
    let masks = runner.on_its_threads(|| TemplateMasks::find(engine, trainer, template, pairs));
    let mut masks = masks.map_err(|why| session::unexplored(template, &why))?;
    masks.assumed = card::assumed(named);
    let cut = cut(arguments, &masks)?;
    let is_named = case.is_some();
    report::write(out, &masks, cut.as_deref(), arguments.format, is_named)?;
    Ok(Status::of(
        !is_wrong,
        masks.cases.iter().all(CaseMask::is_trained),
    ))
}

/// Writes a template with marks, if there are some.
fn write_marked(
    template: &Template,
    file: &Path,
    found: Result<Marked, Unmarked>,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    match found {
        Ok(marked) => {
            rolecall_core::file::write_whole(file, marked.source.as_bytes())?;
            report::write_marked(out, template, file, &marked)?;
            Ok(Status::Fine)
        }
        Err(Unmarked::Blocked(blame)) => {
            report::write_blame(out, template, &blame)?;
            Ok(Status::Nonconforming)
        }
        Err(why) => Err(Failure::Request(format!("{}: {why}", template.name))),
    }
}

/// The only template of a suite. Masks are for Jinja: nobody trains with a template of Ollama's.
fn only_template(suite: &Suite) -> Result<&Template, Failure> {
    let [template] = suite.templates.as_slice() else {
        let names = suite.templates.iter().map(|one| one.name.as_str());
        return Err(Failure::Request(format!(
            "`mask` looks at one template; name one of {}",
            names.collect::<Vec<_>>().join(", ")
        )));
    };
    if template.dialect != Dialect::Jinja {
        return Err(Failure::Request(format!(
            "{} is a Go template: models are trained with Jinja templates, and only these have masks",
            template.name
        )));
    }
    Ok(template)
}

/// The tokens of the only case, if they are asked for.
fn cut(
    arguments: &MaskArguments,
    masks: &TemplateMasks<'_>,
) -> Result<Option<Vec<rolecall_check::tokenizer::Token>>, Failure> {
    let (true, [case]) = (arguments.tokens, masks.cases.as_slice()) else {
        return Ok(None);
    };
    let tokenizer = vocabulary::tokenizer(masks.template)?;
    let Ok(mask) = &case.mask else {
        return Ok(None);
    };
    let cut = tokenizer.encode(&mask.prompt).map_err(|why| {
        let file = &masks.template.vocabulary[0];
        Problem::new(file, format!("cannot cut this: {why}"))
    })?;
    Ok(Some(cut))
}
