//! A row of a source before it is evaluated: its example, its prediction if that is given, and what few rows have besides.

use std::sync::Arc;

use crate::core::outcome::Outcome;
use crate::core::rows::dynamic::Fields;
use crate::core::rows::pair::{Origin, Pair};

/// A row before it is scored.
pub(super) struct Input<G, P> {
    /// The id, or `None` to use the row's position.
    pub(super) id: Option<String>,
    pub(super) gold: Gold<G>,
    /// The prediction, or `None` if the program has to make it.
    pub(super) pred: Option<P>,
    /// Boxed, since a row is moved several times, and most have none.
    extra: Option<Box<Extra<P>>>,
}

/// Properties that most rows lack.
struct Extra<P> {
    attributes: Fields,
    origin: Option<Origin>,
    evaluated: Option<Evaluated>,
    /// Several predictions for one example.
    rollouts: Option<Vec<P>>,
}

impl<P> Default for Extra<P> {
    fn default() -> Self {
        Self { attributes: Fields::default(), origin: None, evaluated: None, rollouts: None }
    }
}

/// The outcomes of a row that was evaluated as it was decoded, and the backtraces of panics.
#[derive(Default)]
pub(super) struct Evaluated {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) traceback: Option<String>,
}

/// The labelled example of a row, shared with a list or its own.
pub(super) enum Gold<G> {
    Shared(Arc<G>),
    Own(G),
}

impl<G> Gold<G> {
    pub(super) fn get(&self) -> &G {
        match self {
            Self::Shared(gold) => gold,
            Self::Own(gold) => gold,
        }
    }

    pub(super) fn into_arc(self) -> Arc<G> {
        match self {
            Self::Shared(gold) => gold,
            Self::Own(gold) => Arc::new(gold),
        }
    }
}

impl<G, P> Input<G, P> {
    pub(super) fn to_predict(gold: Arc<G>) -> Self {
        Self { id: None, gold: Gold::Shared(gold), pred: None, extra: None }
    }

    /// A row with several predictions.
    pub(super) fn with_rollouts(gold: G, rollouts: Vec<P>) -> Self {
        let extra = Some(Box::new(Extra { rollouts: Some(rollouts), ..Extra::default() }));
        Self { id: None, gold: Gold::Own(gold), pred: None, extra }
    }

    pub(super) fn take_rollouts(&mut self) -> Option<Vec<P>> {
        self.extra.as_mut()?.rollouts.take()
    }

    /// A row of a devset that was read from a file.
    pub(super) fn listed(row: &ListedRow<G>) -> Self {
        let extra = row.in_file.as_ref().map(|row| {
            let (attributes, origin) = (row.attributes.clone(), row.origin.clone());
            Box::new(Extra { attributes, origin, ..Extra::default() })
        });
        Self { id: row.id().map(str::to_owned), extra, ..Self::to_predict(Arc::clone(&row.gold)) }
    }

    pub(super) fn origin(&self) -> Option<&Origin> {
        self.extra.as_ref().and_then(|extra| extra.origin.as_ref())
    }

    /// Returns the other fields and the origin of the row.
    pub(super) fn take_extra(&mut self) -> (Fields, Option<Origin>) {
        let Extra { attributes, origin, .. } =
            self.extra.take().map(|extra| *extra).unwrap_or_default();
        (attributes, origin)
    }

    /// Sets the outcomes of a row that is evaluated already.
    pub(super) fn evaluated(mut self, evaluated: Option<Evaluated>) -> Self {
        if evaluated.is_some() {
            self.extra.get_or_insert_default().evaluated = evaluated;
        }
        self
    }

    pub(super) fn take_evaluated(&mut self) -> Option<Evaluated> {
        self.extra.as_mut()?.evaluated.take()
    }
}

impl<G, P> From<Pair<G, P>> for Input<G, P> {
    fn from(pair: Pair<G, P>) -> Self {
        let Pair { id, gold, pred, attributes, origin, .. } = pair;
        let has_extra = !attributes.is_empty() || origin.is_some();
        let extra = has_extra.then(|| Box::new(Extra { attributes, origin, ..Extra::default() }));
        Self { id: Some(id), gold: Gold::Own(gold), pred: Some(pred), extra }
    }
}

/// One row of a devset that is a list.
pub(super) struct ListedRow<G> {
    pub(super) gold: Arc<G>,
    /// The id, attributes and origin of a row that was read from a file.
    pub(super) in_file: Option<Box<RowInFile>>,
}

/// The id, the other fields and the place of a row in a file.
pub(super) struct RowInFile {
    pub(super) id: String,
    pub(super) attributes: Fields,
    pub(super) origin: Option<Origin>,
}

impl<G> ListedRow<G> {
    pub(super) fn id(&self) -> Option<&str> {
        self.in_file.as_ref().map(|row| &*row.id)
    }
}
