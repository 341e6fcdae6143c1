//! What some of the rows decided: the verdicts of gates before all rows were evaluated, and the estimated means of
//! metrics that judged only a sample of the rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::messages::thousands;
use crate::stats::Interval;

/// The result of a run that can end as soon as its gates are decided.
///
/// The result contains the gates' verdicts and the number of evaluated rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EarlyResult {
    /// The maximum probability that any verdict is wrong.
    ///
    /// This is `None` if the run ends only when no remaining row could change a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The number of rows that were evaluated.
    pub evaluated: u64,
    /// The total number of rows.
    pub rows: u64,
    /// The gates and their verdicts.
    pub gates: Vec<DecidedGate>,
    /// The 95% [confidence sequence](crate::stats::confidence_sequence) of each metric's mean.
    ///
    /// This is empty unless the run ended before all rows were evaluated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ci95: BTreeMap<String, [f64; 2]>,
}

/// A gate and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecidedGate {
    /// The source text of the gate.
    pub gate: String,
    /// `true` if the gate passed.
    ///
    /// This is `None` if the gate was still undecided at the end of the run.
    pub passed: Option<bool>,
    /// The strength of the evidence for the verdict.
    ///
    /// The verdict is wrong with a probability of at most 1 / `e_value`.
    ///
    /// This field is `None` if no remaining row could change the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e_value: Option<f64>,
}

impl EarlyResult {
    /// Says how many rows decided the gates: `decided after 129 of 1,000 rows; wrong in at most 1%`.
    pub(crate) fn sentence(&self) -> String {
        let (evaluated, rows) = (thousands(self.evaluated), thousands(self.rows));
        let error = match self.alpha {
            // Rounded, because 100 times 0.07 is not 7.
            Some(alpha) => format!("wrong in at most {}%", (1e6 * alpha).round() / 1e4),
            None => "no remaining row can change it".to_owned(),
        };
        format!("decided after {evaluated} of {rows} rows; {error}")
    }
}

/// A metric's mean over all rows, estimated from a sample.
///
/// The metric judged only the rows in the sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TruthResult {
    /// The name of the metric.
    pub metric: String,
    /// The proxy metric that the sample is stratified by.
    ///
    /// The proxy has a score for every row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The method used to estimate the mean.
    pub method: TruthMethod,
    /// The number of rows that the sample was drawn from.
    ///
    /// Only rows with a prediction are counted.
    pub rows: u64,
    /// The number of rows in the sample.
    pub sampled: u64,
    /// The number of sampled rows that were scored or failed.
    pub judged: u64,
    /// The estimated mean over all rows.
    pub mean: f64,
    /// The 95% interval of the mean.
    pub ci95: [f64; 2],
    /// The effective sample size: how many judged rows would give an interval this narrow without the proxy.
    pub worth: f64,
    /// The strata of the sample.
    pub strata: Vec<TruthStratum>,
    /// The reason the proxy was not used.
    ///
    /// This is `None` if the proxy was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A stratum of the rows that a sample is drawn from.
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
    /// Weights each stratum by its fraction of all rows, with [`sampled_share`](crate::stats::sampled_share).
    PostStratified,
    /// Corrects the proxy's mean with the sample, using [`prediction_powered`](crate::stats::prediction_powered).
    PredictionPowered,
}

impl TruthMethod {
    /// Returns the method's display name.
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

    /// Formats the counts as `100 of 1,000 judged, worth 239`.
    pub(crate) fn counts(&self) -> String {
        let (judged, rows) = (thousands(self.judged), thousands(self.rows));
        match self.method {
            TruthMethod::Sample => format!("{judged} of {rows} judged"),
            _ => format!("{judged} of {rows} judged, worth {:.0}", self.worth),
        }
    }
}
