//! Runs of digits and separators: whether they are one number, its grouping and its decimal mark.

use super::DecimalMark;
use super::symbols::GROUP_SPACE;

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
    matches!(byte, b'.' | b',' | b'\'' | b'_' | GROUP_SPACE)
}

/// Reads a run in which every separator is between digits.
///
/// A run that is not one number is a list of numbers, and its last number counts. A chain of points
/// (a version, an address) is not a number.
pub(super) fn read(run: &[u8], mark: DecimalMark) -> Option<Shape> {
    if let Some(point) = whole(run, mark) {
        return Some(Shape { skipped: 0, point });
    }
    let decimal = mark.byte();
    let last = run.rsplit(|&byte| is_separator(byte) && byte != decimal).next().unwrap_or(run);
    whole(last, mark).map(|point| Shape { skipped: run.len() - last.len(), point })
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
            places.filter(|_| mixed).or_else(|| grouped(run).then_some(None))
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

/// Whether the separators group thousands, 1,234,567 or the Indian 12,34,567: one kind of
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
    last_is_three && (between(3) || (separator == b',' && at <= 2 && between(2)))
}
