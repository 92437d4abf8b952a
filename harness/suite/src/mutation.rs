//! Mutants: whether the cases of a suite notice small changes of a template.

use rayon::prelude::*;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_model::{Engine, Hits, Mutation, Outcome, Site, Template};

use crate::suite::Pair;

/// A template with its mutants.
#[derive(Debug)]
pub struct TemplateMutants<'s> {
    /// The template.
    pub template: &'s Template,
    /// How many cases were rendered with it.
    pub cases: usize,
    /// Its mutants, in the order of their places. Those that do not compile are not among them.
    pub mutants: Vec<Mutant>,
}

/// A template with one small change.
#[derive(Debug)]
pub struct Mutant {
    /// The change.
    pub mutation: Mutation,
    /// A case with another outcome than with the template itself: `family/name`. None if all cases
    /// have the same outcomes.
    pub noticed_by: Option<String>,
    /// How many cases reach the place of the change with the template itself. None if no place that
    /// coverage knows is around it.
    pub reached_by: Option<usize>,
}

/// The reason why there are no mutants of a template.
#[derive(Debug, thiserror::Error)]
pub enum NoMutants {
    /// The engine refuses the template.
    #[error("the engine refuses the template: {}", .0.text())]
    Refused(Outcome),
    /// The engine knows no changes of its templates.
    #[error("the engine {0} cannot make mutants of it")]
    Unknown(String),
}

impl NoMutants {
    /// The line of the template that the engine refuses, if it names one.
    pub fn line(&self) -> Option<usize> {
        match self {
            NoMutants::Refused(Outcome::Failed { line, .. }) => *line,
            _ => None,
        }
    }
}

/// A pair with the outcome of the template itself.
struct Original<'p> {
    pair: Pair<'p>,
    input: PreparedCase<'p>,
    outcome: Outcome,
    hits: Option<Hits>,
    /// Whether it is the first of the cases that reach the same places.
    is_first: bool,
}

impl<'s> TemplateMutants<'s> {
    /// Makes the mutants of a template, and renders pairs of it with each until an outcome differs.
    ///
    /// # Errors
    ///
    /// The engine refuses the template, or knows no changes of its templates.
    pub fn of<'p>(
        engine: &dyn Engine,
        template: &'s Template,
        pairs: impl IntoIterator<Item = Pair<'p>>,
    ) -> Result<TemplateMutants<'s>, NoMutants> {
        let program = FrontProgram::load(engine, template);
        if let Some(refusal) = program.without_front().refusal() {
            return Err(NoMutants::Refused(refusal.clone()));
        }
        let unknown = || NoMutants::Unknown(engine.name().to_owned());
        let mutations = engine.mutations(template).ok_or_else(unknown)?;
        let sites = program.without_front().sites().unwrap_or_default();
        let originals = originals(&program, pairs);
        let mutants = mutations.into_par_iter().filter_map(|mutation| {
            let mutant = Template {
                source: mutation.applied_to(&template.source)?,
                ..template.clone()
            };
            let mutant = FrontProgram::load(engine, &mutant);
            if mutant.without_front().refusal().is_some() {
                return None;
            }
            let places = Places::of(&mutation, &sites);
            let noticing = places.in_order(&originals).find(|original| {
                let outcome = original.outcome_of(&mutant, &program);
                !is_same(&outcome, &original.outcome)
            });
            Some(Mutant {
                noticed_by: noticing.map(|original| original.pair.case.id.to_string()),
                reached_by: places.reached_by(&originals),
                mutation,
            })
        });
        Ok(TemplateMutants {
            template,
            mutants: mutants.collect(),
            cases: originals.len(),
        })
    }

    /// How many of the mutants some case notices.
    pub fn noticed(&self) -> usize {
        let noticed = self.mutants.iter();
        noticed.filter(|mutant| mutant.noticed_by.is_some()).count()
    }

    /// The mutants that no case notices.
    pub fn unnoticed(&self) -> impl Iterator<Item = &Mutant> {
        let mutants = self.mutants.iter();
        mutants.filter(|mutant| mutant.noticed_by.is_none())
    }

    /// Whether at least this share is noticed, in per cent.
    pub fn is_at_least(&self, percent: usize) -> bool {
        self.noticed() * 100 >= percent * self.mutants.len()
    }
}

