//! Models that give one answer, and whole servers that are tested with them, prompt and parser.

// The server's words.
#![allow(clippy::print_stderr)]

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use rolecall_answers::mock_model::model::{MockModel, Surroundings};
use rolecall_io::source;
use serde_json::{Value, json};

use crate::folder::{CACHE, Folder, Ran, has};
use crate::remote::server::{Reply, Request, Server};

/// ChatML with calls as JSON.
const TEMPLATE: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}\
    {% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}<|im_end|>\n\
    {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// The user says what the assistant answers: so the fake server knows it.
const CASES: &str = r#"{"about": "Answers.", "cases": {
    "text": {"about": "A text.", "messages": [
        {"role": "user", "content": "{\"content\": \"It is so.\"}"},
        {"role": "assistant", "content": "It is so."}]},
    "byte": {"about": "A text of one byte.", "messages": [
        {"role": "user", "content": "{\"content\": \"7\"}"},
        {"role": "assistant", "content": "7"}]},
    "call": {"about": "A call.", "messages": [
        {"role": "user", "content": "{\"content\": null, \"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}}]}"},
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}]}}}"#;

fn suite() -> Folder {
    let folder = Folder::empty();
    folder.write("cases/templates/t.jinja", TEMPLATE);
    let sidecar = r#"{"about": "A test.", "origin": "a test", "special_tokens": {"eos_token": "<|im_end|>"}}"#;
    folder.write("cases/templates/t.json", sidecar);
    folder.write("cases/conversations/answers.json", CASES);
    folder
}

/// The value of an option of this process.
fn option(name: &str) -> Option<String> {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|one| one == name)?;
    arguments.get(at + 1).cloned()
}

/// Not a test: the program that the tests below start as a server. Its behaviour is the word after
/// `manner`, and its other options are those of llama-server.
#[test]
#[ignore = "a program for other tests"]
fn a_server() {
    let (Some(port), Some(behaviour)) = (option("--port"), option("manner")) else {
        return;
    };
    let template = std::fs::read_to_string(option("--chat-template-file").unwrap()).unwrap();
    assert_eq!(template, TEMPLATE);
    assert_eq!(std::fs::read(option("-m").unwrap()).unwrap()[..4], *b"GGUF");
    if behaviour == "refuses-the-template" {
        eprintln!("0.1 E init: error: Unknown statement: raw\nexiting due to an error");
        std::process::exit(1);
    }
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    let _server = Server::on(listener, usize::MAX, move |request, _| {
        answer(&behaviour, request)
    });
    loop {
        std::thread::park();
    }
}

fn reply(status: u16, body: &Value) -> Reply {
    Reply::new(status, body.to_string()).with("Content-Type", "application/json")
}

