//! The command `fingerprint`. Servers on this machine count as a hosted one does; their tokens are bytes.

use std::time::Duration;

use rolecall_core::{Case, Dialect, Template};
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use serde_json::{Value, json};

use crate::extent::sample;
use crate::folder::{Folder, Ran};
use crate::remote::server::{Reply, Request, Server};

const SOURCE: &str = "{{ tools | tojson if tools else '' }}{% for m in messages %}<{{ m.role }}>\
    {{ m.reasoning_content or '' }}{{ m.content if m.content is string else m.content | length }}\
    {% for c in m.tool_calls or [] %}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}\
    {% if add_generation_prompt %}<assistant>{{ 'hm' if enable_thinking }}{% endif %}";

/// A folder with a model whose tokens are bytes.
fn folder() -> Folder {
    let folder = Folder::empty();
    // The characters that stand for bytes in GPT-2's vocabulary.
    let is_shown = |byte: u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let hidden: Vec<u32> = (0..256).filter(|byte| !is_shown(*byte)).collect();
    let sign = |byte: u32| match hidden.iter().position(|one| *one == byte) {
        Some(place) => 256 + u32::try_from(place).unwrap(),
        None => byte,
    };
    let vocabulary = (0..256).map(|byte| {
        let sign = char::from_u32(sign(byte)).unwrap();
        (sign.to_string(), Value::from(byte))
    });
    let vocabulary: serde_json::Map<String, Value> = vocabulary.collect();
    let tokenizer = json!({
        "version": "1.0", "added_tokens": [],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    });
    folder.write("model/tokenizer.json", &tokenizer.to_string());
    folder.write("model/tokenizer_config.json", "{}");
    folder.write("model/chat_template.jinja", SOURCE);
    folder
}

/// The prompt that vLLM makes of a request.
fn prompt(body: &Value) -> Option<String> {
    let template = Template::from_source("model", Dialect::Jinja, SOURCE);
    let engines = Engines::default();
    let program = FrontProgram::load(engines.for_dialect(Dialect::Jinja), &template);
    let mut case = Case::from_messages(body["messages"].as_array()?.clone());
    case.tools = body.get("tools").and_then(Value::as_array).cloned();
    let variables = body["chat_template_kwargs"].as_object();
    case.variables = variables.cloned().unwrap_or_default();
    let input = PreparedCase::new(&case, Front::Vllm, &program.model);
    program.outcome(&input).into_prompt().ok()
}

fn json_reply(status: u16, body: &Value) -> Reply {
    Reply::new(status, body.to_string()).with("Content-Type", "application/json")
}

fn counted(tokens: usize) -> Reply {
    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 1});
    json_reply(200, &json!({"choices": [], "usage": usage}))
}

/// A server with one model. `answer` gets the body of a request and the number of those before.
fn server(answer: impl Fn(&Value, usize) -> Reply + Send + Sync + 'static) -> Server {
    Server::new(
        move |request: &Request, before| match request.path.as_str() {
            "/v1/models" => json_reply(200, &json!({"data": [{"id": "own"}]})),
            "/v1/chat/completions" => {
                let body: Value = serde_json::from_slice(&request.body).unwrap();
                assert_eq!(
                    (&body["max_tokens"], &body["model"]),
                    (&json!(1), &json!("own"))
                );
                answer(&body, before)
            }
            other => panic!("nobody said that {other} would be asked"),
        },
    )
}

/// A server that changes each request, and makes a prompt as vLLM does.
fn changing(change: fn(&mut Value)) -> Server {
    server(move |body, _| {
        let mut body = body.clone();
        change(&mut body);
        match prompt(&body) {
            Some(prompt) => counted(prompt.len()),
            None => json_reply(400, &json!({"error": {"message": "not this"}})),
        }
    })
}

fn ask(folder: &Folder, server: &Server, more: &[&str]) -> Ran {
    let address = format!("{}/v1", server.address);
    let named = ["fingerprint", &address, "--templates", "model"];
    let front = ["--front", "vllm"];
    folder.rolecall(&[&named[..], &front, more].concat())
}

