use dsrs_metrics::prelude::*;

#[derive(Record)]
#[record(rename_all = "camelCase")]
struct Answer {
    text: String,
}

fn main() {}
