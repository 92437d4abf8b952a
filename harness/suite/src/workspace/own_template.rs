//! Templates of the user's suite, as an argument names them: by their names, or by their files.

use std::path::{Path, PathBuf};

use rolecall_core::file::is_there;
use rolecall_core::wildcard::Wildcard;
use rolecall_core::{Template, TemplateName};
use rolecall_io::source;

use super::stdin;
use super::suite_around::Access;
use crate::configuration::ConfiguredTemplate;
use crate::layout::Layout;
use crate::suite::Suite;

/// A template of the user's suite, as an argument names it: by its name, or by the file or folder
/// that the suite names as its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnTemplate {
    /// Its name. A source with several templates has this name before theirs.
    pub name: String,
    /// The only template file of the source that the argument names.
    file: Option<PathBuf>,
}

impl OwnTemplate {
    /// The same templates, in whichever files they are.
    #[must_use]
    pub fn in_any_file(self) -> OwnTemplate {
        OwnTemplate { file: None, ..self }
    }

    /// Whether a source with this name in `rolecall.toml` has the templates.
    pub fn is_of(&self, key: &TemplateName) -> bool {
        self.name == key.as_str() || self.name.starts_with(&format!("{key}."))
    }

    /// Patterns for the names of the templates. Those of a source with several are longer.
    fn names(&self) -> Option<Vec<Wildcard>> {
        let names = [self.name.clone(), format!("{}.*", self.name)];
        names.iter().map(|name| Wildcard::new(name).ok()).collect()
    }

    /// Whether one of the templates can have this name.
    pub fn has_name(&self, name: &str) -> bool {
        name == self.name || name.starts_with(&format!("{}.", self.name))
    }

    /// Whether this is one of the templates that the argument names.
    pub(super) fn is(&self, template: &Template) -> bool {
        let is_file = |file: &PathBuf| is_same(file, &template.path);
        self.has_name(template.name.as_str()) && self.file.as_ref().is_none_or(is_file)
    }
}

/// Whether two paths lead to the same file or folder.
fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The template of the suite that an argument names, as [`own_template`] finds it. If something else
/// has the name, too, this says how to name that.
pub fn named_template(access: &Access<'_>, layout: &Layout, text: &str) -> Option<OwnTemplate> {
    let found = own_template(access, layout, text)?;
    let path = Path::new(text);
    if found.name == text
        && is_there(path)
        && of_source(layout, path).is_none_or(|of_path| of_path.name != text)
    {
        (access.tell)(&format!(
            "`{text}` is the template of {layout}; ./{text} is the file or folder of that name"
        ));
    }
    Some(found)
}

/// The template of the suite that an argument names. Its name comes before a file or folder of that
/// name, because messages name templates so; nobody has chosen the names of the built-in suite.
pub fn own_template(access: &Access<'_>, layout: &Layout, text: &str) -> Option<OwnTemplate> {
    let path = Path::new(text);
    let is_word = !text.contains(['/', '\\', ':']) && text != stdin::NAME;
    let named = |name: &str| OwnTemplate {
        name: name.to_owned(),
        file: None,
    };
    let Some(configuration) = layout.configuration() else {
        let can_be = is_word && !(layout.is_read_only() && is_there(path));
        let is_known = || {
            let one = Wildcard::new(text).map(|one| layout.narrowed(vec![one], Vec::new()));
            let suite = one.map(|layout| Suite::templates_around(&layout, &[]));
            suite.is_ok_and(|suite| suite.template(&TemplateName::new(text)).is_some())
        };
        return (can_be && is_known()).then(|| named(text));
    };
    let mut templates = configuration.templates.iter();
    if is_word && templates.any(|one| one.name.as_str() == text) {
        return Some(named(text));
    }
    if is_there(path) {
        return of_source(layout, path);
    }
    // One of the templates of a source with several.
    let key = configuration.templates.iter().find(|one| {
        let after = text.strip_prefix(one.name.as_str());
        is_word && after.is_some_and(|rest| rest.starts_with('.'))
    })?;
    let layout = layout.with_templates(|name| *name == key.name);
    let suite = Suite::templates_around(&access.fetched(&layout), &[]);
    let found = suite.template(&TemplateName::new(text));
    found.is_some().then(|| named(text))
}

/// The template with a source. None if several have it: each has its own settings.
fn of_source(layout: &Layout, path: &Path) -> Option<OwnTemplate> {
    let templates = &layout.configuration()?.templates;
    let of = |path: &Path| {
        let same = |one: &&ConfiguredTemplate| {
            let local = one.local.as_ref();
            local.is_ok_and(|local| is_same(local, path))
        };
        let mut with_source = templates.iter().filter(same);
        let one = with_source.next().filter(|_| with_source.next().is_none());
        one.map(|one| one.name.to_string())
    };
    if let Some(name) = of(path) {
        return Some(OwnTemplate { name, file: None });
    }
    // A file of a model counts as its folder.
    let folder = path.canonicalize().ok()?.parent()?.to_path_buf();
    let extension = path.extension().unwrap_or_default();
    if !source::is_model(&folder) || !["jinja", "json"].iter().any(|known| extension == *known) {
        return None;
    }
    let file = (extension == "jinja").then(|| path.to_path_buf());
    // A folder may have other templates besides those of its model.
    let has_template = |file: &PathBuf| {
        let mut own = source::read(&folder).templates.into_iter();
        own.any(|template| {
            let mut named = template.named.iter().map(|(_, named)| &named.path);
            is_same(file, &template.path) || named.any(|path| is_same(file, path))
        })
    };
    if file.as_ref().is_some_and(|file| !has_template(file)) {
        return None;
    }
    of(&folder).map(|name| OwnTemplate { name, file })
}

/// The names of a suite's templates.
pub fn template_names(layout: &Layout) -> Vec<String> {
    if let Some(configuration) = layout.configuration() {
        let templates = configuration.templates.iter();
        return templates.map(|one| one.name.to_string()).collect();
    }
    let suite = Suite::templates_around(layout, &[]);
    let templates = suite.templates.iter();
    templates.map(|one| one.name.to_string()).collect()
}

/// The layout, narrowed to these templates. One with a `rolecall.toml` stays as it is, because
/// `open` chooses among its templates.
pub(super) fn only(layout: &Layout, asked: &[OwnTemplate]) -> Layout {
    let names: Option<Vec<_>> = asked.iter().map(OwnTemplate::names).collect();
    match names.filter(|_| layout.configuration().is_none()) {
        Some(names) => layout.narrowed(names.concat(), Vec::new()),
        None => layout.clone(),
    }
}
