//! Divergences: known, explained differences from the reference.
//!
//! `snapshots/divergences.json` lists them, each with its reason and the SHA-256 of the
//! engine's output at the review. A run fails if a difference is not listed, if a listed
//! one is gone, or if it has changed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::exception::{Exception, Exceptions};
use crate::suite::{Pair, Suite};
use rolecall_core::document::{self, Document};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::json::Node;
use rolecall_core::problem::Problem;
use rolecall_core::wildcard::Wildcard;

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

/// The known differences from the references.
pub type Divergences = Exceptions;

/// Reads `snapshots/divergences.json`; without the file the list is empty.
pub fn read(path: &Path) -> Result<Divergences, Vec<Problem>> {
    Exceptions::read(path, &RULES, |document, entry| {
        read_entry(document, entry).into_iter().collect()
    })
}

impl Exceptions {
    /// The entry about an engine and a pair.
    pub(crate) fn about(&self, engine: &str, pair: &Pair<'_>) -> Option<&Exception> {
        self.find(engine, &pair_name(pair))
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
            if !engines.contains(&entry.of.as_str()) {
                complain(format!("no engine is named `{}`", entry.of));
                continue;
            }
            let names: Vec<String> = suite
                .pairs()
                .map(|pair| pair_name(&pair))
                .filter(|name| entry.covers(name))
                .collect();
            if names.is_empty() {
                let (template, case) = entry.place.split_once(':').unwrap_or_default();
                complain(format!(
                    "no template matching `{template}` has a case matching `{case}`"
                ));
            }
            for name in entry.observed.keys().filter(|name| !names.contains(name)) {
                complain(format!("`{name}` is not a pair of this entry"));
            }
        }
        problems
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

static RULES: LazyLock<Value> =
    LazyLock::new(|| document::schema(include_str!("divergences.schema.json")));

fn read_entry(document: &mut Document<'_>, entry: &Node<'_>) -> Option<Exception> {
    let reason = entry.get("reason")?;
    document.check_reason(reason, "`reason`");
    for key in ["template", "case"] {
        let pattern = entry.get(key)?;
        if let Err(error) = Wildcard::new(pattern.text()?) {
            document.problem(pattern.range.start, error.to_string(), None);
        }
    }
    let place = [entry.text_of("template")?, entry.text_of("case")?].join(":");
    let mut fingerprint = |value: &Node<'_>, of: &str| {
        let hash = value.text()?.parse();
        let hash = hash.map_err(|error| {
            document.problem(value.range.start, format!("`{of}`: {error}"), None);
        });
        Some((of.to_owned(), hash.ok()?))
    };
    // One fingerprint for one pair, or an object from pairs to fingerprints.
    let value = entry.get("observed")?;
    let observed = if value.text().is_some() {
        let hash = fingerprint(value, "observed")?.1;
        // Each pair has its own output: one fingerprint cannot say of all of them what was reviewed.
        if place.contains(['*', '?', '[', '{', '\\']) {
            let help = "for a glob, write an object: {\"template:family/name\": \"…\"}";
            let message = "one `observed` for many pairs";
            document.problem(value.range.start, message, Some(help.to_owned()));
        }
        BTreeMap::from([(place.clone(), hash)])
    } else {
        let fields = value.fields().iter();
        fields
            .filter_map(|field| fingerprint(&field.value, &field.name))
            .collect()
    };
    let reason = reason.text()?.to_owned();
    let position = document.position(entry.range.start);
    Some(Exception {
        of: entry.text_of("engine")?,
        issue: entry.text_of("issue"),
        observed,
        ..Exception::new(&place, reason, position).ok()?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::{Case, CaseId, Dialect, Template};

    fn parse(text: &str) -> Result<Divergences, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("divergences.json");
        std::fs::write(&path, text).unwrap();
        read(&path).map_err(|problems| {
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
                "`[0]` of the list has no `reason`",
            ),
            (
                r#"{"engine": "e", "template": "t", "case": "c", "reason": "r"}"#.to_owned(),
                "`[0]` of the list has no `observed`",
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
