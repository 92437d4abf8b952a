//! Mutants: whether the cases of a suite notice small changes of a template.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rolecall_core::{Case, Engine, Hits, Mutation, MutationKind, Site, Template};
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use crate::coverage::Unexplored;
use crate::effect::Effect;
use crate::generation::{Distinguisher, Effort, Spot};
use rolecall_suite::suite::Pair;

/// The most renders of the search for conversations, with a template and its mutants at all places
/// together. Of a template with very many places, each gets fewer.
const MOST_RENDERS: usize = 60_000;

/// The most bytes of source that the mutants of a template have together. Each mutant is compiled whole
/// and rendered, so without a limit the time would grow with the square of a template's size. Of larger
/// templates mutants from all places are tried, as many as fit.
const MOST_SOURCE: usize = 64 << 20;

#[derive(Debug)]
pub struct TemplateMutants<'s> {
    pub template: &'s Template,
    /// How many cases were rendered with it.
    pub cases: usize,
    /// Its mutants, in the order of their places. Those that do not compile are not among them.
    pub mutants: Vec<Mutant>,
    /// How many mutants were not made, because the template has too many.
    pub left_out: usize,
    /// Conversations that the search has made: each tells mutants apart that no case notices.
    pub conversations: Vec<Case>,
    /// How many conversations the search tried at each place with such mutants.
    pub tries: usize,
}

/// A template with one small change.
#[derive(Debug)]
pub struct Mutant {
    pub mutation: Mutation,
    /// Whether anything notices it.
    pub notice: Notice,
    /// How many cases reach the place of the change with the template itself. None if no place that
    /// coverage knows is around it.
    pub reached_by: Option<usize>,
}

/// What notices a mutant: has another effect with it than with the template itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// This case: `family/name`.
    Case(String),
    /// No case, but a conversation: its index among [`TemplateMutants::conversations`].
    Conversation(usize),
    /// No case, and none of the conversations that the search tried.
    Nothing,
}

/// A pair with the effect of the template itself.
struct Original<'p> {
    pair: Pair<'p>,
    input: PreparedCase<'p>,
    effect: Effect,
    hits: Option<Hits>,
    /// Whether it is the first of the cases that reach the same places.
    is_first: bool,
}

