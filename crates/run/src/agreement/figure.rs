//! A figure with its number of rows and its interval, or a note why it has none.

use serde::{Serialize, Serializer};

use crate::stats::decimals::decimals;
use crate::stats::{Interval, NotCorrectable, Proportion};

/// Asymptotic and bootstrapped intervals are unreliable on fewer rows.
pub(super) const MIN_ROWS_FOR_INTERVAL: u64 = 10;

/// A figure over rows. It serializes as `{"value", "ci95", "n"}`, with `successes` if it is a share
/// of rows, and `note` if it has one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Figure {
    /// The estimate. If it is `None`, `note` has the reason.
    pub value: Option<f64>,
    /// The 95% interval. If it is `None`, `note` has the reason.
    pub ci95: Option<Interval>,
    /// The number of rows it is computed from.
    pub n: u64,
    /// The number of rows in the share, if the figure is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successes: Option<u64>,
    /// Why the estimate or the interval is missing, or what limits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}

/// A note on a figure.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// There are fewer rows than the figure needs.
    #[error("not enough rows, it needs {needed}")]
    NotEnoughRows {
        /// How many it needs.
        needed: u64,
    },
    /// There are fewer rows than an interval needs.
    #[error("not enough rows for an interval, it needs {needed}")]
    TooFewForInterval {
        /// How many it needs.
        needed: u64,
    },
    /// All compared labels, or all compared scores, are the same.
    #[error("undefined: all {side} are the same")]
    OneValue {
        /// `labels`, `scores`, or `labels and scores`.
        side: &'static str,
    },
    /// The rows vary too little to estimate an interval.
    #[error("no interval: the rows vary too little to estimate one; add rows that differ")]
    TooLittleVariation,
    /// The labels are verdicts, but the scores have no verdict.
    #[error("undefined: the scores have no verdict; set a threshold")]
    NoVerdict,
    /// The metric has verdicts, but it is not known which labels are a pass.
    #[error("undefined: the labels are not verdicts; name the passing labels (positive)")]
    NoPositive,
    /// Scores and labels are not on one scale with few values.
    #[error("undefined: scores and labels are not on one scale of few values")]
    NoClasses,
    /// The classes have no known order.
    #[error("undefined: the classes have no order; set a scale")]
    NoOrder,
    /// The share cannot be corrected.
    #[error("{0}")]
    NotCorrectable(NotCorrectable),
    /// The estimate was outside of [0, 1] and was clamped.
    #[error(
        "the estimate {} was clamped to [0, 1]: the observed share of passes is impossible at these error rates",
        decimals(*.estimate, 4)
    )]
    Clamped {
        /// The estimate before it was clamped.
        estimate: f64,
    },
}

dsrs_metrics_values::debug_as_display!(Note);

impl Figure {
    pub(super) fn unknown(n: u64, note: Note) -> Self {
        Self {
            value: None,
            ci95: None,
            n,
            successes: None,
            note: Some(note),
        }
    }

    /// A share, with Wilson's interval.
    pub(super) fn share(share: Proportion) -> Self {
        if share.trials == 0 {
            return Self::unknown(0, Note::NotEnoughRows { needed: 1 });
        }
        Self {
            value: share.rate(),
            ci95: share.wilson(),
            n: share.trials,
            successes: Some(share.successes),
            note: None,
        }
    }

    /// An estimate whose interval needs a minimum number of rows.
    pub(super) fn estimate(
        value: f64,
        n: u64,
        interval: impl FnOnce() -> Option<Interval>,
    ) -> Self {
        let known = Self {
            value: Some(value),
            ci95: None,
            n,
            successes: None,
            note: None,
        };
        if n < MIN_ROWS_FOR_INTERVAL {
            let note = Note::TooFewForInterval {
                needed: MIN_ROWS_FOR_INTERVAL,
            };
            return Self {
                note: Some(note),
                ..known
            };
        }
        match interval() {
            Some(interval) => Self {
                ci95: Some(interval),
                ..known
            },
            None => Self {
                note: Some(Note::TooLittleVariation),
                ..known
            },
        }
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
