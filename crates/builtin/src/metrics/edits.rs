//! Metrics based on edit distance: error rates and similarity.

use std::borrow::Cow;

use crate::contract::{CorpusCounts, CountFormula, WithCorpus};
use crate::metric;
use crate::metrics::StrOrList;
use crate::metrics::explained::{compared_words, expected_and_found};
use crate::metrics::inputs::{self, MAX_PAIRS, are_short, without_common_ends};
use crate::text::{EditCounts, EditDistance, NoReferences, NormalForm, split};

/// Returns a row's rate, with the counts used to compute the corpus rate.
fn rate(counts: Option<EditCounts>) -> Result<WithCorpus<f64>, String> {
    let counts = counts.ok_or_else(|| NoReferences.to_string())?;
    let sums = CorpusCounts::new([counts.edits, counts.length], CountFormula::EditRate);
    Ok(WithCorpus::new(counts.rate(), sums))
}

fn prepared(text: &str, form: NormalForm, lowercase: bool) -> Cow<'_, str> {
    let text = form.apply(text);
    match lowercase {
        true => Cow::Owned(text.to_lowercase()),
        false => text,
    }
}

/// Returns the prediction and the references in the form used to compare them.
fn sides<'a>(
    prediction: &'a str,
    answer: &'a [impl AsRef<str>],
    form: NormalForm,
    lowercase: bool,
) -> (Cow<'a, str>, Vec<Cow<'a, str>>) {
    let prepared = |text| prepared(text, form, lowercase);
    let references = answer.iter().map(|text| prepared(text.as_ref()));
    (prepared(prediction), references.collect())
}

/// Returns an error if the strings have too many items (characters or words) to compare.
fn bounded<'t, T: PartialEq>(
    prediction: &'t str,
    references: &'t [Cow<'_, str>],
    items: impl Fn(&'t str) -> Vec<T>,
    [what, instead]: [&str; 2],
) -> Result<(), String> {
    let bytes = references.iter().map(|text| text.len()).sum();
    if are_short(prediction.len(), bytes) {
        return Ok(());
    }
    let ours = items(prediction);
    references.iter().try_for_each(|reference| {
        let (ours, theirs) = without_common_ends(&ours, &items(reference));
        inputs::bounded(what, ours, theirs, MAX_PAIRS, instead)
    })
}

fn characters_bounded(prediction: &str, references: &[Cow<'_, str>]) -> Result<(), String> {
    let what = ["differing characters", "use chrf"];
    bounded(prediction, references, |text| text.chars().collect(), what)
}

/// Computes the word error rate of the prediction.
///
/// The rate is the number of substituted, missing and added words, divided by the number of words in the reference. A
/// rate of 0 is best.
///
/// The rate exceeds 1 if there are more edits than words in the reference. If both sides are empty, the rate is 0. If
/// only the reference is empty, the rate is the number of words in the prediction, as in `jiwer` 4.0.
///
/// The corpus score is the total number of edits divided by the total number of words in the references.
///
/// Unlike `jiwer`, the metric splits words at any whitespace, compares strings in NFC, and uses the best of the
/// references if there are several.
///
/// Differences in punctuation and case count as edits.
///
/// A row fails with an error if its strings are too long to compare. The limit is 4 billion pairs of words. Words in
/// the common prefix and suffix don't count.
///
/// ```
/// use dsrs_metrics::metrics::Wer;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => "the cat sat down" };
/// assert_eq!(Wer::default().score(&gold, &prediction! { "answer" => "the cat sit" })?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(lower_is_better, explain = |answer, prediction, lowercase, form, _| {
    explain_words(&answer, prediction, form, lowercase)
})]
pub fn wer(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer", missing)] prediction: &str,
    /// `true` to ignore case.
    #[param(default = false)]
    lowercase: bool,
    /// The Unicode normalization of the strings: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<WithCorpus<f64>, String> {
    let (prediction, references) = sides(prediction, &answer, form, lowercase);
    let what = ["differing words", "use rouge_1"];
    bounded(&prediction, &references, |text| split(text).collect(), what)?;
    let counts = |text: &Cow<'_, str>| EditCounts::of_words(&prediction, text);
    rate(EditCounts::best(references.iter().map(counts)))
}

/// Computes the character error rate of the prediction.
///
/// The rate is the number of substituted, missing and added characters, divided by the number of characters in the
/// reference. A rate of 0 is best.
///
/// This metric works like `wer`, but compares characters (code points) instead of words. Whitespace at the ends of a
/// string is ignored.
///
/// Use this metric for scripts that don't put spaces between words.
///
/// A row fails with an error if its strings are too long to compare. The limit is 4 billion pairs of characters.
/// Characters in the common prefix and suffix don't count.
///
/// ```
/// use dsrs_metrics::metrics::Cer;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => "日本語" };
/// assert_eq!(Cer::default().score(&gold, &prediction! { "answer" => "日本" })?.value, 1.0 / 3.0);
/// # Ok(())
/// # }
/// ```
#[metric(lower_is_better, explain = |answer, prediction, _, _, _| {
    expected_and_found(&answer, prediction)
})]
pub fn cer(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer", missing)] prediction: &str,
    /// `true` to ignore case.
    #[param(default = false)]
    lowercase: bool,
    /// The Unicode normalization of the strings: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<WithCorpus<f64>, String> {
    let (prediction, references) = sides(prediction, &answer, form, lowercase);
    characters_bounded(&prediction, &references)?;
    let counts = |text: &Cow<'_, str>| EditCounts::of_characters(&prediction, text);
    rate(EditCounts::best(references.iter().map(counts)))
}

/// Computes how similar the prediction is to the reference, based on edits.
///
/// The score is one minus the number of edits divided by the length, in [0, 1]. The length is the longer string's
/// length, or the total length of both strings if you set `distance=indel`.
///
/// This metric is equivalent to `rapidfuzz`'s `normalized_similarity` over code points, but it compares strings in NFC.
///
/// If a row has several references, the metric uses the one with the highest similarity.
///
/// Two empty strings have a similarity of 1.
///
/// The size limit is the same as for `cer`.
///
/// ```
/// use dsrs_metrics::metrics::EditSimilarity;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => "sitting" };
/// let pred = prediction! { "answer" => "kitten" };
/// assert_eq!(EditSimilarity::default().score(&gold, &pred)?.value, 4.0 / 7.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |answer, prediction, _, _, _, _| {
    expected_and_found(&answer, prediction)
})]
pub fn edit_similarity(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// The edit distance to use: `levenshtein` or `indel`. With `indel`, the score is `rapidfuzz.fuzz.ratio` divided by
    /// 100.
    #[param(default = EditDistance::Levenshtein)]
    distance: EditDistance,
    /// `true` to ignore case.
    #[param(default = false)]
    lowercase: bool,
    /// The Unicode normalization of the strings: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<f64, String> {
    let (prediction, references) = sides(prediction, &answer, form, lowercase);
    characters_bounded(&prediction, &references)?;
    let similarity = |text: &Cow<'_, str>| distance.similarity(&prediction, text);
    let best = references.iter().map(similarity).reduce(f64::max);
    best.ok_or_else(|| NoReferences.to_string())
}

/// Compares the prediction's words with those of the closest reference.
pub(super) fn explain_words(
    answer: &StrOrList<'_>,
    prediction: &str,
    form: NormalForm,
    lowercase: bool,
) -> String {
    let (prediction, references) = sides(prediction, answer, form, lowercase);
    let words = |text: &str| split(text).map(str::to_owned).collect();
    compared_words(&references, &prediction, words)
}
