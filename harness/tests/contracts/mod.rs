//! The contracts that a change of a template breaks. The changes are faults in good templates, and
//! the examples on the contracts' pages.

mod pages;
mod tokens;

use std::collections::BTreeMap;

use rayon::prelude::*;
use rolecall_check::card::{Card, examine_with};
use rolecall_check::contract::{ALL, Contract, Judgement, Severity, by_id};
use rolecall_check::side_by_side::compare_probes;
use rolecall_check::tokenizer::Tokenizer;
use rolecall_core::{Conversation, Dialect, Template};
use rolecall_front::engines::Engines;
use serde::Deserialize;

use crate::extent::sample;
use crate::project::SUITE;

use self::tokens::tokenizer;

/// The templates that keep every contract.
const SOUND: [(&str, Dialect, &str); 2] = [
    (
        "sound.jinja",
        Dialect::Jinja,
        include_str!("../data/contracts/sound.jinja"),
    ),
    (
        "sound.gotmpl",
        Dialect::Go,
        include_str!("../data/contracts/sound.gotmpl"),
    ),
];

/// How answers of the sound Jinja template's model are read.
const SOUND_RESPONSE: &str = include_str!("../data/contracts/sound.response.json");

/// The tokens of the sound template's model, and two that the template does not write.
const TOKENS: [&str; 15] = [
    "<|begin|>",
    "<|end|>",
    "<|tools|>",
    "<|system|>",
    "<|developer|>",
    "<|user|>",
    "<|assistant|>",
    "<|tool|>",
    "<|image|>",
    "<|think|>",
    "<|/think|>",
    "<|call|>",
    "<|/call|>",
    "<|pause|>",
    " <|narrow|>",
];

/// A fault in a good template.
#[derive(Debug, Deserialize)]
struct Fault {
    #[serde(default)]
    what: String,
    template: String,
    part: String,
    /// The text that replaces every such part.
    instead: String,
    /// Whether the part is in the response template.
    #[serde(default)]
    in_response: bool,
    /// What a card reports about the fault.
    #[serde(flatten)]
    expected: Expected,
}

/// What a card reports about a change in addition to its earlier findings.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Breaks(String),
    Error(String),
    /// This contract, as a warning, and nothing worse.
    Warning(String),
    /// This contract, as a note or a limitation, and nothing worse.
    Fact(String),
    /// Nothing, for this reason.
    Unnoticed(String),
    /// This contract, with its usual severity. The template had no defect before and has no other.
    #[serde(skip)]
    Alone(&'static Contract),
}

impl Expected {
    /// The contract that the change breaks.
    fn contract(&self) -> Option<&'static Contract> {
        let id = match self {
            Expected::Breaks(id)
            | Expected::Error(id)
            | Expected::Warning(id)
            | Expected::Fact(id) => id,
            Expected::Unnoticed(_) => return None,
            Expected::Alone(contract) => return Some(contract),
        };
        let contract = by_id(id);
        assert!(contract.is_some(), "no contract is named {id}");
        contract
    }

    /// Whether the cards before and after the change are as expected.
    fn is_met(&self, before: &Card, after: &Card) -> bool {
        let found = newly_broken(before, after);
        let worst = found.values().min();
        let severity = self.contract().and_then(|contract| found.get(contract.id));
        match self {
            Expected::Breaks(_) => severity.is_some(),
            Expected::Error(_) => severity == Some(&Severity::Error),
            Expected::Warning(_) => {
                severity == Some(&Severity::Warning) && worst == Some(&Severity::Warning)
            }
            Expected::Fact(_) => {
                severity.is_some() && worst.is_some_and(|severity| !severity.is_defect())
            }
            Expected::Unnoticed(why) => found.is_empty() && !why.is_empty(),
            Expected::Alone(contract) => {
                let expected = contract.severity.is_defect().then_some(contract.id);
                severity == Some(&contract.severity)
                    && judgement(before, contract) == &Judgement::Holds
                    && defects(before).is_empty()
                    && defects(after) == Vec::from_iter(expected)
            }
        }
    }
}

/// A template before and after a change.
struct Change {
    /// The change, in words, for the message that nobody noticed it.
    what: String,
    before: Template,
    after: Template,
    tokenizer: Option<Tokenizer>,
    expected: Expected,
}

fn faults(table: &str) -> Vec<Fault> {
    #[derive(Deserialize)]
    struct Table {
        fault: Vec<Fault>,
    }
    toml::from_str::<Table>(table).unwrap().fault
}

