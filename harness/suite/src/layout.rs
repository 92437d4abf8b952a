//! The files and folders of a suite: its inputs, snapshots and records.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::configuration::{self, Configuration, ConfiguredTemplate};
use rolecall_core::TemplateName;
use rolecall_core::file::is_there;
use rolecall_core::problem::{Problem, shown_path};
use rolecall_core::root::Root;
use rolecall_core::wildcard::Wildcard;
use rolecall_io::source;

/// The files and folders of a suite.
#[derive(Debug, Clone)]
pub struct Layout {
    root: PathBuf,
    kind: SuiteKind,
    only: Arc<Only>,
}

/// The names that somebody asks for. An empty list asks for all.
#[derive(Debug, Default)]
struct Only {
    templates: Vec<Wildcard>,
    cases: Vec<Wildcard>,
}

/// Whether one of the patterns may match a name that begins like this.
fn may_match(patterns: &[Wildcard], beginning: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|one| one.may_begin_with(beginning))
}

/// How a suite came to be.
#[derive(Debug, Clone)]
enum SuiteKind {
    /// `cases` and `snapshots` as in a checkout of Rolecall.
    Checkout,
    /// The same folders, unpacked from the program. They are read-only.
    Builtin,
    /// A folder with `rolecall.toml`, and the root of the built-in suite.
    Own(Arc<Configuration>, PathBuf),
}

/// The suite as reports name it: its `rolecall.toml`, or where else it comes from.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            SuiteKind::Checkout => f.write_str("this repository's suite"),
            SuiteKind::Builtin => f.write_str("the built-in suite"),
            SuiteKind::Own(configuration, _) => f.write_str(&shown_path(&configuration.path)),
        }
    }
}

impl Layout {
    /// A suite with the folders of a checkout.
    pub fn new(root: impl Into<PathBuf>) -> Layout {
        Layout {
            root: root.into(),
            kind: SuiteKind::Checkout,
            only: Arc::default(),
        }
    }

    /// The built-in suite, unpacked into a folder.
    pub fn builtin(root: impl Into<PathBuf>) -> Layout {
        Layout {
            root: root.into(),
            kind: SuiteKind::Builtin,
            only: Arc::default(),
        }
    }

    /// A suite of one's own, with the built-in suite, whose cases it may use.
    pub fn own(configuration: Configuration, builtin: &Layout) -> Layout {
        Layout {
            root: configuration.root().to_path_buf(),
            kind: SuiteKind::Own(Arc::new(configuration), builtin.root.clone()),
            only: Arc::default(),
        }
    }

    /// The same layout, narrowed to what these names may mean: for somebody who asks for a
    /// few of many pairs. An empty list asks for all.
    #[must_use]
    pub fn narrowed(&self, templates: Vec<Wildcard>, cases: Vec<Wildcard>) -> Layout {
        Layout {
            only: Arc::new(Only { templates, cases }),
            ..self.clone()
        }
    }

    /// Whether a part of the suite is not read.
    pub(crate) fn is_narrowed(&self) -> bool {
        !self.only.templates.is_empty() || !self.only.cases.is_empty()
    }

    /// Whether a template with this name, or with a longer one that begins with it, may be asked for.
    pub(crate) fn may_have_template(&self, name: &str) -> bool {
        may_match(&self.only.templates, name)
    }

    /// Whether cases of a family may be asked for.
    pub(crate) fn may_have_family(&self, name: &str) -> bool {
        may_match(&self.only.cases, &format!("{name}/"))
    }

    /// The same layout, with new paths for the templates that `find` knows, such as models
    /// that are given by name.
    #[must_use]
    pub fn with_sources(
        &self,
        mut find: impl FnMut(&ConfiguredTemplate) -> Option<Result<PathBuf, Problem>>,
    ) -> Layout {
        let mut layout = self.clone();
        if let SuiteKind::Own(configuration, _) = &mut layout.kind {
            for configured in &mut Arc::make_mut(configuration).templates {
                if let Some(found) = find(configured) {
                    configured.local = found;
                }
            }
        }
        layout
    }

    /// The same layout with some of the templates of a `rolecall.toml`. Other layouts stay as they
    /// are.
    #[must_use]
    pub fn with_templates(&self, mut is_wanted: impl FnMut(&TemplateName) -> bool) -> Layout {
        let mut layout = self.clone();
        if let SuiteKind::Own(configuration, _) = &mut layout.kind {
            let templates = &mut Arc::make_mut(configuration).templates;
            templates.retain(|configured| is_wanted(&configured.name));
        }
        layout
    }

    /// Looks for a suite with the folders of a checkout from a folder upwards: the first folder
    /// that has both `cases/conversations` and `cases/templates`.
    pub fn find(from: &Path) -> Option<Layout> {
        from.ancestors()
            .map(Layout::new)
            .find(|layout| layout.conversations().is_dir() && layout.templates().is_dir())
    }

