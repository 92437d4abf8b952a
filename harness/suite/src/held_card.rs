//! Report cards of a suite, beside the accepted ones.

use std::path::{Path, PathBuf};

use rolecall_card::card::Card;
use rolecall_card::contract::{Contract, Severity};
use rolecall_model::TemplateName;

use crate::card_rule::CardRule;
use crate::snapshot::{Snapshots, contents};
use rolecall_base::diff::Diff;
use rolecall_base::file::{is_there, read_text};
use rolecall_base::problem::Problem;

/// A report card beside the accepted one.
#[derive(Debug)]
pub struct HeldCard {
    /// The template's name.
    pub template: String,
    /// The file of the accepted card.
    pub path: PathBuf,
    /// The card as text.
    pub text: String,
    /// How it stands to the accepted one.
    pub change: CardStatus,
    /// The broken contracts that the rule forbids.
    pub forbidden: Vec<ForbiddenFinding>,
    /// The template's sidecar, if the reasons for broken contracts stand there. They stand in
    /// `rolecall.toml` otherwise.
    pub sidecar: Option<PathBuf>,
}

/// How a card stands to the accepted one.
#[derive(Debug)]
pub enum CardStatus {
    /// It is the same, or the rule does not ask.
    Same,
    /// No card was accepted yet.
    New,
    /// The accepted card cannot be read.
    Unreadable(Problem),
    /// Another card was accepted.
    Changed(Diff),
}

/// A broken contract that the rule forbids.
#[derive(Debug)]
pub struct ForbiddenFinding {
    /// The contract.
    pub contract: &'static Contract,
    /// How bad it is.
    pub severity: Severity,
    /// What shows that it is broken.
    pub what: String,
}

impl HeldCard {
    /// Compares a card with the accepted one, and applies the rule. `text` is the card in its
    /// accepted form.
    pub fn of(rule: CardRule, snapshots: &Snapshots, card: &Card, text: String) -> HeldCard {
        let path = snapshots.card(&TemplateName::new(&card.template));
        let change = if rule == CardRule::Off {
            CardStatus::Same
        } else {
            status(&path, &text)
        };
        let forbidden = card
            .unexplained()
            .filter(|one| rule.forbids(one.severity()));
        let forbidden = forbidden.map(|finding| ForbiddenFinding {
            contract: finding.contract,
            severity: finding.severity(),
            what: finding
                .evidence()
                .first()
                .map_or_else(String::new, |first| first.what.clone()),
        });
        HeldCard {
            template: card.template.clone(),
            path,
            text,
            change,
            forbidden: forbidden.collect(),
            sidecar: None,
        }
    }

    /// Whether the card is the accepted one, and breaks no contract that it must not.
    pub fn is_as_expected(&self) -> bool {
        matches!(self.change, CardStatus::Same) && self.forbidden.is_empty()
    }
}

fn status(path: &Path, text: &str) -> CardStatus {
    if !is_there(path) {
        return CardStatus::New;
    }
    let file = match read_text(path) {
        Ok(file) => file,
        Err(problem) => return CardStatus::Unreadable(problem),
    };
    match contents(&file) {
        Some(accepted) if accepted == text => CardStatus::Same,
        Some(accepted) => CardStatus::Changed(Diff::new(accepted, text)),
        None => CardStatus::Unreadable(
            Problem::new(path, "is no accepted report card")
                .help("delete it, and accept the card again"),
        ),
    }
}
