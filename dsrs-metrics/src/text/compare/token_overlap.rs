//! Token overlap of normalized strings: precision, recall, F1.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::Profile;
use super::normalizer::Buffer;
use super::tokens::{Token, Tokens, tokens, words};

/// Normalized answers that dspy's `HotPotF1` compares as a whole: if either side is one of these
/// and the sides differ, the score is 0 even if tokens overlap.
pub const HOTPOT_LABELS: [&str; 3] = ["yes", "no", "noanswer"];

/// Up to this many tokens of a reference are compared one by one, which is faster than hashing.
const FEW: usize = 24;

/// Memory for a normalized string and its tokens.
pub(super) struct Prepared {
    text: Buffer,
    folded: String,
    tokens: Tokens,
}

/// A [`Prepared`] string that is kept, in as little memory as it needs.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    text: Box<[u8]>,
    tokens: Box<[Token]>,
}

/// A normalized string and its tokens.
#[derive(Clone, Copy)]
pub(super) struct Answer<'a> {
    pub(super) text: &'a [u8],
    tokens: &'a [Token],
}

/// The numbers of tokens that precision, recall and F1 are computed from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlap {
    /// In the prediction and in the reference.
    pub(super) same: usize,
    pub(super) prediction: usize,
    pub(super) reference: usize,
}

/// A score of a prediction and a reference.
pub(super) type Score = fn(Overlap) -> f64;

impl Prepared {
    pub(super) fn new() -> Self {
        Self { text: Buffer::new(), folded: String::new(), tokens: Tokens::new() }
    }

    /// Normalizes a string and splits it into tokens.
    pub(super) fn answer(&mut self, profile: Profile, text: &str) -> Answer<'_> {
        let text = if profile == Profile::Dspy {
            let text = self.text.normalize(text);
            words(text, &mut self.tokens);
            text
        } else {
            self.folded = profile.normalize(text);
            self.tokens = tokens(profile, &self.folded);
            self.folded.as_bytes()
        };
        Answer { text, tokens: &self.tokens }
    }
}

impl Kept {
    pub(super) fn new(profile: Profile, text: &str) -> Self {
        let mut prepared = Prepared::new();
        let answer = prepared.answer(profile, text);
        Self { text: answer.text.into(), tokens: answer.tokens.into() }
    }

    pub(super) fn answer(&self) -> Answer<'_> {
        Answer { text: &self.text, tokens: &self.tokens }
    }
}

impl Answer<'_> {
    pub(super) fn overlap(self, reference: Answer<'_>) -> Overlap {
        let few = reference.tokens.len() <= FEW;
        let same = if few { self.same_of_few(reference) } else { self.same_of_many(reference) };
        Overlap { same, prediction: self.tokens.len(), reference: reference.tokens.len() }
    }

    /// Returns the size of the multiset intersection, `sum((Counter(a) & Counter(b)).values())`.
    fn same_of_few(self, reference: Answer<'_>) -> usize {
        let mut used = 0_u32;
        for token in self.tokens {
            let same = |at: &usize| {
                used & 1 << at == 0
                    && reference.tokens[*at].of(reference.text) == token.of(self.text)
            };
            if let Some(at) = (0..reference.tokens.len()).find(same) {
                used |= 1 << at;
            }
        }
        used.count_ones() as usize
    }

    /// The same for long lists.
    fn same_of_many(self, reference: Answer<'_>) -> usize {
        // Tokens of long strings are repeated.
        let capacity = reference.tokens.len() / 2;
        let mut left = HashMap::with_capacity_and_hasher(capacity, RandomState::default());
        for token in reference.tokens {
            *left.entry(token.of(reference.text)).or_insert(0_usize) += 1;
        }
        let take = |token: &&Token| match left.get_mut(&token.of(self.text)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        };
        self.tokens.iter().filter(take).count()
    }
}

pub(super) fn hotpot_f1(prediction: Answer<'_>, reference: Answer<'_>) -> f64 {
    let is_label =
        |side: Answer<'_>| HOTPOT_LABELS.iter().any(|label| label.as_bytes() == side.text);
    if prediction.text != reference.text && (is_label(prediction) || is_label(reference)) {
        return 0.0;
    }
    prediction.overlap(reference).f1()
}

impl Overlap {
    #[allow(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
    fn share(self, of: usize) -> f64 {
        // Without a common token dspy returns 0, also if both sides are empty.
        if self.same == 0 { 0.0 } else { self.same as f64 / of as f64 }
    }

    pub(super) fn precision(self) -> f64 {
        self.share(self.prediction)
    }

    pub(super) fn recall(self) -> f64 {
        self.share(self.reference)
    }

    /// The operations are in dspy's order, so that the last bit agrees.
    pub(super) fn f1(self) -> f64 {
        if self.same == 0 {
            return 0.0;
        }
        let (precision, recall) = (self.precision(), self.recall());
        (2.0 * precision * recall) / (precision + recall)
    }
}
