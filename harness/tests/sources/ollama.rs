//! Ollama's store.

use std::fmt::Write as _;
use std::path::PathBuf;

use rolecall_core::{Dialect, OllamaSetup};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::build::Gguf;
use super::{Folder, notes, problem_in, templates};

const TEMPLATE: &str = "template";
const MODEL: &str = "model";

pub(super) struct Store(pub(super) Folder);

impl Store {
    fn new() -> Store {
        let folder = Folder::new();
        std::fs::create_dir_all(folder.path("models/blobs")).unwrap();
        std::fs::create_dir_all(folder.path("models/manifests")).unwrap();
        Store(folder)
    }

    fn blob(&self, content: &[u8]) -> String {
        let hex = Sha256::digest(content)
            .iter()
            .fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").unwrap();
                hex
            });
        self.0.write(&format!("models/blobs/sha256-{hex}"), content);
        format!("sha256:{hex}")
    }

    /// A model of a configuration and layers; its path below `manifests`.
    fn model(&self, path: &str, config: &serde_json::Value, layers: &[(&str, &[u8])]) -> PathBuf {
        let layers: Vec<_> = layers
            .iter()
            .map(|(kind, content)| {
                json!({
                    "mediaType": format!("application/vnd.ollama.image.{kind}"),
                    "digest": self.blob(content),
                    "size": content.len(),
                })
            })
            .collect();
        let manifest = json!({
            "schemaVersion": 2,
            "config": {"digest": self.blob(config.to_string().as_bytes())},
            "layers": layers,
        });
        let path = format!("models/manifests/{path}");
        self.0.write(&path, manifest.to_string())
    }
}

fn gguf_config() -> serde_json::Value {
    json!({"model_format": "gguf", "model_family": "llama"})
}

/// Four models: with a Go template, a Jinja template, both, and none.
pub(super) fn store() -> Store {
    let store = Store::new();
    let library = "registry.ollama.ai/library";
    let plain = Gguf::model("").bytes();
    let jinja = Gguf::model("{{ bos_token }}J")
        .with("tokenizer.chat_template.tool_use", super::build::text("T"))
        .bytes();
    let config = gguf_config();
    store.model(
        &format!("{library}/gemma3/latest"),
        &config,
        &[
            (MODEL, &plain),
            (TEMPLATE, b"{{ .Prompt }}"),
            ("license", b"l"),
        ],
    );
    store.model(
        &format!("{library}/gemma3/12b"),
        &config,
        &[(MODEL, &jinja)],
    );
    store.model(
        "hf.co/org/both/Q4",
        &config,
        &[
            (MODEL, &jinja),
            (TEMPLATE, b"first"),
            (TEMPLATE, b"G"),
            ("system", b"s"),
            (
                "messages",
                br#"[{"role": "User", "content": "Hi"}, {"role": "assistant"}]"#,
            ),
        ],
    );
    store.model(
        &format!("{library}/embed/latest"),
        &config,
        &[(MODEL, &plain)],
    );
    store
}

#[test]
fn a_store_gives_the_templates_of_its_models() {
    let store = store();
    for path in ["models", "", "models/manifests"] {
        let found = store.0.read(path);
        assert_eq!(
            templates(&found),
            [
                "gemma3: {{ .Prompt }}",
                "gemma3@12b: {{ bos_token }}J",
                "gemma3@12b@tool_use: T",
                "hf.co/org/both@Q4: G",
                "hf.co/org/both@Q4@gguf: {{ bos_token }}J",
                "hf.co/org/both@Q4@gguf@tool_use: T",
            ],
            "{path} {found:#?}"
        );
        assert_eq!(found.problems, []);
        let notes = notes(&found).join("\n");
        for expected in [
            "embed has no template",
            "hf.co/org/both:Q4 has two templates: Ollama uses hf.co/org/both@Q4, not hf.co/org/both@Q4@gguf",
        ] {
            assert!(notes.contains(expected), "{expected}\n{notes}");
        }
        let message = |role: &str, text: &str| (role.to_owned(), text.to_owned());
        let named = |name| found.templates.iter().find(|t| t.name.as_str() == name);
        assert_eq!(
            named("hf.co/org/both@Q4").unwrap().setup,
            OllamaSetup {
                model: Some("both".into()),
                family: Some("llama".into()),
                parser: None,
                system: Some("s".into()),
                messages: vec![message("user", "Hi"), message("assistant", "")],
                stops: vec![],
            }
        );
        let jinja = &found.templates;
        let jinja = jinja
            .iter()
            .find(|t| t.name.as_str() == "gemma3@12b")
            .unwrap();
        assert_eq!(jinja.dialect, Dialect::Jinja);
        assert_eq!(jinja.special_tokens["bos_token"], "<s>");
    }
}

