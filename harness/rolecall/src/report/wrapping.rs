//! Text in lines that break between words only.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// A text in lines of at most `width` columns, where no word is wider. What a line has to hand
/// on to a further one begins there after `hang` spaces. Escape codes of colours count nothing.
pub fn wrapped(text: &str, width: usize, hang: usize) -> String {
    let hang = " ".repeat(hang.min(width / 2));
    let options = Options::new(width)
        .subsequent_indent(&hang)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    // What fits is left as it is: textwrap would drop blanks at its end.
    let fitted = |line: &str| {
        if textwrap::core::display_width(line) <= width {
            line.to_owned()
        } else {
            textwrap::fill(line, &options)
        }
    };
    let lines: Vec<String> = text.split('\n').map(fitted).collect();
    lines.join("\n")
}

/// A shell command in lines of at most `width` columns, each after `indent` spaces. All but the
/// last end in a backslash: it can be copied as it stands.
pub(super) fn wrapped_command(command: &str, width: usize, indent: usize) -> String {
    let first = " ".repeat(indent);
    if textwrap::core::display_width(command) + indent <= width {
        return first + command;
    }
    // As wide as the backslash and the space before it.
    let lines = wrapped(&(first + command), width.saturating_sub(2), indent + 2);
    lines.replace('\n', " \\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_left_as_it_is() {
        assert_eq!(wrapped("a  b ", 10, 2), "a  b ");
        assert_eq!(wrapped("a  b ", usize::MAX, 2), "a  b ");
    }

    #[test]
    fn words_stay_whole() {
        assert_eq!(
            wrapped("  one two-three /four/five six", 12, 4),
            "  one\n    two-three\n    /four/five\n    six"
        );
        assert_eq!(
            wrapped("\u{1b}[1mab\u{1b}[0m cd", 5, 0),
            "\u{1b}[1mab\u{1b}[0m cd"
        );
        assert_eq!(
            wrapped("as it is, and endless", usize::MAX, 2),
            "as it is, and endless"
        );
    }

    #[test]
    fn a_command_can_be_copied_from_several_lines() {
        let command = "rolecall show chat plain/user --diff";
        assert_eq!(wrapped_command(command, 80, 2), format!("  {command}"));
        assert_eq!(
            wrapped_command(command, 24, 2),
            "  rolecall show chat \\\n    plain/user --diff"
        );
    }
}
