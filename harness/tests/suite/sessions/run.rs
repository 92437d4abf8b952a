//! Does what a session says, and compares what the user sees with what they should see.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use walkdir::WalkDir;

use super::file::{Expected, Session, Step};
use super::output;
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
                    let ran = ran(&folder, command, keys);
                    match ran.and_then(|ran| self.compare((*line, command), &ran, expected)) {
                        Ok(found) => wrong.extend(found),
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
    ) -> io::Result<Option<String>> {
        let (mut wrong, mut differences) = (Vec::new(), Vec::new());
        for (line, one) in expected {
            let why = match one {
                Expected::Snapshot(name) => {
                    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&self.file);
                    let found = output::difference(&path, (name, command), said)?;
                    differences.extend(found.map(|why| format!("{}:{line}: {why}", self.file)));
                    continue;
                }
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
        if !wrong.is_empty() {
            let said = said.replace('\n', "\n    ");
            wrong.push(format!(
                "  in the output of line {line}, `{command}`:\n    {said}"
            ));
        }
        wrong.append(&mut differences);
        Ok((!wrong.is_empty()).then(|| wrong.concat()))
    }
}

/// The exit code of a command, and its output without styles.
fn ran(folder: &Folder, command: &str, keys: &str) -> io::Result<(i32, String)> {
    let words = shlex::split(command).unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_set = |word: &&str| word.contains('=');
    let (set, words) = words.split_at(words.iter().take_while(|word| is_set(word)).count());
    let (words, output) = redirected(words, ">");
    let (words, input) = redirected(words, "<");
    let mut command = match words {
        ["cat", name] => {
            return Ok(match fs::read_to_string(folder.path(name)) {
                Ok(text) => (0, text),
                Err(error) => (1, error.to_string()),
            });
        }
        ["git", arguments @ ..] => git(folder, arguments),
        words => folder.command(&words[1..]),
    };
    // The developer's own screen is none of the user's.
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
        .envs(set.iter().filter_map(|word| word.split_once('=')))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let input = input.map_or(Ok(keys.as_bytes().to_vec()), |name| {
        fs::read(folder.path(name))
    })?;
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that has ended reads no more.
        let _ = stdin.write_all(&input);
    }
    let mut ran = child.wait_with_output()?;
    if let Some(name) = output {
        fs::write(folder.path(name), std::mem::take(&mut ran.stdout))?;
    }
    let said = [ran.stdout, ran.stderr].concat();
    let said = anstream::adapter::strip_bytes(&said).into_vec();
    let said = String::from_utf8(said).map_err(io::Error::other)?;
    Ok((ran.status.code().unwrap_or(-1), said))
}

/// The words before a redirection at their end, and its file.
fn redirected<'w>(words: &'w [&'w str], sign: &str) -> (&'w [&'w str], Option<&'w str>) {
    match words {
        [words @ .., found, name] if *found == sign => (words, Some(name)),
        words => (words, None),
    }
}

/// Git, without the settings of the machine.
fn git(folder: &Folder, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=A", "-c", "user.email=a@b.c"])
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder.path(""))
        .env("GIT_CONFIG_GLOBAL", "")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    git
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
        Step::Accept => folder.accept_all(),
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
            let to = folder.path(&to.components().as_path().to_string_lossy());
            fs::create_dir_all(to.parent().unwrap_or(&to))?;
            fs::copy(path, to)?;
        }
    }
    Ok(())
}
