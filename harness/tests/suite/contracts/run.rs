//! Compares the card of a template with what a file says about it.

use std::collections::BTreeMap;

use rolecall_check::card::Card;
use rolecall_check::contract::{Contract, Evidence, Finding, Judgement, Severity};
use rolecall_check::side_by_side::compare_probes;
use rolecall_core::{Conversation, Template};

use super::file::{Note, Part, Source};
use super::template::{self, Subject, card_of, is_of_suite};
use crate::pairs::{ENGINES, SUITE};

impl Part {
    /// Fails with everything that the card should say and does not say, and with what it says instead.
    pub(super) fn complain(&self) -> Result<(), String> {
        let at = |line: usize, why: &str| format!("{}:{line}: {why}", self.file);
        let (before, after) = self.subjects().map_err(|(line, why)| at(line, &why))?;
        let card = after.card();
        let before = before.map(|(name, subject)| (card_of(&name, &subject), subject, name));
        let old = before.as_ref().and_then(|(card, ..)| card.get());
        let mut wrong: Vec<String> = self.unmet(&card, old);
        wrong.extend(self.worse(&card, old));
        let patches = self.unpatched(&after.template, &card);
        let patches = patches.map_err(|(line, why)| at(line, &why))?;
        wrong.extend(patches.iter().map(|(line, why)| at(*line, why)));
        // What a template of the suite was meant to be, its original shows.
        let of_suite = before.as_ref().filter(|(.., name)| is_of_suite(name));
        let is_hidden = self
            .notes
            .iter()
            .any(|(_, note)| matches!(note, Note::Hidden));
        if of_suite.is_some_and(|(_, old, _)| shows(&old.template, &after.template) == is_hidden) {
            let why = if is_hidden {
                "a prompt shows this change: delete the note `hidden`"
            } else {
                "no prompt shows this change: change something else, or add the note `hidden: why`"
            };
            wrong.push(at(self.line, why));
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let news = news(old, &card).join("\n");
        Err(format!(
            "{}\n  what is new on the card of this template:\n{news}",
            wrong.join("\n")
        ))
    }

    /// The template, and the one that it is a change of, with its name.
    #[allow(clippy::type_complexity)]
    pub(super) fn subjects(&self) -> Result<(Option<(String, Subject)>, Subject), (usize, String)> {
        match &self.source {
            Source::Whole(dialect, text) => {
                let template = Template::from_source("t", *dialect, text);
                Ok((None, Subject::from(template).raw()))
            }
            Source::Changed(name, changes) => {
                // The response template of a sidecar.
                let of = name.replace(".json", ".jinja");
                let before = Subject::named(&of).map_err(|why| (self.line + 1, why))?;
                let mut after = before.clone();
                if of == *name {
                    after.template.source = changes.apply(&before.template.source)?;
                } else {
                    let text = changes.apply(&template::text(name))?;
                    let json: serde_json::Value = serde_json::from_str(&text)
                        .map_err(|error| (self.line, format!("{error}\n{text}")))?;
                    after.template.response_template = Some(json["response_template"].clone());
                }
                Ok((Some((of, before)), after))
            }
        }
    }

    /// The notes that are not true.
    fn unmet(&self, card: &Card, before: Option<&Card>) -> Vec<String> {
        let mut found: Vec<&Evidence> = Vec::new();
        let mut wrong = Vec::new();
        for (line, note) in &self.notes {
            let why = match note {
                Note::Finds(severity, contract, words) => {
                    let has = |card| {
                        let all = evidence(card, contract);
                        all.filter(|(one, of)| of == severity && one.what.contains(words))
                            .map(|(one, _)| one)
                            .collect::<Vec<_>>()
                    };
                    found = has(card);
                    let is_old = before.is_some_and(|before| !has(before).is_empty());
                    (found.is_empty() || is_old).then(|| {
                        let how = if is_old { "only after the change " } else { "" };
                        let note = format!("{severity} of {}: {words}", contract.id);
                        let note = note.trim_end_matches(": ");
                        format!("the card should {how}have `{note}`")
                    })
                }
                Note::Because(words) => {
                    let mut causes = found.iter().filter_map(|one| one.because.as_ref());
                    let is_met = causes.any(|because| because.contains(words));
                    (!is_met).then(|| "the finding should have this cause".to_owned())
                }
                Note::Holds(contract) => {
                    let judged = judgement(card, contract);
                    (*judged != Judgement::Holds)
                        .then(|| format!("{} should hold, and {}", contract.id, judged.name()))
                }
                _ => None,
            };
            wrong.extend(why.map(|why| format!("{}:{line}: {why}", self.file)));
        }
        wrong
    }

    /// What the change breaks that is worse than the notes say. Of a whole template only the contracts in
    /// the notes count, and a patch is not about its template.
    fn worse(&self, card: &Card, before: Option<&Card>) -> Vec<String> {
        let mut noted = Vec::new();
        for (_, note) in &self.notes {
            match note {
                Note::Fix(..) | Note::NoSafeFix(_) => return Vec::new(),
                Note::Finds(severity, contract, _) => noted.push((*severity, contract.id)),
                _ => {}
            }
        }
        let broken = |card: &Card| -> BTreeMap<_, _> {
            let all = card.broken().map(|one| (one.contract.id, one.severity()));
            all.collect()
        };
        let mut new = broken(card);
        match before.map(broken) {
            // Broken, or broken worse than before.
            Some(old) => new.retain(|id, severity| old.get(id).is_none_or(|old| *severity < *old)),
            None => new.retain(|id, _| noted.iter().any(|(_, noted)| noted == id)),
        }
        let most = noted.iter().map(|(severity, _)| *severity).min();
        new.retain(|_, severity| most.is_none_or(|most| *severity < most));
        let say = |(id, severity)| {
            let of = format!("`{severity} of {id}`");
            let place = format!("{}:{}", self.file, self.line);
            format!("{place}: the card has something worse: note {of}, too")
        };
        new.into_iter().map(say).collect()
    }
}

/// Each finding about a contract, with its severity.
fn evidence<'c>(
    card: &'c Card,
    contract: &'static Contract,
) -> impl Iterator<Item = (&'c Evidence, Severity)> {
    let findings = card
        .findings
        .iter()
        .filter(move |one| one.contract == contract);
    let evidence = findings.flat_map(Finding::evidence);
    evidence.map(|one| (one, one.severity.unwrap_or(contract.severity)))
}

