//! Renders pairs on all cores: loads every template once, and renders every pair once.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rolecall_core::guard::{self, STACK};
use rolecall_core::{Case, Dialect, Engine, Outcome, Template, TemplateName, TemplatePart};

use crate::opened::Opened;
use crate::pair_mark::PairNames;
use crate::record::Unverified;
use crate::snapshot::{SnapshotStatus, Snapshots};
use crate::suite::{Pair, Suite, templates_of};
pub use crate::verdict::Rendered;
use crate::verdict::{Truth, Verdict, by_accepted, by_outcome, by_record};
use rolecall_check::card::{self, Card, Examiner};
use rolecall_check::choice::ContractChoice;
use rolecall_check::contract::Render;
use rolecall_check::nearest;
use rolecall_check::published::Index;
use rolecall_check::served::Served;
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::problem::Problem;
use rolecall_core::stream;
use rolecall_core::transcript;
use rolecall_front::engines::Engines;
use rolecall_front::front::{Front, ModelProfile};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

/// The most bytes of a text that are kept for comparing: 256 KiB.
pub const MOST_OF_DIFFERENCE: usize = 256 << 10;

/// Renders pairs: has the engines and the threads.
pub struct Runner<'r> {
    engines: &'r Engines,
    chosen: Vec<&'r dyn Engine>,
    pool: rayon::ThreadPool,
    progress: Option<Box<dyn Fn() + Send + Sync>>,
    loaded: Option<&'r Programs<'r>>,
    index: Option<Arc<Index>>,
}

/// Templates, each loaded into the engine for its dialect.
#[derive(Default)]
pub struct Programs<'s> {
    by_template: HashMap<Key, FrontProgram<'s>>,
}

/// Identifies a case as a front prepares it. Models that the front treats alike share it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InputKey<'s> {
    case: Key,
    front: Front,
    model: ModelProfile<'s>,
}

impl<'s> InputKey<'s> {
    fn of(pair: &Pair<'_>, program: &FrontProgram<'s>) -> InputKey<'s> {
        InputKey {
            case: key(pair.case),
            front: pair.front(),
            model: program.model.with(pair.case, pair.front()),
        }
    }
}

impl Hash for InputKey<'_> {
    /// Hashes only the case: few cases meet several fronts.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.case.hash(state);
    }
}

/// Pairs with what is needed to render them.
struct RenderPlan<'p, 's> {
    /// The cases to prepare, each once for its front and model.
    cases: Vec<(InputKey<'s>, &'s Case)>,
    /// For each pair its program and the index of its case; none if its dialect has no
    /// engine.
    of_pairs: Vec<Option<(&'p FrontProgram<'s>, usize)>>,
}

impl<'p, 's> RenderPlan<'p, 's> {
    #[allow(clippy::mutable_key_type)] // What a key knows of a template does not change.
    fn of(
        pairs: &[Pair<'s>],
        program: impl Fn(&Template) -> Option<&'p FrontProgram<'s>>,
    ) -> RenderPlan<'p, 's> {
        let mut cases = Vec::new();
        let mut numbers = HashMap::new();
        let mut of_pairs = Vec::with_capacity(pairs.len());
        for of_template in pairs.chunk_by(|a, b| std::ptr::eq(a.template, b.template)) {
            let program = of_template.first().and_then(|pair| program(pair.template));
            of_pairs.extend(of_template.iter().map(|pair| {
                let program = program?;
                let asked = InputKey::of(pair, program);
                let number = *numbers.entry(asked).or_insert_with_key(|asked| {
                    cases.push((asked.clone(), pair.case));
                    cases.len() - 1
                });
                Some((program, number))
            }));
        }
        RenderPlan { cases, of_pairs }
    }
}

/// A pair with its outcome, compared with what is expected.
#[derive(Debug)]
pub struct Compared<'s> {
    pub rendered: Rendered<'s>,
    /// The comparison with the snapshot; `None` if there is nothing to compare with, as
    /// for templates from outside the suite.
    pub comparison: Option<SnapshotStatus>,
    pub verdict: Verdict,
    /// The reference's outcome, if it is an engine that rendered the pair.
    pub reference: Option<Outcome>,
    /// The fingerprint of the engine's whole transcript, if the text was cut.
    observed: Option<Fingerprint>,
}