/// A template with a fault in it.
fn faulty(template: &Template, fault: &Fault) -> Template {
    let mut faulty = template.clone();
    let source = &text_of(template, fault);
    let changed = source.replace(&fault.part, &fault.instead);
    assert_ne!(&changed, source, "{fault:?}");
    if fault.in_response {
        faulty.response_template = Some(serde_json::from_str(&changed).unwrap());
    } else {
        faulty.source = changed;
    }
    faulty
}

/// The text of a template in which a fault is.
fn text_of(template: &Template, fault: &Fault) -> String {
    if fault.in_response {
        SOUND_RESPONSE.to_owned()
    } else {
        template.source.clone()
    }
}

/// A template that keeps every contract. No application prepares its conversations, so it sees
/// exactly what a contract asks.
fn sound(name: &str) -> Template {
    let found = SOUND.iter().find(|(other, ..)| *other == name);
    let (_, dialect, source) = found.expect("a sound template");
    let mut template = Template::from_source(name, *dialect, source)
        .with_special_token("bos_token", "<|begin|>")
        .with_special_token("eos_token", "<|end|>");
    template.front = Some("raw".to_owned());
    if *dialect == Dialect::Jinja {
        template.response_template = Some(serde_json::from_str(SOUND_RESPONSE).unwrap());
    }
    template
}

/// The model's tokens, for a Jinja template.
fn sound_tokenizer(template: &Template) -> Option<Tokenizer> {
    (template.dialect == Dialect::Jinja).then(|| tokenizer(template, &TOKENS, &[2]))
}

fn card(template: &Template, tokenizer: Option<&Tokenizer>) -> Card {
    let engines = Engines::default();
    let engine = engines.for_dialect(template.dialect).unwrap();
    examine_with(engine, template, tokenizer)
}

/// The broken contracts on a card, with their severities. Contracts that the template's sidecar
/// explains are broken both before and after the change.
fn broken(card: &Card) -> BTreeMap<&'static str, Severity> {
    let findings = card.broken();
    findings
        .map(|finding| (finding.contract.id, finding.severity()))
        .collect()
}

/// The contracts that only the change breaks, or breaks worse than before.
fn newly_broken(before: &Card, after: &Card) -> BTreeMap<&'static str, Severity> {
    let before = broken(before);
    let mut after = broken(after);
    after.retain(|id, severity| before.get(id).is_none_or(|known| *severity < *known));
    after
}

/// The contracts that are defects of a template when they are broken.
fn defects(card: &Card) -> Vec<&'static str> {
    let defects = card.unexplained().map(|finding| finding.contract.id);
    defects.collect()
}

fn judgement<'c>(card: &'c Card, contract: &Contract) -> &'c Judgement {
    let finding = card.findings.iter().find(|f| f.contract == contract);
    &finding.unwrap().judgement
}

