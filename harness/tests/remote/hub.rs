//! Models on the Hugging Face hub: which requests are sent, and to whom the token goes.

use super::world::{COMMIT, Hub, OTHER_COMMIT, files, model, sha256};

/// The requests to the hub for a file.
fn asked_for(commit: &str, name: &str) -> [String; 2] {
    [
        format!("/org/name/resolve/{commit}/{name}"),
        format!("/api/resolve-cache/models/org/name/{commit}/{name}"),
    ]
}

#[test]
fn the_small_files_are_fetched_once_and_the_token_stays_with_the_hub() {
    let hub = Hub::new(model());
    let mut world = hub.world();
    world.set("HF_TOKEN", "hf_secret");
    world.show("hf:org/name", "org/name").gave(
        "<s>Hi",
        &["fetched 4 files (63 B) of hf:org/name at 1a2b3c4"],
    );
    let asked = hub.server.asked();
    let paths: Vec<_> = asked.iter().map(|asked| asked.path.clone()).collect();
    let mut expected = vec!["/api/models/org/name/revision/main".to_owned()];
    expected.extend(asked_for(COMMIT, "additional_chat_templates/rag.jinja"));
    expected.extend(asked_for(COMMIT, "chat_template.jinja"));
    expected.extend(asked_for(COMMIT, "config.json"));
    expected.push(format!("/org/name/resolve/{COMMIT}/tokenizer_config.json"));
    assert_eq!(paths, expected);
    for request in &asked {
        assert_eq!(request.header("authorization"), Some("Bearer hf_secret"));
        assert!(
            request
                .header("user-agent")
                .unwrap()
                .starts_with("rolecall/")
        );
    }
    let elsewhere = hub.files.asked();
    assert_eq!(elsewhere.len(), 1);
    assert_eq!(
        elsewhere[0].path,
        "/stored/tokenizer_config.json?signature=secret"
    );
    assert_eq!(elsewhere[0].header("authorization"), None);

    // The second time, only the commit is requested; offline, nothing.
    world.show("hf:org/name", "org/name").gave("<s>Hi", &[]);
    assert_eq!(hub.server.paths(), ["/api/models/org/name/revision/main"]);
    world.set("HF_HUB_OFFLINE", "1");
    world.show("hf:org/name", "org/name").gave("<s>Hi", &[]);
    world
        .show(&format!("hf:org/name@{COMMIT}"), "org/name")
        .gave("<s>Hi", &[]);
    assert_eq!(hub.server.asked().len() + hub.files.asked().len(), 0);
}

#[test]
fn the_cache_is_that_of_transformers() {
    let hub = Hub::new(model());
    let world = hub.world();
    world.show("hf:org/name", "org/name");
    let blob = |text: &str| sha256(text.as_bytes());
    let small = |text: &str| blob(text)[..40].to_owned();
    let template = small("{{ bos_token }}{{ messages[0].content }}");
    let (rag, config) = (small("R"), small("{}"));
    let tokens = blob(r#"{"bos_token": "<s>"}"#);
    let mut blobs = [&template, &rag, &config, &tokens].map(|name| format!("blobs/{name}"));
    blobs.sort();
    let mut expected = blobs.to_vec();
    expected.push("refs/main".to_owned());
    let link = |name: &str, up: &str, etag: &str| {
        format!("snapshots/{COMMIT}/{name} -> {up}../../blobs/{etag}")
    };
    expected.extend([
        link("additional_chat_templates/rag.jinja", "../", &rag),
        link("chat_template.jinja", "", &template),
        link("config.json", "", &config),
        link("tokenizer_config.json", "", &tokens),
    ]);
    assert_eq!(world.tree("hf/hub/models--org--name"), expected);
    let main = std::fs::read_to_string(world.path("hf/hub/models--org--name/refs/main"));
    assert_eq!(main.unwrap(), COMMIT);
}

#[test]
fn a_revision_has_its_own_snapshot_and_shares_its_files() {
    let hub = Hub::new(model());
    let mut world = hub.world();
    world.show("hf:org/name", "org/name");
    hub.files.asked();
    // The files are the same: their versions are known before any bytes are sent.
    world
        .show("hf:org/name@refs/pr/1", "org/name")
        .gave("<s>Hi", &[]);
    assert_eq!(hub.files.asked().len(), 0);
    let paths = hub.server.paths();
    assert!(paths.contains(&"/api/models/org/name/revision/refs%2Fpr%2F1".to_owned()));
    let kept = world.path("hf/hub/models--org--name/refs/refs/pr/1");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), OTHER_COMMIT);
    world.set("HF_HUB_OFFLINE", "true");
    world
        .show("hf:org/name@refs/pr/1", "org/name")
        .gave("<s>Hi", &[]);
    world.show("hf:org/name@v2", "org/name").refused(&[
        "hf:org/name@v2: not in the cache, and nothing may be fetched: HF_HUB_OFFLINE",
        "run this once without that variable",
    ]);
    assert_eq!(hub.server.asked().len(), 0);
}

