//! Results from ragas: `result.to_pandas().to_csv(..)`, or its records in JSON. Columns that are not fields of a sample
//! are scores: <https://docs.ragas.io/en/stable/concepts/components/eval_sample/>.

use serde_json::Value;

use super::detect::other_format;
use super::table::{Converted, Epochs, Table, TableRow, at, objects, pick};
use crate::error::{FormatError, Input};

const EXPECTED: &str = "ragas results with `response` or `retrieved_contexts`";

/// The fields of a sample, also by their names before version 0.2.
const GOLD: [(&str, &str); 5] = [
    ("question", "/user_input /question"),
    ("answer", "/reference /ground_truth /ground_truths"),
    ("context", "/reference_contexts"),
    ("trajectory", "/reference_tool_calls"),
    ("rubrics", "/rubrics"),
];
const PRED: [(&str, &str); 2] = [
    ("answer", "/response /answer"),
    ("context", "/retrieved_contexts /contexts"),
];

pub(super) fn import(input: Input<'_>, epochs: Epochs) -> Result<Converted, FormatError> {
    let samples = objects(input, EXPECTED)?;
    let is_sample = |it: &Value| PRED.iter().any(|(_, pointers)| at(it, pointers).is_some());
    if !samples.first().is_some_and(is_sample) {
        let reason = "no `response` and no `retrieved_contexts`";
        return Err(other_format(input, EXPECTED, input.whole(reason)));
    }
    let is_field = |name: &str| {
        let mut fields = GOLD.iter().chain(&PRED);
        fields.any(|(_, pointers)| pointers.split(' ').any(|it| &it[1..] == name))
    };
    // pandas writes the number of a row in a column without a name.
    let is_score = |name: &str| {
        let is_index = name.is_empty() || name.starts_with("Unnamed:");
        let has_number = samples.iter().any(|it| number(&it[name]).is_some());
        !is_index && !is_field(name) && has_number
    };
    let names = samples[0]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name);
    let metrics: Vec<&String> = names.filter(|name| is_score(name)).collect();
    let mut table = Table::default();
    for (sample, id) in samples.iter().zip(1_u64..) {
        let mut row = TableRow::positional(id.to_string());
        row.gold = pick(sample, &GOLD);
        row.pred = pick(sample, &PRED);
        // ragas writes NaN, which is an empty cell, where a metric failed.
        for metric in &metrics {
            row.score(metric, number(&sample[*metric]));
        }
        // A conversation is a trajectory.
        if let Some(turns) = row.gold.get("question").filter(|it| it.is_array()).cloned() {
            row.pred.insert("trajectory".to_owned(), turns);
        }
        table.add(input, row)?;
    }
    Ok(table.finish(epochs))
}

fn number(value: &Value) -> Option<f64> {
    let of_cell = || value.as_str()?.trim().parse().ok();
    value
        .as_f64()
        .or_else(of_cell)
        .filter(|number| number.is_finite())
}
