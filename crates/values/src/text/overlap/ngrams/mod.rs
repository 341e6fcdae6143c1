//! Shared n-grams of several sequences: positions are sorted by the longest n-gram that starts there, so that equal n-grams
//! of any length are neighbours. Unigrams are counted first. Positions whose bigram has an item that no other sequence
//! contains are skipped.
//!
//! A sequence is a list of numbers, and each number represents a word or a character.

mod chained;

use std::ops::{BitOr, BitXor, Shl, Shr};

use smallvec::{SmallVec, smallvec};

/// The longest n-grams that are counted.
#[doc(hidden)]
pub const MAX_ORDER: usize = 16;

/// The number of matches of each n-gram length.
pub(super) type Matches = SmallVec<[u64; 6]>;

/// Counts for each length from 1 to `orders` (at `length - 1`) the n-grams of the first sequence that match. The
/// count of an n-gram is clipped to its largest count in any other sequence. All items are below `distinct`.
pub(super) fn matches(texts: &[&[u32]], orders: usize, distinct: usize) -> Matches {
    if let Some(all) = all_of_equal(texts, orders) {
        return all;
    }
    match texts.len() {
        0..=2 => matches_of::<2>(texts, orders, distinct),
        3..=8 => matches_of::<8>(texts, orders, distinct),
        _ => chained::matches(texts, orders),
    }
}

/// As [`matches`], for at most `TEXTS` sequences.
fn matches_of<const TEXTS: usize>(texts: &[&[u32]], orders: usize, distinct: usize) -> Matches {
    let mut counts = vec![[0_u32; TEXTS]; distinct];
    for (at, text) in texts.iter().enumerate() {
        text.iter()
            .for_each(|item| counts[*item as usize][at % TEXTS] += 1);
    }
    let shared = counts.iter().map(|counts| clipped(counts)).sum();
    let mut matches = if orders < 2 || shared < 2 {
        smallvec![0; orders]
    } else {
        // An n-gram has a match only if all of its items have one.
        let mut next = FIRST;
        let number = |counts: &[u32; TEXTS]| {
            let is_shared = clipped(counts) > 0;
            next += u32::from(is_shared);
            if is_shared { next - 1 } else { NEVER }
        };
        let numbers: Vec<u32> = counts.iter().map(number).collect();
        Grams {
            texts,
            orders,
            numbers: &numbers,
            largest: next - 1,
        }
        .matches()
    };
    if let Some(items) = matches.first_mut() {
        *items = shared;
    }
    matches
}

/// Returns the matches, which are all n-grams, if one of the other sequences is equal to the first.
fn all_of_equal(texts: &[&[u32]], orders: usize) -> Option<Matches> {
    let (first, others) = texts.split_first()?;
    others
        .contains(first)
        .then(|| (0..orders).map(|order| total(first.len(), order)).collect())
}

/// Returns the number of n-grams of this order in a sequence of this length.
pub(super) fn total(length: usize, order: usize) -> u64 {
    length.saturating_sub(order) as u64
}

/// The number of an item without matches. In n-grams of other sequences than the first one it is the next number, so that
/// it differs.
const NEVER: u32 = 0;

/// The smallest number of an item that may match.
const FIRST: u32 = 2;

/// The n-grams of some sequences.
#[derive(Clone, Copy)]
struct Grams<'t> {
    texts: &'t [&'t [u32]],
    /// The longest n-grams.
    orders: usize,
    /// The number of each item.
    numbers: &'t [u32],
    largest: u32,
}

/// How many bits an n-gram, an item of it, and the number of a sequence need.
#[derive(Clone, Copy)]
struct Widths {
    gram: u32,
    item: u32,
    text: u32,
    /// 2^16 by the bits of an item, rounded up. A product by it replaces a division.
    items_per_bit: u32,
}

