//! Divergences: known, explained differences from the reference.
//!
//! `snapshots/divergences.json` lists them, each with its reason and the SHA-256 of the
//! engine's output at the review. A run fails if a difference is not listed, if a listed
//! one is gone, or if it has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use serde_json::json;

use crate::suite::{Pair, Suite};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::invocation;
use rolecall_core::json::{self, JsonDocument};
use rolecall_core::problem::{Position, Problem};
use rolecall_core::reason::is_reason;
use rolecall_core::root::text_if_there;
use rolecall_core::wildcard::Wildcard;

#[derive(Debug, Default)]
pub struct Divergences {
    path: PathBuf,
    entries: Vec<Divergence>,
}

#[derive(Debug)]
pub struct Divergence {
    pub engine: String,
    pub template: String,
    pub case: String,
    /// Why they differ, and why that is left so.
    pub reason: String,
    pub issue: Option<String>,
    /// The fingerprint of the engine's transcript at the review, by pair.
    pub observed: BTreeMap<String, Fingerprint>,
    templates: Wildcard,
    cases: Wildcard,
    position: Position,
}

/// Whether a difference is listed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Listed {
    No,
    /// It is listed, and has not changed since the review.
    Known {
        /// Why it differs.
        reason: String,
    },
    /// It is listed, but the engine's output has changed since the review.
    Changed {
        /// Why it differed.
        reason: String,
    },
}

/// A pair's name in the list, and as a filter: `template:family/name`.
pub fn pair_name(pair: &Pair<'_>) -> String {
    format!("{}:{}", pair.template.name, pair.case.id)
}

impl Divergences {
    /// Reads `snapshots/divergences.json`; without the file the list is empty.
    pub fn read(path: &Path) -> Result<Divergences, Vec<Problem>> {
        let Some(text) = text_if_there(path).map_err(|problem| vec![problem])? else {
            return Ok(Divergences::default());
        };
        let examined = json::examine(path, &text, |document, root| {
            let entries = document.array(root, "the list of divergences")?;
            let read = |entry: &ast::Value<'_>| {
                let position = Position::of(&text, entry.start());
                self::read(document, entry, position)
            };
            let entries: Vec<_> = entries.iter().map(read).collect();
            entries.into_iter().collect::<Option<Vec<_>>>()
        });
        match examined.value {
            Some(entries) if examined.problems.is_empty() => Ok(Divergences {
                path: path.to_path_buf(),
                entries,
            }),
            _ => Err(examined.problems),
        }
    }

    /// All of them, in the order of the file.
    pub fn entries(&self) -> &[Divergence] {
        &self.entries
    }

    /// The entry about an engine and a pair.
    pub fn about(&self, engine: &str, pair: &Pair<'_>) -> Option<&Divergence> {
        self.entries
            .iter()
            .find(|entry| entry.engine == engine && entry.matches(pair))
    }

    /// Whether a difference is listed. `observed` is the fingerprint of the engine's
    /// transcript.
    pub fn listed(&self, engine: &str, pair: &Pair<'_>, observed: Fingerprint) -> Listed {
        match self.about(engine, pair) {
            None => Listed::No,
            Some(entry) => {
                let reason = entry.reason.clone();
                if entry.observed.get(&pair_name(pair)) == Some(&observed) {
                    Listed::Known { reason }
                } else {
                    Listed::Changed { reason }
                }
            }
        }
    }

    /// Whether a pair is listed as a divergence of an engine.
    pub(crate) fn has_seen(&self, engine: &str, pair: &Pair<'_>) -> bool {
        self.about(engine, pair)
            .is_some_and(|entry| entry.observed.contains_key(&pair_name(pair)))
    }

    /// Whether a pair is listed as a divergence of any engine.
    pub fn has_seen_any(&self, pair: &Pair<'_>) -> bool {
        let name = pair_name(pair);
        self.entries
            .iter()
            .any(|entry| entry.observed.contains_key(&name))
    }

    /// Entries that can never apply, because their engine or their pairs do not exist.
    pub fn unreachable(&self, suite: &Suite, engines: &[&str]) -> Vec<Problem> {
        let mut problems = Vec::new();
        for entry in &self.entries {
            let mut complain = |message: String| {
                problems.push(
                    Problem::new(&self.path, message)
                        .at(entry.position)
                        .help("remove the entry, or restore its engine, template or case"),
                );
            };
            if !engines.contains(&entry.engine.as_str()) {
                complain(format!("no engine is named `{}`", entry.engine));
                continue;
            }
            let names: Vec<String> = suite
                .pairs()
                .filter(|pair| entry.matches(pair))
                .map(|pair| pair_name(&pair))
                .collect();
            if names.is_empty() {
                complain(format!(
                    "no template matching `{}` has a case matching `{}`",
                    entry.template, entry.case
                ));
            }
            for name in entry.observed.keys().filter(|name| !names.contains(name)) {
                complain(format!("`{name}` is not a pair of this entry"));
            }
        }
        problems
    }
}

