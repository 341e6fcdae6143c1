//! [`ExportedRun`]: a result file whose rows are read several times.

use std::path::Path;

use indexmap::IndexMap;

use super::error::{ExportError, Input};
use crate::core::ScoreKind;
use crate::results::{
    Comparison, Manifest, MetricFigures, ResultOutcome, ResultRow, RunScores, manifest_of,
    read_rows,
};

/// The scores of a result file, and the file.
pub(super) struct ExportedRun<'a> {
    pub(super) file: &'a Path,
    scores: RunScores,
    /// The figures of each metric over all rows, in the order of the file.
    pub(super) metrics: IndexMap<String, MetricFigures>,
}

impl<'a> ExportedRun<'a> {
    /// Reads the scores of the file.
    pub(super) fn read(input: Input<'a>) -> Result<Self, ExportError> {
        let file = input.file;
        if file.as_os_str() == "-" {
            return Err(ExportError::StandardInput);
        }
        let manifest = manifest_of(file, None).map_err(crate::results::ResultsError::from)?;
        let group = manifest
            .and_then(Result::ok)
            .and_then(|manifest| manifest.run.group);
        let mut columns = Comparison::builder();
        if let Some(group) = group {
            columns = columns.group(group);
        }
        let scores = columns.read(file)?;
        let figures = |name: &str| (name.to_owned(), scores.figures(name));
        let metrics = scores.metrics().map(figures).collect();
        Ok(Self {
            file,
            scores,
            metrics,
        })
    }

    pub(super) fn manifest(&self) -> Option<&Manifest> {
        self.scores.manifest()
    }

    /// The number of rows.
    #[cfg(feature = "inspect")]
    pub(super) fn rows(&self) -> u64 {
        self.scores.row_count()
    }

    /// The score that a failed row counts as.
    pub(super) fn failure_score(&self) -> f64 {
        self.manifest()
            .map_or(0.0, |manifest| manifest.run.failure_score)
    }

    /// Whether the scores of a metric are pass or fail.
    pub(super) fn is_verdict(&self, metric: &str) -> bool {
        self.metrics
            .get(metric)
            .is_some_and(|figures| figures.kind == ScoreKind::Bool)
    }

    /// Calls a function with each row, in the order of the file.
    pub(super) fn each_row(
        &self,
        mut each: impl FnMut(&ResultRow) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        read_rows(self.file, |row, _| each(&row))?;
        Ok(())
    }
}

/// The number of results that a format cannot contain, by outcome.
#[derive(Default)]
pub(super) struct LeftOut(IndexMap<&'static str, u64>);

impl LeftOut {
    pub(super) fn add(&mut self, outcome: ResultOutcome) {
        *self.0.entry(outcome.name()).or_default() += 1;
    }

    /// `3 results without a score are not in the output: 2 abstained, 1 gated`
    pub(super) fn note(&self) -> Option<String> {
        let all: u64 = self.0.values().sum();
        let mut each: Vec<_> = self
            .0
            .iter()
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        each.sort_unstable();
        let (results, are) = if all == 1 {
            ("result", "is")
        } else {
            ("results", "are")
        };
        (all > 0).then(|| {
            format!(
                "{all} {results} without a score {are} not in the output: {}",
                each.join(", ")
            )
        })
    }
}
