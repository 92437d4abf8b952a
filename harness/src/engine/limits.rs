//! What a render may use up.

/// What one render may use up. No honest template comes near the defaults.
///
/// How deeply templates, macros, loops and expressions nest is limited by each engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Instructions that may be executed: 5 million unless said, a fraction of a second.
    pub fuel: u64,
    /// Bytes of text and list items that may be produced in all, intermediate values
    /// included: 64 MiB unless said. A template that gathers its prompt in a variable
    /// copies it at every step, and each copy counts.
    pub produced: usize,
    /// Bytes of text that may be looked through in all, as `in` does it: 1 GiB unless
    /// said. Running out of it counts as running out of fuel.
    pub searched: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            fuel: 5_000_000,
            produced: 64 << 20,
            searched: 1 << 30,
        }
    }
}
