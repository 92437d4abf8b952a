//! The command `fingerprint`: finds out by counts of tokens what a hosted server makes of requests.

use std::io::Write;
use std::thread;
use std::time::Duration;

use crate::report::fingerprint::{self as report, Found};
use crate::report::progress::Progress;
use crate::report::{assumed, counted, thousands};
use rolecall_check::card;
use rolecall_check::fingerprint::{Answer, Fingerprint};
use rolecall_check::tokenizer::Tokenizer;
use rolecall_core::{Dialect, Template};

use crate::args::FingerprintArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::servers::{CountingServer, NoCount};
use crate::session::Session;
use crate::{inputs, interactive, vocabulary};

/// The longest time that is waited because a server asks for it.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

pub(super) fn execute(
    arguments: &FingerprintArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let limits = arguments.limits.chosen().program;
    let server = CountingServer::new(&arguments.server, &limits, arguments.max_tokens);
    let server = server.map_err(Failure::Request)?;
    let templates = templates(arguments)?;
    let tokenizer = tokenizer(&templates)?;
    let session = Session::new(&arguments.limits, None);
    let engine = session.engines.for_dialect(Dialect::Jinja);
    let runner = session.own_runner()?;
    let fingerprint =
        runner.on_its_threads(|| Fingerprint::new(engine, &templates, &tokenizer, arguments.front));
    let mut fingerprint = fingerprint.map_err(Failure::Request)?;
    // Before the first request of any kind: `only_model` asks the server, too.
    agree(arguments, &server, &fingerprint)?;
    let at = |why: String| Failure::Request(format!("{}: {why}", server.address()));
    let model = match &arguments.model {
        Some(model) => model.clone(),
        None => server.only_model().map_err(at)?,
    };
    let next =
        |fingerprint: &mut Fingerprint<'_>| runner.on_its_threads(|| fingerprint.next_question());
    let (requests, stopped) = ask(arguments, &server, &model, &mut fingerprint, next);
    let conclusion = runner.on_its_threads(|| fingerprint.conclusion());
    let Some(conclusion) = conclusion.map_err(Failure::Request)? else {
        return Err(at(stopped.unwrap_or_default()));
    };
    let found = Found {
        server: server.address(),
        model,
        templates: &templates,
        fingerprint: &fingerprint,
        conclusion,
        requests,
        stopped,
    };
    report::write(out, &found, arguments.format)?;
    Ok(Status::of(!found.is_undecided(), found.is_expected()))
}

/// The tokenizer of the first template that has one.
fn tokenizer(templates: &[Template]) -> Result<Tokenizer, Failure> {
    let mut with_vocabulary = templates.iter().filter(|one| !one.vocabulary.is_empty());
    // Without a vocabulary the error says what is missing.
    let tokenizer = vocabulary::tokenizer(with_vocabulary.next().unwrap_or(&templates[0]))?;
    if tokenizer.is_whole() {
        return Ok(tokenizer);
    }
    Err(Failure::Request(
        "a GGUF file only names its tokenizer, so no tokens can be counted with it\n  name the model's \
         folder or its name on the hub with --templates, which have tokenizer.json"
            .to_owned(),
    ))
}

/// The templates that the server may have; the first one is expected.
fn templates(arguments: &FingerprintArguments) -> Result<Vec<Template>, Failure> {
    let (first, others) = arguments.templates.split_at(1);
    let mut all = Vec::new();
    for named in [first, others]
        .into_iter()
        .filter(|named| !named.is_empty())
    {
        let suite = inputs::open(&inputs::templates_only(named, &arguments.set))?.suite;
        if !suite.problems.is_empty() {
            report_problems(&suite.problems)?;
            return Err(Failure::Request(
                "the templates cannot be compared: see above".to_owned(),
            ));
        }
        let is_first = all.is_empty();
        if is_first && suite.templates.len() != 1 {
            let names: Vec<&str> = suite.templates.iter().map(|it| it.name.as_str()).collect();
            return Err(Failure::Request(format!(
                "the first template is the expected one, and {} has {}: {}",
                first[0].display(),
                names.len(),
                names.join(", ")
            )));
        }
        all.extend(suite.templates);
    }
    if let Some(go) = all.iter().find(|one| one.dialect != Dialect::Jinja) {
        return Err(Failure::Request(format!(
            "{} is a Go template, and tokens are counted for Jinja templates",
            go.name
        )));
    }
    for template in &all {
        if let Some(sentence) = assumed::in_words("rendered", &card::assumed(template)) {
            tell(&format!("{}: {sentence}", template.name));
        }
    }
    let all = all.iter();
    Ok(all
        .map(|one| card::with_assumed_tokens(one).into_owned())
        .collect())
}