impl Divergence {
    /// Whether it is about a pair, whatever the engine.
    pub fn matches(&self, pair: &Pair<'_>) -> bool {
        self.templates.is_match(pair.template.name.as_str())
            && self.cases.is_match(&pair.case.id.to_string())
    }
}

/// The entry for a difference, ready to paste after a person adds the reason.
pub fn draft(engine: &str, pair: &Pair<'_>, observed: Fingerprint) -> String {
    let quoted = |text: &str| json!(text).to_string();
    format!(
        "{{\"engine\": {}, \"template\": {}, \"case\": {}, \"reason\": \"…\", \"observed\": \"{observed}\"}}",
        quoted(engine),
        quoted(pair.template.name.as_str()),
        quoted(&pair.case.id.to_string()),
    )
}

fn read(
    document: &mut JsonDocument<'_>,
    entry: &ast::Value<'_>,
    position: Position,
) -> Option<Divergence> {
    let known = ["engine", "template", "case", "reason", "issue", "observed"].map(str::to_owned);
    let fields = document.fields(entry, "a divergence", &known)?;
    let mut text = |name: &str| {
        let Some(value) = fields.get(name) else {
            document.problem(entry, format!("the divergence has no `{name}`"));
            return None;
        };
        let text = document.string(value, &format!("`{name}`"))?;
        if !is_reason(&text) {
            document.problem(value, format!("`{name}` is not filled in"));
            return None;
        }
        Some(text)
    };
    let (engine, template, case, reason) = (
        text("engine"),
        text("template"),
        text("case"),
        text("reason"),
    );
    let issue = match fields.get("issue") {
        Some(value) => Some(document.string(value, "`issue`")?),
        None => None,
    };
    let (engine, template, case, reason) = (engine?, template?, case?, reason?);
    let mut glob = |name: &str, pattern: &str| match Wildcard::new(pattern) {
        Ok(wildcard) => Some(wildcard),
        Err(error) => {
            document.problem(fields.get(name)?, error.to_string());
            None
        }
    };
    let (templates, cases) = (glob("template", &template), glob("case", &case));
    let Some(value) = fields.get("observed") else {
        document.problem_with(
            entry,
            "the divergence has no `observed`",
            Some(format!(
                "`{}` prints the entry of a difference",
                invocation::command("run")
            )),
        );
        return None;
    };
    let observed = read_observed(document, value, &template, &case)?;
    Some(Divergence {
        templates: templates?,
        cases: cases?,
        engine,
        template,
        case,
        reason,
        issue,
        observed,
        position,
    })
}

