//! Whether an output includes, or matches, a reference answer.

use super::searched;
use crate::metric;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::matching as explained;
use crate::text::{Location, MatchOptions, Searchable};

/// Whether the output includes one of the reference answers.
///
/// inspect's `includes`, promptfoo's `icontains`. With `whole_words`, "5" is not included in "25".
///
/// ```
/// use dsrs_metrics::metrics::Includes;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => ["Paris", "Paname"] };
/// let pred = prediction! { "answer" => "It is PARIS, of course." };
/// assert_eq!(Includes::default().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::includes)]
pub fn includes(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// Whether the comparison is case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// Whether a reference answer matches only whole words and numbers.
    #[param(default = false)]
    whole_words: bool,
) -> Result<bool, String> {
    searched(&answer, "`gold.answer`")?;
    let output = Searchable::new(prediction, case_sensitive, whole_words);
    Ok(answer.iter().any(|answer| output.contains(answer)))
}

/// Whether the output begins with, ends with, contains or is one of the reference answers.
///
/// inspect's `match`. White space and punctuation around both are ignored; see
/// [`trim_punctuation`](crate::text::trim_punctuation). With `numeric`, a reference answer that is a
/// number is compared with the first number of the output (`location = begin`), the last (`end`), each
/// (`any`), or the number that the output consists of (`exact`); `numeric_match` has tolerances.
///
/// ```
/// use dsrs_metrics::metrics::Matches;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::text::Location;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => "5" }, prediction! { "answer" => "The answer is 25." });
/// assert_eq!(Matches::default().score(&gold, &pred)?.value, 0.0);
///
/// let numeric = Matches::builder().numeric(true).location(Location::Any).build();
/// let gold = example! { "answer" => "1300" };
/// let pred = prediction! { "answer" => "She earns $1,300.00 in 4 days" };
/// assert_eq!(numeric.score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |answer, prediction, location, _, _, _, score| {
    explained::matches(&answer, prediction, location, score)
})]
pub fn matches(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// Where the reference answer must be: `begin`, `end`, `any` or `exact`.
    #[param(default = Location::End)]
    location: Location,
    /// Whether the comparison is case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// Whether a reference answer matches only whole words and numbers.
    #[param(default = true)]
    whole_words: bool,
    /// Whether reference answers that are numbers are compared by value.
    #[param(default = false)]
    numeric: bool,
) -> Result<bool, String> {
    searched(&answer, "`gold.answer`")?;
    let options = MatchOptions {
        location,
        case_sensitive,
        whole_words,
        numeric,
    };
    Ok(answer
        .iter()
        .any(|answer| options.matches(prediction, answer)))
}