#[test]
fn a_server_is_found_out_by_its_counts() {
    type Row = (fn(&mut Value), &'static str, i32);
    let folder = folder();
    let rows: [Row; 4] = [
        (|_| (), "", 0),
        (
            |body| {
                body.as_object_mut().unwrap().remove("tools");
            },
            "tools are hidden",
            1,
        ),
        (
            |body| {
                for message in body["messages"].as_array_mut().unwrap() {
                    let message = message.as_object_mut().unwrap();
                    message.retain(|name, _| {
                        !["reasoning", "reasoning_content"].contains(&name.as_str())
                    });
                }
            },
            "reasoning is lost",
            1,
        ),
        (
            |body| {
                let messages = body["messages"].as_array_mut().unwrap();
                let system = json!({"role": "system", "content": "Our own words."});
                let is_system = |one: &Value| one["role"] == "system" || one["role"] == "developer";
                if !messages.iter().any(is_system) {
                    messages.insert(0, system);
                }
            },
            "a hidden system text of 14 tokens in each conversation without a system message",
            1,
        ),
    ];
    for (change, expected, code) in sample(rows.to_vec(), 4) {
        let server = changing(change);
        let ran = ask(
            &folder,
            &server,
            &["--yes", "--format", "json", "--limits", "time=60s"],
        );
        assert_eq!(ran.code(), code, "{}{}", ran.stdout(), ran.stderr());
        let found: Value = serde_json::from_str(&ran.stdout()).unwrap();
        let way = &found["found"]["way"];
        assert_eq!(
            (&way["template"], &way["front"]),
            (&json!("model"), &json!("vllm")),
            "{found}"
        );
        let names = way["changes"].as_array().unwrap().iter();
        let names: Vec<&str> = names.map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names.join(", "), expected, "{found:#}");
        assert_eq!(found["found"]["contradicted_by"], json!([]));
        // One request for the model, and those that are counted.
        let asked = server.asked();
        assert_eq!(found["requests"], asked.len() - 1);
        assert!(asked.len() <= 41, "{}", asked.len());
        assert!(
            asked
                .iter()
                .all(|one| one.header("authorization").is_none())
        );
    }
}

#[test]
fn nothing_is_sent_without_consent() {
    let folder = folder();
    let server = changing(|_| ());
    let ran = ask(&folder, &server, &["--requests", "12"]);
    assert_eq!((ran.code(), ran.stdout().as_str()), (2, ""));
    let words = ran.stderr();
    assert!(
        words.contains("nothing was sent: --yes sends at most 12 requests to http://"),
        "{words}"
    );
    assert!(words.contains("call-result"), "{words}");
    assert!(server.asked().is_empty());
}

#[test]
fn a_server_whose_counts_say_nothing_is_named_so() {
    let folder = folder();
    let unsteady =
        server(|body, before| counted(prompt(body).map_or(1, |prompt| prompt.len()) + before));
    let constant = server(|_, _| counted(100));
    let limited = server(|body, before| match before {
        6.. => json_reply(429, &json!({"error": "slow down"})),
        _ => counted(prompt(body).map_or(1, |prompt| prompt.len())),
    });
    let failing = server(|body, _| match body["tools"].as_array() {
        Some(_) => json_reply(500, &json!({"error": "no parser"})),
        None => counted(prompt(body).map_or(1, |prompt| prompt.len())),
    });
    let servers = vec![
        (&unsteady, 1, "tokens for the same conversation"),
        (&constant, 1, "counts the same for each conversation"),
        (
            &limited,
            2,
            "stopped after 7 requests: the server is not ready: slow down http",
        ),
        (&failing, 1, "and fails on some conversations"),
    ];
    for (server, code, words) in sample(servers, 4) {
        let ran = ask(&folder, server, &["--yes"]);
        assert_eq!(ran.code(), code, "{}{}", ran.stdout(), ran.stderr());
        let out = ran
            .stdout()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(out.contains(words), "{out}");
        let is_limited = out.contains("was asked too little for a verdict");
        assert_eq!(is_limited, code == 2, "{out}");
    }
}

#[test]
#[ignore = "long: .ci/nightly tries it"]
fn too_few_requests_are_no_verdict() {
    let folder = folder();
    let ran = ask(&folder, &changing(|_| ()), &["--yes", "--requests", "5"]);
    assert_eq!(ran.code(), 2, "{}", ran.stdout());
    assert!(
        ran.stdout().contains("was asked too little for a verdict"),
        "{}",
        ran.stdout()
    );
}

#[test]
#[ignore = "long: .ci/nightly tries it"]
fn a_server_is_asked_as_it_wants_to_be() {
    let folder = folder();
    let server = Server::new(|request: &Request, before| match request.path.as_str() {
        "/v1/models" => json_reply(200, &json!({"data": [{"id": "own"}]})),
        // It is busy once.
        _ if before == 4 => json_reply(429, &json!({"error": "wait"})).with("Retry-After", "0"),
        _ => {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            match (body.get("max_completion_tokens"), prompt(&body)) {
                (None, _) => json_reply(400, &json!({"error": "use `max_completion_tokens`"})),
                (Some(tokens), Some(prompt)) if *tokens == 16 => counted(prompt.len()),
                _ => json_reply(400, &json!({"error": "not this"})),
            }
        }
    });
    let arguments = ["--yes", "--max-tokens", "16", "--format", "json"];
    let ran = ask(&folder, &server, &arguments);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    let found: Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(found["requests"], server.asked().len() - 1);
}

/// It ends the search, even if it says how long to wait.
#[test]
#[ignore = "long: .ci/nightly tries it"]
fn a_server_that_is_always_busy_is_given_up() {
    let folder = folder();
    let busy = Server::new(
        |request: &Request, before| match (request.path.as_str(), before) {
            ("/v1/models", _) => json_reply(200, &json!({"data": [{"id": "own"}]})),
            (_, 5..) => json_reply(429, &json!({"error": "wait"})).with("Retry-After", "0"),
            _ => {
                let body = serde_json::from_slice(&request.body).unwrap();
                counted(prompt(&body).map_or(1, |prompt| prompt.len()))
            }
        },
    );
    let ran = ask(&folder, &busy, &["--yes"]);
    assert_eq!(ran.code(), 2, "{}{}", ran.stdout(), ran.stderr());
    let words = "stopped after 7 requests: the server is not ready: wait";
    assert!(ran.stdout().contains(words), "{}", ran.stdout());
}

