//! Whether an output is well-formed code.

use crate::core::requirements::{Requirement, Requires};
use crate::metric;
use crate::metrics::check::{Check, Unscored};
use crate::syntax::{Balance, Language, unbalanced};

/// Whether brackets and quotes are balanced, or, with a language, whether its parser finds no error.
///
/// Passes or fails; the feedback says what is wrong and in which line. Without a language brackets in strings and
/// comments do not count, whatever the language's strings and comments look like; see [`unbalanced`]. With a
/// language (`rust`, `python`, `javascript`, `typescript`, `json`, `sql`, `bash`) a real parser reads the text; a build without the
/// feature `syntax` has none, and refuses it before the first row, as it does a metric that has nothing to check. Reads the text of `pred.answer`, or of the field that `field` names
/// (`*` for the whole prediction as JSON). Empty text is balanced; ask [`Format`](crate::metrics::Format) whether it is there.
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
/// # Ok(())
/// # }
/// ```
#[metric]
pub fn syntax(
    #[pred(named_by = field)] text: &str,
    /// Whether `()`, `[]` and `{}` must match.
    #[param(default = true)]
    check_balanced_brackets: bool,
    /// Whether each `"` and `'` that opens a text must be closed.
    #[param(default = true)]
    check_balanced_quotes: bool,
    /// The language whose parser reads the text.
    #[param]
    language: Option<Language>,
    /// The field of the prediction that is looked at, or `*` for all of it.
    #[param(default = "answer")]
    field: &str,
) -> Result<Check, Unscored> {
    let fault = match language {
        Some(language) => language.fault(text).map_err(Unscored::because)?,
        None => {
            let balance =
                Balance { brackets: check_balanced_brackets, quotes: check_balanced_quotes };
            unbalanced(text, balance)
        }
    };
    Ok(Check::unless(fault.map(|fault| fault.to_string())))
}

impl Requires for Syntax {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let checked = match self.language {
            Some(language) => language.fault("").map(|_| ()).map_err(|error| error.to_string()),
            None if self.check_balanced_brackets || self.check_balanced_quotes => Ok(()),
            None => Err(NOTHING.to_owned()),
        };
        all.extend(Requirement::unless(Self::SPEC.name, checked));
    }
}

const NOTHING: &str = "nothing to check, so every text would pass: set `check_balanced_brackets`, `check_balanced_quotes` or `language`";
