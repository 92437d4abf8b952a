use std::collections::BTreeSet;

use rolecall_core::{Cut, Dialect};
use serde_json::Value;

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::reasoning::{is_within, marks};
use super::shared::switches::KNOWN;
use crate::capability::switch::values::tried;
use crate::capability::{Switch, SwitchValue};
use crate::probe::catalogue::{REASONED_TURN_USER, REASONED_USER, USER};
use crate::probe::{ProbeOutcome, Prober, Setting, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "switches-work",
    meaning: "a variable that users set, such as `enable_thinking`, does what its name says",
    guards_against: "a model that thinks when it should not, or a setting that nothing reads",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("switches_work.md"),
    judge: |tally, prober, capabilities| {
        let switches = &capabilities.switches;
        for switch in switches.iter().filter(|switch| switch.turns_thinking_on()) {
            is_not_inverted(tally, prober, &switch.name);
            is_not_one(tally, switch);
        }
        for switch in switches {
            keeps_as_named(tally, prober, switch);
            texts_differ(tally, prober.source_without_comments(), switch);
            named_is_taken(tally, prober, switch);
        }
        let read = prober.variables();
        for name in &capabilities.variables {
            let is_known = KNOWN.contains(&name.as_str());
            if is_known && switches.iter().any(|switch| switch.name == *name) {
                tally.holds();
            } else if is_known
                && REPORTED_WITHOUT_EFFECT.contains(&name.as_str())
                && !has_effect_beside_others(prober, name)
            {
                // Many templates keep code for the date that they do not use.
                let severity = if name == "date_string" {
                    Severity::Note
                } else {
                    Severity::Warning
                };
                let what =
                    format!("the template reads `{name}`, and no value of it changes a prompt");
                tally.broken(Evidence::of_source(what).with(severity));
            } else if prober.dialect() == Dialect::Jinja
                && let Some(meant) = misspelt(name, &read)
                && !is_set(prober.source_without_comments(), name)
            {
                tally.broken(
                    Evidence::of_source(format!(
                        "the template reads `{name}`; applications set `{meant}`"
                    ))
                    .in_line(line_of(prober.source_without_comments(), name)),
                );
            }
        }
        tally.skip(if switches.is_empty() {
            "the template has no switches"
        } else {
            "the names of the switches do not say what they do"
        });
    },
};

/// The variables that every prompt can show, so that one without effect is a fault.
const REPORTED_WITHOUT_EFFECT: [&str; 6] = [
    "clear_thinking",
    "date_string",
    "enable_thinking",
    "preserve_thinking",
    "reasoning_effort",
    "thinking",
];

/// A name that is shorter resembles too many others.
const SHORTEST: usize = 8;

/// A name that is shorter may be the beginning of another by chance.
const LONG: usize = 10;

/// The name that was meant by a name that nearly is a known one: a letter or two differ, a part of
/// it is missing, or it is the singular. None if the template reads the known one too.
fn misspelt(name: &str, read: &BTreeSet<String>) -> Option<&'static str> {
    const MOST_CHANGES: usize = 2;
    const LISTS: [&str; 3] = ["messages", "tools", "documents"];
    if KNOWN.contains(&name) {
        return None;
    }
    let singular = LISTS
        .into_iter()
        .find(|list| list.strip_suffix('s') == Some(name));
    let is_long = name.len() >= SHORTEST;
    let mut known = KNOWN
        .into_iter()
        .filter(|known| is_long && known.len() >= SHORTEST);
    let plain = |name: &str| name.to_ascii_lowercase().replace(['_', '-'], "");
    let is_near = |known: &&str| {
        plain(known) == plain(name)
            || name.len() >= LONG && known.starts_with(name)
            || strsim::damerau_levenshtein(known, name) <= MOST_CHANGES
    };
    let meant = singular.or_else(|| known.find(is_near))?;
    (!read.contains(meant)).then_some(meant)
}

/// Whether the template itself sets a name somewhere, such as in a loop whose body calls a macro.
fn is_set(source: &str, name: &str) -> bool {
    ["for ", "set "]
        .iter()
        .any(|word| source.contains(&format!("{word}{name} ")))
}

