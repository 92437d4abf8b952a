//! A folder with its own caches, a hub with one model, and the command that runs there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::server::{Reply, Request, Server};
use crate::folder::CACHE;
use crate::scratch;

/// The commit of the model, and that of its revision `v2`.
pub(super) const COMMIT: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
pub(super) const OTHER_COMMIT: &str = "ffffffffffffffffffffffffffffffffffffffff";

/// A folder, and the variables for the command.
pub(super) struct World {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// The result of a command.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl World {
    /// A world with a case, `cases/hi`, and empty caches.
    pub(super) fn new() -> World {
        let folder = scratch::folder();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let variables = [
            ("HOME", at("home")),
            ("HF_HOME", at("hf")),
            ("ROLECALL_CACHE", at("cache")),
            ("OLLAMA_MODELS", at("ollama")),
            ("NO_PROXY", "127.0.0.1".to_owned()),
        ];
        // All tests share one unpacked built-in suite.
        let suite = rolecall_suite::builtin::unpacked(Path::new(CACHE)).unwrap();
        let cache = folder.path().join("cache");
        std::fs::create_dir(&cache).unwrap();
        std::os::unix::fs::symlink(&suite, cache.join(suite.file_name().unwrap())).unwrap();
        let world = World {
            variables: variables
                .map(|(name, value)| (name.to_owned(), value))
                .to_vec(),
            folder,
        };
        world.write(
            "cases.json",
            r#"{"about": "x", "cases": {"hi": {"about": "y", "messages": [{"role": "user", "content": "Hi"}]}}}"#,
        );
        world
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> &mut World {
        self.unset(name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn unset(&mut self, name: &str) -> &mut World {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The names of the files and links below a folder, with the targets of links.
    pub(super) fn tree(&self, name: &str) -> Vec<String> {
        let root = self.path(name);
        let entries = walkdir::WalkDir::new(&root).sort_by_file_name();
        let files = entries.into_iter().filter_map(Result::ok);
        files
            .filter(|entry| !entry.file_type().is_dir())
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with("suite-"))
            .map(|entry| {
                let below = entry.path().strip_prefix(&root).unwrap().display();
                match std::fs::read_link(entry.path()) {
                    Ok(target) => format!("{below} -> {}", target.display()),
                    Err(_) => below.to_string(),
                }
            })
            .collect()
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    pub(super) fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let file = self.write("input", input);
        let output = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
            .args(arguments)
            .env_clear()
            .envs(self.variables.iter().cloned())
            .current_dir(self.folder.path())
            .stdin(Stdio::from(std::fs::File::open(file).unwrap()))
            .output()
            .unwrap();
        Ran::of(&output)
    }

    /// The prompt that a source's template gives for the case.
    pub(super) fn show(&self, source: &str, template: &str) -> Ran {
        let common = ["--raw", "--templates", source, "--cases", "cases.json"];
        self.run(&[&["show", template, "cases/hi"], &common[..]].concat())
    }
}

impl Ran {
    fn of(output: &Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ran {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Asserts that it gave a prompt, and only these lines next to it.
    #[track_caller]
    pub(super) fn gave(&self, prompt: &str, said: &[&str]) {
        let lines: Vec<_> = self.err.lines().collect();
        assert_eq!((self.out.as_str(), lines), (prompt, said.to_vec()));
        assert_eq!(self.code, Some(0));
    }

    /// Asserts that it refused with some words.
    #[track_caller]
    pub(super) fn refused(&self, words: &[&str]) {
        assert_eq!(self.code, Some(2), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word}\nis not in\n{}", self.err);
        }
    }
}

/// A hub with the model `org/name`, and the other host with its large files.
pub(super) struct Hub {
    pub(super) server: Server,
    pub(super) files: Server,
}

pub(super) type Files = Vec<(String, Vec<u8>)>;

pub(super) fn files(all: &[(&str, &str)]) -> Files {
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
    all.iter().map(owned).collect()
}

/// A model with its template in a file, and many files that no template needs.
pub(super) fn model() -> Files {
    files(&[
        ("README.md", "read me"),
        (
            "chat_template.jinja",
            "{{ bos_token }}{{ messages[0].content }}",
        ),
        ("additional_chat_templates/rag.jinja", "R"),
        ("config.json", "{}"),
        ("model.safetensors", "weights"),
        ("tokenizer.json", "{}"),
        ("tokenizer_config.json", r#"{"bos_token": "<s>"}"#),
    ])
}

impl Hub {
    /// Answers like the real hub: small files have another address on the hub, large ones are on
    /// another host.
    pub(super) fn new(files: Files) -> Hub {
        Hub::troubled(files, |_, _| None)
    }

    /// A hub that answers some requests differently.
    pub(super) fn troubled(
        files: Files,
        trouble: impl Fn(&Request, usize) -> Option<Reply> + Send + Sync + 'static,
    ) -> Hub {
        let files = Arc::new(files);
        let trouble = Arc::new(trouble);
        let (stored, elsewhere) = (Arc::clone(&files), Arc::clone(&trouble));
        let storage = Server::new(move |request, before| {
            if let Some(reply) = elsewhere(request, before) {
                return reply;
            }
            let name = request.path.strip_prefix("/stored/").unwrap_or_default();
            let name = name.split('?').next().unwrap_or_default();
            let file = stored.iter().find(|(known, _)| known == name);
            file.map_or(Reply::new(404, ""), |(_, bytes)| {
                Reply::new(200, bytes)
                    .with("ETag", "\"another\"")
                    .part(request)
            })
        });
        let far = storage.address.clone();
        let server = Server::new(move |request, before| {
            trouble(request, before).unwrap_or_else(|| answer(&files, &far, request))
        });
        Hub {
            server,
            files: storage,
        }
    }

    pub(super) fn world(&self) -> World {
        let mut world = World::new();
        world.set("HF_ENDPOINT", &self.server.address);
        world
    }
}

/// What the hub answers to a request.
fn answer(files: &Files, far: &str, request: &Request) -> Reply {
    let path = request.path.as_str();
    let commit = match path.strip_prefix("/api/models/org/name/revision/") {
        Some("main") => Some(COMMIT),
        Some("v2" | "refs%2Fpr%2F1") => Some(OTHER_COMMIT),
        Some(_) => {
            return Reply::new(404, "").with("X-Error-Code", "RevisionNotFound");
        }
        None => None,
    };
    if let Some(commit) = commit {
        let siblings: Vec<_> = files
            .iter()
            .map(|(name, _)| serde_json::json!({ "rfilename": name }))
            .collect();
        let said = serde_json::json!({ "sha": commit, "siblings": siblings });
        return Reply::new(200, said.to_string());
    }
    if path.starts_with("/api/models?search=nam") {
        return Reply::new(200, r#"[{"id": "org/name"}, {"id": "org/names"}]"#);
    }
    let below = path
        .strip_prefix("/org/name/resolve/")
        .or_else(|| path.strip_prefix("/api/resolve-cache/models/org/name/"));
    let Some((commit, name)) = below.and_then(|below| below.split_once('/')) else {
        return Reply::new(401, "").with("X-Error-Code", "RepoNotFound");
    };
    let Some((_, bytes)) = files.iter().find(|(known, _)| known == name) else {
        return Reply::new(404, "").with("X-Error-Code", "EntryNotFound");
    };
    let commit = if commit == "main" { COMMIT } else { commit };
    let hash = sha256(bytes);
    let is_large = name.contains(".gguf") || name == "tokenizer_config.json";
    if is_large {
        let signed = format!("{far}/stored/{name}?signature=secret");
        return Reply::new(302, "")
            .with("Location", signed)
            .with("X-Repo-Commit", commit)
            .with("X-Linked-Etag", format!("\"{hash}\""))
            .with("X-Linked-Size", bytes.len().to_string());
    }
    let etag = format!("\"{}\"", &hash[..40]);
    let reply = if path.starts_with("/api/") {
        Reply::new(200, bytes).part(request)
    } else {
        let location = format!("/api/resolve-cache/models/org/name/{commit}/{name}");
        Reply::new(307, "").with("Location", location)
    };
    reply.with("X-Repo-Commit", commit).with("ETag", etag)
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
