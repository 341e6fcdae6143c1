//! Runs of digits and separators: whether they are one number, its grouping and its decimal mark.

use serde::{Deserialize, Serialize};

use super::symbols::{GROUP, GROUP_SPACE};

/// The mark, `.` or `,`, that separates the fractional part of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecimalMark {
    /// 1,234.5. A single comma groups thousands (1,234) or separates the items of a list (1,5).
    #[default]
    Point,
    /// 1.234,5. A single point groups thousands (1.234) or, where it cannot, is a decimal point
    /// (1.5).
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
    /// Number of bytes at the start of the run that are not part of the number, if the run is a
    /// list.
    pub(super) skipped: usize,
    /// Position of the decimal mark in the rest.
    pub(super) point: Option<usize>,
}

pub(super) fn is_separator(byte: u8) -> bool {
    matches!(byte, b'.' | b',' | b'\'' | b'_' | GROUP | GROUP_SPACE)
}

/// Reads a run in which every separator is between digits.
///
/// A run that is not one number is a list of numbers, and its last number counts. A chain of points
/// (a version, an address) is not a number, and neither are groups that are not thousands (`10{,}00`).
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
        // If the comma is the decimal mark, a point that cannot group is a decimal mark too. The
        // reverse is a list.
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
