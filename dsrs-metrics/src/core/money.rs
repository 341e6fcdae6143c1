//! Amounts of money as users write them.

/// Parses `5000 msat` or `5 sat` as millisatoshis.
pub(crate) fn money(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let msats_per_unit = match unit {
        "msat" | "msats" => 1,
        "sat" | "sats" => 1000,
        _ => return Err("expected a whole number of msat or sat, as in \"5000 msat\"".to_owned()),
    };
    let msats = number.parse::<u64>().ok().and_then(|number| number.checked_mul(msats_per_unit));
    msats.ok_or_else(|| {
        format!("expected a whole number of msat of at most 64 bits, found `{text}`")
    })
}

#[cfg(test)]
mod tests {
    use super::money;

    #[test]
    fn money_has_a_unit() {
        assert_eq!(["5000 msat", "5sat", "1_000 msats"].map(money), [Ok(5000), Ok(5000), Ok(1000)]);
        for invalid in ["5000", "-1 msat", "0.5 sat", "5 USD", ""] {
            assert!(money(invalid).unwrap_err().contains("\"5000 msat\""), "{invalid}");
        }
        assert!(money("99999999999999999999 msat").unwrap_err().contains("64 bits"));
    }
}
