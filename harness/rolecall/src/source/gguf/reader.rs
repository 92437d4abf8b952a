//! The metadata of a GGUF file, without its tensors.
//!
//! Three crates read GGUF (November 2026), and none is for files that may be broken or
//! hostile: `gguf` 0.1.2 wants the whole file in memory, `gguf-rs` 0.1.8 allocates what a
//! length in the file claims (up to a gibibyte), decodes all tokens and all tensors,
//! knows no nested arrays, and its errors have no offset; `ggus` 0.5.1 reads version 3 in
//! the machine's byte order only, allocates by the counts in the header and uses `unsafe`
//! for all of it. So this is a reader of our own, for what templates need:
//!
//! - versions 1 (counts and lengths of 32 bits) to 3, in both byte orders,
//! - every length is held against what is left of the file before anything is allocated
//!   or skipped; texts that are kept have limits,
//! - values that are not needed are skipped, arrays of numbers in one step; tokens are
//!   not kept, those that are special are looked up afterwards,
//! - of the tensors only the list is read, and whether each begins inside the file.
//!
//! Source: the GGUF specification in the ggml repository, `docs/gguf.md`.

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};

use serde_json::{Map, Value};

use crate::file::MOST_TEXT;

/// How every GGUF file begins.
pub(super) const MAGIC: [u8; 4] = *b"GGUF";

/// The specification's limit on the length of a key.
const MOST_KEY: u64 = 65_535;
/// More than any vocabulary needs; a bound on the time that a hostile file takes.
const MOST_METADATA: u64 = 1 << 30;
const MOST_NAMED: usize = 64;
const MOST_DIMENSIONS: u32 = 8;
const DEEPEST_ARRAY: usize = 4;

/// The key of the template.
pub(in crate::source) const DEFAULT_KEY: &str = "tokenizer.chat_template";
const NAMED_TEMPLATE: &str = "tokenizer.chat_template.";
const TEMPLATE_NAMES: &str = "tokenizer.chat_templates";
const TOKENS: &str = "tokenizer.ggml.tokens";
const ALIGNMENT: &str = "general.alignment";
const SPECIAL: [(&str, &str); 4] = [
    ("tokenizer.ggml.bos_token_id", "bos_token"),
    ("tokenizer.ggml.eos_token_id", "eos_token"),
    ("tokenizer.ggml.unknown_token_id", "unk_token"),
    ("tokenizer.ggml.padding_token_id", "pad_token"),
];

const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// What the metadata says about templates.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    /// The template without a name.
    pub(super) template: Option<String>,
    /// The named ones, in the order of the file.
    pub(super) variants: Vec<(String, String)>,
    /// The names that are listed.
    pub(super) listed: Vec<String>,
    /// The special tokens that a template sees.
    pub(super) special_tokens: Map<String, Value>,
}

/// What is wrong with a file, and at which byte.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) offset: u64,
    pub(super) message: String,
    pub(super) help: Option<&'static str>,
    /// Whether more bytes than the file has could mend it.
    pub(super) is_short: bool,
}

/// Where the tokens are.
struct Tokens {
    first: u64,
    count: u64,
}

/// Which of the tokens is a special one, and where that stands.
struct Special {
    name: &'static str,
    id: i128,
    offset: u64,
}

/// What the metadata says that only the reader needs.
struct Rest {
    tokens: Option<Tokens>,
    specials: Vec<Special>,
    alignment: i128,
}

struct Reader<R> {
    source: BufReader<R>,
    offset: u64,
    length: u64,
    is_big_endian: bool,
    version: u32,
}

impl Metadata {
    /// Reads the metadata of a file of a length.
    pub(super) fn read(source: impl Read + Seek, length: u64) -> Result<Metadata, Broken> {
        let mut reader = Reader::new(source, length);
        let (tensors, entries) = reader.header()?;
        let (mut metadata, rest) = reader.entries(entries)?;
        reader.tensors(tensors, rest.alignment)?;
        metadata.special_tokens = reader.special_tokens(rest.tokens.as_ref(), &rest.specials)?;
        Ok(metadata)
    }

    fn add(&mut self, key: &str, text: String, offset: u64) -> Result<(), Broken> {
        let twice = || Broken::at(offset, format!("the key {key:?} stands twice"));
        if text.is_empty() {
            return Ok(());
        }
        if let Some(name) = key.strip_prefix(NAMED_TEMPLATE) {
            if self.variants.iter().any(|(known, _)| known == name) {
                return Err(twice());
            }
            if self.variants.len() >= MOST_NAMED {
                let message = format!("more than {MOST_NAMED} named templates");
                return Err(Broken::at(offset, message));
            }
            self.variants.push((name.to_owned(), text));
        } else if self.template.replace(text).is_some() {
            return Err(twice());
        }
        Ok(())
    }
}

