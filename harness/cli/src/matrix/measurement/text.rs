//! The files of measurements.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use rolecall_core::{CaseId, Dialect, OutcomeKind, TemplateName};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::kept::{self, Kept, help, own_folder};
use super::results::{
    ConstructResult, ConstructResults, DifferenceGroup, DifferingPair, Example, FamilyResult,
    LoadError, Measurement, TemplateResult, Totals,
};
use super::suite_version::SuiteVersion;
use rolecall_core::file::{read_text, write_below};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::json;
use rolecall_core::naming::is_portable;
use rolecall_core::problem::Problem;
use rolecall_core::rows::{self, Row};
use rolecall_suite::conclusion::Share;
use rolecall_suite::layout::Layout;
use rolecall_suite::reference::Identity;

/// The name of the file for an engine and its version. None if these cannot be the name of a file
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

impl Kept for Measurement {
    const FOLDER: &'static str = "";

    fn read(path: &Path) -> Result<Measurement, Problem> {
        read(path)
    }

    fn text(&self) -> String {
        self.text()
    }

    fn name(&self) -> String {
        self.name()
    }
}

/// All measurements over a suite, by name, and the problems with the files that cannot be read.
pub fn read_all(layout: &Layout) -> (Vec<Measurement>, Vec<Problem>) {
    kept::all(layout)
}

/// The problems with the files of a suite's measurements. A measurement that is out of date is
/// none.
pub fn problems(layout: &Layout) -> Vec<Problem> {
    kept::problems::<Measurement>(layout)
}

pub fn read(path: &Path) -> Result<Measurement, Problem> {
    let text = read_text(path)?;
    let what = "the measurement of an engine";
    let file: File = json::read(path, &text, what).map_err(|problem| problem.help(help()))?;
    let measurement = file.into_measurement();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if file_name(&measurement.engine).as_deref() == Some(&*name) {
        Ok(measurement)
    } else {
        let message = format!(
            "the measurement of {}, in a file with another name",
            measurement.engine
        );
        Err(Problem::new(path, message).help(help()))
    }
}

