//! ROUGE (Lin 2004) as computed by Google's `rouge-score` 0.1.2.

mod lines;
mod porter;

use serde::{Deserialize, Serialize};

use self::lines::shared_by_line;
use self::porter::stem;
use super::ngrams;
use crate::text::unicode::{is_mark, is_word, pieces};
use crate::text::words::WordIds;
use crate::text::{EditDistance, NoReferences, NormalForm};

/// What ROUGE counts as a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RougeTokens {
    /// Runs of ASCII letters and digits in lower case, `rouge-score`'s default. Other characters
    /// separate words: "naïve" becomes "na" and "ve", and Chinese has no words.
    #[default]
    Ascii,
    /// Runs of letters, digits and marks of any script in lower case. Each letter of a script that
    /// is written without spaces is a word.
    Unicode,
}

impl RougeTokens {
    /// Returns the words of a string, in the order of the string.
    ///
    /// ```
    /// use dsrs_metrics::text::RougeTokens;
    ///
    /// let text = "The naïve cat's 東京";
    /// assert_eq!(RougeTokens::Ascii.of(text), ["the", "na", "ve", "cat", "s"]);
    /// assert_eq!(RougeTokens::Unicode.of(text), ["the", "naïve", "cat", "s", "東", "京"]);
    /// ```
    #[must_use]
    pub fn of(self, text: &str) -> Vec<String> {
        let lower = text.to_lowercase();
        match self {
            Self::Ascii => {
                let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
                words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
            }
            Self::Unicode => {
                let lower = NormalForm::Nfc.apply(&lower);
                let words = lower.split(|c: char| c == '_' || !(is_word(c) || is_mark(c)));
                words.flat_map(pieces).map(str::to_owned).collect()
            }
        }
    }
}

/// Which words ROUGE compares.
///
/// ```
/// use dsrs_metrics::text::RougeOptions;
///
/// let options = RougeOptions { use_stemmer: true, ..RougeOptions::default() };
/// assert_eq!(options.words("The cats were easily running"), ["the", "cat", "were", "easili", "run"]);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RougeOptions {
    /// What is a word.
    pub tokens: RougeTokens,
    /// Whether words of more than three characters are reduced to their stems, so that "cats"
    /// equals "cat". The stemmer is Porter's (1980), for English, with nltk's extensions.
    pub use_stemmer: bool,
}

impl RougeOptions {
    /// Returns the words of a string, in the order of the string.
    #[must_use]
    pub fn words(self, text: &str) -> Vec<String> {
        let mut words = self.tokens.of(text);
        if self.use_stemmer {
            let longer = words.iter_mut().filter(|word| word.chars().nth(3).is_some());
            longer.for_each(|word| *word = stem(word));
        }
        words
    }
}

/// A variant of ROUGE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rouge {
    /// n-grams of this many words, at least 1.
    N(usize),
    /// The longest common subsequence of words.
    L,
    /// The longest common subsequence line by line: the words of each line of the reference that
    /// are in a longest common subsequence with any line of the prediction. Lines are separated by
    /// `\n`; as in `rouge-score`, the caller puts each sentence on a line. Takes time proportional
    /// to the product of both lengths.
    Lsum,
}

/// Precision, recall and their harmonic mean, each in [0, 1].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RougeScore {
    /// The share of the prediction that is in the reference.
    pub precision: f64,
    /// The share of the reference that is in the prediction.
    pub recall: f64,
    /// `2pr / (p + r)`; 0 if both are 0, also for two empty strings.
    pub f1: f64,
}

impl Rouge {
    /// Returns the score with the reference that gives the best F1, the first of equal ones.
    ///
    /// # Errors
    /// [`NoReferences`] if there is none.
    ///
    /// ```
    /// use dsrs_metrics::text::{Rouge, RougeOptions};
    ///
    /// let score = Rouge::L.score("the cat sat", &["the cat was sitting", "a dog"], RougeOptions::default())?;
    /// assert_eq!((score.precision, score.recall), (2.0 / 3.0, 0.5));
    /// # Ok::<(), dsrs_metrics::text::NoReferences>(())
    /// ```
    pub fn score<S: AsRef<str>>(
        self,
        prediction: &str,
        references: &[S],
        options: RougeOptions,
    ) -> Result<RougeScore, NoReferences> {
        let prediction = self.lines(prediction, options);
        let scores = references
            .iter()
            .map(|text| self.one(&prediction, &self.lines(text.as_ref(), options)));
        let best = scores.reduce(|best, next| if next.f1 > best.f1 { next } else { best });
        best.ok_or(NoReferences)
    }

    /// Returns the words, grouped by line if lines matter.
    fn lines(self, text: &str, options: RougeOptions) -> Vec<Vec<String>> {
        match self {
            Self::Lsum => text.split('\n').map(|line| options.words(line)).collect(),
            Self::L | Self::N(_) => vec![options.words(text)],
        }
    }

    fn one(self, prediction: &[Vec<String>], reference: &[Vec<String>]) -> RougeScore {
        let mut words = WordIds::default();
        let mut ids = |line| words.ids(<[String]>::iter(line).map(String::as_str));
        let ours: Vec<Vec<u32>> = prediction.iter().map(|line| ids(line)).collect();
        let theirs: Vec<Vec<u32>> = reference.iter().map(|line| ids(line)).collect();
        let total = |side: &[Vec<u32>]| side.iter().map(Vec::len).sum::<usize>() as u64;
        if self == Self::Lsum {
            let shared = shared_by_line(&ours, &theirs);
            return RougeScore::new(shared as u64, total(&ours), total(&theirs));
        }
        let (ours, theirs) = (ours.concat(), theirs.concat());
        match self {
            Self::L | Self::Lsum => {
                let shared = common_subsequence(&ours, &theirs, words.len());
                RougeScore::new(shared as u64, ours.len() as u64, theirs.len() as u64)
            }
            Self::N(n) => {
                let order = n.max(1) - 1;
                let mut shared = 0;
                ngrams::shared(&[&ours, &theirs], order + 1, |at, grams| {
                    shared += if at == order { grams[0].min(grams[1]) } else { 0 };
                });
                let total = |side: &[u32]| ngrams::total(side.len(), order);
                RougeScore::new(shared, total(&ours), total(&theirs))
            }
        }
    }
}

/// Returns the length of a longest common subsequence of numbers below `words`.
fn common_subsequence(a: &[u32], b: &[u32], words: usize) -> usize {
    (a.len() + b.len() - EditDistance::Indel.of_numbers(a, b, words)) / 2
}

impl RougeScore {
    #[expect(clippy::cast_precision_loss, reason = "counts of words stay far below 2^53")]
    fn new(shared: u64, prediction: u64, reference: u64) -> Self {
        if shared == 0 {
            return Self::default();
        }
        let precision = shared as f64 / prediction as f64;
        let recall = shared as f64 / reference as f64;
        // In `rouge-score`'s order of operations: if references are equally good, the last bit
        // decides whose precision and recall are returned.
        Self { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
    }
}