impl Broken {
    fn at(offset: u64, message: impl Into<String>) -> Broken {
        Broken {
            offset,
            message: message.into(),
            help: None,
            is_short: false,
        }
    }

    /// Says that the file ends too early.
    fn short(mut self, help: &'static str) -> Broken {
        self.is_short = true;
        self.help(help)
    }

    fn help(mut self, help: &'static str) -> Broken {
        self.help = Some(help);
        self
    }
}

/// The bytes of a value of a fixed size.
fn width(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

/// The beginning of a GGUF file as a file of its own, which has the metadata and no tensor;
/// nothing where more of the file is needed for all of the metadata.
pub(super) fn without_tensors(start: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
    let mut reader = Reader::new(Cursor::new(start), start.len() as u64);
    let mut end = || {
        let (_, entries) = reader.header()?;
        reader.entries(entries)?;
        Ok(reader.offset)
    };
    let end = match end() {
        Ok(end) => usize::try_from(end).unwrap_or(start.len()),
        Err(Broken { is_short: true, .. }) => return Ok(None),
        Err(broken) => return Err(broken),
    };
    let mut file = start[..end].to_vec();
    // The number of tensors follows the magic bytes and the version.
    let width = usize::try_from(reader.size_width()).unwrap_or_default();
    file[8..8 + width].fill(0);
    Ok(Some(file))
}

impl<R: Read + Seek> Reader<R> {
    fn new(source: R, length: u64) -> Reader<R> {
        Reader {
            source: BufReader::with_capacity(64 << 10, source),
            offset: 0,
            length,
            is_big_endian: false,
            version: 0,
        }
    }

    /// The counts of tensors and of metadata entries.
    fn header(&mut self) -> Result<(u64, u64), Broken> {
        let magic: [u8; 4] = self.bytes("the magic bytes")?;
        if magic != MAGIC {
            return Err(Broken::at(
                0,
                "not a GGUF file: it does not begin with \"GGUF\"",
            ));
        }
        let version: [u8; 4] = self.bytes("the version")?;
        let (little, big) = (u32::from_le_bytes(version), u32::from_be_bytes(version));
        // Nothing else says which byte order a file has.
        self.is_big_endian = !(1..=3).contains(&little) && (1..=3).contains(&big);
        self.version = if self.is_big_endian { big } else { little };
        if !(1..=3).contains(&self.version) {
            let message = format!("GGUF of version {}", self.version);
            return Err(Broken::at(4, message).help("the versions 1 to 3 can be read"));
        }
        let tensors = self.size("the number of tensors")?;
        let at = self.offset;
        let entries = self.size("the number of metadata entries")?;
        // Each has at least the length of its key, a type and one byte.
        let least = self.size_width() + 4 + 1;
        self.check_count(at, entries, least, "metadata entries")?;
        Ok((tensors, entries))
    }

    /// The metadata entries, and what else they say.
    fn entries(&mut self, entries: u64) -> Result<(Metadata, Rest), Broken> {
        let mut metadata = Metadata::default();
        let mut tokens = None;
        let mut specials: Vec<Special> = Vec::new();
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
                    return Err(Broken::at(value_at, format!("{} is not a string", what())));
                }
                let text = self.text(MOST_TEXT, &what())?;
                metadata.add(&key, text, key_at)?;
            } else if key == TEMPLATE_NAMES && kind == ARRAY {
                metadata.listed = self.texts(&what())?;
            } else if key == TOKENS && kind == ARRAY {
                tokens = Some(self.tokens(&what())?);
            } else if let Some((_, name)) = SPECIAL.iter().find(|(known, _)| *known == key) {
                let id = self.integer(kind, &what())?;
                specials.retain(|known| known.name != *name);
                specials.push(Special {
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
        let rest = Rest {
            tokens,
            specials,
            alignment,
        };
        Ok((metadata, rest))
    }

    fn left(&self) -> u64 {
        self.length.saturating_sub(self.offset)
    }

    fn need(&self, bytes: u64, what: &str) -> Result<(), Broken> {
        if bytes <= self.left() {
            return Ok(());
        }
        let message = format!(
            "the file ends inside {what}: {bytes} bytes are needed, {} are left",
            self.left()
        );
        Err(Broken::at(self.offset, message)
            .short("the file is cut off: was the download completed?"))
    }

    fn check_count(&self, at: u64, count: u64, least: u64, what: &str) -> Result<(), Broken> {
        if count
            .checked_mul(least)
            .is_some_and(|bytes| bytes <= self.left())
        {
            return Ok(());
        }
        let message = format!(
            "{count} {what}, for which the {} bytes left are too few",
            self.left()
        );
        Err(Broken::at(at, message).short("the file is cut off or damaged"))
    }

    fn stay_within_metadata(&self) -> Result<(), Broken> {
        if self.offset <= MOST_METADATA {
            return Ok(());
        }
        let message = format!("more than {MOST_METADATA} bytes of metadata");
        Err(Broken::at(self.offset, message))
    }

    fn fill(&mut self, buffer: &mut [u8], what: &str) -> Result<(), Broken> {
        let bytes = buffer.len() as u64;
        self.need(bytes, what)?;
        self.source
            .read_exact(buffer)
            .map_err(|error| Broken::at(self.offset, format!("cannot be read: {error}")))?;
        self.offset += bytes;
        Ok(())
    }

    fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Broken> {
        let mut buffer = [0; N];
        self.fill(&mut buffer, what)?;
        Ok(buffer)
    }

    fn skip(&mut self, bytes: u64, what: &str) -> Result<(), Broken> {
        self.need(bytes, what)?;
        let unreadable = |offset, error| Broken::at(offset, format!("cannot be read: {error}"));
        match i64::try_from(bytes) {
            Ok(step) => self
                .source
                .seek_relative(step)
                .map_err(|error| unreadable(self.offset, error))?,
            Err(error) => {
                let error = std::io::Error::other(error);
                return Err(unreadable(self.offset, error));
            }
        }
        self.offset += bytes;
        Ok(())
    }

    fn seek(&mut self, offset: u64) -> Result<(), Broken> {
        self.source
            .seek(SeekFrom::Start(offset))
            .map_err(|error| Broken::at(offset, format!("cannot be read: {error}")))?;
        self.offset = offset;
        Ok(())
    }

    fn u32(&mut self, what: &str) -> Result<u32, Broken> {
        let bytes = self.bytes(what)?;
        Ok(if self.is_big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    fn u64(&mut self, what: &str) -> Result<u64, Broken> {
        let bytes = self.bytes(what)?;
        Ok(if self.is_big_endian {
            u64::from_be_bytes(bytes)
        } else {
            u64::from_le_bytes(bytes)
        })
    }

    /// A count or a length.
    fn size(&mut self, what: &str) -> Result<u64, Broken> {
        if self.version == 1 {
            self.u32(what).map(u64::from)
        } else {
            self.u64(what)
        }
    }

    fn size_width(&self) -> u64 {
        if self.version == 1 { 4 } else { 8 }
    }

    /// The length of a string that is there in full.
    fn string_length(&mut self, what: &str) -> Result<u64, Broken> {
        let at = self.offset;
        let length = self.size(what)?;
        if length > self.left() {
            let message = format!(
                "{what} is said to have {length} bytes, where {} are left",
                self.left()
            );
            return Err(Broken::at(at, message).short("the file is cut off or damaged"));
        }
        Ok(length)
    }

    /// A text that is kept.
    fn text(&mut self, most: u64, what: &str) -> Result<String, Broken> {
        let at = self.offset;
        let length = self.string_length(what)?;
        let size = match usize::try_from(length) {
            Ok(size) if length <= most => size,
            _ => {
                let message =
                    format!("{what} has {length} bytes, where at most {most} are expected");
                return Err(Broken::at(at, message));
            }
        };
        let text_at = self.offset;
        let mut buffer = vec![0; size];
        self.fill(&mut buffer, what)?;
        String::from_utf8(buffer).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let message = format!(
                "{what} is not UTF-8: byte 0x{:02X}",
                error.as_bytes()[valid]
            );
            Broken::at(text_at + valid as u64, message)
        })
    }

    /// The type and the number of an array's elements.
    fn array(&mut self, what: &str) -> Result<(u32, u64), Broken> {
        let kind = self.u32(what)?;
        let at = self.offset;
        let count = self.size(what)?;
        let least = match kind {
            STRING => self.size_width(),
            ARRAY => 4 + self.size_width(),
            _ => width(kind).ok_or_else(|| unknown_type(at, kind, what))?,
        };
        self.check_count(at, count, least, &format!("elements in {what}"))?;
        Ok((kind, count))
    }

    /// A short list of short texts.
    fn texts(&mut self, what: &str) -> Result<Vec<String>, Broken> {
        let at = self.offset;
        let (kind, count) = self.array(what)?;
        if kind != STRING || count > MOST_NAMED as u64 {
            let message = format!("{what} is not a list of at most {MOST_NAMED} names");
            return Err(Broken::at(at, message));
        }
        (0..count).map(|_| self.text(MOST_KEY, what)).collect()
    }

    /// Notes where the tokens are, and skips them.
    fn tokens(&mut self, what: &str) -> Result<Tokens, Broken> {
        let at = self.offset;
        let (kind, count) = self.array(what)?;
        if kind != STRING {
            return Err(Broken::at(at, format!("{what} is not an array of strings")));
        }
        let first = self.offset;
        self.skip_strings(count, what)?;
        Ok(Tokens { first, count })
    }

    fn skip_strings(&mut self, count: u64, what: &str) -> Result<(), Broken> {
        for _ in 0..count {
            let length = self.string_length(what)?;
            self.skip(length, what)?;
            self.stay_within_metadata()?;
        }
        Ok(())
    }

    fn skip_value(&mut self, kind: u32, depth: usize, what: &str) -> Result<(), Broken> {
        match kind {
            STRING => self.skip_strings(1, what),
            ARRAY if depth >= DEEPEST_ARRAY => {
                let message = format!("{what} is nested more than {DEEPEST_ARRAY} deep");
                Err(Broken::at(self.offset, message))
            }
            ARRAY => {
                let (kind, count) = self.array(what)?;
                match width(kind) {
                    Some(width) => self.skip(count.saturating_mul(width), what),
                    None if kind == STRING => self.skip_strings(count, what),
                    None => {
                        for _ in 0..count {
                            self.skip_value(kind, depth + 1, what)?;
                            self.stay_within_metadata()?;
                        }
                        Ok(())
                    }
                }
            }
            _ => match width(kind) {
                Some(width) => self.skip(width, what),
                None => Err(unknown_type(self.offset, kind, what)),
            },
        }
    }

    /// An integer of any type.
    fn integer(&mut self, kind: u32, what: &str) -> Result<i128, Broken> {
        let is_big_endian = self.is_big_endian;
        let order = |mut bytes: Vec<u8>| {
            if !is_big_endian {
                bytes.reverse();
            }
            bytes
                .into_iter()
                .fold(0_i128, |value, byte| (value << 8) | i128::from(byte))
        };
        let (unsigned, bits) = match kind {
            0 | 1 => (order(self.bytes::<1>(what)?.to_vec()), 8),
            2 | 3 => (order(self.bytes::<2>(what)?.to_vec()), 16),
            4 | 5 => (order(self.bytes::<4>(what)?.to_vec()), 32),
            10 | 11 => (order(self.bytes::<8>(what)?.to_vec()), 64),
            _ => return Err(Broken::at(self.offset, format!("{what} is not an integer"))),
        };
        let is_signed = matches!(kind, 1 | 3 | 5 | 11);
        Ok(if is_signed && unsigned >> (bits - 1) == 1 {
            unsigned - (1 << bits)
        } else {
            unsigned
        })
    }

    /// Reads the list of tensors; each has to begin inside the file.
    fn tensors(&mut self, count: u64, alignment: i128) -> Result<(), Broken> {
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
                return Err(Broken::at(at, message).help("the file is damaged"));
            }
            let width = self.size_width();
            self.skip(u64::from(dimensions) * width + 4, what)?;
            let offset = self.u64(what)?;
            if offset > farthest.1 {
                farthest = (at, offset);
            }
        }
        let data = match u64::try_from(alignment) {
            Ok(alignment @ 1..) => self.offset.next_multiple_of(alignment.min(1 << 20)),
            _ => {
                return Err(Broken::at(
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
                Broken::at(at, message).help("the file is cut off: was the download completed?")
            );
        }
        Ok(())
    }

    /// Looks the special tokens up.
    fn special_tokens(
        &mut self,
        tokens: Option<&Tokens>,
        specials: &[Special],
    ) -> Result<Map<String, Value>, Broken> {
        let count = tokens.map_or(0, |tokens| tokens.count);
        for special in specials {
            if special.id < 0 || special.id >= i128::from(count) {
                let message = format!(
                    "the ID of the {} is {}, and there are {count} tokens",
                    special.name, special.id
                );
                return Err(Broken::at(special.offset, message));
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

fn unknown_type(offset: u64, kind: u32, what: &str) -> Broken {
    Broken::at(offset, format!("{what} has the unknown type {kind}"))
        .help("the file is damaged, or of a newer version")
}
