//! The built-in metrics in groups, and the features that some of them need.

use super::{Registry, RegistryError};
use crate::metrics::*;
use crate::shipped::*;

/// The built-in metrics that need a feature, the feature's name, and whether it is enabled.
pub(super) const FEATURES: &[(&[&str], &str, bool)] = &[
    (
        &["sandbox", "test_pass", "verification_delta"],
        "sandbox",
        cfg!(feature = "sandbox"),
    ),
    (&["tool_params_schema"], "schema", cfg!(feature = "schema")),
    (
        &[
            "sparql_syntax_valid",
            "sparql_executes",
            "sparql_returns_results",
            "heritage_rag",
            "heritage_rag_strict",
        ],
        "sparql",
        cfg!(feature = "sparql"),
    ),
];

/// A group of built-in metrics in `list`: its name, and the function that adds its metrics.
pub(super) type Group = (&'static str, fn(&mut Registry) -> Result<(), RegistryError>);

/// Defines the groups of built-in metrics.
macro_rules! groups {
    ($($(#[$cfg:meta])* $group:literal: $($(#[$cfg_of_metric:meta])* $metric:ident),*;)*) => {
        /// The groups of built-in metrics, in the order of `list`.
        pub(super) const GROUPS: &[Group] = &[$(
            $(#[$cfg])*
            ($group, |registry| {
                $($(#[$cfg_of_metric])* registry.add::<$metric>()?;)*
                Ok(())
            }),
        )*];
    };
}

groups! {
    "answers": AnswerExactMatch, AnswerPassageMatch, Em, F1, HotpotF1, Precision, Recall,
        NumericMatch, SemanticSimilarity;
    "matching": Includes, Matches, Pattern, Choice, OneOf, ContainsAll, ContainsAny, IsJson, Regex;
    "judges": SemanticF1, DecompositionalSemanticF1, CompleteAndGrounded, LlmJudge,
        AnswerRelevance, AnswerGroundedness, GEvalCompleteness, PairwisePreference,
        SemanticEquivalence;
    "retrieval-augmented generation": Faithfulness, ContextPrecision, ContextUtilization,
        ContextRecall, ContextEntityRecall, NoiseSensitivity, FactualCorrectness, AnswerRelevancy,
        AnswerCorrectness, ContextPrecisionById, ContextRecallById, ContextPrecisionByDistance,
        ContextRecallByDistance, IntentAccuracy, IntentAccuracyWithFallback, EntityF1,
        EntityTypeAccuracy, AnswerPresent, SourcesUsed;
    "conversations": KnowledgeRetention, RoleAdherence, TurnRelevancy, ConversationalFaithfulness,
        ConversationCompleteness, TopicAdherence;
    #[cfg(feature = "sparql")]
    "SPARQL": SparqlSyntaxValid, SparqlExecutes, SparqlReturnsResults, HeritageRag,
        HeritageRagStrict;
    "rankings": PrecisionAtK, RecallAtK, HitRate, ReciprocalRank, AveragePrecision, Ndcg;
    "overlap and edit distance": Bleu, Chrf, Rouge1, Rouge2, RougeL, RougeLsum, Wer, Cer,
        EditSimilarity;
    "all rows together": Accuracy, MacroF1, MicroF1, BalancedAccuracy, MatthewsCorrelation,
        CohenKappa, KrippendorffAlpha, SpearmanCorrelation, Auroc, ExpectedCalibrationError,
        BrierScore;
    "format and structure": JsonFieldAccuracy, Format, Keyword, Length;
    "code": #[cfg(feature = "sandbox")] Sandbox, #[cfg(feature = "sandbox")] TestPass,
        #[cfg(feature = "sandbox")] VerificationDelta, Syntax, Diff;
    "tool calls and agents": TrajectoryMatch, ToolCallF1, TrajectoryF1, ToolCorrectness, NoLoops,
        WithinSteps, WithinToolCalls, WithinTokens, TaskCompletion, GoalAccuracy,
        ArgumentCorrectness, #[cfg(feature = "schema")] ToolParamsSchema, WasRepeated,
        SubtaskPlanning, SubtaskExecution, Synthesis, ToolStepUtility, Combined, OutcomeCoupled;
    "run of the program": Latency, Tokens, Cost;
}
