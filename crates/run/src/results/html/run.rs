//! [`ReportRun`]: the totals of a run, and the rows that a report shows.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::totals::Totals;
use crate::data::NamedFile;
use crate::evaluate::report::{Progress, ProgressDisplay, ResultRow};
use crate::messages::escape;
use crate::results::file::Results;
use crate::results::file_manifest::read_manifest;
use crate::results::read_rows::{check_has_id, read_lines, read_rows};
use crate::results::run::{Run, name_of};
use crate::results::run_scores::{Columns, RunScores};
use crate::results::{Reads, ResultsError};

/// The totals of all rows of a run, and the source of the rows in the table.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct ReportRun<'a> {
    pub(super) scores: RunScores,
    pub(super) totals: Totals,
    rows: Rows<'a>,
}

#[derive(Debug, Clone)]
enum Rows<'a> {
    InMemory(Cow<'a, [ResultRow]>),
    InFile(PathBuf),
}

impl ReportRun<'static> {
    /// Reads a result file for a report by the groups of a field. A row takes about 40 bytes, and 10 more for each metric, unless
    /// the file is a stream, which cannot be read again.
    ///
    /// # Errors
    /// [`ResultsError`], as [`Results::read`].
    pub fn read<'f>(
        file: impl Into<NamedFile<'f>>,
        group: Option<&str>,
    ) -> Result<Self, ResultsError> {
        let named = file.into();
        let file = named.path;
        let is_file = file.as_os_str() != "-" && fs::metadata(file).is_ok_and(|it| it.is_file());
        let reads = if is_file {
            Reads::scores(group, true)
        } else {
            Reads::all()
        };
        let columns = columns(group);
        let empty = |name: String| Self {
            scores: RunScores::new(Run::new(name), &columns),
            totals: Totals::default(),
            rows: Rows::InMemory(Vec::new().into()),
        };
        let (mut run, mut progress) = (
            empty(name_of(named)),
            Progress::new(ProgressDisplay::Terminal, None),
        );
        let references = read_rows(
            named,
            reads,
            || empty(String::new()),
            |block, row, has_id| {
                check_has_id(row, has_id)?;
                block.scores.run.add(row)?;
                block.add(row, &columns);
                if let (false, Rows::InMemory(rows)) = (is_file, &mut block.rows) {
                    rows.to_mut().push(std::mem::take(row));
                }
                Ok(())
            },
            |block| {
                run.append(block)?;
                progress.row_done(run.len() as u64, || escape::name(run.name()).to_string());
                Ok::<_, ResultsError>(())
            },
        );
        progress.clear();
        run.scores
            .run
            .set_manifest(read_manifest(file, &references?)?);
        if is_file {
            run.rows = Rows::InFile(file.to_owned());
        }
        Ok(run)
    }

    setters! {
        /// Sets the score that a failed row counts as in a mean. By default it is the score in the manifest, or else 0.
        pub fn with_failure_score(score: f64) => scores.run.failure_score = score;
    }
}

/// All metrics.
fn columns(group: Option<&str>) -> Columns {
    Columns {
        are_whole: true,
        group: group.map(str::to_owned),
        ..Columns::default()
    }
}

impl<'a> ReportRun<'a> {
    /// Returns the run of rows in memory.
    pub(super) fn of(results: &'a Results, group: Option<&str>) -> Result<Self, ResultsError> {
        let rows = results.rows();
        let scores = RunScores::of(results, &columns(group))?;
        let mut totals = Totals::default();
        rows.iter()
            .enumerate()
            .for_each(|(place, row)| totals.add(place, row));
        Ok(Self {
            scores,
            totals,
            rows: Rows::InMemory(rows.into()),
        })
    }

    /// Adds a row to a block.
    fn add(&mut self, row: &ResultRow, columns: &Columns) {
        self.totals.add(self.len(), row);
        self.scores.add(row, columns);
    }

    /// Adds the rows of a block.
    fn append(&mut self, block: Self) -> Result<(), ResultsError> {
        self.totals.append(self.len(), block.totals);
        self.scores.append(block.scores)?;
        if let (Rows::InMemory(rows), Rows::InMemory(more)) = (&mut self.rows, block.rows) {
            rows.to_mut().extend(more.into_owned());
        }
        Ok(())
    }

    /// Returns the metrics in the order of the file.
    pub fn metrics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.scores.metrics()
    }

    pub(super) fn name(&self) -> &str {
        self.scores.run.name()
    }

    /// Returns the id of a row.
    pub(super) fn id(&self, row: usize) -> &str {
        self.scores.rows.id(row)
    }

    /// Returns the place of an id. `hint` is the place where it probably is.
    pub(super) fn find(&self, id: &str, hint: usize) -> Option<usize> {
        self.scores.rows.find(id, hint)
    }

    /// Returns `true` if a row has no id of its own.
    pub(super) fn has_positional(&self) -> bool {
        self.scores.rows.has_positional()
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Calls a function with the whole rows at these places, which ascend, and returns the results in their order.
    ///
    /// # Errors
    /// [`ResultsError`] if the file cannot be read again, or has other rows than before.
    pub(super) fn map_rows<T: Send>(
        &self,
        places: &[usize],
        of_row: impl Fn(&ResultRow) -> T + Sync,
    ) -> Result<Vec<T>, ResultsError> {
        let file = match &self.rows {
            Rows::InMemory(rows) => {
                return Ok(places.iter().map(|place| of_row(&rows[*place])).collect());
            }
            Rows::InFile(file) => file,
        };
        let index = &self.scores.rows;
        let lines: HashSet<u64> = places.iter().map(|place| index.at(*place).line).collect();
        let mut found = Vec::with_capacity(places.len());
        read_lines(
            NamedFile {
                path: file,
                name: Path::new(self.name()),
            },
            Reads::all(),
            |line| lines.contains(&line),
            Vec::new,
            |block, row, _| {
                // Rows of a JSON array may share a line.
                let place = index.find(&row.id, usize::MAX);
                if let Some(place) = place.filter(|it| places.binary_search(it).is_ok()) {
                    block.push((place, of_row(row)));
                }
                Ok::<_, ResultsError>(())
            },
            |block| {
                found.extend(block);
                Ok(())
            },
        )?;
        if !found.iter().map(|(place, _)| place).eq(places) {
            return Err(ResultsError::Changed {
                file: self.name().into(),
            });
        }
        Ok(found.into_iter().map(|(_, row)| row).collect())
    }
}
