//! Contracts about how a call is written: whole, and as the instructions show it.

use std::sync::LazyLock;

use regex::Regex;
use rolecall_core::{Cut, Dialect};
use serde_json::{Deserializer, Value};

use super::definition::Contract;
use super::evidence::Evidence;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::control_tokens_in;
use crate::probe::catalogue::{CALL, NO_ARGUMENTS, PARALLEL, QUOTED_CALL, TOOLS, quoted_value};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CALLS_WHOLE: Contract = Contract {
    id: "calls-whole",
    meaning: "brackets of calls come in pairs, and JSON in calls can be read as JSON",
    guards_against: "calls that no parser can read, and that the model learns to write",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/calls-whole.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !capabilities.tool_calls.single.is_kept() {
            tally.skip("a call is not in the prompt");
            return tally.judgement();
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
        quotes_are_escaped(&mut tally, prober);
        nothing_is_an_object(&mut tally, prober);
        python_is_python(&mut tally, prober);
        arguments_are_apart(&mut tally, &prober.see(CALL));
        tally.judgement()
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

/// The place of the first JSON with a value of the call that is no JSON, and why.
pub(super) fn unread_json(said: &str) -> Option<(usize, String)> {
    unread_json_around(said, words::FIRST_VALUE)
}

/// The place of the first JSON with a word in it that is no JSON, and why.
pub(super) fn unread_json_around(said: &str, word: &str) -> Option<(usize, String)> {
    let starts = said.match_indices(['[', '{']).map(|(at, _)| at);
    let mut json = starts.filter(|at| {
        let rest = said.cut(*at..);
        let inside = rest.trim_start_matches(|c: char| matches!(c, '[' | '{') || c.is_whitespace());
        inside.starts_with('"') && is_open_at(rest, word)
    });
    let at = json.next()?;
    match Deserializer::from_str(said.cut(at..))
        .into_iter::<Value>()
        .next()?
    {
        Ok(_) => None,
        Err(error) => {
            let error = error.to_string();
            let why = error.split(" at line").next().unwrap_or(&error);
            Some((at, why.to_owned()))
        }
    }
}

/// Whether the bracket with which a text begins is still open where a word is.
fn is_open_at(text: &str, word: &str) -> bool {
    let Some(value) = text.to_ascii_lowercase().find(word) else {
        return false;
    };
    let (mut depth, mut is_text, mut is_escaped) = (0, false, false);
    for sign in text.cut(..value).chars() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_text = !is_text,
            '[' | '{' if !is_text => depth += 1,
            ']' | '}' if !is_text => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    true
}

pub(super) static CALLS_AS_SHOWN: Contract = Contract {
    id: "calls-as-shown",
    meaning: "earlier calls are written as the instructions about tools show them",
    guards_against: "a history that contradicts what the prompt asks for",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/calls-as-shown.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !capabilities.tool_calls.single.is_kept() || !capabilities.tools.is_kept() {
            tally.skip("tools and calls are not both in the prompt");
            return tally.judgement();
        }
        let (seen, tools) = (prober.see(CALL), prober.see(TOOLS));
        let (Some(_), Some(shown), Some(said)) = (
            tally.text(&seen),
            tally.text(&tools),
            seen.after(words::USER),
        ) else {
            return tally.judgement();
        };
        let (said, shown) = (said.to_ascii_lowercase(), shown.to_ascii_lowercase());
        let checks = [
            key(&said, &shown),
            gaps(&said, &shown),
            quotes(&said, &shown),
        ];
        for check in checks.into_iter().flatten() {
            tally.demand(check.is_none(), || {
                Evidence::one(check.unwrap_or_default(), &seen)
            });
        }
        tally.skip("the instructions do not show how a call is written");
        tally.judgement()
    },
};

/// What a check of two texts says: nothing, that they agree, or what is wrong.
type Check = Option<Option<String>>;

/// Compares the key under which a call has its arguments with the key in the instructions.
fn key(said: &str, shown: &str) -> Check {
    const KEYS: [&str; 5] = ["arguments", "parameters", "args", "input", "kwargs"];
    static WRITTEN: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#""(\w+)"\s*:\s*"?\{\\?"(?:zonequill|areaquill)"#).ok());
    static EXAMPLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#""(?:name|tool_name)"\s*:\s*([^,}\n]{1,40}),\s*"(\w+)"\s*:"#).ok()
    });
    static FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"\{"(arguments|parameters|args|input|kwargs)"\s*:\s*<[^>\n]*>,\s*"(?:name|tool_name)""#).ok()
    });
    let written = WRITTEN.as_ref()?.captures(said)?[1].to_owned();
    let examples: Vec<String> = EXAMPLE
        .as_ref()?
        .captures_iter(shown)
        .filter(|found| !found[1].contains("quill") && KEYS.contains(&&found[2]))
        .map(|found| found[2].to_owned())
        .collect();
    let first_in_example = LazyLock::force(&FIRST).as_ref()?.captures(shown);
    let examples: Vec<String> = examples
        .into_iter()
        .chain(first_in_example.map(|found| found[1].to_owned()))
        .collect();
    let expected = examples.first()?;
    Some((!examples.contains(&written)).then(|| {
        format!("a call has its arguments as `{written}`, and the instructions as `{expected}`")
    }))
}

