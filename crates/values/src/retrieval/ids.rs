//! The documents of a row: which ones are relevant, which ones were retrieved.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::json::written_scalar::WrittenScalar;

/// A document's id: a string, or a whole number as it is written. `7` and `"7"` are the same id.
pub type DocumentId<'a> = Cow<'a, str>;

/// The relevant documents and their grades: a list of ids, each of grade 1, or a map from id to
/// grade.
///
/// A grade is a finite number. Documents with a grade of 0 or less are not relevant. An id that a
/// list repeats counts once.
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
    /// A grade is NaN or infinite.
    pub struct InvalidGrade;
}

impl<'a> Relevant<'a> {
    /// Creates a set of documents of grade 1.
    pub fn listed<I: Into<DocumentId<'a>>>(ids: impl IntoIterator<Item = I>) -> Self {
        Self(ids.into_iter().map(|id| (id.into(), 1.0)).collect())
    }

    /// Creates a set of documents with grades. If an id is repeated, its last grade counts.
    ///
    /// # Errors
    /// [`InvalidGrade`] if a grade is not finite.
    pub fn graded<I: Into<DocumentId<'a>>>(
        grades: impl IntoIterator<Item = (I, f64)>,
    ) -> Result<Self, InvalidGrade> {
        let checked = |(id, grade): (I, f64)| match (id.into(), grade) {
            (id, grade) if grade.is_finite() => Ok((id, grade)),
            (id, grade) => Err(format!("expected a finite grade of `{id}`, found {grade}").into()),
        };
        let grades: Result<_, InvalidGrade> = grades.into_iter().map(checked).collect();
        grades.map(Self)
    }

    /// Returns the document's grade; 0 if it is not in the set or its grade is negative.
    pub fn grade(&self, id: &str) -> f64 {
        self.0.get(id).map_or(0.0, |grade| grade.max(0.0))
    }

    /// Returns the number of relevant documents, those with a grade above 0.
    pub fn relevant(&self) -> usize {
        self.grades().count()
    }

    /// Returns the ids of the relevant documents, sorted.
    #[doc(hidden)]
    pub fn ids(&self) -> Vec<&str> {
        let relevant = self.0.iter().filter(|(_, grade)| **grade > 0.0);
        let mut ids: Vec<&str> = relevant.map(|(id, _)| &**id).collect();
        ids.sort_unstable();
        ids
    }

    /// Iterates over the grades of the relevant documents, in arbitrary order.
    pub(super) fn grades(&self) -> impl Iterator<Item = f64> {
        self.0.values().copied().filter(|grade| *grade > 0.0)
    }
}

/// The retrieved documents, best first: a ranked list of ids, or a map from id to score.
///
/// If a list repeats an id, its first rank counts. The other ranks count as not relevant, so that
/// repeating a hit gains nothing. Scores are sorted in descending order; documents with equal
/// scores are sorted by id in descending byte order, as in `trec_eval`.
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
    /// Creates a ranking from documents, best first.
    pub fn ranked<I: Into<DocumentId<'a>>>(ids: impl IntoIterator<Item = I>) -> Self {
        Self(ids.into_iter().map(Into::into).collect())
    }

    /// Creates a ranking from documents with scores; higher is better.
    pub fn scored<I: Into<DocumentId<'a>>>(scores: impl IntoIterator<Item = (I, f64)>) -> Self {
        let mut scores: Vec<(DocumentId<'a>, f64)> = scores
            .into_iter()
            .map(|(id, score)| (id.into(), score))
            .collect();
        scores.sort_by(|(id, score), (other, than)| than.total_cmp(score).then(other.cmp(id)));
        Self(scores.into_iter().map(|(id, _)| id).collect())
    }

    /// Iterates over the ids, best first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|id| &**id)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Relevant<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(Listing { values: "grades" })? {
            Listed::Ids(ids) => Ok(Self::listed(ids.into_iter().map(|Written(id)| id))),
            Listed::Numbers(grades) => Self::graded(grades).map_err(D::Error::custom),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Retrieved<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(
            match deserializer.deserialize_any(Listing { values: "scores" })? {
                Listed::Ids(ids) => Self::ranked(ids.into_iter().map(|Written(id)| id)),
                Listed::Numbers(scores) => Self::scored(scores),
            },
        )
    }
}

/// A list of ids, or a map from ids to numbers.
struct Listing {
    values: &'static str,
}

enum Listed<'a> {
    Ids(Vec<Written<'a>>),
    Numbers(Vec<(DocumentId<'a>, f64)>),
}

impl<'de> Visitor<'de> for Listing {
    type Value = Listed<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of ids, or a map from ids to {}", self.values)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut ids = Vec::with_capacity(seq.size_hint().unwrap_or(0).min(1024));
        while let Some(id) = seq.next_element()? {
            ids.push(id);
        }
        Ok(Listed::Ids(ids))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut numbers = Vec::with_capacity(map.size_hint().unwrap_or(0).min(1024));
        while let Some((Written(id), number)) = map.next_entry()? {
            numbers.push((id, number));
        }
        Ok(Listed::Numbers(numbers))
    }
}

/// An id in its written form.
struct Written<'a>(DocumentId<'a>);

impl<'de> Deserialize<'de> for Written<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = WrittenScalar {
            expected: "an id: a string or a whole number",
            allows_bools: false,
            write_float: None,
        };
        id.read(deserializer).map(Self)
    }
}
