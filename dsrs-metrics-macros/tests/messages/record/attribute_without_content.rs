use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    #[record]
    text: String,
}

fn main() {}
