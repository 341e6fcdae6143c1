//! Bit-parallel edit distances: a machine word has 64 cells of a column of the dynamic-programming table.
//!
//! A column has one bit per item of the pattern. Each item of the other sequence yields the next column. A longer
//! pattern is computed in strips of [`STRIP`] words, whose lower edge is the upper edge of the next strip. Hyyrö 2004,
//! "Bit-parallel LCS-length computation revisited", and Hyyrö 2003, "A bit-vector algorithm for computing
//! Levenshtein and Damerau edit distances".

use smallvec::{SmallVec, smallvec};

/// The largest number of words of a strip. More need more registers than the processor has.
const STRIP: usize = 4;
const BITS: usize = u64::BITS as usize;

/// An item of a sequence, which is the number of a row in a table of masks.
pub(super) trait Item: Copy {
    fn row(self) -> usize;

    /// Calls `compute` with a table of at least `rows` empty masks.
    fn with_masks<const N: usize>(
        rows: usize,
        compute: impl FnOnce(&mut [[u64; N]]) -> isize,
    ) -> isize;
}

/// An ASCII character.
impl Item for u8 {
    fn row(self) -> usize {
        usize::from(self)
    }

    fn with_masks<const N: usize>(
        _: usize,
        compute: impl FnOnce(&mut [[u64; N]]) -> isize,
    ) -> isize {
        compute(&mut [[0; N]; 128])
    }
}

/// One of `rows` consecutive numbers.
impl Item for u32 {
    fn row(self) -> usize {
        self as usize
    }

    fn with_masks<const N: usize>(
        rows: usize,
        compute: impl FnOnce(&mut [[u64; N]]) -> isize,
    ) -> isize {
        // Few rows need no allocation.
        let mut masks: SmallVec<[[u64; N]; 64]> = smallvec![[0; N]; rows];
        compute(&mut masks)
    }
}

/// Returns the length of a longest common subsequence. Numbers are below `rows`.
pub(super) fn common_subsequence<T: Item>(a: &[T], b: &[T], rows: usize) -> usize {
    let (pattern, other) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let length = match pattern.len().div_ceil(BITS) {
        0 => 0,
        1 => whole::<1, T, Subsequence<1>>(pattern, other, rows),
        2 => whole::<2, T, Subsequence<2>>(pattern, other, rows),
        3 => whole::<3, T, Subsequence<3>>(pattern, other, rows),
        4 => whole::<4, T, Subsequence<4>>(pattern, other, rows),
        _ => strips::<T, Subsequence<STRIP>>(pattern, other, rows),
    };
    length.unsigned_abs()
}

/// Returns the number of insertions, deletions and substitutions. Numbers are below `rows`.
pub(super) fn levenshtein<T: Item>(a: &[T], b: &[T], rows: usize) -> usize {
    let (pattern, other) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let more = match pattern.len().div_ceil(BITS) {
        0 => 0,
        1 => whole::<1, T, Levenshtein<1>>(pattern, other, rows),
        2 => whole::<2, T, Levenshtein<2>>(pattern, other, rows),
        3 => whole::<3, T, Levenshtein<3>>(pattern, other, rows),
        4 => whole::<4, T, Levenshtein<4>>(pattern, other, rows),
        _ => strips::<T, Levenshtein<STRIP>>(pattern, other, rows),
    };
    other.len().wrapping_add_signed(more)
}

/// A part of a column, as differences between neighbouring cells.
trait Column<const N: usize> {
    /// The difference along the upper edge of the table.
    const EDGE: u8;

    fn first() -> Self;

    /// Moves by one item of the other sequence, which occurs in the pattern where `masks` has a bit. `above` is the
    /// difference along the upper edge; returns that along the lower edge.
    fn step(&mut self, masks: &[u64; N], above: u8) -> u8;

    /// Returns the difference between the lowest and the highest of the first `length` cells.
    fn sum(&self, length: usize) -> isize;
}

/// The column of a pattern that fits into `N` words.
fn whole<const N: usize, T: Item, C: Column<N>>(pattern: &[T], other: &[T], rows: usize) -> isize {
    T::with_masks::<N>(rows, |masks| {
        mark(masks, pattern);
        let mut column = C::first();
        for item in other {
            column.step(&masks[item.row()], C::EDGE);
        }
        column.sum(pattern.len())
    })
}

