use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer;

fn main() {}
