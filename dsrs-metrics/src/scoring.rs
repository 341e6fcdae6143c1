//! Scores rollouts within a budget: a [`Scorer`] evaluates cheap metrics first, and expensive ones only for the
//! rollouts that pass.
//!
//! For an example, see the [guide](crate::guide::scorer).

pub use dsrs_metrics_run::{
    AggregationError, AggregationMethod, BoxedMetric, FinalScore, MetricSet, Rank, Rollout,
    Rollouts, RowScore, RowStatus, Scorer, ScorerBuilder, ScorerError, ScoringConfig,
    ScoringResult, ScoringSummary,
};

/// Adds built-in metrics to a [`Scorer`] builder.
#[cfg(feature = "metrics")]
pub trait DefaultMetrics: Sized {
    /// Adds the default proxy metrics.
    ///
    /// The metrics are [`format`](crate::metrics::format), [`length`](crate::metrics::length) and
    /// [`syntax`](crate::metrics::syntax) with their default settings. They check that `pred.answer` is not empty, and
    /// that its brackets and quotes are balanced.
    ///
    /// To use other settings, add these metrics yourself, as in `.metric(Length::builder().max_chars(200).build())`.
    fn with_default_proxy_metrics(self) -> Self;

    /// Adds the default truth metrics.
    ///
    /// The metrics are [`llm_judge`](crate::judge::shipped::LlmJudge) and [`diff`](crate::metrics::Diff) with their
    /// default settings.
    ///
    /// `llm_judge` asks a language model to grade `pred.answer`, and costs at most 100 msat. `diff` checks that
    /// `pred.answer` equals `gold.answer` except for whitespace, and is [`free`](ScorerBuilder::free).
    ///
    /// If no model is configured, the run ends before its first row. With
    /// [`Models::offline`](crate::judge::Models::offline), `llm_judge` scores by token overlap instead, and every
    /// output says so.
    fn with_default_truth_metrics(self) -> Self;
}

#[cfg(feature = "metrics")]
impl DefaultMetrics for ScorerBuilder {
    fn with_default_proxy_metrics(self) -> Self {
        self.metrics(dsrs_metrics_builtin::metrics::default_proxies())
    }

    fn with_default_truth_metrics(self) -> Self {
        let [judge, diff] = dsrs_metrics_builtin::metrics::default_truths();
        let name = diff.name().to_owned();
        self.metric(judge).metric(diff).free(name)
    }
}
