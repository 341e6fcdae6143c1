//! The contract for metrics: what a metric declares ([`MetricSpec`]), how it is called ([`MetricCall`]) and configured
//! ([`Params`]), and what it returns ([`Answer`], [`MetricReturn`]).
//!
//! `#[metric]` and `#[judge]` implement this contract for you. Import these types if you implement
//! [`Metric`](crate::Metric) by hand, or call metrics from a different harness.

pub use dsrs_metrics_core::{
    Answer, ClosureReturn, Component, Configure, CorpusCounts, CorpusFormula, CorpusState, Counted,
    Direction, Explanation, FieldSpec, FnMetric, IdentityDifference, Instance, InvalidWeights,
    MetricCall, MetricErrorKind, MetricFile, MetricIdentity, MetricName, MetricReturn, MetricSpec,
    MetricTier, NamesFiles, ParamError, ParamSpec, Params, Part, RepeatNumber, RepliedBy,
    Requirement, RowAnswer, ScoreKind, ScoreRange, ScoredAtOnce, Scores, Settings, Side, Weights,
    WithCorpus, WithSettings, typed_metric_fn,
};
