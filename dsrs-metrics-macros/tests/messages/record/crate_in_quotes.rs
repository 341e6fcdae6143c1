use dsrs_metrics::prelude::*;

#[derive(Record)]
#[record(crate = "dsrs_metrics")]
struct Answer {
    text: String,
}

fn main() {}
