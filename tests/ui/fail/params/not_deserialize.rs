use dsrs_metrics::prelude::*;

struct Interval(f64, f64);

#[metric]
fn overlap(#[pred] given: Interval) -> bool {
    given.0 < given.1
}

fn main() {
    let _ = Overlap.score(&example! {}, &prediction! { "given" => [0, 1] });
}
