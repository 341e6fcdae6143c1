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
    failed_rows: u64,
    program: ProgramTotals,
    /// Rows in the order in which they finished, each with its input position.
    results: Vec<(u64, RowResult<G, P>)>,
    options: CollectorOptions<G, P>,
    first_error: Option<(u64, String)>,
    pub(crate) too_many_errors: bool,
    pub(crate) output_error: Option<EvaluateError>,
}

/// A collector's settings: which rows it keeps, groups, writes and displays.
pub(crate) struct CollectorOptions<G, P> {
    /// Rows at positions below this one are kept.
    pub(crate) keep_below: u64,
    /// The number of rows to allocate space for.
    pub(crate) expected: usize,
    pub(crate) max_errors: Option<u64>,
    /// The groups of rows, if they have any.
    pub(crate) groups: Option<Groups<G, P>>,
    pub(crate) files: Option<ResultFiles>,
    pub(crate) progress: Progress,
}

impl<G, P> Collector<G, P> {
    pub(crate) fn new(tallies: Vec<Tally>, options: CollectorOptions<G, P>) -> Self {
        let kept = (options.expected as u64).min(options.keep_below);
        let kept = usize::try_from(kept).unwrap_or(0);
        Self {
            tallies,
            rows: 0,
            failed_rows: 0,
            program: ProgramTotals::default(),
            results: Vec::with_capacity(kept),
            options,
            first_error: None,
            too_many_errors: false,
            output_error: None,
        }
    }

    /// Records a finished row.
    pub(crate) fn record(&mut self, index: u64, row: RowResult<G, P>) {
        self.rows += 1;
        let group = self
            .options
            .groups
            .as_mut()
            .map_or(0, |groups| groups.of(&row));
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
        if index < self.options.keep_below {
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
        if let Some(files) = &mut self.options.files
            && let Err(error) = files.write(lines)
        {
            self.output_error = Some(error);
            self.options.files = None;
        }
    }

    fn row_done(&mut self) {
        let (tally, failed) = (&self.tallies[0], self.failed_rows);
        self.options
            .progress
            .row_done(self.rows, || running_score(tally, failed));
    }

    fn record_failure(&mut self, index: u64, row: &RowResult<G, P>) {
        self.failed_rows += 1;
        self.too_many_errors |= self
            .options
            .max_errors
            .is_some_and(|max| self.failed_rows >= max);
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

    /// Removes the result files of a run that has no result.
    pub(crate) fn discard_files(&mut self) {
        self.options.files = None;
    }

    /// Publishes the result files.
    pub(crate) fn write_files(&mut self, manifest: &Manifest) {
        if let Some(files) = self.options.files.take()
            && let Err(error) = files.finish(manifest)
        {
            self.output_error = Some(error);
        }
    }

    /// Returns the rows in input order and the summaries.
    pub(crate) fn finish(&mut self) -> Finished<G, P> {
        let (tally, failed) = (&self.tallies[0], self.failed_rows);
        self.options
            .progress
            .finish(self.rows, || running_score(tally, failed));
        let mut results = std::mem::take(&mut self.results);
        results.sort_unstable_by_key(|(position, _)| *position);
        let summaries = self.tallies.iter().map(Tally::summaries);
        Finished {
            results: results.into_iter().map(|(_, row)| row).collect(),
            summaries: summaries.collect(),
            failed_rows: self.failed_rows,
            program: self.program,
            without_group: self.options.groups.as_ref().map_or(0, Groups::rows_without),
            first_error: self.first_error.take().map(|(_, error)| error),
        }
    }
}

pub(crate) struct Finished<G, P> {
    pub(crate) results: Vec<RowResult<G, P>>,
    /// For each metric, its own summary followed by those of its named scores.
    pub(crate) summaries: Vec<Vec<MetricSummary>>,
    pub(crate) failed_rows: u64,
    pub(crate) program: ProgramTotals,
    /// The number of rows without a group, if rows have groups.
    pub(crate) without_group: u64,
    pub(crate) first_error: Option<String>,
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
