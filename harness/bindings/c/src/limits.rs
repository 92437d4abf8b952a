//! The limits of a render, as C programs set them.

use rolecall_core::Limits;

/// The limits of one render. 0 means the default. No limit uses a clock: a render that exceeds one
/// does so on every machine. `rolecall_limits limits = {0};` sets no limit of your own.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct rolecall_limits {
    /// The most steps of the template: 5 million by default.
    pub fuel: u64,
    /// The most work of filters, functions and operators: 1 Gi units by default. A unit is the time
    /// to compare or copy a byte.
    pub work: u64,
    /// The most bytes of all values that a render produces: 64 MiB by default.
    pub output: u64,
    /// The most bytes of a prompt: 16 MiB by default.
    pub prompt: u64,
    /// How deeply loops, macros and named templates may nest: 500 by default, and at most.
    pub recursion: u64,
}

impl rolecall_limits {
    /// Puts these limits into the place of others, except for zeros.
    pub(crate) fn over(self, others: &Limits) -> Limits {
        let number = |own: u64, other: u64| if own == 0 { other } else { own };
        let size = |own: u64, other: usize| match usize::try_from(own) {
            Ok(0) => other,
            own => own.unwrap_or(usize::MAX),
        };
        Limits {
            fuel: number(self.fuel, others.fuel),
            work: number(self.work, others.work),
            output: size(self.output, others.output),
            prompt: size(self.prompt, others.prompt),
            recursion: size(self.recursion, others.recursion),
        }
    }
}
