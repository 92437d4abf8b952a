//! One page that holds everything: templates and cases, transcripts and differences.
//!
//! The page is one file and needs no network. It holds each template's details in compressed form
//! and unpacks them when somebody looks, so that a page with hundreds of templates and hundreds of
//! cases each still opens at once. A template's text reaches the page only as text, so no template
//! can add markup to it.

pub(crate) mod page_file;

pub mod card;

pub(crate) mod view;

pub mod verdict;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Write};

use rolecall_core::{CaseId, Outcome, OutcomeKind, Template};
use serde_json::{Map, Value, json};

use super::numbers::counted;
use rolecall_check::card::Card;
use rolecall_check::contract::{self, Finding};
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::diff::Diff;
use rolecall_core::transcript;
use rolecall_suite::run::Compared;
use rolecall_suite::snapshot::SnapshotStatus;
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::verdict::Verdict;

pub use page_file::PageFile;
pub use page_file::{STYLE, THEME, diff};

/// A page in the making. Callers add pairs template by template. When a template is complete, the
/// page keeps only what it will show of it.
#[derive(Debug)]
pub struct Page<'s> {
    title: String,
    families: &'s [(String, String)],
    templates: &'s [Template],
    /// The cases of all pairs, with their `about` texts.
    cases: Vec<(&'s CaseId, Option<&'s str>)>,
    cards: BTreeMap<String, Card>,
    /// The models' tokenizers, if they are known.
    pub tokenizers: Option<&'s Tokenizers>,
    /// Whether the page opens with report cards.
    pub is_of_cards: bool,
    /// The pairs of the template that is not complete yet.
    results: Vec<Compared<'s>>,
    /// The overview's data about the complete templates.
    listed: Vec<Value>,
    /// The contracts that some template breaks.
    broken: BTreeSet<&'static str>,
    /// The file, with the details of the complete templates.
    file: PageFile,
}

impl<'s> Page<'s> {
    /// A page with nothing on it yet, for some pairs, for templates (which may have no pairs), and
    /// for report cards.
    pub fn new(title: &str, suite: &'s Suite, pairs: &[Pair<'s>], cards: Vec<Card>) -> Page<'s> {
        Page {
            title: title.to_owned(),
            families: &suite.families,
            templates: &suite.templates,
            cases: cases(pairs),
            cards: cards
                .into_iter()
                .map(|card| (card.template.clone(), card))
                .collect(),
            tokenizers: None,
            is_of_cards: false,
            results: Vec::new(),
            listed: Vec::new(),
            broken: BTreeSet::new(),
            file: PageFile::default(),
        }
    }

    /// Adds a pair. The pairs of a template have to come one after the other.
    pub fn add(&mut self, compared: Compared<'s>) -> io::Result<()> {
        let name = &compared.rendered.pair.template.name;
        let last = self.results.last().map(|last| last.rendered.pair.template);
        if let Some(last) = last.filter(|last| last.name != *name) {
            self.close(last)?;
        }
        self.results.push(compared);
        Ok(())
    }

    /// Puts a template and the pairs that were added for it on the page.
    fn close(&mut self, template: &Template) -> io::Result<()> {
        let results = std::mem::take(&mut self.results);
        let card = self.cards.remove(template.name.as_str());
        if let Some(card) = &card {
            let found = card.broken().chain(&card.without_front);
            self.broken.extend(found.map(|finding| finding.contract.id));
        }
        let shown = card.as_ref().map(|card| card::report_card(card, template));
        let details = chunk(&results, &self.cases, shown.as_ref(), self.tokenizers);
        let id = self.file.add(&details)?;
        let entry = entry(template, &results, &self.cases, &id, card.as_ref());
        self.listed.push(entry);
        Ok(())
    }

    /// Writes the page. It starts with the [verdict].
    pub fn write(mut self, out: &mut dyn Write, verdict: &Value) -> io::Result<()> {
        if let Some(last) = self.results.last() {
            self.close(last.rendered.pair.template)?;
        }
        // A template that no case is for still has a card.
        for template in self.templates {
            if self.cards.contains_key(template.name.as_str()) {
                self.close(template)?;
            }
        }
        let families: Map<String, Value> = self
            .families
            .iter()
            .map(|(name, about)| (name.clone(), about.as_str().into()))
            .collect();
        let about = format!(
            "{} × {}",
            counted(self.listed.len(), "template", "templates"),
            counted(self.cases.len(), "case", "cases")
        );
        let index = json!({
            "kind": "run",
            "title": self.title,
            "verdict": verdict,
            "about": about,
            "families": families,
            "cases": self.cases.iter().map(|(id, about)| json!({
                "id": id.to_string(), "family": id.family(), "about": about,
            })).collect::<Vec<_>>(),
            "templates": self.listed,
            "isOfCards": self.is_of_cards,
            "contracts": contract::ALL.iter().chain([&&contract::INTERNAL_ERROR]).map(|contract| json!({
                "id": contract.id,
                "meaning": contract.meaning,
                // Only a broken contract needs its explanation.
                "page": self.broken.contains(contract.id).then_some(contract.page),
            })).collect::<Vec<_>>(),
        });
        self.file.write(out, &self.title, &index)
    }
}

