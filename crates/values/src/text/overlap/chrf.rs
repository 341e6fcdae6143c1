//! chrF (Popović 2015) and chrF++ (Popović 2017) for a row or a corpus, as in sacrebleu 2.6.

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use super::{MAX_ORDER, ngram_matches, ngram_total, normalized};
use crate::text::unicode::is_space;
use crate::text::words::{WordLists, split};
use crate::text::{NoReferences, NormalForm};

/// Options for computing chrF.
///
/// The defaults are those of sacrebleu's chrF2. For chrF++, set `word_order` to 2.
///
/// ```
/// use dsrs_metrics::text::{ChrfOptions, NoReferences};
///
/// let score = |chrf: ChrfOptions| -> Result<f64, NoReferences> {
///     Ok(chrf.score(&chrf.counts("the cat sat on the mat", &["the cat sat on a mat"])?))
/// };
/// let chrf = score(ChrfOptions::default())?;
/// let chrf_plus_plus = score(ChrfOptions { word_order: 2, ..ChrfOptions::default() })?;
/// assert_eq!(format!("{chrf:.6} {chrf_plus_plus:.6}"), "0.720848 0.720304");
/// # Ok::<(), NoReferences>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChrfOptions {
    /// The length of the longest character n-gram.
    ///
    /// The maximum is 16.
    pub char_order: usize,
    /// The length of the longest word n-gram.
    ///
    /// The maximum is 16. If the length is 0, words are ignored.
    pub word_order: usize,
    /// The weight of recall relative to precision.
    pub beta: f64,
    /// `true` to ignore case.
    pub lowercase: bool,
    /// `true` to count whitespace as characters.
    pub whitespace: bool,
    /// The Unicode normal form applied to strings before they are compared.
    ///
    /// sacrebleu compares strings without conversion.
    pub form: NormalForm,
}

impl Default for ChrfOptions {
    fn default() -> Self {
        Self {
            char_order: 6,
            word_order: 0,
            beta: 2.0,
            lowercase: false,
            whitespace: false,
            form: NormalForm::Nfc,
        }
    }
}

impl ChrfOptions {
    /// Returns the counts used to compute the chrF score for one row.
    ///
    /// For each n-gram length, these are the numbers of n-grams in the prediction, in the reference, and in both.
    /// Character n-grams come before word n-grams.
    ///
    /// If there are several references, the one with the best score is used.
    ///
    /// # Errors
    /// Returns [`NoReferences`] if there are no references.
    pub fn counts<S: AsRef<str>>(
        &self,
        prediction: &str,
        references: &[S],
    ) -> Result<Vec<u64>, NoReferences> {
        let prepared = normalized(prediction, self.form, self.lowercase);
        let mut numbers = IndexSet::default();
        let prediction = self.characters(&prepared, &mut numbers);
        let counts = references.iter().map(|reference| {
            let reference = normalized(reference.as_ref(), self.form, self.lowercase);
            let characters = self.characters(&reference, &mut numbers);
            let texts = [&prediction[..], &characters];
            let mut counts = triples(texts, self.char_order, numbers.len());
            if self.word_order != 0 {
                counts.extend(WordLists::with(|words| {
                    words.add(split_words(&prepared));
                    words.add(split_words(&reference));
                    words.number();
                    let texts = [words.list(0), words.list(1)];
                    triples(texts, self.word_order, words.distinct())
                }));
            }
            (self.score(&counts), counts)
        });
        let best = counts.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, counts)| counts).ok_or(NoReferences)
    }

    fn characters(&self, text: &str, numbers: &mut IndexSet<char, RandomState>) -> Vec<u32> {
        let kept = text.chars().filter(|c| self.whitespace || !is_space(*c));
        kept.map(|c| numbers.insert_full(c).0 as u32).collect()
    }

    /// Computes the chrF score, in [0, 1], from counts.
    ///
    /// This is the F score of precision and recall. Each is averaged over the n-gram lengths that occur on both sides.
    /// If there are none, the score is 0. sacrebleu's score is 100 times this score.
    pub fn score(&self, counts: &[u64]) -> f64 {
        let both = Self::precision_and_recall(counts);
        // Without a match, both are 0.
        let Some((precision, recall)) = both.filter(|both| both.0 > 0.0) else {
            return 0.0;
        };
        let factor = self.beta * self.beta;
        ((1.0 + factor) * precision * recall / (factor * precision + recall)).min(1.0)
    }

    /// Returns the mean precision and the mean recall over all n-gram lengths.
    ///
    /// Only lengths that occur on both sides are included. Returns `None` if there is no such length.
    #[doc(hidden)]
    pub fn precision_and_recall(counts: &[u64]) -> Option<(f64, f64)> {
        let (mut precision, mut recall, mut orders) = (0.0, 0.0, 0.0);
        for triple in counts.chunks_exact(3) {
            let &[prediction, reference, shared] = triple else {
                continue;
            };
            if prediction > 0 && reference > 0 {
                precision += shared as f64 / prediction as f64;
                recall += shared as f64 / reference as f64;
                orders += 1.0;
            }
        }
        (orders > 0.0).then(|| (precision / orders, recall / orders))
    }
}

/// Returns, for each order, the number of n-grams in the prediction, in the reference, and in both. Items are below
/// `distinct`.
fn triples(texts: [&[u32]; 2], orders: usize, distinct: usize) -> Vec<u64> {
    let orders = orders.min(MAX_ORDER);
    let mut counts = Vec::with_capacity(3 * orders);
    let matches = ngram_matches(&texts, orders, distinct);
    for (order, matches) in matches.into_iter().enumerate() {
        let [ours, theirs] = texts.map(|text| ngram_total(text.len(), order));
        counts.extend([if theirs > 0 { ours } else { 0 }, theirs, matches]);
    }
    counts
}

/// Splits a string into words, and splits one ASCII punctuation mark off the end of each word, or else off its
/// beginning.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    split(text).flat_map(|word| {
        let (first, last) = (word.chars().next(), word.chars().next_back());
        let is_sign = |c: Option<char>| c.is_some_and(|c| c.is_ascii_punctuation());
        let cut = match word.chars().nth(1) {
            None => 0,
            Some(_) if is_sign(last) => word.len() - 1,
            Some(_) if is_sign(first) => 1,
            Some(_) => 0,
        };
        let (start, end) = word.split_at(cut);
        [start, end].into_iter().filter(|part| !part.is_empty())
    })
}
