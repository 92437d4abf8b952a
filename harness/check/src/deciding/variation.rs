//! Conversations in which a comparison holds.

use rolecall_core::{Case, Cut};

use super::comparison::{ComparedWith, Comparison};
use super::literal::stand_in;
use super::subject::{replaced, with_text};

/// The longest text that is written because a template compares a length.
const LONGEST: usize = 20_000;

/// Conversations in which a comparison holds, each compared with one in which it does not.
pub(super) fn pairs(case: &Case, comparison: &Comparison) -> Vec<(Case, Case)> {
    let Comparison {
        path,
        bytes,
        operation,
        is_first,
        with,
        ..
    } = comparison;
    let literal = match with {
        ComparedWith::Number(number) => return lengths(case, path, *number),
        ComparedWith::Literal { text, .. } => text,
    };
    let other = stand_in(literal);
    if other == *literal {
        return texts_without_letters(case, comparison, literal);
    }
    let placed = |way: Way, [literal, other]: &[String; 2]| {
        let with = |literal: &str| {
            with_text(case, path, |text| {
                let part = match bytes {
                    Some(bytes) => text.get(bytes.clone())?,
                    None => text,
                };
                let new = way.write(part, literal);
                match bytes {
                    Some(bytes) => replaced(text, bytes, &new),
                    None => Some(new),
                }
            })
        };
        Some((with(literal)?, with(other)?))
    };
    let plain = [literal.clone(), other];
    let mut forms = vec![plain.clone()];
    if bytes.is_none() {
        // The template compares what it made from the text.
        for form in [reversed, str::to_lowercase, str::to_uppercase] {
            let form = plain.each_ref().map(|text| form(text));
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    let ways: &[Way] = match (*operation, is_first) {
        ("in" | "not in", false)
        | (
            "find" | "rfind" | "index" | "rindex" | "replace" | "split" | "rsplit" | "partition"
            | "rpartition",
            true,
        ) => &[Way::After, Way::Whole, Way::Before],
        ("endswith" | "removesuffix", true) => &[Way::After, Way::Whole],
        ("count", true) => &[Way::After, Way::Whole, Way::Often],
        ("startswith" | "removeprefix", true) => &[Way::Before, Way::Whole],
        ("<" | "<=" | ">" | ">=" | "lt" | "le" | "gt" | "ge" | "lessthan" | "greaterthan", _) => {
            &[Way::Whole, Way::Above]
        }
        _ => &[Way::Whole],
    };
    let all = forms
        .iter()
        .flat_map(|form| ways.iter().filter_map(|way| placed(*way, form)));
    all.collect()
}

/// How a literal is written into a text.
#[derive(Debug, Clone, Copy)]
enum Way {
    Whole,
    Before,
    After,
    /// In its place, so that it comes after the literal in the alphabet.
    Above,
    /// After it, many times.
    Often,
}

/// How often a literal is written that a template counts.
const OFTEN: usize = 40;

impl Way {
    fn write(self, text: &str, literal: &str) -> String {
        match self {
            Way::Whole => literal.to_owned(),
            Way::Before => format!("{literal} {text}"),
            Way::After => format!("{text} {literal}"),
            Way::Above => format!("{literal}~"),
            Way::Often => format!("{text}{}", format!(" {literal}").repeat(OFTEN)),
        }
    }
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// The same for a literal without letters, for which no other is: the text with it next to the text
/// without it.
fn texts_without_letters(case: &Case, comparison: &Comparison, literal: &str) -> Vec<(Case, Case)> {
    let often = literal.repeat(OFTEN);
    let mut ways = vec![[literal, ""], ["", literal]];
    if comparison.operation == "count" {
        ways.push(["", &often]);
    }
    let pair = |[before, after]: [&str; 2]| {
        let path = &comparison.path;
        let with = with_text(case, path, |text| Some(format!("{before}{text}{after}")))?;
        Some((with, case.clone()))
    };
    ways.into_iter().filter_map(pair).collect()
}

/// A number as a text next to another one, and texts with more and with fewer characters, and
/// words, than the number.
fn lengths(case: &Case, path: &str, number: usize) -> Vec<(Case, Case)> {
    let letters = |length: usize| "quilly".repeat(length / 6 + 1).cut(..length).to_owned();
    let spaced = |count: usize| vec!["a"; count].join(" ");
    let below = number.saturating_sub(1).max(1);
    let mut texts = vec![(number.to_string(), (number + 1).to_string())];
    if number <= LONGEST {
        texts.push((letters(number + 1), letters(below)));
        texts.push((letters(number), letters(number + 1)));
        texts.push((spaced(number + 1), spaced(below)));
    }
    let pair = |(with, without): (String, String)| {
        let of = |text: String| with_text(case, path, |_| Some(text.clone()));
        Some((of(with)?, of(without)?))
    };
    texts.into_iter().filter_map(pair).collect()
}