/// Renders pairs with the template itself.
fn originals<'p>(
    program: &FrontProgram<'_>,
    pairs: impl IntoIterator<Item = Pair<'p>>,
) -> Vec<Original<'p>> {
    let mut originals: Vec<Original<'p>> = Vec::new();
    for pair in pairs {
        let model = program.model.with(pair.case);
        let input = PreparedCase::new(pair.case, pair.front(), &model);
        let (outcome, hits) = program.covered(&input);
        let is_first = originals.iter().all(|original| original.hits != hits);
        originals.push(Original {
            pair,
            input,
            outcome,
            hits,
            is_first,
        });
    }
    originals
}

impl Original<'_> {
    /// The outcome of the same case with a mutant.
    fn outcome_of(&self, mutant: &FrontProgram<'_>, original: &FrontProgram<'_>) -> Outcome {
        let model = mutant.model.with(self.pair.case);
        if model == original.model.with(self.pair.case) {
            return mutant.outcome(&self.input);
        }
        // The front may treat the mutant in another way.
        let input = PreparedCase::new(self.pair.case, self.input.front, &model);
        mutant.outcome(&input)
    }

    fn reaches(&self, site: Option<usize>) -> bool {
        let hits = self.hits.as_ref().zip(site);
        hits.is_some_and(|(hits, site)| hits.has_any(site))
    }
}

/// Whether two outcomes are the same for users: lines of the template may differ.
fn is_same(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (
            Outcome::Failed { stage, message, .. },
            Outcome::Failed {
                stage: other_stage,
                message: other_message,
                ..
            },
        ) => stage == other_stage && message == other_message,
        _ => one == other,
    }
}

/// The places that coverage knows near a change.
struct Places {
    /// The innermost place around it.
    around: Option<usize>,
    /// The last place that begins before it. In the order of the source, a change in plain text is
    /// most often reached with it, or with the next one.
    before: Option<usize>,
    after: Option<usize>,
}

impl Places {
    fn of(mutation: &Mutation, sites: &[Site]) -> Places {
        let span = mutation.span();
        let numbered = || sites.iter().enumerate();
        let holds = |site: &Site| site.span.start <= span.start && span.end <= site.span.end;
        let around = numbered().filter(|(_, site)| holds(site));
        let before = numbered().filter(|(_, site)| site.span.start <= span.start);
        let after = numbered().filter(|(_, site)| site.span.start >= span.end);
        let number = |(number, _): (usize, &Site)| number;
        Places {
            around: around.min_by_key(|(_, site)| site.span.len()).map(number),
            before: before.max_by_key(|(_, site)| site.span.start).map(number),
            after: after.min_by_key(|(_, site)| site.span.start).map(number),
        }
    }

    /// The cases in the order in which they most likely notice the change: those that reach its
    /// place, and of cases that reach the same places one at first.
    fn in_order<'o, 'p>(
        &self,
        originals: &'o [Original<'p>],
    ) -> impl Iterator<Item = &'o Original<'p>> {
        let mut ordered: Vec<&Original<'p>> = originals.iter().collect();
        ordered.sort_by_key(|original| {
            let reached = match self.around {
                Some(around) => 2 * usize::from(original.reaches(Some(around))),
                None => {
                    usize::from(original.reaches(self.before))
                        + usize::from(original.reaches(self.after))
                }
            };
            (2 - reached, !original.is_first)
        });
        ordered.into_iter()
    }

    /// How many cases reach the innermost place around the change.
    fn reached_by(&self, originals: &[Original<'_>]) -> Option<usize> {
        let around = Some(self.around?);
        let reaching = originals.iter();
        Some(reaching.filter(|original| original.reaches(around)).count())
    }
}

