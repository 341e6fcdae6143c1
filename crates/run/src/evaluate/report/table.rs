//! A result as a table that fits terminals of any width.

use std::fmt;

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width, presets,
};
use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use serde_json::Value;

use super::line::raw;
use crate::contract::{Outcome, ScoreKind};
use crate::evaluate::row::RowResult;
use crate::evaluate::summary::EvaluationResult;
use crate::json::text;
use crate::messages::escape;
use crate::stats::decimals;

/// The width of a field, and the maximum width of a score, including borders.
const FIELD_WIDTH: usize = 18;
const MAX_SCORE_WIDTH: usize = 18;
/// The minimum width of a column, including borders.
const MIN_WIDTH: usize = 9;
const DEFAULT_WIDTH: u16 = 100;

/// A table of a result's rows.
///
/// Each line shows a row's id, the fields of its gold row and prediction, and each metric's outcome.
///
/// The table is as wide as the terminal, or 100 columns if there is no terminal.
///
/// Long values are truncated. Fields that do not fit are left out, and the table shows how many.
///
/// Fields that metrics read come first, in their order, then the rest.
pub struct ResultTable {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The number of score columns, which come last.
    scores: usize,
    omitted: u64,
    width: Option<u16>,
}

impl<G: Serialize, P: Serialize> EvaluationResult<G, P> {
    /// Returns a table of the first `rows` rows.
    ///
    /// If `rows` is `None`, the table has all stored rows.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Evaluate, rows::Pair};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let pair = Pair::new("q1", example! { "answer" => 4 }, prediction! { "answer" => 4 });
    /// let result = Evaluate::builder().metric(same).build()?.score([pair]).await?;
    /// let table = result.table(None).with_width(60).to_string();
    /// assert!(table.contains("gold.answer") && table.contains("true"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn table(&self, rows: Option<usize>) -> ResultTable {
        let shown = rows.unwrap_or(usize::MAX).min(self.results.len());
        let results = &self.results[..shown];
        let names: Vec<&str> = self.metric_names().collect();
        let kinds = names.iter().map(|name| Some(self.metric(name)?.kind));
        let kinds: Vec<_> = kinds.collect();
        let cells: Vec<Fields> = results.iter().map(fields_of_row).collect();
        let mut fields: IndexSet<&String> = cells.iter().flat_map(IndexMap::keys).collect();
        let rank = |name: &String| self.reads.iter().position(|read| read == name);
        fields.sort_by_cached_key(|name| rank(name).unwrap_or(usize::MAX));
        let line = |(row, cells): (&RowResult<G, P>, &Fields)| {
            let field = |name: &&String| cells.get(*name).cloned().unwrap_or_default();
            let outcomes = row.outcomes.iter().zip(&kinds);
            std::iter::once(row.id.clone())
                .chain(fields.iter().map(field))
                .chain(outcomes.map(|(scored, kind)| outcome(scored, *kind)))
                .collect()
        };
        let columns = std::iter::once("id".to_owned())
            .chain(fields.iter().map(|name| (*name).clone()))
            .chain(names.iter().map(|name| (*name).to_owned()));
        ResultTable {
            columns: columns.collect(),
            rows: results.iter().zip(&cells).map(line).collect(),
            scores: names.len(),
            omitted: self.rows - shown as u64,
            width: None,
        }
    }
}

type Fields = IndexMap<String, String>;

/// Returns the fields of both sides of a row.
fn fields_of_row<G: Serialize, P: Serialize>(row: &RowResult<G, P>) -> Fields {
    let mut fields = fields_of("gold", &*row.gold);
    if let Some(pred) = &row.pred {
        fields.extend(fields_of("pred", pred));
    }
    fields
}

/// Returns the fields of a side, in their order.
fn fields_of(side: &str, row: &impl Serialize) -> Fields {
    let json = raw(row);
    let shown = |value| text(value).unwrap_or_default();
    match serde_json::from_str::<IndexMap<String, Value>>(json.get()) {
        Ok(fields) => {
            let named = |(name, value)| (format!("{side}.{name}"), shown(value));
            fields.into_iter().map(named).collect()
        }
        Err(_) => {
            let value = serde_json::from_str(json.get()).unwrap_or_default();
            IndexMap::from([(side.to_owned(), shown(value))])
        }
    }
}

fn outcome(outcome: &Outcome, kind: Option<ScoreKind>) -> String {
    match (outcome, kind) {
        (Outcome::Scored(scored), Some(ScoreKind::Bool)) => (scored.score.value >= 1.0).to_string(),
        (Outcome::Scored(scored), _) => decimals(scored.score.value, 4),
        (other, _) => other.error().unwrap_or_else(|| other.name().to_owned()),
    }
}

impl ResultTable {
    /// Sets the width, in terminal columns.
    pub fn with_width(mut self, columns: u16) -> Self {
        self.width = Some(columns);
        self
    }

    /// Returns the columns that fit, from left to right: the id, the first fields, the scores.
    fn fitting(&self, width: u16) -> Vec<usize> {
        let room = usize::from(width).saturating_sub(1);
        let scores = self.scores.min((room / MIN_WIDTH).max(2) - 1);
        let first_score = self.columns.len() - self.scores;
        let shown = first_score..first_score + scores;
        let taken: usize = shown.clone().map(|column| self.score_width(column)).sum();
        let id = self.rows.iter().map(|row| row[0].chars().count() + 3).max();
        let left = room.saturating_sub(taken + id.unwrap_or(0).clamp(MIN_WIDTH, FIELD_WIDTH));
        let fields = 1..first_score.min(1 + left / FIELD_WIDTH);
        std::iter::once(0).chain(fields).chain(shown).collect()
    }

    /// Returns the width of a score column including borders: the width of its heading, clamped.
    fn score_width(&self, column: usize) -> usize {
        (self.columns[column].chars().count() + 3).clamp(MIN_WIDTH, MAX_SCORE_WIDTH)
    }
}

/// Returns the text on one line, truncated to slightly more than the width.
fn one_line(text: &str, width: u16) -> String {
    let shown = text.chars().take(usize::from(width) + 1);
    let visible = |character: char| match escape::is_unsafe(character) {
        true => ' ',
        false => character,
    };
    shown.map(visible).collect()
}

impl fmt::Display for ResultTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_truncation_indicator("…");
        let width = self
            .width
            .or_else(|| Some(console::Term::stdout().size_checked()?.1))
            .unwrap_or(DEFAULT_WIDTH);
        table.set_width(width);
        let columns = self.fitting(width);
        let row = |cells: &[String]| {
            let mut row = Row::from(
                columns
                    .iter()
                    .map(|column| one_line(&cells[*column], width)),
            );
            row.max_height(1);
            row
        };
        table.set_header(row(&self.columns));
        for cells in &self.rows {
            table.add_row(row(cells));
        }
        let first_score = self.columns.len() - self.scores;
        for (shown, column) in columns.iter().zip(table.column_iter_mut()) {
            if *shown >= first_score {
                column.set_cell_alignment(CellAlignment::Right);
                if usize::from(width) > MIN_WIDTH * 8 {
                    let wanted = u16::try_from(self.score_width(*shown) - 1).unwrap_or(u16::MAX);
                    column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(wanted)));
                }
            }
        }
        write!(f, "{table}")?;
        let omitted_columns = self.columns.len() - columns.len();
        match (self.omitted, omitted_columns) {
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
        table
            .field("rows", &self.rows.len())
            .finish_non_exhaustive()
    }
}