impl<'s> TemplateMutants<'s> {
    /// Makes the mutants of a template, and renders pairs of it with each until an effect differs. For
    /// mutants that are left, it searches for conversations.
    ///
    /// # Errors
    ///
    /// The engine refuses the template, or knows no changes of its templates.
    pub fn test<'p>(
        engine: &dyn Engine,
        template: &'s Template,
        pairs: impl IntoIterator<Item = Pair<'p>>,
        effort: Effort,
    ) -> Result<TemplateMutants<'s>, Unexplored> {
        let program = FrontProgram::load(engine, template);
        if let Some(refusal) = program.without_front().refusal() {
            return Err(Unexplored::Refused(refusal.clone()));
        }
        let unknown = || Unexplored::Unknown(engine.name().to_owned(), "make mutants of it");
        let mutations = engine.mutations(template).ok_or_else(unknown)?;
        let sites = program.without_front().sites().unwrap_or_default();
        let (originals, has_marks) = originals(&program, pairs);
        let all = mutations.len();
        let most = MOST_SOURCE / template.source.len().max(1);
        let every = all.div_ceil(most.max(1)).max(1);
        let mutations: Vec<Mutation> = mutations.into_iter().step_by(every).collect();
        let left_out = all - mutations.len();
        let mutants = mutations.into_par_iter().filter_map(|mutation| {
            let mutant = mutated(template, &mutation)?;
            let mutant = FrontProgram::load(engine, &mutant);
            if mutant.without_front().refusal().is_some() {
                return None;
            }
            let places = Places::of(&mutation, &sites);
            // What no case runs, no case notices. White space and statements act on what is next to
            // them, and a front may treat the mutant in another way.
            let is_local = !matches!(
                mutation.kind,
                MutationKind::WhiteSpace | MutationKind::Statement
            ) && mutant.model == program.model
                && !Front::of(template).is_served();
            let may_notice = |original: &&Original<'_>| {
                !is_local || places.0.around.is_none() || original.may_reach(places.0.around)
            };
            let ordered = || places.in_order(&originals).filter(may_notice);
            let by_outcome = ordered().find(|original| {
                let (case, input) = (original.pair.case, &original.input);
                let effect = &original.effect;
                !effect.has_same_outcome(&mutant, &program, input, case)
            });
            let by_marks = || {
                let mut marking = ordered().filter(|_| has_marks);
                marking.find(|original| !original.effect.has_same_marks(&mutant, &original.input))
            };
            let noticing = by_outcome.or_else(by_marks);
            let noticing = noticing.map(|original| original.pair.case.id.to_string());
            Some(Mutant {
                notice: noticing.map_or(Notice::Nothing, Notice::Case),
                reached_by: places.reached_by(&originals),
                mutation,
            })
        });
        let mut mutants = TemplateMutants {
            template,
            mutants: mutants.collect(),
            cases: originals.len(),
            left_out,
            conversations: Vec::new(),
            tries: effort.tries,
        };
        if effort.tries > 0 && mutants.noticed() < mutants.mutants.len() {
            let spots = mutants.spots(&sites);
            let of_one_try: usize = spots.values().map(|mutants| 1 + mutants.len()).sum();
            let effort = Effort {
                tries: effort.tries.min((MOST_RENDERS / of_one_try.max(1)).max(1)),
                ..effort
            };
            mutants.tries = effort.tries;
            let own = originals
                .iter()
                .filter(|original| original.pair.case.front.is_none());
            let own = own.filter_map(|own| Some((own.pair.case.clone(), own.hits.clone()?)));
            let search = Distinguisher::new(&program, &sites, own.collect(), effort, has_marks);
            mutants.search(&search, engine, spots);
        }
        Ok(mutants)
    }

    /// The places of the mutants that no case notices, each with the numbers of its mutants.
    fn spots(&self, sites: &[Site]) -> BTreeMap<Spot, Vec<usize>> {
        let mut spots: BTreeMap<Spot, Vec<usize>> = BTreeMap::new();
        for (at, mutant) in self.mutants.iter().enumerate() {
            if mutant.notice == Notice::Nothing {
                let spot = Places::of(&mutant.mutation, sites).0;
                spots.entry(spot).or_default().push(at);
            }
        }
        spots
    }

    /// Searches for conversations that tell apart what no case notices.
    fn search(
        &mut self,
        search: &Distinguisher<'_>,
        engine: &dyn Engine,
        spots: BTreeMap<Spot, Vec<usize>>,
    ) {
        let template = self.template;
        let of = |mutants: &[Mutant], numbers: &[usize]| -> Vec<Template> {
            let mutants = numbers.iter().filter_map(|at| mutants.get(*at));
            let mutated = mutants.filter_map(|mutant| mutated(template, &mutant.mutation));
            mutated.collect()
        };
        let spots: Vec<(Spot, Vec<usize>)> = spots.into_iter().collect();
        let found = spots.par_iter().map(|(spot, numbers)| {
            let templates = of(&self.mutants, numbers);
            let load = |template| FrontProgram::load(engine, template);
            let programs: Vec<_> = templates.iter().map(load).collect();
            search.found(*spot, &programs)
        });
        let found: Vec<Vec<Option<Case>>> = found.collect();
        let numbers = spots
            .iter()
            .flat_map(|(_, numbers)| numbers.iter().copied());
        let mut found: Vec<(usize, Case)> = numbers
            .zip(found.into_iter().flatten())
            .filter_map(|(number, case)| Some((number, case?)))
            .collect();
        found.sort_by_key(|(number, _)| *number);
        for (number, case) in found {
            let mutant = of(&self.mutants, &[number]);
            let Some(program) = mutant
                .first()
                .map(|mutant| FrontProgram::load(engine, mutant))
            else {
                continue;
            };
            // One conversation often tells several apart.
            let known = self.conversations.iter();
            let known = known
                .enumerate()
                .find(|(_, case)| search.is_distinguished_by(case, &program));
            let index = known.map_or(self.conversations.len(), |(index, _)| index);
            if index == self.conversations.len() {
                self.conversations.push(case);
            }
            if let Some(mutant) = self.mutants.get_mut(number) {
                mutant.notice = Notice::Conversation(index);
            }
        }
    }

    /// How many of the mutants some case notices.
    pub fn noticed(&self) -> usize {
        let noticed = self.mutants.iter();
        noticed.filter(|mutant| mutant.notice.is_by_case()).count()
    }

    /// How many of the mutants no conversation tells apart from the template, as far as the search
    /// tried. Without a search none are known.
    pub fn alike(&self) -> usize {
        if self.tries == 0 {
            return 0;
        }
        let alike = self.mutants.iter();
        alike
            .filter(|mutant| mutant.notice == Notice::Nothing)
            .count()
    }

    /// Whether the cases notice at least this share of the mutants, in per cent. Those that no
    /// conversation tells apart do not count.
    pub fn is_at_least(&self, percent: usize) -> bool {
        self.noticed() * 100 >= percent * (self.mutants.len() - self.alike())
    }

    /// The mutants that no case notices.
    pub fn unnoticed(&self) -> impl Iterator<Item = &Mutant> {
        let mutants = self.mutants.iter();
        mutants.filter(|mutant| !mutant.notice.is_by_case())
    }
}

