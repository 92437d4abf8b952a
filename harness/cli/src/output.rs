//! The output of a command: its destination and its style.

// The exact bytes of results for programs leave here.
#![allow(clippy::disallowed_methods)]

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;

use crate::report::clean::{self, Clean};
use crate::report::screen::{self, Screen};
use anstream::{AutoStream, ColorChoice};
use rolecall_core::file::write_whole;

use crate::args::{Command, OutputArguments};
use crate::data::{Data, Guard};
use crate::failure::{Failure, tell};
use crate::terminal;

/// The output stream of a command.
pub(crate) struct Sink {
    to: Destination,
    /// The last line so far, if the user wants only that one.
    last: Option<Vec<u8>>,
    /// For output that is for programs.
    guard: Option<Guard>,
    /// Whether a program asks and waits for answers. Without it there is nothing to do.
    is_protocol: bool,
}

enum Destination {
    /// A pipe or file that gets the exact bytes.
    Exact(Box<dyn Write>),
    /// For people: nothing in it is obeyed by a terminal.
    Shown(Clean<Box<dyn Write>>),
    /// Everything is held back until it is complete.
    File { path: PathBuf, text: Vec<u8> },
    /// The reader closed the pipe, as `| head` does. The command still finds out how it ends.
    Nobody,
}

impl Sink {
    /// Sets the width and the colours of everything, and opens the destination of the result.
    pub(crate) fn open(arguments: &OutputArguments, command: &Command) -> Result<Sink, Failure> {
        arguments.color.write_global();
        let is_last_wanted = arguments.quiet && command.ends_with_its_result();
        let results = if is_last_wanted {
            // Without a width, a line is never wrapped, so the last line stays one line.
            Some(usize::MAX)
        } else if arguments.output.is_some() {
            None
        } else {
            terminal::of_results()
        };
        screen::set(Screen {
            results,
            messages: terminal::of_messages(),
            has_colours: arguments.output.is_none()
                && AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            is_quiet: arguments.quiet,
        });
        let data = command.data();
        let to = match &arguments.output {
            Some(_) if matches!(command, Command::Serve { .. }) => {
                return Err(Failure::Request(
                    "`serve` answers while it is asked: its answers cannot go into a file"
                        .to_owned(),
                ));
            }
            None if matches!(command, Command::MockModel(_)) && io::stdout().is_terminal() => {
                return Err(Failure::Request(
                    "a model is no text for a terminal\n  name a file for it: --output mock.gguf"
                        .to_owned(),
                ));
            }
            Some(path) => Destination::File {
                path: path.clone(),
                text: Vec::new(),
            },
            // Output for programs is for programs: a terminal would obey its content.
            None if data.is_some() && (is_protocol(command) || !io::stdout().is_terminal()) => {
                Destination::Exact(Box::new(io::BufWriter::new(io::stdout())))
            }
            None if matches!(data, Some(Data::Own | Data::Annotations)) => {
                Destination::Shown(clean::results().with_commands())
            }
            None => Destination::Shown(clean::results()),
        };
        let is_stdout = matches!(to, Destination::Exact(_));
        Ok(Sink {
            guard: data.map(|data| Guard::new(data, is_stdout)),
            to,
            last: is_last_wanted.then(Vec::new),
            is_protocol: is_protocol(command),
        })
    }

    /// Finishes the result. If it goes to a file, the file exists from now on.
    pub(crate) fn close(mut self) -> Result<(), Failure> {
        if let Some(last) = self.last.take() {
            self.write_all(&last)?;
        }
        match self.to {
            Destination::Nobody => Ok(()),
            Destination::Exact(mut out) => Ok(heard(out.flush())?),
            Destination::Shown(out) => {
                let has_replaced = out.has_replaced();
                heard(out.finish().map(drop))?;
                if self.guard.is_some() && has_replaced {
                    tell(
                        "characters that a terminal would obey are shown as ⟦U+…⟧: a pipe or \
                         `--output` has the exact bytes",
                    );
                }
                Ok(())
            }
            Destination::File { path, text } => {
                let wants_colour = matches!(
                    ColorChoice::global(),
                    ColorChoice::Always | ColorChoice::AlwaysAnsi
                );
                let text = if self.guard.is_some() {
                    text
                } else if wants_colour {
                    let mut clean = Clean::new(Vec::new());
                    clean.write_all(&text)?;
                    clean.finish()?
                } else {
                    // The styles are for a terminal. `--color always` is for whoever shows the file in
                    // one.
                    clean::plain(&text).into_bytes()
                };
                Ok(write_whole(&path, text)?)
            }
        }
    }
}

/// A result, unless nobody hears it any more.
fn heard(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Whether a command speaks with a program over its standard streams, terminal or not.
fn is_protocol(command: &Command) -> bool {
    matches!(command, Command::Serve { .. })
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Destination::Exact(out) => out.write(bytes),
            Destination::Shown(out) => out.write(bytes),
            Destination::File { text, .. } => text.write(bytes),
            Destination::Nobody => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Destination::Exact(out) => out.flush(),
            Destination::Shown(out) => out.flush(),
            Destination::File { .. } | Destination::Nobody => Ok(()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(last) = &mut self.last else {
            let passed = match &mut self.guard {
                Some(guard) => guard.pass(bytes)?,
                None => Cow::Borrowed(bytes),
            };
            return match self.to.write_all(&passed) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe && !self.is_protocol => {
                    self.to = Destination::Nobody;
                    Ok(bytes.len())
                }
                written => written.map(|()| bytes.len()),
            };
        };
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_new = last.is_empty() || last.ends_with(b"\n");
            // A report does not end with an empty line.
            if is_new && line == b"\n" {
                continue;
            }
            if is_new {
                last.clear();
            }
            last.extend_from_slice(line);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.to.flush();
        if self.is_protocol {
            flushed
        } else {
            heard(flushed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&str]) -> String {
        let mut sink = Sink {
            to: Destination::File {
                path: PathBuf::new(),
                text: Vec::new(),
            },
            last: Some(Vec::new()),
            guard: None,
            is_protocol: false,
        };
        for piece in pieces {
            sink.write_all(piece.as_bytes()).unwrap();
        }
        String::from_utf8(sink.last.unwrap()).unwrap()
    }

    #[test]
    fn the_last_line_is_kept_however_it_comes() {
        assert_eq!(kept(&["one\ntwo\n", "th", "ree\n"]), "three\n");
        assert_eq!(kept(&["one\n", "\n", "two\n\n"]), "two\n");
        assert_eq!(kept(&[]), "");
    }
}
