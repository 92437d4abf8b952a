//! The modules of a crate, in the order in which they are listed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::imports::{Import, imports, stripped};

/// A module: a file of a crate.
pub(crate) struct Module {
    /// Its path from the crate's root: empty for the root itself.
    pub(crate) path: Vec<String>,
    /// Its place among its siblings, and that of each module above it.
    pub(crate) place: Vec<usize>,
    /// Its file, relative to the folder of the crate's sources.
    pub(crate) file: PathBuf,
    /// What it imports from the crate.
    pub(crate) imports: Vec<Import>,
}

pub(crate) struct Modules(Vec<Module>);

impl Modules {
    /// Reads the modules of each crate in a folder of sources: a library, a program, or both.
    pub(crate) fn read(source: &Path) -> Vec<Modules> {
        let roots = ["lib.rs", "main.rs"].into_iter().map(PathBuf::from);
        roots
            .filter(|file| source.join(file).is_file())
            .map(|root| Modules::of(source, root))
            .collect()
    }

    fn of(source: &Path, root: PathBuf) -> Modules {
        let mut modules = Modules(Vec::new());
        modules.add(source, root, &[], &[]);
        // A path names a module only if the module exists.
        let known: Vec<Vec<String>> = modules.0.iter().map(|m| m.path.clone()).collect();
        for module in &mut modules.0 {
            for import in &mut module.imports {
                while !known.contains(&import.path) {
                    import.path.pop();
                }
            }
            let own = module.path.clone();
            module.imports.retain(|import| import.path != own);
        }
        modules
    }

    fn add(&mut self, source: &Path, file: PathBuf, path: &[String], place: &[usize]) {
        let text = fs::read_to_string(source.join(&file)).unwrap_or_default();
        let text = stripped(&text);
        let children = declared(&text);
        let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
            Some("lib" | "main" | "mod") => file.parent().map(Path::to_path_buf),
            _ => Some(file.with_extension("")),
        };
        let folder = folder.unwrap_or_default();
        let imports = imports(&text, path, &children);
        self.0.push(Module {
            path: path.to_vec(),
            place: place.to_vec(),
            file,
            imports,
        });
        for (index, name) in children.into_iter().enumerate() {
            let file = [format!("{name}.rs"), format!("{name}/mod.rs")]
                .into_iter()
                .map(|below| folder.join(below))
                .find(|file| source.join(file).is_file());
            if let Some(file) = file {
                let path = [path, &[name]].concat();
                let place = [place, &[index]].concat();
                self.add(source, file, &path, &place);
            }
        }
    }

    /// Which command imports from which other one, and in which file: the command is the folder or file in
    /// `commands`.
    pub(crate) fn between_commands(&self) -> BTreeSet<String> {
        let command = |path: &[String]| match path {
            [commands, command, ..] if commands == "commands" => Some(command.clone()),
            _ => None,
        };
        let mut found = BTreeSet::new();
        for module in &self.0 {
            let Some(own) = command(&module.path) else {
                continue;
            };
            let others = module.imports.iter().filter_map(|one| command(&one.path));
            let others = others.filter(|other| *other != own);
            found.extend(others.map(|other| format!("{} imports {other}", module.file.display())));
        }
        found
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Module> {
        self.0.iter()
    }

    pub(crate) fn get(&self, path: &[String]) -> Option<&Module> {
        self.0.iter().find(|module| module.path == path)
    }
}

/// The modules that a text declares, in its order.
fn declared(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            let line = line.trim();
            let line = line
                .strip_prefix("pub(crate) ")
                .or_else(|| line.strip_prefix("pub(super) "))
                .or_else(|| line.strip_prefix("pub "))
                .unwrap_or(line);
            line.strip_prefix("mod ")?.strip_suffix(';')
        })
        .map(str::to_owned)
        .collect()
}
