//! The baseline of throughput measurements: a loop that splits every string of a row at white space and counts the words.
//! A ratio to it is comparable between machines. The rows per second are those of a run that reads no explanations.

use std::hint::black_box;
use std::time::{Duration, Instant};

use dsrs_metrics::prelude::*;
use serde_json::Value;

pub(crate) type Rows = Vec<(Example, Prediction)>;

/// Returns the number of words in a row's strings.
fn words(gold: &Example, pred: &Prediction) -> usize {
    gold.data
        .iter()
        .chain(pred.data.iter())
        .map(|(_, value)| words_of(value))
        .sum()
}

fn words_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.split_whitespace().count(),
        Value::Array(items) => items.iter().map(words_of).sum(),
        Value::Object(fields) => fields.values().map(words_of).sum(),
        _ => 0,
    }
}

/// Returns the rows per second on one thread, measured for about `time`.
pub(crate) fn per_second(
    rows: &Rows,
    time: Duration,
    mut once: impl FnMut(&Example, &Prediction),
) -> f64 {
    let mut round = || {
        rows.iter()
            .for_each(|(gold, pred)| once(black_box(gold), black_box(pred)));
    };
    round();
    let (started, mut rounds) = (Instant::now(), 0_u64);
    while started.elapsed() < time {
        round();
        rounds += 1;
    }
    (rounds * rows.len() as u64) as f64 / started.elapsed().as_secs_f64()
}

/// Returns the rows per second of the word-counting loop.
pub(crate) fn of_words(rows: &Rows, time: Duration) -> f64 {
    per_second(rows, time, |gold, pred| {
        black_box(words(gold, pred));
    })
}

/// Measures a metric without and with explanations. Returns a line of the table: the metric, its rows, the rows per
/// second, the time relative to that of the loop, and the additional time of an explanation.
pub(crate) fn measured(
    name: &str,
    what: &str,
    metric: &dyn Metric,
    rows: &Rows,
    time: Duration,
    loops: f64,
) -> String {
    let scored = |call: MetricCall<'_>| {
        let scored = metric.answer(call).ready();
        let scored = scored.unwrap_or_else(|| panic!("{name} has to be awaited"));
        black_box(scored.unwrap_or_else(|error| panic!("{error}")));
    };
    let unread = per_second(rows, time, |gold, pred| {
        scored(MetricCall::new(gold, pred).without_explanation());
    });
    let read = per_second(rows, time, |gold, pred| scored(MetricCall::new(gold, pred)));
    let (ratio, explained) = (loops / unread, 1e9 / read - 1e9 / unread);
    format!("{name:34}  {what:30}  {unread:>10.0}  {ratio:>8.1}  {explained:>12.0}")
}

pub(crate) fn head() -> String {
    format!(
        "{:34}  {:30}  {:>10}  {:>8}  {:>12}",
        "metric", "rows", "rows/s", "x words", "explained ns"
    )
}