fn answer(behaviour: &str, request: &Request) -> Reply {
    match request.path.as_str() {
        "/health" => return reply(200, &json!({"status": "ok"})),
        "/props" => return reply(200, &json!({"build_info": "b1-fake"})),
        "/apply-template" => return reply(200, &json!({"prompt": prompt(behaviour, request)})),
        "/v1/chat/completions" => {}
        other => return reply(404, &json!({"error": {"message": format!("no {other}")}})),
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let asked = body["messages"][0]["content"].as_str().unwrap();
    let mut message: Value = serde_json::from_str(asked).unwrap();
    message["role"] = "assistant".into();
    let is_call = message.get("tool_calls").is_some();
    let bias = body["logit_bias"][0][0].as_u64();
    assert!(bias.is_some_and(|token| token > 0), "{body}");
    let mut written = message["content"].as_str().unwrap_or_default().to_owned();
    match behaviour {
        "drops-calls" => {
            message["tool_calls"] = json!([]);
        }
        "refuses" if is_call => {
            let words = "\n----\nWhile executing X\nError: no calls here";
            return reply(500, &json!({"error": {"message": words}}));
        }
        "forbids" if is_call => "<call>\n".clone_into(&mut written),
        "hangs" if !is_call => return reply(200, &json!({})).after(Duration::from_mins(10)),
        "dies" if is_call => {
            eprintln!("GGML_ASSERT failed");
            eprintln!("terminate: error: out of calls");
            std::process::exit(3);
        }
        "garbage" => return Reply::new(200, "<html>"),
        _ => {}
    }
    if body["stream"] == true {
        if behaviour == "streams-otherwise" && !is_call {
            message["content"] = "It is".into();
        }
        let event = json!({"choices": [{"index": 0, "delta": message}]});
        return Reply::new(200, format!("data: {event}\n\ndata: [DONE]\n\n"))
            .with("Content-Type", "text/event-stream");
    }
    let mut choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    // What was written is known only for texts.
    if !is_call || behaviour == "forbids" {
        let bytes = written.as_bytes();
        choice["logprobs"] = json!({"content": [{"bytes": bytes}, {"bytes": []}]});
    }
    reply(200, &json!({"choices": [choice]}))
}

fn prompt(behaviour: &str, request: &Request) -> String {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let content = body["messages"][0]["content"].as_str().unwrap();
    let more = if behaviour == "prompts-otherwise" {
        "\n"
    } else {
        ""
    };
    format!("<|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n{more}")
}

/// The command line of the server.
fn engine(behaviour: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let program = shlex::try_quote(program.to_str().unwrap())
        .unwrap()
        .into_owned();
    format!(
        "llama-server={program} mock_models::a_server --exact --ignored --nocapture -- manner {behaviour}"
    )
}

fn roundtrip(behaviour: &str, more: &[&str]) -> Ran {
    let folder = suite();
    let engine = engine(behaviour);
    let arguments = [
        "run",
        "--roundtrip",
        "--engine",
        &engine,
        "--limits",
        "time=1s,start=20s",
    ];
    let output = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
        .env("ROLECALL_CACHE", CACHE)
        .env("COLUMNS", "1000")
        // A proxy that does not exist: requests to this machine do not use it.
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .args(arguments)
        .args(more)
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    Ran(output)
}

/// What comes back of the text, of the text of one byte and of the call.
fn returned(behaviour: &str) -> (i32, Vec<Value>) {
    let ran = roundtrip(behaviour, &["--format", "jsonl"]);
    let lines = ran.json_lines();
    assert_eq!(
        lines.len(),
        3,
        "{behaviour}: {}{}",
        ran.stdout(),
        ran.stderr()
    );
    (ran.code(), lines)
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["returned"].as_str().unwrap())
        .collect()
}

#[test]
fn a_mock_model_is_a_model_that_rolecall_reads() {
    let folder = Folder::empty();
    let surroundings = Surroundings {
        template: Some("{{ bos_token }}T".to_owned()),
        bos: Some("<s>".to_owned()),
        eos: Some("</s>".to_owned()),
    };
    let mock_model = MockModel::of("Hello there", surroundings).unwrap();
    let path = folder.path("mock.gguf");
    std::fs::write(&path, mock_model.bytes()).unwrap();
    let found = source::read(&path);
    assert_eq!(found.problems, []);
    let template = &found.templates[0];
    assert_eq!(&*template.source, "{{ bos_token }}T");
    for (name, token) in [("bos_token", "<s>"), ("eos_token", "</s>")] {
        assert_eq!(template.special_tokens[name], token);
    }
}

