//! What in a conversation may be private: addresses, numbers and keys that should not be in a case
//! that others read.
//!
//! This looks for patterns, which `private.toml` lists. The prefixes of keys are those that
//! gitleaks and detect-secrets look for, of the services that people use besides a chat. Nobody can
//! find everything so: names of people look like other words. A report says what was looked for.

use rolecall_core::Cut;
use std::collections::{BTreeSet, HashMap};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// Something that may be private.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrivateText {
    /// What it looks like.
    pub kind: &'static str,
    pub text: String,
}

/// What is looked for, in a sentence's words.
pub const LOOKED_FOR: &str = "keys and tokens of services, private keys, passwords, e-mail \
                              addresses, telephone, account, card and social security numbers, \
                              network addresses, and folders of users";

pub const NOT_LOOKED_FOR: &str = "names, postal addresses, birthdays, and anything else that only \
                                  a reader can recognise";

/// A kind of what is looked for, as `private.toml` lists it.
#[derive(Deserialize)]
struct Kind {
    name: String,
    #[serde(deserialize_with = "regex")]
    pattern: Regex,
    other: String,
    #[serde(default)]
    check: Check,
}

/// What finds the part of a match that is really of its kind.
#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Check {
    #[default]
    Whole,
    Password,
    Telephone,
    Ipv4,
    Ipv6,
}

fn regex<'d, D: Deserializer<'d>>(pattern: D) -> Result<Regex, D::Error> {
    Regex::new(&String::deserialize(pattern)?).map_err(D::Error::custom)
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    // A test counts them.
    let file = toml::from_str::<HashMap<String, Vec<Kind>>>(include_str!("private.toml"));
    file.unwrap_or_default().remove("kind").unwrap_or_default()
});

/// A password, unless it is the kind of a value or represents one.
fn password(text: &str) -> Option<Range<usize>> {
    const KINDS: [&str; 12] = [
        "string", "str", "text", "null", "none", "true", "false", "required", "optional",
        "invalid", "wrong", "PASSWORD",
    ];
    let is_kind = KINDS.iter().any(|kind| text.eq_ignore_ascii_case(kind));
    // `$NAME` and `%NAME%` are variables of shells, and `****` is a password that somebody has hidden.
    let is_mask = text.chars().all(|c| !c.is_alphanumeric()) || text.starts_with(['$', '%']);
    (!is_kind && !is_mask).then_some(0..text.len())
}

/// A telephone number by the count of its digits.
fn telephone(text: &str) -> Option<Range<usize>> {
    let count = text.chars().filter(char::is_ascii_digit).count();
    (7..=16).contains(&count).then_some(0..text.len())
}

/// An IPv4 address that is somebody's.
fn ipv4(text: &str) -> Option<Range<usize>> {
    let address: Ipv4Addr = text.parse().ok()?;
    let is_nobodys = address.is_loopback() || address.is_unspecified() || address.is_broadcast();
    (!is_nobodys).then_some(0..text.len())
}

/// An IPv6 address that is somebody's. Names in programs, such as `a::b`, look alike.
fn ipv6(text: &str) -> Option<Range<usize>> {
    let address: Ipv6Addr = text.parse().ok()?;
    let groups = text.split(':').filter(|group| !group.is_empty()).count();
    let is_own = address.is_unicast_link_local() || address.is_unique_local();
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    (has_digit && (groups > 2 || is_own)).then_some(0..text.len())
}

impl Kind {
    /// Where in a text something is of this kind.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let matches = self.pattern.captures_iter(text);
        let places = matches.filter_map(|found| {
            let found = found.get(1).or_else(|| found.get(0))?;
            if found.as_str() == self.other {
                return None;
            }
            let text = found.as_str();
            let part = match self.check {
                Check::Whole => Some(0..text.len()),
                Check::Password => password(text),
                Check::Telephone => telephone(text),
                Check::Ipv4 => ipv4(text),
                Check::Ipv6 => ipv6(text),
            }?;
            Some(found.start() + part.start..found.start() + part.end)
        });
        places.collect()
    }

    /// A text with something else at each of these places.
    fn replaced(text: &str, places: &[Range<usize>], other: &str) -> String {
        let mut text = text.to_owned();
        // From the end, so that the places before stay right.
        for place in places.iter().rev() {
            text.replace_range(place.clone(), other);
        }
        text
    }
}

