//! Generated conversations, for people and as JSON.

use std::io::{self, Write};

use rolecall_core::lines::Lines;
use rolecall_explore::generation::{GeneratedCase, Generation, ReachedBranch};
use rolecall_io::template_file::place;
use serde_json::{Map, Value};

use crate::report::coverage::{CountJson, SiteJson, counts_line, write_gaps};
use crate::report::format::Format;
use crate::report::json::{VERSION, document};
use crate::report::numbers::counted;
use crate::report::text::{text, written};
use crate::report::wrapping::each;
use crate::report::{case, json};

/// Writes the findings for each template: what is reached before and after, each new case, and what
/// is still not reached. In a text, places that follow each other and are never reached are shown as
/// one, unless `is_whole`.
pub fn write(
    out: &mut dyn Write,
    all: &[Generation<'_>],
    format: Format,
    is_whole: bool,
) -> io::Result<()> {
    match format {
        Format::Json => json::write(out, &GenerationDocument::of(all)),
        _ => each(out, all, |out, one| write_one(out, one, is_whole)),
    }
}

fn write_one(out: &mut dyn Write, generation: &Generation<'_>, is_whole: bool) -> io::Result<()> {
    let template = generation.before.template;
    let (before, after) = (generation.before.whole(), generation.after.whole());
    let cases = counted(generation.before.cases, "case", "cases");
    let new = counted(generation.cases.len(), "new one", "new ones");
    let case =
        |one: &GeneratedCase| written(|out| case::write(out, one.case.id.name(), &one.fields()));
    let shown: io::Result<Vec<String>> = generation.cases.iter().map(case).collect();
    text!(out, include_str!("report.txt"), {
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

document! {
    /// Generated conversations as JSON.
    pub struct GenerationDocument<'g> from (all: &'g [Generation<'_>]) {
        /// The version of this format.
        rolecall: u32 = VERSION,
        /// One for each template.
        templates: Vec<GenerationJson<'g>> = all.iter().map(GenerationJson::of).collect(),
    }

    /// The findings for a template.
    struct GenerationJson<'g> from (generation: &'g Generation<'_>) with {
        let template = generation.before.template;
        let lines = Lines::of(&template.source);
        let cases = generation.cases.iter();
        let unreached = generation.after.sites.iter();
        let unreached = unreached.filter(|covered| covered.missing().next().is_some());
    } {
        /// The template's name.
        template: &'g str = template.name.as_str(),
        /// The template's file, as it was given.
        file: String = place(template, None),
        /// What the cases reach.
        before: CountJson = CountJson::of(generation.before.whole()),
        /// What they reach together with the new ones.
        after: CountJson = CountJson::of(generation.after.whole()),
        /// How many conversations were tried.
        tries: usize = generation.tries,
        /// How many branches no conversation can take, as the template shows.
        dead: usize = generation.unreachable,
        /// The new cases.
        cases: Vec<GeneratedCaseJson<'g>> =
            cases.map(|one| GeneratedCaseJson::of(one, generation)).collect(),
        /// The places that are still not reached in every branch.
        unreached: Vec<SiteJson<'g>> = unreached
            .map(|covered| SiteJson::of(&generation.after, covered, &template.source, &lines))
            .collect(),
    }

    /// A new case.
    struct GeneratedCaseJson<'g> from (one: &'g GeneratedCase, generation: &'g Generation<'_>) with {
        let branches = one.branches.iter();
    } {
        /// Its name within the family.
        name: &'g str = one.case.id.name(),
        /// The case, as a case file has it.
        case: Map<String, Value> = one.fields(),
        /// What the template makes of it: `rendered`, `raised`, `failed` or `exceeded`.
        outcome: &'static str = one.outcome.kind().name(),
        /// Its unusual features, in words. Nothing if it is an ordinary chat.
        oddities: &'g [&'static str] = &one.oddities,
        /// The branches that it takes, and that no case before it takes.
        reaches: Vec<ReachedJson<'g>> =
            branches.map(|branch| ReachedJson::of(branch, generation)).collect(),
    }

    /// A branch that a new case takes.
    struct ReachedJson<'g> from (branch: &ReachedBranch, generation: &'g Generation<'_>) with {
        let site = &generation.before.sites[branch.site].site;
        let source = &generation.before.template.source;
    } {
        /// The line of the template's file, from 1.
        line: usize = branch.line,
        /// The kind of place: `statement`, `condition`, `operand` (of `and` or `or`), `loop` or `macro`.
        kind: &'static str = site.kind.name(),
        /// The branch: `reached`; `true` or `false`; for a loop `empty`, `once` or `several`.
        way: &'static str = branch.branch.name(),
        /// The text of the place.
        text: &'g str = source.get(site.span.clone()).unwrap_or_default(),
    }
}