#[derive(Clone, Copy, Default)]
pub struct Expected<'x> {
    /// The accepted snapshots. Pairs from outside a suite, and engines other than the
    /// default ones, have none.
    pub accepted: Option<Acceptance<'x>>,
    /// The source of verdicts.
    pub truth: Truth<'x>,
    /// The pairs that the accepted snapshots and the records are about. Without it all of them.
    pub belonging: Option<&'x PairNames<'x>>,
    /// Whether nobody needs the prompts of pairs that are as expected. Then the thread
    /// that made a prompt frees it at once.
    pub needs_differences_only: bool,
}

/// The accepted snapshots of a suite.
#[derive(Clone, Copy)]
pub struct Acceptance<'x> {
    pub suite: &'x Suite,
    pub snapshots: &'x Snapshots,
}

/// The duration and the problems of a run.
#[derive(Debug, Default)]
pub struct RunInfo {
    /// The time from the first load to the last comparison.
    pub elapsed: Duration,
    /// Problems with the files of snapshots, besides the transcripts in them.
    pub problems: Vec<Problem>,
}

/// A case that a front has prepared, for all templates that it is rendered with.
struct CaseInput<'c> {
    case: &'c Case,
    /// None of it, but the words of a panic of the front.
    input: Result<PreparedCase<'c>, String>,
    fingerprint: OnceLock<Fingerprint>,
}

