//! Words that an output must have, and words that it must not have.

use crate::core::requirements::{Requirement, Requires};
use crate::core::score::FeedbackMetric;
use crate::metric;
use crate::metrics::check::Unscored;
use crate::text::Searchable;

/// The share of the required keywords that the output has; 0 if it has a forbidden one.
///
/// In [0, 1], 1 is a pass. Without `partial_credit` anything below 1 is 0. Reads the text of `pred.answer`, or of the field
/// that `field` names (`*` for the whole prediction as JSON). Letters are compared as Unicode has them: composed and
/// decomposed forms are equal, and without `case_sensitive` so are "STRASSE" and "straße". With `whole_words` a keyword
/// may not be part of a longer word: "TODO" is not in "TODOS". A metric with no keyword at all, or an empty one, is
/// refused before the first row: there would be nothing to look for.
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
#[metric(range = 0.0..=1.0, threshold = 1.0)]
pub fn keyword(
    #[pred(named_by = field)] text: &str,
    /// Keywords that the output must have, all of them.
    #[param(default)]
    required: &[String],
    /// Keywords of which the output must have none.
    #[param(default)]
    forbidden: &[String],
    /// Whether some of the required keywords are worth their share; otherwise all count 1 and fewer 0.
    #[param(default = true)]
    partial_credit: bool,
    /// Whether upper and lower case differ.
    #[param(default = false)]
    case_sensitive: bool,
    /// Whether a keyword must stand as a word of its own.
    #[param(default = false)]
    whole_words: bool,
    /// The field of the prediction that is looked at, or `*` for all of it.
    #[param(default = "answer")]
    field: &str,
) -> Result<FeedbackMetric, Unscored> {
    check(required, forbidden).map_err(Unscored::Because)?;
    let text = Searchable::new(text, case_sensitive, whole_words);
    let banned: Vec<&String> = forbidden.iter().filter(|word| text.contains(word)).collect();
    let missing: Vec<&String> = required.iter().filter(|word| !text.contains(word)).collect();
    Ok(FeedbackMetric::new(
        value(required.len(), missing.len(), banned.is_empty(), partial_credit),
        feedback(&missing, &banned),
    ))
}

impl Requires for Keyword {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(Requirement::unless(Self::SPEC.name, check(&self.required, &self.forbidden)));
    }
}

fn check(required: &[String], forbidden: &[String]) -> Result<(), String> {
    if required.is_empty() && forbidden.is_empty() {
        return Err("no keywords: set `required`, `forbidden` or both".to_owned());
    }
    match required.iter().chain(forbidden).any(String::is_empty) {
        true => Err("an empty keyword is in every text: take it out".to_owned()),
        false => Ok(()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "lists of keywords are short")]
fn value(required: usize, missing: usize, clean: bool, partial_credit: bool) -> f64 {
    match (clean, missing) {
        (false, _) => 0.0,
        (true, 0) => 1.0,
        (true, _) if partial_credit => (required - missing) as f64 / required as f64,
        (true, _) => 0.0,
    }
}

fn feedback(missing: &[&String], banned: &[&String]) -> String {
    let quoted = |words: &[&String]| {
        words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
    };
    match (missing.is_empty(), banned.is_empty()) {
        (true, true) => "all required keywords are there and no forbidden one".to_owned(),
        (false, true) => format!("missing: {}", quoted(missing)),
        (true, false) => format!("forbidden: {}", quoted(banned)),
        (false, false) => format!("forbidden: {}; missing: {}", quoted(banned), quoted(missing)),
    }
}
