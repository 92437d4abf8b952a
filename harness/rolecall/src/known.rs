//! What is known to be broken: a file that `check` writes, so that later only what is new counts.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::card::Card;
use crate::contract::{self, Contract, Severity};
use crate::file::read_text;
use crate::problem::{Note, Position, Problem, closest};
use crate::suite::Suite;
use crate::template_file::sidecar;

/// The version of the file's form.
const VERSION: u32 = 1;

/// What is known to be broken, by template and contract, and how bad it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    rolecall: u32,
    known: BTreeMap<String, BTreeMap<String, Severity>>,
}

impl Known {
    /// The defects of report cards that nothing explains. That a template cannot be read is never
    /// among them: it is mended, or it is none.
    pub fn of(cards: &[Card]) -> Known {
        let mut known: BTreeMap<String, BTreeMap<String, Severity>> = BTreeMap::new();
        for card in cards.iter().filter(|card| card.syntax_error.is_none()) {
            for finding in card.unexplained() {
                let contracts = known.entry(card.template.clone()).or_default();
                contracts.insert(finding.contract.id.to_owned(), finding.severity());
            }
        }
        Known {
            rolecall: VERSION,
            known,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, is no such file, or names a contract that there is not.
    pub fn read(path: &Path) -> Result<Known, Problem> {
        let help = "`rolecall check --write-baseline` writes such a file";
        let text = read_text(path)?;
        let known: Known = serde_json::from_str(&text).map_err(|error| {
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
                "of version {}, and this program reads {VERSION}",
                known.rolecall
            );
            return Err(Problem::new(path, message).help(help));
        }
        for id in known.known.values().flat_map(BTreeMap::keys) {
            find(id).map_err(|message| Problem::new(path, message))?;
        }
        Ok(known)
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// How many findings are known.
    pub fn count(&self) -> usize {
        self.known.values().map(BTreeMap::len).sum()
    }

    /// Counts as known what is no worse than it was. Returns what is known, and holds again.
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
                    let message = format!("`{id}` of {template} is known, and broken no more");
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
/// There is none of this name: a sentence with the one that was probably meant.
pub fn find(id: &str) -> Result<&'static Contract, String> {
    contract::by_id(id).ok_or_else(|| {
        let names = contract::ALL.iter().map(|contract| contract.id);
        let help = closest(id, names)
            .map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
        format!("there is no contract `{id}`{help}")
    })
}

/// Contracts that templates are said to break on purpose, and that there are not.
pub fn strange(suite: &Suite) -> Vec<Problem> {
    let mut problems = Vec::new();
    for template in &suite.templates {
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
    use rolecall_jinja::Minijinja;
    use rolecall_model::{Dialect, Template};

    use super::*;
    use crate::card::examine;

    fn card(source: &str) -> Card {
        let template = Template::from_source("t", Dialect::Jinja, source);
        examine(&Minijinja::new(), &template)
    }

    #[test]
    fn what_is_known_counts_no_more_until_it_is_worse() {
        let leaks = "{% if tools %}{{ tools }}{% endif %}{% for m in messages %}\
                     <{{ m.role }}>{{ m.content }}{% endfor %}<assistant>";
        let card_of = || vec![card(leaks)];
        let known = Known::of(&card_of());
        assert!(known.count() > 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        std::fs::write(&path, known.text()).unwrap();
        let known = Known::read(&path).unwrap();
        let mut cards = card_of();
        assert_eq!(known.apply(&path, &mut cards), []);
        assert_eq!(cards[0].unexplained().count(), 0);
        // Another defect is new, and one that is gone is told.
        let other = leaks.replace("{{ tools }}", "{{ tools | tojson }}{{ messages | length }}");
        let mut cards = vec![card(&other)];
        let notes = known.apply(&path, &mut cards);
        assert!(
            notes
                .iter()
                .any(|note| note.message.starts_with("`no-repr-leak` of t"))
        );
        assert!(cards[0].unexplained().count() > 0);
    }

    #[test]
    fn a_name_that_is_none_is_told_with_the_one_that_was_meant() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        let text = r#"{"rolecall": 1, "known": {"t": {"one-boss": "error"}}}"#;
        std::fs::write(&path, text).unwrap();
        let problem = Known::read(&path).unwrap_err();
        assert_eq!(
            problem.message,
            "there is no contract `one-boss`; did you mean `one-bos`?"
        );
        std::fs::write(&path, "{\"rolecall\": 1,\n \"knwon\": {}}").unwrap();
        let problem = Known::read(&path).unwrap_err();
        assert!(problem.to_string().contains("known.json:2:"), "{problem}");
    }
}
