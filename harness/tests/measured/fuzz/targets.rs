//! The rules that must hold for any bytes: one function for each kind of input. A function that
//! panics has found a defect.
//!
//! The tests in this folder and the coverage-guided fuzzer in `harness/tools/fuzz` call these functions.

// Not everybody uses everything, and what a target finds is a panic.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use std::sync::LazyLock;
use std::time::Duration;

use rolecall_core::guard::load;
use rolecall_core::problem::{Location, Problem};
use rolecall_core::transcript;
use rolecall_core::{
    Case, CaseId, Conversation, Dialect, Limits, Observer, Outcome, Template, Wanted,
};
use rolecall_front::engines::Engines;
use rolecall_io::protocol::{read_answer, serve};
use rolecall_io::source;
use rolecall_io::template_file::{place, read_template};
use rolecall_suite::case_file;
use rolecall_suite::divergence;
use rolecall_suite::layout::Layout;
use rolecall_suite::records::AskedTemplates;
use rolecall_suite::snapshot::{FamilyFile, PairText, Snapshots};
use rolecall_suite::suite::Suite;
use serde_json::json;
use tempfile::TempDir;

use crate::meter::{Taken, in_turn, taken};

/// The most computing time for one input.
const LONGEST: Duration = Duration::from_millis(500);

/// The most bytes of the heap for one input.
const LARGEST: usize = 128 << 20;

/// Divides an input into its two halves: a template's source and a case, or a configuration and the
/// files next to it.
pub const BETWEEN: u8 = 0x1e;

/// A twentieth of the usual limits, so that many inputs run in a second: the fuzzer's
/// instrumentation makes the code several times slower. Work that is not counted takes too long
/// even so.
static ENGINES: LazyLock<Engines> = LazyLock::new(|| {
    let limits = Limits::default();
    Engines::with_limits(&Limits {
        fuel: limits.fuel / 20,
        work: limits.work / 20,
        output: limits.output / 4,
        ..limits
    })
});

pub type Target = fn(&[u8]);

pub const TARGETS: [(&str, Target); 6] = [
    ("jinja", jinja),
    ("go", go),
    ("cases", cases),
    ("transcripts", transcripts),
    ("models", models),
    ("protocol", protocol),
];

/// The files of the suite other than templates' sources. The first byte of an input chooses one.
pub const CASE_KINDS: [&str; 5] = [
    "family.json",
    "tool.json",
    "sidecar.json",
    "divergences.json",
    "reference.json",
];

/// The files of models. The first byte of an input chooses one. The second half of the input is the
/// template next to a configuration, or the blob that a manifest names.
pub const MODEL_KINDS: [&str; 7] = [
    "model.gguf",
    "Modelfile",
    "tokenizer_config.json",
    "chat_template.json",
    "chat_template.jinja",
    "manifest",
    "model.gotmpl",
];

/// A Jinja template, and a case as the body of one in a case file.
pub fn jinja(input: &[u8]) {
    template(Dialect::Jinja, input);
}

/// A Go template, and a case.
pub fn go(input: &[u8]) {
    template(Dialect::Go, input);
}

fn template(dialect: Dialect, input: &[u8]) {
    let (source, rest) = halves(input);
    let source = String::from_utf8_lossy(source);
    let case = case_of(rest);
    let template = Template::from_source("fuzzed", dialect, &source);
    let engine = ENGINES.for_dialect(dialect);
    within_limits(|| {
        let program = load(engine, &template);
        let outcome = program.render(&Conversation::new(&case));
        assert!(!matches!(outcome, Outcome::Crashed { .. }), "{outcome:?}");
        assert_reversible(&outcome);
        outcome
    });
    // A second time, to find what the first render left behind, and to try everything else that a
    // program has to answer.
    let program = load(engine, &template);
    let conversation = Conversation::new(&case);
    let first = program.render(&conversation);
    assert!(
        first == program.render(&conversation),
        "two renders, two outcomes: {first:?}"
    );
    within_limits(|| program.variables());
    let mut observer = Observer::of(&[Wanted::OwnText]);
    let watched = program.render_with(&conversation, &mut observer);
    if let (Some(watched), Outcome::Rendered { text }) = (watched, &first) {
        assert!(watched == first, "marking changed the prompt: {watched:?}");
        for span in observer.own_text.unwrap_or_default() {
            assert!(text.get(span.clone()).is_some(), "{span:?} is no text");
        }
    }
}

