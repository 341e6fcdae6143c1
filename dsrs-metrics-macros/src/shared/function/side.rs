//! The two rows of a metric: gold and prediction.

use syn::Type;

use crate::shared::settings::Settings;

/// A side of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Gold,
    Pred,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Gold, Self::Pred];

    /// Returns the usual name of a parameter for a dynamic row.
    pub(crate) fn name_of(row: &str) -> &'static str {
        match row {
            "Example" => "example",
            _ => "pred",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gold => "gold",
            Self::Pred => "pred",
        }
    }

    /// Returns the name of the dynamic row type.
    pub(crate) fn dynamic(self) -> &'static str {
        match self {
            Self::Gold => "Example",
            Self::Pred => "Prediction",
        }
    }

    /// Returns the name of the alias for the user's row type.
    pub(crate) fn row_name(self) -> &'static str {
        match self {
            Self::Gold => "OwnGoldRow",
            Self::Pred => "OwnPredRow",
        }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Gold => Self::Pred,
            Self::Pred => Self::Gold,
        }
    }

    /// Returns the row type in `#[metric(gold = T, pred = T)]`.
    pub(crate) fn declared(self, attrs: &Settings) -> Option<&Type> {
        match self {
            Self::Gold => attrs.gold.as_ref(),
            Self::Pred => attrs.pred.as_ref(),
        }
    }
}