/// The threads cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the rendering threads: {0}")]
pub struct RunError(#[from] rayon::ThreadPoolBuildError);

impl<'r> Runner<'r> {
    /// A runner with `jobs` threads, or one thread for each core. The chosen engines
    /// render the templates of their dialects; the default engines render the others.
    pub fn new(
        engines: &'r Engines,
        chosen: &[&'r dyn Engine],
        jobs: Option<usize>,
    ) -> Result<Runner<'r>, RunError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.unwrap_or(0))
            // Then no render has to change to another stack.
            .stack_size(STACK)
            .thread_name(|index| format!("render-{index}"))
            .build()?;
        Ok(Runner {
            engines,
            chosen: chosen.to_vec(),
            pool,
            progress: None,
            loaded: None,
            index: None,
        })
    }

    /// Uses templates that are loaded already. The runner loads other templates itself,
    /// each time it renders.
    #[must_use]
    pub fn with_programs(mut self, programs: &'r Programs<'r>) -> Runner<'r> {
        self.loaded = Some(programs);
        self
    }

    /// Loads templates, each into the engine for its dialect.
    pub fn load<'s>(&self, templates: impl IntoIterator<Item = &'s Template>) -> Programs<'s>
    where
        'r: 's,
    {
        let templates: Vec<_> = templates.into_iter().collect();
        let engine = |dialect| Some(self.engine(dialect));
        self.pool.install(|| Programs::load(templates, engine))
    }

    /// Calls `progress` after each pair, from any thread.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn() + Send + Sync + 'static) -> Runner<'r> {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Tells that a part of the work is done.
    pub(crate) fn step(&self) {
        self.progress.iter().for_each(|progress| progress());
    }

    /// Compares templates with the published ones of an index, and not with those that come with Rolecall.
    #[must_use]
    pub fn with_index(mut self, index: Option<Arc<Index>>) -> Runner<'r> {
        self.index = index;
        self
    }

    /// The engine for a dialect: a chosen one, or the one of this process.
    pub fn engine(&self, dialect: Dialect) -> &'r dyn Engine {
        let mut chosen = self.chosen.iter().copied();
        let chosen = chosen.find(|engine| engine.dialect() == dialect);
        chosen.unwrap_or_else(|| self.engines.for_dialect(dialect))
    }

    /// The engine of this process for a dialect, unless another one is chosen.
    pub fn own_engine(&self, dialect: Dialect) -> Option<&'r dyn Engine> {
        let is_other = self.chosen.iter().any(|chosen| chosen.dialect() == dialect);
        (!is_other).then(|| self.engines.for_dialect(dialect))
    }

    /// Does work of one's own on the threads that render.
    pub fn on_its_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// The report cards of templates, in their order.
    pub fn examine(&self, templates: &[Template], tokenizers: &Tokenizers) -> Vec<Card> {
        self.examine_by(templates, tokenizers, &ContractChoice::default())
    }

    /// The same, judged by the chosen contracts: see [`Examiner::by`].
    pub fn examine_by(
        &self,
        templates: &[Template],
        tokenizers: &Tokenizers,
        choice: &ContractChoice,
    ) -> Vec<Card> {
        // At most one for each thread. One that has examined a template keeps the prepared probes for the next.
        let idle: Mutex<Vec<Examiner>> = Mutex::default();
        let examine = |template: &Template| {
            let engine = self.engine(template.dialect);
            let examiner = lock(&idle).pop();
            let examiner = examiner
                .unwrap_or_else(|| Examiner::by(choice.clone()).with_index(self.index.clone()));
            let card = examiner.examine(engine, template, tokenizers.of(template));
            lock(&idle).push(examiner);
            card
        };
        // Many models have the template of another one: the first is judged for all of them.
        let mut firsts: HashMap<String, usize> = HashMap::new();
        let numbered = templates.iter().enumerate();
        let firsts: Vec<usize> = numbered
            .map(|(at, template)| *firsts.entry(judged_of(template)).or_insert(at))
            .collect();
        #[allow(clippy::indexing_slicing)] // There is one for each template.
        let judge = |(at, template)| {
            let card = (firsts[at] == at).then(|| examine(template));
            self.step();
            card
        };
        let judged: Vec<Option<Card>> = self
            .pool
            .install(|| templates.par_iter().enumerate().map(judge).collect());
        let all = templates.iter().zip(&firsts);
        let index = self.index.as_deref().unwrap_or(nearest::builtin());
        #[allow(clippy::indexing_slicing)] // There is one for each template.
        let cards = all.filter_map(|(template, first)| match judged[*first].as_ref()? {
            // It names the file.
            card if card.syntax_error.is_some() => Some(examine(template)),
            card => {
                let mut card = card.of_twin(template);
                let base = rolecall_io::base::base_model(&template.path);
                card.nearest = card.skeleton.nearest(index, card.dialect, base.as_deref());
                Some(card)
            }
        });
        cards.collect()
    }

    /// A template's result for every probe, by the probes' names.
    pub fn probes(&self, template: &Template) -> BTreeMap<&'static str, Render> {
        let engine = self.engine(template.dialect);
        self.pool.install(|| card::probes(engine, template))
    }

    /// What applications with these fronts make of a template's conversations. None if none of them
    /// serves such templates.
    pub fn served(&self, template: &Template, fronts: &[Front]) -> Option<Served> {
        let engine = self.engine(template.dialect);
        let part = format!("what applications make of {}", template.name);
        let served = || guard::contained(&part, || card::served(engine, template, fronts));
        let served = self.pool.install(served)?;
        (!served.fronts.is_empty()).then_some(served)
    }

    /// Renders pairs, and returns all results, in order.
    pub fn render<'s>(&self, pairs: &[Pair<'s>]) -> Vec<Rendered<'s>>
    where
        'r: 's,
    {
        let mut all = Vec::new();
        self.render_each(pairs, |rendered| all.push(rendered));
        all
    }

    /// Renders pairs as [`Runner::render`] does, and passes each on, in order. It keeps
    /// only a few at a time, so that large results need not fit into memory together.
    pub fn render_each<'s>(&self, pairs: &[Pair<'s>], take: impl FnMut(Rendered<'s>)) -> Duration
    where
        'r: 's,
    {
        self.render_with(
            pairs,
            |rendered, _| rendered,
            |rendered| rendered.outcome.text().len(),
            take,
        )
    }

    /// Renders pairs, compares them with the accepted snapshots and gives verdicts. It passes each on,
    /// in order, and keeps only a few at a time.
    pub fn compare_each<'s>(
        &self,
        pairs: &[Pair<'s>],
        expected: &Expected<'_>,
        take: impl FnMut(Compared<'s>),
    ) -> RunInfo
    where
        'r: 's,
    {
        let others = match expected.truth {
            Truth::Engines { engines, .. } => self.pool.install(|| {
                Programs::load(templates_of(pairs), |dialect| {
                    let mut engines = engines.iter().copied();
                    engines.find(|engine| engine.dialect() == dialect)
                })
            }),
            Truth::Unknown | Truth::Records { .. } => Programs::default(),
        };
        let opened = expected
            .accepted
            .map(|Acceptance { suite, snapshots }| Opened::new(snapshots, suite, pairs));
        let judge = |rendered: Rendered<'s>, input: &CaseInput<'_>| {
            let pair = &rendered.pair;
            let belongs = expected
                .belonging
                .is_none_or(|all| all.contains(&pair.key()));
            let mut comparison = opened
                .as_ref()
                .filter(|_| belongs)
                .map(|opened| opened.compare(pair, &rendered.outcome));
            let mut reference = None;
            let verdict = match expected.truth {
                _ if matches!(rendered.outcome, Outcome::NotAsked { .. }) => {
                    Verdict::Unverified(Unverified::NotAsked)
                }
                Truth::Records {
                    records,
                    divergences,
                    snapshots,
                } if belongs => {
                    let input = || input.fingerprint();
                    match by_record(records, divergences, snapshots, &rendered, input) {
                        // Where nobody asked a reference, what was accepted is the reference for
                        // other engines, too.
                        Verdict::Unverified(Unverified::NeverAsked) if comparison.is_none() => {
                            let accepted = by_accepted(snapshots, divergences, &rendered);
                            accepted.unwrap_or_else(|| {
                                comparison = Some(SnapshotStatus::New);
                                Verdict::Unverified(Unverified::NeverAsked)
                            })
                        }
                        verdict => verdict,
                    }
                }
                Truth::Unknown | Truth::Records { .. } => Verdict::Unverified(Unverified::Outside),
                Truth::Engines { divergences, .. } => {
                    reference = others.of(pair.template).map(|other| input.outcome(other));
                    match &reference {
                        Some(expected) => by_outcome(divergences, &rendered, expected),
                        None => Verdict::Unverified(Unverified::Outside),
                    }
                }
            };
            let mut compared = Compared::new(rendered, comparison, verdict);
            compared.reference = reference;
            // Error messages are short, and reports may need them.
            let is_prompt = matches!(compared.rendered.outcome, Outcome::Rendered { .. });
            if expected.needs_differences_only && is_prompt && compared.is_as_expected() {
                compared.rendered.outcome.text_mut().map(std::mem::take);
            }
            compared
        };
        let elapsed = self.render_with(pairs, judge, Compared::size, take);
        RunInfo {
            elapsed,
            problems: opened.map_or_else(Vec::new, Opened::into_problems),
        }
    }

    fn render_with<'s, T: Send>(
        &self,
        pairs: &[Pair<'s>],
        finish: impl Fn(Rendered<'s>, &CaseInput<'_>) -> T + Sync,
        weigh: impl Fn(&T) -> usize + Sync,
        take: impl FnMut(T),
    ) -> Duration
    where
        'r: 's,
    {
        let start = Instant::now();
        let is_new = |template: &&Template| {
            self.loaded
                .is_none_or(|loaded| loaded.of(template).is_none())
        };
        let others = self.load(templates_of(pairs).into_iter().filter(is_new));
        let program = |template: &Template| {
            let loaded = self.loaded.and_then(|loaded| loaded.of(template));
            loaded.or_else(|| others.of(template))
        };
        let asking = RenderPlan::of(pairs, program);
        let inputs: Vec<CaseInput<'_>> = self.pool.install(|| {
            let cases = asking.cases.par_iter();
            let prepare = |(asked, case): &(InputKey<'s>, &'s Case)| CaseInput {
                case,
                input: guard::catch(|| PreparedCase::new(case, asked.front, &asked.model)),
                fingerprint: OnceLock::new(),
            };
            cases.map(prepare).collect()
        });
        let work = |index: usize| {
            let (program, number) = (*asking.of_pairs.get(index)?)?;
            let input = inputs.get(number)?;
            let rendered = Rendered {
                pair: *pairs.get(index)?,
                engine: program.engine.name(),
                outcome: input.outcome(program),
            };
            let part = format!("{}:{}", rendered.pair.template.name, rendered.pair.case.id);
            let finished = guard::contained(&part, || finish(rendered, input));
            self.step();
            finished
        };
        stream::ordered(&self.pool, pairs.len(), work, weigh, take);
        // Freeing the inputs takes as long as rendering a few hundred pairs.
        self.pool.install(|| inputs.into_par_iter().for_each(drop));
        start.elapsed()
    }
}

