//! The methods of [`Evaluate`] for rows with several rollouts under a gate, for [`Scorer`](crate::Scorer).

use std::sync::Arc;

use super::input::{Input, Source, check_row};
use super::report::score_line;
use super::row::{Gate, Predicted, ScoredRollouts};
use super::{Evaluate, Running};
use crate::contract::Program;

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Evaluate<G, P> {
    /// Scores several predictions for one example, outside a run.
    pub(crate) async fn score_row(&self, gate: &Gate, gold: &G, preds: &[P]) -> ScoredRollouts {
        let calls = preds
            .iter()
            .map(|pred| Ok(self.plan.call(gold, pred, None)))
            .collect();
        self.plan
            .score_rollouts(gate, calls, self.plan.deadline(), &[])
            .await
    }

    /// Runs a program on one example, once per rollout, and scores its predictions, outside a run.
    pub(crate) async fn run_row<Kind>(
        &self,
        gate: &Gate,
        program: &impl Program<G, P, Kind>,
        gold: &G,
    ) -> ScoredRollouts {
        let deadline = self.plan.deadline();
        let runs = self.plan.run_rollouts(gold, program, deadline, &[]).await;
        self.plan
            .score_rollouts(gate, self.plan.calls(gold, &runs), deadline, &[])
            .await
    }

    /// Scores rows with several predictions each.
    pub(crate) fn score_rows(
        &self,
        rows: impl Iterator<Item = (G, Vec<P>)> + Send + 'static,
    ) -> Running<'_, G, P> {
        let rows = rows.map(|(gold, preds)| Ok(Input::rollouts(Arc::new(gold), preds)));
        let source = Source::iterator(rows);
        Box::pin(self.start(source, Predicted, self.render_scored()))
    }

    /// Runs a program on each example, once per rollout, and scores its predictions.
    pub(crate) fn run_rows<Kind: 'static>(
        &self,
        program: impl Program<G, P, Kind> + 'static,
        golds: impl Iterator<Item = G> + Send + 'static,
    ) -> Running<'_, G, P> {
        let inputs = self.settings.inputs.clone();
        let rows = (1..).zip(golds).map(move |(row, gold)| {
            check_row(row, &gold, inputs.as_deref())?;
            Ok(Input::to_predict(Arc::new(gold)))
        });
        let source = Source::iterator(rows);
        let render = self.settings.options.render_pair.unwrap_or(score_line);
        Box::pin(self.start(source, program, render))
    }
}
