//! Tries a program as an engine: what it does with a few requests that are easily answered
//! wrongly.

use std::time::{Duration, Instant};

use rolecall_model::{Case, Conversation, Dialect, Moment, Outcome, Stage, Template};
use serde_json::{Map, Value};

use super::error::ProtocolError;
use super::input;
use super::limits::ProtocolLimits;
use super::message::{Behind, Greeting, Meaning, Request, VERSION, shown};
use super::process::Process;
use super::question::{ELSEWHERE, Expected, NOW, Question, broken, namesakes, questions};
use crate::front::Front;

/// Failures to answer at all, one after the other, before nothing more is asked.
const MOST_CRASHES: usize = 3;

/// How long a program may take to say what nobody asked for.
const UNASKED: Duration = Duration::from_millis(200);

/// The first number of a request, and how much larger the next one is: a program that counts by
/// itself is found out.
const FIRST_ID: u64 = 4_000_000_007;
const NEXT_ID: u64 = 3;

/// What came of trying a program.
#[derive(Debug)]
pub struct Trial {
    /// What it says it is, if it said so.
    pub engine: Option<String>,
    /// The templates that it renders, if it said so.
    pub dialect: Option<Dialect>,
    /// How long it took from its start to its first answer.
    pub start: Duration,
    /// What was checked, one after the other.
    pub checks: Vec<Check>,
}

/// One thing that an engine has to do.
#[derive(Debug)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// What is right, in a few words.
    pub about: &'static str,
    /// What came of it.
    pub finding: Finding,
}

/// What came of a check.
#[derive(Debug, PartialEq, Eq)]
pub enum Finding {
    /// It is as it should be.
    Fine,
    /// It is not.
    Wrong {
        /// What was seen.
        seen: String,
        /// What to do about it.
        help: &'static str,
    },
    /// It may be, and will not do harm to figures.
    Noted {
        /// What was seen.
        seen: String,
        /// What to do about it.
        help: &'static str,
    },
    /// It was not tried: the program answered nothing any more.
    NotTried,
}

/// The program that is tried.
struct Subject<'c> {
    command: &'c [String],
    limits: &'c ProtocolLimits,
    session: Option<Asked>,
    /// Checks in a row in which it answered nothing, or nothing that could be read.
    crashes: usize,
}

/// A process of it.
struct Asked {
    process: Process,
    dialect: Dialect,
    is_application: bool,
    id: u64,
}

/// Why a check fails, in words; and whether the program is to be started anew.
struct Seen {
    words: String,
    is_crash: bool,
}

impl Seen {
    fn of(words: impl Into<String>) -> Seen {
        Seen {
            words: words.into(),
            is_crash: false,
        }
    }

    fn crash(words: String) -> Seen {
        Seen {
            words,
            is_crash: true,
        }
    }
}

