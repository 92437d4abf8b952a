//! How calls are written: their JSON, and their IDs.

use rolecall_core::Cut;
use serde_json::{Deserializer, Value};

use crate::probe::words;

/// The place of the first JSON with a value of the call that is no JSON, and why.
pub(in crate::contract) fn unread_json(said: &str) -> Option<(usize, String)> {
    unread_json_around(said, words::FIRST_VALUE)
}

/// The place of the first JSON with a word in it that is no JSON, and why.
pub(in crate::contract) fn unread_json_around(said: &str, word: &str) -> Option<(usize, String)> {
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

/// The IDs of the calls in the probes.
pub(in crate::contract) const IDS: [&str; 2] = ["callquil1", "callquil2"];

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
}
