//! What a program reports about its own run: trace, usage and latency. `evaluate` runs programs.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::lm::LmReply;
use crate::rows::{Prediction, Trace};

/// The trace, usage and latency of one program run.
///
/// Metrics can read these values, and each row's result contains them.
///
/// Two runs are equal if the program returned the same values. Latency measured by the harness is not compared, and
/// `Debug` does not show it.
///
/// ```
/// use dsrs_metrics::{contract::MetricCall, metrics::Latency, prelude::*, runs::ProgramRun};
/// use std::time::Duration;
///
/// let mut run = ProgramRun::default();
/// run.latency = Some(Duration::from_millis(250));
/// let (gold, pred) = (example! {}, prediction! {});
/// let scored = Latency.answer(MetricCall::new(&gold, &pred).with_run(&run)).ready().unwrap()?;
/// assert_eq!(scored.score.value, 0.25); // in seconds
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ProgramRun {
    /// The program's steps, if the program returned them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// The tokens and cost of the program's model calls, if the program returned them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ProgramUsage>,
    /// The duration of the run, as returned by the program or measured by the harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Duration>,
    /// `true` if the harness measured the latency.
    is_measured: bool,
}

impl ProgramRun {
    /// Returns the latency if the program itself returned it.
    ///
    /// ```
    /// # use dsrs_metrics::runs::ProgramOutput;
    /// # use std::time::Duration;
    /// let (_, run) = ProgramOutput::new(42).with_latency(Duration::from_millis(250)).into_parts();
    /// assert_eq!(run.returned_latency(), Some(Duration::from_millis(250)));
    /// ```
    pub fn returned_latency(&self) -> Option<Duration> {
        self.latency.filter(|_| !self.is_measured)
    }

    /// Sets the latency measured by the harness.
    ///
    /// If the program returned a latency, this method keeps it.
    #[doc(hidden)]
    pub fn measured(mut self, latency: Duration) -> Self {
        if self.latency.is_none() {
            (self.latency, self.is_measured) = (Some(latency), true);
        }
        self
    }
}

impl fmt::Debug for ProgramRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut run = f.debug_struct("ProgramRun");
        run.field("trace", &self.trace).field("usage", &self.usage);
        match self.is_measured {
            true => run.field("latency", &format_args!("<measured>")),
            false => run.field("latency", &self.latency),
        };
        run.finish()
    }
}

impl PartialEq for ProgramRun {
    fn eq(&self, other: &Self) -> bool {
        let returned = |run: &Self| run.returned_latency();
        (&self.trace, &self.usage, returned(self)) == (&other.trace, &other.usage, returned(other))
    }
}

/// A prediction together with the program's trace, usage and latency.
///
/// A program that `Evaluate` runs can return this type instead of a plain prediction.
/// [`Module::forward_traced`](crate::Module::forward_traced) returns it too.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::metrics::Tokens;
/// use dsrs_metrics::{Evaluate, runs::{ProgramOutput, ProgramUsage}};
///
/// async fn program(inputs: Example) -> Result<ProgramOutput, String> {
///     let answer = inputs.get("question").ok_or("missing field `question`")?;
///     let output = ProgramOutput::new(prediction! { "answer" => answer });
///     Ok(output.with_usage(ProgramUsage::new(120, 8).with_cost_msats(40)))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let devset = [example! { "question" => "Why?" }];
/// let result = Evaluate::builder().devset(devset).inputs(["question"]).metric(Tokens).run(program).await?;
/// assert_eq!(result.score, Some(128.0));
/// assert_eq!(result.program.usage, Some(ProgramUsage::new(120, 8).with_cost_msats(40)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct ProgramOutput<P = Prediction> {
    /// The prediction.
    pub prediction: P,
    /// The steps that the program took.
    pub trace: Option<Trace>,
    /// The tokens and cost of the program's model calls.
    pub usage: Option<ProgramUsage>,
    /// The duration of the run.
    ///
    /// If `None`, the harness measures it.
    pub latency: Option<Duration>,
}

