use dsrs_metrics::prelude::*;

#[judge_output]
union Tone {
    kind: u8,
    rude: i8,
}

fn main() {}
