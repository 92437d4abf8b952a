//! Diagnostics: what is wrong and where, as code scanning and annotations report it.

use std::path::{Path, PathBuf};

use rolecall_core::Template;

use super::markdown;
use super::numbers::counted;
use super::other_fault::{FaultKind, OtherFault};
use super::place::lines;
use super::run_report::{RunReport, first_lines};
use rolecall_check::card::Card;
use rolecall_check::contract::{Finding, Severity};
use rolecall_core::problem::Location;
use rolecall_io::template_file::line_in_file;

/// How many lines of a difference an annotation shows.
const MOST_LINES: usize = 12;

/// Something that is wrong.
#[derive(Debug, Default)]
pub(super) struct Diagnostic {
    /// The contract, or the kind of fault.
    pub(super) rule: &'static str,
    /// `error`, `warning` or `note`.
    pub(super) level: &'static str,
    /// The file. Empty if there is none.
    pub(super) path: PathBuf,
    /// The lines of the file, the worst first. Empty if none is known.
    pub(super) lines: Vec<usize>,
    /// The column in the first line.
    pub(super) column: Option<usize>,
    /// The line for a format that needs one.
    pub(super) begins: Option<usize>,
    /// What is wrong: the template or the pair, and the evidence below it.
    pub(super) message: String,
    /// The same for an annotation, which shows more below it.
    pub(super) annotation: String,
    /// Why it is meant to be so, if it is.
    pub(super) known: Option<String>,
    /// What stays the same while the same thing is wrong.
    pub(super) mark: String,
}

/// The level of a severity. A limitation is only worth knowing.
pub(super) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Limitation | Severity::Note => "note",
    }
}

impl Diagnostic {
    fn error(rule: &'static str, path: &Path, mark: &str) -> Diagnostic {
        Diagnostic {
            rule,
            level: "error",
            path: path.to_path_buf(),
            mark: format!("{mark}/{rule}"),
            ..Diagnostic::default()
        }
    }

    /// The broken contracts of a card, in their order. If the template cannot be read, only that.
    pub(super) fn of_card(card: &Card, template: Option<&Template>) -> Vec<Diagnostic> {
        let path = template.map_or(Path::new(""), |template| &template.path);
        if let Some(error) = &card.syntax_error {
            let message = format!("{}: {}", card.template, error.message);
            return vec![Diagnostic {
                lines: error.line.into_iter().collect(),
                column: error.column,
                begins: template.and_then(|template| line_in_file(template, None)),
                annotation: message.clone(),
                message,
                ..Diagnostic::error(FaultKind::Syntax.name(), path, &card.template)
            }];
        }
        let broken = card.broken().map(|finding| {
            let known = finding.deliberate.clone();
            let evidence: Vec<&str> = finding
                .evidence()
                .iter()
                .map(|one| one.what.as_str())
                .collect();
            let evidence = evidence.join("\n");
            Diagnostic {
                level: known.as_ref().map_or(level(finding.severity()), |_| "note"),
                lines: template.map_or_else(Vec::new, |template| lines(finding, template)),
                message: format!("{}: {evidence}", card.template),
                annotation: annotation(card, finding),
                known,
                ..Diagnostic::error(finding.contract.id, path, &card.template)
            }
        });
        broken.collect()
    }

    /// What is not as expected in a run: the causes, and the texts about templates.
    pub(super) fn of_run(report: &RunReport<'_, '_>) -> Vec<Diagnostic> {
        let groups = report.groups.iter().filter_map(|group| {
            let pair = &group.pairs.first()?.pair;
            let name = format!("{} {}", pair.template.name, pair.case.id);
            let mut message = name.clone();
            if group.pairs.len() > 1 {
                let others = counted(group.pairs.len() - 1, "other pair", "other pairs");
                message = format!("{message} and {others}");
            }
            let difference = group.diff().and_then(|diff| diff.first.as_deref());
            for what in difference.into_iter().chain(group.word()) {
                message = format!("{message}\n{what}");
            }
            let shown = first_lines(group, MOST_LINES);
            Some(Diagnostic {
                begins: line_in_file(pair.template, None),
                annotation: shown
                    .iter()
                    .map(markdown::line)
                    .fold(message.clone(), below),
                message,
                ..Diagnostic::error(group.fault().name(), &pair.template.path, &name)
            })
        });
        let texts = report.conclusion.cards.iter().map(|checked| {
            let (template, kind) = (&checked.template, checked.kind.name());
            let forbidden = || checked.forbidden.iter();
            let unexplained = forbidden().map(|one| {
                format!(
                    "{} is broken, and nothing gives the reason",
                    one.contract.id
                )
            });
            let found = forbidden().map(|one| format!("{}: {}", one.contract.id, one.what()));
            let demanded = format!("{template}: the {kind} is not as demanded");
            let accepted = if checked.forbidden.is_empty() {
                format!("{template}: the {kind} is not as accepted")
            } else {
                format!("{template}: the template breaks contracts, and nothing gives the reason")
            };
            Diagnostic {
                message: unexplained.fold(demanded, below),
                annotation: found.fold(accepted, below),
                ..Diagnostic::error(kind, &checked.path, template)
            }
        });
        groups.chain(texts).collect()
    }

    /// What belongs to no pair and no card.
    pub(super) fn of_other(other: &OtherFault) -> Diagnostic {
        let lines = other.lines.iter().take(MOST_LINES).map(markdown::line);
        Diagnostic {
            lines: other.line().into_iter().collect(),
            column: match other.place {
                Some(Location::Text(position)) => Some(position.column),
                _ => None,
            },
            message: other.what.clone(),
            annotation: lines.fold(other.what.clone(), below),
            ..Diagnostic::error(other.kind.name(), &other.path, &other.what)
        }
    }
}

/// A text with a line below it.
#[expect(clippy::needless_pass_by_value, reason = "the function folds lines")]
fn below(text: String, line: String) -> String {
    text + "\n" + &line
}

fn annotation(card: &Card, finding: &Finding) -> String {
    let first = format!("{}: {}", card.template, finding.contract.meaning);
    let evidence = finding.evidence().iter().map(|one| one.what.clone());
    let known = finding
        .deliberate
        .iter()
        .map(|why| format!("deliberate: {why}"));
    evidence.chain(known).fold(first, below)
}
