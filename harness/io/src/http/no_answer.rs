//! Why there is no answer.

use std::io::ErrorKind;

/// Why a server gives no answer, or not all of it. The caller adds the server's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    Unreachable(String),
    TimedOut,
    /// The connection ended before the answer did.
    CutOff(String),
    /// The answer is larger than it may be.
    TooLarge,
}

impl From<ureq::Error> for NoAnswer {
    fn from(error: ureq::Error) -> NoAnswer {
        let why = error.to_string();
        match error {
            ureq::Error::Timeout(_) => NoAnswer::TimedOut,
            ureq::Error::HostNotFound => NoAnswer::Unreachable("its name is not known".to_owned()),
            ureq::Error::Io(error) => match error.kind() {
                ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof => NoAnswer::CutOff(why),
                // On Unix a socket whose time ran out reports that it would block.
                ErrorKind::TimedOut | ErrorKind::WouldBlock => NoAnswer::TimedOut,
                _ => NoAnswer::Unreachable(why),
            },
            ureq::Error::Protocol(_) => NoAnswer::CutOff(why),
            _ => NoAnswer::Unreachable(why),
        }
    }
}
