//! Looks for characters and texts in a text.

use crate::pattern::tree::One;

/// How many characters of a text match in a row.
pub(crate) fn run_length(one: &One, text: &[u32], most: usize) -> usize {
    if *one == One::Any {
        return text.len().min(most);
    }
    text.iter()
        .take(most)
        .take_while(|code| one.matches(**code))
        .count()
}

/// The first place of a text in another.
pub(crate) fn find(wanted: &[u32], text: &[u32]) -> Option<usize> {
    let (&first, rest) = wanted.split_first()?;
    let mut from = 0;
    while let Some(at) = find_one(first, text.get(from..)?) {
        let at = from + at;
        if text.get(at + 1..at + wanted.len()) == Some(rest) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// The first place of a character. It looks at many characters at a time.
fn find_one(wanted: u32, text: &[u32]) -> Option<usize> {
    const WIDTH: usize = 32;
    let mut from = 0;
    for chunk in text.chunks_exact(WIDTH) {
        if chunk
            .iter()
            .map(|code| u32::from(*code == wanted))
            .sum::<u32>()
            > 0
        {
            break;
        }
        from += WIDTH;
    }
    text[from..]
        .iter()
        .position(|code| *code == wanted)
        .map(|at| from + at)
}

/// Where the text begins that is at the end of another and not yet whole. That is the end, if
/// nothing of it is there.
pub(crate) fn cut_short(wanted: &[u32], text: &[u32]) -> usize {
    let from = (text.len() + 1).saturating_sub(wanted.len());
    (from..text.len())
        .find(|at| wanted.starts_with(&text[*at..]))
        .unwrap_or(text.len())
}
