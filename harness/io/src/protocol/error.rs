//! Why a program cannot be used as an engine.

/// A program that cannot be used as an engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The command line has no words, or a quote without an end.
    #[error("`{0}` is not a command line: a quote does not end")]
    Command(String),
    /// The program did not start, or not as an engine does.
    #[error("the engine `{command}` cannot be used: {reason}")]
    Start { command: String, reason: String },
}
