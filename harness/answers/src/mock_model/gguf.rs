//! Files in the format GGUF, version 3, little endian.
//!
//! Source: docs/gguf.md of the repository ggml-org/ggml. A file has the metadata, then the list of
//! tensors, then their data. Each tensor begins at a multiple of the alignment, which is 32 unless
//! the metadata says otherwise.

/// The file's first bytes.
const MAGIC: &[u8; 4] = b"GGUF";

const VERSION: u32 = 3;

const ALIGNMENT: usize = 32;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    U32(u32),
    F32(f32),
    Bool(bool),
    Text(String),
    Numbers(Vec<i32>),
    Texts(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    F32(Vec<f32>),
    /// Of 16 bits each, as they are stored.
    F16(Vec<u16>),
}

#[derive(Debug, Clone, PartialEq)]
struct Tensor {
    name: String,
    /// Its sizes. Numbers that follow each other differ in the first index.
    sizes: Vec<usize>,
    numbers: Numbers,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gguf {
    metadata: Vec<(String, Value)>,
    tensors: Vec<Tensor>,
}

impl Value {
    /// The number of its type in the format.
    fn kind(&self) -> u32 {
        match self {
            Value::U32(_) => U32,
            Value::F32(_) => F32,
            Value::Bool(_) => BOOL,
            Value::Text(_) => TEXT,
            Value::Numbers(_) | Value::Texts(_) => ARRAY,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Value::U32(number) => out.extend(number.to_le_bytes()),
            Value::F32(number) => out.extend(number.to_le_bytes()),
            Value::Bool(is) => out.push(u8::from(*is)),
            Value::Text(text) => write_text(out, text),
            Value::Numbers(numbers) => {
                out.extend(I32.to_le_bytes());
                write_size(out, numbers.len());
                for number in numbers {
                    out.extend(number.to_le_bytes());
                }
            }
            Value::Texts(texts) => {
                out.extend(TEXT.to_le_bytes());
                write_size(out, texts.len());
                for text in texts {
                    write_text(out, text);
                }
            }
        }
    }
}

const U32: u32 = 4;
const I32: u32 = 5;
const F32: u32 = 6;
const BOOL: u32 = 7;
const TEXT: u32 = 8;
const ARRAY: u32 = 9;

impl Numbers {
    fn len(&self) -> usize {
        match self {
            Numbers::F32(numbers) => numbers.len(),
            Numbers::F16(numbers) => numbers.len(),
        }
    }

    /// The number of their type among tensors.
    fn kind(&self) -> u32 {
        match self {
            Numbers::F32(_) => 0,
            Numbers::F16(_) => 1,
        }
    }

    /// How many bytes they take.
    fn size(&self) -> usize {
        match self {
            Numbers::F32(numbers) => numbers.len() * 4,
            Numbers::F16(numbers) => numbers.len() * 2,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Numbers::F32(numbers) => {
                out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
            Numbers::F16(numbers) => {
                out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
        }
    }
}

impl Gguf {
    /// Adds a value to the metadata.
    pub fn set(&mut self, key: &str, value: Value) {
        self.metadata.push((key.to_owned(), value));
    }

    /// Adds a tensor. The product of its sizes has to be the count of its numbers.
    pub fn add(&mut self, name: &str, sizes: &[usize], numbers: Numbers) {
        debug_assert_eq!(sizes.iter().product::<usize>(), numbers.len(), "{name}");
        self.tensors.push(Tensor {
            name: name.to_owned(),
            sizes: sizes.to_vec(),
            numbers,
        });
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        write_size(&mut out, self.tensors.len());
        write_size(&mut out, self.metadata.len());
        for (key, value) in &self.metadata {
            write_text(&mut out, key);
            out.extend(value.kind().to_le_bytes());
            value.write(&mut out);
        }
        let mut offset = 0;
        for tensor in &self.tensors {
            write_text(&mut out, &tensor.name);
            out.extend(
                u32::try_from(tensor.sizes.len())
                    .unwrap_or(u32::MAX)
                    .to_le_bytes(),
            );
            for size in &tensor.sizes {
                write_size(&mut out, *size);
            }
            out.extend(tensor.numbers.kind().to_le_bytes());
            write_size(&mut out, offset);
            offset += tensor.numbers.size().next_multiple_of(ALIGNMENT);
        }
        pad(&mut out);
        out.reserve(offset);
        for tensor in &self.tensors {
            tensor.numbers.write(&mut out);
            pad(&mut out);
        }
        out
    }
}

fn write_size(out: &mut Vec<u8>, size: usize) {
    out.extend((size as u64).to_le_bytes());
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    write_size(out, text.len());
    out.extend(text.as_bytes());
}

/// Adds zeros up to the alignment.
fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_where_the_format_says() {
        let mut gguf = Gguf::default();
        gguf.set("n", Value::U32(7));
        gguf.set("t", Value::Texts(vec!["é".into()]));
        gguf.add("one", &[3], Numbers::F32(vec![1.0; 3]));
        gguf.add("two", &[1, 2], Numbers::F16(vec![0x3c00; 2]));
        let bytes = gguf.bytes();
        let mut head = b"GGUF\x03\0\0\0".to_vec();
        let number = |out: &mut Vec<u8>, number: u64| out.extend(number.to_le_bytes());
        number(&mut head, 2);
        number(&mut head, 2);
        number(&mut head, 1);
        head.extend(b"n\x04\0\0\0\x07\0\0\0");
        number(&mut head, 1);
        head.extend(b"t\x09\0\0\0\x08\0\0\0");
        number(&mut head, 1);
        number(&mut head, 2);
        head.extend("é".as_bytes());
        for (name, sizes, kind, offset) in [("one", &[3][..], 0_u32, 0), ("two", &[1, 2], 1, 32)] {
            number(&mut head, 3);
            head.extend(name.as_bytes());
            head.extend(u32::try_from(sizes.len()).unwrap().to_le_bytes());
            for size in sizes {
                number(&mut head, *size);
            }
            head.extend(kind.to_le_bytes());
            number(&mut head, offset);
        }
        assert_eq!(bytes[..head.len()], head);
        let data = &bytes[head.len().next_multiple_of(32)..];
        assert_eq!(data.len(), 64);
        assert_eq!(data[..12], [0, 0, 0x80, 0x3f].repeat(3));
        assert_eq!(data[32..36], [0, 0x3c, 0, 0x3c]);
    }
}
