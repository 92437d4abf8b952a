//! The contracts' pages are complete, and their examples do what they promise.

use rolecall_check::card::examine;
use rolecall_check::contract::{ALL, Contract};
use rolecall_core::{Dialect, Template, TemplateName};
use rolecall_front::engines::Engines;
use serde_json::{Map, Value};

use crate::extent::sample;

use super::tokens::tokenizer;
use super::{Change, Expected, check, sound};

const HEADINGS: [&str; 5] = [
    "How bad it is",
    BREAKS,
    HOLDS,
    "How to fix it",
    "How common it is",
];

const BREAKS: &str = "An example that breaks it";
const HOLDS: &str = "One that holds";

/// The columns of the narrowest terminal on which examples keep their lines.
const NARROW: usize = 60;

/// The contracts that cannot be judged without a vocabulary.
const ON_TOKENS: [&str; 4] = [
    "control-tokens-known",
    "turn-end-stops",
    "one-bos-tokenised",
    "blanks-kept",
];

/// The parts of a page, each with its heading. The first part has the contract's name and meaning,
/// without a heading.
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

/// The example below a heading: its language, and its text with all its line breaks.
fn example(contract: &Contract, heading: &str) -> (&'static str, String) {
    let parts = parts(contract);
    let (_, part) = parts.iter().find(|(name, _)| *name == heading).unwrap();
    let fences: Vec<&str> = part.split("```").collect();
    let [_, example, _] = fences.as_slice() else {
        panic!("{contract:?}: not one example below {heading:?}");
    };
    let (language, source) = example.split_once('\n').unwrap();
    (language, source.to_owned())
}

/// The template below a heading, as users of the default front get it. An example in JSON has fields
/// of a response template for the sound template.
fn template(contract: &Contract, heading: &str) -> Template {
    let (language, source) = example(contract, heading);
    if language == "json" {
        return with_response_fields(contract, &source);
    }
    let mut dialects = Dialect::ALL.into_iter();
    let dialect = dialects.find(|dialect| dialect.name() == language);
    Template::from_source(contract.id, dialect.expect("a dialect"), &source)
}

/// The sound template with a response template that has these fields. Each takes the place of the
/// field with its name or with its opener.
fn with_response_fields(contract: &Contract, fields: &str) -> Template {
    let mut template = sound("sound.jinja");
    template.name = TemplateName::new(contract.id);
    let response = template.response_template.as_mut().unwrap();
    let fields: Map<String, Value> = serde_json::from_str(fields).unwrap();
    let known = response["fields"].as_object_mut().unwrap();
    for (name, field) in fields {
        known.retain(|_, other| field["open"].is_null() || other["open"] != field["open"]);
        known.insert(name, field);
    }
    template
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
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/harness/check/src/contract/pages"
    );
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

/// The examples of every fifth contract are tried, or all if the tests try everything.
#[test]
fn what_shall_break_a_contract_breaks_this_one_alone_and_what_shall_hold_it_has_no_defect() {
    // The contracts on tokens know the model's tokens; `<|end|>` includes spaces before it.
    let tokens = [
        "<s>",
        "</s>",
        "<|im_start|>",
        "<|im_end|>",
        "<|sep|>",
        " <|end|>",
    ];
    let changes = sample(ALL.iter().collect(), 5).into_iter().map(|contract| {
        let before = template(contract, HOLDS);
        let is_on_tokens = ON_TOKENS.contains(&contract.id);
        Change {
            what: BREAKS.to_owned(),
            tokenizer: is_on_tokens.then(|| tokenizer(&before, &tokens, &[4, 6])),
            after: template(contract, BREAKS),
            expected: Expected::Alone(contract),
            before,
        }
    });
    check(&changes.collect::<Vec<_>>());
}

/// Whoever copies the example gets a template that is sound for every user, also on servers that
/// hand conversations on as they are written. A sample, as above.
#[test]
fn what_shall_hold_holds_on_raw_servers_too() {
    for contract in sample(ALL.iter().collect(), 5) {
        let template = template(contract, HOLDS);
        let engines = Engines::default();
        let engine = engines.for_dialect(template.dialect).unwrap();
        let card = examine(engine, &template);
        let alone = card.without_front.iter();
        let broken: Vec<_> = alone
            .filter(|finding| finding.severity().is_defect())
            .map(|finding| finding.contract.id)
            .collect();
        assert!(broken.is_empty(), "{}: {broken:?}", contract.id);
    }
}
