//! The program of a trial, and the checks that it has to pass.

use std::collections::BTreeMap;
use std::time::Duration;

use rolecall_core::{Conversation, Dialect, Outcome, Stage, Template};
use serde::Serialize;
use serde_json::{Map, Value};

use super::input;
use super::limits::ProtocolLimits;
use super::message::{FrontRequest, Greeting, Meaning, Request, VERSION, shown};
use super::process::Process;
use super::question::{ELSEWHERE, RightAnswer, TrialQuestion, plain, questions};

/// After this many crashes in a row, nothing more is asked.
const MOST_CRASHES: usize = 3;

/// How long to wait for output that nobody asked for.
const UNASKED: Duration = Duration::from_millis(200);

/// The ID of the first request, and the step to the next: a program that counts by itself
/// instead of returning the ID fails.
const FIRST_ID: u64 = 4_000_000_007;
const NEXT_ID: u64 = 3;

pub(super) struct Subject<'c> {
    command: &'c [String],
    limits: &'c ProtocolLimits,
    session: Option<TrialSession>,
    /// Checks in a row that ended without a readable answer.
    crashes: usize,
}

pub(super) struct TrialSession {
    process: Process,
    dialect: Dialect,
    is_application: bool,
    id: u64,
    /// How long an answer may take.
    limit: Duration,
}

#[derive(Debug)]
pub(super) struct CheckFailure {
    /// What was seen, with what was expected.
    pub(super) words: String,
    /// What the program did, without what the check is about. Checks with one cause share it.
    pub(super) done: String,
    /// Whether the program has to be restarted.
    is_crash: bool,
}

impl CheckFailure {
    fn of(words: impl Into<String>) -> CheckFailure {
        let words = words.into();
        CheckFailure {
            done: words.clone(),
            words,
            is_crash: false,
        }
    }

    fn crash(words: String) -> CheckFailure {
        CheckFailure {
            is_crash: true,
            ..CheckFailure::of(words)
        }
    }

    /// The failure of a program that gave another outcome than the right one. `reported` puts the
    /// outcome's words into a sentence.
    fn by(outcome: &Outcome, reported: impl FnOnce(&str) -> String) -> CheckFailure {
        let done = words(outcome);
        CheckFailure {
            words: reported(&done),
            done,
            is_crash: matches!(outcome, Outcome::Crashed { .. }),
        }
    }
}

