//! Items used by the code that the macros generate. They are not part of the stable API.
//!
//! [`Maybe`] uses autoref specialization: the macros call one of its methods without knowing which traits the wrapped
//! type implements. If the type implements the trait, the call resolves to an inherent method; otherwise, it resolves
//! to a fallback trait's method with the same name. Rust prefers the inherent method; code that calls it imports the
//! fallback trait.
//!
//! The file is long because the code that all macros generate finds its names in one module.

pub use crate::composite::compiled;
pub use crate::composite::row_types::{FallbackMetric, First, MaybeMetric};
pub use crate::declared::Declaration;
pub use crate::gate_rules as gates;
pub use crate::judge::Itself;
pub use crate::judge::configured::{PANEL, panel_default, panel_params, read_panel};
pub use crate::judge::forward::{forward, read_input, read_input_or};
pub use crate::judge::row::judged;
pub use crate::metric::answer::ready_score;
pub use crate::metric::param_group::{HasParams, joined, repeated_param};
pub use crate::metric::params::ParamType;
pub use crate::metric::typed_rows::read_row;
pub use crate::rows::by_name::configured;
pub use crate::rows::field_error::is_scored;
pub use crate::rows::fields::{Field, Name, ReadValue, read, read_or_note};
pub use crate::rows::{
    Absent, Given, Optional, Owned, Provide, Raw, ReadAs, ReadField, Ref, Slice, Text,
};
pub use crate::score::check::explained;
pub use crate::score::{row_answer, unreadable_field};

/// Re-exports the whole crate for macro-generated code.
///
/// Generated code imports the crate only through this module, so a wrong crate path causes a single error.
pub mod root {
    pub use crate::*;
}
/// An empty module. In `dsrs_metrics`, it has the setters for parameters that several built-in metrics share.
pub mod setters {}
pub use crate::{
    Answer, Configure, Configured, CorpusReturn, Decided, Direction, Explanation, FieldError,
    FieldSpec, FieldType, Key, MetricCall, MetricReturn, MetricScore, MetricSpec, MetricTier,
    Module, OnMissing, ParamError, ParamSpec, Params, Requirement, Requires, RowAnswer, RowType,
    Scored, ScoredAtOnce, Side, TypeHelp, Undecided,
};
pub use dsrs_metrics_macros::added_metrics;
pub use serde::{self, Deserialize};
pub use serde_json::{Value, json};
pub use std::clone::Clone;
pub use std::marker::{Sized, Sync};
pub use std::option::Option::{self, None, Some};
pub use std::primitive::{bool, f64, str, u8, u32, u64, usize};
pub use std::result::Result::{Err, Ok};
pub use std::sync::{LazyLock, OnceLock};
pub use std::{borrow, boxed, string, vec};

use std::borrow::Borrow;
use std::fmt::Debug;
use std::marker::PhantomData;

use serde::Serialize;

use crate::judge::{ChecksParams, embedder_requirement};
use crate::lm::Embedder;
use crate::messages::hash;
use crate::{
    Example, Metric, MetricError, MetricFile, NamesFiles, Prediction, ProgramError, ProgramOutput,
    Result, ScoreKind, ScoreRange, ValueType,
};

/// Returns `true` unless the metric returns a `bool`.
///
/// Only numeric metrics can have a threshold, range or direction.
pub const fn is_number(spec: &MetricSpec<'_>) -> bool {
    !matches!(spec.kind, ScoreKind::Bool)
}

/// Returns `true` if the threshold is a finite number.
///
/// Also returns `true` if there is no threshold.
pub const fn threshold_is_finite(spec: &MetricSpec<'_>) -> bool {
    match spec.threshold {
        Some(threshold) => threshold.is_finite(),
        None => true,
    }
}

/// Returns `true` if the threshold lies inside the range.
///
/// Also returns `true` if the threshold or the range is missing or invalid.
pub const fn threshold_is_in_range(spec: &MetricSpec<'_>) -> bool {
    match (spec.threshold, spec.range) {
        (Some(threshold), Some(range)) => {
            !threshold.is_finite() || !range_is_not_empty(spec) || range.contains(threshold)
        }
        _ => true,
    }
}

/// Returns `true` if some score in the range fails the threshold.
///
/// This function assumes that the threshold lies inside the range.
pub const fn threshold_can_fail(spec: &MetricSpec<'_>) -> bool {
    match (spec.threshold, spec.range, spec.direction) {
        (Some(threshold), Some(range), Direction::HigherIsBetter) => threshold != range.min,
        (Some(threshold), Some(range), Direction::LowerIsBetter) => threshold != range.max,
        _ => true,
    }
}

/// Returns `true` if the range is finite and not empty.
///
/// Also returns `true` if there is no range.
pub const fn range_is_not_empty(spec: &MetricSpec<'_>) -> bool {
    match spec.range {
        Some(ScoreRange { min, max }) => min.is_finite() && max.is_finite() && min < max,
        None => true,
    }
}