/// The file's contents. Figures that can be counted from the rest are written, but not read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    engine: Row<Identity>,
    dialect: Named<Dialect>,
    reference: Row<Identity>,
    pairs_per_second: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    deaths: usize,
    agreement: Row<Map<String, Value>>,
    templates: BTreeMap<String, Row<TemplateLine>>,
    families: BTreeMap<String, Row<FamilyLine>>,
    differences: Vec<GroupLines>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constructs: Option<ConstructLines>,
    /// The checksum of the text before it.
    #[serde(rename = "checksum", skip_serializing)]
    _checksum: Fingerprint,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes it so
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateLine {
    sha256: Fingerprint,
    answers: Fingerprint,
    prompts: usize,
    refusals: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyLine {
    sha256: Fingerprint,
    prompts: usize,
    refusals: usize,
}

/// Cases with one cause: template, the reference's outcome, family, and the names of the cases.
type CaseRow = (String, Named<OutcomeKind>, String, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupLines {
    found: Named<OutcomeKind>,
    cause: String,
    pairs: usize,
    example: ExampleLine,
    cases: Vec<Row<CaseRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExampleLine {
    template: String,
    case: Named<CaseId>,
    expected: String,
    found: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstructLines {
    sha256: Fingerprint,
    all: usize,
    /// The outcome, its text, and the names of the constructs.
    differ: Vec<Row<(Named<OutcomeKind>, String, String)>>,
}

/// A value that the file has as a name.
struct Named<T>(T);

impl<T: Display> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Named<Dialect> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, "a dialect", Dialect::named)
    }
}

impl<'de> Deserialize<'de> for Named<OutcomeKind> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, "an outcome", OutcomeKind::named)
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
    fn of(measurement: &Measurement) -> File {
        let Measurement { suite, dialect, .. } = measurement;
        let share = |Share { agree, all }| Value::from(vec![agree, all]);
        let unknown = || Fingerprint::of("");
        let templates = measurement.templates.iter().map(|(name, template)| {
            let kept = suite.templates.get(name).copied();
            let [sha256, answers] = kept.unwrap_or_else(|| [unknown(); 2]);
            let refused = template.refused.as_ref();
            let line = TemplateLine {
                sha256,
                answers,
                prompts: template.totals.prompts,
                refusals: template.totals.refusals,
                refused: refused.map(|refused| refused.message.clone()),
                line: refused.and_then(|refused| refused.line),
            };
            (name.to_string(), Row(line))
        });
        let families = measurement.families.iter().map(|(name, family)| {
            let line = FamilyLine {
                sha256: suite.families.get(name).copied().unwrap_or_else(unknown),
                prompts: family.totals.prompts,
                refusals: family.totals.refusals,
            };
            (name.clone(), Row(line))
        });
        let constructs = measurement.constructs.as_ref().zip(suite.constructs);
        File {
            engine: Row(measurement.engine.clone()),
            dialect: Named(*dialect),
            reference: Row(suite.reference.clone()),
            pairs_per_second: measurement.pairs_per_second,
            deaths: measurement.deaths,
            agreement: Row(Map::from_iter([
                ("templates".to_owned(), share(measurement.loaded())),
                ("prompts".to_owned(), share(measurement.prompts())),
                (
                    "prompts_of_loaded".to_owned(),
                    share(measurement.prompts_of_loaded()),
                ),
                ("refusals".to_owned(), share(measurement.refusals())),
            ])),
            templates: templates.collect(),
            families: families.collect(),
            differences: measurement.groups.iter().map(GroupLines::of).collect(),
            constructs: constructs
                .map(|(constructs, sha256)| ConstructLines::of(constructs, sha256, *dialect)),
            _checksum: unknown(),
        }
    }

    fn into_measurement(self) -> Measurement {
        let mut suite = SuiteVersion {
            reference: self.reference.0,
            templates: BTreeMap::new(),
            families: BTreeMap::new(),
            constructs: self.constructs.as_ref().map(|lines| lines.sha256),
        };
        let totals = |prompts, refusals| Totals { prompts, refusals };
        let mut templates = BTreeMap::new();
        for (name, Row(line)) in self.templates {
            let name = TemplateName::new(&name);
            suite
                .templates
                .insert(name.clone(), [line.sha256, line.answers]);
            let of_template = TemplateResult {
                totals: totals(line.prompts, line.refusals),
                refused: line.refused.map(|message| LoadError {
                    message,
                    line: line.line,
                }),
            };
            templates.insert(name, of_template);
        }
        let mut families = BTreeMap::new();
        for (name, Row(line)) in self.families {
            suite.families.insert(name.clone(), line.sha256);
            let totals = totals(line.prompts, line.refusals);
            families.insert(name, FamilyResult { totals });
        }
        let dialect = self.dialect.0;
        let mut measurement = Measurement {
            engine: self.engine.0,
            dialect,
            pairs_per_second: self.pairs_per_second,
            deaths: self.deaths,
            suite,
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

/// Each group has several keys on a line.
impl Serialize for GroupLines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cases: Vec<_> = self.cases.iter().map(rows::line).collect();
        let text = format!(
            "{{\n      \"found\": {}, \"cause\": {}, \"pairs\": {},\n      \"example\": \
             {{\"template\": {}, \"case\": {},\n        \"expected\": {},\n        \"found\": \
             {}}},\n      \"cases\": [\n        {}\n      ]\n    }}",
            rows::line(&self.found),
            rows::line(&self.cause),
            self.pairs,
            rows::line(&self.example.template),
            rows::line(&self.example.case),
            rows::line(&self.example.expected),
            rows::line(&self.example.found),
            cases.join(",\n        "),
        );
        let text = RawValue::from_string(text).map_err(S::Error::custom)?;
        text.serialize(serializer)
    }
}

impl GroupLines {
    fn of(group: &DifferenceGroup) -> GroupLines {
        let mut lines: BTreeMap<(&TemplateName, OutcomeKind, &str), Vec<String>> = BTreeMap::new();
        for pair in &group.pairs {
            let line = (&pair.template, pair.expected, pair.case.family());
            let case = match &pair.gave {
                Some(gave) => format!("{}:{gave}", pair.case.name()),
                None => pair.case.name().to_owned(),
            };
            lines.entry(line).or_default().push(case);
        }
        let lines = lines
            .into_iter()
            .map(|((template, expected, family), cases)| {
                Row((
                    template.to_string(),
                    Named(expected),
                    family.to_owned(),
                    cases.join(" "),
                ))
            });
        let Example {
            template,
            case,
            expected,
            found,
        } = &group.example;
        GroupLines {
            found: Named(group.found),
            cause: group.cause.clone(),
            pairs: group.pairs.len(),
            example: ExampleLine {
                template: template.to_string(),
                case: Named(case.clone()),
                expected: expected.clone(),
                found: found.clone(),
            },
            cases: lines.collect(),
        }
    }

