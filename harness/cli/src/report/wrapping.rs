//! Text that is wrapped between words only.

use std::io::{self, Write};

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use super::screen;
use super::style::{QUIET, Styled};

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

/// A line of advice: the purpose and the command.
pub(crate) fn advice(what: &str, how: &str) -> String {
    let width = screen::of_messages();
    if !how.is_empty() && 3 + what.len() + how.len() <= width {
        return format!("  {} {how}", Styled(QUIET, what));
    }
    let what = wrapped(&format!("  {}", Styled(QUIET, what)), screen::width(), 2);
    if how.is_empty() {
        return what;
    }
    format!("{what}\n{}", wrapped_command(how, width, 4))
}

/// A shell command in lines of at most `width` columns, each after `indent` spaces. All lines but
/// the last end in a backslash, and what is in quotes stays in one line, so people can copy the
/// command.
pub(crate) fn wrapped_command(command: &str, width: usize, indent: usize) -> String {
    let first = " ".repeat(indent);
    if textwrap::core::display_width(command) + indent <= width {
        return first + command;
    }
    // Two columns for the space and the backslash.
    let room = width.saturating_sub(2);
    let hang = " ".repeat((indent + 2).min(room / 2));
    let mut lines = Vec::new();
    let mut line = first;
    let mut is_empty = true;
    for word in shell_words(command) {
        let width = textwrap::core::display_width(&line) + textwrap::core::display_width(word);
        if !is_empty && width + 1 > room {
            lines.push(std::mem::replace(&mut line, hang.clone()));
        } else if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines.join(" \\\n")
}

/// The words of a shell command as they are written, with their quotes.
fn shell_words(command: &str) -> Vec<&str> {
    let mut quote = None;
    let is_between = |c: char| {
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            _ => {}
        }
        quote.is_none() && c == ' '
    };
    let words = command.split(is_between);
    words.filter(|word| !word.is_empty()).collect()
}

/// Writes items, with an empty line between them.
pub fn each<T>(
    out: &mut dyn Write,
    items: &[T],
    mut write: impl FnMut(&mut dyn Write, &T) -> io::Result<()>,
) -> io::Result<()> {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write(out, item)?;
    }
    Ok(())
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
    fn what_is_in_quotes_is_not_broken() {
        let command = "rolecall show chat plain/user --engine 'node an adapter.mjs' --diff";
        let lines = wrapped_command(command, 30, 2);
        assert_eq!(
            lines,
            "  rolecall show chat \\\n    plain/user --engine \\\n    'node an adapter.mjs' \\\n    --diff"
        );
        let typed = lines.replace("\\\n", "");
        assert_eq!(shlex::split(&typed), shlex::split(command));
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
