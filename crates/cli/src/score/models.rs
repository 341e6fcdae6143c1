//! `--lm`, `--embed`, `--offline`, `--budget` and the options of the store: the language models of the judges of a run, and
//! a summary of their calls.
//!
//! The harness checks before the first row whether the models reply.

use std::path::PathBuf;
use std::sync::Arc;

use super::rows::Builder;
use super::{embedder, offline};
use crate::args::{LmArguments, ScoreArguments};
use crate::core::declared::requirements::Requirement;
use crate::core::metric::Metric;
use crate::core::metric::settings::Settings;
use crate::error::CliError;
use crate::evaluate::{Ending, EvaluationResult};
use crate::judge::Models;
use crate::lm::{CallTotals, Ledger, LmBudget, LmBuilder, LmEstimate, PROBE_PURPOSE, Store};
use crate::messages::hash;
use crate::stdio::print_error;
use crate::store_arguments::StoreArguments;

/// The models of one run. All of them share one ledger and one budget.
pub(crate) struct RunModels {
    models: Models,
    budget: Option<LmBudget>,
}

impl RunModels {
    /// The model of `--lm`, or else the model of `DSRS_LM`, if there is one. Models that a judge names
    /// are added when the judge needs them.
    ///
    /// What is spent is in the store until the run ends. The budget also covers a run that was killed.
    pub(crate) fn new(args: &ScoreArguments) -> Result<Self, CliError> {
        Self::with_estimate(args, None)
    }

    /// The same models, which count their calls in this estimate if there is one, and make none.
    pub(super) fn with_estimate(
        run: &ScoreArguments,
        estimate: Option<LmEstimate>,
    ) -> Result<Self, CliError> {
        let args = &run.options.lm;
        let mut budget = args.budget.map(LmBudget::msats);
        if estimate.is_none()
            && let (Some(folder), Some(whole)) = (folder(args)?, &mut budget)
        {
            let kept = whole
                .clone()
                .kept_in(&Store::open(folder)?, budget_name(run))?;
            if kept.spent_before_msats() > 0 && !run.options.quiet {
                print_error(format_args!(
                    "--budget: {} msat were spent before this run was interrupted",
                    kept.spent_before_msats()
                ));
            }
            *whole = kept;
        }
        let (allow_unpriced, store) = (args.allow_unpriced, args.store.clone());
        let shared_budget = budget.clone();
        let configure = move |builder: LmBuilder| {
            let mut builder = builder
                .refresh(store.refresh)
                .allow_unpriced(allow_unpriced);
            if let Some(folder) = &store.store {
                builder = builder.store(folder);
            }
            if store.no_store {
                builder = builder.no_store();
            }
            if let Some(estimate) = &estimate {
                builder = builder.estimate(estimate.clone());
            }
            match &shared_budget {
                Some(budget) => builder.budget(budget.clone()),
                None => builder,
            }
        };
        let models = match args.offline {
            true => Models::offline(),
            false => Models::built_by(args.lm.clone().or_else(Models::chosen), configure),
        };
        let models = embedder::set(models, args);
        Ok(Self { models, budget })
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::new().with(self.models.clone())
    }

    /// Keeps what metrics of the run pay for in the store, if any of them may cost something.
    pub(crate) fn kept(
        &self,
        builder: Builder,
        args: &ScoreArguments,
        metrics: &[Arc<dyn Metric>],
    ) -> Result<Builder, CliError> {
        let lm = &args.options.lm;
        let has_cost = metrics.iter().any(|metric| metric.spec().cost_msats > 0);
        let folder = if has_cost || self.calls_model(metrics) {
            folder(lm)?
        } else {
            None
        };
        Ok(match folder {
            Some(folder) => builder.store(folder).refresh(lm.store.refresh),
            None => builder,
        })
    }

    fn calls_model(&self, metrics: &[Arc<dyn Metric>]) -> bool {
        let mut requirements = Vec::new();
        self.settings().scope_sync(|| {
            metrics
                .iter()
                .for_each(|metric| metric.requirements(&mut requirements));
        });
        requirements
            .iter()
            .any(|it| it.lm().is_some() || it.embedding_model().is_some())
    }

    /// Forgets what was spent of the budget, unless the same command continues the run.
    pub(crate) fn end(&self, result: &EvaluationResult) -> Result<(), CliError> {
        match (&self.budget, &result.ending) {
            (None, _) | (_, Ending::Stopped | Ending::OutputFailed(_)) => Ok(()),
            (Some(budget), _) => Ok(budget.end()?),
        }
    }

    /// Adds the calls of the models to the manifest of a run.
    pub(crate) fn recorded(&self, builder: Builder) -> Builder {
        match self.models.ledger() {
            Some(ledger) => builder.ledger(ledger.clone()),
            None => builder,
        }
    }

