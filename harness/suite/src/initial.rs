//! The first files of a suite of one's own.

use rolecall_core::Cut;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::configuration;
use crate::layout::Layout;
use rolecall_core::file::{hold_below, is_there, write_below};
use rolecall_core::naming;
use rolecall_core::problem::Problem;
use rolecall_core::root::Root;
use rolecall_io::source;
use rolecall_io::template_file::dialect_of;

/// A file that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitialFile {
    pub path: PathBuf,
    /// The folder that it is written into or below. Nothing is written outside of it.
    root: PathBuf,
    pub text: String,
}

/// The first files of a suite of one's own, and the templates in them.
#[derive(Debug)]
pub struct Initial {
    pub files: Vec<InitialFile>,
    /// The `rolecall.toml` of a folder above, whose suite ends here.
    pub above: Option<PathBuf>,
    /// The sources of templates that were found in the folder: names and places.
    pub templates: Vec<(String, String)>,
    /// How many templates they have.
    pub count: usize,
}

/// The first case file.
const CASE: &str = include_str!("initial/own.json");

/// The workflow for GitHub, which checks the suite on every change.
const WORKFLOW: &str = include_str!("initial/rolecall.yml");

/// Folders that hold no templates of a project's own.
const SKIPPED: [&str; 5] = ["cases", "node_modules", "snapshots", "target", "venv"];

/// The first files for a suite in a folder: a `rolecall.toml` with the templates that are
/// there, a first case, and a workflow for CI that installs this version.
///
/// GitHub reads workflows in the folder of the repository alone. If that is above, `repository`, the
/// workflow is written there, and works in the suite's folder.
///
/// # Errors
///
/// The folder cannot be read.
pub fn initial(
    folder: &Path,
    repository: Option<&Path>,
    version: &str,
) -> Result<Initial, Problem> {
    let templates = if is_there(folder) {
        found(folder)?
    } else {
        Vec::new()
    };
    let below = folder.strip_prefix(".").unwrap_or(folder);
    let file = |path: &str, text: String| InitialFile {
        path: below.join(path),
        root: below.to_path_buf(),
        text,
    };
    Ok(Initial {
        count: templates
            .iter()
            .map(|(_, source)| source::read(&folder.join(source)).templates.len())
            .sum(),
        files: vec![
            file(configuration::FILE, configuration(&templates)),
            file("cases/own.json", CASE.to_owned()),
            workflow(below, repository, version),
        ],
        above: above(folder),
        templates,
    })
}

/// The workflow for the suite of a folder.
fn workflow(folder: &Path, repository: Option<&Path>, version: &str) -> InitialFile {
    let text = WORKFLOW.replace("VERSION", version);
    let real = real(folder);
    let from_root = repository.and_then(|root| Some((root, real.strip_prefix(root).ok()?)));
    let Some((root, from_root)) = from_root.filter(|(_, path)| *path != Path::new("")) else {
        return InitialFile {
            path: folder.join(WORKFLOWS).join("rolecall.yml"),
            root: folder.to_path_buf(),
            text: text.replace("FOLDER", ""),
        };
    };
    let names = from_root.iter().map(|name| name.to_string_lossy());
    let names: Vec<_> = names.collect();
    let working = format!(
        "    defaults:\n      run:\n        working-directory: {}\n",
        quoted(&names.join("/"))
    );
    let name = format!("rolecall-{}.yml", plain(&names.join("-")));
    InitialFile {
        path: root.join(WORKFLOWS).join(name),
        root: root.to_path_buf(),
        text: text.replace("FOLDER", &working),
    }
}

/// The `rolecall.toml` of a folder above, if it is in use there.
fn above(folder: &Path) -> Option<PathBuf> {
    Layout::find_configuration(real(folder).parent()?)
}

/// The path without links of a folder, which may not exist yet.
fn real(folder: &Path) -> PathBuf {
    let folder = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let mut there = whole.ancestors().filter_map(|above| {
        let real = above.canonicalize().ok()?;
        Some(real.join(whole.strip_prefix(above).ok()?))
    });
    there.next().unwrap_or_else(|| whole.clone())
}

/// Where GitHub looks for workflows.
const WORKFLOWS: &str = ".github/workflows";

impl Initial {
    /// Writes the files, if none of them is there already.
    ///
    /// # Errors
    ///
    /// Every file that is there already; nothing is written then. Or that a file cannot be
    /// written.
    pub fn write(&self) -> Result<(), Vec<Problem>> {
        let there: Vec<Problem> = self
            .files
            .iter()
            .filter(|file| is_there(&file.path))
            .map(|file| {
                Problem::new(&file.path, "exists already, and is not overwritten")
                    .help("nothing was written: name another folder, or delete this file first")
            })
            .collect();
        if !there.is_empty() {
            return Err(there);
        }
        // Nothing is written if one of the files cannot be.
        for file in &self.files {
            hold_below(&file.root, &file.path).map_err(|problem| vec![problem])?;
        }
        for file in &self.files {
            write_below(&file.root, &file.path, &file.text).map_err(|problem| vec![problem])?;
        }
        Ok(())
    }
}

