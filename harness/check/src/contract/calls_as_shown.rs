use std::sync::LazyLock;

use regex::Regex;
use rolecall_core::{Case, Cut, Dialect};
use serde_json::json;

use super::frame::{Contract, Evidence, Severity, Tally};
use crate::probe::catalogue::{CALL, TOOLS};
use crate::probe::input_style::{closed, tool};
use crate::probe::{Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "calls-as-shown",
    meaning: "earlier calls are written as the instructions about tools show them",
    guards_against: "a history that contradicts what the prompt asks for",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("calls_as_shown.md"),
    judge: |tally, prober, capabilities| {
        if !capabilities.tool_calls.single.is_kept() || !capabilities.tools.is_kept() {
            return tally.skip("tools and calls are not both in the prompt");
        }
        let (seen, tools) = (prober.see(CALL), prober.see(TOOLS));
        let (Some(_), Some(shown), Some(said)) = (
            tally.text(&seen),
            tally.text(&tools),
            seen.after(words::USER),
        ) else {
            return;
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
        letters_alike(tally, prober);
        tally.skip("the instructions do not show how a call is written");
    },
};

/// Demands that letters that are not in ASCII are written alike in tools, in arguments and within them.
fn letters_alike(tally: &mut Tally, prober: &Prober<'_>) {
    let m = prober.input_style();
    let of = |word: &str| format!("{word} é");
    let mut own = tool(words::TOOL);
    if let Some(function) = own.get_mut("function") {
        function["description"] = json!(of(words::TOOL_ABOUT));
    }
    let arguments = json!({
        words::FIRST_KEY: of(words::FIRST_VALUE),
        words::SECOND_KEY: [of(words::SECOND_VALUE)],
    });
    let case = Case {
        tools: Some(vec![own]),
        ..closed(vec![m.user(), m.call_with(&m.arguments(&arguments))])
    };
    let seen = prober.ask(
        "letters",
        "a tool and a call with letters that are not in ASCII",
        case,
    );
    let places = [
        (words::TOOL_ABOUT, "in the description of a tool"),
        (words::FIRST_VALUE, "in an argument"),
        (words::SECOND_VALUE, "in an argument that is a list"),
    ];
    let written = places.into_iter().filter_map(|(word, place)| {
        let after = seen.text()?.get(seen.find(word)?.end..)?;
        let forms = [" é", " \\u00e9"];
        Some((
            forms.into_iter().find(|form| after.starts_with(form))?,
            place,
            word,
        ))
    });
    let written: Vec<_> = written.collect();
    if let Some((usual, place, _)) = written.first() {
        let others = written.iter().skip(1);
        for (form, other, word) in others.filter(|(form, ..)| form != usual) {
            let what = format!(
                "é is written as `{}` {place}, and as `{}` {other}",
                usual.trim(),
                form.trim()
            );
            tally.broken(Evidence::one(what, &seen).at(seen.find(word)));
        }
    }
}

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
