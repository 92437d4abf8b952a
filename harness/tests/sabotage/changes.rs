//! The changes that sabotage makes to a byte.

use std::fmt;

/// How many changes to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One change for every byte.
    Little,
    Everything,
}

/// One change of one file at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Flips one bit of the byte.
    Bit(u8),
    /// Removes the byte.
    Deleted,
    Doubled,
    /// Inserts another byte before it, or at the end of the file.
    Inserted(u8),
    /// Changes the case of an ASCII letter.
    Case,
}

impl Change {
    /// The changes at a place of a file, which may be its end. A sample changes one bit, a
    /// different one from place to place, and at every fourth place makes one more change in turn.
    /// A whole run makes every change.
    pub(crate) fn at(bytes: &[u8], at: usize, extent: Extent) -> Vec<Change> {
        let Some(byte) = bytes.get(at) else {
            return b" \n\rx\0".map(Change::Inserted).to_vec();
        };
        let mut others = vec![
            Change::Deleted,
            Change::Doubled,
            Change::Inserted(b' '),
            Change::Inserted(b'\n'),
        ];
        if byte.is_ascii_alphabetic() {
            others.push(Change::Case);
        }
        if *byte == b'\n' {
            others.push(Change::Inserted(b'\r'));
        }
        let bits = (0..8).map(|bit| Change::Bit(1 << bit));
        match extent {
            Extent::Everything => bits.chain(others).collect(),
            Extent::Little => {
                let bit = Change::Bit(1 << ((at + at / 8) % 8));
                let other = others[at / 4 % others.len()];
                let others = at.is_multiple_of(4).then_some(other);
                std::iter::once(bit).chain(others).collect()
            }
        }
    }

    pub(crate) fn apply(self, bytes: &[u8], at: usize) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        match self {
            Change::Bit(bit) => changed[at] ^= bit,
            Change::Deleted => {
                changed.remove(at);
            }
            Change::Doubled => changed.insert(at, bytes[at]),
            Change::Inserted(byte) => changed.insert(at, byte),
            Change::Case => changed[at] ^= 0x20,
        }
        changed
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Bit(bit) => write!(f, "bit {bit:#04x} flipped"),
            Change::Deleted => f.write_str("deleted"),
            Change::Doubled => f.write_str("doubled"),
            Change::Inserted(byte) => write!(f, "{:?} inserted", char::from(*byte)),
            Change::Case => f.write_str("in the other case"),
        }
    }
}
