//! Parts of messages: errors, escaped strings, suggestions for misspelt names, spreadsheet formulas, hashes.

pub mod error;
pub mod escape;
pub mod formula;
pub mod hash;
pub mod suggest;

/// Formats a count with thousands separators: `1,190`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
