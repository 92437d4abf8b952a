//! The values in the metadata of a GGUF file, without its tensors.
//!
//! Three crates read GGUF (November 2026), and none of them is safe with files that may be broken
//! or hostile: `gguf` 0.1.2 wants the whole file in memory, `gguf-rs` 0.1.8 allocates what a length
//! in the file claims (up to a gibibyte), decodes all tokens and all tensors, knows no nested
//! arrays, and its errors have no offset; `ggus` 0.5.1 reads version 3 in the machine's byte order
//! only, allocates by the counts in the header and uses `unsafe` for all of it. So this is our own
//! reader, for the metadata that templates need:
//!
//! - versions 1 (counts and lengths of 32 bits) to 3, in both byte orders,
//! - every length is compared with the rest of the file before anything is allocated or skipped;
//!   texts that are kept have limits,
//! - values that are not needed are skipped, arrays of numbers in one step; for templates, no
//!   tokens are kept and the special ones are looked up afterwards; for the vocabulary, all tokens
//!   are read, up to a limit,
//! - of the tensors only the list is read, and whether each begins inside the file.
//!
//! Source: the GGUF specification in the ggml repository, `docs/gguf.md`.

use std::io::{BufReader, Read, Seek, SeekFrom};

/// How every GGUF file begins.
pub(super) const MAGIC: [u8; 4] = *b"GGUF";

/// The specification's limit on the length of a key.
pub(super) const MOST_KEY: u64 = 65_535;
/// More than any vocabulary needs; a bound on the time that a hostile file takes.
const MOST_METADATA: u64 = 1 << 30;
const DEEPEST_ARRAY: usize = 4;

pub(super) const I32: u32 = 5;
const BOOLEAN: u32 = 7;
pub(super) const STRING: u32 = 8;
pub(super) const ARRAY: u32 = 9;

/// What is wrong with a file, and at which byte.
#[derive(Debug)]
pub(super) struct GgufError {
    pub(super) offset: u64,
    pub(super) message: String,
    pub(super) help: Option<&'static str>,
    /// Whether more bytes could complete the file.
    pub(super) is_short: bool,
}

/// A file that is being read.
pub(super) struct GgufReader<R> {
    source: BufReader<R>,
    /// The byte that comes next.
    pub(super) offset: u64,
    /// The bytes of the file.
    pub(super) length: u64,
    is_big_endian: bool,
    version: u32,
}

impl GgufError {
    pub(super) fn at(offset: u64, message: impl Into<String>) -> GgufError {
        GgufError {
            offset,
            message: message.into(),
            help: None,
            is_short: false,
        }
    }

    /// Says that the file ends too early.
    fn short(mut self, help: &'static str) -> GgufError {
        self.is_short = true;
        self.help(help)
    }

