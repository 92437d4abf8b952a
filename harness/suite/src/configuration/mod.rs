//! `rolecall.toml`: what makes a folder a suite of one's own.
//!
//! It lists the suite's templates and their sources, the built-in cases and the own cases that they
//! are rendered with, and the engines that render them. Snapshots and records are next to it.

mod values;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use rolecall_core::{Dialect, Template, TemplateName, Variable};
use serde_json::{Map, Value};

use rolecall_check::contract;
use rolecall_core::document::{self, Document};
use rolecall_core::file::{MOST_CONFIGURATION, is_there, read_text_of};
use rolecall_core::json::{Field, Node, NodeKind};
use rolecall_core::naming;
use rolecall_core::problem::{Position, Problem, did_you_mean};
use rolecall_core::root::Root;
use rolecall_core::wildcard::{InvalidWildcard, Wildcard};
use rolecall_front::front::Front;
use rolecall_io::settings::{self, Unread};
use rolecall_io::template_file::{special_tokens, variables};

use crate::card_rule::CardRule;
use crate::exception::Exception;

pub const FILE: &str = "rolecall.toml";

/// The most templates of a suite of one's own.
pub const MOST_TEMPLATES: usize = 10_000;

/// The most patterns of a list. Every built-in case is compared with all of them.
const MOST_PATTERNS: usize = 1_000;

/// The JSON Schema of the file, by which editors check it.
pub const SCHEMA: &str = include_str!("suite.schema.json");

/// A suite of one's own, as its file describes it.
#[derive(Debug, Clone, Default)]
pub struct Configuration {
    pub path: PathBuf,
    pub templates: Vec<ConfiguredTemplate>,
    pub builtin: BuiltinCases,
    /// Files and folders with cases of one's own.
    pub own: Vec<PathBuf>,
    /// The engine of a dialect, where it is not the usual one.
    pub engines: BTreeMap<Dialect, String>,
    /// The folder of what was accepted and recorded.
    pub snapshots: PathBuf,
    /// What a run demands of the report cards.
    pub contracts: CardRule,
    /// The least share of each template's branches that the cases have to take, in per cent.
    pub least_coverage: Option<u8>,
}

#[derive(Debug, Clone, Default)]
pub struct BuiltinCases {
    with: Vec<CasePattern>,
    without: Vec<CasePattern>,
}

/// A pattern over the built-in cases, as the file has it.
#[derive(Debug, Clone)]
struct CasePattern {
    wildcard: Wildcard,
    text: String,
    position: Position,
}

impl CasePattern {
    /// Whether it matches a case, by its family or by its ID.
    fn is_match(&self, family: &str, id: &str) -> bool {
        self.wildcard.is_match(family) || self.wildcard.is_match(id)
    }
}

/// A template of a suite of one's own.
#[derive(Debug, Clone)]
pub struct ConfiguredTemplate {
    /// Its name, which is its key in the file.
    pub name: TemplateName,
    /// Where it is, as it is written.
    pub source: String,
    /// Where it is on this machine: the path of `source`, or of the model that it names; or why
    /// there is none.
    pub local: Result<PathBuf, Problem>,
    /// Where in the file its source is.
    pub position: Position,
    special_tokens: Map<String, Value>,
    variables: Vec<(String, Variable)>,
    /// Where in the file its special tokens and its variables are, in their order.
    settings: Vec<Position>,
    front: Option<(Front, Position)>,
    broken: Vec<Exception>,
    /// The template that it is checked against.
    pub base: Option<ConfiguredBase>,
}

/// The base of a template, and how the template may differ from it.
#[derive(Debug, Clone)]
pub struct ConfiguredBase {
    /// Where it is: a path on this machine, or the name of a model or of another template of the
    /// suite.
    pub source: PathBuf,
    /// Where in the file it is.
    pub position: Position,
    /// Control tokens of the base, each with that of the template.
    pub tokens: Vec<(String, String)>,
    pub differs: Vec<Exception>,
}

static RULES: LazyLock<Value> = LazyLock::new(|| document::schema(SCHEMA));

impl BuiltinCases {
    /// Whether there are no patterns at all, so that no built-in case was chosen.
    pub(crate) fn is_empty(&self) -> bool {
        self.with.is_empty() && self.without.is_empty()
    }

