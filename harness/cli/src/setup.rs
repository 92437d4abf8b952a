//! What most commands do before their work: a runner, the pairs behind a front, and words on
//! what is wrong with the input.

use rolecall::engines::Engines;
use rolecall::front::Front;
use rolecall::problem::Problem;
use rolecall::run::Runner;
use rolecall::suite::{Pair, Suite};
use rolecall_model::Engine;

use crate::args::RenderingArguments;
use crate::engines::Choice;
use crate::failure::{Failure, report_problems};

pub(crate) fn runner<'e>(
    engines: &'e Engines,
    chosen: Option<&'e Choice<'_>>,
    arguments: &RenderingArguments,
) -> Result<Runner<'e>, Failure> {
    let jobs = arguments.jobs.map(usize::from);
    let chosen: Vec<&dyn Engine> = chosen.map(Choice::engine).into_iter().collect();
    Ok(Runner::new(engines, &chosen, jobs)?)
}

/// Tells what is wrong with the input, and which templates no engine renders. Returns
/// whether there was nothing to tell.
pub(crate) fn report_input(runner: &Runner<'_>, suite: &Suite) -> Result<bool, Failure> {
    let without_engine = suite
        .templates
        .iter()
        .filter(|template| runner.engine(template.dialect).is_none())
        .map(|template| {
            let message = format!("no engine renders the dialect `{}`", template.dialect);
            Problem::new(&template.path, message).help("`rolecall list engines` names the engines")
        });
    let problems: Vec<Problem> = suite
        .problems
        .iter()
        .cloned()
        .chain(without_engine)
        .collect();
    report_problems(&problems)?;
    Ok(problems.is_empty())
}

/// The pairs that give what users of a front get, where only those were asked for.
pub(crate) fn behind(
    front: Option<Front>,
    mut pairs: Vec<Pair<'_>>,
) -> Result<Vec<Pair<'_>>, Failure> {
    let Some(front) = front else {
        return Ok(pairs);
    };
    pairs.retain(|pair| pair.is_behind(front));
    if pairs.is_empty() {
        return Err(Failure::Request(format!(
            "none of these pairs has the front `{front}`\n  `rolecall list fronts` says what \
             each is for"
        )));
    }
    Ok(pairs)
}
