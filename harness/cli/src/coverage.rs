//! The coverage that a suite demands of its cases, which `cover` shows, and `run` and `lint` hold.

use rolecall_core::invocation;
use rolecall_core::problem::{Note, Problem};
use rolecall_explore::coverage::TemplateCoverage;
use rolecall_io::template_file::{place, sidecar};
use rolecall_suite::suite::Suite;

use crate::failure::Failure;
use crate::report::{coverage, percent};
use crate::session::{Explored, Session};

/// The coverage of a suite's templates by its cases, and the templates that no engine takes.
pub(crate) fn covered<'s>(
    suite: &'s Suite,
    session: &Session,
) -> Result<Explored<TemplateCoverage<'s>>, Failure> {
    session.explore(suite, |engine, template, pairs| {
        TemplateCoverage::measure(engine, template, pairs, |_, _| {})
    })
}

/// The templates of a suite whose cases take less than a share of their branches, in per cent; the
/// explanations that explain nothing; and the places that no case reaches.
pub(crate) fn demanded(
    suite: &Suite,
    least: u8,
    by: &str,
) -> Result<(Vec<Problem>, Vec<Note>), Failure> {
    let Explored { all, mut problems } = covered(suite, &Session::default())?;
    for coverage in &all {
        let whole = coverage.whole();
        if !whole.is_at_least(usize::from(least)) {
            let share = percent(whole.reached, whole.all);
            let message =
                format!("the cases cover {share} of its branches, and {by} demands {least} %");
            let name = invocation::word(coverage.template.name.as_str());
            let help = invocation::command(&format!("cover {name}"));
            let problem = Problem::new(place(coverage.template, None), message);
            problems.push(problem.help(format!("`{help}` shows the places that no case reaches")));
        }
        for (place, branch, why) in coverage.unused_explanations() {
            let message = format!("`unreached` explains `{place}` {}: {why}", branch.name());
            let problem = Problem::new(sidecar(&coverage.template.path), message);
            problems.push(problem.help("delete the explanation, or correct it"));
        }
    }
    Ok((problems, all.iter().flat_map(coverage::notes).collect()))
}
