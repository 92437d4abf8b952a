//! Known defects: a file that `check` writes, so that later checks count only new defects.
//!
//! The defects are those of a template, not of a name: an entry says in which file the template is,
//! seen from the folder of this file, and what its source was. It holds for that file, whatever it
//! contains by now, and for that source, wherever it is by now.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use rolecall_core::{Template, TemplatePart};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::card::Card;
use crate::contract::{self, Judgement, Severity};
use rolecall_core::file::{folder_of, read_text};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::json;
use rolecall_core::problem::{Note, Problem};
use rolecall_io::template_file::sidecar;

/// The version of the file format.
const VERSION: u32 = 2;

/// Known defects by template and contract, each with its severity when the file was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDefects {
    rolecall: u32,
    known: Vec<KnownTemplate>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownTemplate {
    /// Its name, for people.
    template: String,
    /// Its file, seen from the folder of the list.
    path: String,
    /// The key of the file that it is the value of, if it is not the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    sha256: Fingerprint,
    contracts: BTreeMap<String, Severity>,
}

impl KnownTemplate {
    /// Whether these are the defects of a template: of the same part of the same file, or of the same
    /// source. `folder` is that of the list.
    fn is_of(&self, template: &Template, folder: &Path) -> bool {
        let is_there = || {
            let known = folder.join(&self.path).canonicalize().ok();
            known.is_some() && known == template.path.canonicalize().ok()
        };
        self.sha256 == Fingerprint::of_source(template)
            || self.part == part_of(template) && is_there()
    }
}

/// The key of a template that is the value of one.
fn part_of(template: &Template) -> Option<String> {
    match &template.part {
        TemplatePart::Key(key) => Some(key.clone()),
        TemplatePart::Whole | TemplatePart::Line(_) => None,
    }
}

/// A path as it is seen from a folder, with slashes on every system. A path that nothing leads to
/// stays as it is.
fn seen_from(folder: &Path, path: &Path) -> String {
    let relative = || {
        let (folder, path) = (folder.canonicalize().ok()?, path.canonicalize().ok()?);
        let both = folder.components().zip(path.components());
        let shared = both.take_while(|(one, other)| one == other).count();
        if shared == 0 {
            return None;
        }
        let up = folder
            .components()
            .skip(shared)
            .map(|_| Component::ParentDir);
        Some(
            up.chain(path.components().skip(shared))
                .collect::<PathBuf>(),
        )
    };
    let path = relative().unwrap_or_else(|| path.to_path_buf());
    path.display().to_string().replace('\\', "/")
}

fn template_of<'t>(card: &Card, templates: &'t [Template]) -> Option<&'t Template> {
    let mut templates = templates.iter();
    templates.find(|template| template.name.as_str() == card.template)
}

