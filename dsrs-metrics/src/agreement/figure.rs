//! A figure with its denominator and interval, or why it has none.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::stats::{Interval, NotCorrectable, Proportion};

/// Below as many rows an asymptotic or bootstrapped interval promises more than it can hold.
pub(super) const ROWS_FOR_INTERVAL: u64 = 10;

/// A figure over rows. Serializes as `{"value", "ci95", "n"}`, with `successes` for a share of rows and
/// `note` where there is one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// The estimate; `None` if there is none, and then `note` says why.
    pub value: Option<f64>,
    /// The 95% interval; `None` if it is not known, and then `note` says why.
    pub ci95: Option<Interval>,
    /// How many rows it stands on.
    pub n: u64,
    /// Of these, how many make up the share, if it is one.
    pub successes: Option<u64>,
    /// What is missing, or must be known to read the figure.
    pub note: Option<Note>,
}

/// What must be known of a figure.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// There are fewer rows than the figure needs.
    NotEnoughRows {
        /// How many it needs.
        needed: u64,
    },
    /// There are fewer rows than an interval needs.
    TooFewForInterval {
        /// How many it needs.
        needed: u64,
    },
    /// All compared labels, or all that was given, are the same.
    OneValue {
        /// `labels` or `scores`.
        side: &'static str,
    },
    /// No row differs from another in a way from which an interval could be learnt.
    NothingToLearnFrom,
    /// The scores come without verdicts, and the labels are verdicts.
    NoVerdict,
    /// There are verdicts, but which labels are a pass is not known.
    NoPositive,
    /// Scores and labels are not on one scale with few values.
    NoClasses,
    /// The classes have no known order.
    NoOrder,
    /// There is no correction.
    NotCorrectable(NotCorrectable),
    /// The estimate was outside [0, 1].
    Cut {
        /// The estimate.
        estimate: f64,
    },
}

impl Figure {
    pub(super) fn unknown(n: u64, note: Note) -> Self {
        Self { value: None, ci95: None, n, successes: None, note: Some(note) }
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

    /// An estimate whose interval needs rows.
    pub(super) fn estimate(
        value: f64,
        n: u64,
        interval: impl FnOnce() -> Option<Interval>,
    ) -> Self {
        let known = Self { value: Some(value), ci95: None, n, successes: None, note: None };
        if n < ROWS_FOR_INTERVAL {
            let note = Note::TooFewForInterval { needed: ROWS_FOR_INTERVAL };
            return Self { note: Some(note), ..known };
        }
        match interval() {
            Some(interval) => Self { ci95: Some(interval), ..known },
            None => Self { note: Some(Note::NothingToLearnFrom), ..known },
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEnoughRows { needed } => write!(f, "not enough rows, it needs {needed}"),
            Self::TooFewForInterval { needed } => {
                write!(f, "not enough rows for an interval, it needs {needed}")
            }
            Self::OneValue { side } => write!(f, "undefined: all {side} are the same"),
            Self::NothingToLearnFrom => f.write_str(
                "no interval: these rows vary too little to learn one from, add rows that differ",
            ),
            Self::NoVerdict => f.write_str(
                "undefined: the scores have no verdict, say with a threshold what passes",
            ),
            Self::NoPositive => f.write_str(
                "undefined: these labels are no verdicts, say which are a pass (positive)",
            ),
            Self::NoClasses => {
                f.write_str("undefined: scores and labels are not on one scale of few values")
            }
            Self::NoOrder => {
                f.write_str("undefined: the classes have no order, give it as a scale")
            }
            Self::NotCorrectable(why) => why.fmt(f),
            Self::Cut { estimate } => write!(
                f,
                "the estimate {estimate:.4} was cut: by their error rates, these verdicts cannot be so many or so few"
            ),
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let optional = usize::from(self.successes.is_some()) + usize::from(self.note.is_some());
        let mut figure = serializer.serialize_struct("Figure", 3 + optional)?;
        figure.serialize_field("value", &self.value)?;
        figure.serialize_field("ci95", &self.ci95)?;
        figure.serialize_field("n", &self.n)?;
        match self.successes {
            Some(successes) => figure.serialize_field("successes", &successes)?,
            None => figure.skip_field("successes")?,
        }
        match &self.note {
            Some(note) => figure.serialize_field("note", &note.to_string())?,
            None => figure.skip_field("note")?,
        }
        figure.end()
    }
}
