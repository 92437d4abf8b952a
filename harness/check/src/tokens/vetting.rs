//! What a `tokenizer.json` may ask for, checked before the crate `tokenizers` reads it.
//!
//! The crate trusts its input: a file of a few kilobytes can ask it for all the memory of a machine,
//! or for work without end. These limits are far above those of the models of the hub, and keep
//! memory and time in proportion to the size of the file.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rolecall_core::problem::Problem;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The most bytes of a `tokenizer.json`: four times the largest of the hub.
pub const MOST_BYTES: u64 = 128 << 20;
/// The most words of a vocabulary.
pub const MOST_WORDS: usize = 400_000;
/// The most merges of a vocabulary.
pub const MOST_MERGES: usize = 800_000;
pub const MOST_WORD_BYTES: usize = 4096;
pub const MOST_ADDED: usize = 100_000;
/// The most bytes of an added token.
pub const MOST_ADDED_BYTES: usize = 4096;
/// The most steps of normalizers, of pre-tokenizers and of post-processors, each.
pub const MOST_STEPS: usize = 64;
/// The most bytes of all normalizers, pre-tokenizers and post-processors, each.
pub const MOST_STEP_BYTES: usize = 4 << 20;
/// The most times longer that normalizers may make a text by replacing parts of it.
pub const MOST_GROWTH: u64 = 64;
/// The most bytes of a regular expression.
pub const MOST_PATTERN_BYTES: usize = 16 << 10;
/// The most tokens that a post-processor may put around a text.
pub const MOST_PIECES: usize = 256;
/// The most characters of a word that is cut as a whole (`max_input_chars_per_word`).
pub const MOST_WORD_CHARACTERS: u64 = 10_000;
/// The most bytes that a normalizer with a table may put in the place of a character.
pub const MOST_TABLE_TEXT: usize = 256;

/// The parts of a file that its cost depends on.
#[derive(Deserialize)]
struct Outline<'t> {
    #[serde(default)]
    added_tokens: Vec<AddedOutline>,
    #[serde(borrow, default)]
    normalizer: Option<&'t RawValue>,
    #[serde(borrow, default)]
    pre_tokenizer: Option<&'t RawValue>,
    #[serde(borrow, default)]
    post_processor: Option<&'t RawValue>,
    #[serde(default)]
    model: ModelOutline,
}

#[derive(Deserialize)]
struct AddedOutline {
    #[serde(default)]
    content: Length,
}

#[derive(Deserialize, Default)]
struct ModelOutline {
    #[serde(default)]
    vocab: Entries,
    #[serde(default)]
    merges: Entries,
    #[serde(default)]
    dropout: Option<f64>,
    #[serde(default)]
    max_input_chars_per_word: Option<u64>,
}

/// The bytes of a text.
#[derive(Default)]
struct Length(usize);

/// The entries of a list or an object: how many, and the longest text among them.
#[derive(Default)]
struct Entries {
    count: usize,
    longest: usize,
}

/// Why a file is refused.
#[derive(Debug, thiserror::Error)]
enum Excess {
    #[error("{what}: {found}, where at most {most} are expected")]
    TooMany {
        what: &'static str,
        found: u64,
        most: u64,
    },
    #[error("{0}")]
    Wrong(&'static str),
}

/// Checks a file. A file that is not JSON, or has other shapes, is left to the crate, which says what
/// is wrong with it.
pub(crate) fn vet(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let vetted = match serde_json::from_slice::<Outline<'_>>(bytes) {
        Ok(outline) => outline.vet(),
        // Of two keys of one name, the crate takes the last one.
        Err(error) if error.to_string().contains("duplicate field") => {
            Err(Excess::Wrong("it has a key twice"))
        }
        Err(_) => return Ok(()),
    };
    vetted.map_err(|excess| {
        Problem::new(path, format!("no tokenizer: {excess}"))
            .help("no tokenizer of the hub asks for as much; the page on limits has the figures")
    })
}

