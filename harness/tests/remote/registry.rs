//! Ollama's models, from its store and from its registry.

use std::sync::Arc;

use super::server::{Reply, Server};
use super::world::{World, sha256};
use crate::sources::build::Gguf;

/// A registry with `library/m:latest`, and the other host with its blobs.
struct Registry {
    server: Server,
    blobs: Server,
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256(bytes))
}

fn manifest(layers: &[(&str, Vec<u8>)]) -> String {
    let config = br#"{"model_format": "gguf", "model_family": "llama"}"#;
    let layers: Vec<_> = layers
        .iter()
        .map(|(kind, bytes)| {
            serde_json::json!({
                "mediaType": format!("application/vnd.ollama.image.{kind}"),
                "digest": digest(bytes),
            })
        })
        .collect();
    serde_json::json!({"config": {"digest": digest(config)}, "layers": layers}).to_string()
}

impl Registry {
    fn new(layers: &[(&str, Vec<u8>)]) -> Registry {
        Registry::damaging(layers, "none")
    }

    /// A registry that sends a layer that does not match its digest.
    fn damaging(layers: &[(&str, Vec<u8>)], damaged: &str) -> Registry {
        let text = manifest(layers);
        let config = br#"{"model_format": "gguf", "model_family": "llama"}"#.to_vec();
        let mut stored: Vec<(String, Vec<u8>)> = vec![(digest(&config), config)];
        for (kind, bytes) in layers {
            let sent = if *kind == damaged {
                b"else".to_vec()
            } else {
                bytes.clone()
            };
            stored.push((digest(bytes), sent));
        }
        let stored = Arc::new(stored);
        let blobs = Server::new(move |request, _| {
            let found = stored
                .iter()
                .find(|(digest, _)| request.path.contains(digest));
            found.map_or(Reply::new(404, ""), |(_, bytes)| {
                Reply::new(200, bytes).part(request)
            })
        });
        let far = blobs.address.clone();
        let server = Server::new(move |request, _| {
            let path = request.path.as_str();
            if path == "/v2/library/m/manifests/latest" {
                return Reply::new(200, &text);
            }
            match path.strip_prefix("/v2/library/m/blobs/") {
                Some(digest) => {
                    Reply::new(307, "").with("Location", format!("{far}/{digest}?signed"))
                }
                None => Reply::new(404, r#"{"errors": [{"code": "MANIFEST_UNKNOWN"}]}"#),
            }
        });
        Registry { server, blobs }
    }

    fn world(&self) -> World {
        let mut world = World::new();
        world.set("ROLECALL_OLLAMA_REGISTRY", &self.server.address);
        world
    }
}

fn go_model() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("model", Gguf::model("J").bytes()),
        ("template", b"{{ .System }}|{{ .Prompt }}".to_vec()),
        ("license", b"much text".to_vec()),
        ("system", b"Be brief.".to_vec()),
        ("params", br#"{"stop": ["x"]}"#.to_vec()),
    ]
}

#[test]
fn the_small_layers_are_fetched_and_the_weights_are_not() {
    let registry = Registry::new(&go_model());
    let mut world = registry.world();
    world.set("HF_TOKEN", "hf_secret");
    let ran = world.show("ollama:m", "m");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "Be brief.|Hi"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.starts_with("fetched 4 files (100 B) of ollama:m\n"),
        "{}",
        ran.err
    );
    assert!(
        ran.err
            .contains("whether Ollama 0.30 and later uses a Jinja template"),
        "{}",
        ran.err
    );
    let asked = registry.server.asked();
    assert_eq!(asked[0].path, "/v2/library/m/manifests/latest");
    assert!(
        asked[0]
            .header("accept")
            .unwrap()
            .contains("manifest.v2+json")
    );
    assert_eq!(asked.len(), 5);
    let mut all = asked;
    all.extend(registry.blobs.asked());
    assert_eq!(all.len(), 9);
    assert!(
        all.iter()
            .all(|asked| asked.header("authorization").is_none())
    );
    for (kind, bytes) in go_model() {
        let is_asked = all.iter().any(|asked| asked.path.contains(&digest(&bytes)));
        assert_eq!(is_asked, !["model", "license"].contains(&kind), "{kind}");
    }
    assert_eq!(world.tree("cache").len(), 5);

    // Tags move, so the manifest is requested again, and nothing else.
    assert_eq!(world.show("ollama:m:latest", "m").out, "Be brief.|Hi");
    assert_eq!(registry.server.paths(), ["/v2/library/m/manifests/latest"]);
    world.set("ROLECALL_OFFLINE", "1");
    assert_eq!(world.show("ollama:m", "m").out, "Be brief.|Hi");
    world
        .show("ollama:n", "n")
        .refused(&["neither in Ollama's store nor in the cache"]);
    assert_eq!(registry.server.asked().len(), 0);
}

#[test]
fn a_model_in_the_store_is_used_as_it_is() {
    let registry = Registry::new(&go_model());
    let world = registry.world();
    let layers = vec![("template", b"mine {{ .Prompt }}".to_vec())];
    let config = br#"{"model_format": "gguf", "model_family": "llama"}"#.to_vec();
    for bytes in [&layers[0].1, &config] {
        world.write(&format!("ollama/blobs/sha256-{}", sha256(bytes)), bytes);
    }
    let path = "ollama/manifests/registry.ollama.ai/library/m/latest";
    world.write(path, manifest(&layers));
    world.show("ollama:m", "m").gave("mine Hi", &[]);
    assert_eq!(registry.server.asked().len(), 0);
    assert_eq!(world.tree("cache").len(), 0);
}

#[test]
fn a_model_without_a_go_template_may_have_one_in_its_weights() {
    let registry = Registry::new(&[("model", Gguf::model("{{ eos_token }}J").bytes())]);
    let world = registry.world();
    let ran = world.show("ollama:m", "m");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "</s>J"),
        "{}",
        ran.err
    );
    let asked = registry.blobs.asked();
    assert_eq!(asked[1].range(), Some((0, 1 << 20)));
    world.show("ollama:m", "m").gave("</s>J", &[]);
    assert_eq!(registry.blobs.asked().len(), 0);
}

#[test]
fn what_is_wrong_is_reported_and_not_kept() {
    let registry = Registry::damaging(&go_model(), "template");
    let world = registry.world();
    world
        .show("ollama:m", "m")
        .refused(&["ollama:m: a layer came damaged"]);
    assert!(!world.path("cache/ollama/manifests").exists());
    for name in ["ollama:m:8b", "ollama:none", "ollama:me/mine"] {
        world
            .show(name, "x")
            .refused(&["has no such model or tag", "is the name right"]);
    }
    let refusing = Server::new(|_, _| Reply::new(401, ""));
    let mut world = World::new();
    world.set("ROLECALL_OLLAMA_REGISTRY", &refusing.address);
    world
        .show("ollama:m", "m")
        .refused(&["only public models are fetched"]);
    let other = Server::new(|_, _| Reply::new(200, "<html>"));
    world.set("ROLECALL_OLLAMA_REGISTRY", &other.address);
    world
        .show("ollama:m", "m")
        .refused(&["does not answer with the manifest of a model"]);
}
