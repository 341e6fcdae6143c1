//! The setting in [`StopSettings`] that ends a run as soon as its gates are decided.

use super::evaluate_builder::EvaluateBuilder;
use super::faults::StopSettings;
use crate::evaluate::early::{EarlyGate, EarlyOptions};

impl<G, P> EvaluateBuilder<G, P> {
    /// Ends the run as soon as its gates are decided.
    pub(crate) fn early(mut self, options: EarlyOptions) -> Self {
        self.options.early = Some(options);
        self
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> StopSettings<G, P> {
    /// Ends the run as soon as every gate is decided. `alpha` is the maximum probability that any verdict differs from
    /// the verdict that all rows would give. With `None`, the run continues until the remaining rows cannot change any
    /// verdict.
    ///
    /// Rows are evaluated in a random order that depends only on their ids and the
    /// [seed](crate::StatisticsSettings::seed), so the result is the same at any concurrency. The tests stay valid even
    /// though the gates are checked after each row. Rows that are not needed have the outcome
    /// [`NotNeeded`](crate::contract::Outcome::NotNeeded). All rows are read into memory before the first one is
    /// evaluated.
    ///
    /// | gate | decided by |
    /// | --- | --- |
    /// | `polite >= 0.9`, `wer <= 20%`, `failed <= 0.02` | the mean of all rows, with a [test by betting](crate::stats::BettingTest::of_rows) |
    /// | `lower(polite) >= 0.9`, `upper(wer) <= 0.2` | the mean of the population that the rows are a sample of, [likewise](crate::stats::BettingTest::of_population) |
    ///
    /// As in any run, a metric's mean excludes the rows on which the metric abstains. Once the budget fails to cover a
    /// row, no later row counts as evidence, because which rows the budget covers depends on their order.
    ///
    /// If there are several gates, each verdict is wrong with a probability of at most `alpha` divided by the number of
    /// gates. If all rows are evaluated, any undecided gates are decided as in an ordinary run. If the run ends early,
    /// the interval of a mean is a [confidence sequence](crate::stats::confidence_sequence).
    ///
    /// [`build`](EvaluateBuilder::build) returns an error if a gate uses a metric without a range or a metric that
    /// scores all rows together. For such metrics, a single row could change the verdict.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Evaluate, rows::Pair, runs::Ending};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let row = |n: u32| {
    ///     let answer = if n % 40 == 0 { "no" } else { "yes" };
    ///     Pair::new(n.to_string(), example! { "answer" => "yes" }, prediction! { "answer" => answer })
    /// };
    /// let evaluate = Evaluate::builder().metric(same).stop(|stop| stop.when_decided(["same >= 0.9"], 0.01)).build()?;
    /// let result = evaluate.score((0..1000).map(row)).await?;
    /// assert_eq!(result.ending, Ending::Decided);
    /// assert_eq!(result.early.as_ref().unwrap().gates[0].passed, Some(true));
    /// assert_eq!(
    ///     result.to_string(),
    ///     "same  98.81% [91.61, 99.90] (83/84, 0 failed, 916 not needed)\n\
    ///      decided after 84 of 1,000 rows; wrong in at most 1%",
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn when_decided<S: AsRef<str>>(
        self,
        gates: impl IntoIterator<Item = S>,
        alpha: impl Into<Option<f64>>,
    ) -> Self {
        let gates = gates.into_iter().map(|gate| gate.as_ref().parse());
        let gates: Result<Vec<EarlyGate>, String> = gates.collect();
        let mistake = gates.as_ref().err().cloned();
        Self(self.0.early(EarlyOptions {
            gates: gates.unwrap_or_default(),
            alpha: alpha.into(),
            mistake,
        }))
    }
}
