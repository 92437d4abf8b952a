//! Saved runs: reads the output of `run` and `render` with `--format jsonl`.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::sync::Arc;

use rolecall_core::Outcome;
use rolecall_io::outcome_json::{InvalidOutcome, OutcomeJson};
use serde::Deserialize;

use rolecall_core::file::open_file;
use rolecall_core::json;
use rolecall_core::problem::{Location, Position, Problem};

/// The most bytes of a file: ten times a run of the suite. Two of them are in memory at a time.
pub const MOST: u64 = 192 << 20;

/// The most bytes of a line: more than a prompt may have.
pub const MOST_LINE: u64 = 64 << 20;

/// The most outcomes of a file: forty times the suite.
pub const MOST_OUTCOMES: usize = 1_000_000;

#[derive(Debug, Default)]
pub struct SavedRun {
    /// The outcome of each pair, in the order of the file.
    pub lines: Vec<SavedOutcome>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedOutcome {
    pub template: Arc<str>,
    pub case: String,
    pub outcome: Outcome,
}

/// The fields of a line of `cli::report::jsonl`, without its outcome. A line of `run` has more.
#[derive(Debug, Deserialize)]
struct SavedLine {
    template: String,
    case: String,
    outcome: String,
}

/// Names that many lines share, each kept once.
#[derive(Default)]
struct Names(HashSet<Arc<str>>);

impl Names {
    fn shared(&mut self, name: String) -> Arc<str> {
        if let Some(known) = self.0.get(name.as_str()) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.0.insert(Arc::clone(&name));
        name
    }
}

/// The help for a line that does not belong to a saved run.
const HELP: &str = "a saved run is what `rolecall run --format jsonl` or `rolecall render \
                    --format jsonl` prints";

impl SavedRun {
    /// Whether a file is a saved run, by its extension or its first bytes.
    pub fn is_one(path: &Path) -> bool {
        if !path.is_file() {
            return false;
        }
        let has_extension = path
            .extension()
            .is_some_and(|extension| extension == "jsonl" || extension == "ndjson");
        has_extension || begins_with(path, br#"{"template":"#)
    }

    /// Reads a file, a line at a time. Every pair may occur in it once.
    pub fn read(path: &Path) -> Result<SavedRun, Problem> {
        let failed = |error: io::Error| Problem::new(path, format!("cannot be read: {error}"));
        let file = open_file(path)?;
        let size = file.metadata().map_err(failed)?.len();
        if size > MOST {
            let message = format!("too large: {size} bytes, where at most {MOST} are expected");
            return Err(Problem::new(path, message));
        }
        // The file may grow while it is read.
        let mut lines = BufReader::new(file.take(MOST));
        let mut run = SavedRun::default();
        let mut names = Names::default();
        let mut seen = HashMap::new();
        let hasher = [RandomState::new(), RandomState::new()];
        let mut bytes = Vec::new();
        let mut place = 0;
        for number in 1.. {
            bytes.clear();
            let read = lines
                .by_ref()
                .take(MOST_LINE + 1)
                .read_until(b'\n', &mut bytes);
            if read.map_err(failed)? == 0 {
                break;
            }
            let begin = place;
            place += bytes.len() as u64;
            let problem = |column, message: String| {
                let place = Position {
                    line: number,
                    column,
                };
                Problem::new(path, message).at(place)
            };
            if bytes.len() as u64 > MOST_LINE {
                return Err(problem(
                    1,
                    format!("the line has more than {MOST_LINE} bytes"),
                ));
            }
            let text = std::str::from_utf8(&bytes).map_err(|error| {
                let valid = u64::try_from(error.valid_up_to()).unwrap_or(u64::MAX);
                Problem::new(path, "not UTF-8")
                    .at(Location::Byte(begin.saturating_add(valid)))
                    .help(HELP)
            })?;
            if text.trim().is_empty() {
                continue;
            }
            let no_line = |error: serde_json::Error| {
                problem(error.column().max(1), json::words(&error)).help(HELP)
            };
            // Read twice, because serde loses the columns of errors in what it flattens.
            let written: SavedLine = serde_json::from_str(text).map_err(no_line)?;
            let outcome: OutcomeJson<'_> = serde_json::from_str(text).map_err(no_line)?;
            let outcome = outcome
                .outcome()
                .map_err(|error| problem(1, written.without(&error)).help(HELP))?;
            if run.lines.len() == MOST_OUTCOMES {
                return Err(problem(1, format!("more than {MOST_OUTCOMES} outcomes")));
            }
            // Two hashes with seeds that nobody knows are as good as the names, and smaller.
            let pair = (&written.template, &written.case);
            let key = hasher.each_ref().map(|hasher| hasher.hash_one(pair));
            if let Some(first) = seen.insert(key, number) {
                let message = format!(
                    "`{}` with `{}` occurs twice, first in line {first}",
                    written.template, written.case
                );
                return Err(problem(1, message).help("a file holds one run"));
            }
            run.lines.push(SavedOutcome {
                template: names.shared(written.template),
                case: written.case,
                outcome,
            });
        }
        if run.lines.is_empty() {
            return Err(Problem::new(path, "the file contains no outcomes").help(HELP));
        }
        Ok(run)
    }

    /// The names of the templates, in the order of the file.
    pub fn templates(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let names = self.lines.iter().map(|line| line.template.as_ref());
        names.filter(|name| seen.insert(*name)).collect()
    }
}

impl SavedLine {
    /// Why the line has no outcome, in words.
    fn without(&self, error: &InvalidOutcome) -> String {
        match error {
            InvalidOutcome::Unknown {
                key: "outcome",
                name,
            } => format!("no outcome is named `{name}`"),
            InvalidOutcome::Unknown { key, .. } | InvalidOutcome::Missing(key) => {
                format!("`{}` without the field `{key}`", self.outcome)
            }
        }
    }
}

fn begins_with(path: &Path, bytes: &[u8]) -> bool {
    let mut start = vec![0; bytes.len()];
    open_file(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok() && start == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::{Limit, Stage};

    fn read(text: &str) -> Result<SavedRun, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        std::fs::write(&path, text).unwrap();
        assert!(SavedRun::is_one(&path));
        SavedRun::read(&path).map_err(|problem| {
            let place = problem.position.map_or_else(String::new, |p| p.to_string());
            format!("{place} {}", problem.message)
        })
    }

    #[test]
    fn every_outcome_is_read_as_it_was_written() {
        let run = read(concat!(
            r#"{"template":"a","case":"f/1","engine":"e","outcome":"rendered","text":""}"#,
            "\n",
            r#"{"template":"a","case":"f/2","engine":"e","outcome":"raised","message":"No."}"#,
            "\n\n",
            r#"{"template":"b","case":"f/1","engine":"e","outcome":"failed","stage":"parse","message":"m","line":3}"#,
            "\n",
            r#"{"template":"b","case":"f/2","engine":"e","outcome":"exceeded","limit":"fuel","verdict":"agrees"}"#,
            "\n",
        ))
        .unwrap();
        assert_eq!(run.templates(), ["a", "b"]);
        let outcomes: Vec<_> = run.lines.iter().map(|line| &line.outcome).collect();
        assert_eq!(
            *outcomes[0],
            Outcome::Rendered {
                text: String::new()
            }
        );
        assert_eq!(*outcomes[3], Outcome::Exceeded { limit: Limit::Fuel });
        assert_eq!(
            *outcomes[2],
            Outcome::Failed {
                stage: Stage::Parse,
                message: "m".into(),
                line: Some(3)
            }
        );
    }

    #[test]
    fn what_is_no_run_is_reported_with_its_place() {
        let line = r#"{"template":"a","case":"f/1","outcome":"rendered","text":"x"}"#;
        for (text, expected) in [
            (
                format!("{line}\n{line}\n"),
                ":2:1 `a` with `f/1` occurs twice, first in line 1",
            ),
            (
                format!("{line}\n{{\"template\":3}}"),
                ":2:13 invalid type: integer `3`, expected a string",
            ),
            (format!("{line}\nhello"), ":2:1 expected value"),
            (
                line.replace("rendered", "made"),
                ":1:1 no outcome is named `made`",
            ),
            (
                line.replace("text", "txt"),
                ":1:1 `rendered` without the field `text`",
            ),
            (String::new(), " the file contains no outcomes"),
        ] {
            assert_eq!(read(&text).unwrap_err(), expected);
        }
    }
}
