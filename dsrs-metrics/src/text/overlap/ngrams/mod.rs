//! Shared n-grams of several sequences, found without hashing: positions are sorted by the longest n-gram that starts
//! there, so that equal n-grams of any length are neighbours.
//!
//! A sequence is a list of numbers, each of which stands for a word or a character.

mod chained;

use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use smallvec::{SmallVec, smallvec};

/// The longest n-grams that are counted.
pub(crate) const MAX_ORDER: usize = 16;

/// The number of matches of each n-gram length.
pub(super) type Matches = SmallVec<[u64; 6]>;

/// Counts for each length from 1 to `orders` (at `length - 1`) the n-grams of the first sequence that match: each at
/// most as often as it occurs in the other sequence that has most of it.
pub(super) fn matches(texts: &[&[u32]], orders: usize) -> Matches {
    let widths = Widths::of(texts);
    let bits = orders as u64 * u64::from(widths.item) + u64::from(widths.text);
    match (bits, texts.len()) {
        _ if orders == 0 => Matches::new(),
        (0..=64, 0..=2) => packed::<u64, 2>(texts, orders, widths),
        (0..=64, 3..=8) => packed::<u64, 8>(texts, orders, widths),
        (0..=128, 0..=2) => packed::<u128, 2>(texts, orders, widths),
        (0..=128, 3..=8) => packed::<u128, 8>(texts, orders, widths),
        _ => chained::matches(texts, orders),
    }
}

/// Returns the number of n-grams of this order in a sequence of this length.
pub(super) fn total(length: usize, order: usize) -> u64 {
    length.saturating_sub(order) as u64
}

/// The items after the end of the first sequence and of the others, which differ so that they never match.
const PADDING: [u32; 2] = [0, 1];

/// How many bits an item, and the number of a sequence, need.
#[derive(Clone, Copy)]
struct Widths {
    item: u32,
    text: u32,
}

impl Widths {
    fn of(texts: &[&[u32]]) -> Self {
        let largest =
            texts.iter().flat_map(|text| *text).fold(0, |largest, item| largest.max(*item));
        let bits = |largest: u64| u64::BITS - largest.leading_zeros();
        Self {
            item: bits(u64::from(largest) + PADDING.len() as u64),
            text: bits(texts.len().saturating_sub(1) as u64),
        }
    }
}

/// An unsigned integer with room for an n-gram and the number of its sequence.
trait Key:
    Copy
    + Ord
    + From<u32>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    fn low(self) -> usize;
}

impl Key for u64 {
    fn low(self) -> usize {
        self as usize
    }
}

impl Key for u128 {
    fn low(self) -> usize {
        self as usize
    }
}

/// Returns every position as one integer: the items of the longest n-gram that starts there, and the number of its
/// sequence.
fn places<K: Key>(texts: &[&[u32]], orders: usize, widths: Widths) -> Vec<K> {
    let mut places = Vec::with_capacity(texts.iter().map(|text| text.len()).sum());
    // The first item is shifted out at the top, together with the bits above it.
    let spare = size_of::<K>() as u32 * 8 - orders as u32 * widths.item;
    for (number, text) in (0_u32..).zip(texts) {
        let end = PADDING[usize::from(number > 0)];
        let item = |at: usize| text.get(at).map_or(end, |item| item + PADDING.len() as u32);
        let next = |gram: K, at| (gram << widths.item | K::from(item(at))) << spare >> spare;
        let mut gram = (0..orders - 1).fold(K::from(0), next);
        places.extend((0..text.len()).map(|at| {
            gram = next(gram, at + orders - 1);
            gram << widths.text | K::from(number)
        }));
    }
    places
}

/// As [`matches`], of at most `TEXTS` sequences whose n-grams fit into `K`.
fn packed<K: Key, const TEXTS: usize>(texts: &[&[u32]], orders: usize, widths: Widths) -> Matches {
    let mut places = places::<K>(texts, orders, widths);
    places.sort_unstable();
    let mut matches: Matches = smallvec![0; orders];
    // Positions so far of each sequence, and those before the first with the same n-gram of each length.
    let mut seen = [0_u32; TEXTS];
    let mut before: SmallVec<[[u32; TEXTS]; 6]> = smallvec![seen; orders];
    let (matches_of, before) = (&mut matches[..], &mut before[..]);
    let number = !(!K::from(0) << widths.text);
    for (at, place) in places.iter().enumerate() {
        seen[(*place & number).low() % TEXTS] += 1;
        // From the longest n-gram on, those that end here.
        let changed = places.get(at + 1).map(|next| *next ^ *place);
        let mut shift = widths.text;
        for (matches, before) in matches_of.iter_mut().zip(&mut *before).rev() {
            if changed.is_some_and(|changed| changed >> shift == K::from(0)) {
                break;
            }
            let counts: [u32; TEXTS] = std::array::from_fn(|text| seen[text] - before[text]);
            *matches += clipped(counts.map(u64::from).into_iter());
            *before = seen;
            shift += widths.item;
        }
    }
    matches
}

/// Returns the number of matches of an n-gram, from its occurrences in each sequence.
fn clipped(mut counts: impl Iterator<Item = u64>) -> u64 {
    let first = counts.next().unwrap_or(0);
    first.min(counts.max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    use super::{chained, matches};

    #[test]
    fn shared_grams_are_counted_up_to_the_most_of_another_sequence() {
        let found = matches(&[&[1, 2, 1, 2, 3], &[1, 2, 9], &[2, 1, 2]], 4);
        // Of 1, 2, (1, 2), (2, 1) and (1, 2, 1) no other sequence has more than 1, 2, 1, 1 and 0; of (2, 1, 2) one has 1.
        assert_eq!(found[..], [1 + 2, 1 + 1, 1, 0]);
        assert_eq!(matches(&[&[], &[1]], 4)[..], [0; 4]);
        assert_eq!(matches(&[&[0, 1], &[]], 4)[..], [0; 4]);
        assert_eq!(matches(&[&[1], &[1]], 0)[..], [0_u64; 0]);
    }

    #[test]
    fn packed_and_chained_grams_are_the_same() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(15);
        let mut below = |most: u64| random.next_u64() % most;
        for _ in 0..3_000 {
            let (texts, orders) = (1 + below(9), below(20) as usize);
            let alphabet = [2, 4, 60, 100_000][below(4) as usize];
            let longest = [3, 8, 60][below(3) as usize];
            let mut text = |_| (0..below(longest)).map(|_| below(alphabet) as u32).collect();
            let texts: Vec<Vec<u32>> = (0..texts).map(&mut text).collect();
            let texts: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
            assert_eq!(
                matches(&texts, orders),
                chained::matches(&texts, orders),
                "{texts:?} {orders}"
            );
        }
    }
}