impl<'c> Subject<'c> {
    /// A program by its command line, with its first process.
    pub(crate) fn new(
        command: &'c [String],
        limits: &'c ProtocolLimits,
        session: TrialSession,
    ) -> Subject<'c> {
        Subject {
            command,
            limits,
            session: Some(session),
            crashes: 0,
        }
    }

    /// Runs one check. It restarts the process if the last one broke. None if the check is
    /// skipped, since too many before it crashed.
    pub(super) fn check(
        &mut self,
        check: impl FnOnce(&mut Subject<'c>) -> Result<(), CheckFailure>,
    ) -> Option<Result<(), CheckFailure>> {
        // Each crash may have taken the whole time limit.
        if self.crashes >= MOST_CRASHES {
            return None;
        }
        let seen = check(self).err();
        if seen.as_ref().is_some_and(|seen| seen.is_crash) {
            self.session = None;
            self.crashes += 1;
        } else {
            self.crashes = 0;
        }
        Some(seen.map_or(Ok(()), Err))
    }

    fn session(&mut self) -> Result<&mut TrialSession, CheckFailure> {
        if self.session.is_none() {
            let (session, _) =
                TrialSession::start(self.command, self.limits).map_err(CheckFailure::crash)?;
            self.session = Some(session);
        }
        let missing = || CheckFailure::crash("it is gone".to_owned());
        self.session.as_mut().ok_or_else(missing)
    }

    /// Asks a question. A program that fails at everything is not right where it should fail: so it
    /// has to answer `plain` first.
    pub(super) fn answers(
        &mut self,
        question: &TrialQuestion,
        plain: &TrialQuestion,
    ) -> Result<(), CheckFailure> {
        let session = self.session()?;
        if matches!(question.expected, RightAnswer::Failed) {
            session.answer(plain)?;
        }
        session.answer(question)
    }

    /// A template that cannot be parsed is refused, and one that can is loaded.
    pub(super) fn refuses_broken(&mut self, plain: &TrialQuestion) -> Result<(), CheckFailure> {
        let session = self.session()?;
        session.load(&plain.name, &plain.source)?;
        let source = &questions(session.dialect).broken;
        match session.ask_to_load("broken", source, None)? {
            Meaning::Outcome(Outcome::Failed {
                stage: Stage::Parse,
                ..
            }) => Ok(()),
            Meaning::Outcome(other) => {
                let reported = |done: &str| format!("`{source}`: {done}");
                Err(CheckFailure::by(&other, reported))
            }
            Meaning::Loaded => Err(CheckFailure::of(format!("`{source}` was loaded"))),
        }
    }

    /// The program keeps templates by name; the last one of a name counts.
    pub(super) fn tells_apart(&mut self) -> Result<(), CheckFailure> {
        let session = self.session()?;
        let [a, b, c] = &questions(session.dialect).namesakes;
        session.load("one", a)?;
        session.load("two", b)?;
        session.load("one", c)?;
        // `two` a second time: a program may keep only the template that it used last.
        for (name, source, expected) in [("two", b, "bHi"), ("one", c, "cHi"), ("two", b, "bHi")] {
            session.render(&plain(name, source, expected), &[])?;
        }
        Ok(())
    }

    /// Fields that this version does not have change nothing.
    pub(super) fn ignores_more(&mut self, plain: &TrialQuestion) -> Result<(), CheckFailure> {
        let session = self.session()?;
        session.load(&plain.name, &plain.source)?;
        let more = serde_json::json!({"more": 1});
        session.render(plain, &[("of_a_later_version", more)])
    }

    /// The program renders with each front that it says it has.
    pub(crate) fn has_fronts(&mut self, fronts: &[&str]) -> Result<(), CheckFailure> {
        let session = self.session()?;
        let tokens = Map::from_iter([("eos_token".to_owned(), Value::from("</s>"))]);
        let source = match session.dialect {
            Dialect::Jinja => "{{ messages[0].content }}{{ eos_token }}",
            Dialect::Go => "{{ range .Messages }}{{ .Content }}</s>{{ end }}",
        };
        for front in fronts {
            let front_request = FrontRequest {
                front,
                special_tokens: &tokens,
                setup: Map::new(),
                templates: BTreeMap::new(),
            };
            match session.ask_to_load(front, source, Some(front_request))? {
                Meaning::Loaded => {}
                Meaning::Outcome(other) => {
                    let reported = |done: &str| format!("front `{front}`: {done}");
                    return Err(CheckFailure::by(&other, reported));
                }
            }
            let question = plain("fronts", source, "Hi</s>");
            let rendered = session.render(&question, &[("template", Value::from(*front))]);
            rendered.map_err(|seen| CheckFailure {
                words: format!("front `{front}`: {}", seen.words),
                ..seen
            })?;
        }
        Ok(())
    }

    pub(super) fn is_quiet(&mut self) -> Result<(), CheckFailure> {
        let session = self.session()?;
        match session.process.overhear(UNASKED) {
            None => Ok(()),
            Some(line) => Err(CheckFailure::crash(format!(
                "it said {} unasked",
                shown(&line)
            ))),
        }
    }

    pub(super) fn runs_twice(&mut self, plain: &TrialQuestion) -> Result<(), CheckFailure> {
        let (command, limits) = (self.command, self.limits);
        let first = self.session()?;
        let second = TrialSession::start(command, limits);
        let (mut second, _) =
            second.map_err(|words| CheckFailure::of(format!("the second: {words}")))?;
        // Both have loaded before one renders, so that what they share would be in the way.
        for session in [&mut *first, &mut second] {
            session.load(&plain.name, &plain.source)?;
        }
        for session in [&mut second, first] {
            session.render(plain, &[])?;
        }
        Ok(())
    }

    /// Ends the process, by asking or by the end of its input.
    pub(super) fn ends(&mut self, is_asked: bool) -> Result<(), CheckFailure> {
        self.session()?;
        let Some(session) = self.session.take() else {
            return Ok(());
        };
        let ended = if is_asked {
            session.process.stop(&Request::Stop)
        } else {
            session.process.close()
        };
        if ended {
            return Ok(());
        }
        Err(CheckFailure::of(
            "it was still running a second later, and was killed",
        ))
    }
}

impl TrialSession {
    pub(super) fn start(
        command: &[String],
        limits: &ProtocolLimits,
    ) -> Result<(TrialSession, Greeting), String> {
        TrialSession::greet(TrialSession::spawn(command, limits)?, limits)
    }

    pub(super) fn spawn(command: &[String], limits: &ProtocolLimits) -> Result<Process, String> {
        // With this zone a program that reads the machine's clock or zone gives another date than
        // `now`.
        Process::spawn_with(command, &[("TZ", ELSEWHERE)], limits.answer)
    }

    pub(super) fn greet(
        mut process: Process,
        limits: &ProtocolLimits,
    ) -> Result<(TrialSession, Greeting), String> {
        let line = process.ask(&Request::Start { rolecall: VERSION }, limits.start)?;
        let greeting = Greeting::read(&line)?;
        let session = TrialSession {
            process,
            dialect: greeting.dialect()?,
            is_application: !greeting.fronts.is_empty(),
            id: FIRST_ID,
            limit: limits.time,
        };
        Ok((session, greeting))
    }

    fn next(&mut self) -> u64 {
        self.id += NEXT_ID;
        self.id
    }