/// The templates in a folder, its files and its direct subfolders: names and sources.
fn found(folder: &Path) -> Result<Vec<(String, String)>, Problem> {
    let mut templates = Vec::new();
    let mut names = BTreeSet::new();
    // The files of the model are not named alone, but others next to them are.
    let mut of_model = Vec::new();
    let is_model = source::is_model(folder);
    if is_model {
        let name = folder.canonicalize().ok();
        let name = name.as_deref().and_then(Path::file_name);
        let name = name.map_or_else(|| "model".into(), |name| name.to_string_lossy());
        names.insert(plain(&name));
        templates.push((plain(&name), ".".to_owned()));
        for template in source::read(folder).templates {
            of_model.extend(template.named.into_iter().map(|(_, named)| named.path));
            of_model.push(template.path);
        }
    }
    let root = Root::new(folder)?;
    for path in root.entries(folder)? {
        let is_compared = !of_model.contains(&path) && dialect_of(&path).is_some();
        if is_model && (!is_compared || path.is_dir()) {
            continue;
        }
        // A suite uses nothing outside of its folder.
        if root.has(&path).is_err() {
            continue;
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        if file.starts_with('.') || SKIPPED.contains(&file.as_ref()) {
            continue;
        }
        if source::read(&path).templates.is_empty() {
            continue;
        }
        // A dot in the name of a folder belongs to a version.
        let stem = if path.is_dir() {
            file.clone()
        } else {
            path.file_stem().unwrap_or_default().to_string_lossy()
        };
        let numbered = (2..).map(|number| {
            let stem = plain(&stem);
            // Room for a dash and a number of five digits.
            let most = naming::MOST_CHARACTERS - 6;
            plain(&format!("{}-{number}", stem.cut(..stem.len().min(most))))
        });
        let mut possible = [plain(&stem), plain(&file)].into_iter().chain(numbered);
        if let Some(name) = possible.find(|name| !names.contains(name)) {
            names.insert(name.clone());
            // A file may be named like a model on a hub, such as `hf:x.jinja`.
            let is_like_model = rolecall_io::remote::is_name(Path::new(file.as_ref()));
            let source = if is_like_model {
                format!("./{file}")
            } else {
                file.into_owned()
            };
            templates.push((name, source));
        }
    }
    Ok(templates)
}

/// A name that can be a folder of snapshots.
fn plain(name: &str) -> String {
    let tidy = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c) => c,
        _ => '-',
    };
    let name: String = name
        .chars()
        .map(tidy)
        .take(naming::MOST_CHARACTERS)
        .collect();
    let name = name.trim_matches(['.', '-', '_']);
    if name.is_empty() {
        "model".to_owned()
    } else if naming::is_portable(name) {
        name.to_owned()
    } else {
        // A device of Windows, such as `aux`.
        plain(&format!("template-{name}"))
    }
}

fn configuration(templates: &[(String, String)]) -> String {
    let lines = templates.iter().map(|(name, source)| {
        let is_plain = !name.contains('.');
        let name = if is_plain { name.clone() } else { quoted(name) };
        format!("{name} = {}\n", quoted(source))
    });
    let mut lines: String = lines.collect();
    if lines.is_empty() {
        lines.push_str(
            "# A file or folder below this one, a model of the Hugging Face hub, or one of Ollama:\n\
             # my-model = \"chat_template.jinja\"\n\
             # qwen3 = \"hf:Qwen/Qwen3-0.6B\"\n\
             # llama = \"ollama:llama3.2:1b\"\n",
        );
    }
    include_str!("initial/configuration.toml").replace("TEMPLATES", &lines)
}

