use rolecall_answers::comparison::Verdict;
use rolecall_answers::meaning::Meaning;
use rolecall_answers::reading::ReadAnswer;
use rolecall_core::{Cut, Dialect};
use rolecall_response::{Options, ParseError, ResponseTemplate};

use super::frame::{Contract, Severity, Tally};
use super::shared::read_answer::{in_answer, look, response_template, writes_calls};
use crate::probe::AnswerReading;
use crate::probe::answers::{CALL, REASONING, TEXT, TEXT_CALL, TYPED};

pub(super) static CONTRACT: Contract = Contract {
    id: "cut-safe",
    meaning: "an answer that is cut off is still read",
    guards_against: "a limit of tokens that costs the whole message, its text and reasoning too",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("cut_safe.md"),
    judge: |tally, prober, capabilities| {
        let Some(template) = response_template(prober, tally) else {
            return;
        };
        let mut probes = vec![TEXT, REASONING];
        if writes_calls(capabilities) {
            probes.extend([CALL, TEXT_CALL, TYPED]);
        }
        look(tally, prober, Some(&probes), |tally, reading, answer| {
            demand_cut_safe(tally, &template, reading, answer);
        });
    },
};

/// Demands that every beginning of an answer is read.
fn demand_cut_safe(
    tally: &mut Tally,
    template: &ResponseTemplate,
    reading: &AnswerReading,
    answer: &ReadAnswer,
) {
    let Some(read) = answer.forms.last() else {
        return;
    };
    if read.verdict == Verdict::Failed {
        return tally.skip("the whole answer is not read either");
    }
    let options = Options {
        prompt: Some(&answer.prompt),
        tools: reading.tools(),
        ..Options::default()
    };
    let mut cuts = read.text.char_indices().map(|(at, _)| at);
    let failing = cuts.find_map(|at| {
        let error = template.parse(read.text.cut(..at), &options).err()?;
        Some((at, error))
    });
    match failing {
        None => tally.holds(),
        // transformers has no limits.
        Some((_, ParseError::LimitExceeded { .. })) => tally.skip("an answer is over the limit"),
        Some((at, error)) => {
            let cut = read.text.cut(..at);
            let what = format!(
                "{}, cut off within {}: transformers refuses the answer ({error}), and all of it \
                 is lost",
                reading.about,
                cut_part(&reading.reading.meant, cut)
            );
            tally.broken(in_answer(what, reading, answer, cut));
        }
    }
}

/// The part of a message in which its text is cut off.
fn cut_part(meant: &Meaning, cut: &str) -> &'static str {
    let has = |text: &str| cut.contains(text.trim());
    if !has(&meant.reasoning) {
        "its reasoning"
    } else if !has(&meant.content) {
        "its text"
    } else {
        "the call"
    }
}
