use dsrs_metrics::prelude::*;

/// Judge the steps.
#[judge]
struct Steps {
    #[input(trace)]
    steps: String,
    #[input(trace = "steps")]
    named: Trace,
    #[input(trace, default)]
    defaulted: Trace,
    #[input(trace)]
    borrowed: &Trace,
    #[input(steps)]
    misnamed: Option<Trace>,
    #[output]
    good: bool,
}

fn main() {}
