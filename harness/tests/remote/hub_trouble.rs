//! Messages and caches when the hub refuses or the network fails.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use super::server::{Reply, Request};
use super::world::{Hub, files, model};

fn is_template(request: &Request) -> bool {
    request.path.ends_with("/chat_template.jinja")
}

/// A hub that gives this answer to requests for the template.
fn answering(reply: Reply) -> Hub {
    Hub::troubled(model(), move |request, _| {
        is_template(request).then(|| reply.clone())
    })
}

#[test]
fn refusals_say_what_to_do() {
    let gated = |status| Reply::new(status, "").with("X-Error-Code", "GatedRepo");
    for (reply, words) in [
        (
            gated(401),
            [
                "the model is gated",
                "log in by `hf auth login` or set HF_TOKEN",
            ],
        ),
        (
            gated(403),
            ["the model is gated", "with the account that HF_TOKEN"],
        ),
        (
            Reply::new(401, "").with(
                "X-Error-Message",
                "Invalid credentials in Authorization header",
            ),
            [
                "the Hugging Face hub rejects the token",
                "correct or unset HF_TOKEN",
            ],
        ),
        (
            Reply::new(403, "").with("X-Error-Message", "Not for you."),
            [
                "127.0.0.1 answers with the status 403: Not for you.",
                "the right to read",
            ],
        ),
        (
            Reply::new(302, "").with("Location", "ftp://elsewhere/x"),
            ["cannot be followed", "HF_ENDPOINT"],
        ),
    ] {
        let hub = answering(reply);
        let world = hub.world();
        let ran = world.show("hf:org/name", "org/name");
        ran.refused(&["hf:org/name: "]);
        ran.refused(&words);
        let asked = hub.server.asked();
        assert_eq!(asked.iter().filter(|asked| is_template(asked)).count(), 1);
        assert!(!world.path("hf/hub/models--org--name/refs").exists());
    }
}

#[test]
fn names_that_are_not_there_are_listed_with_others() {
    let hub = Hub::new(model());
    let world = hub.world();
    world.show("hf:org/nam", "x").refused(&[
        "hf:org/nam: no such model on the Hugging Face hub, or a private one",
        "did you mean hf:org/name or hf:org/names?",
    ]);
    world
        .show("hf:other/thing", "x")
        .refused(&["is the name right?", "`hf auth login`"]);
    world
        .show("hf:thing", "x")
        .refused(&["the owner first: hf:ORG/NAME"]);
    world.show("hf:org/name@v3", "x").refused(&[
        "hf:org/name@v3: the model has no revision \"v3\"",
        "a branch, a tag or a commit",
    ]);
    let hub = Hub::new(files(&[("README.md", "x"), ("model.safetensors", "x")]));
    hub.world()
        .show("hf:org/name", "x")
        .refused(&["not a model with a chat template"]);
    let hub = Hub::new(files(&[("config.json", "{}")]));
    hub.world()
        .show("hf:org/name", "x")
        .refused(&["the model has no chat template"]);
}

/// Does something with each item at the same time, so that one that waits does not delay the
/// others.
fn each<T: Send>(items: impl IntoIterator<Item = T>, act: impl Fn(T) + Sync) {
    let act = &act;
    thread::scope(|scope| {
        for item in items {
            scope.spawn(move || act(item));
        }
    });
}

#[test]
fn what_passes_is_asked_again() {
    let replies = [
        Reply::new(429, "").with("Retry-After", "0"),
        Reply::new(500, ""),
        Reply::new(503, ""),
        Reply::new(200, "the whole of it").with("ETag", "x").cut(4),
    ];
    each(replies, |reply| {
        let hub = Hub::troubled(model(), move |request, before| {
            (is_template(request) && before == 0).then(|| reply.clone())
        });
        let ran = hub.world().show("hf:org/name", "org/name");
        ran.gave(
            "<s>Hi",
            &["fetched 4 files (63 B) of hf:org/name at 1a2b3c4"],
        );
    });
}

#[test]
fn what_does_not_pass_is_reported_and_nothing_is_kept_of_it() {
    let replies = [
        (Reply::new(500, ""), "127.0.0.1 answers with the status 500"),
        (
            Reply::new(200, "the whole of it").with("ETag", "x").cut(4),
            "the answer of 127.0.0.1 was cut off",
        ),
    ];
    each(replies, |(reply, words)| {
        let hub = answering(reply);
        let world = hub.world();
        world
            .show("hf:org/name", "org/name")
            .refused(&[words, "try again later"]);
        let asked = hub.server.asked();
        assert_eq!(asked.iter().filter(|asked| is_template(asked)).count(), 3);
        let kept = world.tree("hf").join("\n");
        assert!(!kept.contains("chat_template.jinja"), "{kept}");
        assert!(!kept.contains("refs"), "{kept}");
    });
}

