//! The marks around the reasoning of models, such as `<think>` and `</think>`.

use rolecall_core::Cut;

/// A mark at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::contract) struct Mark {
    /// Its length in bytes.
    pub(in crate::contract) len: usize,
    /// Whether reasoning begins after it.
    pub(in crate::contract) opens: bool,
}

/// Marks whose form does not tell what they are.
const UNUSUAL: [(&str, bool); 4] = [
    ("<|channel>thought", true),
    ("<channel|>", false),
    ("<|channel|>analysis", true),
    ("<|channel|>final", false),
];

/// The longest mark of the usual form, in bytes.
const LONGEST: usize = 40;

/// The mark at the beginning of a text. Marks of the usual form are in brackets and speak of
/// thinking; those that close reasoning have a slash or speak of an end.
pub(in crate::contract) fn mark_at(text: &str) -> Option<Mark> {
    let unusual = UNUSUAL.iter().find(|(mark, _)| text.starts_with(mark));
    if let Some((mark, opens)) = unusual {
        return Some(Mark {
            len: mark.len(),
            opens: *opens,
        });
    }
    let open = text.chars().next()?;
    let close = match open {
        '<' => '>',
        '[' => ']',
        '◁' => '▷',
        _ => return None,
    };
    let after = text.cut(open.len_utf8()..);
    let end = after.find(close).filter(|end| *end < LONGEST)?;
    let name = after.cut(..end).trim_matches('|').to_ascii_lowercase();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | ':' | '-');
    let speaks = ["think", "thought", "reasoning"];
    let is_mark = name.chars().all(is_name) && speaks.iter().any(|word| name.contains(word));
    is_mark.then(|| Mark {
        len: open.len_utf8() + end + close.len_utf8(),
        opens: !name.starts_with('/') && !name.starts_with("end"),
    })
}

/// The marks in a text, each with its place.
pub(in crate::contract) fn marks(
    text: &str,
) -> impl DoubleEndedIterator<Item = (usize, Mark)> + '_ {
    let starts = text.match_indices(['<', '[', '◁']);
    starts.filter_map(|(at, _)| Some((at, mark_at(text.cut(at..))?)))
}

/// Whether a text ends within reasoning.
pub(in crate::contract) fn is_within(text: &str) -> bool {
    marks(text).next_back().is_some_and(|(_, mark)| mark.opens)
}

/// Whether a prompt is for GLM. After the role in its turns there may be the name of a tool, and then
/// a line break. The model writes both itself, so no prompt ends with the line break.
pub(in crate::contract) fn is_for_glm(prompt: &str) -> bool {
    prompt.starts_with("[gMASK]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_known_by_their_form() {
        let mark = |text: &str| mark_at(text).map(|mark| (mark.len, mark.opens));
        assert_eq!(mark("<think>\n"), Some((7, true)));
        assert_eq!(mark("</seed:think>x"), Some((13, false)));
        assert_eq!(mark("<|START_THINKING|>"), Some((18, true)));
        assert_eq!(mark("<|END_THINKING|>"), Some((16, false)));
        assert_eq!(mark("[/THINK]"), Some((8, false)));
        assert_eq!(mark("◁/think▷"), Some(("◁/think▷".len(), false)));
        assert_eq!(mark("<channel|>"), Some((10, false)));
        for text in ["", "think", "<|im_start|>", "<think", "<do think of it>"] {
            assert_eq!(mark(text), None, "{text}");
        }
        assert!(is_within("a<think>\nb") && !is_within("<think>a</think>b"));
    }
}
