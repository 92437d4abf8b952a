//! Compares the fronts of served applications with what the applications made of the suite: one test
//! for each front. The tests need no application.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::{Failed, Trial};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_front::front::Front;
use rolecall_suite::divergence::pair_name;
use rolecall_suite::front_records::{self, FrontRecords};
use rolecall_suite::reference::Reference;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Suite;

use crate::pairs::{ENGINES, EXPECTATIONS, LAYOUT};

/// One pair of so many may have no record: contributors need not set the applications up.
const MOST_UNKNOWN: usize = 10;

/// How many pairs are named.
const FEW: usize = 10;

pub(crate) fn tests() -> Vec<Trial> {
    let fronts = Front::ALL.into_iter();
    let recorded = fronts.filter(|front| Reference::of_front(*front).is_some());
    recorded
        .map(|front| Trial::test(format!("front::{front}"), move || compare(front)))
        .collect()
}

fn compare(front: Front) -> Result<(), Failed> {
    let own = &EXPECTATIONS.as_ref()?.records;
    let read = FrontRecords::read(&LAYOUT, front).map_err(|problem| problem.to_string())?;
    let read = read.ok_or_else(|| format!("nobody has asked {front}: `reference update` does"))?;
    let mut suite = Suite::load_layout(&LAYOUT);
    suite.use_front(front);
    let records = read.records(&suite, own);
    let pairs = front_records::pairs(&suite);
    let faults: Mutex<Vec<String>> = Mutex::default();
    let unknown = AtomicUsize::new(0);
    Runner::new(&ENGINES, &[], None)?.render_each(&pairs, |rendered| {
        let name = pair_name(&rendered.pair);
        let input = Fingerprint::of_case(rendered.pair.case);
        let fault = match (
            records.answer(&rendered.pair, || input),
            read.reason(&rendered.pair),
        ) {
            // Of a new case, nobody may have asked the application yet.
            (Err(_), _) => {
                unknown.fetch_add(1, Ordering::Relaxed);
                return;
            }
            (Ok(answer), reason) if answer.agrees(&rendered.outcome) == reason.is_none() => return,
            (Ok(_), Some(_)) => format!("{name} agrees, and the records give a reason why not"),
            (Ok(answer), None) => {
                let (ours, theirs) = (rendered.outcome.kind(), answer.kind());
                format!("{name}: the front gives another result: {ours}, recorded is {theirs}")
            }
        };
        if let Ok(mut faults) = faults.lock() {
            faults.push(fault);
        }
    });
    let faults = faults.into_inner().unwrap_or_default();
    let unknown = unknown.into_inner();
    if unknown * MOST_UNKNOWN > pairs.len() {
        let why = format!(
            "{unknown} of {} pairs have no record: `reference update` asks {front}",
            pairs.len()
        );
        return Err(why.into());
    }
    if faults.is_empty() {
        return Ok(());
    }
    let shown = faults
        .iter()
        .take(FEW)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    Err(format!("{} of {} pairs:\n{shown}", faults.len(), pairs.len()).into())
}
