use dsrs_metrics::prelude::*;

#[derive(Record)]
enum Answer {
    Text(String),
}

fn main() {}
