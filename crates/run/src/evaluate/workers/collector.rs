//! Collects finished rows: counts, stores, writes and displays them. Each row costs the same, no matter how many came
//! before.

use crate::contract::Outcome;
use crate::evaluate::error::EvaluateError;
use crate::evaluate::manifest::Manifest;
use crate::evaluate::report::{Lines, Progress, ResultFiles};
use crate::evaluate::row::RowResult;
use crate::evaluate::summary::{Groups, MetricSummary, Place, PlainTally, ProgramTotals, Tally};

pub(crate) struct Collector<G, P> {
    pub(crate) tallies: Vec<Tally>,
    pub(crate) rows: u64,
    pub(crate) failed_rows: u64,
    pub(crate) program: ProgramTotals,
    /// Rows in the order in which they finished, each with its input position.
    pub(crate) results: Vec<(u64, RowResult<G, P>)>,
    /// Rows at positions below this one are kept.
    pub(crate) keep_below: u64,
    pub(crate) max_errors: Option<u64>,
    /// The groups of rows, if they have any.
    pub(crate) groups: Option<Groups<G, P>>,
    pub(crate) files: Option<ResultFiles>,
    pub(crate) progress: Progress,
    /// The position and error of the first failed row.
    pub(crate) first_error: Option<(u64, String)>,
    pub(crate) too_many_errors: bool,
    pub(crate) output_error: Option<EvaluateError>,
}

impl<G, P> Collector<G, P> {
    /// Records a finished row.
    pub(crate) fn record(&mut self, index: u64, row: RowResult<G, P>) {
        self.rows += 1;
        let group = self.groups.as_mut().map_or(0, |groups| groups.of(&row));
        let place = Place { row: index, group };
        for (metric, (tally, outcome)) in self.tallies.iter_mut().zip(&row.outcomes).enumerate() {
            tally.record(place, outcome);
            if !row.repeats.is_empty() {
                let repeats = row.repeats.iter().map(|repeat| &repeat.outcomes[metric]);
                tally.record_repeats(&repeats.collect::<Vec<_>>());
            }
        }
        let of_repeats = row.repeats.iter().filter_map(|repeat| repeat.run.as_ref());
        for run in row.run.iter().chain(of_repeats) {
            self.program.add(run);
        }
        if row.is_failure() {
            self.record_failure(index, &row);
        }
        self.row_done();
        if index < self.keep_below {
            self.results.push((index, row));
        }
    }

    /// Adds rows that were only counted, and empties their tallies.
    pub(crate) fn add(&mut self, rows: u64, counted: &mut [PlainTally]) {
        self.rows += rows;
        for (tally, counted) in self.tallies.iter_mut().zip(counted) {
            tally.add(&std::mem::replace(counted, tally.plain()));
        }
        self.row_done();
    }

    /// Writes the lines of rows, if rows are written.
    pub(crate) fn write(&mut self, lines: &mut Lines) {
        if let Some(files) = &mut self.files
            && let Err(error) = files.write(lines)
        {
            self.output_error = Some(error);
            self.files = None;
        }
    }

    fn row_done(&mut self) {
        let (tally, failed) = (&self.tallies[0], self.failed_rows);
        self.progress
            .row_done(self.rows, || running_score(tally, failed));
    }

    fn record_failure(&mut self, index: u64, row: &RowResult<G, P>) {
        self.failed_rows += 1;
        self.too_many_errors |= self.max_errors.is_some_and(|max| self.failed_rows >= max);
        if self
            .first_error
            .as_ref()
            .is_none_or(|(first, _)| index < *first)
        {
            let error = row.all_outcomes().find_map(Outcome::error);
            let place = row
                .origin
                .as_ref()
                .map_or_else(|| format!("row `{}`", row.id), ToString::to_string);
            self.first_error = error.map(|error| (index, format!("{place}: {error}")));
        }
    }

    /// Returns `true` if no more rows should be taken.
    pub(crate) fn is_full(&self) -> bool {
        self.too_many_errors || self.output_error.is_some()
    }

    /// Publishes the result files.
    pub(crate) fn write_files(&mut self, manifest: &Manifest) {
        if let Some(files) = self.files.take()
            && let Err(error) = files.finish(manifest)
        {
            self.output_error = Some(error);
        }
    }

    /// Returns the rows in input order.
    pub(crate) fn take_results(&mut self) -> Vec<RowResult<G, P>> {
        let mut results = std::mem::take(&mut self.results);
        results.sort_unstable_by_key(|(position, _)| *position);
        results.into_iter().map(|(_, row)| row).collect()
    }

    /// Ends the display of progress. Returns the summaries of each metric: its own, followed by those of its named
    /// scores.
    pub(crate) fn summaries(&mut self) -> Vec<Vec<MetricSummary>> {
        let (tally, failed) = (&self.tallies[0], self.failed_rows);
        self.progress
            .finish(self.rows, || running_score(tally, failed));
        self.tallies.iter().map(Tally::summaries).collect()
    }
}

/// Formats the running score of the first metric, and the number of rows that failed elsewhere.
fn running_score(tally: &Tally, failed_rows: u64) -> String {
    if let Some(rows) = tally.counted() {
        return format!("{rows} rows counted, {failed_rows} failed");
    }
    let summary = tally.running_summary();
    let others = failed_rows - tally.failed();
    match others {
        0 => summary.to_string(),
        others => format!("{summary} +{others} failed elsewhere"),
    }
}
