//! Says why two prompts differ: which lines of the template wrote the text at that place, and which
//! condition had another result.

use rolecall_core::Cut;
use std::collections::BTreeMap;

use rolecall_core::decision::{Decision, Decisions};
use rolecall_core::provenance::{InputKind, Origin, Span};

use crate::probe::{Examined, ProbeOutcome, Prober, common};

/// The longest condition that is shown whole.
const LONGEST: usize = 60;

/// Why the second of two prompts does not go on as the first one does, and what that costs: in a whole
/// conversation if that is known, otherwise of the first prompt. None if they do not part, or if the
/// engine cannot tell.
pub(in crate::contract) fn cause(
    prober: &Prober<'_>,
    prompts: [&ProbeOutcome; 2],
    cost: Option<String>,
) -> Option<String> {
    let [one, other] = prompts.map(ProbeOutcome::text);
    let (one, other) = (one?, other?);
    let cost = cost.unwrap_or_else(|| lost(prober, one, common(one, other)));
    Some(match difference(prober, prompts)? {
        difference if difference.is_empty() => cost,
        difference => format!("{difference}; {cost}"),
    })
}

/// Why the second of two prompts does not go on as the first one does.
pub(in crate::contract) fn difference(
    prober: &Prober<'_>,
    [first, second]: [&ProbeOutcome; 2],
) -> Option<String> {
    let (one, other) = (first.text()?, second.text()?);
    let at = common(one, other);
    let [first, second] =
        [first, second].map(|seen| prober.examine(seen.probe, seen.about, (*seen.asked).clone()));
    // A conversation with another front or setting may give other prompts.
    if first.seen.text() != Some(one) || second.seen.text() != Some(other) {
        return None;
    }
    let writer = |examined: &Examined| {
        let spans = examined.spans.as_deref()?;
        let number = spans.iter().position(|span| span.prompt.contains(&at))?;
        source(prober, spans.get(number)?).or_else(|| near(prober, spans, number))
    };
    let wrote = match (writer(&first), writer(&second)) {
        (Some(one), Some(other)) if one == other => Some(format!("{one} gives another text")),
        (Some(one), Some(other)) => Some(format!(
            "there {one} writes the first prompt, and {other} the second"
        )),
        (Some(one), None) => Some(format!("the second prompt lacks what {one} writes")),
        (None, Some(other)) => Some(format!("the first prompt lacks what {other} writes")),
        (None, None) => None,
    };
    let decided = match (&first.decisions, &second.decisions) {
        (Some(one), Some(other)) => decided_otherwise(prober, one, other, at),
        _ => None,
    };
    let parts: Vec<String> = [decided, wrote].into_iter().flatten().collect();
    Some(parts.join("; "))
}

/// Where a stretch of a prompt comes from, in words.
fn source(prober: &Prober<'_>, span: &Span) -> Option<String> {
    match &span.origin {
        Origin::Literal { source } => Some(format!("line {}", prober.line(source.start))),
        Origin::Input { input, .. } if input.kind == InputKind::Clock => {
            Some("the clock".to_owned())
        }
        Origin::Input { input, .. } => Some(format!("`{}`", input.path)),
        Origin::Made { from } => {
            let clock = from.iter().any(|input| input.kind == InputKind::Clock);
            let first = from.first().map(|input| format!("`{}`", input.path));
            if clock {
                Some("the clock".to_owned())
            } else {
                first
            }
        }
    }
}

/// The nearest line that writes a text, in words.
fn near(prober: &Prober<'_>, spans: &[Span], number: usize) -> Option<String> {
    let (before, after) = spans.split_at(number);
    let mut nearest = before.iter().rev().chain(after);
    let at = nearest.find_map(|span| match &span.origin {
        Origin::Literal { source } => Some(source.start),
        _ => None,
    });
    Some(format!("what is printed near line {}", prober.line(at?)))
}

/// The last condition before the place where two prompts part that did not come to the same in both
/// renders.
fn decided_otherwise(
    prober: &Prober<'_>,
    one: &Decisions,
    other: &Decisions,
    at: usize,
) -> Option<String> {
    let (before, after) = (by_place(one, at), by_place(other, at));
    let sites = prober.sites();
    // Up to there the prompts are the same, so decisions at the same place belong together.
    for (place, first) in before.iter().rev() {
        let Some(second) = after.get(place) else {
            continue;
        };
        let pairs = first.iter().zip(second);
        let mut pairs = pairs.take_while(|(one, other)| one.site == other.site);
        let Some((first, _)) = pairs.find(|(one, other)| one.truth != other.truth) else {
            continue;
        };
        let site = sites.get(first.site)?;
        let text = prober.template().source.get(site.span.clone())?;
        let line = prober.line(site.span.start);
        let [now, later] = if first.truth {
            ["true", "false"]
        } else {
            ["false", "true"]
        };
        return Some(format!(
            "line {line}: `{}` is {now} in the first prompt and {later} in the second",
            shortened(text)
        ));
    }
    None
}

/// The decisions up to a place of the prompt, by how much of it was written. A condition comes after
/// its operands: the operands say more.
fn by_place(decisions: &Decisions, at: usize) -> BTreeMap<usize, Vec<&Decision>> {
    let mut by_place: BTreeMap<usize, Vec<&Decision>> = BTreeMap::new();
    for decision in decisions.decisions.iter().filter(|one| one.written <= at) {
        by_place.entry(decision.written).or_default().push(decision);
    }
    by_place
}

/// How much of the first prompt has to be computed again, in tokens if the tokenizer is known.
fn lost(prober: &Prober<'_>, prompt: &str, at: usize) -> String {
    let count = |text: &str| {
        let tokens = prober.tokenizer()?.encode(text).ok()?;
        Some(tokens.len())
    };
    if let (Some(lost), Some(all)) = (count(prompt.cut(at..)), count(prompt)) {
        return format!("{lost} of {all} tokens are computed again");
    }
    let lost = prompt.len() - at;
    format!("{lost} of {} bytes are computed again", prompt.len())
}

fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.cut(..at)),
        None => text,
    }
}
