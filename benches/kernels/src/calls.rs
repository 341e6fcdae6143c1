//! Calls of metrics that do almost no work, alone and in a composite: what the contract costs.

use std::hint::black_box;

use dsrs_metrics::prelude::*;

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

#[metric(weighted(
    answered = 0.2,
    cited = 0.2,
    overlap = 0.2,
    brevity = 0.2,
    present = 0.2
))]
struct Five;

/// The calls of each metric in one call of a kernel.
const CALLS: usize = 100;

fn prediction() -> Prediction {
    prediction! {
        "answer" => "Eiffel Tower", "answered" => true, "cited" => false, "overlap" => 0.75, "brevity" => 0.5,
    }
}

/// Returns the kernels: 100 calls of five metrics, and 100 of their composite, with and without its explanation.
pub(crate) fn kernels() -> Vec<Kernel> {
    let parts: [&'static dyn Metric; 5] = [&Answered, &Cited, &Overlap, &Brevity, &Present];
    vec![
        calls("call/five-apart", parts.to_vec(), false),
        calls("call/composite-of-five", vec![&Five], false),
        calls("call/composite-explained", vec![&Five], true),
    ]
}

fn calls(name: &str, metrics: Vec<&'static dyn Metric>, is_explained: bool) -> Kernel {
    let (gold, pred) = (example! {}, prediction());
    let run = move || {
        let call = MetricCall::new(&gold, &pred);
        let call = if is_explained {
            call
        } else {
            call.without_explanation()
        };
        for _ in 0..CALLS {
            for metric in &metrics {
                let _ = black_box(metric.answer(black_box(call)).ready());
            }
        }
    };
    Kernel {
        name: name.into(),
        bytes: 0,
        run: Box::new(run),
    }
}