#[test]
fn one_model_is_named_by_its_manifest_or_in_the_store() {
    let store = store();
    for path in [
        "models/manifests/registry.ollama.ai/library/gemma3/latest",
        "models/gemma3",
        "models/gemma3:latest",
        "gemma3",
        "models/library/gemma3",
        "models/registry.ollama.ai/library/gemma3:latest",
    ] {
        let found = store.0.read(path);
        assert_eq!(
            templates(&found),
            ["gemma3: {{ .Prompt }}"],
            "{path} {found:#?}"
        );
    }
    let found = store
        .0
        .read("models/manifests/registry.ollama.ai/library/gemma3");
    assert_eq!(found.templates.len(), 3);
    let problem = problem_in(store.0.0.path(), &store.0.read("models/gema3:12b"));
    assert!(problem.starts_with("models/gema3:12b: no model \"gema3:12b\" in the store "));
    assert!(problem.contains("did you mean gemma3:12b?"), "{problem}");
    let problem = problem_in(store.0.0.path(), &store.0.read("models/a/../../x"));
    assert!(
        problem.contains("no model") || problem.contains("no such file"),
        "{problem}"
    );
    let problem = problem_in(store.0.0.path(), &store.0.read("models/embed"));
    assert!(problem.contains("embed has no template"), "{problem}");
}

#[test]
fn models_that_ollama_renders_itself_are_reported() {
    let store = Store::new();
    let path = "registry.ollama.ai/library/m/latest";
    let own = "Ollama renders m by code of its own, \"qwen3-coder\", not by its template";
    let first = "m has two templates: Ollama uses m, not m@gguf";
    let jinja = Gguf::model("{{ tools }}").bytes();
    for (config, expected) in [
        (json!({"renderer": "qwen3-coder", "parser": "p"}), own),
        // With a parser, the template itself decides, and the one in the weights is left out.
        (json!({"parser": "p"}), first),
        (json!({"model_family": "gptoss"}), first),
        (
            json!({}),
            "m has two templates: Ollama 0.30 and later uses m@gguf, earlier versions use m",
        ),
    ] {
        let template = b"<|start|>{{ .Prompt }}<|end|>";
        store.model(path, &config, &[(MODEL, &jinja), (TEMPLATE, template)]);
        let found = store.0.read("models/m");
        assert_eq!(found.templates.len(), 2);
        assert!(notes(&found)[0].contains(expected), "{found:#?}");
    }
}

#[test]
fn a_store_that_is_broken_is_reported_with_what_is_broken() {
    let manifest = "models/manifests/registry.ollama.ai/library/m/latest";
    let digest = format!("sha256:{}", "0".repeat(64));
    let layer = |digest: &str| {
        format!(
            r#"{{"layers": [{{"mediaType": "application/vnd.ollama.image.template", "digest": "{digest}"}}]}}"#
        )
    };
    for (text, expected) in [
        (
            layer(&digest),
            format!("{manifest}: the blob {digest} is missing"),
        ),
        (
            layer("sha256:../../../secret"),
            format!("{manifest}: not a digest: \"sha256:../../../secret\""),
        ),
        ("{".to_owned(), format!("{manifest}:1:1: not JSON")),
        ("[]".to_owned(), format!("{manifest}:1:1: not an object")),
        (
            r#"{"layers": 1}"#.to_owned(),
            format!("{manifest}:1:12: `layers` must be"),
        ),
        (
            r#"{"layers": [{}]}"#.to_owned(),
            format!("{manifest}:1:13: a layer needs"),
        ),
        ("{}".to_owned(), format!("{manifest}: m has no template")),
    ] {
        let store = Store::new();
        store.0.write(manifest, &text);
        store.0.write("secret", "x");
        let problem = problem_in(store.0.0.path(), &store.0.read("models/m"));
        assert!(problem.starts_with(&expected), "{problem}\n{expected}");
    }

    // A changed blob is used, as Ollama uses it, and reported.
    let store = Store::new();
    store.model(
        "registry.ollama.ai/library/m/latest",
        &gguf_config(),
        &[(TEMPLATE, b"x"), (MODEL, b"GGUF")],
    );
    for entry in std::fs::read_dir(store.0.path("models/blobs")).unwrap() {
        let path = entry.unwrap().path();
        if std::fs::read(&path).unwrap() == b"x" {
            std::fs::write(&path, "y").unwrap();
        }
    }
    let found = store.0.read("models/m");
    assert_eq!(templates(&found), ["m: y"]);
    assert_eq!(found.problems, []);
    let notes = notes(&found).join("\n");
    assert!(notes.contains("is not what its digest says"), "{notes}");
    assert!(
        notes.contains("the file ends inside the version"),
        "{notes}"
    );

    // Without a Go template, broken weights are a problem.
    let store = Store::new();
    store.model(
        "registry.ollama.ai/library/m/latest",
        &gguf_config(),
        &[(MODEL, b"GGUF\x03")],
    );
    let problem = problem_in(store.0.0.path(), &store.0.read("models/m"));
    assert!(
        problem.contains(", byte 4: the file ends inside the version"),
        "{problem}"
    );
}

#[cfg(unix)]
#[test]
fn a_blob_outside_of_the_store_is_not_read() {
    let store = Store::new();
    store.model(
        "registry.ollama.ai/library/m/latest",
        &gguf_config(),
        &[(TEMPLATE, b"x")],
    );
    store.0.write("secret", "x");
    for entry in std::fs::read_dir(store.0.path("models/blobs")).unwrap() {
        let path = entry.unwrap().path();
        if std::fs::read(&path).unwrap() == b"x" {
            std::fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(store.0.path("secret"), &path).unwrap();
        }
    }
    let problem = problem_in(store.0.0.path(), &store.0.read("models/m"));
    assert!(
        problem.contains("a link that leads outside of "),
        "{problem}"
    );
}