/// A string in TOML: every JSON string is one, too.
fn quoted(text: &str) -> String {
    // TOML has no raw DEL, which JSON has.
    let text = serde_json::Value::from(text).to_string();
    text.replace('\u{7f}', "\\u007F")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Configuration;
    use crate::layout::Layout;
    use crate::suite::Suite;

    fn names(folder: &Path) -> Vec<(String, String)> {
        initial(folder, None, "1.2.3").unwrap().templates
    }

    #[test]
    fn no_template_gets_the_name_of_a_device() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("aux.jinja"), "x").unwrap();
        std::fs::write(folder.path().join("hf:x.jinja"), "x").unwrap();
        // A source without `./` would be a model on the hub.
        let expected = [("template-aux", "aux.jinja"), ("hf-x", "./hf:x.jinja")];
        let expected = expected.map(|(name, source)| (name.to_owned(), source.to_owned()));
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn what_is_in_the_folder_is_in_the_suite() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("My Chat.jinja", "x");
        write(
            "Qwen3-0.6B/tokenizer_config.json",
            r#"{"chat_template": "y"}"#,
        );
        write("a/b.txt", "");
        write("target/c.jinja", "");
        write("README.md", "");
        let expected = [("my-chat", "My Chat.jinja"), ("qwen3-0.6b", "Qwen3-0.6B")]
            .map(|(name, source)| (name.to_owned(), source.to_owned()));
        assert_eq!(names(folder.path()), expected);

        let initial = initial(folder.path(), None, "1.2.3").unwrap();
        initial.write().unwrap();
        let configuration = Configuration::read(&folder.path().join("rolecall.toml")).unwrap();
        let read: Vec<_> = configuration
            .templates
            .iter()
            .map(|template| (template.name.to_string(), template.source.clone()))
            .collect();
        assert_eq!(read, expected);
        let problems = initial.write().unwrap_err();
        assert_eq!(problems.len(), 3, "{problems:?}");
        let workflow = folder.path().join(".github/workflows/rolecall.yml");
        assert!(
            std::fs::read_to_string(workflow)
                .unwrap()
                .contains("# Rolecall 1.2.3, as a wheel")
        );
    }

    #[test]
    fn all_templates_of_a_folder_count_and_long_names_become_short() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("zoo");
        std::fs::create_dir(&below).unwrap();
        for name in [
            "a".to_owned(),
            format!("{}1", "b".repeat(80)),
            format!("{}2", "b".repeat(80)),
        ] {
            std::fs::write(below.join(format!("{name}.jinja")), "x").unwrap();
            std::fs::write(folder.path().join(format!("{name}.jinja")), "x").unwrap();
        }
        let initial = initial(folder.path(), None, "1").unwrap();
        assert_eq!((initial.templates.len(), initial.count), (4, 6));
        initial.write().unwrap();
        let path = folder.path().join("rolecall.toml");
        let layout = Layout::own(
            Configuration::read(&path).unwrap(),
            &Layout::new(folder.path()),
        );
        let suite = Suite::templates_around(&layout, &[]);
        assert_eq!(suite.problems, []);
        assert_eq!(suite.templates.len(), 6);
        for template in &suite.templates {
            assert_eq!(naming::problem(template), None, "{}", template.name);
        }
    }

    #[test]
    fn the_workflow_is_where_github_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let below = root.join("models/My ft");
        let initial = initial(&below, Some(&root), "1.2.3").unwrap();
        initial.write().unwrap();
        let workflow = root.join(".github/workflows/rolecall-models-my-ft.yml");
        let text = std::fs::read_to_string(workflow).unwrap();
        assert!(
            text.contains("        working-directory: \"models/My ft\"\n    steps:\n"),
            "{text}"
        );
        assert!(below.join("rolecall.toml").exists() && !below.join(".github").exists());
        assert_eq!(initial.above, None);
        // In the folder of the repository itself there is nothing to say.
        let whole = super::initial(&root, Some(&root), "1.2.3").unwrap();
        assert!(
            whole.files[2]
                .path
                .ends_with(".github/workflows/rolecall.yml")
        );
        assert!(!whole.files[2].text.contains("working-directory"));
        let nested = super::initial(&below.join("deeper"), Some(&root), "1.2.3").unwrap();
        assert_eq!(nested.above, Some(below.join("rolecall.toml")));
    }

    #[test]
    fn a_model_folder_is_one_template() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("Org Model");
        std::fs::create_dir(&model).unwrap();
        std::fs::write(model.join("tokenizer_config.json"), "{}").unwrap();
        std::fs::write(model.join("chat_template.jinja"), "x").unwrap();
        assert_eq!(names(&model), [("org-model".to_owned(), ".".to_owned())]);
        // Another template next to it is one of its own.
        std::fs::write(model.join("other.jinja"), "x").unwrap();
        let both = [("org-model", "."), ("other", "other.jinja")]
            .map(|(name, source)| (name.to_owned(), source.to_owned()));
        assert_eq!(names(&model), both);
    }

    #[test]
    fn a_folder_without_templates_has_examples() {
        let folder = tempfile::tempdir().unwrap();
        let initial = initial(&folder.path().join("new"), None, "1").unwrap();
        assert_eq!(initial.templates, []);
        initial.write().unwrap();
        let file = folder.path().join("new/rolecall.toml");
        assert!(Configuration::read(&file).unwrap().templates.is_empty());
    }
}
