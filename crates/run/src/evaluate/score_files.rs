//! Rows from files. The run's threads or tasks decode them in chunks, and only the fields that the run reads.

use std::sync::Arc;

use super::error::EvaluateError;
use super::input::{Chunk, Given, Input, Source, changed, read_on_thread};
use super::row::{Plan, Predicted};
use super::summary::{Ending, EvaluationResult};
use super::{Evaluate, Running};
use crate::contract::{Example, Pair, Prediction};
use crate::data::{DataFiles, FieldSelection, Pairing, Pairs, RawRow, Samples};

impl Evaluate {
    /// Scores rows from files that already contain predictions.
    ///
    /// The result is the same as with [`score`](Self::score), but this method is faster. It decodes rows on several
    /// threads, and skips fields that the run doesn't read.
    ///
    /// All fields are decoded in any of these cases:
    ///
    /// - The result keeps the rows. This is the default, see [`keep_results`](super::EvaluateBuilder::keep_results).
    /// - The rows are written with the scores.
    /// - An observer [reads](super::Observer::reads_rows) the rows.
    /// - The rows are kept in a store.
    ///
    /// Otherwise, only the fields that the metrics declare are decoded.
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
    /// Returns an [`EvaluateError`] if a file cannot be read or a row is invalid.
    pub fn score_files(&self, rows: Pairs) -> Running<'_, Example, Prediction> {
        let metrics = self.plan.metrics.iter();
        let rows = rows.with_read(metrics.map(|metric| metric.metric().spec()));
        let rows = match self.selection() {
            Some(selection) => rows.with_selection(selection),
            None => rows,
        };
        let rows = match self.settings.options.outputs.is_empty() {
            true => rows,
            false => rows.with_hashes(),
        };
        let (files, pairing) = (rows.data_files(), Arc::clone(rows.pairing()));
        let waits = !self.plan.never_waits(self.settings.options.store.is_some());
        // A row is evaluated, and paid for, only if all rows before it can be read.
        let check = waits.then(|| Arc::clone(&self.plan));
        let source = if waits && rows.may_block() {
            let pairing = Arc::clone(&pairing);
            read_on_thread(rows.map(move |row| input(row?, &pairing, &check)))
        } else {
            Ok(Source::chunks(Box::new(chunks(rows, check))))
        };
        Box::pin(async move { self.start_files(source?, files, &pairing).await })
    }

    /// Scores rows that have several predictions each.
    ///
    /// Every prediction counts as a repeat of its row. Set [`repeats`](super::EvaluateBuilder::repeats) to the number
    /// that [`Samples::repeats`] returns.
    ///
    /// # Errors
    /// Returns an [`EvaluateError`] if a metric cannot read a row.
    pub fn score_samples(&self, samples: Samples) -> Running<'_, Example, Prediction> {
        let plan = Arc::clone(&self.plan);
        let rows = samples.rows.into_iter().map(move |(pair, preds)| {
            let at = pair.origin.as_ref();
            let unreadable = |pred| plan.unreadable(&pair.gold, pred, at);
            match preds.iter().find_map(unreadable) {
                Some(error) => Err(error),
                None if preds.is_empty() => Ok(without_pred(pair, Given::Nothing)),
                None => Ok(without_pred(pair, Given::Rollouts(preds))),
            }
        });
        let (source, files, pairing) = (Source::iterator(rows), samples.files, samples.pairing);
        Box::pin(async move { self.start_files(source, files, &pairing).await })
    }

    /// Scores rows from files, and adds what was found while reading them.
    async fn start_files(
        &self,
        source: Source<'static, Example, Prediction>,
        files: DataFiles,
        pairing: &Pairing,
    ) -> Result<EvaluationResult, EvaluateError> {
        let read = files.clone();
        let source = source.with_files(move |is_complete| read.finish(is_complete));
        let mut result = self.start(source, Predicted).await?;
        result.notes.extend(files.notes());
        if result.ending == Ending::Complete {
            result.notes.extend(pairing.notes());
            result.unused_mappings = pairing.unused_mappings().cloned().collect();
        }
        Ok(result)
    }

    /// Returns the fields that the run reads, or `None` for all.
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
            selection.all_attributes = true;
            // Each row of a result file has the hashes of its gold row and its prediction.
            selection.all_sides = true;
        }
        if let Some(field) = &options.run.group {
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
    std::iter::from_fn(move || rows.next_batch()).map(move |batch| {
        let (pairing, check) = (Arc::clone(&pairing), check.clone());
        let decode = move |row: &RawRow<'_>| match row.pair(&pairing)? {
            Some(pair) => input(pair, &pairing, &check).map(Some),
            None => Ok(None),
        };
        let inputs = move || {
            let rows = batch.decode(decode).into_iter();
            rows.filter_map(Result::transpose).collect()
        };
        Box::new(inputs) as Chunk<'_, _, _>
    })
}

/// Returns the row to evaluate.
///
/// # Errors
/// Returns an error if a metric cannot read the row, and that must end the run.
fn input(
    pair: Pair,
    pairing: &Pairing,
    check: &Check,
) -> Result<Input<Example, Prediction>, EvaluateError> {
    if pairing.lacks_pred(&pair) {
        return Ok(without_pred(pair, Given::Nothing));
    }
    let at = pair.origin.as_ref();
    let plan = check.as_ref();
    let error = plan.and_then(|plan| plan.unreadable(&pair.gold, &pair.pred, at));
    error.map_or_else(|| Ok(changed(pair, Arc::new, Given::Prediction)), Err)
}

/// Returns the row to evaluate, with `given` instead of the pair's prediction.
fn without_pred(pair: Pair, given: Given<Prediction>) -> Input<Example, Prediction> {
    let pair = Pair { run: None, ..pair };
    changed(pair, Arc::new, |_| given)
}
