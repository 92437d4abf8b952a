//! The cases that a search finds, as a case file has them.

use std::collections::BTreeMap;

use rolecall_core::lines::Lines;
use rolecall_core::{Branch, Case, CaseId, Dialect, Engine, Moment, Outcome, Site, Template};
use rolecall_front::program::FrontProgram;
use rolecall_io::template_file::line_in_file;
use serde_json::{Map, Value};

use super::likelihood::{Rank, oddities};
use super::reduction::reduced;
use super::search::{Effort, Found, Rendered, Search, Subject, Target};
use crate::coverage::{TemplateCoverage, Unexplored};
use rolecall_suite::adding::new_file;
use rolecall_suite::conversation::case_name;
use rolecall_suite::suite::Pair;

/// How many lines the description of a case names.
const MOST_LINES: usize = 6;

/// What a search found for a template.
#[derive(Debug)]
pub struct Generation<'s> {
    /// What the cases reach.
    pub before: TemplateCoverage<'s>,
    /// What they reach together with the new ones.
    pub after: TemplateCoverage<'s>,
    /// The new cases, in the order of the lines that they reach.
    pub cases: Vec<GeneratedCase>,
    /// How many branches there are that no conversation can take, as the template shows.
    pub unreachable: usize,
    /// How many conversations were tried.
    pub tries: usize,
}

#[derive(Debug)]
pub struct GeneratedCase {
    /// The case. Its description names the lines that it reaches.
    pub case: Case,
    /// What the template makes of it.
    pub outcome: Outcome,
    /// Its unusual features, in words. Nothing if it is an ordinary chat.
    pub oddities: Vec<&'static str>,
    /// The branches that it takes, and that neither the old cases nor the new ones before it take.
    pub branches: Vec<ReachedBranch>,
}

/// A branch that a new case takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachedBranch {
    /// The place, by its index among the places of the coverage.
    pub site: usize,
    pub branch: Branch,
    /// The line of the template's file.
    pub line: usize,
}

impl<'s> Generation<'s> {
    /// Searches for conversations that take the branches which the cases of these pairs do not
    /// take. The pairs are of one template.
    ///
    /// # Errors
    ///
    /// The engine refuses the template, or cannot tell what a render reaches.
    pub fn search<'p>(
        engine: &dyn Engine,
        template: &'s Template,
        pairs: &[Pair<'p>],
        effort: Effort,
    ) -> Result<Generation<'s>, Unexplored> {
        let before = TemplateCoverage::measure(engine, template, pairs.iter().copied(), |_, _| {})?;
        let program = FrontProgram::load(engine, template);
        let subject = Subject::new(&program);
        let open = before.sites.iter().enumerate();
        let open = open.flat_map(|(at, covered)| covered.open().map(move |branch| (at, branch)));
        let targets: Vec<Target> = open.collect();
        let (found, tries) = if targets.is_empty() {
            (BTreeMap::new(), 0)
        } else {
            let own = pairs.iter().map(|pair| pair.case);
            let own = own.filter(|case| case.front.is_none());
            let rendered = own.filter_map(|case| subject.render(case.clone()));
            let cases = rendered.map(|rendered| (rendered.case, rendered.hits));
            let sites: Vec<_> = before
                .sites
                .iter()
                .map(|covered| covered.site.clone())
                .collect();
            Search::new(
                &subject,
                &sites,
                cases.collect(),
                targets.iter().copied(),
                effort,
            )
            .run()
        };
        let cases = smallest(&subject, &found);
        let mut generation = Generation {
            after: before.clone(),
            unreachable: before.excused().0,
            before,
            cases: Vec::new(),
            tries,
        };
        generation.name(cases, targets);
        Ok(generation)
    }

    /// Makes cases of conversations: each gets a name and a description.
    fn name(&mut self, found: Vec<(Target, Rendered)>, mut targets: Vec<Target>) {
        let template = self.before.template;
        let lines = Lines::of(&template.source);
        let family = self.family();
        for (target, rendered) in found {
            let (taken, others): (Vec<_>, Vec<_>) = targets
                .into_iter()
                .partition(|(site, branch)| rendered.hits.has(*site, *branch));
            targets = others;
            let branches = taken.into_iter().map(|(site, branch)| {
                let line = lines.line(self.site(site).span.start);
                ReachedBranch {
                    site,
                    branch,
                    line: line_in_file(template, Some(line)).unwrap_or(line),
                }
            });
            let mut branches: Vec<ReachedBranch> = branches.collect();
            // The places within another one come after it.
            branches.sort_by_key(|branch| (branch.line, branch.site));
            let own = branches
                .iter()
                .find(|branch| (branch.site, branch.branch) == target);
            let Some(first) = own.or(branches.first()) else {
                continue;
            };
            let name = self.free_name(first);
            let oddities = oddities(&rendered.case);
            let about = self.about(&branches, &oddities, &rendered.outcome);
            let case = Case {
                id: CaseId::new(&family, &name),
                about: Some(about),
                path: std::path::PathBuf::new(),
                dialects: vec![template.dialect],
                ..rendered.case
            };
            self.after.cases += 1;
            self.after.add(&case.id.to_string(), &rendered.hits);
            self.cases.push(GeneratedCase {
                case,
                outcome: rendered.outcome,
                oddities,
                branches,
            });
        }
    }

    /// The name of the family of the new cases, which is also the name of their file.
    pub fn family(&self) -> String {
        let name = format!("generated-{}", self.before.template.name);
        case_name(&name).unwrap_or_else(|| "generated".to_owned())
    }

    #[allow(clippy::indexing_slicing)] // The search had all its places from `before`.
    fn site(&self, index: usize) -> &Site {
        &self.before.sites[index].site
    }

    /// `line-12-condition-true`, with a number if there is such a case.
    fn free_name(&self, branch: &ReachedBranch) -> String {
        let kind = self.site(branch.site).kind;
        let name = format!(
            "line-{}-{}-{}",
            branch.line,
            kind.name(),
            branch.branch.name()
        );
        let is_free = |name: &str| self.cases.iter().all(|one| one.case.id.name() != name);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = [name.clone()].into_iter().chain(numbered);
        names.find(|name| is_free(name)).unwrap_or(name)
    }

    /// What a case is for: the lines that it reaches, and what is unusual about it.
    fn about(&self, branches: &[ReachedBranch], oddities: &[&str], outcome: &Outcome) -> String {
        let mut by_line: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for branch in branches {
            let kind = self.site(branch.site).kind.name();
            let words = match branch.branch {
                Branch::Reached => kind.to_owned(),
                Branch::True => format!("{kind} true"),
                Branch::False => format!("{kind} false"),
                Branch::Empty => format!("{kind} without items"),
                Branch::Once => format!("{kind} with one item"),
                Branch::Several => format!("{kind} with several items"),
            };
            let of_line = by_line.entry(branch.line).or_default();
            if !of_line.contains(&words) {
                of_line.push(words);
            }
        }
        let noun = if by_line.len() == 1 { "line" } else { "lines" };
        let more = match by_line.len().saturating_sub(MOST_LINES) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let lines = by_line.iter().take(MOST_LINES);
        let lines = lines.map(|(line, words)| format!("{line} ({})", words.join(", ")));
        let lines: Vec<String> = lines.collect();
        let odd = match oddities {
            [] => String::new(),
            odd => format!(" No ordinary chat: {}.", odd.join(", and ")),
        };
        let refused = match outcome {
            Outcome::Rendered { .. } => "",
            _ => " There is no prompt.",
        };
        format!(
            "Reaches {noun} {}{more} of {}.{odd}{refused}",
            lines.join(", "),
            self.before.template.name
        )
    }

    /// The text of a case file with the new cases. None if there is none.
    pub fn case_file(&self) -> Option<String> {
        if self.cases.is_empty() {
            return None;
        }
        let about = format!(
            "Conversations that reach places of {} which no other case reaches. \
             `rolecall generate` has made them.",
            self.before.template.name
        );
        let fields: Vec<_> = self
            .cases
            .iter()
            .map(|one| (one.case.id.name(), one.fields()))
            .collect();
        Some(new_file(
            &about,
            fields.iter().map(|(name, fields)| (*name, fields)),
        ))
    }

    /// How many branches neither the old cases nor the new ones take. Those that no case need take
    /// do not count.
    pub fn unreached(&self) -> usize {
        let whole = self.after.whole();
        whole.all - whole.reached
    }
}

