//! Which rows an expensive metric judges.

/// The rows that a metric set with [`EvaluateBuilder::truth`](crate::EvaluateBuilder::truth) judges.
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
    /// Samples this many rows, at least 10.
    pub fn rows(rows: u64) -> Self {
        Self { rows, by: None }
    }

    /// Samples the rows in proportion from strata of another metric of the run, its proxy. The strata are the proxy's
    /// verdicts, or fifths of its scores. The closer the proxy follows the truth, the narrower the interval.
    #[must_use]
    pub fn stratified_by(self, proxy: impl Into<String>) -> Self {
        let by = Some(proxy.into());
        Self { by, ..self }
    }
}
