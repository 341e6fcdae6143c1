use dsrs_metrics::prelude::*;

#[answer]
union Tone {
    kind: u8,
    rude: i8,
}

fn main() {}
