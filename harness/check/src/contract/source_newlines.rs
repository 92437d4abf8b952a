use rolecall_core::Dialect;

use super::frame::{Contract, Severity};
use crate::probe::Probe;
use crate::probe::catalogue::{TOOLS, USER, USER_ASSISTANT_USER};

pub(super) static CONTRACT: Contract = Contract {
    id: "source-newlines",
    meaning: "the file's line endings, and a line break at its end, make no difference",
    guards_against: "an editor, or git on Windows, that changes every prompt",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("source_newlines.md"),
    judge: |tally, prober, _| {
        const PROBES: [Probe; 3] = [USER, USER_ASSISTANT_USER, TOOLS];
        let unix = prober
            .template()
            .source
            .replace("\r\n", "\n")
            .replace('\r', "\n");
        let bare = unix.trim_end_matches('\n');
        for (source, what) in [
            (
                bare.to_owned(),
                "the prompt changes when the file ends without a line break",
            ),
            (
                format!("{bare}\n"),
                "the prompt changes when the file ends with one line break",
            ),
            (
                format!("{bare}\n").replace('\n', "\r\n"),
                "the prompt changes when the file has the line endings of Windows",
            ),
        ] {
            if source == prober.template().source {
                continue;
            }
            for (probe, other) in PROBES.into_iter().zip(prober.with_source(&source, &PROBES)) {
                tally.same(&prober.see(probe), &other, what);
            }
        }
    },
};
