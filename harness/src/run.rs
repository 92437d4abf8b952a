//! Rendering pairs: every program loaded once, every pair rendered once, on all cores.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::engine::{Conversation, Engine, Engines, Loaded, load};
use crate::outcome::Outcome;
use crate::snapshot::{Comparison, Snapshots};
use crate::suite::Pair;
use crate::template::{Dialect, Template};
use crate::transcript;

/// What rendering needs besides the pairs.
pub struct Runner<'r> {
    engines: &'r Engines,
    chosen: Option<&'r dyn Engine>,
    pool: rayon::ThreadPool,
}

/// A pair with what an engine did with it.
#[derive(Debug)]
pub struct Rendered<'s> {
    /// The pair.
    pub pair: Pair<'s>,
    /// The engine's name.
    pub engine: &'s str,
    /// What it did.
    pub outcome: Outcome,
}

/// A pair with its outcome, and how that stands to the accepted snapshot.
#[derive(Debug)]
pub struct Compared<'s> {
    /// The pair and its outcome.
    pub rendered: Rendered<'s>,
    /// Against the snapshot; `None` where there is nothing to compare with, as for
    /// templates from outside the suite.
    pub comparison: Option<Comparison>,
}

/// Results and how long they took.
#[derive(Debug)]
pub struct Timed<T> {
    /// The results, in the order of the pairs.
    pub results: Vec<T>,
    /// From the first load to the last comparison.
    pub elapsed: Duration,
}

/// A run that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No engine has the name.
    #[error("no engine is named `{name}`; there are {}", known.join(", "))]
    UnknownEngine {
        /// The name that was asked for.
        name: String,
        /// The engines that there are.
        known: Vec<String>,
    },
    /// The threads cannot be started.
    #[error("cannot start the rendering threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// A stack on which every template that keeps within minijinja's limits can be parsed
/// and rendered, in an unoptimised build too. Memory is taken as it is used.
const STACK_SIZE: usize = 64 << 20;

impl<'r> Runner<'r> {
    /// A runner with as many threads as there are jobs; with one for each core without
    /// a number. `engine` renders the templates of its dialect, the default engines
    /// those of the others.
    pub fn new(
        engines: &'r Engines,
        engine: Option<&str>,
        jobs: Option<usize>,
    ) -> Result<Runner<'r>, RunError> {
        let chosen = match engine {
            None => None,
            Some(name) => Some(engines.by_name(name).ok_or_else(|| {
                RunError::UnknownEngine {
                    name: name.to_owned(),
                    known: engines
                        .all()
                        .iter()
                        .map(|engine| format!("`{}`", engine.name()))
                        .collect(),
                }
            })?),
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.unwrap_or(0))
            .stack_size(STACK_SIZE)
            .thread_name(|index| format!("render-{index}"))
            .build()?;
        Ok(Runner {
            engines,
            chosen,
            pool,
        })
    }

    /// The engine for a dialect, if there is one.
    pub fn engine(&self, dialect: Dialect) -> Option<&'r dyn Engine> {
        self.chosen
            .filter(|engine| engine.dialect() == dialect)
            .or_else(|| self.engines.for_dialect(dialect))
    }

    /// Renders pairs. Those whose dialect has no engine are left out.
    pub fn render<'s>(&self, pairs: &[Pair<'s>]) -> Timed<Rendered<'s>>
    where
        'r: 's,
    {
        self.render_with(pairs, |rendered| rendered)
    }

    /// Renders pairs and compares them with the accepted snapshots, of which those
    /// outside the suite have none.
    pub fn compare<'s>(
        &self,
        pairs: &[Pair<'s>],
        snapshots: Option<&Snapshots>,
    ) -> Timed<Compared<'s>>
    where
        'r: 's,
    {
        self.render_with(pairs, |rendered| {
            let comparison = snapshots.map(|snapshots| {
                snapshots.compare(&rendered.pair, &transcript::encode(&rendered.outcome))
            });
            Compared {
                rendered,
                comparison,
            }
        })
    }

    fn render_with<'s, T: Send>(
        &self,
        pairs: &[Pair<'s>],
        finish: impl Fn(Rendered<'s>) -> T + Sync,
    ) -> Timed<T>
    where
        'r: 's,
    {
        let start = Instant::now();
        let results = self.pool.install(|| {
            let programs = self.load_all(pairs);
            let conversations: HashMap<Key, Conversation<'_>> = pairs
                .iter()
                .map(|pair| (key(pair.case), pair.case))
                .collect::<HashMap<_, _>>()
                .into_iter()
                .map(|(key, case)| (key, Conversation::new(case)))
                .collect();
            pairs
                .par_iter()
                .with_min_len(16)
                .filter_map(|pair| {
                    let (engine, program) = programs.get(&key(pair.template))?;
                    let outcome = program.render(conversations.get(&key(pair.case))?);
                    Some(finish(Rendered {
                        pair: *pair,
                        engine: engine.name(),
                        outcome,
                    }))
                })
                .collect()
        });
        Timed {
            results,
            elapsed: start.elapsed(),
        }
    }

    fn load_all(&self, pairs: &[Pair<'_>]) -> HashMap<Key, (&'r dyn Engine, Loaded<'r>)> {
        let templates: HashMap<Key, &Template> = pairs
            .iter()
            .map(|pair| (key(pair.template), pair.template))
            .collect();
        templates
            .into_par_iter()
            .filter_map(|(key, template)| {
                let engine = self.engine(template.dialect)?;
                Some((key, (engine, load(engine, template))))
            })
            .collect()
    }
}

/// A template or a case while the suite that owns it is borrowed: where it lies.
type Key = usize;

fn key<T>(item: &T) -> Key {
    std::ptr::from_ref(item).addr()
}

impl<T> Timed<T> {
    /// Results a second.
    #[allow(clippy::cast_precision_loss)] // nobody counts that far
    pub fn per_second(&self) -> f64 {
        self.results.len() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}
