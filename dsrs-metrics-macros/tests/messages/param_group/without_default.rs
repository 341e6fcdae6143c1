use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, ParamGroup)]
struct Limits {
    /// The least.
    least: f64,
    #[param]
    most: f64,
    #[param(into)]
    unit: String,
    step: Option<f64>,
}