/// Checks the texts of tokens that other files name.
pub(crate) fn vet_names<'t>(
    path: &Path,
    texts: impl IntoIterator<Item = &'t str>,
) -> Result<(), Problem> {
    for (count, text) in (1..).zip(texts) {
        let vetted = at_most("the bytes of an added token", text.len(), MOST_ADDED_BYTES)
            .and_then(|()| at_most("added tokens", count, MOST_ADDED));
        vetted.map_err(|excess| Problem::new(path, excess.to_string()))?;
    }
    Ok(())
}

impl Outline<'_> {
    fn vet(&self) -> Result<(), Excess> {
        at_most("added tokens", self.added_tokens.len(), MOST_ADDED)?;
        for added in &self.added_tokens {
            at_most(
                "the bytes of an added token",
                added.content.0,
                MOST_ADDED_BYTES,
            )?;
        }
        let model = &self.model;
        at_most("words", model.vocab.count, MOST_WORDS)?;
        at_most("merges", model.merges.count, MOST_MERGES)?;
        at_most("the bytes of a word", model.vocab.longest, MOST_WORD_BYTES)?;
        // A merge names two words.
        at_most(
            "the bytes of a merge",
            model.merges.longest,
            2 * MOST_WORD_BYTES + 1,
        )?;
        if model.dropout.is_some_and(|dropout| dropout != 0.0) {
            let message = "it has `dropout`, which cuts a text differently each time";
            return Err(Excess::Wrong(message));
        }
        let longest = model.max_input_chars_per_word.unwrap_or_default();
        if longest > MOST_WORD_CHARACTERS {
            return Err(Excess::TooMany {
                what: "the characters of `max_input_chars_per_word`",
                found: longest,
                most: MOST_WORD_CHARACTERS,
            });
        }
        let normalizer = value_of(self.normalizer)?;
        let normalizers = steps(&normalizer, "normalizers");
        at_most("normalizers", normalizers.len(), MOST_STEPS)?;
        vet_growth(&normalizers)?;
        let cutter = value_of(self.pre_tokenizer)?;
        let cutters = steps(&cutter, "pretokenizers");
        at_most("pre-tokenizers", cutters.len(), MOST_STEPS)?;
        for step in cutters.iter().chain(&normalizers) {
            at_most(
                "the bytes of a pattern",
                pattern(step).1,
                MOST_PATTERN_BYTES,
            )?;
        }
        let processor = value_of(self.post_processor)?;
        let processors = steps(&processor, "processors");
        at_most("post-processors", processors.len(), MOST_STEPS)?;
        let pieces = processors.iter().map(|step| pieces(step)).sum();
        at_most("the pieces of post-processors", pieces, MOST_PIECES)
    }
}

/// A part of the file, if it is not too large.
fn value_of(part: Option<&RawValue>) -> Result<Value, Excess> {
    let Some(part) = part else {
        return Ok(Value::Null);
    };
    at_most(
        "the bytes of one kind of step",
        part.get().len(),
        MOST_STEP_BYTES,
    )?;
    // It was read as JSON before.
    Ok(serde_json::from_str(part.get()).unwrap_or_default())
}

fn at_most(what: &'static str, found: usize, most: usize) -> Result<(), Excess> {
    if found <= most {
        return Ok(());
    }
    Err(Excess::TooMany {
        what,
        found: found as u64,
        most: most as u64,
    })
}

/// A step and the steps in it, where it is a sequence.
fn steps<'v>(step: &'v Value, key: &str) -> Vec<&'v Value> {
    let mut all = Vec::new();
    let mut open = vec![step];
    while let Some(step) = open.pop() {
        match step.get(key).and_then(Value::as_array) {
            Some(inner) => open.extend(inner),
            None if step.is_null() => {}
            None => all.push(step),
        }
        // There may be sequences of nothing but sequences.
        if all.len() + open.len() > MOST_STEPS * 4 {
            all.append(&mut open);
        }
    }
    all
}

/// Whether the pattern of a step is a regular expression, and how long it is.
fn pattern(step: &Value) -> (bool, usize) {
    let Some(pattern) = step.get("pattern") else {
        return (false, 0);
    };
    let regex = pattern.get("Regex").and_then(Value::as_str);
    let text = pattern.get("String").and_then(Value::as_str);
    let length = regex.or(text).or(pattern.as_str()).map_or(0, str::len);
    (regex.is_some(), length)
}

