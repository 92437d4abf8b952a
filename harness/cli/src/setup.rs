//! What most commands do before their work: a runner, the pairs behind a front, and words on
//! what is wrong with the input.

use std::collections::{HashMap, HashSet};

use rolecall::engines::Engines;
use rolecall::front::{Front, Model};
use rolecall::problem::Problem;
use rolecall::run::Runner;
use rolecall::suite::{Pair, Suite};
use rolecall::tokenizer::Tokenizers;
use rolecall_model::{Engine, Template};

use crate::args::RenderingArguments;
use crate::engines::Choice;
use crate::failure::{Failure, report_problems};

pub(crate) fn runner<'e>(
    engines: &'e Engines,
    chosen: &'e [Choice<'_>],
    arguments: &RenderingArguments,
) -> Result<Runner<'e>, Failure> {
    let jobs = arguments.jobs.map(usize::from);
    let chosen: Vec<&dyn Engine> = chosen.iter().map(Choice::engine).collect();
    Ok(Runner::new(engines, &chosen, jobs)?)
}

/// Tells what is wrong with the input, and which templates no engine renders. Returns
/// whether there was nothing to tell.
pub(crate) fn report_input(runner: &Runner<'_>, suite: &Suite) -> Result<bool, Failure> {
    let problems = problems(runner, suite);
    report_problems(&problems)?;
    Ok(problems.is_empty())
}

/// What is wrong with the input, and which templates no engine renders.
pub(crate) fn problems(runner: &Runner<'_>, suite: &Suite) -> Vec<Problem> {
    let without_engine = suite
        .templates
        .iter()
        .filter(|template| runner.engine(template.dialect).is_none())
        .map(|template| {
            let message = format!("no engine renders the dialect `{}`", template.dialect);
            Problem::new(&template.path, message).help("`rolecall list engines` names the engines")
        });
    suite
        .problems
        .iter()
        .cloned()
        .chain(without_engine)
        .collect()
}

/// What the models of templates make of prompts, where that is known. Tells which of their files
/// cannot be read, and returns whether there was nothing to tell.
pub(crate) fn tokenizers(templates: &[Template]) -> Result<(Tokenizers, bool), Failure> {
    let (tokenizers, problems) = Tokenizers::read(templates);
    report_problems(&problems)?;
    Ok((tokenizers, problems.is_empty()))
}

/// Puts the templates behind the front that was asked for, whatever they have. Returns whether
/// it is another one for some of them: what was accepted and recorded is not of it then.
pub(crate) fn put_behind(front: Option<Front>, suite: &mut Suite) -> bool {
    front.is_some_and(|front| suite.put_behind(front))
}

/// The pairs that give what users of a front get, where only those were asked for: those
/// behind it, and those of which it makes what the front makes that they are behind.
pub(crate) fn behind(
    front: Option<Front>,
    mut pairs: Vec<Pair<'_>>,
) -> Result<Vec<Pair<'_>>, Failure> {
    let Some(front) = front else {
        return Ok(pairs);
    };
    let names: HashSet<_> = pairs
        .iter()
        .filter(|pair| pair.front() == front)
        .map(|pair| (pair.template.name.clone(), pair.case.id.clone()))
        .collect();
    let mut models = HashMap::new();
    pairs.retain(|pair| {
        if pair.front() == front {
            return true;
        }
        let Pair { template, case } = pair;
        let is_there = names.contains(&(template.name.clone(), case.id.behind(front.name())));
        if is_there || case.front.is_some() || !front.is_for(template.dialect) {
            return false;
        }
        let model = models
            .entry(template.name.clone())
            .or_insert_with(|| Model::of(template));
        !front.differs(pair.front(), case, model) && !pair.front().chooses_other(template, case)
    });
    if pairs.is_empty() {
        return Err(Failure::Request(format!(
            "none of these pairs has the front `{front}`\n  `rolecall list fronts` says what \
             each is for"
        )));
    }
    Ok(pairs)
}
