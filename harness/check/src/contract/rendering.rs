//! Contracts about rendering itself.

use rolecall_core::clock::Moment;
use rolecall_core::{Case, Cut, Dialect, Outcome, Stage};
use serde_json::json;

use super::causes::cause;
use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::mentions::uses_filter;
use super::severity::Severity;
use super::tally::Tally;
use super::working::failures;
use crate::capability::Capabilities;
use crate::probe::catalogue::{
    ASSISTANT_FIRST, CALL_RESULT, DEVELOPER_USER, DOCUMENT, LATE_SYSTEM, LONG_IDS, NO_ARGUMENTS,
    NO_IDS, NO_TOOLS, NO_TYPE, PARALLEL, QUERY_DOCUMENT, REASONED, SYSTEM_ONLY, SYSTEM_TURNS,
    SYSTEM_USER, TOOL_WITHOUT_DESCRIPTION, TOOL_WITHOUT_PARAMETERS, TOOLS, TWO_ASSISTANTS,
    TWO_SYSTEM, TWO_USERS, TYPED_ARGUMENTS, UNION_TYPE, UNKNOWN_ROLE, USER, USER_ASSISTANT,
    USER_ASSISTANT_USER,
};
use crate::probe::input_style::open;
use crate::probe::{InputStyle, Probe, Prober, Requirement, words};

/// Probes that together go through most of a template.
const USUAL: [Probe; 4] = [USER, SYSTEM_TURNS, TOOLS, PARALLEL];

/// Probes that a server may send. A template that does not support one should refuse it with a
/// message. Null content, content in parts, arguments in another form and empty lists of calls are
/// not among them, because they have contracts of their own.
const LEGAL: &[Probe] = &[
    SYSTEM_USER,
    SYSTEM_ONLY,
    TWO_SYSTEM,
    LATE_SYSTEM,
    DEVELOPER_USER,
    UNKNOWN_ROLE,
    TWO_USERS,
    TWO_ASSISTANTS,
    ASSISTANT_FIRST,
    TOOLS,
    NO_TOOLS,
    TOOL_WITHOUT_PARAMETERS,
    TOOL_WITHOUT_DESCRIPTION,
    UNION_TYPE,
    NO_TYPE,
    CALL_RESULT,
    TYPED_ARGUMENTS,
    NO_ARGUMENTS,
    PARALLEL,
    NO_IDS,
    LONG_IDS,
    REASONED,
    DOCUMENT,
];

pub(super) static RENDERS: Contract = Contract {
    id: "renders",
    meaning: "a single question gives a prompt that holds it",
    guards_against: "a template that cannot be read, or wants more than a conversation",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/renders.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
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
            wanted_tools(prober)
        };
        if let Some(wanted) = wanted {
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
        tally.judgement()
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

pub(super) static DETERMINISTIC: Contract = Contract {
    id: "deterministic",
    meaning: "the same conversation gives the same prompt, however often it is rendered",
    guards_against: "tools or arguments in random order, random choices, addresses of objects",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/deterministic.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        // The engine here takes the last item, Python any.
        let is_random = prober.dialect() == Dialect::Jinja && uses_filter(prober, "random");
        tally.demand(!is_random, || {
            let what = "the filter `random` may give something else each time";
            Evidence::one(what, &prober.see(USER))
        });
        for probe in USUAL {
            let (first, again) = (prober.see(probe), prober.see_again(probe));
            tally.demand(first.outcome == again.outcome, || {
                Evidence::differ("two renders of one conversation differ", &first, &again)
            });
        }
        tally.judgement()
    },
};

pub(super) static DATE_INDEPENDENT: Contract = Contract {
    id: "date-independent",
    meaning: "the prompt does not depend on the date",
    guards_against: "caches and tests that go stale at midnight, servers with other clocks",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("pages/date-independent.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for probe in [USER, SYSTEM_USER, TOOLS] {
            let (today, later) = (prober.see(probe), prober.see_later(probe));
            let (Some(one), Some(other)) = (tally.text(&today), tally.text(&later)) else {
                continue;
            };
            tally.demand(one == other, || {
                let what = "the prompt changes with the date";
                let because = cause(prober, [&today, &later], None);
                Evidence::differ(what, &today, &later).because(because)
            });
            // Ollama has a function for the day before.
            let now = later.asked.now;
            let wrong = wrong_date(other, &[now, now.yesterday()]);
            tally.demand_with(Severity::Error, wrong.is_none(), || {
                let what = format!(
                    "the prompt shows a date that is not today's: {}",
                    wrong.unwrap_or_default()
                );
                Evidence::one(what, &later)
            });
        }
        tally.judgement()
    },
};

