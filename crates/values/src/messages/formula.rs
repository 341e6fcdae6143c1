//! Strings in CSV files that a spreadsheet would evaluate as a formula.
//!
//! Spreadsheets evaluate a cell if its first character starts a formula (OWASP, "CSV Injection"). A leading apostrophe
//! marks the cell as text. A string that begins like a list or object gets an apostrophe too, so it is read back as a
//! string. The escape is lossless: a string that already has apostrophes before such a character gets one more.

use std::borrow::Cow;

use crate::json::literal::may_be_literal;

/// The characters that begin a formula. Some spreadsheets treat the full-width forms like the usual ones.
const TRIGGERS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Returns `true` if the string is a formula, or begins like a list or object, after any number of apostrophes.
fn needs_escape(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    text.starts_with(TRIGGERS) || may_be_literal(text)
}

/// Adds an apostrophe to a string that a spreadsheet could read as a formula.
///
/// An apostrophe is also added if the string begins like a list or object. Apostrophes that the string already begins
/// with are skipped in this check.
pub fn escaped(text: &str) -> Cow<'_, str> {
    match needs_escape(text) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// Removes the apostrophe that [`escaped`] has added.
///
/// Returns `text` unchanged if it cannot be a result of [`escaped`].
pub fn unescaped(text: &str) -> &str {
    match text.strip_prefix('\'') {
        Some(inner) if needs_escape(inner) => inner,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{TRIGGERS, escaped, unescaped};

    #[test]
    fn a_formula_gets_one_apostrophe() {
        let formulas = [
            "=cmd|' /C calc'!A0",
            "+1",
            "-2+3",
            "-",
            "@SUM(1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "＝1",
            "＠x",
        ];
        for formula in formulas {
            assert_eq!(escaped(formula), format!("'{formula}"));
            assert_eq!(escaped(&format!("'{formula}")), format!("''{formula}"));
        }
        for list in ["[1]", " ['a']", "{\"a\": 1}", "array([1])"] {
            assert_eq!(escaped(list), format!("'{list}"));
        }
        for harmless in [
            "", "a=b", "0-5", " =1", "'", "'tis", "''", "\"=1\"", "a[1]", "é",
        ] {
            assert_eq!(
                (&*escaped(harmless), unescaped(harmless)),
                (harmless, harmless)
            );
        }
    }

    /// All strings of up to six characters of an alphabet.
    #[test]
    fn escaping_is_lossless_and_leaves_no_formula() {
        let mut strings = vec![String::new()];
        for _ in 0..6 {
            let longer: Vec<String> = strings
                .iter()
                .flat_map(|text| "'=-\ta".chars().map(move |c| format!("{text}{c}")))
                .collect();
            strings.extend(longer);
        }
        let strings: HashSet<String> = strings.into_iter().collect();
        assert_eq!(
            strings.len(),
            (0..=6).map(|length| 5_usize.pow(length)).sum::<usize>()
        );
        let cells: HashSet<_> = strings.iter().map(|text| escaped(text)).collect();
        assert_eq!(
            cells.len(),
            strings.len(),
            "different strings have different cells"
        );
        for text in &strings {
            assert!(!escaped(text).starts_with(TRIGGERS), "{text:?}");
            assert_eq!(unescaped(&escaped(text)), text);
        }
    }
}
