use dsrs_metrics::metrics::{Format, Length};
use dsrs_metrics::prelude::*;

const FIELD: &str = "summary";

#[metric(all(format(field = "summary"), length(max_chars = 9, field = FIELD)))]
struct Brief;

fn main() {}
