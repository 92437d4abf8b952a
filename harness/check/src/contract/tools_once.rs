use rolecall_core::{Case, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use crate::probe::catalogue::{OTHER_QUESTION, TOOLS, USER};
use crate::probe::input_style::{open, tool};
use crate::probe::{Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "tools-once",
    meaning: "a longer conversation has its tools in the prompt as often as a short one",
    guards_against: "prompts that grow by all tools with each question",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("tools_once.md"),
    judge: |tally, prober, capabilities| {
        if !capabilities.tools.is_kept() {
            return tally.skip("tools are not in the prompt");
        }
        brackets_are_paired(tally, prober);
        let (short, long) = (prober.see(TOOLS), prober.see(OTHER_QUESTION));
        if tally.text(&short).is_none() || tally.text(&long).is_none() {
            return;
        }
        let (first, second) = (
            short.count(words::TOOL_ABOUT),
            long.count(words::TOOL_ABOUT),
        );
        tally.demand(second <= first, || {
            let what = "the tools are in the prompt again with the second question";
            Evidence::one(what, &long).at(long.find_again(words::TOOL_ABOUT))
        });
        let alone = Case {
            tools: Some(vec![tool(words::TOOL)]),
            ..open(vec![prober.input_style().user()])
        };
        let one = prober.ask("one-tool", "a question with one tool", alone);
        if tally.text(&one).is_some() {
            tally.demand_with(
                Severity::Error,
                short.count(words::TOOL) <= one.count(words::TOOL),
                || {
                    let what = "with a second tool, the first one is in the prompt more often";
                    Evidence::one(what, &short).at(short.find_again(words::TOOL))
                },
            );
        }
    },
};

/// Demands that what tools add to a prompt has its brackets in pairs.
fn brackets_are_paired(tally: &mut Tally, prober: &Prober<'_>) {
    let (plain, tools) = (prober.see(USER), prober.see(TOOLS));
    let (Some(plain), Some(text)) = (plain.text(), tools.text()) else {
        return;
    };
    for (opens, closes) in [('[', ']'), ('{', '}')] {
        let odd = |text: &str| {
            text.matches(opens)
                .count()
                .abs_diff(text.matches(closes).count())
        };
        tally.demand(odd(text) <= odd(plain), || {
            let what = format!("with tools, `{opens}` and `{closes}` are not there equally often");
            Evidence::one(what, &tools)
        });
    }
}
