//! Floats as Python, Go and JavaScript write them: with the fewest digits that read back as the same
//! number. Where two such texts are equally near, they take the one with the even digit, and Rust's
//! own formatting takes the larger one: 900719925474099.25 is `900719925474099.2` there.

/// A finite float with an exponent, in the form of Rust's `{:e}`: `-1.5e-7`.
pub fn scientific(float: f64) -> String {
    let (sign, digits, exponent) = parts(float);
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}e{exponent}")
}

/// A finite float without an exponent, in the form of Rust's `{}`: `100`, `0.001`.
pub fn decimal(float: f64) -> String {
    let (sign, digits, exponent) = parts(float);
    match usize::try_from(exponent) {
        Err(_) => {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
            format!("{sign}0.{zeros}{digits}")
        }
        Ok(before) if before + 1 < digits.len() => {
            let (whole, fraction) = digits.split_at(before + 1);
            format!("{sign}{whole}.{fraction}")
        }
        Ok(before) => format!("{sign}{digits:0<width$}", width = before + 1),
    }
}

/// The sign, the digits without zeros at their ends, and the power of ten of the first digit.
fn parts(float: f64) -> (&'static str, String, i32) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(float.abs());
    let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let power: i32 = power.parse().unwrap_or_default();
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    let places = |text: &str| i32::try_from(text.len()).unwrap_or_default();
    // The first significant digit may stand before or behind the point.
    let exponent = power + places(whole) - 1 - (places(&digits) - places(significant));
    let sign = if float.is_sign_negative() { "-" } else { "" };
    match significant.trim_end_matches('0') {
        "" => (sign, "0".to_owned(), 0),
        significant => (sign, significant.to_owned(), exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_equally_near_texts_the_even_one_is_taken() {
        assert_eq!(decimal(7_205_759_403_792_794.0 / 8.0), "900719925474099.2");
        assert_eq!(
            scientific(7_205_759_403_792_794.0 / 8.0),
            "9.007199254740992e14"
        );
    }

    #[test]
    fn all_others_are_written_as_by_rust() {
        let mut bits = 1_u64;
        let some = [
            0.0,
            -0.0,
            1.0,
            10.0,
            0.001,
            -1.5e-7,
            5e-324,
            f64::MAX,
            1e22,
            123.0,
            1e15,
            1e16,
        ];
        let many = (0..20_000).map(|_| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from_bits(bits >> 1)
        });
        // Between these, two texts may be equally near.
        let is_clear = |float: &f64| float.is_finite() && !(1e12..1e18).contains(float);
        for float in some.into_iter().chain(many.filter(is_clear)) {
            assert_eq!(decimal(float), format!("{float}"));
            assert_eq!(scientific(float), format!("{float:e}"));
        }
    }
}
