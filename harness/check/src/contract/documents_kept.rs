use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use crate::probe::catalogue::{
    DOCUMENT, DOCUMENT_TEXT, DOCUMENT_TOOLS, DOCUMENT_TOOLS_TURN, DOCUMENT_TURN, SYSTEM_DOCUMENT,
    SYSTEM_DOCUMENT_TOOLS, TOOLS, TWO_DOCUMENTS, USER,
};
use crate::probe::{ProbeOutcome, Prober, Requirement, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "documents-kept",
    meaning: "where documents change the prompt, each of them is in it with its text",
    guards_against: "answers from one document of many, or from titles alone",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("documents_kept.md"),
    judge: |tally, prober, _| {
        let (none, one, two) = (
            prober.see(USER),
            prober.see(DOCUMENT),
            prober.see(TWO_DOCUMENTS),
        );
        if tally.text(&one).is_none() || tally.text(&two).is_none() {
            return;
        }
        let is_given = prober.input_style().given == Requirement::Documents;
        if !is_given && none.outcome == one.outcome {
            return tally.skip("documents do not change the prompt");
        }
        let missing = match (two.has(words::DOCUMENT), two.has(words::SECOND_DOCUMENT)) {
            (true, true) => None,
            (false, false) => Some("the texts of documents are not in the prompt"),
            (true, false) => Some("the second of two documents is not in the prompt"),
            (false, true) => Some("the first of two documents is not in the prompt"),
        };
        match missing {
            None => tally.holds(),
            Some(what) => tally.broken(Evidence::one(what, &two)),
        }
        numbers_differ(tally, &two);
        first_ends_too(tally, &one, &two);
        if one.has(words::DOCUMENT) {
            other_conversations(tally, prober);
        }
    },
};

/// Demands that two documents do not have one number, where they have some.
fn numbers_differ(tally: &mut Tally, two: &ProbeOutcome) {
    let (Some(first), Some(between)) = (
        two.before(words::DOCUMENT),
        two.between(words::DOCUMENT, words::SECOND_DOCUMENT),
    ) else {
        return;
    };
    let last_number = |text: &str| -> Option<String> {
        let text = text.cut(text.ceil_char_boundary(text.len().saturating_sub(80))..);
        let mut numbers = text
            .split(|c: char| !c.is_ascii_digit())
            .filter(|word| !word.is_empty());
        numbers.next_back().map(str::to_owned)
    };
    if let (Some(one), Some(other)) = (last_number(first), last_number(between)) {
        tally.demand_with(Severity::Warning, one != other, || {
            let what = format!("two documents have the same number, {one}");
            Evidence::one(what, two).at(two.find(words::SECOND_DOCUMENT))
        });
    }
}

/// Demands that the first of two documents ends with the token that ends a single one, where the second
/// opens with a token.
fn first_ends_too(tally: &mut Tally, one: &ProbeOutcome, two: &ProbeOutcome) {
    let (Some(after), Some(between)) = (
        one.after(words::DOCUMENT),
        two.between(words::DOCUMENT, words::SECOND_DOCUMENT),
    ) else {
        return;
    };
    let ends = control_tokens_in(after).next();
    let ends = ends.filter(|token| after.trim_start().starts_with(token));
    let mut tokens = control_tokens_in(between).peekable();
    if let Some(end) = ends
        && tokens.peek().is_some()
    {
        tally.demand(tokens.any(|token| token == end), || {
            let what = format!("the first of two documents does not end with `{end}`");
            Evidence::one(what, two).at(two.find(words::DOCUMENT))
        });
    }
}

/// Demands the document in other conversations, too, and there once: with its text under the name
/// that transformers documents, with a system message, with tools, and with a second question.
fn other_conversations(tally: &mut Tally, prober: &Prober<'_>) {
    let (usual, tools) = (prober.see(DOCUMENT), prober.see(TOOLS));
    // A document of the probes may have its text under two names.
    let once = usual.count(words::DOCUMENT);
    for probe in [
        DOCUMENT_TEXT,
        SYSTEM_DOCUMENT,
        DOCUMENT_TURN,
        DOCUMENT_TOOLS,
        SYSTEM_DOCUMENT_TOOLS,
        DOCUMENT_TOOLS_TURN,
    ] {
        let seen = prober.see(probe);
        let Some(_) = tally.text(&seen) else {
            continue;
        };
        let count = seen.count(words::DOCUMENT);
        tally.demand(count > 0, || {
            Evidence::one(
                format!("the document is not in the prompt: {}", probe.about),
                &seen,
            )
        });
        tally.demand_with(Severity::Warning, count <= once, || {
            let what = format!("the document is in the prompt again: {}", probe.about);
            Evidence::one(what, &seen).at(seen.find_again(words::DOCUMENT))
        });
        let has_tools = seen.asked.tools.is_some() && tools.has(words::TOOL_ABOUT);
        if has_tools {
            tally.demand_with(Severity::Warning, seen.has(words::TOOL_ABOUT), || {
                let what = format!(
                    "the tools are not in the prompt of a conversation with a document: {}",
                    probe.about
                );
                Evidence::one(what, &seen)
            });
        }
    }
}
