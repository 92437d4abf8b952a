//! What the metadata of a GGUF file says about templates.

use std::io::{Cursor, Read, Seek};

use serde_json::{Map, Value};

use super::reader::{ARRAY, GgufError, GgufReader, MOST_KEY, STRING};
use rolecall_core::file::MOST_TEXT;

const MOST_NAMED: usize = 64;
const MOST_DIMENSIONS: u32 = 8;

pub(in crate::source) const DEFAULT_KEY: &str = "tokenizer.chat_template";
const NAMED_TEMPLATE: &str = "tokenizer.chat_template.";
const TEMPLATE_NAMES: &str = "tokenizer.chat_templates";
const TOKENS: &str = "tokenizer.ggml.tokens";
const BASE: &str = "general.base_model.0.repo_url";
const ALIGNMENT: &str = "general.alignment";
const SPECIAL: [(&str, &str); 4] = [
    ("tokenizer.ggml.bos_token_id", "bos_token"),
    ("tokenizer.ggml.eos_token_id", "eos_token"),
    ("tokenizer.ggml.unknown_token_id", "unk_token"),
    ("tokenizer.ggml.padding_token_id", "pad_token"),
];

/// What the metadata says about templates.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    /// The template without a name.
    pub template: Option<String>,
    /// The named ones, in the order of the file.
    pub(super) variants: Vec<(String, String)>,
    pub(super) listed: Vec<String>,
    /// The address of the model that this one was made from.
    pub(super) base: Option<String>,
    /// The special tokens that a template sees.
    pub(super) special_tokens: Map<String, Value>,
}

struct TokenArray {
    first: u64,
    count: u64,
}

/// The ID of a special token, and the offset of its entry.
struct SpecialToken {
    name: &'static str,
    id: i128,
    offset: u64,
}

/// Entries of the metadata that only the reader needs.
struct LookupData {
    tokens: Option<TokenArray>,
    specials: Vec<SpecialToken>,
    alignment: i128,
}

impl Metadata {
    /// Reads the metadata of a file with this length.
    pub(super) fn read(source: impl Read + Seek, length: u64) -> Result<Metadata, GgufError> {
        let mut reader = GgufReader::new(source, length);
        let (tensors, entries) = reader.header()?;
        let (mut metadata, rest) = reader.entries(entries)?;
        reader.tensors(tensors, rest.alignment)?;
        metadata.special_tokens = reader.special_tokens(rest.tokens.as_ref(), &rest.specials)?;
        Ok(metadata)
    }

    fn add(&mut self, key: &str, text: String, offset: u64) -> Result<(), GgufError> {
        let twice = || GgufError::at(offset, format!("the key {key:?} is there twice"));
        // An empty text is as good as no template, and one after it may be the template.
        if text.is_empty() {
            return Ok(());
        }
        if let Some(name) = key.strip_prefix(NAMED_TEMPLATE) {
            if self.variants.iter().any(|(known, _)| known == name) {
                return Err(twice());
            }
            if self.variants.len() >= MOST_NAMED {
                let message = format!("more than {MOST_NAMED} named templates");
                return Err(GgufError::at(offset, message));
            }
            self.variants.push((name.to_owned(), text));
        } else if self.template.replace(text).is_some() {
            return Err(twice());
        }
        Ok(())
    }
}

/// The beginning of a GGUF file as a file of its own, with the metadata and without tensors. None
/// if the metadata needs more of the file.
pub(super) fn without_tensors(start: &[u8]) -> Result<Option<Vec<u8>>, GgufError> {
    let mut reader = GgufReader::new(Cursor::new(start), start.len() as u64);
    let mut end = || {
        let (_, entries) = reader.header()?;
        reader.entries(entries)?;
        Ok(reader.offset)
    };
    let end = match end() {
        Ok(end) => usize::try_from(end).unwrap_or(start.len()),
        Err(GgufError { is_short: true, .. }) => return Ok(None),
        Err(broken) => return Err(broken),
    };
    let mut file = start.get(..end).unwrap_or(start).to_vec();
    // The number of tensors follows the magic bytes and the version.
    let width = usize::try_from(reader.size_width()).unwrap_or_default();
    if let Some(tensors) = file.get_mut(8..8 + width) {
        tensors.fill(0);
    }
    Ok(Some(file))
}

