//! Runs of digits and separators: whether they are one number, how it is grouped, and its decimal mark.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use crate::text::unicode::{
    digit_value, is_invisible, is_mark, is_space, is_superscript, is_vulgar_fraction,
    written_without_spaces,
};

/// The mark, `.` or `,`, that separates the fractional part of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecimalMark {
    /// A point, as in 1,234.5. A single comma groups thousands (1,234) or separates the items of a list (1,5).
    #[default]
    Point,
    /// A comma, as in 1.234,5. A single point groups thousands (1.234) or, if it cannot, is a decimal point (1.5).
    Comma,
}

impl DecimalMark {
    fn byte(self) -> u8 {
        match self {
            Self::Point => b'.',
            Self::Comma => b',',
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }
}

/// A run of digits and separators read as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The number of bytes at the start of the run that are not part of the number, if the run is a list.
    pub(super) skipped: usize,
    /// The position of the decimal mark in the rest.
    pub(super) point: Option<usize>,
}

pub(super) fn is_separator(byte: u8) -> bool {
    matches!(byte, b'.' | b',' | b'\'' | b'_' | GROUP | GROUP_SPACE)
}

/// Reads a run in which every separator is between digits.
///
/// A run that is not one number is a list of numbers, and its last number counts. A chain of points (a version, an
/// address) is not a number, and neither are groups that are not thousands (`10{,}00`).
pub(super) fn read(run: &[u8], mark: DecimalMark) -> Option<Shape> {
    if let Some(point) = whole(run, mark) {
        return Some(Shape { skipped: 0, point });
    }
    if run.iter().any(|byte| matches!(*byte, GROUP | b'_')) {
        return None;
    }
    let decimal = mark.byte();
    let last = run
        .rsplit(|&byte| is_separator(byte) && byte != decimal)
        .next()
        .unwrap_or(run);
    whole(last, mark).map(|point| Shape {
        skipped: run.len() - last.len(),
        point,
    })
}

/// Returns the position of the decimal mark if the whole run is one number.
fn whole(run: &[u8], mark: DecimalMark) -> Option<Option<usize>> {
    let Some(last) = run.iter().rposition(|&byte| is_separator(byte)) else {
        return Some(None);
    };
    let (decimal, other) = (mark.byte(), mark.other().byte());
    let separators = run.iter().filter(|&&byte| is_separator(byte)).count();
    let places = (separators == 1 || grouped(&run[..last])).then_some(Some(last));
    match run[last] {
        // 3.14 and 1,234.5, but also 1.234.567, where several points can only group.
        byte if byte == decimal => {
            let mixed = !run[..last].contains(&decimal);
            places
                .filter(|_| mixed)
                .or_else(|| grouped(run).then_some(None))
        }
        _ if grouped(run) => Some(None),
        // 1.234,56: points that group, then one comma.
        byte if byte == other && separators > 1 => {
            places.filter(|_| run[..last].contains(&decimal))
        }
        // If the comma is the decimal mark, a point that cannot group is a decimal mark too. The reverse is a list.
        b'.' => places,
        _ => None,
    }
}

/// Returns `true` if the separators group thousands, 1,234,567 or the Indian 12,34,567: one kind of
/// separator, a last group of three digits.
pub(in crate::text) fn grouped(run: &[u8]) -> bool {
    let Some(at) = run.iter().position(|&byte| is_separator(byte)) else {
        return false;
    };
    let separator = run[at];
    let groups = || run[at + 1..].split(|&byte| byte == separator);
    if at > 3 || run[0] == b'0' || groups().any(|group| !group.iter().all(u8::is_ascii_digit)) {
        return false;
    }
    let last_is_three = groups().next_back().is_some_and(|group| group.len() == 3);
    let between = |length| groups().rev().skip(1).all(|group| group.len() == length);
    last_is_three && (between(3) || (matches!(separator, b',' | GROUP) && at <= 2 && between(2)))
}

/// A letter with case. It forms a word with the digits after it.
pub(super) const LETTER: u8 = 0x80;
/// A character without a role in numbers.
pub(super) const OTHER: u8 = 0x81;
/// A space that does not end a number: no-break, thin, figure.
pub(super) const GROUP_SPACE: u8 = 0x82;
/// A multiplication sign.
pub(super) const TIMES: u8 = 0x83;
/// A thin space or a comma in braces, which separates only the groups of one number: `10\,000`, `10{,}000`.
pub(super) const GROUP: u8 = 0x84;
/// A letter without case, from a script with spaces. Digits after it are a number; a hyphen between them joins.
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
            // A mark has the class of the letter before it.
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
