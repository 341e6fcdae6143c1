//! Calls the embedding model of a metric or a judge: the one that is set, or else the one of the scope or the environment.

use std::sync::Arc;

use super::models::Models;
use crate::declared::requirements::Requirement;
use crate::lm::{Embedder, EmbeddingModel, Embeddings, LmError};

/// Returns the vectors of several strings. Equal strings are embedded once.
///
/// A judge or metric that compares several strings calls it once for all of them. Without a model of its own, `embedder` is the
/// model of the scope ([`Models::with_embedder`]), or else the one that `DSRS_EMBED` names.
///
/// ```
/// use dsrs_metrics::judge;
/// use dsrs_metrics::lm::{Embedder, LmError, ScriptedEmbedder};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let model = Arc::new(ScriptedEmbedder::new().when("yes", [3.0, 4.0]).when("sure", [4.0, 3.0]));
/// let embedder = Embedder::from(model.clone());
/// let embeddings = judge::embed(&embedder, &["yes", "sure", "yes"]).await?;
/// assert_eq!((embeddings.cosine(0, 1), embeddings.cosine(0, 2)), (Some(0.96), Some(1.0)));
/// assert_eq!(model.requests(), [["yes", "sure"]]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`LmErrorKind::Setting`](crate::lm::LmErrorKind::Setting), if no model is configured; otherwise the error of the call, or
/// [`LmErrorKind::InvalidReply`](crate::lm::LmErrorKind::InvalidReply), if the model returns fewer or more vectors than strings.
pub async fn embed(embedder: &Embedder, texts: &[&str]) -> Result<Embeddings, LmError> {
    let mut distinct: Vec<&str> = Vec::with_capacity(texts.len());
    let mut positions = Vec::with_capacity(texts.len());
    for text in texts {
        let known = distinct.iter().position(|known| known == text);
        positions.push(known.unwrap_or(distinct.len()));
        if known.is_none() {
            distinct.push(text);
        }
    }
    let model = embedding_model(embedder)?;
    let embeddings = match distinct.is_empty() {
        true => Embeddings::new(model.id(), 0, Vec::new())?,
        false => model.embed(&distinct).await?,
    };
    embeddings.at(model.id(), distinct.len(), &positions)
}

/// Returns the model that [`embed`] calls.
///
/// ```
/// use dsrs_metrics::judge;
/// use dsrs_metrics::lm::{Embedder, ScriptedEmbedder};
///
/// let model = judge::embedding_model(&Embedder::from(ScriptedEmbedder::new()))?;
/// assert_eq!(model.id(), "scripted:embedder");
/// # Ok::<(), dsrs_metrics::lm::LmError>(())
/// ```
///
/// # Errors
/// [`LmErrorKind::Setting`](crate::lm::LmErrorKind::Setting), if no model is configured; otherwise the error of connecting to the model.
pub fn embedding_model(embedder: &Embedder) -> Result<Arc<dyn EmbeddingModel>, LmError> {
    match embedder {
        Embedder::Value(model) => Ok(Arc::clone(model)),
        Embedder::Named(id) => Models::embedding_model(id),
        Embedder::Configured => match Models::configured_embedder() {
            Some(Embedder::Value(model)) => Ok(model),
            Some(Embedder::Named(id)) => Models::embedding_model(&id),
            Some(Embedder::Configured) | None => Err(LmError::no_embedder()),
        },
    }
}

/// Returns what a metric with this embedding model needs before its first row: the model, which a run probes once, or the reason why
/// it cannot score any row.
///
/// ```
/// use dsrs_metrics::judge;
/// use dsrs_metrics::lm::{Embedder, ScriptedEmbedder};
///
/// let embedder = Embedder::from(ScriptedEmbedder::new());
/// assert_eq!(judge::embedder_requirement("close", &embedder).missing_reason(), None);
/// ```
pub fn embedder_requirement(metric: &str, embedder: &Embedder) -> Requirement {
    match embedding_model(embedder) {
        Ok(model) => Requirement::embedder(metric, model),
        Err(error) => Requirement::missing(metric, error),
    }
}
