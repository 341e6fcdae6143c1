//! The combinators of composites, by name.

use super::names::nearest;

const COMBINATORS: [&str; 8] = [
    "weighted", "all", "any", "min", "max", "gate", "invert", "tree",
];

pub(crate) fn is_combinator(word: &str) -> bool {
    COMBINATORS.contains(&word)
}

/// What other libraries call the combinators.
const SYNONYMS: [(&str, &str); 24] = [
    ("mean", "weighted"),
    ("average", "weighted"),
    ("avg", "weighted"),
    ("sum", "weighted"),
    ("weighted_mean", "weighted"),
    ("weighted_average", "weighted"),
    ("weighted_sum", "weighted"),
    ("combine", "weighted"),
    ("and", "all"),
    ("both", "all"),
    ("every", "all"),
    ("all_of", "all"),
    ("or", "any"),
    ("either", "any"),
    ("any_of", "any"),
    ("one_of", "any"),
    ("not", "invert"),
    ("negate", "invert"),
    ("inverse", "invert"),
    ("minimum", "min"),
    ("product", "min"),
    ("maximum", "max"),
    ("cascade", "gate"),
    ("decision", "tree"),
];

/// Returns the combinator that another word stands for, or whose name is most similar.
pub(crate) fn nearest_combinator(word: &str) -> Option<&'static str> {
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == word);
    synonym.map_or_else(|| nearest(word, &COMBINATORS), |(_, meant)| Some(meant))
}