impl KnownDefects {
    /// The unexplained defects of report cards, for a file at `path`. A template that cannot be read
    /// is left out, because no report should ever hide that.
    pub fn of(path: &Path, cards: &[Card], templates: &[Template]) -> KnownDefects {
        let mut known = Vec::new();
        for card in cards.iter().filter(|card| card.syntax_error.is_none()) {
            let Some(template) = template_of(card, templates) else {
                continue;
            };
            let contracts: BTreeMap<String, Severity> = card
                .unexplained()
                .filter(|finding| *finding.contract != contract::INTERNAL_ERROR)
                .map(|finding| (finding.contract.id.to_owned(), finding.severity()))
                .collect();
            if !contracts.is_empty() {
                known.push(KnownTemplate {
                    template: card.template.clone(),
                    path: seen_from(folder_of(path), &template.path),
                    part: part_of(template),
                    sha256: Fingerprint::of_source(template),
                    contracts,
                });
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
        let file: Value = json::read(path, &text, "JSON").map_err(|one| one.help(help))?;
        let version = file.get("rolecall").and_then(Value::as_u64);
        if let Some(version) = version.filter(|version| *version != u64::from(VERSION)) {
            let message =
                format!("has version {version}, but this program reads version {VERSION}");
            return Err(Problem::new(path, message)
                .help("`rolecall check --write-baseline` writes it again"));
        }
        let known: KnownDefects =
            json::read(path, &text, "a baseline").map_err(|one| one.help(help))?;
        for id in known.known.iter().flat_map(|one| one.contracts.keys()) {
            contract::find(id).map_err(|message| Problem::new(path, message))?;
        }
        Ok(known)
    }

    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    pub fn count(&self) -> usize {
        self.known.iter().map(|one| one.contracts.len()).sum()
    }

    /// Marks each defect as known if it is no worse than in the file. Returns a problem for each known
    /// defect that is no longer one, and a note for each contract that no longer applies and for each
    /// template that has only the name of a known one.
    pub fn apply(
        &self,
        path: &Path,
        cards: &mut [Card],
        templates: &[Template],
    ) -> (Vec<Problem>, Vec<Note>) {
        let (mut stale, mut notes) = (Vec::new(), Vec::new());
        for card in cards.iter_mut().filter(|card| card.syntax_error.is_none()) {
            let Some(template) = template_of(card, templates) else {
                continue;
            };
            let mut known = self.known.iter();
            let Some(known) = known.find(|known| known.is_of(template, folder_of(path))) else {
                let mut named = self.known.iter();
                if let Some(other) = named.find(|known| known.template == card.template) {
                    let message = format!(
                        "knows a template named {}, but another one: that of {}",
                        other.template, other.path
                    );
                    notes.push(Note::new(path, message));
                }
                continue;
            };
            for finding in &mut card.findings {
                let Some(was) = known.contracts.get(finding.contract.id) else {
                    continue;
                };
                if !finding.is_defect() {
                    let (template, id) = (&card.template, finding.contract.id);
                    let message =
                        format!("`{id}` is in the baseline for {template} but no longer broken");
                    // What does not apply here may be broken elsewhere, for example with a tokenizer.
                    if finding.judgement == Judgement::Holds {
                        let help = "write the file again: `rolecall check --write-baseline`";
                        stale.push(Problem::new(path, message).help(help));
                    } else {
                        notes.push(Note::new(path, message));
                    }
                } else if finding.severity() >= *was && finding.deliberate.is_none() {
                    finding.deliberate = Some(format!("It is in {}.", path.display()));
                }
            }
        }
        (stale, notes)
    }
}

/// Whether a file is a baseline, of any version.
pub fn is_baseline(path: &Path) -> bool {
    let text = read_text(path).unwrap_or_default();
    let file: Value = serde_json::from_str(&text).unwrap_or_default();
    file.get("rolecall").is_some_and(Value::is_u64)
        && file.get("known").is_some_and(Value::is_array)
}

/// The contracts that a template keeps although its `broken` has a reason why it does not. One that does not apply may be broken elsewhere, for example with a tokenizer.
pub fn unused_reasons(card: &Card) -> Vec<&'static str> {
    let unused = card.overexplained();
    let unused = unused.filter(|finding| finding.judgement == Judgement::Holds);
    unused.map(|finding| finding.contract.id).collect()
}

/// Problems for the names in templates' `broken` that no contract has.
pub fn unknown_contracts(templates: &[Template]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for template in templates {
        let own_sidecar = sidecar(&template.path);
        let path = if own_sidecar.is_file() {
            own_sidecar
        } else {
            template.path.clone()
        };
        for (id, _) in &template.broken {
            if let Err(message) = contract::find(id) {
                problems.push(Problem::new(&path, format!("`broken`: {message}")));
            }
        }
    }
    problems
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rolecall_core::Dialect;
    use rolecall_jinja::JinjaEngine;

    use super::*;
    use crate::card::examine;

    fn template(path: &Path, source: &str) -> Template {
        let mut template = Template::from_source("t", Dialect::Jinja, source);
        template.path = path.to_path_buf();
        template
    }

    fn card(template: &Template) -> Card {
        examine(&JinjaEngine::new(), template)
    }

    const LEAKS: &str = "{% if tools %}{{ tools }}{% endif %}{% for m in messages %}\
                         <{{ m.role }}>{{ m.content }}{% endfor %}<assistant>";

    #[test]
    fn what_is_known_counts_no_more_until_it_is_worse() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        let file = folder.path().join("t.jinja");
        std::fs::write(&file, LEAKS).unwrap();
        let leaks = [template(&file, LEAKS)];
        let known = KnownDefects::of(&path, &[card(&leaks[0])], &leaks);
        assert!(known.count() > 1);
        std::fs::write(&path, known.text()).unwrap();
        let known = KnownDefects::read(&path).unwrap();
        let mut cards = vec![card(&leaks[0])];
        assert_eq!(known.apply(&path, &mut cards, &leaks), (vec![], vec![]));
        assert_eq!(cards[0].unexplained().count(), 0);
        // Another defect is new, and a defect that is gone is reported.
        let other = LEAKS.replace("{{ tools }}", "{{ tools | tojson }}{{ messages | length }}");
        let others = [template(&file, &other)];
        let mut cards = vec![card(&others[0])];
        let (stale, _) = known.apply(&path, &mut cards, &others);
        assert!(stale.iter().any(|problem| {
            problem
                .message
                .starts_with("`no-repr-leak` is in the baseline for t")
        }));
        assert!(cards[0].unexplained().count() > 0);
    }

    #[test]
    fn what_is_known_is_of_a_file_or_of_a_source_and_not_of_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        };
        let path = folder.path().join("lists/known.json");
        std::fs::create_dir(folder.path().join("lists")).unwrap();
        let first = template(&place("a/t.jinja"), LEAKS);
        let known = KnownDefects::of(&path, &[card(&first)], std::slice::from_ref(&first));
        assert_eq!(known.known[0].path, "../a/t.jinja");
        let left = |template: Template| {
            let mut cards = vec![card(&template)];
            let (_, notes) = known.apply(&path, &mut cards, std::slice::from_ref(&template));
            (cards[0].unexplained().count() > 0, notes.len())
        };
        let changed = format!("{LEAKS}\n");
        assert_eq!(left(template(&first.path, &changed)), (false, 0));
        assert_eq!(left(template(&place("b/t.jinja"), LEAKS)), (false, 0));
        // The name is the same, and nothing else.
        assert_eq!(left(template(&place("b/t.jinja"), &changed)), (true, 1));
    }

    #[test]
    fn a_name_that_is_none_is_reported_with_the_one_that_was_meant() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        let text = format!(
            r#"{{"rolecall": 2, "known": [{{"template": "t", "path": "t.jinja", "sha256": "{}", "contracts": {{"one-boss": "error"}}}}]}}"#,
            Fingerprint::of("")
        );
        std::fs::write(&path, text).unwrap();
        let problem = KnownDefects::read(&path).unwrap_err();
        assert_eq!(
            problem.message,
            "there is no contract `one-boss`; did you mean `one-bos`?"
        );
        std::fs::write(&path, "{\"rolecall\": 2,\n \"knwon\": {}}").unwrap();
        let problem = KnownDefects::read(&path).unwrap_err();
        assert!(problem.to_string().contains("known.json:2:"), "{problem}");
        std::fs::write(&path, "{\"rolecall\": 1, \"known\": {}}").unwrap();
        let problem = KnownDefects::read(&path).unwrap_err();
        assert!(problem.to_string().contains("writes it again"), "{problem}");
    }
}
