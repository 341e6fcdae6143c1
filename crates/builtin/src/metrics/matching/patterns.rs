//! Metrics with a regular expression.

use super::searched;
use crate::messages::escape::quoted;
use crate::metric;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::matching as explained;
use crate::syntax::RegexPattern;
use crate::text::Searchable;

/// Whether a regular expression extracts a reference answer from the output.
///
/// inspect's `pattern`. The first match counts. One of the capture groups must be a reference answer, or
/// with `match_all` each of them; the whole match if the expression has no groups. Groups that are not
/// part of the match do not count. Expressions of the crate `regex` take linear time and have no
/// look-around; `(?s).*ANSWER: (\w)` finds the last of several. An invalid one is an error before the
/// first row; the rows themselves have no expressions.
///
/// ```
/// use dsrs_metrics::metrics::Pattern;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Pattern::builder().pattern(r"ANSWER:\s*(\w+)").build();
/// let gold = example! { "answer" => "yes" };
/// assert_eq!(metric.score(&gold, &prediction! { "answer" => "I think so. Answer: YES." })?.value, 1.0);
/// assert_eq!(metric.score(&gold, &prediction! { "answer" => "yes" })?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::pattern)]
pub fn pattern(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// The regular expression, with a capture group around the answer.
    #[param(into)]
    pattern: &RegexPattern,
    /// Whether the expression and the comparison are case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// Whether all groups must be reference answers, instead of one.
    #[param(default = false)]
    match_all: bool,
) -> Result<bool, String> {
    searched(&answer, "`gold.answer`")?;
    let is_answer = |group: &str| {
        let group = Searchable::new(group.trim(), case_sensitive, false);
        answer.iter().any(|answer| group.equals(answer.trim()))
    };
    let groups = pattern
        .captures(prediction, case_sensitive)?
        .unwrap_or_default();
    let mut groups = groups.into_iter().flatten().peekable();
    Ok(match match_all {
        true => groups.peek().is_some() && groups.all(is_answer),
        false => groups.any(is_answer),
    })
}

/// Whether a regular expression matches anywhere in the output.
///
/// promptfoo's `regex`. `^` and `$` are the begin and end of the whole output, `(?i)` ignores case.
/// Expressions of the crate `regex` take linear time and have no look-around. An invalid one is an error
/// before the first row; the rows themselves have no expressions.
///
/// ```
/// use dsrs_metrics::metrics::Regex;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Regex::builder().pattern(r"^\d{4}-\d{2}-\d{2}$").field("date").build();
/// let score = |date: &str| metric.score(&example! {}, &prediction! { "date" => date });
/// assert_eq!((score("2026-11-22")?.value, score("22 November")?.value), (1.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |text, pattern, _, score| {
    let does = if score > 0.0 { "matches" } else { "does not match" };
    format!("{} {does} the pattern {}", quoted(text), quoted(pattern.as_str()))
})]
pub fn regex(
    #[pred(named_by = field)] text: &str,
    /// The regular expression.
    #[param(into)]
    pattern: &RegexPattern,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<bool, String> {
    pattern.is_match(text, true)
}

requires_valid! {
    Pattern: |metric| metric.pattern.validate();
    Regex: |metric| metric.pattern.validate();
}
