//! The baseline of throughput measurements: a loop that splits every string of a row at white space and counts the words.
//! A ratio to it is comparable between machines.

use std::hint::black_box;
use std::time::{Duration, Instant};

use dsrs_metrics::{Example, Prediction};
use serde_json::Value;

pub(crate) type Rows = Vec<(Example, Prediction)>;

/// Returns the number of words in a row's strings.
fn words(gold: &Example, pred: &Prediction) -> usize {
    gold.data.iter().chain(pred.data.iter()).map(|(_, value)| words_of(value)).sum()
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
    let mut round = || rows.iter().for_each(|(gold, pred)| once(black_box(gold), black_box(pred)));
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

/// Formats a line of the table: a metric, its rows, and its time relative to the loop.
pub(crate) fn line(metric: &str, rows: &str, per_second: f64, loops: f64) -> String {
    format!("{metric:34}  {rows:30}  {per_second:>10.0}  {:>8.1}", loops / per_second)
}

pub(crate) fn head() -> String {
    format!("{:34}  {:30}  {:>10}  {:>8}", "metric", "rows", "rows/s", "x words")
}
