//! Metrics that search an output for reference answers, strings or patterns, under the names that
//! users of `inspect_ai` and `promptfoo` know.
//!
//! | there | here |
//! | --- | --- |
//! | `inspect_ai`: `includes()`, `match()`, `pattern()`, `choice()` | `includes`, `matches`, `pattern`, `choice` |
//! | `inspect_ai`: `ignore_case=False` | `case_sensitive = true` |
//! | `inspect_ai`: `answer()` | `choice`, or `pattern` with `(?s).*ANSWER:\s*(\w+)`; `.*` finds the last one |
//! | `inspect_ai`: `exact()`, `f1()` | `em`, `f1` |
//! | `promptfoo`: `contains`, `icontains` | `contains_all` with one string, and `case_sensitive = true` for the former |
//! | `promptfoo`: `contains-all`, `contains-any` and their `icontains-` forms | `contains_all`, `contains_any` |
//! | `promptfoo`: `equals` | `one_of` with one string, or `diff` |
//! | `promptfoo`: `starts-with` | `matches` with `location = begin` |
//! | `promptfoo`: `is-json`, `regex` | `is_json`, `regex` |
//! | `promptfoo`: `not-..` | `#[metric(invert(..))]` |
//!
//! `includes`, `matches`, `pattern` and `choice` compare with the reference answers of a row,
//! `gold.answer`. `one_of`, `contains_all` and `contains_any` search for the parameter `values`, and
//! without it for the strings of `gold.answer`. Strings are compared in a Unicode normal form (NFC)
//! and, unless `case_sensitive` is set, after case folding. An empty reference answer is in every
//! output, so it is an error of the data set, or of the configuration.
//!
//! Related metrics: `keyword` scores the share of the required keywords and rejects forbidden ones,
//! `format` also checks for required JSON fields, `numeric_match` compares the last numbers within
//! tolerances.
//!
//! # Differences from `inspect_ai`
//!
//! - `matches` compares whole words and numbers: "5" is not at the end of "25". `whole_words = false`
//!   compares characters, as there.
//! - Only punctuation of sentences, quotations, brackets and Markdown is ignored
//!   ([`trim_punctuation`](crate::text::trim_punctuation)): "C" is not "C++", and "5" is not "-5". A
//!   reference of punctuation alone is compared as it is; there it matches every output.
//! - Numbers are compared exactly, not to 5 significant digits, and read as in `numeric_match`: 1/2 is
//!   0.5, and 60% is 60.
//! - Canonically equivalent strings are equal: composed and decomposed "é".
//! - `choice` also reads outputs without `ANSWER:`, such as "B" or "(B) Paris", and answers that are the
//!   text of a choice, by the rules of [`selected_choices`](crate::text::selected_choices).
//! - `pattern` and `regex` have no look-around and no backreferences, since these take more than linear
//!   time. `pattern` ignores white space around groups, and what participates in the match.

mod choice;
mod patterns;
mod references;
mod strings;

pub(super) use choice::expected_labels;
pub use choice::{Choice, choice};
pub use patterns::{Pattern, Regex, pattern, regex};
pub use references::{Includes, Matches, includes, matches};
pub(super) use strings::values_or;
pub use strings::{
    ContainsAll, ContainsAny, IsJson, OneOf, StringSearch, StringSearchSetters, contains_all,
    contains_any, is_json, one_of,
};

/// Checks the strings of a row, or of a configuration, that an output is searched for.
///
/// # Errors
/// The list is empty, or contains an empty string.
fn searched<T: AsRef<str>>(strings: &[T], of: &str) -> Result<(), String> {
    match strings
        .iter()
        .any(|string| string.as_ref().trim().is_empty())
    {
        _ if strings.is_empty() => Err(format!("expected at least one string in {of}, found none")),
        true => Err(format!(
            "expected a string that is not empty in {of}, found {:?}",
            ""
        )),
        false => Ok(()),
    }
}
