//! The built-in metrics, under the names of the reference documents.
//!
//! Each is a `#[metric]` function over the pure functions of [`text`](crate::text),
//! [`retrieval`](crate::retrieval) and [`structured`](crate::structured), with the struct of the same
//! name beside it. They read `gold.answer` and `pred.answer` unless their documentation names other
//! fields; rows with other names are mapped (`--map` on the command line). Metrics that may be asked
//! about any field have a parameter `field` as well.
//!
#![doc = include_str!("../../docs/metrics.md")]

mod adjutant;
mod answers;
mod breakdown;
mod check;
mod diff;
mod edits;
mod effort;
mod field;
mod heritage;
mod heritage_rag;
mod numeric;
mod outcome_coupled;
mod overlap;
mod proxy;
mod retrieval;
#[cfg(feature = "sandbox")]
mod sandbox;
#[cfg(feature = "sparql")]
mod sparql;
mod structured;
mod text;

pub use crate::same_value::same_value;
pub use adjutant::{
    Combined, SubtaskExecution, SubtaskPlanning, Synthesis, ToolStepUtility, subtask_execution,
    subtask_planning, synthesis, tool_step_utility,
};
pub use answers::StrOrList;
pub use breakdown::Breakdown;
pub use check::{Check, Unscored};
pub use diff::{Diff, DiffBuilder, DiffStrictness};
pub use edits::{Cer, EditSimilarity, Wer, cer, edit_similarity, wer};
pub use heritage::{
    EntityF1, EntityTypeAccuracy, IntentAccuracy, IntentAccuracyWithFallback, entity_f1,
    entity_type_accuracy, intent_accuracy, intent_accuracy_with_fallback,
};
pub use heritage_rag::{AnswerPresent, SourcesUsed, answer_present, sources_used};
#[cfg(feature = "sparql")]
pub use heritage_rag::{HeritageRag, HeritageRagStrict};
pub use numeric::{NumericMatch, TextOrNumber, numeric_match};
pub use outcome_coupled::{OutcomeCoupled, outcome_coupled};
pub use overlap::{
    Bleu, Chrf, Rouge1, Rouge2, RougeL, RougeLsum, bleu, chrf, rouge_l, rouge_lsum, rouge1, rouge2,
};
pub use proxy::{
    Format, Keyword, Length, Syntax, WasRepeated, format, keyword, length, syntax, was_repeated,
};
#[cfg(feature = "schema")]
pub use proxy::{InvalidSchema, ToolParamsSchema, ToolSchemas, tool_params_schema};
pub use retrieval::{
    AveragePrecision, HitRate, Ndcg, PrecisionAtK, RecallAtK, ReciprocalRank, average_precision,
    hit_rate, ndcg, precision_at_k, recall_at_k, reciprocal_rank,
};
#[cfg(feature = "sandbox")]
pub use sandbox::{
    Isolation, Sandbox, SandboxFiles, Source, TestPass, VerificationDelta, field, gold, sandbox,
    test_pass, verification_delta,
};
#[cfg(feature = "sparql")]
pub use sparql::{
    SparqlExecutes, SparqlReturnsResults, SparqlSyntaxValid, sparql_executes,
    sparql_returns_results, sparql_syntax_valid,
};
pub use structured::{JsonFieldAccuracy, json_field_accuracy};
pub use text::{
    AnswerExactMatch, AnswerPassageMatch, Em, F1, HotpotF1, Precision, Recall, answer_exact_match,
    answer_passage_match, em, f1, hotpot_f1, precision, recall,
};
