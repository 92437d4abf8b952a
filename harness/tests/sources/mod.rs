//! Sources: the templates in model folders, GGUF files, Modelfiles and Ollama stores, and the
//! messages about broken ones.

pub(crate) mod build;
mod check;
mod folders;
mod gguf;
mod hostile;
mod huggingface;
mod modelfile;
mod ollama;
mod tokens;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rolecall_io::source::{self, SourceContent};

use crate::scratch;

const CASES: &str = r#"{"about": "x", "cases": {"hi": {"about": "y", "messages": [{"role": "user", "content": "Hi"}]}}}"#;

/// A folder of its own for a test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(scratch::folder())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The command line, run in the folder.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
            .env("ROLECALL_CACHE", crate::folder::CACHE)
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// What a path in the folder gives.
    fn read(&self, name: &str) -> SourceContent {
        source::read(&self.path(name))
    }
}

/// `name: source` of each template.
fn templates(found: &SourceContent) -> Vec<String> {
    let mut templates: Vec<_> = found
        .templates
        .iter()
        .map(|template| format!("{}: {}", template.name, template.source))
        .collect();
    templates.sort();
    templates
}

fn problems(found: &SourceContent) -> Vec<String> {
    found.problems.iter().map(ToString::to_string).collect()
}

fn notes(found: &SourceContent) -> Vec<String> {
    found.notes.iter().map(ToString::to_string).collect()
}

/// The only problem, without the folder in front of its path.
fn problem_in(folder: &Path, found: &SourceContent) -> String {
    let problems = problems(found);
    let [problem] = problems.as_slice() else {
        panic!("{problems:#?}");
    };
    problem.replace(&format!("{}/", folder.display()), "")
}
