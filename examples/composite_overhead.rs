//! The overhead of a composite of five synchronous metrics over calling them separately, for metrics that do
//! almost no work and for metrics that normalize text. Prints nanoseconds per row, without and with the scores of the
//! components, which an evaluation needs only for rows that it keeps.
//!
//! ```sh
//! cargo run --release --example composite_overhead
//! ```

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use dsrs_metrics::composite::{Composite, component, weighted};
use dsrs_metrics::metrics::{Em, F1, HotpotF1, Precision, Recall};
use dsrs_metrics::prelude::*;

/// Returns the row's field.
#[metric]
fn answered(#[pred] answered: bool) -> bool {
    answered
}

/// Returns the row's field.
#[metric]
fn cited(#[pred] cited: bool) -> bool {
    cited
}

/// Returns the row's field.
#[metric(range = 0.0..=1.0)]
fn overlap(#[pred] overlap: f64) -> f64 {
    overlap
}

/// Returns the row's field.
#[metric(range = 0.0..=1.0)]
fn brevity(#[pred] brevity: f64) -> f64 {
    brevity
}

/// Passes if the answer is not empty.
#[metric]
fn present(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

/// The five metrics above as a composite that is checked at compile time.
#[metric(weighted(
    answered = 0.2,
    cited = 0.2,
    overlap = 0.2,
    brevity = 0.2,
    present = 0.2
))]
struct OfFields;

/// Five built-in metrics as a composite that is checked at compile time.
#[metric(weighted(Em = 0.2, F1 = 0.2, HotpotF1 = 0.2, Precision = 0.2, Recall = 0.2))]
struct OfText;

fn main() -> Result<(), Box<dyn Error>> {
    let gold = example! { "answer" => ["the Eiffel Tower"] };
    let pred = prediction! {
        "answer" => "Eiffel Tower",
        "answered" => true,
        "cited" => false,
        "overlap" => 0.75,
        "brevity" => 0.5,
    };
    let call = MetricCall::new(&gold, &pred);
    let counted = call.without_explanation();
    let fields = (Answered, Cited, Overlap, Brevity, Present);
    compare("that read one field", fields, &OfFields, counted)?;
    compare("that read one field, explained", fields, &OfFields, call)?;
    let text = (
        Em::default(),
        F1::default(),
        HotpotF1::default(),
        Precision::default(),
        Recall::default(),
    );
    compare("of normalized text", text.clone(), &OfText, counted)?;
    compare("of normalized text, explained", text, &OfText, call)
}

/// Measures both in alternation, so that other load on the machine affects both equally.
fn compare<A, B, C, D, E>(
    what: &str,
    (a, b, c, d, e): (A, B, C, D, E),
    declared: &dyn Metric,
    call: MetricCall<'_>,
) -> Result<(), Box<dyn Error>>
where
    A: Metric + Clone + 'static,
    B: Metric + Clone + 'static,
    C: Metric + Clone + 'static,
    D: Metric + Clone + 'static,
    E: Metric + Clone + 'static,
{
    const ROUNDS: u32 = 600;
    let parts: [Box<dyn Metric>; 5] = [
        Box::new(a.clone()),
        Box::new(b.clone()),
        Box::new(c.clone()),
        Box::new(d.clone()),
        Box::new(e.clone()),
    ];
    let whole = weighted([
        (component(a), 0.2),
        (component(b), 0.2),
        (component(c), 0.2),
        (component(d), 0.2),
        (component(e), 0.2),
    ]);
    let composite = Composite::builder("five", whole).build()?;

    let (mut apart, mut together, mut checked) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        apart = apart.min(nanoseconds(|| {
            parts.iter().for_each(|metric| {
                let _ = black_box(metric.answer(black_box(call)).ready());
            });
        }));
        together = together.min(nanoseconds(|| {
            let _ = black_box(composite.answer(black_box(call)).ready());
        }));
        checked = checked.min(nanoseconds(|| {
            let _ = black_box(declared.answer(black_box(call)).ready());
        }));
    }
    println!("five metrics {what}");
    println!("  apart       {apart:>8.1} ns/row");
    println!(
        "  composite   {together:>8.1} ns/row  ({:+.1} ns)",
        together - apart
    );
    println!(
        "  #[metric]   {checked:>8.1} ns/row  ({:+.1} ns)",
        checked - apart
    );
    Ok(())
}

/// Returns the mean time of one round, in nanoseconds per call.
fn nanoseconds(mut call: impl FnMut()) -> f64 {
    const CALLS: u32 = 1_000;
    let start = Instant::now();
    (0..CALLS).for_each(|_| call());
    start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
}
