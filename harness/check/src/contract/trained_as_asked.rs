use std::rc::Rc;

use rolecall_answers::mask::Learned;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally, difference};
use super::shared::mask::masked;
use super::shared::prefix::is_in_reasoning;
use crate::probe::{MaskedProbe, ProbeOutcome, Prober, common, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "trained-as-asked",
    meaning: "in a whole conversation, every answer is as written, after the prompt that asks for \
              it",
    guards_against: "training on whole conversations that teaches contexts that the model never \
                     sees at inference time",
    severity: Severity::Note,
    dialects: &[Dialect::Jinja],
    page: include_str!("trained_as_asked.md"),
    judge: |tally, prober, capabilities| match &*masked(prober, capabilities) {
        Ok(probes) => {
            for probe in probes {
                is_as_asked(tally, prober, probe);
                is_as_written(tally, prober, probe);
            }
        }
        Err(why) => tally.skip(*why),
    },
};

/// What the template makes of the first messages of a conversation.
fn beginning(
    prober: &Prober<'_>,
    whole: &ProbeOutcome,
    messages: usize,
    opens: bool,
) -> Rc<ProbeOutcome> {
    let mut case = (*whole.asked).clone();
    case.messages.truncate(messages);
    case.add_generation_prompt = opens;
    prober.answer(whole.probe, "the conversation up to an answer", case)
}

/// Whether every answer comes after the prompt that asks for it. Other contracts report where
/// something else than reasoning differs.
fn is_as_asked(tally: &mut Tally, prober: &Prober<'_>, probe: &MaskedProbe) {
    let whole = &probe.seen;
    for turn in &probe.mask.turns {
        match turn.learned {
            Learned::AsAsked(_) => tally.holds(),
            Learned::Nothing => {}
            Learned::Otherwise(_) => {
                let open = beginning(prober, whole, turn.message, true);
                let (Some(one), Some(other)) = (open.text(), whole.text()) else {
                    continue;
                };
                let at = common(one, other);
                if !is_in_reasoning(one, other, at) {
                    tally.skip(
                        "finished-turn-continues and history-stable are about what differs here",
                    );
                    continue;
                }
                // Where the history differs, something of the conversation still follows.
                let is_history = words::ALL.iter().any(|word| one.cut(at..).contains(word));
                let what = if is_history {
                    "the model writes an answer after its earlier reasoning, and in the whole \
                     conversation this reasoning is gone"
                } else {
                    "the prompt that asks for an answer ends with marks of reasoning, and in the \
                     whole conversation the answer follows another text"
                };
                if !tally.is_reported(what) {
                    let evidence = Evidence::no_prefix(what, &open, whole);
                    tally.broken(evidence.because(difference(prober, [&open, whole])));
                }
            }
        }
    }
}

/// Whether every answer has its reasoning, if it has it where the conversation ends with it.
fn is_as_written(tally: &mut Tally, prober: &Prober<'_>, probe: &MaskedProbe) {
    let whole = &probe.seen;
    for turn in &probe.mask.turns {
        let Some(message) = whole.asked.messages.get(turn.message) else {
            continue;
        };
        let reasoning = [words::REASONING, words::SECOND_REASONING]
            .into_iter()
            .find(|word| {
                let fields = ["reasoning_content", "reasoning", "thinking"].iter();
                let mut reasoning = fields.filter_map(|field| message[*field].as_str());
                reasoning.any(|text| text.contains(*word))
            });
        let (Some(reasoning), false) = (reasoning, turn.message + 1 == whole.asked.messages.len())
        else {
            continue;
        };
        let finished = beginning(prober, whole, turn.message + 1, false);
        if !finished.has(reasoning) {
            continue;
        }
        let what = "an earlier answer has no reasoning in the whole conversation: the model \
                    learns to \
                    answer without thinking";
        tally.demand(whole.has(reasoning), || {
            let evidence = Evidence::no_prefix(what, &finished, whole);
            evidence.because(difference(prober, [&finished, whole]))
        });
    }
}
