use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::mentions::speaks_of;
use crate::capability::{Capabilities, GenerationPrompt};
use crate::probe::catalogue::THINK_TAG;
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "think-tag-verbatim",
    meaning: "an earlier answer that mentions `</think>` is in the prompt as a whole",
    guards_against: "answers that only mention the tag, and lose everything before it",
    severity: Severity::Limitation,
    dialects: &Dialect::ALL,
    page: include_str!("think_tag_verbatim.md"),
    judge: |tally, prober, capabilities| {
        let seen = prober.see(THINK_TAG);
        if tally.text(&seen).is_some() {
            match (seen.has(words::BEFORE), seen.has(words::AFTER)) {
                (true, true) => tally.holds(),
                // Such a template takes the text before the tag for reasoning that a client left
                // there. Where it knows a field for reasoning, a client need not leave it there.
                (false, true) => {
                    let names = ["reasoning", "reasoning_content", "thinking"];
                    let severity = if speaks_of(prober, &names) && !begins_in_a_tag(capabilities) {
                        Severity::Note
                    } else {
                        Severity::Limitation
                    };
                    let what = "what an answer says before `</think>` is not in the prompt";
                    tally.broken(Evidence::one(what, &seen).with(severity));
                }
                (is_before, _) => {
                    let what = if is_before {
                        "what an answer says after `</think>` is not in the prompt"
                    } else {
                        "an answer that holds `</think>` is not in the prompt"
                    };
                    tally.broken(Evidence::one(what, &seen).with(Severity::Warning));
                }
            }
        }
    },
};

/// Whether each answer begins within a tag that the prompt opens, such as `<think>`.
fn begins_in_a_tag(capabilities: &Capabilities) -> bool {
    let GenerationPrompt::Suffix { text } = &capabilities.generation_prompt else {
        return false;
    };
    let text = text.trim_end();
    let tag = text.rfind('<').map_or("", |at| text.cut(at..));
    let name = tag.trim_start_matches('<').trim_end_matches('>');
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-');
    tag.ends_with('>') && !name.is_empty() && name.chars().all(is_name)
}
