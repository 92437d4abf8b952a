//! Delimiters that are found too early while an answer arrives.
//!
//! The reference looks for a whole match anywhere before it looks for one that is cut short, so a
//! delimiter that can match short, or at the end of the text, hides the one that is on its way.

use std::collections::BTreeMap;

use crate::inspection::answer::{Region, texts};
use crate::inspection::finding::{Evidence, Finding, ReadingMode, Rule};
use crate::inspection::trial::{Bench, Trial};
use crate::pattern::search::{Found, Match, Pattern};
use crate::stream::Seen;
use crate::template::Delimiter;

/// The findings of both rules, one for each delimiter and rule, with the shortest text.
pub(super) fn inspect(bench: &Bench<'_>, regions: &[Region]) -> Vec<Finding> {
    let mut shortest: BTreeMap<(usize, bool, Rule), (String, Trial, Trial)> = BTreeMap::new();
    for text in answers(bench, regions) {
        if bench.is_spent() {
            break;
        }
        let (one, other) = (bench.whole(&text), bench.streamed(&text));
        if one.agrees(&other) {
            continue;
        }
        let Some(early) = first_difference(&one.seen, &other.seen) else {
            continue;
        };
        let Some(delimiter) = delimiter(bench, early) else {
            continue;
        };
        let rule = rule(bench, &delimiter.pattern, &text, before(&other.seen, early));
        let key = (early.field, early.opens, rule);
        let is_shorter = |(known, ..): &(String, Trial, Trial)| text.len() < known.len();
        if shortest.get(&key).is_none_or(is_shorter) {
            shortest.insert(key, (text, one, other));
        }
    }
    let found = shortest.into_iter();
    found
        .filter_map(|((field, opens, rule), (text, one, other))| {
            let seen = Seen {
                field,
                opens,
                start: 0,
                end: 0,
            };
            let key = delimiter(bench, seen)?.key;
            let name = &bench.fields()[field].name;
            let evidence = Evidence::Readings(Box::new([
                one.reading(&text, ReadingMode::Whole),
                other.reading(&text, ReadingMode::Streamed),
            ]));
            Some(finding(rule, name, key, evidence))
        })
        .collect()
}

fn finding(rule: Rule, field: &str, key: &'static str, evidence: Evidence) -> Finding {
    let (message, help) = if rule == Rule::CloseAtEnd {
        (
            format!(
                "`{key}` of `{field}` also matches at the end of the text. While an answer arrives, \
                 the parser always finds this match, and so takes the beginning of the real \
                 delimiter for text"
            ),
            "leave out what matches at the end, such as `|$`: a region that is still open ends with \
             the answer anyway"
                .to_owned(),
        )
    } else {
        (
            format!(
                "`{key}` of `{field}` can match a short text, and a longer one that begins with it. \
                 While an answer arrives, the parser takes the short one before the rest is there, \
                 and the rest becomes text"
            ),
            "let the delimiter match only the short text, and another delimiter take the rest, such \
             as the closer of the field without an opener"
                .to_owned(),
        )
    };
    Finding {
        rule,
        field: Some(field.to_owned()),
        key: Some(key),
        message,
        help,
        evidence,
    }
}

/// Answers in which every way to write a delimiter occurs.
fn answers(bench: &Bench<'_>, regions: &[Region]) -> Vec<String> {
    let closes_all = regions
        .iter()
        .find(|region| Some(region.field) == bench.template.parts.implicit)
        .map(|region| region.close.as_str());
    let mut all = Vec::new();
    for region in regions {
        let field = &bench.fields()[region.field];
        let with_open = |open: String| Region {
            open,
            ..region.clone()
        };
        let with_close = |close: String| Region {
            close,
            ..region.clone()
        };
        let opened = texts(field.open.as_ref()).into_iter().map(with_open);
        let closed = texts(field.close.as_ref()).into_iter().map(with_close);
        for text in opened.chain(closed).map(|region| region.text()) {
            all.push(format!("{text}Bye."));
            all.push(format!("Hi. {text}"));
            all.push(format!("{text}{text}"));
            all.extend(closes_all.map(|close| format!("{text}Bye.{close}")));
            all.push(text);
        }
    }
    all
}

/// The delimiter that one reading found first and the other did not.
fn first_difference(whole: &[Seen], streamed: &[Seen]) -> Option<Seen> {
    let same = whole
        .iter()
        .zip(streamed)
        .take_while(|(a, b)| a == b)
        .count();
    match (whole.get(same), streamed.get(same)) {
        (Some(missed), Some(early)) if missed.start < early.start => Some(*missed),
        (_, Some(early)) => Some(*early),
        (missed, None) => missed.copied(),
    }
}

/// Where the search began that found a delimiter.
fn before(all: &[Seen], one: Seen) -> usize {
    let ends = all.iter().map(|seen| seen.end);
    ends.filter(|end| *end <= one.start).max().unwrap_or(0)
}

fn delimiter<'t>(bench: &Bench<'t>, seen: Seen) -> Option<&'t Delimiter> {
    let field = &bench.fields()[seen.field];
    if seen.opens {
        field.open.as_ref()
    } else {
        field.close.as_ref()
    }
}

/// Which of the two rules a delimiter breaks, by its first match in a text that has not arrived yet:
/// either the match is there because the text ends, or more text would not change it.
fn rule(bench: &Bench<'_>, pattern: &Pattern, text: &str, from: usize) -> Rule {
    let codes: Vec<u32> = text.chars().map(u32::from).collect();
    let in_whole = found(bench, pattern, &codes, from);
    for end in from..codes.len() {
        let part = &codes[..end];
        let Some(early) = found(bench, pattern, part, from) else {
            continue;
        };
        let waits = early.start < early.end && early.end == end;
        if waits || in_whole.as_ref() == Some(&early) {
            continue;
        }
        let longer = [part, &[0xE000]].concat();
        return if found(bench, pattern, &longer, from) == Some(early) {
            Rule::CloseOptionalTail
        } else {
            Rule::CloseAtEnd
        };
    }
    Rule::CloseOptionalTail
}

fn found(bench: &Bench<'_>, pattern: &Pattern, text: &[u32], from: usize) -> Option<Match> {
    match bench.search(pattern, text, from, false, 100_000)? {
        Found::Match(found) => Some(found),
        _ => None,
    }
}
