//! The rows of files: chunks are decoded by the threads or tasks of the run, and only the fields that the run reads.

use std::sync::Arc;
use std::thread;

use futures_util::{FutureExt, StreamExt, stream};
use tokio::sync::mpsc;

use super::chunked::Chunk;
use super::error::EvaluateError;
use super::row::Plan;
use super::run::Predicted;
use super::source::{Source, input_panicked};
use super::source_row::Input;
use super::{Ending, Evaluate, Running};
use crate::core::metric::Metric;
use crate::core::metric::call::MetricCall;
use crate::core::panic;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::pair::{Origin, Pair, SpareRows};
use crate::core::score::error::MetricError;
use crate::data::{DataError, FieldSelection, Pairs};

impl Evaluate {
    /// Scores the rows of files, whose predictions are given. It has the same result as [`score`](Self::score) with these
    /// rows, in less time: several threads decode rows, and only the fields that the run reads.
    ///
    /// All fields are read if the rows are kept ([`keep_results`](super::EvaluateBuilder::keep_results), which is the
    /// default), written with the scores, passed to an observer that [reads](super::Observer::reads_rows) them, or
    /// recorded in a journal; otherwise those that the metrics declare.
    ///
    /// ```
    /// use dsrs_metrics::data::DataReader;
    /// use dsrs_metrics::{Evaluate, metrics};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let file = std::env::temp_dir().join(format!("dsrs-metrics-files-{}.jsonl", std::process::id()));
    /// let rows = r#"{"gold": {"answer": "Paris"}, "pred": {"answer": "paris"}, "model": "a"}
    /// {"gold": {"answer": "Rome"}, "pred": {"answer": "Oslo"}, "model": "a"}"#;
    /// std::fs::write(&file, rows)?;
    ///
    /// let evaluate = Evaluate::builder().metric(metrics::Em::default()).keep_results(false).build()?;
    /// let result = evaluate.score_files(DataReader::new().read([&file])?).await?;
    /// assert_eq!((result.rows, result.score), (2, Some(0.5)));
    /// # std::fs::remove_file(file)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`EvaluateError`]: a file cannot be read, or one of its rows is invalid.
    pub fn score_files(&self, rows: Pairs) -> Running<'_, Example, Prediction> {
        let rows = match self.selection() {
            Some(selection) => rows.with_selection(selection),
            None => rows,
        };
        let pairing = Arc::clone(rows.pairing());
        let waits = !self.plan.is_immediate || self.settings.options.journal.is_some();
        // A row is evaluated, and paid for, only if the rows up to it can be read.
        let check = waits.then(|| Arc::clone(&self.plan));
        let source = if waits && rows.may_block() {
            read_on_thread(rows.map(move |row| checked(row.map(Box::new), &check)))
        } else {
            Ok(Source::files(Box::new(chunks(rows, check))))
        };
        let render = self.render_scored();
        Box::pin(async move {
            let mut result = self.start(source?, Predicted, render).await?;
            if result.ending == Ending::Complete {
                result.unused_mappings = pairing.unused_mappings().cloned().collect();
            }
            Ok(result)
        })
    }

    /// Returns the fields that the run reads; `None` if it reads all.
    fn selection(&self) -> Option<FieldSelection> {
        let (options, mut selection) = (&self.settings.options, FieldSelection::default());
        if options.reads_whole_rows() {
            return None;
        }
        for metric in &self.plan.metrics {
            let spec = metric.metric().spec();
            if !spec.only_fields || spec.is_async {
                return None;
            }
            for (side, field) in spec.get_input_spec() {
                selection.add_field(side, field.name, field.required);
            }
        }
        if !options.outputs.is_empty() {
            selection.add_attributes();
        }
        if let Some(field) = &options.group_field {
            selection.add_path(field);
        }
        Some(selection)
    }
}

type Check = Option<Arc<Plan<'static, Example, Prediction>>>;

