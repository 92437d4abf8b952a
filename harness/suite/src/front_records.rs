//! What applications made of the suite: `snapshots/fronts/NAME.json` for each front that is served.
//!
//! For each case there is a mark for each template: `=` if the application's outcome agrees with the
//! record of the template's own front, the checksum of its prompt, or the number of one of the words.
//! One mark alone stands for all templates.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use rolecall_core::file::write_below;
use rolecall_core::fingerprint::{Checksum, Fingerprint};
use rolecall_core::problem::Problem;
use rolecall_core::root::text_below;
use rolecall_core::rows::{self, Row};
use rolecall_core::wildcard::Wildcard;
use rolecall_core::{CaseId, Dialect, Limit, Outcome, OutcomeKind, Stage, TemplateName, json};
use rolecall_front::front::Front;
use serde::{Deserialize, Serialize};

use crate::divergence::pair_name;
use crate::layout::Layout;
use crate::record::{Asked, Record, RecordEntry, RecordedAnswer};
use crate::records::Records;
use crate::reference::{Identity, Reference};
use crate::run::Rendered;
use crate::suite::{Pair, Suite};

/// The mark of an outcome that agrees with the template's own front.
const SAME: &str = "=";

/// The beginning of a mark that is a number.
const NUMBER: char = '#';

/// What an application made of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontRecords {
    /// The reference of the records that `=` means.
    beside: Row<Identity>,
    /// What the application was asked with, in the order of the marks.
    templates: BTreeMap<String, Row<Asked>>,
    /// Outcomes without a prompt: the kind, and the words.
    words: Vec<String>,
    /// Where our front makes something else: patterns of pairs, each with the reason. People write it.
    #[serde(default)]
    differences: BTreeMap<String, String>,
    /// By case: the checksum of the case, and the marks.
    answers: BTreeMap<String, String>,
}

/// The file of a front's records.
pub fn file(layout: &Layout, front: Front) -> PathBuf {
    let folder = layout.snapshots().join("fronts");
    folder.join(format!("{front}.json"))
}

/// The pairs that an application is asked for. The suite has its front.
pub fn pairs(suite: &Suite) -> Vec<Pair<'_>> {
    let is_asked =
        |pair: &Pair<'_>| pair.template.dialect == Dialect::Jinja && pair.case.front.is_none();
    suite.pairs().filter(is_asked).collect()
}

impl FrontRecords {
    /// Reads the records of a front. None if nobody has asked its application.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no such file.
    pub fn read(layout: &Layout, front: Front) -> Result<Option<FrontRecords>, Problem> {
        let path = file(layout, front);
        let Some(text) = text_below(&layout.snapshots(), &path)? else {
            return Ok(None);
        };
        json::read(&path, &text, "the records of a front").map(Some)
    }

    /// The records of outcomes that an application gave for pairs. `own` has the records of the
    /// templates' own fronts.
    pub fn of(rendered: &[Rendered<'_>], own: &Records, before: Option<&FrontRecords>) -> Self {
        let mut found = FrontRecords {
            beside: Row(Reference::of(Dialect::Jinja).identity()),
            templates: BTreeMap::new(),
            words: Vec::new(),
            differences: before
                .map(|old| old.differences.clone())
                .unwrap_or_default(),
            answers: BTreeMap::new(),
        };
        let mut marks: BTreeMap<String, BTreeMap<&str, String>> = BTreeMap::new();
        for Rendered { pair, outcome, .. } in rendered {
            let name = pair.template.name.as_str();
            let asked = || Row(Asked::of(pair.template));
            found.templates.entry(name.to_owned()).or_insert_with(asked);
            let own = own.of(&pair.template.name);
            let own = own.and_then(|own| own.cases.get(&pair.case.id));
            let is_same = own.is_some_and(|own| own.answer.agrees(outcome));
            let mark = match outcome {
                _ if is_same => SAME.to_owned(),
                Outcome::Rendered { text } => Checksum::of(text).to_string(),
                other => found.number(other),
            };
            let input = Checksum::from(Fingerprint::of_case(pair.case));
            let case = format!("{} {input}", pair.case.id);
            marks.entry(case).or_default().insert(name, mark);
        }
        let count = found.templates.len();
        for (case, marks) in marks {
            let (case, input) = case.split_once(' ').unwrap_or_default();
            let mut all: Vec<&str> = marks.values().map(String::as_str).collect();
            if all.len() == count && all.iter().all(|mark| Some(mark) == all.first()) {
                all.truncate(1);
            }
            let line = format!("{input} {}", all.join(" "));
            found.answers.insert(case.to_owned(), line);
        }
        found
    }

    /// The number of an outcome without a prompt.
    fn number(&mut self, outcome: &Outcome) -> String {
        let words = format!("{}: {}", outcome.kind(), outcome.text());
        let known = self.words.iter().position(|known| *known == words);
        let number = known.unwrap_or_else(|| {
            self.words.push(words);
            self.words.len() - 1
        });
        format!("{NUMBER}{number}")
    }

    /// The records of the suite's templates with the front. `own` has those of their own fronts.
    pub fn records(&self, suite: &Suite, own: &Records) -> Records {
        let mut records = Records::default();
        // The mark `=` means the records of another version of the reference then.
        if self.beside.0 != Reference::of(Dialect::Jinja).identity() {
            return records;
        }
        for (at, (name, Row(asked))) in self.templates.iter().enumerate() {
            let name = TemplateName::new(name);
            let Some(template) = suite.template(&name) else {
                continue;
            };
            let answers = self.answers.iter().filter_map(|(case, line)| {
                let case: CaseId = case.parse().ok()?;
                let mut marks = line.split(' ');
                let input = marks.next()?.parse().ok()?;
                let marks: Vec<&str> = marks.collect();
                let mark = marks.get(if marks.len() == 1 { 0 } else { at })?;
                let answer = self.answer(mark, || own.of(&name)?.cases.get(&case))?;
                Some((case.clone(), RecordEntry { input, answer }))
            });
            let record = Record {
                asked: asked.clone(),
                cases: answers.collect::<HashMap<_, _>>(),
                readings: BTreeMap::new(),
            };
            records.learn(template, record);
        }
        records
    }

    fn answer<'r>(
        &self,
        mark: &str,
        own: impl Fn() -> Option<&'r RecordEntry>,
    ) -> Option<RecordedAnswer> {
        if mark == SAME {
            return own().map(|entry| entry.answer.clone());
        }
        let Some(number) = mark.strip_prefix(NUMBER) else {
            let checksum = mark.parse().ok()?;
            return Some(RecordedAnswer::Checked(OutcomeKind::Rendered, checksum));
        };
        let words = self.words.get(number.parse::<usize>().ok()?)?;
        let (kind, words) = words.split_once(": ")?;
        let message = words.to_owned();
        RecordedAnswer::of(&match OutcomeKind::named(kind)? {
            OutcomeKind::Raised => Outcome::Raised { message },
            OutcomeKind::Exceeded => Outcome::Exceeded {
                limit: Limit::named(words)?,
            },
            _ => Outcome::Failed {
                // The file keeps no stage, and two failures agree whatever theirs are.
                stage: Stage::Input,
                message,
                line: None,
            },
        })
    }

