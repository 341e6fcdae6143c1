use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, ParamGroup)]
struct Limits {
    #[param(default = "3")]
    least: usize,
    #[param(default = 1)]
    strict: bool,
    #[param(default = "a, b")]
    words: Vec<String>,
    #[param(default = 0.5)]
    step: Option<f64>,
    #[param(defualt = 3)]
    most: usize,
    #[param(default = 3)]
    build: usize,
}
