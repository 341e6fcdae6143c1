//! How much comparing is too much: metrics that compare each part of one side with each of the other fail a row that would
//! take minutes, and say so. What takes time in proportion to the length needs no bound.

use serde_json::Value;

/// The most pairs of characters or words of which an edit distance or a longest common subsequence is made; some
/// seconds.
const MOST_PAIRS: u64 = 4_000_000_000;

/// The most pairs of things that are compared one by one.
const MOST_COMPARISONS: u64 = 16_000_000;

/// Fails where two sides have too many characters or words for each other.
pub(super) fn bounded_pairs(
    what: &str,
    ours: usize,
    theirs: usize,
    instead: &str,
) -> Result<(), String> {
    bounded(what, ours, theirs, MOST_PAIRS, instead)
}

/// Whether texts of so many bytes cannot have too many characters or words, so that nobody need count them.
pub(super) fn are_short(ours: usize, theirs: usize) -> bool {
    (ours as u64).saturating_mul(theirs as u64) <= MOST_PAIRS
}

/// Fails where two lists have too many items for each other.
pub(super) fn bounded_comparisons(
    what: &str,
    ours: usize,
    theirs: usize,
    instead: &str,
) -> Result<(), String> {
    bounded(what, ours, theirs, MOST_COMPARISONS, instead)
}

fn bounded(what: &str, ours: usize, theirs: usize, most: u64, instead: &str) -> Result<(), String> {
    if (ours as u64).saturating_mul(theirs as u64) <= most {
        return Ok(());
    }
    Err(format!("{ours} {what} against {theirs} are too many to compare; {instead}"))
}

/// How long two lists are without what they begin and end with alike: an edit distance is made of what is left.
pub(super) fn apart<T: PartialEq>(ours: &[T], theirs: &[T]) -> (usize, usize) {
    let start = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let (ours, theirs) = (&ours[start..], &theirs[start..]);
    let end = ours.iter().rev().zip(theirs.iter().rev()).take_while(|(a, b)| a == b).count();
    (ours.len() - end, theirs.len() - end)
}

/// Fails where lists would be compared in any order, item with item and their lists likewise, for too long. Each level of
/// lists is gone through twice: to find out which items belong together, and to compare these.
pub(super) fn bounded_pairing(pred: &Value, gold: &Value) -> Result<(), String> {
    let ((ours, levels), (theirs, other_levels)) = (size(pred), size(gold));
    let levels = levels.min(other_levels);
    let pairs = (ours as u64).saturating_mul(theirs as u64);
    if pairs.saturating_mul(1_u64.checked_shl(levels).unwrap_or(u64::MAX)) <= MOST_COMPARISONS {
        return Ok(());
    }
    Err(format!(
        "{ours} values against {theirs}, in lists up to {levels} deep, are too many to compare in any order; take \
         lists=ordered or some of the fields"
    ))
}

/// How many values there are, and how many lists are in each other at most.
fn size(value: &Value) -> (usize, u32) {
    let (below, own): (Vec<(usize, u32)>, u32) = match value {
        Value::Array(items) => (items.iter().map(size).collect(), 1),
        Value::Object(fields) => (fields.values().map(size).collect(), 0),
        _ => (Vec::new(), 0),
    };
    let deepest = below.iter().map(|(_, levels)| *levels).max().unwrap_or(0);
    (1 + below.iter().map(|(count, _)| count).sum::<usize>(), own + deepest)
}
