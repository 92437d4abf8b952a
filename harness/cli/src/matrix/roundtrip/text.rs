//! The files of these measurements.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rolecall_answers::returned::{Kind, KindCounts};
use rolecall_core::TemplateName;
use rolecall_core::file::read_text;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::json;
use rolecall_core::problem::Problem;
use rolecall_core::rows::{self, Row};
use rolecall_suite::conclusion::Share;
use rolecall_suite::layout::Layout;
use rolecall_suite::reference::{Identity, Reference};
use serde::{Deserialize, Serialize};

use super::results::{Cause, Counted, RoundtripMeasurement};
use crate::matrix::measurement::kept::{self, Kept, ROUNDTRIP, help, own_folder};
use crate::matrix::measurement::{checked, file_name, write};

/// The file's contents.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    reader: Row<Identity>,
    cases: Fingerprint,
    templates: BTreeMap<String, TemplateLines>,
    /// The checksum of the text before it.
    #[serde(rename = "checksum", skip_serializing)]
    _checksum: Fingerprint,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateLines {
    sha256: Fingerprint,
    /// How many messages come back, and how many the template writes whole.
    back: usize,
    whole: usize,
    /// How many messages are of each kind.
    counts: Row<BTreeMap<String, usize>>,
    #[serde(default, skip_serializing_if = "is_zero")]
    streamed_otherwise: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    other_prompts: usize,
    /// Each cause: how many messages have it, the smallest of them, and the cause in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Row<(usize, String, String)>>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes it so
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl TemplateLines {
    fn of(counted: &Counted) -> TemplateLines {
        let counts = counted.counts.words().into_iter();
        let counts = counts.map(|(kind, count)| (kind.key().to_owned(), count));
        let causes = counted.causes.iter().map(|cause| {
            let example = cause.example.to_string();
            Row((cause.count, example, cause.words.clone()))
        });
        TemplateLines {
            sha256: counted.template,
            back: counted.share.agree,
            whole: counted.share.all,
            counts: Row(counts.collect()),
            streamed_otherwise: counted.streamed,
            other_prompts: counted.prompts,
            causes: causes.collect(),
        }
    }

    fn into_counted(self) -> Result<Counted, String> {
        let mut counts = KindCounts::default();
        for (key, count) in self.counts.0 {
            let kind = Kind::of_key(&key).ok_or_else(|| format!("`{key}` is not a kind"))?;
            counts.add(kind, count);
        }
        let causes = self.causes.into_iter().map(|Row((count, example, words))| {
            let example = example.parse();
            Ok(Cause {
                words,
                count,
                example: example.map_err(|error| format!("{error}"))?,
            })
        });
        Ok(Counted {
            template: self.sha256,
            counts,
            share: Share {
                agree: self.back,
                all: self.whole,
            },
            streamed: self.streamed_otherwise,
            prompts: self.other_prompts,
            causes: causes.collect::<Result<_, String>>()?,
        })
    }
}

impl RoundtripMeasurement {
    /// The file's text.
    pub fn text(&self) -> String {
        let templates = self.templates.iter();
        let templates =
            templates.map(|(name, counted)| (name.to_string(), TemplateLines::of(counted)));
        checked(&rows::text(&File {
            reader: Row(self.reader.clone()),
            cases: self.cases,
            templates: templates.collect(),
            _checksum: Fingerprint::of(""),
        }))
    }

    /// Writes the measurement's file into a suite, or over the built-in suite into the user's folder.
    /// Returns its path, and whether it changed.
    pub fn write(&self, layout: &Layout) -> Result<(PathBuf, bool), Problem> {
        let (folder, within) = own_folder(layout);
        let folder = folder.join(ROUNDTRIP);
        let name = file_name(&self.reader).ok_or_else(|| {
            let message = format!("{} cannot be the name of a file", self.name());
            Problem::new(&folder, message).help("a reader has a name and a version")
        })?;
        let path = folder.join(name);
        if read(&path).is_ok_and(|kept| kept == *self) {
            return Ok((path, false));
        }
        write(&within, &path, self.text())?;
        Ok((path, true))
    }
}

impl Kept for RoundtripMeasurement {
    const FOLDER: &'static str = ROUNDTRIP;

    fn read(path: &Path) -> Result<RoundtripMeasurement, Problem> {
        read(path)
    }

    fn text(&self) -> String {
        self.text()
    }

    fn name(&self) -> String {
        self.name()
    }
}

/// All of these measurements over a suite, those of references first, then by name, and the problems
/// with the files that cannot be read.
pub fn read_all(layout: &Layout) -> (Vec<RoundtripMeasurement>, Vec<Problem>) {
    let (mut measurements, problems) = kept::all(layout);
    // The others are next to the references. Sorting keeps their order.
    let is_other = |one: &RoundtripMeasurement| Reference::by_name(&one.reader.engine).is_none();
    measurements.sort_by_key(is_other);
    (measurements, problems)
}

/// The problems with the files of a suite's measurements of this kind.
pub fn problems(layout: &Layout) -> Vec<Problem> {
    kept::problems::<RoundtripMeasurement>(layout)
}

pub fn read(path: &Path) -> Result<RoundtripMeasurement, Problem> {
    let text = read_text(path)?;
    let wrong = |message: String| {
        Problem::new(path, format!("not the measurement of a reader: {message}")).help(help())
    };
    let what = "the measurement of a reader";
    let file: File = json::read(path, &text, what).map_err(|problem| problem.help(help()))?;
    let mut templates = BTreeMap::new();
    for (name, lines) in file.templates {
        let counted = lines.into_counted().map_err(wrong)?;
        templates.insert(TemplateName::new(&name), counted);
    }
    let measurement = RoundtripMeasurement {
        reader: file.reader.0,
        cases: file.cases,
        templates,
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if file_name(&measurement.reader).as_deref() != Some(&*name) {
        let reader = &measurement.reader;
        let message = format!("the measurement of {reader}, in a file with another name");
        return Err(Problem::new(path, message).help(help()));
    }
    Ok(measurement)
}
