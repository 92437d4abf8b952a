//! Bytes that nobody wrote on purpose: reading any file ends with templates or with problems, never
//! in a panic.

use proptest::prelude::*;
use rolecall_io::source;

use super::Folder;
use super::build::{Gguf, text, texts};

fn gguf() -> Vec<u8> {
    Gguf::model("{{ bos_token }}")
        .with("tokenizer.chat_template.tool_use", text("T"))
        .with("tokenizer.chat_templates", texts(&["tool_use"]))
        .bytes()
}

const MODELFILE: &str = "# A model.\nFROM ./x.gguf\nPARAMETER stop \"</s>\"\nTEMPLATE \"\"\"{{ range .Messages }}\n{{ .Content }}\"\"\"\nMESSAGE user hello\nSYSTEM \"a\nb\"\n";
const CONFIG: &str = r#"{"chat_template": [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "\u00e9"}],
 "bos_token": {"__type": "AddedToken", "content": "<s>"}, "extra_special_tokens": {"image_token": "<i>"},
 "added_tokens_decoder": {"0": {"content": "<s>"}}}"#;
const MANIFEST: &str = r#"{"config": {"digest": "sha256:00"}, "layers": [{"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:00"}]}"#;

/// The changes to a file.
#[derive(Debug, Clone)]
enum Damage {
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        (
            any::<prop::sample::Index>(),
            prop::collection::vec(any::<u8>(), 1..12)
        )
            .prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, n)| Damage::Repeat(at, n)),
    ]
}

fn damaged(mut bytes: Vec<u8>, all: &[Damage]) -> Vec<u8> {
    for damage in all {
        if bytes.is_empty() {
            break;
        }
        match damage {
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Flip(at, bits) => {
                let at = at.index(bytes.len());
                bytes[at] ^= bits;
            }
            Damage::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Damage::Repeat(at, times) => {
                let at = at.index(bytes.len());
                let byte = bytes[at];
                bytes.splice(at..at, std::iter::repeat_n(byte, usize::from(*times)));
            }
        }
    }
    bytes
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn damaged_files_end_in_templates_or_problems(
        all in prop::collection::vec(damage(), 1..4),
        which in 0..5_usize,
    ) {
        let (name, bytes) = [
            ("m.gguf", gguf()),
            ("Modelfile", MODELFILE.as_bytes().to_vec()),
            ("tokenizer_config.json", CONFIG.as_bytes().to_vec()),
            ("special_tokens_map.json", CONFIG.as_bytes().to_vec()),
            ("manifests/h/n/m/t", MANIFEST.as_bytes().to_vec()),
        ][which].clone();
        let folder = Folder::new();
        std::fs::create_dir(folder.path("blobs")).unwrap();
        folder.write(name, damaged(bytes, &all));
        let found = source::read(folder.0.path());
        prop_assert!(!found.templates.is_empty() || !found.problems.is_empty());
    }
}

/// Texts that would take forever if some code went through all of them again and again.
#[test]
fn long_files_take_no_longer_than_they_are() {
    let folder = Folder::new();
    let many = 1 << 20;
    let blank = format!("FROM x\nTEMPLATE \"\"\"\u{A0}{}", " \n".repeat(many));
    folder.write("a/Modelfile", blank);
    assert_eq!(folder.read("a/Modelfile").problems.len(), 1);

    let keys: Vec<String> = (0..100_000).map(|n| format!("\"k{n}_token\": 1")).collect();
    let config = format!("{{{}, \"chat_template\": \"x\"}}", keys.join(","));
    folder.write("b/tokenizer_config.json", config);
    assert_eq!(folder.read("b").templates.len(), 1);

    let deep = format!("{{\"chat_template\": {}", "[".repeat(many));
    folder.write("c/tokenizer_config.json", deep);
    assert_eq!(folder.read("c").problems.len(), 1);
}
