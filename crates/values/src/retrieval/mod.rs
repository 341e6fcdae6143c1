//! Metrics for ranked lists of retrieved documents.
//!
//! The metrics are computed from the relevant documents and their grades.
//!
//! All metrics are methods of [`Ranking`]. They are defined as in `trec_eval` (`P`, `recall`, `success`, `recip_rank`,
//! `map_cut`, `ndcg_cut`).
//!
//! For metrics that score rows, see `dsrs_metrics::metrics::ndcg`.
//!
//! The file is long because each measure is documented with its formula and an example.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use crate::json::read::WrittenScalar;

/// The ranks at which a retrieval metric is computed.
///
/// The list has at least one rank. All ranks are distinct and at least 1. The metric's headline score uses the first
/// rank.
///
/// On the command line, write a number or a list: `ndcg.k=10`, `ndcg.k=[10,1,5]`.
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
#[serde(try_from = "OneOrMany")]
pub struct Cutoffs(Vec<usize>);

crate::message_errors! {
    /// The error returned when cutoff ranks are invalid.
    ///
    /// For example, there are no ranks, a rank is 0, or a rank is repeated.
    pub struct InvalidCutoffs;
}

impl Cutoffs {
    /// Creates cutoffs from a list of ranks.
    ///
    /// # Errors
    /// Returns [`InvalidCutoffs`] if there are no ranks, if a rank is 0, or if a rank is repeated.
    pub fn new(ranks: impl IntoIterator<Item = usize>) -> Result<Self, InvalidCutoffs> {
        let mut cutoffs = Vec::new();
        for rank in ranks {
            if rank == 0 {
                return Err("expected a cutoff rank of 1 or more, found 0".into());
            }
            if cutoffs.contains(&rank) {
                return Err(format!("duplicate cutoff rank {rank}; remove one").into());
            }
            cutoffs.push(rank);
        }
        match cutoffs.is_empty() {
            true => Err(
                "expected at least one cutoff rank, found none; write, for example, [1, 5, 10]"
                    .into(),
            ),
            false => Ok(Self(cutoffs)),
        }
    }

    /// Returns an iterator over the ranks.
    ///
    /// The headline score uses the first rank.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> {
        self.0.iter().copied()
    }
}

/// The ranks 10, 1, 3 and 5, with 10 as the headline rank.
impl Default for Cutoffs {
    fn default() -> Self {
        Self(vec![10, 1, 3, 5])
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

/// The id of a document.
///
/// An id is a string or a whole number. Numbers are kept as text, so `7` and `"7"` are the same id.
pub type DocumentId<'a> = Cow<'a, str>;

/// The documents that are relevant to a query, with their grades.
///
/// The documents are read from a list of ids, each with grade 1, or from a map from id to grade.
///
/// A document is relevant if its grade is above 0. Grades are finite numbers. If a list repeats an id, the document
/// counts once.
///
/// ```
/// use dsrs_metrics::retrieval::Relevant;
///
/// let graded: Relevant<'_> = serde_json::from_str(r#"{"d1": 3, "d2": 0}"#)?;
/// let listed: Relevant<'_> = serde_json::from_str(r#"["d1", 7, "d1"]"#)?;
/// assert_eq!((graded.grade("d1"), graded.relevant()), (3.0, 1));
/// assert_eq!((listed.grade("7"), listed.relevant()), (1.0, 2));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relevant<'a>(HashMap<DocumentId<'a>, f64>);

crate::message_errors! {
    /// The error returned when a grade is NaN or infinite.
    pub struct InvalidGrade;
}

impl<'a> Relevant<'a> {
    /// Creates a set of relevant documents from a list of ids, each with grade 1.
    pub fn listed<I: Into<DocumentId<'a>>>(ids: impl IntoIterator<Item = I>) -> Self {
        Self(ids.into_iter().map(|id| (id.into(), 1.0)).collect())
    }

    /// Creates a set of relevant documents from their ids and grades.
    ///
    /// If an id is repeated, its last grade is used.
    ///
    /// # Errors
    /// Returns [`InvalidGrade`] if a grade is not finite.
    pub fn graded<I: Into<DocumentId<'a>>>(
        grades: impl IntoIterator<Item = (I, f64)>,
    ) -> Result<Self, InvalidGrade> {
        let checked = |(id, grade): (I, f64)| match (id.into(), grade) {
            (id, grade) if grade.is_finite() => Ok((id, grade)),
            (id, grade) => Err(format!("expected a finite grade for `{id}`, found {grade}").into()),
        };
        let grades: Result<_, InvalidGrade> = grades.into_iter().map(checked).collect();
        grades.map(Self)
    }

