use rolecall_core::{Dialect, Outcome};
use serde_json::json;

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::tools::{NO_TOOLS_HERE, supports_tools};
use crate::probe::catalogue::{CALL, CALL_RESULT};
use crate::probe::input_style::{closed, with_tools};
use crate::probe::{Probe, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "tool-calls-kept",
    meaning: "an earlier tool call is in the prompt, with its name and arguments, or refused",
    guards_against: "a model that does not know what it did, and does it again",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("tool_calls_kept.md"),
    judge: |tally, prober, capabilities| {
        if !supports_tools(prober, capabilities) {
            return tally.skip(NO_TOOLS_HERE);
        }
        for probe in [CALL_RESULT, CALL] {
            let seen = prober.see(probe);
            if tally.text(&seen).is_none() {
                continue;
            }
            let values = [words::FIRST_VALUE, words::SECOND_VALUE];
            let kept = values.iter().filter(|value| seen.has(value)).count();
            match kept {
                0 => tally.broken(Evidence::one("the call is not in the prompt", &seen)),
                1 => tally.broken(Evidence::one(
                    "an argument of the call is not in the prompt",
                    &seen,
                )),
                // Both tools are listed, but only one is called.
                _ if probe == CALL && seen.count(words::TOOL) <= seen.count(words::SECOND_TOOL) => {
                    let what = "the name of the called tool is not in the prompt";
                    // Some models know a call by its ID, which has the name in it.
                    let severity = if seen.has("callquil1") {
                        Severity::Warning
                    } else {
                        Severity::Error
                    };
                    tally.broken(Evidence::one(what, &seen).with(severity));
                }
                _ => tally.holds(),
            }
        }
        nothing_is_a_value(tally, prober);
        // Whoever writes tools into the prompt gets calls.
        let refused = prober.see(CALL_RESULT);
        let is_refusal = |probe: &Probe| {
            let seen = prober.see(*probe);
            matches!(&*seen.outcome, Outcome::Raised { .. })
        };
        if capabilities.tools.is_kept() && [CALL, CALL_RESULT].iter().all(is_refusal) {
            let what = format!(
                "tools are in the prompt, and every conversation with a call is refused: {}",
                refused.refusal()
            );
            tally.broken(Evidence::one(what, &refused).with(Severity::Warning));
        }
    },
};

/// Demands that arguments which count as nothing are in the prompt like others: 0, false and the empty text.
fn nothing_is_a_value(tally: &mut Tally, prober: &Prober<'_>) {
    let m = prober.input_style();
    let keys = [words::INNER_KEY, words::OBJECT_ABOUT, words::INNER_ABOUT];
    let arguments = json!({keys[0]: 0, keys[1]: false, keys[2]: ""});
    let call = m.call_with(&m.arguments(&arguments));
    let case = with_tools(closed(vec![m.user(), call]));
    let seen = prober.ask(
        "falsy-arguments",
        "a call with the arguments 0, false and \"\"",
        case,
    );
    if !prober.see(CALL).has(words::FIRST_VALUE) || seen.text().is_none() {
        return;
    }
    let lost: Vec<&str> = keys
        .into_iter()
        .zip(["0", "false", "\"\""])
        .filter(|(key, _)| !seen.has(key))
        .map(|(_, value)| value)
        .collect();
    tally.demand(lost.is_empty(), || {
        let what = format!("an argument is lost if it is {}", lost.join(" or "));
        Evidence::one(what, &seen)
    });
}
