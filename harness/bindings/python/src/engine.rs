//! Engines that are functions in Python, checked against the built-in suite.

// Python hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::adapter::strip_str;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rolecall_cli::library;
use rolecall_conformance::{Conformance, ConformanceError, Test};
use rolecall_core::{
    Case, Conversation, Dialect, Engine, Observer, Outcome, Program, Refusal, Stage, Template,
};
use rolecall_io::protocol::all_variables;

use crate::command::start_with;
use crate::errors::refused;
use crate::threads::{LateBar, WATCH};

/// The names of the tests of an engine: one for each pair that a filter matches.
#[pyfunction]
pub(crate) fn engine_names(py: Python<'_>, only: Vec<String>) -> PyResult<Vec<String>> {
    start_with(py)?;
    let engine = FunctionEngine::new(py.None(), "engine".to_owned(), false);
    let names = py.detach(|| conformance(&engine, &only, None)?.names().map_err(words));
    names.map_err(|error| refused(py, &error))
}

/// Lets a function render pairs. Returns the tests, each with its name, whether it was expected to
/// fail, and the failure.
#[pyfunction]
pub(crate) fn engine_tests(
    py: Python<'_>,
    function: Py<PyAny>,
    name: String,
    takes_now: bool,
    only: Vec<String>,
    expected_failures: Option<PathBuf>,
    chosen: Option<HashSet<String>>,
) -> PyResult<Vec<(String, bool, Option<String>)>> {
    start_with(py)?;
    let engine = FunctionEngine::new(function, name, takes_now);
    let is_chosen = |name: &str| chosen.as_ref().is_none_or(|chosen| chosen.contains(name));
    let count = chosen.as_ref().map(HashSet::len);
    let mut bar = LateBar::new(count, "rendering", "pairs");
    let tests = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            // One thread: a function in Python need not be made for several.
            conformance(&engine, &only, expected_failures)
                .and_then(|conformance| conformance.tests(Some(1), &is_chosen).map_err(words))
        });
        while !run.is_finished() {
            py.detach(|| std::thread::sleep(WATCH));
            bar.at(engine.calls.count.load(Ordering::Relaxed));
            if let Err(error) = py.check_signals() {
                engine.calls.stop(error);
            }
        }
        run.join()
    });
    if let Some(error) = engine.calls.error() {
        return Err(error);
    }
    let tests = tests.unwrap_or_else(|_| Err("the run panicked".to_owned()));
    let tests = tests.map_err(|error| refused(py, &error))?;
    Ok(tests.into_iter().map(fields).collect())
}

fn fields(test: Test) -> (String, bool, Option<String>) {
    // The colours of a terminal are not a part of the words.
    let failure = test.failure.map(|failure| strip_str(&failure).to_string());
    (test.name, test.is_expected_to_fail, failure)
}

fn words(error: ConformanceError) -> String {
    error.to_string()
}

fn conformance<'e>(
    engine: &'e FunctionEngine,
    only: &[String],
    expected_failures: Option<PathBuf>,
) -> Result<Conformance<'e>, String> {
    let layout = library::builtin_suite().map_err(|error| error.to_string())?;
    let mut conformance = Conformance::of(engine).with_suite(layout);
    for filter in only {
        conformance = conformance.only(filter);
    }
    Ok(match expected_failures {
        Some(path) => conformance.expecting_failures(path),
        None => conformance,
    })
}

/// A function that renders Jinja templates.
struct FunctionEngine {
    name: String,
    calls: Arc<Calls>,
}

/// The function, and whether it is still to be called.
struct Calls {
    function: Py<PyAny>,
    /// Whether it takes the time of the conversation as `now`.
    takes_now: bool,
    is_stopped: AtomicBool,
    count: AtomicUsize,
    error: Mutex<Option<PyErr>>,
}

impl FunctionEngine {
    fn new(function: Py<PyAny>, name: String, takes_now: bool) -> FunctionEngine {
        let calls = Calls {
            function,
            takes_now,
            is_stopped: AtomicBool::new(false),
            count: AtomicUsize::new(0),
            error: Mutex::default(),
        };
        FunctionEngine {
            name,
            calls: Arc::new(calls),
        }
    }
}

impl Engine for FunctionEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &'static str {
        ""
    }

    fn description(&self) -> String {
        format!("the function {}", self.name)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Jinja
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        Ok(Box::new(FunctionProgram {
            template: template.clone(),
            calls: Arc::clone(&self.calls),
        }))
    }
}

/// A template for a function. A function that compiles templates may keep what it compiled.
struct FunctionProgram {
    template: Template,
    calls: Arc<Calls>,
}

impl Program for FunctionProgram {
    fn render_with(&self, conversation: &Conversation<'_>, _: &mut Observer) -> Outcome {
        if self.calls.is_stopped.load(Ordering::Relaxed) {
            let message = "the run was stopped".to_owned();
            return Outcome::NotAsked { message };
        }
        self.calls.count.fetch_add(1, Ordering::Relaxed);
        Python::attach(|py| {
            self.prompt(py, conversation.case()).map_or_else(
                |error| self.calls.outcome(py, error),
                |text| Outcome::Rendered { text },
            )
        })
    }
}

impl FunctionProgram {
    fn prompt(&self, py: Python<'_>, case: &Case) -> PyResult<String> {
        let variables = all_variables(case, &self.template);
        let text = serde_json::to_string(&variables).unwrap_or_default();
        let variables = py.import("json")?.call_method1("loads", (text,))?;
        let arguments = (&*self.template.source, variables);
        let keywords = PyDict::new(py);
        if self.calls.takes_now {
            let now = case.now.to_string().replace('Z', "+00:00");
            let datetime = py.import("datetime")?.getattr("datetime")?;
            keywords.set_item("now", datetime.call_method1("fromisoformat", (now,))?)?;
        }
        let prompt = self
            .calls
            .function
            .bind(py)
            .call(arguments, Some(&keywords))?;
        let Ok(prompt) = prompt.cast::<PyString>() else {
            let kind = prompt.get_type().name()?.to_string();
            let why = format!("the engine returned a value of type `{kind}`, not a text");
            return Err(PyException::new_err(why));
        };
        crate::conversion::text(prompt)
    }
}

impl Calls {
    /// Ends the run with an error.
    fn stop(&self, error: PyErr) {
        self.is_stopped.store(true, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }

    fn error(&self) -> Option<PyErr> {
        let mut error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        error.take()
    }

    /// The outcome of a call that raised an exception. One that is not for programs, such as
    /// `KeyboardInterrupt`, ends the run.
    fn outcome(&self, py: Python<'_>, error: PyErr) -> Outcome {
        if !error.is_instance_of::<PyException>(py) {
            self.stop(error);
            let message = "the run was stopped".to_owned();
            return Outcome::NotAsked { message };
        }
        let kind = error.get_type(py);
        let name = |field: &str| {
            let text = kind
                .getattr(field)
                .and_then(|name| name.extract::<String>());
            text.unwrap_or_default()
        };
        let message = error.value(py).to_string();
        // The function `raise_exception` of transformers raises exactly this class.
        let is_refusal = ["rolecall", "jinja2.exceptions"].contains(&&*name("__module__"))
            && ["TemplateRaised", "TemplateError"].contains(&&*name("__name__"));
        if is_refusal {
            return Outcome::Raised { message };
        }
        Outcome::Failed {
            stage: Stage::Render,
            message: format!("{}: {message}", name("__name__")),
            line: None,
        }
    }
}
