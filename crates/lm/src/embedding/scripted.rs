//! An embedding model for tests that returns scripted vectors.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::{EmbeddingModel, Embeddings};
use crate::{LmError, Usage, lock};

/// An embedding model for tests.
///
/// The model returns a fixed vector for each string and records its calls.
///
/// Set the vector for a string with [`when`](Self::when), and the vectors for all other strings with
/// [`otherwise`](Self::otherwise). If a string has no vector, the call fails with
/// [`LmErrorKind::Other`](crate::LmErrorKind::Other).
///
/// Clones share the recorded calls.
///
/// ```
/// use dsrs_metrics::lm::{EmbeddingModel, LmError, ScriptedEmbedder};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let model = ScriptedEmbedder::new()
///     .when("Paris", [1.0, 0.0])
///     .otherwise(|text| Ok(vec![0.0, text.len() as f32]));
/// assert_eq!(model.embed(&["Paris", "Rome"]).await?.vectors(), [[1.0, 0.0], [0.0, 4.0]]);
/// assert_eq!(model.requests(), [["Paris", "Rome"]]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedEmbedder {
    id: String,
    vectors: HashMap<String, Vec<f32>>,
    otherwise: Option<Arc<Otherwise>>,
    usage: Usage,
    cost_msats: Option<u64>,
    requests: Arc<Mutex<Vec<Vec<String>>>>,
}

type Otherwise = dyn Fn(&str) -> Result<Vec<f32>, LmError> + Send + Sync;

impl ScriptedEmbedder {
    /// Creates a model named `scripted:embedder` without vectors.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, ScriptedEmbedder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = ScriptedEmbedder::new().embed(&["Paris"]).await.unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "scripted:embedder: no scripted reply for the prompt `Paris`; add one with `when` or `otherwise`"
    /// );
    /// # }
    /// ```
    pub fn new() -> Self {
        Self {
            id: "scripted:embedder".to_owned(),
            vectors: HashMap::new(),
            otherwise: None,
            usage: Usage::default(),
            cost_msats: Some(0),
            requests: Arc::default(),
        }
    }

    /// Sets the vector to return for a string.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, LmError, ScriptedEmbedder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let model = ScriptedEmbedder::new().when("Paris", [1.0, 2.0]);
    /// assert_eq!(model.embed(&["Paris"]).await?.vectors(), [[1.0, 2.0]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn when(mut self, text: impl Into<String>, vector: impl Into<Vec<f32>>) -> Self {
        self.vectors.insert(text.into(), vector.into());
        self
    }

    setters! {
        /// Sets the model's name, written as `provider:model`.
        ///
        /// ```
        /// use dsrs_metrics::lm::{EmbeddingModel, ScriptedEmbedder};
        ///
        /// let model = ScriptedEmbedder::new().named("openai:text-embedding-3-small");
        /// assert_eq!(model.id(), "openai:text-embedding-3-small");
        /// ```
        pub fn named(id: impl Into<String>) => id = id.into();

        /// Sets a function that computes the vector for each string that has no fixed vector.
        ///
        /// The function can also return an error.
        ///
        /// ```
        /// use dsrs_metrics::lm::{EmbeddingModel, LmError, LmErrorKind, ScriptedEmbedder};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() {
        /// let lost = || LmErrorKind::Disconnected("connection reset".into());
        /// let model = ScriptedEmbedder::new().otherwise(move |_| Err(LmError::new("scripted:embedder", lost())));
        /// assert!(model.embed(&["Paris"]).await.unwrap_err().is_transient());
        /// # }
        /// ```
        pub fn otherwise(vector: impl Fn(&str) -> Result<Vec<f32>, LmError> + Send + Sync + 'static)
            => otherwise = Some(Arc::new(vector));

        /// Sets the token usage of each call.
        ///
        /// ```
        /// use dsrs_metrics::lm::{EmbeddingModel, LmError, ScriptedEmbedder, Usage};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let model = ScriptedEmbedder::new().when("Paris", [1.0]).usage(Usage::new(2, 0));
        /// assert_eq!(model.embed(&["Paris"]).await?.usage().total(), 2);
        /// # Ok(())
        /// # }
        /// ```
        pub fn usage(usage: Usage) => usage = usage;

        /// Sets the cost of each call in msat.
        ///
        /// ```
        /// use dsrs_metrics::lm::{EmbeddingModel, LmError, ScriptedEmbedder};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let model = ScriptedEmbedder::new().when("Paris", [1.0]).cost(12);
        /// assert_eq!(model.embed(&["Paris"]).await?.cost_msats(), Some(12));
        /// # Ok(())
        /// # }
        /// ```
        pub fn cost(msats: u64) => cost_msats = Some(msats);
    }

    /// Returns the number of calls.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, ScriptedEmbedder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let model = ScriptedEmbedder::new();
    /// model.embed(&["Paris"]).await.unwrap_err();
    /// assert_eq!(model.calls(), 1, "a call without a vector is counted as well");
    /// # }
    /// ```
    pub fn calls(&self) -> usize {
        lock(&self.requests).len()
    }

    /// Returns the strings of each call, in the order the calls began.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, LmError, ScriptedEmbedder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let model = ScriptedEmbedder::new().otherwise(|_| Ok(vec![1.0]));
    /// model.embed(&["Paris", "Rome"]).await?;
    /// model.embed(&["Peru"]).await?;
    /// assert_eq!(model.requests(), [vec!["Paris", "Rome"], vec!["Peru"]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn requests(&self) -> Vec<Vec<String>> {
        lock(&self.requests).clone()
    }

    fn vector(&self, text: &str) -> Result<Vec<f32>, LmError> {
        match (self.vectors.get(text), &self.otherwise) {
            (Some(vector), _) => Ok(vector.clone()),
            (None, Some(otherwise)) => otherwise(text),
            (None, None) => {
                let prompt: String = text.chars().take(80).collect();
                Err(LmError::unscripted(&self.id, &prompt))
            }
        }
    }
}

impl Default for ScriptedEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

debug_fields!(ScriptedEmbedder: |model| "id" => model.id, "calls" => model.calls());

#[async_trait]
impl EmbeddingModel for ScriptedEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, LmError> {
        lock(&self.requests).push(texts.iter().map(|text| (*text).to_owned()).collect());
        let vectors = texts.iter().map(|text| self.vector(text));
        let vectors = vectors.collect::<Result<_, _>>()?;
        let embeddings = Embeddings::new(&self.id, texts.len(), vectors)?.with_usage(self.usage);
        Ok(embeddings.with_cost_msats(self.cost_msats))
    }

    /// Succeeds without using the script.
    async fn probe(&self) -> Result<(), LmError> {
        Ok(())
    }
}
