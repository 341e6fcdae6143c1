//! Validated embedding vectors with their cost, and the cosine of two vectors.

use crate::{LmError, LmErrorKind, Usage};
#[cfg(feature = "lm")]
use crate::{LmRequest, Sampling};

/// The embedding vectors for a list of strings.
///
/// Each string has one vector. All vectors have the same length, and all numbers are finite.
///
/// ```
/// use dsrs_metrics::lm::Embeddings;
///
/// let embeddings = Embeddings::new("local:example", 2, vec![vec![1.0, 0.0], vec![3.0, 4.0]])?;
/// assert_eq!(embeddings.cosine(0, 1), Some(0.6));
/// # Ok::<(), dsrs_metrics::lm::LmError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    vectors: Vec<Vec<f32>>,
    usage: Usage,
    cost_msats: Option<u64>,
}

impl Embeddings {
    /// Creates the result of a call to an embedding model.
    ///
    /// `id` is the name of the model, and `texts` is the number of strings that were passed to it.
    ///
    /// ```
    /// use dsrs_metrics::lm::Embeddings;
    ///
    /// let error = |texts: usize, vectors: &[&[f32]]| {
    ///     let vectors = vectors.iter().map(|vector| vector.to_vec()).collect();
    ///     Embeddings::new("local:example", texts, vectors).unwrap_err().to_string()
    /// };
    /// assert_eq!(
    ///     error(2, &[&[1.0]]),
    ///     "local:example: cannot parse the provider's response: expected 2 vectors, found 1"
    /// );
    /// assert!(error(2, &[&[1.0], &[1.0, 2.0]]).ends_with("expected vectors of the same length, found 1 and 2 numbers"));
    /// assert!(error(1, &[&[0.5, f32::NAN]]).ends_with("expected finite numbers, found NaN at position 2 of vector 1"));
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::InvalidReply`] if the number of vectors differs from the number of strings. Also returns
    /// this error if vectors are empty or differ in length, or if a number is NaN or infinite.
    pub fn new(id: &str, texts: usize, vectors: Vec<Vec<f32>>) -> Result<Self, LmError> {
        match reason_against(texts, &vectors) {
            Some(reason) => Err(LmError::new(id, LmErrorKind::InvalidReply(reason))),
            None => Ok(Self {
                vectors,
                usage: Usage::default(),
                cost_msats: Some(0),
            }),
        }
    }

    setters! {
        /// Sets the token usage.
        ///
        /// ```
        /// use dsrs_metrics::lm::{Embeddings, Usage};
        ///
        /// let embeddings = Embeddings::new("local:example", 1, vec![vec![1.0]])?;
        /// assert_eq!(embeddings.with_usage(Usage::new(7, 0)).usage().total(), 7);
        /// # Ok::<(), dsrs_metrics::lm::LmError>(())
        /// ```
        pub fn with_usage(usage: Usage) => usage = usage;

