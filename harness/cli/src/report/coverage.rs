//! Coverage of templates, for people, as JSON and as LCOV.

use std::collections::BTreeMap;
use std::io::{self, Write};

use minijinja::{Value, context};
use rolecall_core::invisible::is_obeyed;
use rolecall_core::lines::Lines;
use rolecall_core::problem::Note;
use rolecall_core::{Branch, SiteKind, TemplatePart};
use rolecall_explore::coverage::{
    BranchCount, CoveredBranch, CoveredSite, Excuse, TemplateCoverage,
};
use rolecall_io::template_file::{line_in_file, place};

use crate::report::excerpt::write_marked;
use crate::report::format::Format;
use crate::report::json::{VERSION, document};
use crate::report::numbers::{counted, percent, thousands};
use crate::report::style::{GOOD, NOTE, Styled};
use crate::report::text::{text, written};
use crate::report::wrapping::each;
use crate::report::{json, screen};

/// How many cases JSON names for each branch of a place.
const MOST_NAMED: usize = 3;

/// The kinds of places, as they are counted.
const GROUPS: [(&str, &[SiteKind]); 4] = [
    ("statements", &[SiteKind::Statement]),
    (
        "branches of conditions",
        &[SiteKind::Condition, SiteKind::Operand],
    ),
    ("iterations of loops", &[SiteKind::Loop]),
    ("macros", &[SiteKind::Macro]),
];

/// What the cases leave out of a place, in words. None if nothing is missing.
pub(crate) fn missing(covered: &CoveredSite) -> Option<String> {
    if covered.site.is_unreachable && covered.cases == 0 {
        return Some("unreachable: a literal decides".to_owned());
    }
    let missing: Vec<Branch> = covered.open().collect();
    if missing.is_empty() {
        return None;
    }
    if covered.cases == 0 && covered.site.kind != SiteKind::Macro {
        return Some("never reached".to_owned());
    }
    let words = missing.iter().map(|branch| match branch {
        Branch::Reached => "never called",
        Branch::True => "never true",
        Branch::False => "never false",
        Branch::Empty => "never without items",
        Branch::Once => "never with one item",
        Branch::Several => "never with several items",
    });
    Some(words.collect::<Vec<_>>().join(", "))
}

/// Writes the coverage of templates: what is reached, and the places that are not. In a text, places
/// that follow each other and are never reached are shown as one, unless `is_whole`. Returns the names
/// of templates that the format leaves out.
pub fn write<'c>(
    out: &mut dyn Write,
    all: &'c [TemplateCoverage<'_>],
    format: Format,
    is_whole: bool,
) -> io::Result<Vec<&'c str>> {
    match format {
        Format::Json => json::write(out, &CoverageDocument::of(all))?,
        Format::Lcov => return write_lcov(out, all),
        _ => each(out, all, |out, one| write_one(out, one, is_whole))?,
    }
    if format == Format::Human && screen::is_quiet() {
        write_whole(out, all)?;
    }
    Ok(Vec::new())
}

fn write_one(
    out: &mut dyn Write,
    coverage: &TemplateCoverage<'_>,
    is_whole: bool,
) -> io::Result<()> {
    let groups = GROUPS.map(|(name, kinds)| (name, coverage.count(kinds)));
    let counts = groups.into_iter().chain([("all", coverage.whole())]);
    let counts = counts.filter(|(_, count)| count.all > 0);
    let (unreachable, explained) = coverage.excused();
    text!(out, include_str!("coverage.txt"), {
        name => coverage.template.name.as_str(),
        file => place(coverage.template, None),
        cases => coverage.cases,
        not_run => coverage.not_run,
        counts => counts.map(|(name, count)| counts_line(name, count)).collect::<Value>(),
        unreachable,
        explained,
        gaps => written(|out| write_gaps(out, coverage, is_whole))?,
    })
}

/// Writes the coverage of several templates in one line.
fn write_whole(out: &mut dyn Write, all: &[TemplateCoverage<'_>]) -> io::Result<()> {
    let whole = all.iter().map(TemplateCoverage::whole);
    let (reached, branches) = whole.fold((0, 0), |(reached, branches), whole| {
        (reached + whole.reached, branches + whole.all)
    });
    writeln!(
        out,
        "{}: {} of {} branches covered ({})",
        counted(all.len(), "template", "templates"),
        thousands(reached),
        thousands(branches),
        percent(reached, branches)
    )
}

/// Writes the places that are not reached in every branch.
pub(crate) fn write_gaps(
    out: &mut dyn Write,
    coverage: &TemplateCoverage<'_>,
    is_whole: bool,
) -> io::Result<()> {
    let template = coverage.template;
    let lines = Lines::of(&template.source);
    let position = |covered: &CoveredSite| {
        let position = lines.position(&template.source, covered.site.span.start);
        let line = line_in_file(template, Some(position.line));
        (line.unwrap_or(position.line), position.column)
    };
    let gap = |gap: &Gap<'_>| -> io::Result<Value> {
        let span = &gap.place.site.span;
        let (line, column) = position(gap.place);
        Ok(context! {
            line,
            column,
            kind => gap.place.site.kind.name(),
            missing => &gap.missing,
            marked => written(|out| write_marked(out, &template.source, span, "  ", screen::width()))?,
            more => gap.more.map(|(count, _)| count),
            last => gap.more.map(|(_, last)| position(last).0),
        })
    };
    let gaps: io::Result<Vec<Value>> = gaps(coverage, is_whole).iter().map(gap).collect();
    text!(out, include_str!("gaps.txt"), { gaps => gaps? })
}

