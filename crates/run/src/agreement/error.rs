//! Why ratings and labels cannot be compared. Rows are identified by their position from 0, which
//! the caller maps to a file and line.

use crate::messages::escape;

/// Why ratings and labels cannot be compared.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AgreementError {
    /// A score is NaN or infinite.
    #[error("expected a finite score, found {score}")]
    ScoreNotFinite {
        /// The position of the row.
        row: usize,
        /// The score.
        score: f64,
    },
    /// A label is NaN or infinite.
    #[error("expected a finite label, found {label}; omit the label if it is unknown")]
    LabelNotFinite {
        /// The position of the row.
        row: usize,
        /// The label.
        label: f64,
    },
    /// Labels are of different kinds.
    #[error(
        "expected {other} like the labels before, found `{}`, {kind}; omit the label if it is unknown",
        escape::name(label)
    )]
    MixedLabels {
        /// The position of the first row whose label is of another kind.
        row: usize,
        /// Its label.
        label: String,
        /// The kind of this label.
        kind: &'static str,
        /// The kind of the labels before.
        other: &'static str,
    },
    /// Some ratings are scores, others are classes.
    #[error(
        "expected a number, as in earlier rows, found the label `{}`",
        escape::name(class)
    )]
    MixedRatings {
        /// The position of the first row with a class.
        row: usize,
        /// The class.
        class: String,
    },
    /// The labels are names of classes without a verdict or an order, and the ratings are scores.
    #[error(
        "cannot compare scores with labels such as `{}`; name the passing labels (positive) or the order of all labels (scale)",
        escape::name(label)
    )]
    ClassLabels {
        /// The position of the first row with a label.
        row: usize,
        /// Its label.
        label: String,
    },
    /// No label is one of the labels that were set as passing.
    #[error(
        "expected a passing label (`{}`) in at least one row, found `{}`",
        escape::escaped(positive),
        escape::name(label)
    )]
    NoPositive {
        /// The position of the first row with a label.
        row: usize,
        /// The labels that were set as passing.
        positive: String,
        /// The label of the row.
        label: String,
    },
    /// A label or score is not on the scale that was set.
    #[error(
        "expected a value of the scale {}, found `{}`",
        escape::escaped(scale),
        escape::name(value)
    )]
    NotOnScale {
        /// The position of the row.
        row: usize,
        /// The value.
        value: String,
        /// The scale.
        scale: String,
    },
    /// The threshold is NaN or infinite.
    #[error("expected a finite threshold, found {threshold}")]
    Threshold {
        /// The threshold.
        threshold: f64,
    },
}

dsrs_metrics_values::debug_as_display!(AgreementError);

impl AgreementError {
    /// Returns the position of the row that caused the error, counted from 0, if one did.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::ScoreNotFinite { row, .. }
            | Self::LabelNotFinite { row, .. }
            | Self::MixedLabels { row, .. }
            | Self::MixedRatings { row, .. }
            | Self::ClassLabels { row, .. }
            | Self::NoPositive { row, .. }
            | Self::NotOnScale { row, .. } => Some(*row),
            Self::Threshold { .. } => None,
        }
    }
}
