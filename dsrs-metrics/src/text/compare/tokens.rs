//! The tokens of a normalized string.

use super::Profile;
use crate::text::unicode::piece_ranges;

/// Splits a normalized string into tokens, as byte ranges.
///
/// In the `Dspy` profile tokens are separated by spaces. In the others each letter of a script
/// without spaces is a token too, together with the combining marks that follow it.
pub(super) fn tokens(profile: Profile, normalized: &str) -> Vec<(u32, u32)> {
    let split_scripts = profile != Profile::Dspy && !normalized.is_ascii();
    let mut out = Vec::with_capacity(normalized.len() / 4 + 1);
    let mut at = 0;
    for word in normalized.split(' ').filter(|word| !word.is_empty()) {
        if split_scripts {
            let pieces = piece_ranges(word);
            out.extend(pieces.map(|range| (position(at + range.start), position(at + range.end))));
        } else {
            out.push((position(at), position(at + word.len())));
        }
        // A normalized string has exactly one space between words.
        at += word.len() + 1;
    }
    out
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
