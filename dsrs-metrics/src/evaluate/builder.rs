//! How an [`Evaluate`] is set up, and what is refused before any row is run.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{FutureExt, Stream, StreamExt};
use serde::Serialize;

use super::error::EvaluateError;
use super::row::{MetricEntry, Plan, sharing};
use super::source::{RowId, SeenIds};
use super::{Devset, Evaluate, Options};
use crate::core::metric::Metric;
use crate::core::panic;
use crate::evaluate::program::Fallible;
use crate::evaluate::report::{Format, ProgressDisplay, pair_line, real_path};

/// How many rows are worked on at once, if nothing else is said.
pub(super) const DEFAULT_CONCURRENCY: usize = 32;

/// Sets up an [`Evaluate`]; made by [`Evaluate::builder`] and [`Evaluate::typed`].
#[must_use]
pub struct EvaluateBuilder<G, P> {
    metrics: Vec<MetricEntry<'static, G, P>>,
    devset: Devset<G>,
    row_id: Option<RowId<G>>,
    concurrency: usize,
    max_errors: Option<u64>,
    failure_score: f64,
    timeout: Option<Duration>,
    resubmit_after: Option<Duration>,
    traceback: bool,
    options: Options<G, P>,
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    pub(super) fn new() -> Self {
        Self {
            metrics: Vec::new(),
            devset: Devset::None,
            row_id: None,
            concurrency: DEFAULT_CONCURRENCY,
            max_errors: None,
            failure_score: 0.0,
            timeout: None,
            resubmit_after: None,
            traceback: false,
            options: Options::default(),
        }
    }

    /// Adds a metric; the first one gives the headline score. `Box`ed and `Arc`ed metrics, `dyn` or
    /// not, are metrics too.
    pub fn metric(mut self, metric: impl Metric<G, P> + 'static) -> Self {
        self.metrics.push(MetricEntry::new(metric));
        self
    }

