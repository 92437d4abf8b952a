//! Every kind of file that the harness reads, in every bad state. Each gives one clear problem with
//! the file's name, and the rest is read.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rolecall_core::Outcome;
use rolecall_core::problem::Problem;
use rolecall_io::source;
use rolecall_suite::divergence;
use rolecall_suite::lint::lint;
use rolecall_suite::records::Records;
use rolecall_suite::snapshot::{SnapshotStatus, Snapshots};
use sha2::{Digest, Sha256};

use crate::extent::sample;

use super::{Folder, Ran, clear, ended, has, layout, link, pipe, suite};

/// The states that a file may be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Folder,
    Pipe,
    Nowhere,
    Itself,
    Outside,
    Huge,
    Latin,
    Utf16,
    Empty,
    Blank,
    Mark,
    Half,
    Deep,
    Surrogate,
}

use State::{
    Blank, Deep, Empty, Folder as AFolder, Half, Huge, Itself, Latin, Mark, Nowhere, Outside, Pipe,
    Surrogate, Utf16,
};

/// The problem with a JSON file in a state.
const SAID: [(State, &str); 14] = [
    (AFolder, ": a folder, where a file is expected"),
    (Pipe, ": not a regular file"),
    (Nowhere, ": a link that leads nowhere"),
    (Itself, ": a link that leads nowhere"),
    (Outside, ": a link that leads outside of "),
    (Huge, ": too large: 10737418240 bytes, where at most "),
    (
        Latin,
        ":2:2: not UTF-8: byte 0xE9 at offset 3\n  save the file as UTF-8",
    ),
    (
        Utf16,
        ": UTF-16, by its byte order mark, not UTF-8\n  save the file as UTF-8",
    ),
    (Empty, ": the file is empty"),
    (Blank, ": the file is empty"),
    (
        Mark,
        ":1:1: not JSON: expected value\n  the file begins with a byte order mark: save it without one",
    ),
    (Half, ":1:2: not JSON: EOF while parsing"),
    (Deep, "not JSON: "),
    (Surrogate, "not JSON: "),
];

/// Puts a file into a state; nothing of its own content is left.
fn put(folder: &Folder, name: &str, state: State) {
    let path = folder.path(name);
    clear(&path);
    let deep = 100_000;
    let bytes: Vec<u8> = match state {
        AFolder => return fs::create_dir(&path).unwrap(),
        Pipe => return pipe(&path),
        Nowhere => return link("nowhere", &path),
        Itself => return link(path.file_name().unwrap(), &path),
        Outside => return link(folder.write("outside", "{\"secret\": 1}"), &path),
        Huge => {
            let file = fs::File::create(&path).unwrap();
            return file.set_len(10 << 30).unwrap();
        }
        Latin => b"{\n\"\xE9\": 1}".to_vec(),
        Utf16 => b"\xFF\xFE{\0}\0".to_vec(),
        Empty => Vec::new(),
        Blank => b" \n\t\r\n".to_vec(),
        Mark => b"\xEF\xBB\xBF{}".to_vec(),
        Half => b"[{".to_vec(),
        Deep => format!("{}{}", "[".repeat(deep), "]".repeat(deep)).into_bytes(),
        Surrogate => br#"{"x": "\ud800"}"#.to_vec(),
    };
    fs::write(&path, bytes).unwrap();
}

