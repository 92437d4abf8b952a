//! What contracts about turns demand of a long conversation of an agent, where calls and plain answers
//! change places. Each demand is made only if short conversations fulfil it: their contracts say
//! otherwise what is wrong.

use std::collections::BTreeMap;
use std::ops::Range;

use super::reasoning::marks;
use super::spelling::spelt;
use crate::contract::frame::{Evidence, Severity, Tally};
use crate::probe::catalogue::{
    AGENT, CALL_RESULT, CALL_TURN_USER, SYSTEM_CALL_TURN, SYSTEM_LONG, Speaker, TWO_ROUNDS,
    TWO_TURNS, agent_turns,
};
use crate::probe::{ProbeOutcome, Prober, words};

/// What the short conversations of an agent are made of.
const SHORT: [&str; 5] = [
    words::USER,
    words::FIRST_VALUE,
    words::RESULT,
    words::SECOND_ASSISTANT,
    words::SECOND_USER,
];

/// The prompt of the long conversation. None if a short one is not as a whole in its prompt.
fn long(prober: &Prober<'_>) -> Option<std::rc::Rc<ProbeOutcome>> {
    let seen = prober.see(AGENT);
    seen.text()?;
    let is_whole = [CALL_TURN_USER, SYSTEM_CALL_TURN].iter().all(|probe| {
        let seen = prober.see(*probe);
        SHORT.iter().all(|word| seen.count(word) == 1)
    });
    let rounds = prober.see(TWO_ROUNDS);
    let mut second = [words::THIRD_VALUE, words::SECOND_RESULT].into_iter();
    (is_whole && second.all(|word| rounds.has(word))).then_some(seen)
}

fn name(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Question => "question",
        Speaker::Answer => "answer",
        Speaker::Call => "call",
        Speaker::Result => "result",
    }
}

/// Each turn of the long conversation with its name, such as "the second call", and its word.
fn named() -> impl Iterator<Item = (String, &'static str)> {
    const NUMBERS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    let mut counts = BTreeMap::new();
    agent_turns().map(move |(speaker, word)| {
        let count = counts.entry(speaker).or_insert(0_usize);
        *count += 1;
        let number = NUMBERS.get(*count - 1).unwrap_or(&"last");
        (format!("the {number} {}", name(speaker)), word)
    })
}

/// Demands that everything is in the prompt.
pub(in crate::contract) fn are_kept(tally: &mut Tally, prober: &Prober<'_>) {
    let Some(seen) = long(prober) else { return };
    let lost: Vec<String> = named()
        .filter(|(_, word)| !seen.has(word))
        .map(|(name, _)| name)
        .collect();
    tally.demand(lost.is_empty(), || {
        let what = format!(
            "not in the prompt of an agent's long conversation: {}",
            lost.join(", ")
        );
        Evidence::one(what, &seen)
    });
}

/// Demands that nothing is in the prompt twice.
pub(in crate::contract) fn are_once(tally: &mut Tally, prober: &Prober<'_>) {
    let Some(seen) = long(prober) else { return };
    for (name, word) in named() {
        let count = seen.count(word);
        tally.demand(count <= 1, || {
            let what =
                format!("{name} of an agent's long conversation is in the prompt {count} times");
            Evidence::one(what, &seen).at(seen.find_again(word))
        });
    }
}

/// Demands that everything is in its order.
pub(in crate::contract) fn are_in_order(tally: &mut Tally, prober: &Prober<'_>) {
    let Some(seen) = long(prober) else { return };
    let all: Vec<_> = named()
        .filter_map(|(name, word)| Some((name, seen.find(word)?)))
        .collect();
    for pair in all.windows(2) {
        let [(first, before), (second, after)] = pair else {
            continue;
        };
        tally.demand(before.start < after.start, || {
            let what = format!("{first} of an agent's long conversation comes after {second}");
            Evidence::one(what, &seen).at(Some(before.clone()))
        });
    }
}

/// The longest text between two messages that belongs to their turns. A longer one has tools or
/// instructions in it.
const LONGEST: usize = 160;

/// A text between two messages of a long conversation.
struct Joint<'s> {
    between: (Speaker, Speaker),
    text: &'s str,
    at: Range<usize>,
    seen: &'s ProbeOutcome,
}

/// The texts between the messages of a long conversation. Before the first message and around the last
/// one templates may write more.
fn joints<'s>(seen: &'s ProbeOutcome, turns: &[(Speaker, &str)]) -> Vec<Joint<'s>> {
    let Some(text) = seen.text() else {
        return Vec::new();
    };
    let inner = turns.len().saturating_sub(1);
    let turns = turns.iter().take(inner).skip(1);
    let pairs = turns.clone().zip(turns.skip(1));
    let found = pairs.filter_map(|(first, second)| {
        let at = seen.find(first.1)?.end..seen.find(second.1)?.start;
        let between = text.get(at.clone())?;
        // Models are trained to forget the reasoning of some turns.
        let is_of_turns = between.len() <= LONGEST && marks(between).next().is_none();
        is_of_turns.then_some(Joint {
            between: (first.0, second.0),
            text: between,
            at,
            seen,
        })
    });
    found.collect()
}

/// A text in which all numbers are the same: those of IDs, and those that a template counts itself.
fn without_numbers(text: &str) -> String {
    let mut pieces = text.split(|c: char| c.is_ascii_digit());
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces
        .filter(|piece| !piece.is_empty())
        .fold(first, |all, piece| all + "#" + piece)
}

/// Demands that the text between two messages is the same wherever they are: between the second
/// question and its answer as between the tenth and its answer, with tools as without. What a second
/// round of calls lacks may be reported already.
pub(in crate::contract) fn are_joined_alike(
    tally: &mut Tally,
    prober: &Prober<'_>,
    is_reported_of_calls: bool,
) {
    let turns = words::TURNS.iter();
    let plain: Vec<_> = turns
        .flat_map(|(asked, said)| [(Speaker::Question, *asked), (Speaker::Answer, *said)])
        .chain([(Speaker::Question, words::USER)])
        .collect();
    let short = prober.see(TWO_TURNS);
    let result = prober.see(CALL_RESULT);
    if !short.has(words::ASSISTANT) || !short.has(words::SECOND_USER) {
        return;
    }
    let (chat, agent) = (prober.see(SYSTEM_LONG), prober.see(AGENT));
    let mut all = joints(&chat, &plain);
    if !is_reported_of_calls && result.has(words::RESULT) && result.has(words::FIRST_VALUE) {
        let turns: Vec<_> = agent_turns().collect();
        all.extend(joints(&agent, &turns));
    }
    let mut first: BTreeMap<(Speaker, Speaker), &Joint<'_>> = BTreeMap::new();
    for joint in &all {
        let usual = *first.entry(joint.between).or_insert(joint);
        tally.demand_with(
            Severity::Warning,
            without_numbers(usual.text) == without_numbers(joint.text),
            || {
                let (one, other) = (name(joint.between.0), name(joint.between.1));
                let of = if std::ptr::eq(usual.seen, joint.seen) {
                    "elsewhere in the same prompt"
                } else {
                    "without tools"
                };
                let what = format!(
                    "between a {one} and the {other} after it is {}, and {of} {}",
                    spelt(joint.text),
                    spelt(usual.text)
                );
                Evidence::one(what, joint.seen).at(Some(joint.at.clone()))
            },
        );
    }
}
