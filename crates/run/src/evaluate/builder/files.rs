//! The settings that show or write whole rows: result files and tables.

use std::path::PathBuf;

use serde::Serialize;

use super::evaluate_builder::EvaluateBuilder;
#[cfg(feature = "report")]
use crate::evaluate::options::ShowTable;
use crate::evaluate::report::{Format, row_line};
#[cfg(feature = "report")]
use crate::evaluate::summary::EvaluationResult;

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Sets the files that the run writes.
    ///
    /// See [`FileSettings`].
    ///
    /// ```no_run
    /// use dsrs_metrics::{Evaluate, metrics};
    ///
    /// let evaluate = Evaluate::builder()
    ///     .metric(metrics::Em::default())
    ///     .files(|files| files.csv("rows.csv").jsonl("rows.jsonl").save_rows(true));
    /// ```
    pub fn files(self, set: impl FnOnce(FileSettings<G, P>) -> FileSettings<G, P>) -> Self {
        set(FileSettings(self)).0
    }
}

/// Settings for the files that a run writes.
///
/// See [`EvaluateBuilder::files`].
///
/// Result files list rows in input order and appear only at the end of the run.
///
/// If the run is stopped early, they contain the finished rows.
///
/// The run checks that the files are writable before it evaluates any row.
#[must_use]
pub struct FileSettings<G, P>(pub(super) EvaluateBuilder<G, P>);

impl<G: Serialize + Send + Sync + 'static, P: Serialize + Send + Sync + 'static>
    FileSettings<G, P>
{
    /// Writes the rows to a CSV file.
    ///
    /// The file has these columns:
    ///
    /// - `id`
    /// - `gold.FIELD` and `pred.FIELD`, if a program was run
    /// - `latency_s`, `input_tokens`, `output_tokens` and `cost_msats`, if the program returned them
    ///   ([`ProgramOutput`](dsrs_metrics_core::ProgramOutput))
    /// - `attributes.FIELD`
    ///
    /// Each metric has the columns `NAME` (its value), `NAME.outcome`, `NAME.passed`, `NAME.confidence`,
    /// `NAME.details`, `NAME.feedback` and `NAME.cost_msats`. It also has `NAME.error`, `NAME.parts` and
    /// `NAME.metadata` if any row has them.
    ///
    /// Lists and objects are written as JSON.
    #[cfg(feature = "csv")]
    pub fn csv(self, path: impl Into<PathBuf>) -> Self {
        self.save_as(Format::Csv, path.into())
    }

    /// Writes the rows to a Parquet file.
    ///
    /// The columns are the same as in [`csv`](Self::csv). pandas, polars and DuckDB can read the file directly.
    ///
    /// Numbers, booleans and strings keep their types, and lists and objects are written as JSON. If a column has
    /// values of different types, the whole column is JSON.
    #[cfg(feature = "parquet")]
    pub fn parquet(self, path: impl Into<PathBuf>) -> Self {
        self.save_as(Format::Parquet, path.into())
    }

    setters! {
        /// Sets whether to escape strings that a spreadsheet would evaluate as formulas.
        ///
        /// This setting applies to CSV files. The default is `true`, because strings in rows often come from models and
        /// data sets.
        ///
        /// Escaped strings get a leading apostrophe.
        ///
        /// Cells and column names are escaped if they begin with `=`, `+`, `-`, `@`, a tab or a line break, optionally
        /// preceded by apostrophes.
        ///
        /// [`Results::read`](crate::results::Results::read) and [`DataReader`](crate::data::DataReader) remove the
        /// apostrophe when they read the file.
        ///
        /// Pass `false` if another program reads the file and does not remove the apostrophe. Strings are then written
        /// unchanged.
        ///
        /// However, a string such as `'=1` loses its apostrophe when this library reads the file back.
        #[cfg(feature = "csv")]
        pub fn escape_formulas(escape: bool) => 0.options.escape_formulas = escape;

        /// Sets whether result files always include gold rows and predictions.
        ///
        /// By default, they are included only if the run called a program. If `true`, they are also included when you
        /// pass predictions to [`score`](crate::Evaluate::score).
        ///
        /// ```
        /// use dsrs_metrics::prelude::*;
        /// use dsrs_metrics::{Evaluate, rows::Pair};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let file = std::env::temp_dir().join(format!("dsrs-metrics-rows-{}.jsonl", std::process::id()));
        /// let same = metric_fn("same", |gold, pred| gold.get("x") == pred.get("x"));
        /// let evaluate = Evaluate::builder().metric(same).files(|files| files.jsonl(&file).save_rows(true)).build()?;
        /// evaluate.score([Pair::new("q1", example! { "x" => 4 }, prediction! { "x" => 5 })]).await?;
        /// let line = std::fs::read_to_string(&file)?;
        /// assert!(line.starts_with(r#"{"id":"q1","gold":{"x":4},"pred":{"x":5},"scores""#));
        /// # std::fs::remove_file(file)?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn save_rows(save: bool) => 0.options.save_rows = save;
    }

    /// Writes the rows to a JSON file.
    ///
    /// The file is an array of the same objects as in [`jsonl`](Self::jsonl).
    pub fn json(self, path: impl Into<PathBuf>) -> Self {
        self.save_as(Format::Json, path.into())
    }

    /// Writes the rows to a JSON Lines file.
    ///
    /// Each line is an object such as `{"id": .., "gold": .., "pred": .., "scores": {"NAME": {"outcome": "scored",
    /// "value": 1.0, "passed": true, "confidence": 1.0, "details": null, "feedback": null, "cost_msats": 0}}}`. A row
    /// without an id also has `"positional": true`.
    ///
    /// - `gold` and `pred` are present if the run called a program or [`save_rows`](Self::save_rows) is set.
    /// - `gold_hash` and `pred_hash` follow the scores. `compare` and `agree` use them to detect rows that differ.
    /// - `latency_s`, `input_tokens`, `output_tokens` and `cost_msats` are present if the program returned them.
    /// - `attributes` and `traceback` are omitted if they are empty, as are a score's `error`, `parts` and `metadata`.
    /// - `details` explains the score, unless `feedback` does.
    pub fn jsonl(self, path: impl Into<PathBuf>) -> Self {
        self.save_as(Format::JsonLines, path.into())
    }

    fn save_as(mut self, format: Format, path: PathBuf) -> Self {
        let options = &mut self.0.options;
        options.outputs.push((format, path));
        options.render = Some(row_line);
        self
    }
}

