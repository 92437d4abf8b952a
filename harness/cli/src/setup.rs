//! The preparation that most commands share: a runner, the pairs with a front, and reports on
//! problems with the inputs.

use std::collections::{HashMap, HashSet};

use crate::report::counted;
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::invocation;
use rolecall_core::problem::Problem;
use rolecall_core::{Dialect, Engine, Template};
use rolecall_front::engines::Engines;
use rolecall_front::front::{Front, ModelProfile};
use rolecall_suite::run::Runner;
use rolecall_suite::suite::{Pair, Suite};

use crate::args::{DialectArguments, RenderingArguments};
use crate::engines::ChosenEngine;
use crate::failure::{Failure, report_problems, tell};
use crate::vocabulary;

pub(crate) fn runner<'e>(
    engines: &'e Engines,
    chosen: &'e [ChosenEngine<'_>],
    arguments: &RenderingArguments,
) -> Result<Runner<'e>, Failure> {
    let jobs = arguments.jobs.map(usize::from);
    let chosen: Vec<&dyn Engine> = chosen.iter().map(ChosenEngine::engine).collect();
    Ok(Runner::new(engines, &chosen, jobs)?)
}

/// The only dialect in use, if there is one: the user's choice, or the dialect of the chosen
/// engine. Other engines' results for the other templates would say nothing about the chosen one.
#[derive(Clone, Copy)]
pub(crate) struct OneDialect<'e> {
    dialect: Option<Dialect>,
    engine: Option<&'e dyn Engine>,
}

impl<'e> OneDialect<'e> {
    /// The dialect by the arguments; `chosen` are the engines that they name.
    pub(crate) fn of(
        said: &DialectArguments,
        rendering: &RenderingArguments,
        chosen: &'e [ChosenEngine<'_>],
    ) -> Result<OneDialect<'e>, Failure> {
        let named = rendering.engine.as_ref().and(chosen.first());
        let engine = named.map(ChosenEngine::engine);
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

    /// Whether templates of a dialect are in use.
    fn includes(self, dialect: Dialect) -> bool {
        self.dialect.is_none_or(|only| only == dialect)
    }

    /// The chosen pairs. Reports how many the chosen engine leaves out. An error if none are left.
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

    /// Removes the templates of other dialects, and reports them as [`OneDialect::pairs`] does.
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

    /// Reports the templates or pairs of another dialect that are left out. An error if none are
    /// left.
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

/// Reports the problems of the inputs, and the templates that no engine can render. Returns whether
/// there were none.
pub(crate) fn report_input(runner: &Runner<'_>, suite: &Suite) -> Result<bool, Failure> {
    let problems = problems(runner, suite);
    report_problems(&problems)?;
    Ok(problems.is_empty())
}

/// The problems of the inputs, and the templates that no engine can render.
pub(crate) fn problems(runner: &Runner<'_>, suite: &Suite) -> Vec<Problem> {
    let without_engine = suite
        .templates
        .iter()
        .filter(|template| runner.engine(template.dialect).is_none())
        .map(|template| {
            let message = format!("no engine renders the dialect `{}`", template.dialect);
            Problem::new(&template.path, message).help(format!(
                "`{}` names the engines",
                invocation::command("list engines")
            ))
        });
    suite
        .problems
        .iter()
        .cloned()
        .chain(without_engine)
        .collect()
}

/// The tokenizers of the templates' models, if they are known, and the problems of files that cannot
/// be read.
pub(crate) fn tokenizers(templates: &[Template]) -> (Tokenizers, Vec<Problem>) {
    let (tokenizers, problems) = Tokenizers::read(templates, vocabulary::read);
    let left_out = templates.iter().filter(|one| vocabulary::is_left_out(one));
    if left_out.count() > 0 {
        tell(&format!(
            "the tokens are not examined: {}",
            vocabulary::HELP
        ));
    }
    (tokenizers, problems)
}

/// Puts the templates with the chosen front. Returns whether that changes the front of some of
/// them: their snapshots and records do not hold then.
pub(crate) fn use_front(front: Option<Front>, suite: &mut Suite) -> bool {
    front.is_some_and(|front| suite.use_front(front))
}

/// The pairs for users of the chosen front: those with it, and those whose own front makes the same
/// of the case.
pub(crate) fn after(
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
        let is_there = names.contains(&(template.name.clone(), case.id.with_front(front.name())));
        if is_there || case.front.is_some() || !front.is_for(template.dialect) {
            return false;
        }
        let model = models
            .entry(template.name.clone())
            .or_insert_with(|| ModelProfile::of(template));
        !front.differs(pair.front(), case, model) && !pair.front().chooses_other(template, case)
    });
    if pairs.is_empty() {
        return Err(Failure::Request(format!(
            "none of these pairs has the front `{front}`\n  `{}` says what each is for",
            invocation::command("list fronts")
        )));
    }
    Ok(pairs)
}
