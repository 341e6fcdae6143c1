//! Scores rollouts: [`Scorer`] evaluates cheap metrics first, and expensive ones only for the rollouts that pass,
//! within a budget.
//!
//! The guide has an example: [`scorer`](crate::guide::scorer).

pub use dsrs_metrics_run::{
    AggregationError, AggregationMethod, BoxedMetric, FinalScore, MetricSet, Rank, Rollout,
    Rollouts, RowScore, RowStatus, Scorer, ScorerBuilder, ScorerError, ScoringConfig,
    ScoringResult, ScoringSummary,
};

/// Adds built-in metrics to the builder of a [`Scorer`].
#[cfg(feature = "metrics")]
pub trait DefaultMetrics: Sized {
    /// Adds the proxies [`format`](crate::metrics::format), [`length`](crate::metrics::length) and
    /// [`syntax`](crate::metrics::syntax) with their defaults: `pred.answer` is not empty, and its brackets and quotes
    /// are balanced. For other settings, add these metrics yourself, as in
    /// `.metric(Length::builder().max_chars(200).build())`.
    fn with_default_proxy_metrics(self) -> Self;

    /// Adds the truth metrics [`llm_judge`](crate::judge::shipped::LlmJudge) and [`diff`](crate::metrics::diff) with
    /// their defaults. The first has a language model evaluate `pred.answer`, for at most 100 msat. The second checks
    /// that `pred.answer` equals `gold.answer` except for white space, and is [`free`](ScorerBuilder::free). Without a
    /// configured model, the run ends before its first row. Within [`Models::offline`](crate::judge::Models::offline),
    /// `llm_judge` scores by token overlap, and every output says so.
    fn with_default_truth_metrics(self) -> Self;
}

#[cfg(feature = "metrics")]
impl DefaultMetrics for ScorerBuilder {
    fn with_default_proxy_metrics(self) -> Self {
        self.metrics(dsrs_metrics_builtin::metrics::default_sets::proxies())
    }

    fn with_default_truth_metrics(self) -> Self {
        let [judge, diff] = dsrs_metrics_builtin::metrics::default_sets::truths();
        let name = diff.name().to_owned();
        self.metric(judge).metric(diff).free(name)
    }
}
