//! DSPy's answer metrics over rows: exact match, token overlap, answers in passages.
#![allow(
    clippy::needless_pass_by_value,
    reason = "a metric function takes its field parameters by value"
)]

use crate::core::declared::requirements::{Requirement, Requires};
use crate::metric;
use crate::text::{NoReferences, Profile};

use crate::core::score::check::within;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::answers as explained;

/// Exact match with any of the reference answers after normalization; dspy's `answer_exact_match`.
///
/// With `frac` below 1 a token F1 of at least `frac` counts as a match. With the `dspy` profile the
/// verdict is dspy's, bit for bit. That profile removes articles and punctuation, so `"A"` equals
/// an empty answer. The profiles `folded` and `folded_symbols` keep what dspy removes.
///
/// ```
/// use dsrs_metrics::metrics::AnswerExactMatch;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => ["Eiffel Tower", "Louvre"] };
/// let pred = prediction! { "answer" => "The Eiffel Tower" };
/// assert_eq!(AnswerExactMatch::default().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::answer_exact_match)]
pub fn answer_exact_match(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// Lowest token F1 that counts as a match; 1 means exact match.
    #[param(default = 1.0)]
    frac: f64,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<bool, NoReferences> {
    profile.answer_exact_match(prediction, &answer, frac)
}

impl Requires for AnswerExactMatch {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(Requirement::unless(
            Self::SPEC.name,
            within("frac", self.frac, [0.0, 1.0]),
        ));
    }
}

/// Whether any retrieved passage contains any of the answers; dspy's `answer_passage_match`.
///
/// Reads the passages from `pred.context`.
///
/// ```
/// use dsrs_metrics::metrics::AnswerPassageMatch;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => "Eiffel Tower" };
/// let pred = prediction! { "context" => ["The Louvre is a museum.", "The Eiffel Tower is in Paris."] };
/// assert_eq!(AnswerPassageMatch::default().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::answer_passage_match)]
pub fn answer_passage_match(
    #[gold] answer: StrOrList<'_>,
    #[pred] context: StrOrList<'_>,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> bool {
    profile.answer_passage_match(&context, &answer)
}

/// Alias of `answer_exact_match` with `frac = 1`. It is dspy's `EM`.
///
/// The alias has no parameter `frac`, and its scores have the name `em` in summaries and result files. In all other
/// respects both metrics are the same.
///
/// ```
/// use dsrs_metrics::metrics::Em;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "paris!" });
/// assert_eq!(Em::default().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |answer, prediction, profile, score| {
    explained::answer_exact_match(answer, prediction, 1.0, profile, score)
})]
pub fn em(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<bool, NoReferences> {
    answer_exact_match(answer, prediction, 1.0, profile)
}

/// The best token F1 over the reference answers; dspy's `F1`.
///
/// Tokens are counted as a multiset, so repeating a word does not raise the score.
///
/// ```
/// use dsrs_metrics::metrics::F1;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => ["Paris"] };
/// let pred = prediction! { "answer" => "Eiffel Tower in Paris" };
/// assert_eq!(F1::default().score(&gold, &pred)?.value, 0.4);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |answer, prediction, profile, _| {
    explained::compared(&answer, prediction, profile, Profile::f1_score)
})]
pub fn f1(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<f64, NoReferences> {
    profile.f1(prediction, &answer)
}

/// The best `HotPotQA` F1 over the reference answers; dspy's `HotPotF1`.
///
/// As `f1`, except that the score is 0 if either side is yes, no or noanswer and the sides differ.
///
/// ```
/// use dsrs_metrics::metrics::HotpotF1;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => "yes it is" }, prediction! { "answer" => "yes" });
/// assert_eq!(HotpotF1::default().score(&gold, &pred)?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, missing = 0.0, explain = explained::hotpot_f1)]
pub fn hotpot_f1(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<f64, NoReferences> {
    profile.hotpot_f1(prediction, &answer)
}

/// The best token precision over the reference answers: the share of the prediction's tokens that
/// are in the reference.
///
/// ```
/// use dsrs_metrics::metrics::Precision;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => "Eiffel Tower" };
/// let pred = prediction! { "answer" => "eiffel tower in paris" };
/// assert_eq!(Precision::default().score(&gold, &pred)?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |answer, prediction, profile, _| {
    explained::compared(&answer, prediction, profile, Profile::precision_score)
})]
pub fn precision(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<f64, NoReferences> {
    profile.precision(prediction, &answer)
}

/// The best token recall over the reference answers: the share of the reference's tokens that are
/// in the prediction.
///
/// ```
/// use dsrs_metrics::metrics::Recall;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => "Paris, France" }, prediction! { "answer" => "Paris" });
/// assert_eq!(Recall::default().score(&gold, &pred)?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |answer, prediction, profile, _| {
    explained::compared(&answer, prediction, profile, Profile::recall_score)
})]
pub fn recall(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<f64, NoReferences> {
    profile.recall(prediction, &answer)
}
