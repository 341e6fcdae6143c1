use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    text: String,
    #[record(rename = "text")]
    answer: String,
}

fn main() {}
