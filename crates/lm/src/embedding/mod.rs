//! Embedding models: the trait [`EmbeddingModel`], and its implementations.
//!
//! `embedder.rs` has the model of a metric, `embeddings.rs` the vectors, which are validated when they are created,
//! `scripted.rs` the model for tests. `provider.rs` (feature `lm`) is a model of a provider behind the layers of language
//! models, with requests and replies as in `text_reply.rs`. `static_vectors/` (feature `embed-static`) reads the vectors
//! of tokens from a folder.

mod embedder;
mod embeddings;
#[cfg(feature = "lm")]
mod provider;
mod scripted;
#[cfg(feature = "embed-static")]
mod static_vectors;
#[cfg(feature = "lm")]
mod text_reply;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

pub use self::embedder::Embedder;
pub use self::embeddings::{Embeddings, cosine};
#[cfg(feature = "lm")]
pub use self::provider::ProviderEmbedder;
pub use self::scripted::ScriptedEmbedder;
#[cfg(feature = "embed-static")]
pub use self::static_vectors::StaticEmbedder;
#[cfg(feature = "lm")]
pub(super) use self::text_reply::{encoded, request};
use super::LmError;

/// An embedding model: returns a vector for each string. Strings of similar meaning have vectors in a similar direction.
///
/// A provider's model (`ProviderEmbedder`, feature `lm`), vectors in a folder (`StaticEmbedder`, feature `embed-static`) and
/// [`ScriptedEmbedder`], the model for tests, implement it. An implementation needs two methods:
///
/// ```
/// use dsrs_metrics::async_trait;
/// use dsrs_metrics::lm::{EmbeddingModel, Embeddings, LmError};
///
/// /// Counts vowels and other characters.
/// struct Vowels;
///
/// #[async_trait]
/// impl EmbeddingModel for Vowels {
///     fn id(&self) -> &str {
///         "local:vowels"
///     }
///
///     async fn embed(&self, texts: &[&str]) -> Result<Embeddings, LmError> {
///         let vector = |text: &&str| {
///             let vowels = text.chars().filter(|c| "aeiou".contains(*c)).count();
///             vec![vowels as f32, (text.chars().count() - vowels) as f32]
///         };
///         Embeddings::new(self.id(), texts.len(), texts.iter().map(vector).collect())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let embeddings = Vowels.embed(&["paris", "rome"]).await?;
/// assert_eq!(embeddings.vectors(), [[2.0, 3.0], [2.0, 2.0]]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an embedding model",
    label = "not an `EmbeddingModel`",
    note = "implement `EmbeddingModel` for it, or use a `ScriptedEmbedder`; with feature `lm`, `ProviderEmbedder::from_env()` returns the model of a provider"
)]
pub trait EmbeddingModel: Send + Sync {
    /// The model's name: `provider:model`, or of a folder `static:` and the hash of its files. Part of the identity of a metric.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, ScriptedEmbedder};
    ///
    /// assert_eq!(ScriptedEmbedder::new().id(), "scripted:embedder");
    /// ```
    fn id(&self) -> &str;

    /// The base URL of the API, unless it is the provider's default. Part of the identity of a metric, since two servers
    /// may use one name for different models.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, ScriptedEmbedder};
    ///
    /// assert_eq!(ScriptedEmbedder::new().endpoint(), None);
    /// ```
    fn endpoint(&self) -> Option<&str> {
        None
    }

    /// Returns `true` if calls go to the server of a provider, which a test must declare.
    #[doc(hidden)]
    fn is_remote(&self) -> bool {
        false
    }

    /// Returns the vectors of these strings, in their order.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, LmError, ScriptedEmbedder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let model = ScriptedEmbedder::new().when("yes", [1.0, 0.0]).when("no", [0.0, 1.0]);
    /// assert_eq!(model.embed(&["no", "yes"]).await?.vectors(), [[0.0, 1.0], [1.0, 0.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LmError`], if the call fails, or returns vectors that [`Embeddings::new`] rejects.
    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, LmError>;

    /// Checks that the model answers at all. A run calls it before its first row. The default embeds one word.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, LmError, ScriptedEmbedder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let model = ScriptedEmbedder::new();
    /// model.probe().await?;
    /// assert_eq!(model.calls(), 0, "a scripted model needs no call");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LmError`], whose message names the setting to change.
    async fn probe(&self) -> Result<(), LmError> {
        self.embed(&[PROBE]).await.map(drop)
    }
}

/// The string that a probe embeds.
pub(super) const PROBE: &str = "probe";

/// Returns the model of the static vectors in a folder, which is read once per process.
///
/// # Errors
/// [`LmErrorKind::Setting`](crate::LmErrorKind::Setting), if the feature `embed-static` is not enabled, or the folder has no valid files.
#[doc(hidden)]
pub fn static_embedder(folder: &str) -> Result<Arc<dyn EmbeddingModel>, LmError> {
    #[cfg(feature = "embed-static")]
    return static_vectors::shared(folder);
    #[cfg(not(feature = "embed-static"))]
    {
        let reason = "build with feature `embed-static`, which reads the vectors";
        let folder = format!("static:{folder}");
        Err(LmError::setting("embedding model", &folder, reason))
    }
}

impl fmt::Debug for dyn EmbeddingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

macro_rules! forward_embedding_model {
    ($($type:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<M: EmbeddingModel + ?Sized> EmbeddingModel for $type {
            fn id(&self) -> &str {
                (**self).id()
            }

            fn endpoint(&self) -> Option<&str> {
                (**self).endpoint()
            }

            fn is_remote(&self) -> bool {
                (**self).is_remote()
            }

            async fn embed(&self, texts: &[&str]) -> Result<Embeddings, LmError> {
                (**self).embed(texts).await
            }

            async fn probe(&self) -> Result<(), LmError> {
                (**self).probe().await
            }
        }
    )*};
}
forward_embedding_model!(&M, Box<M>, Arc<M>);
