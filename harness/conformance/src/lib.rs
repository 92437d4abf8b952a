#![doc = include_str!("../README.md")]
//!
//! [`Conformance::only`] limits the suite to some templates and cases.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod error;

mod judged;

mod expected;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use rolecall_core::guard::keep_quiet;
use rolecall_core::problem::Problem;
pub use rolecall_core::{
    Case, Conversation, Dialect, Engine, Limit, Outcome, Program, Refusal, Stage, Template,
};
use rolecall_suite::expectations::Expectations;
use rolecall_suite::layout::Layout;
use rolecall_suite::selection::Filter;
use rolecall_suite::suite::{Pair, Suite, templates_of};

pub use crate::error::ConformanceError;
pub use crate::expected::{ACCEPT, Test};
use crate::judged::name;

/// The suite for one engine.
pub struct Conformance<'e> {
    engine: &'e dyn Engine,
    filters: Vec<String>,
    expected: Option<PathBuf>,
    layout: Option<Layout>,
}

impl<'e> Conformance<'e> {
    /// The whole suite, limited to the engine's dialect.
    pub fn of(engine: &'e dyn Engine) -> Conformance<'e> {
        Conformance {
            engine,
            filters: Vec::new(),
            expected: None,
            layout: None,
        }
    }

    /// Uses this suite. Without it, the suite is unpacked next to the running program.
    #[must_use]
    pub fn with_suite(mut self, layout: Layout) -> Conformance<'e> {
        self.layout = Some(layout);
        self
    }

    /// Keeps only the pairs that a filter matches, such as `qwen*` or `llama3-*:tool-calls/*`. If
    /// there are several filters, one of them has to match.
    #[must_use]
    pub fn only(mut self, filter: &str) -> Conformance<'e> {
        self.filters.push(filter.to_owned());
        self
    }

    /// Reads a list of pairs that are expected to fail. A missing file is an empty list.
    #[must_use]
    pub fn expecting_failures(mut self, path: impl Into<PathBuf>) -> Conformance<'e> {
        self.expected = Some(path.into());
        self
    }

    /// Runs the suite as the `main` of a test without the usual harness: reads the arguments of
    /// `cargo test`, prints as `cargo test` does, and returns its exit code. Unless the arguments
    /// choose tests, all passing pairs of a template share one line.
    pub fn run(&self) -> ExitCode {
        // A panic of the engine is an outcome, and the run reports it as one.
        keep_quiet();
        let mut arguments = Arguments::from_args();
        let trials = if arguments.list {
            let trial = |name: String| Trial::test(name, || Ok(()));
            let names = self.names();
            names.map(|names| names.into_iter().map(trial).collect())
        } else {
            let is_chosen = |name: &str| is_chosen(&arguments, name);
            let tests = self.tests(arguments.test_threads, &is_chosen);
            let is_all = arguments.filter.is_none() && arguments.skip.is_empty();
            let tests = tests.map(|tests| if is_all { gathered(tests) } else { tests });
            tests.map(|tests| tests.into_iter().map(trial).collect())
        };
        let trials = trials.unwrap_or_else(|error: ConformanceError| {
            // This goes to standard error because no single test could report it.
            arguments = Arguments::default();
            let test = move || Err(Failed::from(error.to_string()));
            vec![Trial::test("the suite can be run", test)]
        });
        libtest_mimic::run(&arguments, trials).exit_code()
    }

    /// The names of the tests, one for each pair: `TEMPLATE:FAMILY/CASE`.
    ///
    /// # Errors
    ///
    /// A filter is invalid or matches nothing, or the suite cannot be read.
    pub fn names(&self) -> Result<Vec<String>, ConformanceError> {
        let suite = Suite::load_layout(&self.layout()?);
        Ok(self.pairs(&suite)?.iter().map(name).collect())
    }

    /// Renders the pairs whose names are chosen, on `threads` threads or one for each core, and
    /// returns their results. If all are chosen, the list of expected failures has a test of its
    /// own: every line must match a pair.
    ///
    /// # Errors
    ///
    /// A filter is invalid or matches nothing, or the suite or the list cannot be read.
    pub fn tests(
        &self,
        threads: Option<usize>,
        is_chosen: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Test>, ConformanceError> {
        let layout = self.layout()?;
        let suite = Suite::load_layout(&layout);
        let pairs = self.pairs(&suite)?;
        let mut chosen = pairs.clone();
        chosen.retain(|pair| is_chosen(&name(pair)));
        let expectations = Expectations::read(&layout, templates_of(&chosen)).map_err(first)?;
        let judged = judged::judge(self.engine, &chosen, &expectations, threads)?;
        // A part of the pairs cannot show what else fails, nor which lines match nothing.
        let is_whole = chosen.len() == pairs.len();
        let path = self.expected.as_deref();
        if let Some(path) = path.filter(|_| is_whole && std::env::var_os(ACCEPT).is_some()) {
            expected::write(path, self.engine.name(), &judged).map_err(ConformanceError::File)?;
        }
        let mut rows = path.map_or_else(|| Ok(Vec::new()), expected::read)?;
        let tests = judged.into_iter();
        let mut tests: Vec<Test> = tests.map(|pair| expected::test(&mut rows, pair)).collect();
        if let Some(path) = path.filter(|_| is_whole) {
            tests.push(expected::own_test(&rows, path));
        }
        Ok(tests)
    }

    fn layout(&self) -> Result<Layout, ConformanceError> {
        self.layout.clone().map_or_else(layout_next_to_program, Ok)
    }

    fn pairs<'s>(&self, suite: &'s Suite) -> Result<Vec<Pair<'s>>, ConformanceError> {
        let dialect = self.engine.dialect();
        let pairs = suite
            .pairs()
            .filter(|pair| pair.template.dialect == dialect);
        let pairs: Vec<Pair<'s>> = pairs.collect();
        let mut filters = Vec::new();
        for text in &self.filters {
            let filter: Filter = text.parse().map_err(|error| ConformanceError::Filter {
                place: "Conformance::only".to_owned(),
                error,
            })?;
            if !pairs.iter().any(|pair| filter.matches(pair)) {
                return Err(ConformanceError::Nothing(text.clone()));
            }
            filters.push(filter);
        }
        let is_in = |pair: &Pair<'_>| {
            filters.is_empty() || filters.iter().any(|filter| filter.matches(pair))
        };
        Ok(pairs.into_iter().filter(is_in).collect())
    }
}

