//! The seeds of fuzzing: the suite, the tables of small templates, and hand-made model files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rolecall_suite::layout::Layout;
use rolecall_suite::snapshot::{FamilyFile, PairText, Snapshots, text};
use rolecall_suite::suite::{Pair, Suite};

use super::targets::{BETWEEN, CASE_KINDS, MODEL_KINDS};

/// Hostile templates for a target. They take long.
pub(super) fn hostile(target: &str) -> Vec<Vec<u8>> {
    let extension = match target {
        "jinja" => "jinja",
        "go" => "gotmpl",
        _ => return Vec::new(),
    };
    let seeds: Vec<_> = files(&package().join("tests/data/hostile"))
        .into_iter()
        .filter(|path| is(path, extension))
        .map(|path| fs::read(path).unwrap())
        .collect();
    assert!(!seeds.is_empty(), "no hostile template for {target}");
    seeds
}

/// The folder of the inputs that are tried first, with a folder for each target.
pub(super) fn fuzz_data() -> PathBuf {
    package().join("tests/data/fuzz")
}

/// The inputs that once showed a defect of a target, with their files.
pub(super) fn regressions(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = fuzz_data().join(target);
    let paths = files(&folder);
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths
        .into_iter()
        .map(|path| {
            let input = fs::read(&path).unwrap();
            (path, input)
        })
        .collect()
}

/// The inputs that a target starts from.
pub(super) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "jinja" => templates(
            "jinja",
            include_str!("../../../../cases/constructs/jinja.json"),
        ),
        "go" => templates(
            "gotmpl",
            include_str!("../../../../cases/constructs/go.json"),
        ),
        "cases" => cases(),
        "transcripts" => transcripts(),
        "models" => models(),
        "protocol" => protocol(),
        _ => panic!("no seeds for the target {target}"),
    }
}

/// Words with a meaning in the inputs of a target.
pub(super) fn words(target: &str) -> Vec<String> {
    let words = include_str!("../../data/fuzz-words.json");
    let mut words: BTreeMap<String, Vec<String>> = serde_json::from_str(words).unwrap();
    let list = match target {
        "cases" | "models" => "json",
        other => other,
    };
    let found = words.remove(list);
    found.unwrap_or_else(|| panic!("no words for the target {target}"))
}

/// The folder of the harness, which contains the seeds.
pub(super) fn package() -> &'static Path {
    static HARNESS: LazyLock<PathBuf> = LazyLock::new(|| {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        // The package is the one at the top, or the fuzzer's own.
        match package.ancestors().nth(2) {
            Some(harness) if package.ends_with("harness/tools/fuzz") => harness.to_owned(),
            _ => package.join("harness"),
        }
    });
    &HARNESS
}

fn layout() -> Layout {
    Layout::find(package()).expect("the package lies in the suite")
}

/// The files below a folder, sorted by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.unwrap_or_else(|error| panic!("{error}")))
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect();
    files.sort();
    files
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.join(&BETWEEN)
}

/// The suite's templates, each with a case of the suite, and rows of a table of small templates.
fn templates(extension: &str, table: &str) -> Vec<Vec<u8>> {
    let mut bodies: Vec<String> = Vec::new();
    for path in files(&layout().conversations()) {
        let family: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let cases = family["cases"].as_object().unwrap();
        // The large ones are slow to change and show nothing new.
        bodies.extend(
            cases
                .values()
                .map(ToString::to_string)
                .filter(|body| body.len() < 2000),
        );
    }
    let mut sources: Vec<Vec<u8>> = files(&layout().templates())
        .into_iter()
        .filter(|path| is(path, extension))
        .map(|path| fs::read(path).unwrap())
        .collect();
    let table: serde_json::Value = serde_json::from_str(table).unwrap();
    let rows = table["rows"].as_array().unwrap().iter();
    sources.extend(rows.map(|row| row["template"].as_str().unwrap().as_bytes().to_vec()));
    sources
        .iter()
        .zip(bodies.iter().cycle())
        .map(|(source, body)| join(&[source, body.as_bytes()]))
        .collect()
}

fn of_kind(kinds: &[&str], kind: &str, text: &[u8]) -> Vec<u8> {
    let number = kinds.iter().position(|known| *known == kind);
    let mut input = vec![u8::try_from(number.unwrap()).unwrap()];
    input.extend_from_slice(text);
    input
}

fn cases() -> Vec<Vec<u8>> {
    let layout = layout();
    let read = |kind: &str, paths: Vec<PathBuf>| -> Vec<Vec<u8>> {
        paths
            .into_iter()
            .filter(|path| is(path, "json"))
            .map(|path| fs::read(path).unwrap())
            .filter(|text| text.len() < 20_000)
            .map(|text| of_kind(&CASE_KINDS, kind, &text))
            .collect()
    };
    let asked = fs::read_to_string(layout.snapshots().join("reference.json")).unwrap();
    // Some of its templates, as they would be written: no comma follows the last.
    let lines: Vec<&str> = asked.lines().collect();
    let short = [&lines[..4], &lines[lines.len() - 2..]].concat().join("\n") + "\n";
    let divergences = r#"[{"engine": "rolecall-jinja", "template": "qwen*", "case": "plain/*",
        "reason": "why", "issue": "https://example.org/1", "observed": {"qwen2.5:plain/one": "00"}}]"#;
    let mut seeds = read("family.json", files(&layout.conversations()));
    seeds.extend(read("tool.json", files(&layout.tools())));
    seeds.extend(read("sidecar.json", files(&layout.templates())));
    seeds.extend(read("divergences.json", vec![layout.divergences()]));
    seeds.push(of_kind(
        &CASE_KINDS,
        "divergences.json",
        divergences.as_bytes(),
    ));
    seeds.push(of_kind(&CASE_KINDS, "reference.json", short.as_bytes()));
    seeds
}

