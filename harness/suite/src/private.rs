//! What in a conversation may be private: addresses, numbers and keys that should not stand in a
//! case that others read.
//!
//! Nobody can find everything by patterns: names of people look like other words. A report says so.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Something that may be private.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrivateText {
    /// What it looks like.
    pub kind: &'static str,
    /// The text.
    pub text: String,
}

/// What is looked for: the kind, the pattern, and what stands for it when it is taken out.
static KINDS: LazyLock<Vec<(&'static str, Regex, &'static str)>> = LazyLock::new(|| {
    [
        (
            "a key",
            r"\b(?:sk|pk|rk|ghp|gho|ghs|hf|xox[abp]|glpat|AKIA|AIza)[-_]?[A-Za-z0-9_-]{16,}\b",
            "KEY",
        ),
        (
            "a token",
            r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
            "TOKEN",
        ),
        (
            "an e-mail address",
            r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
            "someone@example.org",
        ),
        (
            "an address with a password",
            r"\b[a-z][a-z0-9+.-]*://[^\s/@:]+:[^\s/@]+@[^\s]+",
            "https://example.org/",
        ),
        (
            "an account number",
            r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b",
            "ACCOUNT",
        ),
        (
            "a card number",
            r"\b(?:\d{4}[ -]?){3}\d{1,7}\b",
            "0000 0000 0000 0000",
        ),
        (
            "a telephone number",
            r"(?:\+\d{1,3}[ ./-]?)?\(?\d{2,4}\)?[ ./-]\d{3,4}[ ./-]\d{3,5}\b",
            "555 0100",
        ),
        (
            "a network address",
            r"\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b",
            "192.0.2.1",
        ),
        (
            "a user's folder",
            r"(?:/home/|/Users/|C:\\Users\\)[A-Za-z0-9._-]+",
            "/home/user",
        ),
    ]
    .into_iter()
    .filter_map(|(kind, pattern, other)| Some((kind, Regex::new(pattern).ok()?, other)))
    .collect()
});

/// What in a value may be private, each once.
pub fn find(value: &Value) -> Vec<PrivateText> {
    let mut found = BTreeSet::new();
    each_text(value, &mut |text| {
        let mut rest = text.to_owned();
        for (kind, pattern, _) in KINDS.iter() {
            for matched in pattern.find_iter(&rest.clone()) {
                found.insert(PrivateText {
                    kind,
                    text: matched.as_str().to_owned(),
                });
            }
            // What is one thing is not another one, too.
            rest = pattern.replace_all(&rest, "\0").into_owned();
        }
    });
    found.into_iter().collect()
}

/// The value with other texts of the same kind in place of what may be private.
#[must_use]
pub fn without(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (_, pattern, other) in KINDS.iter() {
                text = pattern.replace_all(&text, *other).into_owned();
            }
            Value::String(text)
        }
        Value::Array(elements) => elements.iter().map(without).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), without(value)))
            .collect(),
        other => other.clone(),
    }
}

fn each_text(value: &Value, with: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => with(text),
        Value::Array(elements) => elements.iter().for_each(|one| each_text(one, with)),
        Value::Object(fields) => fields.values().for_each(|one| each_text(one, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_pattern_can_be_read() {
        assert_eq!(KINDS.len(), 9);
    }

    #[test]
    fn what_may_be_private_is_found_and_taken_out() {
        let value = json!({"messages": [{"role": "user", "content":
            "I am ada@uni.example, call +44 20 7946 0958; key sk-abcdefghijklmnopqrstuv, \
             see /home/ada/x and 10.1.2.3"}]});
        let found = find(&value);
        let kinds: Vec<_> = found.iter().map(|one| one.kind).collect();
        assert_eq!(
            kinds,
            [
                "a key",
                "a network address",
                "a telephone number",
                "a user's folder",
                "an e-mail address"
            ]
        );
        let clean = without(&value);
        let left: Vec<_> = find(&clean).into_iter().map(|one| one.text).collect();
        assert!(!clean.to_string().contains("ada"), "{clean}");
        for one in &found {
            assert!(!left.contains(&one.text), "{one:?}");
        }
        let plain = json!("How tall is the Eiffel Tower? 330 m, built 1889. See chapter 3.1.2.");
        assert_eq!(find(&plain), []);
    }
}
