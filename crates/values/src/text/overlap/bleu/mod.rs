//! BLEU (Papineni et al. 2002) of a sentence and of a corpus, as in sacrebleu 2.6.

mod tokens;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use self::tokens::BleuTokens;
use super::ngrams::{self, MAX_ORDER};
use crate::text::words::WordLists;
use crate::text::{NoReferences, NormalForm};

/// How BLEU is smoothed for n-gram lengths without a match (Chen and Cherry 2014).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BleuSmoothing {
    /// No smoothing: the score is 0 if any length has no match.
    None,
    /// Counts 0.1 matches instead of 0.
    Floor,
    /// Adds one to the number of matches and to the number of n-grams, for each length except the first.
    AddOne,
    /// Counts 1/2 match for the first length without a match, 1/4 for the second and so on, as in NIST's `mteval-v13a`.
    #[default]
    Exp,
}

/// Options for BLEU. The defaults are sacrebleu's.
///
/// ```
/// use dsrs_metrics::text::BleuOptions;
///
/// let bleu = BleuOptions::default();
/// let counts = bleu.counts("the cat sat on the mat", &["the cat sat on a mat"])?;
/// assert_eq!((counts[0], counts[1]), (6, 6)); // words of the prediction and of the reference
/// assert_eq!(counts[2..6], [5, 3, 2, 1]); // shared n-grams of length 1 to 4
/// assert_eq!(counts[6..], [6, 5, 4, 3]); // n-grams of the prediction
/// assert!((bleu.sentence_score(&counts) - 0.537_284_965_911_770_9).abs() < 1e-12);
/// # Ok::<(), dsrs_metrics::text::NoReferences>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BleuOptions {
    /// How strings are split into words.
    pub tokens: BleuTokens,
    /// The smoothing for n-gram lengths without a match.
    pub smoothing: BleuSmoothing,
    /// The length of the longest n-gram, clamped to 1..=16.
    pub max_order: usize,
    /// `true` if case is ignored.
    pub lowercase: bool,
    /// The Unicode normal form that strings are converted to before they are compared. sacrebleu compares strings as
    /// is.
    pub form: NormalForm,
}

impl Default for BleuOptions {
    fn default() -> Self {
        Self {
            tokens: BleuTokens::V13a,
            smoothing: BleuSmoothing::Exp,
            max_order: 4,
            lowercase: false,
            form: NormalForm::Nfc,
        }
    }
}

impl BleuOptions {
    fn orders(&self) -> usize {
        self.max_order.clamp(1, MAX_ORDER)
    }

    /// Returns the counts for one row: the prediction's length, the nearest reference's length, the number of matches
    /// of each order, and the number of n-grams of each order in the prediction. If two references are equally near,
    /// the shorter one counts. An n-gram matches at most as often as it occurs in any single reference.
    ///
    /// # Errors
    /// Returns [`NoReferences`] if there are no references.
    pub fn counts<S: AsRef<str>>(
        &self,
        prediction: &str,
        references: &[S],
    ) -> Result<Vec<u64>, NoReferences> {
        if references.is_empty() {
            return Err(NoReferences);
        }
        Ok(WordLists::with(|words| {
            let references = references.iter().map(AsRef::as_ref);
            for text in std::iter::once(prediction).chain(references) {
                words.add(self.tokens.words(&self.prepared(text)));
            }
            words.number();
            let texts: Vec<&[u32]> = words.lists().collect();
            let (orders, length) = (self.orders(), texts[0].len());
            let lengths = texts[1..].iter().map(|text| text.len());
            let nearest = lengths.min_by_key(|other| (other.abs_diff(length), *other));
            let mut counts = vec![length as u64, nearest.unwrap_or(0) as u64];
            counts.extend(ngrams::matches(&texts, orders, words.distinct()));
            counts.extend((0..orders).map(|order| ngrams::total(length, order)));
            counts
        }))
    }

    fn prepared<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let composed = self.form.apply(text);
        self.tokens.prepared(match self.lowercase {
            true => Cow::Owned(composed.to_lowercase()),
            false => composed,
        })
    }

    /// Returns the BLEU score of one row, in [0, 1], over the orders for which the prediction is long enough
    /// (sacrebleu's `effective_order`). sacrebleu's score is 100 times this score.
    pub fn sentence_score(&self, counts: &[u64]) -> f64 {
        self.score(counts, true)
    }

    #[doc(hidden)]
    pub fn score(&self, counts: &[u64], effective: bool) -> f64 {
        let orders = self.orders();
        let Some((lengths, grams)) = counts.split_first_chunk::<2>() else {
            return 0.0;
        };
        let Some((matches, totals)) = grams.split_at_checked(orders) else {
            return 0.0;
        };
        if totals.len() != orders || matches.iter().all(|count| *count == 0) {
            return 0.0;
        }
        let mut halving = 1.0;
        let (mut logs, mut longest) = (0.0, 0);
        for (order, (matches, total)) in matches.iter().zip(totals).enumerate() {
            let precision = self.precision(order, *matches, *total, &mut halving);
            let Some(precision) = precision else { break };
            longest = order + 1;
            logs += precision.ln();
        }
        // Orders longer than the prediction have no match either.
        if !effective && longest < orders {
            return 0.0;
        }
        let longest = u32::try_from(longest).map_or(1.0, f64::from);
        brevity(*lengths) * (logs / longest).exp()
    }

    /// Returns the brevity penalty: the factor by which a short prediction lowers the score.
    #[doc(hidden)]
    pub fn brevity_penalty(counts: &[u64]) -> f64 {
        counts
            .first_chunk()
            .map_or(0.0, |lengths| brevity(*lengths))
    }

    /// Returns the share of n-grams that match; `None` if there are none.
    #[expect(
        clippy::cast_precision_loss,
        reason = "word counts stay far below 2^53"
    )]
    fn precision(&self, order: usize, matches: u64, total: u64, halving: &mut f64) -> Option<f64> {
        let (mut matches, mut total) = (matches as f64, total as f64);
        if self.smoothing == BleuSmoothing::AddOne && order > 0 {
            (matches, total) = (matches + 1.0, total + 1.0);
        }
        if total == 0.0 {
            return None;
        }
        if matches == 0.0 {
            matches = match self.smoothing {
                BleuSmoothing::Exp => {
                    *halving *= 2.0;
                    1.0 / *halving
                }
                BleuSmoothing::Floor => 0.1,
                BleuSmoothing::None | BleuSmoothing::AddOne => 0.0,
            };
        }
        Some(matches / total)
    }
}

/// Returns the brevity penalty, which is needed because precision does not penalize short predictions.
#[expect(
    clippy::cast_precision_loss,
    reason = "word counts stay far below 2^53"
)]
fn brevity([prediction, reference]: [u64; 2]) -> f64 {
    // 0 for an empty prediction, because the exponent is then negative infinity.
    if prediction < reference {
        (1.0 - reference as f64 / prediction as f64).exp()
    } else {
        1.0
    }
}
