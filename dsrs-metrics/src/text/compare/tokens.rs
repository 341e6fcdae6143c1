//! The tokens of normalized text.

use super::Profile;
use crate::text::unicode::piece_ranges;

/// Cuts normalized text into tokens, as byte ranges.
///
/// In the `Dspy` profile a token is what stands between spaces. In the others every letter of a script without
/// spaces is a token of its own, together with the combining marks that follow it.
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
        // Normalized text has exactly one space between words.
        at += word.len() + 1;
    }
    out
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
