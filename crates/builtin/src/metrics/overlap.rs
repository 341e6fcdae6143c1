//! Metrics that count the n-grams or word sequences shared with a reference.
//!
//! This module contains BLEU, chrF and ROUGE.

use crate::contract::{CorpusCounts, Scores, WithCorpus, valid_beta, within};
use crate::metrics::StrOrList;
use crate::metrics::edits::explain_words;
use crate::metrics::explained::compared_words;
use crate::metrics::inputs::{MAX_PAIRS, are_short, bounded};
use crate::text::{
    BleuOptions, BleuSmoothing, BleuTokens, ChrfOptions, MAX_ORDER, NoReferences, NormalForm,
    Rouge, RougeOptions, RougeTokens,
};
use crate::{ParamGroup, metric};

/// Computes the BLEU score of the prediction.
///
/// The score is in [0, 1]. The metric also reports corpus BLEU.
///
/// BLEU (Papineni et al. 2002) is computed as in sacrebleu 2.6, and divided by 100. A row's score uses sacrebleu's
/// `effective_order`, but corpus BLEU does not.
///
/// A row can have several references. An n-gram matches at most as many times as it occurs in the reference that
/// contains it most often. The brevity penalty uses the reference whose length is closest.
///
/// The score is 0 if the prediction or the reference is empty.
///
/// Unlike in sacrebleu, strings are compared in NFC. To compare code points, set `form=as_is`.
///
/// For Chinese and Japanese, set `tokens=zh` or `tokens=char`. The default, `13a`, reads a string without spaces as one
/// word.
///
/// ```
/// use dsrs_metrics::metrics::Bleu;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => ["The dog bit the man.", "The dog had bitten the man."] };
/// let pred = prediction! { "answer" => "The dog bit the man." };
/// assert_eq!(Bleu::default().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, explain = |answer, prediction, _, _, _, lowercase, form, _| {
    explain_words(&answer, prediction, form, lowercase)
})]
pub fn bleu(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer", missing)] prediction: &str,
    /// How strings are split into words: `13a`, `zh`, `char` or `none`.
    #[param(default = BleuTokens::V13a)]
    tokens: BleuTokens,
    /// How n-gram lengths without a match are smoothed: `exp`, `floor`, `add_one` or `none`.
    #[param(default = BleuSmoothing::Exp)]
    smoothing: BleuSmoothing,
    /// The length of the longest n-grams, from 1 to 16.
    #[param(default = 4)]
    max_order: usize,
    /// `true` to ignore case.
    #[param(default = false)]
    lowercase: bool,
    /// The Unicode normalization of the strings: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<WithCorpus<f64>, NoReferences> {
    let bleu = BleuOptions {
        tokens,
        smoothing,
        max_order,
        lowercase,
        form,
    };
    let counts = bleu.counts(prediction, &answer)?;
    let score = bleu.sentence_score(&counts);
    Ok(WithCorpus::new(score, CorpusCounts::new(counts, bleu)))
}

/// Computes the chrF score of the prediction.
///
/// The score is in [0, 1]. If a row has several references, the metric uses the one with the highest score.
///
/// The metric also reports corpus chrF.
///
/// chrF (Popović 2015) is computed as in sacrebleu 2.6, and divided by 100. It compares character n-grams without
/// whitespace.
///
/// Precision and recall are averaged over the n-gram lengths that occur on both sides, and combined into an F score.
/// Recall counts `beta` times as much as precision.
///
/// If you set `word_order=2`, the metric is chrF++ (Popović 2017).
///
/// chrF does not need words, so it works for any script. Unlike in sacrebleu, strings are compared in NFC.
///
/// The score is 0 if the prediction or the reference is empty.
///
/// ```
/// use dsrs_metrics::metrics::Chrf;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => "東京都" };
/// let metric = Chrf::builder().char_order(2).build();
/// let score = metric.score(&gold, &prediction! { "answer" => "東京" })?.value;
/// // Precision is 1; recall is 2/3 of the characters and 1/2 of the pairs.
/// let recall = (2.0 / 3.0 + 1.0 / 2.0) / 2.0;
/// assert!((score - 5.0 * recall / (4.0 + recall)).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, explain = |answer, prediction, _, _, _, lowercase, form, _| {
    explain_words(&answer, prediction, form, lowercase)
})]
pub fn chrf(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer", missing)] prediction: &str,
    /// The length of the longest character n-grams, at most 16.
    #[param(default = 6)]
    char_order: usize,
    /// The length of the longest word n-grams, at most 16. Use 0 for chrF or 2 for chrF++.
    #[param(default = 0)]
    word_order: usize,
    /// The weight of recall relative to precision.
    #[param(default = 2.0)]
    beta: f64,
    /// `true` to ignore case.
    #[param(default = false)]
    lowercase: bool,
    /// The Unicode normalization of the strings: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<WithCorpus<f64>, NoReferences> {
    let chrf = ChrfOptions {
        char_order,
        word_order,
        beta,
        lowercase,
        whitespace: false,
        form,
    };
    let counts = chrf.counts(prediction, &answer)?;
    let score = chrf.score(&counts);
    Ok(WithCorpus::new(score, CorpusCounts::new(counts, chrf)))
}

