//! No text that somebody writes makes Rolecall panic; and if something does, it costs one finding.

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::select;
use rolecall_answers::draft::Draft;
use rolecall_answers::reader::OwnReader;
use rolecall_answers::reading::read_all;
use rolecall_check::card::{Card, examine, examine_with, served};
use rolecall_check::choice::ContractChoice;
use rolecall_check::contract::{INTERNAL_ERROR, Severity};
use rolecall_check::fingerprint::{Answer, Fingerprint};
use rolecall_check::fix::{Fixer, Work};
use rolecall_check::side_by_side::compare_probes;
use rolecall_check::tokenizer::{Segmenter, Tokenizer, TokenizerParts, Tokenizers};
use rolecall_cli::report::card::{CardDetail, write as write_card};
use rolecall_cli::report::diagnostic::Diagnostic;
use rolecall_cli::report::{github, junit, sarif};
use rolecall_core::guard::take_internal_errors;
use rolecall_core::{Case, CaseId, Dialect, Template};
use rolecall_explore::masks::TemplateMasks;
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_suite::comparison::{Comparison, SideKind};
use rolecall_suite::proof::Proof;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::{Pair, Suite};
use serde_json::{Value, json};

use crate::extent::is_everything;

/// Cuts each text into bytes, or panics.
struct Bytes {
    is_broken: bool,
}

impl Segmenter for Bytes {
    fn segments(&self, text: &str) -> Result<Vec<(u32, Range<usize>)>, String> {
        assert!(!self.is_broken, "no tokens of \u{1b}[2J é");
        Ok(text
            .bytes()
            .enumerate()
            .map(|(at, byte)| (u32::from(byte), at..at + 1))
            .collect())
    }
    fn plain(&self, text: &str) -> Result<Vec<u32>, String> {
        Ok(text.bytes().map(u32::from).collect())
    }
    fn number(&self, _: &str) -> Option<u32> {
        None
    }
}

fn tokenizer(is_broken: bool) -> Tokenizer {
    Tokenizer::from(TokenizerParts {
        segmenter: Box::new(Bytes { is_broken }),
        markers: Vec::new(),
        beginning: None,
        stops: None,
        count: 256,
    })
}

/// What a report writes.
fn written(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_panic_costs_one_finding_and_every_report_says_so() {
    let source =
        "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}";
    let template = Template::from_source("t", Dialect::Jinja, source);
    let engines = Engines::default();
    let engine = engines.for_dialect(Dialect::Jinja);
    let whole = examine_with(engine, &template, Some(&tokenizer(false)));
    let card = examine_with(engine, &template, Some(&tokenizer(true)));
    let errors: Vec<&str> = internal_errors(&card);
    assert!(!errors.is_empty());
    for error in &errors {
        let (part, why) = error
            .split_once(", please report: no tokens of  [2J é")
            .unwrap();
        let part = part.strip_prefix("internal error in ").unwrap();
        let finding = card.findings.iter().find(|one| one.contract.id == part);
        assert!(finding.is_none_or(|one| !one.is_broken()), "{part}{why}");
    }
    let others = card
        .findings
        .iter()
        .filter(|one| *one.contract != INTERNAL_ERROR);
    let is_lost = |id: &str| {
        errors
            .iter()
            .any(|error| error.contains(&format!(" in {id},")))
    };
    assert_eq!(others.clone().count(), whole.findings.len());
    for (one, other) in others.zip(&whole.findings) {
        assert!(one == other || is_lost(one.contract.id), "{one:?}");
    }
    assert_eq!(card.capabilities.roles, whole.capabilities.roles);
    // No choice and no baseline hides it.
    let fails = card
        .unexplained()
        .any(|one| one.severity() == Severity::Error && *one.contract == INTERNAL_ERROR);
    assert!(fails);
    let cards = [card];
    let templates = [template];
    let all = Diagnostic::of_cards(&cards, &templates, &[]);
    for text in [
        written(|out| write_card(out, &cards[0], CardDetail::Marked)),
        serde_json::to_string(&cards[0]).unwrap(),
        written(|out| sarif::write(out, &all, std::path::Path::new("."))),
        written(|out| github::write(out, &all)),
        written(|out| junit::write(out, &cards, &[])),
    ] {
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        assert!(text.contains(INTERNAL_ERROR.id), "{text}");
        assert!(text.contains(", please report: no tokens of"), "{text}");
    }
}

/// The sentences of a card about internal errors.
fn internal_errors(card: &Card) -> Vec<&str> {
    let mut findings = card.findings.iter();
    let found = findings.find(|one| *one.contract == INTERNAL_ERROR);
    found.map_or_else(Vec::new, |one| {
        one.evidence().iter().map(|one| one.what.as_str()).collect()
    })
}

/// Texts of several bytes, empty ones, long ones, and what templates and parsers look for.
fn text() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "",
        "é",
        "：",
        "»问",
        "😀",
        "a",
        "\n",
        " ",
        "    ",
        "<|x|>",
        "<｜é｜>",
        "\\",
        "\u{301}",
        "\u{feff}",
        "\u{202e}",
        "</think>",
        "<tool_call>",
        "}{",
        "\"",
        "'",
        "\\n",
        "İ",
        "ß",
        "\u{1f468}\u{200d}\u{1f469}",
    ]);
    let long = select(vec!["é", "问", "a\u{301}"]).prop_map(|piece| piece.repeat(2000));
    let short = prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat());
    prop_oneof![15 => short, 1 => long]
}