impl Notice {
    /// Whether a case notices the mutant.
    pub fn is_by_case(&self) -> bool {
        matches!(self, Notice::Case(_))
    }
}

fn mutated(template: &Template, mutation: &Mutation) -> Option<Template> {
    Some(Template {
        source: mutation.applied_to(&template.source)?,
        ..template.clone()
    })
}

/// Renders pairs with the template itself. The second value says whether the template marks the
/// model's own text in any of them.
fn originals<'p>(
    program: &FrontProgram<'_>,
    pairs: impl IntoIterator<Item = Pair<'p>>,
) -> (Vec<Original<'p>>, bool) {
    let mut originals: Vec<Original<'p>> = Vec::new();
    for pair in pairs {
        let model = program.model.with(pair.case, pair.front());
        let input = PreparedCase::new(pair.case, pair.front(), &model);
        let (outcome, hits) = program.covered(&input);
        let is_first = originals.iter().all(|original| original.hits != hits);
        let effect = Effect::of(program, &input, outcome, true);
        originals.push(Original {
            pair,
            input,
            effect,
            hits,
            is_first,
        });
    }
    let has_marks = originals.iter().any(|original| original.effect.has_marks());
    (originals, has_marks)
}

impl Original<'_> {
    /// Whether it runs a site. A render that fails there does not report it.
    fn may_reach(&self, site: Option<usize>) -> bool {
        self.hits.is_none() || !self.effect.is_prompt() || self.reaches(site)
    }

    fn reaches(&self, site: Option<usize>) -> bool {
        let hits = self.hits.as_ref().zip(site);
        hits.is_some_and(|(hits, site)| hits.has_any(site))
    }
}

/// The places that coverage knows near a change. In the order of the source, a change in plain text
/// is most often reached with the place before it, or with the next one.
struct Places(Spot);

