//! The probes through two templates, one of which was made from the other.

use std::sync::Arc;

use rolecall_core::{Case, Engine, Outcome, Template};

use crate::capability::{self, Switch};
use crate::card::with_assumed_tokens;
use crate::contract;
use crate::probe::{Probe, ProbeInputs, Prober, Setting, catalogue};
use rolecall_core::guard::on_large_stack;

/// A probe with the outcomes of two templates.
#[derive(Debug, Clone)]
pub struct ComparedProbe {
    /// Its name: `probe/user`, or `probe/user with enable_thinking: false` under a setting.
    pub name: String,
    pub asked: Arc<Case>,
    /// The outcomes of the first template and of the second.
    pub outcomes: [Outcome; 2],
}

/// The probes that are tried under each setting of a switch.
const UNDER_SETTINGS: [Probe; 6] = [
    catalogue::USER,
    catalogue::SYSTEM_USER,
    catalogue::TOOLS,
    catalogue::REASONED_USER,
    catalogue::REASONED_CALL,
    catalogue::CALL_TURN_USER,
];

/// Renders all probes with two templates, each with its engine: as they are, those that contracts
/// ask of the first template, and under every setting of a switch that one of the two has. Both get
/// the conversations in the input style of the first.
pub fn compare_probes(engines: [&dyn Engine; 2], templates: [&Template; 2]) -> Vec<ComparedProbe> {
    on_large_stack(|| {
        let [a, b] = templates.map(with_assumed_tokens);
        let inputs = ProbeInputs::default();
        let a = Prober::new(engines[0], &a, &inputs);
        // Otherwise a difference could come from the two questions and not from the templates.
        let b = Prober::new(engines[1], &b, &inputs).with_input_style(a.input_style());
        let mut found = all_of(&a, &b);
        for setting in settings(&a, &b) {
            let (a, b) = (a.with_setting(&setting), b.with_setting(&setting));
            let suffix = format!(" with {}", setting.to_string().trim_matches('`'));
            let under = UNDER_SETTINGS.iter();
            found.extend(under.map(|probe| compare_probe(*probe, &suffix, &a, &b)));
        }
        found
    })
}

fn all_of(a: &Prober<'_>, b: &Prober<'_>) -> Vec<ComparedProbe> {
    let probes = catalogue::ALL.iter();
    let mut found: Vec<_> = probes
        .clone()
        .map(|probe| compare_probe(*probe, "", a, b))
        .collect();
    // Contracts ask what is in no catalogue.
    let capabilities = capability::explore(a);
    contract::judge(a, &capabilities);
    let asked = a.asked().into_iter();
    let others = asked.filter(|asked| probes.clone().all(|known| known.name != asked.probe));
    for asked in others {
        let name = format!("probe/{}", asked.probe);
        // One name may represent several questions.
        let count = found
            .iter()
            .filter(|one| one.name.starts_with(&name))
            .count();
        let name = if count == 0 {
            name
        } else {
            format!("{name} {}", count + 1)
        };
        let other = b.ask(asked.probe, asked.about, (*asked.asked).clone());
        found.push(ComparedProbe {
            name,
            asked: Arc::clone(&asked.asked),
            outcomes: [&asked, &other].map(|seen| (*seen.outcome).clone()),
        });
    }
    found
}

fn compare_probe(probe: Probe, suffix: &str, a: &Prober<'_>, b: &Prober<'_>) -> ComparedProbe {
    let (one, other) = (a.see(probe), b.see(probe));
    ComparedProbe {
        name: format!("probe/{}{suffix}", probe.name),
        asked: Arc::clone(&one.asked),
        outcomes: [&one, &other].map(|seen| (*seen.outcome).clone()),
    }
}

/// Every setting of a switch of the two, each once.
fn settings(a: &Prober<'_>, b: &Prober<'_>) -> Vec<Setting> {
    let mut found: Vec<Setting> = Vec::new();
    for prober in [a, b] {
        let switches = capability::explore(prober).switches;
        for setting in switches.iter().flat_map(Switch::all_settings) {
            if !found.contains(&setting) {
                found.push(setting);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rolecall_core::Dialect;
    use rolecall_front::engines::Engines;

    use super::*;

    #[test]
    fn what_differs_under_a_setting_alone_is_among_them() {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let source = |gap: &str| {
            format!(
                "{{% for m in messages %}}<{{{{ m.role }}}}>{{{{ m.content }}}}{{% endfor %}}<model>\
                 {{{{ '<think>{gap}</think>' if enable_thinking is false }}}}"
            )
        };
        let template = |gap| Template::from_source("t", Dialect::Jinja, &source(gap));
        let (one, other) = (template("\\n"), template("\\n\\n"));
        let found = compare_probes([engine, engine], [&one, &other]);
        let differ: Vec<&str> = found
            .iter()
            .filter(|one| one.outcomes[0] != one.outcomes[1])
            .map(|one| one.name.as_str())
            .collect();
        assert!(
            differ.contains(&"probe/user with enable_thinking: false"),
            "{differ:?}"
        );
        assert!(
            differ.iter().all(|name| name.contains(" with ")),
            "{differ:?}"
        );
        assert!(found.len() > catalogue::ALL.len());
    }
}
