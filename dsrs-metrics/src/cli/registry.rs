//! The metrics of a command line, by name.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;

use super::error::CliError;
use super::hint::Hint;
use super::instance;
use crate::core::metric::Metric;
use crate::core::params::{Configure, ParamError, Params};
use crate::core::spec::MetricSpec;
use crate::judge::shipped;
use crate::metrics;

/// The metrics of a command line, in the order in which they were added.
#[derive(Default)]
pub struct Registry {
    entries: IndexMap<String, Entry>,
    /// The built-in metrics, each with its group. A metric of the user may replace them.
    builtin: HashMap<String, &'static str>,
}

/// A metric, or how to create it.
pub(super) enum Entry {
    /// A metric with parameters.
    Configurable {
        spec: MetricSpec<'static>,
        configure: fn(&Params) -> Result<Arc<dyn Metric>, ParamError>,
        defaults: fn() -> Vec<Option<String>>,
    },
    /// A metric without parameters, created by the user.
    Fixed(Arc<dyn Metric>),
}

/// Why a metric cannot be added to a [`Registry`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Another metric has the same name.
    #[error("duplicate metric name `{name}`; rename one with #[metric(name = \"..\")]")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The name contains characters that the options of a command cannot contain.
    #[error(
        "invalid metric name `{name}`: expected letters, digits, `_` and `-`; rename the metric"
    )]
    InvalidName {
        /// The name.
        name: String,
    },
}

/// The built-in metrics that need a feature, the feature, and whether it is enabled.
const FEATURES: &[(&[&str], &str, bool)] = &[
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
type Group = (&'static str, fn(&mut Registry) -> Result<(), RegistryError>);

/// The groups of the built-in metrics, in the order of `list`.
const GROUPS: &[Group] = &[
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

impl Registry {
    /// Returns a registry without metrics.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a registry of the built-in metrics.
    #[must_use]
    pub fn builtin() -> Self {
        let mut registry = Self::new();
        let mut builtin = HashMap::new();
        for (group, add) in GROUPS {
            let before = registry.entries.len();
            let added = add(&mut registry);
            debug_assert_eq!(added, Ok(()), "the names of built-in metrics are unique");
            let names = registry.entries.keys().skip(before);
            builtin.extend(names.map(|name| (name.clone(), *group)));
        }
        registry.builtin = builtin;
        registry
    }

    /// Adds a metric whose parameters are set with `--param`. It replaces a built-in metric of its
    /// name.
    ///
    /// # Errors
    /// [`RegistryError`] if the name is a duplicate or invalid.
    pub fn add<M: Metric + Configure + 'static>(&mut self) -> Result<(), RegistryError> {
        let configure = |params: &Params| -> Result<Arc<dyn Metric>, ParamError> {
            let (settings, params) = instance::settings(params, &M::SPEC)?;
            let metric = M::configure(&params)?;
            match settings {
                None => Ok(Arc::new(metric)),
                Some(settings) => Ok(Arc::new(instance::apply(metric, M::SPEC, settings)?)),
            }
        };
        let entry = Entry::Configurable { spec: M::SPEC, configure, defaults: M::defaults };
        self.insert(M::SPEC.name, entry)
    }

    /// Adds a metric without parameters, for example a closure. Its threshold, strictness and cost are
    /// set with `--param` too. It replaces a built-in metric of its name.
    ///
    /// # Errors
    /// [`RegistryError`] if the name is a duplicate or invalid.
    pub fn add_metric(&mut self, metric: impl Metric + 'static) -> Result<(), RegistryError> {
        let name = metric.name().to_owned();
        self.insert(&name, Entry::Fixed(Arc::new(metric)))
    }

    fn insert(&mut self, name: &str, entry: Entry) -> Result<(), RegistryError> {
        let is_valid = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let name = name.to_owned();
        if name.is_empty() || !name.chars().all(is_valid) {
            return Err(RegistryError::InvalidName { name });
        }
        // A metric of the user replaces the built-in one of its name, once.
        if self.entries.contains_key(&name) && self.builtin.remove(&name).is_none() {
            return Err(RegistryError::DuplicateName { name });
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

    /// Returns the groups and their metrics: the built-in groups, then the metrics of the user.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&'static str, Vec<&Entry>)> {
        let groups = GROUPS.iter().map(|(name, _)| (*name, Some(*name)));
        groups.chain([("other", None)]).filter_map(|(name, group)| {
            let members = self.entries.iter().filter(|(name, _)| self.group(name) == group);
            let members: Vec<_> = members.map(|(_, entry)| entry).collect();
            (!members.is_empty()).then_some((name, members))
        })
    }

    fn group(&self, name: &str) -> Option<&'static str> {
        self.builtin.get(name).copied()
    }

    /// Returns the feature without which a built-in metric is not in this program.
    fn missing_feature(&self, name: &str) -> Option<&'static str> {
        let has_builtin = !self.builtin.is_empty();
        let needs = |(names, _, enabled): &&(&[&str], _, _)| !enabled && names.contains(&name);
        FEATURES.iter().find(needs).filter(|_| has_builtin).map(|(_, feature, _)| *feature)
    }

    /// Returns the metric of this name, or an error that suggests one.
    pub(super) fn find(&self, name: &str) -> Result<&Entry, CliError> {
        self.get(name).ok_or_else(|| {
            let known = self.entries.keys().map(String::as_str);
            if let Some(feature) = self.missing_feature(name) {
                return CliError::MissingFeature { name: name.to_owned(), feature };
            }
            let hint = Hint::nearest(name, known).or(Hint::Instead("see `list` for all metrics"));
            CliError::UnknownMetric { name: name.to_owned(), hint }
        })
    }
}

impl Entry {
    pub(super) fn spec(&self) -> MetricSpec<'_> {
        match self {
            Self::Configurable { spec, .. } => *spec,
            Self::Fixed(metric) => metric.spec(),
        }
    }

    /// The defaults of the parameters as a user types them, where they are known.
    pub(super) fn defaults(&self) -> Vec<Option<String>> {
        match self {
            Self::Configurable { defaults, .. } => defaults(),
            Self::Fixed(_) => Vec::new(),
        }
    }

    /// Creates the metric with these parameters.
    pub(super) fn configure(&self, params: &Params) -> Result<Arc<dyn Metric>, ParamError> {
        match self {
            Self::Configurable { configure, .. } => configure(params),
            Self::Fixed(metric) => {
                let (settings, params) = instance::settings(params, &metric.spec())?;
                params.check(&metric.spec())?;
                let metric = Arc::clone(metric);
                settings.map_or(Ok(Arc::clone(&metric)), |it| instance::adjust(metric, it))
            }
        }
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{FEATURES, Registry};

    #[test]
    fn a_metric_of_a_disabled_feature_is_an_error_that_names_the_feature() {
        let registry = Registry::builtin();
        for (names, feature, enabled) in FEATURES {
            for name in *names {
                let error = registry.find(name).err().map(|error| error.to_string());
                let message = format!(
                    "metric `{name}` needs the feature `{feature}`, which this program was built without; build it \
                     with `cargo install dsrs-metrics --features cli,{feature}`, or enable the feature `{feature}` of \
                     the dependency `dsrs-metrics`"
                );
                assert_eq!(error, (!enabled).then_some(message));
            }
        }
        let unknown = Registry::new().find("heritage_rag").err().unwrap().to_string();
        assert_eq!(unknown, "unknown metric `heritage_rag`; see `list` for all metrics");
    }
}
