//! Structs of parameters shared by several metrics: `#[param(flatten)]`.
//!
//! `#[derive(ParamGroup)]` implements the traits. A metric has the struct's parameters as if they were its own.

use std::mem::ManuallyDrop;

use serde::de::DeserializeOwned;

use crate::files::MetricFile;
use crate::metric::params::{ParamError, Params, read_param};
use crate::sentence::{Sentence, same, sentence};
use crate::spec::{MetricSpec, ParamSpec};

/// A struct of parameters shared by several metrics. `#[derive(ParamGroup)]` implements this trait, and
/// `#[param(flatten)]` adds the parameters to a metric.
///
/// Each field is a parameter and takes the same documentation, `default` and `into` as a `#[param]`. A field must have
/// a default or be an `Option`, and its type must implement `Debug`, `Clone` and `Deserialize`. The struct must
/// implement `Debug` and `Clone`. The derive also implements `Default` and defines the `NAMESetters` trait. While that
/// trait is in scope, the metrics' builders have a method for each field. `#[param_group(crate = path)]` sets the path
/// of the crate.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// /// How words are compared.
/// #[derive(Debug, Clone, ParamGroup)]
/// struct Comparison {
///     /// Whether words that differ in case only are different.
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
    /// The parameters, in the order of the struct.
    const PARAMS: &'static [ParamSpec<'static>];

    /// Marks whether there is a [`DEFAULT`](Self::DEFAULT).
    #[doc(hidden)]
    type Kind: DefaultKind;

    /// The default, if all fields have constant defaults.
    #[doc(hidden)]
    const DEFAULT: Option<ManuallyDrop<Self>>;

    /// Returns the default of each parameter.
    #[doc(hidden)]
    fn defaults() -> Self;

    /// Reads the parameters of a metric with this spec.
    ///
    /// # Errors
    /// Returns [`ParamError::WrongType`] for a value of the wrong type.
    #[doc(hidden)]
    fn read(params: &Params, spec: &MetricSpec<'static>) -> Result<Self, ParamError>;

    /// Adds the files that the parameters name to `all`.
    #[doc(hidden)]
    fn files(&self, metric: &str, all: &mut Vec<MetricFile>);

    /// Does the same as [`Configure::param_texts`](crate::Configure::param_texts).
    #[doc(hidden)]
    fn param_texts() -> Vec<Option<String>> {
        Vec::new()
    }

    /// Does the same as [`Configured::has_same_parameters`](crate::dedup::Configured::has_same_parameters).
    #[doc(hidden)]
    fn has_same_parameters(&self, other: &Self) -> bool {
        let _ = other;
        false
    }

    /// Does the same as [`Configured::parameters`](crate::dedup::Configured::parameters).
    #[doc(hidden)]
    fn parameters(&self) -> Vec<(&'static str, Option<String>)> {
        Vec::new()
    }
}

/// The type of a field in a struct of parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a parameter value",
    label = "not a parameter type",
    note = "derive `serde::Deserialize` for `{Self}`, so that a command line can set the parameter"
)]
pub trait ParamType: Sized {
    /// Returns the parameter's value, or its default.
    ///
    /// # Errors
    /// Returns [`ParamError::WrongType`] for a value of the wrong type.
    #[doc(hidden)]
    fn read(
        params: &Params,
        spec: &MetricSpec<'static>,
        param: &ParamSpec<'static>,
        default: Option<fn() -> Self>,
    ) -> Result<Self, ParamError>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> ParamType for T {
    fn read(
        params: &Params,
        spec: &MetricSpec<'static>,
        param: &ParamSpec<'static>,
        default: Option<fn() -> Self>,
    ) -> Result<Self, ParamError> {
        read_param(params, spec, param, default)
    }
}

/// A builder of a metric that flattens the struct of parameters `G`.
#[diagnostic::on_unimplemented(
    message = "the metric of `{Self}` does not have the parameters of `{G}`",
    note = "write `#[param(flatten)] settings: &{G}` in the metric's function"
)]
pub trait HasParams<G> {
    /// Returns the parameters, which start with their defaults.
    fn params_mut(&mut self) -> &mut G;
}

/// Marks whether a parameter struct's defaults are constants: [`ConstantDefaults`] or [`ComputedDefaults`]. If they are
/// constants, the metric's name is a constant too, as for a metric with its own `#[param]`s.
pub trait DefaultKind {
    /// Constant only if both are.
    type And<Other: DefaultKind>: DefaultKind;
}

/// Every field's default is a constant expression.
#[derive(Debug)]
pub enum ConstantDefaults {}

/// The default of at least one field calls a function.
#[derive(Debug)]
pub enum ComputedDefaults {}

impl DefaultKind for ConstantDefaults {
    type And<Other: DefaultKind> = Other;
}

impl DefaultKind for ComputedDefaults {
    type And<Other: DefaultKind> = Self;
}

/// A metric whose default is a constant if the defaults of all its parameter structs are.
pub trait ConstantDefault: Sized {
    /// The default. It is not dropped, because a constant cannot drop a value that it matches.
    const DEFAULT: Option<ManuallyDrop<Self>>;
}

/// Determines what the name of the metric `M` stands for: its default, or the function that returns it.
pub trait DefaultByName<M> {
    /// `M` or `fn() -> M`.
    type Value;
    /// The default, or the function.
    const VALUE: Self::Value;
}

impl<M: ConstantDefault> DefaultByName<M> for ConstantDefaults {
    type Value = M;
    const VALUE: M = match M::DEFAULT {
        Some(default) => ManuallyDrop::into_inner(default),
        None => unreachable!(),
    };
}

impl<M: Default> DefaultByName<M> for ComputedDefaults {
    type Value = fn() -> M;
    const VALUE: fn() -> M = M::default;
}

/// Joins the parameters of a metric and of its parameter structs into one list.
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

/// Checks that none of the `len` parameters starting at `first` repeats an earlier name. Returns the message for the
/// first repetition.
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
