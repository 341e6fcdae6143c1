//! `--lm`, `--budget` and the options of the cache in a program without language models: an error.

use std::sync::Arc;

use super::Builder;
use super::offline;
use crate::args::LmArguments;
use crate::core::metric::Metric;
use crate::core::metric::settings::Settings;
use crate::error::CliError;
use crate::evaluate::EvaluationResult;

/// No models, with the methods of `RunModels` in `models.rs`.
pub(crate) struct RunModels {
    offline: bool,
}

#[expect(clippy::unused_self, reason = "`models.rs` has the same signatures")]
impl RunModels {
    pub(crate) fn new(args: &LmArguments, _: u64) -> Result<Self, CliError> {
        let options = [
            (args.lm.is_some(), "--lm"),
            (args.budget.is_some(), "--budget"),
            (args.no_cache, "--no-cache"),
            (args.refresh, "--refresh"),
            (args.estimate, "--estimate"),
        ];
        match options.into_iter().find(|(is_set, _)| *is_set) {
            Some((_, option)) => Err(CliError::NoLm { option }),
            None => Ok(Self { offline: args.offline }),
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        if self.offline { offline::settings() } else { Settings::new() }
    }

    pub(crate) fn recorded(&self, builder: Builder) -> Builder {
        builder
    }

    pub(crate) fn unused_warning(
        &self,
        _: &LmArguments,
        metrics: &[Arc<dyn Metric>],
    ) -> Option<String> {
        self.offline.then(|| offline::warning(metrics, None)).flatten()
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
