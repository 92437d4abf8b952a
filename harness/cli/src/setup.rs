//! What most commands do before their work: a runner, the pairs behind a front, and words on
//! what is wrong with the input.

use std::collections::{HashMap, HashSet};

use rolecall::engines::Engines;
use rolecall::front::{Front, Model};
use rolecall::problem::Problem;
use rolecall::report::counted;
use rolecall::run::Runner;
use rolecall::suite::{Pair, Suite};
use rolecall::tokenizer::Tokenizers;
use rolecall_model::{Dialect, Engine, Template};

use crate::args::{DialectArguments, RenderingArguments};
use crate::engines::Choice;
use crate::failure::{Failure, report_problems, tell};

pub(crate) fn runner<'e>(
    engines: &'e Engines,
    chosen: &'e [Choice<'_>],
    arguments: &RenderingArguments,
) -> Result<Runner<'e>, Failure> {
    let jobs = arguments.jobs.map(usize::from);
    let chosen: Vec<&dyn Engine> = chosen.iter().map(Choice::engine).collect();
    Ok(Runner::new(engines, &chosen, jobs)?)
}

/// The dialect that alone is asked for, if one is: the one that was said, or that of the engine
/// that was. What another engine makes of the other templates says nothing about it.
#[derive(Clone, Copy)]
pub(crate) struct OneDialect<'e> {
    dialect: Option<Dialect>,
    /// The engine that was said.
    engine: Option<&'e dyn Engine>,
}

impl<'e> OneDialect<'e> {
    /// As the arguments say it; `chosen` are the engines that they name.
    pub(crate) fn of(
        said: &DialectArguments,
        rendering: &RenderingArguments,
        chosen: &'e [Choice<'_>],
    ) -> Result<OneDialect<'e>, Failure> {
        let named = rendering.engine.as_ref().and(chosen.first());
        let engine = named.map(Choice::engine);
        let of_engine = engine.map(Engine::dialect);
        if let (Some(said), Some(engine)) = (said.only, engine)
            && said != engine.dialect()
        {
            return Err(Failure::Request(format!(
                "nothing is asked: {} renders {} templates, and --dialect asks for {said}",
                engine.name(),
                engine.dialect(),
            )));
        }
        Ok(OneDialect {
            dialect: said.only.or(of_engine),
            engine,
        })
    }

    /// Whether templates of a dialect are asked for.
    fn includes(self, dialect: Dialect) -> bool {
        self.dialect.is_none_or(|only| only == dialect)
    }

    /// The pairs that are asked for. An engine that was chosen and leaves some out is told; that
    /// none are left is an error.
    pub(crate) fn pairs(self, pairs: Vec<Pair<'_>>) -> Result<Vec<Pair<'_>>, Failure> {
        let is_asked = |pair: &Pair<'_>| self.includes(pair.template.dialect);
        let (kept, left): (Vec<_>, Vec<_>) = pairs.into_iter().partition(is_asked);
        if let Some(pair) = left.first() {
            let dialect = pair.template.dialect;
            let count = counted(left.len(), "pair", "pairs");
            self.leave_out(
                dialect,
                &format!("{count} of {dialect} templates"),
                kept.is_empty(),
            )?;
        }
        Ok(kept)
    }

    /// Removes the templates that are not asked for, and tells as [`OneDialect::pairs`] does.
    pub(crate) fn narrow(self, suite: &mut Suite) -> Result<(), Failure> {
        let is_left = |template: &mut Template| !self.includes(template.dialect);
        let left: Vec<Template> = suite.templates.extract_if(.., is_left).collect();
        if let Some(template) = left.first() {
            let dialect = template.dialect;
            let count = counted(left.len(), "template", "templates");
            let is_all = suite.templates.is_empty();
            self.leave_out(dialect, &format!("{count} in {dialect}"), is_all)?;
        }
        Ok(())
    }

    /// Tells what of a dialect is left out, and refuses to leave out all that there is.
    fn leave_out(self, dialect: Dialect, left: &str, is_all: bool) -> Result<(), Failure> {
        let why = match self.engine {
            Some(engine) => format!("{} does not render them", engine.name()),
            None => format!("--dialect asks for others than {dialect}"),
        };
        if is_all {
            let message = format!("{left} left out: {why}; nothing is left to ask");
            return Err(Failure::Request(message));
        }
        if self.engine.is_some() {
            tell(&format!("{left} left out: {why}"));
        }
        Ok(())
    }
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
