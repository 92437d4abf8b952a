//! Measurements as files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rolecall_model::{CaseId, Dialect, OutcomeKind, TemplateName};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::asked::Asked;
use super::kept::{
    Constructs, Differing, Example, Found, Group, Measurement, OfFamily, OfTemplate, Refused,
    Share, Totals,
};
use crate::file::{is_draft, read_text, write_below};
use crate::fingerprint::Fingerprint;
use crate::invocation;
use crate::json::syntax_problem;
use crate::layout::Layout;
use crate::naming::is_portable;
use crate::problem::{Position, Problem};
use crate::reference::Identity;

/// The folder of the measurements of a suite.
pub fn folder(layout: &Layout) -> PathBuf {
    layout.snapshots().join("engines")
}

/// The name of the file of an engine in a version; none where these cannot be the name of a file
/// on every system.
pub fn file_name(engine: &Identity) -> Option<String> {
    let plain = |text: &str| -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        let kept = text.chars().map(|c| if allowed(c) { c } else { '-' });
        kept.collect::<String>().trim_matches(['-', '.']).to_owned()
    };
    let name = format!("{}@{}", plain(&engine.engine), plain(&engine.version));
    let is_name = !name.starts_with('@') && is_portable(&name);
    is_name.then(|| format!("{name}.json"))
}

/// All measurements of a suite, by name, and what is wrong with the files of others.
pub fn read_all(layout: &Layout) -> (Vec<Measurement>, Vec<Problem>) {
    let folder = folder(layout);
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| !is_draft(&path.file_name().unwrap_or_default().to_string_lossy()));
    paths.sort();
    let mut measurements = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        match read(&path) {
            Ok(measurement) => measurements.push(measurement),
            Err(problem) => problems.push(problem),
        }
    }
    measurements.sort_by_key(Measurement::name);
    (measurements, problems)
}

/// What is wrong with the files of a suite's measurements, besides that the suite has changed
/// since.
pub fn problems(layout: &Layout) -> Vec<Problem> {
    let folder = folder(layout);
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let paths =
        paths.filter(|path| !is_draft(&path.file_name().unwrap_or_default().to_string_lossy()));
    let problem = |path: PathBuf| match read(&path) {
        Err(problem) => Some(problem),
        Ok(measurement) if read_text(&path).ok() != Some(measurement.text()) => {
            let message = "not as it was written: someone has edited it";
            Some(Problem::new(path, message).help(help()))
        }
        Ok(_) => None,
    };
    paths.filter_map(problem).collect()
}

fn help() -> String {
    format!(
        "it is written by `{}`, never by hand",
        invocation::command("matrix update")
    )
}

/// Reads a measurement.
pub fn read(path: &Path) -> Result<Measurement, Problem> {
    let text = read_text(path)?;
    let file: File = serde_json::from_str(&text).map_err(|error: serde_json::Error| {
        if !error.is_data() {
            return syntax_problem(path, &text, &error);
        }
        let message = error.to_string();
        let message = message
            .rsplit_once(" at line ")
            .map_or(&*message, |(words, _)| words);
        Problem::new(path, format!("not the measurement of an engine: {message}"))
            .at(Position {
                line: error.line().max(1),
                column: error.column().max(1),
            })
            .help(help())
    })?;
    let measurement = file.into_measurement();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if file_name(&measurement.engine).as_deref() == Some(&*name) {
        Ok(measurement)
    } else {
        let message = format!(
            "the measurement of {} under another name",
            measurement.engine
        );
        Err(Problem::new(path, message).help(help()))
    }
}

/// A file as it is read. What can be counted is not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    engine: Identity,
    dialect: Named<Dialect>,
    reference: Identity,
    pairs_per_second: usize,
    #[serde(rename = "agreement")]
    _agreement: Map<String, Value>,
    templates: BTreeMap<String, TemplateLine>,
    families: BTreeMap<String, FamilyLine>,
    differences: Vec<GroupLines>,
    constructs: Option<ConstructLines>,
    #[serde(rename = "checksum")]
    _checksum: Fingerprint,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateLine {
    sha256: Fingerprint,
    answers: Fingerprint,
    prompts: usize,
    refusals: usize,
    refused: Option<String>,
    line: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyLine {
    sha256: Fingerprint,
    prompts: usize,
    refusals: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupLines {
    found: Named<OutcomeKind>,
    cause: String,
    #[serde(rename = "pairs")]
    _pairs: usize,
    example: ExampleLine,
    /// Template, what the reference did, family, and the names of cases.
    cases: Vec<(String, Named<OutcomeKind>, String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExampleLine {
    template: String,
    case: Named<CaseId>,
    expected: String,
    found: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstructLines {
    sha256: Fingerprint,
    all: usize,
    /// What came of it, in which words, and the names of the constructs.
    differ: Vec<(Named<OutcomeKind>, String, String)>,
}

/// Something that files name.
struct Named<T>(T);

impl<'de> Deserialize<'de> for Named<Dialect> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, "a dialect", |name| {
            Dialect::ALL
                .into_iter()
                .find(|dialect| dialect.name() == name)
        })
    }
}

impl<'de> Deserialize<'de> for Named<OutcomeKind> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, "an outcome", |name| {
            OutcomeKind::ALL
                .into_iter()
                .find(|kind| kind.name() == name)
        })
    }
}

