use memchr::memmem;
use rolecall_core::{Cut, Dialect, Outcome, Stage};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::content::{PartHandling, part_handling};
use super::shared::mentions::speaks_of;
use super::shared::tokens::control_tokens;
use super::shared::working::is_failure;
use crate::probe::catalogue::{
    AUDIO, AUDIO_AFTER, AUDIO_ALONE, IMAGE, IMAGE_AFTER, IMAGE_ALONE, IMAGES_IN_TURNS, TWO_AUDIOS,
    TWO_IMAGES, TWO_VIDEOS, USER, USER_PARTS, VIDEO, VIDEO_AFTER, VIDEO_ALONE,
};
use crate::probe::{Probe, ProbeOutcome, Prober, Setting, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "images-kept",
    meaning: "each image, recording or video of a question has its place in the prompt",
    guards_against: "questions about an image that the model never receives",
    severity: Severity::Error,
    // Ollama puts the images in itself.
    dialects: &[Dialect::Jinja],
    page: include_str!("images_kept.md"),
    judge: |tally, prober, _| {
        let text = prober.see(USER_PARTS);
        let handling = part_handling(&prober.see(USER), &text, words::USER);
        if is_failure(&text) || handling == Some(PartHandling::AsList) {
            return tally.skip("the template takes texts only");
        }
        if tally.text(&text).is_none() {
            return;
        }
        let source = prober.source_without_comments();
        let is_named = |medium: &Medium| {
            let quoted = [format!("'{}'", medium.name), format!("\"{}\"", medium.name)];
            let mut quoted = quoted.iter();
            quoted.any(|name| memmem::find(source.as_bytes(), name.as_bytes()).is_some())
        };
        for medium in &MEDIA {
            if is_named(medium) {
                named(tally, prober, medium, &text);
            } else if medium.name == "image" {
                // A template that does not name images does nothing about them.
                let severity = if speaks_of(prober, &["image"]) {
                    Severity::Error
                } else {
                    Severity::Limitation
                };
                leaves_traces(tally, prober, medium, &text, severity);
            }
        }
        numbers_run_on(tally, prober);
        let (image, question) = (prober.see(IMAGE), prober.see(USER_PARTS));
        if let (Some(with), Some(without)) =
            (image.before(words::USER), question.before(words::USER))
        {
            let is_after = with == without && image.text() != question.text();
            tally.demand_with(Severity::Warning, !is_after, || {
                let what = "an image that was sent before the question stands after it";
                Evidence::one(what, &image).at(image.find(words::USER))
            });
        }
        // A model tells them apart by their marks alone.
        for (at, medium) in MEDIA.iter().enumerate() {
            let others = MEDIA.iter().take(at).filter(|other| is_named(other));
            for other in others.filter(|_| is_named(medium)) {
                let (one, two) = (prober.see(other.single), prober.see(medium.single));
                if let (Some(first), Some(second)) = (one.text(), two.text())
                    && text.text() != Some(first)
                {
                    tally.demand(first != second, || {
                        let what = format!("{} has the mark of {}", medium.one, other.one);
                        Evidence::differ(what, &one, &two)
                    });
                }
            }
        }
    },
};

/// A kind of part.
struct Medium {
    name: &'static str,
    one: &'static str,
    single: Probe,
    two: Probe,
    /// A question and one after it.
    after: Probe,
    /// One without a question.
    alone: Probe,
}

const MEDIA: [Medium; 3] = [
    Medium {
        name: "image",
        one: "an image",
        single: IMAGE,
        two: TWO_IMAGES,
        after: IMAGE_AFTER,
        alone: IMAGE_ALONE,
    },
    Medium {
        name: "audio",
        one: "a recording",
        single: AUDIO,
        two: TWO_AUDIOS,
        after: AUDIO_AFTER,
        alone: AUDIO_ALONE,
    },
    Medium {
        name: "video",
        one: "a video",
        single: VIDEO,
        two: TWO_VIDEOS,
        after: VIDEO_AFTER,
        alone: VIDEO_ALONE,
    },
];

