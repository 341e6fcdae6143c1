//! The formulas, computed from the grades at each rank, or from the relevance of items that are judged one by one.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::ids::{Relevant, Retrieved};

/// The gain of a grade in nDCG.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Gain {
    /// The grade itself (Järvelin and Kekäläinen 2002), as in `trec_eval`.
    #[default]
    Linear,
    /// `2^grade - 1` (Burges et al. 2005), which favours high grades. Grades above 1,000 count as
    /// 1,000.
    Exponential,
}

impl Gain {
    fn of(self, grade: f64) -> f64 {
        match self {
            Self::Linear => grade,
            Self::Exponential => grade.min(1000.0).exp2() - 1.0,
        }
    }
}

/// The grades at each rank, and the grades of the ideal ranking.
///
/// ```
/// use dsrs_metrics::retrieval::{Gain, Ranking, Relevant, Retrieved};
///
/// let relevant = Relevant::listed(["d1", "d2"]);
/// let ranking = Ranking::new(&Retrieved::ranked(["d7", "d2", "d2", "d1"]), &relevant).unwrap();
/// assert_eq!(ranking.precision_at(4), 0.5); // the second d2 does not count
/// assert_eq!(ranking.recall_at(3), 0.5);
/// assert_eq!(ranking.reciprocal_rank(None), 0.5);
/// assert_eq!(ranking.average_precision(None), (1.0 / 2.0 + 2.0 / 4.0) / 2.0);
/// assert_eq!(ranking.ndcg_at(1, Gain::Linear), 0.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// By rank; 0 if not relevant.
    grades: Vec<f64>,
    /// Grades of all relevant documents, best first.
    ideal: Vec<f64>,
}

// Ranks and counts of documents stay far below 2^53.
impl Ranking {
    /// Creates the ranking of the retrieved documents. `None` if no document is relevant, since
    /// then no ranking is better than another.
    pub fn new(retrieved: &Retrieved<'_>, relevant: &Relevant<'_>) -> Option<Self> {
        let mut ideal: Vec<f64> = relevant.grades().collect();
        if ideal.is_empty() {
            return None;
        }
        ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut seen = HashSet::new();
        let mut first = |id, grade| {
            if grade > 0.0 && seen.insert(id) {
                grade
            } else {
                0.0
            }
        };
        let grades = retrieved
            .iter()
            .map(|id| first(id, relevant.grade(id)))
            .collect();
        Some(Self { grades, ideal })
    }

    fn hits_at(&self, k: usize) -> usize {
        self.grades
            .iter()
            .take(k)
            .filter(|grade| **grade > 0.0)
            .count()
    }

    /// Iterates over the ranks of relevant documents, from 1 to `depth`.
    fn hits(&self, depth: Option<usize>) -> impl Iterator<Item = usize> {
        let ranks = self
            .grades
            .iter()
            .zip(1..)
            .take(depth.unwrap_or(usize::MAX));
        ranks
            .filter(|(grade, _)| **grade > 0.0)
            .map(|(_, rank)| rank)
    }

    /// Returns the share of the first `k` ranks that are relevant, in [0, 1]. Ranks beyond the end
    /// of the list count as not relevant.
    pub fn precision_at(&self, k: usize) -> f64 {
        self.hits_at(k) as f64 / k.max(1) as f64
    }

    /// Returns the share of the relevant documents that are among the first `k`, in [0, 1].
    pub fn recall_at(&self, k: usize) -> f64 {
        self.hits_at(k) as f64 / self.ideal.len() as f64
    }

    /// Returns `true` if a relevant document is among the first `k`; `success` in `trec_eval`.
    pub fn hit_at(&self, k: usize) -> bool {
        self.hits_at(k) > 0
    }

    /// Returns one over the rank of the first relevant document; 0 if there is none down to
    /// `depth`.
    pub fn reciprocal_rank(&self, depth: Option<usize>) -> f64 {
        self.hits(depth)
            .next()
            .map_or(0.0, |rank| 1.0 / rank as f64)
    }

    /// Returns the sum of the precisions at the rank of each relevant document down to `depth`,
    /// divided by the number of all relevant documents, in [0, 1]. Grades are ignored.
    pub fn average_precision(&self, depth: Option<usize>) -> f64 {
        let precisions = self
            .hits(depth)
            .zip(1_usize..)
            .map(|(rank, hits)| hits as f64 / rank as f64);
        precisions.fold(0.0, |sum, precision| sum + precision) / self.ideal.len() as f64
    }

    /// Returns the discounted cumulative gain of the first `k`, divided by the gain of
    /// the ideal ranking, in [0, 1]. A gain at rank `r` is divided by `log2(r + 1)`.
    pub fn ndcg_at(&self, k: usize, gain: Gain) -> f64 {
        // Gains are divided by the largest one, so that no sum overflows.
        let largest = gain.of(self.ideal[0]);
        if largest <= 0.0 {
            return 0.0;
        }
        let discounted = |grades: &[f64]| -> f64 {
            let ranked = grades.iter().take(k).zip(2_usize..);
            ranked.fold(0.0, |sum, (grade, next)| {
                sum + gain.of(*grade) / largest / (next as f64).log2()
            })
        };
        (discounted(&self.grades) / discounted(&self.ideal)).min(1.0)
    }
}

/// Returns the mean of the precisions at the ranks of the relevant items, in [0, 1]; 0 if no item is relevant.
///
/// The sum of `precision at r` over the ranks `r` of relevant items, divided by their number: the context precision of ragas.
/// Unlike [`Ranking::average_precision`](super::Ranking::average_precision) it does not know relevant items that were not retrieved.
///
/// ```
/// use dsrs_metrics::retrieval::average_precision;
///
/// assert_eq!(average_precision([true, false, true, false]), (1.0 + 2.0 / 3.0) / 2.0);
/// assert_eq!(average_precision([false, false]), 0.0);
/// ```
pub fn average_precision(relevant: impl IntoIterator<Item = bool>) -> f64 {
    let (mut hits, mut sum) = (0_u32, 0.0);
    for (rank, is_relevant) in (1_u32..).zip(relevant) {
        if is_relevant {
            hits += 1;
            sum += f64::from(hits) / f64::from(rank);
        }
    }
    if hits == 0 {
        0.0
    } else {
        sum / f64::from(hits)
    }
}
