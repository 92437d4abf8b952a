//! Tests the harness by sabotage: changes one byte of a suite and runs all checks of `cargo test`,
//! `rolecall run` and `rolecall lint`. One of them has to notice.
//!
//! A change that no check notices has to be on the list of changes that cannot matter, `harmless`,
//! and every entry of that list has to be needed. `-- --nocapture` shows the figures.

mod changes;
mod checks;
mod files;
mod harmless;
mod sections;
mod suite;
mod whole;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rolecall_front::engines::Engines;
use rolecall_suite::layout::Layout;
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::{Pair, Suite};

use crate::extent::sample;
use crate::project::LAYOUT;
use crate::scratch;

use self::changes::{Change, Extent};
use self::checks::{Check, Checks};
use self::files::{Kind, files};
use self::harmless::Harmless;

/// The results of the changes, by kind of file.
type All = BTreeMap<Kind, Figures>;

/// The results of the changes of one kind of file.
#[derive(Debug, Clone, Default)]
struct Figures {
    files: usize,
    bytes: usize,
    changes: usize,
    took: Duration,
    noticed: BTreeMap<Check, usize>,
    harmless: BTreeMap<Harmless, usize>,
    unnoticed: Vec<String>,
}

impl Figures {
    fn add(&mut self, other: Figures) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.changes += other.changes;
        self.took += other.took;
        for (check, count) in other.noticed {
            *self.noticed.entry(check).or_default() += count;
        }
        for (kind, count) in other.harmless {
            *self.harmless.entry(kind).or_default() += count;
        }
        self.unnoticed.extend(other.unnoticed);
    }
}

/// A suite in a folder of its own, for changes.
struct Victim<'e> {
    folder: tempfile::TempDir,
    layout: Layout,
    suite: Suite,
    names: Vec<String>,
    checks: Checks<'e>,
}

impl<'e> Victim<'e> {
    fn new(engines: &'e Engines) -> Victim<'e> {
        let folder = scratch::folder();
        suite::write(folder.path());
        let layout = Layout::new(folder.path());
        let suite = Suite::load_layout(&layout);
        let templates = suite
            .templates
            .iter()
            .map(|template| template.name.to_string());
        let cases = suite.cases.iter().map(|case| case.id.to_string());
        let victim = Victim {
            names: templates.chain(cases).collect(),
            checks: Checks::new(engines),
            folder,
            layout,
            suite,
        };
        let noticed = victim.noticed(Path::new(""), Kind::Asked);
        assert_eq!(noticed, None, "in the sample as it is");
        victim
    }

    /// The check that notices a changed file of a kind, if any.
    fn noticed(&self, file: &Path, kind: Kind) -> Option<Check> {
        let snapshots = Snapshots::of(&self.layout);
        let path = self.folder.path().join(file);
        let is_first = |pair: &Pair<'_>| match kind {
            Kind::Template | Kind::Sidecar => {
                pair.template.path.with_extension("") == path.with_extension("")
            }
            kind if kind.is_in_family() => snapshots.file(pair.case.id.family()) == path,
            Kind::Case => pair.case.path == path,
            _ => false,
        };
        // Inputs that have changed are read again.
        let read;
        let is_input = matches!(
            kind,
            Kind::Template | Kind::Sidecar | Kind::Case | Kind::Tool
        );
        let suite = if is_input {
            read = Suite::load_layout(&self.layout);
            &read
        } else {
            &self.suite
        };
        let reader = match kind {
            Kind::Card => Some(Check::Cards),
            Kind::Readings | Kind::RoundtripRecord => Some(Check::Readings),
            _ => None,
        };
        self.checks.noticed(&self.layout, suite, is_first, reader)
    }

    /// Changes a file at some places, and restores it.
    fn sabotage(&self, file: &Path, kind: Kind, places: Range<usize>, extent: Extent) -> Figures {
        let path = self.folder.path().join(file);
        let bytes = std::fs::read(&path).unwrap();
        let figures = sabotage_text(kind, file, &bytes, places, extent, &self.names, |changed| {
            std::fs::write(&path, changed).unwrap();
            self.noticed(file, kind)
        });
        std::fs::write(&path, &bytes).unwrap();
        figures
    }
}

/// Changes a text at some places, and asks each time which check noticed.
fn sabotage_text(
    kind: Kind,
    file: &Path,
    bytes: &[u8],
    places: Range<usize>,
    extent: Extent,
    names: &[String],
    noticed: impl Fn(&[u8]) -> Option<Check>,
) -> Figures {
    let start = Instant::now();
    let text = std::str::from_utf8(bytes).unwrap();
    let mut figures = Figures {
        files: usize::from(places.start == 0),
        bytes: places.len(),
        ..Figures::default()
    };
    let end = (places.end == bytes.len()).then_some(bytes.len());
    for at in places.chain(end) {
        for change in Change::at(bytes, at, extent) {
            let changed = change.apply(bytes, at);
            figures.changes += 1;
            if let Some(check) = noticed(&changed) {
                *figures.noticed.entry(check).or_default() += 1;
            } else if let Some(why) = Harmless::of(kind, text, &changed, names) {
                *figures.harmless.entry(why).or_default() += 1;
            } else {
                let place = format!("{}, byte {at}, {change}", file.display());
                figures.unnoticed.push(place);
            }
        }
    }
    figures.took = start.elapsed();
    figures
}

