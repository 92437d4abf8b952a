//! Where a workspace may look: the user's folder, the suite around it, and the folder for what can be
//! fetched or made again.

use std::path::{Path, PathBuf};

use rolecall_core::file::is_there;
use rolecall_core::owner;
use rolecall_core::problem::Problem;
use rolecall_io::source::NOT_THERE;

use crate::builtin;
use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::layout::Layout;

/// Where a workspace may look, and whom it tells what it does.
pub struct Access<'a> {
    /// The folder whose suite is meant. None if the user's folder is gone.
    pub here: Option<PathBuf>,
    /// The folder for fetched models and for the built-in suite. None if the user has no home.
    pub cache: Option<PathBuf>,
    /// Whether the built-in suite is meant, whatever is around the folder.
    pub is_builtin: bool,
    /// Hears of what takes time or may surprise, such as a model that is fetched.
    pub tell: &'a (dyn Fn(&str) + Sync),
}

impl Access<'_> {
    /// The suite around the folder: a `rolecall.toml` or a checkout, the nearer one. Otherwise the
    /// built-in suite.
    pub fn layout(&self) -> Result<Layout, Failure> {
        let Some(here) = self.here.as_deref().filter(|_| !self.is_builtin) else {
            return self.builtin();
        };
        // A path below the folder is shorter to read without it.
        let near = |path: &Path| path.strip_prefix(here).unwrap_or(path).to_path_buf();
        if let Some(file) = Layout::find_configuration(here) {
            let configuration = Configuration::read(&near(&file)).map_err(Failure::Problems)?;
            return Ok(Layout::own(configuration, &self.builtin()?));
        }
        let Some(found) = Layout::find(here) else {
            return self.builtin();
        };
        let layout = Layout::new(near(found.root()));
        layout.hold()?;
        Ok(layout)
    }

    /// The built-in suite, as files.
    pub fn builtin(&self) -> Result<Layout, Failure> {
        let first = match self.user_folder() {
            Ok(folder) => match builtin::unpacked(&folder) {
                Ok(folder) => return owned(folder),
                Err(error) => format!(" into {}: {error}", folder.display()),
            },
            Err(_) => ": there is no folder for it".to_owned(),
        };
        // There is no home, or it cannot be written to.
        let folder = private_folder().and_then(|folder| Ok(builtin::unpacked(&folder)?));
        let folder = folder.map_err(|_| {
            Failure::Request(format!(
                "the built-in suite cannot be unpacked{first}\n  name a folder with the variable \
                 ROLECALL_CACHE"
            ))
        })?;
        owned(folder)
    }

    /// The user's folder for files that can be made again. Without one, a folder of the system that is
    /// for this user alone.
    pub fn user_folder(&self) -> Result<PathBuf, Failure> {
        match &self.cache {
            Some(folder) => Ok(std::path::absolute(folder).unwrap_or_else(|_| folder.clone())),
            None => private_folder(),
        }
    }

    /// The layout with the models that the user's own suite names. Fetches models that are not on this
    /// machine.
    pub(super) fn fetched(&self, layout: &Layout) -> Layout {
        layout.with_sources(|configured| {
            let source = Path::new(&configured.source);
            if let Some(found) = rolecall_io::remote::find(source, self.cache.as_deref()) {
                return Some(found.map(|found| {
                    found
                        .fetched
                        .iter()
                        .for_each(|fetched| (self.tell)(fetched));
                    found.path
                }));
            }
            // The user may have meant the name of a model.
            let is_there = configured.local.as_ref().is_ok_and(|local| is_there(local));
            let meant = rolecall_io::remote::meant(source).filter(|_| !is_there)?;
            Some(Err(Problem::new(source, NOT_THERE).help(meant)))
        })
    }
}

/// The built-in suite in a folder, unless the folder is somebody else's.
fn owned(folder: PathBuf) -> Result<Layout, Failure> {
    if owner::is_ours(&folder) {
        Ok(Layout::builtin(folder))
    } else {
        Err(Failure::Request(format!(
            "{} belongs to another user, so it is not used\n  name another folder with the \
             variable ROLECALL_CACHE",
            folder.display()
        )))
    }
}

/// A folder below the system's temporary folder that only this user can write into. Other users may
/// have made one of its name: then it is not used.
fn private_folder() -> Result<PathBuf, Failure> {
    let folder = std::env::temp_dir().join(owner::of_user("rolecall"));
    #[cfg_attr(not(unix), allow(unused_mut))] // Only Unix has modes.
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(&folder);
    if owner::is_private(&folder) {
        return Ok(folder);
    }
    let why = made
        .err()
        .map_or_else(String::new, |error| format!(": {error}"));
    Err(Failure::Request(format!(
        "{} is not this user's alone{why}\n  name a folder with the variable ROLECALL_CACHE",
        folder.display()
    )))
}
