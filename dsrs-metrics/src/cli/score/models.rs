//! `--lm`, `--budget` and the cache's options: the models that judges find in this run, and what their calls
//! took in the end.
//!
//! Whether they answer is found out by the harness, before the first row.

use super::super::args::LmArguments;
use super::super::error::CliError;
use crate::core::settings::Settings;
use crate::evaluate::EvaluationResult;

#[cfg(feature = "lm")]
pub(super) use real::RunModels;
#[cfg(not(feature = "lm"))]
pub(super) use unbuilt::RunModels;

#[cfg(not(feature = "lm"))]
mod unbuilt {
    use std::sync::Arc;

    use crate::core::metric::Metric;

    use super::{CliError, EvaluationResult, LmArguments, Settings};

    /// No models: they are not built in.
    pub(in super::super) struct RunModels;

    impl RunModels {
        pub(in super::super) fn new(args: &LmArguments) -> Result<Self, CliError> {
            let asked = [
                (args.lm.is_some(), "--lm"),
                (args.budget.is_some(), "--budget"),
                (args.no_cache, "--no-cache"),
                (args.refresh, "--refresh"),
            ];
            match asked.into_iter().find(|(is_asked, _)| *is_asked) {
                Some((_, option)) => Err(CliError::NoLm { option }),
                None => Ok(Self),
            }
        }

        #[expect(clippy::unused_self, reason = "as where there are models")]
        pub(in super::super) fn settings(&self) -> Settings {
            Settings::new()
        }

        #[expect(clippy::unused_self, reason = "as where there are models")]
        pub(in super::super) fn unasked(
            &self,
            _: &LmArguments,
            _: &[Arc<dyn Metric>],
        ) -> Option<String> {
            None
        }

        #[expect(clippy::unused_self, reason = "as where there are models")]
        pub(in super::super) fn uncovered(&self) -> Option<u64> {
            None
        }

        #[expect(clippy::unused_self, reason = "as where there are models")]
        pub(in super::super) fn taken(&self, _: Option<&EvaluationResult>) -> Option<String> {
            None
        }
    }
}

#[cfg(feature = "lm")]
mod real {
    use std::sync::Arc;

    use super::{CliError, EvaluationResult, LmArguments, Settings};
    use crate::core::metric::Metric;
    use crate::core::requirements::Need;
    use crate::judge::Models;
    use crate::lm::{CacheMode, CallTotals, LmBudget, LmBuilder, PROBE_PURPOSE};

    /// The models of one run; all count in one ledger and keep to one budget.
    pub(in super::super) struct RunModels {
        models: Models,
        budget: Option<LmBudget>,
    }

    impl RunModels {
        /// The model of `--lm`, or else that of `DSRS_LM`, if there is one; named ones when a judge names them.
        pub(in super::super) fn new(args: &LmArguments) -> Result<Self, CliError> {
            let budget = args.budget.map(LmBudget::msats);
            let (allow_unpriced, cache) = (args.allow_unpriced, cache_mode(args));
            let limit = budget.clone();
            let set_up = move |builder: LmBuilder| {
                let builder = builder.cache_mode(cache).allow_unpriced(allow_unpriced);
                match &limit {
                    Some(budget) => builder.budget(budget.clone()),
                    None => builder,
                }
            };
            let id = args.lm.clone().or_else(Models::chosen);
            Ok(Self { models: Models::built_by(id, set_up), budget })
        }

        pub(in super::super) fn settings(&self) -> Settings {
            Settings::new().with(self.models.clone())
        }

        /// What is to be said if `--lm` names a model that no metric asks.
        pub(in super::super) fn unasked(
            &self,
            args: &LmArguments,
            metrics: &[Arc<dyn Metric>],
        ) -> Option<String> {
            let id = args.lm.as_ref()?;
            let mut needs = Vec::new();
            self.settings().scope_sync(|| {
                metrics.iter().for_each(|metric| Metric::needs(metric, &mut needs));
            });
            let is_asked = |need: &Need| match need.lm() {
                Some(lm) => {
                    let configured = self.models.configured().ok().flatten();
                    configured.is_some_and(|configured| Arc::ptr_eq(lm, &configured))
                }
                // What is wrong with a model is said by the run itself.
                None => true,
            };
            let none = !needs.iter().any(is_asked);
            none.then(|| format!("warning: --lm {id}: no metric of this run asks that model"))
        }

        /// The most that a call might cost which the budget did not cover.
        pub(in super::super) fn uncovered(&self) -> Option<u64> {
            self.budget.as_ref()?.largest_rejected_msats()
        }

        /// What the calls took, if there were any. A run that was refused after its probes, without a result, says only why.
        pub(in super::super) fn taken(&self, result: Option<&EvaluationResult>) -> Option<String> {
            let ledger = self.models.ledger()?;
            let (total, by_purpose) = (ledger.total(), ledger.by_purpose());
            let probes = by_purpose.get(PROBE_PURPOSE).copied().unwrap_or_default();
            if total.calls == 0 || (result.is_none() && total.calls == probes.calls) {
                return None;
            }
            let of_these = match probes.calls {
                0 => String::new(),
                1 => format!("; of these 1 probe, {} msat", probes.cost_msats),
                calls => format!("; of these {calls} probes, {} msat", probes.cost_msats),
            };
            let rows = result.and_then(|result| declared(result, total, probes));
            Some(format!("language models: {total}{of_these}{}", rows.unwrap_or_default()))
        }
    }

    /// What rows count with, if that is more than is known to be paid.
    fn declared(
        result: &EvaluationResult,
        total: CallTotals,
        probes: CallTotals,
    ) -> Option<String> {
        let counted: u64 = result.metrics.iter().map(|metric| metric.cost_msats).sum();
        let is_more = counted > total.cost_msats.saturating_sub(probes.cost_msats);
        (total.unpriced > probes.unpriced && is_more).then(|| {
            format!("; rows count with {counted} msat, since their judges declare what is unknown")
        })
    }

    fn cache_mode(args: &LmArguments) -> CacheMode {
        match (args.no_cache, args.refresh) {
            (true, _) => CacheMode::Off,
            (_, true) => CacheMode::Refresh,
            _ => CacheMode::Use,
        }
    }
}