/// What in a value may be private, each once.
pub fn find(value: &Value) -> Vec<PrivateText> {
    let mut found = BTreeSet::new();
    each_text(value, &mut |text| {
        let mut rest = text.to_owned();
        for kind in KINDS.iter() {
            let places = kind.places(&rest);
            for place in &places {
                found.insert(PrivateText {
                    kind: &kind.name,
                    text: rest.cut(place.clone()).to_owned(),
                });
            }
            // What is one thing is not another one, too.
            rest = Kind::replaced(&rest, &places, "\0");
        }
    });
    found.into_iter().collect()
}

/// The value with other texts of the same kind in place of what may be private. Names of fields are
/// texts, too.
#[must_use]
pub fn without(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Number(number) if clean(&number.to_string()) != number.to_string() => {
            Value::Number(Number::from(0))
        }
        Value::Array(elements) => elements.iter().map(without).collect(),
        Value::Object(fields) => {
            let mut clean_fields = Map::new();
            for (key, value) in fields {
                let name = clean(key);
                // Two names may have become one.
                let numbered = (2..).map(|number| format!("{name} {number}"));
                let mut names = std::iter::once(name.clone()).chain(numbered);
                let free = names.find(|name| !clean_fields.contains_key(name));
                clean_fields.insert(free.unwrap_or(name), clean_field(key, value));
            }
            Value::Object(clean_fields)
        }
        other => other.clone(),
    }
}

/// A text without what may be private.
fn clean(text: &str) -> String {
    let mut text = text.to_owned();
    for kind in KINDS.iter() {
        text = Kind::replaced(&text, &kind.places(&text), &kind.other);
    }
    text
}

/// The value of a field without what may be private. The name of the field may say that it is a
/// password.
fn clean_field(key: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if field(key, text).is_some() => Value::String("PASSWORD".to_owned()),
        value => without(value),
    }
}

/// A field as it would be in a text, if its name says that its value is a password.
fn field(key: &str, text: &str) -> Option<String> {
    let written = format!("{key}: {text}");
    let kind = KINDS.iter().find(|kind| kind.name == "a password")?;
    let begins = |place: &Range<usize>| place.start == key.len() + 2;
    // A sentence is about a password, and is none.
    let is_short = !text.contains(char::is_whitespace);
    (is_short && kind.places(&written).iter().any(begins)).then_some(written)
}

