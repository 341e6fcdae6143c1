//! [`ReportRun`]: the totals of a run, and the rows that a report shows. The totals are sums over all rows: parts of
//! metrics, costs and missing fields.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};

use crate::data::NamedFile;
use crate::evaluate::report::{Progress, ProgressDisplay, ResultRow, ResultScore};
use crate::messages::escape;
use crate::results::ResultsError;
use crate::results::file::Results;
use crate::results::run::{entry, name_of, read_lines};
use crate::results::run_scores::{RunScores, Score};

/// A run to show in a report.
///
/// This contains the totals over all rows, and the source of the rows to show in the table.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct ReportRun<'a> {
    pub(super) scores: RunScores,
    /// The sums over the rows, by metric.
    pub(super) totals: IndexMap<String, MetricTotals>,
    rows: Rows<'a>,
}

#[derive(Debug, Clone)]
enum Rows<'a> {
    InMemory(Cow<'a, [ResultRow]>),
    InFile(PathBuf),
}

impl ReportRun<'static> {
    /// Reads a result file for a report, optionally grouped by a field.
    ///
    /// A row takes about 100 bytes of memory, plus 24 bytes for each metric. A stream takes more memory, because it
    /// cannot be read again.
    ///
    /// # Errors
    /// Returns the same errors as [`Results::read`].
    pub fn read<'f>(
        file: impl Into<NamedFile<'f>>,
        group: Option<&str>,
    ) -> Result<Self, ResultsError> {
        let named = file.into();
        let file = named.path;
        let is_file = file.as_os_str() != "-" && fs::metadata(file).is_ok_and(|it| it.is_file());
        let name = name_of(named);
        let (mut totals, mut rows) = (IndexMap::new(), Vec::new());
        let mut progress = Progress::new(ProgressDisplay::Terminal, None);
        let scores = RunScores::read(
            named,
            &IndexSet::new(),
            group,
            |_| (),
            |place, row| {
                add(&mut totals, place, row);
                rows.extend((!is_file).then(|| std::mem::take(row)));
                progress.row_done(place as u64 + 1, || escape::name(&name).to_string());
            },
        );
        progress.clear();
        Ok(Self {
            scores: scores?,
            totals,
            rows: match is_file {
                true => Rows::InFile(file.to_owned()),
                false => Rows::InMemory(rows.into()),
            },
        })
    }

    setters! {
        /// Sets the score that a failed row contributes to a mean.
        ///
        /// The default is the failure score in the manifest, or 0 if there is no manifest.
        pub fn with_failure_score(score: f64) => scores.run.failure_score = score;
    }
}

impl<'a> ReportRun<'a> {
    /// Creates a run from rows in memory.
    pub(super) fn of(results: &'a Results, group: Option<&str>) -> Self {
        let mut totals = IndexMap::new();
        for (place, row) in results.rows().iter().enumerate() {
            add(&mut totals, place, row);
        }
        Self {
            scores: RunScores::of(results, &IndexSet::new(), group),
            totals,
            rows: Rows::InMemory(results.rows().into()),
        }
    }

    /// Returns the names of the metrics in file order.
    pub fn metrics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.scores.metrics()
    }

    /// Calls a function with the whole rows at these positions, and returns the results by position.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if the file cannot be read again, or if its rows have changed.
    pub(super) fn map_rows<T>(
        &self,
        places: &[usize],
        of_row: impl Fn(&ResultRow) -> T,
    ) -> Result<HashMap<usize, T>, ResultsError> {
        let file = match &self.rows {
            Rows::InMemory(rows) => {
                let of_place = |place: &usize| (*place, of_row(&rows[*place]));
                return Ok(places.iter().map(of_place).collect());
            }
            Rows::InFile(file) => file,
        };
        let index = &self.scores.rows;
        let lines: HashSet<u64> = places.iter().map(|place| index.at(*place).line).collect();
        let places: HashSet<usize> = places.iter().copied().collect();
        let mut found = HashMap::with_capacity(places.len());
        read_lines(
            NamedFile {
                sources: &[],
                path: file,
                name: Path::new(self.scores.run.name()),
            },
            |line| lines.contains(&line),
            |_| (),
            |row, _| {
                // Rows of a JSON array may share a line.
                let place = index.find(&row.id);
                if let Some(place) = place.filter(|place| places.contains(place)) {
                    found.insert(place, of_row(row));
                }
                Ok::<_, ResultsError>(())
            },
        )?;
        if found.len() != places.len() {
            return Err(ResultsError::read(format!(
                "{}: the rows changed while the file was read; read it again when it is complete",
                self.scores.run.name()
            )));
        }
        Ok(found)
    }
}

/// A metric's sums over the rows.
#[derive(Debug, Clone, Default)]
pub(super) struct MetricTotals {
    /// The number of rows that lack a field that the metric reads.
    pub(super) missing: u64,
    pub(super) judged_offline: u64,
    pub(super) cost_msats: u64,
    /// The parts in order of first occurrence, named scores first in each row.
    pub(super) parts: IndexMap<Part, Vec<PartScore>>,
}

/// A named score or a component.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) is_component: bool,
}

/// One row's result for a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartScore {
    pub(super) row: usize,
    pub(super) score: Score,
}

/// Adds the row at this position to the sums of its metrics.
fn add(totals: &mut IndexMap<String, MetricTotals>, place: usize, row: &ResultRow) {
    for (position, (name, score)) in row.scores.iter().enumerate() {
        entry(totals, position, name).add(place, score);
    }
}

impl MetricTotals {
    fn add(&mut self, row: usize, score: &ResultScore) {
        self.missing += u64::from(!score.missing.is_empty());
        self.judged_offline += u64::from(score.is_judged_offline);
        self.cost_msats = self.cost_msats.saturating_add(score.cost_msats);
        let parts = score.parts.iter();
        let parts = parts.map(|(name, value)| (name, false, Score::of_part(*value)));
        let components = score.components.iter();
        let components = components.map(|(name, score)| (name, true, score.into()));
        for (name, is_component, score) in parts.chain(components) {
            let name = name.clone();
            let scores = self.parts.entry(Part { name, is_component }).or_default();
            scores.push(PartScore { row, score });
        }
    }
}