/// Says what would be sent, and asks whether to send it. The error says that it is not sent.
fn agree(
    arguments: &FingerprintArguments,
    server: &CountingServer,
    fingerprint: &Fingerprint<'_>,
) -> Result<(), Failure> {
    let questions = fingerprint.questions();
    let requests = most(arguments, fingerprint);
    let names: Vec<&str> = questions.iter().map(|one| one.name.as_str()).collect();
    let generated = if server.generates() {
        format!(
            " and generates at most {}",
            counted(usize::from(arguments.max_tokens), "token", "tokens")
        )
    } else {
        " and generates nothing".to_owned()
    };
    let key = if server.has_key() {
        ", with the key in ROLECALL_API_KEY"
    } else {
        ""
    };
    let plan = format!(
        "at most {} to {}{}{key}\n  each of them has a conversation of made-up words{generated}\n  \
         all prompts have at most {} tokens, as the given tokenizer counts them; a server that adds \
         texts counts more",
        counted(requests, "request", "requests"),
        server.address(),
        server.path(),
        thousands(usize::try_from(fingerprint.most_tokens(requests)).unwrap_or(usize::MAX)),
    );
    if arguments.yes {
        tell(&plan);
        return Ok(());
    }
    let plan = format!(
        "{plan}\n  the conversations are among these {}: {}",
        names.len(),
        names.join(", ")
    );
    match interactive::agrees(&format!("{plan}\nSend them?"))? {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::Request("nothing was sent".to_owned())),
        None => Err(Failure::Request(format!(
            "nothing was sent: --yes sends {plan}"
        ))),
    }
}

/// The most requests that are sent. Some repeat earlier ones.
fn most(arguments: &FingerprintArguments, fingerprint: &Fingerprint<'_>) -> usize {
    usize::from(arguments.requests).min(2 * fingerprint.questions().len())
}

/// Asks one question after the other, as long as `next` has one. Returns how many requests were sent, and why no
/// more were.
fn ask(
    arguments: &FingerprintArguments,
    server: &CountingServer,
    model: &str,
    fingerprint: &mut Fingerprint<'_>,
    next: impl Fn(&mut Fingerprint<'_>) -> Option<usize>,
) -> (usize, Option<String>) {
    let most = most(arguments, fingerprint);
    let progress = Progress::new(most, "asking", "requests");
    let step = progress.slow_step();
    let mut requests = 0;
    let mut waits = None;
    while requests < most {
        // A question that the server wants to be asked again waits.
        let (question, is_again) = match waits.take() {
            Some(question) => (question, true),
            None => match next(fingerprint) {
                Some(question) => (question, false),
                None => break,
            },
        };
        if requests > 0 {
            thread::sleep(arguments.pause);
        }
        requests += 1;
        step();
        match server.count(model, &fingerprint.questions()[question].case) {
            Ok(answer) => fingerprint.add(question, answer),
            Err(NoCount {
                pause: Some(pause), ..
            // Each try counts as a request. A server that always asks for a pause would use up all of
            // them for one question.
            }) if pause <= LONGEST_PAUSE && !is_again => {
                thread::sleep(pause);
                waits = Some(question);
            }
            Err(NoCount { why, .. }) => return (requests, Some(why)),
        }
    }
    let answers = fingerprint.answers();
    let is_counted = |(_, answer): &(usize, Answer)| matches!(answer, Answer::Counted(_));
    let stopped = match answers.last() {
        Some((_, Answer::Refused(words) | Answer::Failed(words)))
            if !answers.iter().any(is_counted) =>
        {
            Some(format!("it refuses every conversation: {words}"))
        }
        _ => None,
    };
    (requests, stopped)
}
