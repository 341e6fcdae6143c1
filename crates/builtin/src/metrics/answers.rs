//! Metrics that compare an answer with reference answers: exact match, token F1, passages, numbers.
//!
//! The file is long because each metric has its rules, its reference and an example; their code is short.

use crate::contract::{Requirement, Requires, at_least, within};
use crate::json::describe::shown;
use crate::messages::escape::quoted;
use crate::metric;
use crate::metrics::explained::{
    Words, any_of, best, counted, first_difference, joined, list, number,
};
use crate::text::{DecimalMark, NoReferences, NumericOptions, PassageAnswers, Profile};

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

impl Requires for AnswerExactMatch {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(Requirement::unless(
            Self::SPEC.name,
            within("frac", self.frac, [0.0, 1.0]),
        ));
    }
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
    explain_compared(&answer, prediction, profile, Profile::f1_score)
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
#[metric(range = 0.0..=1.0, missing = 0.0, explain = explain_hotpot_f1)]
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
    explain_compared(&answer, prediction, profile, Profile::precision_score)
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
    explain_compared(&answer, prediction, profile, Profile::recall_score)
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

impl Requires for NumericMatch {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let tolerances = [
            ("abs_tolerance", self.abs_tolerance),
            ("rel_tolerance", self.rel_tolerance),
        ];
        let tolerances = tolerances
            .into_iter()
            .map(|(param, value)| at_least(param, value, 0.0));
        all.extend(tolerances.filter_map(|one| Requirement::unless(Self::SPEC.name, one)));
    }
}

/// Explains an exact match, or how the answers differ.
fn exact_match(answers: StrOrList<'_>, prediction: &str, profile: Profile, score: f64) -> String {
    if score > 0.0 {
        let equal = answers.iter().find(|it| profile.em_score(prediction, it));
        return format!("exact match with {}", quoted(equal.map_or("", |it| it)));
    }
    let normalized = profile.normalize(prediction);
    let closest = best(&answers, |answer| profile.f1_score(prediction, answer));
    let closest = answers
        .get(closest)
        .map(|answer| profile.normalize(answer))
        .unwrap_or_default();
    // Strings that differ from the start differ visibly.
    let is_similar = closest
        .chars()
        .next()
        .is_some_and(|first| normalized.starts_with(first));
    let text = format!(
        "expected {}, found {}",
        any_of(&answers),
        quoted(prediction)
    );
    match is_similar {
        true => joined([text, first_difference(&closest, &normalized)]),
        false => text,
    }
}

fn explain_answer_exact_match(
    answer: StrOrList<'_>,
    prediction: &str,
    frac: f64,
    profile: Profile,
    score: f64,
) -> String {
    if frac >= 1.0 {
        return exact_match(answer, prediction, profile, score);
    }
    let closest = best(&answer, |answer| profile.f1_score(prediction, answer));
    let f1 = answer
        .get(closest)
        .map_or(0.0, |answer| profile.f1_score(prediction, answer));
    let relation = if score > 0.0 { "reaches" } else { "is below" };
    let words = explain_compared(&answer, prediction, profile, Profile::f1_score);
    format!(
        "the token F1 {} {relation} {}; {words}",
        number(f1),
        number(frac)
    )
}

/// Compares the words of the prediction with those of the best reference.
fn explain_compared(
    answers: &StrOrList<'_>,
    prediction: &str,
    profile: Profile,
    score: fn(Profile, &str, &str) -> f64,
) -> String {
    let closest = best(answers, |answer| score(profile, prediction, answer));
    let Some(reference) = answers.get(closest) else {
        return String::new();
    };
    let (expected, predicted) = (profile.normalize(reference), profile.normalize(prediction));
    let expected: Vec<&str> = profile.split(&expected).collect();
    let predicted: Vec<&str> = profile.split(&predicted).collect();
    let words = Words::new(&expected, &predicted).describe();
    match answers.len() {
        1 => words,
        _ => format!("closest to {}: {words}", quoted(reference)),
    }
}

fn explain_hotpot_f1(
    answer: StrOrList<'_>,
    prediction: &str,
    profile: Profile,
    score: f64,
) -> String {
    let words = explain_compared(&answer, prediction, profile, Profile::hotpot_f1_score);
    let is_label = score == 0.0
        && answer
            .iter()
            .any(|answer| profile.f1_score(prediction, answer) > 0.0);
    let rule = if is_label {
        "; yes, no and noanswer only match the same answer"
    } else {
        ""
    };
    format!("{words}{rule}")
}

fn explain_answer_passage_match(
    answer: StrOrList<'_>,
    context: StrOrList<'_>,
    profile: Profile,
    score: f64,
) -> String {
    if score == 0.0 {
        let passages = counted(context.len(), "passage");
        return format!("none of {passages} contains {}", any_of(&answer));
    }
    let in_passage = |passage: &str| {
        let found = |answer: &&_| PassageAnswers::new(profile, &[answer]).in_passage(passage);
        answer.iter().find(found).map(|answer| quoted(answer))
    };
    let found = context
        .iter()
        .enumerate()
        .find_map(|(at, it)| Some((at, in_passage(it)?)));
    let (at, found) = found.unwrap_or((0, list(&answer)));
    format!("passage {} contains {found}", at + 1)
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
