//! The contracts, on templates that are no use. Which change breaks which contract is in the
//! tests of the whole.

use rolecall_model::{Dialect, Limits, Template};

use super::{ALL, Judgement, Severity, by_id};
use crate::card::{Card, examine};
use crate::probe::counting_engine::CountingEngine;
use rolecall_front::engines::Engines;

/// The card of a template that no application stands before: what it is given is what a
/// contract asks.
fn card(dialect: Dialect, source: &str) -> Card {
    card_within(&Limits::default(), dialect, source)
}

fn card_within(limits: &Limits, dialect: Dialect, source: &str) -> Card {
    let mut template = Template::from_source("t", dialect, source);
    template.front = Some("raw".to_owned());
    let engines = Engines::with_limits(limits);
    examine(engines.for_dialect(dialect).unwrap(), &template)
}

fn verdict<'c>(card: &'c Card, id: &str) -> &'c Judgement {
    let contract = by_id(id).unwrap_or_else(|| panic!("no contract is named {id}"));
    let finding = card.findings.iter().find(|f| f.contract == contract);
    &finding.unwrap().judgement
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
fn a_template_that_prints_every_message_twice_is_judged_like_any_other() {
    let turn = "<|{{ message.role }}|>{{ message.content }}<|end|>";
    let turns = format!("{{% for message in messages %}}{turn}{{% endfor %}}");
    let card = card(Dialect::Jinja, &turns.repeat(2));
    assert!(matches!(
        verdict(&card, "content-once"),
        Judgement::Broken(_)
    ));
    assert_eq!(verdict(&card, "turns-closed"), &Judgement::Holds);
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
    assert!(matches!(
        verdict(&card, "deterministic"),
        Judgement::Broken(_)
    ));
}

#[test]
fn a_ranker_is_no_broken_chat() {
    let card = card(
        Dialect::Jinja,
        "{% for m in messages if m.role in ['query', 'document'] %}<{{ m.role }}>{{ m.content }}\
         {% endfor %}",
    );
    let found = card
        .broken()
        .find(|found| found.contract.id == "renders")
        .unwrap();
    assert_eq!(found.severity(), Severity::Limitation);
    let Judgement::Broken(evidence) = &found.judgement else {
        panic!("{found:?}");
    };
    assert!(
        evidence[0].what.contains("`query` and `document`"),
        "{evidence:?}"
    );
}

#[test]
fn a_template_for_one_message_is_told_so_once() {
    let about = "Decide whether the message is safe. ".repeat(8);
    let card = card(
        Dialect::Jinja,
        &format!("{about}<|user|>{{{{ messages[-1].content }}}}<|end|>"),
    );
    let broken = card.broken();
    let told: Vec<_> = broken
        .filter(|found| found.severity() <= Severity::Limitation)
        .map(|found| (found.contract.id, found.severity()))
        .collect();
    assert_eq!(told, [("messages-kept", Severity::Limitation)]);
}

#[test]
fn a_system_message_that_only_its_place_hides_is_an_error() {
    let source = "{% for m in messages %}{% if not (loop.first and m.role == 'system') %}\
                  <|{{ m.role }}|>{{ m.content }}<|end|>{% endif %}{% endfor %}";
    let card = card(Dialect::Jinja, source);
    let found = card
        .broken()
        .find(|found| found.contract.id == "messages-kept");
    assert_eq!(found.unwrap().severity(), Severity::Error);
}

#[test]
fn a_cache_that_breaks_is_explained_by_line_and_condition() {
    let source = "{% for m in messages %}<|{{ m.role }}|>\n\
                  {%- if loop.last %}\nThe last one: {% endif %}\n\
                  {{- m.content }}<|end|>{% endfor %}\n\
                  {%- if add_generation_prompt %}<|assistant|>{% endif %}";
    let card = card(Dialect::Jinja, source);
    let Judgement::Broken(evidence) = verdict(&card, "history-stable") else {
        panic!("the prompt changes");
    };
    let because = evidence[0].because.as_deref().unwrap_or_default();
    assert!(
        because.starts_with("line 2: `loop.last` is true in the first prompt and false in the second; there line 3 writes"),
        "{because}"
    );
    assert!(because.ends_with("bytes are computed again"), "{because}");
}

#[test]
fn the_clock_is_named_where_the_prompt_changes_with_it() {
    let source = "{{ messages[0].content }}{{ strftime_now('%d %B %Y') }}";
    let card = card(Dialect::Jinja, source);
    let Judgement::Broken(evidence) = verdict(&card, "date-independent") else {
        panic!("the prompt changes");
    };
    let because = evidence[0].because.as_deref().unwrap_or_default();
    assert!(
        because.starts_with("the clock gives another text; "),
        "{because}"
    );
}
