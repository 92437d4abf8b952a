//! Tries a program as an engine, with requests that engines often answer wrongly.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use rolecall_core::Dialect;

use super::error::ProtocolError;
use super::limits::ProtocolLimits;
use super::message::Greeting;
use super::process::{missing_file, written};
use super::question::questions;
use super::subject::{CheckFailure, Subject, TrialSession};
use rolecall_front::front::Front;

/// The result of trying a program.
#[derive(Debug)]
pub struct Trial {
    /// The engine's name and version, if it said them.
    pub engine: Option<String>,
    /// The dialect that it renders, if it said so.
    pub dialect: Option<Dialect>,
    /// How long it took from its start to its first answer.
    pub start: Duration,
    /// What was checked, one after the other.
    pub checks: Vec<Check>,
}

/// One thing that an engine has to do.
#[derive(Debug)]
pub struct Check {
    pub name: &'static str,
    /// What is right, in a few words.
    pub about: &'static str,
    pub finding: CheckResult,
}

#[derive(Debug, PartialEq, Eq)]
pub enum CheckResult {
    Fine,
    Wrong {
        /// What was seen, with what was expected.
        seen: String,
        /// What the program did, whatever was expected. Checks with the same words here probably
        /// fail for one reason.
        done: String,
        /// What to do about it.
        help: Cow<'static, str>,
    },
    /// A remark: it does not affect results.
    Noted {
        seen: String,
        /// What to do about it.
        help: Cow<'static, str>,
    },
    /// The check was skipped, because the program no longer answered.
    NotTried,
}

impl Trial {
    /// Tries the program of a command line, split into words. The error is that it does not
    /// start.
    pub fn run(command: &[String], limits: &ProtocolLimits) -> Result<Trial, ProtocolError> {
        let mut trial = Trial {
            engine: None,
            dialect: None,
            start: Duration::ZERO,
            checks: Vec::new(),
        };
        let begin = Instant::now();
        let process =
            TrialSession::spawn(command, limits).map_err(|reason| ProtocolError::Start {
                command: written(command),
                reason,
            })?;
        let started = TrialSession::greet(process, limits);
        trial.start = begin.elapsed();
        let about = "the first answer says who it is";
        let (session, greeting) = match started {
            Ok(started) => started,
            Err(words) => {
                let help = match missing_file(command) {
                    Some(missing) => Cow::Owned(missing),
                    None => Cow::Borrowed(
                        "answer `start` with {\"rolecall\": 1, \"engine\": \"…\", \"dialect\": \
                         \"jinja\"} in one line, or \"go\", and nothing before it",
                    ),
                };
                let finding = CheckResult::Wrong {
                    done: words.clone(),
                    seen: words,
                    help,
                };
                trial.add("start", about, finding);
                return Ok(trial);
            }
        };
        let dialect = greeting.dialect().unwrap_or(Dialect::Jinja);
        trial.dialect = Some(dialect);
        trial.engine = Some(
            format!("{} {}", greeting.engine, greeting.version)
                .trim()
                .to_owned(),
        );
        trial.add("start", about, introduction(&greeting));
        let mut subject = Subject::new(command, limits, session);
        trial.ask_all(&mut subject, dialect, &greeting);
        Ok(trial)
    }

    pub fn is_fine(&self) -> bool {
        let is_fine =
            |check: &Check| matches!(check.finding, CheckResult::Fine | CheckResult::Noted { .. });
        self.checks.iter().all(is_fine)
    }

    fn add(&mut self, name: &'static str, about: &'static str, finding: CheckResult) {
        self.checks.push(Check {
            name,
            about,
            finding,
        });
    }

