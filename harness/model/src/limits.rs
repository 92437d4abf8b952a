//! What a render may use up: every limit and its default.

/// What one render in this process may use up. No honest template comes near the defaults:
/// the most that published templates take of fuel, work or output, with any case of the
/// suite, is a hundredth, and a conversation may have thousands of messages.
///
/// None of them looks at a clock: what is exceeded here is exceeded on every machine, so
/// that it can stand in a snapshot. The defaults are such that a pair takes less than a
/// second and less than 256 MiB, whatever the template does.
///
/// How much there may be of a Jinja template is not for choosing. One that has more than
/// 300,000 tokens, of which 10,000 are in one tag, more than 2,000 named blocks, 1,000
/// branches of conditions that are open or a name of more than 200 bytes, or that nests
/// macros and loops around very many tokens, is refused when it is loaded: it exceeds fuel,
/// or recursion where it would be nested. So are parts that nest more deeply than the
/// parser goes, which is 150 levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Steps of a template that may be executed: 5 million unless said, a fraction of a
    /// second.
    pub fuel: u64,
    /// What filters, functions, methods and operators may go through in all: 1 Gi units
    /// unless said. A unit is the time in which a byte is compared or copied: half a
    /// nanosecond or less. A character that is looked at by itself takes more, and an
    /// item of a list or a node of a tree a few hundred. Running out of it counts as
    /// running out of fuel.
    pub work: u64,
    /// Bytes that texts, lists and dictionaries may take that are produced in all,
    /// intermediate values included: 64 MiB unless said. Lists and dictionaries count by
    /// their size in memory, more or less, and at least 512 bytes each. A template that
    /// gathers its prompt in a variable copies it at every step, and each copy counts.
    pub output: usize,
    /// Bytes that a prompt may have: 16 MiB unless said, as much as the largest file that is
    /// read. Running out of it counts as running out of output.
    pub prompt: usize,
    /// How deeply calls may nest, of macros, loops and named templates: 500 unless said,
    /// and never more than [`Limits::DEEPEST`]. How deeply a value may be nested that is
    /// printed, compared or otherwise gone through is not a limit: it fails where Python
    /// raises its `RecursionError`.
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
            prompt: 16 << 20,
            recursion: Limits::DEEPEST,
        }
    }
}
