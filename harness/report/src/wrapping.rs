//! Text that is wrapped between words only.

use std::io::{self, Write};

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use super::screen;

/// A text in lines of at most `width` columns, except for wider words. A continued line begins with
/// `hang` spaces. Escape codes of colours have no width.
pub fn wrapped(text: &str, width: usize, hang: usize) -> String {
    let hang = " ".repeat(hang.min(width / 2));
    let options = Options::new(width)
        .subsequent_indent(&hang)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    // Lines that fit stay as they are: textwrap would remove spaces at their ends.
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

/// Writes a text in lines that fit the screen; see [`wrapped`].
pub fn paragraph(out: &mut dyn Write, text: &str, hang: usize) -> io::Result<()> {
    writeln!(out, "{}", wrapped(text, screen::width(), hang))
}

/// Stands for a space of a word in quotes while a command is wrapped.
const SPACE: char = '\u{a0}';

/// A shell command in lines of at most `width` columns, each after `indent` spaces. All lines but
/// the last end in a backslash, and no word in quotes is broken, so people can copy the command.
pub(super) fn wrapped_command(command: &str, width: usize, indent: usize) -> String {
    let first = " ".repeat(indent);
    if textwrap::core::display_width(command) + indent <= width || command.contains(SPACE) {
        return first + command;
    }
    let mut quote = None;
    let whole = command.chars().map(|c| {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (Some(_), ' ') => return SPACE,
            _ => {}
        }
        c
    });
    let whole: String = whole.collect();
    // Two columns for the space and the backslash.
    let lines = wrapped(&(first + &whole), width.saturating_sub(2), indent + 2);
    lines.replace('\n', " \\\n").replace(SPACE, " ")
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
        assert_eq!(
            wrapped_command("rolecall show 'my own chat' plain/user", 24, 2),
            "  rolecall show \\\n    'my own chat' \\\n    plain/user"
        );
    }
}