/// Returns `true` if the score for a missing field is a valid score.
pub const fn missing_is_a_score(spec: &MetricSpec<'_>) -> bool {
    match (spec.missing, spec.range) {
        (Some(score), _) if matches!(spec.kind, ScoreKind::Bool) => score == 0.0 || score == 1.0,
        (Some(score), Some(range)) => {
            score.is_finite() && (!range_is_not_empty(spec) || range.contains(score))
        }
        (Some(score), None) => score.is_finite(),
        (None, _) => true,
    }
}

/// The type description for fields that are read as `&str`.
pub const STRING: TypeHelp = <str as ValueType>::HELP;

/// A list of metric requirements.
///
/// The alias has a unique name, so rustc doesn't suggest an unrelated item if the crate's path is wrong.
pub type Requirements = Vec<Requirement>;

/// A list of files that metrics read.
pub type Files = Vec<MetricFile>;

/// The future that `Metric::evaluate` returns.
pub type Evaluation<'a> = futures_util::future::BoxFuture<'a, Result<MetricScore>>;

/// Implements `Metric::evaluate` for a metric that implements `Metric::answer`.
pub fn evaluation<'a, M, G, P>(metric: &'a M, gold: &'a G, pred: &'a P) -> Evaluation<'a>
where
    M: Metric<G, P>,
    G: Sync,
    P: Sync,
{
    let answer = metric.answer(MetricCall::new(gold, pred));
    Box::pin(async move { score(answer.await) })
}

/// Returns the error for a metric that needs a trace but was called without one.
///
/// # Errors
/// Always returns an error.
#[cold]
pub fn missing_trace<T>(spec: &MetricSpec<'_>) -> Result<T> {
    const MISSING: &str = "expected the program's trace, found none; return a `ProgramOutput` with a trace from the program, or declare the metric's trace as an `Option`";
    Err(MetricError::failed(spec.name, MISSING))
}

/// The future that `Module::forward` returns.
pub type Forward<'a> =
    futures_util::future::BoxFuture<'a, std::result::Result<Prediction, ProgramError>>;

/// The future that `Module::forward_traced` returns.
pub type ForwardTraced<'a> =
    futures_util::future::BoxFuture<'a, std::result::Result<ProgramOutput, ProgramError>>;

/// Implements `Module::forward` for a module that implements `Module::forward_traced`.
pub fn forwarded<M: Module>(module: &M, inputs: Example) -> Forward<'_> {
    Box::pin(async move { Ok(module.forward_traced(inputs).await?.prediction) })
}

/// Converts a metric's answer to a score.
///
/// # Errors
/// Returns the answer's error, if it contains one.
pub fn score<T: Into<RowAnswer>>(answer: Result<T>) -> Result<MetricScore> {
    Ok(answer?.into().scored()?.into_score())
}

/// Wraps a value whose type might lack a trait that generated code uses. See [`Fallback`].
///
/// Calling `shown` on `&Maybe` selects the inherent method if the type implements `Serialize`, the method of
/// [`FallbackDebug`] if it implements `Debug`, and the method of [`FallbackShown`] otherwise. Calling `given` selects
/// the inherent method if the type is a string, the method of [`FallbackSerialize`] if it implements `Serialize`, and
/// the method of [`FallbackOpaque`] otherwise.
#[derive(Debug)]
pub struct Maybe<'a, T>(pub &'a T);

/// Provides fallback methods for [`Maybe`] if a type lacks a trait.
///
/// By default, two values are different, a metric requires nothing, and a judge accepts any parameters. A parameter
/// names no files, is not an embedding model and is not shown.
pub trait Fallback<T> {
    fn equals(&self, _: &T) -> bool {
        false
    }

    fn requires(&self) -> Option<&'static dyn Requires> {
        None
    }

    fn check_params(&self) -> Result<(), String> {
        Ok(())
    }

    fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        let _ = (parameter, all);
    }

    fn embedder(&self, metric: &str, all: &mut Vec<Requirement>) {
        let _ = (metric, all);
    }

    fn text(&self) -> Option<String> {
        None
    }
}

impl<T> Fallback<T> for Maybe<'_, T> {}

impl<T: PartialEq> Maybe<'_, T> {
    pub fn equals(&self, other: &T) -> bool {
        self.0 == other
    }
}

impl<'a, M: Requires> Maybe<'a, M> {
    /// Returns the metric as a trait object.
    pub fn requires(&self) -> Option<&'a dyn Requires> {
        Some(self.0)
    }
}

impl<J: ChecksParams> Maybe<'_, J> {
    /// Checks a judge's parameters.
    ///
    /// # Errors
    /// Returns a message that says what is wrong and what to write instead.
    pub fn check_params(&self) -> Result<(), String> {
        self.0.check()
    }
}

impl<T: NamesFiles> Maybe<'_, T> {
    /// Adds the files named by the parameter to `all`.
    pub fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        self.0.files(parameter, all);
    }
}

