//! What a component without a score does to the whole.

use serde::{Deserialize, Serialize};

/// What a metric that fails, abstains or panics does to the score that it should have been part of.
/// It never counts as a pass.
///
/// The same holds for rollouts of a row: one without a score leaves the row without a score
/// ([`Fail`](Self::Fail)), or is left out and counted ([`Skip`](Self::Skip)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMissing {
    /// There is no score, and the row says which metric is to blame.
    #[default]
    Fail,
    /// The mean is over the other metrics; there is no score if none is left.
    Skip,
    /// It counts as the worst: the low end of its range (of a part that a composite inverts, the high end),
    /// or 0 where it declares none.
    Zero,
}
