//! Programs that read answers with parsers of their own, over the engine protocol, and programs
//! that misbehave. Sessions in `parsers` try the command `roundtrip` with `--engine`.

use std::time::Duration;

use rolecall_core::{Answer, Dialect, Limit, ReadOutcome, Template, TemplateReader as _};
use rolecall_io::protocol::{ProtocolEngine, ProtocolLimits};
use serde_json::{Map, json};

/// The beginning of all scripts: the words of the sessions' programs, and `serve`, which reads every answer and calls
/// `misbehave` for the text `a`.
const PRELUDE: &str = concat!(
    include_str!("sessions/shared/reader-words.sh"),
    r#"
serve() {
  greet '["chat_template"]'
  while ask; do
    case $line in
      *'"request":"load"'*) loaded ;;
      *'"text":"a"'*) misbehave ;;
      *'"request":"parse"'*) read_as "$(part text)" ;;
      *) exit 0 ;;
    esac
  done
}
"#
);

fn start(script: &str) -> ProtocolEngine {
    let words = ["sh", "-c", &format!("{PRELUDE}\n{script}")].map(str::to_owned);
    let limits = ProtocolLimits {
        start: Duration::from_secs(10),
        time: Duration::from_millis(1500),
        answer: 20_000,
    };
    ProtocolEngine::spawn(&words, limits).unwrap()
}

fn template(name: &str) -> Template {
    Template::from_source(name, Dialect::Jinja, "{{ messages }}")
}

fn answer(text: &str) -> Answer<'_> {
    Answer {
        prompt: "A:",
        text,
        tools: None,
    }
}

/// What a program makes of these answers, one after the other.
fn readings(script: &str, texts: &[&str]) -> Vec<ReadOutcome> {
    let engine = start(script);
    let parsers = engine.parsers(&template("t"));
    let read = |text: &&str| parsers.read(&answer(text), &Map::new());
    texts.iter().map(read).collect()
}

fn content(text: &str) -> ReadOutcome {
    ReadOutcome::Read {
        message: json!({"content": text}),
    }
}

fn crashed(outcome: &ReadOutcome) -> &str {
    match outcome {
        ReadOutcome::Crashed { message } => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_template_is_loaded_once_and_its_parsers_are_named() {
    // The program says how many templates it has loaded, and what the request holds.
    let engine = start(
        r#"greet '["chat_template", "more"]'; loads=0
while ask; do
  case $line in
    *'"request":"load"'*) loads=$((loads + 1)); loaded ;;
    *) rest=${line#*\"template\":}; read_as "$loads $(printf '%s' "$rest" | sed 's/"/*/g')" ;;
  esac
done"#,
    );
    assert!(engine.has_parsers() && !engine.reads_answers());
    let (one, other) = (
        engine.parsers(&template("t")),
        engine.parsers(&template("u")),
    );
    assert!(one.names().is_empty());
    let variables = Map::from_iter([("enable_thinking".to_owned(), json!(false))]);
    for _ in 0..2 {
        let read = one.read(&answer("x"), &variables);
        let request =
            "1 *t*,*variables*:{*enable_thinking*:false},*prefix*:*A:*,*text*:*x*,*tools*:null}";
        assert_eq!(read, content(request));
    }
    assert_eq!(one.names(), ["tags"]);
    let read = other.read(&answer("x"), &Map::new());
    assert_eq!(
        read,
        content("2 *u*,*variables*:{},*prefix*:*A:*,*text*:*x*,*tools*:null}")
    );
}

#[test]
fn a_program_that_breaks_on_one_answer_reads_the_others() {
    let misbehaviours = [
        ("exit 3", "it ended instead of answering (exit status: 3)"),
        ("sleep 60", "no answer within 1.5 s"),
        ("yes", "not an answer"),
        (
            "printf '%s' '{'; exit",
            "it ended in the middle of an answer",
        ),
        ("id=7; read_as x", "it answered request 7 instead of"),
        ("loaded", "an answer without `outcome`"),
        (
            "echo \"{\\\"id\\\": $id, \\\"outcome\\\": \\\"read\\\"}\"",
            "an answer without `message`",
        ),
        (
            "echo \"{\\\"id\\\": $id, \\\"outcome\\\": \\\"rendered\\\", \\\"text\\\": \\\"\\\"}\"",
            "an answer with the outcome `rendered`",
        ),
        (
            "echo \"{\\\"id\\\": $id, \\\"error\\\": \\\"what?\\\"}\"",
            "it did not understand the request: what?",
        ),
    ];
    std::thread::scope(|scope| {
        for (misbehave, words) in misbehaviours {
            scope.spawn(move || {
                let script = format!("misbehave() {{ {misbehave}; }}\nserve");
                let outcomes = readings(&script, &["b", "a", "c"]);
                assert_eq!(outcomes[0], content("b"), "{misbehave}");
                assert_eq!(outcomes[2], content("c"), "{misbehave}");
                let message = crashed(&outcomes[1]);
                assert!(message.starts_with(words), "{misbehave}: {message}");
            });
        }
    });
}

#[test]
fn outcomes_of_reading_come_through() {
    let says = |answer: &str| {
        let script =
            format!("misbehave() {{ printf '{{\"id\": %s, {answer}}}\\n' \"$id\"; }}\nserve");
        readings(&script, &["a"]).remove(0)
    };
    assert_eq!(
        says(r#""outcome": "unsupported", "message": "no parser""#),
        ReadOutcome::Unsupported {
            message: "no parser".into()
        }
    );
    assert_eq!(
        says(r#""outcome": "failed", "kind": "KeyError", "message": "m""#),
        ReadOutcome::Failed {
            kind: "KeyError".into(),
            message: "m".into()
        }
    );
    assert_eq!(
        says(r#""outcome": "exceeded", "limit": "time""#),
        ReadOutcome::Exceeded { limit: Limit::Time }
    );
}

#[test]
fn a_template_that_is_not_loaded_is_asked_for_once() {
    let refused = r#"greet '["chat_template"]'; ask
echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"parse\", \"message\": \"no\"}"; sleep 60"#;
    let outcome = ReadOutcome::Unsupported {
        message: "it does not load the template: no".into(),
    };
    assert_eq!(readings(refused, &["x"; 3]), vec![outcome; 3]);

    // It loads the smallest template, and no other.
    let ends = r#"greet '["chat_template"]'
while ask; do
  case $line in *'"source":"x"'*) loaded ;; *smallest*) read_as x ;; *) exit 4 ;; esac
done"#;
    let outcomes = readings(ends, &["x"; 3]);
    let message = "it ended instead of answering (exit status: 4)";
    assert!(
        outcomes.iter().all(|it| crashed(it) == message),
        "{outcomes:?}"
    );
}

#[test]
fn a_program_that_reads_nothing_is_given_up() {
    let outcomes = readings("greet '[\"chat_template\"]'; ask; exit 1", &["x"; 5]);
    let message = "it answers nothing: it ended instead of answering (exit status: 1)".to_owned();
    assert_eq!(outcomes, vec![ReadOutcome::NotAsked { message }; 5]);
}
