use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer(String);

fn main() {}
