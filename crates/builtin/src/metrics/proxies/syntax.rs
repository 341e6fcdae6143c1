//! The syntax of code in an output.

use crate::core::declared::requirements::{Requirement, Requires};
use crate::core::score::check::{Check, Unscored};
use crate::metric;
use crate::metrics::explained::proxies as explained;
use crate::metrics::language::LanguageSetting;
use crate::syntax::{BalanceOptions, check_balance};

/// Whether brackets and quotes are balanced or, with a language, whether the code parses without
/// error.
///
/// A pass or a failure; the feedback has the first error and its position. Without a language,
/// brackets in strings and comments are ignored, for the string and comment syntax of common
/// languages; see [`check_balance`]. With a language (`rust`, `python`, `javascript`, `typescript`,
/// `json`, `sql`, `bash`) its parser decides. A language in a build without the feature `syntax`,
/// and a configuration that checks nothing, are errors before the first row. Reads `pred.answer` as
/// a string, or the field that `field` names (`*` for the whole prediction as JSON). An empty
/// string is balanced; to reject it, use [`Format`](crate::metrics::Format).
///
/// ```
/// use dsrs_metrics::metrics::Syntax;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Syntax::builder().check_balanced_brackets(true).check_balanced_quotes(true).build();
/// let score = |code: &str| metric.score(&example! {}, &prediction! { "answer" => code });
/// assert_eq!(score("f(\"a)\") // :)")?.value, 1.0);
/// assert_eq!(score("f(a]")?.value, 0.0);
///
/// let rust = Syntax::builder().language("rust").build();
/// assert_eq!(rust.language.language(), Ok(Some(dsrs_metrics::syntax::Language::Rust)));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::syntax)]
pub fn syntax(
    #[pred(named_by = field)] text: &str,
    /// Whether to check that `()`, `[]` and `{}` match.
    #[param(default = true)]
    check_balanced_brackets: bool,
    /// Whether to check that strings in `"` and `'` are closed.
    #[param(default = true)]
    check_balanced_quotes: bool,
    /// The language whose parser checks the code, instead of brackets and quotes.
    #[param(default, into)]
    language: &LanguageSetting,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<Check, Unscored> {
    let error = match language.language().map_err(Unscored::Because)? {
        Some(language) => language.first_error(text).map_err(Unscored::because)?,
        None => {
            let (brackets, quotes) = (check_balanced_brackets, check_balanced_quotes);
            check_balance(text, BalanceOptions { brackets, quotes })
        }
    };
    Ok(Check::unless(error.map(|error| error.to_string())))
}

impl Requires for Syntax {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let configured = match self.language.language() {
            // Fails if this build has no parser for the language.
            Ok(Some(language)) => language
                .first_error("")
                .map(|_| ())
                .map_err(|error| error.to_string()),
            Err(unknown) => Err(unknown),
            Ok(None) if self.check_balanced_brackets || self.check_balanced_quotes => Ok(()),
            Ok(None) => Err(NOTHING_TO_CHECK.to_owned()),
        };
        all.extend(Requirement::unless(Self::SPEC.name, configured));
    }
}

const NOTHING_TO_CHECK: &str = "nothing to check, so every output would pass; set `check_balanced_brackets`, `check_balanced_quotes` or `language`";
