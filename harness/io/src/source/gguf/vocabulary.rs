//! The tokens of a GGUF file, as llama.cpp reads them.
//!
//! Source: `llama_vocab::impl::load` in llama.cpp's `src/llama-vocab.cpp` (2026). Only the tokens
//! are kept that llama.cpp searches for before it cuts the rest of a text: tokens of the types
//! control, user-defined and unknown, and tokens that it treats as control tokens because of their
//! text.

use std::collections::BTreeSet;
use std::io::{Read, Seek};

use super::reader::{ARRAY, GgufError, GgufReader, I32, MOST_KEY, STRING};

const TOKENS: &str = "tokenizer.ggml.tokens";
const TYPES: &str = "tokenizer.ggml.token_type";
const MODEL: &str = "tokenizer.ggml.model";
const PRE: &str = "tokenizer.ggml.pre";
const ADD_BOS: &str = "tokenizer.ggml.add_bos_token";
const BOS: &str = "tokenizer.ggml.bos_token_id";

/// The keys whose tokens end what a model writes.
const STOPS: [&str; 3] = [
    "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",
];

/// The texts of tokens at which llama.cpp stops, whatever the metadata says.
const STOP_TEXTS: [&str; 22] = [
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
];

/// The pre-tokenizers with which a sequence begins with BOS if no key says whether it does.
const PRE_WITH_BOS: [&str; 11] = [
    "llama3",
    "llama-v3",
    "llama-bpe",
    "falcon3",
    "falcon-h1",
    "pixtral",
    "midm-2.0",
    "lfm2",
    "jina-v5-nano",
    "tekken",
    "chameleon",
];

const UNKNOWN: u8 = 2;
const CONTROL: u8 = 3;
const USER_DEFINED: u8 = 4;

/// More tokens than any model has; a bound on the memory that a hostile file takes.
const MOST_TOKENS: u64 = 1 << 22;
/// More text than the tokens of any model have, for the same reason.
const MOST_TOKEN_TEXT: u64 = 256 << 20;

/// A token that text is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoughtToken {
    pub id: u32,
    pub text: String,
    /// Whether it is a control token: a server may keep users from writing it.
    pub is_special: bool,
}

/// The tokens of a GGUF file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// Those that text is searched for.
    pub markers: Vec<SoughtToken>,
    /// How many tokens there are in all.
    pub count: usize,
    /// The text of the token that begins a sequence.
    pub bos: Option<String>,
    /// Whether llama.cpp puts it before every text.
    pub adds_bos: bool,
    /// Whether the file itself says so. Then Ollama 0.33 drops a `<bos>` of the template.
    pub says_bos: bool,
    /// The tokens at which llama.cpp stops.
    pub stops: BTreeSet<u32>,
}

#[derive(Default)]
struct VocabularyKeys {
    tokens: Vec<String>,
    types: Vec<u8>,
    model: String,
    pre: String,
    add_bos: Option<bool>,
    bos: Option<i128>,
    stops: Vec<i128>,
}

impl Vocabulary {
    /// Reads the vocabulary of a file of a length.
    pub(super) fn read(source: impl Read + Seek, length: u64) -> Result<Vocabulary, GgufError> {
        let mut reader = GgufReader::new(source, length);
        let (_, entries) = reader.header()?;
        let mut keys = VocabularyKeys::default();
        for _ in 0..entries {
            reader.key(&mut keys)?;
            reader.stay_within_metadata()?;
        }
        Ok(keys.settle())
    }
}

impl<R: Read + Seek> GgufReader<R> {
    /// The type and the number of the elements of an array of tokens. The type must be `kind`.
    fn elements(&mut self, kind: u32, what: &str) -> Result<(u32, u64), GgufError> {
        let at = self.offset;
        let (element, count) = self.array(what)?;
        if element != kind || count > MOST_TOKENS {
            let message = format!("{what} is not an array of at most {MOST_TOKENS} of type {kind}");
            return Err(GgufError::at(at, message));
        }
        Ok((element, count))
    }