    /// Whether a built-in case was chosen.
    pub fn has(&self, family: &str, name: &str) -> bool {
        let id = format!("{family}/{name}");
        let is_any = |patterns: &[CasePattern]| {
            let mut patterns = patterns.iter();
            patterns.any(|pattern| pattern.is_match(family, &id))
        };
        is_any(&self.with) && !is_any(&self.without)
    }

    /// The patterns that match none of the built-in cases: each was meant to match some.
    /// `configuration` is the file that has them, and `cases` are families and names.
    pub(crate) fn unmatched(&self, configuration: &Path, cases: &[(&str, &str)]) -> Vec<Problem> {
        /// How many are reported one by one: to look for similar names takes time.
        const MOST: usize = 20;
        let both = [("builtin", &self.with), ("without", &self.without)];
        let all = both
            .into_iter()
            .flat_map(|(key, patterns)| patterns.iter().map(move |pattern| (key, pattern)));
        let ids = cases.iter();
        let ids: Vec<(&str, String)> = ids
            .map(|(family, name)| (*family, format!("{family}/{name}")))
            .collect();
        let unmatched = all.filter(|(_, pattern)| {
            let mut ids = ids.iter();
            !ids.any(|(family, id)| pattern.is_match(family, id))
        });
        let unmatched: Vec<_> = unmatched.collect();
        let more = unmatched.len().saturating_sub(MOST);
        let more = (more > 0).then(|| {
            let message = format!("{more} more patterns match no built-in case");
            Problem::new(configuration, message)
        });
        unmatched
            .into_iter()
            .take(MOST)
            .map(|(key, pattern)| {
                let text = &pattern.text;
                let message = format!("`{text}` in `{key}` matches no built-in case");
                let families = ids.iter().map(|(family, _)| *family);
                let known = families.chain(ids.iter().map(|(_, id)| id.as_str()));
                let help = did_you_mean(text, known).unwrap_or_else(|| {
                    "`rolecall list cases --builtin` names the families and cases".to_owned()
                });
                Problem::new(configuration, message)
                    .at(pattern.position)
                    .help(help)
            })
            .chain(more)
            .collect()
    }
}

impl Configuration {
    /// Reads the file. Any problem makes the whole file invalid: a suite with a part missing
    /// could pass when it should not.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, each with line and column.
    pub fn read(path: &Path) -> Result<Configuration, Vec<Problem>> {
        let alone = |problem| vec![problem];
        let text = read_text_of(path, MOST_CONFIGURATION).map_err(alone)?;
        let mut document = Document::new(path, &text, ["a table", "a list"]);
        let root = values::parse(path, &text, &mut document).map_err(alone)?;
        document.check(&RULES, "this file", &root);
        let mut reader = ConfigurationReader {
            root: path.parent().unwrap_or(Path::new("")),
            bound: Root::of_folder_of(path),
            templates: root.get("templates").map_or(&[], Node::fields),
            document,
        };
        let configuration = reader.configuration(path, &root);
        reader.document.finish().map(|()| configuration)
    }

