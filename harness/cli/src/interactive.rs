//! A person's answers: keys on a terminal, or lines where there is none.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::report::clean;
use console::{Key, Term};

/// What a person says to a question of `review`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is as it should be.
    Accept,
    Reject,
    Skip,
    /// Show everything of it.
    Whole,
    /// Accept this and everything after it.
    AcceptAll,
    /// Stop here, and keep the decisions.
    Quit,
}

impl Answer {
    fn of(key: char) -> Option<Answer> {
        match key {
            'a' | 'y' => Some(Answer::Accept),
            'r' | 'n' => Some(Answer::Reject),
            's' => Some(Answer::Skip),
            'w' => Some(Answer::Whole),
            'A' => Some(Answer::AcceptAll),
            'q' => Some(Answer::Quit),
            _ => None,
        }
    }
}

/// Asks until the answer is one of the known keys. The end of the input is [`Answer::Quit`], and so
/// are Escape and Ctrl-D. `left` is the count of what "accept all" accepts.
pub(crate) fn ask(question: &str, left: usize) -> io::Result<Answer> {
    loop {
        let mut messages = clean::messages();
        write!(
            messages,
            "{question} a accept (or y), r reject (or n), s skip, w show whole, A accept all {left}, \
             q quit: "
        )?;
        messages.flush()?;
        let Some(key) = key()? else {
            writeln!(messages)?;
            return Ok(Answer::Quit);
        };
        // The terminal does not echo a key that is read alone.
        writeln!(messages, "{}", if key.is_control() { ' ' } else { key })?;
        match Answer::of(key) {
            Some(answer) => return Ok(answer),
            None => writeln!(messages, "this key is no answer")?,
        }
    }
}

/// Whether a person agrees. None if nobody is at a terminal.
#[cfg(feature = "fetch")]
#[allow(clippy::disallowed_methods)] // only asks whether it is a terminal
pub(crate) fn agrees(question: &str) -> io::Result<Option<bool>> {
    if !io::stdin().is_terminal() || !Term::stderr().is_term() {
        return Ok(None);
    }
    let mut messages = clean::messages();
    write!(messages, "{question} y yes, any other key no: ")?;
    messages.flush()?;
    let key = key()?;
    writeln!(messages)?;
    Ok(Some(matches!(key, Some('y' | 'Y'))))
}

/// The next key, or the first character of the next line. None at the end.
#[allow(clippy::disallowed_methods)] // a person's keys
fn key() -> io::Result<Option<char>> {
    let stdin = io::stdin();
    let terminal = Term::stderr();
    if stdin.is_terminal() && terminal.is_term() {
        forget_typed(&stdin);
        return Ok(match terminal.read_key()? {
            Key::Escape | Key::Char('\u{4}') => None,
            Key::Char(c) => Some(c),
            // An arrow or a function key is no answer, but it does not end the review either.
            _ => Some('\n'),
        });
    }
    let mut line = String::new();
    if stdin.lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(line.trim().chars().next().unwrap_or('\n')))
}

/// Forgets the keys typed before: it was no answer to this question.
#[cfg(unix)]
fn forget_typed(stdin: &io::Stdin) {
    use rustix::termios::{QueueSelector, tcflush};
    // A terminal that cannot forget asks all the same.
    let _ = tcflush(stdin, QueueSelector::IFlush);
}

#[cfg(not(unix))]
fn forget_typed(_: &io::Stdin) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_question_has_an_answer() {
        for key in "ayrnswAq".chars() {
            assert!(Answer::of(key).is_some(), "{key}");
        }
        assert_eq!(Answer::of('x'), None);
    }
}