/// Compares the white space around a call, between its tags, with that of the example in the
/// instructions.
fn gaps(said: &str, shown: &str) -> Check {
    static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"<(\w+)>").ok());
    for tag in TAG.as_ref()?.captures_iter(said) {
        let tag = &tag[1];
        if ["tool", "tools"].contains(&tag) {
            continue;
        }
        let objects = |text| within(text, tag).filter_map(gaps_around_object);
        let example = objects(shown).find(|(_, object)| !object.contains("quill"));
        let (Some((expected, _)), Some((written, _))) = (example, objects(said).next()) else {
            continue;
        };
        return Some((written != expected).then(|| {
            format!(
                "a call between `<{tag}>` and `</{tag}>` has other white space around it than the \
                 example in the instructions"
            )
        }));
    }
    None
}

/// The texts between a tag and its partner.
fn within<'t>(text: &'t str, tag: &str) -> impl Iterator<Item = &'t str> {
    let (opening, closing) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&opening)?;
        let (inside, after) = after.split_once(&closing)?;
        rest = after;
        Some(inside)
    })
}

/// The white space around a JSON object, and the object.
fn gaps_around_object(text: &str) -> Option<([&str; 2], &str)> {
    let object = text.trim();
    let start = text.len() - text.trim_start().len();
    let is_object = object.starts_with('{') && object.ends_with('}');
    is_object.then(|| {
        (
            [text.cut(..start), text.cut(start + object.len()..)],
            object,
        )
    })
}

/// Compares the quotes around a text argument with those of the example in the instructions.
fn quotes(said: &str, shown: &str) -> Check {
    static WRITTEN: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"<(\w+)[=\s][^<>]*zonequill"?>\s*("?)northquill"#).ok());
    let written = WRITTEN.as_ref()?.captures(said)?;
    let (tag, quote) = (&written[1], &written[2]);
    let example = Regex::new(&format!(r#"<{tag}[=\s][^<>]*>\s*("?)[a-z]"#)).ok()?;
    let example = example
        .captures(shown)
        .filter(|found| !found[0].contains("quill"))?;
    Some((&example[1] != quote).then(|| {
        format!(
            "a text argument of a call {}, and the example in the instructions {}",
            quoted(quote),
            quoted(&example[1])
        )
    }))
}

/// Whether there is a quote, in words.
fn quoted(quote: &str) -> &'static str {
    if quote.is_empty() {
        "has no quotes"
    } else {
        "has quotes"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_around_the_value_is_that_of_the_call() {
        let example = r#"[{"tool_name": title of the tool}] "#;
        let call = r#"[{"tool_name": "f", "parameters": {"a": "northquill"}}]"#;
        assert_eq!(unread_json(&format!("{example}{call}")), None);
        let (at, _) = unread_json(&call.replace(r#""f","#, r#""f""#)).unwrap();
        assert_eq!(at, 0);
        assert_eq!(unread_json(example), None);
    }

    #[test]
    fn brackets_within_texts_and_tokens_need_no_partner() {
        assert_eq!(odd_brackets(r#"f({"a": "(("}) [TOOL_CALLS]"#), None);
        assert_eq!(odd_brackets("f({").as_deref(), Some("`(` is not closed"));
        assert_eq!(odd_brackets("f)").as_deref(), Some("`)` closes nothing"));
    }
}
