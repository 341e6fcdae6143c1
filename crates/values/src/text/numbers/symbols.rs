//! Strings with one byte per character, so that one scanner reads numbers in all scripts.
//!
//! ASCII is unchanged and not copied. Every other character is mapped to the ASCII character with
//! the same role in a number, or to one of the classes below.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

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
/// A thin space or a comma in braces, which separates only the groups of one number: `10\,000`, `10{,}000`.
pub(super) const GROUP: u8 = 0x84;
/// A letter without case, of a script with spaces. Digits after it are a number; a hyphen between
/// them joins.
pub(super) const UNCASED: u8 = 0x86;
/// A fraction; its numerator and denominator follow.
pub(super) const FRACTION: u8 = 0x87;
/// A function, constant or sign that is not evaluated, such as a root.
pub(super) const OPAQUE: u8 = 0x88;

pub(super) fn symbols(text: &str) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut is_raised = false;
    for c in text.chars() {
        if is_superscript(c) != is_raised {
            is_raised = !is_raised;
            out.extend_from_slice(if is_raised { b"^{" } else { b"}" });
        }
        if c.is_ascii() {
            out.push(c as u8);
        } else if is_mark(c) {
            // A mark belongs to the letter before it, whatever the role of that letter.
            out.push(match out.last() {
                Some(b'a'..=b'z' | b'A'..=b'Z' | &LETTER) => LETTER,
                Some(&UNCASED) => UNCASED,
                _ => OTHER,
            });
        } else if is_vulgar_fraction(c) {
            // Compatibility forms of ½ and ² are 1⁄2 and 2.
            let parts: String = c.nfkd().collect();
            let (over, under) = parts.split_once('\u{2044}').unwrap_or_default();
            out.push(FRACTION);
            out.extend(format!("{{{over}}}{{{under}}}").bytes());
        } else if is_raised {
            out.extend(c.nfkd().map(class));
        } else if !is_invisible(c) {
            out.push(class(c));
        }
    }
    if is_raised {
        out.push(b'}');
    }
    Cow::Owned(out)
}

fn class(c: char) -> u8 {
    if let Some(digit) = digit_value(c) {
        return b'0' + digit;
    }
    match c {
        _ if c.is_ascii() => c as u8,
        '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => GROUP_SPACE,
        '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => b'-',
        '\u{ff0b}' => b'+',
        '\u{ff0e}' | '\u{66b}' => b'.',
        '\u{ff0c}' | '\u{66c}' => b',',
        '\u{2018}' | '\u{2019}' | '\u{ff07}' => b'\'',
        '\u{2044}' | '\u{2215}' | '\u{ff0f}' => b'/',
        '\u{ff05}' | '\u{66a}' | '\u{fe6a}' => b'%',
        '√' | '∛' | '∜' | 'π' | '∞' | '±' | '∓' => OPAQUE,
        '×' | '·' | '⋅' | '\u{2217}' => TIMES,
        _ if is_currency(c) => b'$',
        _ if is_space(c) => b' ',
        _ if c.is_lowercase() || c.is_uppercase() => LETTER,
        _ if c.is_alphabetic() && !written_without_spaces(c) => UNCASED,
        _ => OTHER,
    }
}

fn is_currency(c: char) -> bool {
    matches!(c, '¢'..='¥' | '\u{20a0}'..='\u{20cf}' | '\u{fe69}' | '\u{ff04}')
        || matches!(
            c,
            '\u{ffe0}' | '\u{ffe1}' | '\u{ffe5}' | '\u{ffe6}' | '\u{fdfc}' | '\u{e3f}'
        )
}
