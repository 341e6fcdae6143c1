//! Tokens of normalized text, also in scripts that are written without spaces.

use super::Profile;
use super::unicode::is_mark;

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
            let pieces = Pieces { word, at };
            out.extend(pieces.map(|(start, end)| (position(start), position(end))));
        } else {
            out.push((position(at), position(at + word.len())));
        }
        // Normalized text has exactly one space between words.
        at += word.len() + 1;
    }
    out
}

/// One word, cut where a letter of a script without spaces begins or ends.
pub(super) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    Pieces { word, at: 0 }.filter_map(|(start, end)| word.get(start..end))
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// One word, cut where a letter of a script without spaces begins or ends.
struct Pieces<'a> {
    word: &'a str,
    at: usize,
}

impl Iterator for Pieces<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.word.chars().next()?;
        let alone = written_without_spaces(first);
        let length = self
            .word
            .char_indices()
            .skip(1)
            .find(|&(_, c)| !is_mark(c) && (alone || written_without_spaces(c)))
            .map_or(self.word.len(), |(end, _)| end);
        let start = self.at;
        self.word = &self.word[length..];
        self.at += length;
        Some((start, self.at))
    }
}

/// Scripts whose words are not set apart by spaces: Han, Kana, Bopomofo, Yi, and those of South-East Asia and
/// Tibet. Hangul has spaces and is not among them.
pub(super) fn written_without_spaces(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0FFF         // Thai, Lao, Tibetan
        | 0x1000..=0x109F       // Myanmar
        | 0x1780..=0x17FF       // Khmer
        | 0x1950..=0x19FF       // Tai Le, New Tai Lue, Khmer symbols
        | 0x1A20..=0x1AAF       // Tai Tham
        | 0x1B00..=0x1B7F       // Balinese
        | 0x2E80..=0x2FDF       // Han radicals
        | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3038..=0x303B
        | 0x3041..=0x312F       // Hiragana, Katakana, Bopomofo
        | 0x31A0..=0x31BF | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0xA4CF // Han, Yi
        | 0xA980..=0xA9FF       // Javanese, Myanmar
        | 0xAA60..=0xAADF       // Myanmar, Tai Viet
        | 0xF900..=0xFAFF
        | 0x1_AFF0..=0x1_B16F   // Kana
        | 0x2_0000..=0x3_FFFF)
}