/// Where images are numbered, such as `Picture 1: `, the numbers run on from question to question. A
/// template may number them only if `add_vision_id` is set.
fn numbers_run_on(tally: &mut Tally, prober: &Prober<'_>) {
    let numbered = prober.with_setting(&Setting {
        name: "add_vision_id".to_owned(),
        value: true.into(),
    });
    let (plain, seen) = (prober.see(IMAGES_IN_TURNS), numbered.see(IMAGES_IN_TURNS));
    let Some(text) = seen.text().filter(|text| plain.text() != Some(*text)) else {
        return;
    };
    let numbers: Vec<&str> = text
        .match_indices([':', '：'])
        .filter_map(|(at, _)| {
            let before = text.cut(..at);
            let head = before.trim_end_matches(|c: char| c.is_ascii_digit());
            (head.len() < before.len()).then(|| before.cut(head.len()..))
        })
        .collect();
    let is_running = numbers.iter().enumerate();
    let is_running = is_running
        .into_iter()
        .all(|(at, number)| number.parse() == Ok(at + 1));
    tally.demand(numbers.is_empty() || is_running, || {
        let what = format!(
            "with `add_vision_id: true`: the images of two questions have the numbers {}",
            numbers.join(" and ")
        );
        Evidence::one(what, &seen)
    });
}

/// Whether each part leaves a trace in the prompt; otherwise this is as bad.
fn leaves_traces(
    tally: &mut Tally,
    prober: &Prober<'_>,
    medium: &Medium,
    text: &ProbeOutcome,
    severity: Severity,
) -> bool {
    let (one, two) = (prober.see(medium.single), prober.see(medium.two));
    let Some(first) = tally.text(&one) else {
        if severity == Severity::Error && is_marked(prober, medium) {
            let what = format!(
                "{} is refused, although the template writes a mark for it: {}",
                medium.one,
                one.refusal()
            );
            tally.broken(Evidence::one(what, &one));
        }
        return false;
    };
    let has_trace = text.text() != Some(first);
    tally.demand_with(severity, has_trace, || {
        let what = format!("{} leaves no trace in the prompt", medium.one);
        Evidence::differ(what, text, &one)
    });
    if has_trace && let Some(second) = tally.text(&two) {
        tally.demand_with(severity, second != first, || {
            let what = format!(
                "only one of two parts of type `{}` is in the prompt",
                medium.name
            );
            Evidence::differ(what, &one, &two)
        });
    }
    has_trace
}

/// Whether a template writes a token for a kind of part, such as `[IMG]` for an image.
fn is_marked(prober: &Prober<'_>, medium: &Medium) -> bool {
    let names: &[&str] = match medium.name {
        "image" => &["image", "img", "vision"],
        other => &[other],
    };
    let texts = prober.reading().map(|reading| &reading.texts);
    let mut tokens = texts
        .into_iter()
        .flatten()
        .flat_map(|text| control_tokens(text));
    tokens.any(|token| {
        let token = token.to_lowercase();
        names.iter().any(|name| token.contains(name))
    })
}

