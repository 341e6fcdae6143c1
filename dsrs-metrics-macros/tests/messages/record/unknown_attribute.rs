use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    #[record(name = "answer")]
    text: String,
}

fn main() {}
