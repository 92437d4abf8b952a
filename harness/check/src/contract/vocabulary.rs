//! Contracts about the tokens that a prompt becomes. They say nothing where the vocabulary of
//! the model is not known.

use std::rc::Rc;

use rolecall_core::{Cut, Dialect};

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::reasoning::mark_at;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::{control_tokens, special_token};
use crate::capability::Capabilities;
use crate::probe::catalogue::{
    CALL, CALL_RESULT, IMAGE, REASONED, SPACES, SPACES_AFTER, SYSTEM_TURNS, TOOLS, TWO_TURNS, USER,
    USER_ASSISTANT, USER_ASSISTANT_USER, USER_SPACES, VIDEO,
};
use crate::probe::{Probe, ProbeOutcome, Prober, words};
use crate::tokenizer::{Cutter, Token, TokenKind, Tokenizer};

/// The tokenizer of the model. Without it the contract does not apply.
fn tokenizer<'t>(tally: &mut Tally, prober: &Prober<'t>) -> Option<&'t Tokenizer> {
    let tokenizer = prober.tokenizer();
    if tokenizer.is_none() {
        tally.skip("the model's vocabulary is not known");
    }
    tokenizer
}

/// The prompt of a probe, and its tokens.
fn cut<'s>(
    tally: &mut Tally,
    tokenizer: &Tokenizer,
    seen: &'s ProbeOutcome,
) -> Option<(&'s str, Vec<Token>)> {
    let text = tally.text(seen)?;
    match tokenizer.encode(text) {
        Ok(tokens) => Some((text, tokens)),
        Err(why) => {
            tally.skip(format!("the tokenizer fails: {why}"));
            None
        }
    }
}

