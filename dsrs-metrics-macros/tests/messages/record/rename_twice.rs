use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    #[record(rename = "answer", rename = "response")]
    text: String,
}

fn main() {}