/// The line in which a name first appears.
fn line_of(source: &str, name: &str) -> Option<usize> {
    let at = source.find(name)?;
    Some(source.cut(..at).matches('\n').count() + 1)
}

/// Demands that a prompt with a switch on leaves the model at least as much room to think as with
/// it off.
fn is_not_inverted(tally: &mut Tally, prober: &Prober<'_>, name: &str) {
    let [on, off] = [true, false].map(|value| {
        let setting = Setting {
            name: name.to_owned(),
            value: Value::from(value),
        };
        prober.with_setting(&setting).see(USER)
    });
    let (Some(with), Some(without)) = (tally.text(&on), tally.text(&off)) else {
        return;
    };
    let is_same = with == without;
    let (with, without) = (invitation(&on, with), invitation(&off, without));
    tally.demand(is_same || without < 3, || {
        let what = format!("`{name}` changes the prompt if it is false, and the prompt opens reasoning all the same");
        Evidence::differ(what, &on, &off)
    });
    tally.demand(with >= without, || {
        let what = format!(
            "`{name}` does the opposite of what its name says: the model is led to think if it is \
             false, and not if it is true"
        );
        Evidence::differ(what, &on, &off).with(Severity::Error)
    });
}

/// Demands that true and false are not the same, where a user who sets nothing gets another prompt.
fn is_not_one(tally: &mut Tally, switch: &Switch) {
    let effect = |wanted: bool| {
        let mut values = switch.values.iter();
        let found = values.find(|one| one.value == wanted && !one.is_refused);
        found.map(|one| (&one.effect, one.probe))
    };
    let (Some(on), Some(off)) = (effect(true), effect(false)) else {
        return;
    };
    tally.demand(on != off, || {
        let name = &switch.name;
        Evidence::of_source(format!(
            "`{name}` gives the same prompt if it is true and if it is false ({}), and another one if \
             nobody sets it",
            on.0
        ))
        .with(Severity::Error)
    });
}

/// Demands that a value which a refusal names is not refused: the same words refuse a value that means nothing.
fn named_is_taken(tally: &mut Tally, prober: &Prober<'_>, switch: &Switch) {
    let refused = |value: Value| {
        let name = switch.name.clone();
        prober.with_setting(&Setting { name, value }).see(USER)
    };
    for one in switch.values.iter().filter(|one| one.is_refused) {
        let Some(word) = one.value.as_str() else {
            continue;
        };
        let (seen, other) = (refused(one.value.clone()), refused(Value::from("setquill")));
        let why = seen.refusal();
        let mut words = why.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_named = !why.is_empty() && why == other.refusal() && words.any(|it| it == word);
        tally.demand(!is_named, || {
            let what = format!(
                "`{}: {word}` is refused by a sentence that names it: {why}",
                switch.name
            );
            Evidence::one(what, &seen).with(Severity::Error)
        });
    }
}

/// Demands that two texts with which the source compares a variable do not give one prompt, if that is
/// another one than nobody's choice gives.
fn texts_differ(tally: &mut Tally, source: &str, switch: &Switch) {
    let of_text = |one: &&SwitchValue| one.value.is_string() && !one.is_refused;
    let values: Vec<_> = switch.values.iter().filter(of_text).collect();
    // A list of words says that they mean the same.
    let is_meant = |both: [&Value; 2]| {
        source.split(['[', '(']).any(|list| {
            let list = list.split([']', ')']).next().unwrap_or_default();
            let mut words = both.iter().filter_map(|value| value.as_str());
            words.all(|word| list.contains(word))
        })
    };
    for one in &values {
        let is_in = |value: &Value| {
            value.as_str().is_some_and(|word| {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                one.effect
                    .to_lowercase()
                    .split(|c: char| !is_part(c))
                    .any(|other| other == word.to_lowercase())
            })
        };
        let other = values
            .iter()
            .find(|other| other.value != one.value && is_in(&other.value));
        tally.demand(other.is_none() || is_in(&one.value), || {
            Evidence::of_source(format!(
                "with {} for `{}` the prompt says {}: {}",
                one.value,
                switch.name,
                other.map_or(&Value::Null, |other| &other.value),
                one.effect
            ))
        });
    }
    for (at, one) in values.iter().enumerate() {
        let twin = values.iter().take(at).find(|other| {
            (&other.effect, other.probe) == (&one.effect, one.probe)
                && !is_meant([&one.value, &other.value])
        });
        tally.demand(twin.is_none(), || {
            Evidence::of_source(format!(
                "`{}` gives the same prompt with {} and with {} ({}), and another one if nobody sets it",
                switch.name,
                twin.map_or(&Value::Null, |twin| &twin.value),
                one.value,
                one.effect
            ))
        });
    }
}

