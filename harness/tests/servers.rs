//! Servers as engines. Servers on this machine answer as the documentation of the real ones says.
//! The tests check the requests, the outcomes, and the messages about errors.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use regex::Regex;
use serde_json::{Value, json};

use crate::folder::{CACHE, Folder, Ran};
use crate::remote::server::{Reply, Request, Server};

fn run(folder: &Folder, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
        .env("ROLECALL_CACHE", CACHE)
        // A proxy that does not exist: requests to this machine do not use it.
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("http_proxy", "http://127.0.0.1:9")
        .env("COLUMNS", "1000")
        .env_remove("ROLECALL_API_KEY")
        .envs(variables.iter().copied())
        .args(arguments)
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    Ran(output)
}

fn reply(status: u16, body: &Value) -> Reply {
    Reply::new(status, body.to_string()).with("Content-Type", "application/json")
}

fn error(status: u16, message: &str) -> Reply {
    reply(
        status,
        &json!({"error": {"code": status, "message": message}}),
    )
}

fn sent(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// The result of the folder's template `chat` for some messages.
fn chat(messages: &Value) -> String {
    let turns = messages.as_array().unwrap().iter().map(|message| {
        let text = |name: &str| message[name].as_str().unwrap().to_owned();
        format!("<{}>{}\n", text("role"), text("content"))
    });
    turns.collect::<String>() + "<assistant>"
}

fn source(folder: &Folder, name: &str) -> String {
    let path = folder.path("cases/templates").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// A llama-server with the template `chat`, without the newline at its end, as the real one has it.
/// `answer` is its answer to `/apply-template`.
fn llama(
    folder: &Folder,
    answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
) -> Server {
    let template = source(folder, "chat.jinja");
    let template = template.trim_end().to_owned();
    Server::new(move |request, before| match request.path.as_str() {
        "/props" => reply(
            200,
            &json!({"chat_template": template, "build_info": "b10434-x"}),
        ),
        "/tokenize" => reply(200, &json!({"tokens": []})),
        "/apply-template" => answer(request, before),
        other => error(404, &format!("no {other}")),
    })
}

fn prompt(request: &Request) -> Reply {
    reply(200, &json!({"prompt": chat(&sent(request)["messages"])}))
}

/// A run of one template against the engine of this process; the result has one line for each.
fn compare(folder: &Folder, engine: &str, more: &[&str]) -> Ran {
    let arguments = ["run", "--engine", engine, "--against", "rolecall-jinja"];
    run(folder, &[&arguments[..], more].concat(), &[])
}

#[test]
fn a_llama_server_is_asked_for_the_prompt_of_its_template() {
    let folder = Folder::new();
    let server = llama(&folder, |request, _| prompt(request));
    let engine = format!("llama-server={}/", server.address);
    let ran = compare(&folder, &engine, &[]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    assert!(
        ran.stdout()
            .contains("2 of 2 agree (100 %) with rolecall-jinja")
    );
    let words = "1 template left out: the server `llama-server` at http://127.0.0.1:";
    assert!(ran.stderr().contains(words), "{}", ran.stderr());
    let asked = server.asked();
    let bodies: Vec<Value> = asked
        .iter()
        .filter(|request| request.path == "/apply-template")
        .map(sent)
        .collect();
    let system =
        json!({"messages": [{"role": "system", "content": "S"}], "add_generation_prompt": true});
    assert!(bodies.contains(&system), "{bodies:?}");
    assert_eq!(bodies.len(), 2);
    assert!(
        asked
            .iter()
            .all(|request| request.header("authorization").is_none())
    );

    // By name, another template is refused at once.
    for template in ["strict", "chat"] {
        let ran = compare(&folder, &engine, &[template]);
        let is_other = template == "strict";
        assert_eq!(ran.code(), if is_other { 2 } else { 0 }, "{}", ran.stderr());
        let says_so = ran.stderr().contains("has another template than `strict`");
        assert_eq!(says_so, is_other, "{}", ran.stderr());
    }
}

/// If the tokenizer puts BOS before every text, the server removes it from the prompt.
#[test]
fn what_the_tokenizer_puts_before_the_prompt_is_part_of_it() {
    let folder = Folder::new();
    folder.write(
        "cases/templates/chat.json",
        r#"{"special_tokens": {"bos_token": "<s>"}}"#,
    );
    let server = |template: &'static str| {
        Server::new(move |request, _| match request.path.as_str() {
            "/props" => reply(200, &json!({"chat_template": template})),
            "/tokenize" => {
                assert_eq!(sent(request), json!({"content": "", "add_special": true}));
                reply(200, &json!({"tokens": [1]}))
            }
            "/detokenize" => {
                assert_eq!(sent(request), json!({"tokens": [1]}));
                reply(200, &json!({"content": "<s>"}))
            }
            _ => {
                let content = &sent(request)["messages"][0]["content"];
                reply(200, &json!({"prompt": content}))
            }
        })
    };
    // A template that also writes it there, and one that does not.
    for template in [
        "{{ bos_token }}{{ messages[0].content }}",
        "{{ messages[0].content }}",
    ] {
        folder.write("cases/templates/chat.jinja", template);
        let server = server(template);
        let engine = format!("llama-server={}", server.address);
        let ran = compare(&folder, &engine, &["chat"]);
        assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
        let reported = ran.stderr();
        assert!(
            reported.contains("puts `<s>` before every prompt"),
            "{reported}"
        );
    }
}

/// The request holds the conversation as it is written, with the case's other settings.
#[test]
fn all_of_a_case_is_sent() {
    let folder = Folder::new();
    folder.write(
        "cases/conversations/plain.json",
        r#"{"about": "All.", "cases": {
            "all": {"about": "All.", "messages": [{"role": "user", "content": "a", "n": 1.0, "z": null}],
                "tools": [{"type": "function", "function": {"name": "f"}}], "documents": [{"title": "t"}],
                "add_generation_prompt": false, "continue_final_message": true,
                "variables": {"x": {"b": 1, "a": 12345678901234567890}}},
            "thoughts": {"about": "Go on.", "messages": [{"role": "assistant", "content": "", "thinking": "t"}],
                "add_generation_prompt": false, "continue_final_message": "thinking"}}}"#,
    );
    let server = llama(&folder, |_, _| error(400, "no"));
    let engine = format!("llama-server={}", server.address);
    let ran = run(
        &folder,
        &["render", "chat", "--engine", &engine, "--format", "jsonl"],
        &[],
    );
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 2, "{}", ran.stderr());
    let of = |case: &str| lines.iter().find(|line| line["case"] == case).unwrap();
    assert_eq!(of("plain/all")["outcome"], "failed");
    assert_eq!(of("plain/all")["stage"], "input");
    assert_eq!(of("plain/thoughts")["outcome"], "not asked");
    let asked = server.asked();
    let mut bodies = asked
        .iter()
        .filter(|request| request.path == "/apply-template");
    let body = String::from_utf8(bodies.next().unwrap().body.clone()).unwrap();
    assert_eq!(
        body,
        r#"{"messages":[{"role":"user","content":"a","n":1.0,"z":null}],"add_generation_prompt":false,"tools":[{"type":"function","function":{"name":"f"}}],"continue_final_message":true,"chat_template_kwargs":{"x":{"b":1,"a":12345678901234567890},"documents":[{"title":"t"}]}}"#
    );
    assert!(bodies.next().is_none());
}