    fn key(&mut self, keys: &mut VocabularyKeys) -> Result<(), GgufError> {
        let key = self.text(MOST_KEY, "a key")?;
        let kind = self.u32("the type of a value")?;
        let what = format!("the value of {key:?}");
        match (key.as_str(), kind) {
            (TOKENS, ARRAY) => {
                let start = self.offset;
                for _ in 0..self.elements(STRING, &what)?.1 {
                    keys.tokens.push(self.text(MOST_KEY, "a token")?);
                    if self.offset - start > MOST_TOKEN_TEXT {
                        let message = format!("{what} has more than {MOST_TOKEN_TEXT} bytes");
                        return Err(GgufError::at(start, message));
                    }
                }
            }
            (TYPES, ARRAY) => {
                let (element, count) = self.elements(I32, &what)?;
                for _ in 0..count {
                    let kind = self.integer(element, &what)?;
                    // An unknown type is none of the three that matter here, and 0 is none of them
                    // either.
                    keys.types.push(kind.try_into().unwrap_or_default());
                }
            }
            (MODEL, STRING) => keys.model = self.text(MOST_KEY, &what)?,
            (PRE, STRING) => keys.pre = self.text(MOST_KEY, &what)?,
            (ADD_BOS, _) => keys.add_bos = Some(self.boolean(kind, &what)?),
            (BOS, _) => keys.bos = Some(self.integer(kind, &what)?),
            (stop, _) if STOPS.contains(&stop) => keys.stops.push(self.integer(kind, &what)?),
            _ => self.skip_value(kind, 0, &what)?,
        }
        Ok(())
    }
}

impl VocabularyKeys {
    fn settle(self) -> Vocabulary {
        let id = |id: i128| u32::try_from(id).ok().filter(|id| self.text(*id).is_some());
        let is_gemma4 = self.model == "gemma4"
            || ["gemma4", "granite-embed-multi-311m"].contains(&self.pre.as_str());
        let by_default = match self.model.as_str() {
            "llama" | "bert" => true,
            _ => PRE_WITH_BOS.contains(&self.pre.as_str()),
        };
        // What llama.cpp assumes for this kind of model if no key says otherwise.
        let (bos, eos) = match self.model.as_str() {
            "llama" | "plamo2" => (Some(1), Some(2)),
            "gpt2" => (Some(11), Some(11)),
            "bert" => (Some(101), None),
            "t5" => (None, Some(1)),
            _ => (None, None),
        };
        let bos = self.bos.or(bos).and_then(id);
        let texts = self.tokens.iter().enumerate();
        let by_text = texts.filter(|(_, text)| STOP_TEXTS.contains(&text.as_str()));
        let by_text: BTreeSet<u32> = by_text.filter_map(|(at, _)| at.try_into().ok()).collect();
        let stops = self.stops.iter().copied();
        let stops = if self.stops.is_empty() {
            eos.into_iter().chain(stops).collect::<Vec<_>>()
        } else {
            stops.collect()
        };
        let mut stops: BTreeSet<u32> = stops.into_iter().filter_map(id).collect();
        stops.extend(&by_text);
        self.without_exceptions(&mut stops);
        Vocabulary {
            markers: self.markers(&by_text),
            count: self.tokens.len(),
            adds_bos: bos.is_some() && (is_gemma4 || self.add_bos.unwrap_or(by_default)),
            says_bos: is_gemma4 || self.pre == "lfm2" || self.add_bos == Some(true),
            bos: bos.and_then(|id| self.text(id)).map(str::to_owned),
            stops,
        }
    }

    fn text(&self, id: u32) -> Option<&str> {
        let text = self.tokens.get(usize::try_from(id).ok()?)?;
        Some(text)
    }

    /// The tokens that text is searched for. Tokens whose text ends a turn count as control tokens.
    fn markers(&self, by_text: &BTreeSet<u32>) -> Vec<SoughtToken> {
        let texts = (0..).zip(&self.tokens);
        let markers = texts.filter_map(|(id, text): (u32, _)| {
            let kind = self.types.get(usize::try_from(id).ok()?).copied();
            let is_special = kind == Some(CONTROL) || by_text.contains(&id);
            let is_marker = is_special || matches!(kind, Some(UNKNOWN | USER_DEFINED));
            (is_marker && !text.is_empty()).then(|| SoughtToken {
                id,
                text: text.clone(),
                is_special,
            })
        });
        markers.collect()
    }

    /// Removes the tokens at which llama.cpp does not stop: a token that ends messages, if another
    /// one ends turns.
    fn without_exceptions(&self, stops: &mut BTreeSet<u32>) {
        let find = |wanted: &str| {
            let mut stops = stops.iter().copied();
            stops.find(|id| self.text(*id) == Some(wanted))
        };
        let has = |wanted: &str| find(wanted).is_some();
        let has_call = has("<|call|>") || has("<|calls|>");
        let end = find("<|end|>").filter(|_| has_call && (has("<|return|>") || has("<|flush|>")));
        let sentence = find("</s>").filter(|_| has("<|tool_response>"));
        for id in [end, sentence].into_iter().flatten() {
            stops.remove(&id);
        }
    }
}