impl Maybe<'_, Embedder> {
    /// Adds a requirement for the embedding model, which is checked before the first row.
    pub fn embedder(&self, metric: &str, all: &mut Vec<Requirement>) {
        all.push(embedder_requirement(metric, self.0));
    }
}

impl<T: Serialize> Maybe<'_, T> {
    pub fn text(&self) -> Option<String> {
        shown(self.0)
    }

    pub fn shown(&self) -> Option<String> {
        shown(self.0)
    }
}

/// Returns a value as a user would write it: strings unchanged, anything else as JSON. Strings that are empty, or that
/// start or end with whitespace, are quoted.
pub fn shown<T: Serialize>(value: &T) -> Option<String> {
    match serde_json::to_value(value).ok()? {
        Value::String(text) if !text.is_empty() && text.trim() == text => Some(text),
        value => Some(value.to_string()),
    }
}

/// The first fallback for `shown`: uses a hash of the `Debug` output instead of the output itself, which is meant for
/// programmers.
pub trait FallbackDebug {
    fn shown(&self) -> Option<String>;
}

impl<T: Debug> FallbackDebug for Maybe<'_, T> {
    fn shown(&self) -> Option<String> {
        let hash = hash::of_bytes(format!("{:?}", self.0).as_bytes());
        Some(format!("a value with the hash {hash}"))
    }
}

/// The second fallback for `shown`: the value is not shown.
pub trait FallbackShown {
    fn shown(&self) -> Option<String> {
        None
    }
}

impl<T> FallbackShown for &Maybe<'_, T> {}

/// A field or parameter type that might not implement [`ValueType`].
#[derive(Debug)]
pub struct MaybeValueType<T: ?Sized>(PhantomData<T>);

impl<T: ValueType + ?Sized> MaybeValueType<T> {
    /// The description of the type.
    pub const HELP: TypeHelp = T::HELP;
}

/// Provides a fallback for [`MaybeValueType`] if a type has no description.
pub trait FallbackValueType {
    const HELP: TypeHelp = TypeHelp::NONE;
}

impl<T: ?Sized> FallbackValueType for MaybeValueType<T> {}

impl<'r, T: Borrow<str>> Maybe<'r, T> {
    /// Returns the string value of the field, whether it is owned or borrowed.
    pub fn given(&self) -> Given<'r> {
        Given::Text(self.0.borrow())
    }
}

/// The first fallback for `given`: serializes the field as JSON.
pub trait FallbackSerialize<'r> {
    fn given(&self) -> Given<'r>;
}

impl<'r, T: Serialize> FallbackSerialize<'r> for Maybe<'r, T> {
    fn given(&self) -> Given<'r> {
        match serde_json::to_value(self.0) {
            Ok(value) => Given::Value(value),
            Err(error) => Given::Failed(format!("a value that cannot be serialized: {error}")),
        }
    }
}

/// The second fallback for `given`: the field cannot be read by name.
pub trait FallbackOpaque<'r> {
    fn given(&self) -> Given<'r>;
}

impl<'r, T> FallbackOpaque<'r> for &Maybe<'r, T> {
    fn given(&self) -> Given<'r> {
        Given::Opaque
    }
}

#[cfg(test)]
mod tests {
    use super::{FallbackValueType as _, MaybeValueType};
    use crate::value_type::TypeHelp;
    use serde_json::Value;

    struct Limits;

    #[test]
    fn known_types_are_described_and_others_are_not() {
        let lists = "a list of strings";
        for (help, phrase, example) in [
            (MaybeValueType::<&str>::HELP, "a string", None),
            (
                MaybeValueType::<Option<u64>>::HELP,
                "a whole number, 0 or more",
                None,
            ),
            (
                MaybeValueType::<&[String]>::HELP,
                lists,
                Some(r#"'["x", "y"]'"#),
            ),
            (
                MaybeValueType::<Option<Vec<String>>>::HELP,
                lists,
                Some(r#"'["x", "y"]'"#),
            ),
            (
                MaybeValueType::<[f64; 4]>::HELP,
                "a list of 4 numbers",
                None,
            ),
            (
                MaybeValueType::<[f64; 2]>::HELP,
                "a list of 2 numbers",
                None,
            ),
            (
                MaybeValueType::<&[&Value]>::HELP,
                "a list of JSON values",
                None,
            ),
            (MaybeValueType::<Vec<Vec<String>>>::HELP, "", None),
            (MaybeValueType::<Limits>::HELP, "", None),
            (MaybeValueType::<Vec<Limits>>::HELP, "", None),
        ] {
            assert_eq!(
                (help.to_string().as_str(), help.example()),
                (phrase, example)
            );
            assert_eq!(help.is_some(), !phrase.is_empty());
        }
    }

    /// A user's own type is not described like the library's type with the same name.
    #[test]
    fn a_type_is_described_by_itself_and_not_by_its_name() {
        assert_eq!(MaybeValueType::<Limits>::HELP, TypeHelp::NONE);
        assert_eq!(MaybeValueType::<Limits>::HELP.or_type("Limits"), "`Limits`");
    }
}