    /// Looks for `rolecall.toml` from a folder upwards, below the first checkout.
    pub fn find_configuration(from: &Path) -> Option<PathBuf> {
        for folder in from.ancestors() {
            let file = folder.join(configuration::FILE);
            // Reading reports a file that cannot be read, a folder, or a link to nowhere.
            if is_there(&file) {
                return Some(file);
            }
            let checkout = Layout::new(folder);
            if checkout.conversations().is_dir() && checkout.templates().is_dir() {
                return None;
            }
        }
        None
    }

    /// The folder of the suite: of its `rolecall.toml`, of the checkout, or of the unpacked built-in one.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The configuration of a suite of one's own.
    pub fn configuration(&self) -> Option<&Configuration> {
        match &self.kind {
            SuiteKind::Own(configuration, _) => Some(configuration),
            SuiteKind::Checkout | SuiteKind::Builtin => None,
        }
    }

    /// The files and folders that the user can change: inputs, snapshots and records.
    pub fn parts(&self) -> Vec<PathBuf> {
        let Some(own) = self.configuration() else {
            return vec![self.cases(), self.snapshots()];
        };
        let templates = own.templates.iter();
        let templates = templates.filter_map(|template| template.local.clone().ok());
        let others = [own.path.clone(), own.snapshots.clone()].into_iter();
        others.chain(own.own.clone()).chain(templates).collect()
    }

    /// Whether it is the suite of a checkout of Rolecall, which the tests there check.
    pub fn is_checkout(&self) -> bool {
        matches!(self.kind, SuiteKind::Checkout)
    }

    /// Whether nothing may be written into it.
    pub fn is_read_only(&self) -> bool {
        matches!(self.kind, SuiteKind::Builtin)
    }

    /// Checks that the suite's folders are its own: none is a link that leads out of the suite.
    /// Configurations are checked when they are read, and the built-in suite has no links.
    pub fn hold(&self) -> Result<(), Problem> {
        if !self.is_checkout() {
            return Ok(());
        }
        let root = self.root.as_os_str();
        let root = if root.is_empty() {
            Path::new(".")
        } else {
            &self.root
        };
        let root = Root::new(root)?;
        let folders = [
            self.conversations(),
            self.templates(),
            self.tools(),
            self.snapshots(),
        ];
        folders
            .iter()
            .try_for_each(|folder| root.has(folder).map(drop))
    }

    /// The folder of the inputs. A suite of one's own has the built-in inputs.
    pub fn cases(&self) -> PathBuf {
        match &self.kind {
            SuiteKind::Checkout | SuiteKind::Builtin => self.root.join("cases"),
            SuiteKind::Own(_, builtin) => builtin.join("cases"),
        }
    }

    /// The programs around the harness, such as the reference engines.
    pub fn scripts(&self) -> PathBuf {
        self.cases().with_file_name("scripts")
    }

    /// The folder of the case files, one for each family.
    pub fn conversations(&self) -> PathBuf {
        self.cases().join("conversations")
    }

    pub fn templates(&self) -> PathBuf {
        self.cases().join("templates")
    }

    /// The files with the templates that are asked for, or else the folder of all templates.
    pub(crate) fn template_sources(&self) -> Vec<PathBuf> {
        let folder = self.templates();
        let entries = Root::new(&folder).and_then(|root| root.entries(&folder));
        let (Ok(mut entries), false) = (entries, self.only.templates.is_empty()) else {
            return vec![folder];
        };
        // Templates in folders are named after their models, which only reading them shows.
        if entries.iter().any(|path| path.is_dir()) {
            return vec![folder];
        }
        entries.retain(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            source::is_source(path) && self.may_have_template(&name)
        });
        entries
    }

    pub fn tools(&self) -> PathBuf {
        self.cases().join("tools")
    }

    /// The known differences from the references.
    pub fn divergences(&self) -> PathBuf {
        self.snapshots().join("divergences.json")
    }

    /// The folder of what was accepted and recorded.
    pub fn snapshots(&self) -> PathBuf {
        match &self.kind {
            SuiteKind::Checkout | SuiteKind::Builtin => self.root.join("snapshots"),
            SuiteKind::Own(configuration, _) => configuration.snapshots.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_found_from_below() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let below = layout.templates().join("below");
        std::fs::create_dir_all(&below).unwrap();
        assert!(Layout::find(&below).is_none());
        std::fs::create_dir_all(layout.conversations()).unwrap();
        assert_eq!(Layout::find(&below).unwrap().root(), folder.path());

        // The nearer of two counts.
        assert_eq!(Layout::find_configuration(&below), None);
        let above = folder.path().join(configuration::FILE);
        std::fs::write(&above, "").unwrap();
        assert_eq!(Layout::find_configuration(&below), Some(above));
        let near = below.join(configuration::FILE);
        std::fs::write(&near, "").unwrap();
        assert_eq!(Layout::find_configuration(&below), Some(near));
    }
}
