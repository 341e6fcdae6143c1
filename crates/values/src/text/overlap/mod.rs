//! Metrics that count the n-grams or word sequences shared with a reference.
//!
//! This module contains BLEU, chrF and ROUGE.

mod bleu;
mod chrf;
mod rouge;
#[cfg(test)]
mod tests;

pub use bleu::{BleuOptions, BleuSmoothing, BleuTokens};
pub use chrf::ChrfOptions;
pub use rouge::{Rouge, RougeOptions, RougeScore, RougeTokens};

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::NormalForm;

/// The maximum length of an n-gram.
#[doc(hidden)]
pub const MAX_ORDER: usize = 16;

/// The number that stands for an n-gram without matches.
const NONE: u32 = u32::MAX;

/// Counts, for each length from 1 to `orders` (at `length - 1`), the matching n-grams of the first sequence. The count
/// of an n-gram is clipped to its largest count in any other sequence. A sequence is a list of numbers below `distinct`;
/// each number represents a word or a character. A round for each length numbers the shared n-grams, and joins
/// neighbours into longer ones.
fn ngram_matches(texts: &[&[u32]], orders: usize, mut distinct: usize) -> Vec<u64> {
    let mut matches = vec![0; orders];
    // The number of the n-gram that starts at each position.
    let mut texts: Vec<Vec<u32>> = texts.iter().map(|text| text.to_vec()).collect();
    let items = texts.iter().map(Vec::len).sum();
    let mut numbers = HashMap::with_capacity_and_hasher(items, RandomState::default());
    for matches in &mut matches {
        let shared = shared(&texts, distinct);
        *matches = shared.iter().map(|count| u64::from(*count)).sum();
        if *matches < 2 {
            break;
        }
        numbers.clear();
        // A longer n-gram can match only if both of its parts do.
        let is_shared = |gram: u32| gram != NONE && shared[gram as usize] > 0;
        for text in &mut texts {
            for at in 1..text.len() {
                let parts = (text[at - 1], text[at]);
                let next = numbers.len() as u32;
                text[at - 1] = match is_shared(parts.0) && is_shared(parts.1) {
                    true => *numbers.entry(parts).or_insert(next),
                    false => NONE,
                };
            }
            text.pop();
        }
        distinct = numbers.len();
    }
    matches
}

/// Returns the number of matches for each n-gram.
fn shared(texts: &[Vec<u32>], distinct: usize) -> Vec<u32> {
    let (mut counts, mut max) = (vec![0_u32; distinct], vec![0_u32; distinct]);
    let grams = |text: &[u32], visit: &mut dyn FnMut(usize)| {
        let known = text.iter().filter(|gram| **gram != NONE);
        known.for_each(|gram| visit(*gram as usize));
    };
    let Some((first, others)) = texts.split_first() else {
        return max;
    };
    for text in others {
        grams(text, &mut |gram| counts[gram] += 1);
        grams(text, &mut |gram| max[gram] = max[gram].max(counts[gram]));
        grams(text, &mut |gram| counts[gram] = 0);
    }
    grams(first, &mut |gram| counts[gram] += 1);
    counts
        .iter()
        .zip(max)
        .map(|(count, max)| max.min(*count))
        .collect()
}

/// Normalizes a string, and converts it to lower case if `lowercase` is `true`.
fn normalized(text: &str, form: NormalForm, lowercase: bool) -> Cow<'_, str> {
    let composed = form.apply(text);
    match lowercase {
        true => Cow::Owned(composed.to_lowercase()),
        false => composed,
    }
}

/// Returns the number of n-grams of this order in a sequence of this length.
fn ngram_total(length: usize, order: usize) -> u64 {
    length.saturating_sub(order) as u64
}

#[cfg(test)]
mod ngrams_tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    use super::ngram_matches;
    use crate::text::definition::shared_ngrams;

    #[test]
    fn shared_grams_are_counted_up_to_the_most_of_another_sequence() {
        let found = ngram_matches(&[&[1, 2, 1, 2, 3], &[1, 2, 9], &[2, 1, 2]], 4, 10);
        // No other sequence has more than 1, 2, 1, 1 and 0 of 1, 2, (1, 2), (2, 1) and (1, 2, 1); one has 1 of (2, 1,
        // 2).
        assert_eq!(found, [1 + 2, 1 + 1, 1, 0]);
        assert_eq!(ngram_matches(&[&[], &[1]], 4, 2), [0; 4]);
        assert_eq!(ngram_matches(&[&[0, 1], &[]], 4, 2), [0; 4]);
        assert_eq!(ngram_matches(&[&[1], &[1]], 0, 2), [0_u64; 0]);
        assert_eq!(ngram_matches(&[&[1], &[0]], 0, 2), [0_u64; 0]);
    }

    #[test]
    fn matches_are_those_of_the_definition() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(15);
        let mut below = |max: u64| random.next_u64() % max;
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
            let found = ngram_matches(&texts, orders, alphabet as usize);
            assert_eq!(found, expected, "{texts:?} {orders}");
        }
    }
}
