//! Servers and hubs that want the user's key, do not answer, or say too much.

use std::sync::{Arc, Mutex};

use super::World;
use crate::extent::sample;
use crate::remote::server::{Reply, Server};

/// A template, and the header of a `rolecall.toml` that names an engine for it.
const TEMPLATE: &str = "{% for m in messages %}{{ m.content }}{% endfor %}";

/// A server that answers everything in one way, and the headers `Authorization` that it saw.
fn server(status: u16, body: String) -> (Server, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let server = Server::new(move |request, _| {
        let key = request.header("authorization").unwrap_or_default();
        kept.lock().unwrap().push(key.to_owned());
        Reply::new(status, body.clone()).with("Content-Type", "application/json")
    });
    (server, seen)
}

/// Whether the engines are allowed or not: the key stays with the user's own words.
#[test]
fn a_key_never_goes_to_an_address_from_a_file() {
    for kind in sample(vec!["llama-server", "vllm", "ollama", "tgi"], 4) {
        let world = World::new();
        let (server, seen) = server(401, "{}".to_owned());
        world.write("work/chat_template.jinja", TEMPLATE);
        let engine = format!("{kind}={}", server.address);
        world.write(
            "work/rolecall.toml",
            format!("[templates]\nt = \"chat_template.jinja\"\n[engines]\njinja = \"{engine}\"\n"),
        );
        let asked = || std::mem::take(&mut *seen.lock().unwrap());
        for command in [&["run"][..], &["check"], &["render"], &["accept", "t"]] {
            world.rolecall(command).is_well(&[0, 1, 2]);
        }
        assert!(asked().is_empty(), "{kind}: nothing is allowed");
        for command in [&["run"][..], &["render"], &["accept", "t"]] {
            let allowed = [command, &["--allow-engines"]].concat();
            world.rolecall(&allowed).is_well(&[2]);
        }
        let keys = asked();
        assert!(keys.len() >= 3, "{kind}: {keys:?}");
        assert!(keys.iter().all(String::is_empty), "{kind}: {keys:?}");
    }
}

#[test]
fn a_key_goes_to_an_address_on_the_command_line() {
    let world = World::new();
    let (server, seen) = server(401, "{}".to_owned());
    world.write("work/chat_template.jinja", TEMPLATE);
    let engine = format!("llama-server={}", server.address);
    let arguments = ["run", "--builtin", "chatml", "--engine", &engine];
    world.rolecall(&arguments).is_well(&[2]);
    let seen = seen.lock().unwrap();
    assert!(seen.iter().any(|key| key == "Bearer secret-key-8e21"));
}

#[test]
fn the_password_of_an_address_is_not_printed() {
    let world = World::new();
    world.write("work/chat_template.jinja", TEMPLATE);
    let (server, _) = server(500, "<html>".to_owned());
    let place = server.address.trim_start_matches("http://").to_owned();
    let mut complaints = Vec::new();
    for address in [
        format!("http://user:geheim@{place}"),
        format!("http://geheim@{place}"),
        format!("http://user:geheim@{place}/v1"),
        "http://user:geheim@127.0.0.1:1".to_owned(),
        "http://user:ge/heim@127.0.0.1:1".to_owned(),
        "http://user:geheim@".to_owned(),
    ] {
        for kind in sample(vec!["llama-server", "vllm", "ollama", "tgi"], 4) {
            let engine = format!("{kind}={address}");
            let ran = world.rolecall(&["run", "chat_template.jinja", "--engine", &engine]);
            complaints.extend(ran.complaints(&[2]));
            if ran.printed().contains("heim") {
                complaints.push(format!("{engine}: {}", ran.printed()));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn long_words_of_a_server_are_shortened() {
    let long = "x".repeat(500_000);
    let mut complaints = Vec::new();
    for status in sample(vec![500, 400, 401, 403, 404, 418, 501], 4) {
        for body in [
            long.clone(),
            format!("{{\"error\": \"{long}\"}}"),
            format!("{{\"error\": {{\"message\": \"{long}\"}}}}"),
        ] {
            let world = World::new();
            world.write("work/chat_template.jinja", TEMPLATE);
            let (server, _) = server(status, body);
            let engine = format!("llama-server={}", server.address);
            let ran = world.rolecall(&["run", "chat_template.jinja", "--engine", &engine]);
            complaints.extend(ran.complaints(&[2]));
            if ran.printed().len() > 5_000 {
                complaints.push(format!("{status}: {} bytes", ran.printed().len()));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
