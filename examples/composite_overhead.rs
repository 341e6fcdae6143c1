//! What a composite of five synchronous metrics costs beside the sum of its parts. Prints nanoseconds a
//! row.
//!
//! ```sh
//! cargo run --release --example composite_overhead
//! ```

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use dsrs_metrics::composite::{Composite, part, weighted};
use dsrs_metrics::metrics::{Em, F1, HotpotF1, Precision, Recall};
use dsrs_metrics::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let gold = example! { "answer" => ["the Eiffel Tower"] };
    let pred = prediction! { "answer" => "Eiffel Tower" };
    let call = MetricCall::new(&gold, &pred);
    let parts: [Box<dyn Metric>; 5] = [
        Box::new(Em::default()),
        Box::new(F1::default()),
        Box::new(HotpotF1::default()),
        Box::new(Precision::default()),
        Box::new(Recall::default()),
    ];
    let whole = weighted([
        (part(Em::default()), 0.2),
        (part(F1::default()), 0.2),
        (part(HotpotF1::default()), 0.2),
        (part(Precision::default()), 0.2),
        (part(Recall::default()), 0.2),
    ]);
    let composite = Composite::builder("five", whole).build()?;

    let apart = nanoseconds(|| {
        parts.iter().for_each(|metric| {
            let _ = black_box(metric.call_now(black_box(call)));
        });
    });
    let together = nanoseconds(|| {
        let _ = black_box(composite.call_now(black_box(call)));
    });
    println!("five metrics apart      {apart:>8.1} ns/row");
    println!("one composite of them   {together:>8.1} ns/row  ({:+.1} ns)", together - apart);
    Ok(())
}

/// The best of several rounds, in nanoseconds a call.
fn nanoseconds(mut call: impl FnMut()) -> f64 {
    const CALLS: u32 = 50_000;
    let round = |_| {
        let start = Instant::now();
        (0..CALLS).for_each(|_| call());
        start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    };
    (0..9).map(round).fold(f64::INFINITY, f64::min)
}
