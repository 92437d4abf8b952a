//! The engine protocol, with programs that misbehave in every way.

use std::time::{Duration, Instant};

use rolecall_core::guard::load;
use rolecall_core::{
    Answer, AnswerReader as _, Case, CaseId, Conversation, Dialect, Engine, Limit, Outcome,
    OutcomeKind, ReadOutcome, Stage, Template,
};
use rolecall_front::engines::Engines;
use rolecall_io::protocol::ProtocolError;
use rolecall_io::protocol::{ProtocolEngine, ProtocolLimits};
use rolecall_suite::run::Runner;
use rolecall_suite::suite::{Pair, Suite};
use serde_json::json;

use crate::folder::Folder;
use crate::scratch;

/// The beginning of all scripts. Besides the words of the sessions' engines, `ok` asks and answers that a template is
/// loaded, and `serve` does everything right. `but` does the same, but calls `misbehave` for a message that says `a`.
const PRELUDE: &str = concat!(
    include_str!("sessions/shared/engine-words.sh"),
    r#"
ok() { ask; loaded; }
serve() {
  start
  while ask; do
    case $line in
      *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
      *'"request":"render"'*) text "$(content)" ;;
      *) exit 0 ;;
    esac
  done
}
but() {
  start
  while ask; do
    case $line in
      *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
      *'"content":"a"'*) misbehave ;;
      *) text "$(content)" ;;
    esac
  done
}
"#
);

fn limits() -> ProtocolLimits {
    ProtocolLimits {
        start: Duration::from_secs(10),
        time: Duration::from_millis(1500),
        answer: 20_000,
    }
}

fn start(script: &str) -> Result<ProtocolEngine, ProtocolError> {
    let words = ["sh", "-c", &format!("{PRELUDE}\n{script}")].map(str::to_owned);
    ProtocolEngine::spawn(&words, limits())
}

/// The command line of a script in a folder.
pub(crate) fn command(folder: &Folder, script: &str) -> String {
    let path = folder.write("engine.sh", &format!("{PRELUDE}\n{script}\n"));
    format!("sh '{}'", path.display())
}

fn case(content: &str) -> Case {
    Case::from_messages(vec![json!({"role": "user", "content": content})])
}

fn template() -> Template {
    Template::from_source("t", Dialect::Jinja, "{{ messages[0].content }}")
}

/// The outcomes of several messages, one after the other.
fn outcomes(script: &str, contents: &[&str]) -> Vec<Outcome> {
    let engine = start(script).unwrap();
    let loaded = load(&engine, &template());
    contents
        .iter()
        .map(|content| loaded.render(&Conversation::new(&case(content))))
        .collect()
}

fn rendered(text: &str) -> Outcome {
    Outcome::Rendered { text: text.into() }
}

#[test]
fn every_outcome_comes_through() {
    let answers = r#"start; ok
ask; text 'a\n\u2028'
ask; echo "{\"id\": $id, \"outcome\": \"raised\", \"message\": \"No.\"}"
ask; echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"input\", \"message\": \"m\", \"line\": 0}"
ask; echo "{\"id\": $id, \"outcome\": \"exceeded\", \"limit\": \"time\"}""#;
    assert_eq!(
        outcomes(answers, &["1", "2", "3", "4"]),
        [
            rendered("a\n\u{2028}"),
            Outcome::Raised {
                message: "No.".into()
            },
            Outcome::Failed {
                stage: Stage::Input,
                message: "m".into(),
                line: None
            },
            Outcome::Exceeded { limit: Limit::Time },
        ]
    );
    let engine = start(answers).unwrap();
    assert_eq!(engine.name(), "fake");
    assert_eq!(engine.description(), "fake 1.2 (sh 0)");
}

#[test]
fn a_template_that_is_refused_is_asked_for_once() {
    let script = r#"start; ask
echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"parse\", \"message\": \"m\", \"line\": 3}"
ask; text later"#;
    let refused = Outcome::Failed {
        stage: Stage::Parse,
        message: "m".into(),
        line: Some(3),
    };
    assert_eq!(outcomes(script, &["a", "b"]), [refused.clone(), refused]);
}

