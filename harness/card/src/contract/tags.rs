//! The contract that tags of calls and results which come in pairs do come in pairs.

use std::collections::BTreeSet;

use rolecall_model::Dialect;

use super::definition::Contract;
use super::evidence::Evidence;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::control_tokens_in;
use crate::capability::GenerationPrompt;
use crate::probe::catalogue::{CALL, CALL_RESULT, PARALLEL, TWO_ROUNDS, TWO_TURNS};
use crate::probe::words;

pub(super) static TAGS_PAIRED: Contract = Contract {
    id: "tags-paired",
    meaning: "each tag that opens a call or a result is closed by its partner",
    guards_against: "a call that never ends, because its closing tag was lost",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/tags-paired.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        let turns = prober.see(TWO_TURNS);
        let opening = match &capabilities.generation_prompt {
            GenerationPrompt::Suffix { text } => text.as_str(),
            _ => "",
        };
        // The tags of turns are judged elsewhere.
        let of_turns: BTreeSet<&str> = control_tokens_in(turns.text().unwrap_or_default())
            .chain(control_tokens_in(opening))
            .collect();
        let source = prober.source_without_comments();
        for probe in [CALL, CALL_RESULT, PARALLEL, TWO_ROUNDS] {
            let seen = prober.see(probe);
            let (Some(text), Some(question)) = (tally.text(&seen), seen.find(words::USER)) else {
                continue;
            };
            let said = &text[question.end..];
            let tags: BTreeSet<&str> = control_tokens_in(said)
                .filter(|tag| !of_turns.contains(tag))
                .collect();
            for tag in tags {
                let Some(partner) = partner(tag) else {
                    continue;
                };
                let is_pair = source.contains(&partner) || text.contains(&partner);
                if !is_pair || of_turns.contains(partner.as_str()) {
                    continue;
                }
                let (opened, closed) = (said.matches(tag).count(), said.matches(&partner).count());
                tally.demand(opened <= closed, || {
                    let at = text[question.end..].rfind(tag).map(|at| at + question.end);
                    let what = format!("`{tag}` is not closed by `{partner}`");
                    Evidence::one(what, &seen).at(at.map(|at| at..at + tag.len()))
                });
            }
        }
        tally.judgement()
    },
};

/// The tag that closes what a tag opens, by its form: `</x>` for `<x>`, `end` for `begin` and
/// `start`.
fn partner(tag: &str) -> Option<String> {
    for (opens, closes) in [
        ("start", "end"),
        ("begin", "end"),
        ("START", "END"),
        ("BEGIN", "END"),
    ] {
        if tag.contains(opens) {
            return Some(tag.replacen(opens, closes, 1));
        }
    }
    let open = tag.chars().next()?;
    let inside = &tag[1..];
    let name = inside.trim_start_matches(['|', '｜']);
    if name.starts_with('/') || name.contains("end") || name.contains("END") {
        return None;
    }
    let bar = &inside[..inside.len() - name.len()];
    Some(format!("{open}{bar}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_are_known_by_their_form() {
        for (tag, expected) in [
            ("<tool_call>", Some("</tool_call>")),
            ("[TOOL_RESULTS]", Some("[/TOOL_RESULTS]")),
            ("<｜tool▁call▁begin｜>", Some("<｜tool▁call▁end｜>")),
            ("<start_function_call>", Some("<end_function_call>")),
            ("</tool_call>", None),
            ("<|tool|>", Some("<|/tool|>")),
            ("<|/tool|>", None),
            ("<end_function_call>", None),
        ] {
            assert_eq!(partner(tag).as_deref(), expected, "{tag}");
        }
    }
}
