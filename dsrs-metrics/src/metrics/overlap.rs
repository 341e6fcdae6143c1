//! What a text shares with its references: BLEU, chrF, ROUGE.
#![allow(
    clippy::needless_pass_by_value,
    reason = "a field parameter is held for the call and passed on as it was read"
)]

use crate::core::corpus::CorpusFormula;
use crate::core::corpus::{CorpusCounts, WithCorpus};
use crate::core::requirements::{Requirement, Requires};
use crate::core::score::Scores;
use crate::metric;
use crate::text::ngrams::MOST_ORDERS;
use crate::text::{
    BleuOptions, BleuSmoothing, BleuTokens, ChrfOptions, NoReferences, NormalForm, Rouge,
    RougeOptions, RougeTokens,
};

use super::StrOrList;
use super::check::{at_least, within};
use super::input_limits::{are_short, bounded_pairs};

/// Sentence BLEU with any number of references, in [0, 1]; corpus BLEU beside the mean.
///
/// Papineni et al. 2002 as sacrebleu 2.6 computes it, over 100: a row with `effective_order`, the corpus
/// without. n-grams are clipped by the reference that has most of them, the length is compared with the
/// nearest reference. An empty prediction or reference scores 0, also both. Unlike in sacrebleu texts
/// are compared in NFC; `form=as_is` compares code points. For Chinese and Japanese take `tokens=zh` or
/// `char`, since `13a` takes a text without spaces for one word.
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
#[metric(range = 0.0..=1.0)]
pub fn bleu(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How texts are cut into words: `13a`, `zh`, `char` or `none`.
    #[param(default = BleuTokens::V13a)]
    tokens: BleuTokens,
    /// Where no n-gram of a length is shared: `exp`, `floor`, `add_one` or `none`.
    #[param(default = BleuSmoothing::Exp)]
    smoothing: BleuSmoothing,
    /// The longest n-gram, from 1 to 16.
    #[param(default = 4)]
    max_order: usize,
    /// Whether case is ignored.
    #[param(default = false)]
    lowercase: bool,
    /// The form in which texts are compared: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<WithCorpus<f64>, NoReferences> {
    let bleu = BleuOptions { tokens, smoothing, max_order, lowercase, form };
    let counts = bleu.counts(prediction, &answer)?;
    Ok(WithCorpus::new(bleu.sentence_score(&counts), CorpusCounts::new(counts, bleu)))
}

impl Requires for Bleu {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(Requirement::unless(
            Self::SPEC.name,
            within("max_order", self.max_order, [1, MOST_ORDERS]),
        ));
    }
}

/// chrF of a row with the best of its references, in [0, 1]; corpus chrF beside the mean.
///
/// Popović 2015 as sacrebleu 2.6 computes it, over 100: character n-grams without white space, precision
/// and recall averaged over the lengths that both sides reach, F with recall counting `beta` times. With
/// `word_order=2` it is chrF++ (Popović 2017). It needs no words and so suits any script. An empty
/// prediction or reference scores 0, also both. Unlike in sacrebleu texts are compared in NFC.
///
/// ```
/// use dsrs_metrics::metrics::Chrf;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => "東京都" };
/// let metric = Chrf::builder().char_order(2).build();
/// let score = metric.score(&gold, &prediction! { "answer" => "東京" })?.value;
/// // Precision is 1; recall 2/3 of the characters and 1/2 of the pairs.
/// let recall = (2.0 / 3.0 + 1.0 / 2.0) / 2.0;
/// assert!((score - 5.0 * recall / (4.0 + recall)).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0)]
pub fn chrf(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// The longest n-gram of characters, at most 16.
    #[param(default = 6)]
    char_order: usize,
    /// The longest n-gram of words, at most 16: 0 for chrF, 2 for chrF++.
    #[param(default = 0)]
    word_order: usize,
    /// How many times as much recall counts as precision.
    #[param(default = 2.0)]
    beta: f64,
    /// Whether case is ignored.
    #[param(default = false)]
    lowercase: bool,
    /// The form in which texts are compared: `nfc`, `nfkc` or `as_is`.
    #[param(default = NormalForm::Nfc)]
    form: NormalForm,
) -> Result<WithCorpus<f64>, NoReferences> {
    let chrf = ChrfOptions { char_order, word_order, beta, lowercase, whitespace: false, form };
    let counts = chrf.counts(prediction, &answer)?;
    Ok(WithCorpus::new(chrf.score(&counts), CorpusCounts::new(counts, chrf)))
}

impl Requires for Chrf {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let some = self.char_order + self.word_order > 0;
        let some = some.then_some(()).ok_or_else(|| NO_ORDER.to_owned());
        let orders = within("char_order", self.char_order, [0, MOST_ORDERS]).and(within(
            "word_order",
            self.word_order,
            [0, MOST_ORDERS],
        ));
        all.extend(Requirement::unless(
            Self::SPEC.name,
            orders.and(some).and(at_least("beta", self.beta, 0.0)),
        ));
    }
}

const NO_ORDER: &str = "no n-grams to compare: set `char_order`, `word_order` or both";

