//! `rolecall.toml`: what makes a folder a suite of one's own.
//!
//! It lists the suite's templates and their sources, the built-in cases and the own cases that they
//! are rendered with, and the engines that render them. Snapshots and records are next to it.

mod document;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rolecall_core::{Dialect, Template, TemplateName, Variable};
use serde_json::{Map, Value};
use toml::de::DeTable;

use document::{Item, TomlDocument};
use rolecall_check::contract;
use rolecall_check::contract::Contract;
use rolecall_core::file::{MOST_CONFIGURATION, is_there, read_text_of};
use rolecall_core::json;
use rolecall_core::naming;
use rolecall_core::problem::{Position, Problem, did_you_mean};
use rolecall_core::reason::is_reason;
use rolecall_core::root::Root;
use rolecall_core::wildcard::Wildcard;
use rolecall_front::front::Front;

use crate::card_rule::CardRule;
use crate::known_difference::KnownDifference;

pub const FILE: &str = "rolecall.toml";

/// The most templates of a suite of one's own.
pub const MOST_TEMPLATES: usize = 10_000;

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
    front: Option<(Front, Position)>,
    family: Option<String>,
    broken: Vec<Reason>,
    /// The template that it is checked against.
    pub base: Option<ConfiguredBase>,
}

/// Why a template breaks a contract.
#[derive(Debug, Clone)]
struct Reason {
    contract: &'static Contract,
    why: String,
    position: Position,
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
    pub differs: Vec<KnownDifference>,
}

static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| keys(""));
static TEMPLATE_KEYS: LazyLock<Vec<String>> = LazyLock::new(|| keys("/$defs/TemplateTable"));
static CASES_KEYS: LazyLock<Vec<String>> = LazyLock::new(|| keys("/$defs/CasesTable"));
static ENGINES_KEYS: LazyLock<Vec<String>> = LazyLock::new(|| keys("/$defs/EnginesTable"));
static COVERAGE_KEYS: LazyLock<Vec<String>> = LazyLock::new(|| keys("/$defs/CoverageTable"));

fn keys(pointer: &str) -> Vec<String> {
    json::keys(SCHEMA, pointer)
}

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
        let text = read_text_of(path, MOST_CONFIGURATION).map_err(|problem| vec![problem])?;
        let (document, table) =
            TomlDocument::parse(path, &text).map_err(|problem| vec![problem])?;
        let root = path.parent().unwrap_or(Path::new(""));
        let mut reader = ConfigurationReader {
            root,
            bound: Root::of_folder_of(path),
            templates: Vec::new(),
            document,
        };
        let configuration = reader.configuration(path, &table);
        let problems = reader.document.into_problems();
        if problems.is_empty() {
            Ok(configuration)
        } else {
            Err(problems)
        }
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
    pub fn reasons(&self) -> impl Iterator<Item = (&'static str, Position)> {
        let reasons = self.broken.iter();
        reasons.map(|reason| (reason.contract.id, reason.position))
    }

    /// The names of the variables that it sets.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| name.as_str())
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
        if self.family.is_some() {
            template.family.clone_from(&self.family);
        }
        for reason in &self.broken {
            let id = reason.contract.id;
            template.broken.retain(|(known, _)| known != id);
            template.broken.push((id.to_owned(), reason.why.clone()));
        }
        // The same goes for the model's other templates.
        for (_, other) in &mut template.named {
            other.special_tokens.extend(self.special_tokens.clone());
            other.variables.extend(self.variables.iter().cloned());
        }
        Ok(())
    }
}

/// Whether a table has a table with a key.
fn has_key(table: &DeTable<'_>, name: &str, key: &str) -> bool {
    let inner = table.get(name).and_then(|item| item.get_ref().as_table());
    inner.is_some_and(|inner| inner.get(key).is_some())
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
    /// The names of the suite's templates.
    templates: Vec<String>,
    document: TomlDocument<'t>,
}

