//! What a command works with: its engines, their limits and the threads. And the preparation that
//! most commands share: the pairs with a front, and reports on problems with the inputs.

use std::collections::{HashMap, HashSet};

use crate::report::counted;
use rayon::prelude::*;
use rolecall_check::card::Card;
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::invocation;
use rolecall_core::problem::Problem;
use rolecall_core::{Dialect, Engine, Template};
use rolecall_explore::coverage::Unexplored;
use rolecall_front::engines::Engines;
use rolecall_front::front::{Front, ModelProfile};
use rolecall_io::template_file::place;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::{Pair, Suite};

use crate::args::{DialectArguments, LimitsArguments, RenderingArguments, SubjectArguments};
use crate::engines::{self, ChosenEngine};
use crate::failure::{Failure, report_problems, tell};
use crate::limits::ChosenLimits;
use crate::vocabulary;

#[derive(Default)]
pub(crate) struct Session {
    pub(crate) engines: Engines,
    pub(crate) limits: ChosenLimits,
    /// How many threads or programs work at once, if the user says so.
    pub(crate) jobs: Option<usize>,
    pub(crate) engine: Option<String>,
}

impl Session {
    pub(crate) fn new(limits: &LimitsArguments, jobs: Option<u16>) -> Session {
        let limits = limits.chosen();
        Session {
            engines: limits.engines(),
            limits,
            jobs: jobs.map(usize::from),
            engine: None,
        }
    }

    /// A session whose engine the user may choose.
    pub(crate) fn of(arguments: &RenderingArguments) -> Session {
        Session {
            engine: arguments.engine.clone(),
            ..Session::new(&arguments.limits, arguments.jobs)
        }
    }

    /// A session that looks into templates.
    pub(crate) fn of_subject(arguments: &SubjectArguments) -> Session {
        Session::new(&arguments.limits, arguments.jobs)
    }

    /// The engine of a name, or the program of a command line.
    pub(crate) fn open(&self, name: &str) -> Result<ChosenEngine<'_>, Failure> {
        engines::open(&self.engines, name, &self.limits)
    }

    /// The engine from `--engine`, if there is one. Report cards and comparisons are about templates:
    /// they start nothing that a folder names.
    pub(crate) fn named(&self) -> Result<Vec<ChosenEngine<'_>>, Failure> {
        self.engine.iter().map(|name| self.open(name)).collect()
    }

    /// The engines of the `rolecall.toml` around the current folder.
    pub(crate) fn configured(&self) -> Result<Vec<ChosenEngine<'_>>, Failure> {
        engines::configured(&self.engines, &self.limits)
    }

    /// The engines that replace the default ones for the pairs of a suite: the one from `--engine`,
    /// otherwise the configured ones.
    pub(crate) fn chosen(&self) -> Result<Vec<ChosenEngine<'_>>, Failure> {
        match &self.engine {
            Some(_) => self.named(),
            None => self.configured(),
        }
    }

    /// The engine that `--engine` names, among the chosen ones.
    pub(crate) fn asked<'c, 'e>(
        &self,
        chosen: &'c [ChosenEngine<'e>],
    ) -> Option<&'c ChosenEngine<'e>> {
        self.engine.as_ref().and(chosen.first())
    }

    /// A runner with the engines of this process.
    pub(crate) fn own_runner(&self) -> Result<Runner<'_>, Failure> {
        Ok(Runner::new(&self.engines, &[], self.jobs)?)
    }

    /// A runner in which the chosen engines replace those of this process.
    pub(crate) fn runner<'e>(
        &'e self,
        chosen: &'e [ChosenEngine<'_>],
    ) -> Result<Runner<'e>, Failure> {
        let chosen: Vec<&dyn Engine> = chosen.iter().map(ChosenEngine::engine).collect();
        Ok(Runner::new(&self.engines, &chosen, self.jobs)?)
    }

    /// The only dialect in use; `chosen` are the engines in use.
    pub(crate) fn one_dialect<'e>(
        &self,
        said: &DialectArguments,
        chosen: &'e [ChosenEngine<'_>],
    ) -> Result<OneDialect<'e>, Failure> {
        let engine = self.asked(chosen).map(ChosenEngine::engine);
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
            dialect: said.only.or(engine.map(Engine::dialect)),
            engine,
        })
    }
}

/// What was found out about each template of a suite, and the templates that no engine takes.
pub(crate) struct Explored<T> {
    pub(crate) all: Vec<T>,
    pub(crate) problems: Vec<Problem>,
}

impl Session {
    /// Looks into each template of a suite, with its own cases.
    pub(crate) fn explore<'s, T: Send>(
        &self,
        suite: &'s Suite,
        look: impl Fn(&dyn Engine, &'s Template, Vec<Pair<'s>>) -> Result<T, Unexplored> + Sync,
    ) -> Result<Explored<T>, Failure> {
        let look = |template: &'s Template| {
            let engine = self.engines.for_dialect(template.dialect);
            let pairs = suite.pairs_among(template, &suite.cases).collect();
            let found = look(engine, template, pairs);
            found.map_err(|why| unexplored(template, &why))
        };
        let looked: Vec<Result<T, Problem>> = self
            .own_runner()?
            .on_its_threads(|| suite.templates.par_iter().map(look).collect());
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        for one in looked {
            match one {
                Ok(found) => all.push(found),
                Err(problem) => problems.push(problem),
            }
        }
        Ok(Explored { all, problems })
    }
}

/// The report cards of templates, and the problems of their models' files.
pub(crate) fn examine(runner: &Runner<'_>, templates: &[Template]) -> (Vec<Card>, Vec<Problem>) {
    let (tokenizers, problems) = tokenizers(templates);
    (runner.examine(templates, &tokenizers), problems)
}

/// Why an engine tells nothing about a template, as a problem of the template's file.
pub(crate) fn unexplored(template: &Template, why: &Unexplored) -> Problem {
    Problem::new(place(template, why.line()), why.to_string())
}

/// Says which templates reach less than the share that the user demands, in per cent. Returns whether
/// there are none.
pub(crate) fn are_above(least: Option<u8>, below: &[&str]) -> bool {
    if let (Some(least), false) = (least, below.is_empty()) {
        tell(&format!("below {least} %: {}", below.join(", ")));
    }
    below.is_empty()
}

/// The only dialect in use, if there is one: the user's choice, or the dialect of the chosen
/// engine. Other engines' results for the other templates would say nothing about the chosen one.
#[derive(Clone, Copy)]
pub(crate) struct OneDialect<'e> {
    dialect: Option<Dialect>,
    engine: Option<&'e dyn Engine>,
}

impl OneDialect<'_> {
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

/// Reports the problems of the inputs. Returns whether there were none.
pub(crate) fn report_input(suite: &Suite) -> Result<bool, Failure> {
    report_problems(&suite.problems)?;
    Ok(suite.problems.is_empty())
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
        // If the suite has a version of the case for this front, that pair is kept instead.
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
