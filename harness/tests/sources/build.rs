//! Model files, made for tests.

/// A value in the metadata of a GGUF file.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    U32(u32),
    I32(i32),
    U64(u64),
    F32(f32),
    Bool(bool),
    Text(Vec<u8>),
    /// The type of the elements, and the elements.
    Array(u32, Vec<Value>),
}

pub(crate) const U32: u32 = 4;
pub(crate) const STRING: u32 = 8;
pub(crate) const ARRAY: u32 = 9;

#[derive(Debug, Clone)]
pub(crate) struct Gguf {
    pub(crate) version: u32,
    pub(crate) is_big_endian: bool,
    entries: Vec<(String, Value)>,
    tensors: Vec<(String, u64)>,
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.as_bytes().to_vec())
}

pub(crate) fn texts(all: &[&str]) -> Value {
    Value::Array(STRING, all.iter().map(|one| text(one)).collect())
}

impl Gguf {
    pub(crate) fn new() -> Gguf {
        Gguf {
            version: 3,
            is_big_endian: false,
            entries: Vec::new(),
            tensors: Vec::new(),
        }
    }

    /// A small model: a template, four tokens, bos and eos, and the other usual keys.
    pub(crate) fn model(template: &str) -> Gguf {
        Gguf::new()
            .with("general.architecture", text("llama"))
            .with("general.alignment", Value::U32(32))
            .with("llama.rope.freq_base", Value::F32(10000.0))
            .with(
                "llama.nested",
                Value::Array(
                    ARRAY,
                    vec![Value::Array(U32, vec![Value::U32(1)]), texts(&["a", "bc"])],
                ),
            )
            .with("tokenizer.ggml.bos_token_id", Value::U32(1))
            .with("tokenizer.ggml.add_bos_token", Value::Bool(true))
            .with(
                "tokenizer.ggml.tokens",
                texts(&["<unk>", "<s>", "</s>", "a"]),
            )
            .with("tokenizer.ggml.eos_token_id", Value::I32(2))
            .with("tokenizer.chat_template", text(template))
            .tensor("token_embd.weight", 0)
            .tensor("output.weight", 64)
    }

    pub(crate) fn with(mut self, key: &str, value: Value) -> Gguf {
        self.entries.retain(|(known, _)| known != key);
        self.entries.push((key.to_owned(), value));
        self
    }

    pub(crate) fn twice(mut self, key: &str, value: Value) -> Gguf {
        self.entries.push((key.to_owned(), value));
        self
    }

    pub(crate) fn without(mut self, key: &str) -> Gguf {
        self.entries.retain(|(known, _)| known != key);
        self
    }

    fn tensor(mut self, name: &str, offset: u64) -> Gguf {
        self.tensors.push((name.to_owned(), offset));
        self
    }

    /// The metadata and the list of tensors, padded.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        self.u32(&mut out, self.version);
        self.size(&mut out, self.tensors.len());
        self.size(&mut out, self.entries.len());
        for (key, value) in &self.entries {
            self.text(&mut out, key.as_bytes());
            self.u32(&mut out, kind(value));
            self.value(&mut out, value);
        }
        for (name, offset) in &self.tensors {
            self.text(&mut out, name.as_bytes());
            self.u32(&mut out, 1);
            self.size(&mut out, 16);
            self.u32(&mut out, 0);
            self.u64(&mut out, *offset);
        }
        out
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.head();
        out.resize(out.len().next_multiple_of(32) + 128, 0);
        out
    }

    fn u32(&self, out: &mut Vec<u8>, value: u32) {
        out.extend(if self.is_big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }

    fn u64(&self, out: &mut Vec<u8>, value: u64) {
        out.extend(if self.is_big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }

    fn size(&self, out: &mut Vec<u8>, value: usize) {
        if self.version == 1 {
            self.u32(out, u32::try_from(value).unwrap());
        } else {
            self.u64(out, value as u64);
        }
    }

    fn text(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        self.size(out, bytes.len());
        out.extend(bytes);
    }

    fn value(&self, out: &mut Vec<u8>, value: &Value) {
        match value {
            Value::U32(value) => self.u32(out, *value),
            Value::I32(value) => self.u32(out, value.cast_unsigned()),
            Value::U64(value) => self.u64(out, *value),
            Value::F32(value) => self.u32(out, value.to_bits()),
            Value::Bool(value) => out.push(u8::from(*value)),
            Value::Text(bytes) => self.text(out, bytes),
            Value::Array(kind, elements) => {
                self.u32(out, *kind);
                self.size(out, elements.len());
                for element in elements {
                    self.value(out, element);
                }
            }
        }
    }
}

fn kind(value: &Value) -> u32 {
    match value {
        Value::U32(_) => U32,
        Value::I32(_) => 5,
        Value::F32(_) => 6,
        Value::Bool(_) => 7,
        Value::Text(_) => STRING,
        Value::Array(..) => ARRAY,
        Value::U64(_) => 10,
    }
}