/// Judges what a template makes of parts that it names.
fn named(tally: &mut Tally, prober: &Prober<'_>, medium: &Medium, text: &ProbeOutcome) {
    if !leaves_traces(tally, prober, medium, text, Severity::Error) {
        return;
    }
    let one = prober.see(medium.single);
    tally.demand(one.has(words::USER), || {
        let what = format!("the text with {} is not in the prompt", medium.one);
        Evidence::one(what, &one)
    });
    let marks = marks(text, &one);
    let two = prober.see(medium.two);
    if !marks.is_empty()
        && let Some(second) = tally.text(&two)
    {
        let is_twice = |(mark, before, times): &(&str, usize, usize)| {
            second.matches(mark).count() == before + 2 * times
        };
        let is_other = one.text() != Some(second);
        tally.demand(!is_other || marks.iter().any(is_twice), || {
            let what = format!("two parts of type `{}` do not give two marks", medium.name);
            Evidence::differ(what, &one, &two)
        });
        let times = marks.iter().map(|(.., times)| *times).min().unwrap_or(1);
        tally.demand_with(Severity::Warning, times == 1, || {
            let what = format!("the mark of {} is in the prompt {times} times", medium.one);
            Evidence::one(what, &one)
        });
    }
    let after = prober.see(medium.after);
    if let Some(other) = tally.text(&after) {
        let has_both = text.text() != Some(other) && after.has(words::USER);
        tally.demand(has_both, || {
            let what = format!(
                "a text and {} after it are not both in the prompt",
                medium.one
            );
            Evidence::one(what, &after)
        });
        let is_same = one.text() == Some(other);
        tally.demand_with(Severity::Limitation, !is_same, || {
            let what = format!(
                "{} has the same place whether it comes before a text or after it",
                medium.one
            );
            Evidence::one(what, &after)
        });
    }
    let alone = prober.see(medium.alone);
    match &*alone.outcome {
        Outcome::Rendered { text } => {
            let is_there = |(mark, ..): &(&str, usize, usize)| text.contains(mark);
            tally.demand(marks.is_empty() || marks.iter().any(is_there), || {
                let what = format!(
                    "{} without a text leaves no trace in the prompt",
                    medium.one
                );
                Evidence::one(what, &alone)
            });
        }
        Outcome::Failed { stage, .. } if *stage != Stage::Input => {
            let what = format!("{} without a text: {}", medium.one, alone.refusal());
            tally.broken(Evidence::one(what, &alone));
        }
        _ => tally.skip(alone.refusal()),
    }
}

/// The marks, such as `<image>`, that a part adds to a prompt: how often each is there anyway,
/// and how often more with the part. Those that count the parts are left out.
fn marks<'s>(text: &ProbeOutcome, one: &'s ProbeOutcome) -> Vec<(&'s str, usize, usize)> {
    let prompt = one.text().unwrap_or_default();
    let mut marks: Vec<(&str, usize, usize)> = Vec::new();
    for (open, close) in [('<', '>'), ('[', ']')] {
        for (start, _) in prompt.match_indices(open) {
            let rest = prompt.cut(start..);
            let Some(end) = rest.find(close) else {
                continue;
            };
            let mark = rest.cut(..=end);
            let is_mark = !mark.cut(1..).contains(open)
                && !mark.contains(|c: char| c.is_whitespace() || c.is_ascii_digit());
            let before = text.text().map_or(0, |text| text.matches(mark).count());
            let times = prompt.matches(mark).count().saturating_sub(before);
            if is_mark && times > 0 && !marks.iter().any(|(known, ..)| *known == mark) {
                marks.push((mark, before, times));
            }
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use rolecall_core::Case;

    use super::*;

    #[test]
    fn marks_are_what_a_part_adds() {
        let seen = |text: &str| {
            let text = text.to_owned();
            ProbeOutcome::new(
                "t",
                "t",
                Case::from_messages(vec![]),
                Outcome::Rendered { text },
            )
        };
        let marks = |text: &str, one: &str| -> Vec<(String, usize, usize)> {
            let (text, one) = (seen(text), seen(one));
            let marks = marks(&text, &one).into_iter();
            marks
                .map(|(mark, before, times)| (mark.to_owned(), before, times))
                .collect()
        };
        let mark = |mark: &str, before, times| (mark.to_owned(), before, times);
        assert_eq!(marks("<u>a", "<u><img>a"), [mark("<img>", 0, 1)]);
        assert_eq!(
            marks("<u>a<u>", "<u>[IMG]<s><s>a<u><u>"),
            [mark("<u>", 2, 1), mark("<s>", 0, 2), mark("[IMG]", 0, 1)]
        );
        assert_eq!(marks("a", "<image 1>[2]< b a"), []);
    }
}