    pub(super) fn help(mut self, help: &'static str) -> GgufError {
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

impl<R: Read + Seek> GgufReader<R> {
    pub(super) fn new(source: R, length: u64) -> GgufReader<R> {
        GgufReader {
            source: BufReader::with_capacity(64 << 10, source),
            offset: 0,
            length,
            is_big_endian: false,
            version: 0,
        }
    }

    /// The counts of tensors and of metadata entries.
    pub(super) fn header(&mut self) -> Result<(u64, u64), GgufError> {
        let magic: [u8; 4] = self.bytes("the magic bytes")?;
        if magic != MAGIC {
            return Err(GgufError::at(
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
            let message = format!("GGUF version {}", self.version);
            return Err(GgufError::at(4, message).help("versions 1 to 3 can be read"));
        }
        let tensors = self.size("the number of tensors")?;
        let at = self.offset;
        let entries = self.size("the number of metadata entries")?;
        // Each has at least the length of its key, a type and one byte.
        let least = self.size_width() + 4 + 1;
        self.check_count(at, entries, least, "metadata entries")?;
        Ok((tensors, entries))
    }

    fn left(&self) -> u64 {
        self.length.saturating_sub(self.offset)
    }

    fn need(&self, bytes: u64, what: &str) -> Result<(), GgufError> {
        if bytes <= self.left() {
            return Ok(());
        }
        let message = format!(
            "the file ends inside {what}: {bytes} bytes are needed, {} are left",
            self.left()
        );
        Err(GgufError::at(self.offset, message)
            .short("the file is cut off: was the download completed?"))
    }

    pub(super) fn check_count(
        &self,
        at: u64,
        count: u64,
        least: u64,
        what: &str,
    ) -> Result<(), GgufError> {
        if count
            .checked_mul(least)
            .is_some_and(|bytes| bytes <= self.left())
        {
            return Ok(());
        }
        let message = format!(
            "{count} {what}, which do not fit into the {} bytes left",
            self.left()
        );
        Err(GgufError::at(at, message).short("the file is cut off or damaged"))
    }

    pub(super) fn stay_within_metadata(&self) -> Result<(), GgufError> {
        if self.offset <= MOST_METADATA {
            return Ok(());
        }
        let message = format!("more than {MOST_METADATA} bytes of metadata");
        Err(GgufError::at(self.offset, message))
    }

    fn fill(&mut self, buffer: &mut [u8], what: &str) -> Result<(), GgufError> {
        let bytes = buffer.len() as u64;
        self.need(bytes, what)?;
        self.source
            .read_exact(buffer)
            .map_err(|error| GgufError::at(self.offset, format!("cannot be read: {error}")))?;
        self.offset += bytes;
        Ok(())
    }

    fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], GgufError> {
        let mut buffer = [0; N];
        self.fill(&mut buffer, what)?;
        Ok(buffer)
    }

    pub(super) fn skip(&mut self, bytes: u64, what: &str) -> Result<(), GgufError> {
        self.need(bytes, what)?;
        let unreadable = |offset, error| GgufError::at(offset, format!("cannot be read: {error}"));
        match i64::try_from(bytes) {
            // A relative step keeps what the buffer has: most values are shorter than it.
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

    pub(super) fn seek(&mut self, offset: u64) -> Result<(), GgufError> {
        self.source
            .seek(SeekFrom::Start(offset))
            .map_err(|error| GgufError::at(offset, format!("cannot be read: {error}")))?;
        self.offset = offset;
        Ok(())
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, GgufError> {
        let bytes = self.bytes(what)?;
        Ok(if self.is_big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, GgufError> {
        let bytes = self.bytes(what)?;
        Ok(if self.is_big_endian {
            u64::from_be_bytes(bytes)
        } else {
            u64::from_le_bytes(bytes)
        })
    }

    fn size(&mut self, what: &str) -> Result<u64, GgufError> {
        if self.version == 1 {
            self.u32(what).map(u64::from)
        } else {
            self.u64(what)
        }
    }

    pub(super) fn size_width(&self) -> u64 {
        if self.version == 1 { 4 } else { 8 }
    }

    /// The length of a string. The file must contain all of it.
    fn string_length(&mut self, what: &str) -> Result<u64, GgufError> {
        let at = self.offset;
        let length = self.size(what)?;
        if length > self.left() {
            let message = format!(
                "{what} should have {length} bytes, but {} are left",
                self.left()
            );
            return Err(GgufError::at(at, message).short("the file is cut off or damaged"));
        }
        Ok(length)
    }

    pub(super) fn text(&mut self, most: u64, what: &str) -> Result<String, GgufError> {
        let at = self.offset;
        let length = self.string_length(what)?;
        let size = match usize::try_from(length) {
            Ok(size) if length <= most => size,
            _ => {
                let message = format!("{what} has {length} bytes, but at most {most} are expected");
                return Err(GgufError::at(at, message));
            }
        };
        let text_at = self.offset;
        let mut buffer = vec![0; size];
        self.fill(&mut buffer, what)?;
        String::from_utf8(buffer).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            #[allow(clippy::indexing_slicing)] // The first wrong byte follows the valid ones.
            let message = format!(
                "{what} is not UTF-8: byte 0x{:02X}",
                error.as_bytes()[valid]
            );
            GgufError::at(text_at + valid as u64, message)
        })
    }

    /// The type and the number of an array's elements.
    pub(super) fn array(&mut self, what: &str) -> Result<(u32, u64), GgufError> {
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
    pub(super) fn skip_strings(&mut self, count: u64, what: &str) -> Result<(), GgufError> {
        for _ in 0..count {
            let length = self.string_length(what)?;
            self.skip(length, what)?;
            self.stay_within_metadata()?;
        }
        Ok(())
    }

    pub(super) fn skip_value(
        &mut self,
        kind: u32,
        depth: usize,
        what: &str,
    ) -> Result<(), GgufError> {
        match kind {
            STRING => self.skip_strings(1, what),
            ARRAY if depth >= DEEPEST_ARRAY => {
                let message = format!("{what} is nested more than {DEEPEST_ARRAY} deep");
                Err(GgufError::at(self.offset, message))
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

    /// Yes or no: a boolean, or a number.
    pub(super) fn boolean(&mut self, kind: u32, what: &str) -> Result<bool, GgufError> {
        // A boolean is a byte, as the smallest number is.
        let kind = if kind == BOOLEAN { 0 } else { kind };
        Ok(self.integer(kind, what)? != 0)
    }

    pub(super) fn integer(&mut self, kind: u32, what: &str) -> Result<i128, GgufError> {
        let is_big_endian = self.is_big_endian;
        let order = |mut bytes: Vec<u8>| {
            if !is_big_endian {
                bytes.reverse();
            }
            bytes
                .into_iter()
                .fold(0_i128, |value, byte| (value << 8) | i128::from(byte))
        };
        // An `i128` holds the numbers of all types, signed or not.
        let (unsigned, bits) = match kind {
            0 | 1 => (order(self.bytes::<1>(what)?.to_vec()), 8),
            2 | 3 => (order(self.bytes::<2>(what)?.to_vec()), 16),
            4 | 5 => (order(self.bytes::<4>(what)?.to_vec()), 32),
            10 | 11 => (order(self.bytes::<8>(what)?.to_vec()), 64),
            _ => {
                return Err(GgufError::at(
                    self.offset,
                    format!("{what} is not an integer"),
                ));
            }
        };
        let is_signed = matches!(kind, 1 | 3 | 5 | 11);
        Ok(if is_signed && unsigned >> (bits - 1) == 1 {
            unsigned - (1 << bits)
        } else {
            unsigned
        })
    }
}

fn unknown_type(offset: u64, kind: u32, what: &str) -> GgufError {
    GgufError::at(offset, format!("{what} has the unknown type {kind}"))
        .help("the file is damaged, or of a newer version")
}
