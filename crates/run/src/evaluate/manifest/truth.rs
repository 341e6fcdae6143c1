//! What a metric on a sample of the rows says about all of them.

use serde::{Deserialize, Serialize};

use crate::messages::thousands;
use crate::stats::Interval;

/// The mean of a metric that judged a sample of the rows, estimated for all rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TruthResult {
    /// The metric.
    pub metric: String,
    /// The metric that the sample is stratified by. It has a score for every row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How the mean is estimated.
    pub method: TruthMethod,
    /// The number of rows that the sample is taken from: those with a prediction.
    pub rows: u64,
    /// The number of rows in the sample.
    pub sampled: u64,
    /// The number of sampled rows that have a score or failed.
    pub judged: u64,
    /// The estimated mean of all rows.
    pub mean: f64,
    /// The 95% interval of the mean of these rows.
    pub ci95: [f64; 2],
    /// The number of rows that would have to be judged to get an interval this narrow without a proxy.
    pub worth: f64,
    /// The strata of the sample.
    pub strata: Vec<TruthStratum>,
    /// Why the proxy is not used.
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

/// How the mean of all rows is estimated from a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TruthMethod {
    /// By the sample alone.
    #[default]
    Sample,
    /// By the share of each stratum, with [`sampled_share`](crate::stats::sampled_share).
    PostStratified,
    /// With [`prediction_powered`](crate::stats::prediction_powered).
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
