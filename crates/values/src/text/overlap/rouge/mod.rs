//! ROUGE as computed by Google's `rouge-score` 0.1.2.
//!
//! ROUGE was introduced by Lin (2004).

mod porter;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::ngram_matches;
use crate::text::unicode::{is_mark, is_word, pieces};
use crate::text::words::{Replacement, WordLists};
use crate::text::{NoReferences, NormalForm, common_subsequence};
use porter::stem;

/// How strings are split into words for ROUGE.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RougeTokens {
    /// A word is a run of ASCII letters and digits, in lower case.
    ///
    /// This is the default in `rouge-score`. Other characters separate words: "naïve" becomes "na" and "ve", and
    /// Chinese text has no words.
    #[default]
    Ascii,
    /// A word is a run of letters, digits and marks of any script, in lower case.
    ///
    /// Each letter of a script without spaces is a word.
    Unicode,
}

impl RougeTokens {
    /// Returns the words in a string, in order.
    ///
    /// ```
    /// use dsrs_metrics::text::RougeTokens;
    ///
    /// let text = "The naïve cat's 東京";
    /// assert_eq!(RougeTokens::Ascii.of(text), ["the", "na", "ve", "cat", "s"]);
    /// assert_eq!(RougeTokens::Unicode.of(text), ["the", "naïve", "cat", "s", "東", "京"]);
    /// ```
    pub fn of(self, text: &str) -> Vec<String> {
        let text = self.prepared(text);
        self.words(&text).into_iter().map(str::to_owned).collect()
    }

    /// Returns the string in lower case, ready to be split into words.
    fn prepared(self, text: &str) -> String {
        match self {
            Self::Ascii => text.to_lowercase(),
            Self::Unicode => NormalForm::Nfc.apply(&text.to_lowercase()).into_owned(),
        }
    }

    /// Returns the words of a prepared string, in order.
    fn words(self, text: &str) -> Vec<&str> {
        let is_separator = |c: char| c == '_' || !(is_word(c) || is_mark(c));
        match self {
            Self::Ascii => {
                let words = text.split(|c: char| !c.is_ascii_alphanumeric());
                words.filter(|word| !word.is_empty()).collect()
            }
            Self::Unicode => text.split(is_separator).flat_map(pieces).collect(),
        }
    }
}

/// Options for splitting strings into words for ROUGE.
///
/// ```
/// use dsrs_metrics::text::RougeOptions;
///
/// let options = RougeOptions { use_stemmer: true, ..RougeOptions::default() };
/// assert_eq!(options.words("The cats were easily running"), ["the", "cat", "were", "easili", "run"]);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RougeOptions {
    /// How strings are split into words.
    pub tokens: RougeTokens,
    /// `true` to reduce words to their stems, so "cats" equals "cat".
    ///
    /// Words of up to three characters are left unchanged. The stemmer is Porter's (1980) for English, with nltk's
    /// extensions.
    pub use_stemmer: bool,
}

impl RougeOptions {
    /// Returns the words in a string, in order.
    pub fn words(self, text: &str) -> Vec<String> {
        let words = self.tokens.of(text);
        match self.use_stemmer {
            true => words.iter().map(|word| stemmed(word)).collect(),
            false => words,
        }
    }

    /// Adds the words in one line of a prepared string as a list.
    fn add(self, line: &str, words: &mut WordLists) {
        if !self.use_stemmer {
            return words.add(self.tokens.words(line));
        }
        for word in self.tokens.words(line) {
            words.push_replaced(Replacement::Stem, word, stemmed);
        }
        words.end_list();
    }
}

/// Returns the stem of a word of more than three characters; other words are returned as is.
fn stemmed(word: &str) -> String {
    if word.chars().nth(3).is_some() {
        stem(word)
    } else {
        word.to_owned()
    }
}

/// A variant of ROUGE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rouge {
    /// The overlap of n-grams.
    ///
    /// The value is the number of words in an n-gram, at least 1.
    N(usize),
    /// The longest common subsequence of words.
    L,
    /// The longest common subsequence of words, computed line by line.
    ///
    /// A word in a reference line is counted if it is in a longest common subsequence with any line of the prediction.
    /// Lines are separated by `\n`. As with `rouge-score`, put each sentence on its own line.
    ///
    /// The running time is proportional to the product of the two strings' lengths.
    Lsum,
}

/// A ROUGE score: precision, recall and F1, each in [0, 1].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RougeScore {
    /// The fraction of the prediction that is found in the reference.
    pub precision: f64,
    /// The fraction of the reference that is found in the prediction.
    pub recall: f64,
    /// The harmonic mean of precision and recall, `2pr / (p + r)`.
    ///
    /// The value is 0 if both are 0, even if both strings are empty.
    pub f1: f64,
}