fn transcripts() -> Vec<Vec<u8>> {
    const TEMPLATES: [&str; 4] = ["chatml", "qwen2.5", "go-values", "command-r"];
    let layout = layout();
    let mut suite = Suite::load_layout(&layout);
    suite
        .templates
        .retain(|one| TEMPLATES.contains(&one.name.as_str()));
    let snapshots = Snapshots::of(&layout);
    let mut single = Vec::new();
    let mut several = Vec::new();
    for family in snapshots.families() {
        let file: &FamilyFile = &snapshots.family(&family);
        let pairs = suite.pairs_by_case(&family);
        let transcripts = pairs.iter().filter_map(|pair| file.transcript(pair));
        single.extend(transcripts.map(|text| text.as_bytes().to_vec()));
        // Several sections in one text.
        let first: Vec<_> = pairs.iter().take(3).map(Pair::key).collect();
        let text = text(&suite, &family, |pair| {
            if first.contains(&pair.key()) {
                file.pair(pair)
            } else {
                PairText::default()
            }
        });
        several.push(text.into_bytes());
    }
    single.into_iter().step_by(17).chain(several).collect()
}

/// A GGUF file with a few keys, one of them a template.
fn gguf() -> Vec<u8> {
    let text = |text: &str| {
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        bytes
    };
    let mut file = b"GGUF".to_vec();
    file.extend(3_u32.to_le_bytes());
    file.extend(0_u64.to_le_bytes());
    file.extend(4_u64.to_le_bytes());
    for (key, value) in [
        (
            "tokenizer.chat_template",
            "{{ bos_token }}{{ messages[0].content }}",
        ),
        ("tokenizer.chat_template.tool_use", "{{ tools }}"),
    ] {
        file.extend(text(key));
        file.extend(8_u32.to_le_bytes());
        file.extend(text(value));
    }
    file.extend(text("tokenizer.ggml.bos_token_id"));
    file.extend(4_u32.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    file.extend(text("tokenizer.ggml.tokens"));
    file.extend(9_u32.to_le_bytes());
    file.extend(8_u32.to_le_bytes());
    file.extend(2_u64.to_le_bytes());
    file.extend(text("<unk>"));
    file.extend(text("<s>"));
    file
}

fn models() -> Vec<Vec<u8>> {
    let digest = format!("sha256:{}", "a".repeat(64));
    let manifest = serde_json::json!({"schemaVersion": 2, "config": {"digest": digest, "size": 2},
        "layers": [{"mediaType": "application/vnd.ollama.image.template", "digest": digest, "size": 20}]});
    let configuration = r#"{"bos_token": "<s>", "eos_token": {"content": "</s>", "__type": "AddedToken"},
        "added_tokens_decoder": {"1": {"content": "<s>", "special": true}}, "chat_template": "{{ messages }}"}"#;
    let several = r#"{"chat_template": [{"name": "default", "template": "{{ messages }}"},
        {"name": "tool_use", "template": "{{ tools }}"}]}"#;
    let kind = |kind: &str, text: &[u8]| of_kind(&MODEL_KINDS, kind, text);
    vec![
        kind("model.gguf", &gguf()),
        kind(
            "Modelfile",
            b"FROM ./model.gguf\nTEMPLATE \"\"\"{{ .System }}\r\n{{ .Prompt }}\"\"\"\nPARAMETER stop \"<|im_end|>\"\nSYSTEM hello\nMESSAGE user hi\n",
        ),
        kind("tokenizer_config.json", configuration.as_bytes()),
        kind("tokenizer_config.json", &join(&[several.as_bytes(), b"{{ messages }}"])),
        kind("chat_template.json", b"{\"chat_template\": \"{{ messages }}\"}"),
        kind("chat_template.jinja", &join(&[b"{{ bos_token }}", configuration.as_bytes()])),
        kind("manifest", &join(&[manifest.to_string().as_bytes(), b"{{ .Messages }}"])),
        kind("manifest", &join(&[manifest.to_string().as_bytes(), &gguf()])),
        kind("model.gotmpl", "\u{feff}{{ .Messages }}".as_bytes()),
    ]
}

fn protocol() -> Vec<Vec<u8>> {
    let requests = concat!(
        r#"{"request": "start", "rolecall": 1}"#,
        "\n",
        r#"{"request": "load", "id": 1, "template": "t", "source": "{{ messages[0].content }}"}"#,
        "\n",
        r#"{"request": "render", "id": 2, "template": "t", "now": "2026-01-02T03:04:05Z", "messages": [{"role": "user", "content": "a"}], "tools": null, "documents": null, "add_generation_prompt": true, "variables": {"x": 1}}"#,
        "\n",
        r#"{"request": "stop"}"#,
        "\n",
    );
    [
        r#"{"id": 1, "ok": true}"#,
        r#"{"id": 1, "outcome": "rendered", "text": "a\n"}"#,
        r#"{"id": 1, "outcome": "raised", "message": "no"}"#,
        r#"{"id": 1, "outcome": "failed", "stage": "render", "message": "m", "line": 3}"#,
        r#"{"id": 1, "outcome": "exceeded", "limit": "recursion"}"#,
        r#"{"id": 1, "outcome": "crashed", "message": "m"}"#,
    ]
    .iter()
    .map(|answer| join(&[answer.as_bytes(), requests.as_bytes()]))
    .collect()
}
