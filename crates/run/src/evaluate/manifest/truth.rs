//! The estimated means of metrics that judged only a sample of the rows.

use serde::{Deserialize, Serialize};

use crate::messages::thousands;
use crate::stats::Interval;

/// A metric's mean over all rows, estimated from the sample of rows that the metric judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TruthResult {
    /// The name of the metric.
    pub metric: String,
    /// The proxy that the sample is stratified by: a metric that has a score for every row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The method used to estimate the mean.
    pub method: TruthMethod,
    /// The number of rows that the sample was drawn from. These are the rows with a prediction.
    pub rows: u64,
    /// The number of rows in the sample.
    pub sampled: u64,
    /// The number of sampled rows that were scored or failed.
    pub judged: u64,
    /// The estimated mean over all rows.
    pub mean: f64,
    /// The 95% interval of the mean.
    pub ci95: [f64; 2],
    /// The number of rows that the metric would have to judge without a proxy to get an equally narrow interval.
    pub worth: f64,
    /// The strata of the sample.
    pub strata: Vec<TruthStratum>,
    /// The reason the proxy is not used; `None` if it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A stratum of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TruthStratum {
    /// The number of rows in the stratum.
    pub rows: u64,
    /// The number of sampled rows in the stratum.
    pub sampled: u64,
}

/// A method for estimating the mean over all rows from a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TruthMethod {
    /// Uses the mean of the sample alone.
    #[default]
    Sample,
    /// Weights each stratum by its share of the rows, with [`sampled_share`](crate::stats::sampled_share).
    PostStratified,
    /// Corrects the proxy's mean with the sample, using [`prediction_powered`](crate::stats::prediction_powered).
    PredictionPowered,
}

impl TruthMethod {
    /// Returns the name of the method, for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample without replacement",
            Self::PostStratified => "post-stratified",
            Self::PredictionPowered => "PPI++",
        }
    }
}

impl TruthResult {
    pub(crate) fn interval(&self) -> Interval {
        let [low, high] = self.ci95;
        Interval { low, high }
    }

    /// `100 of 1,000 judged, worth 239`
    pub(crate) fn counts(&self) -> String {
        let (judged, rows) = (thousands(self.judged), thousands(self.rows));
        match self.method {
            TruthMethod::Sample => format!("{judged} of {rows} judged"),
            _ => format!("{judged} of {rows} judged, worth {:.0}", self.worth),
        }
    }
}