    /// Adds a list of metrics.
    pub fn metrics<M: Metric<G, P> + 'static>(self, metrics: impl IntoIterator<Item = M>) -> Self {
        metrics.into_iter().fold(self, Self::metric)
    }

    /// Sets the rows that a program is run on; they can be run on again and again.
    pub fn devset(mut self, rows: impl IntoIterator<Item = G>) -> Self {
        self.devset = Devset::List(Arc::new(rows.into_iter().map(Arc::new).collect()));
        self
    }

    /// Sets the rows that a program is run on as a stream, from which rows are taken as they are
    /// needed. It serves one run. A row is a `G`, or a `Result` of one whose first error ends the run.
    pub fn devset_stream<R: Fallible<G>>(
        mut self,
        rows: impl Stream<Item = R> + Send + 'static,
    ) -> Self {
        let rows = rows.map(|row| row.into_result().map(Arc::new));
        self.devset = Devset::Stream(Mutex::new(Some(rows.fuse().boxed())));
        self
    }

    /// Names the devset's rows. Without it a row is called by its position, from 0.
    pub fn row_id(mut self, name: impl Fn(&G) -> String + Send + Sync + 'static) -> Self {
        self.row_id = Some(Arc::new(name));
        self
    }

    /// How many rows are worked on at once; 32 if not set. The limit is reached whenever there are
    /// so many rows, and never exceeded. A limit that is never reached costs nothing, however high.
    pub fn concurrency(mut self, rows: usize) -> Self {
        self.concurrency = rows;
        self
    }

    /// Shows running score, failures, rate and remaining time on standard error: `true` if that is a
    /// terminal, [`ProgressDisplay::Always`] in any case.
    pub fn display_progress(mut self, display: impl Into<ProgressDisplay>) -> Self {
        self.options.progress = display.into();
        self
    }

    /// Takes no more rows once so many have failed, of the program or of any metric (1 and 0 both
    /// stop at the first). Rows that are being worked on are still finished; the result keeps
    /// everything and says [`Ending::MaxErrors`](super::Ending::MaxErrors).
    pub fn max_errors(mut self, rows: u64) -> Self {
        self.max_errors = Some(rows);
        self
    }

    /// What a failed row counts as in [`mean`](super::MetricSummary::mean); 0 if not set.
    pub fn failure_score(mut self, score: f64) -> Self {
        self.failure_score = score;
        self
    }

    /// Keeps the stack of a panic in [`RowResult::traceback`](super::RowResult::traceback) and in
    /// result files. It takes a panic hook, which is set once and calls the one before. Errors that
    /// are returned carry their causes in any case, as far as their `{:#}` shows them.
    pub fn provide_traceback(mut self, provide: bool) -> Self {
        self.traceback = provide;
        self
    }

    /// How long one row may take, program and metrics together. What has not finished by then fails;
    /// what has keeps its score. A call that does not wait, as that of a synchronous metric, is not
    /// interrupted: it comes to its end, fails as well, and its score is thrown away.
    pub fn timeout(mut self, each_row: Duration) -> Self {
        self.timeout = Some(each_row);
        self
    }

    /// Starts a program's or an asynchronous metric's call a second time if it has not finished after
    /// `delay`, once only. The first of the two to give an answer wins and the other is cancelled; one
    /// that fails waits for the other. Off if not set. A lost call may still have cost something, which
    /// no score tells of.
    pub fn resubmit_stragglers(mut self, delay: Duration) -> Self {
        self.resubmit_after = Some(delay);
        self
    }

    /// Whether the result holds all rows (it does if not set). Without them a run over millions of
    /// rows takes no more memory than its output files need for putting rows in order.
    pub fn keep_results(mut self, keep: bool) -> Self {
        self.options.keep_results = keep;
        self
    }

    /// Takes no more rows once `signal` is done, finishes those that are being worked on and says
    /// [`Ending::Stopped`](super::Ending::Stopped).
    pub fn stop_when(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.options.stop_when = Some(signal.boxed().shared());
        self
    }

    /// As [`stop_when`](Self::stop_when), at the first Ctrl-C; the second one abandons the rows that
    /// are being worked on as well. What is done is kept.
    #[cfg(feature = "ctrl-c")]
    pub fn stop_on_ctrl_c(mut self) -> Self {
        self.options.stop_on_ctrl_c = true;
        self
    }

    /// Checks the setup.
    ///
    /// # Errors
    /// No metric, two of one name, a name that result files use for something else or that has a dot,
    /// comma, white space or control character, an empty devset, a concurrency or timeout of zero, a failure score
    /// that is not finite, two rows of one id, or a file to be written twice.
    pub fn build(self) -> Result<Evaluate<G, P>, EvaluateError> {
        self.check_metrics()?;
        self.check_limits()?;
        self.check_devset()?;
        self.check_outputs()?;
        let plan = Plan {
            sharing: sharing(&self.metrics),
            metrics: self.metrics,
            timeout: self.timeout,
            resubmit_after: self.resubmit_after,
            traceback: self.traceback,
        };
        Ok(Evaluate {
            plan: Arc::new(plan),
            devset: self.devset,
            row_id: self.row_id,
            options: Options {
                concurrency: self.concurrency,
                max_errors: self.max_errors,
                failure_score: self.failure_score,
                ..self.options
            },
        })
    }

    fn check_metrics(&self) -> Result<(), EvaluateError> {
        if self.metrics.is_empty() {
            return Err(EvaluateError::NoMetric);
        }
        self.metrics.iter().try_for_each(|metric| check_name(&metric.name))?;
        let mut names = HashSet::new();
        let twice = self.metrics.iter().find(|metric| !names.insert(&metric.name));
        twice.map_or(Ok(()), |metric| {
            Err(EvaluateError::DuplicateMetric { name: metric.name.clone() })
        })
    }

    fn check_limits(&self) -> Result<(), EvaluateError> {
        if self.concurrency == 0 {
            return Err(EvaluateError::ZeroConcurrency);
        }
        if self.timeout == Some(Duration::ZERO) {
            return Err(EvaluateError::ZeroTimeout);
        }
        if !self.failure_score.is_finite() {
            let value = self.failure_score;
            return Err(EvaluateError::FailureScore { value });
        }
        Ok(())
    }

    fn check_devset(&self) -> Result<(), EvaluateError> {
        let Devset::List(rows) = &self.devset else {
            return Ok(());
        };
        if rows.is_empty() {
            return Err(EvaluateError::NoRows);
        }
        let Some(row_id) = &self.row_id else {
            return Ok(());
        };
        let mut seen = SeenIds::default();
        for (number, row) in rows.iter().enumerate() {
            let id = panic::catch(false, || row_id(row)).map_err(|panic| EvaluateError::Input {
                message: format!("naming row {} panicked: {}", number + 1, panic.message),
            })?;
            seen.insert(&id, number as u64, None)?;
        }
        Ok(())
    }

    fn check_outputs(&self) -> Result<(), EvaluateError> {
        let mut paths = HashSet::new();
        let twice = self.options.outputs.iter().find(|(_, path)| !paths.insert(real_path(path)));
        twice.map_or(Ok(()), |(_, path)| {
            let path = path.clone();
            Err(EvaluateError::DuplicateOutput { path })
        })
    }
}

