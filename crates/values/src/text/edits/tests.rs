//! Tests the distances against their definitions.

use proptest::prelude::*;

use super::{EditCounts, EditDistance};
use crate::text::definition::{common_subsequence, levenshtein};

/// Strings of all lengths for which the number of machine words differs.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]{0,10}",
        "[a-d ]{50,80}",
        "[ab]{120,140}",
        "[a-c]{250,330}",
        "[aéß文😀 ]{0,80}",
        "\\PC{0,20}",
    ]
}

proptest! {
    #[test]
    fn distances_are_those_of_the_definition((a, b) in (text(), text())) {
        let [left, right] = [&a, &b].map(|text| text.chars().collect::<Vec<_>>());
        let share = |distance: usize, whole: usize| match whole {
            0 => 1.0,
            _ => (whole - distance) as f64 / whole as f64,
        };
        let edits = levenshtein(&left, &right);
        let expected = share(edits, left.len().max(right.len()));
        prop_assert_eq!(EditDistance::Levenshtein.similarity(&a, &b), expected);
        let both = left.len() + right.len();
        let expected = share(both - 2 * common_subsequence(&left, &right), both);
        prop_assert_eq!(EditDistance::Indel.similarity(&a, &b), expected);
        let [left, right] = [&a, &b].map(|text| text.split_whitespace().collect::<Vec<_>>());
        let expected = EditCounts {
            edits: levenshtein(&left, &right) as u64,
            length: right.len() as u64,
        };
        prop_assert_eq!(EditCounts::of_words(&a, &b), expected);
    }
}

#[test]
fn the_first_of_equal_rates_is_the_best() {
    let [half, also_half] = [(1, 2), (2, 4)].map(|(edits, length)| EditCounts { edits, length });
    let more = EditCounts {
        edits: 3,
        length: 4,
    };
    assert_eq!(EditCounts::best([more, half, also_half]), Some(half));
    assert_eq!(EditCounts::best([also_half, half, more]), Some(also_half));
    assert_eq!(EditCounts::best([]), None);
}
