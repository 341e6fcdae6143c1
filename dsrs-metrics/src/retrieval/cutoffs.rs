//! At which ranks a ranking is cut off to be scored.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// One or more ranks, each 1 or more, none twice. The first is the headline.
///
/// On a command line a number or a list: `ndcg.k=10`, `ndcg.k=[10,1,5]`.
///
/// ```
/// use dsrs_metrics::retrieval::Cutoffs;
///
/// assert_eq!(Cutoffs::new([10, 5])?.iter().collect::<Vec<_>>(), [10, 5]);
/// assert_eq!(
///     Cutoffs::new([10, 0]).unwrap_err().to_string(),
///     "a ranking cannot be cut off at rank 0: ranks start at 1"
/// );
/// # Ok::<(), dsrs_metrics::retrieval::InvalidCutoffs>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "OneOrMany", into = "Vec<usize>")]
pub struct Cutoffs(Vec<NonZeroUsize>);

/// Ranks at which no ranking can be cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCutoffs {
    /// There is none.
    #[error("no rank to cut the ranking off at: give at least one, as in [1, 5, 10]")]
    Empty,
    /// Rank 0.
    #[error("a ranking cannot be cut off at rank 0: ranks start at 1")]
    Zero,
    /// A rank that is there already.
    #[error("the ranking is cut off at rank {0} twice")]
    Duplicate(usize),
}

impl Cutoffs {
    /// These ranks.
    ///
    /// # Errors
    /// [`InvalidCutoffs`] if there is none, or one is 0 or there twice.
    pub fn new(ranks: impl IntoIterator<Item = usize>) -> Result<Self, InvalidCutoffs> {
        let mut cutoffs = Vec::new();
        for rank in ranks {
            let rank = NonZeroUsize::new(rank).ok_or(InvalidCutoffs::Zero)?;
            if cutoffs.contains(&rank) {
                return Err(InvalidCutoffs::Duplicate(rank.get()));
            }
            cutoffs.push(rank);
        }
        if cutoffs.is_empty() { Err(InvalidCutoffs::Empty) } else { Ok(Self(cutoffs)) }
    }

    /// One rank.
    #[must_use]
    pub fn at(rank: NonZeroUsize) -> Self {
        Self(vec![rank])
    }

    /// The ranks, the headline's first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> {
        self.0.iter().map(|rank| rank.get())
    }
}

/// 10, 1, 3, 5: the headline is at 10.
impl Default for Cutoffs {
    fn default() -> Self {
        Self([10, 1, 3, 5].into_iter().filter_map(NonZeroUsize::new).collect())
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
