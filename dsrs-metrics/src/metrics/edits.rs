//! How many edits make the reference of a text: error rates and similarity.
#![allow(
    clippy::needless_pass_by_value,
    reason = "a field parameter is held for the call and passed on as it was read"
)]

use crate::core::corpus::{CorpusCounts, WithCorpus};
use crate::metric;
use crate::text::{EditCounts, EditDistance, NoReferences, NormalForm, split};

use super::StrOrList;
use super::input_limits::{apart, are_short, bounded_pairs};

/// The rate of a row, and its part in the corpus's.
fn rate(counts: Option<EditCounts>) -> Result<WithCorpus<f64>, String> {
    let counts = counts.ok_or(NoReferences).map_err(|error| error.to_string())?;
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

/// The prediction and the references as they are compared.
fn sides(
    prediction: &str,
    answer: &[impl AsRef<str>],
    form: NormalForm,
    lowercase: bool,
) -> (String, Vec<String>) {
    let prepare = |text: &str| prepared(text, form, lowercase);
    (prepare(prediction), answer.iter().map(|text| prepare(text.as_ref())).collect())
}

/// Fails where the texts are too long for each other.
fn characters_bounded(prediction: &str, references: &[String]) -> Result<(), String> {
    if are_short(prediction.len(), references.iter().map(String::len).sum()) {
        return Ok(());
    }
    let ours: Vec<char> = prediction.chars().collect();
    references.iter().try_for_each(|reference| {
        let theirs: Vec<char> = reference.chars().collect();
        let (ours, theirs) = apart(&ours, &theirs);
        bounded_pairs("characters that may differ", ours, theirs, "take chrf")
    })
}

/// Fails where the texts have too many words for each other.
fn words_bounded(prediction: &str, references: &[String]) -> Result<(), String> {
    if are_short(prediction.len(), references.iter().map(String::len).sum()) {
        return Ok(());
    }
    let ours: Vec<&str> = split(prediction).collect();
    references.iter().try_for_each(|reference| {
        let theirs: Vec<&str> = split(reference).collect();
        let (ours, theirs) = apart(&ours, &theirs);
        bounded_pairs("words that may differ", ours, theirs, "take rouge_1")
    })
}

/// Word error rate: substituted, missing and added words per word of the reference; 0 is best.
///
/// It exceeds 1 where more is added than there is. Both empty: 0; only the reference empty: the number
/// of words in the prediction, as in `jiwer` 4.0. The corpus's score is the sum of edits over the sum of
/// lengths. Unlike in `jiwer` any white space separates words, a single tab or line break too, texts are
/// compared in NFC, and of several references the one of the lowest rate counts. Punctuation and case
/// count. Of what differs, more than 4,000 million pairs of words, as 64,000 against 64,000 make, are too many:
/// such a row has no score.
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
) -> Result<WithCorpus<f64>, String> {
    let (prediction, references) = sides(prediction, &answer, form, lowercase);
    words_bounded(&prediction, &references)?;
    let counts = references.iter().map(|text| EditCounts::of_words(&prediction, text));
    rate(EditCounts::best(counts))
}

/// Character error rate: substituted, missing and added characters per character of the reference; 0 is
/// best.
///
/// As `wer`, over code points, white space within the text included and at its ends not; for scripts
/// without spaces it is the error rate to take. More than 4,000 million pairs of characters, but for what the texts begin
/// and end with alike, are too many.
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
) -> Result<WithCorpus<f64>, String> {
    let (prediction, references) = sides(prediction, &answer, form, lowercase);
    characters_bounded(&prediction, &references)?;
    let counts = references.iter().map(|text| EditCounts::of_characters(&prediction, text));
    rate(EditCounts::best(counts))
}

/// How alike two texts are in [0, 1]: one minus the edits as a share of the length.
///
/// `rapidfuzz`'s `normalized_similarity` of code points, with the best of the references. Two empty texts
/// are the same: 1. Unlike there texts are compared in NFC. Texts may be as long as for `cer`.
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
) -> Result<f64, String> {
    let (prediction, references) = sides(prediction, &answer, form, lowercase);
    characters_bounded(&prediction, &references)?;
    let similarities = references.iter().map(|text| distance.similarity(&prediction, text));
    similarities.reduce(f64::max).ok_or_else(|| NoReferences.to_string())
}