/// Puts a file into every state, and compares the reported problem with the expected one. `own` has
/// this kind of file's own problems, if they differ from the usual ones; an empty text if the state
/// is fine.
fn each(
    make: impl Fn() -> Folder,
    name: &str,
    own: &[(State, &str)],
    look: impl Fn(&Folder) -> Vec<String>,
) {
    let mut wrong = Vec::new();
    for (state, said) in SAID {
        let said = own
            .iter()
            .find(|(known, _)| *known == state)
            .map_or(said, |(_, said)| said);
        let folder = make();
        put(&folder, name, state);
        let found: Vec<String> = look(&folder)
            .iter()
            .map(|line| line.replace(folder.path("").to_str().unwrap(), ""))
            .collect();
        let fits = match found.as_slice() {
            [] => said.is_empty(),
            [found] if said.starts_with(':') || !found.starts_with(said) => {
                !said.is_empty() && found.starts_with(name) && found.contains(said)
            }
            [_] => !said.is_empty(),
            _ => false,
        };
        if !fits {
            wrong.push(format!(
                "{name} {state:?}: expected {said:?}, found {found:#?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn texts(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// The suite with one broken file; everything else has to be there.
fn loaded(folder: &Folder) -> Vec<String> {
    let suite = suite(folder);
    assert!(
        suite
            .template(&rolecall_core::TemplateName::new("chat"))
            .is_some()
    );
    assert!(suite.cases.iter().any(|case| case.id.name() == "user"));
    let notes = suite.notes.iter().map(ToString::to_string);
    texts(&suite.problems).into_iter().chain(notes).collect()
}

#[test]
fn case_files() {
    let own = [
        (Deep, "not JSON: Maximum nesting depth exceeded"),
        (Surrogate, ":1:8: not JSON: Invalid unicode escape sequence"),
    ];
    each(Folder::new, "cases/conversations/other.json", &own, loaded);
}

#[test]
fn templates_and_their_sidecars() {
    // A template may be any text; invisible characters give a note.
    let own = [
        (AFolder, ": a folder that is named like a template"),
        (Empty, ": there is nothing in it: every prompt is as empty"),
        (Blank, ": there is nothing in it: every prompt is as empty"),
        (
            Mark,
            ": begins with a byte order mark, which is part of every prompt",
        ),
        (Half, ""),
        (Deep, ""),
        (Surrogate, ""),
    ];
    for name in [
        "cases/templates/other.jinja",
        "cases/templates/other.gotmpl",
    ] {
        each(Folder::new, name, &own, loaded);
    }
    each(Folder::new, "cases/templates/strict.json", &[], loaded);
}

#[test]
fn tool_files() {
    let make = || {
        let folder = Folder::new();
        folder.write(
            "cases/conversations/tools.json",
            r#"{"about": "x", "cases": {"a": {"messages": [], "tools": ["t"]}, "b": {"messages": [], "tools": ["t"]}}}"#,
        );
        folder
    };
    each(make, "cases/tools/t.json", &[], |folder| {
        let (of_cases, others): (Vec<_>, Vec<_>) = loaded(folder)
            .into_iter()
            .partition(|line| line.contains("cases/conversations/tools.json:1:"));
        assert_eq!(
            of_cases.len(),
            2,
            "each place that names the tool is reported"
        );
        has(&of_cases.concat(), &["tool file `t` cannot be used"]);
        others
    });
}

#[test]
fn records_and_lists() {
    let make = || {
        let folder = Folder::new();
        folder.accept_all();
        folder
    };
    each(make, "snapshots/reference.json", &[], |folder| {
        let suite = suite(folder);
        let layout = layout(folder);
        let snapshots = Snapshots::of(&layout);
        texts(&Records::read(&layout, &snapshots, &suite.templates).problems)
    });
    each(make, "snapshots/divergences.json", &[], |folder| {
        texts(&divergence::read(&layout(folder).divergences()).unwrap_err())
    });
}

#[test]
fn snapshots() {
    let no_header = "the file has no insta header";
    let own = [
        (Nowhere, ": a link, where a file is expected"),
        (Itself, ": a link, where a file is expected"),
        (Outside, ": a link, where a file is expected"),
        (Huge, ": too large: 10737418240 bytes"),
        (Latin, ": the file is not UTF-8"),
        (Utf16, ": the file is not UTF-8"),
        (Empty, no_header),
        (Blank, no_header),
        (Mark, no_header),
        (Half, no_header),
        (Deep, no_header),
        (Surrogate, no_header),
    ];
    let make = || {
        let folder = Folder::new();
        folder.accept_all();
        folder
    };
    let empty = Outcome::Rendered {
        text: String::new(),
    };
    let name = "snapshots/plain.snap";
    each(make, name, &own, |folder| {
        let suite = suite(folder);
        let snapshots = Snapshots::of(&layout(folder));
        suite
            .pairs()
            .filter(|pair| pair.case.id.name() == "user" && pair.template.name.as_str() == "chat")
            .filter_map(|pair| match snapshots.compare(&pair, &empty) {
                SnapshotStatus::Unreadable(problem) => Some(problem.to_string()),
                _ => None,
            })
            .collect()
    });
}

/// `lint` reports everything that is in the way of a file of the suite itself.
#[test]
fn what_does_not_belong_is_found() {
    let folder = Folder::new();
    folder.accept_all();
    put(&folder, "snapshots/cards/chat.snap", AFolder);
    put(&folder, "snapshots/plain.snap", Outside);
    put(&folder, "snapshots/cards/strict.snap", Pipe);
    put(&folder, "snapshots/linked", Nowhere);
    folder.write("snapshots/cards/.rolecall-abcdefgh.draft", "half");
    folder.write("snapshots/chat/plain.snap", "where it was once");
    put(&folder, "cases/schema/cases.schema.json", Pipe);
    put(&folder, "cases/schema/template.schema.json", Huge);
    folder.write("cases/conversations/below/more.json", "{}");
    folder.write("cases/conversations/notes.txt", "");
    folder.write("cases/conversations/.hidden", "");
    folder.write("cases/templates/gone.json", "{}");
    folder.write("cases/templates/below/more.jinja", "");
    let findings = texts(&lint(&layout(&folder), &suite(&folder))).join("\n");
    assert_eq!(
        findings.matches("nothing reads this").count(),
        4,
        "{findings}"
    );
    has(
        &findings,
        &[
            "snapshots/cards/chat.snap: a folder, where a file is expected",
            "snapshots/plain.snap: neither a file nor a folder",
            "snapshots/cards/strict.snap: neither a file nor a folder",
            "snapshots/linked: neither a file nor a folder",
            "snapshots/chat/plain.snap: an orphan",
            "snapshots/cards/.rolecall-abcdefgh.draft: left over from a command that was interrupted\n  delete it",
            "cases/conversations/below: nothing reads this\n  cases are in <family>.json",
            "cases/conversations/notes.txt: nothing reads this",
            "cases/templates/gone.json: nothing reads this",
            "cases/templates/below: nothing reads this",
            "cases/schema/cases.schema.json: not the schema",
            "cases/schema/template.schema.json: not the schema",
        ],
    );
}

fn found(folder: &Folder, name: &str) -> Vec<String> {
    let found = source::read(&folder.path(name));
    let notes = found.notes.iter().map(ToString::to_string);
    texts(&found.problems).into_iter().chain(notes).collect()
}

#[test]
fn files_of_models() {
    let own_text = [
        (Empty, ""),
        (Blank, ""),
        (
            Mark,
            ": begins with a byte order mark, which is part of every prompt",
        ),
        (Half, ""),
        (Deep, ""),
        (Surrogate, ""),
    ];
    let make = || {
        let folder = Folder::empty();
        folder.write("m/tokenizer_config.json", "{}");
        folder
    };
    each(make, "m/chat_template.jinja", &own_text, |folder| {
        found(folder, "m")
    });

    let make = || {
        let folder = Folder::empty();
        folder.write("m/config.json", "{}");
        folder
    };
    each(make, "m/tokenizer_config.json", &[], |folder| {
        found(folder, "m")
    });
    each(make, "m/special_tokens_map.json", &[], |folder| {
        found(folder, "m")
    });
    each(make, "m/chat_template.json", &[], |folder| {
        found(folder, "m")
    });
}

#[test]
fn modelfiles_and_weights() {
    let no_instruction = "not an instruction with a value";
    let own = [
        (AFolder, ": a folder that is named like a template"),
        (
            Latin,
            ":2:2: not UTF-8: byte 0xE9\n  save the file as UTF-8; Ollama would",
        ),
        (Utf16, no_instruction),
        (Empty, ": no FROM, which Ollama requires"),
        (Blank, ": no FROM, which Ollama requires"),
        (Mark, no_instruction),
        (Half, no_instruction),
        (Deep, no_instruction),
        (Surrogate, no_instruction),
    ];
    each(Folder::empty, "m/Modelfile", &own, |folder| {
        found(folder, "m")
    });
    let no_gguf = ", byte 0: ";
    let own = [
        (AFolder, "m: the folder holds no template"),
        (Huge, no_gguf),
        (Latin, no_gguf),
        (Utf16, no_gguf),
        (Empty, no_gguf),
        (Blank, no_gguf),
        (Mark, no_gguf),
        (Half, no_gguf),
        (Deep, no_gguf),
        (Surrogate, no_gguf),
    ];
    each(Folder::empty, "m/x.gguf", &own, |folder| found(folder, "m"));
}

#[test]
fn the_store_of_ollama() {
    const MANIFEST: &str = "s/manifests/registry.ollama.ai/library/m/latest";
    let blob = |text: &str| {
        let hash = Sha256::digest(text.as_bytes());
        let hex: Vec<String> = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256-{}", hex.concat())
    };
    let (template, config) = (blob("{{ .Prompt }}"), blob("{}"));
    let make = || {
        let folder = Folder::empty();
        folder.write(&format!("s/blobs/{template}"), "{{ .Prompt }}");
        folder.write(&format!("s/blobs/{config}"), "{}");
        let manifest = format!(
            r#"{{"config": {{"digest": "{}"}}, "layers": [{{"mediaType": "application/vnd.ollama.image.template", "digest": "{}"}}]}}"#,
            config.replace('-', ":"),
            template.replace('-', ":")
        );
        folder.write(MANIFEST, &manifest);
        folder
    };
    assert_eq!(found(&make(), "s"), [""; 0]);
    each(make, MANIFEST, &[], |folder| found(folder, "s"));
    each(make, &format!("s/blobs/{config}"), &[], |folder| {
        found(folder, "s")
    });
    let tampered = ": is not what its digest says";
    let own = [
        (Empty, tampered),
        (Blank, tampered),
        (Mark, tampered),
        (Half, tampered),
        (Deep, tampered),
        (Surrogate, tampered),
    ];
    each(make, &format!("s/blobs/{template}"), &own, |folder| {
        // The byte order mark at its beginning gives another note.
        let mut found = found(folder, "s");
        found.truncate(1);
        found
    });
}

/// A file or folder that its mode closes. Root can read it nevertheless; then everything is read.
#[test]
fn what_may_not_be_read_is_reported() {
    let folder = Folder::new();
    folder.accept_all();
    let closed = [
        "cases/templates/chat.jinja",
        "cases/templates/strict.json",
        "cases/conversations/plain.json",
        "snapshots/reference.json",
        "snapshots/plain.snap",
        "snapshots",
    ];
    let set = |name: &str, mode| {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in closed {
        let mode = fs::metadata(folder.path(name))
            .unwrap()
            .permissions()
            .mode();
        set(name, 0);
        let is_open = fs::read(folder.path("cases/templates/chat.jinja")).is_ok()
            && fs::read_dir(folder.path("snapshots")).is_ok()
            && closed
                .iter()
                .all(|name| fs::File::open(folder.path(name)).is_ok());
        let ran = folder.rolecall(&["run"]);
        let said = ran.stderr() + &ran.stdout();
        if is_open {
            assert_eq!(ended(&ran), 0, "{name}: {said}");
        } else {
            assert!(ended(&ran) > 0, "{name}: {said}");
            has(&said, &["cannot be read: Permission denied"]);
        }
        set(name, mode);
    }
    assert_eq!(ended(&folder.rolecall(&["run"])), 0);
}

/// Everything is broken at once. No command panics, hangs, or gives up the undamaged files. Every fifth
/// of the broken files is also checked alone, or all if the tests try everything.
#[test]
fn every_command_lives_through_a_suite_of_ruins() {
    let states: Vec<State> = SAID.iter().map(|(state, _)| *state).collect();
    let folder = Folder::new();
    folder.accept_all();
    for (n, state) in states.iter().enumerate() {
        put(
            &folder,
            &format!("cases/conversations/bad-{n}.json"),
            *state,
        );
        put(&folder, &format!("cases/templates/bad-{n}.jinja"), *state);
        put(
            &folder,
            &format!("cases/templates/bad-go-{n}.gotmpl"),
            *state,
        );
        put(&folder, &format!("cases/tools/bad-{n}.json"), *state);
        put(&folder, &format!("snapshots/cards/bad-{n}.snap"), *state);
        put(&folder, &format!("snapshots/bad-{n}.snap"), *state);
    }
    let commands: Vec<(&[&str], i32)> = vec![
        (&["run"], 2),
        (&["run", "--format", "jsonl"], 2),
        (&["run", "--pairs", "--all"], 2),
        (&["render"], 2),
        (&["render", "--format", "jsonl"], 2),
        (&["show", "chat", "plain/user"], 0),
        (&["show", "chat", "plain/user", "--diff"], 0),
        (&["list", "templates"], 2),
        (&["list", "cases", "--format", "json"], 2),
        (&["lint"], 2),
        (&["reference", "update"], 2),
        (&["reference", "verify"], 2),
    ];
    for (command, code) in sample(commands, 3) {
        let ran = folder.rolecall(command);
        assert_eq!(ended(&ran), code, "{command:?}\n{}", ran.stderr());
    }
    let paths = vec![
        "cases/templates",
        "cases/conversations",
        "cases/tools",
        "snapshots",
    ];
    for path in sample(paths, 2) {
        ended(&folder.rolecall(&["check", path]));
        ended(&folder.rolecall(&["render", "--templates", path]));
        ended(&folder.rolecall(&["render", "--cases", path]));
    }
    for (n, state) in sample(states.iter().enumerate().collect(), 9) {
        let case = format!("cases/conversations/bad-{n}.json");
        let code = ended(&folder.rolecall(&["check", &case]));
        assert_eq!(code, 2, "{state:?} is no template");
        ended(&folder.rolecall(&["check", &format!("cases/templates/bad-{n}.jinja")]));
    }
    let ran = folder.rolecall(&["render", "chat:plain/*", "--format", "jsonl"]);
    assert_eq!(ran.json_lines().len(), 2, "what is whole is rendered");
}

/// A list that all results depend on stops the run with one message; a file of snapshots does not.
#[test]
fn what_is_damaged_fails_the_run_and_no_more_than_has_to() {
    let folder = Folder::new();
    folder.write(
        "cases/conversations/more.json",
        r#"{"about": "More.", "cases": {
            "user": {"about": "x", "messages": [{"role": "user", "content": "x"}]}}}"#,
    );
    folder.accept_all();
    put(&folder, "snapshots/more.snap", Latin);
    let ran = folder.rolecall(&["run", "--format", "jsonl"]);
    assert_eq!(ended(&ran), 1);
    let verdicts = |ran: &Ran| -> Vec<String> {
        let lines = ran.json_lines();
        let verdict = |line: &serde_json::Value| {
            let words = ["template", "case", "snapshot", "verdict"].map(|key| &line[key]);
            words.map(|word| word.as_str().unwrap()).join(" ")
        };
        lines.iter().map(verdict).collect()
    };
    assert_eq!(
        verdicts(&ran),
        [
            "chat more/user unreadable unverified",
            "chat plain/user same agrees",
            "chat plain/system same agrees",
            "strict more/user unreadable unverified",
            "strict plain/user same agrees",
            "strict plain/system same agrees",
        ]
    );
    let ran = folder.rolecall(&["run"]);
    has(&ran.stdout(), &["the file is not UTF-8"]);

    // What the references were asked says whether any of their answers counts.
    put(&folder, "snapshots/reference.json", Half);
    let ran = folder.rolecall(&["run", "*:plain/*", "--format", "jsonl"]);
    assert_eq!(ended(&ran), 1);
    has(
        &ran.stderr(),
        &["snapshots/reference.json:1:2: not JSON: EOF while parsing"],
    );
    assert_eq!(
        verdicts(&ran),
        [
            "chat plain/user same unverified",
            "chat plain/system same unverified",
            "strict plain/user same unverified",
            "strict plain/system same unverified",
        ]
    );

    put(&folder, "snapshots/divergences.json", Empty);
    for command in [&["run"][..], &["list", "divergences"]] {
        let ran = folder.rolecall(command);
        assert_eq!(ended(&ran), 2);
        has(
            &ran.stderr(),
            &["snapshots/divergences.json: the file is empty"],
        );
    }
    has(
        &folder.rolecall(&["lint"]).stdout(),
        &["snapshots/divergences.json: the file is empty"],
    );
}
