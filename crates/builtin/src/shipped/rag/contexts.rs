//! Judges of the retrieved contexts: which are useful, and how much of the reference they contain.

use super::StatementSupport;
use crate::judge::share;
use crate::retrieval::average_precision;
use dsrs_metrics::{judge, judge_output};

/// The verdict on a context.
#[judge_output]
#[derive(Debug, Clone)]
pub struct ContextVerdict {
    /// why, in one sentence
    pub reason: String,
    /// whether the context was useful
    pub useful: bool,
}

/// Judge for each context whether it was useful for arriving at the reference answer to the question.
#[judge(
    name = "context_precision",
    struct = ContextPrecision,
    score = average_precision(verdicts.iter().map(|it| it.useful)),
    range = 0.0..=1.0,
    cost = "100 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct PrecisionOfContexts {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(gold = "answer", desc = "the correct answer")]
    reference: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    #[output(each = contexts, empty = 0.0)]
    verdicts: Vec<ContextVerdict>,
}

/// Judge for each context whether it was useful for arriving at the given answer to the question.
#[judge(
    name = "context_utilization",
    struct = ContextUtilization,
    score = average_precision(verdicts.iter().map(|it| it.useful)),
    range = 0.0..=1.0,
    cost = "100 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct UtilizationOfContexts {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(pred, desc = "the answer that was given")]
    answer: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    #[output(each = contexts, empty = 0.0)]
    verdicts: Vec<ContextVerdict>,
}

/// Judge for each statement of the reference answer whether it can be attributed to the contexts: whether it follows directly from
/// one or more of them.
#[judge(
    name = "context_recall",
    struct = ContextRecall,
    score = share(verdicts, |it| it.is_supported()),
    range = 0.0..=1.0,
    cost = "200 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct RecallOfContexts {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(gold = "answer", desc = "the correct answer")]
    reference: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    /// Break the reference answer down into statements. Each statement is one fact, in a full sentence that is understandable
    /// alone: write names in place of pronouns.
    #[step(
        from(question, reference),
        cost = "100 msat",
        desc = "the statements of the reference answer"
    )]
    statements: Vec<String>,
    #[output(each = statements, empty = abstain, cites = contexts)]
    verdicts: Vec<StatementSupport>,
}

/// The contexts that mention an entity.
#[judge_output]
#[derive(Debug, Clone)]
pub struct EntityMentions {
    /// the contexts that mention the entity, also under another name; empty if there is none
    pub contexts: Vec<u32>,
}

/// Find for each entity the contexts that mention it. Another name, spelling or format of the same entity is a mention of it.
#[judge(
    name = "context_entity_recall",
    struct = ContextEntityRecall,
    score = share(mentions, |it| !it.contexts.is_empty()),
    range = 0.0..=1.0,
    cost = "200 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct EntityRecallOfContexts {
    #[input(gold = "answer", desc = "the correct answer")]
    reference: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    /// List the entities in the reference answer, each once: people, organizations, places, events, works, dates, and amounts.
    #[step(
        from(reference),
        cost = "100 msat",
        desc = "the entities in the reference answer"
    )]
    entities: Vec<String>,
    #[output(each = entities, empty = abstain, cites = contexts)]
    mentions: Vec<EntityMentions>,
}
