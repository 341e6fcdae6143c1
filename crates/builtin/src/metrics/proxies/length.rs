//! The length of an output.

use crate::core::score::FeedbackMetric;
use crate::core::score::check::Unscored;
use crate::metric;
use crate::text::{count_tokens, count_words};

/// Whether the length of the output is within bounds, with partial credit outside them.
///
/// In [0, 1]: 1 within all bounds, which is a pass; `length / minimum` below a minimum, `maximum /
/// length` above a maximum, and the lowest of these if several bounds are violated. Without
/// `partial_credit` a score below 1 becomes 0. Characters are Unicode scalar values, as in Python's
/// `len`, not bytes; words are counted by [`count_words`], tokens by [`count_tokens`], a
/// documented approximation. Without any bound the minimum is one character: an empty output scores 0, and any other
/// 1. Reads `pred.answer` as a string, or the field that `field` names (`*` for the whole prediction as JSON). A
/// minimum above its maximum is an error before the first row.
///
/// ```
/// use dsrs_metrics::metrics::Length;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Length::builder().min_chars(4).max_chars(8).field("summary").build();
/// let score = |text: &str| metric.score(&example! {}, &prediction! { "summary" => text });
/// assert_eq!(score("東京都です")?.value, 1.0);
/// assert_eq!(score("ja")?.value, 0.5);
/// assert_eq!(score("sixteen letters!")?.value, 0.5);
/// assert_eq!(Length::default().score(&example! {}, &prediction! { "answer" => "Paris" })?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, threshold = 1.0, missing = 0.0)]
#[expect(clippy::too_many_arguments, reason = "two bounds per unit")]
pub fn length(
    #[pred(named_by = field)] text: &str,
    /// The minimum number of characters.
    #[param]
    min_chars: Option<u64>,
    /// The maximum number of characters.
    #[param]
    max_chars: Option<u64>,
    /// The minimum number of words.
    #[param]
    min_words: Option<u64>,
    /// The maximum number of words.
    #[param]
    max_words: Option<u64>,
    /// The minimum number of tokens.
    #[param]
    min_tokens: Option<u64>,
    /// The maximum number of tokens.
    #[param]
    max_tokens: Option<u64>,
    /// Whether a length outside the bounds scores more than 0.
    #[param(default = true)]
    partial_credit: bool,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<FeedbackMetric, Unscored> {
    let bounds = bounds(
        [min_chars, max_chars],
        [min_words, max_words],
        [min_tokens, max_tokens],
    );
    validate(&bounds).map_err(Unscored::Because)?;
    let scores = bounds
        .iter()
        .filter(|bounds| bounds.is_set())
        .map(|bounds| bounds.score(text));
    let (score, feedback) = scores
        .reduce(|lowest, next| if next.0 < lowest.0 { next } else { lowest })
        .unwrap_or((1.0, String::new()));
    let score = if partial_credit || score >= 1.0 {
        score
    } else {
        0.0
    };
    Ok(FeedbackMetric::new(score, feedback))
}

requires_valid! {
    Length: |it| validate(&bounds(
        [it.min_chars, it.max_chars],
        [it.min_words, it.max_words],
        [it.min_tokens, it.max_tokens],
    ));
}

/// The minimum and maximum in each unit. Without any, the minimum is one character.
fn bounds(
    chars: [Option<u64>; 2],
    words: [Option<u64>; 2],
    tokens: [Option<u64>; 2],
) -> [Bounds; 3] {
    let unbounded = [chars, words, tokens].iter().flatten().all(Option::is_none);
    let chars = if unbounded { [Some(1), None] } else { chars };
    let bounds = |unit, count, [min, max]: [Option<u64>; 2]| Bounds {
        unit,
        count,
        min,
        max,
    };
    [
        bounds("characters", count_chars as fn(&str) -> usize, chars),
        bounds("words", count_words, words),
        bounds("tokens", count_tokens, tokens),
    ]
}

fn count_chars(text: &str) -> usize {
    text.chars().count()
}

/// The bounds in one unit.
struct Bounds {
    unit: &'static str,
    count: fn(&str) -> usize,
    min: Option<u64>,
    max: Option<u64>,
}

impl Bounds {
    fn is_set(&self) -> bool {
        self.min.is_some() || self.max.is_some()
    }

    /// The score in [0, 1] and the feedback.
    // Lengths of strings are exact in a float.
    fn score(&self, text: &str) -> (f64, String) {
        let unit = self.unit;
        let found = (self.count)(text) as u64;
        match (self.min, self.max) {
            (Some(min), _) if found < min => (
                found as f64 / min as f64,
                format!("expected at least {min} {unit}, found {found}"),
            ),
            (_, Some(max)) if found > max => (
                max as f64 / found as f64,
                format!("expected at most {max} {unit}, found {found}"),
            ),
            _ => (1.0, format!("{found} {unit}")),
        }
    }
}

fn validate(bounds: &[Bounds]) -> Result<(), String> {
    for Bounds { unit, min, max, .. } in bounds {
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            return Err(format!(
                "the minimum of {min} {unit} exceeds the maximum of {max}"
            ));
        }
    }
    Ok(())
}