requires_valid! {
    Bleu: |metric| within("max_order", metric.max_order, [1, MAX_ORDER]);
    Chrf: |metric| validate_chrf(metric);
}

fn validate_chrf(chrf: &Chrf) -> Result<(), String> {
    within("char_order", chrf.char_order, [0, MAX_ORDER])?;
    within("word_order", chrf.word_order, [0, MAX_ORDER])?;
    if chrf.char_order + chrf.word_order == 0 {
        return Err("no n-grams to compare; set `char_order`, `word_order` or both".to_owned());
    }
    valid_beta(chrf.beta)
}

/// The maximum number of word pairs (words in the prediction times words in the references) that ROUGE-Lsum compares.
const MAX_PAIRS_BY_LINE: usize = 100_000_000;

/// Returns an error if the strings have too many words for this kind of ROUGE. ROUGE-N takes linear time.
fn words_bounded(
    rouge: Rouge,
    prediction: &str,
    answer: &[impl AsRef<str>],
    tokens: RougeTokens,
) -> Result<(), String> {
    let bytes = answer.iter().map(|text| text.as_ref().len()).sum();
    if matches!(rouge, Rouge::N(_)) || rouge == Rouge::L && are_short(prediction.len(), bytes) {
        return Ok(());
    }
    let ours = tokens.of(prediction).len();
    let theirs = answer.iter().map(|text| tokens.of(text.as_ref()).len());
    let theirs: usize = theirs.sum();
    match rouge {
        Rouge::Lsum if ours.saturating_mul(theirs) > MAX_PAIRS_BY_LINE => Err(format!(
            "too many words to compare line by line: {ours} predicted, {theirs} expected; use rouge_l"
        )),
        Rouge::Lsum => Ok(()),
        _ => bounded("words", ours, theirs, MAX_PAIRS, "use rouge_2"),
    }
}

/// Scores one row as F1, precision and recall. Returns an error if a reference has text but no words.
fn rouge(
    rouge: Rouge,
    prediction: &str,
    answer: &[impl AsRef<str>],
    options: RougeOptions,
) -> Result<Scores, String> {
    let tokens = options.tokens;
    words_bounded(rouge, prediction, answer, tokens)?;
    let has_no_word = |text: &str| !text.trim().is_empty() && tokens.of(text).is_empty();
    let score = rouge.score(prediction, answer, options);
    let score = score.map_err(|error| error.to_string())?;
    let mut texts = answer.iter().map(AsRef::as_ref);
    if score.f1 == 0.0
        && let Some(text) = texts.find(|text| has_no_word(text))
    {
        let text: String = text.chars().take(40).collect();
        return Err(match tokens {
            RougeTokens::Ascii => format!(
                "expected an ASCII letter or digit in `gold.answer`, found {text:?}; set tokens=unicode"
            ),
            _ => format!("expected a letter or digit in `gold.answer`, found {text:?}"),
        });
    }
    let scores = Scores::new("f1", score.f1).with("precision", score.precision);
    Ok(scores.with("recall", score.recall))
}

/// Parameters shared by all ROUGE metrics.
#[derive(Debug, Clone, ParamGroup)]
pub struct RougeWords {
    /// How to split strings into words.
    ///
    /// Use `ascii` to get the same words as `rouge-score`, or `unicode` to include words in all scripts.
    #[param(default = RougeTokens::Ascii)]
    pub tokens: RougeTokens,
    /// `true` to reduce words to their English stems. For example, "cats" then equals "cat".
    #[param(default = false)]
    pub use_stemmer: bool,
}

impl RougeWords {
    pub(super) fn options(&self) -> RougeOptions {
        RougeOptions {
            tokens: self.tokens,
            use_stemmer: self.use_stemmer,
        }
    }
}

