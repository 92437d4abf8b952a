//! A model that answers with given texts.
//!
//! Its residual stream is the embedding of the last token, because attention and the layer after it
//! are zero. So an embedding says what follows its token, and there are three kinds:
//!
//! - the last piece of a text has its one number in the second place, and the output row of the end
//!   has one there, too;
//! - any other piece has 126 signs after two zeros, which a generator of random numbers gives, always
//!   the same. The row of the piece that follows has the same signs. Two different pieces share about
//!   half of their signs, so their product is near 0, and that of a piece with itself is 126;
//! - a byte or a special token has its one number in the first place. Prompts end with one of them:
//!   the tokenizer is byte-level BPE without merges, and so it reads prompts byte by byte. In a mock model
//!   of one text, its first token has a number in the first place of its row. In a mock model of several
//!   texts no row has one. Then all tokens are equally likely, and a small bias chooses.
//!
//! The normalisation at the end hardly changes them, because all have nearly the same length.

use std::collections::HashMap;

use crate::mock_model::gguf::{Gguf, Numbers, Value};
use crate::mock_model::pieces::{self, Uncut};

/// How many numbers an embedding has.
const WIDTH: usize = 128;

/// The place of an embedding that says that a prompt ends here.
const AFTER_PROMPT: usize = 0;

/// The place of an embedding that says that a text ends here.
const AFTER_TEXT: usize = 1;

/// How many numbers the layer after attention has. They are zeros.
const INNER: usize = 32;

/// The bias on a first token that is enough to choose a text: more than the 0 of all tokens after a
/// prompt, and less than the lead of a token that follows within a text.
pub const BIAS: f32 = 20.0;

/// 1, -1 and the square root of 128, as numbers of 16 bits.
const ONE: u16 = 0x3c00;
const MINUS_ONE: u16 = 0xbc00;
const LENGTH: u16 = 0x49a8;

/// The types of tokens in a GGUF file.
const NORMAL: i32 = 1;
const CONTROL: i32 = 3;

/// What a mock model has besides its texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The chat template in the file.
    pub template: Option<String>,
    /// The token that represents the beginning.
    pub bos: Option<String>,
    /// The token at which the server stops.
    pub eos: Option<String>,
}

/// A text of a mock model: how a client asks for it, and how long its answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The first token. With [`BIAS`] on it, the answer is this text.
    pub first: usize,
    /// How many tokens the text has, without the end.
    pub tokens: usize,
}

/// A model that answers with given texts.
#[derive(Debug, Clone)]
pub struct MockModel {
    surroundings: Surroundings,
    /// The special tokens, the bytes and the pieces.
    tokens: Vec<String>,
    special: usize,
    /// The texts, each with its line.
    lines: HashMap<String, Line>,
    /// Pairs of tokens that follow each other, without the beginnings.
    steps: Vec<(usize, usize)>,
    end: usize,
}

impl MockModel {
    /// A mock model that answers with one text.
    pub fn of(text: &str, surroundings: Surroundings) -> Result<MockModel, Uncut> {
        MockModel::holding(&[text], surroundings)
    }

    /// A mock model that answers with one of several texts.
    pub fn holding(texts: &[&str], surroundings: Surroundings) -> Result<MockModel, Uncut> {
        let eos = surroundings.eos.as_deref().unwrap_or("<|mock:end|>");
        let bos = surroundings.bos.as_deref().unwrap_or("<|mock:begin|>");
        let mut tokens: Vec<String> = vec![eos.to_owned()];
        if bos != eos {
            tokens.push(bos.to_owned());
        }
        let special = tokens.len();
        let others: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let cut = pieces::cut(texts, &others)?;
        tokens.extend((0..=u8::MAX).map(|byte| sign(byte).to_string()));
        let mut mock_model = MockModel {
            surroundings,
            tokens,
            special,
            lines: HashMap::new(),
            steps: Vec::new(),
            end: 0,
        };
        for (text, pieces) in texts.iter().zip(&cut) {
            if !mock_model.lines.contains_key(*text) {
                let line = mock_model.learn(pieces);
                mock_model.lines.insert((*text).to_owned(), line);
            }
        }
        Ok(mock_model)
    }

    /// Adds the tokens of a text.
    fn learn(&mut self, pieces: &[String]) -> Line {
        let way: Vec<usize> = pieces.iter().map(|piece| self.token(piece)).collect();
        let next = way.iter().skip(1).chain([&self.end]).copied();
        self.steps.extend(way.iter().copied().zip(next));
        Line {
            first: way.first().copied().unwrap_or(self.end),
            tokens: pieces.len(),
        }
    }

    fn token(&mut self, piece: &str) -> usize {
        if let [byte] = piece.as_bytes() {
            return self.special + usize::from(*byte);
        }
        self.tokens.push(piece.bytes().map(sign).collect());
        self.tokens.len() - 1
    }

    /// The line of a text. None if the mock model does not have it.
    pub fn line(&self, text: &str) -> Option<Line> {
        self.lines.get(text).copied()
    }