impl<'t> ConfigurationReader<'t> {
    fn configuration(&mut self, path: &Path, table: &DeTable<'t>) -> Configuration {
        self.document.check_keys(table, "this file", &KEYS);
        let mut configuration = Configuration {
            path: path.to_path_buf(),
            builtin: BuiltinCases {
                with: everything(self.document.position(&(0..0))),
                without: Vec::new(),
            },
            snapshots: self.root.join("snapshots"),
            ..Configuration::default()
        };
        let cases = self.root.join("cases");
        if cases.is_dir() && !has_key(table, "cases", "own") {
            self.hold_below(&cases, "cases", &(0..0));
            configuration.own.push(cases);
        }
        match table.get("templates") {
            Some(item) => {
                if let Some(templates) = self.document.table(item, "`templates`") {
                    configuration.templates = self.templates(templates);
                }
            }
            None => self.document.problem(
                &(0..0),
                "the file has no `templates`".to_owned(),
                Some("write [templates], and below it: my-model = \"chat_template.jinja\"".into()),
            ),
        }
        if let Some(item) = table.get("cases")
            && let Some(cases) = self.document.table(item, "`cases`")
        {
            self.cases(cases, &mut configuration);
        }
        if let Some(item) = table.get("engines")
            && let Some(engines) = self.document.table(item, "`engines`")
        {
            self.document
                .check_keys(engines, "`engines`", &ENGINES_KEYS);
            for dialect in Dialect::ALL {
                if let Some(item) = engines.get(dialect.name())
                    && let Some(engine) = self.document.string(item, "the engine of a dialect")
                {
                    configuration.engines.insert(dialect, engine);
                }
            }
        }
        if let Some(item) = table.get("contracts")
            && let Some(name) = self.document.string(item, "`contracts`")
        {
            if let Some(rule) = CardRule::named(&name) {
                configuration.contracts = rule;
            } else {
                let names = CardRule::ALL.map(CardRule::name);
                let help = did_you_mean(&name, names)
                    .unwrap_or_else(|| format!("there are {}", names.join(", ")));
                let message = format!("`contracts` cannot be `{name}`");
                self.document.problem(&item.span(), message, Some(help));
            }
        }
        if let Some(item) = table.get("coverage")
            && let Some(coverage) = self.document.table(item, "`coverage`")
        {
            self.document
                .check_keys(coverage, "`coverage`", &COVERAGE_KEYS);
            configuration.least_coverage = coverage
                .get("at_least")
                .and_then(|item| self.percent(item, "`at_least`"));
        }
        if let Some(item) = table.get("snapshots")
            && let Some(folder) = self.document.string(item, "`snapshots`")
        {
            configuration.snapshots = self.below(&folder, item);
        } else {
            self.hold_below(&configuration.snapshots, "snapshots", &(0..0));
        }
        configuration
    }

    /// A whole number from 0 to 100.
    fn percent(&mut self, item: &Item<'t>, what: &str) -> Option<u8> {
        let number = self.document.json(item, what)?;
        let number = number.as_u64().and_then(|number| u8::try_from(number).ok());
        let percent = number.filter(|number| *number <= 100);
        if percent.is_none() {
            let message = format!("{what} must be a whole number from 0 to 100");
            self.document.problem(&item.span(), message, None);
        }
        percent
    }

    fn templates(&mut self, templates: &DeTable<'t>) -> Vec<ConfiguredTemplate> {
        let mut configured = Vec::new();
        if templates.len() > MOST_TEMPLATES {
            let message = format!(
                "{} templates, where at most {MOST_TEMPLATES} are expected",
                templates.len()
            );
            self.document.problem(&(0..0), message, None);
            return configured;
        }
        let names = templates.keys().map(|key| key.get_ref().to_string());
        self.templates = names.collect();
        for (key, item) in templates {
            let name = TemplateName::new(key.get_ref());
            if !naming::is_plain(&name) {
                let message = format!("`{name}` cannot be the name of a folder on every system");
                let help = format!(
                    "at most {} lower-case letters, digits, dots, dashes and underscores",
                    naming::MOST_CHARACTERS
                );
                self.document.problem(&key.span(), message, Some(help));
            }
            configured.extend(self.template(name, &key.span(), item));
        }
        configured
    }

