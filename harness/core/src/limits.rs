//! The limits of a render and their defaults.

/// The limits of one render in this process. No honest template comes near the defaults: with the
/// cases of the suite, published templates use at most a hundredth of the fuel, work or output. A
/// conversation may have thousands of messages.
///
/// No limit uses a clock. A render that exceeds one does so on every machine, so a snapshot can
/// hold the outcome. With the defaults a pair takes less than a second and less than 256 MiB,
/// whatever the template does.
///
/// The size of a Jinja template has fixed limits: 300,000 tokens in all, 10,000 in one tag, 2,000
/// named blocks, 1,000 open branches of conditions, 200 bytes for a name, and a bound on tokens
/// within nested macros and loops. The engine refuses a larger template when it loads it. The
/// outcome is that it exceeds fuel, or recursion if it nests too deeply. The parser goes down 150
/// levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most steps of a template: 5 million by default, a fraction of a second.
    pub fuel: u64,
    /// The most work of filters, functions, methods and operators together: 1 Gi units by default.
    /// A unit is the time to compare or copy a byte: half a nanosecond or less. To look at a single
    /// character costs more units, and an item of a list or a node of a tree costs a few hundred.
    /// To exceed it counts as exceeding fuel.
    pub work: u64,
    /// The most bytes of all texts, lists and dictionaries that a render produces, with
    /// intermediate values: 64 MiB by default. Lists and dictionaries count by their approximate
    /// size in memory, at least 512 bytes each. A template that gathers its prompt in a variable
    /// copies it at every step, and each copy counts.
    pub output: usize,
    /// The most bytes of a prompt: 16 MiB by default, as for the largest file that Rolecall reads.
    /// To exceed it counts as exceeding output.
    pub prompt: usize,
    /// How deeply calls of macros, loops and named templates may nest: 500 by default, and never
    /// more than [`Limits::DEEPEST`]. The nesting of values is not a limit: to print or compare a
    /// value fails where Python raises its `RecursionError`.
    pub recursion: usize,
}

impl Limits {
    /// The deepest recursion that the stack of a render has room for.
    pub const DEEPEST: usize = 500;

    /// The default limits on work and size, divided by a number: for renders of which there are many.
    #[must_use]
    pub fn shared_by(renders: usize) -> Limits {
        let whole = Limits::default();
        Limits {
            fuel: whole.fuel / renders as u64,
            work: whole.work / renders as u64,
            output: whole.output / renders,
            prompt: whole.prompt / renders,
            ..whole
        }
    }
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