impl Places {
    fn of(mutation: &Mutation, sites: &[Site]) -> Places {
        let span = mutation.span();
        let numbered = || sites.iter().enumerate();
        let holds = |site: &Site| site.span.start <= span.start && span.end <= site.span.end;
        let around = numbered().filter(|(_, site)| holds(site));
        let before = numbered().filter(|(_, site)| site.span.start <= span.start);
        let after = numbered().filter(|(_, site)| site.span.start >= span.end);
        let number = |(number, _): (usize, &Site)| number;
        Places(Spot {
            around: around.min_by_key(|(_, site)| site.span.len()).map(number),
            before: before.max_by_key(|(_, site)| site.span.start).map(number),
            after: after.min_by_key(|(_, site)| site.span.start).map(number),
        })
    }

    /// The cases in the order in which they most likely notice the change: those that reach its
    /// place, and of cases that reach the same places one at first.
    fn in_order<'o, 'p>(
        &self,
        originals: &'o [Original<'p>],
    ) -> impl Iterator<Item = &'o Original<'p>> {
        let mut ordered: Vec<&Original<'p>> = originals.iter().collect();
        ordered.sort_by_key(|original| {
            let reached = match self.0.around {
                Some(around) => 2 * usize::from(original.reaches(Some(around))),
                None => {
                    usize::from(original.reaches(self.0.before))
                        + usize::from(original.reaches(self.0.after))
                }
            };
            (2 - reached, !original.is_first)
        });
        ordered.into_iter()
    }

    /// How many cases reach the innermost place around the change.
    fn reached_by(&self, originals: &[Original<'_>]) -> Option<usize> {
        let around = Some(self.0.around?);
        let reaching = originals.iter();
        Some(reaching.filter(|original| original.reaches(around)).count())
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Case, Dialect, MutationKind};
    use rolecall_front::engines::Engines;
    use serde_json::json;

    use super::*;

    fn case(name: &str, role: &str) -> Case {
        let mut case = Case::from_messages(vec![json!({"role": role, "content": "x"})]);
        case.id = format!("family/{name}").parse().unwrap();
        case
    }

    const EFFORT: Effort = Effort {
        seed: Effort::SEED,
        tries: 400,
    };

    /// Looks at the mutants of a template, when each of these roles has a case.
    fn examined<T>(
        source: &str,
        roles: &[&str],
        tries: usize,
        look: impl FnOnce(&TemplateMutants<'_>) -> T,
    ) -> T {
        let template = Template::from_source("t", Dialect::Jinja, source);
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let cases: Vec<Case> = roles.iter().map(|role| case(role, role)).collect();
        let pairs = cases.iter().map(|case| Pair {
            template: &template,
            case,
        });
        let effort = Effort { tries, ..EFFORT };
        look(&TemplateMutants::test(engine, &template, pairs, effort).unwrap())
    }

    /// The first mutant whose source has a text.
    fn mutant<'m>(mutants: &'m TemplateMutants<'_>, text: &str) -> &'m Mutant {
        let mut all = mutants.mutants.iter();
        let source = &mutants.template.source;
        let has_text = |mutant: &&Mutant| {
            let mutated = mutant.mutation.applied_to(source);
            mutated.is_some_and(|mutated| mutated.contains(text))
        };
        all.find(has_text).unwrap()
    }

    const SOURCE: &str = "{% if messages[0].role == 'tool' %}{{ tools }}{% endif %}";

    #[test]
    fn without_the_case_that_reaches_its_place_a_mutant_is_not_noticed() {
        let of = |roles: &[&str]| {
            examined(SOURCE, roles, 0, |mutants| {
                let print = mutant(mutants, "{{ '' }}");
                (print.notice.clone(), print.reached_by)
            })
        };
        let tool = Notice::Case("family/tool".to_owned());
        assert_eq!(of(&["user", "tool"]), (tool, Some(1)));
        assert_eq!(of(&["user"]), (Notice::Nothing, Some(0)));
    }

    #[test]
    fn a_case_that_fails_at_a_place_may_notice_its_mutant() {
        // Without its key, the loop has no turns instead of a number.
        let source = "{% for part in {'a': 1}['a'] %}{{ part }}{% endfor %}";
        examined(source, &["user"], 0, |mutants| {
            let without_key = mutant(mutants, "['']");
            assert_eq!(without_key.reached_by, Some(0));
            assert!(without_key.notice.is_by_case(), "{:?}", without_key.notice);
        });
    }

    #[test]
    fn a_missing_case_is_found_and_what_nothing_can_notice_is_counted_apart() {
        // A text never has an upper-case letter after `lower`.
        let source = "{% if messages[0].role == 'tool' %}{{ tools }}{% endif %}\
                      {{ messages[0].content | lower | replace('X', '') }}";
        examined(source, &["user"], EFFORT.tries, |mutants| {
            let Notice::Conversation(index) = mutant(mutants, "{{ '' }}").notice else {
                panic!("the search finds a result of a tool");
            };
            let found = &mutants.conversations[index];
            assert_eq!(found.messages[0]["role"], "tool");
            let replaced = mutant(mutants, "| lower }}");
            assert_eq!(replaced.notice, Notice::Nothing);
            assert!(mutants.alike() > 0 && mutants.noticed() > 0);
            assert!(!mutants.is_at_least(100));
        });
        examined(source, &["user", "tool"], EFFORT.tries, |mutants| {
            let missing = mutants.mutants.len() - mutants.noticed() - mutants.alike();
            assert_eq!(missing, mutants.unnoticed().count() - mutants.alike());
        });
    }

    #[test]
    fn the_marks_of_the_models_own_text_count() {
        let source = "{% for m in messages %}{% if m.role == 'assistant' %}\
                      {% generation %}{{ m.content }}{% endgeneration %}\
                      {% else %}{{ m.content }}{% endif %}{% endfor %}";
        for (roles, is_noticed) in [(&["user", "assistant"][..], true), (&[], false)] {
            examined(source, roles, 0, |mutants| {
                let swapped = mutant(mutants, "m.role != 'assistant'");
                assert_eq!(swapped.notice.is_by_case(), is_noticed);
            });
        }
    }

    #[test]
    fn mutants_that_do_not_compile_are_left_out() {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let refused = Template::from_source("t", Dialect::Jinja, "{% if %}");
        let refused = TemplateMutants::test(engine, &refused, [], EFFORT);
        assert!(matches!(refused, Err(Unexplored::Refused(_))));
        // In a call, the sign means something else, and no other sign can be there.
        let template = Template::from_source("t", Dialect::Jinja, "{{ 2 * 3 }}{{ dict(*a) }}");
        let listed = engine.mutations(&template).unwrap();
        let made = TemplateMutants::test(engine, &template, [], EFFORT).unwrap();
        let signs = |kind: MutationKind| usize::from(kind == MutationKind::Arithmetic);
        let of_listed: usize = listed.iter().map(|listed| signs(listed.kind)).sum();
        let mutants = made.mutants.iter();
        let of_made: usize = mutants.map(|mutant| signs(mutant.mutation.kind)).sum();
        assert_eq!((of_listed, of_made), (2, 1));
        assert_eq!(made.noticed(), 0);
        assert!(made.is_at_least(0));
        assert_eq!(made.alike(), made.mutants.len());
    }

    #[test]
    fn of_a_large_template_some_mutants_in_all_places_are_tried() {
        let conditions = "{% if messages[0].role == 'tool' %}x{% endif %}".repeat(6);
        let all = examined(&conditions, &["user"], 0, |mutants| {
            assert_eq!(mutants.left_out, 0);
            mutants.mutants.len()
        });
        let source = format!("{conditions}{}", "x".repeat(MOST_SOURCE / 8));
        examined(&source, &["user"], 0, |mutants| {
            let tried = mutants.mutants.len();
            assert!(
                tried <= 8 && tried + mutants.left_out >= all,
                "{tried} of {all}"
            );
            let places = mutants.mutants.iter().map(|one| one.mutation.span().start);
            assert!(places.max() > Some(conditions.len() / 2));
        });
    }
}