/// Checks how much longer a text may become.
fn vet_growth(normalizers: &[&Value]) -> Result<(), Excess> {
    let mut growth: u64 = 1;
    for step in normalizers {
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "Replace" => {
                let (is_regex, length) = pattern(step);
                // A regular expression may match one byte, or between two.
                let shortest = if is_regex { 1 } else { length };
                if shortest == 0 {
                    let message = "a normalizer replaces the empty text, which is everywhere";
                    return Err(Excess::Wrong(message));
                }
                let content = text("content").len() + usize::from(is_regex);
                let factor = content.div_ceil(shortest).max(1) as u64;
                growth = growth.saturating_mul(factor);
            }
            "Prepend" => at_most(
                "the bytes of a prefix",
                text("prepend").len(),
                MOST_WORD_BYTES,
            )?,
            "Precompiled" => vet_table(text("precompiled_charsmap"))?,
            _ => {}
        }
    }
    if growth > MOST_GROWTH {
        return Err(Excess::TooMany {
            what: "the times that normalizers lengthen a text",
            found: growth,
            most: MOST_GROWTH,
        });
    }
    Ok(())
}

/// Checks a table of `SentencePiece`: the size of an index, the index, and texts with a zero byte at
/// the end of each.
fn vet_table(encoded: &str) -> Result<(), Excess> {
    let wrong = Excess::Wrong("`precompiled_charsmap` is damaged");
    let Ok(table) = STANDARD.decode(encoded) else {
        return Err(wrong);
    };
    let Some((size, rest)) = table.split_first_chunk::<4>() else {
        return Err(wrong);
    };
    let size = u32::from_le_bytes(*size) as usize;
    let (Some(texts), true) = (rest.get(size..), size.is_multiple_of(4)) else {
        return Err(wrong);
    };
    let texts = texts.split(|byte| *byte == 0);
    let longest = texts.map(<[u8]>::len).max().unwrap_or_default();
    at_most(
        "the bytes that a table puts for a character",
        longest,
        MOST_TABLE_TEXT,
    )
}

