//! The default metrics of each tier.

use super::builder::ScorerBuilder;
use crate::core::spec::MetricSpec;
use crate::judge::shipped::LlmJudge;
use crate::metrics::{Diff, Format, Length, Syntax};

impl ScorerBuilder {
    /// Adds the proxies [`Format`], [`Length`] and [`Syntax`] with their defaults: `pred.answer` is not empty, and its
    /// brackets and quotes are balanced. For other settings add these metrics one by one, such as
    /// `.metric(Length::builder().max_chars(200).build())`.
    pub fn with_default_proxy_metrics(self) -> Self {
        self.metric(Format::default()).metric(Length::default()).metric(Syntax::default())
    }

    /// Adds the truth metrics [`LlmJudge`] and [`Diff`] with their defaults: a language model evaluates `pred.answer`,
    /// for at most 100 msat, and `pred.answer` equals `gold.answer` except for white space, which is
    /// [`free`](Self::free). Without a configured model the run ends before its first row; within
    /// [`Models::offline`](crate::judge::Models::offline) `LlmJudge` scores by token overlap, and every output states this.
    pub fn with_default_truth_metrics(self) -> Self {
        const DIFF: MetricSpec<'static> = Diff::SPEC;
        self.metric(LlmJudge::default()).metric(Diff::default()).free(DIFF.name)
    }
}
