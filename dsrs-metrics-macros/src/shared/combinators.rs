//! The combinators of composites, by name.

use super::names::nearest;

const COMBINATORS: [&str; 8] = [
    "weighted", "all", "any", "min", "max", "gate", "invert", "tree",
];

pub(crate) fn is_combinator(word: &str) -> bool {
    COMBINATORS.contains(&word)
}

/// Returns the combinator with the most similar name.
pub(crate) fn nearest_combinator(word: &str) -> Option<&'static str> {
    nearest(word, &COMBINATORS)
}
