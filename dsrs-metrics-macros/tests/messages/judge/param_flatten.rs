use dsrs_metrics::prelude::*;

#[judge]
struct Grounded {
    #[input]
    response: String,
    #[param(flatten)]
    limits: Limits,
    #[output]
    grounded: bool,
}
