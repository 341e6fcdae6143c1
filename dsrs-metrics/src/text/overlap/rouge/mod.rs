//! ROUGE (Lin 2004) as computed by Google's `rouge-score` 0.1.2.

mod lines;
mod porter;

use serde::{Deserialize, Serialize};

use self::lines::shared_by_line;
use self::porter::stem;
use super::{about, ngrams};
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
        let mut words = Vec::new();
        self.visit(&self.prepared(text), |word| words.push(word.to_owned()));
        words
    }

    /// Returns the string in which the words are searched, in lower case.
    fn prepared(self, text: &str) -> String {
        let lower = text.to_lowercase();
        match self {
            Self::Ascii => lower,
            Self::Unicode => NormalForm::Nfc.apply(&lower).into_owned(),
        }
    }

    /// Calls `visit` with each word of a prepared string, in their order.
    fn visit<'a>(self, text: &'a str, mut visit: impl FnMut(&'a str)) {
        match self {
            Self::Ascii => {
                let run = |at: usize, is_word| {
                    let within = |byte: &&u8| IS_ALPHANUMERIC[usize::from(**byte)] == is_word;
                    at + text.as_bytes()[at..].iter().take_while(within).count()
                };
                let mut start = run(0, false);
                while start < text.len() {
                    let end = run(start, true);
                    visit(&text[start..end]);
                    start = run(end, false);
                }
            }
            Self::Unicode => {
                let words = text.split(|c: char| c == '_' || !(is_word(c) || is_mark(c)));
                words.flat_map(pieces).for_each(visit);
            }
        }
    }
}

/// Whether a byte is an ASCII letter or digit.
const IS_ALPHANUMERIC: [bool; 256] = {
    let mut is_alphanumeric = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        is_alphanumeric[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    is_alphanumeric
};

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
        let words = self.tokens.of(text);
        if self.use_stemmer { words.iter().map(|word| stemmed(word)).collect() } else { words }
    }

    /// Returns the words of prepared strings as numbers, line by line, and the number of distinct words.
    fn numbered<'a>(self, texts: &'a [String], has_lines: bool) -> (Vec<Vec<Vec<u32>>>, usize) {
        let mut words = WordIds::with_capacity(about(texts.iter().map(String::len).sum()));
        let mut numbers = |line: &'a str| {
            let mut ids = Vec::with_capacity(about(line.len()));
            self.tokens.visit(line, |word| ids.push(words.id(word)));
            ids
        };
        let lines = |text: &'a String| match has_lines {
            true => text.split('\n').map(&mut numbers).collect(),
            false => vec![numbers(text)],
        };
        let mut texts: Vec<Vec<Vec<u32>>> = texts.iter().map(lines).collect();
        if !self.use_stemmer {
            return (texts, words.words().len());
        }
        let stems: Vec<String> = words.words().iter().map(|word| stemmed(word)).collect();
        let mut distinct = WordIds::default();
        let stems = distinct.ids(stems.iter().map(String::as_str));
        texts.iter_mut().flatten().flatten().for_each(|id| *id = stems[*id as usize]);
        (texts, distinct.words().len())
    }
}

/// Returns the stem of a word of more than three characters, and other words as they are.
fn stemmed(word: &str) -> String {
    if word.chars().nth(3).is_some() { stem(word) } else { word.to_owned() }
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
        let references = references.iter().map(AsRef::as_ref);
        let texts = std::iter::once(prediction).chain(references);
        let texts: Vec<String> = texts.map(|text| options.tokens.prepared(text)).collect();
        let (texts, words) = options.numbered(&texts, self == Self::Lsum);
        let [prediction, references @ ..] = &texts[..] else { return Err(NoReferences) };
        let scores = references.iter().map(|reference| self.one(prediction, reference, words));
        let best = scores.reduce(|best, next| if next.f1 > best.f1 { next } else { best });
        best.ok_or(NoReferences)
    }

    /// Returns the score of two sides with numbers below `words`, which have a single line unless lines matter.
    fn one(self, prediction: &[Vec<u32>], reference: &[Vec<u32>], words: usize) -> RougeScore {
        let total = |side: &[Vec<u32>]| side.iter().map(Vec::len).sum::<usize>();
        let lengths = [total(prediction), total(reference)];
        let (ours, theirs) = (&prediction[0], &reference[0]);
        match self {
            Self::Lsum => RougeScore::new(shared_by_line(prediction, reference) as u64, lengths),
            Self::L => {
                let edits = EditDistance::Indel.of_numbers(ours, theirs, words);
                RougeScore::new((lengths[0] + lengths[1] - edits) as u64 / 2, lengths)
            }
            Self::N(0 | 1) => RougeScore::new(shared_words(ours, theirs, words), lengths),
            Self::N(n) => {
                let longer = n - 1;
                let lengths = lengths.map(|length| length.saturating_sub(longer));
                let has_grams = lengths[0].min(lengths[1]) > 0;
                let matches = || ngrams::matches(&[ours, theirs], longer + 1)[longer];
                RougeScore::new(if has_grams { matches() } else { 0 }, lengths)
            }
        }
    }
}

/// Returns the number of words that both sides have, each as often as the side that has it less. Numbers are below
/// `words`.
fn shared_words(prediction: &[u32], reference: &[u32], words: usize) -> u64 {
    let mut left = vec![0_u32; words];
    reference.iter().for_each(|word| left[*word as usize] += 1);
    let mut shared = 0;
    for word in prediction {
        let left = &mut left[*word as usize];
        shared += u64::from(*left > 0);
        *left = left.saturating_sub(1);
    }
    shared
}

impl RougeScore {
    #[expect(clippy::cast_precision_loss, reason = "counts of words stay far below 2^53")]
    fn new(shared: u64, [prediction, reference]: [usize; 2]) -> Self {
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