/// The columns of a pattern of any length.
fn strips<T: Item, C: Column<STRIP>>(pattern: &[T], other: &[T], rows: usize) -> isize {
    let mut edge = vec![C::EDGE; other.len()];
    T::with_masks::<STRIP>(rows, |masks| {
        let strip = |pattern: &[T]| {
            mark(masks, pattern);
            let mut column = C::first();
            for (item, edge) in other.iter().zip(&mut edge) {
                *edge = column.step(&masks[item.row()], *edge);
            }
            pattern
                .iter()
                .for_each(|item| masks[item.row()] = [0; STRIP]);
            column.sum(pattern.len())
        };
        pattern.chunks(STRIP * BITS).map(strip).sum()
    })
}

/// Sets the bits at which each item occurs in the pattern.
fn mark<const N: usize, T: Item>(masks: &mut [[u64; N]], pattern: &[T]) {
    for (word, items) in pattern.chunks(BITS).enumerate() {
        for (bit, item) in items.iter().enumerate() {
            masks[item.row()][word] |= 1 << bit;
        }
    }
}

fn count_ones(words: &[u64], length: usize) -> isize {
    let bits = |(at, word): (usize, &u64)| match length.saturating_sub(at * BITS) {
        below @ 0..BITS => word & !(!0 << below),
        _ => *word,
    };
    words
        .iter()
        .enumerate()
        .map(|word| bits(word).count_ones() as isize)
        .sum()
}

/// Joins words without a common bit.
#[inline(always)]
fn joined(a: u64, b: u64) -> u64 {
    debug_assert_eq!(a & b, 0);
    a | b
}

/// The column of a longest common subsequence: a bit is 0 where it is one longer than in the cell above.
struct Subsequence<const N: usize>([u64; N]);

impl<const N: usize> Column<N> for Subsequence<N> {
    const EDGE: u8 = 0;

    fn first() -> Self {
        Self([!0; N])
    }

    #[inline(always)]
    fn step(&mut self, masks: &[u64; N], above: u8) -> u8 {
        let mut carry = above != 0;
        for (same, mask) in self.0.iter_mut().zip(masks) {
            let (sum, first) = same.overflowing_add(*same & mask);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *same = sum | (*same & !mask);
        }
        u8::from(carry)
    }

    fn sum(&self, length: usize) -> isize {
        count_ones(&self.0.map(|same| !same), length)
    }
}

/// The column of the Levenshtein distance: whether a cell is one more or one less than the cell above. An edge has two
/// bits: one more, and one less, than the cell on the left.
struct Levenshtein<const N: usize> {
    more: [u64; N],
    less: [u64; N],
}

impl<const N: usize> Column<N> for Levenshtein<N> {
    const EDGE: u8 = 1;

    fn first() -> Self {
        Self {
            more: [!0; N],
            less: [0; N],
        }
    }

    #[inline(always)]
    fn step(&mut self, masks: &[u64; N], above: u8) -> u8 {
        let (mut right_more, mut right_less) = (u64::from(above & 1), u64::from(above >> 1));
        for ((more, less), mask) in self.more.iter_mut().zip(&mut self.less).zip(masks) {
            let equal = mask | right_less;
            // Where the diagonal difference is 0.
            let diagonal = ((equal & *more).wrapping_add(*more) ^ *more) | equal | *less;
            let (horizontal_more, horizontal_less) =
                (joined(*less, !(diagonal | *more)), diagonal & *more);
            let shifted_more = joined(horizontal_more << 1, right_more);
            let shifted_less = joined(horizontal_less << 1, right_less);
            (right_more, right_less) = (horizontal_more >> 63, horizontal_less >> 63);
            *more = joined(shifted_less, !(diagonal | shifted_more));
            *less = shifted_more & diagonal;
        }
        (right_more + 2 * right_less) as u8
    }

    fn sum(&self, length: usize) -> isize {
        count_ones(&self.more, length) - count_ones(&self.less, length)
    }
}
