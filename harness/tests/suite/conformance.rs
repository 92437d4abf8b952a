//! Every case across every template, against the accepted snapshots and what the
//! references did: one test a family.
//!
//! The families are found when the tests start, so a new case file or template needs no
//! recompilation. What is not as accepted is left as a pending snapshot for
//! `cargo insta review`, except in CI; the test fails in either case, and names every
//! pair with its difference. Accepting a snapshot is not enough: the reference has to
//! agree with it, by its record, or a divergence has to say why not. Neither Python nor
//! Go is needed for that.

use std::path::Path;
use std::sync::LazyLock;

use rolecall::divergence::Divergences;
use rolecall::engines::Engines;
use rolecall::file::is_there;
use rolecall::record::Records;
use rolecall::report::difference::{self, Extent};
use rolecall::run::{Compared, Expected, Runner, agreeing_again};
use rolecall::snapshot::{Comparison, Snapshots};
use rolecall::suite::{Layout, Pair, Suite};
use rolecall::transcript;
use rolecall::verdict::Truth;

mod report;

use report::Report;

datatest_stable::harness! {
    { test = family, root = "cases/conversations", pattern = r"\.json$" },
}

static LAYOUT: LazyLock<Layout> = LazyLock::new(|| Layout::new(env!("CARGO_MANIFEST_DIR")));
static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::load_layout(&LAYOUT));
static ENGINES: LazyLock<Engines> = LazyLock::new(Engines::default);
// What is wrong with these two is told by the test of the suite as a whole; without them
// every pair is unverified, and fails here too.
static RECORDS: LazyLock<Records> = LazyLock::new(|| Records::read(&LAYOUT, &SUITE.templates));
static DIVERGENCES: LazyLock<Divergences> =
    LazyLock::new(|| Divergences::read(&LAYOUT.divergences()).unwrap_or_default());

fn family(path: &Path) -> datatest_stable::Result<()> {
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
    let pairs: Vec<Pair<'_>> = SUITE
        .pairs()
        .filter(|pair| pair.case.path.ends_with(path))
        .collect();
    // Such as a file in a folder below the others, which nothing reads.
    if pairs.is_empty() {
        let message = format!("{}: no case of this file is in the suite", path.display());
        return Err(Box::new(Report(message)));
    }
    let snapshots = Snapshots::of(&LAYOUT);
    let expected = Expected {
        accepted: Some(&snapshots),
        truth: Truth::Records {
            records: &RECORDS,
            divergences: &DIVERGENCES,
            snapshots: &snapshots,
        },
    };
    let run = Runner::new(&ENGINES, &[], Some(1))?.compare(&pairs, &expected);
    for compared in &run.results {
        leave_for_review(&snapshots, compared);
    }
    let groups = difference::groups(&run.results);
    let gone = agreeing_again(&DIVERGENCES, &run.results);
    if groups.is_empty() && gone.is_empty() {
        return Ok(());
    }
    let mut report = Vec::new();
    difference::write(&mut report, &groups, Extent::WHOLE)?;
    difference::write_gone(&mut report, &gone)?;
    let count: usize = groups.iter().map(|group| group.pairs.len()).sum();
    Err(Box::new(Report(format!(
        "{count} of {} pairs are not as expected\n\n{}\
         To accept or reject snapshots: cargo insta review",
        run.results.len(),
        anstream::adapter::strip_str(&String::from_utf8(report)?),
    ))))
}

/// Lets insta keep its files: a pending snapshot where a pair is not as accepted, and
/// none where it is.
fn leave_for_review(snapshots: &Snapshots, compared: &Compared<'_>) {
    let pair = &compared.rendered.pair;
    let file = snapshots.file(pair);
    // insta would wait for a pipe, or read what a link leads to.
    if is_there(&file) && (file.is_symlink() || !file.is_file()) {
        return;
    }
    let pending = file.with_extension("snap.new");
    if compared.comparison == Some(Comparison::Same) && !pending.exists() {
        return;
    }
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(snapshots.folder(pair));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_input_file(&pair.case.path);
    let transcript = transcript::encode(&compared.rendered.outcome);
    // insta panics where a pair is not as accepted; the test reports that itself, all
    // pairs at once.
    let _ = rolecall_model::guard::catch(|| {
        settings.bind(|| insta::assert_snapshot!(pair.case.id.name(), transcript));
    });
}
