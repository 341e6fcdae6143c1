use dsrs_metrics::prelude::*;

#[derive(Record)]
union Answer {
    number: u8,
}

fn main() {}