/// A ROUGE with its precision and recall. A reference that has text, but no word, is no reference.
fn rouge(
    rouge: Rouge,
    answer: &[impl AsRef<str>],
    prediction: &str,
    options: RougeOptions,
) -> Result<Scores, String> {
    let tokens = options.tokens;
    let is_lost = |text: &str| !text.trim().is_empty() && tokens.of(text).is_empty();
    let score = rouge.score(prediction, answer, options).map_err(|error| error.to_string())?;
    if score.f1 == 0.0
        && let Some(lost) = answer.iter().map(AsRef::as_ref).find(|text| is_lost(text))
    {
        let lost: String = lost.chars().take(40).collect();
        return Err(match tokens {
            RougeTokens::Ascii => format!(
                "no ASCII letter or digit in `gold.answer`: {lost:?}; take tokens=unicode for it"
            ),
            RougeTokens::Unicode => format!("no letter or digit in `gold.answer`: {lost:?}"),
        });
    }
    let scores = Scores::new("f1", score.f1);
    Ok(scores.with("precision", score.precision).with("recall", score.recall))
}

/// ROUGE-1: words shared with the best of the references, as F1, precision and recall.
///
/// Lin 2004 as `rouge-score` 0.1.2 computes it, without stemmer or with (`use_stemmer`, for English); with
/// several references the one of the best F1. The corpus's score is the mean. An empty prediction or reference scores 0, also both. Unlike
/// there, a reference of which no word is left (a text in another script under `tokens=ascii`) is an error
/// and not 0.
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
#[metric(name = "rouge_1", range = 0.0..=1.0)]
pub fn rouge1(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// What is a word: `ascii`, as in `rouge-score`, or `unicode`, which knows all scripts.
    #[param(default = RougeTokens::Ascii)]
    tokens: RougeTokens,
    /// Whether words are compared by their English stems, so that "cats" is "cat".
    #[param(default = false)]
    use_stemmer: bool,
) -> Result<Scores, String> {
    rouge(Rouge::N(1), &answer, prediction, RougeOptions { tokens, use_stemmer })
}

/// ROUGE-2: pairs of neighbouring words shared with the best of the references, as F1, precision and
/// recall.
///
/// As `rouge_1`, for pairs. Texts of one word have none and score 0.
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
#[metric(name = "rouge_2", range = 0.0..=1.0)]
pub fn rouge2(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// What is a word: `ascii`, as in `rouge-score`, or `unicode`, which knows all scripts.
    #[param(default = RougeTokens::Ascii)]
    tokens: RougeTokens,
    /// Whether words are compared by their English stems, so that "cats" is "cat".
    #[param(default = false)]
    use_stemmer: bool,
) -> Result<Scores, String> {
    rouge(Rouge::N(2), &answer, prediction, RougeOptions { tokens, use_stemmer })
}

/// ROUGE-L: the longest common subsequence of words with the best of the references, as F1, precision
/// and recall.
///
/// As `rouge_1`. Over the whole text; `rouge_lsum` goes line by line. Texts whose words make more than
/// 4,000 million pairs, as two of 64,000 words do, have no score.
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
#[metric(range = 0.0..=1.0)]
pub fn rouge_l(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// What is a word: `ascii`, as in `rouge-score`, or `unicode`, which knows all scripts.
    #[param(default = RougeTokens::Ascii)]
    tokens: RougeTokens,
    /// Whether words are compared by their English stems, so that "cats" is "cat".
    #[param(default = false)]
    use_stemmer: bool,
) -> Result<Scores, String> {
    if !are_short(prediction.len(), answer.iter().map(|text| text.len()).sum()) {
        let theirs = answer.iter().map(|text| tokens.of(text).len()).sum();
        bounded_pairs("words", tokens.of(prediction).len(), theirs, "take rouge_2")?;
    }
    rouge(Rouge::L, &answer, prediction, RougeOptions { tokens, use_stemmer })
}

/// The most words that ROUGE-Lsum compares with each other, prediction times references.
const MOST_PAIRS: usize = 100_000_000;

/// ROUGE-L line by line: the words of each line of the reference that it shares, in order, with any line of the
/// prediction, as F1, precision and recall.
///
/// As `rouge_1`. What `rouge-score` calls `rougeLsum`: for summaries with a sentence a line; a text of one
/// line scores as by `rouge_l`. Texts whose words make more than 100 million pairs, as two of more than
/// 10,000 words do, have no score.
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
#[metric(range = 0.0..=1.0)]
pub fn rouge_lsum(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// What is a word: `ascii`, as in `rouge-score`, or `unicode`, which knows all scripts.
    #[param(default = RougeTokens::Ascii)]
    tokens: RougeTokens,
    /// Whether words are compared by their English stems, so that "cats" is "cat".
    #[param(default = false)]
    use_stemmer: bool,
) -> Result<Scores, String> {
    let theirs: usize = answer.iter().map(|text| tokens.of(text).len()).sum();
    let ours = tokens.of(prediction).len();
    if ours.saturating_mul(theirs) > MOST_PAIRS {
        return Err(format!(
            "{ours} words against {theirs} are too many to compare line by line; take rouge_l"
        ));
    }
    rouge(Rouge::Lsum, &answer, prediction, RougeOptions { tokens, use_stemmer })
}

/// The BLEU of a corpus in [0, 1]: all orders count.
impl CorpusFormula for BleuOptions {
    fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
        Some(self.score(counts, false))
    }
}

/// The chrF of a corpus in [0, 1]: the same formula over the sums.
impl CorpusFormula for ChrfOptions {
    fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
        Some(self.score(counts))
    }
}
