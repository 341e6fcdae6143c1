//! `--lm`, `--embed`, `--offline`, `--budget` and the store options: sets up the language models for a run's judges,
//! and summarizes their calls. Without the `lm` feature, only the offline judge and static embeddings are available.
//!
//! Before the first row, the harness checks that the models reply.

#[cfg(feature = "lm")]
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "lm")]
use super::plan::Builder;
use crate::args::{LmArguments, ScoreArguments};
use crate::contract::{Metric, Requirement, Settings};
use crate::data::NamedFile;
#[cfg(feature = "lm")]
use crate::evaluate::Ending;
use crate::evaluate::EvaluationResult;
use crate::judge::Models;
use crate::lm::Ledger;
#[cfg(feature = "lm")]
use crate::lm::{LmBudget, LmBuilder, LmEstimate, PROBE_PURPOSE, Store};
use crate::metrics::Registry;
use crate::options::set;
use crate::output::Result;
#[cfg(not(feature = "lm"))]
use crate::output::err;

/// Everything that a command knows before the first row: what it scores, and which models and settings it uses.
pub(crate) struct Run<'a> {
    pub(super) registry: &'a Registry,
    pub(super) args: &'a ScoreArguments,
    pub(super) inputs: &'a [NamedFile<'a>],
    pub(crate) metrics: Vec<Arc<dyn Metric>>,
    /// The models for the judges, which share one ledger and one budget. Without the `lm` feature, this is `None`
    /// unless an option selects a model.
    pub(super) models: Option<Models>,
    #[cfg(feature = "lm")]
    pub(super) budget: Option<LmBudget>,
    /// Counts the calls in a run that makes none.
    #[cfg(feature = "lm")]
    pub(super) estimate: Option<LmEstimate>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        registry: &'a Registry,
        args: &'a ScoreArguments,
        inputs: &'a [NamedFile<'a>],
        metrics: Vec<Arc<dyn Metric>>,
    ) -> Result<Self> {
        let run = Self {
            registry,
            args,
            inputs,
            metrics,
            models: None,
            #[cfg(feature = "lm")]
            budget: None,
            #[cfg(feature = "lm")]
            estimate: None,
        };
        run.with_models()
    }
}

#[cfg(not(feature = "lm"))]
impl Run<'_> {
    fn with_models(self) -> Result<Self> {
        let lm = &self.args.options.lm;
        let options = [
            (lm.lm.is_some(), "--lm"),
            (lm.budget.is_some(), "--budget"),
            (lm.no_store, "--no-store"),
            (lm.refresh, "--refresh"),
            (lm.store.is_some(), "--store"),
            (lm.estimate, "--estimate"),
        ];
        if let Some((_, option)) = options.into_iter().find(|(is_set, _)| *is_set) {
            return Err(err!(
                "{option}: this program was built without language models; run `cargo install dsrs-metrics --features cli,lm`, or enable `lm` on your `dsrs-metrics` dependency"
            ));
        }
        let models = match lm.offline {
            true => Some(Models::offline()),
            false => lm.embed.is_some().then(Models::default),
        };
        let models = models.map(|models| with_embedder(models, lm));
        Ok(Self { models, ..self })
    }

    /// If there are no models, there is no budget.
    pub(super) fn beyond_budget(&self, _: &EvaluationResult) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(feature = "lm")]