/// Whatever a program does wrong with one pair, the pair has crashed, with words that say what
/// happened, and within the time limit.
#[test]
fn misbehaviour_is_a_crash_that_says_what_was_seen() {
    let misbehaviours = [
        ("id=7; text x", "it answered request 7 instead of 2"),
        (
            "echo hello",
            "not an answer (expected value at character 1): `hello`",
        ),
        ("printf '\\377\\n'", "not an answer"),
        ("echo", "not an answer"),
        ("echo '[2]'", "not an answer (no object): `[2]`"),
        ("echo \"{\\\"id\\\": $id}\"", "an answer without `outcome`"),
        (
            "echo \"{\\\"id\\\": $id, \\\"ok\\\": true}\"",
            "it answered `render` with `ok`",
        ),
        (
            "echo \"{\\\"id\\\": $id, \\\"outcome\\\": \\\"ok\\\"}\"",
            "an answer with the outcome `ok`: that a template is loaded is said by {\"id\": 2, \"ok\": true}",
        ),
        ("sleep 60", "no answer within 1.5 s"),
        (
            "echo thinking >&2; sleep 60",
            "no answer within 1.5 s; it said: thinking",
        ),
        (
            "echo gone >&2; exit 3",
            "it ended instead of answering (exit status: 3); it said: gone",
        ),
        ("exit 0", "it ended instead of answering"),
        ("kill -9 $$", "it ended instead of answering (signal: 9"),
        (
            "exec >&-; sleep 60",
            "it closed its output instead of answering",
        ),
        (
            "printf '{\"id\": 2, \"outco'; exit",
            "it ended in the middle of an answer",
        ),
        (
            "head -c 30000 /dev/zero | tr '\\0' x",
            "its answer is longer than the limit",
        ),
        ("yes", "not an answer"),
        (
            ":; }; start; ask; text x; nothing() { :",
            "it answered `load` with `rendered`",
        ),
    ];
    // Side by side, because most of them wait.
    std::thread::scope(|scope| {
        for (script, words) in misbehaviours {
            scope.spawn(move || {
                let begin = Instant::now();
                let script = format!("misbehave() {{ {script}; }}\nbut");
                let outcome = outcomes(&script, &["a"]).remove(0);
                let Outcome::Crashed { message } = &outcome else {
                    panic!("{script}: {outcome:?}");
                };
                assert!(message.starts_with(words), "{script}: {message}");
                assert!(begin.elapsed() < Duration::from_secs(8), "{script}");
            });
        }
    });
}

#[test]
fn after_a_crash_the_program_is_started_anew() {
    let script = r#"start
while ask; do
  case $line in
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *boom*) exit 1 ;;
    *extra*) text extra; echo more ;;
    *) text "$(content)" ;;
  esac
done"#;
    let found = outcomes(script, &["a", "boom", "b", "extra", "c", "d"]);
    let kinds: Vec<_> = found.iter().map(Outcome::kind).collect();
    let (fine, crash) = (OutcomeKind::Rendered, OutcomeKind::Crashed);
    // A line that nobody asked for comes where the next answer should be. That pair goes to a new
    // process.
    assert_eq!(kinds, [fine, crash, fine, fine, fine, fine]);
    assert_eq!(found[5], rendered("d"));
}

/// The requests and the starts of programs, one on a line.
fn counted(script: &str, contents: &[&str]) -> (Vec<Outcome>, usize) {
    let folder = scratch::folder();
    let count = folder.path().join("starts");
    let script = format!("starts={0}; echo >> $starts\n{script}", count.display());
    let outcomes = outcomes(&script, contents);
    let starts = std::fs::read_to_string(count).unwrap();
    (outcomes, starts.lines().count())
}

#[test]
fn a_program_may_end_after_its_answer() {
    let (found, starts) = counted("start; ok; ask; text \"$(content)\"", &["b", "c", "d"]);
    assert_eq!(found, ["b", "c", "d"].map(rendered));
    assert_eq!(starts, 3);
}

/// A pair's result depends only on the pair: not on earlier pairs, and not on pairs that run next
/// to it.
#[test]
fn crashes_are_counted_alike_with_any_number_of_jobs() {
    let script = r#"start
while ask; do
  case $line in
    *'"request":"load"'*'"source":"dies"'*) exit 1 ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *boom*) exit 1 ;;
    *caught*) spoilt=1; echo "{\"id\": $id, \"outcome\": \"crashed\", \"message\": \"caught\"}" ;;
    *) text "$(content)$spoilt" ;;
  esac
