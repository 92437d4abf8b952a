use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{SYSTEM_TURNS, TOOLS, USER};

pub(super) static CONTRACT: Contract = Contract {
    id: "placeholders-filled",
    meaning: "no placeholder and no written-out line break is left in the prompt",
    guards_against: "`{system_message}` or `\\n` where a text or a line break was meant",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("placeholders_filled.md"),
    judge: |tally, prober, _| {
        for probe in [USER, SYSTEM_TURNS, TOOLS] {
            let seen = prober.see(probe);
            let Some(text) = tally.text(&seen) else {
                continue;
            };
            let found = PLACEHOLDERS.iter().find_map(|name| {
                let placeholder = format!("{{{name}}}");
                Some((text.find(&placeholder)?, placeholder))
            });
            if let Some((at, placeholder)) = found {
                let what = format!("the placeholder `{placeholder}` is in the prompt");
                let place = at..at + placeholder.len();
                return tally.broken(Evidence::one(what, &seen).at(Some(place)));
            }
            if let Some(at) = text
                .find("<<<<<<< ")
                .filter(|_| text.contains("\n>>>>>>> "))
            {
                let what = "marks of a conflict that Git left in the file are in the prompt";
                return tally.broken(Evidence::one(what, &seen).at(Some(at..at + 7)));
            }
            // No text of the conversation has a line break, so none is written out in JSON.
            if let Some(at) = written_out(text) {
                let what = "a line break is written out as `\\n`";
                return tally.broken(
                    Evidence::one(what, &seen)
                        .at(Some(at..at + 2))
                        .with(Severity::Warning),
                );
            }
            tally.holds();
        }
    },
};

/// What instructions call a text that somebody has to put in.
const PLACEHOLDERS: [&str; 12] = [
    "system_message",
    "system_prompt",
    "system",
    "user_message",
    "user_prompt",
    "prompt",
    "instruction",
    "input",
    "question",
    "message",
    "tools",
    "tool_descs",
];

/// Where a line break is written out in plain words. Within quotes it belongs to a JSON text, or is
/// what the words are about.
fn written_out(text: &str) -> Option<usize> {
    let mut places = text.match_indices("\\n").map(|(at, _)| at);
    places.find(|at| {
        let before = text.cut(..*at);
        let line = before.cut(before.rfind('\n').map_or(0, |end| end + 1)..);
        let quotes = ['"', '\'', '`'];
        !before.ends_with('\\')
            && quotes
                .iter()
                .all(|quote| line.matches(*quote).count() % 2 == 0)
    })
}