/// The smallest conversations that together take all the branches that were found, each with the
/// branch for which it was made.
fn smallest(
    subject: &Subject<'_>,
    found: &BTreeMap<Target, Option<Found>>,
) -> Vec<(Target, Rendered)> {
    let found: Vec<_> = found
        .iter()
        .filter_map(|(target, found)| Some((*target, found.as_ref()?)))
        .collect();
    let rank = |rendered: &Rendered| Rank::of(&rendered.case, &rendered.outcome);
    let mut cases: Vec<(Target, Rendered)> = Vec::new();
    for (target, best) in &found {
        let (site, branch) = *target;
        let is_taken = |one: &Rendered| one.hits.has(site, branch) && rank(one) <= best.rank;
        if !cases.iter().any(|(_, one)| is_taken(one)) {
            let reduced = reduced(subject, best.case.clone(), &|one| {
                one.hits.has(site, branch)
            });
            cases.extend(reduced.map(|reduced| (*target, reduced)));
        }
    }
    // A case goes if others take all of its branches and serve as well.
    let mut at = 0;
    while let Some((_, own)) = cases.get(at) {
        let is_needed = found.iter().any(|((site, branch), _)| {
            let others = cases.iter().enumerate().filter(|(other, _)| *other != at);
            let mut others = others.map(|(_, (_, other))| other);
            own.hits.has(*site, *branch)
                && !others.any(|other| other.hits.has(*site, *branch) && rank(other) <= rank(own))
        });
        if is_needed {
            at += 1;
        } else {
            cases.remove(at);
        }
    }
    cases
}

impl GeneratedCase {
    /// The case as a case file has it.
    pub fn fields(&self) -> Map<String, Value> {
        fields(&self.case)
    }
}

/// A case as a case file has it.
pub fn fields(case: &Case) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    if let Some(about) = &case.about {
        put("about", about.clone().into());
    }
    put("messages", case.messages.clone().into());
    for (key, list) in [("tools", &case.tools), ("documents", &case.documents)] {
        if let Some(list) = list {
            put(key, list.clone().into());
        }
    }
    if let Some(field) = &case.continue_final_message {
        put("continue_final_message", field.clone().into());
        if case.add_generation_prompt {
            put("add_generation_prompt", true.into());
        }
    } else if !case.add_generation_prompt {
        put("add_generation_prompt", false.into());
    }
    if !case.variables.is_empty() {
        put("variables", case.variables.clone().into());
    }
    if case.now != Moment::default() {
        put("now", case.now.to_string().into());
    }
    if case.dialects != Dialect::ALL {
        let names = case
            .dialects
            .iter()
            .map(|dialect| Value::from(dialect.name()));
        put("dialects", names.collect());
    }
    fields
}
