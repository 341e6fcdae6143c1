//! A row of a source before it is evaluated.

use std::sync::Arc;

use derive_where::derive_where;

use crate::contract::{Example, Fields, Origin, Pair};

/// A row before it is evaluated.
pub(crate) enum Input<G, P> {
    /// A row with its prediction. Boxed, because a row passes through several queues.
    Predicted(Box<Pair<G, P>>),
    /// A row without a prediction, to run the program on.
    ToPredict(ListedRow<G>),
    /// An example with several predictions.
    Rollouts(ListedRow<G>, Vec<P>),
}

/// An example without a prediction, which a list may share.
#[derive_where(Clone)]
pub(crate) struct ListedRow<G> {
    pub(crate) gold: Arc<G>,
    /// `None` if the row is identified by its position.
    pub(crate) details: Option<Box<RowDetails>>,
}

/// The id of a row, and for a row of a file its other fields and its location.
#[derive(Clone, Default)]
pub(crate) struct RowDetails {
    pub(crate) id: String,
    /// `true` if the row has no id and this is its position.
    pub(crate) is_positional: bool,
    pub(crate) attributes: Fields,
    pub(crate) origin: Option<Origin>,
}

impl<P> Input<Example, P> {
    /// Returns a row with the predictions of its samples; none if it has no prediction.
    pub(crate) fn of_samples(pair: Pair, preds: Vec<P>) -> Self {
        let details = RowDetails {
            id: pair.id,
            is_positional: pair.is_positional,
            attributes: pair.attributes,
            origin: pair.origin,
        };
        let details = Some(Box::new(details));
        let gold = Arc::new(pair.gold);
        let row = ListedRow { gold, details };
        match preds.is_empty() {
            true => Self::ToPredict(row),
            false => Self::Rollouts(row, preds),
        }
    }
}

impl<G, P> Input<G, P> {
    pub(crate) fn to_predict(gold: Arc<G>) -> Self {
        Self::ToPredict(ListedRow {
            gold,
            details: None,
        })
    }

    pub(crate) fn rollouts(gold: Arc<G>, preds: Vec<P>) -> Self {
        let details = None;
        Self::Rollouts(ListedRow { gold, details }, preds)
    }

    pub(crate) fn take_rollouts(&mut self) -> Option<Vec<P>> {
        match self {
            Self::Rollouts(_, preds) => Some(std::mem::take(preds)),
            _ => None,
        }
    }

    /// Returns `true` if the row has no id of its own.
    pub(crate) fn is_positional(&self) -> bool {
        match self {
            Self::Predicted(row) => row.is_positional,
            Self::ToPredict(row) | Self::Rollouts(row, _) => row.is_positional(),
        }
    }

    /// Returns the id, unless it is the row's position.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::Predicted(pair) => Some(&pair.id),
            Self::ToPredict(row) | Self::Rollouts(row, _) => row.id(),
        }
    }

    pub(crate) fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Predicted(pair) => pair.origin.as_ref(),
            Self::ToPredict(row) | Self::Rollouts(row, _) => row.origin(),
        }
    }
}

impl<G> ListedRow<G> {
    /// Returns `true` if the row has no id of its own.
    pub(crate) fn is_positional(&self) -> bool {
        self.details
            .as_ref()
            .is_none_or(|details| details.is_positional)
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.details.as_ref().map(|row| &*row.id)
    }

    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.details.as_ref()?.origin.as_ref()
    }

    /// Returns the row with an id computed from its example.
    pub(crate) fn with_id(mut self, id: impl FnOnce(&G) -> String) -> Self {
        let details = self.details.get_or_insert_default();
        (details.id, details.is_positional) = (id(&self.gold), false);
        self
    }
}