/// The suite from this crate, as files next to the running program.
fn layout_next_to_program() -> Result<Layout, ConformanceError> {
    let program = std::env::current_exe().ok();
    let next_to = program.as_deref().and_then(Path::parent);
    let folder = next_to
        .map_or_else(std::env::temp_dir, Path::to_owned)
        .join("rolecall");
    rolecall_suite::builtin::unpacked(&folder)
        .map(Layout::builtin)
        .map_err(|error| ConformanceError::Unpacking { folder, error })
}

fn first(problems: Vec<Problem>) -> ConformanceError {
    let problem = problems.into_iter().next();
    ConformanceError::File(problem.unwrap_or_else(|| Problem::new("", "cannot be read")))
}

/// The tests that fail, and one test for all the others of each template.
fn gathered(tests: Vec<Test>) -> Vec<Test> {
    let mut passing: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut gathered = Vec::new();
    for test in tests {
        match test.name.split_once(':') {
            Some((template, _)) if test.failure.is_none() => {
                let [right, known] = passing.entry(template.to_owned()).or_default();
                *(if test.is_expected_to_fail {
                    known
                } else {
                    right
                }) += 1;
            }
            _ => gathered.push(test),
        }
    }
    let lines = passing.into_iter().map(|(template, [right, known])| {
        let known = match known {
            0 => String::new(),
            known => format!(", {known} expected to fail"),
        };
        Test {
            name: format!("{template}: {right} as expected{known}"),
            is_expected_to_fail: false,
            failure: None,
        }
    });
    lines.chain(gathered).collect()
}

/// A test in the form that the command line of `cargo test` needs.
fn trial(test: Test) -> Trial {
    let kind = if test.is_expected_to_fail {
        "known"
    } else {
        ""
    };
    let failure = test.failure;
    let run = move || failure.map_or(Ok(()), |words| Err(Failed::from(words)));
    Trial::test(test.name, run).with_kind(kind)
}

/// Whether the arguments choose a test, as `cargo test` would.
fn is_chosen(arguments: &Arguments, name: &str) -> bool {
    let matches = |text: &String| {
        if arguments.exact {
            text == name
        } else {
            name.contains(text.as_str())
        }
    };
    arguments.filter.as_ref().is_none_or(matches) && !arguments.skip.iter().any(matches)
}

#[cfg(test)]
mod tests;
