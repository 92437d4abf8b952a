//! The keys that servers are given.

/// Whether a server may be given the user's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credentials {
    /// The key in `ROLECALL_API_KEY`: the user gave the address on the command line.
    FromEnvironment,
    /// No key: the address is from a file, which somebody else may have written.
    None,
}
