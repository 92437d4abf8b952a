//! Snapshots: accepted transcripts, one insta file for a template and a family.
//!
//! `snapshots/<template>/<family>.snap` has one section for each case of the family, in the
//! order of the case file: `sections` says how it is written. A transcript is compared byte
//! by byte. `<family>.reference.snap` beside it has the reference's own transcripts of the
//! cases in which an engine is listed to differ from it. `_card.snap` is the template's report
//! card, and `_readings.snap` says what is read back of its answers: the names of families begin
//! with a letter or a digit.

mod insta_file;
mod sections;

mod accepted;

mod survey;

use std::path::{Path, PathBuf};

use rolecall_model::{CaseId, Outcome, Template, TemplateName};

use crate::layout::Layout;
use crate::record::RecordedAnswer;
use crate::reference::Reference;
use crate::suite::Pair;
use rolecall_base::file::read_text;
use rolecall_base::problem::Problem;
use rolecall_base::transcript;

pub use accepted::{Accepted, SnapshotStatus};
pub use insta_file::contents;
pub use survey::Survey;

/// The folder of accepted transcripts.
#[derive(Debug, Clone)]
pub struct Snapshots {
    root: PathBuf,
    /// Whether they belong to a suite of one's own, which no insta test checks.
    are_own: bool,
}

/// The largest file of snapshots that is read: a family may have hundreds of cases, and a
/// prompt megabytes.
const MOST: u64 = 256 << 20;

impl Snapshots {
    /// The snapshots of a suite.
    pub fn of(layout: &Layout) -> Snapshots {
        Snapshots {
            root: layout.snapshots(),
            are_own: layout.configuration().is_some(),
        }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a template's snapshots.
    pub fn folder_of(&self, template: &TemplateName) -> PathBuf {
        self.root.join(template.as_str())
    }

    /// The file of a template and a family.
    pub fn file(&self, template: &TemplateName, family: &str) -> PathBuf {
        self.folder_of(template).join(format!("{family}.snap"))
    }

    /// The file with the reference's own transcripts, which a family with divergences has.
    pub fn reference_file(&self, template: &TemplateName, family: &str) -> PathBuf {
        self.folder_of(template)
            .join(format!("{family}.reference.snap"))
    }

    /// The file of a template's report card.
    pub fn card(&self, template: &TemplateName) -> PathBuf {
        self.folder_of(template).join(format!("{CARD}.snap"))
    }

    /// The file with the transcript of a template's readings.
    pub fn readings(&self, template: &TemplateName) -> PathBuf {
        self.folder_of(template).join(format!("{READINGS}.snap"))
    }

    /// The accepted transcripts of a template and a family.
    pub fn accepted(&self, template: &TemplateName, family: &str) -> Accepted {
        Accepted::read(self.file(template, family), MOST)
    }

    /// Compares the outcome of a pair with its accepted transcript. It reads the file for
    /// this pair only.
    pub fn compare(&self, pair: &Pair<'_>, outcome: &Outcome) -> SnapshotStatus {
        self.accepted(&pair.template.name, pair.case.id.family())
            .compare(pair.case.id.name(), outcome)
    }

    /// Problems with the file of a template and a family, besides the transcripts in it.
    /// `pairs` are all their pairs, in the suite's order.
    pub fn problems<'s>(
        &self,
        accepted: &Accepted,
        pairs: impl IntoIterator<Item = Pair<'s>>,
    ) -> Vec<Problem> {
        let cases: Vec<_> = pairs.into_iter().map(|pair| &pair.case.id).collect();
        let family = cases.first().map_or("", |id| id.family());
        accepted.problems(&cases, &self.header(family))
    }

    /// Whether nothing is wrong with the file of a family besides the transcripts in it, and its
    /// sections are those of these cases: [`Snapshots::problems`] finds none then.
    pub(crate) fn has_exactly<'n>(
        &self,
        accepted: &Accepted,
        family: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> bool {
        accepted.has_exactly(names, &self.header(family))
    }

