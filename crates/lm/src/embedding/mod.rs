//! Embedding models, which implement the trait [`EmbeddingModel`].
//!
//! [`Embedder`] is the parameter type for a metric's model. `embeddings.rs` contains the vectors, which are validated
//! on creation. `scripted.rs` contains the model for tests.
//!
//! `provider.rs` (feature `lm`) wraps a provider's model in the layers of language models. `static_vectors/` (feature
//! `embed-static`) reads token vectors from a folder.

mod embeddings;
#[cfg(feature = "lm")]
mod provider;
mod scripted;
#[cfg(feature = "embed-static")]
mod static_vectors;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dsrs_metrics_values::value_type::{TypeHelp, ValueType};
use serde::{Deserialize, Serialize, Serializer};

#[cfg(feature = "lm")]
pub(super) use self::embeddings::request;
pub use self::embeddings::{Embeddings, cosine};
#[cfg(feature = "lm")]
pub use self::provider::ProviderEmbedder;
pub use self::scripted::ScriptedEmbedder;
#[cfg(feature = "embed-static")]
pub use self::static_vectors::StaticEmbedder;
use super::LmError;

/// A model that converts strings into embedding vectors.
///
/// The model returns one vector for each string. Strings with similar meanings get similar vectors.
///
/// There are three implementations. `ProviderEmbedder` uses a provider's model and needs the feature `lm`.
/// `StaticEmbedder` reads vectors from a folder and needs the feature `embed-static`. [`ScriptedEmbedder`] is for
/// tests.
///
/// Your own implementation needs two methods:
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
    note = "implement `EmbeddingModel` for it, or use a `ScriptedEmbedder`; with the `lm` feature, `ProviderEmbedder::from_env()` returns a provider's model"
)]
pub trait EmbeddingModel: Send + Sync {
    /// Returns the model's name.
    ///
    /// The name is `provider:model`, or `static:` followed by the hash of the files in a folder.
    ///
    /// The name is part of the identity of each metric that uses the model.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, ScriptedEmbedder};
    ///
    /// assert_eq!(ScriptedEmbedder::new().id(), "scripted:embedder");
    /// ```
    fn id(&self) -> &str;

    /// Returns the base URL of the API, or `None` for the provider's default.
    ///
    /// The URL is part of the identity of each metric that uses the model, because two servers may use the same name
    /// for different models.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, ScriptedEmbedder};
    ///
    /// assert_eq!(ScriptedEmbedder::new().endpoint(), None);
    /// ```
    fn endpoint(&self) -> Option<&str> {
        None
    }

    /// Returns `true` if calls go to a provider's server.
    ///
    /// A test must declare the calls it makes to a server.
    #[doc(hidden)]
    fn is_remote(&self) -> bool {
        false
    }

    /// Returns a vector for each string, in order.
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
    /// Returns [`LmError`] if the call fails, or if it returns vectors that [`Embeddings::new`] rejects.
    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, LmError>;

    /// Checks that the model answers.
    ///
    /// A run calls this method before its first row. The default implementation embeds one word.
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
    /// Returns an [`LmError`] whose message names the setting to change.
    async fn probe(&self) -> Result<(), LmError> {
        self.embed(&[PROBE]).await.map(drop)
    }
}

/// The string that a probe embeds.
pub(super) const PROBE: &str = "probe";

/// Returns an embedding model that reads its vectors from a folder.
///
/// The process reads each folder only once.
///
/// # Errors
/// Returns [`LmErrorKind::Setting`](crate::LmErrorKind::Setting) if the `embed-static` feature is not enabled, or if
/// the folder has no valid files.
#[doc(hidden)]
pub fn static_embedder(folder: &str) -> Result<Arc<dyn EmbeddingModel>, LmError> {
    #[cfg(feature = "embed-static")]
    return static_vectors::shared(folder);
    #[cfg(not(feature = "embed-static"))]
    {
        let reason = "build with the `embed-static` feature, which reads the vectors";
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
            forward_methods! {
                |this| (**this);
                fn id(&self) -> &str;
                fn endpoint(&self) -> Option<&str>;
                fn is_remote(&self) -> bool;
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

/// A parameter type for a metric's or judge's embedding model.
///
/// Call the model with `judge::embed`.
///
/// A name is written as `provider:model`, such as `openai:text-embedding-3-small` (feature `lm`). To use the vectors in
/// a folder, write `static:FOLDER` (feature `embed-static`).
///
/// By default, the model comes from the scope; see `judge::Models::with_embedder`. If the scope has no model, the model
/// named by `DSRS_EMBED` is used.
///
/// ```
/// use dsrs_metrics::lm::{Embedder, ScriptedEmbedder};
///
/// assert_eq!(Embedder::from("default"), Embedder::Configured);
/// assert_eq!(Embedder::from("static:vectors"), Embedder::Named("static:vectors".into()));
/// // Models passed as values are equal if they are the same value.
/// let (one, other) = (Embedder::from(ScriptedEmbedder::new()), Embedder::from(ScriptedEmbedder::new()));
/// assert_eq!((one == one.clone(), one == other), (true, false));
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "String")]
pub enum Embedder {
    /// The model configured in the scope or the environment.
    #[default]
    Configured,
    /// The model with this name.
    Named(String),
    /// A model passed as a value.
    Value(Arc<dyn EmbeddingModel>),
}

impl Embedder {
    /// Returns the name as written in a parameter.
    fn name(&self) -> &str {
        match self {
            Self::Configured => "default",
            Self::Named(id) => id,
            Self::Value(model) => model.id(),
        }
    }
}

impl PartialEq for Embedder {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Configured, Self::Configured) => true,
            (Self::Named(one), Self::Named(other)) => one == other,
            (Self::Value(one), Self::Value(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

conversions! {
    &str => Embedder: |name| match name {
        "default" => Self::Configured,
        name => Self::Named(name.to_owned()),
    };
    String => Embedder: |name| name.as_str().into();
}

impl<M: EmbeddingModel + 'static> From<M> for Embedder {
    fn from(model: M) -> Self {
        Self::Value(Arc::new(model))
    }
}

impl Serialize for Embedder {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl ValueType for Embedder {
    const HELP: TypeHelp =
        TypeHelp::new("an embedding model").with_example("openai:text-embedding-3-small");
}