    fn into_group(self) -> DifferenceGroup {
        let mut pairs = Vec::new();
        for Row((template, expected, family, cases)) in self.cases {
            for case in cases.split(' ') {
                let (name, gave) = match case.split_once(':') {
                    Some((name, gave)) => (name, Some(gave.to_owned())),
                    None => (case, None),
                };
                pairs.push(DifferingPair {
                    template: TemplateName::new(&template.clone()),
                    case: CaseId::new(&family, name),
                    expected: expected.0,
                    gave,
                });
            }
        }
        DifferenceGroup {
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
    fn of(constructs: &ConstructResults, sha256: Fingerprint, dialect: Dialect) -> ConstructLines {
        let mut names: BTreeMap<(OutcomeKind, &str), Vec<&str>> = BTreeMap::new();
        let prefix = format!("{dialect}-");
        for (name, found) in &constructs.differ {
            let name = name.strip_prefix(&prefix).unwrap_or(name);
            let line = (found.outcome, found.shown.as_str());
            names.entry(line).or_default().push(name);
        }
        let lines = names.into_iter().map(|((outcome, shown), names)| {
            Row((Named(outcome), shown.to_owned(), names.join(" ")))
        });
        ConstructLines {
            sha256,
            all: constructs.all,
            differ: lines.collect(),
        }
    }

    fn into_constructs(self, dialect: Dialect) -> ConstructResults {
        let mut differ = BTreeMap::new();
        for Row((outcome, shown, names)) in self.differ {
            for name in names.split(' ') {
                let found = ConstructResult {
                    outcome: outcome.0,
                    shown: shown.clone(),
                };
                differ.insert(format!("{dialect}-{name}"), found);
            }
        }
        ConstructResults {
            all: self.all,
            differ,
        }
    }
}

/// Writes a file that must not leave a folder.
pub(crate) fn write(within: &Path, path: &Path, text: String) -> Result<(), Problem> {
    let whole = |path: &Path| std::path::absolute(Path::new(".").join(path));
    let refused = |error| Problem::new(path, format!("cannot be written: {error}"));
    let (within, file) = (whole(within), whole(path));
    write_below(&within.map_err(refused)?, &file.map_err(refused)?, text)
}

/// A text with its checksum at its end: it shows changes by hand that nobody else would notice.
pub(crate) fn checked(whole: &str) -> String {
    let whole = whole.trim_end_matches("\n}\n");
    let checksum = Fingerprint::of(whole);
    format!("{whole},\n  \"checksum\": \"{checksum}\"\n}}\n")
}

impl Measurement {
    /// The file's text. Each template, each family, and each family's cases with one difference
    /// have one line.
    pub fn text(&self) -> String {
        checked(&rows::text(&File::of(self)))
    }

    /// Writes the measurement's file into a suite, or over the built-in suite into
    /// `rolecall-engines` of the user's folder. Returns its path, and whether it changed. Another speed alone is no change.
    pub fn write(&self, layout: &Layout) -> Result<(PathBuf, bool), Problem> {
        let (folder, within) = own_folder(layout);
        let name = file_name(&self.engine).ok_or_else(|| {
            let message = format!("{} cannot be the name of a file", self.name());
            Problem::new(&folder, message)
                .help("an engine says its name and its version in the first answer of the protocol")
        })?;
        let path = folder.join(name);
        if read(&path).is_ok_and(|kept| kept.is_same(self)) {
            return Ok((path, false));
        }
        write(&within, &path, self.text())?;
        Ok((path, true))
    }

    /// Whether both measurements say the same, apart from their speeds.
    pub fn is_same(&self, other: &Measurement) -> bool {
        let timeless = |one: &Measurement| Measurement {
            pairs_per_second: 0,
            deaths: 0,
            ..one.clone()
        };
        timeless(self) == timeless(other)
    }
}
