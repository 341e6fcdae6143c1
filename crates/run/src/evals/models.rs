//! The language models of an eval: the default model for judges, the budget, and recorded calls.

#[cfg(feature = "lm")]
use std::sync::Arc;

use serde::Serialize;

use super::environment::Update;
use super::eval::{Settings as EvalSettings, Source};
#[cfg(feature = "lm")]
use super::pool::{Pool, Reservation};
use crate::contract::Settings;
use crate::contract::judge::Models;
use crate::evaluate::{EvaluateBuilder, EvaluationResult};
use crate::lm::Ledger;
#[cfg(feature = "lm")]
use crate::lm::{LmBudget, replay::Replay};

/// The language models of an eval.
pub(super) struct EvalModels {
    models: Models,
    /// The maximum cost of the eval, in millisatoshis.
    budget_msats: Option<u64>,
    #[cfg(feature = "lm")]
    reserved: Option<Reservation>,
    #[cfg(feature = "lm")]
    budget: Option<LmBudget>,
    #[cfg(feature = "lm")]
    replay: Option<Arc<Replay>>,
}

impl EvalModels {
    #[cfg(not(feature = "lm"))]
    pub(super) fn new(_: &Source, settings: &EvalSettings, _: Update) -> Result<Self, String> {
        if settings.replay.is_some() || settings.is_live {
            return Err("`live` and `replay` need the `lm` feature; add `features = [\"lm\"]` to the `dsrs-metrics` dependency in Cargo.toml".to_owned());
        }
        Ok(Self {
            models: Models::default(),
            budget_msats: settings.budget_msats,
        })
    }

    /// Reserves the budget before anything else is opened. This may wait for other evals.
    #[cfg(feature = "lm")]
    pub(super) fn new(
        source: &Source,
        settings: &EvalSettings,
        update: Update,
    ) -> Result<Self, String> {
        let replay = replay(source, settings, update)?;
        let pool = settings.is_live.then(Pool::of_run).transpose()?.flatten();
        let reserved = pool.map(|pool| pool.reserve(settings.budget_msats));
        let reserved = reserved.transpose()?;
        let of_pool = reserved.as_ref().map(Reservation::msats);
        let budget_msats = [settings.budget_msats, of_pool].into_iter().flatten().min();
        let budget = budget_msats.map(LmBudget::msats);
        let models = match settings.is_live {
            // Without `live`, a variable that happens to be set must not make the eval call a model.
            false => Models::default(),
            true => {
                let (id, budget) = (settings.model.map(str::to_owned), budget.clone());
                Models::built_by(id.or_else(Models::chosen), move |builder| match &budget {
                    Some(budget) => builder.budget(budget.clone()),
                    None => builder,
                })
            }
        };
        Ok(Self {
            models,
            budget_msats,
            reserved,
            budget,
            replay,
        })
    }

    /// Adds the models' calls to the manifest.
    pub(super) fn recorded<G, P>(&self, evaluate: EvaluateBuilder<G, P>) -> EvaluateBuilder<G, P>
    where
        G: Send + Sync + 'static,
        P: Send + Sync + 'static,
    {
        match self.models.ledger() {
            Some(ledger) => evaluate.models(|models| models.ledger(ledger.clone())),
            None => evaluate,
        }
    }

    /// Runs the eval with these models.
    pub(super) fn scope<T>(&self, run: impl FnOnce() -> T) -> T {
        let run = || Settings::new().with(self.models.clone()).scope_sync(run);
        #[cfg(feature = "lm")]
        if let Some(replay) = &self.replay {
            return replay.scope_sync(run);
        }
        run()
    }

    /// Settles the cost of the eval. Returns lines about it, or an error if it exceeds the budget.
    pub(super) fn finish<G: Serialize, P: Serialize>(
        self,
        result: Option<&EvaluationResult<G, P>>,
    ) -> Result<Vec<String>, String> {
        let of_ledger = self.models.ledger().map(Ledger::total);
        let of_rows = result.map_or(0, cost);
        // A row's cost includes its results, even if an earlier run paid for them.
        let (paid, stored) = of_ledger.map_or((0, 0), |it| (it.cost_msats, it.stored_msats));
        let spent = paid.max(of_rows.saturating_sub(stored));
        #[cfg(feature = "lm")]
        let replayed = self.settle(spent)?;
        if let Some(budget) = self.budget_msats.filter(|budget| spent > *budget) {
            return Err(format!(
                "the eval cost {spent} msat, more than its budget of {budget} msat; raise `budget`"
            ));
        }
        let of_ledger = of_ledger.filter(|total| total.calls + total.refused > 0);
        let lines = of_ledger.map(|total| format!("language models: {total}"));
        #[cfg(feature = "lm")]
        let lines = lines.into_iter().chain(replayed);
        Ok(lines.into_iter().collect())
    }

    /// Settles the reserved budget. Returns a line about the recorded calls.
    #[cfg(feature = "lm")]
    fn settle(&self, spent: u64) -> Result<Option<String>, String> {
        let replay = self.replay.as_ref();
        let replayed = replay.map(|replay| replay.finish()).transpose();
        let replayed = replayed.map_err(|error| error.to_string())?;
        if let Some(reserved) = &self.reserved {
            reserved.settle(spent)?;
        }
        // Regardless of what happened to the rows, they were not scored as they were when the calls were recorded.
        if let Some(error) = replay.and_then(|replay| replay.missing()) {
            return Err(error.to_string());
        }
        let budget = self.budget.as_ref();
        if let Some(rejected) = budget.and_then(LmBudget::largest_rejected_msats) {
            return Err(format!(
                "the budget of {} msat does not cover all calls: {spent} msat were spent, and a call may cost {rejected} msat; raise `budget`",
                self.budget_msats.unwrap_or_default()
            ));
        }
        Ok(replayed.map(|it| {
            let (recorded, replayed, unused) = (it.recorded, it.replayed, it.unused);
            format!("recorded calls: {replayed} replayed, {recorded} recorded, {unused} not used")
        }))
    }
}

/// Opens the recorded calls of the eval. They are recorded again or completed along with the baseline.
#[cfg(feature = "lm")]
fn replay(
    source: &Source,
    settings: &EvalSettings,
    update: Update,
) -> Result<Option<Arc<Replay>>, String> {
    let Some(path) = settings.replay else {
        return Ok(None);
    };
    let file = source.in_package("replay", path)?;
    let replay = match update {
        Update::Always => Replay::recording(file, false),
        Update::New { records: true } => Replay::recording(file, true),
        Update::New { records: false } | Update::No => Replay::read(file),
    };
    replay
        .map(|replay| Some(Arc::new(replay)))
        .map_err(|error| error.to_string())
}

/// Returns the cost that programs and metrics reported.
fn cost<G: Serialize, P: Serialize>(result: &EvaluationResult<G, P>) -> u64 {
    let of_metrics = result.metrics.iter().map(|metric| metric.cost_msats);
    let of_program = result.program.usage.and_then(|usage| usage.cost_msats);
    let of_program = of_program.unwrap_or(0);
    of_metrics.fold(of_program, u64::saturating_add)
}