/// Templates that write such texts around everything.
fn template() -> impl Strategy<Value = Template> {
    let parts = [
        "",
        "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}",
        "{% for c in m.tool_calls or [] %}T{{ c.function.name }}T{{ c.function.arguments | tojson }}T{% endfor %}",
        "{% if m.reasoning_content %}<think>T{{ m.reasoning_content }}T</think>{% endif %}",
        "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content or [] %}T{{ p.text }}{% endfor %}{% endif %}",
        "T{{ m.content }}T",
        "T{{ m.role }}T",
        "{% if m.content.startswith('é') %}{{ m.content[1:] | trim }}{% endif %}",
        "{{ m.content.split('</think>')[-1] }}",
    ];
    let parts = prop::collection::vec(select(parts.to_vec()), 1..5);
    let texts = prop::collection::vec(text(), 8);
    (parts, texts, any::<bool>()).prop_map(|(parts, texts, is_asked)| {
        let last = if is_asked {
            "{% if add_generation_prompt %}T{% endif %}"
        } else {
            "T"
        };
        let source = format!(
            "T{{% for m in messages %}}{}{{% endfor %}}{last}",
            parts.concat()
        );
        let mut pieces = source.split('T');
        let first = pieces.next().unwrap_or_default().to_owned();
        let source = pieces
            .zip(texts.iter().cycle())
            .fold(first, |all, (piece, text)| {
                // Nothing of them is code.
                all + &text.replace('{', "(") + piece
            });
        Template::from_source("t", Dialect::Jinja, &source)
    })
}

fn message() -> impl Strategy<Value = Value> {
    let role = select(vec![
        "system",
        "user",
        "assistant",
        "tool",
        "developer",
        "é",
    ]);
    (role, text(), text(), 0..7_u8).prop_map(|(role, text, other, kind)| match kind {
        0 => json!({"role": role, "content": null}),
        1 => json!({"role": role, "content": [{"type": "text", "text": text}, {"type": "image"}]}),
        2 => json!({"role": role, "content": []}),
        3 => json!({"role": role, "content": text, "reasoning_content": other}),
        4 => json!({"role": role, "content": text, "tool_calls": [
            {"id": other, "type": "function", "function": {"name": text, "arguments": {other.as_str(): text}}},
        ]}),
        _ => json!({"role": role, "content": text}),
    })
}

/// Conversations of messages of any kind, or of one alone.
fn conversation() -> impl Strategy<Value = Vec<Value>> {
    let mixed = prop::collection::vec(message(), 0..5);
    let alike = (message(), 1..4_usize).prop_map(|(one, count)| vec![one; count]);
    prop_oneof![mixed, alike]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_algorithm: proptest::test_runner::RngAlgorithm::ChaCha,
        ..ProptestConfig::with_cases(if is_everything() { 400 } else { 1 })
    })]

    #[test]
    fn strange_texts_cause_no_internal_error(
        template in template(),
        other in template(),
        conversations in prop::collection::vec(conversation(), 1..4),
    ) {
        let cases: Vec<Case> = conversations.into_iter().enumerate().map(|(number, messages)| Case {
            id: CaseId::new("strange", &number.to_string()),
            ..Case::from_messages(messages)
        }).collect();
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let runner = Runner::new(&engines, &[], Some(1)).unwrap();
        let all: Vec<&Case> = cases.iter().collect();
        let pairs_of = |template| cases.iter().map(move |case| Pair { template, case }).collect::<Vec<_>>();
        // check, and fix
        let card = examine_with(engine, &template, Some(&tokenizer(false)));
        prop_assert_eq!(internal_errors(&card), [""; 0]);
        served(engine, &template, &[Front::Vllm, Front::Ollama]);
        let judged = runner.judge_conversations(&Suite::default(), &template, &Tokenizers::default(), &all, &ContractChoice::default());
        prop_assert!(judged.all().all(|one| one.rule != INTERNAL_ERROR.id), "{:?}", judged.causes);
        Fixer {
            engine,
            cases: &|| cases.as_slice(),
            tokenizer: None,
            unsafe_too: true,
            most_work: Some(Work::SECOND),
            step: &|| {},
        }
        .fixes(&template, &card, |_| true);
        // diff
        let sides = ["a", "b"].map(str::to_owned);
        let mut comparison = Comparison::new(SideKind::Templates, sides);
        let probes = compare_probes([engine, engine], [&template, &other]);
        comparison.render([&runner, &runner], [pairs_of(&template), pairs_of(&other)], &probes);
        comparison.add_cards(&[card, examine(engine, &other)]);
        let _ = comparison.sorted();
        // mask
        TemplateMasks::find(engine, None, &template, pairs_of(&template)).unwrap();
        // infer, and roundtrip
        if let Ok(draft) = Draft::infer(engine, &template) {
            let mut template = template.clone();
            template.response_template = Some(draft.response_template);
            Proof::prove(engine, &template, &cases);
            read_all(engine, &template, &OwnReader::default(), &cases);
        }
        // fingerprint
        let (templates, tokenizer) = ([template], tokenizer(false));
        if let Ok(mut fingerprint) = Fingerprint::new(engine, &templates, &tokenizer, Front::Transformers) {
            for count in [10, 1000] {
                let Some(question) = fingerprint.next_question() else { break };
                fingerprint.add(question, Answer::Counted(count));
            }
            prop_assert!(fingerprint.conclusion().is_ok());
        }
        prop_assert_eq!(take_internal_errors(), Vec::<String>::new());
    }
}
