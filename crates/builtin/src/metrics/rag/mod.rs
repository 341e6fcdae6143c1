//! Metrics of retrieval-augmented question answering: intents, entities, answers with sources, and
//! their composites.
//!
//! They implement the metrics of the heritage document.

mod contexts;
mod grounded_answers;
mod understanding;

pub(crate) use contexts::share_of;
pub use contexts::{
    ContextPrecisionByDistance, ContextPrecisionById, ContextRecallByDistance, ContextRecallById,
    context_precision_by_distance, context_precision_by_id, context_recall_by_distance,
    context_recall_by_id,
};
pub(super) use contexts::{resembling, texts};
pub use grounded_answers::{AnswerPresent, SourcesUsed, answer_present, sources_used};
#[cfg(feature = "sparql")]
pub use grounded_answers::{HeritageRag, HeritageRagStrict};
pub(super) use understanding::listed;
pub use understanding::{
    EntityF1, EntityTypeAccuracy, IntentAccuracy, IntentAccuracyWithFallback, entity_f1,
    entity_type_accuracy, intent_accuracy, intent_accuracy_with_fallback,
};
