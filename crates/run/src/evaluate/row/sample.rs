//! The sample of rows that an expensive metric judges.

/// A sample of the rows, for a metric that you add with [`EvaluateBuilder::truth`](crate::EvaluateBuilder::truth).
///
/// ```
/// use dsrs_metrics::runs::Sample;
///
/// let sample = Sample::rows(100).stratified_by("f1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub(crate) rows: u64,
    pub(crate) by: Option<String>,
}

impl Sample {
    /// Creates a sample of this many rows. The minimum is 10.
    pub fn rows(rows: u64) -> Self {
        Self { rows, by: None }
    }

    /// Sets the proxy: another metric in the run that the sample is stratified by. The strata are the proxy's verdicts,
    /// or fifths of its scores, and each stratum is sampled in proportion to its size. The more closely the proxy
    /// follows the truth, the narrower the interval.
    #[must_use]
    pub fn stratified_by(self, proxy: impl Into<String>) -> Self {
        let by = Some(proxy.into());
        Self { by, ..self }
    }
}
