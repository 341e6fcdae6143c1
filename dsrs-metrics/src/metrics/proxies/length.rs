//! Whether an output is as long as it should be.

use crate::core::requirements::{Requirement, Requires};
use crate::core::score::FeedbackMetric;
use crate::metric;
use crate::metrics::check::Unscored;
use crate::text::{count_tokens, count_words};

/// Whether the output's length lies within bounds, with partial credit near them.
///
/// In [0, 1]: 1 within all bounds, which is a pass; below a minimum `length / minimum`, above a maximum
/// `maximum / length`, and the worst of these where several bounds are broken. Without `partial_credit` anything below 1
/// is 0. Characters are Unicode characters (scalar values, as in Python's `len`), never bytes; words are those of
/// [`count_words`], tokens those of [`count_tokens`], a documented approximation. Reads the text of `pred.answer`, or of the
/// field that `field` names (`*` for the whole prediction as JSON). A metric without bounds, or with a minimum above its
/// maximum, is refused before the first row.
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
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, threshold = 1.0)]
#[expect(clippy::too_many_arguments, reason = "a bound each way for each unit")]
pub fn length(
    #[pred(named_by = field)] text: &str,
    /// Fewest characters.
    #[param]
    min_chars: Option<u64>,
    /// Most characters.
    #[param]
    max_chars: Option<u64>,
    /// Fewest words.
    #[param]
    min_words: Option<u64>,
    /// Most words.
    #[param]
    max_words: Option<u64>,
    /// Fewest tokens.
    #[param]
    min_tokens: Option<u64>,
    /// Most tokens.
    #[param]
    max_tokens: Option<u64>,
    /// Whether a length near the bounds is worth something.
    #[param(default = true)]
    partial_credit: bool,
    /// The field of the prediction that is looked at, or `*` for all of it.
    #[param(default = "answer")]
    field: &str,
) -> Result<FeedbackMetric, Unscored> {
    let bounds = bounds([min_chars, max_chars], [min_words, max_words], [min_tokens, max_tokens]);
    check(&bounds).map_err(Unscored::Because)?;
    let judged = bounds.iter().filter(|bounds| bounds.is_set()).map(|bounds| bounds.judge(text));
    let (score, feedback) = judged
        .reduce(|worst, next| if next.0 < worst.0 { next } else { worst })
        .unwrap_or((1.0, String::new()));
    let score = if partial_credit || score >= 1.0 { score } else { 0.0 };
    Ok(FeedbackMetric::new(score, feedback))
}

impl Requires for Length {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let bounds = bounds(
            [self.min_chars, self.max_chars],
            [self.min_words, self.max_words],
            [self.min_tokens, self.max_tokens],
        );
        all.extend(Requirement::unless(Self::SPEC.name, check(&bounds)));
    }
}

/// The least and the most in each unit.
fn bounds(
    chars: [Option<u64>; 2],
    words: [Option<u64>; 2],
    tokens: [Option<u64>; 2],
) -> [Bounds; 3] {
    let bounds = |unit, count, [min, max]: [Option<u64>; 2]| Bounds { unit, count, min, max };
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

    /// Score in [0, 1] and a sentence.
    #[expect(clippy::cast_precision_loss, reason = "lengths of texts are exact in a float")]
    fn judge(&self, text: &str) -> (f64, String) {
        let unit = self.unit;
        let found = (self.count)(text) as u64;
        match (self.min, self.max) {
            (Some(min), _) if found < min => {
                (found as f64 / min as f64, format!("{found} {unit}, at least {min} expected"))
            }
            (_, Some(max)) if found > max => {
                (max as f64 / found as f64, format!("{found} {unit}, at most {max} expected"))
            }
            _ => (1.0, format!("{found} {unit}")),
        }
    }
}

fn check(bounds: &[Bounds]) -> Result<(), String> {
    if !bounds.iter().any(Bounds::is_set) {
        let message = "no bounds: set `min_chars`, `max_chars`, `min_words`, `max_words`, `min_tokens` or `max_tokens`";
        return Err(message.to_owned());
    }
    for Bounds { unit, min, max, .. } in bounds {
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            return Err(format!("no text has at least {min} and at most {max} {unit}"));
        }
    }
    Ok(())
}
