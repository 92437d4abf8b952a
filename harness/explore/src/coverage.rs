//! Coverage: which places of a template the cases of a suite reach.

use rolecall_core::{Branch, Engine, Hits, Outcome, Site, SiteKind, Template};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use rolecall_suite::suite::Pair;

/// Which places of a template some cases reach.
#[derive(Debug, Clone)]
pub struct TemplateCoverage<'s> {
    pub template: &'s Template,
    /// Its places. A place comes before the places within it.
    pub sites: Vec<CoveredSite>,
    /// How many cases were rendered with it.
    pub cases: usize,
    /// The names of those that ran its code: `family/name`.
    pub names: Vec<String>,
    /// How many of them ran no code of this template: the front refused the case, or chose another
    /// template of the model.
    pub not_run: usize,
}

/// A place of a template, and the cases that reach it.
#[derive(Debug, Clone)]
pub struct CoveredSite {
    pub site: Site,
    /// Its branches, in a fixed order.
    pub branches: Vec<CoveredBranch>,
    /// How many cases reach it in any way.
    pub cases: usize,
}

/// A branch in which a place can be reached, and the cases that do.
#[derive(Debug, Clone)]
pub struct CoveredBranch {
    pub branch: Branch,
    /// How many cases reach the place in this branch.
    pub cases: usize,
    /// Which ones, in order: each as its index among [`TemplateCoverage::names`].
    pub by: Vec<u32>,
    /// Why no case need take it. It does not count while no case does.
    pub excuse: Option<Excuse>,
}

/// Why no case need take a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excuse {
    /// No render can: the template itself shows it.
    Unreachable,
    /// The template's sidecar says why, in these words.
    Explained(String),
}

/// The reason why an engine tells nothing about a template.
#[derive(Debug, thiserror::Error)]
pub enum Unexplored {
    /// The engine refuses the template.
    #[error("the engine refuses the template: {}", .0.text())]
    Refused(Outcome),
    /// The engine has no such answer. It is named with what it cannot do.
    #[error("the engine {0} cannot {1}")]
    Unknown(String, &'static str),
}

impl Unexplored {
    /// The line of the template that the engine refuses, if it names one.
    pub fn line(&self) -> Option<usize> {
        match self {
            Unexplored::Refused(Outcome::Failed { line, .. }) => *line,
            _ => None,
        }
    }
}

/// How many branches there are, and how many of them some case takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BranchCount {
    /// The branches that some case takes.
    pub reached: usize,
    pub all: usize,
}

impl<'s> TemplateCoverage<'s> {
    /// Renders pairs of one template, and notes what each reaches. Calls `finished` for each outcome.
    ///
    /// # Errors
    ///
    /// The engine refuses the template, or cannot tell what a render reaches.
    pub fn measure<'p>(
        engine: &dyn Engine,
        template: &'s Template,
        pairs: impl IntoIterator<Item = Pair<'p>>,
        mut finished: impl FnMut(&Pair<'p>, &Outcome),
    ) -> Result<TemplateCoverage<'s>, Unexplored> {
        let program = FrontProgram::load(engine, template);
        if let Some(refusal) = program.without_front().refusal() {
            return Err(Unexplored::Refused(refusal.clone()));
        }
        let sites = program.without_front().sites();
        let sites = sites.ok_or_else(|| {
            Unexplored::Unknown(engine.name().to_owned(), "tell what a render reaches")
        })?;
        let mut coverage = TemplateCoverage {
            template,
            sites: sites
                .into_iter()
                .map(|site| CoveredSite::of(site, template))
                .collect(),
            cases: 0,
            names: Vec::new(),
            not_run: 0,
        };
        for pair in pairs {
            let model = program.model.with(pair.case, pair.front());
            let input = PreparedCase::new(pair.case, pair.front(), &model);
            let (outcome, hits) = program.covered(&input);
            coverage.cases += 1;
            match hits {
                Some(hits) => coverage.add(&pair.case.id.to_string(), &hits),
                None => coverage.not_run += 1,
            }
            finished(&pair, &outcome);
        }
        Ok(coverage)
    }

    pub(crate) fn add(&mut self, case: &str, hits: &Hits) {
        // More cases than that have no numbers, and no machine can hold them.
        let index = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(case.to_owned());
        for (at, covered) in self.sites.iter_mut().enumerate() {
            if !hits.has_any(at) {
                continue;
            }
            covered.cases += 1;
            for branch in &mut covered.branches {
                if hits.has(at, branch.branch) {
                    branch.cases += 1;
                    branch.by.push(index);
                }
            }
        }
    }

    /// The names of the first cases that reach a place in a branch.
    pub fn first(&self, branch: &CoveredBranch, most: usize) -> Vec<&str> {
        let names = branch.by.iter().take(most);
        let names = names.filter_map(|index| self.names.get(*index as usize));
        names.map(String::as_str).collect()
    }

    /// The branches of the places of some kinds.
    pub fn count(&self, kinds: &[SiteKind]) -> BranchCount {
        let sites = self.sites.iter();
        let counted = sites.filter(|covered| kinds.contains(&covered.site.kind));
        let branches = counted.flat_map(|covered| &covered.branches);
        let branches = branches.filter(|branch| branch.cases > 0 || branch.excuse.is_none());
        branches.fold(BranchCount::default(), |count, branch| BranchCount {
            reached: count.reached + usize::from(branch.cases > 0),
            all: count.all + 1,
        })
    }

    /// How many branches no case takes and need not take: those that no render can, and those that
    /// are explained.
    pub fn excused(&self) -> (usize, usize) {
        let branches = self.sites.iter().flat_map(|covered| &covered.branches);
        let excuses =
            branches.filter_map(|branch| branch.excuse.as_ref().filter(|_| branch.cases == 0));
        excuses.fold((0, 0), |(unreachable, explained), excuse| match excuse {
            Excuse::Unreachable => (unreachable + 1, explained),
            Excuse::Explained(_) => (unreachable, explained + 1),
        })
    }

    /// The explanations in the template's sidecar that explain nothing. Each as its place, its branch,
    /// and why.
    pub fn unused_explanations(&self) -> Vec<(&'s str, Branch, &'static str)> {
        let explained = self.template.unreached.iter();
        let unused = explained.filter_map(|unreached| {
            let (place, branch) = (unreached.place.as_str(), unreached.branch);
            let sites = self.sites.iter();
            let mut sites = sites
                .filter(|covered| covered.is_place(self.template, place))
                .peekable();
            let why = if sites.peek().is_none() {
                "the template has no such place"
            } else if !sites
                .flat_map(|covered| &covered.branches)
                .any(|own| own.branch == branch && own.cases == 0)
            {
                "some case covers this branch, or the place has no such branch"
            } else {
                return None;
            };
            Some((place, branch, why))
        });
        unused.collect()
    }

    pub fn whole(&self) -> BranchCount {
        self.count(&[
            SiteKind::Statement,
            SiteKind::Condition,
            SiteKind::Operand,
            SiteKind::Loop,
            SiteKind::Macro,
        ])
    }
}