/// A place that is not reached in every branch.
struct Gap<'c> {
    place: &'c CoveredSite,
    missing: String,
    /// How many places follow it that are never reached either, and the last of them.
    more: Option<(usize, &'c CoveredSite)>,
}

/// The places that are not reached in every branch, in the order of the source.
fn gaps<'c>(coverage: &'c TemplateCoverage<'_>, is_whole: bool) -> Vec<Gap<'c>> {
    let mut gaps = Vec::new();
    let mut sites = coverage.sites.iter().peekable();
    while let Some(place) = sites.next() {
        let Some(missing) = missing(place) else {
            continue;
        };
        let mut more = None;
        if place.cases == 0 && !is_whole {
            let is_alike = |next: &&CoveredSite| {
                next.cases == 0 && next.site.is_unreachable == place.site.is_unreachable
            };
            while let Some(next) = sites.next_if(is_alike) {
                more = Some((more.map_or(1, |(count, _)| count + 1), next));
            }
        }
        gaps.push(Gap {
            place,
            missing,
            more,
        });
    }
    gaps.sort_by_key(|gap| gap.place.site.span.start);
    gaps
}

/// `  18 of 20 statements, 90.00 %`
pub(crate) fn counts_line(name: &str, count: BranchCount) -> String {
    let is_whole = count.reached == count.all;
    let style = if is_whole { GOOD } else { NOTE };
    let numbers = format!(
        "{:>5} of {:>5}",
        thousands(count.reached),
        thousands(count.all)
    );
    let share = percent(count.reached, count.all);
    format!("  {}  {name}, {share}", Styled(style, numbers))
}

/// A note for each place of a template that is not reached in every branch. Of places that follow
/// each other and are never reached, only the first has one.
pub fn notes(coverage: &TemplateCoverage<'_>) -> Vec<Note> {
    let template = coverage.template;
    // Nobody can do anything about a place that a literal keeps unreached.
    let lines = Lines::of(&template.source);
    let gaps = gaps(coverage, false).into_iter();
    let gaps = gaps
        .filter(|gap| !gap.place.site.is_unreachable)
        .map(|gap| {
            let position = lines.position(&template.source, gap.place.site.span.start);
            let message = format!(
                "the {} in column {} is {}",
                gap.place.site.kind.name(),
                position.column,
                gap.missing
            );
            Note::new(place(template, Some(position.line)), message)
        });
    gaps.collect()
}

