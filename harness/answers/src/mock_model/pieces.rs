//! Texts, cut into pieces. Each piece becomes a token, so no two pieces may be the same text.
//!
//! A prompt is read byte by byte, so a piece has at least two bytes: no prompt ends with the token of
//! a piece. A text of one byte is one piece all the same.

use rolecall_core::Cut;
use std::collections::HashSet;

/// The most bytes that a text may have.
pub const LONGEST: usize = 1 << 20;

/// Why a text cannot be cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Uncut {
    #[error("the text has {} bytes, and a mock model can hold {LONGEST} at most", .0.len())]
    TooLong(String),
    /// The token of one byte also represents that byte in prompts, so that no other text may be in
    /// the same model.
    #[error("{0:?} is one byte, so it needs a model of its own")]
    OneByte(String),
    /// All ways to cut it were taken by other texts or by special tokens.
    #[error("{0:?} cannot be cut into pieces that no other text has")]
    Taken(String),
}

impl Uncut {
    pub fn text(&self) -> &str {
        match self {
            Uncut::TooLong(text) | Uncut::OneByte(text) | Uncut::Taken(text) => text,
        }
    }
}

/// Cuts texts into pieces that are all different, and different from some other tokens. The result
/// has the pieces of each text, in the order of the texts. Equal texts have equal pieces.
#[allow(clippy::indexing_slicing)] // `order` has the numbers of the texts.
pub fn cut(texts: &[&str], others: &[&str]) -> Result<Vec<Vec<String>>, Uncut> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    // Each text is whole among its own pieces at worst. Shorter texts come first, so no piece of
    // another text is as long.
    order.sort_by_key(|at| (texts[*at].len(), texts[*at]));
    let mut taken: HashSet<String> = others.iter().map(|&other| other.to_owned()).collect();
    let mut cut: Vec<Vec<String>> = vec![Vec::new(); texts.len()];
    let mut before: Option<usize> = None;
    for at in order {
        let text = texts[at];
        cut[at] = match before.filter(|before| texts[*before] == text) {
            Some(before) => cut[before].clone(),
            None if text.len() > LONGEST => {
                return Err(Uncut::TooLong(text.to_owned()));
            }
            None if text.len() == 1 && texts.iter().any(|other| *other != text) => {
                return Err(Uncut::OneByte(text.to_owned()));
            }
            None if text.len() == 1 => vec![text.to_owned()],
            None => pieces(text, &mut taken)?,
        };
        before = Some(at);
    }
    Ok(cut)
}

/// The pieces of one text: each is the shortest that nobody has yet.
fn pieces(text: &str, taken: &mut HashSet<String>) -> Result<Vec<String>, Uncut> {
    let mut pieces: Vec<String> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        let free = |end: &usize| is_usable(rest.cut(..*end), taken);
        if let Some(end) = { ends }.find(free) {
            let (piece, after) = rest.split_at(end);
            taken.insert(piece.to_owned());
            pieces.push(piece.to_owned());
            rest = after;
            continue;
        }
        // The last piece grows to the front until nobody has it.
        let mut last = rest.to_owned();
        while !is_usable(&last, taken) {
            let Some(previous) = pieces.pop() else {
                return Err(Uncut::Taken(text.to_owned()));
            };
            taken.remove(&previous);
            last.insert_str(0, &previous);
        }
        taken.insert(last.clone());
        pieces.push(last);
        break;
    }
    Ok(pieces)
}

/// Whether a text may be a piece.
fn is_usable(piece: &str, taken: &HashSet<String>) -> bool {
    piece.len() >= 2 && !is_mark(piece) && !taken.contains(piece)
}

/// Whether a text looks like a special token, such as `<|im_end|>` and `[EOS]`. llama.cpp knows some
/// of them by their texts, and stops there. So a piece is never such a mark.
fn is_mark(piece: &str) -> bool {
    let name = piece.trim_start_matches(['_', '<', '[', '/', '|']);
    let name = name.trim_end_matches(['>', ']', '|']);
    let is_name = |c: char| c.is_alphanumeric() || "_-▁｜ ".contains(c);
    let is_marked = piece.contains(['<', '[']) && piece.ends_with(['>', ']']);
    is_marked && !name.is_empty() && name.chars().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_one(text: &str) -> Vec<String> {
        cut(&[text], &[]).unwrap().remove(0)
    }

    #[test]
    fn pieces_are_as_short_as_they_can_be() {
        assert_eq!(cut_one(""), [""; 0]);
        assert_eq!(cut_one("7"), ["7"]);
        assert_eq!(cut_one("é"), ["é"]);
        assert_eq!(cut_one("abcd"), ["ab", "cd"]);
        assert_eq!(cut_one("abc"), ["abc"]);
        assert_eq!(cut_one("ababab"), ["ab", "abab"]);
        assert_eq!(cut_one("aaaaaaa"), ["aa", "aaaaa"]);
        assert_eq!(cut_one("<a><a>"), ["<a", "><", "a>"]);
        assert_eq!(cut_one("[]"), ["[]"]);
    }

    #[test]
    fn pieces_of_all_texts_are_different_and_make_the_texts() {
        let mark = "<|im_end|>";
        let texts = [
            "Hello there",
            "Hello",
            "",
            "Hello there",
            "<tool_call>\n{\"name\": \"f\"}\n</tool_call>",
            "<tool_call>\n{\"name\": \"g\"}\n</tool_call><|im_end|>💡",
        ];
        let cut = cut(&texts, &[mark, "</s>"]).unwrap();
        let mut seen = HashSet::new();
        for (at, (text, pieces)) in texts.iter().zip(&cut).enumerate() {
            assert_eq!(pieces.concat(), *text);
            if at == 3 {
                assert_eq!(pieces, &cut[0]);
                continue;
            }
            for piece in pieces {
                assert!(piece.len() > 1 && piece != mark, "{piece}");
                assert!(seen.insert(piece.clone()), "{piece} is there twice");
            }
        }
        assert!(seen.len() > 20);
    }

    #[test]
    fn what_no_mock_model_can_say_is_refused() {
        assert_eq!(cut(&["7", "ab"], &[]), Err(Uncut::OneByte("7".into())));
        assert_eq!(cut(&["ab"], &["ab"]), Err(Uncut::Taken("ab".into())));
        assert_eq!(cut(&["<s>"], &[]), Err(Uncut::Taken("<s>".into())));
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(cut(&[&long], &[]), Err(Uncut::TooLong(long.clone())));
    }
}
