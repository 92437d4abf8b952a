//! Masks compared with the marks of the suite's templates.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rolecall_core::{Dialect, Observer, Outcome, Wanted};
use rolecall_explore::masks::{TemplateMasks, differences, has_answer, has_marks};
use rolecall_front::engines::Engines;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use crate::extent::{is_everything, sample};
use crate::project::SUITE;

/// Masks render the beginnings of conversations: each one gives the prompt and the spans that its
/// messages give as a case of their own. Every fourth template is tried, or all if the tests try
/// everything.
#[test]
fn a_beginning_is_rendered_as_a_case_of_its_own() {
    let engines = Engines::default();
    let templates = SUITE.templates.iter();
    let templates: Vec<_> = templates
        .filter(|it| it.dialect == Dialect::Jinja)
        .collect();
    let count: usize = sample(templates, 4)
        .into_par_iter()
        .map(|template| {
            let engine = engines.for_dialect(template.dialect);
            let program = FrontProgram::load(engine, template);
            let pairs = SUITE.pairs_among(template, &SUITE.cases);
            let mut count = 0;
            for pair in pairs.filter(|pair| pair.case.continue_final_message.is_none()) {
                let model = program.model.with(pair.case, pair.front());
                let whole = PreparedCase::new(pair.case, pair.front(), &model);
                for length in 1..=pair.case.messages.len() {
                    for opens in [true, false] {
                        let mut observer = Observer::of(&[Wanted::Spans]);
                        let found = program.beginning(&whole, length, opens, &mut observer);
                        // The front refuses something of the whole conversation.
                        let Some(outcome) = found else { continue };
                        let mut case = pair.case.clone();
                        case.messages.truncate(length);
                        case.add_generation_prompt = opens;
                        let model = program.model.with(&case, pair.front());
                        let alone = PreparedCase::new(&case, pair.front(), &model);
                        let (expected, spans) = program.traced(&alone);
                        let name = || format!("{} {} {length} {opens}", template.name, case.id);
                        assert_eq!(outcome, expected, "{}", name());
                        if matches!(outcome, Outcome::Rendered { .. }) {
                            assert_eq!(observer.spans, spans, "{}", name());
                        }
                        count += 1;
                    }
                }
            }
            count
        })
        .sum();
    assert!(count > 10_000, "{count}");
}

/// Templates of the suite that mark something else than the model writes, and whether a difference
/// is of the known kind: marked, but not written; or written, but not marked.
fn is_known(template: &str, is_marked: bool, text: &str) -> bool {
    match template {
        // They mark the line break after the end token, as the templates of TRL do.
        "gemma-functions" | "phi3" => is_marked && text == "\n",
        // The prompt opens the reasoning, so the model does not write the tag.
        "deepseek-think" => is_marked && text == "<think>\n",
        // Nothing asks for an answer before any question, so nothing shows who writes the space.
        "mistral-v3" => is_marked && text == " ",
        // The space before the answer is outside of the marks.
        "llama2-inst" => !is_marked && text == " ",
        _ => false,
    }
}

/// Every fourth template with marks is tried, or all if the tests try everything.
#[test]
fn the_suites_templates_mark_what_the_model_writes() {
    let engines = Engines::default();
    let marked: Vec<_> = SUITE
        .templates
        .iter()
        .filter(|one| has_marks(one))
        .collect();
    assert_eq!(marked.len(), 16);
    let found = sample(marked, 4).into_par_iter().map(|template| {
        let engine = engines.for_dialect(Dialect::Jinja);
        let pairs = SUITE.pairs_among(template, &SUITE.cases);
        let pairs = pairs.filter(|pair| has_answer(pair.case));
        let masks = TemplateMasks::find(engine, None, template, pairs).unwrap();
        let name = template.name.as_str();
        let (mut same, mut other) = (0, 0);
        for case in &masks.cases {
            let (Ok(mask), Some(marked)) = (&case.mask, &case.marked) else {
                assert!(case.mask.is_err(), "{name} {}", case.case.id);
                continue;
            };
            if case.agrees() == Some(true) {
                same += 1;
                continue;
            }
            other += 1;
            let found = differences([&mask.prompt; 2], [&mask.ranges(), marked]);
            assert!(!found.is_empty());
            for (is_marked, text) in found {
                assert!(
                    is_known(name, is_marked, &text),
                    "{name} {}: {text:?}, {}",
                    case.case.id,
                    if is_marked { "marked" } else { "not marked" }
                );
            }
        }
        (name, (same, other))
    });
    let found: BTreeMap<&str, (usize, usize)> = found.collect();
    let agreeing = found
        .values()
        .filter(|(same, other)| *other == 0 && *same > 100);
    let same: usize = found.values().map(|(same, _)| same).sum();
    if is_everything() {
        assert_eq!(agreeing.count(), 11, "{found:?}");
        assert!(same > 3_900, "{found:?}");
    } else {
        assert!(agreeing.count() > 0 && same > 500, "{found:?}");
    }
}

/// Where the texts differ, the masks are compared where they are alike.
#[test]
fn masks_of_different_texts_are_compared_where_the_texts_are_alike() {
    let of = |old: &str, new: &str| {
        let texts = [old, new].map(|text| text.replace(['[', ']'], ""));
        let masks = [old, new].map(|text| {
            let (before, rest) = text.split_once('[').unwrap();
            let (inside, _) = rest.split_once(']').unwrap();
            let range = before.len()..before.len() + inside.len();
            Vec::from_iter([range])
        });
        differences([&texts[0], &texts[1]], [&masks[0], &masks[1]])
    };
    assert_eq!(
        of("user: Où?\nit: [Là.<end>]\n", "user: Où?\nit: [Là.<end>]\n"),
        []
    );
    assert_eq!(of("it: [Là.<end>]\n", "system: Off\nit: [Là.<end>]\n"), []);
    assert_eq!(
        of("it: [Là, où.<end>]\n", "it: [Là, enfin.<end>\n]"),
        [
            (false, "où".to_owned()),
            (true, "enfin".to_owned()),
            (true, "\n".to_owned())
        ]
    );
}
