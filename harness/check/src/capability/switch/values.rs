//! The values of a variable that are worth trying.

use std::collections::BTreeSet;

use rolecall_core::{Cut, Dialect};
use serde_json::{Value, json};

use crate::probe::input_style::tool;
use crate::probe::words;

/// The most values of a variable that are tried.
const MOST: usize = 12;

/// What is tried where neither the name nor the source tells which values there are.
pub(super) const YES_AND_NO: [bool; 2] = [true, false];

/// The values to try: what applications are known to set, and the texts with which the source
/// compares the variable. Where there are none of these, true and false.
pub(crate) fn tried(source: &str, dialect: Dialect, name: &str) -> Vec<Value> {
    if dialect == Dialect::Go {
        return vec![json!(true), json!(false), json!("low"), json!("high")];
    }
    let mut values: Vec<Value> = known(name);
    let literals = literals(source, name);
    values.extend(literals.into_iter().map(Value::from));
    values.extend(
        numbers(source, name)
            .into_iter()
            .flat_map(|at| [json!(at - 1), json!(at), json!(at + 1)]),
    );
    if values.is_empty() {
        values = YES_AND_NO.map(Value::from).to_vec();
    }
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.to_string()));
    values.truncate(MOST);
    values
}

/// Whether users write the value of a variable themselves: a text, or a list of tools.
pub(super) fn is_free(name: &str) -> bool {
    DATES.contains(&name) || TEXTS.contains(&name) || TOOLS.contains(&name)
}

const DATES: [&str; 4] = ["date_string", "date", "current_date", "today"];
const TOOLS: [&str; 4] = ["custom_tools", "available_tools", "xml_tools", "functions"];
const TEXTS: [&str; 3] = ["model_identity", "system_message", "custom_instructions"];

/// What applications set where the name alone tells it.
fn known(name: &str) -> Vec<Value> {
    match name {
        name if DATES.contains(&name) => vec![json!("1 January 2030")],
        name if TOOLS.contains(&name) => vec![json!([tool(words::TOOL)])],
        "builtin_tools" => vec![json!(["code_interpreter"])],
        "reasoning_effort" => vec![json!("low"), json!("medium"), json!("high")],
        "thinking_budget" | "reasoning_budget" => vec![json!(0), json!(512)],
        name if TEXTS.contains(&name) => vec![json!("You are quick.")],
        _ => Vec::new(),
    }
}

/// The numbers with which the source compares a variable.
fn numbers(source: &str, name: &str) -> Vec<i64> {
    let signs = ["==", "!=", "<=", ">=", "<", ">"];
    let compared = |at: usize| {
        let after = after_filters(source.cut(at + name.len()..));
        let rest = signs.iter().find_map(|sign| after.strip_prefix(sign))?;
        let digits: &str = rest
            .trim_start()
            .split(|c: char| !c.is_ascii_digit())
            .next()?;
        digits
            .parse::<i64>()
            .ok()
            .filter(|number| *number < i64::from(u32::MAX))
    };
    places(source, name).filter_map(compared).collect()
}

/// The texts with which the source compares a variable, or another name that is set from it.
fn literals(source: &str, name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    for (at, _) in source.match_indices("set ") {
        let Some((left, right)) = source.cut(at + 4..).split_once('=') else {
            continue;
        };
        let right = right.split(['%', '\n']).next().unwrap_or_default();
        let alias = left.trim().trim_start_matches("ns.");
        let is_name = !alias.is_empty() && alias.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name && places(right, name).next().is_some() {
            names.push(alias.to_owned());
        }
    }
    let mut found = Vec::new();
    for name in names {
        for at in places(source, &name) {
            let after = after_filters(source.cut(at + name.len()..));
            let compared = ["==", "!="]
                .iter()
                .find_map(|sign| after.strip_prefix(sign))
                .and_then(|rest| text(rest.trim_start()));
            found.extend(compared);
            let list = after
                .strip_prefix("not ")
                .unwrap_or(after)
                .trim_start()
                .strip_prefix("in ")
                .and_then(|rest| rest.trim_start().strip_prefix(['[', '(']));
            if let Some(list) = list {
                let list = list.split([']', ')']).next().unwrap_or_default();
                found.extend(list.split(',').filter_map(|item| text(item.trim())));
            }
        }
    }
    found
}

/// What follows a name and the filters that are applied to it, such as `| lower`.
fn after_filters(mut after: &str) -> &str {
    while let Some(filter) = after.trim_start().strip_prefix('|') {
        after = filter
            .trim_start()
            .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    }
    after.trim_start()
}

/// Where a name is in the source as a whole word, and not as a field of something.
fn places<'s>(source: &'s str, name: &'s str) -> impl Iterator<Item = usize> + 's {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(name).filter_map(move |(at, _)| {
        let before = source.cut(..at).chars().next_back();
        let after = source.cut(at + name.len()..).chars().next();
        let is_word = !before.is_some_and(|c| is_part(c) || matches!(c, '\'' | '"'))
            && !after.is_some_and(is_part);
        is_word.then_some(at)
    })
}

/// The text literal at the beginning of a source.
fn text(source: &str) -> Option<String> {
    let quote = source.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (literal, _) = source.cut(1..).split_once(quote)?;
    (!literal.contains('\\')).then(|| literal.to_owned())
}