#[test]
fn what_others_have_put_into_the_cache_is_not_fetched_again() {
    let hub = Hub::new(model());
    let world = hub.world();
    let snapshot = format!("hf/hub/models--org--name/snapshots/{COMMIT}");
    world.write(&format!("{snapshot}/chat_template.jinja"), "mine");
    world.show("hf:org/name", "org/name").gave(
        "mine",
        &["fetched 3 files (23 B) of hf:org/name at 1a2b3c4"],
    );
    let paths = hub.server.paths();
    assert!(
        paths
            .iter()
            .all(|path| !path.contains("chat_template.jinja")),
        "{paths:?}"
    );
}

#[test]
fn the_token_comes_from_where_huggingface_hub_has_it() {
    let hub = Hub::new(files(&[
        ("chat_template.jinja", "x"),
        ("config.json", "{}"),
    ]));
    let mut world = hub.world();
    let sent = |world: &super::world::World| {
        world.show("hf:org/name", "org/name").gave("x", &[]);
        let asked = hub.server.asked();
        asked[0].header("authorization").map(str::to_owned)
    };
    world.show("hf:org/name", "org/name");
    hub.server.asked();
    assert_eq!(sent(&world), None);
    world.write("hf/token", "in_home\n");
    assert_eq!(sent(&world).unwrap(), "Bearer in_home");
    let path = world.write("elsewhere", "in_file\n").display().to_string();
    world.set("HF_TOKEN_PATH", &path);
    assert_eq!(sent(&world).unwrap(), "Bearer in_file");
    world.set("HF_TOKEN", " in_variable\n");
    assert_eq!(sent(&world).unwrap(), "Bearer in_variable");
    world.set("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1");
    assert_eq!(sent(&world), None);
}

#[test]
fn without_links_the_snapshot_has_the_files() {
    let hub = Hub::new(model());
    let mut world = hub.world();
    let cache = world.path("my-cache").display().to_string();
    world
        .set("HF_HUB_DISABLE_SYMLINKS", "1")
        .set("HF_HUB_CACHE", &cache);
    let ran = world.show("hf:org/name", "org/name");
    assert_eq!(ran.out, "<s>Hi");
    let expected = [
        "refs/main".to_owned(),
        format!("snapshots/{COMMIT}/additional_chat_templates/rag.jinja"),
        format!("snapshots/{COMMIT}/chat_template.jinja"),
        format!("snapshots/{COMMIT}/config.json"),
        format!("snapshots/{COMMIT}/tokenizer_config.json"),
    ];
    assert_eq!(world.tree("my-cache/models--org--name"), expected);
}

#[test]
fn check_takes_names_and_goes_on_after_one_that_is_wrong() {
    let hub = Hub::new(model());
    let world = hub.world();
    let ran = world.run(&["check", "hf:org/none", "hf:org/name", "--format", "json"]);
    ran.refused(&["hf:org/none: no such model on the Hugging Face hub"]);
    assert!(ran.out.contains("\"org/name\""), "{}", ran.out);
}

#[test]
fn the_card_of_a_model_is_fetched_where_its_base_is_asked_for() {
    let card = "---\nbase_model: org/base\n---\nread me";
    let hub = Hub::new(files(&[
        ("README.md", card),
        ("chat_template.jinja", "{{ messages[0].content }}"),
        ("config.json", "{}"),
    ]));
    let world = hub.world();
    let ran = world.run(&["check", "hf:org/name", "--like", "base"]);
    // The hub has no other model.
    ran.refused(&["hf:org/base"]);
    let tree = world.tree("hf/hub/models--org--name");
    assert!(
        tree.iter().any(|file| file.contains("/README.md")),
        "{tree:?}"
    );
}

#[test]
fn a_model_on_the_hub_is_fixed_in_a_copy() {
    let source = "{% if tools is not none %}Tools: {{ tools | tojson }}\n{% endif %}\
        {% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
    let hub = Hub::new(files(&[
        ("chat_template.jinja", source),
        ("config.json", "{}"),
    ]));
    let world = hub.world();
    let ran = world.run(&["check", "hf:org/name", "--fix"]);
    ran.refused(&["it belongs to the cache of Hugging Face", "fix a copy: cp "]);
    let kept = format!("hf/hub/models--org--name/snapshots/{COMMIT}/chat_template.jinja");
    assert_eq!(std::fs::read_to_string(world.path(&kept)).unwrap(), source);
    let ran = world.run(&["check", "hf:org/name"]);
    assert!(
        ran.out.contains("a safe fix for no-tools-alike"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("check hf:org/name --fix"), "{}", ran.out);
    assert!(ran.out.contains("to fix a copy:"), "{}", ran.out);
}
