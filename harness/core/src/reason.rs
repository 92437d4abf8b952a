//! Reasons that people give for what is not as it should be.

/// Whether a text is a reason that somebody wrote: not empty, and not the `…` of an example.
pub fn is_reason(text: &str) -> bool {
    !matches!(text.trim(), "" | "…" | "...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_wrote_is_no_reason() {
        for text in ["", " \n", "…", " ... "] {
            assert!(!is_reason(text), "{text:?}");
        }
        assert!(is_reason("It was trained so."));
    }
}
