//! The metrics that a command line knows, by name.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::core::metric::Metric;
use crate::core::params::{Configure, ParamError, Params};
use crate::core::spec::MetricSpec;
use crate::judge::shipped;
use crate::metrics;

/// The metrics that a command line knows, in the order in which they were added.
#[derive(Default)]
pub struct Registry {
    entries: IndexMap<String, Entry>,
    /// The names of built-in metrics, which a user's own may take.
    builtin: HashSet<String>,
}

/// One metric, or how to make it.
pub(super) enum Entry {
    Configured {
        spec: MetricSpec<'static>,
        make: fn(&Params) -> Result<Arc<dyn Metric>, ParamError>,
        defaults: fn() -> Vec<Option<String>>,
    },
    Made(Arc<dyn Metric>),
}

/// A metric that cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// A metric that was added before has the name.
    #[error("two metrics are called `{name}`; rename one with #[metric(name = \"..\")]")]
    Twice {
        /// The name.
        name: String,
    },
    /// The name could not be typed in a command.
    #[error("a metric cannot be called `{name}`: use letters, digits and `_`")]
    BadName {
        /// The name.
        name: String,
    },
}

#[cfg(feature = "sandbox")]
fn add_sandboxed(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::Sandbox>()?;
    registry.add::<metrics::TestPass>()?;
    registry.add::<metrics::VerificationDelta>()
}

#[cfg(feature = "sparql")]
fn add_sparql(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::SparqlSyntaxValid>()?;
    registry.add::<metrics::SparqlExecutes>()?;
    registry.add::<metrics::SparqlReturnsResults>()?;
    registry.add::<metrics::HeritageRag>()?;
    registry.add::<metrics::HeritageRagStrict>()
}

fn add_builtin(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::AnswerExactMatch>()?;
    registry.add::<metrics::AnswerPassageMatch>()?;
    registry.add::<metrics::Em>()?;
    registry.add::<metrics::F1>()?;
    registry.add::<metrics::HotpotF1>()?;
    registry.add::<metrics::Precision>()?;
    registry.add::<metrics::Recall>()?;
    registry.add::<metrics::NumericMatch>()?;
    registry.add::<shipped::SemanticF1>()?;
    registry.add::<shipped::DecompositionalSemanticF1>()?;
    registry.add::<shipped::CompleteAndGrounded>()?;
    registry.add::<shipped::LlmJudge>()?;
    registry.add::<shipped::AnswerRelevance>()?;
    registry.add::<shipped::AnswerGroundedness>()?;
    registry.add::<shipped::GEvalCompleteness>()?;
    registry.add::<shipped::PairwisePreference>()?;
    registry.add::<shipped::SemanticEquivalence>()?;
    registry.add::<metrics::IntentAccuracy>()?;
    registry.add::<metrics::IntentAccuracyWithFallback>()?;
    registry.add::<metrics::EntityF1>()?;
    registry.add::<metrics::EntityTypeAccuracy>()?;
    registry.add::<metrics::AnswerPresent>()?;
    registry.add::<metrics::SourcesUsed>()?;
    #[cfg(feature = "sparql")]
    add_sparql(registry)?;
    registry.add::<metrics::PrecisionAtK>()?;
    registry.add::<metrics::RecallAtK>()?;
    registry.add::<metrics::HitRate>()?;
    registry.add::<metrics::ReciprocalRank>()?;
    registry.add::<metrics::AveragePrecision>()?;
    registry.add::<metrics::Ndcg>()?;
    registry.add::<metrics::Bleu>()?;
    registry.add::<metrics::Chrf>()?;
    registry.add::<metrics::Rouge1>()?;
    registry.add::<metrics::Rouge2>()?;
    registry.add::<metrics::RougeL>()?;
    registry.add::<metrics::RougeLsum>()?;
    registry.add::<metrics::Wer>()?;
    registry.add::<metrics::Cer>()?;
    registry.add::<metrics::EditSimilarity>()?;
    registry.add::<metrics::JsonFieldAccuracy>()?;
    registry.add::<metrics::Format>()?;
    registry.add::<metrics::Keyword>()?;
    registry.add::<metrics::Length>()?;
    registry.add::<metrics::Syntax>()?;
    #[cfg(feature = "schema")]
    registry.add::<metrics::ToolParamsSchema>()?;
    registry.add::<metrics::WasRepeated>()?;
    #[cfg(feature = "sandbox")]
    add_sandboxed(registry)?;
    registry.add::<metrics::Diff>()?;
    add_agents(registry)
}

/// What coding agents say and do.
fn add_agents(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add::<metrics::SubtaskPlanning>()?;
    registry.add::<metrics::SubtaskExecution>()?;
    registry.add::<metrics::Synthesis>()?;
    registry.add::<metrics::ToolStepUtility>()?;
    registry.add::<metrics::Combined>()?;
    registry.add::<metrics::OutcomeCoupled>()
}

impl Registry {
    /// No metrics.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The built-in metrics.
    #[must_use]
    pub fn builtin() -> Self {
        let mut registry = Self::new();
        let added = add_builtin(&mut registry);
        debug_assert_eq!(added, Ok(()), "built-in metrics have names of their own");
        registry.builtin = registry.entries.keys().cloned().collect();
        registry
    }

    /// Adds a metric that is configured by `--param`.
    ///
    /// # Errors
    /// [`RegistryError`] if its name is taken or cannot be typed.
    pub fn add<M: Metric + Configure + 'static>(&mut self) -> Result<(), RegistryError> {
        let make = |params: &Params| -> Result<Arc<dyn Metric>, ParamError> {
            Ok(Arc::new(M::configure(params)?))
        };
        self.insert(M::SPEC.name, Entry::Configured { spec: M::SPEC, make, defaults: M::defaults })
    }

    /// Adds a metric as it is, a closure for example.
    ///
    /// # Errors
    /// [`RegistryError`] if its name is taken or cannot be typed.
    pub fn add_metric(&mut self, metric: impl Metric + 'static) -> Result<(), RegistryError> {
        let name = metric.name().to_owned();
        self.insert(&name, Entry::Made(Arc::new(metric)))
    }

    fn insert(&mut self, name: &str, entry: Entry) -> Result<(), RegistryError> {
        let typeable = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let name = name.to_owned();
        if name.is_empty() || !name.chars().all(typeable) {
            return Err(RegistryError::BadName { name });
        }
        // A user's own metric stands in for the built-in one of its name.
        if self.entries.contains_key(&name) && !self.builtin.remove(&name) {
            return Err(RegistryError::Twice { name });
        }
        self.entries.insert(name, entry);
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }
}

impl Entry {
    pub(super) fn spec(&self) -> MetricSpec<'_> {
        match self {
            Self::Configured { spec, .. } => *spec,
            Self::Made(metric) => metric.spec(),
        }
    }

    /// The parameters' defaults as they would be typed, as far as that is known.
    pub(super) fn defaults(&self) -> Vec<Option<String>> {
        match self {
            Self::Configured { defaults, .. } => defaults(),
            Self::Made(_) => Vec::new(),
        }
    }

    pub(super) fn make(&self, params: &Params) -> Result<Arc<dyn Metric>, ParamError> {
        match self {
            Self::Configured { make, .. } => make(params),
            Self::Made(metric) => {
                params.check(&metric.spec())?;
                Ok(Arc::clone(metric))
            }
        }
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}