/// A date in a prompt, with the year of some days, that is none of these days: in the form 2027-11-23,
/// 23 November 2027, or November 23, 2027.
fn wrong_date(prompt: &str, days: &[Moment]) -> Option<String> {
    let is_one = |form: &str, text: &str| days.iter().any(|day| day.strftime(form) == text);
    let year = days.first()?.strftime("%Y");
    prompt.match_indices(&year).find_map(|(at, _)| {
        let (before, after) = (prompt.cut(..at), prompt.cut(at + year.len()..));
        if let Some(rest) = after.get(..6).filter(|rest| is_month_and_day(rest)) {
            return (!is_one("-%m-%d", rest)).then(|| format!("{year}{rest}"));
        }
        let mut words = before
            .rsplit(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let (last, first) = (words.next()?, words.next()?);
        let (number, name) = if first.parse::<u8>().is_ok() {
            (first, last)
        } else {
            (last, first)
        };
        let is_month =
            |month: &&&str| **month == name || name.len() == 3 && month.starts_with(name);
        let number = number
            .parse::<u8>()
            .ok()
            .filter(|number| (1..=31).contains(number))?;
        MONTHS.iter().find(is_month)?;
        let is_right = ["%d %B", "%d %b"]
            .iter()
            .any(|form| is_one(form, &format!("{number:02} {name}")));
        (!is_right).then(|| format!("{first} {last} {year}"))
    })
}

/// Whether a text has the form of the end of a date: `-11-23`.
fn is_month_and_day(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    text.starts_with('-') && text.as_bytes().get(3) == Some(&b'-') && digits == 4
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) static SOURCE_NEWLINES: Contract = Contract {
    id: "source-newlines",
    meaning: "the file's line endings, and a line break at its end, make no difference",
    guards_against: "an editor, or git on Windows, that changes every prompt",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/source-newlines.md"),
    judge: source_newlines,
};

fn source_newlines(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    const PROBES: [Probe; 3] = [USER, USER_ASSISTANT_USER, TOOLS];
    let mut tally = Tally::default();
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
    tally.judgement()
}

pub(super) static REFUSAL_WORDS: Contract = Contract {
    id: "refusal-words",
    meaning: "what clients send is accepted, or refused in the template's own words",
    guards_against: "users who read `can only concatenate str` instead of `no system role`",
    severity: Severity::Warning,
    // A template for Ollama has no way to refuse.
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/refusal-words.md"),
    judge: refusal_words,
};

fn refusal_words(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let mut groups: Vec<(String, Evidence, Vec<&str>)> = Vec::new();
    // `capabilities-work` reports features that fail as a whole.
    let reported = failures(prober);
    for probe in LEGAL {
        let seen = prober.see(*probe);
        let is_wordless = match &*seen.outcome {
            Outcome::Rendered { .. } => continue,
            Outcome::Raised { .. } => false,
            Outcome::Failed { stage, .. } => *stage != Stage::Input,
            Outcome::Exceeded { .. } | Outcome::Crashed { .. } | Outcome::NotAsked { .. } => true,
        };
        if !is_wordless {
            tally.holds();
            continue;
        }
        let refusal = seen.refusal();
        if reported.contains(&refusal) {
            tally.skip("capabilities-work reports what fails");
            continue;
        }
        if let Some((_, _, names)) = groups.iter_mut().find(|(known, ..)| *known == refusal) {
            names.push(probe.about);
        } else {
            groups.push((refusal, Evidence::one("", &seen), vec![probe.about]));
        }
    }
    tally.skip("the template refuses none of the probes");
    for (refusal, evidence, names) in groups {
        tally.broken(Evidence {
            what: format!("{}: {refusal}", names.join("; ")),
            ..evidence
        });
    }
    tally.judgement()
}
