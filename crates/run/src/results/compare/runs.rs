//! The cost, tokens and time of a run.

use serde::Serialize;

use crate::evaluate::manifest::Manifest;
use crate::results::run_scores::RunScores;

/// A value for each of the two runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sides<T> {
    /// The value of the first run.
    pub a: T,
    /// The value of the second run.
    pub b: T,
}

impl<T> From<[T; 2]> for Sides<T> {
    fn from([a, b]: [T; 2]) -> Self {
        Self { a, b }
    }
}

/// A run's totals: its number of rows, and the latency, tokens and cost of the rows that both runs have.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunTotals {
    /// The path of the file, or the name of the results.
    pub name: String,
    /// The program's label, from the run's manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The names of the data files, from the run's manifest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
    /// The total number of rows in the run.
    pub rows: u64,
    /// The mean latency of the program, in seconds, over the rows whose latency is known.
    pub latency_s: Option<f64>,
    /// The number of rows whose latency is known.
    pub latency_rows: u64,
    /// The number of tokens in the program's prompts.
    pub input_tokens: Option<u64>,
    /// The number of tokens in the replies to the program.
    pub output_tokens: Option<u64>,
    /// The number of rows whose token counts are known.
    pub usage_rows: u64,
    /// The program's cost in millisatoshis; `None` if the cost of a row with tokens is unknown.
    pub cost_msats: Option<u64>,
    /// The cost of all metrics in the run, in millisatoshis.
    pub metric_cost_msats: u64,
}

impl RunTotals {
    pub(super) fn of(scores: &RunScores, rows: impl Iterator<Item = usize>) -> Self {
        let run = &scores.run;
        let mut totals = Self {
            name: run.name().to_owned(),
            rows: scores.len() as u64,
            label: run.manifest().and_then(|it| it.run.label.clone()),
            data: run.manifest().map(data).unwrap_or_default(),
            ..Self::default()
        };
        let (mut latency, mut costs) = (0.0, 0);
        for row in rows.map(|row| scores.usage(row)) {
            if let Some(seconds) = row.latency_s {
                latency += seconds;
                totals.latency_rows += 1;
            }
            add(&mut totals.input_tokens, row.input_tokens);
            add(&mut totals.output_tokens, row.output_tokens);
            add(&mut totals.cost_msats, row.cost_msats);
            totals.usage_rows += u64::from(row.input_tokens.or(row.output_tokens).is_some());
            costs += u64::from(row.cost_msats.is_some());
            totals.metric_cost_msats = totals
                .metric_cost_msats
                .saturating_add(row.metric_cost_msats);
        }
        totals.latency_s = (totals.latency_rows > 0).then(|| latency / totals.latency_rows as f64);
        totals.cost_msats = totals.cost_msats.filter(|_| costs >= totals.usage_rows);
        totals
    }
}

fn data(manifest: &Manifest) -> Vec<String> {
    manifest
        .run
        .data
        .iter()
        .map(|file| file.name.clone())
        .collect()
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
