//! Metrics that compare an answer with reference answers: exact match, token F1, passages, numbers.
//!
//! The file is long because each metric has its rules, its reference and an example; their code is short.

use crate::contract::{at_least, within};
use crate::json::describe::shown;
use crate::messages::escape::quoted;
use crate::metric;
use crate::metrics::explained::{any_of, compared_words, counted, expected_and_found};
use crate::text::{DecimalMark, NoReferences, NumericOptions, Profile};

pub use crate::contract::rows::field_types::{StrOrList, StrOrNumber};

/// Passes if the answer equals any reference answer after normalization, like dspy's `answer_exact_match`.
///
/// If `frac` is below 1, a token F1 of at least `frac` counts as a match. The `dspy` profile reproduces dspy's verdicts
/// exactly. It removes articles and punctuation, so `"A"` equals an empty answer. The `folded` and `folded_symbols`
/// profiles keep what dspy removes.
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
    /// The lowest token F1 that counts as a match; 1 means exact match.
    #[param(default = 1.0)]
    frac: f64,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<bool, NoReferences> {
    profile.answer_exact_match(prediction, &answer, frac)
}

requires_valid! {
    AnswerExactMatch: |metric| within("frac", metric.frac, [0.0, 1.0]);
}

/// Passes if any retrieved passage contains any of the answers, like dspy's `answer_passage_match`.
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

/// Alias of `answer_exact_match` with `frac = 1`. It is dspy's `EM`.
///
/// The alias has no `frac` parameter, and summaries and result files name its scores `em`. Otherwise both metrics are
/// the same.
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
    explain_words(&answer, prediction, profile)
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

/// Computes the best `HotPotQA` F1 over the reference answers, like dspy's `HotPotF1`.
///
/// Scores like `f1`, except that the score is 0 if either side is yes, no or noanswer and the sides differ.
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
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |answer, prediction, profile, _| {
    explain_words(&answer, prediction, profile)
})]
pub fn hotpot_f1(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// How strings are normalized: `dspy`, `folded` or `folded_symbols`.
    #[param(default = Profile::Dspy)]
    profile: Profile,
) -> Result<f64, NoReferences> {
    profile.hotpot_f1(prediction, &answer)
}

/// The best token precision over the reference answers: the share of the prediction's tokens found in the reference.
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
    explain_words(&answer, prediction, profile)
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

/// The best token recall over the reference answers: the share of the reference's tokens found in the prediction.
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
    explain_words(&answer, prediction, profile)
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

/// Passes if the last number in the prediction equals the last number in the gold answer.
///
/// It understands thousands separators, currency signs, units and LaTeX: 1,300 equals $1300.00 and `1{,}300`, and 5 is
/// not part of 25. With both tolerances at 0, decimals are compared exactly; see
/// [`last_number`](crate::text::last_number) for the definition of a number. A prediction without a number fails. A
/// gold answer without a number is an error.
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
    /// The largest accepted difference, in units of the number.
    #[param(default = 0.0)]
    abs_tolerance: f64,
    /// The largest accepted difference as a share of the gold number: 0.01 is one percent.
    #[param(default = 0.0)]
    rel_tolerance: f64,
    /// The decimal mark: `point` (1,234.5) or `comma` (1.234,5).
    #[param(default = DecimalMark::Point)]
    decimal_mark: DecimalMark,
    /// `true` if 50% is 0.5; otherwise the percent sign is a unit like any other.
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
    let gold = gold.ok_or_else(|| {
        format!(
            "expected a number in `gold.answer`, found {}",
            shown(answer.as_str())
        )
    })?;
    let prediction = options.last_number(prediction.as_str());
    Ok(prediction.is_some_and(|prediction| prediction.is_close(&gold, &options)))
}

requires_valid! {
    NumericMatch: |metric| at_least("abs_tolerance", metric.abs_tolerance, 0.0),
        at_least("rel_tolerance", metric.rel_tolerance, 0.0);
}

/// Names the answer that is equal, or the accepted ones; with a lower `frac`, compares words.
fn explain_answer_exact_match(
    answers: StrOrList<'_>,
    prediction: &str,
    frac: f64,
    profile: Profile,
    score: f64,
) -> String {
    if frac < 1.0 {
        return explain_words(&answers, prediction, profile);
    }
    let mut equal = answers
        .iter()
        .filter(|answer| score > 0.0 && profile.em_score(prediction, answer));
    match equal.next() {
        Some(equal) => format!("exact match with {}", quoted(equal)),
        None => expected_and_found(&answers, prediction),
    }
}

/// Compares the words of the prediction with those of the closest answer.
fn explain_words(answers: &StrOrList<'_>, prediction: &str, profile: Profile) -> String {
    let words = |text: &str| -> Vec<String> {
        let normalized = profile.normalize(text);
        profile.split(&normalized).map(str::to_owned).collect()
    };
    compared_words(answers, prediction, words)
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
        None => format!(
            "expected {gold}, found no number in {}",
            quoted(prediction.as_str())
        ),
    }
}

/// Returns a number, or its first digits if it is long.
fn shortened(number: &str) -> String {
    match number.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &number[..end]),
        None => number.to_owned(),
    }
}
