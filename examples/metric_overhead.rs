//! The overhead of a metric over the plain function: on a row that derives `Record`, on a dynamic row, and
//! through `dyn Metric`; and what an explanation adds, if it is not read and if it is. Prints nanoseconds per row
//! and the ratio to the function.
//!
//! ```sh
//! cargo run --release --example metric_overhead
//! ```

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use dsrs_metrics::prelude::*;

/// Passes if the intents are equal, ignoring case: about ten nanoseconds of work.
#[metric]
fn intent_accuracy(#[gold] expected_intent: &str, #[pred] intent: &str) -> bool {
    expected_intent.trim().eq_ignore_ascii_case(intent.trim())
}

/// The same with an explanation.
#[metric(explain = explain_intent)]
fn explained_intent(#[gold] expected_intent: &str, #[pred] intent: &str) -> bool {
    expected_intent.trim().eq_ignore_ascii_case(intent.trim())
}

fn explain_intent(expected: &str, found: &str, _score: f64) -> String {
    format!("expected {expected:?}, found {found:?}")
}

#[derive(Record)]
struct Gold {
    expected_intent: String,
}

#[derive(Record)]
struct Answer {
    intent: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let gold = Gold {
        expected_intent: "entity_lookup".to_owned(),
    };
    let pred = Answer {
        intent: "Entity_Lookup ".to_owned(),
    };
    let dynamic_gold = example! { "expected_intent" => "entity_lookup", "question" => "Where?" };
    let dynamic_pred = prediction! { "intent" => "Entity_Lookup ", "answer" => "Here." };
    let metric: &dyn Metric = &IntentAccuracy;

    let plain = nanoseconds(|| {
        black_box(intent_accuracy(
            black_box(&gold.expected_intent),
            black_box(&pred.intent),
        ));
    });
    let record = nanoseconds(|| {
        let _ = black_box(IntentAccuracy.score(black_box(&gold), black_box(&pred)));
    });
    let dynamic = nanoseconds(|| {
        let _ = black_box(IntentAccuracy.score(black_box(&dynamic_gold), black_box(&dynamic_pred)));
    });
    let call = MetricCall::new(&dynamic_gold, &dynamic_pred);
    let explained: &dyn Metric = &ExplainedIntent;
    // In turns, so that other load on the machine affects all of them.
    let [object, unread, read] = nanoseconds_of([
        &|| drop(black_box(metric.answer(black_box(call)).ready())),
        &|| {
            drop(black_box(
                explained
                    .answer(black_box(call.without_explanation()))
                    .ready(),
            ));
        },
        &|| drop(black_box(explained.answer(black_box(call)).ready())),
    ]);

    println!("{:<34} {:>8} {:>8}", "", "ns/row", "ratio");
    let lines = [
        ("the plain function", plain),
        ("the metric on a Record row", record),
        ("the metric on a dynamic row", dynamic),
        ("`dyn Metric` on a dynamic row", object),
        ("  with an unread explanation", unread),
        ("  with an explanation", read),
    ];
    for (what, time) in lines {
        println!("{what:<34} {time:>8.1} {:>8.2}", time / plain);
    }
    println!(
        "an unread explanation adds {:.1} ns to a row, and one that is read {:.0} ns",
        unread - object,
        read - object
    );
    Ok(())
}

/// The calls of one round.
const CALLS: u32 = 1_000_000;
const ROUNDS: u32 = 7;

/// Returns the best time of several rounds, in nanoseconds per call.
fn nanoseconds(mut call: impl FnMut()) -> f64 {
    (0..ROUNDS)
        .map(|_| round(&mut call))
        .fold(f64::INFINITY, f64::min)
}

/// Returns the best time of each, measured in turns.
fn nanoseconds_of<const N: usize>(calls: [&dyn Fn(); N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..ROUNDS {
        for (best, call) in best.iter_mut().zip(calls) {
            *best = best.min(round(call));
        }
    }
    best
}

fn round(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..CALLS).for_each(|_| call());
    start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
}