    /// The file of a template and a family with these sections: names of cases with their
    /// transcripts.
    pub fn written<'s>(
        &self,
        family: &str,
        sections: impl IntoIterator<Item = (&'s str, &'s str)>,
    ) -> String {
        format!("{}{}\n", self.header(family), text(sections))
    }

    fn header(&self, family: &str) -> String {
        if self.are_own {
            insta_file::OWN_HEADER.to_owned()
        } else {
            insta_file::header(&input(family))
        }
    }

    /// The reference's transcript of a pair, as [`ReferenceTranscripts::reference`] finds it. It
    /// reads the files for this pair only.
    pub fn reference(&self, pair: &Pair<'_>, answer: &RecordedAnswer) -> Option<String> {
        let transcripts = self.reference_transcripts(&pair.template.name, pair.case.id.family());
        transcripts.reference(&pair.case.id, answer)
    }

    /// The files that may hold the reference's transcripts of a template and a family.
    pub(crate) fn reference_transcripts(
        &self,
        template: &TemplateName,
        family: &str,
    ) -> ReferenceTranscripts {
        ReferenceTranscripts([
            self.accepted(template, family),
            self.kept_references(template, family),
        ])
    }

    /// The transcripts of the reference that are kept beside the snapshots of a family.
    pub fn kept_references(&self, template: &TemplateName, family: &str) -> Accepted {
        Accepted::read(self.reference_file(template, family), MOST)
    }

    /// The file with a text about a template.
    pub fn written_text(&self, template: &Template, text: &str) -> String {
        if self.are_own {
            format!("{}{text}\n", insta_file::OWN_HEADER)
        } else {
            text_file(template, text)
        }
    }

    /// Whether a report card is the accepted one, byte for byte.
    pub fn has_card(&self, template: &TemplateName, card: &str) -> bool {
        read_text(&self.card(template)).is_ok_and(|file| contents(&file) == Some(card))
    }
}

/// The accepted transcripts of a template and a family, and the reference's own beside them.
#[derive(Debug)]
pub struct ReferenceTranscripts([Accepted; 2]);

impl ReferenceTranscripts {
    /// The reference's whole transcript, if it is known: from the record's message, from
    /// the accepted snapshot if it agrees, or from the file for divergences.
    pub fn reference(&self, id: &CaseId, answer: &RecordedAnswer) -> Option<String> {
        if let Some(outcome) = answer.outcome() {
            return Some(transcript::encode(&outcome));
        }
        self.0.iter().find_map(|accepted| {
            let text = accepted.transcript(id.name())?;
            let outcome = transcript::decode(text).ok()?;
            answer.agrees(&outcome).then(|| text.to_owned())
        })
    }
}

/// The name of a report card among a template's snapshots.
pub const CARD: &str = "_card";

/// The name of the transcript of readings among a template's snapshots.
pub const READINGS: &str = "_readings";

/// The file that insta names in the snapshots of a family.
fn input(family: &str) -> String {
    format!("cases/conversations/{family}.json")
}

/// The text of a family's snapshots: names of cases with their transcripts.
pub fn text<'s>(sections: impl IntoIterator<Item = (&'s str, &'s str)>) -> String {
    sections::write(sections)
}

/// The file of a family's snapshots, as insta writes it for the test of the suite.
pub fn file<'s>(family: &str, sections: impl IntoIterator<Item = (&'s str, &'s str)>) -> String {
    insta_file::written(&input(family), &text(sections))
}

/// The file of a text about a template, as insta writes it for the test of the suite.
pub fn text_file(template: &Template, text: &str) -> String {
    let name = template.path.file_name().unwrap_or_default();
    let input = format!("cases/templates/{}", name.to_string_lossy());
    insta_file::written(&input, text)
}

/// The file with the reference's own transcripts.
pub fn reference_file<'s>(
    template: &Template,
    sections: impl IntoIterator<Item = (&'s str, &'s str)>,
) -> String {
    let name = Reference::of(template.dialect).name;
    format!("---\nreference: {name}\n---\n{}\n", text(sections))
}