    fn template(
        &mut self,
        name: TemplateName,
        key: &Range<usize>,
        item: &Item<'t>,
    ) -> Option<ConfiguredTemplate> {
        let what = format!("the template `{name}`");
        if let Some(source) = item.get_ref().as_str() {
            return Some(self.configured(name, source.to_owned(), &item.span()));
        }
        let table = self
            .document
            .table(item, &format!("{what}, unless it is a text,"))?;
        self.document.check_keys(table, &what, &TEMPLATE_KEYS);
        let Some(source) = table.get("source") else {
            let message = format!("{what} has no `source`");
            let help = "write where it is: source = \"chat_template.jinja\"";
            self.document.problem(key, message, Some(help.to_owned()));
            return None;
        };
        let text = self.document.string(source, "`source`")?;
        let mut configured = self.configured(name, text, &source.span());
        for (name, item) in self.entries(table, "special_tokens") {
            if let Some(token) = self.document.string(item, &format!("the token `{name}`")) {
                configured.special_tokens.insert(name, Value::String(token));
            }
        }
        for (name, item) in self.entries(table, "variables") {
            if let Some(variable) = self.variable(item, &name) {
                configured.variables.push((name, variable));
            }
        }
        for (name, item) in self.entries(table, "broken") {
            if let Some(why) = self.reason(item, &name) {
                match contract::find(&name) {
                    Ok(contract) => configured.broken.push(Reason {
                        contract,
                        why,
                        position: self.document.position(&item.span()),
                    }),
                    Err(message) => {
                        let message = format!("`broken`: {message}");
                        self.document.problem(&item.span(), message, None);
                    }
                }
            }
        }
        configured.base = self.base(table, &configured);
        if let Some(item) = table.get("family") {
            configured.family = self.document.string(item, "`family`");
        }
        if let Some(item) = table.get("front") {
            configured.front = self.front(item);
        }
        Some(configured)
    }

    fn configured(
        &mut self,
        name: TemplateName,
        source: String,
        span: &Range<usize>,
    ) -> ConfiguredTemplate {
        let local = self.root.join(&source);
        self.hold_below(&local, &source, span);
        ConfiguredTemplate {
            name,
            local: Ok(local),
            source,
            position: self.document.position(span),
            special_tokens: Map::new(),
            variables: Vec::new(),
            front: None,
            family: None,
            broken: Vec::new(),
            base: None,
        }
    }

    /// The base of a template, and what belongs to it.
    fn base(
        &mut self,
        table: &DeTable<'t>,
        configured: &ConfiguredTemplate,
    ) -> Option<ConfiguredBase> {
        let Some(item) = table.get("base") else {
            for key in ["base_tokens", "differs"] {
                if let Some(item) = table.get(key) {
                    let message = format!("`{key}` says something about a base, and there is none");
                    let help = "write where it is: base = \"hf:ORG/NAME\"".to_owned();
                    self.document.problem(&item.span(), message, Some(help));
                }
            }
            return None;
        };
        let text = self.document.string(item, "`base`")?;
        let local = self.root.join(&text);
        let source = if text.contains(':') {
            PathBuf::from(&text)
        } else if is_there(&local) || !self.templates.contains(&text) {
            self.hold_below(&local, &text, &item.span());
            if !is_there(&local) {
                let message = format!("`base`: no such file or folder: {text}");
                self.document.problem(&item.span(), message, None);
            }
            local
        } else {
            PathBuf::from(&text)
        };
        if is_itself(&source, &text, configured) {
            let message = format!("`base` is the template itself: {text}");
            let help = "name the template that it was made from".to_owned();
            self.document.problem(&item.span(), message, Some(help));
        }
        let mut base = ConfiguredBase {
            source,
            position: self.document.position(&item.span()),
            tokens: Vec::new(),
            differs: Vec::new(),
        };
        for (token, item) in self.entries(table, "base_tokens") {
            let what = format!("the token instead of `{token}`");
            if let Some(own) = self.document.string(item, &what) {
                base.tokens.push((token, own));
            }
        }
        for (what, item) in self.entries(table, "differs") {
            let Some(why) = self.reason(item, &what) else {
                continue;
            };
            match KnownDifference::new(&what, why) {
                Ok(known) => base.differs.push(known),
                Err(error) => self.document.problem(&item.span(), error.to_string(), None),
            }
        }
        Some(base)
    }

    /// The reason for something. Without words it is none.
    fn reason(&mut self, item: &Item<'t>, of: &str) -> Option<String> {
        let why = self
            .document
            .string(item, &format!("the reason for `{of}`"))?;
        if !is_reason(&why) {
            let message = format!("the reason for `{of}` is not filled in");
            let help = "say why in a sentence".to_owned();
            self.document.problem(&item.span(), message, Some(help));
            return None;
        }
        Some(why)
    }

