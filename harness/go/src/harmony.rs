//! Names of tools for models that speak Harmony: identifiers of TypeScript.
//!
//! Source: harmony/harmonyparser.go (`FunctionNameMap`) of Ollama 0.33.

use std::collections::HashSet;

use serde_json::Value as Json;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Tools of the model's own, which keep their names.
const BUILT_IN: [&str; 4] = ["browser.open", "browser.search", "browser.find", "python"];

/// Gives each tool that has a name one that the model can write.
pub(crate) fn rename(tools: &mut [Json]) {
    let mut taken = HashSet::new();
    for tool in tools {
        let name = tool.pointer_mut("/function/name");
        if let Some(Json::String(name)) = name
            && !name.is_empty()
        {
            if !BUILT_IN.contains(&name.as_str()) {
                *name = free(&identifier(name), &taken);
            }
            taken.insert(name.clone());
        }
    }
}

/// A free name: the name itself, or the name with a number.
fn free(name: &str, taken: &HashSet<String>) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names
        .find(|name| !taken.contains(name))
        .unwrap_or_else(|| name.to_owned())
}

fn identifier(name: &str) -> String {
    let character = |c: char| match c {
        ' ' | '-' | '.' => Some('_'),
        '_' | '$' => Some(c),
        _ if is_letter_or_digit(c) => Some(c),
        _ => None,
    };
    let name: String = name.chars().filter_map(character).collect();
    match name.as_bytes().first() {
        None => "unnamed".to_owned(),
        Some(b'0'..=b'9') => format!("_{name}"),
        Some(_) => name,
    }
}

fn is_letter_or_digit(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Letter
        || c.general_category() == GeneralCategory::DecimalNumber
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_become_identifiers_that_nothing_else_has() {
        let names = [
            "get-weather",
            "get.weather",
            "get weather",
            "2nd",
            "",
            "!?",
            "browser.find",
            "naïve²",
            "python",
            "browser_find",
        ];
        let mut tools: Vec<Json> = names
            .iter()
            .map(|name| json!({"function": {"name": name}}))
            .collect();
        rename(&mut tools);
        let renamed: Vec<_> = tools
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            renamed,
            [
                "get_weather",
                "get_weather_2",
                "get_weather_3",
                "_2nd",
                "",
                "unnamed",
                "browser.find",
                "naïve",
                "python",
                "browser_find"
            ]
        );
    }
}