impl<P> ProgramOutput<P> {
    /// Creates an output without a trace, usage or latency.
    ///
    /// ```
    /// # use dsrs_metrics::runs::ProgramOutput;
    /// let output = ProgramOutput::new(42);
    /// assert_eq!((output.prediction, output.trace, output.usage, output.latency), (42, None, None, None));
    /// ```
    pub const fn new(prediction: P) -> Self {
        Self {
            prediction,
            trace: None,
            usage: None,
            latency: None,
        }
    }

    setters! {
        /// Sets the trace.
        ///
        /// ```
        /// use dsrs_metrics::{prelude::*, rows::TraceStep, runs::ProgramOutput};
        ///
        /// let outputs = prediction! { "answer" => "Paris" };
        /// let step = TraceStep { predictor: "answer".to_owned(), inputs: example! {}, outputs: outputs.clone() };
        /// let output = ProgramOutput::new(outputs).with_trace(Trace { steps: vec![step] });
        /// assert_eq!(output.trace.unwrap().steps.len(), 1);
        /// ```
        pub fn with_trace(trace: Trace) => trace = Some(trace);

        /// Sets the tokens and cost of the program's model calls.
        ///
        /// ```
        /// # use dsrs_metrics::runs::{ProgramOutput, ProgramUsage};
        /// let output = ProgramOutput::new(42).with_usage(ProgramUsage::new(120, 8));
        /// assert_eq!(output.usage.unwrap().tokens(), 128);
        /// ```
        pub fn with_usage(usage: ProgramUsage) => usage = Some(usage);

        /// Sets the latency, replacing the measured one.
        ///
        /// For example, you can exclude the time spent waiting for a rate limit.
        ///
        /// ```
        /// # use dsrs_metrics::runs::ProgramOutput;
        /// # use std::time::Duration;
        /// let (total, waited) = (Duration::from_millis(900), Duration::from_millis(650));
        /// let output = ProgramOutput::new(42).with_latency(total - waited);
        /// assert_eq!(output.latency, Some(Duration::from_millis(250)));
        /// ```
        pub fn with_latency(latency: Duration) => latency = Some(latency);
    }

    /// Splits the output into the prediction and the run's other values.
    ///
    /// ```
    /// # use dsrs_metrics::runs::{ProgramOutput, ProgramUsage};
    /// let (prediction, run) = ProgramOutput::new(42).with_usage(ProgramUsage::new(120, 8)).into_parts();
    /// assert_eq!((prediction, run.usage), (42, Some(ProgramUsage::new(120, 8))));
    /// ```
    pub fn into_parts(self) -> (P, ProgramRun) {
        let run = ProgramRun {
            trace: self.trace,
            usage: self.usage,
            latency: self.latency,
            is_measured: false,
        };
        (self.prediction, run)
    }
}

impl<P> From<P> for ProgramOutput<P> {
    fn from(prediction: P) -> Self {
        Self::new(prediction)
    }
}

/// The tokens and cost of a program's model calls.
///
/// ```
/// use dsrs_metrics::runs::ProgramUsage;
/// use dsrs_metrics::lm::{LmReply, Usage};
///
/// let mut usage = ProgramUsage::default();
/// usage += &LmReply::new("Paris").with_usage(Usage::new(40, 2)).with_cost_msats(42);
/// usage += ProgramUsage::new(10, 1).with_cost_msats(8);
/// assert_eq!((usage.tokens(), usage.cost_msats), (53, Some(50)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramUsage {
    /// The number of tokens in all prompts.
    pub input_tokens: u64,
    /// The number of tokens in all replies.
    pub output_tokens: u64,
    /// The cost in millisatoshis, or `None` if it is unknown.
    pub cost_msats: Option<u64>,
}

