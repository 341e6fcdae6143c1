//! Required and forbidden keywords of an output.

use crate::core::score::FeedbackMetric;
use crate::core::score::check::Unscored;
use crate::metric;
use crate::text::Searchable;

/// The share of the required keywords that the output contains; 0 if it contains a forbidden one.
///
/// In [0, 1]; 1 is a pass. Without `partial_credit` a score below 1 becomes 0. Reads `pred.answer`
/// as a string, or the field that `field` names (`*` for the whole prediction as JSON). Strings are
/// compared after Unicode normalization (NFC), and without `case_sensitive` after case folding, so
/// "STRASSE" equals "straße". With `whole_words` a keyword does not match inside a longer word:
/// "TODO" does not match "TODOS". A configuration without keywords, or with an empty keyword, is an
/// error before the first row.
///
/// ```
/// use dsrs_metrics::metrics::Keyword;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric =
///     Keyword::builder().required(["function", "return"]).forbidden(["TODO", "FIXME"]).field("code").build();
/// let score = |code: &str| metric.score(&example! {}, &prediction! { "code" => code });
/// assert_eq!(score("function f() { return 1 }")?.value, 1.0);
/// assert_eq!(score("function f() {}")?.value, 0.5);
/// assert_eq!(score("function f() { return 1 } // TODO")?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, threshold = 1.0, missing = 0.0)]
pub fn keyword(
    #[pred(named_by = field)] text: &str,
    /// Keywords that the output must contain.
    #[param(default)]
    required: &[String],
    /// Keywords that the output must not contain.
    #[param(default)]
    forbidden: &[String],
    /// Whether to score the share of required keywords instead of all or nothing.
    #[param(default = true)]
    partial_credit: bool,
    /// Whether the comparison is case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// Whether a keyword matches only whole words.
    #[param(default = false)]
    whole_words: bool,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<FeedbackMetric, Unscored> {
    validate(required, forbidden).map_err(Unscored::Because)?;
    let text = Searchable::new(text, case_sensitive, whole_words);
    let found: Vec<&String> = forbidden
        .iter()
        .filter(|word| text.contains(word))
        .collect();
    let missing: Vec<&String> = required
        .iter()
        .filter(|word| !text.contains(word))
        .collect();
    Ok(FeedbackMetric::new(
        value(
            required.len(),
            missing.len(),
            found.is_empty(),
            partial_credit,
        ),
        feedback(&missing, &found),
    ))
}

requires_valid! {
    Keyword: |metric| validate(&metric.required, &metric.forbidden);
}

fn validate(required: &[String], forbidden: &[String]) -> Result<(), String> {
    if required.is_empty() && forbidden.is_empty() {
        return Err("no keywords are configured; set `required`, `forbidden` or both".to_owned());
    }
    match required.iter().chain(forbidden).any(String::is_empty) {
        true => Err("an empty keyword matches every output; remove it".to_owned()),
        false => Ok(()),
    }
}

// Lists of keywords are short.
fn value(required: usize, missing: usize, none_forbidden: bool, partial_credit: bool) -> f64 {
    match (none_forbidden, missing) {
        (false, _) => 0.0,
        (true, 0) => 1.0,
        (true, _) if partial_credit => (required - missing) as f64 / required as f64,
        (true, _) => 0.0,
    }
}

fn feedback(missing: &[&String], forbidden: &[&String]) -> String {
    let quoted = |words: &[&String]| {
        words
            .iter()
            .map(|word| format!("{word:?}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (missing.is_empty(), forbidden.is_empty()) {
        (true, true) => "all required keywords are present and no forbidden one is".to_owned(),
        (false, true) => format!("missing: {}", quoted(missing)),
        (true, false) => format!("forbidden: {}", quoted(forbidden)),
        (false, false) => format!(
            "forbidden: {}; missing: {}",
            quoted(forbidden),
            quoted(missing)
        ),
    }
}