done"#;
    let content = |index: usize| match index {
        5..15 => format!("boom-{index}"),
        20..25 => format!("caught-{index}"),
        _ => format!("fine-{index}"),
    };
    let cases = (0..40).map(|index| {
        let mut case = case(&content(index));
        case.id = CaseId::new("many", &format!("c{index}"));
        case
    });
    let suite = Suite {
        templates: [("a", "x"), ("b", "dies"), ("c", "x")]
            .map(|(name, source)| Template::from_source(name, Dialect::Jinja, source))
            .into(),
        cases: cases.collect(),
        ..Suite::default()
    };
    let pairs: Vec<_> = suite.pairs().collect();
    for jobs in [1, 4] {
        let engine = start(script).unwrap();
        let engines = Engines::default();
        let runner = Runner::new(&engines, &[&engine], Some(jobs)).unwrap();
        for found in runner.render(&pairs) {
            let content = found.pair.case.messages[0]["content"].as_str().unwrap();
            let expected = match found.pair.template.name.as_str() {
                "b" => "it ended instead of answering (exit status: 1)",
                _ if content.starts_with("boom") => {
                    "it ended instead of answering (exit status: 1)"
                }
                _ if content.starts_with("caught") => "caught",
                _ => content,
            };
            assert_eq!(found.outcome.text(), expected, "{jobs} jobs: {content}");
        }
    }
}

#[test]
fn a_template_that_ends_the_program_is_loaded_once() {
    let script = r#"start
while ask; do
  case $line in
    *'"template":"t"'*) exit 1 ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *) text x ;;
  esac
done"#;
    let (found, starts) = counted(script, &["1", "2", "3"]);
    let kinds: Vec<_> = found.iter().map(Outcome::kind).collect();
    assert_eq!(kinds, [OutcomeKind::Crashed; 3]);
    // The second process was only asked whether it answers anything.
    assert_eq!(starts, 2);
}

#[test]
fn a_program_that_answers_nothing_is_given_up() {
    let (found, starts) = counted("start; ok; ask; exit 1", &["a"; 9]);
    let message = "it answers nothing: it ended instead of answering (exit status: 1)".to_owned();
    assert_eq!(found, vec![Outcome::NotAsked { message }; 9]);
    assert_eq!(starts, 2);
    let always = r#"start; while ask; do echo "{\"id\": $id, \"ok\": true}"; done"#;
    let (found, starts) = counted(always, &["a"; 9]);
    let message = "it answers nothing: it answered `render` with `ok`".to_owned();
    assert_eq!(found, vec![Outcome::NotAsked { message }; 9]);
    assert_eq!(starts, 2);
}

#[test]
fn a_program_that_does_not_start_any_more_is_given_up() {
    let script = "[ $(wc -l < $starts) -gt 1 ] && exit 7; misbehave() { exit 1; }; but";
    let (found, starts) = counted(script, &["b", "c", "a", "d", "e"]);
    let gone = Outcome::NotAsked {
        message: "it no longer starts: it ended instead of answering (exit status: 7)".to_owned(),
    };
    assert_eq!(
        found,
        [
            rendered("b"),
            rendered("c"),
            gone.clone(),
            gone.clone(),
            gone
        ]
    );
    assert_eq!(starts, 4);
}

/// In no format of the results is a pair that was not asked a crash.
#[test]
fn what_was_not_asked_is_reported_so() {
    let folder = Folder::new();
    let engine = command(&folder, "start; ok; ask; exit 1");
    let run = |format: &str| {
        let against = "rolecall-jinja";
        let format = [
            "run",
            "--engine",
            &engine,
            "--against",
            against,
            "--format",
            format,
        ];
        folder.rolecall(&format)
    };
    let lines = run("jsonl").stdout();
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["outcome"], "not asked");
        assert_eq!(line["verdict"], "unverified");
        assert_eq!(line["unverified"], "the engine was not asked");
    }
    assert!(lines.lines().count() > 1, "{lines}");
    let text = run("human").stdout();
    assert!(
        text.contains("not asked") && !text.contains("crashed"),
        "{text}"
    );
    assert!(text.contains("agree (0.00 %)"), "{text}");
    let why = "not asked chat plain/user\n  One user turn.\n  it answers nothing: it ended";
    assert!(text.contains(why), "{text}");
    // An engine for the verdicts is reported as well.
    let against = folder.rolecall(&["run", "--against", &engine]);
    let words = "the reference was not asked: it answers nothing";
    assert!(against.stdout().contains(words), "{}", against.stdout());
}

