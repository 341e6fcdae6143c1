use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, ParamGroup)]
struct Limits {
    #[param(default = 0.5)]
    least: f64,
}

#[metric(treshold = 0.5)]
fn overlap(#[pred] given: f64, #[param(flatten)] limits: &Limits) -> f64 {
    given - limits.least
}

fn main() {
    let _ = Overlap::builder().least(0.5).build().score(&example! {}, &prediction! {});
}
