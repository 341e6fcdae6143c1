//! What makes ratings and labels impossible to compare. Rows are named by their position, from 0;
//! whoever has read them knows where they stand.

/// Why ratings and labels cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AgreementError {
    /// A score is NaN or infinite.
    #[error("the score {score} is not a finite number")]
    ScoreNotFinite {
        /// The row's position.
        row: usize,
        /// The score.
        score: f64,
    },
    /// A label is NaN or infinite.
    #[error("the label {label} is not a finite number; leave it out where there is none")]
    LabelNotFinite {
        /// The row's position.
        row: usize,
        /// The label.
        label: f64,
    },
    /// Labels are of different kinds.
    #[error("the label `{label}` is {kind}, others are {other}; leave it out where there is none")]
    MixedLabels {
        /// The position of the first row that differs.
        row: usize,
        /// Its label.
        label: String,
        /// What it is.
        kind: &'static str,
        /// What the labels before it are.
        other: &'static str,
    },
    /// Some ratings are scores, others names of classes.
    #[error("it was given the class `{class}`, other rows were given scores")]
    MixedRatings {
        /// The position of the first row with a class.
        row: usize,
        /// The class.
        class: String,
    },
    /// The labels are text, and nothing says what they mean in numbers.
    #[error(
        "the labels are text, such as `{label}`, and there are scores to compare: say which labels are a pass (positive), or their order (scale)"
    )]
    TextLabels {
        /// The first row with a label.
        row: usize,
        /// Its label.
        label: String,
    },
    /// None of the labels that are said to be a pass occurs.
    #[error("no label is `{positive}`, which is said to be a pass; there is `{label}`")]
    NoPositive {
        /// The first row with a label.
        row: usize,
        /// What was said to be a pass.
        positive: String,
        /// The label that the row has.
        label: String,
    },
    /// A value is not on the scale that was given.
    #[error("`{value}` is not on the scale {scale}")]
    NotOnScale {
        /// The row's position.
        row: usize,
        /// The value.
        value: String,
        /// The scale.
        scale: String,
    },
    /// The threshold is NaN or infinite.
    #[error("the threshold {threshold} is not a finite number")]
    Threshold {
        /// The threshold.
        threshold: f64,
    },
}

impl AgreementError {
    /// The position of the row that shows it, if one does.
    #[must_use]
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::ScoreNotFinite { row, .. }
            | Self::LabelNotFinite { row, .. }
            | Self::MixedLabels { row, .. }
            | Self::MixedRatings { row, .. }
            | Self::TextLabels { row, .. }
            | Self::NoPositive { row, .. }
            | Self::NotOnScale { row, .. } => Some(*row),
            Self::Threshold { .. } => None,
        }
    }
}
