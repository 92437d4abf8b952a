//! What a person or a program reads: the only place that writes results.
//!
//! Reports write to whatever they are given; colour is always in the text and is taken
//! out by the stream where nobody wants it.

pub mod annotations;
pub mod card;
pub mod check;
pub mod difference;
pub mod grid;
pub mod html;
pub mod jsonl;
pub mod junit;
pub mod listing;
pub mod parity;
pub mod problems;
pub mod progress;
pub mod references;
pub mod summary;
pub mod transcripts;

mod columns;
mod style;

/// A number with its thousands apart: `7,413`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 pair`, `7,413 pairs`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        thousands(number),
        if number == 1 { one } else { many }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1000), "1,000");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(counted(1, "pair", "pairs"), "1 pair");
    }
}
