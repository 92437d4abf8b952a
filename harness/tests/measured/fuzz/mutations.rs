//! Inputs that resemble what somebody wrote.

use std::sync::Arc;

use proptest::prelude::*;

pub(super) type Inputs = BoxedStrategy<Vec<u8>>;

/// One change of an input. Places are fractions of the whole, from 0 to `u32::MAX`, so that they
/// mean something in a text of any length.
#[derive(Debug, Clone)]
enum Change {
    Word(u32, String),
    /// Removes a range.
    Cut(u32, u16),
    /// Repeats a range several times.
    Again(u32, u16, u8),
    /// Inserts a range of another seed.
    Splice(u32, u32, u16),
    Byte(u32, u8),
}

/// Seeds with a few changes.
pub(super) fn inputs(seeds: Vec<Vec<u8>>, words: Vec<String>) -> Inputs {
    let seeds = Arc::new(seeds);
    let change = prop_oneof![
        6 => (any::<u32>(), prop::sample::select(words)).prop_map(|(at, word)| Change::Word(at, word)),
        2 => (any::<u32>(), 0..200_u16).prop_map(|(at, len)| Change::Cut(at, len)),
        1 => (any::<u32>(), 0..100_u16, 1..60_u8)
            .prop_map(|(at, len, times)| Change::Again(at, len, times)),
        2 => (any::<u32>(), any::<u32>(), 0..200_u16)
            .prop_map(|(at, from, len)| Change::Splice(at, from, len)),
        1 => (any::<u32>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
    ];
    let first = 0..seeds.len();
    let second = 0..seeds.len();
    (first, second, prop::collection::vec(change, 0..12))
        .prop_map(move |(seed, other, changes)| {
            let mut input = seeds[seed].clone();
            for change in changes {
                apply(&mut input, &change, &seeds[other]);
            }
            input
        })
        .boxed()
}

fn apply(input: &mut Vec<u8>, change: &Change, other: &[u8]) {
    match change {
        Change::Word(at, word) => {
            let at = place(*at, input.len());
            input.splice(at..at, word.bytes());
        }
        Change::Cut(at, len) => {
            input.drain(range(*at, *len, input.len()));
        }
        Change::Again(at, len, times) => {
            let range = range(*at, *len, input.len());
            let part = input[range.clone()].repeat(usize::from(*times));
            input.splice(range.end..range.end, part);
        }
        Change::Splice(at, from, len) => {
            let at = place(*at, input.len());
            let part = other[range(*from, *len, other.len())].to_vec();
            input.splice(at..at, part);
        }
        Change::Byte(at, byte) => {
            let at = place(*at, input.len());
            if let Some(found) = input.get_mut(at) {
                *found = *byte;
            }
        }
    }
}

/// The place in a text of this length that a fraction means.
#[allow(clippy::cast_possible_truncation)] // a place in a vector
fn place(part: u32, length: usize) -> usize {
    ((u64::from(part) * (length as u64 + 1)) >> 32) as usize
}

fn range(part: u32, length: u16, whole: usize) -> std::ops::Range<usize> {
    let begin = place(part, whole).min(whole);
    begin..(begin + usize::from(length)).min(whole)
}
