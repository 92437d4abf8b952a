//! Named templates, from `chat_template` in a JSON file and from the files of a folder.

use std::path::{Path, PathBuf};

use rolecall_core::TemplatePart;
use rolecall_core::json::{Node, NodeKind};

use crate::source::object::{JsonFile, string};
use rolecall_core::problem::Problem;

/// More templates than any model has.
const MOST: usize = 64;

/// A template's text, and where it is.
#[derive(Debug, Clone)]
pub(super) struct TemplateText {
    pub path: PathBuf,
    pub(super) part: TemplatePart,
    pub text: String,
}

/// Templates by name, in their order. A model with a single template has it as `default`.
#[derive(Debug, Clone, Default)]
pub(super) struct NamedTemplates(Vec<(String, TemplateText)>);

impl TemplateText {
    pub(super) fn new(path: &Path, part: TemplatePart, text: String) -> TemplateText {
        TemplateText {
            path: path.to_path_buf(),
            part,
            text,
        }
    }
}

impl NamedTemplates {
    /// What `chat_template` of an object holds: a string, named templates, or nothing.
    pub(super) fn of_value(
        document: &JsonFile<'_>,
        object: &Node<'_>,
    ) -> Result<NamedTemplates, Problem> {
        let mut named = NamedTemplates::default();
        let source = |text: &str, key: String| {
            TemplateText::new(document.path, TemplatePart::Key(key), text.to_owned())
        };
        let Some(value) = object.get("chat_template") else {
            return Ok(named);
        };
        match &value.kind {
            NodeKind::Text(text) => {
                let source = source(text, "chat_template".to_owned());
                named.set("default", source, document.path)?;
            }
            NodeKind::List(items) => {
                for element in items {
                    let (name, text) = named_template(document, element)?;
                    let source = source(text, format!("chat_template, {name}"));
                    named.set(name, source, document.path)?;
                }
            }
            NodeKind::Object(fields) => {
                for field in fields {
                    let name = &*field.name;
                    let Some(text) = field.value.text() else {
                        let message = format!("the template {name:?} must be a string");
                        return Err(document.problem(&field.value, message));
                    };
                    let source = source(text, format!("chat_template, {name}"));
                    named.set(name, source, document.path)?;
                }
            }
            _ => {
                return Err(document.problem(
                    value,
                    "`chat_template` must be a string or a list of named templates",
                ));
            }
        }
        Ok(named)
    }

    /// Sets a template; one of the same name is replaced, in its place.
    pub(super) fn set(
        &mut self,
        name: &str,
        source: TemplateText,
        path: &Path,
    ) -> Result<(), Problem> {
        if self.0.len() >= MOST {
            return Err(Problem::new(path, format!("more than {MOST} templates")));
        }
        self.replace(name, source);
        Ok(())
    }

    pub(super) fn replace(&mut self, name: &str, source: TemplateText) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = source,
            None => self.0.push((name.to_owned(), source)),
        }
    }

    /// Gives the templates other names. If several then share a name, the last counts.
    pub(super) fn rename(self, rename: impl Fn(&str) -> &str) -> NamedTemplates {
        let mut renamed = NamedTemplates::default();
        for (name, source) in self.0 {
            renamed.replace(rename(&name), source);
        }
        renamed
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&TemplateText) -> bool) {
        self.0.retain(|(_, source)| keep(source));
    }

    pub(super) fn get(&self, name: &str) -> Option<&TemplateText> {
        self.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, source)| source)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &TemplateText)> {
        self.0.iter().map(|(name, source)| (name.as_str(), source))
    }
}

/// The name and the text of an element of a list of templates.
fn named_template<'a>(
    document: &JsonFile<'_>,
    element: &'a Node<'_>,
) -> Result<(&'a str, &'a str), Problem> {
    match (string(element, "name"), string(element, "template")) {
        (Some(name), Some(text)) => Ok((name, text)),
        (Some(name), None) => {
            let message = format!("the named template {name:?} has no string `template`");
            Err(document.problem(element, message))
        }
        _ => Err(document.problem(
            element,
            "a named template must be an object with a string `name` and a string `template`",
        )),
    }
}