impl CoveredSite {
    fn of(site: Site, template: &Template) -> CoveredSite {
        let text = text(&site, template);
        let explained = |branch: Branch| {
            let mut all = template.unreached.iter();
            let own = all.find(|own| own.branch == branch && own.place == text)?;
            Some(Excuse::Explained(own.why.clone()))
        };
        let branches = site.kind.branches().iter();
        let branches = branches.map(|branch| CoveredBranch {
            branch: *branch,
            cases: 0,
            by: Vec::new(),
            excuse: if site.is_unreachable_in(*branch) {
                Some(Excuse::Unreachable)
            } else {
                explained(*branch)
            },
        });
        CoveredSite {
            branches: branches.collect(),
            cases: 0,
            site,
        }
    }

    fn is_place(&self, template: &Template, place: &str) -> bool {
        text(&self.site, template) == place
    }

    /// The branches that no case takes.
    pub fn missing(&self) -> impl Iterator<Item = Branch> {
        let missing = self.branches.iter().filter(|branch| branch.cases == 0);
        missing.map(|branch| branch.branch)
    }

    /// The branches that no case takes, although nothing excuses it.
    pub fn open(&self) -> impl Iterator<Item = Branch> {
        let missing = self.branches.iter().filter(|branch| branch.cases == 0);
        missing
            .filter(|branch| branch.excuse.is_none())
            .map(|branch| branch.branch)
    }
}

/// The text of a place, as a sidecar has it: each run of white space is one space.
fn text(site: &Site, template: &Template) -> String {
    let text = template.source.get(site.span.clone()).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl BranchCount {
    /// Whether at least this share is reached, in per cent.
    pub fn is_at_least(self, percent: usize) -> bool {
        self.reached * 100 >= percent * self.all
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Case, Dialect};
    use rolecall_front::engines::Engines;
    use serde_json::json;

    use super::*;

    fn case(name: &str, role: &str) -> Case {
        let mut case = Case::from_messages(vec![json!({"role": role, "content": "x"})]);
        case.id = format!("family/{name}").parse().unwrap();
        case
    }

    #[test]
    fn each_branch_names_the_first_cases_that_take_it() {
        let source = "{% if messages[0].role == 'user' %}{{ 1 }}{% else %}{{ 2 }}{% endif %}";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let cases = ["a", "b", "c", "d"].map(|name| case(name, "user"));
        let pairs = cases.iter().map(|case| Pair {
            template: &template,
            case,
        });
        let coverage = TemplateCoverage::measure(engine, &template, pairs, |_, _| {}).unwrap();
        let shown = coverage.sites.iter().map(|covered| {
            let branches = covered.branches.iter();
            let branches = branches.map(|branch| {
                let first = coverage.first(branch, 3).join(" ");
                (branch.branch.name(), branch.cases, first)
            });
            branches.collect::<Vec<_>>()
        });
        let first = || "family/a family/b family/c".to_owned();
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                vec![("true", 4, first()), ("false", 0, String::new())],
                vec![("reached", 4, first())],
                vec![("reached", 0, String::new())],
            ]
        );
        let whole = coverage.whole();
        assert_eq!((whole.reached, whole.all), (2, 4));
        assert!(whole.is_at_least(50) && !whole.is_at_least(51));
    }

    #[test]
    fn a_template_that_does_not_compile_has_no_coverage() {
        let template = Template::from_source("t", Dialect::Jinja, "{% if %}");
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let refused = TemplateCoverage::measure(engine, &template, [], |_, _| {});
        assert!(matches!(refused, Err(Unexplored::Refused(_))));
    }
}