        /// Sets the cost in msat.
        ///
        /// Pass `None` if the cost is unknown.
        ///
        /// ```
        /// use dsrs_metrics::lm::Embeddings;
        ///
        /// let embeddings = Embeddings::new("local:example", 1, vec![vec![1.0]])?;
        /// assert_eq!(embeddings.cost_msats(), Some(0), "a local model costs nothing");
        /// assert_eq!(embeddings.with_cost_msats(Some(12)).cost_msats(), Some(12));
        /// # Ok::<(), dsrs_metrics::lm::LmError>(())
        /// ```
        pub fn with_cost_msats(msats: Option<u64>) => cost_msats = msats;
    }

    /// Returns the vectors in the order of the strings.
    ///
    /// ```
    /// use dsrs_metrics::lm::Embeddings;
    ///
    /// let embeddings = Embeddings::new("local:example", 1, vec![vec![1.0, 2.0]])?;
    /// assert_eq!(embeddings.vectors(), [[1.0, 2.0]]);
    /// # Ok::<(), dsrs_metrics::lm::LmError>(())
    /// ```
    pub fn vectors(&self) -> &[Vec<f32>] {
        &self.vectors
    }

    /// Returns the token usage, if the model reports it.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Embeddings, Usage};
    ///
    /// let embeddings = Embeddings::new("local:example", 1, vec![vec![1.0]])?;
    /// assert_eq!(embeddings.usage(), Usage::default());
    /// # Ok::<(), dsrs_metrics::lm::LmError>(())
    /// ```
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the cost of the calls in msat, or `None` if it is unknown.
    ///
    /// The cost includes stored results that an earlier run paid for.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, LmError, ScriptedEmbedder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let model = ScriptedEmbedder::new().when("yes", [1.0]).cost(3);
    /// assert_eq!(model.embed(&["yes"]).await?.cost_msats(), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn cost_msats(&self) -> Option<u64> {
        self.cost_msats
    }

    /// Returns the vectors at the given positions.
    ///
    /// `texts` is the number of strings passed to the model `id`.
    ///
    /// # Errors
    /// Returns [`LmErrorKind::InvalidReply`] if the number of vectors differs from the number of strings.
    #[doc(hidden)]
    pub fn at(self, id: &str, texts: usize, positions: &[usize]) -> Result<Self, LmError> {
        if let Some(reason) = reason_against(texts, &self.vectors) {
            return Err(LmError::new(id, LmErrorKind::InvalidReply(reason)));
        }
        if positions.len() == texts {
            return Ok(self);
        }
        let vectors = positions.iter().filter_map(|at| self.vectors.get(*at));
        let vectors = vectors.cloned().collect();
        Ok(Self { vectors, ..self })
    }

    /// Returns the cosine similarity of the vectors at two positions.
    ///
    /// Returns `None` if a position is out of range. See [`cosine`].
    ///
    /// ```
    /// use dsrs_metrics::lm::Embeddings;
    ///
    /// let embeddings = Embeddings::new("local:example", 2, vec![vec![1.0, 0.0], vec![0.0, 2.0]])?;
    /// assert_eq!((embeddings.cosine(0, 1), embeddings.cosine(0, 2)), (Some(0.0), None));
    /// # Ok::<(), dsrs_metrics::lm::LmError>(())
    /// ```
    pub fn cosine(&self, one: usize, other: usize) -> Option<f64> {
        cosine(self.vectors.get(one)?, self.vectors.get(other)?)
    }
}

/// Returns why these cannot be the vectors for `texts` strings, or `None` if they can.
fn reason_against(texts: usize, vectors: &[Vec<f32>]) -> Option<String> {
    if vectors.len() != texts {
        let noun = if texts == 1 { "vector" } else { "vectors" };
        return Some(format!("expected {texts} {noun}, found {}", vectors.len()));
    }
    let length = vectors.first()?.len();
    if length == 0 {
        return Some("expected vectors of at least 1 number, found an empty vector".to_owned());
    }
    if let Some(other) = vectors.iter().find(|vector| vector.len() != length) {
        let other = other.len();
        return Some(format!(
            "expected vectors of the same length, found {length} and {other} numbers"
        ));
    }
    let mut numbered = vectors.iter().zip(1_usize..);
    numbered.find_map(|(vector, number)| {
        let at = vector.iter().position(|value| !value.is_finite())?;
        let (value, at) = (vector[at], at + 1);
        Some(format!(
            "expected finite numbers, found {value} at position {at} of vector {number}"
        ))
    })
}

/// Returns the cosine of the angle between two vectors, in [-1, 1].
///
/// Returns `None` if their lengths differ, or if either vector is all zeros.
///
/// Sums are computed in double precision, and the result is clamped to [-1, 1].
///
/// ```
/// use dsrs_metrics::lm::cosine;
///
/// assert_eq!(cosine(&[3.0, 4.0], &[4.0, 3.0]), Some(0.96));
/// assert_eq!(cosine(&[1.0, 0.0], &[-2.0, 0.0]), Some(-1.0));
/// assert_eq!(cosine(&[0.0, 0.0], &[1.0, 0.0]), None);
/// ```
pub fn cosine(one: &[f32], other: &[f32]) -> Option<f64> {
    if one.len() != other.len() {
        return None;
    }
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let norms = dot(one, one).sqrt() * dot(other, other).sqrt();
    (norms > 0.0).then(|| (dot(one, other) / norms).clamp(-1.0, 1.0))
}

/// The purpose of the calls in the ledger and the store.
#[cfg(feature = "lm")]
const PURPOSE: &str = "embeddings";

/// Returns a request for the vectors of these strings. Its reply has no tokens.
#[cfg(feature = "lm")]
pub(crate) fn request(texts: &[&str]) -> LmRequest {
    let sampling = Sampling {
        max_tokens: Some(0),
        ..Sampling::default()
    };
    let request = LmRequest::new(PURPOSE).with_sampling(sampling);
    let texts = texts.iter();
    texts.fold(request, |request, text| request.user(*text))
}