impl<'de> Deserialize<'de> for Named<CaseId> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, "a case", |name| name.parse().ok())
    }
}

fn named<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    what: &str,
    find: impl Fn(&str) -> Option<T>,
) -> Result<Named<T>, D::Error> {
    let name = String::deserialize(deserializer)?;
    find(&name)
        .map(Named)
        .ok_or_else(|| serde::de::Error::custom(format!("`{name}` is not {what}")))
}

impl File {
    fn into_measurement(self) -> Measurement {
        let mut asked = Asked {
            reference: self.reference,
            templates: BTreeMap::new(),
            families: BTreeMap::new(),
            constructs: self.constructs.as_ref().map(|lines| lines.sha256),
        };
        let totals = |prompts, refusals| Totals { prompts, refusals };
        let mut templates = BTreeMap::new();
        for (name, line) in self.templates {
            let name = TemplateName::new(&name);
            asked
                .templates
                .insert(name.clone(), [line.sha256, line.answers]);
            let of_template = OfTemplate {
                totals: totals(line.prompts, line.refusals),
                refused: line.refused.map(|message| Refused {
                    message,
                    line: line.line,
                }),
            };
            templates.insert(name, of_template);
        }
        let mut families = BTreeMap::new();
        for (name, line) in self.families {
            asked.families.insert(name.clone(), line.sha256);
            let totals = totals(line.prompts, line.refusals);
            families.insert(name, OfFamily { totals });
        }
        let dialect = self.dialect.0;
        let mut measurement = Measurement {
            engine: self.engine,
            dialect,
            pairs_per_second: self.pairs_per_second,
            asked,
            templates,
            families,
            groups: self
                .differences
                .into_iter()
                .map(GroupLines::into_group)
                .collect(),
            constructs: self.constructs.map(|lines| lines.into_constructs(dialect)),
        };
        measurement.settle();
        measurement
    }
}

impl GroupLines {
    fn into_group(self) -> Group {
        let mut pairs = Vec::new();
        for (template, expected, family, cases) in self.cases {
            for case in cases.split(' ') {
                let (name, gave) = match case.split_once(':') {
                    Some((name, gave)) => (name, Some(gave.to_owned())),
                    None => (case, None),
                };
                pairs.push(Differing {
                    template: TemplateName::new(&template.clone()),
                    case: CaseId::new(&family, name),
                    expected: expected.0,
                    gave,
                });
            }
        }
        Group {
            found: self.found.0,
            cause: self.cause,
            example: Example {
                template: TemplateName::new(&self.example.template),
                case: self.example.case.0,
                expected: self.example.expected,
                found: self.example.found,
            },
            pairs,
        }
    }
}

impl ConstructLines {
    fn into_constructs(self, dialect: Dialect) -> Constructs {
        let mut differ = BTreeMap::new();
        for (outcome, shown, names) in self.differ {
            for name in names.split(' ') {
                let found = Found {
                    outcome: outcome.0,
                    shown: shown.clone(),
                };
                differ.insert(format!("{dialect}-{name}"), found);
            }
        }
        Constructs {
            all: self.all,
            differ,
        }
    }
}

impl Measurement {
    /// The file's text: a line for each template, for each family, and for the cases of a family
    /// in which the same differs.
    pub fn text(&self) -> String {
        let mut out = String::from("{\n");
        let identity = |identity: &Identity| {
            let components = identity.components.iter();
            let components: Vec<_> = components
                .map(|(name, version)| format!("{}: {}", quoted(name), quoted(version)))
                .collect();
            format!(
                "{{\"engine\": {}, \"version\": {}, \"components\": {{{}}}}}",
                quoted(&identity.engine),
                quoted(&identity.version),
                components.join(", ")
            )
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  \"engine\": {},", identity(&self.engine));
        let _ = writeln!(out, "  \"dialect\": \"{}\",", self.dialect);
        let _ = writeln!(out, "  \"reference\": {},", identity(&self.asked.reference));
        let _ = writeln!(out, "  \"pairs_per_second\": {},", self.pairs_per_second);
        let share = |Share { agree, all }| format!("[{agree}, {all}]");
        let _ = writeln!(
            out,
            "  \"agreement\": {{\"templates\": {}, \"prompts\": {}, \"prompts_of_loaded\": {}, \
             \"refusals\": {}}},",
            share(self.loaded()),
            share(self.prompts()),
            share(self.prompts_of_loaded()),
            share(self.refusals()),
        );
        let templates = self.templates.iter().map(|(name, template)| {
            let [source, answers] = self
                .asked
                .templates
                .get(name)
                .copied()
                .unwrap_or_else(|| [Fingerprint::of(""); 2]);
            let mut line = format!(
                "{}: {{\"sha256\": \"{source}\", \"answers\": \"{answers}\", {}",
                quoted(name.as_str()),
                counts(template.totals)
            );
            if let Some(refused) = &template.refused {
                let _ = write!(line, ", \"refused\": {}", quoted(&refused.message));
                if let Some(number) = refused.line {
                    let _ = write!(line, ", \"line\": {number}");
                }
            }
            line + "}"
        });
        object(&mut out, "templates", templates);
        let families = self.families.iter().map(|(name, family)| {
            let sha256 = self.asked.families.get(name).copied();
            let sha256 = sha256.unwrap_or_else(|| Fingerprint::of(""));
            let counts = counts(family.totals);
            format!("{}: {{\"sha256\": \"{sha256}\", {counts}}}", quoted(name))
        });
        object(&mut out, "families", families);
        out.push_str("  \"differences\": [");
        let mut before = "\n";
        for group in &self.groups {
            let _ = write!(out, "{before}{}", group.text());
            before = ",\n";
        }
        out.push_str(if self.groups.is_empty() { "]" } else { "\n  ]" });
        if let (Some(constructs), Some(sha256)) = (&self.constructs, self.asked.constructs) {
            let _ = write!(
                out,
                ",\n  \"constructs\": {{\n    \"sha256\": \"{sha256}\",\n    \"all\": {},\n    \
                 \"differ\": [",
                constructs.all
            );
            let lines = constructs.lines(self.dialect);
            let end = if lines.is_empty() { "]" } else { "\n    ]" };
            out.push_str(&lines.join(","));
            let _ = write!(out, "{end}\n  }}");
        }
        // What nobody would notice of a change by hand is noticed by this.
        let checksum = Fingerprint::of(&out);
        let _ = writeln!(out, ",\n  \"checksum\": \"{checksum}\"\n}}");
        out
    }