    /// Sends the current request, and reads its answer.
    fn ask(&mut self, request: &impl Serialize) -> Result<Meaning, CheckFailure> {
        let line = self.process.ask(request, self.limit);
        line.and_then(|line| Meaning::read(&line, self.id))
            .map_err(CheckFailure::crash)
    }

    fn ask_to_load(
        &mut self,
        template: &str,
        source: &str,
        front_request: Option<FrontRequest<'_>>,
    ) -> Result<Meaning, CheckFailure> {
        let id = self.next();
        self.ask(&Request::Load {
            id,
            template,
            source,
            front_request,
        })
    }

    fn load(&mut self, template: &str, source: &str) -> Result<(), CheckFailure> {
        match self.ask_to_load(template, source, None)? {
            Meaning::Loaded => Ok(()),
            Meaning::Outcome(other) => {
                let reported =
                    |done: &str| format!("`{}` was not loaded: {done}", source.escape_debug());
                Err(CheckFailure::by(&other, reported))
            }
        }
    }

    /// Loads the template of a question, and asks it.
    fn answer(&mut self, question: &TrialQuestion) -> Result<(), CheckFailure> {
        self.load(&question.name, &question.source)?;
        self.render(question, &[])
    }

    /// Asks a question as it would be sent in a run, with other or further fields.
    fn render(
        &mut self,
        question: &TrialQuestion,
        fields: &[(&str, Value)],
    ) -> Result<(), CheckFailure> {
        let id = self.next();
        let said = |error: serde_json::Error| CheckFailure::of(error.to_string());
        let case = question.case();
        let template = Template::from_source(&question.name, self.dialect, &question.source);
        let is_go = self.dialect == Dialect::Go && !self.is_application;
        let program = is_go.then(|| input::go_program(&template)).flatten();
        let conversation = Conversation::new(&case);
        let input = input::render_input(&conversation, &template, false, program.as_ref());
        let request = Request::Render {
            id,
            template: &question.name,
            input: &input,
        };
        // By way of its text: numbers stay as they are written.
        let text = serde_json::to_string(&request).map_err(said)?;
        let mut request: Map<String, Value> = serde_json::from_str(&text).map_err(said)?;
        let fields = fields.iter().cloned();
        request.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        compare(self.ask(&request)?, &question.expected)
    }
}

/// Whether an answer to `render` is the one that is expected.
pub(super) fn compare(answer: Meaning, expected: &RightAnswer) -> Result<(), CheckFailure> {
    let outcome = match answer {
        Meaning::Outcome(outcome) => outcome,
        Meaning::Loaded => return Err(CheckFailure::of("it answered `render` with `ok`")),
    };
    let wanted = match (expected, &outcome) {
        (RightAnswer::Text(wanted), Outcome::Rendered { text }) if text == wanted => return Ok(()),
        (RightAnswer::Raised(wanted), Outcome::Raised { message }) if message == wanted => {
            return Ok(());
        }
        (
            RightAnswer::Failed,
            Outcome::Failed {
                stage: Stage::Render,
                ..
            },
        ) => return Ok(()),
        (RightAnswer::Text(wanted), _) => format!("the prompt {wanted:?}"),
        (RightAnswer::Raised(wanted), _) => format!("`raised` with {wanted:?}"),
        (RightAnswer::Failed, _) => "`failed` at the stage `render`".to_owned(),
    };
    let reported = |done: &str| format!("{done}; expected {wanted}");
    Err(CheckFailure::by(&outcome, reported))
}

fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Rendered { text } => format!("it gave the prompt {text:?}"),
        Outcome::Raised { message } => format!("it `raised` {message:?}"),
        Outcome::Failed { stage, message, .. } => {
            format!("it `failed` at the stage `{}`: {message}", stage.name())
        }
        Outcome::Exceeded { limit } => format!("it `exceeded` the limit `{}`", limit.name()),
        Outcome::Crashed { message } | Outcome::NotAsked { message } => message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::guard::load;

    use super::*;
    use rolecall_front::engines::Engines;

    /// The engines of this process give what every question expects, or the question is wrong:
    /// they do what the references do.
    #[test]
    fn our_engines_answer_every_question() {
        let engines = Engines::default();
        for dialect in Dialect::ALL {
            let engine = engines.for_dialect(dialect);
            let asked = questions(dialect);
            for question in &asked.all {
                let template = Template::from_source(&question.name, dialect, &question.source);
                let case = question.case();
                let outcome = load(engine, &template).render(&Conversation::new(&case));
                let found = compare(Meaning::Outcome(outcome), &question.expected);
                let words = found.err().map(|seen| seen.words);
                assert_eq!(words, None, "{dialect} {}", question.name);
            }
            let source = &asked.broken;
            let template = Template::from_source("t", dialect, source);
            let loaded = load(engine, &template);
            let is_refused = matches!(
                loaded.refusal(),
                Some(Outcome::Failed {
                    stage: Stage::Parse,
                    ..
                })
            );
            assert!(is_refused, "{source}");
        }
    }
}
