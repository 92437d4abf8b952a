//! The files that insta keeps: a header between two `---` lines, a text, and a line break.
//!
//! They are read here without insta's own comparison, which trims the text and folds line
//! endings: what is accepted is compared byte by byte.

/// The test of the suite that accepts snapshots: insta names it in the headers.
const TEST: &str = "harness/tests/suite/review.rs";

/// What insta writes for the test of the suite: which test it was, which input, and the text.
pub(super) fn written(input: &str, text: &str) -> String {
    format!("{}{text}\n", header(input))
}

pub(super) fn header(input: &str) -> String {
    format!("---\nsource: {TEST}\ninput_file: {input}\n---\n")
}

/// The header before the text in a suite of one's own, where no test accepts anything.
pub(super) const OWN_HEADER: &str = "---\nsource: rolecall accept\n---\n";

/// The text in an insta file.
pub fn contents(file: &str) -> Option<&str> {
    let (_, contents) = file.strip_prefix("---\n")?.split_once("\n---\n")?;
    Some(contents.strip_suffix('\n').unwrap_or(contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_not_part_of_a_snapshot() {
        let file = "---\nsource: x\nexpression: y\n---\nrendered\na␊\n---␊\n␃\n";
        assert_eq!(contents(file), Some("rendered\na␊\n---␊\n␃"));
        assert_eq!(contents("rendered\n␃\n"), None);
        assert_eq!(
            contents("---\r\nsource: x\r\n---\r\nrendered\r\n␃\r\n"),
            None
        );
    }
}
