//! The contracts' pages are complete, and their examples do what they promise.

use rolecall_check::contract::{ALL, Contract, Finding, Judgement};
use rolecall_core::{Dialect, Template, TemplateName};
use serde_json::{Map, Value};

use super::run::judgement;
use super::template::Subject;
use crate::test_files;

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
fn subject(contract: &Contract, heading: &str) -> Subject {
    let (language, source) = example(contract, heading);
    let mut dialects = Dialect::ALL.into_iter();
    let template = match dialects.find(|dialect| dialect.name() == language) {
        Some(dialect) => Template::from_source(contract.id, dialect, &source),
        None => with_response_fields(contract, &source),
    };
    let subject = Subject::from(template);
    // These know the model's tokens; `<|end|>` includes spaces before it.
    if ON_TOKENS.contains(&contract.id) {
        subject.with_tokens("pages")
    } else {
        subject
    }
}

/// The sound template with a response template that has these fields. Each takes the place of the
/// field with its name or with its opener.
fn with_response_fields(contract: &Contract, fields: &str) -> Template {
    let mut template = Subject::named("sound.jinja").unwrap().template;
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

pub(super) fn every_page_has_its_parts() {
    let folder = test_files::folder(super::CONTRACTS);
    for contract in ALL {
        let file = format!("{}.md", contract.id.replace('-', "_"));
        let page = std::fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(page, contract.page);
        let parts = parts(contract);
        let headings: Vec<_> = parts.iter().map(|(heading, _)| *heading).collect();
        assert_eq!(headings, HEADINGS, "{contract:?}");
        for (heading, text) in &parts {
            assert!(text.trim().len() > 5, "{contract:?}: {heading}");
        }
        let severity = contract.severity.name();
        assert!(parts[0].1.contains(severity), "{contract:?}: {severity}");
        assert!(parts[4].1.contains("(measured"), "{contract:?}");
        for heading in [BREAKS, HOLDS] {
            for line in example(contract, heading).1.lines() {
                assert!(line.chars().count() <= NARROW, "{contract:?}: {line}");
            }
        }
    }
    assert_eq!(test_files::files(&folder, "md").count(), ALL.len());
}

/// What shall break a contract breaks this one alone, with its usual severity, and what shall hold it
/// has no defect.
pub(super) fn examples(contract: &'static Contract) {
    let [before, after] = [HOLDS, BREAKS].map(|heading| subject(contract, heading).card());
    let defects = |card: &rolecall_check::card::Card| -> Vec<_> {
        let defects = card.unexplained().map(|finding| finding.contract.id);
        // A small template of a known family is another one on purpose.
        let is_meant = |id: &&str| *id != "family-alike" || *id == contract.id;
        defects.filter(is_meant).collect()
    };
    assert_eq!(judgement(&before, contract), &Judgement::Holds);
    assert_eq!(defects(&before), [""; 0]);
    let finding = after.broken().find(|one| one.contract == contract);
    assert_eq!(finding.map(Finding::severity), Some(contract.severity));
    let expected = contract.severity.is_defect().then_some(contract.id);
    assert_eq!(defects(&after), Vec::from_iter(expected));
    // Whoever copies the example gets a template that is sound for every user, also on servers that
    // hand conversations on as they are written.
    let alone = before.without_front.iter();
    let alone = alone.filter(|finding| finding.severity().is_defect());
    assert_eq!(
        alone.map(|one| one.contract.id).collect::<Vec<_>>(),
        [""; 0]
    );
}
