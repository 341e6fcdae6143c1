use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    #[record(rename = "")]
    text: String,
}

fn main() {}
