use rolecall_core::{Case, Dialect};
use serde_json::json;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{
    QUERY_DOCUMENT, SYSTEM_USER, USER, USER_ASSISTANT, USER_ASSISTANT_USER,
};
use crate::probe::input_style::open;
use crate::probe::{InputStyle, Prober, Requirement, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "renders",
    meaning: "a single question gives a prompt that holds it",
    guards_against: "a template that cannot be read, or wants more than a conversation",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("renders.md"),
    judge: |tally, prober, _| {
        let plain = InputStyle {
            given: Requirement::Nothing,
            ..prober.input_style()
        };
        let seen = prober.see_in(USER, plain);
        let mut what = match seen.text() {
            Some(_) => "the question is not in the prompt".to_owned(),
            None => seen.refusal(),
        };
        match prober.input_style().given {
            Requirement::Nothing => {}
            Requirement::Tools => what.push_str(" (it wants tools)"),
            Requirement::Documents => what.push_str(" (it wants documents)"),
        }
        let ranks = prober.see(QUERY_DOCUMENT);
        let is_ranker = prober.input_style().given == Requirement::Nothing
            && ranks.has(words::USER)
            && ranks.has(words::DOCUMENT);
        if is_ranker && !seen.has(words::USER) {
            what.push_str(" (it wants the roles `query` and `document`)");
        }
        let wanted = if seen.has(words::USER)
            || is_ranker
            || prober.input_style().given != Requirement::Nothing
        {
            None
        } else {
            let wanted = wanted_tools(prober).map(str::to_owned);
            wanted.or_else(|| wanted_role(prober, &seen.refusal()))
        };
        if let Some(wanted) = &wanted {
            what.push_str(wanted);
        }
        // A template that requires tools or documents, and accepts them, is not broken.
        let wants_more = is_ranker
            || wanted.is_some()
            || prober.input_style().given != Requirement::Nothing
            || prober.see(USER_ASSISTANT).has(words::ASSISTANT)
            || prober.see(SYSTEM_USER).has(words::USER);
        // A template that asks whether there are tools means to do without them.
        let guards = [
            "tools is defined",
            "tools is not none",
            "if tools",
            "not tools",
            "and tools",
        ];
        let source = prober.source_without_comments();
        let is_unguarded = prober.input_style().given == Requirement::Tools
            && guards.iter().any(|guard| source.contains(guard))
            && wanted_tools(prober).is_some();
        // A question that is accepted and not shown is lost, if the same template shows questions in
        // longer conversations.
        let is_lost = seen.text().is_some()
            && !is_ranker
            && wanted.is_none()
            && prober.input_style().given == Requirement::Nothing;
        if let Some(kept) = is_lost.then(|| kept_elsewhere(prober)).flatten() {
            what.push_str(kept);
        }
        let severity = if wants_more && !is_unguarded && !is_lost {
            Severity::Limitation
        } else {
            Severity::Error
        };
        tally.demand_with(severity, seen.has(words::USER), || {
            Evidence::one(what, &seen)
        });
    },
};

/// Which of the later messages a template shows that loses a single question.
fn kept_elsewhere(prober: &Prober<'_>) -> Option<&'static str> {
    let kept = [
        (
            USER_ASSISTANT_USER,
            words::SECOND_USER,
            ", though a second question is",
        ),
        (
            SYSTEM_USER,
            words::USER,
            ", though one after a system message is",
        ),
        (USER_ASSISTANT, words::ASSISTANT, ", though an answer is"),
    ];
    let mut kept = kept.into_iter();
    kept.find_map(|(probe, word, what)| prober.see(probe).has(word).then_some(what))
}

/// The role that a template asks for by its name, if a question gives a prompt after a message in it.
fn wanted_role(prober: &Prober<'_>, refusal: &str) -> Option<String> {
    let (name, m) = (
        refusal.split(['"', '\'', '`']).nth(1)?,
        prober.input_style(),
    );
    let messages = vec![m.message(name, "[]"), m.user()];
    let about = "a message in the role that the template asks for, and a question";
    let seen = prober.ask("wanted-role", about, open(messages));
    let wanted = || format!(" (it wants a message with the role `{name}`)");
    seen.has(words::USER).then(wanted)
}

/// The form of tools with which a template gives a prompt, if it needs one that is not usual.
fn wanted_tools(prober: &Prober<'_>) -> Option<&'static str> {
    let flat = json!({
        "name": words::TOOL,
        "description": words::TOOL_ABOUT,
        "parameters": {"type": "object", "properties": {}},
        "parameter_definitions": {},
    });
    let forms = [
        (
            Vec::new(),
            " (it wants a list of tools, which may be empty)",
        ),
        (
            vec![flat],
            " (it wants tools as flat objects with a name and a description)",
        ),
    ];
    forms.into_iter().find_map(|(tools, wanted)| {
        let case = Case {
            tools: Some(tools),
            ..open(vec![prober.input_style().user()])
        };
        let about = "a question with tools in another form";
        let seen = prober.ask("wanted-tools", about, case);
        seen.has(words::USER).then_some(wanted)
    })
}