    /// The folder that the file is in.
    pub fn root(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

impl ConfiguredTemplate {
    /// Whether a template comes from this source: it has the source's name, or, if the source has
    /// several templates, its own after it.
    pub fn is_of(&self, name: &TemplateName) -> bool {
        let after = name.as_str().strip_prefix(self.name.as_str());
        after.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The contracts for which `broken` has a reason, each with the place of the reason.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, Position)> {
        let reasons = self.broken.iter();
        reasons.map(|reason| (reason.place.as_str(), reason.position))
    }

    /// The special tokens and variables that it sets, and that none of its templates reads. Those for
    /// which another name was probably meant have a help.
    pub fn unread<'t>(
        &self,
        file: &Path,
        templates: impl IntoIterator<Item = &'t Template>,
    ) -> Vec<Problem> {
        let tokens: Vec<&str> = self.special_tokens.keys().map(String::as_str).collect();
        let variables = self.variables.iter().map(|(name, _)| name.as_str());
        let variables: Vec<&str> = variables.collect();
        let unread = settings::unread(templates, &tokens, &variables);
        let unread = unread.into_iter().zip(&self.settings);
        let unread = unread.filter_map(|(unread, position)| {
            let Unread { what, meant } = unread?;
            let message = format!("`{}` does not read {what}", self.name);
            Some(Problem {
                help: meant,
                ..Problem::new(file, message).at(*position)
            })
        });
        unread.collect()
    }

    /// Applies the configuration to a template from its source: name, tokens, variables and the
    /// rest. If the source has several templates, their own names are part of the new ones.
    ///
    /// # Errors
    ///
    /// The front that was asked for is not for templates of this dialect.
    pub(crate) fn apply(
        &self,
        template: &mut Template,
        is_alone: bool,
        file: &Path,
    ) -> Result<(), Problem> {
        if let Some((front, position)) = self.front
            && !front.is_for(template.dialect)
        {
            let message = format!(
                "the front `{front}` is not for {} templates",
                template.dialect
            );
            return Err(Problem::new(file, message)
                .at(position)
                .help("`rolecall list fronts` says what each is for"));
        }
        template.name = if is_alone {
            self.name.clone()
        } else {
            let own = template.name.as_str();
            // A model's templates are named `model@variant`, and the configuration gives the model its
            // name.
            let own = own.rsplit_once('@').map_or(own, |(_, variant)| variant);
            let tidy = |c: char| match c.to_ascii_lowercase() {
                c if c.is_ascii_alphanumeric() || "._-".contains(c) => c,
                _ => '-',
            };
            let own: String = own.chars().map(tidy).collect();
            let room = naming::MOST_CHARACTERS.saturating_sub(self.name.as_str().len() + 1);
            TemplateName::new(&format!("{}.{}", self.name, naming::shortened(&own, room)))
        };
        template.special_tokens.extend(self.special_tokens.clone());
        for (name, value) in &self.variables {
            template.variables.retain(|(known, _)| known != name);
            template.variables.push((name.clone(), value.clone()));
        }
        if let Some((front, _)) = self.front {
            template.front = Some(front.name().to_owned());
        }
        for reason in &self.broken {
            let Exception { place, reason, .. } = reason;
            template.broken.retain(|(known, _)| known != place);
            template.broken.push((place.clone(), reason.clone()));
        }
        // The same goes for the model's other templates.
        for (_, other) in &mut template.named {
            other.special_tokens.extend(self.special_tokens.clone());
            other.variables.extend(self.variables.iter().cloned());
        }
        Ok(())
    }
}

/// Whether a base, as it is written, is the template that it is the base of.
fn is_itself(base: &Path, text: &str, of: &ConfiguredTemplate) -> bool {
    let is_one_file = || {
        let own = of.local.as_ref().ok().map(|local| local.canonicalize());
        own.is_some_and(|own| {
            own.is_ok_and(|own| base.canonicalize().is_ok_and(|base| base == own))
        })
    };
    text == of.source || !base.exists() && text == of.name.as_str() || is_one_file()
}

/// The pattern that a file without one has.
fn everything(position: Position) -> Vec<CasePattern> {
    let wildcard = Wildcard::new("*").into_iter();
    wildcard
        .map(|wildcard| CasePattern {
            wildcard,
            text: "*".to_owned(),
            position,
        })
        .collect()
}

struct ConfigurationReader<'t> {
    /// The folder of the file.
    root: &'t Path,
    /// The same folder, which bounds what the file may name.
    bound: Result<Root, Problem>,
    templates: &'t [Field<'t>],
    document: Document<'t>,
}

/// The entries of a table in a table, if it is there.
fn entries<'n, 't>(table: &'n Node<'t>, key: &str) -> &'n [Field<'t>] {
    table.get(key).map_or(&[], Node::fields)
}