fn chunks(
    mut rows: Pairs,
    check: Check,
) -> impl Iterator<Item = Chunk<'static, Example, Prediction>> {
    let pairing = Arc::clone(rows.pairing());
    std::iter::from_fn(move || rows.next_chunk()).map(move |chunk| {
        let (pairing, check) = (Arc::clone(&pairing), check.clone());
        let decode = move |spare: &mut SpareRows| {
            let mut rows = Vec::new();
            pairing.decode(chunk, spare, |row| rows.push(checked(row, &check)));
            rows
        };
        Box::new(decode) as Chunk<'_, _, _>
    })
}

fn checked(row: Result<Box<Pair>, DataError>, check: &Check) -> Result<Box<Pair>, EvaluateError> {
    let row = row.map_err(|error| EvaluateError::input(format!("{error:#}")))?;
    let at = row.origin.as_ref();
    let error = check.as_ref().and_then(|plan| plan.unreadable(&row.gold, &row.pred, at));
    error.map_or(Ok(row), Err)
}

impl<G: Sync, P: Sync> Plan<'_, G, P> {
    /// Returns why a metric cannot read a row of a file, if that ends the run.
    pub(super) fn unreadable(
        &self,
        gold: &G,
        pred: &P,
        at: Option<&Origin>,
    ) -> Option<EvaluateError> {
        let at = at.filter(|_| self.options.rejects_unreadable)?;
        self.metrics.iter().find_map(|entry| {
            // Reading a field may run code of the metric's author.
            let error = panic::catch(false, || read_error(entry.metric(), gold, pred));
            let panicked = |panic: panic::Panic| {
                Some(MetricError::panicked(entry.name.clone(), panic.message))
            };
            let error = Box::new(error.unwrap_or_else(panicked)?);
            Some(EvaluateError::UnreadableRow { at: at.clone(), error })
        })
    }
}

/// Returns why the metric cannot read the row; `None` if it can.
fn read_error<G: Sync, P: Sync>(
    metric: &dyn Metric<G, P>,
    gold: &G,
    pred: &P,
) -> Option<MetricError> {
    if metric.can_evaluate(gold, pred) {
        return None;
    }
    // `can_evaluate` returns no reason. A call returns it before it awaits anything.
    let call = MetricCall::new(gold, pred);
    let error = metric.answer(call).into_future().now_or_never().and_then(Result::err);
    Some(error.unwrap_or_else(|| MetricError::failed(metric.name(), "it cannot evaluate this row")))
}

/// Reads rows on a separate thread, a few of them ahead, since reading a pipe may block.
fn read_on_thread(
    rows: impl Iterator<Item = Result<Box<Pair>, EvaluateError>> + Send + 'static,
) -> Result<Source<'static, Example, Prediction>, EvaluateError> {
    const AHEAD: usize = 8;
    let (send, receive) = mpsc::channel(AHEAD);
    let read = move || {
        let result = panic::catch(false, || {
            for row in rows {
                if send.blocking_send(row.map(Input::Predicted)).is_err() {
                    // The run has ended.
                    break;
                }
            }
        });
        if let Err(panic) = result {
            // Without an error, the closed channel would look like the end of the rows.
            let _ = send.blocking_send(Err(input_panicked(panic)));
        }
    };
    thread::Builder::new().name("rows".to_owned()).spawn(read).map_err(EvaluateError::no_thread)?;
    let rows = stream::unfold(receive, |mut receive| async {
        receive.recv().await.map(|row| (row, receive))
    });
    Ok(Source::stream(rows.boxed(), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::stop::Stop;

    #[test]
    fn a_panic_of_the_reader_is_an_error_and_not_the_end_of_the_rows() {
        let source = read_on_thread(std::iter::from_fn(|| panic!("out of paper"))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let row = runtime.block_on(source.next(&Stop::default()));
        let error = source.error().map(|error| error.to_string());
        assert_eq!((row.is_none(), source.error_at()), (true, 0));
        assert_eq!(error.as_deref(), Some("reading the rows panicked: out of paper"));
    }
}