document! {
    /// The coverage of templates as JSON.
    pub struct CoverageDocument<'c> from (all: &'c [TemplateCoverage<'_>]) {
        /// The version of this format.
        rolecall: u32 = VERSION,
        /// One for each template.
        templates: Vec<CoverageJson<'c>> = all.iter().map(CoverageJson::of).collect(),
    }

    /// Which places of a template the cases reach.
    struct CoverageJson<'c> from (coverage: &'c TemplateCoverage<'_>) with {
        let kinds = [
            SiteKind::Statement,
            SiteKind::Condition,
            SiteKind::Operand,
            SiteKind::Loop,
            SiteKind::Macro,
        ];
        let counts = kinds.map(|kind| (kind.name(), CountJson::of(coverage.count(&[kind]))));
        let source = &coverage.template.source;
        let lines = Lines::of(source);
    } {
        /// The template's name.
        template: &'c str = coverage.template.name.as_str(),
        /// The template's file, as it was given.
        file: String = place(coverage.template, None),
        /// How many cases were rendered.
        cases: usize = coverage.cases,
        /// How many of them ran no code of this template: its front refused the case, or chose another
        /// template of the model.
        idle: usize = coverage.not_run,
        /// How many branches some case takes, by the kind of place.
        reached: BTreeMap<&'static str, CountJson> = counts.into(),
        /// The places of the template. A place comes before the places within it.
        sites: Vec<SiteJson<'c>> = coverage
            .sites
            .iter()
            .map(|covered| SiteJson::of(coverage, covered, source, &lines))
            .collect(),
    }

    /// How many branches there are, and how many of them some case takes.
    pub(crate) struct CountJson from (count: BranchCount) {
        /// The branches that some case takes.
        reached: usize = count.reached,
        /// All branches. Those that no case takes, and need not take, are not among them.
        all: usize = count.all,
    }

    /// A place of a template.
    pub(crate) struct SiteJson<'c> from (
        coverage: &'c TemplateCoverage<'_>, covered: &'c CoveredSite, source: &'c str, lines: &Lines,
    ) with {
        let span = &covered.site.span;
        let (start, end) = (lines.position(source, span.start), lines.position(source, span.end));
    } {
        /// The kind of place: `statement`, `condition`, `operand` (of `and` or `or`), `loop` or `macro`.
        kind: &'static str = covered.site.kind.name(),
        /// The line of the template where it begins, from 1.
        line: usize = start.line,
        /// The column where it begins, from 1, in characters.
        column: usize = start.column,
        /// The line where it ends.
        end_line: usize = end.line,
        /// The column after its end.
        end_column: usize = end.column,
        /// Its text.
        text: &'c str = source.get(span.clone()).unwrap_or_default(),
        /// Whether a literal keeps every render away from it.
        dead: bool = covered.site.is_unreachable,
        /// What no case does, in words. Absent if the cases do everything.
        missing?: Option<String> = missing(covered),
        /// Its branches.
        ways: Vec<BranchJson<'c>> =
            covered.branches.iter().map(|branch| BranchJson::of(branch, coverage)).collect(),
    }

    /// A branch in which a place can be reached.
    struct BranchJson<'c> from (branch: &'c CoveredBranch, coverage: &'c TemplateCoverage<'_>) {
        /// The branch: `reached`; `true` or `false`; for a loop `empty`, `once` or `several`.
        way: &'static str = branch.branch.name(),
        /// How many cases take it.
        cases: usize = branch.cases,
        /// The first of these cases.
        first: Vec<&'c str> = coverage.first(branch, MOST_NAMED),
        /// Why no case need take it. Absent if one should.
        excuse?: Option<&'c str> = branch
            .excuse
            .as_ref()
            .filter(|_| branch.cases == 0)
            .map(|excuse| match excuse {
                Excuse::Unreachable => "no render can",
                Excuse::Explained(why) => why.as_str(),
            }),
    }
}

/// Writes the coverage of templates as LCOV has it: lines and branches, counted in cases. A template
/// that is a value in a file of another kind has no lines there, and is left out; the result names
/// such templates.
fn write_lcov<'c>(
    out: &mut dyn Write,
    all: &'c [TemplateCoverage<'_>],
) -> io::Result<Vec<&'c str>> {
    let mut without_lines = Vec::new();
    for coverage in all {
        let template = coverage.template;
        if matches!(template.part, TemplatePart::Key(_)) {
            without_lines.push(template.name.as_str());
            continue;
        }
        let starts = Lines::of(&template.source);
        let line = |covered: &CoveredSite| {
            let line = starts.line(covered.site.span.start);
            line_in_file(template, Some(line)).unwrap_or(line)
        };
        writeln!(out, "TN:")?;
        // A line break in the name would begin another record, also one that only some readers know.
        let ends_line = |c: char| c.is_control() || is_obeyed(c);
        let path = template.path.to_string_lossy();
        writeln!(out, "SF:{}", path.replace(ends_line, "\u{fffd}"))?;
        let mut branches = BranchCount::default();
        let mut lines: BTreeMap<usize, usize> = BTreeMap::new();
        for (block, covered) in coverage.sites.iter().enumerate() {
            let line = line(covered);
            let cases = lines.entry(line).or_default();
            *cases = covered.cases.max(*cases);
            // A place with one branch is a line of LCOV, and no branch.
            if covered.branches.len() < 2 {
                continue;
            }
            for (number, branch) in covered.branches.iter().enumerate() {
                let taken = match covered.cases {
                    // In LCOV, `-` says that the condition was never evaluated, and `0` that it never
                    // came out this way (geninfo(1)).
                    0 => "-".to_owned(),
                    _ => branch.cases.to_string(),
                };
                writeln!(out, "BRDA:{line},{block},{number},{taken}")?;
                branches.all += 1;
                branches.reached += usize::from(branch.cases > 0);
            }
        }
        writeln!(out, "BRF:{}\nBRH:{}", branches.all, branches.reached)?;
        for (line, cases) in &lines {
            writeln!(out, "DA:{line},{cases}")?;
        }
        let reached = lines.values().filter(|cases| **cases > 0).count();
        writeln!(out, "LF:{}\nLH:{reached}\nend_of_record", lines.len())?;
    }
    Ok(without_lines)
}
