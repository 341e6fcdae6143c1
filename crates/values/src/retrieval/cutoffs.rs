//! Ranks at which rankings are cut off.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// One or more distinct ranks, each at least 1. The first is the headline.
///
/// On the command line a number or a list: `ndcg.k=10`, `ndcg.k=[10,1,5]`.
///
/// ```
/// use dsrs_metrics::retrieval::Cutoffs;
///
/// assert_eq!(Cutoffs::new([10, 5])?.iter().collect::<Vec<_>>(), [10, 5]);
/// assert_eq!(
///     Cutoffs::new([10, 0]).unwrap_err().to_string(),
///     "expected a cutoff rank of 1 or more, found 0"
/// );
/// # Ok::<(), dsrs_metrics::retrieval::InvalidCutoffs>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "OneOrMany", into = "Vec<usize>")]
pub struct Cutoffs(Vec<NonZeroUsize>);

crate::message_errors! {
    /// Invalid cutoff ranks: none, 0, or a duplicate.
    pub struct InvalidCutoffs;
}

impl Cutoffs {
    /// Creates cutoffs at these ranks.
    ///
    /// # Errors
    /// [`InvalidCutoffs`] if the list is empty, or a rank is 0 or a duplicate.
    pub fn new(ranks: impl IntoIterator<Item = usize>) -> Result<Self, InvalidCutoffs> {
        let mut cutoffs = Vec::new();
        for rank in ranks {
            let rank =
                NonZeroUsize::new(rank).ok_or("expected a cutoff rank of 1 or more, found 0")?;
            if cutoffs.contains(&rank) {
                return Err(format!("duplicate cutoff rank {rank}; remove one").into());
            }
            cutoffs.push(rank);
        }
        match cutoffs.is_empty() {
            true => Err(
                "expected at least one cutoff rank, found none; write for example [1, 5, 10]"
                    .into(),
            ),
            false => Ok(Self(cutoffs)),
        }
    }

    /// Iterates over the ranks, the headline's first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> {
        self.0.iter().map(|rank| rank.get())
    }
}

/// 10, 1, 3, 5. The headline is at 10.
impl Default for Cutoffs {
    fn default() -> Self {
        Self(
            [10, 1, 3, 5]
                .into_iter()
                .filter_map(NonZeroUsize::new)
                .collect(),
        )
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a rank or a list of ranks, each 1 or more")]
enum OneOrMany {
    One(usize),
    Many(Vec<usize>),
}

impl TryFrom<OneOrMany> for Cutoffs {
    type Error = InvalidCutoffs;

    fn try_from(ranks: OneOrMany) -> Result<Self, InvalidCutoffs> {
        match ranks {
            OneOrMany::One(rank) => Self::new([rank]),
            OneOrMany::Many(ranks) => Self::new(ranks),
        }
    }
}

impl From<Cutoffs> for Vec<usize> {
    fn from(cutoffs: Cutoffs) -> Self {
        cutoffs.iter().collect()
    }
}
