//! Metrics that compare an answer with reference answers: exact match, token F1, passages, numbers.
//!
//! The file is long because each metric has its rules, a reference and an example. The code itself is short.

use crate::contract::{at_least, within};
use crate::json::shown;
use crate::messages::escape::quoted;
use crate::metric;
use crate::metrics::explained::{any_of, compared_words, counted, expected_and_found};
use crate::text::{DecimalMark, NoReferences, NumericOptions, Profile};

pub use crate::contract::rows::field_types::{StrOrList, StrOrNumber};

/// Passes if the normalized answer equals any reference answer.
///
/// This metric is equivalent to dspy's `answer_exact_match`.
///
/// If `frac` is below 1, a token F1 of at least `frac` counts as a match.
///
/// The `dspy` profile reproduces dspy's verdicts exactly. It removes articles and punctuation, so `"A"` equals an empty
/// answer. To keep an answer that is only an article or punctuation, use the `folded` or `folded_symbols` profile.
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
#[metric(missing = false, explain = explain_answer_exact_match)]
pub fn answer_exact_match(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// The lowest token F1 that counts as a match. A value of 1 requires an exact match.
    #[param(default = 1.0)]
    frac: f64,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<bool, NoReferences> {
    profile.answer_exact_match(prediction, &answer, frac)
}

/// Passes if any retrieved passage contains any of the answers.
///
/// This metric is equivalent to dspy's `answer_passage_match`.
///
/// The passages are read from `pred.context`.
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
#[metric(missing = false, explain = explain_answer_passage_match)]
pub fn answer_passage_match(
    #[gold] answer: StrOrList<'_>,
    #[pred] context: StrOrList<'_>,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> bool {
    profile.answer_passage_match(&context, &answer)
}

/// Alias for `answer_exact_match` with `frac = 1`.
///
/// This metric passes if the normalized answer equals any reference answer, as dspy's `EM` does.
///
/// The alias has no `frac` parameter. In summaries and result files, its scores have the name `em`.
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
    explain_answer_exact_match(answer, prediction, 1.0, profile, score)
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

/// Computes the token F1 of the answer and the reference answer.
///
/// This metric is equivalent to dspy's `F1`.
///
/// If a row has several reference answers, the metric uses the one with the highest F1.
///
/// Each occurrence of a token is matched at most once, so repeating a word does not raise the score.
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
#[metric(range = 0.0..=1.0, missing = 0.0, explain = explain_words)]
pub fn f1(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<f64, NoReferences> {
    profile.f1(prediction, &answer)
}

/// Computes the `HotPotQA` F1 of the answer.
///
/// This metric is equivalent to dspy's `HotPotF1`.
///
/// If a row has several reference answers, the metric uses the one with the highest F1.
///
/// The score is the same as for `f1`, with one exception: if the answers differ and either answer is "yes", "no" or
/// "noanswer", the score is 0.
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
#[metric(range = 0.0..=1.0, missing = 0.0, explain = explain_words)]
pub fn hotpot_f1(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<f64, NoReferences> {
    profile.hotpot_f1(prediction, &answer)
}

/// Computes the fraction of the answer's tokens found in the reference answer.
///
/// If a row has several reference answers, the metric uses the one with the highest precision.
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
#[metric(range = 0.0..=1.0, missing = 0.0, explain = explain_words)]
pub fn precision(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<f64, NoReferences> {
    profile.precision(prediction, &answer)
}

/// Computes the fraction of the reference's tokens that the prediction contains.
///
/// If a row has several reference answers, the metric uses the one with the highest recall.
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
#[metric(range = 0.0..=1.0, missing = 0.0, explain = explain_words)]
pub fn recall(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<f64, NoReferences> {
    profile.recall(prediction, &answer)
}

/// Passes if the last number in the prediction equals the last number in the gold answer.
///
/// The metric understands thousands separators, currency signs, units and LaTeX. For example, 1,300 equals $1300.00 and
/// `1{,}300`. See [`last_number`](crate::text::last_number) for the definition of a number.
///
/// If both tolerances are 0, decimals are compared exactly. A prediction without a number fails. A row fails with an
/// error if its gold answer has no number.
///
/// ```
/// use dsrs_metrics::metrics::NumericMatch;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => "1300" };
/// let pred = prediction! { "answer" => "13 * 100 = 1300, so she earns $1,300.00." };
/// assert_eq!(NumericMatch::default().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explain_numeric_match)]
pub fn numeric_match(
    #[gold] answer: StrOrNumber<'_>,
    #[pred("answer")] prediction: StrOrNumber<'_>,
    /// The largest accepted absolute difference.
    #[param(default = 0.0)]
    abs_tolerance: f64,
    /// The largest accepted difference, as a fraction of the gold number. For example, 0.01 is one percent.
    #[param(default = 0.0)]
    rel_tolerance: f64,
    /// The decimal mark: `point` (1,234.5) or `comma` (1.234,5).
    #[param(default = DecimalMark::Point)]
    decimal_mark: DecimalMark,
    /// `true` to read 50% as 0.5. Otherwise, the percent sign is a unit, and 50% is read as 50.
    #[param(default = false)]
    percent_as_fraction: bool,
) -> Result<bool, String> {
    let options = NumericOptions {
        abs_tolerance,
        rel_tolerance,
        decimal_mark,
        percent_as_fraction,
    };
    let gold = options.last_number(answer.as_str());
    let found = || shown(answer.as_str());
    let gold =
        gold.ok_or_else(|| format!("expected a number in `gold.answer`, found {}", found()))?;
    let prediction = options.last_number(prediction.as_str());
    Ok(prediction.is_some_and(|prediction| prediction.is_close(&gold, &options)))
}

requires_valid! {
    AnswerExactMatch: |metric| within("frac", metric.frac, [0.0, 1.0]);
    NumericMatch: |metric| at_least("abs_tolerance", metric.abs_tolerance, 0.0),
        at_least("rel_tolerance", metric.rel_tolerance, 0.0);
}

/// Names the answer that is equal, or the accepted answers. If `frac` is below 1, compares words instead.
fn explain_answer_exact_match(
    answers: StrOrList<'_>,
    prediction: &str,
    frac: f64,
    profile: Profile,
    score: f64,
) -> String {
    if frac < 1.0 {
        return explain_words(answers, prediction, profile, score);
    }
    let mut equal = answers
        .iter()
        .filter(|answer| score > 0.0 && profile.em_score(prediction, answer));
    match equal.next() {
        Some(equal) => format!("exact match with {}", quoted(equal)),
        None => expected_and_found(&answers, prediction),
    }
}

/// Compares the prediction's words with those of the closest answer.
fn explain_words(answers: StrOrList<'_>, prediction: &str, profile: Profile, _: f64) -> String {
    compared_words(&answers, prediction, |text| profile.tokens(text))
}

fn explain_answer_passage_match(
    answer: StrOrList<'_>,
    context: StrOrList<'_>,
    profile: Profile,
    score: f64,
) -> String {
    let has_answer = |passage: &_| score > 0.0 && profile.answer_passage_match(&[passage], &answer);
    match context.iter().position(has_answer) {
        Some(at) => format!("passage {} contains {}", at + 1, any_of(&answer)),
        None => {
            let passages = counted(context.len(), "passage");
            format!("none of {passages} contains {}", any_of(&answer))
        }
    }
}

fn explain_numeric_match(
    answer: StrOrNumber<'_>,
    prediction: StrOrNumber<'_>,
    abs_tolerance: f64,
    rel_tolerance: f64,
    decimal_mark: DecimalMark,
    percent_as_fraction: bool,
    _: f64,
) -> String {
    let options = NumericOptions {
        abs_tolerance,
        rel_tolerance,
        decimal_mark,
        percent_as_fraction,
    };
    let gold = options.last_number(answer.as_str());
    let gold = gold.map_or_else(String::new, |number| shortened(&number.to_string()));
    match options.last_number(prediction.as_str()) {
        Some(number) => format!("expected {gold}, found {}", shortened(&number.to_string())),
        None => {
            let prediction = quoted(prediction.as_str());
            format!("expected {gold}, found no number in {prediction}")
        }
    }
}

/// Returns the number, or only its first digits if it is long.
fn shortened(number: &str) -> String {
    match number.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &number[..end]),
        None => number.to_owned(),
    }
}
