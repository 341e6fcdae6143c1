//! The items that the macros' expansions name. They have no stable API.

pub use crate::composite::compiled;
pub use crate::composite::row_types::{FallbackMetric, First, MaybeMetric};
pub use crate::declared::Declaration;
pub use crate::dedup::{Configured, Key};
pub use crate::gate_rules as gates;
pub use crate::rows::field_error::{Absent, FieldError, is_scored};
pub use crate::score::Scored;
pub use crate::score::check::explained;
pub use crate::score::missing::unreadable_field;
pub use crate::score::outcome::row_answer;

pub use crate::declared::requirements::{Requirement, Requires};
pub use crate::judge::Itself;
pub use crate::judge::configured::{PANEL, panel_default, panel_params, read_panel};
pub use crate::judge::forward::{forward, read_input, read_input_or};
pub use crate::judge::row::judged;
pub use crate::metric::answer::ready_score;
pub use crate::metric::call::{gold, pred};
pub use crate::metric::param_group::{
    ComputedDefaults, ConstantDefault, ConstantDefaults, DefaultByName, DefaultKind, HasParams,
    joined, repeated_param,
};
pub use crate::metric::params::read_param;
pub use crate::metric::typed_rows::read_row;
pub use crate::probe::{
    Fallback, FallbackDebug, FallbackOpaque, FallbackSerialize, FallbackShown, FallbackValueType,
    Maybe, MaybeValueType, shown,
};
pub use crate::rows::by_name::{Given, configured};
pub use crate::rows::fields::{
    Field, Name, Optional, Owned, Raw, ReadAs, ReadField, ReadValue, Ref, Slice, Text, can_read,
    read, read_or_note,
};
pub use crate::rows::provide::Provide;
pub use crate::score::return_types::{Decided, Undecided};
/// Re-exports the whole crate for macro-generated code.
///
/// Generated code imports the crate only through this module, so a wrong crate path causes a single error.
pub mod root {
    pub use crate::*;
}
/// Empty in this crate. `dsrs_metrics` has setters for parameters that several built-in metrics share.
pub mod setters {}
pub use crate::{
    Answer, Configure, CorpusReturn, Direction, Explanation, FieldSpec, FieldType, MetricCall,
    MetricReturn, MetricScore, MetricSpec, MetricTier, Module, OnMissing, ParamError, ParamSpec,
    Params, RowAnswer, RowType, ScoredAtOnce, Side, TypeHelp,
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

use crate::files::MetricFile;
use crate::metric::Metric;
use crate::program::ProgramError;
use crate::program_run::ProgramOutput;
use crate::rows::dynamic::{Example, Prediction};
use crate::score::error::{MetricError, Result};
use crate::spec::{ScoreKind, ScoreRange};

/// Returns `true` unless the metric returns a `bool`.
///
/// Only numbers can have a threshold, range or direction.
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

/// A description of the type of a field that is read as `&str`.
pub const STRING: TypeHelp = <str as crate::value_type::ValueType>::HELP;

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
/// Always.
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
/// Returns the error that the answer contains.
pub fn score<T: Into<RowAnswer>>(answer: Result<T>) -> Result<MetricScore> {
    Ok(answer?.into().scored()?.into_score())
}