/// Names of columns that hold no metric.
const TAKEN: [&str; 5] = ["id", "gold", "pred", "attributes", "traceback"];

/// `NAME.PART` and `NAME.passed` are a metric's own in reports and result files.
fn check_name(name: &str) -> Result<(), EvaluateError> {
    let misfit = |character: char| {
        matches!(character, '.' | ',') || character.is_whitespace() || character.is_control()
    };
    let (reason, instead) = if name.is_empty() {
        ("the name is empty", "exact_match".to_owned())
    } else if TAKEN.contains(&name) {
        ("result files have a column of that name", format!("{name}_score"))
    } else if name.contains(misfit) {
        let instead = name.split(misfit).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        let reason = "it has a dot, a comma, white space or a control character";
        (reason, if instead.is_empty() { "exact_match".to_owned() } else { instead.join("_") })
    } else {
        return Ok(());
    };
    Err(EvaluateError::MetricName { name: name.to_owned(), reason, instead })
}

/// What shows or writes whole rows. Result files are in input order, appear under their names only
/// when all is done, and keep what was finished if the run is stopped. Whether they can be written is
/// found out before any row is run.
impl<G: Serialize + Send + Sync + 'static, P: Serialize + Send + Sync + 'static>
    EvaluateBuilder<G, P>
{
    /// Writes the rows as CSV: `id`, `gold.FIELD` and `pred.FIELD` if a program was run,
    /// `attributes.FIELD`, and for each metric `NAME` (its value), `NAME.outcome`, `NAME.passed`,
    /// `NAME.confidence`, `NAME.details`, `NAME.feedback`, `NAME.cost_msats`, and where any row has
    /// them `NAME.error`, `NAME.parts` and `NAME.metadata`. Lists and objects are JSON.
    #[cfg(feature = "csv")]
    pub fn save_as_csv(self, path: impl Into<PathBuf>) -> Self {
        self.save_as(Format::Csv, path.into())
    }

    /// Writes the rows as one JSON array of the objects of
    /// [`save_as_jsonl`](Self::save_as_jsonl).
    pub fn save_as_json(self, path: impl Into<PathBuf>) -> Self {
        self.save_as(Format::Json, path.into())
    }

    /// Writes the rows as JSON, an object a line:
    /// `{"id": .., "gold": .., "pred": .., "scores": {"NAME": {"outcome": "scored", "value": 1.0,
    /// "passed": true, "confidence": 1.0, "details": null, "feedback": null, "cost_msats": 0}}}`.
    /// `gold` and `pred` are there if a program was run, `attributes` and `traceback` if the row has
    /// any; a score has `error`, `parts` and `metadata` if there are any.
    pub fn save_as_jsonl(self, path: impl Into<PathBuf>) -> Self {
        self.save_as(Format::JsonLines, path.into())
    }

    fn save_as(mut self, format: Format, path: PathBuf) -> Self {
        self.options.outputs.push((format, path));
        self.options.render_pair = Some(pair_line);
        self
    }

    /// Prints the first rows as a table on standard output when the run is over; all rows if `None`.
    #[cfg(feature = "report")]
    pub fn display_table(mut self, rows: impl Into<Option<usize>>) -> Self {
        self.options.table_rows = rows.into().unwrap_or(usize::MAX);
        self.options.show_table = Some(print_table);
        self
    }
}

#[cfg(feature = "report")]
fn print_table<G: Serialize, P: Serialize>(result: &super::EvaluationResult<G, P>, rows: usize) {
    use std::io::Write;
    // A closed pipe on the other side is no reason to lose the result.
    let _ = writeln!(std::io::stdout(), "{}", result.table(Some(rows)));
}
