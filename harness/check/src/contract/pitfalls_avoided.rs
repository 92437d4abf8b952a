use std::collections::BTreeMap;

use rolecall_core::problem::misspelt;
use rolecall_core::{Cut, Dialect, ROLES};
use rolecall_jinja::PitfallKind;

use super::frame::{Contract, Evidence, Severity};

/// The most lines that are named for one mistake.
const MOST_LINES: usize = 3;

pub(super) static CONTRACT: Contract = Contract {
    id: "pitfalls-avoided",
    meaning: "loops keep what they set, conditions can be false, and names are spelt alike",
    guards_against: "a mark that a loop forgets, or a branch that is always taken",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("pitfalls_avoided.md"),
    judge: |tally, prober, _| {
        let source = &prober.template().source;
        let Some(reading) = prober.reading() else {
            return tally.skip("the template cannot be read");
        };
        // The same in several lines has one cause.
        let mut lines: BTreeMap<&PitfallKind, Vec<String>> = BTreeMap::new();
        for pitfall in &reading.pitfalls {
            let line = format!("line {}", pitfall.line);
            lines.entry(&pitfall.kind).or_default().push(line);
        }
        for pitfall in &reading.pitfalls {
            let Some(mut lines) = lines.remove(&pitfall.kind) else {
                continue;
            };
            let more = lines.split_off(lines.len().min(MOST_LINES)).len();
            lines.extend((more > 0).then(|| format!("{more} more")));
            let line = lines.join(" and ");
            let what = match &pitfall.kind {
                PitfallKind::ForgottenByLoop { name } => format!(
                    "{line}: the loop sets `{name}` and forgets it: after the loop it is as \
                     before"
                ),
                PitfallKind::TextAsCondition { text } => format!(
                    "{line}: the text '{text}' alone is a condition, and a text is always true"
                ),
                PitfallKind::OtherList { indexed, looped } => format!(
                    "{line}: the loop counts in `{looped}`, and its count is used in `{indexed}`, where \
                     it is that of another message"
                ),
                PitfallKind::OtherRole { text } => match misspelt(text, ROLES) {
                    Some(meant) => format!(
                        "{line}: a role is compared with '{text}', which no application sends; did you \
                         mean '{meant}'?"
                    ),
                    None => continue,
                },
            };
            tally.broken(Evidence::of_source(what).in_line(Some(pitfall.line)));
        }
        for name in prober.variables() {
            if let Some(meant) = nearly(&name, reading.assigned.iter().map(String::as_str)) {
                let line = line_of(source, &name);
                let what = format!(
                    "line {line}: nothing sets `{name}`; did you mean `{meant}`, which the template sets?"
                );
                tally.broken(Evidence::of_source(what).in_line(Some(line)));
            }
        }
        tally.holds();
    },
};

/// A name that is shorter resembles too many others.
const SHORTEST: usize = 6;

/// The most letters that differ in names that are meant to be one.
const MOST_CHANGES: usize = 2;

/// The assigned name that differs from a name that nothing sets by a letter or two.
fn nearly<'n>(name: &str, assigned: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Such a name is known to applications.
    let is_known = name.ends_with("_token") || super::shared::switches::is_known(name);
    if name.len() < SHORTEST || is_known || name.starts_with('_') {
        return None;
    }
    let mut assigned = assigned.filter(|other| other.len() >= SHORTEST && *other != name);
    assigned.find(|other| strsim::levenshtein(name, other) <= MOST_CHANGES)
}

/// The line in which a name first appears.
fn line_of(source: &str, name: &str) -> usize {
    let at = source.find(name).unwrap_or(0);
    source.cut(..at).matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::nearly;

    #[test]
    fn names_nearly_assigned_are_reported() {
        let of = |name: &str| nearly(name, ["system_message", "content", "messages_"].into_iter());
        assert_eq!(of("system_mesage"), Some("system_message"));
        assert_eq!(of("contents"), Some("content"));
        for name in [
            "messages",
            "system_message",
            "date",
            "_content",
            "enable_thinking",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