    /// The model as a GGUF file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut gguf = Gguf::default();
        self.describe(&mut gguf);
        self.fill(&mut gguf);
        gguf.bytes()
    }

    fn describe(&self, gguf: &mut Gguf) {
        let text = |text: &str| Value::Text(text.to_owned());
        gguf.set("general.architecture", text("llama"));
        gguf.set("general.name", text("mock-model"));
        for (key, number) in [
            ("context_length", 1 << 20),
            ("embedding_length", number(WIDTH)),
            ("block_count", 1),
            ("feed_forward_length", number(INNER)),
            ("attention.head_count", 1),
            ("vocab_size", number(self.tokens.len())),
        ] {
            gguf.set(&format!("llama.{key}"), Value::U32(number));
        }
        gguf.set("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-6));
        // Byte-level BPE without merges: a prompt becomes one token a byte.
        gguf.set("tokenizer.ggml.model", text("gpt2"));
        gguf.set("tokenizer.ggml.pre", text("gpt-2"));
        gguf.set("tokenizer.ggml.tokens", Value::Texts(self.tokens.clone()));
        let kinds = (0..self.tokens.len()).map(|token| {
            let is_special = token < self.special;
            if is_special { CONTROL } else { NORMAL }
        });
        gguf.set("tokenizer.ggml.token_type", Value::Numbers(kinds.collect()));
        gguf.set("tokenizer.ggml.merges", Value::Texts(Vec::new()));
        let begin = number(self.special - 1);
        gguf.set("tokenizer.ggml.bos_token_id", Value::U32(begin));
        gguf.set("tokenizer.ggml.eos_token_id", Value::U32(number(self.end)));
        // The chat template writes it, if it wants it.
        gguf.set("tokenizer.ggml.add_bos_token", Value::Bool(false));
        if let Some(template) = &self.surroundings.template {
            gguf.set("tokenizer.chat_template", text(template));
        }
    }

    #[allow(clippy::indexing_slicing)] // Every token has a row, and every row `WIDTH` numbers.
    fn fill(&self, gguf: &mut Gguf) {
        let count = self.tokens.len();
        let mut embedding = vec![0; count * WIDTH];
        for row in embedding.chunks_exact_mut(WIDTH) {
            row[AFTER_PROMPT] = LENGTH;
        }
        let mut output = vec![0; count * WIDTH];
        output[self.end * WIDTH + AFTER_TEXT] = LENGTH;
        for (from, to) in &self.steps {
            let row = &mut embedding[from * WIDTH..][..WIDTH];
            row[AFTER_PROMPT] = 0;
            if *to == self.end {
                row[AFTER_TEXT] = LENGTH;
                continue;
            }
            let out = &mut output[to * WIDTH..][..WIDTH];
            for (at, is_positive) in (0..WIDTH).zip(signs(*from)).skip(2) {
                let sign = if is_positive { ONE } else { MINUS_ONE };
                (row[at], out[at]) = (sign, sign);
            }
        }
        let mut lines = self.lines.values();
        if let (Some(only), None) = (lines.next(), lines.next()) {
            output[only.first * WIDTH + AFTER_PROMPT] = LENGTH;
        }
        gguf.add(
            "token_embd.weight",
            &[WIDTH, count],
            Numbers::F16(embedding),
        );
        gguf.add(
            "output_norm.weight",
            &[WIDTH],
            Numbers::F32(vec![1.0; WIDTH]),
        );
        gguf.add("output.weight", &[WIDTH, count], Numbers::F16(output));
        for name in ["attn_norm", "ffn_norm"] {
            let name = format!("blk.0.{name}.weight");
            gguf.add(&name, &[WIDTH], Numbers::F32(vec![1.0; WIDTH]));
        }
        for (name, sizes) in [
            ("attn_q", [WIDTH, WIDTH]),
            ("attn_k", [WIDTH, WIDTH]),
            ("attn_v", [WIDTH, WIDTH]),
            ("attn_output", [WIDTH, WIDTH]),
            ("ffn_gate", [WIDTH, INNER]),
            ("ffn_up", [WIDTH, INNER]),
            ("ffn_down", [INNER, WIDTH]),
        ] {
            let zeros = vec![0; sizes.iter().product()];
            gguf.add(&format!("blk.0.{name}.weight"), &sizes, Numbers::F16(zeros));
        }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The character that represents a byte in the vocabularies of GPT-2 and its followers: itself if
/// it can be seen, otherwise one from U+0100 on, in the order of the bytes.
fn sign(byte: u8) -> char {
    let is_seen = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if is_seen(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|other| !is_seen(*other)).count();
    u32::try_from(before)
        .ok()
        .and_then(|before| char::from_u32(0x100 + before))
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The signs of a token. The generator is `SplitMix64`.
fn signs(token: usize) -> impl Iterator<Item = bool> {
    let word = |at: u64| {
        let state = (token as u64).wrapping_mul(4).wrapping_add(at + 1);
        let z = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let bits = [word(0), word(1)].map(|word| (0..64).map(move |bit| word >> bit & 1 == 1));
    bits.into_iter().flatten().take(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model as a server has it.
    struct Model<'p> {
        written: &'p MockModel,
        embedding: Vec<f32>,
        output: Vec<f32>,
    }

    impl Model<'_> {
        fn of(mock_model: &MockModel) -> Model<'_> {
            let count = mock_model.tokens.len() * WIDTH;
            let bytes = mock_model.bytes();
            // After the two large tensors are others, whose sizes are known.
            let zeros = (4 * WIDTH * WIDTH + 3 * WIDTH * INNER) * 2;
            let norm = WIDTH * 4;
            let end = bytes.len() - zeros - 2 * norm;
            let output = &bytes[end - count * 2..end];
            let end = end - count * 2 - norm;
            let embedding = &bytes[end - count * 2..end];
            let numbers = |bytes: &[u8]| {
                let halves = bytes.chunks_exact(2);
                let number = |two: &[u8]| f32_of(u16::from_le_bytes([two[0], two[1]]));
                halves.map(number).collect()
            };
            Model {
                written: mock_model,
                embedding: numbers(embedding),
                output: numbers(output),
            }
        }

        /// The most likely token after a token. `bias` is on the first token of a line.
        fn next(&self, token: usize, bias: Option<usize>) -> usize {
            let row = &self.embedding[token * WIDTH..][..WIDTH];
            let score = |next: usize| {
                let out = &self.output[next * WIDTH..][..WIDTH];
                let product: f32 = row.iter().zip(out).map(|(a, b)| a * b).sum();
                product + if bias == Some(next) { BIAS } else { 0.0 }
            };
            let scores: Vec<f32> = (0..self.written.tokens.len()).map(score).collect();
            let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
            best.unwrap()
        }

        /// The answer after a prompt that ends with a token.
        fn answer(&self, last: usize, bias: Option<usize>) -> String {
            let mut text = Vec::new();
            let mut token = self.next(last, bias);
            while token != self.written.end {
                let signs = self.written.tokens[token].chars();
                let byte = |c| (0..=u8::MAX).find(|byte| sign(*byte) == c).unwrap();
                text.extend(signs.map(byte));
                token = self.next(token, bias);
                assert!(text.len() < 1000, "it does not end");
            }
            String::from_utf8(text).unwrap()
        }
    }

    fn f32_of(half: u16) -> f32 {
        let exponent = i32::from(half >> 10 & 0x1f) - 15;
        let mantissa = f32::from(half & 0x3ff) / 1024.0;
        let size = if half == 0 {
            0.0
        } else {
            (1.0 + mantissa) * 2_f32.powi(exponent)
        };
        if half & 0x8000 == 0 { size } else { -size }
    }

    #[test]
    fn it_answers_with_its_text_after_every_byte() {
        for text in ["", "Hello there. Hello there!", "<|im_end|> é💡\u{0}\n\n\n"] {
            let mock_model = MockModel::of(text, Surroundings::default()).unwrap();
            let model = Model::of(&mock_model);
            assert_eq!(
                model.answer(usize::from(b'\n') + mock_model.special, None),
                text
            );
            let line = mock_model.line(text).unwrap();
            for last in 0..mock_model.special + 256 {
                assert_eq!(model.next(last, None), line.first, "{last}");
            }
        }
    }

    #[test]
    fn a_client_chooses_one_of_several_texts() {
        let text = |n: usize| format!("<call>\n{{\"n\": {n}}}</call>");
        let texts: Vec<String> = (0..30).map(text).chain([String::new()]).collect();
        let all: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mock_model = MockModel::holding(&all, Surroundings::default()).unwrap();
        let model = Model::of(&mock_model);
        for text in &all {
            let line = mock_model.line(text).unwrap();
            let last = mock_model.special + usize::from(b'\n');
            assert_eq!(model.answer(last, Some(line.first)), *text);
        }
        assert_eq!(mock_model.line("another"), None);
    }

    #[test]
    fn a_text_of_one_byte_follows_every_other_byte() {
        let mock_model = MockModel::of("7", Surroundings::default()).unwrap();
        let model = Model::of(&mock_model);
        for (last, answer) in [(b'7', ""), (b'8', "7"), (b'\n', "7")] {
            let last = mock_model.special + usize::from(last);
            assert_eq!(model.answer(last, None), answer);
        }
    }

    #[test]
    fn the_bytes_depend_on_nothing_else() {
        let make = || {
            MockModel::holding(&["ab", "cd"], Surroundings::default())
                .unwrap()
                .bytes()
        };
        assert_eq!(make(), make());
        let one = MockModel::of("ab", Surroundings::default())
            .unwrap()
            .bytes();
        assert!((150_000..400_000).contains(&one.len()), "{}", one.len());
    }

    #[test]
    fn signs_stand_for_all_bytes() {
        let all: std::collections::HashSet<char> = (0..=u8::MAX).map(sign).collect();
        assert_eq!(all.len(), 256);
        assert_eq!(
            (sign(b' '), sign(b'\n'), sign(b'a'), sign(0xad)),
            ('Ġ', 'Ċ', 'a', 'Ń')
        );
    }
}