    /// The ledger of all calls.
    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        self.models.ledger()
    }

    /// Warnings about models that no metric uses, or that are not called.
    pub(crate) fn unused_warnings(
        &self,
        args: &LmArguments,
        metrics: &[Arc<dyn Metric>],
    ) -> Vec<String> {
        let of_judges = self.unused_warning(args, metrics);
        of_judges
            .into_iter()
            .chain(embedder::warning(self.settings(), args, metrics))
            .collect()
    }

    /// A warning if no metric uses the model of `--lm`, or if `--offline` has no effect or sets aside a model.
    fn unused_warning(&self, args: &LmArguments, metrics: &[Arc<dyn Metric>]) -> Option<String> {
        if args.offline {
            return offline::warning(metrics, Models::chosen().as_deref());
        }
        let id = args.lm.as_ref()?;
        let mut requirements = Vec::new();
        self.settings().scope_sync(|| {
            metrics
                .iter()
                .for_each(|metric| metric.requirements(&mut requirements));
        });
        let uses_model = |requirement: &Requirement| match requirement.lm() {
            Some(lm) => self
                .models
                .named(id)
                .is_ok_and(|named| Arc::ptr_eq(lm, &named)),
            // The run itself reports an invalid model.
            None => !requirement.is_check() && requirement.embedding_model().is_none(),
        };
        let is_unused = !requirements.iter().any(uses_model);
        is_unused.then(|| format!("warning: --lm {id}: no metric of this run uses this model"))
    }

    /// The largest possible cost, in millisatoshis, of a call that the budget did not cover.
    pub(crate) fn uncovered_msats(&self) -> Option<u64> {
        self.budget.as_ref()?.largest_rejected_msats()
    }

    /// A line if the calls cost more than the budget, which only a provider can cause that charges more
    /// tokens than a call allows.
    pub(crate) fn overrun(&self) -> Option<String> {
        let budget = self.budget.as_ref()?;
        let (overrun, tokens) = (budget.overrun_msats(), budget.overrun());
        let why = tokens.map_or_else(String::new, |tokens| format!("; {tokens}"));
        let spent = budget.spent_msats();
        (overrun > 0)
            .then(|| format!("the calls cost {spent} msat, {overrun} msat more than --budget{why}"))
    }

    /// A warning if a provider reported more tokens than a call allowed, within the budget.
    pub(crate) fn overrun_warning(&self) -> Option<String> {
        let budget = self
            .budget
            .as_ref()
            .filter(|budget| budget.overrun_msats() == 0)?;
        let overrun = budget.overrun()?;
        Some(format!(
            "warning: {overrun}; calls may cost more than --budget reserves for them"
        ))
    }

    /// A summary of the calls, if there were any. A run without a result, which failed after the
    /// preflight probes, has none.
    pub(crate) fn usage(&self, result: Option<&EvaluationResult>) -> Option<String> {
        let ledger = self.models.ledger()?;
        let (total, by_purpose) = (ledger.total(), ledger.by_purpose());
        let probes = by_purpose.get(PROBE_PURPOSE).copied().unwrap_or_default();
        let (calls, is_of_probes) = (total.calls + total.refused, total.calls == probes.calls);
        if calls == 0 || (result.is_none() && is_of_probes) {
            return None;
        }
        let of_probes = match probes.calls {
            0 => String::new(),
            1 => format!("; of these 1 probe, {} msat", probes.cost_msats),
            calls => format!("; of these {calls} probes, {} msat", probes.cost_msats),
        };
        let of_rows = result.and_then(|result| declared_cost(result, total, probes));
        Some(format!(
            "language models: {total}{of_probes}{}",
            of_rows.unwrap_or_default()
        ))
    }
}

/// The cost that rows are charged, if it is more than the known cost of their calls.
fn declared_cost(
    result: &EvaluationResult,
    total: CallTotals,
    probes: CallTotals,
) -> Option<String> {
    let charged: u64 = result.metrics.iter().map(|metric| metric.cost_msats).sum();
    let is_more = charged > total.cost_msats.saturating_sub(probes.cost_msats);
    (total.unpriced > probes.unpriced && is_more).then(|| {
        format!(
            "; rows are charged {charged} msat, as declared by judges for calls of unknown cost"
        )
    })
}

/// Returns the folder of the store; `None` without one.
fn folder(args: &LmArguments) -> Result<Option<PathBuf>, CliError> {
    match &args.store {
        _ if args.offline => Ok(None),
        StoreArguments { no_store: true, .. } => Ok(None),
        StoreArguments {
            store: Some(folder),
            ..
        } => Ok(Some(folder.clone())),
        _ => Ok(Some(Store::chosen_dir()?)),
    }
}

/// Returns the name of the run's budget: two runs have one budget if they score the same files by the same metrics.
fn budget_name(args: &ScoreArguments) -> String {
    let ScoreArguments {
        data,
        metrics,
        params,
        out,
        repeats,
        options,
        ..
    } = args;
    let path = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let data: Vec<_> = data.iter().map(path).collect();
    let run = format!(
        "{:?}",
        (data, metrics, params, out, repeats, &options.lm.lm)
    );
    format!("score {}", hash::sha256(run.as_bytes()))
}
