use std::sync::LazyLock;

use regex::Regex;
use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::calls::unread_json;
use crate::probe::catalogue::{CALL, NO_ARGUMENTS, PARALLEL, QUOTED_CALL, quoted_value};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "calls-whole",
    meaning: "brackets of calls come in pairs, and JSON in calls can be read as JSON",
    guards_against: "calls that no parser can read, and that the model learns to write",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("calls_whole.md"),
    judge: |tally, prober, capabilities| {
        if !capabilities.tool_calls.single.is_kept() {
            return tally.skip("a call is not in the prompt");
        }
        for probe in [CALL, PARALLEL] {
            let seen = prober.see(probe);
            let (Some(_), Some(said)) = (tally.text(&seen), seen.after(words::USER)) else {
                continue;
            };
            if !seen.has(words::FIRST_VALUE) {
                continue;
            }
            let odd = odd_brackets(said);
            tally.demand(odd.is_none(), || {
                let what = format!("{}: {}", odd.unwrap_or_default(), probe.about);
                Evidence::one(what, &seen)
            });
            let unread = unread_json(said);
            tally.demand(unread.is_none(), || {
                let (at, why) = unread.unwrap_or_default();
                let at = seen.text().map_or(0, str::len) - said.len() + at;
                let what = format!("the JSON of a call cannot be read ({why}): {}", probe.about);
                Evidence::one(what, &seen).at(Some(at..at + 1))
            });
        }
        quotes_are_escaped(tally, prober);
        nothing_is_an_object(tally, prober);
        python_is_python(tally, prober);
        arguments_are_apart(tally, &prober.see(CALL));
    },
};

/// Demands that quotes, backslashes and line breaks in an argument do not end the text that the
/// argument is in.
fn quotes_are_escaped(tally: &mut Tally, prober: &Prober<'_>) {
    let (plain, seen) = (prober.see(CALL), prober.see(QUOTED_CALL));
    let (Some(usual), Some(text), Some(said)) =
        (plain.text(), tally.text(&seen), seen.after(words::USER))
    else {
        return;
    };
    // In the plain call, the same signs are around a text without quotes.
    let (Some(value), Some(usual_value)) = (
        seen.find(words::FIRST_VALUE),
        plain.find(words::FIRST_VALUE),
    ) else {
        return;
    };
    if unread_json(usual.cut(plain.find(words::USER).map_or(0, |user| user.end)..)).is_none()
        && let Some((_, why)) = unread_json(said)
    {
        let what = format!(
            "an argument with quotes, a backslash and a line break is no JSON ({why}): the template \
             writes the quotes round it by hand"
        );
        tally.broken(Evidence::one(what, &seen).at(Some(value)));
        return;
    }
    let around = |text: &str, at: usize| text.cut(..at).chars().next_back();
    let quote = around(usual, usual_value.start).filter(|sign| matches!(sign, '"' | '\''));
    let closes = usual.cut(usual_value.end..).chars().next();
    let is_quoted = quote.is_some() && quote == closes;
    let is_raw = is_quoted
        && around(text, value.start) == quote
        && text.cut(value.start..).starts_with(&quoted_value());
    tally.demand_with(Severity::Warning, !is_raw, || {
        let what = "an argument stands in quotes that the template writes, and a quote in it is not \
                    escaped";
        Evidence::one(what, &seen).at(Some(value))
    });
}

/// Demands that no arguments are an empty object, where arguments are a JSON object.
fn nothing_is_an_object(tally: &mut Tally, prober: &Prober<'_>) {
    let (plain, seen) = (prober.see(CALL), prober.see(NO_ARGUMENTS));
    let (Some(usual), Some(said)) = (plain.after(words::USER), seen.after(words::USER)) else {
        return;
    };
    let keys = [words::FIRST_KEY, words::SECOND_KEY];
    let is_object = |key: &&str| usual.contains(&format!("{{\"{key}\""));
    if !keys.iter().any(is_object) || !seen.has(words::TOOL) {
        return;
    }
    let is_there = said.contains("{}") || said.contains("{ }");
    tally.demand_with(Severity::Warning, is_there, || {
        Evidence::one(
            "the empty object of a call without arguments is not in the prompt",
            &seen,
        )
    });
}

/// Demands that more comes between an argument and the next one than the quote that ends it.
fn arguments_are_apart(tally: &mut Tally, seen: &ProbeOutcome) {
    let mut arguments = [
        (words::FIRST_KEY, words::FIRST_VALUE),
        (words::SECOND_KEY, words::SECOND_VALUE),
    ];
    // Some templates sort them.
    arguments.sort_by_key(|(_, value)| seen.find(value).map(|place| place.start));
    let [(_, value), (key, _)] = arguments;
    let (Some(before), Some(after)) = (seen.before(value), seen.after(value)) else {
        return;
    };
    let Some(between) = after
        .to_ascii_lowercase()
        .find(key)
        .and_then(|at| after.get(..at))
    else {
        return;
    };
    tally.demand_with(Severity::Warning, !before.ends_with(between), || {
        let what = "nothing separates an argument of a call from the next one";
        Evidence::one(what, seen).at(seen.find(value))
    });
}

/// Demands of calls in Python's form, `f(a="b")`, that texts have quotes, and that two calls have
/// something between them.
fn python_is_python(tally: &mut Tally, prober: &Prober<'_>) {
    let (one, two) = (prober.see(CALL), prober.see(PARALLEL));
    let is_python =
        one.has(&format!("{}(", words::TOOL)) && one.has(&format!("{}=", words::FIRST_KEY));
    if !is_python {
        return;
    }
    let bare = format!("{}={}", words::FIRST_KEY, words::FIRST_VALUE);
    tally.demand_with(Severity::Warning, !one.has(&bare), || {
        let what = "a call is written as Python, and a text in it has no quotes";
        Evidence::one(what, &one).at(one.find(&bare))
    });
    let glued = format!("){}(", words::SECOND_TOOL);
    tally.demand_with(Severity::Warning, !two.has(&glued), || {
        let what = "nothing is between two calls at once, which are written as Python";
        Evidence::one(what, &two).at(two.find(&glued))
    });
}

/// Brackets or fences of code that have no partner, in words.
fn odd_brackets(said: &str) -> Option<String> {
    static TEXT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*""#).ok());
    let mut rest = said.to_owned();
    for token in control_tokens_in(said) {
        rest = rest.replacen(token, " ", 1);
    }
    if let Some(text) = TEXT.as_ref() {
        rest = text.replace_all(&rest, "\"\"").into_owned();
    }
    let count = |sign: &str| rest.matches(sign).count();
    let odd = [("(", ")"), ("[", "]"), ("{", "}")]
        .into_iter()
        .find(|(open, close)| count(open) != count(close));
    match odd {
        Some((open, close)) if count(open) > count(close) => {
            Some(format!("`{open}` is not closed"))
        }
        Some((_, close)) => Some(format!("`{close}` closes nothing")),
        None if count("```") % 2 == 1 => Some("a fence of code is not closed".to_owned()),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_within_texts_and_tokens_need_no_partner() {
        assert_eq!(odd_brackets(r#"f({"a": "(("}) [TOOL_CALLS]"#), None);
        assert_eq!(odd_brackets("f({").as_deref(), Some("`(` is not closed"));
        assert_eq!(odd_brackets("f)").as_deref(), Some("`)` closes nothing"));
    }
}