/// Calls a function with every text in a value, and with names of fields and numbers.
fn each_text(value: &Value, with: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => with(text),
        Value::Number(number) => with(&number.to_string()),
        Value::Array(elements) => elements.iter().for_each(|one| each_text(one, with)),
        Value::Object(fields) => {
            for (key, value) in fields {
                with(key);
                match value.as_str().and_then(|text| field(key, text)) {
                    Some(written) => with(&written),
                    None => each_text(value, with),
                }
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_pattern_can_be_read() {
        assert_eq!(KINDS.len(), 19);
    }

    fn kinds(text: &str) -> Vec<&'static str> {
        let found = find(&json!(text));
        found.into_iter().map(|one| one.kind).collect()
    }

    const TEXTS: &[(&str, &[&str])] = &[
        (
            "a telephone number",
            &[
                "+49 170 1234567",
                "+491701234567",
                "+33 6 12 34 56 78",
                "+44 (0)20 7946 0958",
                "+1 (415) 555-2671",
                "0049 170 1234567",
                "0170/1234567",
                "0170 123 45 67",
                "01701234567",
                "(030) 901820",
                "555-555-0199",
                "(415) 555-2671",
                "415.555.2671",
            ],
        ),
        ("a social security number", &["123-45-6789"]),
        (
            "an account number",
            &[
                "DE89 3704 0044 0532 0130 00",
                "DE89370400440532013000",
                "gb82 west 1234 5698 7654 32",
                "NO93 8601 1117 947",
                "FR14 2004 1010 0505 0001 3M02 606",
            ],
        ),
        (
            "a card number",
            &[
                "4111 1111 1111 1111",
                "4111111111111111",
                "3782 822463 10005",
            ],
        ),
        (
            "a network address",
            &[
                "10.1.2.3",
                "203.0.113.77",
                "2001:db8:85a3::8a2e:370:7334",
                "fe80::1c2d:3e4f",
                "00:1b:44:11:3a:b7",
            ],
        ),
        (
            "a user's folder",
            &[
                "/home/ada",
                "/Users/ada.l",
                r"C:\Users\ada",
                r"C:\\Users\\ada",
                "D:/Users/ada",
            ],
        ),
        (
            "an e-mail address",
            &["ada@uni.example", "a.b+c@mail.uni.example"],
        ),
        (
            "a private key",
            &[
                concat!("-----BEGIN ", "PRIVATE KEY-----"),
                concat!(
                    "-----BEGIN ",
                    "RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
                ),
                concat!("-----BEGIN ", "OPENSSH PRIVATE KEY-----\nb3Bl"),
                concat!(
                    "-----BEGIN ",
                    "PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----"
                ),
            ],
        ),
        (
            "a key",
            &[
                concat!("AKIA", "IOSFODNN7EXAMPLE"),
                concat!("ASIA", "IOSFODNN7EXAMPLE"),
            ],
        ),
        (
            "an address with a password",
            &["postgres://ada:pw@db.uni.example/x"],
        ),
    ];

    #[test]
    fn what_is_private_is_found_and_taken_out() {
        // Made of parts, so that no scanner takes them for real ones.
        let long = "0123456789abcdefghijklmnopqrstuvwxyz0123";
        let keys = [
            "sk-ant-api03-",
            "sk-proj-",
            "sk_live_",
            "ghp_",
            "github_pat_",
            "glpat-",
            "hf_",
            "xoxb-",
            "xapp-",
            "npm_",
            "pypi-",
            "GOCSPX-",
            "ya29.",
            "dop_v1_",
            "dapi",
            "r8_",
            "gsk_",
            "xai-",
            "hvs.",
            "AIza",
        ]
        .map(|prefix| format!("{prefix}{long}"));
        for key in &keys {
            assert_eq!(kinds(&format!("use {key} for it")), ["a key"], "{key}");
        }
        for (kind, texts) in TEXTS {
            for text in *texts {
                let whole = format!("see {text}, and so on");
                assert_eq!(kinds(&whole), [*kind], "{whole}");
                let clean = clean(&whole);
                assert!(!clean.contains(text), "{clean}");
                assert_eq!(kinds(&clean), [""; 0], "{clean}");
            }
        }
    }

    #[test]
    fn passwords_are_known_by_the_word_before_them() {
        for text in [
            "password: hunter2",
            "the password is hunter2",
            "API_KEY=hunter2",
            r#"{"passwd": "hunter2"}"#,
            r#"{\"secret\": \"hunter2\"}"#,
            "AWS_SECRET_ACCESS_KEY = hunter2",
            "Authorization: Bearer hunter2hunter2hunter2",
        ] {
            let clean = clean(text);
            assert!(!clean.contains("hunter2"), "{clean}");
            assert_eq!(kinds(&clean), [""; 0], "{clean}");
        }
        let call = json!({"arguments": {"user": "ada", "password": "hunter2"}});
        assert_eq!(find(&call).len(), 1);
        assert_eq!(without(&call)["arguments"]["password"], "PASSWORD");
        for text in [
            "password: string",
            "password: ****",
            "Secret: $TOKEN",
            "reset my password",
        ] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
        let schema = json!({"password": {"type": "string", "description": "The password."}});
        assert_eq!(find(&schema), []);
    }

    #[test]
    fn names_of_fields_and_numbers_are_texts_too() {
        let value = json!({"properties": {
            "zed@uni.example": {"type": "string"},
            "amy@uni.example": {"type": "number"},
            "card": 4_111_111_111_111_111_u64,
            "time": 1_732_435_200_000_u64,
        }, "required": ["zed@uni.example"]});
        assert_eq!(find(&value).len(), 3);
        let clean = without(&value);
        let expected = json!({"properties": {
            "someone@example.org": {"type": "string"},
            "someone@example.org 2": {"type": "number"},
            "card": 0,
            "time": 1_732_435_200_000_u64,
        }, "required": ["someone@example.org"]});
        assert_eq!(clean, expected);
    }

    #[test]
    fn other_texts_are_left_alone() {
        for text in [
            "How tall is the Eiffel Tower? 330 m, built 1889. See chapter 3.1.2.",
            "On 2024-11-24 at 12:30:45, from 127.0.0.1.",
            "use std::collections::HashMap; a::b and Face::Cafe",
            "0.12345678 and 1,234,567 of 12345 in 1732435200000 ms",
            "id 550e8400-e29b-41d4-a716-446655440000",
            "<|im_start|>user sk- and hf_hub",
            "example.org/home/index.html",
        ] {
            assert_eq!(find(&json!(text)), [], "{text}");
        }
    }
}
