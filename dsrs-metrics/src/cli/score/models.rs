//! `--lm`, `--budget` and the cache's options: the models that judges find in this run, and what their calls
//! took in the end.
//!
//! Whether they answer is found out by the harness, before the first row.

use super::super::args::LmArguments;
use super::super::error::CliError;
use crate::settings::Settings;

#[cfg(feature = "lm")]
pub(super) use real::RunModels;
#[cfg(not(feature = "lm"))]
pub(super) use unbuilt::RunModels;

#[cfg(not(feature = "lm"))]
mod unbuilt {
    use super::{CliError, LmArguments, Settings};

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
        pub(in super::super) fn taken(&self) -> Option<String> {
            None
        }
    }
}

#[cfg(feature = "lm")]
mod real {
    use super::{CliError, LmArguments, Settings};
    use crate::judge::Models;
    use crate::lm::{CacheMode, Ledger, LmBudget, LmBuilder};

    /// The models of one run; all count in one ledger and keep to one budget.
    pub(in super::super) struct RunModels {
        models: Models,
        ledger: Ledger,
    }

    impl RunModels {
        /// The model of `--lm`, or else that of `DSRS_LM`, if there is one; named ones when a judge names them.
        pub(in super::super) fn new(args: &LmArguments) -> Result<Self, CliError> {
            let ledger = Ledger::new();
            let budget = args.budget.map(LmBudget::msats);
            let (allow_unpriced, cache) = (args.allow_unpriced, cache_mode(args));
            let of_run = ledger.clone();
            let set_up = move |builder: LmBuilder| {
                let builder = builder.ledger(of_run.clone()).cache_mode(cache);
                let builder = builder.allow_unpriced(allow_unpriced);
                match &budget {
                    Some(budget) => builder.budget(budget.clone()),
                    None => builder,
                }
            };
            let id = args.lm.clone().or_else(|| std::env::var("DSRS_LM").ok());
            let id = id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
            let models = Models::built_by(id, set_up);
            Ok(Self { models, ledger })
        }

        pub(in super::super) fn settings(&self) -> Settings {
            Settings::new().with(self.models.clone())
        }

        /// What the calls took, if there were any.
        pub(in super::super) fn taken(&self) -> Option<String> {
            let total = self.ledger.total();
            (total.calls > 0).then(|| format!("language models: {total}"))
        }
    }

    fn cache_mode(args: &LmArguments) -> CacheMode {
        match (args.no_cache, args.refresh) {
            (true, _) => CacheMode::Off,
            (_, true) => CacheMode::Refresh,
            _ => CacheMode::Use,
        }
    }
}
