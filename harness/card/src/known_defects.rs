//! Known defects: a file that `check` writes, so that later checks count only new defects.

use std::collections::BTreeMap;
use std::path::Path;

use rolecall_model::Template;
use serde::{Deserialize, Serialize};

use crate::card::Card;
use crate::contract::{self, Contract, Severity};
use rolecall_base::file::read_text;
use rolecall_base::json;
use rolecall_base::problem::{Note, Position, Problem, with_did_you_mean};
use rolecall_source::template_file::sidecar;

/// The version of the file format.
const VERSION: u32 = 1;

/// Known defects by template and contract, each with its severity when the file was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDefects {
    rolecall: u32,
    known: BTreeMap<String, BTreeMap<String, Severity>>,
}

impl KnownDefects {
    /// The unexplained defects of report cards. A template that cannot be read is left out, because
    /// no report should ever hide that.
    pub fn of(cards: &[Card]) -> KnownDefects {
        let mut known: BTreeMap<String, BTreeMap<String, Severity>> = BTreeMap::new();
        for card in cards.iter().filter(|card| card.syntax_error.is_none()) {
            for finding in card.unexplained() {
                let contracts = known.entry(card.template.clone()).or_default();
                contracts.insert(finding.contract.id.to_owned(), finding.severity());
            }
        }
        KnownDefects {
            rolecall: VERSION,
            known,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has another format, or names a contract that does not exist.
    pub fn read(path: &Path) -> Result<KnownDefects, Problem> {
        let help = "`rolecall check --write-baseline` writes such a file";
        let text = read_text(path)?;
        if json::has_too_many(&text) {
            let message = format!("more than {} values", json::MOST_VALUES);
            return Err(Problem::new(path, message).help(help));
        }
        let known: KnownDefects = serde_json::from_str(&text).map_err(|error| {
            let position = Position {
                line: error.line(),
                column: error.column(),
            };
            Problem::new(path, error.to_string())
                .at(position)
                .help(help)
        })?;
        if known.rolecall != VERSION {
            let message = format!(
                "has version {}, but this program reads version {VERSION}",
                known.rolecall
            );
            return Err(Problem::new(path, message).help(help));
        }
        for id in known.known.values().flat_map(BTreeMap::keys) {
            find(id).map_err(|message| Problem::new(path, message))?;
        }
        Ok(known)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// How many findings are known.
    pub fn count(&self) -> usize {
        self.known.values().map(BTreeMap::len).sum()
    }

    /// Marks each defect as known if it is no worse than in the file. Returns a note for each known
    /// defect that is no longer broken.
    pub fn apply(&self, path: &Path, cards: &mut [Card]) -> Vec<Note> {
        let mut notes = Vec::new();
        for card in cards.iter_mut().filter(|card| card.syntax_error.is_none()) {
            let Some(known) = self.known.get(&card.template) else {
                continue;
            };
            for finding in &mut card.findings {
                let Some(was) = known.get(finding.contract.id) else {
                    continue;
                };
                if !finding.is_defect() {
                    let (template, id) = (&card.template, finding.contract.id);
                    let message =
                        format!("`{id}` is in the baseline for {template} but no longer broken");
                    notes.push(Note::new(path, message));
                } else if finding.severity() >= *was && finding.deliberate.is_none() {
                    finding.deliberate = Some(format!("It is in {}.", path.display()));
                }
            }
        }
        notes
    }
}

/// A contract by its name.
///
/// # Errors
///
/// No contract has this name. The sentence suggests the one that was probably meant.
pub fn find(id: &str) -> Result<&'static Contract, String> {
    contract::by_id(id).ok_or_else(|| {
        let names = contract::ALL.iter().map(|contract| contract.id);
        with_did_you_mean(format!("there is no contract `{id}`"), id, names)
    })
}

/// Problems for the names in templates' `broken` that no contract has.
pub fn unknown_contracts(templates: &[Template]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for template in templates {
        let beside = sidecar(&template.path);
        let path = if beside.is_file() {
            beside
        } else {
            template.path.clone()
        };
        for (id, _) in &template.broken {
            if let Err(message) = find(id) {
                problems.push(Problem::new(&path, format!("`broken`: {message}")));
            }
        }
    }
    problems
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rolecall_jinja::JinjaEngine;
    use rolecall_model::Dialect;

    use super::*;
    use crate::card::examine;

    fn card(source: &str) -> Card {
        let template = Template::from_source("t", Dialect::Jinja, source);
        examine(&JinjaEngine::new(), &template)
    }

    #[test]
    fn what_is_known_counts_no_more_until_it_is_worse() {
        let leaks = "{% if tools %}{{ tools }}{% endif %}{% for m in messages %}\
                     <{{ m.role }}>{{ m.content }}{% endfor %}<assistant>";
        let card_of = || vec![card(leaks)];
        let known = KnownDefects::of(&card_of());
        assert!(known.count() > 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        std::fs::write(&path, known.text()).unwrap();
        let known = KnownDefects::read(&path).unwrap();
        let mut cards = card_of();
        assert_eq!(known.apply(&path, &mut cards), []);
        assert_eq!(cards[0].unexplained().count(), 0);
        // Another defect is new, and a defect that is gone is reported.
        let other = leaks.replace("{{ tools }}", "{{ tools | tojson }}{{ messages | length }}");
        let mut cards = vec![card(&other)];
        let notes = known.apply(&path, &mut cards);
        assert!(notes.iter().any(|note| {
            note.message
                .starts_with("`no-repr-leak` is in the baseline for t")
        }));
        assert!(cards[0].unexplained().count() > 0);
    }

    #[test]
    fn a_name_that_is_none_is_told_with_the_one_that_was_meant() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        let text = r#"{"rolecall": 1, "known": {"t": {"one-boss": "error"}}}"#;
        std::fs::write(&path, text).unwrap();
        let problem = KnownDefects::read(&path).unwrap_err();
        assert_eq!(
            problem.message,
            "there is no contract `one-boss`; did you mean `one-bos`?"
        );
        std::fs::write(&path, "{\"rolecall\": 1,\n \"knwon\": {}}").unwrap();
        let problem = KnownDefects::read(&path).unwrap_err();
        assert!(problem.to_string().contains("known.json:2:"), "{problem}");
    }
}
