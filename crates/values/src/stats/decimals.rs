//! Numbers rounded for people to read.

/// Formats a number with `places` decimals.
///
/// A number that rounds to zero is written without a sign.
pub fn decimals(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    match text.strip_prefix('-') {
        Some(digits) if !digits.contains(|c| matches!(c, '1'..='9' | 'a'..='z')) => {
            digits.to_owned()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Interval;
    use super::decimals;

    #[test]
    fn an_interval_that_rounds_to_zero_has_no_signs() {
        let interval = Interval::new(-0.000_01, -0.0);
        assert_eq!(format!("{interval:.4}"), "[0.0000, 0.0000]");
        assert_eq!(interval.to_string(), "[-0.00001, 0]");
        assert_eq!(serde_json::to_string(&interval).unwrap(), "[-0.00001,0.0]");
        let zero = Interval::new(-0.0, -0.0);
        assert_eq!(serde_json::to_string(&zero).unwrap(), "[0.0,0.0]");
    }

    #[test]
    fn a_number_that_rounds_to_zero_has_no_sign() {
        for (value, places, text) in [
            (-0.0, 4, "0.0000"),
            (-0.000_04, 4, "0.0000"),
            (-0.000_06, 4, "-0.0001"),
            (-0.4, 0, "0"),
            (-0.004, 2, "0.00"),
            (-10.0, 1, "-10.0"),
            (0.25, 1, "0.2"),
            (f64::NEG_INFINITY, 2, "-inf"),
        ] {
            assert_eq!(decimals(value, places), text, "{value:?}");
        }
    }
}