impl Grams<'_> {
    /// Returns the matches of n-grams of at least two items.
    fn matches(self) -> Matches {
        let bits = |largest: u32| u32::BITS - largest.leading_zeros();
        let (item, text) = (
            bits(self.largest),
            bits(self.texts.len().saturating_sub(1) as u32),
        );
        let gram = (self.orders as u32).saturating_mul(item);
        let widths = Widths {
            gram,
            item,
            text,
            items_per_bit: (1 << 16) / item + 1,
        };
        match (gram.saturating_add(text), self.texts.len()) {
            (0..=64, 0..=2) => self.packed::<u64, 2>(widths),
            (0..=64, 3..=8) => self.packed::<u64, 8>(widths),
            (0..=128, 0..=2) => self.packed::<u128, 2>(widths),
            (0..=128, 3..=8) => self.packed::<u128, 8>(widths),
            _ => chained::matches(self.texts, self.orders),
        }
    }

    /// Returns the positions at which an n-gram of at least two items starts that may match, as integers: the items of
    /// the longest n-gram, and the number of its sequence.
    fn places<K: Key>(self, widths: Widths) -> Vec<K> {
        let mut places = vec![K::from(0); self.texts.iter().map(|text| text.len()).sum()];
        let mut kept = 0;
        let first = widths.gram - widths.item;
        for (text, items) in (0_u32..).zip(self.texts) {
            let never = if text == 0 { NEVER } else { NEVER + 1 };
            let add = |gram: K, number: u32| gram >> widths.item | K::from(number) << first;
            let mut gram = (0..self.orders).fold(K::from(0), |gram, _| add(gram, never));
            let mut after = NEVER;
            // Backwards, so that the items that follow are known.
            for item in items.iter().rev() {
                let number = self.numbers[*item as usize];
                gram = add(gram, number.max(never));
                // Another place overwrites this one, which takes less time than a branch.
                places[kept] = gram << widths.text | K::from(text);
                kept += usize::from(number != NEVER && after != NEVER);
                after = number;
            }
        }
        places.truncate(kept);
        places
    }

    /// As [`matches`](Self::matches), for at most `TEXTS` sequences whose n-grams fit into `K`.
    fn packed<K: Key, const TEXTS: usize>(self, widths: Widths) -> Matches {
        let mut places = self.places::<K>(widths);
        places.sort_unstable();
        let mut matches: Matches = smallvec![0; self.orders];
        // Positions so far of each sequence, and those before the first with the same n-gram of each length.
        let mut seen = [0_u32; TEXTS];
        let mut before: SmallVec<[[u32; TEXTS]; 6]> = smallvec![seen; self.orders];
        let (matches_of, before) = (&mut matches[..], &mut before[..]);
        // The items that a position shares with the one before. A longer n-gram is the first of its kind.
        let mut shared = 0;
        for (at, place) in places.iter().enumerate() {
            let next = places.get(at + 1);
            let shared_next = next.map_or(0, |next| widths.common_items(*place, *next));
            if shared_next > shared {
                before[shared..shared_next].fill(seen);
            }
            seen[place.low() & ((1 << widths.text) - 1) & (TEXTS - 1)] += 1;
            // An n-gram that occurs once has no match.
            for order in shared_next..shared {
                let mut counts = seen;
                counts
                    .iter_mut()
                    .zip(&before[order])
                    .for_each(|(seen, before)| *seen -= before);
                matches_of[order] += clipped(&counts);
            }
            shared = shared_next;
        }
        matches
    }
}

impl Widths {
    /// Returns how many items of two n-grams are equal, from the first on.
    #[inline]
    fn common_items<K: Key>(self, left: K, right: K) -> usize {
        let unused = K::BITS - self.gram - self.text;
        let equal = ((left ^ right).leading_zeros() - unused).min(self.gram);
        ((equal * self.items_per_bit) >> 16) as usize
    }
}

/// An unsigned integer with room for an n-gram and the number of its sequence.
trait Key:
    Copy
    + Ord
    + From<u32>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    const BITS: u32;

    fn leading_zeros(self) -> u32;

    fn low(self) -> usize;
}

impl Key for u64 {
    const BITS: u32 = Self::BITS;

    fn leading_zeros(self) -> u32 {
        self.leading_zeros()
    }

    fn low(self) -> usize {
        self as usize
    }
}

impl Key for u128 {
    const BITS: u32 = Self::BITS;

    fn leading_zeros(self) -> u32 {
        self.leading_zeros()
    }

    fn low(self) -> usize {
        self as usize
    }
}

/// Returns the number of matches of an n-gram, from its occurrences in each sequence.
#[inline]
fn clipped(counts: &[u32]) -> u64 {
    let others = counts
        .iter()
        .skip(1)
        .fold(0, |most, count| most.max(*count));
    u64::from(counts.first().map_or(0, |first| others.min(*first)))
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    use super::{chained, matches};
    use crate::text::definition::shared_ngrams;

    #[test]
    fn shared_grams_are_counted_up_to_the_most_of_another_sequence() {
        let found = matches(&[&[1, 2, 1, 2, 3], &[1, 2, 9], &[2, 1, 2]], 4, 10);
        // Of 1, 2, (1, 2), (2, 1) and (1, 2, 1) no other sequence has more than 1, 2, 1, 1 and 0; of (2, 1, 2) one has 1.
        assert_eq!(found[..], [1 + 2, 1 + 1, 1, 0]);
        assert_eq!(matches(&[&[], &[1]], 4, 2)[..], [0; 4]);
        assert_eq!(matches(&[&[0, 1], &[]], 4, 2)[..], [0; 4]);
        assert_eq!(matches(&[&[1], &[1]], 0, 2)[..], [0_u64; 0]);
        assert_eq!(matches(&[&[1], &[0]], 0, 2)[..], [0_u64; 0]);
    }

    #[test]
    fn matches_are_those_of_the_definition() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(15);
        let mut below = |most: u64| random.next_u64() % most;
        for _ in 0..500 {
            let (texts, orders) = (1 + below(9), below(20) as usize);
            let alphabet = [2, 4, 60, 300, 3_000][below(5) as usize];
            let longest = [3, 8, 60, 300][below(4) as usize];
            let mut text = |_| {
                (0..below(longest))
                    .map(|_| below(alphabet) as u32)
                    .collect()
            };
            let mut texts: Vec<Vec<u32>> = (0..texts).map(&mut text).collect();
            // Long n-grams are shared, and sometimes the whole text.
            if below(4) == 0 {
                let mut copy = texts[0].clone();
                copy.truncate(copy.len().saturating_sub(below(4) as usize));
                texts.push(copy);
            }
            let texts: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
            let expected = shared_ngrams(&texts, orders);
            assert_eq!(
                chained::matches(&texts, orders)[..],
                expected,
                "{texts:?} {orders}"
            );
            let found = matches(&texts, orders, alphabet as usize);
            assert_eq!(found[..], expected, "{texts:?} {orders}");
        }
    }
}
