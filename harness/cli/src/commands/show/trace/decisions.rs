//! What the conditions of a render looked at, for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use minijinja::{Value, context};
use rolecall_core::Site;
use rolecall_core::decision::{Decision, Decisions, Look, Operand, OperandValue, TRUTH};
use rolecall_core::provenance::{Input, Origin};
use unicode_width::UnicodeWidthStr;

use crate::report::screen;
use crate::report::style::{BAD, GOOD, Styled};
use crate::report::text::text;
use crate::report::trace::{Trace, shortened};
use crate::report::wrapping::wrapped;

/// The most different looks that are shown for one condition.
const MOST_LOOKS: usize = 8;

/// The most characters of a text that are shown.
const MOST_TEXT: usize = 32;

/// The most items of a list that are shown.
const MOST_ITEMS: usize = 4;

/// What all evaluations of one condition came to.
#[derive(Default)]
struct Condition {
    is_true: usize,
    is_false: usize,
    /// The different looks, in words, in their order.
    looks: Vec<String>,
}

/// Writes the conditions of a render in the order of the source: how often each was true and false,
/// and what it looked at.
pub fn write(out: &mut dyn Write, trace: &Trace<'_>, decisions: &Decisions) -> io::Result<()> {
    let conditions = conditions(decisions);
    let evaluated = conditions.len();
    let conditions = conditions.into_iter();
    let sites = conditions.filter_map(|(site, one)| Some((trace.sites.get(site)?, one)));
    let mut sites: Vec<_> = sites.collect();
    sites.sort_by_key(|(site, _)| (site.span.start, site.span.end));
    let mut alone: Vec<String> = Vec::new();
    for look in decisions
        .outside()
        .filter(|look| compares(look))
        .map(in_words)
    {
        if !alone.contains(&look) {
            alone.push(look);
        }
    }
    text!(out, include_str!("decisions.txt"), {
        name => trace.template.name.as_str(),
        case => trace.case.id.to_string(),
        evaluated,
        shown => sites.iter().map(|(site, one)| condition(trace, site, one)).collect::<Value>(),
        more => alone.len().saturating_sub(MOST_LOOKS * 2),
        alone => first(&alone, MOST_LOOKS * 2),
        is_cut => decisions.is_cut,
    })
}

/// The first looks, each in lines that are indented.
fn first(looks: &[String], most: usize) -> Vec<String> {
    let width = screen::width().saturating_sub(4);
    let looks = looks.iter().take(most);
    looks.map(|look| wrapped(look, width, 6)).collect()
}

fn condition(trace: &Trace<'_>, site: &Site, condition: &Condition) -> Value {
    let text = trace
        .template
        .source
        .get(site.span.clone())
        .unwrap_or_default();
    let truths = [
        (condition.is_true, GOOD, "true"),
        (condition.is_false, BAD, "false"),
    ];
    let truths = truths.into_iter().filter(|(times, ..)| *times > 0);
    let truths = truths.map(|(times, style, word)| match times {
        1 => Styled(style, word).to_string(),
        times => format!("{} {times} times", Styled(style, word)),
    });
    context! {
        place => trace.place(site.span.start),
        text => shortened(text, screen::width().saturating_sub(4).max(20)),
        truths => truths.collect::<Vec<_>>(),
        looks => first(&condition.looks, MOST_LOOKS),
        more => condition.looks.len().saturating_sub(MOST_LOOKS),
    }
}

/// The conditions by their sites. The looks of an operand are its own, and not those of the
/// condition around it.
fn conditions(decisions: &Decisions) -> BTreeMap<usize, Condition> {
    let mut conditions: BTreeMap<usize, Condition> = BTreeMap::new();
    let all = &decisions.decisions;
    for (at, decision) in all.iter().enumerate() {
        let condition = conditions.entry(decision.site).or_default();
        if decision.truth {
            condition.is_true += 1;
        } else {
            condition.is_false += 1;
        }
        for number in own_looks(&all[..at], decision) {
            let Some(look) = decisions.looks.get(number) else {
                continue;
            };
            let words = in_words(look);
            if !condition.looks.contains(&words) {
                condition.looks.push(words);
            }
        }
    }
    conditions
}

/// The looks of a decision that no decision within it has. Those within it ended just before it.
fn own_looks(before: &[Decision], decision: &Decision) -> Vec<usize> {
    let mut end = decision.looks.end;
    let mut own = Vec::new();
    for inner in before.iter().rev() {
        let is_within = inner.looks.start >= decision.looks.start && inner.looks.end <= end;
        if !is_within || inner.looks.is_empty() {
            if inner.looks.end <= decision.looks.start && !inner.looks.is_empty() {
                break;
            }
            continue;
        }
        own.extend(inner.looks.end..end);
        end = inner.looks.start;
    }
    own.extend(decision.looks.start..end);
    own.sort_unstable();
    own
}

/// Whether a look compares something with another thing.
fn compares(look: &Look) -> bool {
    look.operands.len() > 1
}

/// A look in words: `messages[0].content "please deploy" startswith "please"`.
fn in_words(look: &Look) -> String {
    let operands: Vec<String> = look.operands.iter().map(operand_in_words).collect();
    if look.operation == TRUTH {
        return operands.concat();
    }
    let words = match operands.as_slice() {
        [of] => format!("{of} {}", look.operation),
        [of, rest @ ..] => format!("{of} {} {}", look.operation, rest.join(", ")),
        [] => look.operation.to_owned(),
    };
    match &look.result {
        Some(result) if look.operands.len() == 1 => format!("{words} {result}"),
        _ => words,
    }
}

fn operand_in_words(operand: &Operand) -> String {
    let value = match &operand.value {
        OperandValue::Text(text) => format!("\"{}\"", shortened(text, MOST_TEXT)),
        OperandValue::Plain(text) => text.clone(),
        OperandValue::Items(items) => {
            let shown = items.iter().take(MOST_ITEMS).map(operand_in_words);
            let mut shown: Vec<String> = shown.collect();
            if items.len() > MOST_ITEMS {
                shown.push("…".to_owned());
            }
            return format!("[{}]", shown.join(", "));
        }
    };
    let of: Vec<String> = operand.origins.iter().filter_map(origin_in_words).collect();
    if of.is_empty() {
        return value;
    }
    let is_container = value.width() <= 3 && (value.starts_with('[') || value.starts_with('{'));
    if is_container {
        return of.join(" + ");
    }
    format!("{} {value}", of.join(" + "))
}

fn origin_in_words(origin: &Origin) -> Option<String> {
    let paths = |from: &[std::sync::Arc<Input>]| {
        let paths: Vec<_> = from.iter().map(|input| input.path.as_str()).collect();
        (!paths.is_empty()).then(|| paths.join(" + "))
    };
    match origin {
        Origin::Literal { .. } => None,
        Origin::Input { input, .. } => Some(input.path.clone()),
        Origin::Made { from } => paths(from),
    }
}
