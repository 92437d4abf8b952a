use rolecall_answers::comparison::Verdict;
use rolecall_answers::ending::Form;
use rolecall_core::Dialect;

use super::frame::{Contract, Severity};
use super::shared::read_answer::{evidence, look};

pub(super) static CONTRACT: Contract = Contract {
    id: "reads-back-without-end-token",
    meaning: "an answer is parsed the same without its end token, as servers return it",
    guards_against: "calls that are only parsed if the end token follows them",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("reads_back_without_end_token.md"),
    judge: |tally, prober, _| {
        look(tally, prober, None, |tally, reading, answer| {
            let forms = answer.forms.iter();
            let (bare, ended): (Vec<_>, Vec<_>) = forms.partition(|read| read.form == Form::Bare);
            let ended = ended.iter().map(|read| read.verdict).max();
            let ([bare], Some(ended)) = (bare.as_slice(), ended) else {
                return tally.skip("no answer has an end token");
            };
            // What is not right with the end token either is another contract's subject.
            tally.demand(bare.verdict <= ended, || {
                let evidence = evidence(reading, answer, bare);
                match bare.verdict {
                    Verdict::ButForWhiteSpace => evidence.with(Severity::Warning),
                    _ => evidence,
                }
            });
        });
    },
};
