//! The contracts, on templates that are no use. Which fault breaks a contract is in the file `*.faults` beside
//! it.

use rolecall_core::{Dialect, Limits, Template};

use super::{ALL, Judgement, Severity};
use crate::card::{Card, examine};
use crate::probe::counting_engine::CountingEngine;
use rolecall_front::engines::Engines;

/// The card of a template that no application comes before: what it is given is what a contract
/// asks.
fn card(dialect: Dialect, source: &str) -> Card {
    card_within(&Limits::default(), dialect, source)
}

fn card_within(limits: &Limits, dialect: Dialect, source: &str) -> Card {
    let mut template = Template::from_source("t", dialect, source);
    template.front = Some("raw".to_owned());
    let engines = Engines::with_limits(limits);
    examine(engines.for_dialect(dialect), &template)
}

#[test]
fn nothing_is_guessed_about_a_template_that_cannot_be_read() {
    let card = card(Dialect::Jinja, "{% if %}");
    let broken: Vec<_> = card.broken().map(|finding| finding.contract.id).collect();
    assert_eq!(broken, ["renders"]);
    assert!(
        !card
            .findings
            .iter()
            .any(|f| f.judgement == Judgement::Holds)
    );
}

#[test]
fn a_template_that_uses_up_its_limits_is_asked_once() {
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
    let few = Limits {
        fuel: Limits::default().fuel / 100,
        ..Limits::default()
    };
    let card = card_within(&few, Dialect::Jinja, endless);
    let broken: Vec<_> = card.broken().map(|finding| finding.contract.id).collect();
    assert_eq!(broken, ["renders"]);
    assert!(matches!(
        card.capabilities.tools,
        crate::capability::Support::Unknown { .. }
    ));
}

#[test]
fn names_are_unique() {
    let mut ids: Vec<_> = ALL.iter().map(|contract| contract.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), ALL.len());
}

#[test]
fn what_changes_from_one_render_to_the_next_is_not_deterministic() {
    let template = Template::from_source("t", Dialect::Jinja, "");
    let card = examine(&CountingEngine::aloud(), &template);
    let mut broken = card.broken();
    assert!(broken.any(|finding| finding.contract.id == "deterministic"));
}

#[test]
fn a_template_for_one_message_is_reported_so_once() {
    let about = "Decide whether the message is safe. ".repeat(8);
    let card = card(
        Dialect::Jinja,
        &format!("{about}<|user|>{{{{ messages[-1].content }}}}<|end|>"),
    );
    let broken = card.broken();
    let reported: Vec<_> = broken
        .filter(|found| found.severity() <= Severity::Limitation)
        .map(|found| (found.contract.id, found.severity()))
        .collect();
    assert_eq!(reported, [("messages-kept", Severity::Limitation)]);
}

#[test]
fn one_cause_is_one_finding_with_the_conversations_that_it_reaches() {
    let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}\
                  {% if add_generation_prompt %}<|assistant|>\nHere I go:{% endif %}";
    let card = card(Dialect::Jinja, source);
    let found = card
        .broken()
        .find(|found| found.contract.id == "finished-turn-continues");
    let found = found.expect("the answer does not continue the prompt");
    let causes = found.causes();
    assert!(found.evidence().len() > 3, "{found:?}");
    assert_eq!(causes.len(), 1, "{causes:?}");
    let places: Vec<String> = causes[0].iter().map(|one| one.place()).collect();
    assert!(
        places.contains(&"a system message and a question".to_owned()),
        "{places:?}"
    );
}

#[test]
fn what_ordinary_conversations_lose_comes_first() {
    let source = "{% for m in messages %}{% if m.role != 'system' or loop.first %}<|{{ m.role }}|>{{ m.content }}\
                  {% if m.tool_calls and loop.last %}{{ m.tool_calls | tojson }}{% endif %}<|end|>{% endif %}{% endfor %}\
                  {{ tools | tojson if tools }}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    let card = card(Dialect::Jinja, source);
    let rank = |id: &str| {
        let found = card.broken().find(|found| found.contract.id == id);
        found.unwrap_or_else(|| panic!("{id} holds")).rank()
    };
    assert!(rank("tool-calls-kept") < rank("messages-kept"));
}