#[test]
fn a_server_that_is_slow_is_not_waited_for() {
    let slow = Reply::new(200, "x")
        .with("ETag", "x")
        .after(Duration::from_secs(20));
    let hub = answering(slow);
    let mut world = hub.world();
    world.set("HF_HUB_DOWNLOAD_TIMEOUT", "1");
    let start = Instant::now();
    world.show("hf:org/name", "org/name").refused(&[
        "127.0.0.1 did not answer in time",
        "HF_HUB_DOWNLOAD_TIMEOUT",
    ]);
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn files_that_are_too_large_are_not_read() {
    let mut all = model();
    all.push(("generation_config.json".to_owned(), vec![b' '; 2 << 20]));
    let hub = Hub::new(all.clone());
    let world = hub.world();
    let ran = world.show("hf:org/name", "org/name");
    ran.gave(
        "<s>Hi",
        &["fetched 4 files (63 B) of hf:org/name at 1a2b3c4"],
    );
    all.push(("processor_config.json".to_owned(), vec![b' '; 17 << 20]));
    let hub = Hub::new(all);
    let mut world = hub.world();
    // On a busy machine, the server of this test needs its time for so many bytes.
    world.set("HF_HUB_DOWNLOAD_TIMEOUT", "60");
    world.show("hf:org/name", "org/name").refused(&[
        "processor_config.json has more than 16777216 bytes",
        "download the model and name its folder",
    ]);
}

#[test]
fn without_a_network_the_cache_counts() {
    let hub = Hub::new(model());
    let mut world = hub.world();
    world.show("hf:org/name", "org/name");
    // A port where nobody listens.
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    world.set("HF_ENDPOINT", &format!("http://{closed}"));
    let ran = world.show("hf:org/name", "org/name");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "<s>Hi"));
    assert!(
        ran.err
            .starts_with("note: hf:org/name: 127.0.0.1 cannot be reached: "),
        "{}",
        ran.err
    );
    assert!(
        ran.err.ends_with("; the cached files are used\n"),
        "{}",
        ran.err
    );
    world
        .show("hf:org/other", "x")
        .refused(&["127.0.0.1 cannot be reached", "HTTPS_PROXY"]);
    world.set("HF_ENDPOINT", "no address");
    world
        .show("hf:org/other", "x")
        .refused(&["not an address: no address/api/models"]);
}

#[test]
fn a_file_that_came_damaged_is_not_kept() {
    let hub = Hub::troubled(model(), |request, _| {
        let is_stored = request.path.starts_with("/stored/tokenizer_config.json");
        is_stored.then(|| Reply::new(200, r#"{"bos_token": "<S>"}"#))
    });
    let world = hub.world();
    world
        .show("hf:org/name", "org/name")
        .refused(&["tokenizer_config.json came damaged"]);
    assert!(!world.tree("hf").join("\n").contains("tokenizer_config"));
}

/// An answer that is shorter than the hub says is not kept, however it ends.
#[test]
fn a_file_that_is_shorter_than_the_hub_says_is_not_kept() {
    for size in ["4000", "999999999", "1"] {
        let hub = answering(Reply::new(200, "half a templ").with("X-Linked-Size", size));
        let world = hub.world();
        world
            .show("hf:org/name", "org/name")
            .refused(&["hf:org/name"]);
        let kept = world.tree("hf");
        assert!(
            kept.iter()
                .all(|file| !file.contains("/chat_template.jinja")),
            "{kept:?}"
        );
    }
}

/// Certificates that the user names and that are none: nothing is asked without them.
#[test]
fn certificates_that_are_none_are_an_error() {
    for (name, text) in [
        ("SSL_CERT_FILE", "no certificate"),
        ("REQUESTS_CA_BUNDLE", ""),
    ] {
        let hub = Hub::new(model());
        let mut world = hub.world();
        let path = world.write("certificates.pem", text);
        world.set("HF_ENDPOINT", "https://127.0.0.1:1");
        world.set(name, &path.display().to_string());
        world.show("hf:org/name", "org/name").refused(&[name]);
        world.set(name, "/nowhere.pem");
        world.show("hf:org/name", "org/name").refused(&[name]);
    }
}

/// A token and a revision in a pipe, or without end: nobody waits for them.
#[test]
fn what_is_no_file_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let hub = Hub::new(model());
    let mut world = hub.world();
    let pipe = world.path("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    let start = Instant::now();
    for path in [pipe.display().to_string(), "/dev/zero".to_owned()] {
        world.set("HF_TOKEN_PATH", &path);
        world.show("hf:org/name", "org/name");
    }
    let refs = world.path("hf/hub/models--org--name/refs");
    std::fs::create_dir_all(&refs).unwrap();
    let _ = std::fs::remove_file(refs.join("main"));
    std::fs::rename(&pipe, refs.join("main")).unwrap();
    world.show("hf:org/name", "org/name");
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}
