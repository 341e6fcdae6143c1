//! The embedding model that you set on a metric.

use std::sync::Arc;

use dsrs_metrics_values::value_type::{TypeHelp, ValueType};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::EmbeddingModel;

/// A parameter type for the embedding model of a metric or judge.
///
/// Call the model with `judge::embed`.
///
/// A name is `provider:model`, such as `openai:text-embedding-3-small` (feature `lm`). To use the vectors in a folder,
/// write `static:FOLDER` (feature `embed-static`).
///
/// By default, the model comes from the scope; see `judge::Models::with_embedder`. If the scope has no model,
/// `DSRS_EMBED` names it.
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
#[derive(Debug, Clone, Default)]
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

impl<'de> Deserialize<'de> for Embedder {
    fn deserialize<D: Deserializer<'de>>(name: D) -> Result<Self, D::Error> {
        let name = String::deserialize(name)?;
        let parts = name.split_once(':');
        let is_whole =
            parts.is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty());
        match name.trim() {
            "default" => Ok(Self::Configured),
            name if is_whole => Ok(name.into()),
            name => Err(D::Error::custom(format!(
                "expected `provider:model`, `static:FOLDER` or `default`, found `{name}`"
            ))),
        }
    }
}

impl ValueType for Embedder {
    const HELP: TypeHelp =
        TypeHelp::new("an embedding model").with_example("openai:text-embedding-3-small");
}
