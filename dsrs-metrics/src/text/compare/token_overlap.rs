//! Token overlap of normalized strings: precision, recall, F1.

use super::Profile;
use super::tokens::tokens;

/// Normalized answers that dspy's `HotPotF1` compares as a whole: if either side is one of these
/// and the sides differ, the score is 0 even if tokens overlap.
pub const HOTPOT_LABELS: [&str; 3] = ["yes", "no", "noanswer"];

/// A string, normalized and split into tokens once.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    normalized: String,
    /// Byte ranges of the tokens in `normalized`, sorted by token, so that two lists are compared
    /// in one pass.
    sorted: Vec<(u32, u32)>,
}

/// The counts that precision, recall and F1 are computed from.
#[derive(Clone, Copy, Debug)]
struct Overlap {
    same: usize,
    prediction: usize,
    reference: usize,
}

impl Prepared {
    pub(super) fn new(profile: Profile, text: &str) -> Self {
        let normalized = profile.normalize(text);
        let mut sorted = tokens(profile, &normalized);
        sorted.sort_unstable_by(|a, b| slice(&normalized, *a).cmp(slice(&normalized, *b)));
        Self { normalized, sorted }
    }

    pub(super) fn text(&self) -> &str {
        &self.normalized
    }

    fn token(&self, at: usize) -> Option<&str> {
        self.sorted.get(at).map(|&span| slice(&self.normalized, span))
    }

    /// Returns the size of the multiset intersection, `sum((Counter(a) & Counter(b)).values())`.
    fn overlap(&self, reference: &Self) -> Overlap {
        let (mut left, mut right, mut same) = (0, 0, 0);
        while let (Some(a), Some(b)) = (self.token(left), reference.token(right)) {
            let order = a.cmp(b);
            same += usize::from(order.is_eq());
            left += usize::from(order.is_le());
            right += usize::from(order.is_ge());
        }
        Overlap { same, prediction: self.sorted.len(), reference: reference.sorted.len() }
    }

    pub(super) fn f1(&self, reference: &Self) -> f64 {
        self.overlap(reference).f1()
    }

    pub(super) fn precision(&self, reference: &Self) -> f64 {
        self.overlap(reference).precision()
    }

    pub(super) fn recall(&self, reference: &Self) -> f64 {
        self.overlap(reference).recall()
    }

    pub(super) fn hotpot_f1(&self, reference: &Self) -> f64 {
        let is_label = |side: &Self| HOTPOT_LABELS.contains(&side.text());
        if self.text() != reference.text() && (is_label(self) || is_label(reference)) {
            return 0.0;
        }
        self.f1(reference)
    }
}

/// `u32` halves the memory of prepared references. Tokens beyond 4 GiB are empty; the comparison of
/// whole strings is not affected.
fn slice(text: &str, (start, end): (u32, u32)) -> &str {
    text.get(start as usize..end as usize).unwrap_or_default()
}

impl Overlap {
    #[allow(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
    fn share(self, of: usize) -> f64 {
        // Without a common token dspy returns 0, also if both sides are empty.
        if self.same == 0 { 0.0 } else { self.same as f64 / of as f64 }
    }

    fn precision(self) -> f64 {
        self.share(self.prediction)
    }

    fn recall(self) -> f64 {
        self.share(self.reference)
    }

    /// The operations are in dspy's order, so that the last bit agrees.
    fn f1(self) -> f64 {
        if self.same == 0 {
            return 0.0;
        }
        let (precision, recall) = (self.precision(), self.recall());
        (2.0 * precision * recall) / (precision + recall)
    }
}
