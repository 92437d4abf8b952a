use std::rc::Rc;

use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::reasoning::mark_at;
use super::shared::tokens::control_tokens;
use super::shared::vocabulary::tokenizer;
use crate::probe::catalogue::{
    CALL_RESULT, IMAGE, REASONED, SYSTEM_TURNS, TOOLS, TWO_TURNS, USER, VIDEO,
};
use crate::probe::{Probe, ProbeOutcome, Prober};
use crate::tokenizer::{TokenKind, Tokenizer};

/// A token with bars that the model does not have is misspelt if the model has a similar one, and
/// forgotten if the model has others of its kind. Some models have only plain text markers. Tags
/// and words in brackets are plain text in many templates, so they are reported only if they
/// resemble a token of the model that the template never writes.
pub(super) static CONTRACT: Contract = Contract {
    id: "control-tokens-known",
    meaning: "every control token that the template writes is a token of the model",
    guards_against: "a misspelt token, which the model reads as ordinary letters",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("control_tokens_known.md"),
    judge: |tally, prober, _| {
        let Some(tokenizer) = tokenizer(tally, prober) else {
            return;
        };
        let seen: Vec<_> = TELLING.iter().map(|probe| prober.see(*probe)).collect();
        let written = written(prober, &seen);
        let is_written = |token: &str| written.iter().any(|one| one.token == token);
        let (known, unknown): (Vec<_>, Vec<_>) = written
            .iter()
            .partition(|one| tokenizer.is_token(&one.token));
        let has_barred = known.iter().any(|one| is_barred(&one.token));
        if !known.is_empty() {
            tally.holds();
        }
        for one in known {
            cut_as_one(tally, tokenizer, &one.token, &seen);
        }
        let mut plain: Vec<&str> = Vec::new();
        for one in unknown {
            let WrittenToken { token, seen, line } = one;
            let near = tokenizer.nearest(token);
            let near = near.filter(|near| token.replace('/', "") != near.replace('/', ""));
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            let none = format!("{place}`{token}` is not a token of the model");
            let evidence = |what| {
                let Some(seen) = seen else {
                    return Evidence::of_source(what).in_line(*line);
                };
                let at = seen.text().and_then(|text| text.find(token.as_str()));
                Evidence::one(what, seen).at(at.map(|at| at..at + token.len()))
            };
            match near {
                Some(near) if is_barred(token) => {
                    tally.broken(evidence(format!("{none}; `{near}` is")));
                }
                Some(near) if token.len() > 7 && !is_written(near) => {
                    let what = format!("{none}; `{near}`, which the template never writes, is");
                    tally.broken(evidence(what).with(Severity::Warning));
                }
                _ if let Some(kin) = of_its_kind(tokenizer, token, &is_written) => {
                    let what = format!("{none}; `{kin}`, which the template never writes, is");
                    tally.broken(evidence(what).with(Severity::Warning));
                }
                _ if !is_barred(token) || seen.is_none() => {}
                _ if has_barred => {
                    let what = format!("{none}, although others that the template writes are");
                    tally.broken(evidence(what));
                }
                _ => plain.push(token),
            }
        }
        if let (Some(first), false) = (seen.first(), plain.is_empty()) {
            let what = format!(
                "the markers of turns are plain text to the model, not tokens: `{}`",
                plain.join("`, `")
            );
            tally.broken(Evidence::one(what, first).with(Severity::Note));
        }
        if written.is_empty() {
            tally.skip("the template writes no control tokens");
        }
    },
};

/// The probes whose prompts have most of what a template writes.
const TELLING: [Probe; 8] = [
    USER,
    TWO_TURNS,
    SYSTEM_TURNS,
    TOOLS,
    CALL_RESULT,
    REASONED,
    IMAGE,
    VIDEO,
];

/// Where a text that looks like a control token is.
struct WrittenToken<'s> {
    token: String,
    /// The prompt that contains it. None if only the source contains it.
    seen: Option<&'s ProbeOutcome>,
    line: Option<usize>,
}

/// Texts in prompts and in the source that look like control tokens.
fn written<'s>(prober: &Prober<'_>, seen: &'s [Rc<ProbeOutcome>]) -> Vec<WrittenToken<'s>> {
    let mut found: Vec<WrittenToken<'s>> = Vec::new();
    for seen in seen {
        for token in control_tokens(seen.text().unwrap_or_default()) {
            if !found.iter().any(|known| known.token == token) {
                found.push(WrittenToken {
                    token,
                    seen: Some(seen),
                    line: None,
                });
            }
        }
    }
    let template = prober.template();
    for token in control_tokens(prober.source_without_comments()) {
        if !found.iter().any(|known| known.token == token) {
            let at = template.source.find(&token);
            let line = at.map(|at| template.source.cut(..at).matches('\n').count() + 1);
            found.push(WrittenToken {
                token,
                seen: None,
                line,
            });
        }
    }
    found
}

/// Whether a text can be nothing but a control token: `<|…|>`, with bars of either width.
fn is_barred(token: &str) -> bool {
    let inside = token
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    let bars = ['|', '｜'];
    inside.is_some_and(|inside| inside.starts_with(bars) && inside.ends_with(bars))
}

/// A token of the model that a text was meant to be, by what both say: a mark of reasoning, or of
/// an image. None if the template writes such a token.
fn of_its_kind<'t>(
    tokenizer: &'t Tokenizer,
    token: &str,
    is_written: &impl Fn(&str) -> bool,
) -> Option<&'t str> {
    const MEDIA: [&str; 3] = ["image", "img", "vision"];
    let is_medium = |text: &str| {
        let lower = text.to_lowercase();
        MEDIA.iter().any(|word| lower.contains(word))
    };
    let is_kin = |text: &str| match mark_at(token).filter(|mark| mark.len == token.len()) {
        Some(mark) => {
            mark_at(text).is_some_and(|other| other.len == text.len() && other.opens == mark.opens)
        }
        None => is_medium(token) && is_medium(text),
    };
    let mut kin = tokenizer.texts().filter(|text| is_kin(text)).peekable();
    let first = kin.peek().copied()?;
    (!kin.any(is_written)).then_some(first)
}

/// Demands that a token of the model is cut as one wherever a prompt has it. The vocabulary can
/// restrict a token to normalised text, or to a word of its own.
fn cut_as_one(tally: &mut Tally, tokenizer: &Tokenizer, token: &str, seen: &[Rc<ProbeOutcome>]) {
    if tokenizer.marker(token).is_none() {
        return;
    }
    for seen in seen {
        let Some(text) = seen.text() else { continue };
        let Ok(tokens) = tokenizer.encode(text) else {
            continue;
        };
        let is_cut = |at: &usize| {
            let mut markers = tokens.iter().filter(|one| one.kind != TokenKind::Ordinary);
            markers.any(|one| one.range.start <= *at && at + token.len() <= one.range.end)
        };
        let mut places = text.match_indices(token).map(|(at, _)| at);
        if let Some(at) = places.find(|at| !is_cut(at)) {
            let what = format!(
                "`{token}` is a token of the model, and is cut into pieces in its place: look \
                 at its `normalized` and `single_word`, and at `split_special_tokens`"
            );
            tally.broken(Evidence::one(what, seen).at(Some(at..at + token.len())));
            return;
        }
    }
}