pub(super) fn judgement<'c>(card: &'c Card, contract: &Contract) -> &'c Judgement {
    let finding = card.findings.iter().find(|f| f.contract == contract);
    &finding.unwrap().judgement
}

/// What a card says that the one before the change does not say, as notes.
fn news(before: Option<&Card>, after: &Card) -> Vec<String> {
    let said = |card: &Card| -> Vec<String> {
        let mut said = Vec::new();
        for finding in card.broken() {
            for (one, severity) in evidence(card, finding.contract) {
                said.push(format!(
                    "    {severity} of {}: {}",
                    finding.contract.id, one.what
                ));
                let because = one.because.iter();
                said.extend(because.map(|why| format!("    because: {why}")));
            }
        }
        said
    };
    let before = before.map(said).unwrap_or_default();
    let mut news = said(after);
    news.retain(|one| !before.contains(one));
    if news.is_empty() {
        news.push("    nothing".to_owned());
    }
    news
}

/// Whether a prompt of a card or of the suite is another one in a changed template.
fn shows(before: &Template, after: &Template) -> bool {
    let engine = ENGINES.for_dialect(before.dialect);
    let probes = compare_probes([engine, engine], [before, after]);
    let mut probes = probes.iter();
    probes.any(|probe| probe.outcomes[0] != probe.outcomes[1]) || {
        let [old, new] = [before, after].map(|template| engine.compile(template).unwrap());
        let mut cases = SUITE.cases.iter().map(Conversation::new);
        cases.any(|case| old.render(&case) != new.render(&case))
    }
}
