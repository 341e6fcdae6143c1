//! Whether an output has the strings of the configuration, or of the gold row; whether it is JSON.

use super::searched;
use crate::core::score::check::{Check, Unscored};
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::matching as explained;
use crate::metrics::proxies::format;
use crate::text::Searchable;
use crate::{ParamGroup, metric};

/// Returns the strings to search for: the configured strings, or the strings of the gold row if none are configured.
///
/// # Errors
/// The list is empty, or contains an empty string.
pub(in crate::metrics) fn values_or<'a>(
    values: &'a [String],
    answer: &'a StrOrList<'_>,
) -> Result<Vec<&'a str>, String> {
    if values.is_empty() {
        searched(answer, "the parameter `values` or in `gold.answer`")?;
        return Ok(answer.iter().map(AsRef::as_ref).collect());
    }
    valid(values)?;
    Ok(values.iter().map(String::as_str).collect())
}

fn valid(values: &[String]) -> Result<(), String> {
    if values.is_empty() {
        Ok(())
    } else {
        searched(values, "`values`")
    }
}

/// Whether the output is one of the accepted strings, apart from white space around it.
///
/// For labels of a closed set. promptfoo's `equals` with one string. `answer_exact_match` and `em` also
/// ignore articles and punctuation.
///
/// ```
/// use dsrs_metrics::metrics::OneOf;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = OneOf::builder().values(["positive", "negative", "neutral"]).field("label").build();
/// let score = |label: &str| metric.score(&example! {}, &prediction! { "label" => label });
/// assert_eq!((score("Neutral\n")?.value, score("mixed")?.value), (1.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::one_of)]
pub fn one_of(
    #[gold(default)] answer: StrOrList<'_>,
    #[pred(named_by = field)] text: &str,
    /// The accepted strings; if the list is empty, the strings of `gold.answer`.
    #[param(default)]
    values: &[String],
    /// Whether the comparison is case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<bool, String> {
    let text = Searchable::new(text.trim(), case_sensitive, false);
    Ok(values_or(values, &answer)?
        .iter()
        .any(|value| text.equals(value.trim())))
}

/// How the output is searched for strings.
#[derive(Debug, Clone, ParamGroup)]
pub struct StringSearch {
    /// Whether the comparison is case-sensitive.
    #[param(default = false)]
    pub case_sensitive: bool,
    /// Whether a string matches only whole words and numbers.
    #[param(default = false)]
    pub whole_words: bool,
}

impl StringSearch {
    pub(in crate::metrics) fn of<'a>(&self, text: &'a str) -> Searchable<'a> {
        Searchable::new(text, self.case_sensitive, self.whole_words)
    }
}

/// Whether the output contains all of the strings.
///
/// promptfoo's `contains-all` (with `case_sensitive`) and `icontains-all`. `keyword` scores the share of
/// them, and rejects forbidden ones.
///
/// ```
/// use dsrs_metrics::metrics::ContainsAll;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => ["Paris", "Seine"] };
/// let pred = prediction! { "answer" => "Paris lies on the Seine." };
/// assert_eq!(ContainsAll::default().score(&gold, &pred)?.value, 1.0);
/// let metric = ContainsAll::builder().values(["Paris", "Loire"]).build();
/// assert_eq!(metric.score(&gold, &pred)?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::contains_all)]
pub fn contains_all(
    #[gold(default)] answer: StrOrList<'_>,
    #[pred(named_by = field)] text: &str,
    /// The strings that the output must contain; if the list is empty, the strings of `gold.answer`.
    #[param(default)]
    values: &[String],
    #[param(flatten)] search: &StringSearch,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<bool, String> {
    let text = search.of(text);
    Ok(values_or(values, &answer)?
        .iter()
        .all(|value| text.contains(value)))
}

/// Whether the output contains at least one of the strings.
///
/// promptfoo's `contains-any` (with `case_sensitive`) and `icontains-any`.
///
/// ```
/// use dsrs_metrics::metrics::ContainsAny;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = ContainsAny::builder().values(["sorry", "cannot"]).whole_words(true).build();
/// let pred = prediction! { "answer" => "Sorry, no." };
/// assert_eq!(metric.score(&example! {}, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::contains_any)]
pub fn contains_any(
    #[gold(default)] answer: StrOrList<'_>,
    #[pred(named_by = field)] text: &str,
    /// The output must contain at least one of these strings; if the list is empty, one of the strings of `gold.answer`.
    #[param(default)]
    values: &[String],
    #[param(flatten)] search: &StringSearch,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<bool, String> {
    let text = search.of(text);
    Ok(values_or(values, &answer)?
        .iter()
        .any(|value| text.contains(value)))
}

/// Whether the output is valid JSON.
///
/// promptfoo's `is-json` without a schema; the same as `format` with `require_valid_json`, which also
/// checks for required fields. A value that is not a string is JSON already.
///
/// ```
/// use dsrs_metrics::metrics::IsJson;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let score = |answer: &str| IsJson::default().score(&example! {}, &prediction! { "answer" => answer });
/// assert_eq!((score("{\"a\": [1, 2]}")?.value, score("{'a': 1}")?.value), (1.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |_, _, score| (score > 0.0).then_some("the output is valid JSON"))]
pub fn is_json(
    #[pred(named_by = field)] text: &str,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<Check, Unscored> {
    format(text, true, true, &[], field)
}

requires_valid! {
    OneOf: |metric| valid(&metric.values);
    ContainsAll: |metric| valid(&metric.values);
    ContainsAny: |metric| valid(&metric.values);
}
