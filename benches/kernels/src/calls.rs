//! Calls of metrics that do almost no work, alone, in a composite and in a run: what the contract costs.

use std::hint::black_box;

use dsrs_metrics::{Evaluate, EvaluateBuilder, Pair, prelude::*};
use tokio::runtime::Builder;

use crate::Kernel;

#[metric]
fn answered(#[pred] answered: bool) -> bool {
    answered
}

#[metric]
fn cited(#[pred] cited: bool) -> bool {
    cited
}

#[metric(range = 0.0..=1.0)]
fn overlap(#[pred] overlap: f64) -> f64 {
    overlap
}

#[metric(range = 0.0..=1.0)]
fn brevity(#[pred] brevity: f64) -> f64 {
    brevity
}

#[metric]
fn present(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric(weighted(answered = 0.2, cited = 0.2, overlap = 0.2, brevity = 0.2, present = 0.2))]
struct Five;

/// The calls of one run of a kernel.
const CALLS: usize = 100;

/// The rows of one run of a kernel.
const ROWS: u64 = 10_000;

fn prediction() -> Prediction {
    prediction! {
        "answer" => "Eiffel Tower", "answered" => true, "cited" => false, "overlap" => 0.75, "brevity" => 0.5,
    }
}

/// Returns the kernels: 100 calls of five metrics, 100 of their composite, and runs over 10,000 rows.
pub(crate) fn kernels() -> Vec<Kernel> {
    let parts: [&'static dyn Metric; 5] = [&Answered, &Cited, &Overlap, &Brevity, &Present];
    let equal = typed_metric_fn("equal", |gold: &u64, pred: &u64| gold == pred);
    vec![
        calls("call/five apart", parts.to_vec()),
        calls("call/composite of five", vec![&Five]),
        run("run/typed rows", Evaluate::<u64, u64>::typed().metric(equal), |row| (row, row)),
        run("run/composite", Evaluate::builder().metric(Five), |_| (example! {}, prediction())),
    ]
}

fn calls(name: &str, metrics: Vec<&'static dyn Metric>) -> Kernel {
    let (gold, pred) = (example! {}, prediction());
    let run = move || {
        let call = MetricCall::new(&gold, &pred);
        for _ in 0..CALLS {
            for metric in &metrics {
                let _ = black_box(metric.answer(black_box(call)).ready());
            }
        }
    };
    Kernel { name: name.into(), bytes: 0, run: Box::new(run) }
}

/// A run on one thread whose rows are not kept.
fn run<G, P>(name: &str, evaluate: EvaluateBuilder<G, P>, row: fn(u64) -> (G, P)) -> Kernel
where
    G: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    let evaluate = evaluate.keep_results(false).build().expect("a valid run");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let run = move || {
        let rows = (0..ROWS).map(move |number| {
            let (gold, pred) = row(number);
            Pair::new(number.to_string(), gold, pred)
        });
        let result = runtime.block_on(evaluate.score(rows)).expect("a result");
        assert_eq!((result.rows, result.failed_rows), (ROWS, 0));
    };
    Kernel { name: name.into(), bytes: 0, run: Box::new(run) }
}
