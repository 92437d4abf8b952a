//! What a render may use up: every limit and its default.

use std::time::Duration;

/// What one render in this process may use up. No honest template comes near the defaults.
///
/// None of them looks at a clock: what is exceeded here is exceeded on every machine, so
/// that it can stand in a snapshot. The defaults are such that a pair takes less than a
/// second and less than 256 MiB.
///
/// How deeply the parts of a template may nest on the page is limited by its parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Steps of a template that may be executed: 5 million unless said, a fraction of a
    /// second.
    pub fuel: u64,
    /// Bytes of text and items of lists that filters, functions, methods and operators may
    /// go through in all: 1 Gi unless said. Running out of it counts as running out of
    /// fuel.
    pub work: u64,
    /// Bytes of text and of lists that may be produced in all, intermediate values
    /// included: 64 MiB unless said. A template that gathers its prompt in a variable
    /// copies it at every step, and each copy counts.
    pub output: usize,
    /// How deeply calls may nest, of macros, loops and named templates: 500 unless said,
    /// and never more than [`Limits::DEEPEST`].
    pub recursion: usize,
}

impl Limits {
    /// The deepest recursion that the stack of a render has room for.
    pub const DEEPEST: usize = 500;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            fuel: 5_000_000,
            work: 1 << 30,
            output: 64 << 20,
            recursion: Limits::DEEPEST,
        }
    }
}

/// How long an engine that is another program may take, and how much it may say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolLimits {
    /// From its start to its first answer: a minute unless said, for an interpreter with
    /// large libraries on a slow disk takes its time.
    pub start: Duration,
    /// For any other answer: 10 seconds unless said.
    pub time: Duration,
    /// Bytes of one answer: 64 MiB unless said.
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