#[test]
fn the_command_writes_a_mock_model() {
    let folder = suite();
    let ran = folder.rolecall(&[
        "mock-model",
        "Hello",
        "--template",
        "cases/templates/t.jinja",
        "-o",
        "p.gguf",
    ]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    has(
        &ran.stderr(),
        &["the model answers with 5 bytes in 2 tokens"],
    );
    let surroundings = Surroundings {
        template: Some(TEMPLATE.to_owned()),
        bos: None,
        eos: Some("<|im_end|>".to_owned()),
    };
    let expected = MockModel::of("Hello", surroundings).unwrap().bytes();
    assert!(std::fs::read(folder.path("p.gguf")).unwrap() == expected);
    // A file is taken byte by byte, and a pipe gets the model itself.
    folder.write("text", "Hello\n");
    let ran = folder.rolecall(&["mock-model", "--file", "text"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let expected = MockModel::of("Hello\n", Surroundings::default())
        .unwrap()
        .bytes();
    assert!(ran.0.stdout == expected);
}

#[test]
fn what_a_server_reads_back_is_counted() {
    let (code, lines) = returned("answers");
    assert_eq!((code, kinds(&lines)), (0, vec!["read-back"; 3]));
    assert_eq!(lines[0]["version"], "b1-fake");
    assert_eq!(lines[0]["text"], "It is so.");
    assert_eq!(lines[0].get("prompt"), None);
    let ran = roundtrip("answers", &[]);
    has(
        &ran.stdout(),
        &[
            "      3 read back\n",
            "llama-server b1-fake, ",
            "3 messages of 1 template: 3 read back\n",
        ],
    );
    // A filter chooses cases.
    let ran = roundtrip("answers", &["t:answers/text"]);
    has(&ran.stdout(), &["1 message of 1 template: 1 read back\n"]);
}

#[test]
fn a_call_that_a_server_drops_is_named() {
    let ran = roundtrip("drops-calls", &[]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "      2 read back\n",
            "      1 changed\n",
            "answers/call#1: changed\n  call 1: lost\n    meant \"f\"\n",
        ],
    );
}

#[test]
fn what_a_server_refuses_or_forbids_is_distinguished() {
    let (code, lines) = returned("refuses");
    assert_eq!(
        (code, kinds(&lines)),
        (1, vec!["read-back", "read-back", "refused"])
    );
    has(lines[2]["words"].as_str().unwrap(), &["no calls here"]);
    let (_, lines) = returned("forbids");
    assert_eq!(kinds(&lines), ["read-back", "read-back", "forbidden"]);
    assert_eq!(lines[2]["words"], "<call>\n");
    let (_, lines) = returned("refuses-the-template");
    assert_eq!(kinds(&lines), ["refused"; 3]);
    assert_eq!(
        lines[0]["words"],
        "it does not start: Unknown statement: raw"
    );
}

#[test]
fn streams_and_prompts_that_differ_are_noted() {
    let (code, lines) = returned("streams-otherwise");
    assert_eq!((code, kinds(&lines)), (1, vec!["read-back"; 3]));
    assert_eq!(lines[0]["streamed"]["content"], "It is");
    assert_eq!(lines[2].get("streamed"), None);
    let (code, lines) = returned("prompts-otherwise");
    assert_eq!((code, kinds(&lines)), (0, vec!["read-back"; 3]));
    assert!(
        lines[0]["prompt"]
            .as_str()
            .unwrap()
            .ends_with("assistant\n\n")
    );
}

#[test]
fn what_no_mock_model_can_write_is_not_counted_against_the_server() {
    let folder = suite();
    // The prompt ends with a line break, too.
    let cases = CASES.replace("\"It is so.\"}]", "\"\\n\"}]");
    folder.write("cases/conversations/answers.json", &cases);
    let engine = engine("answers");
    let run = [
        "run",
        "--roundtrip",
        "--engine",
        &engine,
        "--format",
        "jsonl",
    ];
    let ran = folder.rolecall(&run);
    let lines = ran.json_lines();
    assert_eq!(kinds(&lines), ["untested", "read-back", "read-back"]);
    has(
        lines[0]["words"].as_str().unwrap(),
        &["cannot write one byte"],
    );
    assert_eq!(ran.code(), 0);
}

#[test]
fn a_server_that_misbehaves_never_stops_the_run() {
    let begin = Instant::now();
    let (code, lines) = returned("hangs");
    assert_eq!(
        (code, kinds(&lines)),
        (1, vec!["failed", "failed", "read-back"])
    );
    assert_eq!(lines[0]["words"], "no answer within 1 s");
    assert!(begin.elapsed() < Duration::from_secs(30));
    let (_, lines) = returned("dies");
    assert_eq!(kinds(&lines), ["read-back", "read-back", "failed"]);
    assert_eq!(lines[2]["words"], "out of calls");
    let (_, lines) = returned("garbage");
    assert_eq!(kinds(&lines), ["failed"; 3]);
    has(
        lines[0]["words"].as_str().unwrap(),
        &["its answer to /v1/chat/completions"],
    );
}
