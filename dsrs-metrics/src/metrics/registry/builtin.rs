//! The built-in metrics in groups, and the features that some of them need.

use super::{Registry, RegistryError};
use crate::judge::shipped;
use crate::metrics;

/// The built-in metrics that need a feature, the feature, and whether it is enabled.
pub(super) const FEATURES: &[(&[&str], &str, bool)] = &[
    (&["sandbox", "test_pass", "verification_delta"], "sandbox", cfg!(feature = "sandbox")),
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

/// A group of built-in metrics in `list`: its name, and what adds its metrics.
pub(super) type Group = (&'static str, fn(&mut Registry) -> Result<(), RegistryError>);

/// The groups of the built-in metrics, in the order of `list`.
pub(super) const GROUPS: &[Group] = &[
    ("answers", add_answers),
    ("matching", add_matching),
    ("judges", add_judges),
    ("retrieval-augmented generation", add_rag),
    #[cfg(feature = "sparql")]
    ("SPARQL", add_sparql),
    ("rankings", add_rankings),
    ("overlap and edit distance", add_overlap),
    ("all rows together", add_corpus),
    ("format and structure", add_format),
    ("code", add_code),
    ("tool calls and agents", add_agents),
    ("run of the program", add_program),
];

fn add_answers(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::AnswerExactMatch>()?;
    registry.add::<metrics::AnswerPassageMatch>()?;
    registry.add::<metrics::Em>()?;
    registry.add::<metrics::F1>()?;
    registry.add::<metrics::HotpotF1>()?;
    registry.add::<metrics::Precision>()?;
    registry.add::<metrics::Recall>()?;
    registry.add::<metrics::NumericMatch>()
}

fn add_matching(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::Includes>()?;
    registry.add::<metrics::Matches>()?;
    registry.add::<metrics::Pattern>()?;
    registry.add::<metrics::Choice>()?;
    registry.add::<metrics::OneOf>()?;
    registry.add::<metrics::ContainsAll>()?;
    registry.add::<metrics::ContainsAny>()?;
    registry.add::<metrics::IsJson>()?;
    registry.add::<metrics::Regex>()
}

fn add_judges(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<shipped::SemanticF1>()?;
    registry.add::<shipped::DecompositionalSemanticF1>()?;
    registry.add::<shipped::CompleteAndGrounded>()?;
    registry.add::<shipped::LlmJudge>()?;
    registry.add::<shipped::AnswerRelevance>()?;
    registry.add::<shipped::AnswerGroundedness>()?;
    registry.add::<shipped::GEvalCompleteness>()?;
    registry.add::<shipped::PairwisePreference>()?;
    registry.add::<shipped::SemanticEquivalence>()
}

fn add_rag(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::IntentAccuracy>()?;
    registry.add::<metrics::IntentAccuracyWithFallback>()?;
    registry.add::<metrics::EntityF1>()?;
    registry.add::<metrics::EntityTypeAccuracy>()?;
    registry.add::<metrics::AnswerPresent>()?;
    registry.add::<metrics::SourcesUsed>()
}

#[cfg(feature = "sparql")]
fn add_sparql(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::SparqlSyntaxValid>()?;
    registry.add::<metrics::SparqlExecutes>()?;
    registry.add::<metrics::SparqlReturnsResults>()?;
    registry.add::<metrics::HeritageRag>()?;
    registry.add::<metrics::HeritageRagStrict>()
}

fn add_rankings(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::PrecisionAtK>()?;
    registry.add::<metrics::RecallAtK>()?;
    registry.add::<metrics::HitRate>()?;
    registry.add::<metrics::ReciprocalRank>()?;
    registry.add::<metrics::AveragePrecision>()?;
    registry.add::<metrics::Ndcg>()
}

fn add_overlap(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::Bleu>()?;
    registry.add::<metrics::Chrf>()?;
    registry.add::<metrics::Rouge1>()?;
    registry.add::<metrics::Rouge2>()?;
    registry.add::<metrics::RougeL>()?;
    registry.add::<metrics::RougeLsum>()?;
    registry.add::<metrics::Wer>()?;
    registry.add::<metrics::Cer>()?;
    registry.add::<metrics::EditSimilarity>()
}

fn add_corpus(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::Accuracy>()?;
    registry.add::<metrics::MacroF1>()?;
    registry.add::<metrics::MicroF1>()?;
    registry.add::<metrics::BalancedAccuracy>()?;
    registry.add::<metrics::MatthewsCorrelation>()?;
    registry.add::<metrics::CohenKappa>()?;
    registry.add::<metrics::KrippendorffAlpha>()?;
    registry.add::<metrics::SpearmanCorrelation>()?;
    registry.add::<metrics::Auroc>()?;
    registry.add::<metrics::ExpectedCalibrationError>()?;
    registry.add::<metrics::BrierScore>()
}

fn add_format(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::JsonFieldAccuracy>()?;
    registry.add::<metrics::Format>()?;
    registry.add::<metrics::Keyword>()?;
    registry.add::<metrics::Length>()
}

#[cfg(feature = "sandbox")]
fn add_sandboxed(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::Sandbox>()?;
    registry.add::<metrics::TestPass>()?;
    registry.add::<metrics::VerificationDelta>()
}

fn add_code(registry: &mut Registry) -> Result<(), RegistryError> {
    #[cfg(feature = "sandbox")]
    add_sandboxed(registry)?;
    registry.add::<metrics::Syntax>()?;
    registry.add::<metrics::Diff>()
}

fn add_agents(registry: &mut Registry) -> Result<(), RegistryError> {
    #[cfg(feature = "schema")]
    registry.add::<metrics::ToolParamsSchema>()?;
    registry.add::<metrics::WasRepeated>()?;
    registry.add::<metrics::SubtaskPlanning>()?;
    registry.add::<metrics::SubtaskExecution>()?;
    registry.add::<metrics::Synthesis>()?;
    registry.add::<metrics::ToolStepUtility>()?;
    registry.add::<metrics::Combined>()?;
    registry.add::<metrics::OutcomeCoupled>()
}

fn add_program(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::Latency>()?;
    registry.add::<metrics::Tokens>()?;
    registry.add::<metrics::Cost>()
}
