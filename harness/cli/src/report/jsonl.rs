//! JSON Lines: one object for each pair, for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rolecall_core::{Dialect, OutcomeKind};
use rolecall_io::outcome_json::OutcomeJson;
use serde::Serialize;

use rolecall_core::transcript;
use rolecall_suite::divergence::Listed;
use rolecall_suite::pair_mark::{PairMark, PairMarks};
use rolecall_suite::record::RecordedAnswer;
use rolecall_suite::run::{Compared, Rendered, Runner};
use rolecall_suite::snapshot::SnapshotStatus;
use rolecall_suite::verdict::{Difference, Verdict};

/// One line's object: what an engine did with a pair.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Outcome"))]
pub struct OutcomeLine<'l> {
    template: &'l str,
    case: String,
    engine: &'l str,
    /// The engine's version.
    #[serde(skip_serializing_if = "str::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    version: &'l str,
    /// The front that was before the template.
    front: &'static str,
    /// The template and the case that were rendered.
    sha256: PairMark,
    #[serde(flatten)]
    outcome: OutcomeJson<'l>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'l str>,
    /// Why no result of the reference is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    unverified: Option<String>,
    /// The reference's result, if the engine's is different.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<ReferenceOutcome>,
    /// The listed reason for the difference, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<&'l str>,
}

/// The reference's result: its text if that is known, otherwise its fingerprint.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Reference"))]
struct ReferenceOutcome {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl ReferenceOutcome {
    fn of(difference: &Difference) -> ReferenceOutcome {
        let kind = difference.expected.kind();
        let mut reference = ReferenceOutcome {
            outcome: kind.name(),
            text: None,
            message: None,
            sha256: None,
        };
        let whole = difference.transcript.as_ref();
        match whole.and_then(|text| transcript::decode(text).ok()) {
            Some(outcome) if kind == OutcomeKind::Rendered => {
                reference.text = Some(outcome.text().to_owned());
            }
            Some(outcome) => reference.message = Some(outcome.text().to_owned()),
            None => {
                if let RecordedAnswer::Checked(_, hash) = &difference.expected {
                    reference.sha256 = Some(hash.to_string());
                }
            }
        }
        reference
    }
}

#[derive(Default)]
pub struct LineWriter<'e> {
    marks: PairMarks,
    versions: BTreeMap<Dialect, &'e str>,
}

impl<'e> LineWriter<'e> {
    /// A writer for the outcomes of a runner.
    pub fn new(runner: &Runner<'e>) -> LineWriter<'e> {
        let engines = Dialect::ALL.into_iter();
        let version = |dialect| (dialect, runner.engine(dialect).version());
        LineWriter {
            marks: PairMarks::default(),
            versions: engines.map(version).collect(),
        }
    }

    fn line<'l>(&mut self, rendered: &'l Rendered<'_>) -> OutcomeLine<'l>
    where
        'e: 'l,
    {
        let pair = &rendered.pair;
        let version = self.versions.get(&pair.template.dialect);
        OutcomeLine {
            template: pair.template.name.as_str(),
            case: pair.case.id.to_string(),
            engine: rendered.engine,
            version: version.copied().unwrap_or_default(),
            front: pair.front().name(),
            sha256: self.marks.of(pair),
            outcome: OutcomeJson::from(&rendered.outcome),
            snapshot: None,
            verdict: None,
            unverified: None,
            reference: None,
            divergence: None,
        }
    }

    /// Writes an outcome:
    /// `{"template","case","engine","version","front","sha256","outcome","text"|"message","stage","line"}`.
    pub fn write_rendered(
        &mut self,
        out: &mut dyn Write,
        rendered: &Rendered<'_>,
    ) -> io::Result<()> {
        write_line(out, &self.line(rendered))
    }

    /// Writes an outcome, its comparison with the accepted snapshot (`same`, `changed`, `new`), and
    /// its verdict. If the verdict is `differs`, also writes the reference's result.
    pub fn write_compared(
        &mut self,
        out: &mut dyn Write,
        compared: &Compared<'_>,
    ) -> io::Result<()> {
        let mut line = self.line(&compared.rendered);
        line.snapshot = compared
            .comparison
            .as_ref()
            .map(|comparison| match comparison {
                SnapshotStatus::Same => "same",
                SnapshotStatus::Changed(_) => "changed",
                SnapshotStatus::New => "new",
                SnapshotStatus::Unreadable(_) => "unreadable",
            });
        line.verdict = Some(compared.verdict.name());
        match &compared.verdict {
            Verdict::Agrees => {}
            Verdict::Unverified(why) => line.unverified = Some(why.to_string()),
            Verdict::Differs(difference) => {
                line.reference = Some(ReferenceOutcome::of(difference));
                line.divergence = match &difference.listed {
                    Listed::Known { reason } => Some(reason),
                    Listed::No | Listed::Changed { .. } => None,
                };
            }
        }
        write_line(out, &line)
    }
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