impl CaseInput<'_> {
    /// The outcome that users of a template get.
    fn outcome(&self, program: &FrontProgram<'_>) -> Outcome {
        let input = self.input.as_ref().map_err(Clone::clone);
        let outcome = input.and_then(|input| guard::catch(|| program.outcome(input)));
        outcome.unwrap_or_else(|message| Outcome::Crashed { message })
    }

    fn fingerprint(&self) -> Fingerprint {
        *self
            .fingerprint
            .get_or_init(|| Fingerprint::of_case(self.case))
    }
}

/// Takes a lock, even if a thread panicked while holding it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rendered<'_> {
    /// Cuts the text to its first `most` bytes, so that many results can be kept. A cut
    /// text ends with its length and its fingerprint, so that different texts stay
    /// different.
    pub fn shorten(&mut self, most: usize) {
        if let Some(text) = self.outcome.text_mut() {
            cut(text, most);
        }
    }
}

impl<'s> Compared<'s> {
    /// A rendered pair with its comparison and verdict.
    pub fn new(
        rendered: Rendered<'s>,
        comparison: Option<SnapshotStatus>,
        verdict: Verdict,
    ) -> Compared<'s> {
        Compared {
            rendered,
            comparison,
            verdict,
            reference: None,
            observed: None,
        }
    }

    /// The bytes of its texts.
    fn size(&self) -> usize {
        let accepted = match &self.comparison {
            Some(SnapshotStatus::Changed(accepted)) => accepted.len(),
            _ => 0,
        };
        let expected = match &self.verdict {
            Verdict::Differs(difference) => difference.transcript.as_ref().map_or(0, String::len),
            _ => 0,
        };
        let reference = self.reference.as_ref().map_or(0, |one| one.text().len());
        self.rendered.outcome.text().len() + accepted + expected + reference
    }

    /// Whether the pair is as expected.
    fn is_as_expected(&self) -> bool {
        matches!(self.comparison, None | Some(SnapshotStatus::Same))
            && !matches!(self.verdict, Verdict::Differs(_))
    }

    /// Whether nothing says what the pair should give: neither a snapshot nor a reference.
    pub fn is_uncompared(&self) -> bool {
        self.comparison.is_none()
            && matches!(&self.verdict, Verdict::Unverified(why) if why.is_expected())
    }

    /// The fingerprint of the engine's transcript.
    pub fn observed(&self) -> Fingerprint {
        self.observed
            .unwrap_or_else(|| Fingerprint::of(transcript::encode(&self.rendered.outcome)))
    }

    /// Cuts texts as [`Rendered::shorten`] does: to `most` bytes if the pair is as
    /// expected, otherwise to [`MOST_OF_DIFFERENCE`].
    pub fn shorten(&mut self, most: usize) {
        let is_as_expected = self.is_as_expected();
        let most = if is_as_expected {
            most
        } else {
            MOST_OF_DIFFERENCE
        };
        // Before the text is cut: divergences are listed by the fingerprint of the whole transcript.
        if !is_as_expected && self.rendered.outcome.text().len() > most {
            self.observed = Some(self.observed());
        }
        self.rendered.shorten(most);
        if let Some(SnapshotStatus::Changed(accepted)) = &mut self.comparison {
            cut(accepted, most);
        }
        if let Verdict::Differs(difference) = &mut self.verdict
            && let Some(expected) = &mut difference.transcript
        {
            cut(expected, most);
        }
    }
}

