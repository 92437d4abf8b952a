//! How long an engine that is another program may take, and how much it may say.

use std::time::Duration;

/// How long an engine that is another program may take, and how much it may say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolLimits {
    /// From its start to its first answer: a minute by default, because an interpreter
    /// with large libraries on a slow disk takes long.
    pub start: Duration,
    /// For any other answer: 10 seconds by default.
    pub time: Duration,
    /// Bytes of one answer: 64 MiB by default.
    pub answer: usize,
}

impl Default for ProtocolLimits {
    fn default() -> ProtocolLimits {
        ProtocolLimits {
            start: Duration::from_mins(1),
            time: Duration::from_secs(10),
            answer: 64 << 20,
        }
    }
}
