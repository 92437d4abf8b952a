//! How findings write texts of prompts.

/// White space in words.
pub(in crate::contract) fn spelt(gap: &str) -> String {
    match gap {
        "" => "nothing".to_owned(),
        gap => shown(gap),
    }
}

/// A text in backquotes, with its line breaks written out.
pub(in crate::contract) fn shown(text: &str) -> String {
    format!("`{}`", text.replace('\n', "\\n"))
}