/// A request that is larger than a pipe's buffer, to a program that reads nothing.
#[test]
fn a_program_that_does_not_read_blocks_nobody() {
    let begin = Instant::now();
    let large = "x".repeat(4 << 20);
    let script = r#"start; ask; echo "{\"id\": $id, \"ok\": true}"
case $line in *smallest*) ask; text x ;; *) sleep 60 ;; esac"#;
    let outcome = outcomes(script, &[&large]).remove(0);
    assert_eq!(outcome.text(), "no answer within 1.5 s");
    assert!(begin.elapsed() < Duration::from_secs(8));
}

#[test]
fn what_is_no_engine_is_refused_at_the_start() {
    for (script, words) in [
        ("exit 1", "it ended instead of answering (exit status: 1)"),
        (
            "echo oops >&2; exit 2",
            "it ended instead of answering (exit status: 2); it said: oops",
        ),
        (
            "echo hello; sleep 60",
            "not an answer (expected value at character 1): `hello`",
        ),
        (
            r#"echo '{"rolecall": 9, "engine": "x", "dialect": "go"}'"#,
            "it speaks version 9 of the engine protocol, not 1",
        ),
        (
            r#"echo '{"rolecall": 1, "engine": "x", "dialect": "perl"}'"#,
            "its dialect is `perl`; there are `jinja` and `go`",
        ),
    ] {
        let ProtocolError::Start { reason, .. } = start(script).unwrap_err() else {
            panic!("{script}");
        };
        assert!(reason.starts_with(words), "{script}: {reason}");
    }
    let error = ProtocolEngine::start("./no-such-program --x", limits()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the engine `./no-such-program --x` cannot be used: there is no program `./no-such-program`"
    );
    let error = ProtocolEngine::start("A=1 node adapter.mjs", limits()).unwrap_err();
    let reason = "no shell reads the command line; `env A=1 …` sets a variable";
    assert!(error.to_string().ends_with(reason), "{error}");
    let error = ProtocolEngine::start("'x", limits()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`'x` is not a command line: a quote does not end"
    );
}

/// Many pairs on many threads, each thread with a program of its own.
#[test]
fn threads_do_not_get_each_others_answers() {
    let cases = (0..100).map(|index| {
        let mut case = case(&format!("content-{index}"));
        case.id = CaseId::new("many", &format!("c{index}"));
        case
    });
    let suite = Suite {
        templates: ["a", "b", "c"]
            .map(|name| Template::from_source(name, Dialect::Jinja, "x"))
            .into(),
        cases: cases.collect(),
        ..Suite::default()
    };
    let pairs: Vec<_> = suite.pairs().collect();
    let engine = start("serve").unwrap();
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[&engine], Some(4)).unwrap();
    for rendered in runner.render(&pairs) {
        let content = rendered.pair.case.messages[0]["content"].as_str().unwrap();
        assert_eq!(rendered.outcome, self::rendered(content));
        assert_eq!(rendered.engine, "fake");
    }
}

/// One object has everything that a template sees: special tokens, the template's variables, the
/// case's variables.
#[test]
fn variables_arrive_as_the_template_would_see_them() {
    let script = r#"start; ok
ask; printf '{"id": 2, "outcome": "raised", "message": %s}\n' "$(printf '%s' "$line" | sed 's/.*"variables":\(.*\)}$/\1/; s/["\\]/\\&/g; s/.*/"&"/')""#;
    let engine = start(script).unwrap();
    let mut template = template();
    template
        .special_tokens
        .insert("bos_token".into(), "<s>".into());
    let json =
        r#"[{"variables": {"date": 1.50, "bos_token": "[B]", "big": 123456789012345678901}}]"#;
    let mut case = case("a");
    let mut parsed: serde_json::Value = serde_json::from_str(json).unwrap();
    if let serde_json::Value::Object(map) = parsed[0]["variables"].take() {
        case.variables = map;
    }
    let outcome = load(&engine, &template).render(&Conversation::new(&case));
    assert_eq!(
        outcome,
        Outcome::Raised {
            message: r#"{"bos_token":"[B]","date":1.50,"big":123456789012345678901}"#.into()
        }
    );
}

