//! Does what a session says, and compares what the user sees with what they should see.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Stdio;

use walkdir::WalkDir;

use super::file::{Expected, Session, Step};
use crate::folder::Folder;

/// The files that sessions copy, below the folder of the sessions.
const SHARED: &str = "shared";

impl Session {
    /// Fails with everything that is not as the session says.
    pub(super) fn complain(&self) -> Result<(), String> {
        let folder = Folder::empty();
        let mut wrong = Vec::new();
        for (line, step) in &self.steps {
            if let Step::Type {
                commands,
                expected,
                keys,
            } = step
            {
                for (line, command) in commands {
                    match ran(&folder, command, keys) {
                        Ok(ran) => wrong.extend(self.compare((*line, command), &ran, expected)),
                        Err(error) => wrong.push(format!("{}:{line}: {error}", self.file)),
                    }
                }
            } else if let Err(error) = change(&folder, step) {
                wrong.push(format!("{}:{line}: {error}", self.file));
            }
        }
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(wrong.join("\n"))
        }
    }

    /// What is not as expected of a command, and then what it says.
    fn compare(
        &self,
        (line, command): (usize, &str),
        (code, said): &(i32, String),
        expected: &[(usize, Expected)],
    ) -> Option<String> {
        let mut wrong = Vec::new();
        for (line, one) in expected {
            let why = match one {
                Expected::Code(wanted) if code != wanted => {
                    format!("the exit code is {code}, and should be {wanted}")
                }
                Expected::Says(words) if !said.contains(words) => {
                    format!("the output should have {words:?}")
                }
                Expected::SaysNot(words) if said.contains(words) => {
                    format!("the output should not have {words:?}")
                }
                _ => continue,
            };
            wrong.push(format!("{}:{line}: {why}\n", self.file));
        }
        (!wrong.is_empty()).then(|| {
            let (wrong, said) = (wrong.concat(), said.replace('\n', "\n    "));
            format!("{wrong}  in the output of line {line}, `{command}`:\n    {said}")
        })
    }
}

/// The exit code of a command, and its output without styles.
fn ran(folder: &Folder, command: &str, keys: &str) -> io::Result<(i32, String)> {
    let words = shlex::split(command).unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["cat", name] = words[..] {
        return Ok(match fs::read_to_string(folder.path(name)) {
            Ok(text) => (0, text),
            Err(error) => (1, error.to_string()),
        });
    }
    let mut command = folder.command(&words[1..]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A command that has ended reads no more.
        let _ = input.write_all(keys.as_bytes());
    }
    let output = child.wait_with_output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = anstream::adapter::strip_bytes(&said).into_vec();
    let said = String::from_utf8(said).map_err(io::Error::other)?;
    Ok((output.status.code().unwrap_or(-1), said))
}

/// Changes the files of a user.
fn change(folder: &Folder, step: &Step) -> io::Result<()> {
    match step {
        Step::Write { name, text } => drop(folder.write(name, text)),
        Step::Copy { from, to } => {
            let shared = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(super::FOLDER)
                .join(SHARED);
            let from = shared.join(from);
            let name = from.file_name().unwrap_or_default().to_string_lossy();
            let to = match to {
                Some(to) => to,
                None if from.is_dir() => "",
                None => &*name,
            };
            copy(folder, &from, to)?;
        }
        Step::Delete(name) => {
            let path = folder.path(name);
            if path.is_dir() {
                fs::remove_dir_all(path)?;
            } else {
                fs::remove_file(path)?;
            }
        }
        Step::Edit { name, from, to } => {
            let text = fs::read_to_string(folder.path(name))?;
            if !text.contains(from) {
                return Err(io::Error::other(format!("{name} has no {from:?}:\n{text}")));
            }
            folder.write(name, &text.replace(from, to));
        }
        Step::Type { .. } => {}
    }
    Ok(())
}

/// Copies a shared file, or all files in a shared folder.
fn copy(folder: &Folder, from: &Path, to: &str) -> io::Result<()> {
    for entry in WalkDir::new(from) {
        let path = entry?.into_path();
        if path.is_file() {
            let below = path.strip_prefix(from).map_err(io::Error::other)?;
            let to = Path::new(to).join(below);
            // A file is below itself by an empty path.
            let to = to.components().as_path().to_string_lossy();
            folder.write(&to, &fs::read_to_string(path)?);
        }
    }
    Ok(())
}
