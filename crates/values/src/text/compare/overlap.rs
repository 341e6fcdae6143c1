//! Token overlap between a prediction and references: precision, recall and F1.

use crate::text::words::{Key, WordLists};

/// Normalized answers that dspy's `HotPotF1` compares as a whole: if either side is one of these and the sides differ,
/// the score is 0 even if tokens overlap.
const HOTPOT_LABELS: [&str; 3] = ["yes", "no", "noanswer"];

/// Up to this many pairs of tokens are compared one by one, which is faster than counting.
const FEW_PAIRS: usize = 600;

/// The tokens of a prediction and of a reference, and how many are in both.
#[derive(Clone, Copy)]
pub(super) struct Overlap<'w> {
    same: usize,
    prediction: &'w [Key],
    reference: &'w [Key],
}

/// A function that scores a prediction against a reference.
pub(super) type Score = fn(Overlap<'_>) -> f64;

/// Returns the best score of one list, the prediction, against any of the others.
///
/// Always inlined: a call costs short strings 5 % of their instructions, and the compiler's own choice depends on the
/// size of the package.
#[inline(always)]
pub(super) fn best(words: &mut WordLists, prediction: usize, score: Score) -> f64 {
    let mut is_numbered = false;
    let mut best = 0.0;
    for at in (0..words.len()).filter(|at| *at != prediction) {
        let (ours, theirs) = (words.keys(prediction), words.keys(at));
        let equal = ours
            .iter()
            .zip(theirs)
            .take_while(|(our, their)| our == their)
            .count();
        let same = if (ours.len() - equal) * (theirs.len() - equal) <= FEW_PAIRS {
            equal + few_same(&ours[equal..], &theirs[equal..])
        } else {
            if !is_numbered {
                words.number();
                is_numbered = true;
            }
            many_same(words.list(prediction), words.list(at), words.distinct())
        };
        let (prediction, reference) = (words.keys(prediction), words.keys(at));
        best = f64::max(
            best,
            score(Overlap {
                same,
                prediction,
                reference,
            }),
        );
    }
    best
}

/// Returns the size of the multiset intersection of lists of numbers below `distinct`.
fn many_same(prediction: &[u32], reference: &[u32], distinct: usize) -> usize {
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

/// Returns the size of the multiset intersection, `sum((Counter(a) & Counter(b)).values())`, of short lists.
fn few_same(prediction: &[Key], reference: &[Key]) -> usize {
    let is_longer = prediction.len() > reference.len();
    let (long, short) = if is_longer {
        (prediction, reference)
    } else {
        (reference, prediction)
    };
    // The shorter list has fewer items than an integer has bits.
    let mut used = 0_u32;
    for token in long {
        let mut others = short.iter().enumerate();
        let same = others.find(|(at, other)| *other == token && used & 1 << at == 0);
        used |= same.map_or(0, |(at, _)| 1 << at);
    }
    used.count_ones() as usize
}

fn share(same: usize, side: &[Key]) -> f64 {
    // If there is no common token, dspy returns 0, even if both sides are empty.
    if same == 0 {
        0.0
    } else {
        same as f64 / side.len() as f64
    }
}

pub(super) fn precision(overlap: Overlap<'_>) -> f64 {
    share(overlap.same, overlap.prediction)
}

pub(super) fn recall(overlap: Overlap<'_>) -> f64 {
    share(overlap.same, overlap.reference)
}

/// Returns F1, computed in dspy's order of operations so that even the last bit agrees.
pub(super) fn f1(overlap: Overlap<'_>) -> f64 {
    if overlap.same == 0 {
        return 0.0;
    }
    let (precision, recall) = (precision(overlap), recall(overlap));
    (2.0 * precision * recall) / (precision + recall)
}

/// Works like [`f1`], but a label equals only itself.
pub(super) fn hotpot_f1(overlap: Overlap<'_>) -> f64 {
    let is_label = |side: &[Key]| match side {
        [word] => HOTPOT_LABELS
            .iter()
            .any(|label| Key::of(label.as_bytes()) == Some(*word)),
        _ => false,
    };
    let has_label = is_label(overlap.prediction) || is_label(overlap.reference);
    if has_label && overlap.prediction != overlap.reference {
        0.0
    } else {
        f1(overlap)
    }
}