    /// Returns the grade of a document, or 0 if the document is not relevant.
    pub fn grade(&self, id: &str) -> f64 {
        self.0.get(id).map_or(0.0, |grade| grade.max(0.0))
    }

    /// Returns the number of relevant documents.
    ///
    /// A document is relevant if its grade is above 0.
    pub fn relevant(&self) -> usize {
        self.grades().count()
    }

    /// Returns the ids of the relevant documents in sorted order.
    #[doc(hidden)]
    pub fn ids(&self) -> Vec<&str> {
        let relevant = self.0.iter().filter(|(_, grade)| **grade > 0.0);
        let mut ids: Vec<&str> = relevant.map(|(id, _)| &**id).collect();
        ids.sort_unstable();
        ids
    }

    /// Iterates over the grades of the relevant documents, in arbitrary order.
    fn grades(&self) -> impl Iterator<Item = f64> {
        self.0.values().copied().filter(|grade| *grade > 0.0)
    }
}

/// The documents retrieved for a query, with the best one first.
///
/// The documents are read from a ranked list of ids, or from a map from id to score.
///
/// If a list repeats an id, only its first rank counts. Documents with scores are sorted by score, highest first. If
/// scores are equal, documents are sorted by id in descending byte order, as in `trec_eval`.
///
/// ```
/// use dsrs_metrics::retrieval::Retrieved;
///
/// let scored: Retrieved<'_> = serde_json::from_str(r#"{"a": 0.5, "b": 0.5, "c": 2}"#)?;
/// assert_eq!(scored, Retrieved::ranked(["c", "b", "a"]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retrieved<'a>(Vec<DocumentId<'a>>);

impl<'a> Retrieved<'a> {
    /// Creates a ranking from document ids, with the best document first.
    pub fn ranked<I: Into<DocumentId<'a>>>(ids: impl IntoIterator<Item = I>) -> Self {
        Self(ids.into_iter().map(Into::into).collect())
    }

    /// Creates a ranking from document ids and scores.
    ///
    /// Documents are sorted by score, highest first.
    pub fn scored<I: Into<DocumentId<'a>>>(scores: impl IntoIterator<Item = (I, f64)>) -> Self {
        let mut scores: Vec<(DocumentId<'a>, f64)> = scores
            .into_iter()
            .map(|(id, score)| (id.into(), score))
            .collect();
        scores.sort_by(|(id, score), (other, than)| than.total_cmp(score).then(other.cmp(id)));
        Self(scores.into_iter().map(|(id, _)| id).collect())
    }

    /// Returns an iterator over the ids, with the best document first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|id| &**id)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Relevant<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Listed::deserialize(deserializer)? {
            Listed::Ids(ids) => Ok(Self::listed(ids)),
            Listed::Numbers(grades) => Self::graded(grades).map_err(D::Error::custom),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Retrieved<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Listed::deserialize(deserializer)? {
            Listed::Ids(ids) => Self::ranked(ids),
            Listed::Numbers(scores) => Self::scored(scores),
        })
    }
}

/// A list of ids, or a map from ids to grades or scores.
#[derive(Deserialize)]
#[serde(
    untagged,
    bound(deserialize = "'de: 'a"),
    expecting = "expected a list or a map, and as an id: a string or a whole number"
)]
enum Listed<'a> {
    Ids(Vec<Written<'a>>),
    Numbers(HashMap<Written<'a>, f64>),
}

/// An id as written.
#[derive(PartialEq, Eq, Hash)]
struct Written<'a>(DocumentId<'a>);

impl<'a> From<Written<'a>> for DocumentId<'a> {
    fn from(Written(id): Written<'a>) -> Self {
        id
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Written<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = WrittenScalar {
            expected: "an id: a string or a whole number",
            allows_bools: false,
            write_float: None,
        };
        id.read(deserializer).map(Self)
    }
}

