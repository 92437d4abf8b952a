//! Numbers as people read them.

/// A number with separated thousands: `7,413`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 pair`, `7,413 pairs`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        thousands(number),
        if number == 1 { one } else { many }
    )
}

/// A share in per cent, rounded down: `100 %` means all.
pub fn percent(part: usize, whole: usize) -> String {
    if part == whole {
        return "100 %".to_owned();
    }
    let hundredths = part.saturating_mul(10_000) / whole.max(1);
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
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

    #[test]
    fn only_all_are_a_hundred_per_cent() {
        assert_eq!(percent(0, 0), "100 %");
        assert_eq!(percent(7, 7), "100 %");
        assert_eq!(percent(99_999, 100_000), "99.99 %");
        assert_eq!(percent(1, 3), "33.33 %");
        assert_eq!(percent(0, 3), "0.00 %");
    }
}