    /// Writes the file of a suite. Returns its path, and whether it is another one than before:
    /// that it took longer or shorter changes nothing.
    pub fn write(&self, layout: &Layout) -> Result<(PathBuf, bool), Problem> {
        let folder = folder(layout);
        let name = file_name(&self.engine).ok_or_else(|| {
            let message = format!("{} cannot be the name of a file", self.name());
            Problem::new(&folder, message)
                .help("an engine says its name and its version in the first answer of the protocol")
        })?;
        let path = folder.join(name);
        if read(&path).is_ok_and(|kept| kept.is_same(self)) {
            return Ok((path, false));
        }
        write_below(&layout.snapshots(), &path, self.text())?;
        Ok((path, true))
    }

    /// Whether it says the same as another, however long either took.
    pub fn is_same(&self, other: &Measurement) -> bool {
        let timeless = |one: &Measurement| Measurement {
            pairs_per_second: 0,
            ..one.clone()
        };
        timeless(self) == timeless(other)
    }
}

impl Group {
    fn text(&self) -> String {
        let Example {
            template,
            case,
            expected,
            found,
        } = &self.example;
        let mut out = format!(
            "    {{\n      \"found\": \"{}\", \"cause\": {}, \"pairs\": {},\n      \"example\": \
             {{\"template\": {}, \"case\": \"{case}\",\n        \"expected\": {},\n        \
             \"found\": {}}},\n      \"cases\": [",
            self.found,
            quoted(&self.cause),
            self.pairs.len(),
            quoted(template.as_str()),
            quoted(expected),
            quoted(found),
        );
        let mut lines: BTreeMap<(&TemplateName, OutcomeKind, &str), Vec<String>> = BTreeMap::new();
        for pair in &self.pairs {
            let line = (&pair.template, pair.expected, pair.case.family());
            let case = match &pair.gave {
                Some(gave) => format!("{}:{gave}", pair.case.name()),
                None => pair.case.name().to_owned(),
            };
            lines.entry(line).or_default().push(case);
        }
        let mut before = "\n";
        for ((template, expected, family), cases) in lines {
            let _ = write!(
                out,
                "{before}        [{}, \"{expected}\", \"{family}\", \"{}\"]",
                quoted(template.as_str()),
                cases.join(" ")
            );
            before = ",\n";
        }
        out + "\n      ]\n    }"
    }
}

impl Constructs {
    /// The lines of a file, each after a line break.
    fn lines(&self, dialect: Dialect) -> Vec<String> {
        let mut names: BTreeMap<(OutcomeKind, &str), Vec<&str>> = BTreeMap::new();
        let prefix = format!("{dialect}-");
        for (name, found) in &self.differ {
            let name = name.strip_prefix(&prefix).unwrap_or(name);
            let line = (found.outcome, found.shown.as_str());
            names.entry(line).or_default().push(name);
        }
        let lines = names.iter().map(|((outcome, shown), names)| {
            let (shown, names) = (quoted(shown), names.join(" "));
            format!("\n      [\"{outcome}\", {shown}, \"{names}\"]")
        });
        lines.collect()
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn counts(totals: Totals) -> String {
    let Totals { prompts, refusals } = totals;
    format!("\"prompts\": {prompts}, \"refusals\": {refusals}")
}

/// An object of one line for each of its keys.
fn object(out: &mut String, name: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.map(|line| format!("\n    {line}")).collect();
    let end = if lines.is_empty() { "" } else { "\n  " };
    let _ = writeln!(out, "  \"{name}\": {{{}{end}}},", lines.join(","));
}
