//! Compares every case with every template with the accepted snapshots and the references' results:
//! one test for each template and family.
//!
//! A test names every pair that is not as expected, with its difference. An accepted snapshot is
//! not enough: the reference's record has to agree with it, or a divergence has to explain the
//! difference. The same holds for the parsed answers of the template. The tests need neither Python
//! nor Go.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use libtest_mimic::{Failed, Trial};
use rolecall_answers::reader::OwnReader;
use rolecall_answers::reading::read_all;
use rolecall_answers::transcript as readings;
use rolecall_cli::report::difference::{self, Extent};
use rolecall_cli::report::syntax_error;
use rolecall_core::invocation::{self, Site};
use rolecall_core::problem::Problem;
use rolecall_core::transcript;
use rolecall_core::{Case, Template};
use rolecall_front::engines::Engines;
use rolecall_io::syntax_error::SyntaxError;
use rolecall_suite::accepting::{Changes, PairKey};
use rolecall_suite::conclusion::{Conclusion, FaultGroups};
use rolecall_suite::expectations::Expectations;
use rolecall_suite::layout::Layout;
use rolecall_suite::records::AskedTemplates;
use rolecall_suite::roundtrip::differing;
use rolecall_suite::run::{Expected, Programs, Runner};
use rolecall_suite::snapshot::{FamilyFile, SnapshotStatus, text};
use rolecall_suite::suite::{Pair, Suite};

use crate::review;

pub(crate) static LAYOUT: LazyLock<Layout> =
    LazyLock::new(|| Layout::new(env!("CARGO_MANIFEST_DIR")));
pub(crate) static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::load_layout(&LAYOUT));
pub(crate) static ENGINES: LazyLock<Engines> = LazyLock::new(Engines::default);
static PROGRAMS: LazyLock<Programs<'static>> = LazyLock::new(|| {
    Runner::new(&ENGINES, &[], None)
        .map(|runner| runner.load(&SUITE.templates))
        .unwrap_or_default()
});
pub(crate) static EXPECTATIONS: LazyLock<Result<Expectations, String>> = LazyLock::new(|| {
    let say = |problems: Vec<Problem>| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        problems.join("\n")
    };
    let read = Expectations::read(&LAYOUT, &SUITE.templates).map_err(say)?;
    // Without it nobody has asked about any template. What is wrong with the files of families is
    // reported with each.
    let asked = AskedTemplates::file(&read.snapshots);
    let mut problems = read.records.problems.iter();
    match problems.find(|problem| problem.path == asked) {
        Some(problem) => Err(problem.to_string()),
        None => Ok(read),
    }
});

/// The differences that a test has shown whole, each with the name of the test.
static SHOWN: LazyLock<Mutex<HashMap<String, String>>> = LazyLock::new(Mutex::default);

/// What the tests found that is not as accepted, and the pairs that they were about.
static FOUND: LazyLock<Mutex<(Changes<'static>, HashSet<PairKey<'static>>)>> =
    LazyLock::new(Mutex::default);

/// How many cases are named that differ as those of another test do.
const FEW: usize = 6;

/// The test that shows a difference whole: the first one that meets it.
fn first_with(cause: &str, test: &str) -> String {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let first = shown.entry(cause.to_owned());
    first.or_insert_with(|| test.to_owned()).clone()
}

/// One test for each template and family.
pub(crate) fn tests() -> Vec<Trial> {
    let mut families: BTreeMap<&str, Vec<&'static Case>> = BTreeMap::new();
    for case in &SUITE.cases {
        families.entry(case.id.family()).or_default().push(case);
    }
    let mut tests = Vec::new();
    for template in &SUITE.templates {
        for (family, cases) in &families {
            let cases = cases.iter().copied();
            let pairs: Vec<Pair<'static>> = cases
                .filter(|case| SUITE.has_pair(template, case))
                .map(|case| Pair { template, case })
                .collect();
            if !pairs.is_empty() {
                let name = format!("{}::{family}", template.name);
                let test = name.clone();
                tests.push(Trial::test(name, move || compare(&test, template, &pairs)));
            }
        }
    }
    tests
}