/// Cuts a text to its beginning, and says so in it.
fn cut(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let fingerprint = Fingerprint::of(&*text);
    let end = text.floor_char_boundary(most);
    let more = text.len() - end;
    text.truncate(end);
    let _ = write!(
        text,
        "… and {more} bytes more (SHA-256 of all: {fingerprint})"
    );
    // Free the unused memory.
    text.shrink_to_fit();
}

impl<'s> Programs<'s> {
    /// Loads templates with the engines for their dialects, on the current thread pool.
    fn load<'e: 's>(
        templates: Vec<&'s Template>,
        engine: impl Fn(Dialect) -> Option<&'e dyn Engine> + Sync,
    ) -> Programs<'s> {
        let by_template: HashMap<Key, &Template> = templates
            .into_iter()
            .map(|template| (key(template), template))
            .collect();
        let load_one = |(key, template): (Key, &'s Template)| {
            let engine = engine(template.dialect)?;
            let program = FrontProgram::load(engine, template);
            Some((key, program))
        };
        Programs {
            by_template: by_template.into_par_iter().filter_map(load_one).collect(),
        }
    }

    /// A template's program, with its engine.
    fn of(&self, template: &Template) -> Option<&FrontProgram<'s>> {
        self.by_template.get(&key(template))
    }
}

