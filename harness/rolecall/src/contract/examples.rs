//! The pages of the contracts keep what they promise: each has all its parts, and its examples are
//! examined by the engines.

use rolecall_model::{Dialect, Template};

use super::example_tokenizer::tokenizer;
use super::{ALL, Contract, Judgement};
use crate::card::{Card, examine_with};
use crate::engines::Engines;

/// The headings of every page.
const HEADINGS: [&str; 5] = [
    "How bad it is",
    BREAKS,
    HOLDS,
    "How to mend it",
    "How common it is",
];

const BREAKS: &str = "An example that breaks it";
const HOLDS: &str = "One that holds";

/// The columns of the narrowest terminal on which examples keep their lines.
const NARROW: usize = 60;

/// The contracts that say nothing without a vocabulary.
const ON_TOKENS: [&str; 4] = [
    "control-tokens-known",
    "turn-end-stops",
    "one-bos-tokenised",
    "blanks-kept",
];

/// The parts of a page, each with its heading. Before the first stands its name and what it is
/// about.
fn parts(contract: &Contract) -> Vec<(&'static str, &'static str)> {
    let mut parts = contract.page.split("\n## ");
    let about = parts.next().unwrap();
    let titled = format!("# {}\n\n", contract.id);
    let about = about.strip_prefix(&titled);
    assert!(
        about.is_some_and(|text| text.trim().len() > 100),
        "{contract:?}"
    );
    parts
        .map(|part| part.split_once("\n\n").unwrap_or((part, "")))
        .collect()
}

/// The template below a heading: its dialect, and its source with all its line breaks.
fn example(contract: &Contract, heading: &str) -> (Dialect, String) {
    let parts = parts(contract);
    let (_, part) = parts.iter().find(|(name, _)| *name == heading).unwrap();
    let fences: Vec<&str> = part.split("```").collect();
    let [_, example, _] = fences.as_slice() else {
        panic!("{contract:?}: not one example below {heading:?}");
    };
    let (language, source) = example.split_once('\n').unwrap();
    let mut dialects = Dialect::ALL.into_iter();
    let dialect = dialects.find(|dialect| dialect.name() == language);
    (dialect.expect("a dialect"), source.to_owned())
}

/// The card of an example, as users of the usual front get it.
fn card(contract: &Contract, heading: &str) -> Card {
    let (dialect, source) = example(contract, heading);
    let template = Template::from_source(contract.id, dialect, &source);
    let engines = Engines::default();
    let engine = engines.for_dialect(dialect).unwrap();
    // Of the contracts on tokens the model's are known; `<|end|>` takes blanks with it.
    let tokens = [
        "<s>",
        "</s>",
        "<|im_start|>",
        "<|im_end|>",
        "<|sep|>",
        " <|end|>",
    ];
    let tokenizer = tokenizer(&template, &tokens, &[4, 6]);
    let is_on_tokens = ON_TOKENS.contains(&contract.id);
    examine_with(engine, &template, is_on_tokens.then_some(&tokenizer))
}

/// The defects of a card, and how it stands to a contract.
fn judged<'c>(card: &'c Card, contract: &Contract) -> (Vec<&'static str>, &'c Judgement) {
    let defects = card.unexplained().map(|finding| finding.contract.id);
    let finding = card.findings.iter().find(|f| f.contract == contract);
    (defects.collect(), &finding.unwrap().judgement)
}

#[test]
fn every_page_has_its_parts() {
    for contract in ALL {
        let parts = parts(contract);
        let headings: Vec<_> = parts.iter().map(|(heading, _)| *heading).collect();
        assert_eq!(headings, HEADINGS, "{contract:?}");
        for (heading, text) in &parts {
            assert!(text.trim().len() > 5, "{contract:?}: {heading}");
        }
        let severity = contract.severity.name();
        assert!(parts[0].1.contains(severity), "{contract:?}: {severity}");
        assert!(parts[4].1.contains("(measured"), "{contract:?}");
    }
}

#[test]
fn every_page_belongs_to_a_contract() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/contract/pages");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), ALL.len());
}

#[test]
fn examples_fit_narrow_terminals() {
    for contract in ALL {
        for heading in [BREAKS, HOLDS] {
            let (_, source) = example(contract, heading);
            for line in source.lines() {
                assert!(line.chars().count() <= NARROW, "{contract:?}: {line}");
            }
        }
    }
}

#[test]
fn what_shall_break_a_contract_breaks_this_one_and_has_no_other_defect() {
    for contract in ALL {
        let card = card(contract, BREAKS);
        let (defects, judgement) = judged(&card, contract);
        assert!(
            matches!(judgement, Judgement::Broken(_)),
            "{contract:?}: {judgement:?}"
        );
        let finding = card.broken().find(|finding| finding.contract == *contract);
        let severity = finding.unwrap().severity();
        assert_eq!(severity, contract.severity, "{contract:?}");
        let expected = severity.is_defect().then_some(contract.id);
        assert_eq!(defects, Vec::from_iter(expected), "{contract:?}");
    }
}

#[test]
fn what_shall_hold_a_contract_holds_it_and_has_no_defect() {
    for contract in ALL {
        let card = card(contract, HOLDS);
        let (defects, judgement) = judged(&card, contract);
        assert_eq!(judgement, &Judgement::Holds, "{contract:?}");
        assert_eq!(defects, [""; 0], "{contract:?}");
    }
}