/// How many tokens a post-processor puts around a text.
fn pieces(step: &Value) -> usize {
    let length = |value: Option<&Value>| value.and_then(Value::as_array).map_or(0, Vec::len);
    let special = step.get("special_tokens").and_then(Value::as_object);
    let special = special
        .into_iter()
        .flatten()
        .map(|(_, token)| 1 + length(token.get("ids")) + length(token.get("tokens")));
    length(step.get("single")) + length(step.get("pair")) + special.sum::<usize>()
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Length, D::Error> {
        struct LengthVisitor;
        impl Visitor<'_> for LengthVisitor {
            type Value = Length;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_str<E>(self, text: &str) -> Result<Length, E> {
                Ok(Length(text.len()))
            }
        }
        deserializer.deserialize_str(LengthVisitor)
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list or an object")
            }
            fn visit_unit<E>(self) -> Result<Entries, E> {
                Ok(Entries::default())
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Entries, M::Error> {
                let mut entries = Entries::default();
                while let Some((Length(length), _)) = map.next_entry::<Length, IgnoredAny>()? {
                    entries.add(length);
                }
                Ok(entries)
            }
            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Entries, S::Error> {
                let mut entries = Entries::default();
                while let Some(Longest(length)) = list.next_element()? {
                    entries.add(length);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_any(EntriesVisitor)
    }
}

impl Entries {
    fn add(&mut self, length: usize) {
        self.count += 1;
        self.longest = self.longest.max(length);
    }
}

/// The bytes of the texts in an entry of a list: a word, `[word, score]`, or the two words of a merge.
struct Longest(usize);

impl<'de> Deserialize<'de> for Longest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Longest, D::Error> {
        struct LongestVisitor;
        impl<'de> Visitor<'de> for LongestVisitor {
            type Value = Longest;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list with one")
            }
            fn visit_str<E>(self, text: &str) -> Result<Longest, E> {
                Ok(Longest(text.len()))
            }
            fn visit_u64<E>(self, _: u64) -> Result<Longest, E> {
                Ok(Longest(0))
            }
            fn visit_i64<E>(self, _: i64) -> Result<Longest, E> {
                Ok(Longest(0))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Longest, E> {
                Ok(Longest(0))
            }
            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Longest, S::Error> {
                let mut sum = 0;
                while let Some(Longest(length)) = list.next_element()? {
                    sum += length;
                }
                Ok(Longest(sum))
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Longest, M::Error> {
                // With `arbitrary_precision`, a number is an object.
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Longest(0))
            }
        }
        deserializer.deserialize_any(LongestVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refusal(file: &Value) -> Option<String> {
        let bytes = serde_json::to_vec(file).unwrap();
        vet(Path::new("t"), &bytes)
            .err()
            .map(|problem| problem.message)
    }

    #[test]
    fn what_models_have_is_allowed() {
        let replace = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
        assert_eq!(
            refusal(&json!({
                "added_tokens": [{"id": 0, "content": "<s>"}],
                "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, replace]},
                "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\p{L}+"}, "behavior": "Isolated"},
                "post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {}}], "pair": [],
                    "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}},
                "model": {"type": "BPE", "dropout": null, "vocab": {"a": 0}, "merges": ["a b", ["c", "d"]]},
            })),
            None
        );
        let unigram = json!({"model": {"type": "Unigram", "vocab": [["a", -1.5], ["b", 0]]}});
        assert_eq!(refusal(&unigram), None);
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused() {
        for text in [
            r#"{"normalizer": null, "normalizer": {"type": "NFC"}}"#,
            r#"{"model": {"type": "BPE"}, "model": {"type": "BPE"}}"#,
            r#"{"model": {"dropout": null, "dropout": 0.5}}"#,
            r#"{"model": {"vocab": {}, "vocab": {"a": 0}}}"#,
        ] {
            let problem = vet(Path::new("t"), text.as_bytes()).unwrap_err();
            assert!(problem.message.contains("a key twice"), "{problem}");
        }
    }

    #[test]
    fn what_would_take_everything_is_refused() {
        let double = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"});
        let many = |step: &Value, count: usize| vec![step.clone(); count];
        let sequence = |steps: Vec<Value>| json!({"type": "Sequence", "normalizers": steps});
        let mut deep = double.clone();
        for _ in 0..40 {
            deep = sequence(vec![deep, double.clone()]);
        }
        let long = "x".repeat(MOST_WORD_BYTES + 1);
        for (file, words) in [
            (
                json!({"normalizer": sequence(many(&double, 40))}),
                "lengthen a text",
            ),
            (json!({"normalizer": deep}), "lengthen a text"),
            (
                json!({"normalizer": sequence(many(&json!({"type": "NFC"}), 1000))}),
                "normalizers",
            ),
            (
                json!({"normalizer": {"type": "Replace", "pattern": {"String": ""}, "content": "x"}}),
                "empty text",
            ),
            (
                json!({"normalizer": {"type": "Replace", "pattern": {"Regex": "."}, "content": "x".repeat(100)}}),
                "lengthen",
            ),
            (
                json!({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////w=="}}),
                "damaged",
            ),
            (
                json!({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "!"}}),
                "damaged",
            ),
            (
                json!({"post_processor": {"single": many(&json!({}), 1000)}}),
                "pieces",
            ),
            (
                json!({"post_processor": {"special_tokens": {"x": {"ids": vec![0; 1000]}}}}),
                "pieces",
            ),
            (
                json!({"pre_tokenizer": {"pattern": {"Regex": "x".repeat(20_000)}}}),
                "pattern",
            ),
            (json!({"added_tokens": [{"content": long}]}), "added token"),
            (json!({"model": {"vocab": {long.as_str(): 0}}}), "a word"),
            (json!({"model": {"vocab": [[long, 0.5]]}}), "a word"),
            (json!({"model": {"dropout": 0.1}}), "dropout"),
            (
                json!({"model": {"max_input_chars_per_word": 1_000_000}}),
                "max_input_chars_per_word",
            ),
        ] {
            let found = refusal(&file).unwrap_or_default();
            assert!(found.contains(words), "{words}: {found}");
        }
    }
}