    /// The reason why our front makes something else of a pair, if there is one.
    pub fn reason(&self, pair: &Pair<'_>) -> Option<&str> {
        let name = pair_name(pair);
        let mut known = self.differences.iter();
        known.find_map(|(pattern, reason)| {
            let is_about = Wildcard::new(pattern).is_ok_and(|pattern| pattern.is_match(&name));
            is_about.then_some(reason.as_str())
        })
    }

    /// The cases whose two records do not agree.
    pub fn changes(&self, other: &FrontRecords) -> Vec<String> {
        let is_other = |case: &&String| self.said(case) != other.said(case);
        let mut cases: BTreeSet<&String> = self.answers.keys().collect();
        cases.extend(other.answers.keys());
        cases.into_iter().filter(is_other).cloned().collect()
    }

    /// The marks of a case, with words in the place of numbers.
    fn said(&self, case: &str) -> Vec<&str> {
        let marks = self.answers.get(case).map_or("", String::as_str).split(' ');
        let words = |mark: &str| {
            let number = mark.strip_prefix(NUMBER)?;
            self.words.get(number.parse::<usize>().ok()?)
        };
        marks
            .map(|mark| words(mark).map_or(mark, String::as_str))
            .collect()
    }

    /// Writes the file. Returns whether anything has changed.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, layout: &Layout, front: Front) -> Result<bool, Problem> {
        if FrontRecords::read(layout, front).is_ok_and(|old| old.as_ref() == Some(self)) {
            return Ok(false);
        }
        write_below(&layout.snapshots(), &file(layout, front), rows::text(self)).map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Case, Template};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_application_made_is_found_again() {
        let mut suite = Suite::default();
        for name in ["a", "b"] {
            suite
                .templates
                .push(Template::from_source(name, Dialect::Jinja, "x"));
        }
        for name in ["same", "other", "refused"] {
            let mut case = Case::from_messages(vec![json!({"role": "user", "content": name})]);
            case.id = CaseId::new("f", name);
            suite.cases.push(case);
        }
        let rendered = |text: &str| Outcome::Rendered { text: text.into() };
        let mut own = Records::default();
        for template in &suite.templates {
            let mut record = Record::new(template);
            for case in &suite.cases {
                let input = Fingerprint::of_case(case).into();
                let answer = RecordedAnswer::of(&rendered("own")).unwrap();
                record
                    .cases
                    .insert(case.id.clone(), RecordEntry { input, answer });
            }
            own.learn(template, record);
        }
        suite.use_front(Front::Vllm);
        let outcome = |pair: &Pair<'_>| match (pair.case.id.name(), pair.template.name.as_str()) {
            ("refused", _) => Outcome::Failed {
                stage: Stage::Input,
                message: "No: never.".into(),
                line: None,
            },
            ("other", "b") => rendered("another"),
            _ => rendered("own"),
        };
        let asked: Vec<Rendered<'_>> = pairs(&suite)
            .into_iter()
            .map(|pair| Rendered {
                pair,
                engine: "vllm",
                outcome: outcome(&pair),
            })
            .collect();
        let found = FrontRecords::of(&asked, &own, None);
        let marks = |case: &str| found.answers[case].split_once(' ').unwrap().1.to_owned();
        assert_eq!(marks("f/same"), "=");
        assert_eq!(marks("f/other"), format!("= {}", Checksum::of("another")));
        assert_eq!(marks("f/refused"), "#0");
        assert_eq!(found.said("f/refused")[1], "failed: No: never.");
        let text = rows::text(&found);
        let read: FrontRecords = serde_json::from_str(&text).unwrap();
        assert_eq!(read, found);
        let records = read.records(&suite, &own);
        for Rendered { pair, outcome, .. } in &asked {
            let input = Fingerprint::of_case(pair.case);
            let answer = records.answer(pair, || input).unwrap();
            assert!(answer.agrees(outcome), "{}", pair_name(pair));
            assert!(!answer.agrees(&rendered("a third")), "{}", pair_name(pair));
        }
        assert_eq!(found.changes(&read), [] as [&str; 0]);
        let fewer = FrontRecords::of(&asked[..2], &own, None);
        assert_eq!(found.changes(&fewer), ["f/other", "f/refused"]);
    }
}
