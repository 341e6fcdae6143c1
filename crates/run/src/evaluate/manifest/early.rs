//! The verdicts of gates that were decided before all rows were evaluated.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::messages::thousands;

/// The result of a run that ends once its gates are decided: the gates' verdicts and the number of rows they took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EarlyResult {
    /// The maximum probability that any verdict is wrong. `None` if the run ends only when no remaining row could
    /// change a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The number of rows that were evaluated.
    pub evaluated: u64,
    /// The total number of rows.
    pub rows: u64,
    /// The gates and their verdicts.
    pub gates: Vec<DecidedGate>,
    /// The 95% [confidence sequence](crate::stats::confidence_sequence) of each metric's mean, if the run ended before all
    /// rows were evaluated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ci95: BTreeMap<String, [f64; 2]>,
}

/// A gate and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecidedGate {
    /// The gate as written.
    pub gate: String,
    /// `true` if the gate passed; `None` if the gate was still undecided at the end of the run.
    pub passed: Option<bool>,
    /// The evidence for the verdict: 1 / `e_value` bounds the probability that the verdict is wrong. `None` if no
    /// remaining row could change the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e_value: Option<f64>,
}

impl EarlyResult {
    /// Returns how many rows decided the gates: `decided after 129 of 1,000 rows; wrong in at most 1%`.
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
