//! Scripts that are written without spaces between words.

use std::ops::Range;

use super::is_mark;

/// Splits a word where a letter of a script without spaces begins or ends, into byte ranges.
pub(in crate::text) fn piece_ranges(word: &str) -> impl Iterator<Item = Range<usize>> {
    Pieces { rest: word, at: 0 }
}

struct Pieces<'a> {
    rest: &'a str,
    at: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.rest.chars().next()?;
        let alone = written_without_spaces(first);
        let length = self
            .rest
            .char_indices()
            .skip(1)
            .find(|&(_, c)| !is_mark(c) && (alone || written_without_spaces(c)))
            .map_or(self.rest.len(), |(end, _)| end);
        let start = self.at;
        self.rest = &self.rest[length..];
        self.at += length;
        Some(start..self.at)
    }
}

/// Whether the character belongs to a script that does not separate words by spaces: Han, Kana,
/// Bopomofo, Yi, and the scripts of South-East Asia and Tibet. Hangul has spaces and is not one of them.
pub(in crate::text) fn written_without_spaces(c: char) -> bool {
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
