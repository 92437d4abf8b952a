//! The templates that the arguments name: paths, models by name, standard input, and the settings
//! for all of them.

use std::ffi::OsString;
use std::iter::repeat;
use std::path::{Path, PathBuf};

use rolecall_core::file::is_there;
use rolecall_core::problem::{Note, Problem, closest, meant, shown_path};
use rolecall_core::{Template, Variable};
use rolecall_io::settings::{self, Unread};
use rolecall_io::source;
use rolecall_suite::suite::Suite;

use crate::args::SetArguments;
use crate::cache::cache_folder;
use crate::failure::{Failure, tell};
use crate::stdin::{self, Stdin};

/// What messages say about a path that does not exist.
pub(crate) const NOT_THERE: &str = "no such file or folder";

/// Arguments in which each name after `--` is the name of a file. A list of files, such as that of
/// a hook, may have files that are named like models on a hub or like standard input.
pub(crate) fn as_files_after_dashes(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let dashes = arguments.iter().position(|one| one == "--");
    let after = dashes.map_or(arguments.len(), |dashes| dashes + 1);
    for one in &mut arguments[after..] {
        if one == stdin::NAME || rolecall_io::remote::is_name(Path::new(one)) {
            *one = Path::new(".").join(&one).into_os_string();
        }
    }
    arguments
}

/// The places of the templates that the arguments name.
pub(crate) struct Sources<'a> {
    paths: Vec<PathBuf>,
    named: &'a [PathBuf],
    set: &'a SetArguments,
    stdin: Option<Stdin>,
    problems: Vec<Problem>,
    notes: Vec<Note>,
}

impl Sources<'_> {
    /// Finds the templates that the arguments name. Fetches models that are not on this machine.
    pub(crate) fn find<'a>(
        named: &'a [PathBuf],
        set: &'a SetArguments,
    ) -> Result<Sources<'a>, Failure> {
        set.check(named.is_empty())?;
        let mut sources = Sources {
            paths: Vec::new(),
            named,
            set,
            stdin: None,
            problems: Vec::new(),
            notes: Vec::new(),
        };
        for path in named {
            sources.add(path)?;
        }
        Ok(sources)
    }

    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        if path == Path::new(stdin::NAME) {
            if self.stdin.is_some() {
                let message = "standard input, `-`, is named twice and can be read once";
                return Err(Failure::Request(message.to_owned()));
            }
            let stdin = Stdin::read()?;
            self.paths.push(stdin.path().to_path_buf());
            self.stdin = Some(stdin);
            return Ok(());
        }
        match rolecall_io::remote::find(path, cache_folder().as_deref()) {
            None => self.paths.push(path.to_path_buf()),
            Some(Ok(found)) => {
                if let Some(fetched) = &found.fetched {
                    tell(fetched);
                }
                self.paths.push(found.path);
                self.notes.extend(found.notes);
            }
            Some(Err(problem)) => self.problems.push(problem),
        }
        Ok(())
    }

    /// The paths to load templates from.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Adds to the loaded templates the user's settings and what is known about their origin.
    pub(crate) fn settle(self, suite: &mut Suite) {
        set_all(self.set, suite);
        for problem in &mut suite.problems {
            let is_named = problem.message == NOT_THERE && self.named.contains(&problem.path);
            if is_named && problem.help.is_none() {
                let is_option = problem.path.to_string_lossy().starts_with('-');
                problem.help = is_option
                    .then(|| "after `--` everything is a file; options come before it".to_owned())
                    .or_else(|| rolecall_io::remote::meant(&problem.path))
                    .or_else(|| near(&problem.path));
            }
        }
        if let Some(stdin) = self.stdin {
            stdin.rename(suite);
        }
        suite.problems.extend(self.problems);
        suite.notes.splice(0..0, self.notes);
    }
}

/// The question whether another path was meant than one that does not exist: one of its names may be
/// misspelt.
pub(crate) fn near(path: &Path) -> Option<String> {
    let mut parts: Vec<_> = path
        .ancestors()
        .take_while(|part| !is_there(part))
        .collect();
    parts.retain(|part| *part != Path::new(""));
    let first = parts.pop()?;
    let folder = match first.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names: Vec<String> = names.collect();
    let name = first.file_name()?.to_string_lossy();
    let near = first.with_file_name(closest(&name, names.iter().map(String::as_str))?);
    // What follows may be misspelt, too.
    let rest = path.strip_prefix(first).ok()?;
    let whole = if rest == Path::new("") {
        near
    } else {
        near.join(rest)
    };
    if is_there(&whole) {
        Some(meant(shown_path(&whole)))
    } else {
        self::near(&whole)
    }
}

/// Sets special tokens and variables on all templates. It is a problem if none of them reads one, and
/// another name was probably meant.
pub(crate) fn set_all(arguments: &SetArguments, suite: &mut Suite) {
    let tokens = arguments.special_tokens.iter();
    let tokens: Vec<&str> = tokens.map(|(name, _)| name.as_str()).collect();
    let variables = arguments.variables.iter();
    let variables: Vec<&str> = variables.map(|(name, _)| name.as_str()).collect();
    let unread = settings::unread(&suite.templates, &tokens, &variables).into_iter();
    let options = tokens
        .iter()
        .map(|_| "--special-token")
        .chain(repeat("--variable"));
    for (unread, option) in unread.zip(options) {
        if let Some(Unread {
            what,
            meant: Some(meant),
        }) = unread
        {
            let problem = Problem::new(option, format!("no template reads {what}"));
            suite.problems.push(problem.help(meant));
        }
    }
    for template in &mut suite.templates {
        set(arguments, template);
    }
    source::renew_notes(&mut suite.notes, &suite.templates);
}

/// Sets special tokens and variables on a template and on its alternatives.
fn set(arguments: &SetArguments, template: &mut Template) {
    for (name, text) in &arguments.special_tokens {
        let text = text.as_str().into();
        template.special_tokens.insert(name.clone(), text);
    }
    for (name, value) in &arguments.variables {
        let value = Variable::Value(value.clone());
        match template
            .variables
            .iter_mut()
            .find(|(known, _)| known == name)
        {
            Some((_, known)) => *known = value,
            None => template.variables.push((name.clone(), value)),
        }
    }
    for (_, named) in &mut template.named {
        set(arguments, named);
    }
}