/// The case in the bytes, or a plain one with a bit of everything.
fn case_of(bytes: &[u8]) -> Case {
    let mut case = Case::from_messages(vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": "hello <|im_end|>\r\n\u{200b}"}),
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
            "function": {"name": "f", "arguments": {"a": [1, 2.5, null, true, "x"]}}}]}),
        json!({"role": "tool", "tool_call_id": "c1", "name": "f", "content": "3"}),
        json!({"role": "user", "content": [{"type": "text", "text": "and?"}]}),
    ]);
    case.tools = Some(vec![json!({"type": "function", "function": {"name": "f",
        "description": "F", "parameters": {"type": "object", "properties": {"a": {"type": "array"}}}}})]);
    if let Ok(serde_json::Value::Object(mut body)) = serde_json::from_slice(bytes) {
        let mut list = |key| match body.remove(key) {
            Some(serde_json::Value::Array(items)) => Some(items),
            _ => None,
        };
        if let Some(messages) = list("messages") {
            case.messages = messages;
            case.tools = list("tools");
            case.documents = list("documents");
        }
        if let Some(serde_json::Value::Object(variables)) = body.remove("variables") {
            case.variables = variables;
        }
        case.add_generation_prompt = body.get("add_generation_prompt") != Some(&json!(false));
    }
    case
}

/// A file of the suite: its first byte says which.
pub fn cases(input: &[u8]) {
    let Some((kind, text)) = input.split_first() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let kind = CASE_KINDS[usize::from(*kind) % CASE_KINDS.len()];
    let path = folder.path().join(kind);
    fs::write(&path, text).unwrap();
    let problems = within_limits(|| match kind {
        "family.json" => {
            let family = case_file::read_family(&path, &[folder.path().to_path_buf()]);
            for case in &family.cases {
                assert!(CaseId::allows(case.id.name()), "{}", case.id);
            }
            family.problems
        }
        "tool.json" => case_file::read_tool(&path).err().into_iter().collect(),
        "sidecar.json" => {
            let template = folder.path().join("sidecar.jinja");
            fs::write(&template, "x").unwrap();
            read_template(&template).err().unwrap_or_default()
        }
        "divergences.json" => divergence::read(&path).err().unwrap_or_default(),
        _ => {
            let snapshots = Snapshots::of(&Layout::new(folder.path()));
            fs::create_dir(snapshots.root()).unwrap();
            fs::rename(&path, AskedTemplates::file(&snapshots)).unwrap();
            match AskedTemplates::read(&snapshots) {
                Ok(asked) => {
                    // What is written is read again.
                    asked.write(&snapshots).unwrap();
                    assert_eq!(AskedTemplates::read(&snapshots), Ok(asked));
                    Vec::new()
                }
                Err(problem) => vec![problem],
            }
        }
    });
    assert_clear(&problems, text);
}

