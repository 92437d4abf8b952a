//! Fingerprints: SHA-256 hashes of recorded data, which show when it has changed.

use std::fmt;
use std::str::FromStr;

use crate::case::Case;
use crate::template::{Template, Variable};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A SHA-256, written as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

/// A case as the engines get it.
#[derive(Serialize)]
struct CaseContent<'c> {
    now: String,
    messages: &'c [Value],
    tools: Option<&'c [Value]>,
    documents: Option<&'c [Value]>,
    add_generation_prompt: bool,
    // Absent for most cases, so that the records of the cases before this option keep their
    // fingerprints.
    #[serde(skip_serializing_if = "Option::is_none")]
    continue_final_message: Option<&'c str>,
    variables: &'c serde_json::Map<String, Value>,
}

/// A text that is not a fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a SHA-256: 64 lower-case hexadecimal digits")]
pub struct InvalidFingerprint(String);

/// The first 48 bits of a SHA-256, written as 12 lower-case hexadecimal digits: short enough to be
/// next to every transcript, and long enough that no change of the suite goes unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Checksum([u8; 6]);

impl Checksum {
    /// The beginning of the SHA-256 of some bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Checksum {
        Fingerprint::of(bytes).into()
    }
}

impl From<Fingerprint> for Checksum {
    fn from(Fingerprint(bytes): Fingerprint) -> Checksum {
        Checksum(std::array::from_fn(|at| bytes[at]))
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_digits(&self.0, f)
    }
}

impl FromStr for Checksum {
    type Err = InvalidFingerprint;

    fn from_str(text: &str) -> Result<Checksum, InvalidFingerprint> {
        bytes(text)
            .map(Checksum)
            .ok_or_else(|| InvalidFingerprint(text.to_owned()))
    }
}

/// Writes bytes as lower-case hexadecimal digits. Formatting each number would take many times as
/// long, and a suite has tens of thousands of checksums.
fn write_digits(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use fmt::Write as _;
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let mut digits = halves.map(|half| char::from(DIGITS[usize::from(half)]));
    digits.try_for_each(|digit| f.write_char(digit))
}

/// The bytes that lower-case hexadecimal digits represent, if there are exactly so many.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let pairs: &[[u8; 2]; N] = pairs.try_into().ok()?;
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = digit(*high).zip(digit(*low))?;
        *byte = high << 4 | low;
    }
    Some(bytes)
}

impl Fingerprint {
    /// The SHA-256 of some bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Fingerprint {
        Fingerprint(Sha256::digest(bytes).into())
    }

    /// Of a template's source, byte for byte.
    pub fn of_source(template: &Template) -> Fingerprint {
        Fingerprint::of(&template.source)
    }

    /// Of a template's settings, which go into every render: its special tokens and its
    /// variables, as JSON.
    pub fn of_settings(template: &Template) -> Fingerprint {
        let variables: Vec<Value> = template
            .variables
            .iter()
            .map(|(name, variable)| match variable {
                Variable::Value(value) => json!([name, value]),
                Variable::ToolsJson { indent } => json!([name, "$json tools", indent]),
            })
            .collect();
        let mut settings = json!({
            "special_tokens": template.special_tokens,
            "variables": variables,
        });
        let setup = template.setup.to_json();
        // Absent if empty, so that this setting changed no fingerprint of a template that has none.
        if !setup.is_empty() {
            settings["setup"] = setup.into();
        }
        Fingerprint::of(settings.to_string())
    }

    /// Of a case as the engines get it, as JSON: everything but its name, description and
    /// dialects. Key order and every digit count.
    pub fn of_case(case: &Case) -> Fingerprint {
        let input = CaseContent {
            now: case.now.to_string(),
            messages: &case.messages,
            tools: case.tools.as_deref(),
            documents: case.documents.as_deref(),
            add_generation_prompt: case.add_generation_prompt,
            continue_final_message: case.continue_final_message.as_deref(),
            variables: &case.variables,
        };
        // These values came from JSON, so they can be written as JSON.
        Fingerprint::of(serde_json::to_string(&input).unwrap_or_default())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_digits(&self.0, f)
    }
}

impl FromStr for Fingerprint {
    type Err = InvalidFingerprint;

    fn from_str(text: &str) -> Result<Fingerprint, InvalidFingerprint> {
        bytes(text)
            .map(Fingerprint)
            .ok_or_else(|| InvalidFingerprint(text.to_owned()))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fingerprint, D::Error> {
        deserializer.deserialize_str(FingerprintVisitor)
    }
}

/// Reads a fingerprint without copying the text.
struct FingerprintVisitor;

impl Visitor<'_> for FingerprintVisitor {
    type Value = Fingerprint;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a SHA-256")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Fingerprint, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    #[test]
    fn it_is_sha_256_in_hexadecimal() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Fingerprint::of("").to_string(), empty);
        assert_eq!(empty.parse(), Ok(Fingerprint::of("")));
        for wrong in ["", &empty[1..], &empty.to_uppercase(), &format!("{empty}0")] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
        assert_eq!(Checksum::of("").to_string(), empty[..12]);
        assert_eq!(empty[..12].parse(), Ok(Checksum::of("")));
        assert!(empty[..14].parse::<Checksum>().is_err());
    }

    #[test]
    fn whatever_an_engine_gets_changes_it() {
        let base = Case::from_messages(vec![json!({"role": "user", "content": "a"})]);
        let mut cases = vec![base.clone(); 8];
        cases[1].messages = vec![json!({"content": "a", "role": "user"})];
        cases[2].tools = Some(vec![]);
        cases[3].documents = Some(vec![]);
        cases[4].add_generation_prompt = false;
        cases[5].variables.insert("x".into(), Value::Null);
        cases[6].now = "2026-01-02T03:04:06Z".parse().unwrap();
        cases[7].messages.push(json!({}));
        let mut prints: Vec<_> = cases.iter().map(Fingerprint::of_case).collect();
        prints.sort();
        prints.dedup();
        assert_eq!(prints.len(), cases.len());

        let mut template = Template::from_source("t", Dialect::Jinja, "x");
        let plain = Fingerprint::of_settings(&template);
        template
            .special_tokens
            .insert("bos_token".into(), "<s>".into());
        let tokens = Fingerprint::of_settings(&template);
        template
            .variables
            .push(("f".into(), Variable::ToolsJson { indent: None }));
        assert!(plain != tokens && tokens != Fingerprint::of_settings(&template));
    }
}