/// Methods that show whole rows.
#[cfg(feature = "report")]
impl<G: Serialize + Send + Sync + 'static, P: Serialize + Send + Sync + 'static>
    EvaluateBuilder<G, P>
{
    /// Prints a table of rows to standard output at the end of the run.
    ///
    /// If you pass a number, the table shows at most that many rows, starting with the first. `true` or `None` prints
    /// all rows, and `false` prints no table.
    pub fn display_table(mut self, rows: impl Into<TableRows>) -> Self {
        let TableRows(rows) = rows.into();
        self.options.table_rows = rows.unwrap_or(0);
        self.options.show_table = rows.map(|_| print_table::<G, P> as ShowTable<G, P>);
        self
    }
}

/// The number of rows to show in a table.
///
/// You can convert a `usize`, a `bool` or an `Option<usize>` into this type. `true` and `None` mean all rows, and
/// `false` means no table.
#[cfg(feature = "report")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableRows(Option<usize>);

#[cfg(feature = "report")]
conversions! {
    usize => TableRows: |rows| Self(Some(rows));
    bool => TableRows: |display| Self(display.then_some(usize::MAX));
    Option<usize> => TableRows: |rows| Self(Some(rows.unwrap_or(usize::MAX)));
}

#[cfg(feature = "report")]
fn print_table<G: Serialize, P: Serialize>(result: &EvaluationResult<G, P>, rows: usize) {
    use std::io::Write;
    // The result is returned even if standard output is a closed pipe.
    let _ = writeln!(std::io::stdout(), "{}", result.table(Some(rows)));
}

#[cfg(all(test, feature = "report"))]
mod tests {
    use super::*;
    use crate::contract::rows::dynamic::{Example, Prediction};

    #[test]
    fn true_displays_all_rows_and_false_none() {
        let shown = |rows: TableRows| {
            let options = EvaluateBuilder::<Example, Prediction>::new()
                .display_table(rows)
                .options;
            (options.table_rows, options.show_table.is_some())
        };
        assert_eq!(shown(true.into()), (usize::MAX, true));
        assert_eq!(shown(false.into()), (0, false));
        assert_eq!(
            (shown(2.into()), shown(None.into())),
            ((2, true), (usize::MAX, true))
        );
        let replaced = EvaluateBuilder::<Example, Prediction>::new()
            .display_table(3)
            .display_table(false)
            .options;
        assert!(replaced.show_table.is_none());
    }
}