/// Reads what the schema allows, and reports what no schema can say.
impl ConfigurationReader<'_> {
    fn configuration(&mut self, path: &Path, root: &Node<'_>) -> Configuration {
        let cases = root.get("cases");
        let of_cases = |key: &str| cases?.get(key);
        let start = self.document.position(0);
        let patterns = of_cases("builtin").map(|list| self.patterns(list));
        let without = of_cases("without").map(|list| self.patterns(list));
        let coverage = root.get("coverage").and_then(|table| table.get("at_least"));
        let coverage = coverage.and_then(|least| least.value().as_u64());
        let contracts = root.text_of("contracts");
        let engines = Dialect::ALL.into_iter().filter_map(|dialect| {
            let engine = root.get("engines")?.text_of(dialect.name())?;
            Some((dialect, engine))
        });
        Configuration {
            path: path.to_path_buf(),
            templates: self.templates(),
            builtin: BuiltinCases {
                with: patterns.unwrap_or_else(|| everything(start)),
                without: without.unwrap_or_default(),
            },
            own: self.own(of_cases("own")),
            engines: engines.collect(),
            snapshots: match root.get("snapshots") {
                Some(folder) => self.below(folder),
                None => self.held("snapshots", 0),
            },
            contracts: contracts
                .and_then(|name| CardRule::named(&name))
                .unwrap_or_default(),
            least_coverage: coverage.and_then(|least| u8::try_from(least).ok()),
        }
    }

    fn templates(&mut self) -> Vec<ConfiguredTemplate> {
        let count = self.templates.len();
        if count > MOST_TEMPLATES {
            let message = format!("{count} templates, where at most {MOST_TEMPLATES} are expected");
            self.document.problem(0, message, None);
            return Vec::new();
        }
        let templates = self.templates.iter();
        templates.filter_map(|field| self.template(field)).collect()
    }

    fn template(&mut self, field: &Field<'_>) -> Option<ConfiguredTemplate> {
        let name = TemplateName::new(&field.name);
        if !naming::is_plain(&name) {
            let message = format!("`{name}` cannot be the name of a folder on every system");
            let help = format!(
                "at most {} lower-case letters, digits, dots, dashes and underscores",
                naming::MOST_CHARACTERS
            );
            self.document
                .problem(field.range.start, message, Some(help));
        }
        let table = &field.value;
        let source = match table.kind {
            NodeKind::Text(_) => table,
            _ => table.get("source")?,
        };
        let (text, at) = (source.text()?, source.range.start);
        let settings = ["special_tokens", "variables"].map(|key| entries(table, key));
        let settings = settings.into_iter().flatten();
        let settings = settings.map(|field| self.document.position(field.range.start));
        let mut configured = ConfiguredTemplate {
            settings: settings.collect(),
            name,
            source: text.to_owned(),
            local: Ok(self.held(text, at)),
            position: self.document.position(at),
            special_tokens: special_tokens(entries(table, "special_tokens")),
            variables: variables(&mut self.document, entries(table, "variables")),
            front: table.get("front").and_then(|item| self.front(item)),
            broken: Vec::new(),
            base: None,
        };
        configured.broken = self.exceptions(entries(table, "broken"));
        for field in entries(table, "broken") {
            if let Err(message) = contract::find(&field.name) {
                let message = format!("`broken`: {message}");
                let at = field.value.range.start;
                self.document.problem(at, message, None);
            }
        }
        configured.base = self.base(table, &configured);
        Some(configured)
    }

    /// The base of a template, and what belongs to it.
    fn base(
        &mut self,
        table: &Node<'_>,
        configured: &ConfiguredTemplate,
    ) -> Option<ConfiguredBase> {
        let Some(item) = table.get("base") else {
            for key in ["base_tokens", "differs"] {
                if let Some(item) = table.get(key) {
                    let message = format!("`{key}` says something about a base, and there is none");
                    let help = "write where it is: base = \"hf:ORG/NAME\"".to_owned();
                    self.document.problem(item.range.start, message, Some(help));
                }
            }
            return None;
        };
        let (text, at) = (item.text()?, item.range.start);
        let is_template = self.templates.iter().any(|field| field.name == text);
        // A path has no colon here, and the name of a model does. A file wins over a template of the
        // same name.
        let source = if text.contains(':') || is_template && !is_there(&self.root.join(text)) {
            PathBuf::from(text)
        } else {
            self.there(text, at, "`base`: ")
        };
        if is_itself(&source, text, configured) {
            let message = format!("`base` is the template itself: {text}");
            let help = "name the template that it was made from".to_owned();
            self.document.problem(at, message, Some(help));
        }
        let tokens = entries(table, "base_tokens").iter();
        let tokens = tokens
            .filter_map(|field| Some((field.name.to_string(), field.value.text()?.to_owned())));
        Some(ConfiguredBase {
            source,
            position: self.document.position(at),
            tokens: tokens.collect(),
            differs: self.exceptions(entries(table, "differs")),
        })
    }

    /// Reasons by what they are for.
    fn exceptions(&mut self, fields: &[Field<'_>]) -> Vec<Exception> {
        let exception = |field: &Field<'_>| {
            let reason = self.document.reason_for(field);
            let at = field.value.range.start;
            let exception = Exception::new(&field.name, reason, self.document.position(at));
            let problem = |error: InvalidWildcard| {
                self.document.problem(at, error.to_string(), None);
            };
            exception.map_err(problem).ok()
        };
        fields.iter().filter_map(exception).collect()
    }

    fn front(&mut self, item: &Node<'_>) -> Option<(Front, Position)> {
        let (name, at) = (item.text()?, item.range.start);
        match name.parse::<Front>() {
            Ok(front) => Some((front, self.document.position(at))),
            Err(error) => {
                let names = Front::ALL.map(Front::name);
                let help = did_you_mean(name, names)
                    .unwrap_or_else(|| format!("there are {}", names.join(", ")));
                self.document.problem(at, error.to_string(), Some(help));
                None
            }
        }
    }

    /// The files and folders of one's own cases.
    fn own(&mut self, list: Option<&Node<'_>>) -> Vec<PathBuf> {
        match list {
            Some(list) => {
                let paths = list.items().iter();
                let paths = paths.filter_map(|item| Some((item.text()?, item.range.start)));
                paths.map(|(path, at)| self.there(path, at, "")).collect()
            }
            None if self.root.join("cases").is_dir() => vec![self.held("cases", 0)],
            None => Vec::new(),
        }
    }

    fn patterns(&mut self, list: &Node<'_>) -> Vec<CasePattern> {
        let mut patterns = Vec::new();
        if let Some(first) = list.items().get(MOST_PATTERNS) {
            let message = format!("more than {MOST_PATTERNS} patterns");
            self.document.problem(first.range.start, message, None);
            return patterns;
        }
        for item in list.items() {
            let (text, at) = (item.text().unwrap_or_default(), item.range.start);
            match Wildcard::new(text) {
                Ok(wildcard) => patterns.push(CasePattern {
                    wildcard,
                    text: text.to_owned(),
                    position: self.document.position(at),
                }),
                Err(error) => self.document.problem(at, error.to_string(), None),
            }
        }
        patterns
    }

    /// A file or folder that has to be there. `key` comes before the message that it is not.
    fn there(&mut self, written: &str, at: usize, key: &str) -> PathBuf {
        let local = self.held(written, at);
        if !is_there(&local) {
            let message = format!("{key}no such file or folder: {written}");
            self.document.problem(at, message, None);
        }
        local
    }

    /// The path of a file or folder. One that is outside of the file's folder, also by a link, is
    /// reported. Nothing outside is read or written because a file asks for it.
    fn held(&mut self, written: &str, at: usize) -> PathBuf {
        let path = self.root.join(written);
        // A folder that will be made may be below a link.
        let Some(local) = path.ancestors().find(|path| is_there(path)) else {
            return path;
        };
        let bound = self.bound.as_ref().map_err(Clone::clone);
        if let Err(problem) = bound.and_then(|bound| bound.has(local)) {
            let message = if local.canonicalize().is_ok() {
                format!("`{written}` is outside of the folder of this file")
            } else {
                format!("`{written}`: {}", problem.message)
            };
            let help = "a suite uses what is in its own folder: move it there, or move this file \
                        to a folder above both";
            self.document.problem(at, message, Some(help.to_owned()));
        }
        path
    }

    /// A folder below the file's folder: nothing is written elsewhere.
    fn below(&mut self, item: &Node<'_>) -> PathBuf {
        let (folder, at) = (item.text().unwrap_or_default(), item.range.start);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if folder.is_empty() || !Path::new(folder).components().all(is_plain) {
            let message = format!("`{folder}` is not a folder below this one");
            self.document.problem(at, message, None);
        }
        self.held(folder, at)
    }
}
