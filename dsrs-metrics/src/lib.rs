#![doc = include_str!("../../README.md")]

// Lets `#[metric]` be used inside this crate with the path that its users have.
#[allow(unused_extern_crates)]
extern crate self as dsrs_metrics;

mod cell;
mod error;
mod metric;
mod outcome;
mod pair;
mod params;
mod record;
mod row;
mod score;
mod spec;

#[doc(hidden)]
pub mod __private;
pub mod prelude;

pub use async_trait::async_trait;
#[doc(hidden)]
pub use bon;
pub use dsrs_metrics_macros::{Record, metric};

pub use crate::error::{MetricError, Result};
pub use crate::metric::{
    AcceptanceTest, FeedbackEvaluator, FnMetric, Metric, MetricCall, ScoredAtOnce, metric_fn,
    typed_metric_fn,
};
pub use crate::outcome::Outcome;
pub use crate::pair::{Origin, Pair};
pub use crate::params::{Configure, ParamError, Params};
pub use crate::record::{FieldType, Record, RowType};
pub use crate::row::{Example, Fields, Prediction, Trace, TraceStep};
pub use crate::score::{FeedbackMetric, Grade, MetricReturn, MetricScore, Part, Scored, Scores};
pub use crate::spec::{
    Direction, FieldSpec, MetricSpec, MetricTier, ParamSpec, ScoreKind, ScoreRange, Side,
};