pub(super) static CONTROL_TOKENS_KNOWN: Contract = Contract {
    id: "control-tokens-known",
    meaning: "every control token that the template writes is a token of the model",
    guards_against: "a misspelt token, which the model reads as ordinary letters",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/control-tokens-known.md"),
    judge: control_tokens_known,
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

/// A token with bars that the model does not have is misspelt if the model has a similar one, and
/// forgotten if the model has others of its kind. Some models have only plain text markers. Tags
/// and words in brackets are plain text in many templates, so they are reported only if they
/// resemble a token of the model that the template never writes.
fn control_tokens_known(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let Some(tokenizer) = tokenizer(&mut tally, prober) else {
        return tally.judgement();
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
        cut_as_one(&mut tally, tokenizer, &one.token, &seen);
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
    tally.judgement()
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

pub(super) static TURN_END_STOPS: Contract = Contract {
    id: "turn-end-stops",
    meaning: "the model stops at a token that ends the assistant's turn",
    guards_against: "answers that run on into the next turn, up to the limit",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/turn-end-stops.md"),
    judge: turn_end_stops,
};

fn turn_end_stops(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    stops_of_the_modelfile(&mut tally, prober);
    let Some(tokenizer) = tokenizer(&mut tally, prober) else {
        return tally.judgement();
    };
    let Some(stops) = tokenizer.stops() else {
        tally.skip("nothing says at which tokens the model stops");
        return tally.judgement();
    };
    let shown = |id: &u32| match tokenizer.marker_of(*id) {
        Some(marker) => format!("`{}`", marker.text),
        None => format!("token {id}"),
    };
    let turns = [
        (
            (USER_ASSISTANT, words::ASSISTANT, "an answer"),
            (USER_ASSISTANT_USER, words::SECOND_USER),
        ),
        (
            (CALL, words::SECOND_VALUE, "a call"),
            (CALL_RESULT, words::RESULT),
        ),
    ];
    for ((probe, word, name), (next, next_word)) in turns {
        let seen = prober.see(probe);
        let Some((text, tokens)) = cut(&mut tally, tokenizer, &seen) else {
            continue;
        };
        let Some(after) = seen.after(word) else {
            tally.skip(format!("{name} is not in the prompt"));
            continue;
        };
        let from = text.len() - after.len();
        let after = tokens.iter().filter(|token| token.range.start >= from);
        let ends: Vec<u32> = after
            .filter(|token| token.kind != TokenKind::Ordinary)
            .filter_map(|token| token.id)
            .collect();
        if ends.is_empty() {
            tally.skip(format!("no token ends {name}"));
            continue;
        }
        // Some models stop at the token that opens the next turn.
        let next = prober.see(next);
        let opens = || {
            let (_, tokens) = cut(&mut Tally::default(), tokenizer, &next)?;
            let (from, to) = (next.find(word)?.end, next.find(next_word)?.start);
            let mut between = tokens
                .iter()
                .filter(|token| (from..to).contains(&token.range.start));
            let stops_at = |id: &u32| stops.ids.contains(id);
            Some(between.any(|token| token.id.as_ref().is_some_and(stops_at)))
        };
        let is_end = ends.iter().any(|id| stops.ids.contains(id)) || opens() == Some(true);
        tally.demand(is_end, || {
            let ends: Vec<_> = ends.iter().map(shown).collect();
            let stops_at: Vec<_> = stops.ids.iter().map(shown).collect();
            let what = format!(
                "{name} ends with {}, but the model stops only at {}, says {}",
                ends.join(", "),
                stops_at.join(", "),
                stops.said_by
            );
            Evidence::one(what, &seen).at(Some(from..text.len()))
        });
    }
    tally.judgement()
}

/// A template writes at least one of the texts at which Ollama ends answers, as its `PARAMETER stop`
/// says. The model may stop at a token of its own besides.
fn stops_of_the_modelfile(tally: &mut Tally, prober: &Prober<'_>) {
    let stops = &prober.template().setup.stops;
    if stops.is_empty() {
        return;
    }
    let conversations = [SYSTEM_TURNS, TWO_TURNS, CALL_RESULT];
    let is_written = conversations.iter().any(|probe| {
        let seen = prober.see(*probe);
        let text = seen.text().unwrap_or_default();
        stops.iter().any(|stop| text.contains(stop.trim()))
    });
    tally.demand_with(Severity::Warning, is_written, || {
        let what = format!(
            "answers shall end at `{}`, says PARAMETER stop, and the template writes nothing of that",
            stops.join("` or `")
        );
        Evidence::one(what, &prober.see(TWO_TURNS))
    });
}

pub(super) static ONE_BOS_TOKENISED: Contract = Contract {
    id: "one-bos-tokenised",
    meaning: "cut into tokens, a prompt begins with one BOS where the model wants one",
    guards_against: "a doubled or missing BOS token, which the model has never seen",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/one-bos-tokenised.md"),
    judge: one_bos_tokenised,
};

fn one_bos_tokenised(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let Some(tokenizer) = tokenizer(&mut tally, prober) else {
        return tally.judgement();
    };
    let own = special_token(prober.template(), "bos_token");
    let added = tokenizer.beginning();
    let Some(bos) = own.or(added) else {
        tally.skip("no token begins a sequence");
        return tally.judgement();
    };
    let is_added = added == Some(bos);
    for probe in [USER, SYSTEM_TURNS, TOOLS] {
        let seen = prober.see(probe);
        let Some((text, tokens)) = cut(&mut tally, tokenizer, &seen) else {
            continue;
        };
        let begins = tokens
            .iter()
            .map(|token| text.cut(token.range.clone()).trim());
        let written = begins.take_while(|token| *token == bos).count();
        let dropped = match (tokenizer.cutter(), prober.dialect()) {
            (Cutter::Transformers, _) => 0,
            (Cutter::LlamaCpp { .. }, Dialect::Jinja) => usize::from(is_added && written > 0),
            (Cutter::LlamaCpp { says_bos }, Dialect::Go) => {
                usize::from(says_bos && bos == "<bos>" && written > 0)
            }
        };
        let put = usize::from(is_added && tokenizer.cutter() != Cutter::Transformers);
        match (written - dropped + put, is_added) {
            (0, true) => {
                let what = format!(
                    "no `{bos}`: the tokenizer adds it to every text, but apply_chat_template \
                     asks it to add nothing"
                );
                tally.broken(Evidence::one(what, &seen).with(Severity::Warning));
            }
            (0, false) => tally.skip("the template writes none, and nothing adds one"),
            (1, true) if tokenizer.cutter() == Cutter::Transformers => {
                let what = format!(
                    "tokenising the text of `tokenize=False` gives `{bos}` twice, unless with \
                     `add_special_tokens=False`: the template writes it and the tokenizer adds it"
                );
                tally.broken(Evidence::one(what, &seen).with(Severity::Note));
            }
            (1, _) => tally.holds(),
            (count, _) => {
                let adds = if put > 0 {
                    ": the template writes it, and it is added once more"
                } else {
                    ""
                };
                let what = format!("the prompt begins with `{bos}` {count} times{adds}");
                tally.broken(Evidence::one(what, &seen));
            }
        }
    }
    tally.judgement()
}

pub(super) static BLANKS_KEPT: Contract = Contract {
    id: "blanks-kept",
    meaning: "no token swallows the blanks and line breaks next to it",
    guards_against: "line breaks that are in the prompt and never reach the model",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/blanks-kept.md"),
    judge: blanks_kept,
};

/// It is a note if a token swallows the template's own white space, and a warning if it swallows a
/// user's, because that is lost.
fn blanks_kept(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let Some(tokenizer) = tokenizer(&mut tally, prober) else {
        return tally.judgement();
    };
    let sent = format!("{SPACES}{}{SPACES_AFTER}", words::USER);
    for probe in [USER_SPACES, USER, TWO_TURNS, SYSTEM_TURNS, CALL_RESULT] {
        let seen = prober.see(probe);
        let Some((text, tokens)) = cut(&mut tally, tokenizer, &seen) else {
            continue;
        };
        let kept = text.find(&sent).map(|at| at..at + sent.len());
        let markers = tokens.iter().filter_map(|token| {
            let marker = tokenizer.marker_of(token.id?)?;
            Some((token, marker))
        });
        for (token, marker) in markers {
            let taken = text.cut(token.range.clone());
            let is_blank = taken.trim() == marker.text.trim() && taken.len() > marker.text.len();
            let is_users = kept
                .as_ref()
                .is_some_and(|kept| token.range.start < kept.end && kept.start < token.range.end);
            let (whose, severity) = if is_users {
                ("that a user sent", Severity::Warning)
            } else {
                ("that the template writes", Severity::Note)
            };
            tally.demand_with(severity, !is_blank, || {
                let what = format!("`{}` swallows blanks {whose}", marker.text);
                Evidence::one(what, &seen).at(Some(token.range.clone()))
            });
        }
    }
    tally.judgement()
}