    /// The entries of a table in a table, if it is there.
    fn entries<'a>(&mut self, table: &'a DeTable<'t>, key: &str) -> Vec<(String, &'a Item<'t>)> {
        let Some(item) = table.get(key) else {
            return Vec::new();
        };
        let Some(entries) = self.document.table(item, &format!("`{key}`")) else {
            return Vec::new();
        };
        let entries = entries.iter();
        entries
            .map(|(key, item)| (key.get_ref().to_string(), item))
            .collect()
    }

    fn variable(&mut self, item: &Item<'t>, name: &str) -> Option<Variable> {
        let value = self
            .document
            .json(item, &format!("the variable `{name}`"))?;
        let Some(source) = value.get("$json") else {
            return Some(Variable::Value(value));
        };
        let indent = value.get("indent").map(Value::as_u64);
        let is_known = |object: &Map<String, Value>| {
            let mut keys = object.keys();
            keys.all(|key| ["$json", "indent"].contains(&key.as_str()))
        };
        let indent = match indent {
            None => None,
            Some(Some(indent @ 0..=16)) => usize::try_from(indent).ok(),
            Some(_) => {
                let message = "`indent` must be a number from 0 to 16".to_owned();
                self.document.problem(&item.span(), message, None);
                return None;
            }
        };
        if source != "tools" || !value.as_object().is_some_and(is_known) {
            let message = "a generated variable is { \"$json\" = \"tools\", indent = 4 }, with or \
                           without the indent"
                .to_owned();
            self.document.problem(&item.span(), message, None);
            return None;
        }
        Some(Variable::ToolsJson { indent })
    }

    fn front(&mut self, item: &Item<'t>) -> Option<(Front, Position)> {
        let name = self.document.string(item, "`front`")?;
        match name.parse::<Front>() {
            Ok(front) => Some((front, self.document.position(&item.span()))),
            Err(error) => {
                let names = Front::ALL.map(Front::name);
                let help = did_you_mean(&name, names)
                    .unwrap_or_else(|| format!("there are {}", names.join(", ")));
                self.document
                    .problem(&item.span(), error.to_string(), Some(help));
                None
            }
        }
    }

    fn cases(&mut self, table: &DeTable<'t>, configuration: &mut Configuration) {
        self.document.check_keys(table, "`cases`", &CASES_KEYS);
        if let Some(item) = table.get("builtin") {
            configuration.builtin.with = self.patterns(item, "`builtin`");
        }
        if let Some(item) = table.get("without") {
            configuration.builtin.without = self.patterns(item, "`without`");
        }
        if let Some(item) = table.get("own") {
            configuration.own.clear();
            for (path, span) in self.document.strings(item, "`own`") {
                let local = self.root.join(&path);
                if is_there(&local) {
                    self.hold_below(&local, &path, &span);
                    configuration.own.push(local);
                } else {
                    let message = format!("no such file or folder: {path}");
                    self.document.problem(&span, message, None);
                }
            }
        }
    }

    fn patterns(&mut self, item: &Item<'t>, what: &str) -> Vec<CasePattern> {
        let mut patterns = Vec::new();
        for (text, span) in self.document.strings(item, what) {
            match Wildcard::new(&text) {
                Ok(wildcard) => patterns.push(CasePattern {
                    wildcard,
                    text,
                    position: self.document.position(&span),
                }),
                Err(error) => self.document.problem(&span, error.to_string(), None),
            }
        }
        patterns
    }

    /// Reports a file or folder that is outside of the file's folder, also by a link. Nothing
    /// outside is read or written because a file asks for it.
    fn hold_below(&mut self, local: &Path, written: &str, span: &Range<usize>) {
        // A folder that will be made may be below a link.
        let Some(local) = local.ancestors().find(|path| is_there(path)) else {
            return;
        };
        let bound = self.bound.as_ref().map_err(Clone::clone);
        let Err(problem) = bound.and_then(|bound| bound.has(local)) else {
            return;
        };
        let message = if local.canonicalize().is_ok() {
            format!("`{written}` is outside of the folder of this file")
        } else {
            format!("`{written}`: {}", problem.message)
        };
        let help = "a suite uses what is in its own folder: move it there, or move this file to a \
                    folder above both";
        self.document.problem(span, message, Some(help.to_owned()));
    }

    /// A folder below the file's folder: nothing is written elsewhere.
    fn below(&mut self, folder: &str, item: &Item<'t>) -> PathBuf {
        let path = Path::new(folder);
        let is_plain = |part: std::path::Component<'_>| {
            matches!(
                part,
                std::path::Component::Normal(_) | std::path::Component::CurDir
            )
        };
        if folder.is_empty() || !path.components().all(is_plain) {
            let message = format!("`{folder}` is not a folder below this one");
            self.document.problem(&item.span(), message, None);
        }
        let path = self.root.join(path);
        self.hold_below(&path, folder, &item.span());
        path
    }
}
