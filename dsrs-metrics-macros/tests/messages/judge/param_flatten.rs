use dsrs_metrics::prelude::*;

/// Is the response grounded?
#[judge]
struct Grounded {
    #[input(pred)]
    response: String,
    #[param(flatten)]
    limits: Limits,
    #[output]
    grounded: bool,
}
