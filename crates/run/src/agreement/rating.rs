//! The two values that are compared for each row: the metric's rating and the label.

use std::borrow::Cow;

use serde_json::Value;

use crate::contract::{Outcome, Scored};

/// A metric's or judge's result for a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Rating {
    /// The row has no score. Contains the name of the outcome, or `absent`.
    Missing(Cow<'static, str>),
    /// A score with a verdict.
    Verdict {
        /// `true` if the row passed.
        passed: bool,
        /// The score.
        score: f64,
    },
    /// A score without a verdict.
    Score(f64),
    /// The name of a class.
    Class(String),
}

/// The correct result for a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Label {
    /// The row has no label.
    Missing,
    /// `true` if the row should pass.
    Bool(bool),
    /// A number. Its scale can differ from that of the scores.
    Number(f64),
    /// The name of a class.
    Class(String),
}

impl Rating {
    #[doc(hidden)]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing(_))
    }

    /// Returns the score, if there is one.
    pub(super) fn score(&self) -> Option<f64> {
        match self {
            Self::Verdict { score, .. } | Self::Score(score) => Some(*score),
            Self::Missing(_) | Self::Class(_) => None,
        }
    }
}

impl Label {
    #[doc(hidden)]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Returns the kind of the value, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::Class(_) => "a string",
        }
    }
}

/// Writes the value without quotes, or nothing for a missing label.
impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => Ok(()),
            Self::Bool(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Class(class) => f.write_str(class),
        }
    }
}

conversions! {
    bool => Rating: |passed| Self::Verdict { passed, score: f64::from(passed) };
    f64 => Rating: |score| Self::Score(score);
    &str => Rating: |class| Self::Class(class.to_owned());
    &Scored => Rating: |scored| {
        let score = scored.score.value;
        scored.passed.map_or(Self::Score(score), |passed| Self::Verdict { passed, score })
    };
    /// A missing rating is named after its outcome.
    &Outcome => Rating: |outcome| {
        outcome.scored().map_or(Self::Missing(outcome.name().into()), Self::from)
    };
    bool => Label: |label| Self::Bool(label);
    f64 => Label: |label| Self::Number(label);
    &str => Label: |label| Self::Class(label.to_owned());
}

impl<T: Into<Rating>> From<Option<T>> for Rating {
    fn from(rating: Option<T>) -> Self {
        rating.map_or(Self::Missing("absent".into()), Into::into)
    }
}

impl<T: Into<Label>> From<Option<T>> for Label {
    fn from(label: Option<T>) -> Self {
        label.map_or(Self::Missing, Into::into)
    }
}

/// `null` is a missing label. A list or an object is returned as the error.
impl<'a> TryFrom<&'a Value> for Label {
    type Error = &'a Value;

    fn try_from(value: &'a Value) -> Result<Self, &'a Value> {
        match value {
            Value::Null => Ok(Self::Missing),
            Value::Bool(label) => Ok(Self::Bool(*label)),
            Value::Number(label) => label.as_f64().map(Self::Number).ok_or(value),
            Value::String(label) => Ok(Self::Class(label.clone())),
            Value::Array(_) | Value::Object(_) => Err(value),
        }
    }
}

/// An error returned when ratings and labels cannot be compared.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AgreementError {
    pub(super) row: Option<usize>,
    pub(super) message: String,
}

dsrs_metrics_values::debug_as_display!(AgreementError);

impl AgreementError {
    pub(super) fn at(row: usize, message: String) -> Self {
        let row = Some(row);
        Self { row, message }
    }

    /// Returns the zero-based position of the row that caused the error, or `None` if no single row did.
    pub fn row(&self) -> Option<usize> {
        self.row
    }
}