#[test]
#[ignore = "long: .ci/nightly tries it"]
fn a_page_of_status_500_is_a_failure() {
    let folder = folder();
    let server = server(|body, _| match body["tools"].as_array() {
        Some(_) => Reply::new(500, "Internal Server Error"),
        None => counted(prompt(body).map_or(1, |prompt| prompt.len())),
    });
    let ran = ask(&folder, &server, &["--yes", "--format", "json"]);
    let found: Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!((ran.code(), &found["verdict"]), (1, &json!("failing")));
}

#[test]
#[ignore = "long: .ci/nightly tries it"]
fn what_right_servers_do_is_expected_without_an_application() {
    let folder = folder();
    let joined = |body: &mut Value, between: &str| {
        for message in body["messages"].as_array_mut().unwrap() {
            if let Some(parts) = message["content"].as_array() {
                let texts = parts.iter().map(|part| part["text"].as_str().unwrap());
                message["content"] = texts.collect::<Vec<_>>().join(between).into();
            }
        }
    };
    let template = Template::from_source("model", Dialect::Jinja, SOURCE);
    for between in [Some("\n"), None, Some("")] {
        let template = template.clone();
        let server = server(move |body, _| {
            let mut body = body.clone();
            if let Some(between) = between {
                joined(&mut body, between);
            }
            let mut case = Case::from_messages(body["messages"].as_array().unwrap().clone());
            case.tools = body.get("tools").and_then(Value::as_array).cloned();
            let variables = body["chat_template_kwargs"].as_object();
            case.variables = variables.cloned().unwrap_or_default();
            let calls = case.messages.iter_mut();
            let calls = calls.filter_map(|one| one.get_mut("tool_calls")?.as_array_mut());
            for call in calls.flatten() {
                let arguments = &mut call["function"]["arguments"];
                if let Ok(read) = serde_json::from_str(arguments.as_str().unwrap_or_default()) {
                    *arguments = read;
                }
            }
            let engines = Engines::default();
            let program = FrontProgram::load(engines.for_dialect(Dialect::Jinja), &template);
            let input = PreparedCase::new(&case, Front::Transformers, &program.model);
            match program.outcome(&input).into_prompt() {
                Ok(prompt) => counted(prompt.len()),
                Err(_) => json_reply(400, &json!({"error": "not this"})),
            }
        });
        let address = format!("{}/v1", server.address);
        let ran = folder.rolecall(&["fingerprint", &address, "--templates", "model", "--yes"]);
        assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    }
}

#[test]
#[ignore = "long: .ci/nightly tries it"]
fn a_server_that_counts_nothing_is_an_error() {
    let folder = folder();
    let silent = server(|_, _| json_reply(200, &json!({"choices": []})));
    let page = server(|_, _| Reply::new(200, "<html>Welcome</html>"));
    let slow = server(|_, _| counted(1).after(Duration::from_secs(5)));
    let moved = server(|_, _| Reply::new(307, "").with("Location", "https://else.example/v1"));
    let closed = server(|_, _| json_reply(401, &json!({"error": "no key"})));
    let refusing = server(|_, _| json_reply(400, &json!({"error": "no such model"})));
    for (server, words) in [
        (&silent, "it does not say how many tokens the prompt has"),
        (&page, "status 200: <html>Welcome</html>"),
        (&slow, "no answer within 0.5 s"),
        (
            &moved,
            "it redirects to https://else.example/v1, where nothing is sent",
        ),
        (&closed, "ROLECALL_API_KEY has the key"),
        (&refusing, "it refuses every conversation: no such model"),
    ] {
        let ran = ask(&folder, server, &["--yes", "--limits", "time=0.5s"]);
        assert_eq!((ran.code(), ran.stdout().as_str()), (2, ""), "{words}");
        assert!(ran.stderr().contains(words), "{words}: {}", ran.stderr());
        assert!(server.asked().len() < 5, "{words}");
    }
}

#[test]
#[ignore = "long: .ci/nightly tries it"]
fn another_revision_of_a_template_is_counted_with_the_tokenizer_of_the_model() {
    let folder = folder();
    folder.write("older.jinja", &SOURCE.replace("<assistant>", "<bot>"));
    let server = changing(|_| ());
    let address = server.address.as_str();
    let both = ["--templates", "older.jinja", "--templates", "model"];
    let arguments = [
        &["fingerprint", address, "--yes", "--front", "vllm"],
        &both[..],
    ]
    .concat();
    let ran = folder.rolecall(&arguments);
    assert_eq!(ran.code(), 1, "{}{}", ran.stdout(), ran.stderr());
    assert!(
        ran.stdout().contains("best: model through the front vllm:"),
        "{}",
        ran.stdout()
    );
}
