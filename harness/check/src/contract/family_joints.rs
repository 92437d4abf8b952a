use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::spelling::spelt;
use crate::probe::catalogue::TWO_TURNS_USER_CLOSED;
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "family-joints",
    meaning: "between the tokens of a known family is the text that its models were trained with",
    guards_against: "a line break that is missing everywhere, so that nothing in the template shows it",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("family_joints.md"),
    judge: |tally, prober, _| {
        let seen = prober.see(TWO_TURNS_USER_CLOSED);
        let Some(text) = tally.text(&seen) else {
            return;
        };
        // Phi-4 has the tokens of ChatML, and one more that represents the line break.
        if text.contains("<|im_sep|>") || text.contains("<|im_middle|>") {
            return tally.skip("the tokens of the turns are not those of a known family");
        }
        for (first, second) in [
            (words::USER, words::ASSISTANT),
            (words::ASSISTANT, words::SECOND_USER),
            (words::SECOND_ASSISTANT, words::THIRD_USER),
        ] {
            let Some(between) = seen.between(first, second) else {
                continue;
            };
            for joint in joints(between) {
                let known = JOINTS
                    .iter()
                    .find(|known| known.before == joint.before && known.after == joint.after);
                if let Some(known) = known {
                    tally.demand(joint.gap == known.gap, || {
                        let what = match joint.after {
                            "" => format!(
                                "{} follows `{}`, and models of this family have {} there",
                                spelt(joint.gap),
                                joint.before,
                                spelt(known.gap)
                            ),
                            after => format!(
                                "{} is between `{}` and `{after}`, and models of this family have \
                                 {} there",
                                spelt(joint.gap),
                                joint.before,
                                spelt(known.gap)
                            ),
                        };
                        Evidence::one(what, &seen)
                    });
                }
            }
        }
        tally.skip("the tokens of the turns are not those of a known family");
    },
};

/// The white space between two tokens, or between a token and the text after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Joint<'s> {
    before: &'s str,
    after: &'s str,
    gap: &'s str,
}

/// What nearly all published templates of a family have. Measured in November 2026 on 371 templates:
/// `<|im_end|>` in 94 of 99, `<end_of_turn>` in 12 of 13, `<|eot_id|>` in 12 of 13, the others in all.
const JOINTS: [Joint<'static>; 7] = [
    joint("<|im_end|>", "<|im_start|>", "\n"),
    joint("<end_of_turn>", "<start_of_turn>", "\n"),
    joint("<|eot_id|>", "<|start_header_id|>", ""),
    joint("<|end_header_id|>", "", "\n\n"),
    joint("[e~[", "]~b]", "\n"),
    joint("<|end_of_text|>", "<|start_of_role|>", "\n"),
    joint("<turn|>", "<|turn>", "\n"),
];

const fn joint(before: &'static str, after: &'static str, gap: &'static str) -> Joint<'static> {
    Joint { before, after, gap }
}

/// The joints in a text that ends where a message begins.
fn joints(text: &str) -> Vec<Joint<'_>> {
    let mut places = Vec::new();
    let mut from = 0;
    for token in control_tokens_in(text) {
        let Some(at) = text.cut(from..).find(token).map(|at| from + at) else {
            continue;
        };
        from = at + token.len();
        places.push((at, token));
    }
    let mut found: Vec<Joint<'_>> = places
        .iter()
        .zip(places.iter().skip(1))
        .map(|(&(at, before), &(next, after))| Joint {
            before,
            after,
            gap: text.cut(at + before.len()..next),
        })
        .filter(|joint| joint.gap.trim().is_empty())
        .collect();
    if let Some((at, token)) = places.last() {
        let gap = text.cut(at + token.len()..);
        if gap.trim().is_empty() {
            found.push(Joint {
                before: token,
                after: "",
                gap,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_are_pairs_of_tokens_and_the_last_token_before_a_text() {
        assert_eq!(
            joints("<|im_end|>\n<|im_start|>user\n"),
            [joint("<|im_end|>", "<|im_start|>", "\n")]
        );
        assert_eq!(
            joints("<|eot_id|><|end_header_id|>\n\n"),
            [
                joint("<|eot_id|>", "<|end_header_id|>", ""),
                joint("<|end_header_id|>", "", "\n\n")
            ]
        );
        assert_eq!(joints("no token"), []);
    }
}