/// Compares the pairs of a template and a family.
fn compare(test: &str, template: &'static Template, pairs: &[Pair<'static>]) -> Result<(), Failed> {
    invocation::set(Site::Checkout);
    let expectations = EXPECTATIONS.as_ref()?;
    let file = expectations.snapshots.family_of(&pairs[0]);
    let expected = Expected {
        truth: expectations.truth(),
        ..Expected::default()
    };
    let mut conclusion = Conclusion::default();
    let mut groups = FaultGroups::of(&ENGINES);
    let mut changes = Changes::default();
    let ran = Runner::new(&ENGINES, &[], Some(1))?
        .with_programs(&PROGRAMS)
        .compare_each(pairs, &expected, |mut compared| {
            let (pair, outcome) = (&compared.rendered.pair, &compared.rendered.outcome);
            let status = file.compare(pair, outcome);
            if status != SnapshotStatus::Same {
                let found = transcript::encode(outcome);
                changes.transcripts.insert(pair.key(), found);
            }
            compared.comparison = Some(status);
            conclusion.add(&compared, &expectations.divergences);
            groups.add(&compared);
        });
    conclusion.finish(ran);
    let is_right = conclusion.passes();
    let mut read = compare_readings(template, pairs, (&file, expectations), &mut changes);
    if !is_right {
        // What every other test of the template says already.
        read.retain(|text| first_with(text, test) == test);
    }
    let can_be_reviewed = !changes.transcripts.is_empty() || !changes.answers.is_empty();
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.0.transcripts.extend(changes.transcripts);
    found.0.answers.extend(changes.answers);
    found.1.extend(pairs.iter().map(Pair::key));
    drop(found);
    if is_right && read.is_empty() {
        return Ok(());
    }

    let mut report = Vec::new();
    let mut others = Vec::new();
    let engine = ENGINES.for_dialect(template.dialect);
    let unread: HashSet<_> = conclusion.unread().collect();
    for group in groups.sorted() {
        let first = first_with(&group.cause, test);
        let is_unread = group.is_unread && group.is_of(&unread);
        let error = is_unread
            .then(|| SyntaxError::find(engine, template))
            .flatten();
        if first != test {
            let cases = group.pairs.iter().map(|one| one.pair.case.id.name());
            let few: Vec<&str> = cases.take(FEW).collect();
            let more = match group.pairs.len() - few.len() {
                0 => String::new(),
                more => format!(", … and {more} more"),
            };
            others.push(format!(
                "the same as in {first}: {}{more}\n",
                few.join(", ")
            ));
        } else if let Some(error) = error {
            syntax_error::write(&mut report, &error)?;
        } else {
            difference::write(&mut report, &[group], Extent::WHOLE)?;
        }
    }
    difference::write_gone(&mut report, &conclusion.gone)?;
    // Nobody can accept what only has no record.
    let review = if can_be_reviewed && !report.is_empty() {
        format!("To accept or reject snapshots: {}", review::COMMANDS)
    } else {
        String::new()
    };
    Err(Failed::from(format!(
        "{} of {} pairs are not as expected\n\n{}{}{}{review}",
        conclusion.total.faults,
        pairs.len(),
        anstream::adapter::strip_str(&String::from_utf8(report)?),
        read.concat(),
        others.concat(),
    )))
}

/// Compares the parsed answers of some pairs of a template. Returns what is not as it was accepted
/// or recorded.
fn compare_readings(
    template: &'static Template,
    pairs: &[Pair<'static>],
    (file, expectations): (&FamilyFile, &Expectations),
    changes: &mut Changes<'static>,
) -> Vec<String> {
    let engine = ENGINES.for_dialect(template.dialect);
    let reader = OwnReader::default();
    let cases = pairs.iter().map(|pair| pair.case);
    // What is left of a template without a response template is a problem of the family's file.
    let Some(all) = read_all(engine, template, &reader, cases) else {
        return Vec::new();
    };
    let differing = match differing(&expectations.records, template, &all) {
        Ok(differing) => differing,
        Err(why) => return vec![format!("nothing confirms the parsed answers: {why}\n\n")],
    };
    let mut wrong = Vec::new();
    for pair in pairs {
        let of_pair = all.iter().filter(|reading| reading.id.case == pair.case.id);
        let now: String = of_pair.map(readings::lines_of).collect();
        let of_case = differing.iter().filter(|(id, _)| id.case == pair.case.id);
        wrong.extend(of_case.map(|(id, fault)| format!("{id}: {fault}\n")));
        let accepted = file.pair(pair).answers;
        if accepted != now {
            let diff = rolecall_core::diff::Diff::new(&accepted, &now);
            let mut text = Vec::new();
            // Writing to a vector cannot fail.
            let _ = difference::write_diff(&mut text, &diff, "  ");
            let text = String::from_utf8_lossy(&text).into_owned();
            wrong.push(format!(
                "the parsed answers of {} are not as accepted:\n{}",
                pair.case.id,
                anstream::adapter::strip_str(&text)
            ));
            changes.answers.insert(pair.key(), now);
        }
    }
    wrong
}

/// Lets insta assert the files of the families whose pairs were all tried, and write a pending snapshot
/// for each family of which something is not as accepted. Returns the families that insta does not find
/// as they are accepted, although the tests do.
pub(crate) fn assert_families() -> Vec<&'static str> {
    let mut otherwise = Vec::new();
    let Ok(expectations) = EXPECTATIONS.as_ref() else {
        return otherwise;
    };
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let (changes, tried) = &*found;
    let mut families: BTreeMap<&'static str, &Case> = BTreeMap::new();
    for case in &SUITE.cases {
        families.insert(case.id.family(), case);
    }
    for (family, case) in families {
        let snapshots = &expectations.snapshots;
        let pairs = SUITE.pairs_by_case(family);
        let is_tried = pairs.iter().any(|pair| tried.contains(&pair.key()));
        let differs = pairs.iter().any(|pair| changes.is_about(pair));
        let pending = review::pending(snapshots.root(), family);
        let is_whole = pairs.iter().all(|pair| tried.contains(&pair.key()));
        if !is_tried || !is_whole && !differs && pending.is_none() {
            continue;
        }
        let accepted = snapshots.family(family);
        // What no test has tried waits as before.
        let pending = pending.map(|(path, bytes)| FamilyFile::parse(path, bytes));
        let pending = pending.as_ref().unwrap_or(&accepted);
        let text = text(&SUITE, family, |pair| {
            let is_tried = tried.contains(&pair.key());
            let mut text = if is_tried { &accepted } else { pending }.pair(pair);
            changes.apply(pair, &mut text);
            text
        });
        let is_asserted = review::assert(snapshots.root(), family, &case.path, &text);
        if !is_asserted && is_whole && !differs {
            otherwise.push(family);
        }
    }
    otherwise
}