/// The cases of all templates in the order of the suite, with their `about` texts.
fn cases<'s>(pairs: &[Pair<'s>]) -> Vec<(&'s CaseId, Option<&'s str>)> {
    let mut seen = HashSet::new();
    let mut cases: Vec<_> = pairs
        .iter()
        .map(|pair| pair.case)
        .filter(|case| seen.insert(&case.id))
        .map(|case| (&case.id, case.about.as_deref()))
        .collect();
    // Cases that the first template lacks are at the end of the list.
    cases.sort_by(|(a, _), (b, _)| a.family().cmp(b.family()));
    cases
}

/// A template's data in the index, for the overview.
fn entry(
    template: &Template,
    results: &[Compared<'_>],
    cases: &[(&CaseId, Option<&str>)],
    chunk: &str,
    card: Option<&Card>,
) -> Value {
    let by_case = by_case(results);
    let letters = |letter: fn(&Compared<'_>) -> char| -> String {
        cases
            .iter()
            .map(|(id, _)| by_case.get(id).map_or('.', |compared| letter(compared)))
            .collect()
    };
    json!({
        "name": template.name.as_str(),
        "dialect": template.dialect.name(),
        "engine": results.first().map(|compared| compared.rendered.engine),
        "about": template.about,
        "path": template.path.display().to_string(),
        "outcomes": letters(outcome_letter),
        "states": letters(state_letter),
        "broken": card.map(broken),
        "known": card.map(known),
        "chunk": chunk,
    })
}

/// The contracts that a card reports as broken, by severity, without the known ones.
fn broken(card: &Card) -> BTreeMap<&str, Vec<&str>> {
    let mut by_severity: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for finding in card.broken().filter(|finding| !is_known(finding)) {
        let of_severity = by_severity.entry(finding.severity().name());
        of_severity.or_default().push(finding.contract.id);
    }
    by_severity
}

/// The broken contracts that are known.
fn known(card: &Card) -> Vec<&str> {
    let known = card.broken().filter(|finding| is_known(finding));
    known.map(|finding| finding.contract.id).collect()
}

/// Whether a defect is explained, as [`Card::explained_count`] counts them.
fn is_known(finding: &Finding) -> bool {
    finding.is_defect() && finding.deliberate.is_some()
}

/// A template's details, for when somebody looks at it.
fn chunk(
    results: &[Compared<'_>],
    cases: &[(&CaseId, Option<&str>)],
    card: Option<&Value>,
    tokenizers: Option<&Tokenizers>,
) -> Value {
    let by_case = by_case(results);
    let pairs: Vec<Value> = cases
        .iter()
        .map(|(id, _)| {
            by_case
                .get(id)
                .map_or(Value::Null, |compared| pair(compared, tokenizers))
        })
        .collect();
    json!({"pairs": pairs, "card": card})
}

fn by_case<'r, 's>(results: &'r [Compared<'s>]) -> BTreeMap<&'r CaseId, &'r Compared<'s>> {
    results
        .iter()
        .map(|compared| (&compared.rendered.pair.case.id, compared))
        .collect()
}

fn pair(compared: &Compared<'_>, tokenizers: Option<&Tokenizers>) -> Value {
    let shown = transcript::encode(&compared.rendered.outcome);
    let mut diffs = Vec::new();
    if let Some(SnapshotStatus::Changed(accepted)) = &compared.comparison {
        let diff = diff("Different from the snapshot", &Diff::new(accepted, &shown));
        diffs.push(diff);
    }
    if let Verdict::Differs(difference) = &compared.verdict
        && let Some(expected) = &difference.transcript
    {
        let title = "Different from the reference";
        diffs.push(diff(title, &Diff::new(expected, &shown)));
    }
    let (head, text) = shown.split_once('\n').unwrap_or((&shown, ""));
    let mut pair = json!({"head": head, "transcript": text, "diffs": diffs});
    let template = compared.rendered.pair.template;
    let chosen = compared.rendered.pair.chosen().unwrap_or(template);
    if let Some(tokenizer) = tokenizers.and_then(|tokenizers| tokenizers.of(chosen))
        && let Outcome::Rendered { text } = &compared.rendered.outcome
        && let Ok(tokens) = card::tokens(tokenizer, text)
    {
        pair["tokens"] = tokens;
    }
    pair
}

fn outcome_letter(compared: &Compared<'_>) -> char {
    match compared.rendered.outcome.kind() {
        OutcomeKind::Rendered => 'r',
        OutcomeKind::Raised => 'a',
        OutcomeKind::Failed => 'f',
        OutcomeKind::Exceeded => 'e',
        OutcomeKind::Crashed => 'c',
        OutcomeKind::NotAsked => 'n',
    }
}

fn state_letter(compared: &Compared<'_>) -> char {
    match (&compared.comparison, &compared.verdict) {
        _ if compared.is_uncompared() => '-',
        (Some(SnapshotStatus::Changed(_) | SnapshotStatus::Unreadable(_)), _) => 'c',
        (Some(SnapshotStatus::New), _) => 'n',
        (_, Verdict::Agrees) => '=',
        (_, Verdict::Unverified(why)) if why.is_expected() => '=',
        (_, Verdict::Unverified(_)) => '?',
        (_, Verdict::Differs(_)) if compared.verdict.is_unexplained() => '!',
        (_, Verdict::Differs(_)) => '~',
    }
}
