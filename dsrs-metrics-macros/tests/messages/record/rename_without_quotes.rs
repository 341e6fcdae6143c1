use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    #[record(rename = answer)]
    text: String,
}

fn main() {}