/// Declares the metric for one kind of ROUGE.
macro_rules! rouge_metric {
    ($(#[$($attribute:tt)*])* fn $name:ident = $rouge:expr;) => {
        $(#[$($attribute)*])*
        pub fn $name(
            #[gold] answer: StrOrList<'_>,
            #[pred("answer", missing)] prediction: &str,
            #[param(flatten)] words: &RougeWords,
        ) -> Result<Scores, String> {
            rouge($rouge, prediction, &answer, words.options())
        }
    };
}

rouge_metric! {
    /// Computes ROUGE-1, which counts the words shared with the reference.
    ///
    /// The metric reports F1, precision and recall. If a row has several references, it uses the one with the highest
    /// F1.
    ///
    /// ROUGE-1 (Lin 2004) is computed as in `rouge-score` 0.1.2. Set `use_stemmer` to use its stemmer for English. The
    /// corpus score is the mean over all rows.
    ///
    /// The score is 0 if the prediction, the reference or both are empty. Unlike in `rouge-score`, a reference without
    /// any words is an error instead of 0. This happens if the reference is in a non-Latin script and `tokens=ascii`.
    ///
    /// ```
    /// use dsrs_metrics::metrics::Rouge1;
    /// use dsrs_metrics::prelude::*;
    ///
    /// # fn main() -> dsrs_metrics::Result<()> {
    /// let gold = example! { "answer" => "the cat was found under the bed" };
    /// let pred = prediction! { "answer" => "the cat under the bed" };
    /// let score = Rouge1::default().score(&gold, &pred)?.value;
    /// assert!((score - 2.0 * 5.0 / 12.0).abs() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    #[metric(name = "rouge_1", range = 0.0..=1.0, explain = explain_rouge)]
    fn rouge1 = Rouge::N(1);
}

rouge_metric! {
    /// Computes ROUGE-2, which counts the pairs of neighbouring words shared with the reference.
    ///
    /// The metric reports F1, precision and recall. If a row has several references, it uses the one with the highest
    /// F1.
    ///
    /// The score is computed as in `rouge_1`, but for pairs of words. A string with one word has no pairs and scores 0.
    ///
    /// ```
    /// use dsrs_metrics::metrics::Rouge2;
    /// use dsrs_metrics::prelude::*;
    ///
    /// # fn main() -> dsrs_metrics::Result<()> {
    /// let gold = example! { "answer" => "the cat was found under the bed" };
    /// let pred = prediction! { "answer" => "the cat under the bed" };
    /// let score = Rouge2::default().score(&gold, &pred)?.value;
    /// assert!((score - 2.0 * 3.0 / 10.0).abs() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    #[metric(name = "rouge_2", range = 0.0..=1.0, explain = explain_rouge)]
    fn rouge2 = Rouge::N(2);
}

rouge_metric! {
    /// Computes ROUGE-L, the longest common subsequence of words with the reference.
    ///
    /// The metric reports F1, precision and recall. If a row has several references, it uses the one with the highest
    /// F1.
    ///
    /// The score is computed as in `rouge_1`. The subsequence spans the whole string. To compare line by line, use
    /// `rouge_lsum`.
    ///
    /// A row with more than 4,000 million pairs of words, such as 64,000 × 64,000, is an error.
    ///
    /// ```
    /// use dsrs_metrics::metrics::RougeL;
    /// use dsrs_metrics::prelude::*;
    ///
    /// # fn main() -> dsrs_metrics::Result<()> {
    /// let gold = example! { "answer" => "police killed the gunman" };
    /// let pred = prediction! { "answer" => "the gunman killed police" };
    /// assert_eq!(RougeL::default().score(&gold, &pred)?.value, 0.5);
    /// # Ok(())
    /// # }
    /// ```
    #[metric(range = 0.0..=1.0, explain = explain_rouge)]
    fn rouge_l = Rouge::L;
}

rouge_metric! {
    /// Computes ROUGE-L line by line.
    ///
    /// The metric counts the words of each reference line that are in a longest common subsequence with any line of the
    /// prediction. It reports F1, precision and recall.
    ///
    /// The score is computed as in `rouge_1`; `rouge-score` calls it `rougeLsum`. Use this metric for summaries with
    /// one sentence per line. If both strings have one line, the score is the same as for `rouge_l`.
    ///
    /// A row with more than 100 million pairs of words, such as 10,001 × 10,001, is an error.
    ///
    /// ```
    /// use dsrs_metrics::metrics::{RougeL, RougeLsum};
    /// use dsrs_metrics::prelude::*;
    ///
    /// # fn main() -> dsrs_metrics::Result<()> {
    /// let gold = example! { "answer" => "the cat sat\nthe dog ran" };
    /// let pred = prediction! { "answer" => "the dog ran\nthe cat sat" };
    /// assert_eq!(RougeLsum::default().score(&gold, &pred)?.value, 1.0);
    /// assert_eq!(RougeL::default().score(&gold, &pred)?.value, 0.5);
    /// # Ok(())
    /// # }
    /// ```
    #[metric(range = 0.0..=1.0, explain = explain_rouge)]
    fn rouge_lsum = Rouge::Lsum;
}

/// Explains any kind of ROUGE by the words that both sides share.
fn explain_rouge(answer: StrOrList<'_>, prediction: &str, words: &RougeWords, _: f64) -> String {
    compared_words(&answer, prediction, |text| words.options().words(text))
}
