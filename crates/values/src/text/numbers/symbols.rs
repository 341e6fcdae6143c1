//! Strings with one byte per character, so that one scanner reads numbers in all scripts.
//!
//! ASCII is unchanged and not copied. Every other character is mapped to the ASCII character with
//! the same role in a number, or to one of the classes below.

use std::borrow::Cow;

use crate::text::unicode::{
    digit_value, is_invisible, is_mark, is_space, is_superscript, is_vulgar_fraction,
    written_without_spaces,
};

/// A letter with case, which forms a word with the digits after it.
pub(super) const LETTER: u8 = 0x80;
/// A character without a role in numbers.
pub(super) const OTHER: u8 = 0x81;
/// A space that does not end a number: no-break, thin, figure.
pub(super) const GROUP_SPACE: u8 = 0x82;
/// A multiplication sign.
pub(super) const TIMES: u8 = 0x83;
pub(super) const PER_MILLE: u8 = 0x84;
/// A letter without case, of a script with spaces. Digits after it are a number; a hyphen between
/// them joins.
pub(super) const UNCASED: u8 = 0x85;
/// Superscript zero, followed by the other superscript digits, minus and plus.
pub(super) const RAISED: u8 = 0x90;
pub(super) const RAISED_MINUS: u8 = RAISED + 10;
pub(super) const RAISED_PLUS: u8 = RAISED + 11;
/// The first of the vulgar fractions, in the order of [`FRACTIONS`].
pub(super) const FRACTION: u8 = 0xa0;

/// Vulgar fractions with numerator and denominator.
pub(super) const FRACTIONS: [(char, u8, u8); 19] = [
    ('¼', 1, 4),
    ('½', 1, 2),
    ('¾', 3, 4),
    ('⅐', 1, 7),
    ('⅑', 1, 9),
    ('⅒', 1, 10),
    ('⅓', 1, 3),
    ('⅔', 2, 3),
    ('⅕', 1, 5),
    ('⅖', 2, 5),
    ('⅗', 3, 5),
    ('⅘', 4, 5),
    ('⅙', 1, 6),
    ('⅚', 5, 6),
    ('⅛', 1, 8),
    ('⅜', 3, 8),
    ('⅝', 5, 8),
    ('⅞', 7, 8),
    ('↉', 0, 3),
];

/// Returns the value of a vulgar fraction's class.
pub(super) fn fraction(class: u8) -> Option<(u8, u8)> {
    let at = class.checked_sub(FRACTION)?;
    let &(_, numerator, denominator) = FRACTIONS.get(usize::from(at))?;
    Some((numerator, denominator))
}

pub(super) fn symbols(text: &str) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c as u8);
        } else if is_mark(c) {
            // A mark belongs to the letter before it, whatever the role of that letter.
            out.push(match out.last() {
                Some(b'a'..=b'z' | b'A'..=b'Z' | &LETTER) => LETTER,
                Some(&UNCASED) => UNCASED,
                _ => OTHER,
            });
        } else if !is_invisible(c) {
            out.push(class(c));
        }
    }
    Cow::Owned(out)
}

fn class(c: char) -> u8 {
    if let Some(digit) = digit_value(c) {
        return b'0' + digit;
    }
    match c {
        '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => GROUP_SPACE,
        '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => b'-',
        '\u{ff0b}' => b'+',
        '\u{ff0e}' | '\u{66b}' => b'.',
        '\u{ff0c}' | '\u{66c}' => b',',
        '\u{2018}' | '\u{2019}' | '\u{ff07}' => b'\'',
        '\u{2044}' | '\u{2215}' | '\u{ff0f}' => b'/',
        '\u{ff05}' | '\u{66a}' | '\u{fe6a}' => b'%',
        '‰' => PER_MILLE,
        '×' | '·' | '⋅' | '\u{2217}' => TIMES,
        _ if is_currency(c) => b'$',
        _ if is_superscript(c) => raised(c),
        _ if is_vulgar_fraction(c) => vulgar(c),
        _ if is_space(c) => b' ',
        _ if c.is_lowercase() || c.is_uppercase() => LETTER,
        _ if c.is_alphabetic() && !written_without_spaces(c) => UNCASED,
        _ => OTHER,
    }
}

fn is_currency(c: char) -> bool {
    matches!(c, '¢'..='¥' | '\u{20a0}'..='\u{20cf}' | '\u{fe69}' | '\u{ff04}')
        || matches!(c, '\u{ffe0}' | '\u{ffe1}' | '\u{ffe5}' | '\u{ffe6}' | '\u{fdfc}' | '\u{e3f}')
}

fn raised(c: char) -> u8 {
    match c {
        '¹' => RAISED + 1,
        '²' => RAISED + 2,
        '³' => RAISED + 3,
        '\u{207a}' => RAISED_PLUS,
        '\u{207b}' => RAISED_MINUS,
        // The others are in order from superscript zero.
        other => RAISED + (u32::from(other) & 0xf) as u8,
    }
}

fn vulgar(c: char) -> u8 {
    let at = FRACTIONS.iter().position(|&(fraction, ..)| fraction == c);
    at.and_then(|at| u8::try_from(at).ok()).map_or(OTHER, |at| FRACTION + at)
}