    /// Asks everything that there is to ask after the first answer.
    fn ask_all(&mut self, subject: &mut Subject<'_>, dialect: Dialect, greeting: &Greeting) {
        let all = &questions(dialect).all;
        let Some(plain) = all.first() else { return };
        for question in all {
            let found = subject.check(|subject| subject.answers(question, plain));
            self.judge(&question.name, &question.about, &question.help, found);
        }
        self.judge(
            "broken",
            "a template that cannot be parsed is refused by `load`",
            "parse templates when they are loaded, and answer `load` with {\"outcome\": \"failed\", \
             \"stage\": \"parse\", \"message\"} where that fails",
            subject.check(|subject| subject.refuses_broken(plain)),
        );
        self.judge(
            "names",
            "loading a name again replaces its template",
            "keep the last template of each name, and each under its own",
            subject.check(Subject::tells_apart),
        );
        self.judge(
            "more-fields",
            "unknown fields are ignored",
            "ignore the fields of requests that you do not know: later versions have more",
            subject.check(|subject| subject.ignores_more(plain)),
        );
        let named = greeting.fronts.iter().map(String::as_str);
        let fronts: Vec<&str> = named.filter(|name| is_front(name, dialect)).collect();
        if !fronts.is_empty() {
            self.judge(
                "fronts",
                "it renders with each front that it names",
                "where `load` has a `front`, do what that application does, with its \
                 `special_tokens`",
                subject.check(|subject| subject.has_fronts(&fronts)),
            );
        }
        self.judge(
            "standard-output",
            "it writes nothing unasked",
            "write only answers to standard output, one for each request; logs go to standard \
             error",
            subject.check(Subject::is_quiet),
        );
        self.judge(
            "two-processes",
            "two processes run side by side",
            "let processes share nothing: no locks, no ports, no files that they write",
            subject.check(|subject| subject.runs_twice(plain)),
        );
        self.judge(
            "stop",
            "it ends at `stop`",
            "end the program when it reads `stop`",
            subject.check(|subject| subject.ends(true)),
        );
        let finding = CheckResult::of(
            subject.check(|subject| subject.ends(false)),
            "end the program when its standard input ends, or it keeps running",
        );
        let finding = match finding {
            CheckResult::Wrong { seen, help, .. } => CheckResult::Noted { seen, help },
            other => other,
        };
        self.add("end-of-input", "it ends when its input does", finding);
    }

    fn judge(
        &mut self,
        name: &'static str,
        about: &'static str,
        help: &'static str,
        found: Option<Result<(), CheckFailure>>,
    ) {
        self.add(name, about, CheckResult::of(found, help));
    }
}

impl CheckResult {
    /// The result of a check; `found` is none if it was skipped.
    fn of(found: Option<Result<(), CheckFailure>>, help: &'static str) -> CheckResult {
        match found {
            None => CheckResult::NotTried,
            Some(Ok(())) => CheckResult::Fine,
            Some(Err(failure)) => CheckResult::Wrong {
                seen: failure.words,
                done: failure.done,
                help: Cow::Borrowed(help),
            },
        }
    }
}

/// Checks a first answer that can be used.
fn introduction(greeting: &Greeting) -> CheckResult {
    let is_known = |name: &&String| name.parse::<Front>().is_ok();
    if let Some(name) = greeting.fronts.iter().find(|name| !is_known(name)) {
        return CheckResult::Noted {
            seen: format!("its front `{name}` is unknown"),
            help: Cow::Borrowed("`rolecall list fronts` names them"),
        };
    }
    if greeting.engine.trim().is_empty() {
        let seen = "its name in `engine` is empty";
        return CheckResult::Wrong {
            seen: seen.to_owned(),
            done: seen.to_owned(),
            help: Cow::Borrowed(
                "say the engine's name: reports and lists of known differences use it",
            ),
        };
    }
    if greeting.version.is_empty() {
        return CheckResult::Noted {
            seen: "it has no `version`".to_owned(),
            help: Cow::Borrowed("say the engine's version, so that reports tell releases apart"),
        };
    }
    CheckResult::Fine
}

fn is_front(name: &str, dialect: Dialect) -> bool {
    let front = name.parse::<Front>();
    front.is_ok_and(|front| front != Front::Raw && front.is_for(dialect))
}