/// The template's own refusal is recognised by its words, even if the server adds others.
#[test]
fn a_refusal_is_the_templates_own_if_it_says_so() {
    let folder = Folder::new();
    let template = source(&folder, "strict.jinja");
    let server = |words: &'static str| {
        let template = template.clone();
        Server::new(move |request, _| match request.path.as_str() {
            "/props" => reply(200, &json!({"chat_template": template})),
            "/tokenize" => reply(200, &json!({"tokens": []})),
            _ => match sent(request)["messages"][0]["role"].as_str() {
                Some("system") => error(400, words),
                _ => reply(200, &json!({"prompt": "Hi\u{7f}</s>"})),
            },
        })
    };
    for (words, agree) in [
        ("Error: Jinja Exception: No system role", 2),
        ("System role, no", 1),
    ] {
        let server = server(words);
        let engine = format!("llama-server={}", server.address);
        let ran = compare(&folder, &engine, &["strict"]);
        let figure = format!("{agree} of 2 agree");
        assert!(ran.stdout().contains(&figure), "{}", ran.stdout());
    }
}

/// A server's clock shows today; the records have another day.
#[test]
fn todays_date_is_taken_for_the_day_of_the_case() {
    let folder = Folder::new();
    let template = "{{ strftime_now('%Y-%m-%d') }}: {{ messages[0].content }}";
    folder.write("cases/templates/chat.jinja", template);
    let date = Command::new("date")
        .args(["-u", "+%Y-%m-%d"])
        .output()
        .unwrap();
    let date = String::from_utf8(date.stdout).unwrap().trim().to_owned();
    let server = llama(&folder, move |request, _| {
        let content = sent(request)["messages"][0]["content"]
            .as_str()
            .unwrap()
            .to_owned();
        let day = if content == "S" { "1999-01-02" } else { &date };
        reply(200, &json!({"prompt": format!("{day}: {content}")}))
    });
    let engine = format!("llama-server={}", server.address);
    let out = compare(&folder, &engine, &["chat"]).stdout();
    assert!(out.contains("1 of 2 agree (50.00 %)"), "{out}");
    assert!(out.contains("+ 1999-01-02: S"), "{out}");
}

