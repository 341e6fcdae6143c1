use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, ParamGroup)]
struct Limits {
    #[param(default = 0.0)]
    least: f64,
    #[param(default = 1.0)]
    most: f64,
}

#[derive(Debug, Clone, ParamGroup)]
struct Words {
    #[param(default = 1)]
    most: usize,
}

#[metric]
fn two_groups(
    #[pred] given: f64,
    #[param(flatten)] limits: &Limits,
    #[param(flatten)] words: &Words,
) -> bool {
    given >= limits.least && words.most > 0
}

#[metric]
fn named_before(
    #[pred] given: f64,
    #[param(default = 0.5)] least: f64,
    #[param(flatten)] limits: &Limits,
) -> bool {
    given >= least && given <= limits.most
}

#[metric]
fn named_after(
    #[pred] given: f64,
    #[param(flatten)] limits: &Limits,
    #[param(default = 0.5)] least: f64,
) -> bool {
    given >= least && given <= limits.most
}

fn main() {}
