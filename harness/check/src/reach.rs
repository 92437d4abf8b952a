//! The reach of broken contracts: how many of several templates break each of them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::card::Card;
use crate::contract::{self, Contract, Judgement, Severity};

/// What the report cards of several templates say together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reach {
    /// How many templates were checked.
    pub templates: usize,
    /// How many of them the engine cannot read.
    pub unreadable: usize,
    /// How many of them have no error and no warning, not even a known one.
    pub clean: usize,
    /// The broken contracts: errors first, then warnings, limitations and notes. The one that most
    /// templates break comes first.
    pub contracts: Vec<ContractReach>,
}

/// How many templates break a contract with one severity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContractReach {
    /// The contract's name.
    #[serde(serialize_with = "id")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub contract: &'static Contract,
    pub severity: Severity,
    /// How many templates break it, known findings included.
    pub templates: usize,
    /// The share of all templates that were checked.
    pub percent: f64,
    /// To how many templates it applies.
    pub judged: usize,
}

/// Serde passes fields by reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn id<S: serde::Serializer>(
    contract: &&'static Contract,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(contract.id)
}

impl Reach {
    /// The sum of report cards.
    pub fn of(cards: &[Card]) -> Reach {
        let mut judged: BTreeMap<&str, usize> = BTreeMap::new();
        let mut broken: BTreeMap<(Severity, &str), usize> = BTreeMap::new();
        for card in cards {
            for finding in &card.findings {
                let id = finding.contract.id;
                if !matches!(finding.judgement, Judgement::DoesNotApply(_)) {
                    *judged.entry(id).or_default() += 1;
                }
                if finding.is_broken() {
                    *broken.entry((finding.severity(), id)).or_default() += 1;
                }
            }
        }
        let severities = Severity::ALL.into_iter();
        let each =
            severities.flat_map(|severity| contract::ALL.iter().map(move |one| (severity, one)));
        let contracts = each.filter_map(|(severity, contract)| {
            let templates = *broken.get(&(severity, contract.id))?;
            Some(ContractReach {
                contract,
                severity,
                templates,
                percent: percent(templates, cards.len()),
                judged: judged.get(contract.id).copied().unwrap_or(0),
            })
        });
        let mut contracts: Vec<ContractReach> = contracts.collect();
        contracts.sort_by_key(|one| (one.severity, std::cmp::Reverse(one.templates)));
        let is_unreadable = |card: &&Card| card.syntax_error.is_some();
        let is_clean = |card: &&Card| {
            card.syntax_error.is_none() && !card.broken().any(|one| one.severity().is_defect())
        };
        Reach {
            templates: cards.len(),
            unreadable: cards.iter().filter(is_unreadable).count(),
            clean: cards.iter().filter(is_clean).count(),
            contracts,
        }
    }
}

/// A share in per cent, rounded to a tenth.
#[allow(clippy::cast_precision_loss)] // nobody counts that far
fn percent(part: usize, whole: usize) -> f64 {
    (part as f64 * 1000.0 / whole.max(1) as f64).round() / 10.0
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Dialect, Template};
    use rolecall_jinja::JinjaEngine;

    use super::*;
    use crate::card::examine;

    #[test]
    fn contracts_are_counted() {
        let sound = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}\
            {{ '<|assistant|>' if add_generation_prompt }}";
        let shouting = sound.replace("m.content }}", "m.content }}!");
        let forgetful = sound.replace("in messages", "in messages[-1:]");
        let sources = [
            ("broken", "{% if %}"),
            ("a", &*shouting),
            ("b", &*forgetful),
            ("c", &*forgetful),
        ];
        let cards: Vec<Card> = sources
            .iter()
            .map(|(name, source)| {
                let template = Template::from_source(name, Dialect::Jinja, source);
                examine(&JinjaEngine::new(), &template)
            })
            .collect();
        let reach = Reach::of(&cards);
        assert_eq!((reach.templates, reach.unreadable), (4, 1));
        let find = |reach: &Reach, id: &str| {
            let mut contracts = reach.contracts.iter();
            contracts.position(|one| one.contract.id == id && one.severity == Severity::Error)
        };
        let kept = &reach.contracts[find(&reach, "messages-kept").unwrap()];
        assert_eq!((kept.templates, kept.percent), (2, 50.0));
        let severities = reach.contracts.iter().map(|one| one.severity);
        assert!(severities.is_sorted());
    }
}