/// The text of an outcome, and a transcript.
pub fn transcripts(input: &[u8]) {
    let text = String::from_utf8_lossy(input).into_owned();
    within_limits(|| {
        for outcome in [
            Outcome::Rendered { text: text.clone() },
            Outcome::Raised {
                message: text.clone(),
            },
            Outcome::Crashed {
                message: text.clone(),
            },
        ] {
            assert_reversible(&outcome);
        }
        match transcript::decode(&text) {
            Ok(outcome) => assert_eq!(transcript::encode(&outcome), text, "two transcripts"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        assert_sections(&text);
    });
}

/// A text as the file of a family. If it has no problem, it is as it would be written. If nothing in it
/// is unreadable or superfluous, writing it anew loses no line. What is written is read again. Every
/// problem has a place in the file.
fn assert_sections(text: &str) {
    let suite = suite_of(text);
    let snapshots = Snapshots::of(&Layout::new("nowhere"));
    let empty = snapshots.written(&suite, "f", |_| PairText::default());
    let text = empty.replacen("---\n\n", &format!("---\n{text}\n"), 1);
    let file = FamilyFile::parse("f.snap".into(), text.as_bytes().to_vec());
    let problems = snapshots.problems_of(&suite, "f", &file).all();
    let written = snapshots.written(&suite, "f", |pair| file.pair(pair));
    if file.unreadable_part().is_none() {
        let again = FamilyFile::parse("f.snap".into(), written.clone().into_bytes());
        for pair in suite.pairs_by_case("f") {
            assert_eq!(again.pair(&pair), file.pair(&pair));
        }
    }
    if problems.is_empty() {
        assert_eq!(written, text);
    }
    let is_orphan = |problem: &Problem| problem.message.starts_with("an orphan");
    if file.unreadable_part().is_none() && !problems.iter().any(is_orphan) {
        let left: BTreeSet<&str> = written.lines().collect();
        assert!(text.lines().all(|line| left.contains(line)), "{written}");
    }
    let lines = text.lines().count();
    for problem in problems.into_iter().chain(file.undecodable()) {
        match problem.position {
            Some(Location::Text(position)) => assert!((5..=lines).contains(&position.line)),
            place => panic!("{problem}: {place:?}"),
        }
    }
}

/// A suite with the pairs that the headings of a text name.
fn suite_of(text: &str) -> Suite {
    let mut suite = Suite::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("=== ")) {
        let key = line.split_once(": ").map_or(line, |(key, _)| key);
        let mut names = key.split(", ");
        let (Some(case), Some(template)) = (names.next(), names.next()) else {
            continue;
        };
        let id = CaseId::new("f", case);
        if !suite.cases.iter().any(|case| case.id == id) {
            let mut case = Case::from_messages(Vec::new());
            case.id = id;
            suite.cases.push(case);
        }
        if !suite
            .templates
            .iter()
            .any(|one| one.name.as_str() == template)
        {
            let template = Template::from_source(template, Dialect::Jinja, "");
            suite.templates.push(template);
        }
    }
    suite
}

/// A model in a file or a folder: the first byte says which.
pub fn models(input: &[u8]) {
    let Some((kind, bytes)) = input.split_first() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let kind = MODEL_KINDS[usize::from(*kind) % MODEL_KINDS.len()];
    let path = if kind == "manifest" {
        let (manifest, blob) = halves(bytes);
        let place = folder
            .path()
            .join("models/manifests/registry.ollama.ai/library/m");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("latest"), manifest).unwrap();
        let blobs = folder.path().join("models/blobs");
        fs::create_dir_all(&blobs).unwrap();
        fs::write(blobs.join(format!("sha256-{}", "a".repeat(64))), blob).unwrap();
        folder.path().to_path_buf()
    } else if kind.ends_with("json") || kind == "chat_template.jinja" {
        let (file, second) = halves(bytes);
        fs::write(folder.path().join(kind), file).unwrap();
        if second.len() < bytes.len() {
            let other = match kind {
                "tokenizer_config.json" => "chat_template.jinja",
                _ => "tokenizer_config.json",
            };
            fs::write(folder.path().join(other), second).unwrap();
        }
        folder.path().to_path_buf()
    } else {
        fs::write(folder.path().join(kind), bytes).unwrap();
        folder.path().join(kind)
    };
    let found = within_limits(|| source::read(&path));
    for template in &found.templates {
        assert!(template.path.starts_with(folder.path()), "{template:?}");
        assert!(!template.name.as_str().is_empty());
        assert_printable(&place(template, Some(1)));
    }
    for note in &found.notes {
        assert_printable(&note.to_string());
    }
    assert_clear(&found.problems, &[]);
}

/// An answer of an engine, and requests to one.
pub fn protocol(input: &[u8]) {
    let (answer, requests) = halves(input);
    within_limits(|| match read_answer(answer, 1) {
        Ok(Some(outcome)) => assert_reversible(&outcome),
        Ok(None) => {}
        Err(reason) => assert!(!reason.is_empty()),
    });
    let engine = ENGINES.for_dialect(Dialect::Jinja);
    let mut answers = Vec::new();
    // Each request may be a render of its own.
    if requests.split(|byte| *byte == b'\n').count() < 20 {
        serve(engine, Cursor::new(requests), &mut answers).unwrap();
    }
    for line in answers
        .split(|byte| *byte == b'\n')
        .filter(|l| !l.is_empty())
    {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        if let Some(id) = value["id"].as_u64() {
            assert_eq!(read_answer(line, id).is_err(), value["error"].is_string());
        }
    }
}

fn halves(input: &[u8]) -> (&[u8], &[u8]) {
    match input.iter().position(|byte| *byte == BETWEEN) {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, &[]),
    }
}

/// Runs something in its turn, and asserts that it took neither long nor much memory.
fn within_limits<T>(run: impl FnOnce() -> T) -> T {
    let _turn = in_turn();
    let (result, Taken { time, peak, .. }) = taken(run);
    assert!(time < LONGEST, "took {time:?}");
    assert!(peak < LARGEST, "took {} MiB", peak >> 20);
    result
}

fn assert_reversible(outcome: &Outcome) {
    let text = transcript::encode(outcome);
    assert_eq!(transcript::decode(&text).as_ref(), Ok(outcome), "{text}");
}

/// Asserts that each problem has a place in the text and a message that a terminal can show.
fn assert_clear(problems: &[Problem], text: &[u8]) {
    let lines = text.split(|byte| *byte == b'\n').count();
    for problem in problems {
        assert!(!problem.message.is_empty());
        assert_printable(&problem.to_string());
        if let Some(Location::Text(position)) = problem.position {
            assert!(position.line >= 1 && position.column >= 1, "{position:?}");
            assert!(text.is_empty() || position.line <= lines, "{problem}");
        }
    }
}

/// Asserts that no text of a file can control the terminal that shows a message.
fn assert_printable(message: &str) {
    let bad = message
        .chars()
        .find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert_eq!(bad, None, "{message:?}");
}
