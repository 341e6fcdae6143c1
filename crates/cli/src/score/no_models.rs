//! `--lm`, `--budget` and the options of the store in a program without language models: an error.

use std::sync::Arc;

use super::rows::Builder;
use super::{embedder, offline};
use crate::args::{LmArguments, ScoreArguments};
use crate::core::metric::Metric;
use crate::core::metric::settings::Settings;
use crate::error::CliError;
use crate::evaluate::EvaluationResult;
use crate::judge::Models;
use crate::lm::Ledger;

/// No models, with the methods of `RunModels` in `models.rs`.
pub(crate) struct RunModels {
    offline: bool,
    /// The models of the run, if an option sets one.
    models: Option<Models>,
}

#[expect(clippy::unused_self, reason = "`models.rs` has the same signatures")]
impl RunModels {
    pub(crate) fn new(args: &ScoreArguments) -> Result<Self, CliError> {
        let args = &args.options.lm;
        let options = [
            (args.lm.is_some(), "--lm"),
            (args.budget.is_some(), "--budget"),
            (args.store.no_store, "--no-store"),
            (args.store.refresh, "--refresh"),
            (args.store.store.is_some(), "--store"),
            (args.estimate, "--estimate"),
        ];
        match options.into_iter().find(|(is_set, _)| *is_set) {
            Some((_, option)) => Err(CliError::NoLm { option }),
            None => {
                let own = if args.offline {
                    Models::offline()
                } else {
                    Models::default()
                };
                let is_set = args.offline || args.embed.is_some();
                let models = is_set.then(|| embedder::set(own, args));
                Ok(Self {
                    offline: args.offline,
                    models,
                })
            }
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        match &self.models {
            Some(models) => Settings::new().with(models.clone()),
            None => Settings::new(),
        }
    }

    pub(crate) fn kept(
        &self,
        builder: Builder,
        _: &ScoreArguments,
        _: &[Arc<dyn Metric>],
    ) -> Result<Builder, CliError> {
        Ok(builder)
    }

    pub(crate) fn end(&self, _: &EvaluationResult) -> Result<(), CliError> {
        Ok(())
    }

    pub(crate) fn recorded(&self, builder: Builder) -> Builder {
        builder
    }

    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        None
    }

    pub(crate) fn unused_warnings(
        &self,
        args: &LmArguments,
        metrics: &[Arc<dyn Metric>],
    ) -> Vec<String> {
        let of_judges = self
            .offline
            .then(|| offline::warning(metrics, None))
            .flatten();
        of_judges
            .into_iter()
            .chain(embedder::warning(self.settings(), args, metrics))
            .collect()
    }

    pub(crate) fn uncovered_msats(&self) -> Option<u64> {
        None
    }

    pub(crate) fn overrun(&self) -> Option<String> {
        None
    }

    pub(crate) fn overrun_warning(&self) -> Option<String> {
        None
    }

    pub(crate) fn usage(&self, _: Option<&EvaluationResult>) -> Option<String> {
        None
    }
}
