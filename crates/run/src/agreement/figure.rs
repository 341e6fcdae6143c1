//! A figure with its number of rows and its interval, or with a note that says why it has no interval.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::stats::decimals::decimals;
use crate::stats::{Interval, NotDefined, Proportion};

/// The minimum number of rows for asymptotic and bootstrapped intervals to be reliable.
pub(super) const MIN_ROWS_FOR_INTERVAL: u64 = 10;

/// A figure computed over rows. Serializes as `{"value", "ci95", "n"}`, plus `successes` if the figure is a share of
/// rows and `note` if it has a note.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Figure {
    /// The estimate. If it is `None`, `note` says why.
    pub value: Option<f64>,
    /// The 95% interval. If it is `None`, `note` says why.
    pub ci95: Option<Interval>,
    /// The number of rows used to compute the figure.
    pub n: u64,
    /// The number of rows that count towards the share, if the figure is a share of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successes: Option<u64>,
    /// The reason the estimate or the interval is missing, or a limitation of the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}

/// Explains why a figure's estimate or interval is missing, or states a limitation.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Note(Cow<'static, str>);

impl Note {
    pub(super) const NO_VERDICT: Self =
        Self::new("undefined: the scores have no verdict; set a threshold");
    pub(super) const NO_POSITIVE: Self =
        Self::new("undefined: the labels are not verdicts; name the passing labels (positive)");
    pub(super) const NO_CLASSES: Self =
        Self::new("undefined: the scores and labels do not share a scale with few values");
    pub(super) const NO_ORDER: Self =
        Self::new("undefined: the classes have no order; set a scale");
    const TOO_LITTLE_VARIATION: Self =
        Self::new("no interval: the rows vary too little to estimate one; add rows that differ");

    const fn new(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// There are fewer rows than the figure needs.
    pub(super) fn not_enough_rows(needed: u64) -> Self {
        Self(format!("not enough rows: needs {needed}").into())
    }

    /// All compared `labels`, `scores`, or `labels and scores` are the same.
    pub(super) fn one_value(side: &str) -> Self {
        Self(format!("undefined: all {side} are the same").into())
    }

    pub(super) fn not_correctable(why: &NotDefined) -> Self {
        Self(why.to_string().into())
    }

    /// The estimate was outside [0, 1].
    pub(super) fn clamped(estimate: f64) -> Self {
        let estimate = decimals(estimate, 4);
        Self(
            format!(
                "the estimate {estimate} was clamped to [0, 1]: the observed share of passes is impossible at these error rates"
            )
            .into(),
        )
    }
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

    /// Creates a share, with Wilson's interval.
    pub(super) fn share(share: Proportion) -> Self {
        if share.trials == 0 {
            return Self::unknown(0, Note::not_enough_rows(1));
        }
        Self {
            value: share.rate(),
            ci95: share.wilson(),
            n: share.trials,
            successes: Some(share.successes),
            note: None,
        }
    }

    /// Creates an estimate whose interval needs a minimum number of rows.
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
            let needed = MIN_ROWS_FOR_INTERVAL;
            let note = format!("not enough rows for an interval: needs {needed}");
            return Self {
                note: Some(Note(note.into())),
                ..known
            };
        }
        match interval() {
            Some(interval) => Self {
                ci95: Some(interval),
                ..known
            },
            None => Self {
                note: Some(Note::TOO_LITTLE_VARIATION),
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