impl Trial {
    /// Tries the program of a command line, given in words. The error is that there is none.
    pub fn of(command: &[String], limits: &ProtocolLimits) -> Result<Trial, ProtocolError> {
        let mut trial = Trial {
            engine: None,
            dialect: None,
            start: Duration::ZERO,
            checks: Vec::new(),
        };
        let mut subject = Subject {
            command,
            limits,
            session: None,
            crashes: 0,
        };
        let begin = Instant::now();
        let process = Asked::spawn(command, limits).map_err(|reason| ProtocolError::Start {
            command: command.join(" "),
            reason,
        })?;
        let started = Asked::greet(process, limits);
        trial.start = begin.elapsed();
        let about = "the first answer says who it is";
        let (session, greeting) = match started {
            Ok(started) => started,
            Err(words) => {
                let help = "answer `start` with {\"rolecall\": 1, \"engine\": \"…\", \"dialect\": \
                            \"jinja\"} in one line, or \"go\", and nothing before it";
                trial.add("start", about, Finding::Wrong { seen: words, help });
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
        subject.session = Some(session);
        trial.ask_all(&mut subject, dialect, &greeting);
        Ok(trial)
    }

    /// Whether all is as it should be.
    pub fn is_fine(&self) -> bool {
        let is_fine =
            |check: &Check| matches!(check.finding, Finding::Fine | Finding::Noted { .. });
        self.checks.iter().all(is_fine)
    }

    fn add(&mut self, name: &'static str, about: &'static str, finding: Finding) {
        self.checks.push(Check {
            name,
            about,
            finding,
        });
    }

    /// Asks everything that there is to ask after the first answer.
    fn ask_all(&mut self, subject: &mut Subject<'_>, dialect: Dialect, greeting: &Greeting) {
        let all = questions(dialect);
        for question in all {
            let finding = subject.check(question.help, |subject| subject.answers(question));
            self.add(question.name, question.about, finding);
        }
        let help = "parse templates when they are loaded, and answer `load` with {\"outcome\": \
                    \"failed\", \"stage\": \"parse\", \"message\"} where that fails";
        let finding = subject.check(help, Subject::refuses_broken);
        self.add(
            "broken",
            "a template that cannot be parsed is refused by `load`",
            finding,
        );
        let Some(plain) = all.first() else { return };
        let help = "keep the last template of each name, and each under its own";
        let finding = subject.check(help, Subject::tells_apart);
        self.add(
            "names",
            "a name that is loaded again is another template",
            finding,
        );
        let help = "ignore the fields of requests that you do not know: later versions have more";
        let finding = subject.check(help, |subject| subject.ignores_more(plain));
        self.add(
            "more-fields",
            "fields that are not known are ignored",
            finding,
        );
        let known: Vec<&str> = greeting
            .fronts
            .iter()
            .map(String::as_str)
            .filter(|name| is_front(name, dialect))
            .collect();
        if !known.is_empty() {
            let help = "where `load` has a `front`, do what that application does, with its \
                        `special_tokens`";
            let finding = subject.check(help, |subject| subject.has_fronts(&known));
            self.add(
                "fronts",
                "what it is an application for is rendered",
                finding,
            );
        }
        let help = "write answers alone to standard output, one for each request; logs go to \
                    standard error";
        let finding = subject.check(help, Subject::is_quiet);
        self.add(
            "standard-output",
            "it says nothing that was not asked",
            finding,
        );
        let help = "let processes share nothing: no locks, no ports, no files that they write";
        let finding = subject.check(help, |subject| subject.runs_twice(plain));
        self.add(
            "two-processes",
            "two processes run beside each other",
            finding,
        );
        let help = "end the program when it reads `stop`";
        let finding = subject.check(help, |subject| subject.ends(true));
        self.add("stop", "it ends at `stop`", finding);
        let help = "end the program when its standard input ends, or it stays behind";
        let finding = match subject.check(help, |subject| subject.ends(false)) {
            Finding::Wrong { seen, help } => Finding::Noted { seen, help },
            other => other,
        };
        self.add("end-of-input", "it ends when its input does", finding);
    }
}

/// What there is to say about a first answer that can be used.
fn introduction(greeting: &Greeting) -> Finding {
    let is_known = |name: &&String| name.parse::<Front>().is_ok();
    if let Some(name) = greeting.fronts.iter().find(|name| !is_known(name)) {
        return Finding::Noted {
            seen: format!("its front `{name}` is none that is asked for"),
            help: "`rolecall list fronts` names them",
        };
    }
    if greeting.engine.trim().is_empty() {
        return Finding::Wrong {
            seen: "its name in `engine` is empty".to_owned(),
            help: "say the engine's name: reports and lists of known differences use it",
        };
    }
    if greeting.version.is_empty() {
        return Finding::Noted {
            seen: "it has no `version`".to_owned(),
            help: "say the engine's version, so that reports tell releases apart",
        };
    }
    Finding::Fine
}

fn is_front(name: &str, dialect: Dialect) -> bool {
    let front = name.parse::<Front>();
    front.is_ok_and(|front| front != Front::Raw && front.is_for(dialect))
}

impl<'c> Subject<'c> {
    /// Checks one thing, with a process that is started anew if the last one broke.
    fn check(
        &mut self,
        help: &'static str,
        check: impl FnOnce(&mut Subject<'c>) -> Result<(), Seen>,
    ) -> Finding {
        if self.crashes >= MOST_CRASHES {
            return Finding::NotTried;
        }
        match check(self) {
            Ok(()) => {
                self.crashes = 0;
                Finding::Fine
            }
            Err(seen) => {
                if seen.is_crash {
                    self.session = None;
                    self.crashes += 1;
                } else {
                    self.crashes = 0;
                }
                Finding::Wrong {
                    seen: seen.words,
                    help,
                }
            }
        }
    }

    /// The process that is asked, and how long it may take.
    fn session(&mut self) -> Result<(&mut Asked, Duration), Seen> {
        if self.session.is_none() {
            let (session, _) = Asked::start(self.command, self.limits).map_err(Seen::crash)?;
            self.session = Some(session);
        }
        let limit = self.limits.time;
        let missing = || Seen::crash("it is gone".to_owned());
        let session = self.session.as_mut().ok_or_else(missing)?;
        Ok((session, limit))
    }

    fn answers(&mut self, question: &Question) -> Result<(), Seen> {
        let (session, limit) = self.session()?;
        session.load(question.name, question.source, limit)?;
        session.render(question, limit)
    }

    fn refuses_broken(&mut self) -> Result<(), Seen> {
        let (session, limit) = self.session()?;
        let (source, stage) = broken(session.dialect);
        match session.ask_to_load("broken", source, None, limit)? {
            Meaning::Outcome(Outcome::Failed { stage: found, .. }) if found == stage => Ok(()),
            Meaning::Outcome(Outcome::Failed { stage: found, .. }) => Err(Seen::of(format!(
                "`{source}` failed at the stage `{}`",
                found.name()
            ))),
            Meaning::Outcome(Outcome::Crashed { message }) => Err(Seen::crash(message)),
            Meaning::Outcome(other) => Err(Seen::of(format!("`{source}`: {}", words(&other)))),
            Meaning::Loaded => Err(Seen::of(format!("`{source}` was loaded"))),
        }
    }

    /// Templates are told apart by their names, and namesakes by which came last.
    fn tells_apart(&mut self) -> Result<(), Seen> {
        let (session, limit) = self.session()?;
        let [a, b, c] = namesakes(session.dialect);
        session.load("one", a, limit)?;
        session.load("two", b, limit)?;
        session.load("one", c, limit)?;
        for (name, source, expected) in [("two", b, "bHi"), ("one", c, "cHi"), ("two", b, "bHi")] {
            session.render(&plain(name, source, expected), limit)?;
        }
        Ok(())
    }

    /// Fields that this version does not have change nothing.
    fn ignores_more(&mut self, plain: &Question) -> Result<(), Seen> {
        let (session, limit) = self.session()?;
        session.load(plain.name, plain.source, limit)?;
        let id = session.next();
        let mut request = session.rendering(plain, id)?;
        let more = serde_json::json!({"more": 1});
        request.insert("of_a_later_version".to_owned(), more);
        let line = session.process.ask(&request, limit).map_err(Seen::crash)?;
        compare(
            Meaning::read(&line, id).map_err(Seen::crash)?,
            &plain.expected,
        )
    }

    /// An application renders for its users.
    fn has_fronts(&mut self, fronts: &[&str]) -> Result<(), Seen> {
        let (session, limit) = self.session()?;
        let tokens = Map::from_iter([("eos_token".to_owned(), Value::from("</s>"))]);
        let source = match session.dialect {
            Dialect::Jinja => "{{ messages[0].content }}{{ eos_token }}",
            Dialect::Go => "{{ range .Messages }}{{ .Content }}</s>{{ end }}",
        };
        for front in fronts {
            let behind = Behind {
                front,
                special_tokens: &tokens,
                setup: Map::new(),
                templates: std::collections::BTreeMap::new(),
            };
            match session.ask_to_load(front, source, Some(behind), limit)? {
                Meaning::Loaded => {}
                Meaning::Outcome(other) => {
                    return Err(Seen::of(format!("front `{front}`: {}", words(&other))));
                }
            }
            let question = plain("fronts", source, "Hi</s>");
            let id = session.next();
            let mut request = session.rendering(&question, id)?;
            request.insert("template".to_owned(), Value::from(*front));
            let line = session.process.ask(&request, limit).map_err(Seen::crash)?;
            let meaning = Meaning::read(&line, id).map_err(Seen::crash)?;
            compare(meaning, &question.expected)
                .map_err(|seen| Seen::of(format!("front `{front}`: {}", seen.words)))?;
        }
        Ok(())
    }

    fn is_quiet(&mut self) -> Result<(), Seen> {
        let (session, _) = self.session()?;
        match session.process.overhear(UNASKED) {
            None => Ok(()),
            Some(line) => Err(Seen::crash(format!("it said {} unasked", shown(&line)))),
        }
    }

    fn runs_twice(&mut self, plain: &Question) -> Result<(), Seen> {
        let (command, limits) = (self.command, self.limits);
        let (first, limit) = self.session()?;
        let second = Asked::start(command, limits);
        let (mut second, _) = second.map_err(|words| Seen::of(format!("the second: {words}")))?;
        for session in [&mut *first, &mut second] {
            session.load(plain.name, plain.source, limit)?;
        }
        for session in [&mut second, first] {
            session.render(plain, limit)?;
        }
        Ok(())
    }

    /// Ends the process, by asking or by the end of its input.
    fn ends(&mut self, is_asked: bool) -> Result<(), Seen> {
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
        Err(Seen::of("it still ran a second later, and was killed"))
    }
}

/// A template for one message that says `Hi`, and its prompt.
fn plain(name: &'static str, source: &'static str, prompt: &'static str) -> Question {
    Question {
        name,
        about: "",
        source,
        messages: r#"[{"role": "user", "content": "Hi"}]"#,
        variables: "{}",
        expected: Expected::Text(prompt),
        help: "",
    }
}

impl Asked {
    fn start(command: &[String], limits: &ProtocolLimits) -> Result<(Asked, Greeting), String> {
        Asked::greet(Asked::spawn(command, limits)?, limits)
    }

    fn spawn(command: &[String], limits: &ProtocolLimits) -> Result<Process, String> {
        Process::spawn_with(command, &[("TZ", ELSEWHERE)], limits.answer)
    }

    fn greet(mut process: Process, limits: &ProtocolLimits) -> Result<(Asked, Greeting), String> {
        let line = process.ask(&Request::Start { rolecall: VERSION }, limits.start)?;
        let greeting = Greeting::read(&line)?;
        let session = Asked {
            process,
            dialect: greeting.dialect()?,
            is_application: !greeting.fronts.is_empty(),
            id: FIRST_ID,
        };
        Ok((session, greeting))
    }

    fn next(&mut self) -> u64 {
        self.id += NEXT_ID;
        self.id
    }

    fn ask_to_load(
        &mut self,
        template: &str,
        source: &str,
        behind: Option<Behind<'_>>,
        limit: Duration,
    ) -> Result<Meaning, Seen> {
        let id = self.next();
        let request = Request::Load {
            id,
            template,
            source,
            behind,
        };
        let line = self.process.ask(&request, limit).map_err(Seen::crash)?;
        Meaning::read(&line, id).map_err(Seen::crash)
    }

    fn load(&mut self, template: &str, source: &str, limit: Duration) -> Result<(), Seen> {
        match self.ask_to_load(template, source, None, limit)? {
            Meaning::Loaded => Ok(()),
            Meaning::Outcome(Outcome::Crashed { message }) => Err(Seen::crash(message)),
            Meaning::Outcome(other) => Err(Seen::of(format!(
                "`{}` was not loaded: {}",
                source.escape_debug(),
                words(&other)
            ))),
        }
    }

    fn render(&mut self, question: &Question, limit: Duration) -> Result<(), Seen> {
        let id = self.next();
        let request = self.rendering(question, id)?;
        let line = self.process.ask(&request, limit).map_err(Seen::crash)?;
        compare(
            Meaning::read(&line, id).map_err(Seen::crash)?,
            &question.expected,
        )
    }

    /// The request for a question, as it would be sent in a run.
    fn rendering(&self, question: &Question, id: u64) -> Result<Map<String, Value>, Seen> {
        let said = |error: serde_json::Error| Seen::of(error.to_string());
        let mut case = Case::from_messages(serde_json::from_str(question.messages).map_err(said)?);
        case.variables = serde_json::from_str(question.variables).map_err(said)?;
        case.now = NOW.parse().unwrap_or_else(|_| Moment::default());
        let template = Template::from_source(question.name, self.dialect, question.source);
        let is_go = self.dialect == Dialect::Go && !self.is_application;
        let program = is_go.then(|| input::go_program(&template)).flatten();
        let conversation = Conversation::new(&case);
        let input = input::of(&conversation, &template, false, program.as_ref());
        let request = Request::Render {
            id,
            template: question.name,
            input: &input,
        };
        // By way of its text: numbers stay as they are written.
        let text = serde_json::to_string(&request).map_err(said)?;
        serde_json::from_str(&text).map_err(said)
    }
}

/// Whether an answer to `render` is the one that is expected.
fn compare(answer: Meaning, expected: &Expected) -> Result<(), Seen> {
    let outcome = match answer {
        Meaning::Outcome(Outcome::Crashed { message }) => return Err(Seen::crash(message)),
        Meaning::Outcome(outcome) => outcome,
        Meaning::Loaded => return Err(Seen::of("it answered `render` with `ok`")),
    };
    let wanted = match (expected, &outcome) {
        (Expected::Text(wanted), Outcome::Rendered { text }) if text == wanted => return Ok(()),
        (Expected::Raised(wanted), Outcome::Raised { message }) if message == wanted => {
            return Ok(());
        }
        (
            Expected::Failed,
            Outcome::Failed {
                stage: Stage::Render,
                ..
            },
        ) => return Ok(()),
        (Expected::Text(wanted), _) => format!("the prompt {wanted:?}"),
        (Expected::Raised(wanted), _) => format!("`raised` with {wanted:?}"),
        (Expected::Failed, _) => "`failed` at the stage `render`".to_owned(),
    };
    Err(Seen::of(format!(
        "{}, where {wanted} is right",
        words(&outcome)
    )))
}

/// An outcome in words.
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
    use rolecall_model::guard::load;

    use super::*;
    use crate::engines::Engines;

    /// The engines of this process give what every question expects, or the question is wrong:
    /// they do what the references do.
    #[test]
    fn our_engines_answer_every_question() {
        let engines = Engines::default();
        for dialect in Dialect::ALL {
            let engine = engines.for_dialect(dialect).unwrap();
            for question in questions(dialect) {
                let template = Template::from_source(question.name, dialect, question.source);
                let messages: Value = serde_json::from_str(question.messages).unwrap();
                let mut case = Case::from_messages(messages.as_array().unwrap().clone());
                case.variables = serde_json::from_str(question.variables).unwrap();
                case.now = NOW.parse().unwrap();
                let outcome = load(engine, &template).render(&Conversation::new(&case));
                let found = compare(Meaning::Outcome(outcome), &question.expected);
                let words = found.err().map(|seen| seen.words);
                assert_eq!(words, None, "{dialect} {}", question.name);
            }
            let (source, stage) = broken(dialect);
            let template = Template::from_source("t", dialect, source);
            let loaded = load(engine, &template);
            let is_refused = matches!(
                loaded.refusal(),
                Some(Outcome::Failed { stage: found, .. }) if *found == stage
            );
            assert!(is_refused, "{source}");
        }
    }
}