/// Everything of a template that its report card depends on, besides its name and its place.
fn judged_of(template: &Template) -> String {
    fn unnamed(template: &Template) -> Template {
        let named = template.named.iter();
        Template {
            name: TemplateName::new(""),
            path: PathBuf::new(),
            part: TemplatePart::Whole,
            about: None,
            origin: None,
            unreached: Vec::new(),
            named: named
                .map(|(name, one)| (name.clone(), unnamed(one)))
                .collect(),
            ..template.clone()
        }
    }
    format!("{:?}", unnamed(template))
}

/// The address of a template or a case. It is stable while the suite is borrowed. A lookup by the content would
/// read the whole source for every pair.
type Key = usize;

fn key<T>(item: &T) -> Key {
    std::ptr::from_ref(item).addr()
}

/// The rate per second.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)] // nobody counts that far
pub fn per_second(count: usize, elapsed: Duration) -> usize {
    // A few pairs may take less time than the clock can measure.
    (count as f64 / elapsed.as_secs_f64().max(1e-9)).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_front::engines::Engines;

    #[test]
    fn what_is_cut_still_tells_texts_apart() {
        let engines = Engines::default();
        let case = Case::from_messages(vec![serde_json::json!({})]);
        let cut = |source: &str| {
            let template = Template::from_source("t", Dialect::Jinja, source);
            let pair = Pair {
                template: &template,
                case: &case,
            };
            let runner = Runner::new(&engines, &[], Some(1)).unwrap();
            let mut cut = String::new();
            runner.compare_each(&[pair], &Expected::default(), |mut compared| {
                compared.shorten(1000);
                cut.push_str(compared.rendered.outcome.text());
            });
            cut
        };
        assert_eq!(cut("{{ 'é' * 500 }}"), "é".repeat(500));
        let long = cut("{{ 'é' * 50000 }}");
        assert!(long.starts_with(&"é".repeat(500)));
        assert!(
            long.contains("… and 99000 bytes more (SHA-256 of all: "),
            "{long}"
        );
        assert_ne!(long, cut("{{ 'é' * 49999 }}x{{ 'y' }}"));
    }
}