/// Examines every template before and after its change, and names all changes that were not noticed
/// as expected.
fn check(changes: &[Change]) {
    let mut unchanged: BTreeMap<&str, Card> = BTreeMap::new();
    for Change {
        before, tokenizer, ..
    } in changes
    {
        unchanged
            .entry(before.name.as_str())
            .or_insert_with(|| card(before, tokenizer.as_ref()));
    }
    let wrong: Vec<String> = changes
        .par_iter()
        .filter_map(|change| {
            let before = &unchanged[change.before.name.as_str()];
            let after = card(&change.after, change.tokenizer.as_ref());
            (!change.expected.is_met(before, &after)).then(|| {
                format!(
                    "{} ({}): expected {:?}, found {:?}",
                    change.what,
                    change.before.name,
                    change.expected,
                    newly_broken(before, &after)
                )
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every contract has a fault that breaks it. Every ninth fault is tried, or all if the tests try
/// everything.
#[test]
fn each_contract_can_be_broken() {
    let faults = faults(include_str!("../data/contracts/sound.toml"));
    let broken: Vec<_> = faults
        .iter()
        .filter_map(|fault| Some((&*fault.template, fault.expected.contract()?)))
        .collect();
    // The suite's templates have a fault that depends on chance.
    for contract in ALL.iter().filter(|contract| contract.id != "deterministic") {
        let template = if contract.dialects.contains(&Dialect::Jinja) {
            "sound.jinja"
        } else {
            "sound.gotmpl"
        };
        let is_broken = broken.contains(&(template, contract));
        assert!(is_broken, "nothing breaks {contract:?}");
    }
    let changes = sample(faults, 9).into_iter().map(|fault| {
        let before = sound(&fault.template);
        let text = text_of(&before, &fault);
        assert_eq!(text.matches(&fault.part).count(), 1, "{fault:?}");
        Change {
            what: fault.instead.clone(),
            tokenizer: sound_tokenizer(&before),
            after: faulty(&before, &fault),
            expected: fault.expected,
            before,
        }
    });
    check(&changes.collect::<Vec<_>>());
}

#[test]
fn a_sound_template_keeps_every_contract() {
    let template = sound("sound.jinja");
    let card = card(&template, sound_tokenizer(&template).as_ref());
    for finding in &card.findings {
        let expected = match finding.contract.id {
            "unknown-role-kept" => {
                Judgement::DoesNotApply("the template refuses: unknown role".to_owned())
            }
            "family-joints" => Judgement::DoesNotApply(
                "the tokens of the turns are not those of a known family".to_owned(),
            ),
            "calls-recognised" | "thoughts-recognised" => {
                Judgement::DoesNotApply("it is not about templates for jinja".to_owned())
            }
            _ => Judgement::Holds,
        };
        assert_eq!(finding.judgement, expected, "{:?}", finding.contract);
    }
}

/// No template for Ollama prevents that a text becomes control tokens.
#[test]
fn a_sound_template_for_ollama_keeps_every_contract_but_one() {
    let card = card(&sound("sound.gotmpl"), None);
    for finding in card.broken() {
        assert_eq!(finding.contract.id, "control-tokens-inert", "{finding:?}");
    }
    for fault in faults(include_str!("../data/contracts/sound.toml")) {
        if fault.template == "sound.gotmpl" {
            let contract = fault.expected.contract().unwrap();
            assert_eq!(
                judgement(&card, contract),
                &Judgement::Holds,
                "{contract:?}"
            );
        }
    }
}

#[test]
#[ignore = "examines some hundred templates; .ci/run runs it"]
fn faults_in_the_suites_templates_are_noticed() {
    let faults = faults(include_str!("../data/contracts/suite.toml"));
    let changes = faults.into_iter().map(|fault| {
        let mut templates = SUITE.templates.iter();
        let before = templates
            .find(|template| template.name.as_str() == fault.template)
            .unwrap_or_else(|| panic!("no template is named {}", fault.template));
        Change {
            before: before.clone(),
            after: faulty(before, &fault),
            what: fault.what,
            tokenizer: None,
            expected: fault.expected,
        }
    });
    check(&changes.collect::<Vec<_>>());
}

/// What a template was meant to be, its original shows: compared with it, nearly every fault is
/// reported.
#[test]
#[ignore = "renders some hundred templates; .ci/run runs it"]
fn faults_in_the_suites_templates_show_against_the_originals() {
    let faults = faults(include_str!("../data/contracts/suite.toml"));
    let engines = Engines::default();
    let shows = |fault: &&Fault| {
        let mut templates = SUITE.templates.iter();
        let before = templates
            .find(|one| one.name.as_str() == fault.template)
            .unwrap();
        let after = faulty(before, fault);
        let engine = engines.for_dialect(before.dialect).unwrap();
        let probes = compare_probes([engine, engine], [before, &after]);
        let mut probes = probes.iter();
        probes.any(|probe| probe.outcomes[0] != probe.outcomes[1]) || {
            let outcomes = [before, &after].map(|template| {
                let program = engine.compile(template).unwrap();
                let cases = SUITE.cases.iter();
                let outcomes = cases.map(|case| program.render(&Conversation::new(case)));
                outcomes.collect::<Vec<_>>()
            });
            outcomes[0] != outcomes[1]
        }
    };
    let hidden: Vec<String> = faults
        .par_iter()
        .filter(|fault| !shows(fault))
        .map(|fault| format!("{} ({})", fault.what, fault.template))
        .collect();
    let reported = faults
        .iter()
        .filter(|fault| matches!(fault.expected, Expected::Error(_) | Expected::Warning(_)))
        .count();
    println!(
        "{} faults: {reported} reported as errors or warnings, {} compared with the original",
        faults.len(),
        faults.len() - hidden.len()
    );
    assert!(
        reported * 100 >= faults.len() * 80,
        "{reported} of {}",
        faults.len()
    );
    assert!(hidden.len() * 100 <= faults.len() * 2, "{hidden:?}");
}