#[test]
fn a_server_that_is_not_ready_is_waited_for() {
    let folder = Folder::new();
    let template = source(&folder, "chat.jinja");
    let server = Server::new(
        move |request, before| match (request.path.as_str(), before) {
            ("/props", 0) => error(503, "Loading model"),
            ("/props", _) => reply(200, &json!({"chat_template": template})),
            ("/tokenize", _) => reply(200, &json!({"tokens": []})),
            // A server that ends early, and one that refuses for now.
            (_, 0) => prompt(request).cut(5),
            (_, 1) => error(429, "slow down"),
            _ => prompt(request),
        },
    );
    let engine = format!("llama-server={}", server.address);
    let ran = compare(&folder, &engine, &["chat", "--jobs", "1"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
}

#[test]
fn a_server_that_is_slow_or_breaks_is_given_up() {
    let folder = Folder::new();
    let cases: Vec<String> = (0..6)
        .map(|index| {
            format!(r#""c{index}": {{"about": "x", "messages": [{{"role": "user", "content": "{index}"}}]}}"#)
        })
        .collect();
    let file = format!(r#"{{"about": "Many.", "cases": {{{}}}}}"#, cases.join(", "));
    folder.write("cases/conversations/plain.json", &file);
    let outcomes = |server: &Server, limits: &[&str]| {
        let engine = format!("llama-server={}", server.address);
        let render = ["render", "chat", "--engine", &engine, "--jobs", "1"];
        let format = ["--format", "jsonl"];
        let ran = run(&folder, &[&render[..], &format, limits].concat(), &[]);
        let lines = ran.json_lines();
        let of = |line: &Value| {
            let message = line["message"].as_str().unwrap_or_default();
            let outcome = line["outcome"].as_str().unwrap();
            (outcome.to_owned(), message.to_owned())
        };
        lines.iter().map(of).collect::<Vec<_>>()
    };
    let slow = llama(&folder, |request, _| {
        prompt(request).after(Duration::from_secs(3))
    });
    let found = outcomes(&slow, &["--limits", "time=0.1s"]);
    let kinds: Vec<&str> = found.iter().map(|(kind, _)| kind.as_str()).collect();
    let (crash, gone) = ("crashed", "not asked");
    assert_eq!(kinds, [crash, crash, crash, gone, gone, gone]);
    assert_eq!(found[0].1, "no answer within 0.1 s");
    assert_eq!(found[5].1, "it no longer answers: no answer within 0.1 s");

    let odd = llama(&folder, |_, before| match before {
        1 => Reply::new(200, "<html>"),
        _ => reply(200, &json!({"prompt": 3})),
    });
    let found = outcomes(&odd, &[]);
    assert_eq!(
        found[0].1,
        "its answer to /apply-template is not that of such a server: it has no `prompt`"
    );
    assert!(
        found[1].1.ends_with("of such a server: status 200: <html>"),
        "{found:?}"
    );
    assert_eq!(found[5].0, gone);

    // The first requests are for the template and the tokens; then two pairs are left.
    let template = source(&folder, "chat.jinja");
    let dying = Server::that_ends_after(4, move |request, _| match request.path.as_str() {
        "/props" => reply(200, &json!({"chat_template": template})),
        "/tokenize" => reply(200, &json!({"tokens": []})),
        _ => prompt(request),
    });
    let found = outcomes(&dying, &[]);
    let kinds: Vec<&str> = found.iter().map(|(kind, _)| kind.as_str()).collect();
    // The requests that were under way when it ended may have been cut off.
    assert_eq!(kinds[..2], ["rendered", "rendered"]);
    assert_eq!(kinds[3..], [gone, gone, gone]);
    assert_ne!(kinds[2], "rendered");
    assert!(found[5].1.contains("cannot be reached"), "{found:?}");
}

#[test]
fn a_server_that_wants_a_key_is_given_it() {
    let folder = Folder::new();
    let template = source(&folder, "chat.jinja");
    let server = Server::new(move |request, _| {
        if request.header("authorization") != Some("Bearer sesame") {
            return error(401, "Invalid API Key");
        }
        match request.path.as_str() {
            "/props" => reply(200, &json!({"chat_template": template})),
            "/tokenize" => reply(200, &json!({"tokens": []})),
            _ => prompt(request),
        }
    });
    let engine = format!("llama-server={}", server.address);
    let arguments = [
        "run",
        "chat",
        "--engine",
        &engine,
        "--against",
        "rolecall-jinja",
    ];
    for key in [&[][..], &[("ROLECALL_API_KEY", "wrong")]] {
        let ran = run(&folder, &arguments, key);
        assert_eq!(ran.code(), 2);
        let words =
            "refuses access with the status 401: Invalid API Key; ROLECALL_API_KEY has the key";
        assert!(ran.stderr().contains(words), "{}", ran.stderr());
    }
    let ran = run(&folder, &arguments, &[("ROLECALL_API_KEY", "sesame")]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
}

#[test]
fn what_is_no_such_server_is_an_error_that_says_so() {
    let folder = Folder::new();
    let other = Server::new(|_, _| Reply::new(200, "<html>It works!</html>"));
    let empty = Server::new(|_, _| reply(200, &json!({})));
    let lost = Server::new(|_, _| error(404, "Not Found"));
    for (engine, words) in [
        (
            format!("llama-server={}", other.address),
            "its answer to /props is not that of such a server: status 200: <html>It works!</html>",
        ),
        (
            format!("llama-server={}", empty.address),
            "it has no `chat_template`",
        ),
        (format!("vllm={}", empty.address), "it has no model"),
        (format!("tgi={}", empty.address), "it has no `version`"),
        (format!("ollama={}", lost.address), "status 404: Not Found"),
        (
            "llama-server=http://127.0.0.1:1".to_owned(),
            "http://127.0.0.1:1 cannot be reached",
        ),
        (
            "llama-server=localhost:8080".to_owned(),
            "`localhost:8080` is not the address of a server",
        ),
        (
            "llama-serve=http://127.0.0.1:1".to_owned(),
            "did you mean `llama-server`?",
        ),
        (
            "triton=http://127.0.0.1:1".to_owned(),
            "there are `llama-server`, `vllm`, `sglang`, `ollama`, `tgi`",
        ),
    ] {
        let ran = run(&folder, &["run", "chat", "--engine", &engine], &[]);
        assert_eq!((ran.code(), ran.stdout()), (2, String::new()), "{engine}");
        assert!(ran.stderr().contains(words), "{engine}: {}", ran.stderr());
    }
}

/// A vLLM server whose tokens are characters. `trusts` says whether it accepts templates.
fn vllm(trusts: bool, reported: Option<String>) -> Server {
    Server::new(move |request, _| match request.path.as_str() {
        "/version" => reply(200, &json!({"version": "0.24.0"})),
        "/v1/models" => reply(
            200,
            &json!({"object": "list", "data": [{"id": "org/model"}]}),
        ),
        "/tokenizer_info" => match &reported {
            Some(source) => reply(
                200,
                &json!({"tokenizer_class": "T", "chat_template": source}),
            ),
            None => error(404, "Not Found"),
        },
        "/detokenize" => {
            let body = sent(request);
            assert_eq!(body["model"], "org/model");
            let tokens = body["tokens"].as_array().unwrap();
            let character = |token: &Value| {
                let code = u32::try_from(token.as_u64().unwrap()).unwrap();
                char::from_u32(code).unwrap()
            };
            reply(
                200,
                &json!({"prompt": tokens.iter().map(character).collect::<String>()}),
            )
        }
        "/v1/chat/completions/render" => {
            let body = sent(request);
            if !trusts && !body["chat_template"].is_null() {
                return error(
                    400,
                    "Chat template is passed with request, but --trust-request-chat-template is not set.",
                );
            }
            let text = chat(&body["messages"]);
            let tokens: Vec<u32> = text.chars().map(u32::from).collect();
            reply(
                200,
                &json!({"request_id": "r", "token_ids": tokens, "sampling_params": {}}),
            )
        }
        other => error(404, other),
    })
}

#[test]
fn a_vllm_is_asked_for_tokens_and_for_their_text() {
    let folder = Folder::new();
    let chat = source(&folder, "chat.jinja");
    // It accepts templates, so any template is sent to it.
    let server = vllm(true, None);
    let engine = format!("vllm={}/v1", server.address);
    let ran = compare(&folder, &engine, &["chat"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    let asked = server.asked();
    let last = asked
        .iter()
        .rfind(|request| request.path.ends_with("/render"))
        .unwrap();
    let body = sent(last);
    assert_eq!(body["chat_template"], chat.as_str());
    assert_eq!(body["model"], "org/model");
    assert_eq!(body["continue_final_message"], false);

    // It has a template and reports which.
    let server = vllm(false, Some(chat));
    let engine = format!("vllm:org/model={}", server.address);
    let ran = compare(&folder, &engine, &[]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    assert!(
        ran.stderr().contains("1 template left out"),
        "{}",
        ran.stderr()
    );

    // It has a template and does not report which.
    let server = vllm(false, None);
    let engine = format!("vllm={}", server.address);
    let ran = compare(&folder, &engine, &["chat"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    let words = "does not report its template: assuming `chat`";
    assert!(ran.stderr().contains(words), "{}", ran.stderr());
    let ran = compare(&folder, &engine, &[]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("and you chose 2"), "{}", ran.stderr());
}

/// An SGLang server whose tokens are characters.
#[test]
fn an_sglang_is_asked_for_tokens_and_for_their_text() {
    let folder = Folder::new();
    folder.write(
        "cases/conversations/plain.json",
        r#"{"about": "Options.", "cases": {"options": {"about": "x", "messages": [{"role": "user", "content": "a"}],
            "variables": {"reasoning_effort": "low", "x": 1}}}}"#,
    );
    let server = Server::new(|request, _| match request.path.as_str() {
        "/model_info" => reply(200, &json!({"served_model_name": "org/model"})),
        "/server_info" => reply(200, &json!({"version": "0.5.23"})),
        "/v1/tokenize" => {
            let text = chat(&sent(request)["messages"]);
            let tokens: Vec<u32> = text.chars().map(u32::from).collect();
            reply(200, &json!({"count": tokens.len(), "tokens": tokens}))
        }
        "/v1/detokenize" => {
            let body = sent(request);
            assert_eq!(body["skip_special_tokens"], false);
            let tokens = body["tokens"].as_array().unwrap().iter();
            let codes = tokens.map(|token| u8::try_from(token.as_u64().unwrap()).unwrap());
            reply(
                200,
                &json!({"text": codes.map(char::from).collect::<String>()}),
            )
        }
        other => error(404, other),
    });
    let engine = format!("sglang={}", server.address);
    let ran = compare(&folder, &engine, &["chat"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    assert!(ran.stdout().contains("1 of 1 agree"), "{}", ran.stdout());
    let asked = server.asked();
    let body = sent(asked.iter().find(|one| one.path == "/v1/tokenize").unwrap());
    assert_eq!(
        body,
        json!({"model": "org/model", "messages": [{"role": "user", "content": "a"}], "reasoning_effort": "low",
            "chat_template_kwargs": {"x": 1}, "continue_final_message": false})
    );
}

/// A vLLM server that takes the tokens of an answer, which are its characters, and splits off the reasoning.
#[test]
fn a_vllm_parses_the_answers_of_a_template() {
    let folder = Folder::new();
    folder.write(
        "cases/conversations/plain.json",
        r#"{"about": "Answers.", "cases": {"answer": {"about": "x", "messages": [
            {"role": "user", "content": "a"}, {"role": "assistant", "content": "It is|open."}],
            "tools": [{"type": "function", "function": {"name": "f"}}]}}}"#,
    );
    let server = |loses: bool| {
        Server::new(move |request, _| match request.path.as_str() {
            "/v1/models" => reply(200, &json!({"data": [{"id": "org/model"}]})),
            "/v1/chat/completions/render" => error(400, "no templates in requests"),
            "/tokenize" => {
                let body = sent(request);
                assert_eq!(body["add_special_tokens"], false);
                let text = body["prompt"].as_str().unwrap();
                let tokens: Vec<u32> = text.chars().map(u32::from).collect();
                reply(200, &json!({"tokens": tokens}))
            }
            "/v1/chat/completions/derender" => {
                let body = sent(request);
                assert_eq!(body["chat_request"]["tools"][0]["function"]["name"], "f");
                let tokens = &body["generate_response"]["choices"][0]["token_ids"];
                let tokens = tokens.as_array().unwrap().iter();
                let codes = tokens.map(|token| u8::try_from(token.as_u64().unwrap()).unwrap());
                let text: String = codes.map(char::from).collect();
                let text = if loses { text.replace('|', "") } else { text };
                let message = json!({"role": "assistant", "content": text, "tool_calls": [], "reasoning": null});
                reply(200, &json!({"choices": [{"index": 0, "message": message}]}))
            }
            other => error(404, other),
        })
    };
    for (loses, verdict) in [(false, "read back"), (true, "changed")] {
        let server = server(loses);
        let engine = format!("vllm={}", server.address);
        let ran = run(&folder, &["roundtrip", "--engine", &engine, "chat"], &[]);
        assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
        let counts = format!("1 {verdict}");
        assert!(ran.stdout().contains(&counts), "{}", ran.stdout());
    }
    let engine = format!("vllm={}", server(false).address);
    let ran = run(&folder, &["roundtrip", "--engine", &engine], &[]);
    assert_eq!(ran.code(), 2);
    let words = "has the parsers of one model, and there are 2 templates";
    assert!(ran.stderr().contains(words), "{}", ran.stderr());
}

#[test]
fn an_ollama_is_asked_for_what_it_would_render() {
    let folder = Folder::new();
    let template = "{{ range .Messages }}{{ .Role }}: {{ .Content }}\n{{ end }}";
    folder.write("cases/templates/port.gotmpl", template);
    let models = |names: &'static [&'static str]| {
        Server::new(move |request, _| match request.path.as_str() {
            "/api/version" => reply(200, &json!({"version": "0.33.0"})),
            "/api/tags" => {
                let models: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
                reply(200, &json!({"models": models}))
            }
            "/api/show" => {
                assert_eq!(sent(request)["model"], names[0]);
                reply(200, &json!({"template": template, "details": {}}))
            }
            "/api/chat" | "/v1/chat/completions" => {
                let body = sent(request);
                assert_eq!(body["_debug_render_only"], true);
                assert_eq!(body["stream"], false);
                let messages = body["messages"].as_array().unwrap();
                let text = |message: &Value| {
                    let part = |name: &str| message[name].as_str().unwrap().to_owned();
                    format!("{}: {}\n", part("role"), part("content"))
                };
                let text: String = messages.iter().map(text).collect();
                reply(
                    200,
                    &json!({"model": body["model"], "_debug_info": {"rendered_template": text}}),
                )
            }
            other => error(404, other),
        })
    };
    let against = |engine: &str, more: &[&str]| {
        let arguments = ["run", "--engine", engine, "--against", "rolecall-go"];
        run(&folder, &[&arguments[..], more].concat(), &[])
    };
    let server = models(&["one:latest"]);
    let engine = format!("ollama={}", server.address);
    for (front, path) in [
        ("ollama", "/api/chat"),
        ("ollama-openai", "/v1/chat/completions"),
    ] {
        let ran = against(&engine, &["port", "--front", front]);
        assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
        let asked = server.paths();
        assert!(asked.iter().any(|asked| asked == path), "{asked:?}");
    }
    let server = models(&["a:1", "b:2"]);
    let ran = against(&format!("ollama={}", server.address), &[]);
    assert_eq!(ran.code(), 2);
    let words = format!(
        "it has 2 models; name one as `ollama:a:1={}`",
        server.address
    );
    assert!(ran.stderr().contains(&words), "{}", ran.stderr());
    let ran = against(&format!("ollama:a:1={}", server.address), &[]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
}

#[test]
fn a_tgi_is_asked_for_the_templated_text() {
    let folder = Folder::new();
    folder.write(
        "cases/conversations/more.json",
        r#"{"about": "What TGI cannot be asked.", "cases": {
            "variables": {"about": "x", "messages": [{"role": "user", "content": "a"}], "variables": {"x": 1}},
            "closed": {"about": "x", "messages": [{"role": "user", "content": "a"}], "add_generation_prompt": false}}}"#,
    );
    let server = Server::new(|request, _| match request.path.as_str() {
        "/info" => reply(200, &json!({"model_id": "org/model", "version": "3.3.6"})),
        "/chat_tokenize" => reply(
            200,
            &json!({"tokenize_response": [], "templated_text": chat(&sent(request)["messages"])}),
        ),
        other => error(404, other),
    });
    let engine = format!("tgi={}", server.address);
    let ran = compare(&folder, &engine, &["chat"]);
    let out = ran.stdout();
    assert!(
        out.contains("2 of 4 agree (50.00 %)") && out.contains("2 not asked"),
        "{out}"
    );
    assert!(
        out.contains("TGI always opens the assistant's turn"),
        "{out}"
    );
}

/// The page names the same kinds of servers as the error message.
#[test]
fn the_page_names_every_kind() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/docs/servers.md");
    let text = std::fs::read_to_string(page).unwrap();
    let ran = run(&Folder::new(), &["run", "--engine", "x=http://x"], &[]);
    let kinds = Regex::new("`([a-z-]+)`").unwrap();
    let errors = ran.stderr();
    let (_, listed) = errors.split_once("there are").unwrap();
    let mut count = 0;
    for kind in kinds.captures_iter(listed) {
        assert!(text.contains(&format!("`{}=", &kind[1])), "{}", &kind[1]);
        count += 1;
    }
    assert_eq!(count, 5, "{errors}");
}
