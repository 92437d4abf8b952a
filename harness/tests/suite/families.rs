//! Compares every case with every template with the accepted snapshots and the references' results:
//! one test for each family.
//!
//! A test names every pair that is not as expected, with its difference. An accepted snapshot is
//! not enough: the reference's record has to agree with it, or a divergence has to explain the
//! difference. The tests need neither Python nor Go.

use std::path::Path;
use std::sync::LazyLock;

use rolecall::conclusion::Conclusion;
use rolecall::engines::Engines;
use rolecall::expectations::Expectations;
use rolecall::invocation::{self, Site};
use rolecall::layout::Layout;
use rolecall::report::difference::{self, Extent, FaultGroups};
use rolecall::report::problems;
use rolecall::run::{Acceptance, Compared, Expected, Programs, Runner};
use rolecall::snapshot::{self, SnapshotStatus, Snapshots};
use rolecall::suite::{Pair, Suite};
use rolecall::transcript;
use rolecall_model::Case;

use crate::report::Report;
use crate::review;

static LAYOUT: LazyLock<Layout> = LazyLock::new(|| Layout::new(env!("CARGO_MANIFEST_DIR")));
pub(crate) static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::load_layout(&LAYOUT));
static ENGINES: LazyLock<Engines> = LazyLock::new(Engines::default);
static PROGRAMS: LazyLock<Programs<'static>> = LazyLock::new(|| {
    Runner::new(&ENGINES, &[], None)
        .map(|runner| runner.load(&SUITE.templates))
        .unwrap_or_default()
});
static EXPECTATIONS: LazyLock<Result<Expectations, String>> = LazyLock::new(|| {
    Expectations::read(&LAYOUT, &SUITE.templates).map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        problems.join("\n")
    })
});

/// Compares the pairs of a case file.
pub(crate) fn family(path: &Path) -> datatest_stable::Result<()> {
    let name = path.file_stem().unwrap_or_default();
    let problems: Vec<String> = SUITE
        .problems
        .iter()
        .filter(|problem| problem.path.file_stem() == Some(name))
        .map(ToString::to_string)
        .collect();
    if !problems.is_empty() {
        return Err(Box::new(Report(problems.join("\n"))));
    }
    // Names are compared before paths: that is quick, and rules out most of the suite.
    let is_of_file =
        |case: &Case| Some(case.id.family()) == name.to_str() && case.path.ends_with(path);
    let pairs: Vec<Pair<'_>> = SUITE.pairs().filter(|pair| is_of_file(pair.case)).collect();
    // Such as a file in a folder below the others, which nothing reads.
    if pairs.is_empty() {
        let message = format!("{}: no case of this file is in the suite", path.display());
        return Err(Box::new(Report(message)));
    }
    invocation::set(Site::Checkout);
    let expectations = EXPECTATIONS
        .as_ref()
        .map_err(|problems| Report(problems.clone()))?;
    let expected = Expected {
        accepted: Some(Acceptance {
            suite: &SUITE,
            snapshots: &expectations.snapshots,
        }),
        truth: expectations.truth(),
        belonging: None,
        needs_differences_only: false,
    };
    let mut results: Vec<Compared<'_>> = Vec::new();
    let ran = Runner::new(&ENGINES, &[], Some(1))?
        .with_programs(&PROGRAMS)
        .compare_each(&pairs, &expected, |compared| results.push(compared));
    let are_of_one_template = |a: &Compared<'_>, b: &Compared<'_>| {
        a.rendered.pair.template.name == b.rendered.pair.template.name
    };
    for of_template in results.chunk_by(are_of_one_template) {
        leave_for_review(&expectations.snapshots, of_template);
    }

    let mut conclusion = Conclusion::default();
    let mut groups = FaultGroups::default();
    for compared in &results {
        conclusion.add(compared, &expectations.divergences);
        groups.add(compared);
    }
    conclusion.finish(ran);
    if conclusion.passes() {
        return Ok(());
    }
    let mut report = Vec::new();
    difference::write(&mut report, &groups.sorted(), Extent::WHOLE)?;
    difference::write_gone(&mut report, &conclusion.gone)?;
    problems::write_shared(&mut report, &conclusion.problems)?;
    let total = &conclusion.total;
    // Nobody can accept what only has no record.
    let review = match total.changed + total.new {
        0 => String::new(),
        _ => format!("To accept or reject snapshots: {}", review::COMMANDS),
    };
    Err(Box::new(Report(format!(
        "{} of {} pairs are not as expected\n\n{}{review}",
        total.faults,
        results.len(),
        anstream::adapter::strip_str(&String::from_utf8(report)?),
    ))))
}

/// Lets insta write its files for the pairs of a template and a family: a pending snapshot if one
/// of them differs from its snapshot, otherwise none.
fn leave_for_review(snapshots: &Snapshots, results: &[Compared<'_>]) {
    let Some(first) = results.first() else {
        return;
    };
    let pair = &first.rendered.pair;
    let folder = snapshots.folder_of(&pair.template.name);
    let family = pair.case.id.family();
    let is_same = |compared: &Compared<'_>| compared.comparison == Some(SnapshotStatus::Same);
    if results.iter().all(is_same) && !review::is_pending(&folder, family) {
        return;
    }
    let transcripts: Vec<(&str, String)> = results
        .iter()
        .map(|Compared { rendered, .. }| {
            let name = rendered.pair.case.id.name();
            (name, transcript::encode(&rendered.outcome))
        })
        .collect();
    let sections = transcripts
        .iter()
        .map(|(name, text)| (*name, text.as_str()));
    review::leave(&folder, family, &pair.case.path, &snapshot::text(sections));
}
