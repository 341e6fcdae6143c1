//! Token overlap of a prediction with references: precision, recall, F1.

use crate::text::words::WordLists;

/// Normalized answers that dspy's `HotPotF1` compares as a whole: if either side is one of these and the sides differ,
/// the score is 0 even if tokens overlap.
const HOTPOT_LABELS: [&str; 3] = ["yes", "no", "noanswer"];

/// The tokens of a prediction and of a reference, and how many are in both.
pub(super) struct Overlap<'w> {
    words: &'w WordLists,
    same: usize,
    prediction: &'w [u32],
    reference: &'w [u32],
}

/// A score of a prediction and a reference.
pub(super) type Score = fn(&Overlap<'_>) -> f64;

/// Returns the best score of the first list, the prediction, with each of the others.
pub(super) fn best(words: &WordLists, score: Score) -> f64 {
    let lists = words.lists();
    let Some((prediction, references)) = lists.split_first() else {
        return 0.0;
    };
    let scores = references.iter().map(|reference| {
        score(&Overlap {
            words,
            same: same(prediction, reference, words.distinct()),
            prediction,
            reference,
        })
    });
    scores.fold(0.0, f64::max)
}

/// Returns the size of the multiset intersection, `sum((Counter(a) & Counter(b)).values())`, of lists of numbers below
/// `distinct`.
fn same(prediction: &[u32], reference: &[u32], distinct: usize) -> usize {
    let mut left = vec![0_u32; distinct];
    prediction.iter().for_each(|word| left[*word as usize] += 1);
    let is_left = |word: &&u32| {
        let left = &mut left[**word as usize];
        let is_left = *left > 0;
        *left -= u32::from(is_left);
        is_left
    };
    reference.iter().filter(is_left).count()
}

#[allow(
    clippy::cast_precision_loss,
    reason = "token counts stay far below 2^53"
)]
fn share(same: usize, side: &[u32]) -> f64 {
    // Without a common token dspy returns 0, even if both sides are empty.
    if same == 0 {
        0.0
    } else {
        same as f64 / side.len() as f64
    }
}

pub(super) fn precision(overlap: &Overlap<'_>) -> f64 {
    share(overlap.same, overlap.prediction)
}

pub(super) fn recall(overlap: &Overlap<'_>) -> f64 {
    share(overlap.same, overlap.reference)
}

/// Returns the F1, in dspy's order of operations so that the last bit agrees.
pub(super) fn f1(overlap: &Overlap<'_>) -> f64 {
    if overlap.same == 0 {
        return 0.0;
    }
    let (precision, recall) = (precision(overlap), recall(overlap));
    (2.0 * precision * recall) / (precision + recall)
}

/// Does the same as [`f1`], but a label equals only itself.
pub(super) fn hotpot_f1(overlap: &Overlap<'_>) -> f64 {
    let is_label = |side: &[u32]| {
        let number = |label: &&str| overlap.words.number(label);
        side.len() == 1 && HOTPOT_LABELS.iter().any(|it| number(it) == Some(side[0]))
    };
    let has_label = is_label(overlap.prediction) || is_label(overlap.reference);
    if has_label && overlap.prediction != overlap.reference {
        0.0
    } else {
        f1(overlap)
    }
}
