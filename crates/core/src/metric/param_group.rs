//! Structs of parameters shared by several metrics: `#[param(flatten)]`.
//!
//! `#[derive(ParamGroup)]` implements the traits. A metric has the struct's parameters as if they were its own.

use crate::files::MetricFile;
use crate::metric::params::{ParamError, Params};
use crate::sentence::{Sentence, same, sentence};
use crate::spec::{MetricSpec, ParamSpec};

/// A struct of parameters that several metrics share.
///
/// `#[derive(ParamGroup)]` implements this trait, and `#[param(flatten)]` adds the parameters to a metric.
///
/// Each field is a parameter. You can document the field and set `default` and `into`, as you would for a `#[param]`. A
/// field must have a default or be an `Option`.
///
/// The field types must implement `Debug`, `Clone` and `Deserialize`. The struct itself must implement `Debug` and
/// `Clone`.
///
/// The derive also implements `Default`, and it defines the `NAMESetters` trait, where `NAME` is the name of the
/// struct. If you import that trait, the metrics' builders have a method for each field.
///
/// `#[param_group(crate = path)]` sets the path to the crate.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// /// How words are compared.
/// #[derive(Debug, Clone, ParamGroup)]
/// struct Comparison {
///     /// `true` to compare words case-sensitively.
///     #[param(default = true)]
///     case_sensitive: bool,
///     /// Words that are not compared.
///     #[param(default)]
///     ignored: Vec<String>,
/// }
///
/// impl Comparison {
///     fn words(&self, text: &str) -> Vec<String> {
///         let text = if self.case_sensitive { text.to_owned() } else { text.to_lowercase() };
///         text.split_whitespace().filter(|&word| !self.ignored.iter().any(|it| it == word)).map(str::to_owned).collect()
///     }
/// }
///
/// /// The words are the same, in the same order.
/// #[metric]
/// fn same_words(
///     #[gold] answer: &str,
///     #[pred("answer")] given: &str,
///     #[param(flatten)] comparison: &Comparison,
/// ) -> bool {
///     comparison.words(answer) == comparison.words(given)
/// }
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let names: Vec<_> = SameWords::SPEC.params.iter().map(|param| param.name).collect();
/// assert_eq!(names, ["case_sensitive", "ignored"]);
///
/// let metric = SameWords::builder().case_sensitive(false).ignored(["the"]).build();
/// let (gold, pred) = (example! { "answer" => "the cat" }, prediction! { "answer" => "Cat" });
/// assert_eq!(metric.score(&gold, &pred)?.value, 1.0);
/// assert_eq!(SameWords::default().score(&gold, &pred)?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter struct",
    label = "expected a struct with `#[derive(ParamGroup)]`",
    note = "write `#[derive(Debug, Clone, ParamGroup)]` before the struct, or remove `flatten` if this is one parameter"
)]
pub trait ParamGroup: Send + Sync + Sized + 'static {
    /// The parameters, in the order of the struct's fields.
    const PARAMS: &'static [ParamSpec<'static>];

    /// Creates the struct with each parameter's default.
    #[doc(hidden)]
    fn defaults() -> Self;

    /// Reads the parameters for a metric with this spec.
    ///
    /// # Errors
    /// Returns [`ParamError::Invalid`] if a value has the wrong type.
    #[doc(hidden)]
    fn read(params: &Params, spec: &MetricSpec<'static>) -> Result<Self, ParamError>;

    /// Adds the files that the parameters name to `all`.
    #[doc(hidden)]
    fn files(&self, metric: &str, all: &mut Vec<MetricFile>);

    /// Returns the parameters' defaults as a user would write them.
    ///
    /// See [`Configure::param_texts`](crate::Configure::param_texts).
    #[doc(hidden)]
    fn param_texts() -> Vec<Option<String>> {
        Vec::new()
    }

    /// Returns `true` if all parameters equal those of `other`.
    ///
    /// See [`Configured::has_same_parameters`](crate::dedup::Configured::has_same_parameters).
    #[doc(hidden)]
    fn has_same_parameters(&self, other: &Self) -> bool {
        let _ = other;
        false
    }

    /// Returns the name and value of each parameter.
    ///
    /// See [`Configured::parameters`](crate::dedup::Configured::parameters).
    #[doc(hidden)]
    fn parameters(&self) -> Vec<(&'static str, Option<String>)> {
        Vec::new()
    }
}

/// A builder for a metric that has the parameters of `G`.
#[diagnostic::on_unimplemented(
    message = "the metric of `{Self}` does not have the parameters of `{G}`",
    note = "write `#[param(flatten)] settings: &{G}` in the metric's function"
)]
pub trait HasParams<G> {
    /// Returns a mutable reference to the parameters.
    ///
    /// The parameters start with their defaults.
    fn params_mut(&mut self) -> &mut G;
}

/// Joins a metric's parameters and those of its parameter structs into one list.
pub const fn joined<const N: usize>(
    lists: &[&'static [ParamSpec<'static>]],
) -> [ParamSpec<'static>; N] {
    let mut joined = [ParamSpec::new("", "", None, ""); N];
    let (mut len, mut list) = (0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            joined[len] = lists[list][index];
            len += 1;
            index += 1;
        }
        list += 1;
    }
    joined
}

/// Checks that no parameter repeats an earlier name.
///
/// Only the `len` parameters starting at `first` are checked.
///
/// Returns the message for the first repetition.
pub const fn repeated_param(
    params: &[ParamSpec<'_>],
    first: usize,
    len: usize,
) -> Option<Sentence> {
    let mut index = first;
    while index < first + len {
        let mut before = 0;
        while before < first {
            if same(params[before].name, params[index].name) {
                return Some(
                    sentence!("two parameters of the metric are named " [name params[index].name]
                    "; rename one of them, or remove it"),
                );
            }
            before += 1;
        }
        index += 1;
    }
    None
}