/// A program that has the front itself gets the front's name and the case as it is written. Any
/// other program gets what the template sees.
#[test]
fn an_application_is_given_what_is_written() {
    let greets = |fronts: &str| {
        format!(
            r#"start() {{ ask; echo '{{"rolecall": 1, "engine": "fake", "dialect": "jinja", "fronts": [{fronts}]}}'; }}
front() {{ printf '%s' "$line" | sed -n 's/.*"front":"\([^"]*\)","special_tokens":{{"eos_token":"E"}}.*/\1/p'; }}
tell() {{ printf '{{"id": %s, "outcome": "raised", "message": "%s: %s"}}\n' "$id" "$front" "$(printf '%s' "$line" | sed 's/["\\]/\\&/g')"; }}
start
while ask; do
  case $line in
    *'"request":"load"'*) front=$(front); echo "{{\"id\": $id, \"ok\": true}}" ;;
    *) tell ;;
  esac
done"#
        )
    };
    let mut written = Case::from_messages(vec![json!({
        "role": null,
        "content": [{"type": "image_url", "image_url": "u"}, {"type": "text", "text": "Hi"}],
    })]);
    written.continue_final_message = Some("content".into());
    written.add_generation_prompt = false;
    let raw = written.with_front("raw");
    let asked = |front: &str, fronts: &str, case: &Case| {
        let engine = start(&greets(fronts)).unwrap();
        let engines = Engines::default();
        let runner = Runner::new(&engines, &[&engine], Some(1)).unwrap();
        let mut template = template().with_special_token("eos_token", "E");
        template.front = Some(front.to_owned());
        let template = &template;
        let run = runner.render(&[Pair { template, case }]);
        run[0].outcome.text().to_owned()
    };
    let rest = r#""tools":null,"documents":null,"add_generation_prompt":false,"#;
    let whole = r#""messages":[{"role":null,"content":[{"type":"image_url","image_url":"u"},{"type":"text","text":"Hi"}]}],"#;
    for (front, image) in [
        ("transformers", r#"{"type":"image_url","image_url":"u"}"#),
        ("transformers-processor", r#"{"type":"image","url":"u"}"#),
    ] {
        let application = asked(front, &format!(r#""vllm", "{front}""#), &written);
        let continued = r#""continue_final_message":"content","variables":{}}"#;
        assert!(
            application.starts_with(&format!("{front}: "))
                && application.ends_with(&format!("{whole}{rest}{continued}")),
            "{application}"
        );
        let other = if front == "transformers" {
            r#""transformers-processor""#
        } else {
            r#""transformers""#
        };
        let text = r#"{"type":"text","text":"HiCONTINUE_FINAL_MESSAGE_TAG "}"#;
        let seen = format!(r#""messages":[{{"content":[{image},{text}]}}],"#);
        let tokens = r#""variables":{"eos_token":"E"}}"#;
        for fronts in ["", other] {
            let alone = asked(front, fronts, &written);
            assert!(
                alone.starts_with(": ") && alone.ends_with(&format!("{seen}{rest}{tokens}")),
                "{alone}"
            );
        }
        // Without a front, all programs are engines only.
        for fronts in ["", &format!(r#""{front}""#)] {
            let found = asked(front, fronts, &raw);
            assert!(
                found.starts_with(": ") && found.ends_with(&format!("{whole}{rest}{tokens}")),
                "{found}"
            );
        }
    }
}

/// If a model has several templates, an application gets all of them and chooses itself. Any other
/// program gets the chosen one.
#[test]
fn several_templates_of_a_model_are_one() {
    let script = |fronts: &str| {
        format!(
            r#"start() {{ ask; echo '{{"rolecall": 1, "engine": "fake", "dialect": "jinja", "fronts": [{fronts}]}}'; }}
name() {{ printf '%s' "$line" | sed 's/.*"template":"\([^"]*\)".*/\1/'; }}
start
while ask; do
  case $line in
    *'"request":"load"'*) eval "load_$(name | tr -c 'a-z\n' _)=\$line"; echo "{{\"id\": $id, \"ok\": true}}" ;;
    *) eval "load=\$load_$(name | tr -c 'a-z\n' _)"
       printf '{{"id": %s, "outcome": "raised", "message": "%s"}}\n' "$id" "$(printf '%s' "$load" | sed 's/.*"source"/"source"/; s/["\\]/\\&/g')" ;;
  esac
done"#
        )
    };
    let asked = |fronts: &str, front: &str, tools: Option<Vec<serde_json::Value>>| {
        let engine = start(&script(fronts)).unwrap();
        let engines = Engines::default();
        let runner = Runner::new(&engines, &[&engine], Some(1)).unwrap();
        let source = |name: &str, source: &str| Template::from_source(name, Dialect::Jinja, source);
        let mut template = source("m", "D");
        template.front = Some(front.to_owned());
        template.named = vec![
            ("default".to_owned(), template.clone()),
            ("tool_use".to_owned(), source("m@tool_use", "T")),
        ];
        let mut case = case("a");
        case.tools = tools;
        let pair = Pair {
            template: &template,
            case: &case,
        };
        let run = runner.render(&[pair]);
        run[0].outcome.text().to_owned()
    };
    let none = None;
    let empty = Some(Vec::new());
    let tokenizer = "transformers";
    let processor = "transformers-processor";
    for (front, tools, expected) in [
        (tokenizer, &none, r#""source":"D"}"#),
        (tokenizer, &empty, r#""source":"T"}"#),
        (processor, &none, r#""source":"D"}"#),
        (processor, &empty, r#""source":"D"}"#),
    ] {
        assert_eq!(asked("", front, tools.clone()), expected, "{front}");
        let all = format!(
            r#""source":"D","front":"{front}","special_tokens":{{}},"templates":{{"default":"D","tool_use":"T"}}}}"#
        );
        let fronts = format!(r#""{front}""#);
        assert_eq!(asked(&fronts, front, tools.clone()), all);
    }
}

#[test]
fn no_program_outlives_the_engine() {
    let folder = scratch::folder();
    let pids = folder.path().join("pids");
    let script = format!("echo $$ >> {}; serve", pids.display());
    let engine = start(&script).unwrap();
    let conversation = case("a");
    load(&engine, &template()).render(&Conversation::new(&conversation));
    drop(engine);
    for pid in std::fs::read_to_string(pids).unwrap().lines() {
        let alive = std::process::Command::new("sh")
            .args(["-c", &format!("kill -0 {pid} 2>/dev/null")])
            .status()
            .unwrap();
        assert!(!alive.success(), "{pid} is still there");
    }
}

/// What a program says of these answers, one after the other.
fn readings(script: &str, texts: &[&str]) -> Vec<ReadOutcome> {
    let engine = start(script).unwrap();
    let template = json!({"start_anchor": "A:", "fields": {"content": {}}});
    let read = |text: &&str| {
        let answer = Answer {
            prompt: "A:",
            text,
            tools: None,
        };
        engine.read(&template, &answer)
    };
    texts.iter().map(read).collect()
}

/// A script that reads every text, and calls `misbehave` for the text `a`.
fn reader(misbehave: &str) -> String {
    format!(
        r#"misbehave() {{ {misbehave}; }}
start
while read -r line; do
  id=${{line%%,\"response_template*}}; id=${{id##*\"id\":}}
  case $line in
    *'"text":"a"'*) misbehave ;;
    *) echo "{{\"id\": $id, \"outcome\": \"read\", \"message\": {{\"content\": \"x\"}}}}" ;;
  esac
done"#
    )
}

#[test]
fn a_program_that_breaks_on_one_answer_reads_the_others() {
    let read = ReadOutcome::Read {
        message: json!({"content": "x"}),
    };
    let misbehaviours = [
        ("exit 3", "it ended instead of answering (exit status: 3)"),
        ("sleep 60", "no answer within 1.5 s"),
        ("yes", "not an answer"),
        ("echo '{\"id\": 7}'", "it answered request 7 instead of"),
        (
            "echo \"{\\\"id\\\": $id, \\\"outcome\\\": \\\"rendered\\\"}\"",
            "an answer with the outcome `rendered`",
        ),
    ];
    std::thread::scope(|scope| {
        for (misbehave, words) in misbehaviours {
            let read = &read;
            scope.spawn(move || {
                let outcomes = readings(&reader(misbehave), &["b", "a", "c"]);
                assert_eq!([&outcomes[0], &outcomes[2]], [read, read], "{misbehave}");
                let ReadOutcome::Crashed { message } = &outcomes[1] else {
                    panic!("{misbehave}: {outcomes:?}");
                };
                assert!(message.starts_with(words), "{misbehave}: {message}");
            });
        }
    });
}

#[test]
fn a_program_that_reads_nothing_is_given_up() {
    let outcomes = readings("start; ask; exit 1", &["a"; 5]);
    let message = "it answers nothing: it ended instead of answering (exit status: 1)".to_owned();
    assert_eq!(outcomes, vec![ReadOutcome::NotAsked { message }; 5]);
}