/// Returns the usage of a program that makes no calls: no tokens, and a cost of 0.
impl Default for ProgramUsage {
    fn default() -> Self {
        Self {
            input_tokens: 0,
            output_tokens: 0,
            cost_msats: Some(0),
        }
    }
}

impl ProgramUsage {
    /// Creates a usage record with an unknown cost.
    ///
    /// ```
    /// # use dsrs_metrics::runs::ProgramUsage;
    /// let mut usage = ProgramUsage::new(120, 8).with_cost_msats(40);
    /// usage += ProgramUsage::new(10, 1);
    /// assert_eq!(usage, ProgramUsage::new(130, 9)); // one cost is unknown, so the cost of the sum is as well
    /// ```
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cost_msats: None,
        }
    }

    /// Sets the cost, in millisatoshis.
    ///
    /// ```
    /// # use dsrs_metrics::runs::ProgramUsage;
    /// let mut usage = ProgramUsage::default(); // no call, so a cost of 0
    /// usage += ProgramUsage::new(120, 8).with_cost_msats(1_500);
    /// assert_eq!(usage.cost_msats, Some(1_500)); // 1.5 satoshis
    /// ```
    pub const fn with_cost_msats(mut self, cost_msats: u64) -> Self {
        self.cost_msats = Some(cost_msats);
        self
    }

    /// Returns the total number of tokens in prompts and replies.
    ///
    /// ```
    /// # use dsrs_metrics::runs::ProgramUsage;
    /// assert_eq!(ProgramUsage::new(120, 8).tokens(), 128);
    /// assert_eq!(ProgramUsage::new(u64::MAX, 8).tokens(), u64::MAX);
    /// ```
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// Adds tokens and cost. The resulting cost is unknown if either cost is unknown.
impl AddAssign for ProgramUsage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        let costs = self.cost_msats.zip(other.cost_msats);
        self.cost_msats = costs.map(|(one, other)| one.saturating_add(other));
    }
}

/// Adds the tokens and cost of one reply. A token count that the provider does not report counts as 0.
impl AddAssign<&LmReply> for ProgramUsage {
    fn add_assign(&mut self, reply: &LmReply) {
        *self += Self {
            input_tokens: reply.usage.prompt_tokens.unwrap_or(0),
            output_tokens: reply.usage.completion_tokens.unwrap_or(0),
            cost_msats: reply.cost_msats,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_makes_the_sum_unknown() {
        let mut usage = ProgramUsage::default();
        usage += ProgramUsage::new(3, 4).with_cost_msats(5);
        assert_eq!(usage, ProgramUsage::new(3, 4).with_cost_msats(5));
        usage += ProgramUsage::new(u64::MAX, 1);
        usage += ProgramUsage::new(0, 0).with_cost_msats(7);
        assert_eq!(usage, ProgramUsage::new(u64::MAX, 5));
        assert_eq!(usage.tokens(), u64::MAX);
    }

    #[test]
    fn a_measured_latency_is_not_compared_and_does_not_replace_a_returned_one() {
        let run = |latency: Option<u64>, measured: u64| {
            let mut output = ProgramOutput::new(0);
            output.latency = latency.map(Duration::from_secs);
            output
                .into_parts()
                .1
                .measured(Duration::from_secs(measured))
        };
        assert_eq!(run(None, 1), run(None, 2));
        assert_ne!(run(Some(1), 3), run(Some(2), 3));
        assert_ne!(run(Some(1), 1), run(None, 1));
        assert_eq!(format!("{:?}", run(None, 1)), format!("{:?}", run(None, 2)));
        assert!(format!("{:?}", run(Some(1), 2)).contains("1s"));
        assert_eq!(run(None, 2).latency, Some(Duration::from_secs(2)));
        assert_eq!(run(Some(1), 2).latency, Some(Duration::from_secs(1)));
        assert_eq!(
            (
                run(None, 2).returned_latency(),
                run(Some(1), 2).returned_latency()
            ),
            (None, Some(Duration::from_secs(1)))
        );
    }
}
