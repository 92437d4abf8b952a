//! Where the result of a command goes, and how it looks there.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anstream::ColorChoice;
use anstream::adapter::strip_bytes;
use rolecall::file::write_whole;
use rolecall::report::screen::{self, Screen};

use crate::args::{Command, OutputArguments};
use crate::failure::Failure;

/// Where a result goes.
pub(crate) struct Sink {
    to: To,
    /// The last line that has come, where no other one is wanted.
    last: Option<Vec<u8>>,
}

enum To {
    Out(Box<dyn Write>),
    /// Kept until all of it is there.
    File {
        path: PathBuf,
        text: Vec<u8>,
        is_exact: bool,
    },
}

impl Sink {
    /// Says how wide and how coloured everything is, and opens the place for the result.
    pub(crate) fn open(arguments: &OutputArguments, command: &Command) -> Result<Sink, Failure> {
        arguments.color.write_global();
        let is_last_wanted = arguments.quiet && command.ends_with_its_result();
        let results = if is_last_wanted {
            // The last line is one line.
            Some(usize::MAX)
        } else if arguments.output.is_some() {
            None
        } else {
            width(&io::stdout())
        };
        screen::set(Screen {
            results,
            messages: width(&io::stderr()),
            is_quiet: arguments.quiet,
        });
        let is_exact = command.is_exact();
        let to = match &arguments.output {
            Some(_) if matches!(command, Command::Serve(_)) => {
                return Err(Failure::Request(
                    "`serve` answers while it is asked: its answers cannot go into a file"
                        .to_owned(),
                ));
            }
            Some(path) => To::File {
                path: path.clone(),
                text: Vec::new(),
                is_exact,
            },
            // Colour is taken out by a stream that would take control characters of a prompt
            // for parts of it; what programs read goes past it.
            None if is_exact => To::Out(Box::new(io::BufWriter::new(io::stdout()))),
            None => To::Out(Box::new(io::BufWriter::new(anstream::stdout()))),
        };
        Ok(Sink {
            to,
            last: is_last_wanted.then(Vec::new),
        })
    }

    /// Ends the result: a file is there from now on.
    pub(crate) fn close(mut self) -> Result<(), Failure> {
        if let Some(last) = self.last.take() {
            self.to.write_all(&last)?;
        }
        match self.to {
            To::Out(mut out) => Ok(out.flush()?),
            To::File {
                path,
                text,
                is_exact,
            } => {
                let wants_colour = matches!(
                    ColorChoice::global(),
                    ColorChoice::Always | ColorChoice::AlwaysAnsi
                );
                let text = if is_exact || wants_colour {
                    text
                } else {
                    strip_bytes(&text).into_vec()
                };
                Ok(write_whole(&path, text)?)
            }
        }
    }
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            To::Out(out) => out.write(bytes),
            To::File { text, .. } => text.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            To::Out(out) => out.flush(),
            To::File { .. } => Ok(()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(last) = &mut self.last else {
            return self.to.write(bytes);
        };
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_new = last.is_empty() || last.ends_with(b"\n");
            // An empty line ends no report.
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
        self.to.flush()
    }
}

/// The columns of a stream's terminal. Elsewhere the variable `COLUMNS` says it, if it is set.
fn width(stream: &(impl IsTerminal + Terminal)) -> Option<usize> {
    let terminal = stream
        .is_terminal()
        .then(|| stream.columns())
        .flatten()
        .map(usize::from);
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(said).filter(|columns| *columns > 0)
}

/// A stream that may be a terminal.
trait Terminal {
    fn columns(&self) -> Option<u16>;
}

#[cfg(unix)]
impl<T: std::os::fd::AsFd> Terminal for T {
    fn columns(&self) -> Option<u16> {
        terminal_size::terminal_size_of(self).map(|(width, _)| width.0)
    }
}

#[cfg(windows)]
impl<T: std::os::windows::io::AsHandle> Terminal for T {
    fn columns(&self) -> Option<u16> {
        terminal_size::terminal_size_of(self).map(|(width, _)| width.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&str]) -> String {
        let mut sink = Sink {
            to: To::File {
                path: PathBuf::new(),
                text: Vec::new(),
                is_exact: true,
            },
            last: Some(Vec::new()),
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