/// Demands that what clears reasoning when it is true leaves no more of it than when it is false, and
/// the other way round of what preserves it.
fn keeps_as_named(tally: &mut Tally, prober: &Prober<'_>, switch: &Switch) {
    let name = &switch.name;
    let keeps = ["preserve", "keep"].iter().any(|word| name.contains(word));
    if !(keeps || name.contains("clear")) || !switch.is_for_thinking() {
        return;
    }
    let seen = |value: bool| {
        let setting = Setting {
            name: name.clone(),
            value: Value::from(value),
        };
        prober.with_setting(&setting).see(REASONED_USER)
    };
    let (less, more) = (seen(!keeps), seen(keeps));
    if less.is_refused() || more.is_refused() {
        return;
    }
    tally.demand(less.count(words::REASONING) <= more.count(words::REASONING), || {
        let what = format!(
            "`{name}` does the opposite of what its name says: earlier reasoning is in the prompt if it is {}, and not if it is {keeps}",
            !keeps
        );
        Evidence::differ(what, &less, &more).with(Severity::Error)
    });
}

/// Whether a value of a variable changes a prompt, or is refused, where thinking is turned on or off by
/// other variables.
fn has_effect_beside_others(prober: &Prober<'_>, name: &str) -> bool {
    let m = prober.input_style();
    let mut values = tried(prober.source_without_comments(), prober.dialect(), name);
    values.extend([true, false].map(Value::from));
    let asked = [USER, REASONED_USER, REASONED_TURN_USER];
    let others = ["enable_thinking", "thinking"]
        .into_iter()
        .filter(|other| *other != name);
    let others: Vec<_> = others
        .flat_map(|other| [(other, true), (other, false)])
        .collect();
    asked.iter().any(|probe| {
        others.iter().any(|(other, is_on)| {
            let outcome = |value: Option<&Value>| {
                let mut case = probe.case(m);
                case.variables
                    .insert((*other).to_owned(), Value::from(*is_on));
                if let Some(value) = value {
                    case.variables.insert(name.to_owned(), value.clone());
                }
                prober.ask("with-two-variables", "two variables are set", case)
            };
            let usual = outcome(None);
            values
                .iter()
                .any(|value| outcome(Some(value)).outcome != usual.outcome)
        })
    })
}

/// How far a prompt leads the model to think: from 0, where reasoning is closed at its end, over a
/// word against them, and nothing at all, to 3, where they are open there.
fn invitation(seen: &ProbeOutcome, text: &str) -> u8 {
    const DENIALS: [&str; 4] = ["/nothink", "/no_think", "thinking off", "thinking: off"];
    let after = seen.after(words::USER).unwrap_or(text);
    if is_within(after) {
        3
    } else if marks(after).next_back().is_some() {
        0
    } else if DENIALS.iter().any(|word| seen.has(word)) {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_nearly_are_known_are_reported() {
        let of = |name: &str| misspelt(name, &BTreeSet::new());
        assert_eq!(of("enable_thinkng"), Some("enable_thinking"));
        assert_eq!(of("enableThinking"), Some("enable_thinking"));
        assert_eq!(of("reasoning_efort"), Some("reasoning_effort"));
        for name in [
            "enable_thinking",
            "preserved_thinking",
            "date",
            "tool_calls",
            "use_tools",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(of("enable_think"), Some("enable_thinking"));
        assert_eq!(of("tool"), Some("tools"));
        let both = BTreeSet::from(["enable_thinking".to_owned()]);
        assert_eq!(misspelt("enable_thinkng", &both), None);
    }
}