impl<R: Read + Seek> GgufReader<R> {
    /// The metadata for templates, and the entries that the reader needs.
    fn entries(&mut self, entries: u64) -> Result<(Metadata, LookupData), GgufError> {
        let mut metadata = Metadata::default();
        let mut tokens = None;
        let mut specials: Vec<SpecialToken> = Vec::new();
        // The specification's value if the metadata has none.
        let mut alignment = 32;
        for _ in 0..entries {
            let key_at = self.offset;
            let key = self.text(MOST_KEY, "a key")?;
            let kind = self.u32("the type of a value")?;
            let value_at = self.offset;
            let what = || format!("the value of {key:?}");
            let wants_text = key == DEFAULT_KEY || key.starts_with(NAMED_TEMPLATE);
            if wants_text {
                if kind != STRING {
                    return Err(GgufError::at(
                        value_at,
                        format!("{} is not a string", what()),
                    ));
                }
                let text = self.text(MOST_TEXT, &what())?;
                metadata.add(&key, text, key_at)?;
            } else if key == TEMPLATE_NAMES && kind == ARRAY {
                metadata.listed = self.texts(&what())?;
            } else if key == BASE && kind == STRING {
                metadata.base = Some(self.text(MOST_KEY, &what())?);
            } else if key == TOKENS && kind == ARRAY {
                tokens = Some(self.tokens(&what())?);
            } else if let Some((_, name)) = SPECIAL.iter().find(|(known, _)| *known == key) {
                let id = self.integer(kind, &what())?;
                specials.retain(|known| known.name != *name);
                specials.push(SpecialToken {
                    name,
                    id,
                    offset: value_at,
                });
            } else if key == ALIGNMENT {
                alignment = self.integer(kind, &what())?;
            } else {
                self.skip_value(kind, 0, &what())?;
            }
            self.stay_within_metadata()?;
        }
        let rest = LookupData {
            tokens,
            specials,
            alignment,
        };
        Ok((metadata, rest))
    }

    /// A short list of short texts.
    fn texts(&mut self, what: &str) -> Result<Vec<String>, GgufError> {
        let at = self.offset;
        let (kind, count) = self.array(what)?;
        if kind != STRING || count > MOST_NAMED as u64 {
            let message = format!("{what} is not a list of at most {MOST_NAMED} names");
            return Err(GgufError::at(at, message));
        }
        (0..count).map(|_| self.text(MOST_KEY, what)).collect()
    }

    /// Remembers the offset of the tokens, and skips them.
    fn tokens(&mut self, what: &str) -> Result<TokenArray, GgufError> {
        let at = self.offset;
        let (kind, count) = self.array(what)?;
        if kind != STRING {
            return Err(GgufError::at(
                at,
                format!("{what} is not an array of strings"),
            ));
        }
        let first = self.offset;
        self.skip_strings(count, what)?;
        Ok(TokenArray { first, count })
    }

    /// Reads the list of tensors; each has to begin inside the file.
    fn tensors(&mut self, count: u64, alignment: i128) -> Result<(), GgufError> {
        // The length of its name, the number of its dimensions, its type and its offset.
        let least = self.size_width() + 4 + 4 + 8;
        self.check_count(self.offset, count, least, "tensors")?;
        let mut farthest = (self.offset, 0);
        for _ in 0..count {
            let at = self.offset;
            let what = "the list of tensors";
            self.skip_strings(1, what)?;
            let dimensions = self.u32(what)?;
            if dimensions > MOST_DIMENSIONS {
                let message = format!("a tensor of {dimensions} dimensions");
                return Err(GgufError::at(at, message).help("the file is damaged"));
            }
            let width = self.size_width();
            self.skip(u64::from(dimensions) * width + 4, what)?;
            let offset = self.u64(what)?;
            if offset > farthest.1 {
                farthest = (at, offset);
            }
        }
        let data = match u64::try_from(alignment) {
            // A hostile alignment would move the end of the list beyond any number.
            Ok(alignment @ 1..) => self.offset.next_multiple_of(alignment.min(1 << 20)),
            _ => {
                return Err(GgufError::at(
                    self.offset,
                    format!("an alignment of {alignment}"),
                ));
            }
        };
        let (at, offset) = farthest;
        if offset > 0 && data.saturating_add(offset) >= self.length {
            let message = format!(
                "a tensor begins at byte {}, and the file ends at {}",
                data.saturating_add(offset),
                self.length
            );
            return Err(
                GgufError::at(at, message).help("the file is cut off: was the download completed?")
            );
        }
        Ok(())
    }

    /// Looks the special tokens up.
    fn special_tokens(
        &mut self,
        tokens: Option<&TokenArray>,
        specials: &[SpecialToken],
    ) -> Result<Map<String, Value>, GgufError> {
        let count = tokens.map_or(0, |tokens| tokens.count);
        for special in specials {
            if special.id < 0 || special.id >= i128::from(count) {
                let message = format!(
                    "the ID of the {} is {}, and there are {count} tokens",
                    special.name, special.id
                );
                return Err(GgufError::at(special.offset, message));
            }
        }
        let mut texts = Map::new();
        let Some(tokens) = tokens else {
            return Ok(texts);
        };
        let last = specials
            .iter()
            .map(|special| special.id)
            .max()
            .unwrap_or(-1);
        self.seek(tokens.first)?;
        for index in 0..tokens.count {
            // The special tokens are often among the first, and a vocabulary has hundreds of thousands.
            if i128::from(index) > last {
                break;
            }
            let mut wanted = specials
                .iter()
                .filter(|special| special.id == i128::from(index))
                .peekable();
            if wanted.peek().is_none() {
                self.skip_strings(1, "a token")?;
                continue;
            }
            let text = self.text(MOST_KEY, "a special token")?;
            for special in wanted {
                texts.insert(special.name.to_owned(), text.clone().into());
            }
        }
        Ok(texts)
    }
}
