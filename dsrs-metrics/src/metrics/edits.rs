//! How many edits make the reference of a text: error rates and similarity.
#![allow(
    clippy::needless_pass_by_value,
    reason = "a field parameter is held for the call and passed on as it was read"
)]

use crate::corpus::{CorpusCounts, WithCorpus};
use crate::metric;
use crate::text::{EditCounts, EditDistance, NoReferences, NormalForm};

use super::StrOrList;

/// The rate of a row, and its part in the corpus's.
fn rate(counts: Option<EditCounts>) -> Result<WithCorpus<f64>, NoReferences> {
    let counts = counts.ok_or(NoReferences)?;
    let sums = CorpusCounts::new([counts.edits, counts.length], |sums: &[u64]| {
        let [edits, length] = *sums else { return None };
        Some(EditCounts { edits, length }.rate())
    });
    Ok(WithCorpus::new(counts.rate(), sums))
}

fn prepared(text: &str, form: NormalForm, lowercase: bool) -> String {
    let text = form.apply(text);
    if lowercase { text.to_lowercase() } else { text.into_owned() }
}

/// The counts with the reference of the lowest rate.
fn best(
    answer: &[impl AsRef<str>],
    prediction: &str,
    form: NormalForm,
    lowercase: bool,
    count: fn(&str, &str) -> EditCounts,
) -> Option<EditCounts> {
    let prediction = prepared(prediction, form, lowercase);
    let prepare = |reference: &_| prepared(AsRef::as_ref(reference), form, lowercase);
    EditCounts::best(answer.iter().map(|reference| count(&prepare(reference), &prediction)))
}

/// Word error rate: substituted, missing and added words per word of the reference; 0 is best.
///
/// It exceeds 1 where more is added than there is. Both empty: 0; only the reference empty: the number
/// of words in the prediction, as in `jiwer` 4.0. The corpus's score is the sum of edits over the sum of
/// lengths. Unlike in `jiwer` any white space separates words, a single tab or line break too, texts are
/// compared in NFC, and of several references the one of the lowest rate counts. Punctuation and case
/// count.
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
#[metric(lower_is_better)]
pub fn wer(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// Whether case is ignored.
    #[param(default = false)]
    lowercase: bool,
    /// The form in which texts are compared: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<WithCorpus<f64>, NoReferences> {
    rate(best(&answer, prediction, form, lowercase, EditCounts::of_words))
}

/// Character error rate: substituted, missing and added characters per character of the reference; 0 is
/// best.
///
/// As `wer`, over code points, white space within the text included and at its ends not; for scripts
/// without spaces it is the error rate to take.
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
#[metric(lower_is_better)]
pub fn cer(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// Whether case is ignored.
    #[param(default = false)]
    lowercase: bool,
    /// The form in which texts are compared: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<WithCorpus<f64>, NoReferences> {
    rate(best(&answer, prediction, form, lowercase, EditCounts::of_characters))
}

/// How alike two texts are in [0, 1]: one minus the edits as a share of the length.
///
/// `rapidfuzz`'s `normalized_similarity` of code points, with the best of the references. Two empty texts
/// are the same: 1. Unlike there texts are compared in NFC.
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
#[metric(range = 0.0..=1.0)]
pub fn edit_similarity(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// Which edits count: `levenshtein`, or `indel`, which is `rapidfuzz.fuzz.ratio` over 100.
    #[param(default = EditDistance::Levenshtein)]
    distance: EditDistance,
    /// Whether case is ignored.
    #[param(default = false)]
    lowercase: bool,
    /// The form in which texts are compared: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<f64, NoReferences> {
    let prediction = prepared(prediction, form, lowercase);
    let similarity = |reference: &_| {
        distance
            .similarity(&prepared(AsRef::<str>::as_ref(reference), form, lowercase), &prediction)
    };
    answer.iter().map(similarity).reduce(f64::max).ok_or(NoReferences)
}