impl Run<'_> {
    /// Sets up the model in `--lm`, or in `DSRS_LM` if there is none. If a judge names a different model, it is added
    /// when the judge needs it.
    ///
    /// The store keeps what was spent until the run ends, so the budget also covers a run that was killed.
    fn with_models(self) -> Result<Self> {
        let (args, lm) = (self.args, &self.args.options.lm);
        let estimate = lm.estimate.then(LmEstimate::new);
        let mut budget = lm.budget.map(LmBudget::msats);
        if !lm.estimate
            && let (Some(folder), Some(whole)) = (folder(lm)?, &mut budget)
        {
            let name = budget_name(args);
            *whole = whole.clone().kept_in(&Store::open(folder)?, name)?;
            let before = Some(whole.spent_before_msats()).filter(|before| *before > 0);
            args.options.warn(before.map(|before| {
                format!("--budget: {before} msat were spent before this run was interrupted")
            }));
        }
        let (options, shared) = (lm.clone(), (budget.clone(), estimate.clone()));
        let configure = move |builder: LmBuilder| {
            let mut builder = builder
                .refresh(options.refresh)
                .allow_unpriced(options.allow_unpriced);
            if options.no_store {
                builder = builder.no_store();
            }
            builder = set(builder, options.store.as_ref(), LmBuilder::store);
            builder = set(builder, shared.1.clone(), LmBuilder::estimate);
            set(builder, shared.0.clone(), LmBuilder::budget)
        };
        let models = match lm.offline {
            true => Models::offline(),
            false => Models::built_by(lm.lm.clone().or_else(Models::chosen), configure),
        };
        Ok(Self {
            models: Some(with_embedder(models, lm)),
            budget,
            estimate,
            ..self
        })
    }

    /// Adds the store and the models' calls to a run. If any metric may cost something, the store keeps what is paid
    /// for.
    pub(super) fn observed(&self, mut builder: Builder) -> Result<Builder> {
        let (lm, mut metrics) = (&self.args.options.lm, self.metrics.iter());
        let has_model = |it: &Requirement| it.lm().is_some() || it.embedding_model().is_some();
        let has_cost =
            metrics.any(|metric| metric.spec().cost_msats > 0) || self.requires(has_model);
        if has_cost && let Some(folder) = folder(lm)? {
            builder = builder.models(|models| models.store(folder).refresh(lm.refresh));
        }
        Ok(set(builder, self.ledger(), |builder, ledger| {
            builder.models(|models| models.ledger(ledger.clone()))
        }))
    }

    /// Clears the record of what was spent from the budget, unless the same command will continue the run.
    pub(crate) fn end(&self, result: &EvaluationResult) -> Result<()> {
        match (&self.budget, &result.ending) {
            (None, _) | (_, Ending::Stopped | Ending::OutputFailed(_)) => Ok(()),
            (Some(budget), _) => Ok(budget.end()?),
        }
    }

    /// Returns a line for each metric with rows that were skipped because of the budget. Adds a line if the calls cost
    /// more than the budget, which happens only if a provider charges for more tokens than a call allows.
    pub(super) fn beyond_budget(&self, result: &EvaluationResult) -> Vec<String> {
        let Some(budget) = &self.budget else {
            return Vec::new();
        };
        let call = budget.largest_rejected_msats();
        let call = call.map(|msats| format!("; a call may cost up to {msats} msat"));
        let call = call.unwrap_or_default();
        let skipped = self.named(result).filter(|metric| metric.skipped > 0);
        let mut lines: Vec<String> = skipped
            .map(|metric| {
                let (name, skipped, rows) = (&metric.name, metric.skipped, metric.rows());
                format!("{name}: --budget did not cover {skipped} of {rows} rows, which were skipped{call}")
            })
            .collect();
        let (spent, overrun) = (budget.spent_msats(), budget.overrun_msats());
        if overrun > 0 {
            let why = budget.overrun().map(|tokens| format!("; {tokens}"));
            let why = why.unwrap_or_default();
            lines.push(format!(
                "the calls cost {spent} msat, {overrun} msat more than --budget{why}"
            ));
        }
        lines
    }

    /// Returns a summary of the calls, if there were any. If a run failed after its preflight probes, there is no
    /// result and no summary.
    pub(crate) fn usage(&self, result: Option<&EvaluationResult>) -> Option<String> {
        let ledger = self.ledger()?;
        let (total, by_purpose) = (ledger.total(), ledger.by_purpose());
        let probes = by_purpose.get(PROBE_PURPOSE).copied().unwrap_or_default();
        let (calls, is_of_probes) = (total.calls + total.refused, total.calls == probes.calls);
        if calls == 0 || (result.is_none() && is_of_probes) {
            return None;
        }
        let of_probes = match probes.calls {
            0 => String::new(),
            calls => format!("; probes: {calls}, {} msat", probes.cost_msats),
        };
        Some(format!("language models: {total}{of_probes}"))
    }
}

impl Run<'_> {
    pub(crate) fn settings(&self) -> Settings {
        match &self.models {
            Some(models) => Settings::new().with(models.clone()),
            None => Settings::new(),
        }
    }

    /// Returns `true` if any metric has a requirement that meets the condition.
    fn requires(&self, is_met: impl Fn(&Requirement) -> bool) -> bool {
        let mut requirements = Vec::new();
        self.settings().scope_sync(|| {
            for metric in &self.metrics {
                metric.requirements(&mut requirements);
            }
        });
        requirements.iter().any(is_met)
    }

    /// Returns the ledger that records all calls.
    pub(super) fn ledger(&self) -> Option<&Ledger> {
        self.models.as_ref()?.ledger()
    }

    /// Returns warnings about options that no metric uses. The run itself reports a model that is missing or invalid.
    pub(crate) fn unused_warnings(&self) -> Vec<String> {
        let lm = &self.args.options.lm;
        let is_used = |is_met: fn(&Requirement) -> bool| {
            self.requires(|it| is_met(it) || it.missing_reason().is_some())
        };
        let options = [
            ("--lm", lm.lm.is_some() && !is_used(|it| it.lm().is_some())),
            ("--offline", lm.offline && !is_used(Requirement::is_offline)),
            (
                "--embed",
                lm.embed.is_some() && !is_used(|it| it.embedding_model().is_some()),
            ),
        ];
        let unused = options.iter().filter(|(_, is_unused)| *is_unused);
        unused
            .map(|(option, _)| format!("warning: {option}: no metric in this run uses it"))
            .collect()
    }
}

fn with_embedder(models: Models, args: &LmArguments) -> Models {
    set(models, args.embed.as_deref(), Models::with_embedder)
}

/// Returns the store's folder, or `None` if there is no store.
#[cfg(feature = "lm")]
fn folder(args: &LmArguments) -> Result<Option<PathBuf>> {
    match &args.store {
        _ if args.offline || args.no_store => Ok(None),
        Some(folder) => Ok(Some(folder.clone())),
        None => Ok(Some(Store::chosen_dir()?)),
    }
}

/// Returns the name of the run's budget. Two runs share a budget if they score the same files with the same metrics.
#[cfg(feature = "lm")]
fn budget_name(args: &ScoreArguments) -> String {
    let path = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let data: Vec<_> = args.data.iter().map(path).collect();
    let (metrics, params, lm) = (&args.metrics, &args.params, &args.options.lm.lm);
    let run = format!("{:?}", (data, metrics, params, &args.out, args.repeats, lm));
    format!("score {}", crate::messages::hash::sha256(run.as_bytes()))
}
