//! A result as a table for terminals of any width.

use std::fmt;

use comfy_table::{CellAlignment, ContentArrangement, Row, Table, presets};
use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use serde_json::Value;

use crate::evaluate::{EvaluationResult, RowResult};
use crate::outcome::Outcome;

/// Columns, borders included, are never narrower.
const NARROWEST: usize = 9;
const DEFAULT_WIDTH: u16 = 100;

/// The rows of a result as a table, one line each: id, the fields of gold and prediction, and what
/// became of the row under each metric. It is as wide as the terminal, or 100 columns if there is
/// none; text that is too long is cut, and fields that have no room are left out and counted.
pub struct ResultTable {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Columns on the left and right that are never left out for a field's sake.
    scores: usize,
    omitted: u64,
    width: Option<u16>,
}

impl<G: Serialize, P: Serialize> EvaluationResult<G, P> {
    /// The first `rows` rows as a table; all that were kept if `None`.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Evaluate, Pair};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::EvaluateError> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let pair = Pair::new("q1", example! { "answer" => 4 }, prediction! { "answer" => 4 });
    /// let result = Evaluate::builder().metric(same).build()?.score([pair]).await?;
    /// let table = result.table(None).with_width(60).to_string();
    /// assert!(table.contains("gold.answer") && table.contains("true"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn table(&self, rows: Option<usize>) -> ResultTable {
        let shown = rows.unwrap_or(usize::MAX).min(self.results.len());
        let names: Vec<&str> = self.metric_names().collect();
        let rows: Vec<_> = self.results[..shown].iter().map(Cells::new).collect();
        let fields: IndexSet<&String> = rows.iter().flat_map(|row| row.fields.keys()).collect();
        let line = |row: &Cells| {
            let field = |name: &&String| row.fields.get(*name).cloned().unwrap_or_default();
            let mut line = vec![row.id.clone()];
            line.extend(fields.iter().map(field));
            line.extend(row.outcomes.iter().cloned());
            line
        };
        let lines = rows.iter().map(line).collect();
        let columns = std::iter::once("id".to_owned())
            .chain(fields.iter().map(|name| (*name).clone()))
            .chain(names.iter().map(|name| (*name).to_owned()));
        ResultTable {
            columns: columns.collect(),
            rows: lines,
            scores: names.len(),
            omitted: self.rows - shown as u64,
            width: None,
        }
    }
}

/// What one row shows.
struct Cells {
    id: String,
    fields: IndexMap<String, String>,
    outcomes: Vec<String>,
}

impl Cells {
    fn new<G: Serialize, P: Serialize>(row: &RowResult<G, P>) -> Self {
        let mut fields = IndexMap::new();
        fields.extend(fields_of("gold", serde_json::to_value(&*row.gold)));
        if let Some(pred) = &row.pred {
            fields.extend(fields_of("pred", serde_json::to_value(pred)));
        }
        let outcomes = row.outcomes.iter().map(outcome).collect();
        Self { id: row.id.clone(), fields, outcomes }
    }
}

fn fields_of(side: &str, value: serde_json::Result<Value>) -> Vec<(String, String)> {
    match value {
        Ok(Value::Object(fields)) => {
            let named = |(name, value)| (format!("{side}.{name}"), text(value));
            fields.into_iter().map(named).collect()
        }
        Ok(value) => vec![(side.to_owned(), text(value))],
        Err(error) => vec![(side.to_owned(), format!("cannot be shown: {error}"))],
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Scored(scored) => match scored.passed {
            Some(passed) if [0.0, 1.0].contains(&scored.score.value) => passed.to_string(),
            _ => format!("{:.4}", scored.score.value),
        },
        other => other.error().unwrap_or_else(|| other.name().to_owned()),
    }
}

impl ResultTable {
    /// Sets the width, in columns of the terminal.
    #[must_use]
    pub fn with_width(mut self, columns: u16) -> Self {
        self.width = Some(columns);
        self
    }

    /// The columns that have room: the id, the scores, then as many fields as fit.
    fn fitting(&self, width: u16) -> Vec<usize> {
        let room = (usize::from(width).saturating_sub(1) / NARROWEST).max(2);
        let count = self.columns.len();
        let scores = self.scores.min(room - 1);
        let fields = (count - self.scores).min(room - scores);
        let first_score = count - self.scores;
        (0..fields).chain(first_score..first_score + scores).collect()
    }
}

/// One line, and no longer than could ever be shown.
fn one_line(text: &str, width: u16) -> String {
    let shown = text.chars().take(usize::from(width) + 1);
    let visible = |character: char| {
        if character.is_control() { ' ' } else { character }
    };
    shown.map(visible).collect()
}

impl fmt::Display for ResultTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_truncation_indicator("…");
        let width = self.width.or_else(|| table.width()).unwrap_or(DEFAULT_WIDTH);
        table.set_width(width);
        let columns = self.fitting(width);
        let row = |cells: &[String]| {
            let mut row = Row::from(columns.iter().map(|column| one_line(&cells[*column], width)));
            row.max_height(1);
            row
        };
        table.set_header(row(&self.columns));
        for cells in &self.rows {
            table.add_row(row(cells));
        }
        let first_score = columns.len().saturating_sub(self.scores);
        for column in table.column_iter_mut().skip(first_score) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        write!(f, "{table}")?;
        let left_out = self.columns.len() - columns.len();
        match (self.omitted, left_out) {
            (0, 0) => Ok(()),
            (rows, 0) => write!(f, "\n({rows} more rows)"),
            (0, columns) => write!(f, "\n({columns} more columns)"),
            (rows, columns) => write!(f, "\n({rows} more rows, {columns} more columns)"),
        }
    }
}

impl fmt::Debug for ResultTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = f.debug_struct("ResultTable");
        table.field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}