impl Rouge {
    /// Returns the score for the reference with the best F1.
    ///
    /// In a tie, the first reference is used.
    ///
    /// # Errors
    /// Returns [`NoReferences`] if there are no references.
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
        WordLists::with(|words| {
            let references = references.iter().map(AsRef::as_ref);
            // The number of lists of words at the end of each string.
            let mut ends = Vec::new();
            for text in std::iter::once(prediction).chain(references) {
                let text = options.tokens.prepared(text);
                let lines = if self == Self::Lsum { usize::MAX } else { 1 };
                text.splitn(lines, '\n')
                    .for_each(|line| options.add(line, words));
                ends.push(words.len());
            }
            words.number();
            let lists: Vec<&[u32]> = words.lists().collect();
            let prediction = &lists[..ends[0]];
            let references = ends.windows(2).map(|ends| &lists[ends[0]..ends[1]]);
            let scores =
                references.map(|reference| self.one(prediction, reference, words.distinct()));
            let best = scores.reduce(|best, next| if next.f1 > best.f1 { next } else { best });
            best.ok_or(NoReferences)
        })
    }

    /// Returns the score for two sides, given as lists of numbers below `words`. Each side has a single line unless
    /// lines matter.
    fn one(self, prediction: &[&[u32]], reference: &[&[u32]], words: usize) -> RougeScore {
        let total = |side: &[&[u32]]| side.iter().map(|line| line.len()).sum::<usize>();
        let lengths = [total(prediction), total(reference)];
        let (ours, theirs) = (prediction[0], reference[0]);
        match self {
            Self::Lsum => RougeScore::new(shared_by_line(prediction, reference) as u64, lengths),
            Self::L => RougeScore::new(common_subsequence(ours, theirs) as u64, lengths),
            Self::N(n) => {
                let longer = n.max(1) - 1;
                let lengths = lengths.map(|length| length.saturating_sub(longer));
                let has_grams = lengths[0].min(lengths[1]) > 0;
                let matches = || ngram_matches(&[ours, theirs], longer + 1, words)[longer];
                RougeScore::new(if has_grams { matches() } else { 0 }, lengths)
            }
        }
    }
}

impl RougeScore {
    fn new(shared: u64, [prediction, reference]: [usize; 2]) -> Self {
        if shared == 0 {
            return Self::default();
        }
        let precision = shared as f64 / prediction as f64;
        let recall = shared as f64 / reference as f64;
        // In `rouge-score`'s order of operations: if references are equally good, the last bit decides whose precision
        // and recall are returned.
        Self {
            precision,
            recall,
            f1: 2.0 * precision * recall / (precision + recall),
        }
    }
}

/// Returns the number of shared words: for each reference line, those in a longest common subsequence with any line of the
/// prediction. A word counts at most as often as it occurs on each side.
///
/// Several longest common subsequences may exist, with different words. This is the same one as in `rouge-score` 0.1.2.
fn shared_by_line(prediction: &[&[u32]], reference: &[&[u32]]) -> usize {
    let mut left = HashMap::<u32, usize>::new();
    for word in prediction.iter().copied().flatten() {
        *left.entry(*word).or_default() += 1;
    }
    let mut shared = 0;
    for line in reference {
        for word in union(line, prediction) {
            if let Some(left @ 1..) = left.get_mut(&word) {
                *left -= 1;
                shared += 1;
            }
        }
    }
    shared
}

/// Returns the line's words that are in a longest common subsequence with any of the other lines.
fn union<'a>(line: &'a [u32], others: &[&[u32]]) -> impl Iterator<Item = u32> + use<'a> {
    let mut is_in = vec![false; line.len()];
    for other in others {
        mark(line, other, &mut is_in);
    }
    let words = line.iter().zip(is_in);
    words.filter_map(|(word, is_in)| is_in.then_some(*word))
}

/// Marks the words of one longest common subsequence.
fn mark(line: &[u32], other: &[u32], is_in: &mut [bool]) {
    // The only part of the length table needed on the way back: whether to step in `other` instead of in `line`.
    let mut back = vec![false; line.len() * other.len()];
    let (mut above, mut row) = (vec![0_u32; other.len() + 1], vec![0_u32; other.len() + 1]);
    for (i, word) in line.iter().enumerate() {
        for (j, candidate) in other.iter().enumerate() {
            row[j + 1] = if word == candidate {
                above[j] + 1
            } else {
                above[j + 1].max(row[j])
            };
            back[i * other.len() + j] = row[j] > above[j + 1];
        }
        std::mem::swap(&mut above, &mut row);
    }
    let (mut i, mut j) = (line.len(), other.len());
    while i > 0 && j > 0 {
        if line[i - 1] == other[j - 1] {
            is_in[i - 1] = true;
            (i, j) = (i - 1, j - 1);
        } else if back[(i - 1) * other.len() + j - 1] {
            j -= 1;
        } else {
            i -= 1;
        }
    }
}