/// One fingerprint for one pair, or an object from pairs to fingerprints.
fn read_observed(
    document: &mut JsonDocument<'_>,
    value: &ast::Value<'_>,
    template: &str,
    case: &str,
) -> Option<BTreeMap<String, Fingerprint>> {
    let mut fingerprint = |value: &ast::Value<'_>| {
        let text = document.string(value, "`observed`")?;
        text.parse()
            .map_err(|error| document.problem(value, format!("`observed`: {error}")))
            .ok()
    };
    let is_glob = |text: &str| text.contains(['*', '?', '[', '{', '\\']);
    if let ast::Value::Object(_) = value {
        let entries = document.entries(value, "`observed`")?;
        let mut observed = BTreeMap::new();
        for (name, property) in entries {
            let text = document.string(&property.value, &format!("`{name}`"))?;
            match text.parse() {
                Ok(hash) => {
                    observed.insert(name.to_owned(), hash);
                }
                Err(error) => document.problem(&property.value, format!("`{name}`: {error}")),
            }
        }
        return Some(observed);
    }
    let hash = fingerprint(value)?;
    if is_glob(template) || is_glob(case) {
        document.problem_with(
            value,
            "one `observed` for many pairs",
            Some("for a glob, write an object: {\"template:family/name\": \"…\"}".to_owned()),
        );
        return None;
    }
    Some(BTreeMap::from([(format!("{template}:{case}"), hash)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::{Case, CaseId, Dialect, Template};

    fn parse(text: &str) -> Result<Divergences, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("divergences.json");
        std::fs::write(&path, text).unwrap();
        Divergences::read(&path).map_err(|problems| {
            problems
                .into_iter()
                .map(|problem| problem.message)
                .collect()
        })
    }

    fn suite() -> Suite {
        let mut case = Case::from_messages(vec![]);
        case.id = CaseId::new("plain", "one");
        Suite {
            templates: ["qwen", "chatml"]
                .map(|name| Template::from_source(name, Dialect::Jinja, "x"))
                .into(),
            cases: vec![case],
            ..Suite::default()
        }
    }

    #[test]
    fn a_difference_is_listed_changed_or_not_there() {
        let suite = suite();
        let pairs: Vec<_> = suite.pairs().collect();
        let (seen, other) = (Fingerprint::of("a"), Fingerprint::of("b"));
        let draft = draft("e", &pairs[0], seen).replace('…', "Because.");
        let list = parse(&format!("[{draft}]")).unwrap();
        let known = Listed::Known {
            reason: "Because.".into(),
        };
        assert_eq!(list.listed("e", &pairs[0], seen), known);
        assert!(list.has_seen("e", &pairs[0]) && !list.has_seen("e", &pairs[1]));
        assert!(matches!(
            list.listed("e", &pairs[0], other),
            Listed::Changed { .. }
        ));
        assert_eq!(list.listed("e", &pairs[1], seen), Listed::No);
        assert_eq!(list.listed("f", &pairs[0], seen), Listed::No);

        let glob = format!(
            r#"[{{"engine": "e", "template": "*", "case": "plain/*", "reason": "x", "observed": {{"chatml:plain/one": "{seen}"}}}}]"#
        );
        let list = parse(&glob).unwrap();
        assert!(matches!(
            list.listed("e", &pairs[0], seen),
            Listed::Changed { .. }
        ));
        assert!(matches!(
            list.listed("e", &pairs[1], seen),
            Listed::Known { .. }
        ));
        assert!(list.unreachable(&suite, &["e"]).is_empty());
    }

    #[test]
    fn what_cannot_apply_is_found() {
        let suite = suite();
        let hash = Fingerprint::of("");
        let list = parse(&format!(
            r#"[{{"engine": "x", "template": "qwen", "case": "plain/one", "reason": "r", "observed": "{hash}"}},
                {{"engine": "e", "template": "gone", "case": "plain/one", "reason": "r", "observed": {{}}}},
                {{"engine": "e", "template": "qwen", "case": "*", "reason": "r", "observed": {{"chatml:plain/one": "{hash}"}}}}]"#
        ))
        .unwrap();
        let messages: Vec<_> = list
            .unreachable(&suite, &["e"])
            .into_iter()
            .map(|problem| problem.message)
            .collect();
        assert_eq!(
            messages,
            [
                "no engine is named `x`",
                "no template matching `gone` has a case matching `plain/one`",
                "`chatml:plain/one` is not a pair of this entry",
            ]
        );
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        let hash = Fingerprint::of("");
        for (entry, message) in [
            (
                format!(
                    r#"{{"engine": "e", "template": "t", "case": "c", "reason": "…", "observed": "{hash}"}}"#
                ),
                "`reason` is not filled in",
            ),
            (
                format!(r#"{{"engine": "e", "template": "t", "case": "c", "observed": "{hash}"}}"#),
                "the divergence has no `reason`",
            ),
            (
                r#"{"engine": "e", "template": "t", "case": "c", "reason": "r"}"#.to_owned(),
                "the divergence has no `observed`",
            ),
            (
                format!(
                    r#"{{"engine": "e", "template": "t*", "case": "c", "reason": "r", "observed": "{hash}"}}"#
                ),
                "one `observed` for many pairs",
            ),
            (
                r#"{"engine": "e", "template": "t", "case": "c", "reason": "r", "observed": "1"}"#
                    .to_owned(),
                "`observed`: `1` is not a SHA-256: 64 lower-case hexadecimal digits",
            ),
        ] {
            assert_eq!(parse(&format!("[{entry}]")).unwrap_err(), [message]);
        }
    }
}
