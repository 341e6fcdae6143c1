use dsrs_metrics::prelude::*;

#[derive(Debug, Clone)]
struct Limit(f64);

#[derive(Debug, Clone, ParamGroup)]
struct Limits {
    #[param(default = Limit(0.5))]
    least: Limit,
    #[param(default = 1)]
    most: f64,
}

fn main() {}
