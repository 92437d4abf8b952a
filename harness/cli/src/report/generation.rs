//! Generated conversations, for people and as JSON.

use std::io::{self, Write};

use rolecall_core::lines::Lines;
use rolecall_explore::generation::{GeneratedCase, Generation, ReachedBranch};
use rolecall_io::template_file::place;
use serde::Serialize;
use serde_json::{Map, Value};

use super::adding::write_case;
use super::coverage::{CountJson, SiteJson, counts_line, write_gaps};
use super::json::{self, VERSION};
use super::numbers::counted;
use super::text::{text, written};

/// Writes the findings for a template: what is reached before and after, each new case, and what is
/// still not reached. Places that follow each other and are never reached are shown as one, unless
/// `is_whole`.
pub fn write(out: &mut dyn Write, generation: &Generation<'_>, is_whole: bool) -> io::Result<()> {
    let template = generation.before.template;
    let (before, after) = (generation.before.whole(), generation.after.whole());
    let cases = counted(generation.before.cases, "case", "cases");
    let new = counted(generation.cases.len(), "new one", "new ones");
    let case =
        |one: &GeneratedCase| written(|out| write_case(out, one.case.id.name(), &one.fields()));
    let shown: io::Result<Vec<String>> = generation.cases.iter().map(case).collect();
    text!(out, include_str!("generation.txt"), {
        name => template.name.as_str(),
        file => place(template, None),
        before => counts_line(&format!("with {cases}"), before),
        after => counts_line(&format!("with {new}"), after),
        cases => shown?,
        unreached => after.reached != after.all || generation.unreachable > 0,
        unreached_branches => generation.unreached(),
        unreachable => generation.unreachable,
        tries => generation.tries,
        gaps => written(|out| write_gaps(out, &generation.after, is_whole))?,
    })
}

/// Generated conversations as JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenerationDocument<'g> {
    /// The version of this format.
    rolecall: u32,
    /// One for each template.
    templates: Vec<GenerationJson<'g>>,
}

/// The findings for a template.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct GenerationJson<'g> {
    /// The template's name.
    template: &'g str,
    /// The template's file, as it was given.
    file: String,
    /// What the cases reach.
    before: CountJson,
    /// What they reach together with the new ones.
    after: CountJson,
    /// How many conversations were tried.
    tries: usize,
    /// How many branches no conversation can take, as the template shows.
    dead: usize,
    /// The new cases.
    cases: Vec<GeneratedCaseJson<'g>>,
    /// The places that are still not reached in every branch.
    unreached: Vec<SiteJson<'g>>,
}

/// A new case.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct GeneratedCaseJson<'g> {
    /// Its name within the family.
    name: &'g str,
    /// The case, as a case file has it.
    case: Map<String, Value>,
    /// What the template makes of it: `rendered`, `raised`, `failed` or `exceeded`.
    outcome: &'static str,
    /// Its unusual features, in words. Nothing if it is an ordinary chat.
    oddities: &'g [&'static str],
    /// The branches that it takes, and that no case before it takes.
    reaches: Vec<ReachedJson<'g>>,
}

/// A branch that a new case takes.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ReachedJson<'g> {
    /// The line of the template's file, from 1.
    line: usize,
    /// The kind of place: `statement`, `condition`, `operand` (of `and` or `or`), `loop` or `macro`.
    kind: &'static str,
    /// The branch: `reached`; `true` or `false`; for a loop `empty`, `once` or `several`.
    way: &'static str,
    /// The text of the place.
    text: &'g str,
}

pub fn write_json(out: &mut dyn Write, all: &[Generation<'_>]) -> io::Result<()> {
    let document = GenerationDocument {
        rolecall: VERSION,
        templates: all.iter().map(GenerationJson::of).collect(),
    };
    json::write(out, &document)
}

impl<'g> GenerationJson<'g> {
    fn of(generation: &'g Generation<'_>) -> GenerationJson<'g> {
        let template = generation.before.template;
        let lines = Lines::of(&template.source);
        let cases = generation.cases.iter();
        let unreached = generation.after.sites.iter();
        let unreached = unreached.filter(|covered| covered.missing().next().is_some());
        GenerationJson {
            template: template.name.as_str(),
            file: place(template, None),
            before: generation.before.whole().into(),
            after: generation.after.whole().into(),
            tries: generation.tries,
            dead: generation.unreachable,
            cases: cases
                .map(|one| GeneratedCaseJson::of(one, generation))
                .collect(),
            unreached: unreached
                .map(|covered| SiteJson::of(&generation.after, covered, (&template.source, &lines)))
                .collect(),
        }
    }
}

impl<'g> GeneratedCaseJson<'g> {
    fn of(one: &'g GeneratedCase, generation: &'g Generation<'_>) -> GeneratedCaseJson<'g> {
        let branches = one.branches.iter();
        GeneratedCaseJson {
            name: one.case.id.name(),
            case: one.fields(),
            outcome: one.outcome.kind().name(),
            oddities: &one.oddities,
            reaches: branches
                .map(|branch| ReachedJson::of(branch, generation))
                .collect(),
        }
    }
}

impl<'g> ReachedJson<'g> {
    fn of(branch: &ReachedBranch, generation: &'g Generation<'_>) -> ReachedJson<'g> {
        let site = &generation.before.sites[branch.site].site;
        let source = &generation.before.template.source;
        ReachedJson {
            line: branch.line,
            kind: site.kind.name(),
            way: branch.branch.name(),
            text: source.get(site.span.clone()).unwrap_or_default(),
        }
    }
}