/// Every file of the sample is changed, on all cores.
fn sabotage(extent: Extent) -> All {
    /// Bytes at a time.
    const PIECE: usize = 32;
    let folder = scratch::folder();
    suite::write(folder.path());
    let mut by_kind: BTreeMap<Kind, Vec<_>> = BTreeMap::new();
    for (file, kind) in files(folder.path()) {
        let bytes = std::fs::read(folder.path().join(&file)).unwrap();
        for start in (0..bytes.len()).step_by(PIECE) {
            let places = start..bytes.len().min(start + PIECE);
            let kind = kind.at(&bytes, start);
            let pieces = by_kind.entry(kind).or_default();
            pieces.push((file.clone(), kind, places));
        }
    }
    let work: Vec<_> = by_kind
        .into_values()
        .flat_map(|pieces| sample(pieces, 240))
        .collect();
    let next = AtomicUsize::new(0);
    let all: Mutex<All> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let engines = Engines::default();
                let victim = Victim::new(&engines);
                while let Some((file, kind, places)) =
                    work.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let figures = victim.sabotage(file, *kind, places.clone(), extent);
                    all.lock().unwrap().entry(*kind).or_default().add(figures);
                }
            });
        }
    });
    all.into_inner().unwrap()
}

#[test]
fn whatever_matters_is_noticed() {
    judge(&sabotage(Extent::Little));
}

/// Every entry of the list is needed: there is a change that no check notices and that belongs to
/// no other entry.
#[test]
fn every_entry_of_the_list_is_needed() {
    let needs = [
        (Harmless::Blanks, "cases/templates/phi3.json", "{\n", "{ \n"),
        (
            Harmless::Spelling,
            "cases/conversations/unicode.json",
            "u001c",
            "u001C",
        ),
        (
            Harmless::Words,
            "cases/templates/phi3.json",
            "\"about\": \"",
            "\"about\": \"x",
        ),
        (
            Harmless::Globs,
            "snapshots/divergences.json",
            "plain/*",
            "plain/**",
        ),
        (
            Harmless::FailureWords,
            "snapshots/content-types.snap",
            "failed input - \"",
            "failed input - \"x",
        ),
    ];
    assert_eq!(needs.map(|need| need.0), Harmless::ALL);
    let engines = Engines::default();
    let victim = Victim::new(&engines);
    for (harmless, file, before, after) in needs {
        let path = victim.folder.path().join(file);
        let kind = Kind::of(Path::new(file)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let changed = text.replacen(before, after, 1);
        assert_ne!(changed, text, "{harmless}");
        std::fs::write(&path, &changed).unwrap();
        assert_eq!(victim.noticed(Path::new(file), kind), None, "{harmless}");
        let found = Harmless::of(kind, &text, changed.as_bytes(), &victim.names);
        assert_eq!(found, Some(harmless));
        std::fs::write(&path, &text).unwrap();
    }
}

/// The same with every change at every byte; a few minutes with optimisation.
#[test]
#[ignore = "takes minutes"]
fn whatever_matters_is_noticed_in_every_way() {
    judge(&sabotage(Extent::Everything));
}

/// Every file of the suite, as the checks compare it; some minutes with optimisation.
#[test]
#[ignore = "takes minutes"]
fn whatever_matters_in_the_whole_suite_is_noticed() {
    judge(&whole::sabotage(&LAYOUT, Extent::Little));
}

/// Prints the figures. Every change that no check noticed has to be on the list, and every check
/// has to notice something.
fn judge(all: &All) {
    print(all);

    let unnoticed: Vec<_> = all
        .values()
        .flat_map(|figures| &figures.unnoticed)
        .collect();
    assert!(
        unnoticed.is_empty(),
        "{} changes were not noticed: {:#?}",
        unnoticed.len(),
        &unnoticed[..unnoticed.len().min(40)]
    );
    for check in Check::ALL {
        let is_needed = all
            .values()
            .any(|figures| figures.noticed.contains_key(&check));
        assert!(is_needed, "{check:?} noticed nothing");
    }
}

fn print(all: &All) {
    println!(
        "{:20} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "kind", "files", "bytes", "changes", "noticed", "harmless", "unnoticed", "seconds"
    );
    let mut total = Figures::default();
    for (kind, figures) in all {
        print_row(&kind.to_string(), figures);
        total.add(figures.clone());
    }
    print_row("all", &total);
    for (check, count) in &total.noticed {
        println!("noticed by {check:?}: {count}");
    }
    for (harmless, count) in &total.harmless {
        println!("harmless, {harmless}: {count} ({})", harmless.reason());
    }
}

fn print_row(name: &str, figures: &Figures) {
    println!(
        "{name:20} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9.1}",
        figures.files,
        figures.bytes,
        figures.changes,
        figures.noticed.values().sum::<usize>(),
        figures.harmless.values().sum::<usize>(),
        figures.unnoticed.len(),
        figures.took.as_secs_f64()
    );
}