#[cfg(test)]
mod tests {
    use rolecall_front::engines::Engines;
    use rolecall_model::{Case, Dialect, MutationKind, Stage};
    use serde_json::json;

    use super::*;

    fn case(name: &str, role: &str) -> Case {
        let mut case = Case::from_messages(vec![json!({"role": role, "content": "x"})]);
        case.id = format!("family/{name}").parse().unwrap();
        case
    }

    /// The mutants of a template, each with the case that notices it.
    fn mutants(source: &str, roles: &[&str]) -> Vec<(String, Option<String>, Option<usize>)> {
        let template = Template::from_source("t", Dialect::Jinja, source);
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja).unwrap();
        let cases: Vec<Case> = roles.iter().map(|role| case(role, role)).collect();
        let pairs = cases.iter().map(|case| Pair {
            template: &template,
            case,
        });
        let mutants = TemplateMutants::of(engine, &template, pairs).unwrap();
        let all = mutants.mutants.iter().map(|mutant| {
            let mutated = mutant.mutation.applied_to(source).unwrap();
            (mutated, mutant.noticed_by.clone(), mutant.reached_by)
        });
        all.collect()
    }

    const SOURCE: &str = "{% if messages[0].role == 'tool' %}{{ tools }}{% endif %}";

    #[test]
    fn without_the_case_that_reaches_its_place_a_mutant_is_not_noticed() {
        let of = |roles: &[&str]| {
            let all = mutants(SOURCE, roles).into_iter();
            let mut print = all.filter(|(mutated, ..)| mutated.contains("{{ '' }}"));
            print.next().unwrap()
        };
        let (_, noticed_by, reached_by) = of(&["user", "tool"]);
        assert_eq!(noticed_by.as_deref(), Some("family/tool"));
        assert_eq!(reached_by, Some(1));
        let (_, noticed_by, reached_by) = of(&["user"]);
        assert_eq!((noticed_by, reached_by), (None, Some(0)));
    }

    #[test]
    fn mutants_that_do_not_compile_are_left_out() {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja).unwrap();
        let refused = Template::from_source("t", Dialect::Jinja, "{% if %}");
        let refused = TemplateMutants::of(engine, &refused, []);
        assert!(matches!(refused, Err(NoMutants::Refused(_))));
        // In a call, the sign means something else, and no other sign can stand there.
        let template = Template::from_source("t", Dialect::Jinja, "{{ 2 * 3 }}{{ dict(*a) }}");
        let listed = engine.mutations(&template).unwrap();
        let made = TemplateMutants::of(engine, &template, []).unwrap();
        let signs = |kind: MutationKind| usize::from(kind == MutationKind::Arithmetic);
        let of_listed: usize = listed.iter().map(|listed| signs(listed.kind)).sum();
        let mutants = made.mutants.iter();
        let of_made: usize = mutants.map(|mutant| signs(mutant.mutation.kind)).sum();
        assert_eq!((of_listed, of_made), (2, 1));
        assert_eq!(made.noticed(), 0);
        assert!(made.is_at_least(0) && !made.is_at_least(1));
    }

    #[test]
    fn a_line_of_a_refusal_is_no_difference() {
        let failed = |message: &str, line| Outcome::Failed {
            stage: Stage::Render,
            message: message.to_owned(),
            line: Some(line),
        };
        assert!(is_same(&failed("a", 1), &failed("a", 2)));
        assert!(!is_same(&failed("a", 1), &failed("b", 1)));
    }

    #[test]
    fn an_engine_that_knows_no_changes_says_so() {
        let engines = Engines::default();
        let plain = engines.by_name("minijinja").unwrap();
        let template = Template::from_source("t", Dialect::Jinja, "{{ 1 }}");
        let unknown = TemplateMutants::of(plain, &template, []);
        assert!(matches!(unknown, Err(NoMutants::Unknown(name)) if name == "minijinja"));
    }
}
