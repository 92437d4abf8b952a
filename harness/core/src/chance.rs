//! Random choices that a seed decides: the same seed gives the same choices on every machine.

/// A source of random choices. The numbers come from `SplitMix64`, so that a seed keeps its meaning
/// when crates change.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The choices for the thing with this number, of all things that come from one seed.
    pub fn of(seed: u64, number: u64) -> Chance {
        let mut chance = Chance(seed);
        let first = chance.next();
        Chance(first ^ number.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        // The upper half of the product needs no division, and no loop that throws numbers away: how
        // many numbers a choice takes never depends on the numbers themselves.
        let product = u128::from(self.next()) * (end as u128);
        // It is less than `end`.
        usize::try_from(product >> 64).unwrap_or_default()
    }

    /// True with a chance of one in `many`.
    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// True with a chance of this many in a hundred.
    pub fn percent(&mut self, chances: usize) -> bool {
        self.below(100) < chances
    }

    /// One of some things, if there are any.
    pub fn any<'t, T>(&mut self, things: &'t [T]) -> Option<&'t T> {
        things.get(self.below(things.len()))
    }

    /// One of some words.
    pub fn word<'w>(&mut self, words: &[&'w str]) -> &'w str {
        self.any(words).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_everything() {
        let numbers = |seed, number| {
            let mut chance = Chance::of(seed, number);
            [0; 8].map(|_: usize| chance.below(1000))
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
    }

    #[test]
    fn choices_are_among_what_there_is() {
        let mut chance = Chance::of(1, 1);
        assert_eq!(chance.below(0), 0);
        assert_eq!(chance.any::<u8>(&[]), None);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[chance.below(5)] = true;
        }
        assert_eq!(seen, [true; 5]);
    }
}