/// How nDCG computes a document's gain from its grade.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Gain {
    /// The gain is the grade itself, as in `trec_eval` (Järvelin and Kekäläinen 2002).
    #[default]
    Linear,
    /// The gain is `2^grade - 1`, which favours high grades (Burges et al. 2005).
    ///
    /// Grades above 1,000 count as 1,000.
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

/// A ranked list of documents whose grades are known.
///
/// A ranking holds the grade of the document at each rank, and the grades of the ideal ranking.
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
    /// The grade at each rank, or 0 if the document is not relevant.
    grades: Vec<f64>,
    /// The grades of all relevant documents, best first.
    ideal: Vec<f64>,
}

// Ranks and document counts stay far below 2^53.
impl Ranking {
    /// Creates a ranking from the retrieved documents and the relevant ones.
    ///
    /// Returns `None` if no document is relevant, because then all rankings are equally good.
    pub fn new(retrieved: &Retrieved<'_>, relevant: &Relevant<'_>) -> Option<Self> {
        let mut ideal: Vec<f64> = relevant.grades().collect();
        if ideal.is_empty() {
            return None;
        }
        ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut seen = HashSet::new();
        let grades = retrieved.iter().map(|id| match relevant.grade(id) {
            grade if grade > 0.0 && seen.insert(id) => grade,
            _ => 0.0,
        });
        let grades = grades.collect();
        Some(Self { grades, ideal })
    }

    fn hits_at(&self, k: usize) -> usize {
        self.hits(Some(k)).count()
    }

    /// Iterates over the ranks of relevant documents, from 1 to `depth`.
    fn hits(&self, depth: Option<usize>) -> impl Iterator<Item = usize> {
        let ranks = self.grades.iter().zip(1..);
        let ranks = ranks.take(depth.unwrap_or(usize::MAX));
        ranks.filter_map(|(grade, rank)| (*grade > 0.0).then_some(rank))
    }

    /// Returns the fraction of the first `k` documents that are relevant, in [0, 1].
    ///
    /// Ranks beyond the end of the list count as not relevant.
    pub fn precision_at(&self, k: usize) -> f64 {
        self.hits_at(k) as f64 / k.max(1) as f64
    }

    /// Returns the fraction of relevant documents that are among the first `k`, in [0, 1].
    pub fn recall_at(&self, k: usize) -> f64 {
        self.hits_at(k) as f64 / self.ideal.len() as f64
    }

    /// Returns `true` if a relevant document is among the first `k` documents.
    ///
    /// `trec_eval` calls this metric `success`.
    pub fn hit_at(&self, k: usize) -> bool {
        self.hits_at(k) > 0
    }

    /// Returns one divided by the rank of the first relevant document.
    ///
    /// Returns 0 if none of the first `depth` documents is relevant.
    pub fn reciprocal_rank(&self, depth: Option<usize>) -> f64 {
        let first = self.hits(depth).next();
        first.map_or(0.0, |rank| 1.0 / rank as f64)
    }

    /// Returns the average precision of the first `depth` documents, in [0, 1].
    ///
    /// This is the sum of the precisions at the ranks of the relevant documents, divided by the total number of
    /// relevant documents. Grades are ignored.
    pub fn average_precision(&self, depth: Option<usize>) -> f64 {
        let hits = self.hits(depth).zip(1_usize..);
        hits.fold(0.0, |sum, (rank, hits)| sum + hits as f64 / rank as f64)
            / self.ideal.len() as f64
    }

    /// Returns the normalized discounted cumulative gain of the first `k` documents, in [0, 1].
    ///
    /// This metric is known as nDCG. It is the discounted cumulative gain of the documents, divided by that of the
    /// ideal ranking. A gain at rank `r` is divided by `log2(r + 1)`.
    pub fn ndcg_at(&self, k: usize, gain: Gain) -> f64 {
        // Gains are divided by the largest one, so no sum overflows.
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

/// Returns the mean precision at the ranks of the relevant items, in [0, 1].
///
/// Returns 0 if no item is relevant.
///
/// This is ragas's context precision: the sum of `precision at r` over the ranks `r` of the relevant items, divided by
/// the number of relevant items. Unlike [`Ranking::average_precision`], it ignores relevant items that were not
/// retrieved.
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
    sum / f64::from(hits.max(1))
}
