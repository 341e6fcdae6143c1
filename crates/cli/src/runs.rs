//! How commands that read result files judge scores: failed rows, and the direction of metrics.

use std::collections::HashSet;

use clap::Args;

use super::error::{Result, err};
use super::value_parsers::finite;
use crate::contract::Direction;
use crate::data::NamedFile;
use crate::metrics::Registry;
use crate::results::{ComparisonBuilder, ReportRun, RunScores};

/// Options of `compare` and `report`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The score of a failed row; by default, the score in the manifest of the run, or 0 without
    /// one
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = finite)]
    failure_score: Option<f64>,
    /// The metrics for which lower scores are better, separated by commas; needed only for files
    /// without a manifest, and not for the metrics of `list`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) lower_is_better: Vec<String>,
    /// Exit with 2 if a file has no manifest, because it is then unknown what was measured
    #[arg(long)]
    pub(crate) require_identity: bool,
}

impl RunArguments {
    /// Reads what a grouped report needs.
    pub(crate) fn read_report(
        &self,
        file: NamedFile<'_>,
        group: Option<&str>,
    ) -> Result<ReportRun<'static>> {
        let run = ReportRun::read(file, group)?;
        Ok(match self.failure_score {
            Some(score) => run.with_failure_score(score),
            None => run,
        })
    }

    /// Reads what a comparison needs.
    pub(crate) fn read_scores(
        &self,
        comparison: &ComparisonBuilder,
        file: NamedFile<'_>,
    ) -> Result<RunScores> {
        let scores = comparison.read_named(file)?;
        Ok(match self.failure_score {
            Some(score) => scores.with_failure_score(score),
            None => scores,
        })
    }

    /// Returns the metrics for which lower scores are better, according to the registry or by name.
    pub(crate) fn lower_is_better<'a>(
        &'a self,
        registry: &Registry,
        metrics: impl IntoIterator<Item = &'a str>,
    ) -> Vec<&'a str> {
        let is_lower = |name: &&str| {
            let entry = registry.get(name);
            entry.is_some_and(|entry| entry.spec().direction == Direction::LowerIsBetter)
        };
        let named = self.lower_is_better.iter().map(String::as_str);
        metrics.into_iter().filter(is_lower).chain(named).collect()
    }
}

/// Returns the metric in `NAME` or `NAME.PART`.
pub(crate) fn metric_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(metric, _)| metric)
}

/// Checks that `-m` names each metric only once.
pub(crate) fn check_unique(metrics: &[String]) -> Result<()> {
    let mut seen = HashSet::new();
    match metrics.iter().find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(name) => Err(err!("duplicate metric `{name}`; list it once")),
    }
}
